"""Virtual twin of a servo drive: the registers of its profile, its state machine and its own watchdog."""

import math
from enum import Enum

import numpy as np

from actuators.codec import READ_WRITE, WRITE_MULTIPLE, WRITE_SINGLE, Block, ExchangeCodec
from actuators.interface import Mode, Status
from actuators.profile import Register
from actuators.register_map import Signals
from actuators.servo_profile import ServoProfile
from actuators.virtual.device import (
    DEVICE_FAILURE,
    ILLEGAL_ADDRESS,
    ILLEGAL_VALUE,
    MBAP_FRAMING,
    Framing,
    ModbusDevice,
    RegisterError,
    Sensor,
)
from actuators.virtual.drive import PlantPort, VirtualDrive

_READY, _ENABLED, _FAULT, _HOMED = int(Status.READY), int(Status.ENABLED), int(Status.FAULT), int(Status.HOMED)
_HOMING, _QUICK_STOP, _WATCHDOG = int(Status.HOMING), int(Status.QUICK_STOP), int(Status.WATCHDOG)
_BRAKE, _STANDSTILL = int(Status.BRAKE), int(Status.STANDSTILL)
_UNKNOWN_ERROR = 0xFFFF
_AUXILIARY = {"temperature": 35.0, "supply": 48.0}


class Power(Enum):
    """Power stage: torque off, on, or on until a quick stop is at rest."""

    OFF = 0
    ON = 1
    STOPPING = 2


# Columns of a servo's row: what an exchange may change …
ARMED = 0
CONTROL = 1
SEQUENCE = 2
LAST_WRITE = 3  # s
# … and what `VirtualServo.publish` writes.
POWER = 4
MODE = 5
FAULT = 6
HOMED = 7
ZERO = 8  # m, leg length where the position is zero
WATCHDOG = 9  # s, 0 for none
WATCHDOG_TRIPPED = 10
ROW = 11
ON, STOPPING = float(Power.ON.value), float(Power.STOPPING.value)


class VirtualServo(VirtualDrive, ModbusDevice):
    """One drive and its registers over one leg of the plant (`plant`).

    Power: off (brake closed) → on, when `enable` is set with a mode, after having been seen clear since power-up, the
    last fault or the last quick stop → stopping (quick stop commanded, or a fault) → off, at standstill or after
    `quick_stop_time`. Clearing `enable`, or mode OFF, takes the power off at once.
    Safe torque off takes the power off without a fault. A drive that was on takes the power again by itself as soon as
    it may, if it is still told to: real ones differ in that, and this is the worst case.
    Position: relative to where the leg stood at power-up until homed; then the leg length less `position_offset`.
    Faults are latched until a rising edge of `clear`, which is ignored while stopping. A load cell without a valid
    value is reported as such, without a fault. Quantities come from the plant rounded to the registers' resolution;
    one that does not fit becomes the invalid value (the nearest one where there is none) and a fault.
    Watchdog: with power on, more than its time without a valid write to the command registers is a fault.
    """

    def __init__(
        self,
        profile: ServoProfile,
        plant: PlantPort,
        *,
        unit: int = 1,
        serial: str = "VIRTUAL-1",
        position_offset: float = 0.0,
        standstill_speed: float = 1e-3,
        quick_stop_time: float = 0.2,
        framing: Framing = MBAP_FRAMING,
    ) -> None:
        """Power the drive up.

        position_offset: m, leg length where the drive's position is zero. standstill_speed: m/s. quick_stop_time: s,
        after which a quick stop closes the brake even if the leg still moves.
        """
        super().__init__(unit, profile.wrong_unit, framing)
        self.profile = profile
        self.plant = plant
        self.position_offset = position_offset
        self.standstill_speed = standstill_speed
        self._quick_stop_time = quick_stop_time
        self._codes = {name: error.code for name, error in profile.errors.items()}
        self._status_words: dict[int, int] = {}
        command, feedback = profile.command, profile.feedback
        self.command_scales = tuple(one.scale if one else 1.0 for one in command.registers[3:])
        self._position_sensor = Sensor(feedback.position)
        self._velocity_sensor = Sensor(feedback.velocity or Register(address=0, type="f32"))
        self._force_sensor = Sensor(feedback.force) if feedback.force else None
        self._auxiliary_registers = feedback.auxiliary
        self._auxiliary_values = {name: _AUXILIARY.get(name, 0.0) for name in feedback.auxiliary}
        self._encode_auxiliary()
        if profile.identity is not None:
            texts = {"vendor": "stewart-rig", "product": "virtual servo", "serial": serial, "firmware": "1.0"}
            self._add_identity(profile.identity, profile.word_order, texts)
        self._watchdog_register = profile.parameters.watchdog
        self._watchdog_block = None
        if self._watchdog_register is not None:
            whole = profile.whole(self._watchdog_register)
            self._watchdog_block = Block([self._watchdog_register], profile.word_order, (whole.start, whole.stop))
        if self._watchdog_block is not None:
            self._readable.append(
                (self._watchdog_block.address, self._watchdog_block.count, lambda: self._watchdog_bytes)
            )
        self._barred = False
        self.row = np.zeros(ROW)
        """Its state for `VirtualServoGroup`, see the columns; those that `publish` writes are as of its last call."""
        self.identification = ("stewart-rig", "virtual servo", "V1.0")
        self.command_data = np.zeros(self._lay_out(), np.uint8)
        """Bytes of the command registers."""
        self.functions |= frozenset(profile.functions.also)
        self.reboot()

    def _lay_out(self) -> int:
        """Make the cyclic registers, and what words and bits of them mean; returns the bytes of the command's."""
        profile, signals = self.profile, Signals(self.profile)
        self.codec = codec = ExchangeCodec(profile, self.unit)
        self.modes = {code.value: Mode[name.upper()] for name, code in profile.modes.given.items()}
        self.status_masks = [
            (int(flag), signals.status[flag.name.lower()][0])
            for flag in Status
            if flag.name and flag.name.lower() in signals.status
        ]
        self.control_masks = tuple(signals.control[name] for name in ("enable", "quick_stop", "clear"))
        lacking = set() if codec.together else {READ_WRITE}
        self.functions -= lacking | ({WRITE_MULTIPLE} if profile.functions.write == WRITE_SINGLE else set())
        read, write = codec.read_block, codec.write_block
        self._readable += [
            (read.address, read.count, lambda: codec.encode_reply(self._feedback())[3:]),
            (write.address, write.count, lambda: self._command_bytes),
        ]
        return 2 * write.count

    @property
    def _armed(self) -> bool:
        return bool(self.row[ARMED])

    @_armed.setter
    def _armed(self, armed: bool) -> None:
        self.row[ARMED] = armed

    @property
    def _command_bytes(self) -> bytes:
        return self.command_data.tobytes()

    @_command_bytes.setter
    def _command_bytes(self, data: bytes) -> None:
        self.command_data[:] = np.frombuffer(data, np.uint8)

    def publish(self) -> None:
        """Write the row's columns that no exchange of the group changes."""
        self.row[POWER:] = (
            self._power.value,
            self._mode,
            self._fault,
            self._homed,
            self._zero,
            self._watchdog,
            self._watchdog_tripped,
        )

    def show(self, name: str, value: float | None) -> None:
        """See `VirtualDrive.show`: an auxiliary register of the profile."""
        if name in self._auxiliary_values:
            self._auxiliary_values[name] = _AUXILIARY.get(name, 0.0) if value is None else value
            self._encode_auxiliary()

    def _encode_auxiliary(self) -> None:
        values = self._auxiliary_values
        self.auxiliary = tuple(
            Sensor(register).encode(values[name])[0] for name, register in self._auxiliary_registers.items()
        )

    def bar_torque(self, barred: bool) -> None:
        """See `VirtualDrive.bar_torque`."""
        self._barred = barred
        if barred and self._power is not Power.OFF:
            running = self._power is Power.ON
            self._switch_off()
            self._armed = running

    def reboot(self) -> None:
        """See `VirtualDrive.reboot`."""
        self._power = Power.OFF
        self._armed = False
        self._fault = 0
        self._watchdog_tripped = False
        self._homed = False
        self._mode = Mode.OFF
        self.row[CONTROL] = self.row[SEQUENCE] = 0.0
        self._zero = self.plant.length
        self._command_bytes = bytes(self.command_data.size)
        self._watchdog_bytes = bytes(2 * self._watchdog_block.count if self._watchdog_block else 0)
        self._watchdog = 0.0
        self.row[LAST_WRITE] = self.now
        self._stopped_by = 0.0
        self._switch_off()

    def tick(self, now: float) -> None:
        """Let time pass: watchdog, end of a quick stop, end of homing. now: s; never goes back."""
        self.now = now
        if self._power is Power.ON:
            if self._watchdog and now - self.row[LAST_WRITE] > self._watchdog:
                self._watchdog_tripped = True
                self._latch("watchdog")
            elif self._mode is Mode.HOMING and not self._homed and self.plant.homing_done:
                self._homed = True
                self._zero = self.position_offset
                if self.profile.homing_ends_off:
                    self._switch_off()
                    self._armed = False
        elif self._power is Power.STOPPING and (
            now >= self._stopped_by or abs(self.plant.velocity) <= self.standstill_speed
        ):
            self._end_stop()

    def answer(self, message: bytes) -> bytes:
        """See `ModbusDevice.answer`; the cyclic exchange has a way of its own, which every other write also takes."""
        codec = self.codec
        command = codec.decode_request(message) if self._image is None else None
        if command is None or command[1] not in self.modes or not math.isfinite(sum(command)):
            return super().answer(message)
        self._command_bytes = message[codec.request_data :]
        self._act(command)
        return codec.encode_reply(self._feedback()) if codec.together else message[:6]

    def _write(self, address: int, data: bytes) -> None:
        block = self.codec.write_block
        end = address + len(data) // 2
        if block.address <= address and end <= block.address + block.count:
            start = 2 * (address - block.address)
            image = self._command_bytes[:start] + data + self._command_bytes[start + len(data) :]
            command = self.codec.decode_command(image)
            if command[1] not in self.modes or not math.isfinite(sum(command)):
                raise RegisterError(ILLEGAL_VALUE)
            self._command_bytes = image
            self._act(command)
        else:
            self._write_parameter(address, data)

    def _write_parameter(self, address: int, data: bytes) -> None:
        """Write the watchdog's register. Raises RegisterError."""
        watchdog, register = self._watchdog_block, self._watchdog_register
        end = address + len(data) // 2
        if not (watchdog and register and watchdog.address <= address and end <= watchdog.address + watchdog.count):
            raise RegisterError(ILLEGAL_ADDRESS)
        if self._power is not Power.OFF:
            raise RegisterError(DEVICE_FAILURE)  # a moving drive does not take a parameter
        start = 2 * (address - watchdog.address)
        self._watchdog_bytes = self._watchdog_bytes[:start] + data + self._watchdog_bytes[start + len(data) :]
        self._watchdog = watchdog.unpack(self._watchdog_bytes)[0] * register.scale

    def _act(self, command: tuple[int | float, ...]) -> None:
        """Take a whole raw command."""
        control, mode = int(command[0]), self.modes[int(command[1])]
        enable, quick_stop, clear = self.control_masks
        row = self.row
        before = int(row[CONTROL])
        row[CONTROL], row[SEQUENCE], row[LAST_WRITE] = control, command[2], self.now
        if control & clear and not before & clear and self._power is not Power.STOPPING:
            self._fault = 0
            self._watchdog_tripped = False
        if not control & enable:
            self._armed = not self._fault
            if self._power is not Power.OFF:
                self._switch_off()
                self._armed = not self._fault
        elif self._power is Power.ON:
            if control & quick_stop:
                self._stop()
            elif mode is Mode.OFF:
                self._switch_off()
                self._armed = True
            else:
                self._drive(mode, command)
        elif self._power is Power.OFF:
            if control & quick_stop:
                self._armed = False
            elif self._armed and mode is not Mode.OFF and not self._barred:
                self._power = Power.ON
                self._drive(mode, command)

    def _drive(self, mode: Mode, command: tuple[int | float, ...]) -> None:
        if mode is Mode.POSITION and not self._homed:
            self._latch("not_homed")
            return
        if mode is Mode.HOMING and self._mode is not Mode.HOMING:
            self._homed = False
        self._mode = mode
        force_scale, position_scale, velocity_scale = self.command_scales
        position = command[4] * position_scale + self.position_offset
        self._follow(mode, command[3] * force_scale, position, command[5] * velocity_scale)

    def _follow(self, mode: Mode, force: float, position: float, velocity: float) -> None:
        """Have the leg follow set-points: N, m, m/s."""
        self.plant.command(mode, force, position, velocity, True, False, False)

    def _latch(self, error: str) -> None:
        if not self._fault:  # the first cause is kept
            self._fault = self._codes.get(error, _UNKNOWN_ERROR)
        self._armed = False
        if self._power is Power.ON:
            self._stop()

    def _stop(self) -> None:
        self._power = Power.STOPPING
        self._armed = False
        self._mode = Mode.OFF
        self._stopped_by = self.now + self._quick_stop_time
        self.plant.command(Mode.OFF, 0.0, 0.0, 0.0, True, True, False)

    def _end_stop(self) -> None:
        """Come to rest by a quick stop."""
        self._switch_off()

    def _switch_off(self) -> None:
        self._power = Power.OFF
        self._mode = Mode.OFF
        self.plant.command(Mode.OFF, 0.0, 0.0, 0.0, False, False, True)

    def _feedback(self) -> tuple[int | float, ...]:
        """Raw feedback registers now."""
        plant = self.plant
        return self.feedback(plant.length, plant.velocity, plant.cell if self._force_sensor is not None else 0.0)

    def feedback(self, length: float, speed: float, cell: float) -> tuple[int | float, ...]:
        """Raw feedback registers for what the sensors read: m, m/s, N. A sensor without a value is a fault."""
        position, position_valid = self._position_sensor.encode(length - self._zero)
        velocity, velocity_valid = self._velocity_sensor.encode(speed)
        if not (position_valid and velocity_valid):
            self._homed = False
            self._latch("sensor")
        error = self._fault
        force: int | float = 0
        if self._force_sensor is not None:
            force, valid = self._force_sensor.encode(cell)
            if not (valid or error):
                error = self._codes.get("force_sensor", _UNKNOWN_ERROR)
        status = _FAULT if self._fault else _READY
        if self._power is Power.ON:
            status |= _ENABLED
            if self._mode is Mode.HOMING and not self._homed:
                status |= _HOMING
        elif self._power is Power.STOPPING:
            status |= _ENABLED | _QUICK_STOP
        else:
            status |= _BRAKE | _ENABLED if self.torque_stuck and not self._barred else _BRAKE
        if self._homed:
            status |= _HOMED
        if self._watchdog_tripped:
            status |= _WATCHDOG
        if abs(speed) <= self.standstill_speed:
            status |= _STANDSTILL
        word = self._status_words.get(status)
        if word is None:
            word = self._status_words[status] = sum(mask for flag, mask in self.status_masks if status & flag)
        return (word, error, int(self.row[SEQUENCE]), position, velocity, force, *self.auxiliary)
