"""Interface of a drive to the engine: calls that may wait and raise, and a cyclic exchange with samples' ages."""

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from actuators.bus import Bus, HalfDuplexBus
from actuators.errors import CommandError
from actuators.interface import SEQUENCES, Capabilities, Command, Counters, Feedback, Identity, Mode, Status


class Sampling:
    """When a device is asked, and the age of its last sample, by the time of the cycles."""

    __slots__ = ("_next", "_now", "_paused", "_period", "_put_off", "_since", "asked", "overdue", "waits")

    def __init__(self, period: float) -> None:
        """period: s between two requests; 0 = every cycle."""
        self._period = period
        self.asked = not period
        """whether the device was asked in this cycle"""
        self.waits = False
        """whether this cycle is another device's; the request is then made in a later one, within a period"""
        self._now = 0.0
        self.forget()

    def forget(self) -> None:
        """Restart: nothing was asked or received yet."""
        self._next = -math.inf
        self._put_off = math.inf
        self._since: float | None = None
        self._paused = False
        self.overdue = False
        """whether the last request has no good reply"""

    def resume(self) -> None:
        """Continue after a pause, which does not count for the age of the sample."""
        self._paused = True

    def due(self, now: float, urgent: bool = False) -> bool:
        """Begin the cycle of `now` (s); whether to ask the device: in the cycle nearest to its due time.

        urgent: ask now as well. Devices begun together are asked in the same cycles, unless one `waits`.
        """
        if now < self._now:  # another clock than before
            self.forget()
        if self._since is None:
            self._since = now
        elif self._paused:
            self._since += now - self._now
        self._paused = False
        if self._period:
            due = self.near(now)
            if due and self.waits:
                self._put_off = min(self._put_off, now)
                due = now - self._put_off >= self._period
            self.asked = due or urgent
            if due:
                self._put_off = math.inf
                on_time = now - self._next < self._period
                self._next = (self._next if on_time else now) + self._period
        if self.asked:
            self.overdue = True
        self._now = now
        return self.asked

    def near(self, now: float) -> bool:
        """Whether the due time is nearer to the cycle of `now` (s) than to a later one, or has passed."""
        return now < self._now or now >= self._next - 0.5 * min(now - self._now, self._period)

    def catch_up(self, now: float) -> None:
        """Note a cycle at `now` (s) with a good reply."""
        self._since = self._now = now
        self._paused = self.overdue = False

    def received(self) -> None:
        """Note the good reply to this cycle's request."""
        self._since = self._now
        self.overdue = False

    @property
    def age(self) -> float:
        """s since the last good reply, or since the first request before any reply; without pauses."""
        return 0.0 if self._since is None else self._now - self._since


_DELAY_READS, _DELAY_PAUSE = 8, 5e-3  # observations by which a reply delay is measured, and s before each


class Member(ABC):
    """A device of a rig. `name`: as messages call it. `counters`: of its cyclic exchanges."""

    line: HalfDuplexBus | None = None
    """Its shared line, None for a wire of its own or with pipelined requests."""
    batch: Bus | None = None
    """Its bus, if that sends the requests of a cycle together (`Bus.begin_cycle`)."""
    reply_delay: float | None = None
    """s from the last byte of a request on the line to the first of its reply, as configured; None: not known."""

    def __init__(self, name: str, sample_period: float = 0.0) -> None:
        """sample_period: s between two exchanges of a device that is slower than the cycle; 0 = one in every cycle."""
        self.name = name
        self.counters = Counters()
        self.sample_period = sample_period
        self._sampling = Sampling(sample_period)

    @property
    def exchanges(self) -> Sequence[tuple[int, int]]:
        """Exchanges of a cycle on a shared line: bytes of each request and its reply, framing included."""
        return ()

    @property
    def measured_delay(self) -> float | None:
        """Median of the reply delays that were measured last on a shared line, s; None without any."""
        return None

    @property
    @abstractmethod
    def connected(self) -> bool:
        """False before `connect`, after `close`, and after a loss of the connection."""

    @property
    def asked(self) -> bool:
        """Whether it was asked in this cycle."""
        return self._sampling.asked

    def give_way(self, waits: bool) -> None:
        """Set whether the cycle that begins is another device's: what is due waits, at most a sample period."""
        self._sampling.waits = waits

    @property
    def answered(self) -> bool:
        """Whether the reply of this cycle is there, so that taking it does not wait, as far as is known."""
        return False

    def resume(self) -> None:
        """Continue cycles after a pause in which the device was not asked, which does not count as silence."""
        self._sampling.resume()


_Urgent = tuple[Mode, bool, bool, bool, frozenset[str]]


class Drive(Member):
    """One drive: configuration calls that may wait and raise, and a cyclic exchange that does neither.

    Public methods check, private hooks do the I/O. A drive is used from one thread at a time.

    A reply is fresh if the age of the command that it echoes, in commands, equals that of the reply before: 0 at first.
    A drive whose application hangs while its network stack still answers lags by one more command each cycle, and a
    damaged reply echoes a command that was not sent: neither is accepted. If a drive or gateway answers later by whole
    cycles, its replies are accepted from the second such reply on, up to `echo_lag`. A drive without an echo does not
    have this protection.
    """

    def __init__(self, name: str, capabilities: Capabilities, echo_lag: int = 1, sample_period: float = 0.0) -> None:
        """name: how messages call the drive, for example "drive 3". echo_lag: most commands a good reply is old.

        sample_period: s between two exchanges of a drive that is slower than the cycle; it is not asked meanwhile.
        """
        super().__init__(name, sample_period)
        self.capabilities = capabilities
        self._echo_lag = echo_lag
        self._lag = self._reply_lag = 0
        self._mismatch = -1
        self._now = 0.0
        """the cycle's time, s"""
        self._last = Feedback(math.nan, math.nan, math.nan, Status(0), 0, False, 0.0, -1)
        self._outputs_on: frozenset[str] = frozenset()
        """outputs that are on"""
        self._urgent_fields: _Urgent | None = None
        self._answered_fields: _Urgent | None = None
        """fields that are sent at once if they change: of the last command, and of the last answered one"""

    @property
    @abstractmethod
    def sequence(self) -> int:
        """Number of the last command begun, modulo `SEQUENCES`, as `Feedback.sequence` echoes it."""

    @property
    def auxiliary(self) -> dict[str, float]:
        """Further values of the last good reply, by name, NaN where the device has no valid value; empty if none.

        `temperature` is in °C and `supply` in V, for any maker.
        """
        return {}

    input_names: tuple[str, ...] = ()
    """Digital inputs that it reads along with its feedback."""
    output_names: tuple[str, ...] = ()
    """Digital outputs that it switches by its commands."""

    @property
    def inputs(self) -> Mapping[str, bool]:
        """State of its digital inputs by the last good reply, by name; empty before one."""
        return {}

    def switch(self, output: str, on: bool) -> None:
        """Switch one of its `output_names` with the commands from now on; off after connecting."""
        if output not in self.output_names:
            raise CommandError(f"{self.name}: has no output {output!r}")
        self._outputs_on = self._outputs_on | {output} if on else self._outputs_on - {output}

    @property
    def watchdog_fault(self) -> str:
        """What is wrong with the drive's watchdog, by its replies to `request_watchdog`; empty if nothing is."""
        return ""

    def request_watchdog(self) -> None:
        """Request the watchdog's setting after a cycle's exchange, without waiting; later exchanges take the reply.

        No effect if that would take time of the cycle, or the drive does not support it.
        """
        return None

    def connect(self, timeout: float) -> None:
        """Open the connection within `timeout` s, closing one that is open. Raises ConnectError.

        Sends no command: connecting never changes a set-point.
        """
        if not (math.isfinite(timeout) and timeout > 0.0):
            raise CommandError(f"{self.name}: connection timeout {timeout} s is not a positive number")
        self.close()
        self._lag = self._reply_lag = 0
        self._sampling.forget()
        self._outputs_on, self._answered_fields = frozenset(), None
        self._mismatch = -1
        self._connect(timeout)

    @abstractmethod
    def identify(self) -> Identity:
        """Ask the device who it is. Raises ConnectError, ProtocolError; IdentityError if it is not the expected one."""

    @abstractmethod
    def configure(self) -> None:
        """Set and read back the settings that the device needs before it is enabled, the watchdog first.

        Raises ConnectError, ProtocolError; ConfigurationError if the device reads back another or no watchdog time.
        """

    @abstractmethod
    def verify(self, timeout: float) -> Identity:
        """Check the device's identity and its settings of `configure`, without writing; `timeout` s for each access.

        Raises as `identify` and `configure`.
        """

    @abstractmethod
    def observe(self, timeout: float) -> Feedback:
        """Read the device's state within `timeout` s without a command, so that its watchdog is not served.

        Not for the cycle. Raises ConnectError, ProtocolError.
        """

    def measure_reply_delay(self, timeout: float) -> float | None:
        """Median reply delay of several observations on a shared line, s, rounded up to 10 µs; None if not measurable.

        That is on another wire, and on a line that is faster than its baud rate, such as a pseudo-terminal.
        Each observation waits at most `timeout` s. There are pauses between them, as between cycles: a processor that
        was idle is slower to notice a reply than one that is not.

        Raises ConnectError, ProtocolError.
        """
        if self.line is None:
            return None
        for _ in range(_DELAY_READS):
            time.sleep(_DELAY_PAUSE)
            self.observe(timeout)
        return math.ceil(self.measured_delay * 1e5) / 1e5 if self.measured_delay else None

    @abstractmethod
    def error_text(self, code: int) -> str:
        """Text of the drive's error `code`."""

    def check(self, command: Command) -> None:
        """Refuse (CommandError) a command that is not finite, beyond `capabilities`, or in a mode the drive lacks."""
        can = self.capabilities
        if (
            -can.force_limit <= command.force <= can.force_limit  # False for NaN
            and (
                -can.position_limit <= command.position - can.position_centre <= can.position_limit
                or (command.position == 0.0 and command.mode is not Mode.POSITION)
            )
            and -can.velocity_limit <= command.velocity <= can.velocity_limit
            and command.mode in can.modes
        ):
            return
        for quantity, value, centre, limit, unit in (
            ("force", command.force, 0.0, can.force_limit, "N"),
            ("position", command.position, can.position_centre, can.position_limit, "m"),
            ("velocity", command.velocity, 0.0, can.velocity_limit, "m/s"),
        ):
            if not math.isfinite(value):
                raise CommandError(f"{self.name}: commanded {quantity} {value} {unit} is not a finite number")
            if abs(value - centre) > limit:
                bound = f"{centre:g} ± {limit:g}" if centre else f"±{limit:g}"
                raise CommandError(f"{self.name}: commanded {quantity} {value:g} {unit} exceeds {bound} {unit}")
        raise CommandError(f"{self.name}: mode {command.mode!r} is not one of the drive's modes")

    def begin(self, command: Command, now: float) -> None:
        """Send this cycle's request without waiting; now: s, the cycle's time, from which samples age.

        Raises CommandError (nothing sent); a lost peer raises nothing.
        """
        self.check(command)
        self.start(command, now)

    def start(self, command: Command, now: float) -> None:
        """Do `begin` for a command that has passed `check`.

        A change of mode, power, stop, clear or outputs is sent at once, and again in every cycle until it is answered.
        """
        urgent = False
        self._now = now
        if self.sample_period:
            self._urgent_fields = self._urgent(command)
            urgent = self._urgent_fields != self._answered_fields
        if self._sampling.due(now, urgent):
            self._begin(command)

    def asks(self, command: Command, now: float) -> bool:
        """Whether `begin` will ask the drive in the cycle of `now` (s)."""
        urgent = self._urgent(command) != self._answered_fields
        return not self.sample_period or urgent or self._sampling.near(now)

    def _urgent(self, command: Command) -> _Urgent:
        return command.mode, command.enable, command.quick_stop, command.clear, self._outputs_on

    def finish(self, deadline: float) -> Feedback:
        """Collect the reply to `begin` by `deadline` (`time.monotonic()`, s); never raises for a device's behaviour.

        A late, malformed, missing or exception reply, or one with a wrong echo, gives the last good values with `fresh`
        False.
        """
        feedback = self._finish(deadline) if self._sampling.asked else None
        self._mismatch = -1
        if feedback is not None and (feedback.sequence < 0 or self._echoes(feedback.sequence)):
            if self._lag:
                self.counters.lagging += 1
                feedback = feedback._replace(lag=self._lag)
            self.counters.received += 1
            self._sampling.received()
            self._answered_fields = self._urgent_fields
            self._last = feedback
            return feedback
        return self._last._replace(fresh=False, age=self._sampling.age)

    @property
    def overdue(self) -> bool:
        """Whether the last request has no good reply; a slower drive is not asked in every cycle."""
        return self._sampling.overdue

    @property
    def silence(self) -> str:
        """Known reason why the last reply was not fresh; empty if it was, or without a reply."""
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
        if lag == self._reply_lag and lag <= self._echo_lag:
            self._lag = lag
        self._reply_lag = lag
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
        """Return the fresh feedback, or None after counting the failure."""


_LONG_AGO = 0.5  # s, after which two positions say nothing of the speed any more


class SpeedFromPositions:
    """Speed between the last two good replies."""

    def __init__(self) -> None:
        """No reply yet."""
        self._before: tuple[float, Feedback] | None = None

    def after(self, now: float, feedback: Feedback) -> float:
        """Speed, m/s, from the previous good reply to this one at `now`, s.

        0 without a recent reply of the same reference.
        """
        before, self._before = self._before, (now, feedback)
        if before is None or not 0.0 < now - before[0] <= _LONG_AGO:
            return 0.0
        status, status_before = feedback.status, before[1].status
        if status is not status_before and (status ^ status_before) & Status.HOMED:
            return 0.0
        return (feedback.position - before[1].position) / (now - before[0])
