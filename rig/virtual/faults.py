"""Faults of the virtual rig (plant, drives, cells, wires): injected, cleared, and played from a timetable."""

import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from actuators import AMPLIFIER_FAULTS as DEVICE_FAULTS
from actuators import SERVO_FAULTS, WIRE_FAULTS, FaultKind, FaultyDevice
from rig.config import AT_PLATFORM, InjectedFault, fault_words
from rig.errors import ConfigError, ConfigFault, InputError
from rig.findings import Code, Finding
from rig.virtual.arrays import Array
from rig.virtual.cabinet import CABINET_FAULTS, Cabinet
from rig.virtual.plant import Plant
from rig.virtual.port import CELL, ENCODER, MOTOR, LegPort
from rig.virtual.sensor_twins import SensorTwins

PLANT_FAULTS = {
    "jam": FaultKind("friction holds the leg", "N", 300.0),
    "weak": FaultKind("the drive gives only this part of its force", "", 0.5),
    "test_load": FaultKind("a test mass hangs on the load cell, as for its calibration", "N", 50.0),
    "zero_jump": FaultKind("the zero of the load cell jumps", "N", 5.0),
    "force_step": FaultKind("a push downwards at the leg's joint, or at the origin", "N", 100.0),
    "brake_slips": FaultKind("the closed brake slips under its load at a speed", "m/s", 0.02),
    "brake_open": FaultKind("the brake does not close"),
    "motor_exchanged": FaultKind("motor and brake are exchanged with those of another leg's drive", "leg 1..6", 1.0),
    "encoder_exchanged": FaultKind("the encoder is exchanged with that of another leg's drive", "leg 1..6", 1.0),
    "cell_exchanged": FaultKind("the load cell is exchanged with that of another leg", "leg 1..6", 1.0),
    "payload": FaultKind("a mass that is not in the model is placed at the platform's origin", "kg", 5.0),
}
"""Faults of the machine itself."""

_OWNER = "owner_hangs"
HOST_FAULTS = {_OWNER: FaultKind("the process that started a live rig is suspended for this time", "s", 40.0)}
"""Faults of the computer. A stopped process cannot clear them: they end by themselves."""

_AMPLIFIER = "amplifier_"
_CHANNEL = f"{_AMPLIFIER}invalid"
AMPLIFIER_FAULTS = {
    (_CHANNEL if name.startswith("invalid_") else _AMPLIFIER + name): kind for name, kind in DEVICE_FAULTS.items()
}
"""Faults of the load-cell amplifier."""

_BLOCK = "io_"
BLOCK_FAULTS = {_BLOCK + name: kind for name, kind in WIRE_FAULTS.items() if name != "swap_unit"}
"""Faults of the block of inputs and outputs."""

SENSOR_FAULTS = {
    "sensors_silent": FaultKind("the simulated external sensors send nothing"),
    "sensors_nan": FaultKind("their readings are not a number"),
}
"""Faults of the simulated external sensors, of all of them."""

FAULTS: dict[str, FaultKind] = {
    **PLANT_FAULTS,
    **SERVO_FAULTS,
    **AMPLIFIER_FAULTS,
    **CABINET_FAULTS,
    **BLOCK_FAULTS,
    **SENSOR_FAULTS,
    **HOST_FAULTS,
}
"""Every fault by name."""

_MOST_NEWS = 1000
_EVERY = range(1, 7)
_EXCHANGED = {"motor_exchanged": MOTOR, "encoder_exchanged": ENCODER, "cell_exchanged": CELL}
_NUMBERED = {"swap_unit": "device"} | dict.fromkeys(_EXCHANGED, "leg")
WHOLE_RIG = frozenset(["payload", *AMPLIFIER_FAULTS, *CABINET_FAULTS, *BLOCK_FAULTS, *SENSOR_FAULTS, *HOST_FAULTS]) - {
    _CHANNEL
}
"""Names of faults without a leg."""
_WITHOUT_DEVICE = frozenset([*PLANT_FAULTS, *CABINET_FAULTS, *SENSOR_FAULTS, *HOST_FAULTS])
_NOT_NEGATIVE = frozenset(
    ["jam", "brake_slips", "payload", *WIRE_FAULTS, *AMPLIFIER_FAULTS, *BLOCK_FAULTS, *HOST_FAULTS]
)


@dataclass(frozen=True, slots=True)
class ActiveFault:
    """An active fault: name, leg 1…6 (0: the whole rig), value, and end time (s; infinite: until cleared)."""

    name: str
    leg: int
    value: float | None
    until: float


@dataclass(frozen=True, slots=True)
class News:
    """A change at `at`, s of the plant's time: `action` "injected", "on", "cleared" or "ended", and the fault."""

    at: float
    action: str
    text: str


class Faults:
    """Faults of one virtual rig, and the rest of its timetable.

    Legs are counted from 1; None means all six, or the platform for a fault of the whole rig.
    `due` is the time (s) of the next action of `play`, infinite if none.
    `hang` stops the process that started the rig (True) or resumes it (False); None if that is this process.

    Raises ConfigError listing every invalid entry of the timetable.
    """

    def __init__(
        self,
        plant: Plant,
        ports: Sequence[LegPort],
        cabinet: Cabinet,
        cells: Sequence[FaultyDevice],
        sensors: SensorTwins,
        timetable: Sequence[InjectedFault],
        hang: Callable[[bool], None],
    ) -> None:
        self.due = math.inf
        self.news: deque[News] = deque(maxlen=_MOST_NEWS)
        """changes, until a reader removes them"""
        self._plant = plant
        self._ports = ports
        self._cabinet = cabinet
        self._cells = tuple(cells)
        self._sensors = sensors
        self._hang = hang
        self._start = plant.time
        self._active: dict[tuple[str, int], ActiveFault] = {}
        self._to_come = sorted(timetable, key=lambda entry: entry.at)
        self._joints = plant.platform_points
        wrong = []
        for place, entry in enumerate(timetable):
            try:
                self._check(entry.fault, entry.leg, entry.value, entry.duration)
            except InputError as error:
                wrong.append(ConfigFault(("virtual", "faults", place), error.finding))
        if wrong:
            raise ConfigError(Finding(Code.TIMETABLE_UNUSABLE), wrong)
        self._update_due()

    @property
    def active(self) -> list[ActiveFault]:
        """Active faults."""
        return [fault for key, fault in self._active.items() if self._still_on(*key)]

    def inject(
        self, name: str, leg: int | None = None, value: float | None = None, duration: float | None = None
    ) -> None:
        """Start a fault now, for `duration` s or until cleared; it replaces one of the same name and leg.

        value: in the unit of the fault's `FAULTS` entry; None takes its default.
        Raises InputError, changing nothing, for an unknown name or a value out of bounds.
        """
        self._check(name, leg, value, duration)
        kind = FAULTS[name]
        number = kind.default if value is None else value
        if name in HOST_FAULTS and duration is None:
            duration = number
        until = math.inf if duration is None else self._plant.time + duration
        for number_of_leg in self._legs(name, leg):
            self._begin(name, number_of_leg, number)
            self._active[name, number_of_leg] = ActiveFault(name, number_of_leg, number, until)
        lasting = "" if duration is None else f" for {duration:g} s"
        self._report("injected", f"{fault_text(name, leg, number)}{lasting}")
        self._load_platform()
        self._update_due()

    def clear(self, name: str | None = None, leg: int | None = None) -> None:
        """End the faults of that name (None: any) on that leg (None: any), if there are any."""
        self._end_all([key for key in self._active if name in (None, key[0]) and leg in (None, key[1])], "cleared")
        self._load_platform()
        self._update_due()

    def play(self) -> None:
        """Start and end the faults due at the plant's time."""
        now = self._plant.time
        self._end_all([key for key, fault in self._active.items() if fault.until <= now], "ended")
        self._load_platform()
        while self._to_come and self._start + self._to_come[0].at <= now:
            entry = self._to_come.pop(0)
            self.inject(entry.fault, entry.leg, entry.value, entry.duration)
        self._update_due()

    def recall(self) -> list[News]:
        """Return the active faults as news of the current time."""
        now = self._plant.time
        return [News(now, "on", fault_text(one.name, one.leg, one.value)) for one in self.active]

    def _report(self, action: str, text: str) -> None:
        self.news.append(News(self._plant.time, action, text))

    def _check(self, name: str, leg: int | None, value: float | None, duration: float | None) -> None:
        kind = FAULTS.get(name)
        if kind is None:
            raise InputError(f"no fault {name!r}; known faults: {', '.join(FAULTS)}")
        if leg is not None and leg not in range(1, 7):
            raise InputError(f"fault {name}: leg {leg} is outside 1..6")
        if leg is not None and name in WHOLE_RIG:
            raise InputError(f"fault {name}: belongs to the whole rig, not to leg {leg}")
        if name in AMPLIFIER_FAULTS and len(self._cells) != 1:
            raise InputError(f"fault {name}: this rig has no amplifier")
        if name in CABINET_FAULTS and not self._cabinet.present:
            raise InputError(f"fault {name}: this rig has no inputs and outputs")
        if name in BLOCK_FAULTS and self._cabinet.block is None:
            raise InputError(f"fault {name}: this rig has no block of inputs and outputs")
        if name in SENSOR_FAULTS and not self._sensors:
            raise InputError(f"fault {name}: this rig has no simulated external sensors")
        if name not in _WITHOUT_DEVICE:
            for number in self._legs(name, leg):
                device, known_as = self._device(name, number)
                if known_as not in device.kinds:
                    raise InputError(f"fault {name}: this rig's virtual devices cannot have it")
        if value is not None and kind.default is None:
            raise InputError(f"fault {name}: takes no value")
        if value is not None and not math.isfinite(value):
            raise InputError(f"fault {name}: value {value} is not finite")
        if value is not None and value < 0.0 and name in _NOT_NEGATIVE:
            raise InputError(f"fault {name}: value {value:g} {kind.unit} is negative")
        if value is not None and name in _NUMBERED and value not in range(1, 7):
            raise InputError(f"fault {name}: {_NUMBERED[name]} {value:g} is outside 1..6")
        if duration is not None and not 0.0 < duration < math.inf:
            raise InputError(f"fault {name}: duration {duration} s is not a positive number")

    @staticmethod
    def _legs(name: str, leg: int | None) -> Sequence[int]:
        if leg is not None:
            return (leg,)
        return (0,) if name in WHOLE_RIG or name in AT_PLATFORM else _EVERY

    def _device(self, name: str, leg: int) -> tuple[FaultyDevice, str]:
        """Return the device behind the fault's wire, and the device's name of the fault."""
        if name in AMPLIFIER_FAULTS:
            return self._cells[0], name.removeprefix(_AMPLIFIER) + (f"_{leg}" if leg else "")
        if name in BLOCK_FAULTS and self._cabinet.block is not None:
            return self._cabinet.block, name.removeprefix(_BLOCK)
        return self._cabinet.drives[leg - 1], name

    def _begin(self, name: str, leg: int, value: float | None) -> None:
        if name in HOST_FAULTS:
            self._hang(True)
        elif name in SENSOR_FAULTS:
            self._set_sensors(name, on=True)
        elif name in CABINET_FAULTS:
            self._cabinet.set_fault(name, on=True)
        elif name not in PLANT_FAULTS:
            device, known_as = self._device(name, leg)
            device.inject(known_as, value)
        else:
            self._set(name, leg, 0.0 if value is None else value)

    def _end_all(self, keys: Sequence[tuple[str, int]], how: str) -> None:
        """End faults, and report them as they were injected: once for a fault on all legs."""
        for key in keys:
            self._end(key)
        for name in dict.fromkeys(name for name, _leg in keys):
            legs = [leg for one, leg in keys if one == name]
            for leg in [None] if legs == list(_EVERY) else legs:
                self._report(how, fault_text(name, leg))

    def _end(self, key: tuple[str, int]) -> None:
        del self._active[key]
        name, leg = key
        if name in HOST_FAULTS:
            self._hang(False)
        elif name in SENSOR_FAULTS:
            self._set_sensors(name, on=False)
        elif name in CABINET_FAULTS:
            self._cabinet.set_fault(name, on=False)
        elif name not in PLANT_FAULTS:
            device, known_as = self._device(name, leg)
            device.clear(known_as)
        else:
            usual = {"weak": 1.0, "brake_open": 1.0} | dict.fromkeys(_EXCHANGED, float(leg))
            self._set(name, leg, usual.get(name, 0.0))

    def _set(self, name: str, leg: int, value: float) -> None:
        match name:
            case "jam":
                self._plant.jam(leg - 1, value)
            case "weak":
                self._plant.scale_motor(leg - 1, value)
            case "test_load":
                self._ports[leg - 1].test_load = value
            case "zero_jump":
                self._ports[leg - 1].zero_jump = value
            case "brake_slips":
                self._plant.creep(leg - 1, value)
            case "brake_open":
                self._plant.weaken_brake(leg - 1, value)
            case "motor_exchanged" | "encoder_exchanged" | "cell_exchanged":
                self._exchange(_EXCHANGED[name], leg - 1, round(value) - 1)
            case "payload":
                self._plant.add_payload(value)

    def _exchange(self, entry: int, leg: int, other: int) -> None:
        """Exchange wires of legs 0…5, an entry of `LegPort.wired`; the same leg twice has its own again.

        Either may have been exchanged with another one before, which then has its own again.
        """
        ports = self._ports
        for one in (leg, other):
            partner = int(ports[one].wired[entry])
            ports[one].wired[entry], ports[partner].wired[entry] = one, partner
        ports[leg].wired[entry], ports[other].wired[entry] = other, leg
        motors = {int(port.wired[ENCODER]): int(port.wired[MOTOR]) for port in ports}
        self._plant.wire_motors([motors[drive] for drive in range(6)])

    def _set_sensors(self, name: str, *, on: bool) -> None:
        if name == "sensors_silent":
            self._sensors.silent = on
        else:
            self._sensors.empty = on

    def _load_platform(self) -> None:
        """Apply the sum of the active pushes to the platform."""
        wrench: Array = np.zeros(6)
        for (name, leg), fault in self._active.items():
            if name == "force_step" and fault.value is not None:
                push = np.array([0.0, 0.0, -fault.value])
                wrench[:3] += push
                if leg:
                    wrench[3:] += np.cross(self._joints[leg - 1], push)
        self._plant.wrench[:] = wrench

    def _still_on(self, name: str, leg: int) -> bool:
        if name in _WITHOUT_DEVICE:
            return True
        device, known_as = self._device(name, leg)
        return known_as in device.active

    def _update_due(self) -> None:
        ends = [fault.until for fault in self._active.values()]
        self.due = min(ends, default=math.inf)
        if self._to_come:
            self.due = min(self.due, self._start + self._to_come[0].at)


def fault_text(name: str, leg: int | None = None, value: float | None = None) -> str:
    """Format a fault, as "cable 3 unplugged"; the leg (1…6) is None for all, or for a fault of the whole rig."""
    number = "" if value is None else f", {value:g} {FAULTS[name].unit}".rstrip()
    return f"{fault_words(name, leg)}{number}"
