"""What a drive is to the engine: calls that may wait and raise, and a cyclic exchange with its samples' ages."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence

from actuators.bus import HalfDuplexBus
from actuators.errors import CommandError
from actuators.interface import SEQUENCES, Capabilities, Command, Counters, Feedback, Identity, Mode, Status


class Sampling:
    """When a device is asked, and how old what it last said is, by the time that the cycles are given."""

    __slots__ = ("_next", "_now", "_paused", "_period", "_since", "asked", "overdue")

    def __init__(self, period: float) -> None:
        """period: s between two requests; 0 = every cycle."""
        self._period = period
        self.asked = not period
        """whether the device was asked in this cycle"""
        self._now = 0.0
        self.forget()

    def forget(self) -> None:
        """Begin anew: nothing was asked or received yet."""
        self._next = -math.inf
        self._since: float | None = None
        self._paused = False
        self.overdue = False
        """whether what was asked last has not come"""

    def resume(self) -> None:
        """Cycles go on after a pause: that it was not asked meanwhile does not age what it said."""
        self._paused = True

    def due(self, now: float, urgent: bool = False) -> bool:
        """Begin the cycle of `now` (s); whether the device is to be asked: in the cycle nearest to when it is due.

        urgent: it is to be asked now as well. Devices begun together keep being asked in the same cycles.
        """
        if now < self._now:  # another clock than before
            self.forget()
        if self._since is None:
            self._since = now
        elif self._paused:
            self._since += now - self._now
        self._paused = False
        if self._period:
            due = now >= self._next - 0.5 * min(now - self._now, self._period)
            self.asked = due or urgent
            if due:
                on_time = now - self._next < self._period
                self._next = (self._next if on_time else now) + self._period
        if self.asked:
            self.overdue = True
        self._now = now
        return self.asked

    def received(self) -> None:
        """What was asked in this cycle has come."""
        self._since = self._now
        self.overdue = False

    @property
    def age(self) -> float:
        """s since something was received, before anything was since it was first asked for; without the pauses."""
        return 0.0 if self._since is None else self._now - self._since


class Member(ABC):
    """A device of a rig. `name`: as messages call it. `counters`: of its cyclic exchanges."""

    line: HalfDuplexBus | None = None
    """The shared line on which it has its turn, None for a wire on which all talk at once."""

    def __init__(self, name: str, sample_period: float = 0.0) -> None:
        """sample_period: s between two exchanges of a device that is slower than the cycle; 0 = one in every cycle."""
        self.name = name
        self.counters = Counters()
        self._sampling = Sampling(sample_period)

    @property
    def exchanges(self) -> Sequence[tuple[int, int]]:
        """What a cycle is on a shared line: bytes of each request and of its reply, framing included."""
        return ()

    @property
    @abstractmethod
    def connected(self) -> bool:
        """False before `connect`, after `close`, and once the peer has gone."""

    def resume(self) -> None:
        """Cycles go on after a pause in which the device was not asked: it was not silent for as long."""
        self._sampling.resume()


class Drive(Member):
    """One drive: configuration calls that may wait and raise, and a cyclic exchange that does neither.

    Public methods check, private hooks do the I/O. A drive is used from one thread at a time.

    A reply is fresh when the command that it echoes is as many commands old as that of the reply before it: 0 at
    first. A drive whose application hangs while its network stack goes on answering falls behind by one command a
    cycle, and a damaged reply echoes what was not sent: neither is believed. A drive or gateway that has come to
    answer later by whole cycles is believed from its second such reply on, up to `echo_lag`. A drive without an echo
    is not protected in this way.
    """

    def __init__(self, name: str, capabilities: Capabilities, echo_lag: int = 1, sample_period: float = 0.0) -> None:
        """name: how messages call the drive, for example "drive 3". echo_lag: most commands a good reply is old.

        sample_period: s between two exchanges of a drive that is slower than the cycle; it is left alone meanwhile.
        """
        super().__init__(name, sample_period)
        self.capabilities = capabilities
        self._echo_lag = echo_lag
        self._lag = self._heard_lag = 0
        self._mismatch = -1
        self._now = 0.0
        """the cycle's time, s"""
        self._last = Feedback(math.nan, math.nan, math.nan, Status(0), 0, False, 0.0, -1)
        self.sample_period = sample_period
        self._saying: tuple[Mode, bool, bool, bool] | None = None
        self._heard: tuple[Mode, bool, bool, bool] | None = None
        """what of the commands is said at once, in the last command and in the last one that was answered"""

    @property
    @abstractmethod
    def sequence(self) -> int:
        """Number of the last command begun, modulo `SEQUENCES`, as `Feedback.sequence` echoes it."""

    @property
    def auxiliary(self) -> dict[str, float]:
        """What else the last good reply told, by name, NaN where the device has no valid value; empty if nothing.

        `temperature` is in °C and `supply` in V, whoever the maker.
        """
        return {}

    @property
    def watchdog_fault(self) -> str:
        """What is wrong with the drive's watchdog by what it has said in answer to `look`; empty where nothing is."""
        return ""

    def look(self) -> None:
        """Ask what the watchdog is set to, behind a cycle's exchange and without waiting; the next ones hear it.

        Nothing where that would take time of the cycle's, or the drive cannot be asked.
        """
        return None

    def connect(self, timeout: float) -> None:
        """Open the connection within `timeout` s, closing one that is open. Raises ConnectError.

        Sends no command: connecting never changes a set-point.
        """
        if not (math.isfinite(timeout) and timeout > 0.0):
            raise CommandError(f"{self.name}: connection timeout {timeout} s is not a positive number")
        self.close()
        self._lag = self._heard_lag = 0
        self._sampling.forget()
        self._heard = None
        self._mismatch = -1
        self._connect(timeout)

    @abstractmethod
    def identify(self) -> Identity:
        """Ask the device who it is. Raises ConnectError, ProtocolError; IdentityError if it is not the expected one."""

    @abstractmethod
    def configure(self) -> None:
        """Set and read back what the device must know before it is enabled, the watchdog first of all.

        Raises ConnectError, ProtocolError; ConfigurationError if the device reads back another or no watchdog time.
        """

    @abstractmethod
    def verify(self, timeout: float) -> Identity:
        """Ask who the device is and whether it still has what `configure` set, writing nothing; `timeout` s an access.

        Raises as `identify` and `configure`.
        """

    @abstractmethod
    def observe(self, timeout: float) -> Feedback:
        """Read within `timeout` s what the device says of itself, without commanding anything: its watchdog runs on.

        Not for the cycle. Raises ConnectError, ProtocolError.
        """

    @abstractmethod
    def error_text(self, code: int) -> str:
        """Explain the drive's error `code` in words."""

    def check(self, command: Command) -> None:
        """Refuse (CommandError) a command that is not finite, beyond `capabilities`, or in a mode the drive lacks."""
        can = self.capabilities
        if (
            -can.force_limit <= command.force <= can.force_limit  # False for NaN
            and -can.position_limit <= command.position <= can.position_limit
            and -can.velocity_limit <= command.velocity <= can.velocity_limit
            and command.mode in can.modes
        ):
            return
        for quantity, value, limit, unit in (
            ("force", command.force, can.force_limit, "N"),
            ("position", command.position, can.position_limit, "m"),
            ("velocity", command.velocity, can.velocity_limit, "m/s"),
        ):
            if not math.isfinite(value):
                raise CommandError(f"{self.name}: commanded {quantity} {value} {unit} is not a finite number")
            if abs(value) > limit:
                raise CommandError(f"{self.name}: commanded {quantity} {value:g} {unit} exceeds ±{limit:g} {unit}")
        raise CommandError(f"{self.name}: mode {command.mode!r} is not one of the drive's modes")

    def begin(self, command: Command, now: float) -> None:
        """Send this cycle's request without waiting; now: s, the cycle's time, from which samples age.

        Raises CommandError (nothing sent); a lost peer raises nothing.
        """
        self.check(command)
        self.start(command, now)

    def start(self, command: Command, now: float) -> None:
        """Do `begin` for a command that has passed `check`.

        Another mode, power, stop or clear waits for no period, and is said again in every cycle until it is answered.
        """
        urgent = False
        self._now = now
        if self.sample_period:
            self._saying = (command.mode, command.enable, command.quick_stop, command.clear)
            urgent = self._saying != self._heard
        if self._sampling.due(now, urgent):
            self._begin(command)

    def finish(self, deadline: float) -> Feedback:
        """Collect the reply to `begin` by `deadline` (`time.monotonic()`, s); never raises for what a device does.

        A late, malformed or exception reply, one whose echo is not as it should be, or none, gives the last good values
        with `fresh` False.
        """
        feedback = self._finish(deadline) if self._sampling.asked else None
        self._mismatch = -1
        if feedback is not None and (feedback.sequence < 0 or self._echoes(feedback.sequence)):
            if self._lag:
                self.counters.lagging += 1
                feedback = feedback._replace(lag=self._lag)
            self.counters.received += 1
            self._sampling.received()
            self._heard = self._saying
            self._last = feedback
            return feedback
        return self._last._replace(fresh=False, age=self._sampling.age)

    @property
    def overdue(self) -> bool:
        """Whether the last request has no good reply; a slower drive is not asked in every cycle."""
        return self._sampling.overdue

    @property
    def silence(self) -> str:
        """What is known of why the last reply was not fresh, empty if it was, or where there was none."""
        if self._mismatch < 0:
            return ""
        return f"it answers, but acts on command {self._mismatch}, not on {self.sequence}: its application may hang"

    def exchange(self, command: Command, now: float, timeout: float) -> Feedback:
        """Do one `begin` at `now` (s) and `finish`, waiting at most `timeout` s."""
        self.begin(command, now)
        return self.finish(now + timeout)

    def _echoes(self, echo: int) -> bool:
        """Whether a reply with this echo is fresh; see the class."""
        lag = (self.sequence - echo) % SEQUENCES
        if lag == self._heard_lag and lag <= self._echo_lag:
            self._lag = lag
        self._heard_lag = lag
        if lag == self._lag:
            return True
        self._mismatch = echo
        self.counters.mismatched += 1
        return False

    @abstractmethod
    def close(self) -> None:
        """Close the connection; idempotent. Sends no command: stop the drive first."""

    @abstractmethod
    def _connect(self, timeout: float) -> None:
        """Open the connection; see `connect`."""

    @abstractmethod
    def _begin(self, command: Command) -> None:
        """Send the request for a checked command; never raises."""

    @abstractmethod
    def _finish(self, deadline: float) -> Feedback | None:
        """Return the fresh feedback, or None after counting why there is none."""


_LONG_AGO = 0.5  # s, after which two positions say nothing of the speed any more


class SpeedFromPositions:
    """Speed between the last two good replies."""

    def __init__(self) -> None:
        """No reply yet."""
        self._before: tuple[float, Feedback] | None = None

    def after(self, now: float, feedback: Feedback) -> float:
        """Speed from the good reply before to this one of `now`, s, in m/s.

        0 without one of the same reference not long ago: it is none yet.
        """
        before, self._before = self._before, (now, feedback)
        if before is None or not 0.0 < now - before[0] <= _LONG_AGO:
            return 0.0
        status, status_before = feedback.status, before[1].status
        if status is not status_before and (status ^ status_before) & Status.HOMED:
            return 0.0
        return (feedback.position - before[1].position) / (now - before[0])
