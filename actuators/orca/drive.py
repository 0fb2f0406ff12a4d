"""Driver of an ORCA motor: its options and set-up, a stream of set-points, and one register access at a time."""

import math
from collections.abc import Sequence
from enum import Enum
from typing import Annotated, Self

from pydantic import Field, model_validator

from actuators.addresses import LineTimes, ModbusOptions, RtuAddress, Turnaround
from actuators.codec import READ_HOLDING, WRITE_MULTIPLE, WRITE_SINGLE
from actuators.drive import SpeedFromPositions
from actuators.driver import DriveOptions, DriveSettings, StationDrive
from actuators.errors import ConfigurationError, IdentityError
from actuators.framing import CRC_LENGTH
from actuators.interface import SEQUENCES, Capabilities, Command, Feedback, Identity, Mode, Status
from actuators.orca.protocol import (
    APPLY_GAINS,
    CLEAR_ERRORS,
    COMMS_TIMEOUT,
    ERROR_TEXTS,
    FORCE_CODE,
    LARGEST_SERIAL,
    METRE,
    NEWTON,
    POSITION_CODE,
    SETUP,
    SLEEP_CODE,
    STREAM_REPLY_LENGTH,
    WIDE,
    ZEROED,
    Measured,
    MotorMode,
    Register,
    low_first,
    read_request,
    read_values,
    stream_request,
    stream_values,
    wide_value,
    write_request,
    writes_request,
)
from actuators.profile import RANGES
from actuators.station import Station


class OrcaAddress(RtuAddress):
    """A motor on its own serial port (RS-422), or behind a TCP port that forwards its bytes.

    Bytes have 8 bits, even parity and 1 stop bit. `baud` is that of the motor, 19200 by default.
    """

    @model_validator(mode="after")
    def _as_the_motor_has_it(self) -> Self:
        if self.parity != "even" or self.stop_bits != 1:
            raise ValueError(f"parity {self.parity!r}, stop_bits {self.stop_bits}: an ORCA motor has even parity and 1")
        return self

    @property
    def alone(self) -> bool:
        """See `DriveAddress.alone`: one motor a port."""
        return True


class OrcaSettings(DriveSettings, LineTimes):
    """Settings common to all motors of a rig."""

    turnaround: Turnaround | None = 2e-3
    """Silence between two frames, s: the motor's interframe delay, 2 ms by default."""
    registers: dict[str, Annotated[int, Field(strict=True, ge=0)]] = Field(default_factory=dict)
    """Registers written and read back before power is enabled, by the maker's names and in its units: position
    gains, limits of force, temperature and power, the damping after a watchdog, the auto-zero."""

    @model_validator(mode="after")
    def _known_registers(self) -> Self:
        for name, value in self.registers.items():
            if name not in SETUP:
                raise ValueError(f"registers: no {name!r}; those that can be set: {', '.join(SETUP)}")
            most = 0x7FFFFFFF if name in WIDE else 0xFFFF
            if value > most:
                raise ValueError(f"registers.{name}: {value}, must be 0 to {most}")
        return self


class OrcaOptions(DriveOptions, OrcaSettings, OrcaAddress, ModbusOptions):
    """What one motor's driver needs to know."""


_MOST_WATCHDOG = 0xFFFF  # ms


class Setup:
    """Identity, watchdog and the registers that the options name."""

    def __init__(self, options: OrcaOptions, station: Station) -> None:
        """station: the motor's. Raises ConfigurationError for a watchdog that the motor cannot have."""
        milliseconds = round(options.watchdog * 1e3)
        if not 1 <= milliseconds <= _MOST_WATCHDOG:
            raise ConfigurationError(
                f"{options.name}: watchdog {options.watchdog:g} s is outside 0.001..{_MOST_WATCHDOG * 1e-3:g} s"
            )
        serial = options.serial
        if serial is not None and not (serial.isdecimal() and int(serial) <= LARGEST_SERIAL):
            raise ConfigurationError(
                f"{options.name}: serial number {serial!r}: an ORCA motor's is a number of at most {LARGEST_SERIAL}"
            )
        self._options = options
        self._station = station
        self._values: dict[str, tuple[int, tuple[int, ...]]] = {
            "USER_COMMS_TIMEOUT": (int(Register.COMMS_TIMEOUT), (milliseconds,))
        }
        for name, value in options.registers.items():
            self._values[name] = SETUP[name], low_first(value) if name in WIDE else (value,)

    def identity(self, timeout: float) -> Identity:
        """Ask who the motor is. Raises ConnectError, ProtocolError, IdentityError."""
        identity, expected = read_identity(self._station, timeout), self._options.serial
        if expected is not None and identity.serial != expected:
            raise IdentityError(f"{self._station.label} has serial number {identity.serial!r}, expected {expected!r}")
        return identity

    def write(self, timeout: float) -> None:
        """Write them all. Raises ConnectError, ProtocolError."""
        for address, words in self._values.values():
            function = WRITE_SINGLE if len(words) == 1 else WRITE_MULTIPLE
            self._station.write(address, list(words), timeout, function)
        if any(name.startswith("PC_") for name in self._values):
            self._station.write(Register.CONTROL_1, [APPLY_GAINS], timeout, WRITE_SINGLE)

    def confirm(self, timeout: float, otherwise: str) -> None:
        """Read them all back. Raises ConfigurationError, which says `otherwise`, where one has another value."""
        for name, (address, words) in self._values.items():
            found = self._station.read(address, len(words), timeout)
            if tuple(found) == words:
                continue
            if name == "USER_COMMS_TIMEOUT" and not any(found):
                raise ConfigurationError(f"{self._station.label} has no watchdog: {name} reads back zero")
            raise ConfigurationError(
                f"{self._station.label} {otherwise} {name}: register {address} reads back {found}, not {list(words)}"
            )


def read_identity(station: Station, timeout: float) -> Identity:
    """Identity of a motor, with `timeout` s an access. Raises ConnectError, ProtocolError."""
    low, high, major, release, revision = station.read(Register.SERIAL, 5, timeout)
    (stator,) = station.read(Register.STATOR, 1, timeout)
    serial = str(wide_value(low, high) & 0xFFFFFFFF)
    return Identity("Iris Dynamics", f"ORCA, stator {stator}", serial, f"{major}.{release}.{revision}")


def recognise(station: Station, timeout: float) -> Identity | None:
    """See `Driver.recognise`: it is in a mode of these motors, and has a version."""
    (mode,) = station.read(Register.MODE, 1, timeout)
    identity = read_identity(station, timeout)
    return identity if mode in set(MotorMode) and identity.firmware != "0.0.0" else None


POSITION_WORDS = 2
"""Registers of the position."""
STATUS_WORDS = Register.MOTOR_STATUS + 1 - Register.MODE
"""From the mode to the motor's status."""
ERROR_WORDS = 2
"""Errors there are, and those that are latched."""


class Access(Enum):
    """What is told or asked beside the set-point."""

    CLEAR = ("clear", WRITE_SINGLE, 0)
    SET_POINTS = ("set-points", WRITE_MULTIPLE, 0)
    MODE = ("mode", WRITE_SINGLE, 0)
    STATUS = ("status", READ_HOLDING, STATUS_WORDS)
    ERRORS = ("errors", READ_HOLDING, ERROR_WORDS)

    def __init__(self, _name: str, function: int, words: int) -> None:
        """function: its code. words: registers that the reply has."""
        self.function = function
        self.words = words
        self.reply_length = 3 + 2 * words if words else 6
        """bytes of a good reply's message"""

    def request(self, unit: int, mode: int, set_points: tuple[int, int]) -> bytes:
        """The message of the access. mode: to command. set_points: force, mN, and position, µm."""
        if self is Access.CLEAR:
            return write_request(unit, Register.CONTROL, CLEAR_ERRORS)
        if self is Access.SET_POINTS:
            force, position = map(low_first, set_points)
            return writes_request(unit, Register.FORCE_COMMAND, (*force, *position))
        if self is Access.MODE:
            return write_request(unit, Register.CONTROL_3, mode)
        return read_request(unit, Register.MODE if self is Access.STATUS else Register.ERRORS, self.words)


def status_of(mode: int, motor_status: int, errors: int, latched: int) -> Status:
    """Status by registers; a motor that zeroes itself is homed once it has left that mode."""
    status = Status.FAULT if latched else Status.READY
    if latched & COMMS_TIMEOUT:
        status |= Status.WATCHDOG
    if mode != MotorMode.SLEEP:
        status |= Status.ENABLED | Status.QUICK_STOP if errors else Status.ENABLED
    if mode == MotorMode.AUTO_ZERO:
        status |= Status.HOMING
    elif motor_status & ZEROED:
        status |= Status.HOMED
    return status


_LARGEST = 2**31 - 1
_ANY = RANGES["f32"][1]
_STATUS_PERIOD = 0.05  # s between two looks at the mode of a motor that does as it is told
_STATUS_AGE = 0.25  # s after which nobody knows in which mode a motor is that does not say
_ACCESS, _CYCLIC = 0, 1  # exchanges of the station
_SLEEP, _ZERO = int(MotorMode.SLEEP), int(MotorMode.AUTO_ZERO)
_MODES = {Mode.FORCE: int(MotorMode.FORCE), Mode.POSITION: int(MotorMode.POSITION), Mode.HOMING: _ZERO}
_STREAMED = (int(MotorMode.FORCE), int(MotorMode.POSITION))
_OBSERVED = Register.POSITION + POSITION_WORDS - Register.MODE


class Orca(StationDrive):
    """An ORCA motor on a line of its own.

    A cycle sends one frame of the motor command stream, whose reply has position, force, power, temperature, supply
    and errors, and if necessary one register access. To enable the motor, set-points are written first, as it may still
    have old ones, then the mode, which is read back. During auto-zero no stream frame is sent, as it would end that;
    the position is read instead. The force is that of the motor's current, no load cell's: it is an auxiliary value.

    The motor has no brake and no quick stop: a stop puts it to sleep. Its errors end in sleep; the driver latches them
    until they are cleared. It reports no speed: that is computed from the last two positions. Replies have no echo.
    """

    def __init__(self, options: OrcaOptions) -> None:
        """Make the drive without connecting. Raises ConfigurationError: watchdog time out of range."""
        reach = _LARGEST * METRE - abs(options.position_offset)
        can = Capabilities(
            modes=(Mode.OFF, *_MODES),
            force_feedback=False,
            homing=True,
            watchdog=True,
            force_limit=_LARGEST * NEWTON,
            position_limit=reach,
            velocity_limit=_ANY,
            resolution=METRE,
            velocity_feedback=False,
            velocity_feedforward=False,
            homing_ends_off=True,
        )
        super().__init__(options, can, options.bus(), options.place, options.unit, 2)
        self._unit = options.unit
        self._offset = options.position_offset
        self._timeout, self._watchdog = options.request_timeout, options.watchdog
        self._setup = Setup(options, self._station)
        self._measured: Measured | None = None
        self._statuses: dict[tuple[int, ...], Status] = {}
        """cache of statuses, as flags are combined slowly"""
        self._forget()

    def _forget(self) -> None:
        """Drop all knowledge of the motor."""
        self._speed = SpeedFromPositions()
        self._mode = self._motor_status = 0
        self._status_at = self._replied_at = -math.inf
        self._wanted = self._streamed = _SLEEP
        """commanded mode, and mode of the set-points sent"""
        self._mode_commanded = True
        """whether the mode has been commanded since it was read last"""
        self._confirmed = False
        self._armed = False
        self._clear = self._clearing = False
        self._errors = self._error = 0
        """present errors, and those since the last clearing"""
        self._access: Access | None = None
        self._asked = b""
        """register access of this cycle, and its message"""
        self._previous_position: float | None = None
        """m, position whose zero the next status determines"""
        self._sent = False

    @property
    def exchanges(self) -> Sequence[tuple[int, int]]:
        """See `Drive.exchanges`: the longest."""
        access = len(Access.SET_POINTS.request(1, 0, (0, 0))), Access.SET_POINTS.reply_length
        cyclic = len(stream_request(1, SLEEP_CODE, 0)), STREAM_REPLY_LENGTH
        return [(request + CRC_LENGTH, reply + CRC_LENGTH) for request, reply in (access, cyclic)]

    @property
    def auxiliary(self) -> dict[str, float]:
        """See `Drive.auxiliary`: temperature in °C, supply in V, power in W, force by the motor's current in N."""
        last = self._measured
        if last is None:
            return dict.fromkeys(("temperature", "supply", "power", "motor force"), math.nan)
        values = float(last.temperature), last.supply * 1e-3, float(last.power), last.force * NEWTON
        return dict(zip(("temperature", "supply", "power", "motor force"), values, strict=True))

    def identify(self) -> Identity:
        """See `Drive.identify`."""
        return self._setup.identity(self._timeout)

    def configure(self) -> None:
        """See `Drive.configure`: the watchdog's time and the registers that the options set."""
        self._setup.write(self._timeout)
        self._setup.confirm(self._timeout, "did not take")

    def verify(self, timeout: float) -> Identity:
        """See `Drive.verify`."""
        identity = self._setup.identity(timeout)
        self._setup.confirm(timeout, "no longer has")
        return identity

    def observe(self, timeout: float) -> Feedback:
        """See `Drive.observe`."""
        words = self._station.read(Register.MODE, _OBSERVED, timeout)
        (errors,) = self._station.read(Register.ERRORS, 1, timeout)
        status = status_of(words[0], words[Register.MOTOR_STATUS - Register.MODE], errors, errors)
        return self._feedback(wide_value(*words[-POSITION_WORDS:]) * METRE, status, errors)

    def error_text(self, code: int) -> str:
        """See `Drive.error_text`: what each bit means."""
        if code == 0:
            return "no error"
        known = [text for bit, text in ERROR_TEXTS.items() if code & bit]
        rest = code & ~sum(bit for bit in ERROR_TEXTS)
        return ", ".join([*known, *([f"error bits {rest:#06x}, which are not explained"] if rest else [])])

    def _connect(self, timeout: float) -> None:
        self._forget()
        super()._connect(timeout)

    def _begin(self, command: Command) -> None:
        self._sequence = (self._sequence + 1) % SEQUENCES
        self._follow(command)
        self._access = access = self._next_access()
        stop = self._wanted == _SLEEP
        urgent = stop and Status.ENABLED in self._last.status
        # what is asked of a motor that does as it is told, or is told to sleep, does not delay its set-point
        stream_first = self._streamed != _ZERO and (access is Access.STATUS or (stop and access is Access.MODE))
        sent = not stream_first or self._stream(command, urgent)
        if access is not None:
            self._asked = access.request(self._unit, self._wanted, self._set_points(command))
            sent = self._station.ask(_ACCESS, self._asked, access.reply_length, urgent=urgent) and sent
        self._sent = (stream_first or self._stream(command, urgent)) and sent
        if self._sent:
            self.counters.sent += 1

    def _follow(self, command: Command) -> None:
        """Determine the mode of the motor."""
        if command.clear and not self._clear:
            self._clearing, self._error = True, 0
        self._clear = command.clear
        wanted = _SLEEP
        if not command.enable:
            self._armed = not self._error
        elif command.quick_stop:
            self._armed = False
        elif self._armed and not self._error:
            wanted = _MODES.get(command.mode, _SLEEP)
        if wanted != self._wanted:
            self._wanted = wanted
            self._confirmed = False
            self._mode_commanded = wanted == _SLEEP  # by the stream
            if wanted not in _STREAMED:
                self._streamed = wanted

    def _next_access(self) -> Access | None:
        """What is to be told or asked beside the set-point."""
        if self._clearing:
            return Access.CLEAR
        if self._wanted == _SLEEP and self._now - self._replied_at > 0.5 * self._watchdog:
            return Access.ERRORS  # as it is put to sleep it forgets what its watchdog found
        if self._streamed != self._wanted:
            return Access.SET_POINTS
        if not self._confirmed:
            return Access.STATUS if self._mode_commanded else Access.MODE
        if self._wanted == _ZERO:
            return Access.ERRORS if self._mode != _ZERO and self._access is Access.STATUS else Access.STATUS
        return Access.STATUS if self._now - self._status_at >= _STATUS_PERIOD else None

    def _stream(self, command: Command, urgent: bool) -> bool:
        """Send the cycle's set-point, or during auto-zero read the position."""
        length = STREAM_REPLY_LENGTH
        if self._streamed == MotorMode.FORCE:
            message = stream_request(self._unit, FORCE_CODE, self._set_points(command)[0])
        elif self._streamed == MotorMode.POSITION:
            message = stream_request(self._unit, POSITION_CODE, self._set_points(command)[1])
        elif self._streamed == _ZERO:
            message, length = read_request(self._unit, Register.POSITION, POSITION_WORDS), 3 + 2 * POSITION_WORDS
        else:
            message = stream_request(self._unit, SLEEP_CODE, 0)
        return self._station.ask(_CYCLIC, message, length, urgent=urgent)

    def _set_points(self, command: Command) -> tuple[int, int]:
        """Force, mN, and position, µm, in the motor's units."""
        return round(command.force / NEWTON), round((command.position - self._offset) / METRE)

    def _finish(self, deadline: float) -> Feedback | None:
        if not self._sent:
            return None
        self._sent = False
        message = self._station.answer(_CYCLIC, deadline)
        reply = None if self._access is None else self._station.answer(_ACCESS, deadline)
        if message is None or (self._access is not None and reply is None):
            self.counters.late += 1
        if self._access is not None and reply is not None and not self._take(self._access, reply):
            self._station.refuse(reply)
        if message is None:
            return None
        position = self._measure(message)
        if position is None:
            self._station.refuse(message)
            return None
        self._replied_at = self._now
        position = self._of_known_zero(position)
        if position is None or self._now - self._status_at > max(_STATUS_AGE, 4.0 * self.sample_period):
            return None
        offset = self._station.carried_after(self._now)
        feedback = self._feedback(position, self._status, self._error, offset)
        return feedback._replace(velocity=self._speed.after(self._now + offset, feedback))

    def _take(self, access: Access, message: bytes) -> bool:
        """Take the reply to an access; whether it is one."""
        if access.function != READ_HOLDING:
            if message != self._asked[: access.reply_length]:  # it repeats the head of what was written
                return False
            if access is Access.CLEAR:
                self._clearing = False
            elif access is Access.SET_POINTS:
                self._streamed = self._wanted
            else:
                self._mode_commanded = True
            return True
        words = read_values(self._unit, READ_HOLDING, access.words, message)
        if words is None:
            return False
        if access is Access.ERRORS:
            self._note(words[0])
            return True
        self._mode, self._motor_status, self._status_at = words[0], words[-1], self._now
        if not self._confirmed:
            self._confirmed = self._mode_commanded = words[0] == self._wanted
        return True

    def _measure(self, message: bytes) -> float | None:
        """Position, m, in the motor's zero, of the cycle's reply; None if it is none."""
        if self._streamed == _ZERO or message[1] == READ_HOLDING:
            words = read_values(self._unit, READ_HOLDING, POSITION_WORDS, message)
            return None if words is None else wide_value(*words) * METRE
        measured = stream_values(self._unit, message)
        if measured is None:
            return None
        self._measured = measured
        self._note(measured.errors)
        return measured.position * METRE

    def _of_known_zero(self, position: float) -> float | None:
        """The last measurement before the status was read: the end of an auto-zero moves the zero of the position."""
        if self._streamed != _ZERO or not self._confirmed:
            self._previous_position = position if self._streamed == _ZERO else None
            return position
        if self._mode != _ZERO:
            return position
        previous, self._previous_position = self._previous_position, position
        return previous if self._status_at == self._now else None

    def _note(self, errors: int) -> None:
        """Note the motor's present errors."""
        self._errors = errors
        self._error |= errors
        if errors:
            self._armed = False

    @property
    def _status(self) -> Status:
        flags = self._mode, self._motor_status, self._errors, self._error
        status = self._statuses.get(flags)
        if status is None:
            status = self._statuses[flags] = status_of(*flags)
        return status

    def _feedback(self, position: float, status: Status, error: int, offset: float = 0.0) -> Feedback:
        return Feedback(position + self._offset, 0.0, math.nan, status, error, True, 0.0, -1, 0, offset)
