"""Driver of a Jrk G2: its options, what it is set to, whether it restarted, and targets of its own position loop."""

import math
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from statistics import median
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from actuators.addresses import Baud, LineAddress, LineOptions, LineTimes, Turnaround
from actuators.drive import SpeedFromPositions
from actuators.driver import DriveOptions, DriveSettings, InUnit, StationDrive
from actuators.errors import ConfigurationError, ProtocolError
from actuators.interface import SEQUENCES, Capabilities, Command, Feedback, Identity, Mode, Status
from actuators.jrk.protocol import (
    CLEAR_ERRORS,
    CLEARED_LENGTH,
    COUNTS,
    CRC_ENABLED,
    ERROR_TEXTS,
    FEEDBACK_ANALOG,
    FEEDBACK_FREQUENCY,
    FEEDBACK_INVERTED,
    HALTING_LENGTH,
    INPUT_SERIAL,
    LIFE_LENGTH,
    MOST_READ,
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
    """A controller on a serial port (its own USB port, or TTL lines), several on each, or behind a TCP port.

    unit: its device number, 11 as it is delivered.
    """

    unit: Annotated[int, Field(strict=True, ge=0, le=127)] = 11
    baud: Baud = 9600
    parity: Parity = "none"
    stop_bits: Literal[1, 2] = 1

    @model_validator(mode="after")
    def _as_the_controller_has_it(self) -> Self:
        if self.parity != "none" or self.stop_bits != 1:
            raise ValueError(f"parity {self.parity!r}, stop_bits {self.stop_bits}: a Jrk G2 has no parity, and 1")
        if self.baud > _MOST_BAUD:
            raise ValueError(f"baud: {self.baud}, must be at most {_MOST_BAUD}")
        return self


class JrkSettings(DriveSettings, LineTimes):
    """What all of a rig have in common."""

    turnaround: Turnaround | None = 0.0
    """Silence between two frames, s: a Jrk G2 needs none."""
    crc: bool = False
    """Whether commands have a checksum, as the controller is set: "Enable CRC for commands"."""
    stroke: Annotated[float, Field(ge=1e-3, le=10.0), InUnit("m")] = 0.3
    """How much longer the leg is at a scaled feedback of 4095 than at 0, m."""
    home: Annotated[int, Field(strict=True, ge=0, le=COUNTS)] = 2048
    """Scaled feedback where the leg has its length at home."""
    homing_speed: Annotated[float, Field(ge=1e-3, le=1.0), InUnit("m/s")] = 0.02
    """Speed of the target on its way home, m/s."""
    lead: Annotated[float, Field(ge=0.0, le=1.0), InUnit("s")] = 0.0
    """How far each target is ahead, s at the present speed: the lag of the controller's own loop."""

    @property
    def framing(self) -> PololuLine:
        """Of the line."""
        return PololuLine(crc=self.crc)


class JrkOptions(DriveOptions, JrkSettings, JrkAddress, LineOptions):
    """What one controller's driver needs to know."""


_COUNTS = 1 << 16
_SLACK, _SHARE = 3.0, 0.25  # periods, and part of those that should have passed, by which the counter may be off


class Life(Enum):
    """What a reply says of it."""

    GOES_ON = auto()
    STANDS = auto()
    """its position loop does not count on"""
    DOUBTFUL = auto()
    """its counter is not where it should be: it has restarted, or the reply is damaged; the next one tells"""
    RESTARTED = auto()


class LifeSigns:
    """The counter of the position loop, which begins anew with the controller, and the errors that occurred.

    Replies have no checksum: a counter or an error that is not as it should be counts once two replies agree on it.
    """

    def __init__(self) -> None:
        """Nothing is known yet."""
        self._known: tuple[float, int] | None = None
        self._odd: tuple[float, int] | None = None
        self._seen: int | None = None
        self._suspected = 0

    def judge(self, now: float, count: int, period: float) -> Life:
        """What the counter says at `now`, s; period: of the position loop, s."""
        if self._known is None or _fits(self._known, now, count, period):
            if self._known is None or count != self._known[1]:
                self._known = (now, count)
            self._odd = None
            return Life.GOES_ON
        if count == self._known[1]:
            return Life.STANDS
        odd, self._odd = self._odd, (now, count)
        if odd is None or not _fits(odd, now, count, period):
            return Life.DOUBTFUL
        self._known, self._odd = (now, count), None
        return Life.RESTARTED

    def risen(self, occurred: int) -> int:
        """Errors that have occurred since they were looked at first, each told once."""
        if self._seen is None:
            self._seen = occurred
        new = occurred & ~self._seen
        sure, self._suspected = new & self._suspected, new
        self._seen |= sure
        return sure


def _fits(known: tuple[float, int], now: float, count: int, period: float) -> bool:
    """Whether a counter may be where it is, by when it was where."""
    passed = (now - known[0]) / period
    off = (count - known[1] - passed) % _COUNTS
    return min(off, _COUNTS - off) <= _SLACK + _SHARE * passed


_ROUNDING = 1  # count, of the controller's own scaling
_READ = (Setting.OPTIONS_1, Setting.FEEDBACK_MODE, Setting.SERIAL_TIMEOUT, Setting.PID_PERIOD)
"""Where the settings that are looked at begin, MOST_READ bytes from each."""


@dataclass(frozen=True, slots=True)
class CycleSettings:
    """What of its settings the cycle needs. low, high, inverted: how the feedback is scaled. period: s."""

    low: int
    high: int
    inverted: bool
    period: float

    def scales(self, feedback: int, scaled: int) -> bool:
        """Whether that is what a feedback is scaled to."""
        rounded = 0 if self.high - self.low == COUNTS else _ROUNDING
        return abs(scaled_of(feedback, self.low, self.high, inverted=self.inverted) - scaled) <= rounded


class Setup:
    """Looks at the settings."""

    def __init__(self, options: JrkOptions, station: Station) -> None:
        """station: the controller's. Raises ConfigurationError for what it cannot have."""
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
        """Who it is, as far as it says. Raises ConnectError, ProtocolError."""
        return self._identity(self._read(Setting.SERIAL_TIMEOUT, timeout))

    def verify(self, timeout: float) -> Identity:
        """Who it is, and whether its time-out is still as it was, by one access. Raises as `read`."""
        times = self._once(Setting.SERIAL_TIMEOUT, timeout)
        self._refuse(self._time_faults(times))
        return self._identity(times)

    def _identity(self, times: bytes) -> Identity:
        number = self._word(times, Setting.DEVICE_NUMBER - Setting.SERIAL_TIMEOUT)
        return Identity("Pololu", f"Jrk G2, device number {number}", "", "")

    def read(self, timeout: float) -> CycleSettings:
        """Read them; raises ConfigurationError for what does not fit, ConnectError, ProtocolError."""
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
        """What may be wrong with the time-out, and whether it is."""
        units = self._word(times, 0)
        enabled = self._word(times, Setting.ERROR_ENABLE - Setting.SERIAL_TIMEOUT)
        said = f"its serial time-out is {units * TIMEOUT_UNIT:g} s, the watchdog {self._options.watchdog:g} s"
        off = units == 0 or not enabled & Error.SERIAL_TIMEOUT
        return [(off, "its serial time-out is off"), (units != self._units, said)]

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
"""Error of this driver's own: a length that no target means was commanded."""
_THERE = 8  # counts from home, within which a leg is there
_USUAL_PERIOD = 0.01  # s, of the position loop
_NO_SECOND = 0.25  # s, between two cycles of a search for home, beyond which its target starts anew
_LOOK, _TELL = 0, 1  # exchanges of the station
_ROUNDS = 1 << 16
"""Of the position loop, after which its count begins anew."""
_BETWEEN = 20  # at most, of them, between the two replies of a cycle
_ALLOWED = Error.AWAITING_COMMAND | Error.NO_POWER
"""What keeps the motor from running and is no fault."""
_BORNE = _ALLOWED | Error.SERIAL_TIMEOUT
"""The same of a motor that is not to run."""


class Jrk(StationDrive):
    """A Jrk G2 with analog or frequency feedback of a leg's length.

    A cycle asks what halts the motor and whether its position loop goes on, and only then sends a target and reads the
    variables: a target lets a motor run, also that of a controller which has just restarted. A stop is sent at once,
    and asks and reads in the same message. The controller is absolute: to home is to go to where the leg has its length
    at home, by a target that moves there. It has no brake: told to stop, its motor is braked or let go, as it is set; a
    spindle that holds by itself does the rest.

    Its time-out is a setting that cannot be written over serial: it must be that of the options. It is a fault only
    where the motor was to run. Replies have no checksum. One is believed where what it says twice agrees: target and
    input with each other and with what was sent, feedback with what it is scaled to, the errors before the command with
    themselves and with those after it; and where the counter of the position loop goes on. By that counter a restart
    shows as well, however many replies were lost meanwhile (`LifeSigns`).
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
            reach=(options.position_offset, options.position_offset + options.stroke),
        )
        super().__init__(options, can, options.line(options.framing), options.place, options.unit, 2)
        self._options = options
        self._head = bytes((options.unit,))
        self._setup = Setup(options, self._station)
        self._told: CycleSettings | None = None
        self._supplies: deque[float] = deque(maxlen=3)
        self._currents: deque[float] = deque(maxlen=3)
        self._forget()

    def _forget(self) -> None:
        """Nothing is known of the controller."""
        self._speed = SpeedFromPositions()
        self._armed = self._on = self._homed = False
        self._unjudged = False
        """whether the motor was to run since its errors were looked at last"""
        self._was_unjudged = False
        """the same before this cycle's command"""
        self._stale = False
        """whether there is a time-out of a time when it was not to run"""
        self._clear = self._clearing = False
        self._error = 0
        self._position = math.nan
        """m above the length at count 0"""
        self._searching: float | None = None
        """where the target is on its way home, in counts"""
        self._searched_at = -math.inf
        self._target: int | None = None
        self._cleared = False
        """whether errors are cleared in this cycle"""
        self._life = LifeSigns()
        self._sent = False
        self._wanted_target: int | None = None
        """what is to be sent once it is known that the controller goes on; None: nothing is waited for"""
        self._looked = b""
        """what the controller said before the target of the errors that halt it, and its count of rounds"""
        self._periods = 0
        self._life_said = Life.GOES_ON
        """what that says"""
        self._said = False
        """whether a target or a stop was sent in this cycle"""

    @property
    def exchanges(self) -> Sequence[tuple[int, int]]:
        """See `Drive.exchanges`: a target and what is read; an error that is cleared comes on top, once."""
        frame = self._options.framing.frame
        look, tell = self._head + READ_LIFE, self._head + target_command(0) + READ_VARIABLES
        return [(len(frame(look)), LIFE_LENGTH), (len(frame(tell)), VARIABLES_LENGTH)]

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
        """See `Drive.configure`: nothing can be written; what it is set to must be what it is used for."""
        self._told = self._setup.read(self._options.request_timeout)

    def verify(self, timeout: float) -> Identity:
        """See `Drive.verify`."""
        return self._setup.verify(timeout)

    def observe(self, timeout: float) -> Feedback:
        """See `Drive.observe`."""
        message = self._head + READ_VARIABLES
        found = variables_of(self._station.request(message, VARIABLES_LENGTH, timeout, "read of variables"))
        faults = found.halting & ~_BORNE
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
        self._looked, self._said = b"", False
        if wanted is None:
            self._sent = self._tell(None, urgent=Status.ENABLED in self._last.status)
        else:
            self._sent = self._station.ask(_LOOK, self._head + READ_LIFE, LIFE_LENGTH, answered=self._go_on)
        if self._sent:
            self.counters.sent += 1

    def _go_on(self, looked: bytes) -> None:
        """Send the target that is wanted, now that it is known how the controller is; a stop where it has restarted.

        Where what it says is damaged, or its counter is not where it should be, neither: the next cycle tells.
        """
        wanted, self._wanted_target = self._wanted_target, None
        self._periods, again, self._looked = life_of(looked)
        halted = halting_of(self._looked)
        damaged = halted != halting_of(self._looked[HALTING_LENGTH // 2 :])
        if wanted is None or damaged or (again - self._periods) % _ROUNDS > _BETWEEN:
            return
        self._life_said = self._judge(self._periods)
        if self._life_said not in (Life.GOES_ON, Life.RESTARTED):
            return
        if self._on and halted & _ALLOWED:  # it has lost its power, or was restarted: it must not go on by itself
            self._armed = False
        self._tell(wanted if self._armed else None, urgent=not self._armed)

    def _judge(self, periods: int) -> Life:
        """Whether the controller has gone on all the while, by the count of its position loop."""
        life = self._life.judge(self._now, periods, _USUAL_PERIOD if self._told is None else self._told.period)
        if life is Life.RESTARTED:  # it must not go on by itself, nor be taken for homed
            self._armed = self._homed = False
        return life

    def _tell(self, target: int | None, *, urgent: bool) -> bool:
        """Send a target, or a stop (None), and read what comes of it; whether it could be sent."""
        self._cleared = self._clearing or (target is not None and self._stale)
        message = self._head if self._looked else self._head + READ_HALTING
        message += bytes((STOP,)) if target is None else target_command(target)
        if self._cleared:  # once a target has ended the silence, which would be found again otherwise
            message += bytes((CLEAR_ERRORS,))
        self._target = target
        length = (0 if self._looked else HALTING_LENGTH) + CLEARED_LENGTH * self._cleared + VARIABLES_LENGTH
        sent = self._station.ask(_TELL, message + READ_VARIABLES, length, urgent=urgent, follows=bool(self._looked))
        if sent:
            self._on = target is not None
            self._was_unjudged, self._unjudged = self._unjudged, self._unjudged or self._on
            self._said = True
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
        """The next target on the way home, from where the leg stands."""
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
        if self._wanted_target is not None or self._looked:
            looked = self._station.answer(_LOOK, deadline)
            self._wanted_target = None
            if looked is None:
                self.counters.late += 1
                return None
            if not self._said:
                self.counters.rejected += 1
                return None
        message = self._station.answer(_TELL, deadline)
        if message is None:
            self.counters.late += 1
            return None
        message = self._looked + message
        found = variables_of(message[-VARIABLES_LENGTH:])
        before, again = halting_of(message), halting_of(message[HALTING_LENGTH // 2 :])
        cleared = halting_of(message[HALTING_LENGTH:]) if self._cleared else None
        if not (before == again and self._agrees(found) and self._follows(before, cleared, found.halting)):
            self.counters.rejected += 1
            return None
        self._clearing = False
        self._note(found)
        self._position = math.nan if found.halting & Error.FEEDBACK_DISCONNECT else found.scaled * self._metre
        if self._searching is not None and self._target == self._options.home:
            self._homed = self._homed or abs(found.scaled - self._options.home) <= _THERE
        feedback = self._feedback(found, self._status(found.halting, self._error), self._error)
        offset = self._station.carried_after(self._now)
        return feedback._replace(velocity=self._speed.after(self._now + offset, feedback), offset=offset)

    def _agrees(self, found: Variables) -> bool:
        """Whether a reply is to be believed; see the class."""
        told = self._told
        if told is not None and not told.scales(found.feedback, found.scaled):
            return False
        if self._target is not None and (found.target != self._target or found.input != self._target):
            return False
        if not self._looked:
            return self._judge(found.periods) in (Life.GOES_ON, Life.RESTARTED)
        since = (found.periods - self._periods) % _ROUNDS
        return since <= _BETWEEN and self._life_said in (Life.GOES_ON, Life.RESTARTED)

    def _follows(self, before: int, cleared: int | None, after: int) -> bool:
        """Whether the errors after the command are what comes of those before it, and of clearing them."""
        told = before & ~Error.AWAITING_COMMAND | (Error.AWAITING_COMMAND if self._target is None else 0)
        return after == told if cleared is None else cleared == told and not after & ~told

    def _note(self, found: Variables) -> None:
        """What keeps the motor from running, and what follows from it."""
        self._supplies.append(found.supply * 1e-3)
        self._currents.append(found.current * 1e-3)
        risen = self._life.risen(found.occurred)
        if not self._unjudged:
            risen = 0  # its motor was not to run
        rested = self._stale or not self._was_unjudged
        self._stale = rested and bool(found.halting & Error.SERIAL_TIMEOUT)
        faults = found.halting & ~(_BORNE if rested else _ALLOWED) | risen & ~_BORNE
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
