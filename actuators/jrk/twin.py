"""Virtual twin of a Jrk G2 with a spindle: variables and settings, its position loop, its errors, its time-out."""

import math
from collections.abc import Mapping
from typing import ClassVar

from actuators.interface import Mode
from actuators.jrk.drive import JrkOptions
from actuators.jrk.protocol import (
    CLEAR_ERRORS,
    COARSE,
    COUNTS,
    CRC_ENABLED,
    EVERYONE,
    FEEDBACK_ANALOG,
    FORCE_DUTY,
    FORCE_DUTY_TARGET,
    FULL_DUTY,
    GET_CHOPPED,
    GET_OCCURRED,
    GET_RAM_SETTINGS,
    GET_SETTINGS,
    GET_VARIABLES,
    MIDDLE,
    MOST_READ,
    PINS,
    SET_RAM_SETTINGS,
    SETTINGS,
    STOP,
    TARGET,
    TARGET_ABOVE,
    TARGET_BELOW,
    TIMEOUT_UNIT,
    Error,
    PololuFraming,
    Setting,
    Variables,
    command_length,
    duty_of,
    overrides_of,
    state_bytes,
)
from actuators.virtual.drive import SERVO_FAULTS, FaultKind, PlantPort, VirtualDrive
from actuators.virtual.faults import FaultyServo

_PERIOD = 0.01  # s, of the position loop
_STEP = 2e-3  # s, of the spindle's motion
_GAIN = 30.0  # 1/s, of the position loop: speed over distance
_SPEED = 0.3  # m/s, at full duty
_GIVE = 2e-3  # m, by which the leg may be off the spindle's nut because of its load; more is a feedback that lies
_BRAKING_TIME = 0.2  # s, for which a motor that is stopped brakes a leg that does not come to rest
_STANDSTILL = 1e-3  # m/s
_SUPPLY = 24.0  # V
_WORD, _GET_WORD = 0x20, 0x80


class VirtualJrk(VirtualDrive):
    """A controller with one leg of the plant, whose spindle is self-locking.

    Time-out and disconnected feedback are latched errors; a supply error ends by itself. The time-out counts from the
    last target, independent of other messages, and recurs at once if cleared without a target: where the maker's page
    leaves details open, the twin has the worst case. Settings can be overridden and read back; of these
    only the greatest duties have an effect. A forced duty counts as a target for the time-out, and all errors stop it;
    the motor stalls where the leg does not follow.
    """

    longest_step = _STEP

    fault_kinds: ClassVar[Mapping[str, FaultKind]] = {
        name: kind
        for name, kind in SERVO_FAULTS.items()
        if name != "temperature" and not name.startswith(("cell_", "force_"))
    }
    """Faults that it can have: it says nothing of temperatures and forces."""

    def __init__(
        self,
        plant: PlantPort,
        *,
        unit: int = 11,
        crc: bool = False,
        watchdog: float = 0.05,
        stroke: float = 0.3,
        position_offset: float = 0.0,
        inputs: Mapping[str, str] | None = None,
    ) -> None:
        """Power the controller up.

        watchdog: s, its serial time-out. stroke, position_offset: m, scale of its counts. inputs: pin by name.
        """
        super().__init__(unit, PololuFraming(crc))
        self.plant = plant
        self._metre, self._offset = stroke / COUNTS, position_offset
        self._timeout = round(watchdog / TIMEOUT_UNIT) * TIMEOUT_UNIT
        self._settings = bytearray(SETTINGS)
        for setting, size, value in (
            (Setting.OPTIONS_1, 1, CRC_ENABLED if crc else 0),
            (Setting.FEEDBACK_MODE, 1, FEEDBACK_ANALOG),
            (Setting.FEEDBACK_MAXIMUM, 2, COUNTS),
            (Setting.SERIAL_TIMEOUT, 2, round(watchdog / TIMEOUT_UNIT)),
            (Setting.DEVICE_NUMBER, 2, unit),
            (Setting.ERROR_ENABLE, 2, (1 << 14) - 1),
            (Setting.PID_PERIOD, 2, round(_PERIOD * 1e3)),
            *((setting, 2, FULL_DUTY) for setting in Setting if setting >= Setting.ACCELERATION_FORWARD),
        ):
            self._settings[setting : setting + size] = value.to_bytes(size, "little")
        self._input_bits = {name: PINS[pin] for name, pin in (inputs or {}).items()}
        self.inputs = dict.fromkeys(self._input_bits, True)
        self._barred = False
        self._supply = _SUPPLY
        self._shown: tuple[Variables, float, int] | None = None
        """what it reports while it hangs, as of a time, s"""
        self.reboot()
        self._booted = math.nan
        """s; NaN until it has been given a time"""

    def show(self, name: str, value: float | None) -> None:
        """See `VirtualDrive.show`."""
        if name == "supply":
            self._supply = _SUPPLY if value is None else value

    def bar_torque(self, barred: bool) -> None:
        """See `VirtualDrive.bar_torque`: its motor supply."""
        self._barred = barred
        if barred:
            self._occurred |= Error.NO_POWER
            self._halt()

    def reboot(self) -> None:
        """See `VirtualDrive.reboot`."""
        self._booted = self.now
        self._ram = bytearray(self._settings)
        self._forced: tuple[int, int] | None = None
        """duty in place of the position loop, and by which of the two commands"""
        self._target = COUNTS // 2 + 1
        self._targeted_at = self.now
        self._latched = self._occurred = 0
        self._awaiting = True
        self._nut, self._speed = self.plant.length, 0.0
        self._stopping_until = -math.inf
        self._rest()

    @property
    def goal(self) -> float:
        """Leg length of its target, m."""
        return self._target * self._metre + self._offset

    @property
    def hung(self) -> bool:
        """See `VirtualDevice.hung`."""
        return self._shown is not None

    @hung.setter
    def hung(self, hung: bool) -> None:
        if hung != self.hung:
            self._shown = (self._variables(), self.now, self._pins) if hung else None

    def tick(self, now: float) -> None:
        """Advance the time: time-out, move to the target, end of braking. now: s; monotonic."""
        elapsed, self.now = now - self.now, now
        if math.isnan(self._booted):
            self._booted = now
            self._targeted_at = now
        self._find_errors()
        if self._running and elapsed > 0.0:
            self._turn(min(elapsed, 1.0))
        elif self._stopping_until > -math.inf and (
            abs(self.plant.velocity) <= _STANDSTILL or now >= self._stopping_until
        ):
            self._rest()

    def answer(self, message: bytes) -> bytes:
        """See `VirtualDevice.answer`: commands in the compact form, one after the other."""
        if message[0] not in (self.unit, EVERYONE):
            return b""
        out, commands = b"", message[1:]
        while commands:
            size = command_length(commands)
            out += self._do(commands[0], commands[1:size])
            commands = commands[size:]
        return message[:1] + out if out else b""

    def _do(self, code: int, data: bytes) -> bytes:
        if TARGET <= code < TARGET + 0x20:
            self._take(data[0] << 5 | code & 0x1F)
        elif code == TARGET_ABOVE or (code == TARGET_BELOW and data[0]):
            self._take(MIDDLE + (COARSE if code == TARGET_ABOVE else -COARSE) * data[0])
        elif code in _FORCING:
            self._take(self._target, (duty_of(data), _FORCING[code]))
        elif code in (STOP, TARGET_BELOW):
            if self._shown is None:
                self._awaiting, self._forced = True, None
                self._halt()
        elif code == CLEAR_ERRORS:
            was = (self._shown[0] if self._shown else self._variables()).halting
            if self._shown is None:
                self._latched = 0
                self._find_errors()
                self._run()
            return was.to_bytes(2, "little")
        elif code == GET_OCCURRED:
            seen = (self._shown[0] if self._shown else self._variables()).occurred
            if self._shown is None:
                self._occurred = 0
            return seen.to_bytes(2, "little")
        elif code == GET_CHOPPED:
            return b"\0"
        elif code in (GET_VARIABLES, GET_SETTINGS, GET_RAM_SETTINGS):
            settings = self._ram if code == GET_RAM_SETTINGS else self._settings
            source = self._bytes() if code == GET_VARIABLES else bytes(settings)
            first, count = data[0], min(data[1], MOST_READ)
            return source[first : first + count].ljust(count, b"\0")
        elif code == SET_RAM_SETTINGS:
            if self._shown is None:
                first, values = overrides_of(data)
                self._ram[first : first + len(values)] = values
                del self._ram[SETTINGS:]
        elif _GET_WORD <= code < TARGET:
            first = (code & 0x1F) - 1
            return self._bytes()[first : first + (2 if code & _WORD else 1)]
        else:
            self._occurred |= Error.SERIAL_PROTOCOL
        return b""

    def _take(self, target: int, forced: tuple[int, int] | None = None) -> None:
        """Take a target, or a duty that is forced; either starts the motor."""
        if self._shown is not None:
            return
        self._forced = forced
        self._target, self._targeted_at = min(target, COUNTS), self.now
        self._awaiting = False
        self._run()

    @property
    def _running(self) -> bool:
        return not self._halting

    @property
    def _halting(self) -> int:
        """The errors that keep the motor from running."""
        found = self._latched
        found |= Error.AWAITING_COMMAND if self._awaiting else 0
        found |= Error.NO_POWER if self._barred else 0
        return int(found)

    def _find_errors(self) -> None:
        """Find the errors there are."""
        found = 0
        if self._timeout and self.now - self._targeted_at > self._timeout:
            found |= Error.SERIAL_TIMEOUT
        if not math.isfinite(self.plant.length):
            found |= Error.FEEDBACK_DISCONNECT
        if found & ~self._latched:
            self._latched |= found
            self._occurred |= found
            self._halt()

    def _run(self) -> None:
        """Run the motor if no error halts it."""
        if self._running and self._stopping_until == -math.inf and not self._powered:
            self._nut, self._speed = self.plant.length, 0.0
            self._drive()
        elif self._running and self._stopping_until > -math.inf:
            self._stopping_until = -math.inf
            self._nut, self._speed = self.plant.length, 0.0
            self._drive()

    def _turn(self, elapsed: float) -> None:
        """Turn the spindle towards the target by the feedback."""
        steps = math.ceil(elapsed / _STEP)
        most, least = (self._most(setting) / FULL_DUTY * _SPEED for setting in _DUTIES)
        for _ in range(steps):
            error = self.plant.length - self._nut
            if self._forced is not None:
                speed = self._forced[0] / FULL_DUTY * _SPEED
                self._speed = 0.0 if abs(error) > _GIVE and error * speed < 0.0 else speed
            else:
                distance = self.goal - (self._nut if abs(error) <= _GIVE else self.plant.length)
                self._speed = _GAIN * distance
            self._speed = min(max(self._speed, -least), most)
            self._nut += self._speed * elapsed / steps
        self._drive()

    def _most(self, setting: Setting) -> int:
        """A greatest duty: the setting in RAM, which holds whatever was written; a motor has no more than full duty."""
        return min(int.from_bytes(self._ram[setting : setting + 2], "little"), FULL_DUTY)

    def _drive(self) -> None:
        self._powered = True
        self.plant.command(Mode.POSITION, 0.0, self._nut, self._speed, True, False, False)

    def _halt(self) -> None:
        """Brake the motor until the leg rests."""
        if not self._powered:
            return
        self._powered = False
        if abs(self.plant.velocity) <= _STANDSTILL:
            self._rest()
            return
        self._stopping_until = self.now + _BRAKING_TIME
        self.plant.command(Mode.OFF, 0.0, 0.0, 0.0, True, True, False)

    def _rest(self) -> None:
        self._powered = False
        self._speed = 0.0
        self._stopping_until = -math.inf
        self.plant.command(Mode.OFF, 0.0, 0.0, 0.0, False, False, True)

    def _variables(self) -> Variables:
        """The present variables."""
        counts = (self.plant.length - self._offset) / self._metre
        scaled = round(min(max(counts, 0.0), float(COUNTS))) if math.isfinite(counts) else 0
        halting = 0 if self.torque_stuck and not self._barred else self._halting
        duty, mode = round(FULL_DUTY * self._speed / _SPEED) if self._powered else 0, 0
        if self._forced is not None:
            duty = min(max(self._forced[0], -self._most(_DUTIES[1])), self._most(_DUTIES[0])) * self._powered
            mode = self._forced[1]
        supply = 0 if self._barred else min(max(round(self._supply * 1e3), 0), 0xFFFF)
        since = 0.0 if math.isnan(self._booted) else self.now - self._booted
        periods = int(since / _PERIOD) & 0xFFFF
        return Variables(
            self._target, self._target, scaled, scaled, 0, duty, duty, abs(duty) >> 8,
            periods, halting, self._occurred, mode, supply, abs(duty),
        )  # fmt: skip

    def _bytes(self) -> bytes:
        shown, now, pins = self._shown or (self._variables(), self.now, self._pins)
        return state_bytes(shown, 0.0 if math.isnan(self._booted) else now - self._booted, pins)

    @property
    def _pins(self) -> int:
        """Digital readings of the pins."""
        return sum(self.inputs[name] << bit for name, bit in self._input_bits.items())


_DUTIES = (Setting.DUTY_FORWARD, Setting.DUTY_REVERSE)
_FORCING = {FORCE_DUTY_TARGET: 1, FORCE_DUTY: 2}
"""Force mode of each command that forces a duty."""


def jrk_twin(options: JrkOptions, leg: PlantPort) -> FaultyServo:
    """The virtual controller of a leg."""
    return FaultyServo(
        VirtualJrk(
            leg,
            unit=options.unit,
            crc=options.crc,
            watchdog=options.watchdog,
            stroke=options.stroke,
            position_offset=options.position_offset,
            inputs=options.inputs,
        )
    )
