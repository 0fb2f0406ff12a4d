"""Virtual twin of a servo whose profile is not plain: registers anywhere, coils, states and a handover."""

import math
import struct
from functools import partial

from actuators.cia402 import ATTAINED, REMOTE, TARGET_REACHED, VOLTAGE
from actuators.codec import (
    READ_COILS,
    READ_DISCRETE,
    READ_HOLDING,
    READ_INPUT,
    READ_WRITE,
    WRITE_COIL,
    WRITE_COILS,
    WRITE_MULTIPLE,
    WRITE_SINGLE,
    Block,
)
from actuators.interface import Mode, Status
from actuators.power import POWER_FLAGS
from actuators.register_map import ACKNOWLEDGE, INPUT, OUTPUT, TRIGGER, MappedCodec, Read, flags_value
from actuators.servo_profile import Handover, RampRegister, Setting
from actuators.virtual.device import DEVICE_FAILURE, ILLEGAL_ADDRESS, ILLEGAL_VALUE, ModbusDevice, RegisterError, Sensor
from actuators.virtual.power import VirtualPower
from actuators.virtual.ramp import RAMP_STEP, Ramp
from actuators.virtual.servo import LAST_WRITE, SEQUENCE, Power, VirtualServo

_STANDARD_BITS = VOLTAGE | REMOTE | TARGET_REACHED | ATTAINED
_FAULT, _HOMING, _STANDSTILL = int(Status.FAULT), int(Status.HOMING), int(Status.STANDSTILL)
_AUXILIARY_AT = 5
"""Place of the first auxiliary register behind error, sequence, position, velocity and force."""
_WINDOW = 1e-4
"""m around a target within which a drive is in position."""
_TAKEN = 1 << 16
"""Flag behind those of `Status`: a set-point is acknowledged."""


class VirtualMappedServo(VirtualServo):
    """One drive with the registers of its profile, with `pairs` their other words, and no others, over one leg.

    One whose `pairs` are "whole" refuses to read or write a part of a parameter.
    With `[power]` its torque follows `VirtualPower`: words that come too early are ignored, and torque that was lost
    does not come back by itself. One of CiA 402 has the bits of the standard's status word that its profile leaves out.
    A set-point takes effect when it is handed over by the profile's rules. Until the first one, and in a mode that only
    bits of the control word select, while these are not set, the drive holds where it stands. With a `[ramp]` it moves
    to its set-point by that, as its registers say. Parameters are refused while there is power. Otherwise see
    `VirtualServo`.
    """

    def _lay_out(self) -> int:
        """See `VirtualServo._lay_out`."""
        profile = self.profile
        self.mapped = mapped = MappedCodec(profile, self.unit)
        signals = self._signals = mapped.signals
        self.machine = None if profile.power is None else VirtualPower(profile.power.table)
        self.status_masks = [(int(flag), int(flag)) for flag in Status]  # the map is `_wide`
        flags = {name: Status[name.upper()] for name in signals.status if name in profile.status.given}
        self._places = {int(flag): signals.status[name] for name, flag in flags.items()}
        self.inputs = dict.fromkeys(profile.inputs, True)
        self._input_flags = {name: _TAKEN << place for place, name in enumerate(profile.inputs, start=1)}
        self._places |= {flag: signals.status[INPUT + name] for name, flag in self._input_flags.items()}
        self.outputs = dict.fromkeys(profile.outputs, False)
        if ACKNOWLEDGE in signals.status:
            self._places[_TAKEN] = signals.status[ACKNOWLEDGE]
        self.control_masks = tuple(signals.control.get(name, 0) for name in ("enable", "quick_stop", "clear"))
        self._codes_of = [(Mode[name.upper()], code) for name, code in profile.modes.given.items()]
        named = 0
        for mask, _ in signals.status.values():
            named |= mask & 0xFFFF
        cia402 = profile.power is not None and profile.power.standard == "cia402"
        self._standard = _STANDARD_BITS & ~named if cia402 else 0
        """bits of the status word that it has by the standard"""
        if self._standard and signals.status.get(ACKNOWLEDGE, (0, 0))[0] == ATTAINED:
            self._standard |= ATTAINED  # which says something else in each mode
        bits = profile.simulator.bits
        self._shown = tuple(1 << bits[name] if name in bits else 0 for name in ("ready", "startable", "in_position"))
        """masks of these bits of the status word, 0 for one that it lacks"""
        self._torques = [
            (_AUXILIARY_AT + place, name == "load", Sensor(register))
            for place, (name, register) in enumerate(profile.feedback.auxiliary.items())
            if profile.simulator.rated_force is not None and name in ("torque", "load")
        ]
        """place among the feedback behind the status, whether it is a magnitude, and register of each torque"""
        self._ramp = None if profile.ramp is None else Ramp()
        self.longest_step = math.inf if self._ramp is None else RAMP_STEP
        self._goal = self._feedforward = 0.0
        """m and N, of the set-point"""
        self._ramp_limits = profile.ramp_limits
        """speed, m/s, and acceleration, m/s², of the ramp to it"""
        given = () if profile.ramp is None else (profile.ramp.speed, profile.ramp.acceleration)
        self._ramp_sources = [
            self._ramp_source(one, usual) for one, usual in zip(given, profile.ramp_limits, strict=False)
        ]
        self.modes = {int(mode): mode for mode in Mode}
        self._settings = dict(profile.parameters.startup)
        self._lay_out_tables()
        self._coils = dict.fromkeys(signals.coils, False)
        handover = profile.command.handover
        self._trigger = None if handover is None or handover.trigger is None else handover.trigger.address
        self._words: dict[int, int] = {}
        return 0

    def _lay_out_tables(self) -> None:
        """Make what can be read, and the functions that the profile uses."""
        mapped, functions = self.mapped, self.profile.functions
        self.functions = frozenset({READ_HOLDING, WRITE_SINGLE})
        if functions.write == WRITE_MULTIPLE:
            self.functions |= {WRITE_MULTIPLE}
        if functions.exchange == "together":
            self.functions |= {READ_WRITE}
        if self._signals.coils:
            self.functions |= {READ_COILS, WRITE_COIL} | ({WRITE_COILS} if functions.coils == WRITE_COILS else set())
        for read in mapped.reads:
            self.functions |= {read.function}
            if read.function in (READ_INPUT, READ_COILS, READ_DISCRETE):
                self._tables.setdefault(read.function, [])
            self._tables[read.function].append((read.address, read.count, partial(self._measured, read)))
        written = [(write.block.address, write.block.count) for write in mapped.writes]
        for first, count in [*written, *self.profile.startup_ranges]:
            self._readable.append((first, count, partial(self._stored, first, count)))
        self._whole = functions.pairs == "whole"
        """whether it refuses what begins or ends within a parameter"""
        if functions.pairs:
            named = {first + place for first, count, _ in self._readable for place in range(count)}
            missing = sorted(address ^ 1 for address in named if address ^ 1 not in named)
            self._readable += [(address, 1, partial(bytes, 2)) for address in missing]
        for coil in self._signals.coils:
            self._tables.setdefault(READ_COILS, []).append((coil, 1, partial(self._coil, coil)))

    def _measured(self, read: Read) -> bytes:
        return read.pack(self.mapped.spread(self._feedback()))

    def _stored(self, first: int, count: int) -> bytes:
        words = (self._words.get(address, 0) for address in range(first, first + count))
        return b"".join(word.to_bytes(2, "big") for word in words)

    def _coil(self, coil: int) -> bytes:
        return bytes((self._coils[coil],))

    def _values(self, block: Block) -> tuple[int | float, ...]:
        return block.unpack(self._stored(block.address, block.count))

    def _setting_bytes(self, setting: Setting) -> bytes:
        """A start-up parameter at power-up: its value in the profile if it is only compared, else zero."""
        return Block([setting.register], self.profile.word_order).pack([0 if setting.write else setting.value])

    def reboot(self) -> None:
        """See `VirtualDrive.reboot`."""
        self._words = dict.fromkeys(
            (write.block.address + place for write in self.mapped.writes for place in range(write.block.count)), 0
        )
        self._parameters = set[int]()
        for setting in self._settings.values():
            data, addresses = (
                self._setting_bytes(setting),
                range(setting.address, setting.address + setting.register.words),
            )
            self._words |= dict(zip(addresses, struct.unpack(f">{len(data) // 2}H", data), strict=True))
            self._parameters |= {*self.profile.whole(setting.register)}
        self._words |= dict.fromkeys(self._parameters - self._words.keys(), 0)
        self._coils = dict.fromkeys(self._coils, False)
        self.outputs = dict.fromkeys(self.outputs, False)
        self._holds = False
        self._taken: tuple[int | float, ...] | None = None
        """the command with the last set-point that was handed over since there has been torque"""
        self._handed = self._acknowledged = self._stopped = False
        self._hold, self._held = 0.0, False
        """m, where it holds, and whether it does rather than follow a set-point"""
        self._selects_homing = False
        """whether the mode register has the mode of homing"""
        if self.machine is not None:
            self.machine.reboot()
        super().reboot()
        self._armed = not self.control_masks[0] & self._signals.low  # its registers are as if switched off

    def answer(self, message: bytes) -> bytes:
        """See `ModbusDevice.answer`."""
        return ModbusDevice.answer(self, message)

    def _read(self, address: int, count: int, function: int = READ_HOLDING, width: int = 2) -> bytes:
        if self._whole and (address | count) & 1 and width == 2:
            raise RegisterError(ILLEGAL_ADDRESS)
        return super()._read(address, count, function, width)

    def _write(self, address: int, data: bytes) -> None:
        if self._whole and (address | len(data) // 2) & 1:
            raise RegisterError(ILLEGAL_ADDRESS)
        words = struct.unpack(f">{len(data) // 2}H", data)
        written = dict(enumerate(words, start=address))
        if written.keys() <= self._parameters:
            if self._power is not Power.OFF or (self.machine is not None and self.machine.enabled):
                raise RegisterError(DEVICE_FAILURE)  # a started drive does not take a parameter
            self._words |= written
        elif written.keys() <= self._words.keys() - self._parameters:
            before = dict(self._words)
            self._words |= written
            self._act_on_registers(before, triggers=self._trigger in written)
        else:
            self._write_parameter(address, data)

    def _write_bits(self, address: int, states: list[bool]) -> None:
        written = dict(enumerate(states, start=address))
        if not written.keys() <= self._coils.keys():
            raise RegisterError(ILLEGAL_ADDRESS)
        self._coils |= written
        self._act_on_registers(dict(self._words), triggers=False)

    def _act_on_registers(self, before: dict[int, int], *, triggers: bool) -> None:
        """Act on the command's registers and coils.

        before: the registers to restore if they are refused. triggers: whether the register of a trigger was written.
        """
        values: list[int | float] = [0] * 6
        trigger: int | float = 0
        for write in self.mapped.writes:
            for place, value in zip(write.places, self._values(write.block), strict=True):
                if place < TRIGGER:
                    values[place] = value
                elif place == TRIGGER:
                    trigger = value
        mode = self.profile.command.mode
        changed = mode is not None and self._words[mode.address] != before[mode.address]
        unknown = changed and values[1] not in {code.value for _, code in self._codes_of}
        if unknown or any(map(math.isnan, [*values[3:], trigger])):
            self._words = before
            raise RegisterError(ILLEGAL_VALUE)
        coils = enumerate(self._signals.coils)
        control = int(values[0]) | sum(self._coils[coil] << 16 + place for place, coil in coils)
        handover = self.profile.command.handover
        if triggers and handover is not None and handover.trigger is not None and trigger == handover.trigger.value:
            control |= self._signals.trigger
        self.outputs = {name: bool(control & self._signals.control[OUTPUT + name]) for name in self.outputs}
        self._act((control ^ self._signals.low, *values[1:]))

    def _act(self, command: tuple[int | float, ...]) -> None:
        """See `VirtualServo._act`; the control is wide, and each of its signals active high."""
        control = int(command[0])
        mode = self._mode_of(int(command[1]), control)
        self._stopped = self._stopped and bool(control & self.control_masks[1])
        homing = self.profile.modes.homing
        self._selects_homing = homing is not None and homing.value == int(command[1])
        self._holds = mode is None or (mode is Mode.OFF and self.machine is not None)
        self._hand_over(control, command, follows=mode in (Mode.POSITION, Mode.FORCE))
        followed = Mode.POSITION if self._holds or mode is None else mode
        if self.machine is None:
            super()._act((control, int(followed), *command[2:]))
        else:
            self._step(control, followed, command)
        if self._power is not Power.ON:
            self._taken = None

    def _step(self, control: int, mode: Mode, command: tuple[int | float, ...]) -> None:
        """Advance the power state by the control word."""
        machine = self.machine
        assert machine is not None
        self.row[SEQUENCE], self.row[LAST_WRITE] = command[2], self.now
        machine.write(control & 0xFFFF)
        if not machine.failed:
            self._fault, self._watchdog_tripped = 0, False
        if machine.enabled and self._barred:
            machine.lose()
        if machine.enabled:
            if self._power is Power.OFF:
                self._power = Power.ON
            self._drive(mode, command)
        elif machine.stopping:
            if self._power is Power.ON:
                self._stop()
        elif self._power is not Power.OFF:
            self._switch_off()

    def _mode_of(self, value: int, control: int) -> Mode | None:
        """The mode by its register and the bits of the control word; None where its bits are not set.

        A mode that follows set-points needs no bits where the register alone selects it: they say how it follows.
        """
        codes = [(mode, code) for mode, code in self._codes_of if code.value == value]
        if len(codes) == 1 and codes[0][0] is not Mode.HOMING:
            return codes[0][0]
        found = [(code.control.bit_count(), mode) for mode, code in codes if control & code.control == code.control]
        return max(found)[1] if found else None

    def _hand_over(self, control: int, command: tuple[int | float, ...], *, follows: bool) -> None:
        """Take a set-point over where the control hands one over, in a mode that `follows` one."""
        handover: Handover | None = self.profile.command.handover
        if handover is None:
            if not self._stopped:
                self._taken = command
            return
        offered = follows and bool(control & (self._signals.trigger if handover.trigger is not None else handover.bit))
        edge = offered and not self._handed if handover.rising is not None else offered != self._handed
        if (offered if handover.trigger is not None else edge) and self._power is Power.ON and not self._stopped:
            self._taken = command
        self._handed = self._acknowledged = offered

    def _drive(self, mode: Mode, command: tuple[int | float, ...]) -> None:
        if mode in (Mode.POSITION, Mode.FORCE) and (self._holds or self._taken is None):
            if self._mode is not Mode.POSITION:
                self._hold = self.plant.length
            elif not self._held:
                self._hold = self.plant.length if self._ramp is None else self._ramp.at
            self._mode, self._held = Mode.POSITION, True
            self.plant.command(Mode.POSITION, 0.0, self._hold, 0.0, True, False, False)
            if self._ramp is not None:
                self._ramp.rest(self._hold)
            return
        if self._ramp is not None and self._mode is not Mode.POSITION:
            self._ramp.rest(self.plant.length)
        self._held = False
        super()._drive(mode, command if self._taken is None else (*command[:3], *self._taken[3:]))

    def _follow(self, mode: Mode, force: float, position: float, velocity: float) -> None:
        """See `VirtualServo._follow`; to a position it moves by its ramp, from `tick` to `tick`."""
        ramp = self._ramp
        if ramp is None or mode is not Mode.POSITION:
            super()._follow(mode, force, position, velocity)
            return
        self._goal, self._feedforward = position, force
        speed, acceleration = self._ramp_sources
        self._ramp_limits = self._ramp_value(*speed), self._ramp_value(*acceleration)
        super()._follow(mode, force, ramp.at, ramp.speed)

    def _ramp_source(self, given: float | RampRegister, usual: float) -> tuple[Block | None, float, float]:
        """Register of a speed or acceleration of the ramp, None for a fixed one; its scale; the usual value, SI."""
        if not isinstance(given, RampRegister):
            return None, 1.0, usual
        written = self.profile.written_at(given.address)
        assert written is not None  # ensured by the profile's check
        return Block([written.register], self.profile.word_order), given.scale, usual

    def _ramp_value(self, block: Block | None, scale: float, usual: float) -> float:
        """Speed or acceleration of the ramp now, m/s or m/s²; the usual one until its register is written."""
        if block is None:
            return usual
        (value,) = self._values(block)
        return value * scale if value > 0 else usual

    def _stop(self) -> None:
        if not self._stopped or self._fault:
            self._stopped, self._taken = False, None
            super()._stop()

    def _end_stop(self) -> None:
        """See `VirtualServo._end_stop`; it may keep its torque, and stand where it is until the next set-point."""
        super()._end_stop()
        if self.profile.stop_keeps_torque and not (self._fault or self._barred):
            self._power, self._stopped = Power.ON, True
            self._drive(Mode.POSITION, ())

    def _latch(self, error: str) -> None:
        if self.machine is not None:
            self.machine.fail()
        super()._latch(error)

    def bar_torque(self, barred: bool) -> None:
        """See `VirtualDrive.bar_torque`."""
        super().bar_torque(barred)
        if barred and self.machine is not None:
            self.machine.lose()

    def tick(self, now: float) -> None:
        """See `VirtualServo.tick`."""
        elapsed = now - self.now
        super().tick(now)
        ramp, follows = self._ramp, self._power is Power.ON and self._mode is Mode.POSITION
        if ramp is not None and follows and elapsed > 0.0 and not self._holds and self._taken is not None:
            ramp.advance(elapsed, self._goal, *self._ramp_limits)
            super()._follow(Mode.POSITION, self._feedforward, ramp.at, ramp.speed)
        machine = self.machine
        if machine is not None and self._power is Power.OFF:
            machine.rest()
            if machine.enabled:
                machine.lose()

    def feedback(self, length: float, speed: float, cell: float) -> tuple[int | float, ...]:
        """See `VirtualServo.feedback`; the status is wide."""
        flags, *values = super().feedback(length, speed, cell)
        rated = self.profile.simulator.rated_force
        for place, magnitude, sensor in self._torques:
            torque = 0.0 if rated is None or self._power is Power.OFF else self.plant.motor / rated
            values[place] = sensor.encode(abs(torque) if magnitude else torque)[0]
        return self._wide(int(flags)) | self._further(int(flags), length), *values

    def _further(self, flags: int, length: float) -> int:
        """Bits of the status word that the driver does not read: those of the profile's simulator, of the standard.

        length: m.
        """
        if not (any(self._shown) or self._standard):
            return 0
        ready, startable, in_position = self._shown
        word = 0 if flags & _FAULT else ready
        searches = flags & _HOMING
        if self._power is Power.ON and flags & _STANDSTILL and not searches:
            word |= 0 if self._stopped else startable
            if abs(length - self._target) <= _WINDOW:
                word |= in_position | (0 if self._selects_homing else TARGET_REACHED & self._standard)
        standard = REMOTE if self._barred else REMOTE | VOLTAGE
        if self._selects_homing:
            standard |= (ATTAINED if self._homed else 0) | (0 if searches else TARGET_REACHED)
        return word | standard & self._standard

    @property
    def _target(self) -> float:
        """Leg length where it is to stand, m."""
        if self._taken is None or self._holds or self._mode is not Mode.POSITION:
            return self._hold if self._mode is Mode.POSITION else self.plant.length
        return float(self._taken[4]) * self.command_scales[1] + self.position_offset

    def _wide(self, flags: int) -> int:
        """The wide status that has the flags and the power state."""
        more = _TAKEN * self._acknowledged
        for name, flag in self._input_flags.items():
            more |= flag * self.inputs[name]
        if self.machine is None:
            return flags_value(flags | more, self._places)
        state = self.machine.state
        if flags & Status.ENABLED and not state.flags & Status.ENABLED:  # a power stage that is stuck
            state = self.machine.table.steps[-1].state
        others = flags & ~int(POWER_FLAGS) | more
        return flags_value(others, self._places) | state.value
