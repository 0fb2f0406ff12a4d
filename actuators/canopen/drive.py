"""Driver of drives with the profile CiA 402 on CANopen: cyclic synchronous position and torque, homing, the watchdog.

See CiA 301 and CiA 402-2. In a cycle each drive is sent its control word, target position and target torque (RPDO 1)
and, while it is to change, its mode (RPDO 2). At the SYNC behind them all drives take these over, and send status
word, position and error code (TPDO 1), speed and mode (TPDO 2). Digital outputs (RPDO 3) and inputs (TPDO 3) are added
for a drive whose table names some.
"""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated

from pydantic import Field, field_validator

from actuators.canopen.bus import CanBus, CanExchange
from actuators.canopen.frames import (
    ABORT_CONNECTION,
    CAN_BIT_RATE,
    CONSUMER_HEARTBEAT,
    CYCLE_EXPONENT,
    CYCLE_TIME,
    DEVICE_NAME,
    ERROR_CODE,
    FAULT_OPTION,
    HOMING_METHOD,
    INPUTS,
    MAPPED,
    MAPPED_INPUTS,
    MAPPED_OUTPUTS,
    MAPPING,
    MODE,
    MODE_DISPLAY,
    NMT_PREPARE,
    NMT_START,
    OUTPUTS,
    OUTPUTS_MASK,
    PDO_OFF,
    POSITION,
    PRODUCT,
    QUICK_STOP_OPTION,
    REVISION,
    RPDO_1,
    RPDO_2,
    RPDO_3,
    SERIAL,
    STATUS,
    TPDO_1,
    TPDO_2,
    VELOCITY,
    VENDOR,
    WATCHDOG_ERRORS,
    CanEndpoint,
    Object,
    codes,
    error_text,
    frame_bits,
    line_of,
    parsed,
)
from actuators.canopen.wire import open_can
from actuators.cia402 import CIA_402, CYCLIC_POSITION, CYCLIC_TORQUE, HOMING
from actuators.drive import Drive
from actuators.driver import Bits, DriveAddress, DriveOptions, DriveSettings, InUnit, Line, points_among
from actuators.errors import ConfigurationError, ConnectError, IdentityError
from actuators.interface import Capabilities, Command, Feedback, Identity, Mode, Status
from actuators.power import PowerSequence

_BITRATE = Annotated[int, Field(strict=True, ge=10_000, le=1_000_000)]
_NODE = Annotated[int, Field(strict=True, ge=1, le=127)]
_COMMAND, _STATUS, _SPEED = (codes(MAPPED[pdo][1]) for pdo in (RPDO_1, TPDO_1, TPDO_2))
_INPUTS_AT = _STATUS.size + _SPEED.size
"""Where a reply has the digital inputs, if it has."""
_START_HOMING = 0x10
"""Bit of the control word in homing mode whose rising edge begins the search."""
_ATTAINED, _HOMING_ERROR = 0x1000, 0x2000
"""Bits of the status word in homing mode."""
_MODES = {Mode.OFF: HOMING, Mode.HOMING: HOMING, Mode.POSITION: CYCLIC_POSITION, Mode.FORCE: CYCLIC_TORQUE}
"""Without torque a drive is in homing mode, whose status word has the bit of an absolute position."""
_MALFUNCTION, _RAMP_AND_DISABLE = 1, 2
_PER_MILLE = 1000
_TORQUES, _POSITIONS = 32767, 2**31 - 1
_STANDSTILL = 1e-3  # m/s


class CanopenPoints(DriveAddress):
    """Digital inputs and outputs of a drive, by CiA 402-2."""

    inputs: Annotated[
        Bits,
        points_among(
            (*range(4), *range(16, 32)), "bits 0..3 (limit and home switches, interlock) and 16..31 (maker's)"
        ),
    ] = Field(default_factory=dict)
    """Digital inputs: bit of object 60FDh by name."""
    outputs: Annotated[Bits, points_among(range(16, 32), "bits 16..31 (maker's); the brake, 0, is the drive's")] = (
        Field(default_factory=dict)
    )
    """Digital outputs: bit of object 60FEh:1 by name; 60FEh:2 is set to these bits."""


class CanopenAddress(CanopenPoints):
    """A node on a CAN bus.

    unit: its node number, 1 to 127.
    """

    unit: _NODE = 1
    device: Line
    """The bus, as python-can opens it: can://INTERFACE/CHANNEL, for example "can://socketcan/can0"."""
    bitrate: _BITRATE = CAN_BIT_RATE
    """Bits per second of the bus; of SocketCAN it is set by the system."""

    @field_validator("device")
    @classmethod
    def _has_interface_and_channel(cls, url: str) -> str:
        try:
            parsed(url)
        except ConfigurationError as error:
            raise ValueError(str(error)) from None
        return url

    @property
    def identity(self) -> tuple[str, str]:
        """See `DriveAddress.identity`."""
        return "", f"{self.device} node {self.unit}"

    @property
    def place(self) -> str:
        """See `DriveAddress.place`."""
        return self.device

    @property
    def endpoint(self) -> CanEndpoint:
        """See `DriveAddress.endpoint`."""
        return CanEndpoint(self.device, self.bitrate, "none")


class CanopenSettings(DriveSettings):
    """Settings common to all of a rig."""

    resolution: Annotated[float, Field(ge=1e-12, le=1e-2), InUnit("m")] = 1e-7
    """Leg length per unit of position (objects 6064h and 607Ah), m, by gear, spindle and the drive's factor group."""
    speed_resolution: Annotated[float, Field(ge=1e-12, le=1.0), InUnit("m/s")] = 1e-7
    """Speed of the leg per unit of velocity (object 606Ch), m/s."""
    rated_force: Annotated[float, Field(ge=1e-3, le=1e7), InUnit("N")] = 1000.0
    """Force at the rated torque, N: targets of torque are per mille of it. Its sign is the drive's polarity (607Eh)."""
    homing_method: Annotated[int, Field(strict=True, ge=-128, le=127)] = 37
    """Homing method (object 6098h): 37 takes the present position as the reference, as of an absolute encoder."""
    sync_period: Annotated[float, Field(ge=0.0, le=0.255), InUnit("s")] = 0.0
    """Period of the cycle (object 60C2h), s, over which drives interpolate: 1 to 255 times 1 ms, 0.1 ms, 10 µs or 1 µs;
    0 = it is not written."""
    host_node: _NODE = 127
    """Node number of this computer, whose heartbeats the drives watch."""

    @field_validator("sync_period")
    @classmethod
    def _can_be_written(cls, period: float) -> float:
        if period and cycle_time(period) is None:
            raise ValueError(f"{period:.9g} s: object 60C2h has 1 to 255 times 1 ms, 0.1 ms, 10 µs or 1 µs")
        return period


def cycle_time(period: float) -> tuple[int, int] | None:
    """Mantissa and exponent of object 60C2h that are `period` (s); None: there are none."""
    for exponent in range(-3, -7, -1):  # whole milliseconds first, as drives are delivered
        steps = period * 10.0**-exponent
        if 1 <= round(steps) <= 255 and math.isclose(steps, round(steps), rel_tol=1e-6):
            return round(steps), exponent
    return None


class CanopenOptions(DriveOptions, CanopenSettings, CanopenAddress):
    """What one drive's driver needs to know."""

    def bus(self) -> CanBus:
        """The bus, shared by those with the same `buses`."""
        endpoint = self.endpoint
        opening = self.open_wire or partial(open_can, endpoint)
        return self.shared_bus(self.place, lambda: CanBus(opening, self.host_node, endpoint))


def read_identity(bus: CanBus, unit: int, label: str, timeout: float) -> Identity:
    """Read who a node is, by objects 1018h and 1008h. Raises ConnectError, ProtocolError."""
    vendor, product, revision, serial = (
        bus.read(unit, label, entry, timeout) for entry in (VENDOR, PRODUCT, REVISION, SERIAL)
    )
    raw = bus.read_bytes(unit, label, DEVICE_NAME, timeout)
    name = "".join(chr(byte) if 32 <= byte < 127 else "?" for byte in raw.rstrip(b"\0 "))
    return Identity(
        f"vendor {vendor:08X}h", name or f"product {product:08X}h", str(serial), f"{revision >> 16}.{revision & 0xFFFF}"
    )


class Canopen(Drive):
    """A drive for positions and torques; its force feedback is none, load cells are read elsewhere.

    Its watchdog is the consumer of heartbeats (object 1016h): every cycle has this computer's, for all drives of a bus.
    It is set to be a fault, and the drive stops by its quick-stop ramp. A PDO has no echo of the command: outputs go
    out in every cycle.
    """

    def __init__(self, options: CanopenOptions) -> None:
        """Make the drive without connecting. Raises ConfigurationError: a serial number that is none, or the host's."""
        can = Capabilities(
            modes=tuple(Mode),
            force_feedback=False,
            homing=True,
            watchdog=True,
            force_limit=_TORQUES * options.rated_force / _PER_MILLE,
            position_limit=_POSITIONS * options.resolution - abs(options.position_offset),
            velocity_limit=_POSITIONS * options.speed_resolution,
            resolution=options.resolution,
            velocity_feedforward=False,
            extrapolates=True,
        )
        super().__init__(options.name, can, options.echo_lag, options.sample_period)
        if options.serial is not None and not options.serial.isdecimal():
            raise ConfigurationError(f"{self.name}: serial number {options.serial!r} must be a number (object 1018h:4)")
        if options.unit == options.host_node:
            raise ConfigurationError(f"{self.name}: node {options.unit} is this computer's (host_node)")
        if options.position_offset and can.position_limit <= 0.0:
            raise ConfigurationError(
                f"{self.name}: position_offset {options.position_offset:g} m is beyond {_POSITIONS} units of "
                f"{options.resolution:g} m"
            )
        self._options = options
        self._unit = options.unit
        self.batch = self._bus = options.bus()
        points = isinstance(options, CanopenPoints)  # a bus of another kind has none
        self._inputs, self._outputs = (options.inputs, options.outputs) if points else ({}, {})
        self.input_names, self.output_names = tuple(self._inputs), tuple(self._outputs)
        self._pdos = {**MAPPED, **(MAPPED_OUTPUTS if self._outputs else {}), **(MAPPED_INPUTS if self._inputs else {})}
        self._exchange = CanExchange(options.unit, self.counters, 3 if self._inputs else 2)
        self._exchange.reply_length = _INPUTS_AT + (INPUTS.size if self._inputs else 0)
        self._label = f"{self.name} at {options.place}, node {options.unit}"
        self._forget()

    def _forget(self) -> None:
        """Drop all knowledge of the drive."""
        self._power = PowerSequence(CIA_402)
        self._mode = 0
        """mode that it reports, 0: unknown"""
        self._input_word: int | None = None
        self._output_word = 0
        self._homed = self._searching = self._sent = False
        self._last_mode, self._last_set_points = 0, (0, 0)
        self._boots = self._bus.node(self._unit).boots
        self._mapped_after = -1
        """how often it had started when its PDOs were mapped, -1: not yet since the connection"""

    @property
    def sequence(self) -> int:
        """See `Drive.sequence`: PDOs have none."""
        return -1

    @property
    def connected(self) -> bool:
        """See `Drive.connected`."""
        return self._bus.joined(self._exchange)

    @property
    def silence(self) -> str:
        """See `Drive.silence`."""
        if self._bus.node(self._unit).boots > self._boots:
            return "it has started anew, and is not operational"
        return super().silence

    def close(self) -> None:
        """See `Drive.close`."""
        self._bus.leave(self._exchange)

    def _connect(self, timeout: float) -> None:
        try:
            self._bus.join(self._exchange, timeout)
        except ConnectError as error:
            raise ConnectError(f"{self.name}: {error}") from error
        self._forget()

    @property
    def exchanges(self) -> Sequence[tuple[int, int]]:
        """See `Drive.exchanges`: bytes as long as the bits of the frames; the bus adds SYNC and heartbeat."""
        reply = frame_bits(_STATUS.size) + frame_bits(_SPEED.size)
        reply += frame_bits(INPUTS.size) if self._inputs else 0.0
        command = frame_bits(_COMMAND.size) + (frame_bits(OUTPUTS.size) if self._outputs else 0.0)
        return [(math.ceil(command / 8), math.ceil(reply / 8))]

    @property
    def inputs(self) -> Mapping[str, bool]:
        """See `Drive.inputs`."""
        word = self._input_word
        return {} if word is None else {name: bool(word >> bit & 1) for name, bit in self._inputs.items()}

    def switch(self, output: str, on: bool) -> None:
        """See `Drive.switch`."""
        super().switch(output, on)
        self._output_word = sum(1 << self._outputs[name] for name in self._outputs_on)

    def identify(self) -> Identity:
        """See `Drive.identify`."""
        return self._identify(self._options.request_timeout)

    def _identify(self, timeout: float) -> Identity:
        identity = read_identity(self._bus, self._unit, self._label, timeout)
        if self._options.serial is not None and int(self._options.serial) != int(identity.serial):
            raise IdentityError(f"{self._label}: serial number {identity.serial}, must be {self._options.serial}")
        return identity

    def configure(self) -> None:
        """See `Drive.configure`: outputs off, heartbeats and options, PDOs and their mapping, then operational."""
        timeout, bus = self._options.request_timeout, self._bus
        again = self._mapped_after == bus.node(self._unit).boots
        if again:
            bus.beat()  # drives whose turn comes later have a watchdog that runs
        bus.nmt(self._unit, NMT_PREPARE)
        if self._outputs:
            self._write(OUTPUTS, 0, timeout)
        for entry, value in self._settings():
            self._write(entry, value, timeout)
        self._verify(timeout)
        if not again:
            self._map(timeout)
        bus.nmt(self._unit, NMT_START)
        self._boots = self._mapped_after = bus.node(self._unit).boots

    def _map(self, timeout: float) -> None:
        """Write the PDOs' identifiers, mapping and transmission types."""
        for pdo, (parameters, objects, kind) in self._pdos.items():
            identifier = Object(parameters, 1, "I")
            mapping = parameters + MAPPING
            self._write(identifier, PDO_OFF | pdo + self._unit, timeout)
            self._write(Object(mapping, 0, "B"), 0, timeout)
            for place, each in enumerate(objects, start=1):
                self._write(Object(mapping, place, "I"), each.mapping, timeout)
            self._write(Object(mapping, 0, "B"), len(objects), timeout)
            self._write(Object(parameters, 2, "B"), kind, timeout)
            self._write(identifier, pdo + self._unit, timeout)

    def _settings(self) -> list[tuple[Object, int]]:
        """Objects that are written, with their values, the watchdog first."""
        options = self._options
        found = [
            (CONSUMER_HEARTBEAT, options.host_node << 16 | round(1e3 * options.watchdog)),
            (ABORT_CONNECTION, _MALFUNCTION),
            (QUICK_STOP_OPTION, _RAMP_AND_DISABLE),
            (FAULT_OPTION, _RAMP_AND_DISABLE),
            (HOMING_METHOD, options.homing_method),
        ]
        if (cycle := cycle_time(options.sync_period)) is not None:
            found += zip((CYCLE_TIME, CYCLE_EXPONENT), cycle, strict=True)
        if self._outputs:
            found.append((OUTPUTS_MASK, sum(1 << bit for bit in self._outputs.values())))
        return found

    def _verify(self, timeout: float) -> None:
        for entry, value in self._settings():
            found = self._read(entry, timeout)
            if found != value:
                raise ConfigurationError(f"{self._label}: object {entry.name} is {found}, must be {value}")

    def verify(self, timeout: float) -> Identity:
        """See `Drive.verify`."""
        self._verify(timeout)
        return self._identify(timeout)

    def observe(self, timeout: float) -> Feedback:
        """See `Drive.observe`."""
        status, position, error, velocity, mode = (
            self._read(entry, timeout) for entry in (STATUS, POSITION, ERROR_CODE, VELOCITY, MODE_DISPLAY)
        )
        return self._feedback(status, position, error, velocity, mode)

    def error_text(self, code: int) -> str:
        """See `Drive.error_text`: with the rest of the last emergency if that has the same code."""
        emergency, register, maker = self._bus.node(self._unit).emergency
        if not code or code != emergency:
            return error_text(code)
        return f"{error_text(code)}; emergency with error register {register:02X}h, {maker.hex(' ')}"

    def _read(self, entry: Object, timeout: float) -> int:
        return self._bus.read(self._unit, self._label, entry, timeout)

    def _write(self, entry: Object, value: int, timeout: float) -> None:
        self._bus.write(self._unit, self._label, entry, value, timeout)

    def _begin(self, command: Command) -> None:
        mode, options = _MODES[command.mode], self._options
        position = round((command.position - options.position_offset) / options.resolution)
        torque = round(command.force * _PER_MILLE / options.rated_force) if command.mode is Mode.FORCE else 0
        if command.stops and self._power.flags & Status.ENABLED and self._last_mode:
            mode, position, torque = self._last_mode, *self._last_set_points  # it stops in the mode in which it moves
        message = b""
        if mode != self._mode or mode != self._last_mode:
            message = line_of(RPDO_2 + self._unit, MODE.pack(mode))
        if self._outputs:
            message += line_of(RPDO_3 + self._unit, OUTPUTS.pack(self._output_word))
        self._last_mode, self._last_set_points = mode, (position, torque)
        word = self._control(command, mode)
        message += line_of(RPDO_1 + self._unit, _COMMAND.pack(word, position, torque))
        self._sent = self._bus.begin(self._exchange, message)
        self.counters.sent += self._sent

    def _control(self, command: Command, mode: int) -> int:
        """The control word: torque is only taken in the mode that is wanted."""
        power, wanted = self._power, command.enable and command.mode is not Mode.OFF
        ready = mode == self._mode or power.enabled
        if wanted and not command.quick_stop and not ready:
            return power.table.disable.value
        word = power.control(self._now, enable=command.enable, quick_stop=command.quick_stop, clear=command.clear)
        self._searching = command.mode is Mode.HOMING and power.enabled and self._mode == HOMING
        return word | (_START_HOMING if self._searching else 0)

    def _finish(self, deadline: float) -> Feedback | None:
        if not self._sent:
            return None
        self._sent = False
        reply = self._bus.collect(self._exchange, deadline)
        if reply is None:
            self.counters.late += 1
            return None
        if len(reply) != self._exchange.reply_length:
            self.counters.rejected += 1
            return None
        status, position, error = _STATUS.unpack_from(reply)
        velocity, self._mode = _SPEED.unpack_from(reply, _STATUS.size)
        if self._inputs:
            self._input_word = INPUTS.unpack(reply[_INPUTS_AT:])
        self._power.observe(status)
        if self._mode == HOMING:
            self._homed = bool(status & _ATTAINED)
        return self._feedback(status, position, error, velocity, self._mode)

    def _feedback(self, word: int, position: int, error: int, velocity: int, mode: int) -> Feedback:
        state = CIA_402.state(word)
        status = Status(0) if state is None else state.flags
        if self._power.failure is not None or (mode == HOMING and word & _HOMING_ERROR):
            status = status & ~Status.READY | Status.FAULT
        homed = bool(word & _ATTAINED) if mode == HOMING else self._homed
        if self._searching and mode == HOMING and not homed and status & Status.ENABLED:
            status |= Status.HOMING
        elif homed:
            status |= Status.HOMED
        if status & Status.FAULT and error in WATCHDOG_ERRORS:
            status |= Status.WATCHDOG
        speed = velocity * self._options.speed_resolution
        if abs(speed) < _STANDSTILL:
            status |= Status.STANDSTILL
        at = position * self._options.resolution + self._options.position_offset
        return Feedback(at, speed, math.nan, status, error if status & Status.FAULT else 0, True, 0.0, -1)
