"""Virtual twin of an ORCA motor: its registers, its stream, its modes, its watchdog and its auto-zero."""

import math
import struct
from collections.abc import Callable, Mapping
from typing import ClassVar

from actuators.codec import READ_HOLDING, READ_WRITE, WRITE_MULTIPLE, WRITE_SINGLE
from actuators.errors import ConfigurationError
from actuators.interface import Mode
from actuators.orca.drive import OrcaOptions
from actuators.orca.protocol import (
    CLEAR_ERRORS,
    COMMS_TIMEOUT,
    FORCE_CODE,
    FRAMING,
    LARGEST_SERIAL,
    METRE,
    NEWTON,
    POSITION_CODE,
    READ_STREAM,
    REGISTERS,
    SHAFT_IMAGE_FAILED,
    STREAM,
    WRITE_STREAM,
    ZERO_POSITION,
    ZEROED,
    ZEROING,
    Measured,
    MotorMode,
    Register,
    low_first,
    stream_reply,
    wide_value,
)
from actuators.virtual.device import ILLEGAL_ADDRESS, ILLEGAL_VALUE, ModbusDevice, RegisterError
from actuators.virtual.drive import SERVO_FAULTS, FaultKind, PlantPort, VirtualDrive
from actuators.virtual.faults import FaultyServo

_WRITABLE = range(180)
_DAMPING_TIME = 0.2  # s for which a motor in error damps a leg that does not come to rest
_STANDSTILL = 1e-3  # m/s
_STREAM_GAP = 0.1  # s between two set-points, beyond which they tell no speed
_TEMPERATURE, _SUPPLY = 35.0, 48.0  # °C, V
_LARGEST = 2**31 - 1
_KNOWN_MODES = frozenset(map(int, MotorMode))
_MODES = {MotorMode.FORCE: Mode.FORCE, MotorMode.POSITION: Mode.POSITION, MotorMode.AUTO_ZERO: Mode.HOMING}


class VirtualOrca(VirtualDrive, ModbusDevice):
    """A motor with one leg of the plant (`plant`), whose brake closes while the motor has no power.

    Its force is computed from its current: it includes the leg's friction and the drive's inertia, and is 0 in sleep.
    Undocumented behaviour is the worst case for a driver: set-points stay when the mode changes, and a stream frame for
    another mode than the present one has no effect and does not serve the watchdog. An auto-zero ends in
    sleep. In an error the motor damps the leg until it rests, 0.2 s at most, or sleeps.
    """

    functions = frozenset((READ_HOLDING, WRITE_SINGLE, WRITE_MULTIPLE, READ_WRITE))

    fault_kinds: ClassVar[Mapping[str, FaultKind]] = {
        name: kind for name, kind in SERVO_FAULTS.items() if name != "safe_torque_off"
    }
    """Faults that it can have: it has no input to take its torque off. Those of the cell are its leg's cell's."""

    def __init__(self, plant: PlantPort, *, unit: int = 1, serial: int = 1, position_offset: float = 0.0) -> None:
        """Power the motor up. position_offset: m, leg length where it has its zero."""
        super().__init__(unit, "silent", FRAMING)
        self.plant = plant
        self.power = 12
        """W, reported power"""
        self._serial = serial
        self._offset = position_offset
        self._shown: dict[str, float] = {}
        self._readable.append((0, REGISTERS, self._render))
        self._streams: dict[int, Callable[[bytes], bytes]] = {
            STREAM: self._command_stream,
            READ_STREAM: self._read_stream,
            WRITE_STREAM: self._write_stream,
        }
        self.reboot()

    def show(self, name: str, value: float | None) -> None:
        """See `VirtualDrive.show`: temperature in °C, supply in V."""
        self._shown.pop(name, None)
        if value is not None:
            self._shown[name] = value

    def bar_torque(self, barred: bool) -> None:
        """See `VirtualDrive.bar_torque`: it has no input for that."""

    def reboot(self) -> None:
        """Power-cycle the motor: asleep, not zeroed, every register at its power-up value, the watchdog off."""
        self._registers = [0] * REGISTERS
        for at, value in (
            (Register.SERIAL, self._serial & 0xFFFF),
            (Register.SERIAL + 1, self._serial >> 16),
            (Register.VERSION, 6),
            (Register.VERSION + 1, 3),
            (Register.STATOR, 6),
        ):
            self._registers[at] = value
        self._mode = MotorMode.SLEEP
        self._set_speed = 0.0
        self._errors = self._latched = 0
        self._zeroed = False
        self._zero = self.plant.length
        self._fed = self._damped_until = self.now
        self._rest()

    def tick(self, now: float) -> None:
        """Advance the time: watchdog, end of an auto-zero, end of damping. now: s; monotonic."""
        self.now = now
        timeout = self._registers[Register.COMMS_TIMEOUT] * 1e-3
        if self._errors:
            if self._damping and (now >= self._damped_until or abs(self.plant.velocity) <= _STANDSTILL):
                self._rest()
        elif self._mode in (MotorMode.FORCE, MotorMode.POSITION):
            if timeout and now - self._fed > timeout:
                self._fail(COMMS_TIMEOUT)
        elif self._mode is MotorMode.AUTO_ZERO and self.plant.homing_done:
            self._zeroed = True
            self._zero = self._offset
            self._enter(MotorMode.SLEEP)

    def answer(self, message: bytes) -> bytes:
        """See `ModbusDevice.answer`; its own function codes besides the usual ones."""
        stream = self._streams.get(message[1])
        if stream is None or message[0] != self.unit:
            return super().answer(message)
        try:
            return stream(message)
        except RegisterError as error:
            return bytes((self.unit, message[1] | 0x80, error.code))

    def _write(self, address: int, data: bytes) -> None:
        words = struct.unpack(f">{len(data) // 2}H", data)
        if address not in _WRITABLE or address + len(words) - 1 not in _WRITABLE:
            raise RegisterError(ILLEGAL_ADDRESS)
        mode = words[Register.CONTROL_3 - address] if address <= Register.CONTROL_3 < address + len(words) else None
        if mode is not None and mode not in _KNOWN_MODES:
            raise RegisterError(ILLEGAL_VALUE)
        self._registers[address : address + len(words)] = words
        if address == Register.CONTROL:
            self._control(words[0])
        if mode is not None:
            self._enter(MotorMode(mode))
        for commanded, owner in (
            (Register.FORCE_COMMAND, MotorMode.FORCE),
            (Register.POSITION_COMMAND, MotorMode.POSITION),
        ):
            if self._mode is owner and address <= commanded < address + len(words):
                self._drive()

    def _control(self, bits: int) -> None:
        if bits & CLEAR_ERRORS:
            self._clear()
        if bits & ZERO_POSITION:
            self._zero = self.plant.length
        self._registers[Register.CONTROL] = 0

    def _command_stream(self, message: bytes) -> bytes:
        """Function 100."""
        code, value = struct.unpack(">Bi", message[2:])
        for known, owner, register in (
            (FORCE_CODE, MotorMode.FORCE, Register.FORCE_COMMAND),
            (POSITION_CODE, MotorMode.POSITION, Register.POSITION_COMMAND),
        ):
            if code == known:
                if self._mode is owner and not self.hung:
                    self._take_set_point(register, value)
                break
        else:
            if not self.hung:
                self._enter(MotorMode.SLEEP)
        return stream_reply(self.unit, self._measured())

    def _take_set_point(self, register: Register, value: int) -> None:
        """Take a set-point of the stream; a position's speed is that of its change."""
        elapsed = self.now - self._fed
        if register == Register.POSITION_COMMAND and 0.0 < elapsed < _STREAM_GAP:
            self._set_speed = (value - self._set_point(register)) * METRE / elapsed
        self._registers[register : register + 2] = low_first(value)
        self._drive()

    def _read_stream(self, message: bytes) -> bytes:
        """Function 104."""
        address, width = struct.unpack(">HB", message[2:])
        if width not in (1, 2):
            raise RegisterError(ILLEGAL_VALUE)
        words = struct.unpack(f">{width}H", self._read(address, width))
        value = wide_value(*words) & 0xFFFFFFFF if width == 2 else words[0]
        head = struct.pack(">BBIB", self.unit, READ_STREAM, value, self._shown_mode)
        return head + stream_reply(self.unit, self._measured())[2:]

    def _write_stream(self, message: bytes) -> bytes:
        """Function 105."""
        address, width, value = struct.unpack(">HBI", message[2:])
        if width not in (1, 2):
            raise RegisterError(ILLEGAL_VALUE)
        if not self.hung:
            self._write(address, struct.pack(f">{width}H", *low_first(value)[:width]))
        return bytes((self.unit, WRITE_STREAM, self._shown_mode)) + stream_reply(self.unit, self._measured())[2:]

    def _enter(self, mode: MotorMode) -> None:
        """Change the mode; all errors end in sleep."""
        if mode is MotorMode.SLEEP:
            self._clear()
        if mode is MotorMode.AUTO_ZERO:
            self._zeroed = False
        self._mode = mode
        self._set_speed = 0.0
        self._drive()

    def _drive(self) -> None:
        """Apply mode and set-points to the plant."""
        self._fed = self.now
        if self._errors:
            return
        mode = _MODES.get(self._mode)
        if mode is None:
            self._rest()
            return
        force = self._set_point(Register.FORCE_COMMAND) * NEWTON
        position = self._set_point(Register.POSITION_COMMAND) * METRE + self._zero
        self.plant.command(mode, force, position, self._set_speed, True, False, False)

    def _set_point(self, register: int) -> int:
        return wide_value(self._registers[register], self._registers[register + 1])

    def _fail(self, error: int) -> None:
        """Enter an error: the motor damps the leg."""
        self._errors |= error
        self._latched |= error
        if self._mode is MotorMode.SLEEP:
            return
        self._damping = True
        self._damped_until = self.now + _DAMPING_TIME
        self.plant.command(Mode.OFF, 0.0, 0.0, 0.0, True, True, False)

    def _clear(self) -> None:
        self._errors = self._latched = 0

    def _rest(self) -> None:
        """No power; the leg's brake closes."""
        self._damping = False
        self.plant.command(Mode.OFF, 0.0, 0.0, 0.0, False, False, True)

    @property
    def _shown_mode(self) -> int:
        return MotorMode.FORCE if self.torque_stuck and self._mode is MotorMode.SLEEP else self._mode

    def _measured(self) -> Measured:
        """The present measurement; a sensor without a value is an error."""
        position = (self.plant.length - self._zero) / METRE
        force = 0.0 if self._shown_mode == MotorMode.SLEEP else self.plant.motor / NEWTON
        if not abs(position) <= _LARGEST:
            self._zeroed = False
            self._fail(SHAFT_IMAGE_FAILED)
            position = 0.0
        force = min(max(force, -_LARGEST), _LARGEST) if force == force else 0.0
        supply = min(max(round(self._shown.get("supply", _SUPPLY) * 1e3), 0), 0xFFFF)
        temperature = min(max(round(self._shown.get("temperature", _TEMPERATURE)), 0), 0xFF)
        return Measured(round(position), round(force), self.power, temperature, supply, self._errors)

    def _render(self) -> bytes:
        """All present register values."""
        measured = self._measured()
        status = (ZEROED if self._zeroed else 0) | (ZEROING if self._mode is MotorMode.AUTO_ZERO else 0)
        speed = round(self.plant.velocity * 1e3) if math.isfinite(self.plant.velocity) else 0
        for register, words in (
            (Register.MODE, (self._shown_mode,)),
            (Register.MOTOR_STATUS, (status,)),
            (Register.BOARD_TEMPERATURE, (measured.temperature,)),
            (Register.SUPPLY, (measured.supply,)),
            (Register.POSITION, low_first(measured.position)),
            (Register.SPEED, low_first(speed)),
            (Register.FORCE, low_first(measured.force)),
            (Register.POWER, (measured.power,)),
            (Register.ERRORS, (self._errors, self._latched)),
        ):
            self._registers[register : register + len(words)] = words
        return struct.pack(f">{REGISTERS}H", *self._registers)


def orca_twin(options: OrcaOptions, leg: PlantPort) -> FaultyServo:
    """The virtual motor of a leg, with the serial number in the options or its digits. Raises ConfigurationError."""
    serial = int("".join(filter(str.isdecimal, options.serial or "")) or "1")
    if serial > LARGEST_SERIAL:
        raise ConfigurationError(f"{options.name}: serial number {serial} is beyond {LARGEST_SERIAL}")
    motor = VirtualOrca(leg, unit=options.unit, serial=serial, position_offset=options.position_offset)
    return FaultyServo(motor)
