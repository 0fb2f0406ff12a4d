"""Driver of a Jrk G2: its options, what it is set to, whether it restarted, and targets of its own position loop."""

import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from statistics import median
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from actuators.addresses import Baud, LineAddress, LineOptions, LineTimes, Turnaround
from actuators.drive import SpeedFromPositions
from actuators.driver import DriveOptions, DriveSettings, InUnit, Pins, StationDrive, points_among
from actuators.errors import ConfigurationError, ProtocolError
from actuators.interface import SEQUENCES, Capabilities, Command, Feedback, Identity, Mode, Status
from actuators.jrk.protocol import (
    CLEAR_ERRORS,
    CLEARED_LENGTH,
    COUNTS,
    CRC_ENABLED,
    DIGITAL_LENGTH,
    ERROR_TEXTS,
    FEEDBACK_ANALOG,
    FEEDBACK_FREQUENCY,
    FEEDBACK_INVERTED,
    HALTING_LENGTH,
    INPUT_SERIAL,
    LIFE_LENGTH,
    MOST_READ,
    PINS,
    READ_DIGITAL,
    READ_HALTING,
    READ_LIFE,
    READ_VARIABLES,
    STOP,
    TIMEOUT_UNIT,
    VARIABLES_LENGTH,
    Error,
    PololuLine,
    Setting,
    Variables,
    halting_of,
    life_of,
    scaled_of,
    settings_command,
    target_command,
    variables_of,
)
from actuators.profile import RANGES
from actuators.station import Station
from actuators.wire import Parity

_MOST_BAUD = 115_385


class JrkAddress(LineAddress):
    """A controller on a serial port (its own USB port, or TTL lines, possibly shared), or behind a TCP port.

    unit: its device number, 11 by default.
    """

    unit: Annotated[int, Field(strict=True, ge=0, le=127)] = 11
    baud: Baud = 9600
    parity: Parity = "none"
    stop_bits: Literal[1, 2] = 1
    inputs: Annotated[Pins, points_among(PINS, ", ".join(map(repr, PINS)))] = Field(default_factory=dict)
    """Digital inputs: the pin by name. They are read along if there are some: pins of 5 V, not of 24 V."""

    @model_validator(mode="after")
    def _as_the_controller_has_it(self) -> Self:
        if self.parity != "none" or self.stop_bits != 1:
            raise ValueError(f"parity {self.parity!r}, stop_bits {self.stop_bits}: a Jrk G2 has no parity, and 1")
        if self.baud > _MOST_BAUD:
            raise ValueError(f"baud: {self.baud}, must be at most {_MOST_BAUD}")
        return self


class JrkSettings(DriveSettings, LineTimes):
    """Settings common to all of a rig."""

    turnaround: Turnaround | None = 0.0
    """Silence between two frames, s: a Jrk G2 needs none."""
    crc: bool = False
    """Whether commands have a checksum; as the setting "Enable CRC for commands" of the controller."""
    stroke: Annotated[float, Field(ge=1e-3, le=10.0), InUnit("m")] = 0.3
    """Change of the leg length from scaled feedback 0 to 4095, m."""
    home: Annotated[int, Field(strict=True, ge=0, le=COUNTS)] = 2048
    """Scaled feedback at the leg's length at home."""
    homing_speed: Annotated[float, Field(ge=1e-3, le=1.0), InUnit("m/s")] = 0.02
    """Speed of the target during homing, m/s."""
    lead: Annotated[float, Field(ge=0.0, le=1.0), InUnit("s")] = 0.0
    """Lead of each target, s at the present speed: the lag of the controller's own loop."""

    @property
    def framing(self) -> PololuLine:
        """Of the line."""
        return PololuLine(crc=self.crc)


class JrkOptions(DriveOptions, JrkSettings, JrkAddress, LineOptions):
    """What one controller's driver needs to know."""


_COUNTS = 1 << 16
_SLACK, _SHARE = 3.0, 0.25  # periods, and part of those that should have passed, by which the counter may be off


class Life(Enum):
    """State of the controller by a reply."""

    RUNNING = auto()
    STOPPED = auto()
    """its position loop's counter does not advance"""
    DOUBTFUL = auto()
    """its counter has an unexpected value: it has restarted, or the reply is damaged; the next reply decides"""
    RESTARTED = auto()


class LifeSigns:
    """The position loop's counter, which restarts with the controller, and the errors that occurred.

    Replies have no checksum: an unexpected counter or error counts once two replies agree on it.
    """

    def __init__(self) -> None:
        """Nothing is known yet."""
        self._known: tuple[float, int] | None = None
        self._odd: tuple[float, int] | None = None
        self._seen: int | None = None
        self._suspected = 0

    def judge(self, now: float, count: int, period: float) -> Life:
        """Judge the counter at `now`, s; period: of the position loop, s."""
        if self._known is None or _fits(self._known, now, count, period):
            if self._known is None or count != self._known[1]:
                self._known = (now, count)
            self._odd = None
            return Life.RUNNING
        if count == self._known[1]:
            return Life.STOPPED
        odd, self._odd = self._odd, (now, count)
        if odd is None or not _fits(odd, now, count, period):
            return Life.DOUBTFUL
        self._known, self._odd = (now, count), None
        return Life.RESTARTED

    def risen(self, occurred: int) -> int:
        """Errors that have occurred since the first reading, each reported once."""
        if self._seen is None:
            self._seen = occurred
        new = occurred & ~self._seen
        sure, self._suspected = new & self._suspected, new
        self._seen |= sure
        return sure


def _fits(known: tuple[float, int], now: float, count: int, period: float) -> bool:
    """Whether a counter is consistent with an earlier value and its time."""
    passed = (now - known[0]) / period
    error = (count - known[1] - passed) % _COUNTS
    return min(error, _COUNTS - error) <= _SLACK + _SHARE * passed


_ROUNDING = 1  # count, of the controller's own scaling
_READ = (Setting.OPTIONS_1, Setting.FEEDBACK_MODE, Setting.SERIAL_TIMEOUT, Setting.PID_PERIOD)
"""Offsets of the settings that are read, MOST_READ bytes from each."""


@dataclass(frozen=True, slots=True)
class CycleSettings:
    """Settings that the cycle needs. low, high, inverted: scaling of the feedback. period: s."""

    low: int
    high: int
    inverted: bool
    period: float

    def scales(self, feedback: int, scaled: int) -> bool:
        """Whether the scaled value agrees with a feedback."""
        rounded = 0 if self.high - self.low == COUNTS else _ROUNDING
        return abs(scaled_of(feedback, self.low, self.high, inverted=self.inverted) - scaled) <= rounded


class Setup:
    """Checks the settings."""

    def __init__(self, options: JrkOptions, station: Station) -> None:
        """station: the controller's. Raises ConfigurationError for impossible options."""
        units = round(options.watchdog / TIMEOUT_UNIT)
        if not 1 <= units <= 0xFFFF or abs(units * TIMEOUT_UNIT - options.watchdog) > 1e-9:
            raise ConfigurationError(
                f"{options.name}: watchdog {options.watchdog:g} s: a Jrk G2 has 0.01 to {0xFFFF * TIMEOUT_UNIT:g} s, "
                "in hundredths"
            )
        if options.serial is not None:
            raise ConfigurationError(
                f"{options.name}: serial number {options.serial!r} cannot be compared: a Jrk G2 does not say one on "
                "its serial port"
            )
        self._options = options
        self._station = station
        self._units = units

    def identity(self, timeout: float) -> Identity:
        """Identity of the controller, as far as known. Raises ConnectError, ProtocolError."""
        return self._identity(self._read(Setting.SERIAL_TIMEOUT, timeout))

    def verify(self, timeout: float) -> Identity:
        """Check identity and time-out by one access. Raises as `read`."""
        times = self._once(Setting.SERIAL_TIMEOUT, timeout)
        self._refuse(self._time_faults(times))
        return self._identity(times)

    def _identity(self, times: bytes) -> Identity:
        number = self._word(times, Setting.DEVICE_NUMBER - Setting.SERIAL_TIMEOUT)
        return Identity("Pololu", f"Jrk G2, device number {number}", "", "")

    def read(self, timeout: float) -> CycleSettings:
        """Read the settings; raises ConfigurationError for unsuitable ones, ConnectError, ProtocolError."""
        parts = {first: self._read(first, timeout) for first in _READ}
        options_1, options_2, input_mode = parts[Setting.OPTIONS_1][:3]
        feedback, times = parts[Setting.FEEDBACK_MODE], parts[Setting.SERIAL_TIMEOUT]
        low = self._word(feedback, Setting.FEEDBACK_MINIMUM - Setting.FEEDBACK_MODE)
        high = self._word(feedback, Setting.FEEDBACK_MAXIMUM - Setting.FEEDBACK_MODE)
        self._refuse(
            [
                (input_mode != INPUT_SERIAL, "its input mode is not serial"),
                (feedback[0] not in (FEEDBACK_ANALOG, FEEDBACK_FREQUENCY), "it has no feedback mode"),
                (high <= low, f"its feedback has no range: {low} to {high}"),
                (
                    bool(options_1 & CRC_ENABLED) != self._options.crc,
                    "its setting for checksums of commands is not `crc`",
                ),
                *self._time_faults(times),
            ]
        )
        period = self._word(parts[Setting.PID_PERIOD], 0) * 1e-3
        return CycleSettings(low, high, bool(options_2 & FEEDBACK_INVERTED), max(period, 1e-3))

    def _time_faults(self, times: bytes) -> list[tuple[bool, str]]:
        """Possible faults of the time-out, with whether they are present."""
        units = self._word(times, 0)
        enabled = self._word(times, Setting.ERROR_ENABLE - Setting.SERIAL_TIMEOUT)
        mismatch = f"its serial time-out is {units * TIMEOUT_UNIT:g} s, the watchdog {self._options.watchdog:g} s"
        disabled = units == 0 or not enabled & Error.SERIAL_TIMEOUT
        return [(disabled, "its serial time-out is off"), (units != self._units, mismatch)]

    def _refuse(self, faults: Iterable[tuple[bool, str]]) -> None:
        for wrong, text in faults:
            if wrong:
                raise ConfigurationError(f"{self._station.label}: {text}; set it with Pololu's configuration utility")

    def _once(self, first: int, timeout: float) -> bytes:
        message = bytes((self._options.unit,)) + settings_command(first, MOST_READ)
        return self._station.request(message, MOST_READ, timeout, f"read of settings {first:02X}h")

    def _read(self, first: int, timeout: float) -> bytes:
        """Settings, which have no checksum, read twice."""
        data = self._once(first, timeout)
        if data != self._once(first, timeout):
            raise ProtocolError(f"{self._station.label} says different settings when it is asked twice: a bad line?")
        return data

    @staticmethod
    def _word(data: bytes, at: int) -> int:
        return int.from_bytes(data[at : at + 2], "little")


_ANY = RANGES["f32"][1]
_BEYOND = 1 << 16
"""Error of this driver: a commanded length beyond the targets."""
_THERE = 8  # counts from home, within which a leg is there
_USUAL_PERIOD = 0.01  # s, of the position loop
_NO_SECOND = 0.25  # s, between two cycles of a search for home, beyond which its target starts anew
_CHECK, _COMMAND = 0, 1  # exchanges of the station
_ROUNDS = 1 << 16
"""Of the position loop, after which its count begins anew."""
_BETWEEN = 20  # at most, of them, between the two replies of a cycle
_ALLOWED = Error.AWAITING_COMMAND | Error.NO_POWER
"""Errors that halt the motor and are no fault."""
_TOLERATED = _ALLOWED | Error.SERIAL_TIMEOUT
"""The same for a motor that is not commanded to run."""


class Jrk(StationDrive):
    """A Jrk G2 with analog or frequency feedback of a leg's length.

    A cycle reads the errors that halt the motor and the position loop's counter, and only then sends a target and reads
    the variables, since a target starts the motor, also that of a controller which has just restarted. A stop is sent
    at once, with all reads in the same message. The controller is absolute: homing moves the target to the leg's length
    at home. It has no brake: at a stop its motor is braked or coasts, as configured, and a self-locking spindle is
    needed.

    Its time-out is a setting that cannot be written over serial: it must be that of the options. It is a fault only
    while the motor is to run. Replies have no checksum. A reply is accepted if its redundant values agree: target and
    input with each other and with the sent one, feedback with its scaled value, the errors before the command with
    their repetition and with those after it; and if the position loop's counter advances as expected. The counter also
    shows a restart, even after lost replies (`LifeSigns`).
    """

    def __init__(self, options: JrkOptions) -> None:
        """Make the drive without connecting. Raises ConfigurationError: watchdog time out of range."""
        self._metre = options.stroke / COUNTS
        can = Capabilities(
            modes=(Mode.OFF, Mode.POSITION, Mode.HOMING),
            force_feedback=False,
            homing=True,
            watchdog=True,
            force_limit=_ANY,
            position_limit=_ANY,
            velocity_limit=_ANY,
            resolution=self._metre,
            velocity_feedback=False,
            velocity_feedforward=False,
            reach=(options.position_offset, options.position_offset + options.stroke),
        )
        super().__init__(options, can, options.line(options.framing), options.place, options.unit, 2)
        self._options = options
        self._inputs = {name: PINS[pin] for name, pin in options.inputs.items()}
        self.input_names = tuple(self._inputs)
        self._reads = (READ_DIGITAL if self._inputs else b"") + READ_VARIABLES
        self._read_length = (DIGITAL_LENGTH if self._inputs else 0) + VARIABLES_LENGTH
        self._head = bytes((options.unit,))
        self._setup = Setup(options, self._station)
        self._cycle_settings: CycleSettings | None = None
        self._supplies: deque[float] = deque(maxlen=3)
        self._currents: deque[float] = deque(maxlen=3)
        self._forget()

    def _forget(self) -> None:
        """Drop all knowledge of the controller."""
        self._speed = SpeedFromPositions()
        self._armed = self._on = self._homed = False
        self._unjudged = False
        """whether the motor was commanded to run since the last reading of its errors"""
        self._was_unjudged = False
        """the same before this cycle's command"""
        self._stale = False
        """whether there is a time-out from a time without a command to run"""
        self._clear = self._clearing = False
        self._error = 0
        self._position = math.nan
        """m above the length at count 0"""
        self._searching: float | None = None
        """present target of the move home, in counts"""
        self._searched_at = -math.inf
        self._pins: int | None = None
        self._target: int | None = None
        self._cleared = False
        """whether errors are cleared in this cycle"""
        self._life = LifeSigns()
        self._sent = False
        self._wanted_target: int | None = None
        """target to send after the check of the controller; None: no check is pending"""
        self._life_reply = b""
        """reply before the target: the halting errors and the counter"""
        self._periods = 0
        self._life_sign = Life.RUNNING
        """state by that reply"""
        self._commanded = False
        """whether a target or a stop was sent in this cycle"""

    @property
    def exchanges(self) -> Sequence[tuple[int, int]]:
        """See `Drive.exchanges`: a target and the reads; clearing an error is an additional one."""
        frame = self._options.framing.frame
        check, command = self._head + READ_LIFE, self._head + target_command(0) + self._reads
        return [(len(frame(check)), LIFE_LENGTH), (len(frame(command)), self._read_length)]

    @property
    def inputs(self) -> Mapping[str, bool]:
        """See `Drive.inputs`: readings of its pins."""
        pins = self._pins
        return {} if pins is None else {name: bool(pins >> bit & 1) for name, bit in self._inputs.items()}

    @property
    def auxiliary(self) -> dict[str, float]:
        """See `Drive.auxiliary`: supply in V and current in A, the middle ones of three."""
        if not self._supplies:
            return dict.fromkeys(("supply", "current"), math.nan)
        return {"supply": median(self._supplies), "current": median(self._currents)}

    def identify(self) -> Identity:
        """See `Drive.identify`: it only has to have its number."""
        return self._setup.identity(self._options.request_timeout)

    def configure(self) -> None:
        """See `Drive.configure`: nothing can be written; the present settings must be suitable."""
        self._cycle_settings = self._setup.read(self._options.request_timeout)

    def verify(self, timeout: float) -> Identity:
        """See `Drive.verify`."""
        return self._setup.verify(timeout)

    def observe(self, timeout: float) -> Feedback:
        """See `Drive.observe`."""
        message = self._head + READ_VARIABLES
        found = variables_of(self._station.request(message, VARIABLES_LENGTH, timeout, "read of variables"))
        faults = found.halting & ~_TOLERATED
        timed_out = Status.WATCHDOG if found.halting & Error.SERIAL_TIMEOUT else Status(0)
        return self._feedback(found, self._status(found.halting, faults) | timed_out, faults)

    def error_text(self, code: int) -> str:
        """See `Drive.error_text`: what each bit means."""
        if code == 0:
            return "no error"
        known = [text for bit, text in ERROR_TEXTS.items() if code & bit]
        known += ["a length beyond its stroke was commanded"] if code & _BEYOND else []
        rest = code & ~(sum(ERROR_TEXTS) | _BEYOND)
        return ", ".join([*known, *([f"error bits {rest:#x}, which are not explained"] if rest else [])])

    def _connect(self, timeout: float) -> None:
        self._forget()
        super()._connect(timeout)

    # -- a cycle -----------------------------------------------------------------------------------------------------

    def _begin(self, command: Command) -> None:
        self._sequence = (self._sequence + 1) % SEQUENCES
        self._wanted_target = wanted = self._wanted(command)
        self._life_reply, self._commanded = b"", False
        if wanted is None:
            self._sent = self._command(None, urgent=Status.ENABLED in self._last.status)
        else:
            self._sent = self._station.ask(_CHECK, self._head + READ_LIFE, LIFE_LENGTH, answered=self._go_on)
        if self._sent:
            self.counters.sent += 1

    def _go_on(self, reply: bytes) -> None:
        """Send the target after the check of the controller, or a stop if it has restarted.

        Neither if the reply is damaged or the counter unexpected; the next cycle decides.
        """
        wanted, self._wanted_target = self._wanted_target, None
        self._periods, again, self._life_reply = life_of(reply)
        halted = halting_of(self._life_reply)
        damaged = halted != halting_of(self._life_reply[HALTING_LENGTH // 2 :])
        if wanted is None or damaged or (again - self._periods) % _ROUNDS > _BETWEEN:
            return
        self._life_sign = self._judge(self._periods)
        if self._life_sign not in (Life.RUNNING, Life.RESTARTED):
            return
        if self._on and halted & _ALLOWED:  # it has lost its power, or was restarted: it must not go on by itself
            self._armed = False
        self._command(wanted if self._armed else None, urgent=not self._armed)

    def _judge(self, periods: int) -> Life:
        """Judge by the position loop's counter whether the controller has run without a restart."""
        life = self._life.judge(
            self._now, periods, _USUAL_PERIOD if self._cycle_settings is None else self._cycle_settings.period
        )
        if life is Life.RESTARTED:  # it must not go on by itself, nor be taken for homed
            self._armed = self._homed = False
        return life

    def _command(self, target: int | None, *, urgent: bool) -> bool:
        """Send a target, or a stop (None), with the reads; whether it could be sent."""
        self._cleared = self._clearing or (target is not None and self._stale)
        message = self._head if self._life_reply else self._head + READ_HALTING
        message += bytes((STOP,)) if target is None else target_command(target)
        if self._cleared:  # once a target has ended the silence, which would be found again otherwise
            message += bytes((CLEAR_ERRORS,))
        self._target = target
        length = (0 if self._life_reply else HALTING_LENGTH) + CLEARED_LENGTH * self._cleared + self._read_length
        sent = self._station.ask(_COMMAND, message + self._reads, length, urgent=urgent, follows=bool(self._life_reply))
        if sent:
            self._on = target is not None
            self._was_unjudged, self._unjudged = self._unjudged, self._unjudged or self._on
            self._commanded = True
        return sent

    def _wanted(self, command: Command) -> int | None:
        """The target to send, None: a stop."""
        if command.clear and not self._clear:
            self._clearing, self._error = True, 0
        self._clear = command.clear
        if not command.enable:
            self._armed = not self._error
        elif command.quick_stop:
            self._armed = False
        elif self._armed and not self._error and command.mode is not Mode.OFF:
            return self._towards_home() if command.mode is Mode.HOMING else self._at(command)
        self._searching = None
        return None

    def _at(self, command: Command) -> int | None:
        """The target of a length, with the lead as far as the stroke goes."""
        self._searching = None
        counts = (command.position - self._options.position_offset) / self._metre
        if not -0.5 <= counts <= COUNTS + 0.5:
            self._fail(_BEYOND)
            return None
        ahead = counts + self._options.lead * command.velocity / self._metre
        return round(min(max(ahead, 0.0), float(COUNTS)))

    def _towards_home(self) -> int | None:
        """The next target of the move home, from the leg's present length."""
        home = float(self._options.home)
        if self._searching is None or self._now - self._searched_at > _NO_SECOND:
            if math.isnan(self._position):
                return None  # nobody knows where it stands
            self._homed, self._searching = False, self._position / self._metre
        else:
            most = self._options.homing_speed / self._metre * (self._now - self._searched_at)
            self._searching += min(max(home - self._searching, -most), most)
        self._searched_at = self._now
        return round(min(max(self._searching, 0.0), float(COUNTS)))

    def _finish(self, deadline: float) -> Feedback | None:
        if not self._sent:
            return None
        self._sent = False
        if self._wanted_target is not None or self._life_reply:
            reply = self._station.answer(_CHECK, deadline)
            self._wanted_target = None
            if reply is None:
                self.counters.late += 1
                return None
            if not self._commanded:
                self.counters.rejected += 1
                return None
        message = self._station.answer(_COMMAND, deadline)
        if message is None:
            self.counters.late += 1
            return None
        message = self._life_reply + message
        found = variables_of(message[-VARIABLES_LENGTH:])
        before, again = halting_of(message), halting_of(message[HALTING_LENGTH // 2 :])
        cleared = halting_of(message[HALTING_LENGTH:]) if self._cleared else None
        pins = message[-self._read_length : -VARIABLES_LENGTH]
        if not (
            before == again
            and pins[:1] == pins[1:]
            and self._agrees(found)
            and self._follows(before, cleared, found.halting)
        ):
            self.counters.rejected += 1
            return None
        self._clearing = False
        self._pins = pins[0] if pins else None
        self._note(found)
        self._position = math.nan if found.halting & Error.FEEDBACK_DISCONNECT else found.scaled * self._metre
        if self._searching is not None and self._target == self._options.home:
            self._homed = self._homed or abs(found.scaled - self._options.home) <= _THERE
        feedback = self._feedback(found, self._status(found.halting, self._error), self._error)
        offset = self._station.carried_after(self._now)
        return feedback._replace(velocity=self._speed.after(self._now + offset, feedback), offset=offset)

    def _agrees(self, found: Variables) -> bool:
        """Whether a reply is accepted; see the class."""
        settings = self._cycle_settings
        if settings is not None and not settings.scales(found.feedback, found.scaled):
            return False
        if self._target is not None and (found.target != self._target or found.input != self._target):
            return False
        if not self._life_reply:
            return self._judge(found.periods) in (Life.RUNNING, Life.RESTARTED)
        since = (found.periods - self._periods) % _ROUNDS
        return since <= _BETWEEN and self._life_sign in (Life.RUNNING, Life.RESTARTED)

    def _follows(self, before: int, cleared: int | None, after: int) -> bool:
        """Whether the errors after the command follow from those before it, and from clearing them."""
        expected = before & ~Error.AWAITING_COMMAND | (Error.AWAITING_COMMAND if self._target is None else 0)
        return after == expected if cleared is None else cleared == expected and not after & ~expected

    def _note(self, found: Variables) -> None:
        """Update faults and state by the errors that halt the motor."""
        self._supplies.append(found.supply * 1e-3)
        self._currents.append(found.current * 1e-3)
        risen = self._life.risen(found.occurred)
        if not self._unjudged:
            risen = 0  # its motor was not to run
        rested = self._stale or not self._was_unjudged
        self._stale = rested and bool(found.halting & Error.SERIAL_TIMEOUT)
        faults = found.halting & ~(_TOLERATED if rested else _ALLOWED) | risen & ~_TOLERATED
        if faults:
            self._fail(faults)
        self._unjudged = self._on
        if self._on and (found.halting | risen) & Error.NO_POWER:
            self._armed = False  # it has lost its power: it must not go on by itself

    def _fail(self, bits: int) -> None:
        self._error |= bits
        self._armed = False

    def _status(self, halting: int, error: int) -> Status:
        status = Status.FAULT if error else Status.READY
        if error & Error.SERIAL_TIMEOUT:
            status |= Status.WATCHDOG
        if not halting:
            status |= Status.ENABLED
        if self._homed:
            status |= Status.HOMED
        elif self._searching is not None:
            status |= Status.HOMING
        return status

    def _feedback(self, found: Variables, status: Status, error: int) -> Feedback:
        known = not found.halting & Error.FEEDBACK_DISCONNECT
        position = found.scaled * self._metre + self._options.position_offset if known else math.nan
        return Feedback(position, 0.0, math.nan, status, error, True, 0.0, -1)
