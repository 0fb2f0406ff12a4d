"""Driver of IAI's ROBO Cylinders: options; a cycle reads the status block, and tells one controller where to go."""

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from actuators.addresses import Baud, LineTimes, ModbusOptions, RtuAddress
from actuators.driver import Bits, DriveOptions, DriveSettings, InUnit, StationDrive, points_among
from actuators.errors import ConfigurationError
from actuators.framing import CRC_LENGTH
from actuators.iai.protocol import (
    COIL_REPLY_LENGTH,
    GRAVITY,
    HOMING,
    METRE,
    MODBUS_COMMANDS,
    MOVE_REPLY_LENGTH,
    MOVING,
    STATUS,
    STATUS_COUNT,
    STATUS_REPLY_LENGTH,
    Coil,
    State,
    Status1,
    Target,
    coil_request,
    move_request,
    state_of,
    state_of_bytes,
    status_request,
)
from actuators.interface import SEQUENCES, Capabilities, Command, Feedback, Identity, Mode, Status
from actuators.profile import RANGES
from actuators.station import Station
from actuators.wire import Parity


class IaiAddress(RtuAddress):
    """A controller on a serial line (RS-485), possibly shared, or behind a TCP port that forwards its bytes.

    unit: its axis number plus 1, 1 to 16.
    """

    baud: Baud = 38400
    parity: Parity = "none"
    """Parity of the serial line, as in the controller's parameters; usually none."""
    stop_bits: Literal[1, 2] = 1
    inputs: Annotated[Bits, points_among(range(16), "bits 0..15 of the input port")] = Field(default_factory=dict)
    """Digital inputs of its PIO: bit of the input port monitor (register 9003h) by name. `emergency_stop` is there
    without: that its emergency stop cuts the motor, a bit of its status."""

    @model_validator(mode="after")
    def _as_the_controller_has_it(self) -> Self:
        if EMERGENCY_STOP in self.inputs:
            raise ValueError(f"inputs: {EMERGENCY_STOP!r} is the name of a bit of its status")
        if not 1 <= self.unit <= 16:
            raise ValueError(f"unit: {self.unit} is outside 1..16, an axis number plus 1")
        return self


class IaiSettings(DriveSettings, LineTimes):
    """Settings common to all of a rig."""

    acceleration: Annotated[float, Field(ge=0.1, le=30.0), InUnit("m/s^2")] = 2.94
    """Acceleration of a slider towards each target, m/s^2; at most that of its model with its load."""
    speed: Annotated[float, Field(ge=1e-3, le=5.0), InUnit("m/s")] = 0.3
    """Maximum speed of a slider, m/s; at most that of its model."""
    lookahead: Annotated[float, Field(ge=0.0, le=1.0), InUnit("s")] = 0.1
    """Lead of each target over the reference, s at the present speed: at least half the speed over the
    acceleration, otherwise the slider decelerates towards each target. The slider moves on by this distance when
    this computer is silent."""


class IaiOptions(DriveOptions, IaiSettings, IaiAddress, ModbusOptions):
    """What one controller's driver needs to know."""


EMERGENCY_STOP = "emergency_stop"
"""The input that is a bit of the status."""
_ANY = RANGES["f32"][1]
_LARGEST = 2**31 - 1
_IDENTITY = Identity("IAI", "ROBO Cylinder", "", "")
_COMMAND, _READ = 0, 1  # exchanges of the station
_FASTEST = 100.0  # m/s
_BEYOND = 20.0  # m by which a target may lie beyond its command, at that speed
_BAND = 10  # 0.01 mm in which a target counts as reached
_CATCHING_UP = 3.0  # 1/s, by which a slider that is behind is faster than its command
_CREEP = 0.002  # m/s with which it goes to a target that stands
_STANDSTILL = 1e-3  # m/s
_LONG_AGO = 0.5  # s after which the last command and reply are not used any more
_FIRST_CYCLE = 0.1  # s, assumed of the first cycle
_STOPPING = 0.5  # s after which the servo is switched off whether the slider rests or not


class Iai(StationDrive):
    """A ROBO Cylinder for positions.

    A cycle sends one command and reads the status block: a target with its speed, or a coil (servo, homing, stop, alarm
    reset), each until the status confirms it. The controller moves to each target by its own ramp, with the speed of
    the command and a little more.

    It has no watchdog: without commands it stops only at its target. It measures and takes no force, has no
    identification, and its replies have no echo.
    """

    def __init__(self, options: IaiOptions) -> None:
        """Make the drive without connecting. Raises ConfigurationError: a serial number that could not be compared."""
        reach = _LARGEST * METRE - abs(options.position_offset) - _BEYOND
        can = Capabilities(
            modes=(Mode.OFF, Mode.POSITION, Mode.HOMING),
            force_feedback=False,
            homing=True,
            watchdog=False,
            force_limit=_ANY,
            position_limit=reach,
            velocity_limit=_FASTEST,
            resolution=METRE,
            speed_limit=options.speed,
            ramp_limit=options.acceleration,
        )
        super().__init__(options, can, options.bus(), options.place, options.unit, 2)
        if options.serial is not None:
            raise ConfigurationError(
                f"{self.name}: serial number {options.serial!r} cannot be compared: a ROBO Cylinder does not say one"
            )
        self._options = options
        self.input_names = (*options.inputs, EMERGENCY_STOP)
        self._unit = options.unit
        self._offset = options.position_offset
        self._forget()

    def _forget(self) -> None:
        """Drop all knowledge of the controller."""
        self._state: State | None = None
        self._replied_at = 0.0
        self._commanded = (0.0, -math.inf)
        """commanded position at the end of the last cycle, m, and its begin, s"""
        self._speed = 0.0
        """m/s, with sign, of the target that was sent in the last cycle; 0 without one, and for one that stands"""
        self._armed = self._sent = self._clear = False
        self._begun = Mode.OFF
        self._steps: list[tuple[Coil, bool]] = []
        """coils to be written in turn, each until it is answered"""
        self._stopped_at = math.inf
        """s, time of the stop command; infinite without one"""
        self._stepping = False
        self._request = b""

    @property
    def exchanges(self) -> Sequence[tuple[int, int]]:
        """See `Drive.exchanges`."""
        command = len(move_request(1, Target(0, 0, 0, 0))), MOVE_REPLY_LENGTH
        read = len(status_request(1)), STATUS_REPLY_LENGTH
        return [(request + CRC_LENGTH, reply + CRC_LENGTH) for request, reply in (command, read)]

    @property
    def inputs(self) -> Mapping[str, bool]:
        """See `Drive.inputs`: they are in the status block."""
        state = self._state
        if state is None:
            return {}
        found = {name: bool(state.inputs >> bit & 1) for name, bit in self._options.inputs.items()}
        return found | {EMERGENCY_STOP: bool(state.status_1 & Status1.EMERGENCY_STOP)}

    def identify(self) -> Identity:
        """See `Drive.identify`: it only has to answer."""
        self._read(self._options.request_timeout)
        return _IDENTITY

    def configure(self) -> None:
        """See `Drive.configure`: commands come from Modbus from now on."""
        timeout = self._options.request_timeout
        self._station.write_coil(Coil.MODBUS_CONTROL, True, timeout)
        self._station.write_coil(Coil.STOP, False, timeout)
        self.verify(timeout)

    def verify(self, timeout: float) -> Identity:
        """See `Drive.verify`."""
        if not self._read(timeout).extended & MODBUS_COMMANDS:
            raise ConfigurationError(f"{self._station.label} takes its commands from its inputs, not from Modbus")
        return _IDENTITY

    def observe(self, timeout: float) -> Feedback:
        """See `Drive.observe`."""
        return self._feedback(self._read(timeout))

    def _read(self, timeout: float) -> State:
        return _read(self._station, timeout)

    def error_text(self, code: int) -> str:
        """See `Drive.error_text`: alarm codes are explained in the controller's manual."""
        return f"alarm {code:03X}, see the controller's manual" if code else "no error"

    def _connect(self, timeout: float) -> None:
        self._forget()
        super()._connect(timeout)

    def _begin(self, command: Command) -> None:
        self._sequence = (self._sequence + 1) % SEQUENCES
        state = self._state
        on = state is None or bool(state.status_1 & Status1.SERVO_ON)
        urgent = on and command.stops
        self._request = self._next_request(command, on)
        sent = True
        if self._request:
            sent = self._station.ask(_COMMAND, self._request, COIL_REPLY_LENGTH, urgent=urgent)
        read = self._station.ask(_READ, status_request(self._unit), STATUS_REPLY_LENGTH, urgent=urgent)
        self._sent = sent and read
        if self._sent:
            self.counters.sent += 1

    def _next_request(self, command: Command, on: bool) -> bytes:
        """The command message of this cycle, b"" if there is none; `on`: whether the servo may be on."""
        if command.clear and not self._clear:
            self._steps = [(Coil.ALARM_RESET, True), (Coil.ALARM_RESET, False)]
        self._clear = command.clear
        speed, self._speed = self._speed, 0.0
        if not command.enable:
            self._armed = self._state is None or not _alarm(self._state)
        elif command.quick_stop:
            self._armed = False
        if command.mode is not Mode.HOMING or not command.enable:
            self._begun = Mode.OFF
        wanted = command.enable and self._armed and not command.quick_stop and command.mode is not Mode.OFF
        self._stepping = False
        if on and not wanted:
            return self._switch_off(quick=command.quick_stop)
        if wanted and math.isfinite(self._stopped_at):
            return self._step([(Coil.STOP, False)])
        if wanted and not on:
            return self._step([(Coil.SERVO_ON, True)])
        if self._steps:
            return self._step(self._steps)
        if not wanted:
            return b""
        if command.mode is Mode.POSITION:
            return move_request(self._unit, self._target(command, speed)) if self._homed else b""
        if self._begun is not Mode.HOMING:
            self._begun = Mode.HOMING
            self._steps = [(Coil.HOME, False), (Coil.HOME, True)]
            return self._step(self._steps)
        return b""

    def _switch_off(self, *, quick: bool) -> bytes:
        """Switch the torque off; `quick`: after the controller has stopped the slider."""
        self._steps = []
        if quick:
            begun = math.isinf(self._stopped_at)
            if begun:
                self._stopped_at = self._now
            moves = self._state is not None and _moves(self._state)
            if begun or (moves and self._now - self._stopped_at < _STOPPING):
                return coil_request(self._unit, Coil.STOP, True)
        return coil_request(self._unit, Coil.SERVO_ON, False)

    def _step(self, steps: list[tuple[Coil, bool]]) -> bytes:
        self._stepping = steps is self._steps
        return coil_request(self._unit, *steps[0])

    @property
    def _homed(self) -> bool:
        return self._state is not None and bool(self._state.status_1 & Status1.HOMED)

    def _target(self, command: Command, before_speed: float) -> Target:
        """The target: beyond the commanded position at the cycle's end, with the speed to reach that position in time.

        A slider decelerates towards each target: it would stop between targets one cycle apart. before_speed: m/s, of
        the target before, towards which it has accelerated since its state was read.
        """
        position = command.position - self._offset
        before, at = self._commanded
        elapsed = self._now - at
        if not 0.0 < elapsed <= _LONG_AGO:
            before, elapsed = position, _FIRST_CYCLE
        end = position + command.velocity * elapsed
        self._commanded = (end, self._now)
        here = position if self._state is None else self._present(self._state, before_speed)
        velocity = (end - before) / elapsed + _CATCHING_UP * (position - here)
        speed = min(self._options.speed, max(abs(velocity), _CREEP))
        if abs(velocity) > _CREEP:
            self._speed = math.copysign(speed, velocity)
            end += self._speed * self._options.lookahead
        acceleration = round(self._options.acceleration / GRAVITY)
        return Target(round(end / METRE), _BAND, round(speed / METRE), acceleration)

    def _present(self, state: State, speed: float) -> float:
        """The slider's position, m, after a `state` from which it went on by its ramp to a `speed`, m/s."""
        since, begin = min(self._now - self._replied_at, _LONG_AGO), state.speed * METRE
        ramp = min(abs(speed - begin) / self._options.acceleration, since)
        slower = math.copysign(0.5 * self._options.acceleration * ramp, begin - speed)  # mean, than at its end
        reached = begin - 2.0 * slower
        return state.position * METRE + (reached + slower) * ramp + reached * (since - ramp)

    def _finish(self, deadline: float) -> Feedback | None:
        if not self._sent:
            return None
        self._sent = False
        reply = self._station.answer(_COMMAND, deadline) if self._request else b""
        message = self._station.answer(_READ, deadline)
        if message is None or reply is None:
            self.counters.late += 1
        if reply:
            self._take_reply(reply)
        if message is None:
            return None
        state = state_of(self._unit, message)
        if state is None:
            self._station.refuse(message)
            return None
        self._state, self._replied_at = state, self._now
        self._armed = self._armed and not _alarm(state)
        return self._feedback(state)._replace(offset=self._station.carried_after(self._now))

    def _take_reply(self, reply: bytes) -> None:
        """Take the reply to the command, which repeats its head."""
        if reply != self._request[:COIL_REPLY_LENGTH]:
            self._station.refuse(reply)
            return
        if reply == coil_request(self._unit, Coil.STOP, False):
            self._stopped_at = math.inf
        if self._stepping:
            self._steps.pop(0)

    def _feedback(self, state: State) -> Feedback:
        bits, extended = state.status_1, state.extended
        status = Status(0)
        alarm = _alarm(state)
        if alarm:
            status |= Status.FAULT
        elif bits & Status1.READY and not bits & Status1.EMERGENCY_STOP:
            status |= Status.READY
        if bits & Status1.SERVO_ON:
            status |= Status.ENABLED | (Status.QUICK_STOP if math.isfinite(self._stopped_at) else Status(0))
        elif not bits & Status1.BRAKE_RELEASED:
            status |= Status.BRAKE
        if extended & HOMING:
            status |= Status.HOMING
        elif bits & Status1.HOMED:
            status |= Status.HOMED
        if not _moves(state):
            status |= Status.STANDSTILL
        position = state.position * METRE + self._offset
        return Feedback(position, state.speed * METRE, math.nan, status, alarm, True, 0.0, -1)


def _alarm(state: State) -> int:
    """Code of the present alarm, 0 = none."""
    return state.alarm or int(bool(state.status_1 & (Status1.HEAVY_ALARM | Status1.LIGHT_ALARM)))


def _moves(state: State) -> bool:
    return bool(state.extended & (MOVING | HOMING)) or abs(state.speed * METRE) > _STANDSTILL


def _read(station: Station, timeout: float) -> State:
    words = station.read(STATUS, STATUS_COUNT, timeout)
    return state_of_bytes(b"".join(word.to_bytes(2, "big") for word in words))


def recognise(station: Station, timeout: float) -> Identity | None:
    """See `Driver.recognise`: it has the status block where no others have registers."""
    _read(station, timeout)
    return _IDENTITY
