"""Virtual twin of a ROBO Cylinder: its status block, its coils, its search for the reference and its ramps."""

import math
import struct
from collections.abc import Mapping
from typing import ClassVar

from actuators.codec import READ_HOLDING, WRITE_MULTIPLE, WRITE_SINGLE
from actuators.iai.drive import IaiOptions
from actuators.iai.protocol import (
    GRAVITY,
    HOMING,
    METRE,
    MODBUS_COMMANDS,
    MOVE,
    MOVE_COUNT,
    MOVING,
    STATUS,
    STATUS_COUNT,
    WRITE_COIL,
    Coil,
    State,
    Status1,
    Target,
    move_bytes,
    state_bytes,
    target_of,
)
from actuators.interface import Mode
from actuators.virtual.device import ILLEGAL_ADDRESS, ILLEGAL_VALUE, RTU_FRAMING, ModbusDevice, RegisterError
from actuators.virtual.drive import AUXILIARY_FAULTS, SERVO_FAULTS, FaultKind, PlantPort, VirtualDrive
from actuators.virtual.faults import FaultyServo

_STEP = 1e-3  # s of the ramps
_LARGEST = 2**31 - 1
_SERVO_OFF, _NOT_HOMED, _ENCODER = 0x080, 0x083, 0x0E5
_BRAKING = 20.0  # m/s², of a stop
_PUSHING = bytes(4)  # limit of current and flags of a move that pushes, which is not simulated: it goes as any other
_AT_POWER_UP = move_bytes(Target(0, 10, 10_000, 30)) + _PUSHING


class VirtualRoboCylinder(VirtualDrive, ModbusDevice):
    """A controller with one leg of the plant, whose brake closes when the servo is switched off.

    It moves to each target by a ramp with the given speed and acceleration. A target without power, or before the
    reference was found, causes an alarm. Alarms switch the servo off and are latched. There is no watchdog. Modbus
    commands have no effect before `Coil.MODBUS_CONTROL` was written.
    """

    longest_step = _STEP
    functions = frozenset((READ_HOLDING, WRITE_SINGLE, WRITE_MULTIPLE))

    fault_kinds: ClassVar[Mapping[str, FaultKind]] = {
        name: kind
        for name, kind in SERVO_FAULTS.items()
        if name not in AUXILIARY_FAULTS and not name.startswith(("cell_", "force_"))
    }
    """Faults that it can have: it says nothing of temperatures, supplies and forces."""

    def __init__(self, plant: PlantPort, *, unit: int = 1, position_offset: float = 0.0) -> None:
        """Power the controller up. position_offset: m, leg length at its zero."""
        super().__init__(unit, "silent", RTU_FRAMING)
        self.plant = plant
        self._offset = position_offset
        self._barred = self._on = self._homing = False
        self._target: Target | None = None
        """present target; None: at rest, or decelerating"""
        self._at = self._speed = 0.0
        """m and m/s, of the set-point on its ramp"""
        self._readable += [
            (STATUS, STATUS_COUNT, lambda: state_bytes(self._state())),
            (MOVE, len(_AT_POWER_UP) // 2, lambda: self._move),
        ]
        self.reboot()

    def show(self, name: str, value: float | None) -> None:
        """See `VirtualDrive.show`: it says nothing of the kind."""

    def bar_torque(self, barred: bool) -> None:
        """See `VirtualDrive.bar_torque`: its emergency-stop input."""
        self._barred = barred
        if barred:
            self._switch_off()

    def reboot(self) -> None:
        """See `VirtualDrive.reboot`."""
        self._move = _AT_POWER_UP
        self._alarm = 0
        self._by_modbus = self._homed = self._reset = self._home = False
        self._zero = self.plant.length
        self._switch_off()

    def tick(self, now: float) -> None:
        """Advance the time: ramp to the target, end of a search. now: s; monotonic."""
        elapsed, self.now = now - self.now, now
        if not self._on or elapsed <= 0.0:
            return
        if self._homing:
            if self.plant.homing_done:
                self._homing, self._homed = False, True
                self._zero = self._offset
                self._hold()
            return
        steps = math.ceil(min(elapsed, 1.0) / _STEP)
        for _ in range(steps):
            self._ramp(min(elapsed, 1.0) / steps)
        self._drive()

    def answer(self, message: bytes) -> bytes:
        """See `ModbusDevice.answer`; function 5 beside the usual ones."""
        if message[1] != WRITE_COIL or message[0] != self.unit:
            return super().answer(message)
        code = ILLEGAL_VALUE
        if len(message) == 6:
            address, value = struct.unpack(">HH", message[2:])
            if address not in _COILS:
                code = ILLEGAL_ADDRESS
            elif value in (0, 0xFF00):
                if not self.hung:
                    self._take_coil(Coil(address), bool(value))
                return message
        return bytes((self.unit, WRITE_COIL | 0x80, code))

    def _take_coil(self, coil: Coil, on: bool) -> None:
        if coil is Coil.MODBUS_CONTROL:
            self._by_modbus = on
        elif not self._by_modbus:
            return
        elif coil is Coil.SERVO_ON:
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

    def _ramp(self, step: float) -> None:
        """Move the set-point for `step` s: towards the target, or to rest without one."""
        target = self._target
        if target is None:
            slowed = max(0.0, abs(self._speed) - _BRAKING * step)
            self._speed = math.copysign(slowed, self._speed)
            self._at += self._speed * step
            return
        ahead = target.position * METRE + self._offset - self._at
        most = target.acceleration * GRAVITY
        allowed = min(target.speed * METRE, math.sqrt(2.0 * most * abs(ahead)))
        wanted = math.copysign(allowed, ahead)
        self._speed += min(max(wanted - self._speed, -most * step), most * step)
        if abs(ahead) <= abs(self._speed) * step and self._speed * ahead >= 0.0:
            self._at += ahead
            self._speed = ahead / step
        else:
            self._at += self._speed * step

    def _hold(self) -> None:
        """Hold the leg's present length; an alarm where the encoder has no value."""
        if not math.isfinite(self.plant.length):
            self._fail(_ENCODER)
            return
        self._target = None
        self._at, self._speed = self.plant.length, 0.0
        self._drive()

    def _drive(self) -> None:
        # before the reference is found nothing else than standing still is possible
        self.plant.command(Mode.POSITION, 0.0, self._at, self._speed, True, False, False)

    def _fail(self, alarm: int) -> None:
        self._alarm = self._alarm or alarm
        self._switch_off()

    def _switch_off(self) -> None:
        self._on = self._homing = False
        self._target, self._at, self._speed = None, self.plant.length, 0.0
        self.plant.command(Mode.OFF, 0.0, 0.0, 0.0, False, False, True)

    def _state(self) -> State:
        """The status block now; a sensor without a value is an alarm."""
        position, speed = (self.plant.length - self._zero) / METRE, self.plant.velocity / METRE
        if not (abs(position) <= _LARGEST and abs(speed) <= _LARGEST):
            self._homed = False
            self._fail(_ENCODER)
            position = speed = 0.0
        bits = int(Status1.EMERGENCY_STOP if self._barred else Status1.READY)
        moving = self._on and (abs(self._speed) > 0.0 or (self._target is not None and not self._there))
        for bit, on in (
            (Status1.SERVO_ON, self._on or (self.torque_stuck and not self._barred)),
            (Status1.HEAVY_ALARM, self._alarm),
            (Status1.HOMED, self._homed),
            (Status1.IN_POSITION, self._on and not (moving or self._homing)),
        ):
            bits |= bit if on else 0
        extended = (HOMING if self._homing else 0) | (MOVING if moving or self._homing else 0)
        extended |= MODBUS_COMMANDS if self._by_modbus else 0
        return State(round(position), self._alarm, 0, 0, bits, 0, extended, 0, round(speed))

    @property
    def _there(self) -> bool:
        target = self._target
        return target is None or abs(target.position * METRE + self._offset - self._at) <= target.band * METRE


_COILS = frozenset(map(int, Coil))


def iai_twin(options: IaiOptions, leg: PlantPort) -> FaultyServo:
    """The virtual controller of a leg."""
    return FaultyServo(VirtualRoboCylinder(leg, unit=options.unit, position_offset=options.position_offset))
