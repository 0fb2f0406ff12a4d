"""Virtual twin of a ROBO Cylinder: its status block, its coils, its search for the reference and its ramps."""

import math
import struct
from collections.abc import Mapping
from typing import ClassVar

from actuators.codec import READ_COILS, READ_DISCRETE, WRITE_COIL, WRITE_COILS
from actuators.iai.drive import EMERGENCY_STOP, IaiOptions
from actuators.iai.protocol import (
    CONTROL,
    CONTROL_COILS,
    GRAVITY,
    HOMING,
    METRE,
    MODBUS_COMMANDS,
    MOVE,
    MOVE_COUNT,
    MOVING,
    STATUS,
    STATUS_COILS,
    STATUS_COUNT,
    Coil,
    State,
    Status1,
    Target,
    move_bytes,
    state_bytes,
    target_of,
)
from actuators.interface import Mode
from actuators.virtual.device import ILLEGAL_ADDRESS, ILLEGAL_VALUE, RTU_FRAMING, ModbusDevice, Ranges, RegisterError
from actuators.virtual.drive import AUXILIARY_FAULTS, SERVO_FAULTS, FaultKind, PlantPort, VirtualDrive
from actuators.virtual.faults import FaultyServo
from actuators.virtual.ramp import RAMP_STEP, Ramp

_LARGEST = 2**31 - 1
READ_EXCEPTION_STATUS, REPORT_SLAVE_ID = 7, 17
_SERVO_OFF, _NOT_HOMED, _ENCODER = 0x080, 0x083, 0x0E5
_BRAKING = 20.0  # m/s², of a stop
_PUSHING = bytes(4)  # limit of current and flags of a move that pushes, which is not simulated: it goes as any other
_AT_POWER_UP = move_bytes(Target(0, 10, 10_000, 30)) + _PUSHING


class VirtualRoboCylinder(VirtualDrive, ModbusDevice):
    """A controller with one leg of the plant, whose brake closes when the servo is switched off.

    It moves to each target by a ramp with the given speed and acceleration. A target without power, or before the
    reference was found, causes an alarm. Alarms switch the servo off and are latched. There is no watchdog. Modbus
    commands have no effect before `Coil.MODBUS_CONTROL` was written. Not simulated, and 0: the motor's current, the
    deviation, outputs, inputs without a name, zones, and the table of positions, to which no motion can be commanded.
    """

    longest_step = RAMP_STEP
    functions = ModbusDevice.functions | {
        READ_COILS,
        READ_DISCRETE,
        WRITE_COIL,
        WRITE_COILS,
        READ_EXCEPTION_STATUS,
        REPORT_SLAVE_ID,
    }

    fault_kinds: ClassVar[Mapping[str, FaultKind]] = {
        name: kind
        for name, kind in SERVO_FAULTS.items()
        if name not in AUXILIARY_FAULTS and not name.startswith(("cell_", "force_"))
    }
    """Faults that it can have: it says nothing of temperatures, supplies and forces."""

    def __init__(
        self, plant: PlantPort, *, unit: int = 1, position_offset: float = 0.0, inputs: Mapping[str, int] | None = None
    ) -> None:
        """Power the controller up.

        position_offset: m, leg length at its zero. inputs: bit of the input port by name.
        """
        super().__init__(unit, "silent", RTU_FRAMING)
        self.plant = plant
        self._offset = position_offset
        self._input_bits = dict(inputs or {})
        self.inputs = dict.fromkeys(self._input_bits, True) | {EMERGENCY_STOP: False}
        self._barred = self._on = self._homing = False
        self._target: Target | None = None
        """present target; None: at rest, or decelerating"""
        self._ramp = Ramp()
        self._readable += [
            (STATUS, STATUS_COUNT, lambda: state_bytes(self._state())),
            (STATUS + STATUS_COUNT, _MONITOR.size // 2, self._monitor),
            (CONTROL, _CONTROL_BITS // 16, self._control),
            (MOVE, len(_AT_POWER_UP) // 2, lambda: self._move),
        ]
        bits: Ranges = [
            (STATUS_COILS, _STATUS_BITS, self._status_bits),
            (CONTROL_COILS, _CONTROL_BITS, lambda: _bits(self._control())),
        ]
        self._tables |= {READ_COILS: bits, READ_DISCRETE: bits}
        self.reboot()
        self._booted = math.nan
        """s; NaN until it has been given a time"""

    def show(self, name: str, value: float | None) -> None:
        """See `VirtualDrive.show`: it says nothing of the kind."""

    def bar_torque(self, barred: bool) -> None:
        """See `VirtualDrive.bar_torque`: its emergency-stop input."""
        self._barred = barred
        if barred:
            self._switch_off()

    def reboot(self) -> None:
        """See `VirtualDrive.reboot`."""
        self._booted = self.now
        self._coils = dict.fromkeys(Coil, False)
        self._move = _AT_POWER_UP
        self._alarm = 0
        self._by_modbus = self._homed = self._reset = self._home = False
        self._zero = self.plant.length
        self._switch_off()

    def tick(self, now: float) -> None:
        """Advance the time: ramp to the target, end of a search. now: s; monotonic."""
        elapsed, self.now = now - self.now, now
        if math.isnan(self._booted):
            self._booted = now
        if not self._on or elapsed <= 0.0:
            return
        if self._homing:
            if self.plant.homing_done:
                self._homing, self._homed = False, True
                self._zero = self._offset
                self._hold()
            return
        target = self._target
        if target is None:
            self._ramp.stop(elapsed, _BRAKING)
        else:
            end = target.position * METRE + self._offset
            self._ramp.advance(elapsed, end, target.speed * METRE, target.acceleration * GRAVITY)
        self._drive()

    def _serve(self, function: int, data: bytes) -> bytes:
        """See `ModbusDevice._serve`: the two of a device's state besides the usual ones.

        The manual names these two and leaves open what they say: here the first eight coils of the status, and the
        unit number with whether the controller is ready.
        """
        if function == READ_EXCEPTION_STATUS and not data:
            bits = self._read(STATUS_COILS, 8, READ_COILS, width=1)
            return bytes((sum(bit << place for place, bit in enumerate(bits)),))
        if function == REPORT_SLAVE_ID and not data:
            ready = self._read(STATUS_COILS + 2, 1, READ_COILS, width=1)[0]
            return bytes((2, self.unit, 0xFF if ready else 0))
        if function in (READ_EXCEPTION_STATUS, REPORT_SLAVE_ID):
            raise RegisterError(ILLEGAL_VALUE)
        return super()._serve(function, data)

    def _write_bits(self, address: int, states: list[bool]) -> None:
        written = dict(enumerate(states, start=address))
        inside = address >= CONTROL_COILS and address + len(states) <= CONTROL_COILS + _CONTROL_BITS
        if not inside or any(on and coil not in _COILS for coil, on in written.items()):
            raise RegisterError(ILLEGAL_ADDRESS)  # a coil that is not simulated cannot be switched on
        for number, coil in _COILS.items():
            if number in written:
                self._take_coil(coil, written[number])

    def _take_coil(self, coil: Coil, on: bool) -> None:
        if coil is Coil.MODBUS_CONTROL:
            self._by_modbus = on
        elif not self._by_modbus:
            return
        self._coils[coil] = on
        if coil is Coil.MODBUS_CONTROL:
            return
        if coil is Coil.SERVO_ON:
            if not on:
                self._switch_off()
            elif not (self._on or self._alarm or self._barred):
                self._on = True
                self._hold()
        elif coil is Coil.ALARM_RESET:
            if on and not self._reset:
                self._alarm = 0
            self._reset = on
        elif coil is Coil.HOME:
            if on and not self._home and self._on:
                self._homed, self._homing = False, True
                self.plant.command(Mode.HOMING, 0.0, 0.0, 0.0, True, False, False)
            self._home = on
        elif on and self._homing:
            self._homing = False
            self._hold()
        elif on:
            self._target = None

    def _write(self, address: int, data: bytes) -> None:
        end = address + len(data) // 2
        if CONTROL <= address < CONTROL + 2 and end <= CONTROL + 2:
            bits = _bits(data)
            first = CONTROL_COILS + 16 * (address - CONTROL)
            if any(on and first + place not in _COILS for place, on in enumerate(bits)):
                raise RegisterError(ILLEGAL_VALUE)
            self._write_bits(first, [bool(on) for on in bits])
            return
        if not (address >= MOVE and end <= MOVE + len(_AT_POWER_UP) // 2):
            raise RegisterError(ILLEGAL_ADDRESS)
        start = 2 * (address - MOVE)
        self._move = self._move[:start] + data + self._move[start + len(data) :]
        target = target_of(self._move[: 2 * MOVE_COUNT])
        if not (target.speed and target.acceleration):
            raise RegisterError(ILLEGAL_VALUE)
        if not self._by_modbus:
            return
        if not self._on:
            self._fail(_SERVO_OFF)
        elif not self._homed:
            self._fail(_NOT_HOMED)
        else:
            self._target = target

    def _hold(self) -> None:
        """Hold the leg's present length; an alarm where the encoder has no value."""
        if not math.isfinite(self.plant.length):
            self._fail(_ENCODER)
            return
        self._target = None
        self._ramp.rest(self.plant.length)
        self._drive()

    def _drive(self) -> None:
        # before the reference is found nothing else than standing still is possible
        self.plant.command(Mode.POSITION, 0.0, self._ramp.at, self._ramp.speed, True, False, False)

    def _fail(self, alarm: int) -> None:
        self._alarm = self._alarm or alarm
        self._switch_off()

    def _switch_off(self) -> None:
        self._on = self._homing = False
        self._target = None
        self._ramp.rest(self.plant.length)
        self.plant.command(Mode.OFF, 0.0, 0.0, 0.0, False, False, True)

    def _state(self) -> State:
        """The status block now; a sensor without a value is an alarm."""
        position, speed = (self.plant.length - self._zero) / METRE, self.plant.velocity / METRE
        if not (abs(position) <= _LARGEST and abs(speed) <= _LARGEST):
            self._homed = False
            self._fail(_ENCODER)
            position = speed = 0.0
        bits = int(Status1.EMERGENCY_STOP if self._barred or self.inputs[EMERGENCY_STOP] else Status1.READY)
        port = sum(self.inputs[name] << bit for name, bit in self._input_bits.items())
        moving = self._on and (abs(self._ramp.speed) > 0.0 or (self._target is not None and not self._there))
        for bit, on in (
            (Status1.SERVO_ON, self._on or (self.torque_stuck and not self._barred)),
            (Status1.HEAVY_ALARM, self._alarm),
            (Status1.HOMED, self._homed),
            (Status1.IN_POSITION, self._on and not (moving or self._homing)),
        ):
            bits |= bit if on else 0
        extended = (HOMING if self._homing else 0) | (MOVING if moving or self._homing else 0)
        extended |= MODBUS_COMMANDS if self._by_modbus else 0
        return State(round(position), self._alarm, port, 0, bits, 0, extended, 0, round(speed))

    def _monitor(self) -> bytes:
        """The registers behind the status block: of them only the time since power-up, ms, is simulated."""
        since = 0.0 if math.isnan(self._booted) else self.now - self._booted
        return _MONITOR.pack(0, 0, int(since * 1e3) & 0xFFFFFFFF, 0, 0, 0, 0)

    def _status_bits(self) -> bytes:
        state = self._state()
        registers = (state.status_1, state.status_2, state.extended, 0, 0, state.inputs, state.outputs, 0, 0)
        return _bits(struct.pack(f">{len(registers)}H", *registers))

    def _control(self) -> bytes:
        """The control registers, by the coils as they were written last."""
        word = sum(1 << CONTROL_COILS + _CONTROL_BITS - 1 - coil for coil, on in self._coils.items() if on)
        return word.to_bytes(_CONTROL_BITS // 8, "big")

    @property
    def _there(self) -> bool:
        target = self._target
        return target is None or abs(target.position * METRE + self._offset - self._ramp.at) <= target.band * METRE


_COILS = {int(coil): coil for coil in (Coil.MODBUS_CONTROL, Coil.ALARM_RESET, Coil.SERVO_ON, Coil.HOME, Coil.STOP)}
"""Those that are simulated, in the order in which they take effect where several are written at once."""
_STATUS_BITS, _CONTROL_BITS = 9 * 16, 4 * 16
_MONITOR = struct.Struct(">iiIHHHH")
"""Current, deviation, time, special inputs, zones, position number, expanded system status."""


def _bits(registers: bytes) -> bytes:
    """Coils, one byte each, of the bits of registers, the highest first."""
    return bytes([byte >> place & 1 for byte in registers for place in range(7, -1, -1)])


def iai_twin(options: IaiOptions, leg: PlantPort) -> FaultyServo:
    """The virtual controller of a leg."""
    return FaultyServo(
        VirtualRoboCylinder(leg, unit=options.unit, position_offset=options.position_offset, inputs=options.inputs)
    )
