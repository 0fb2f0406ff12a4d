"""The sections of a rig's configuration file: names, units, bounds and defaults.

Physical quantities are SI numbers or strings with their unit ("300 mm"); every value is plain SI once read. Unknown
keys, non-finite numbers and values out of bounds are refused.
"""

import math
from collections.abc import Mapping
from typing import Annotated, Literal, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from actuators import present_name
from kinematics import AngularSpeed, Damping, Force, Frequency, Length, Number, Speed, Stiffness, Time, within
from rig.names import valid_line

LEGS = 6
MOST_STALE_CYCLES = 100
"""Most consecutive cycles without fresh feedback that a configuration may bear."""

Count = Annotated[int, Field(strict=True)]
Line = Annotated[str, AfterValidator(valid_line)]
"""A line of text without control characters, which may be empty."""
Text = Annotated[Line, Field(min_length=1)]
"""The same, not empty."""


def _once_or_per_leg(value: object) -> object:
    return value if isinstance(value, (list, tuple)) else [value] * LEGS


OnceOrPerLeg = BeforeValidator(_once_or_per_leg)
"""One value for all legs, or one of each."""
Bandwidth = Annotated[Frequency, within(1.0, 1e5, "Hz")]
Delay = Annotated[Time, within(0.0, 0.1, "s")]
Gain = Annotated[Stiffness, within(0.0, 1e8, "N/m")]
Smoothing = Annotated[Speed, within(1e-6, 0.1, "m/s")]


CheckName = Literal[
    "following_error",
    "position_jump",
    "force_residual",
    "frozen_cycles",
    "tare_shift",
    "brake_slip",
    "overspeed",
    "homing_force",
    "temperature",
    "supply_min",
    "supply_max",
]
"""Checks that a configuration may switch off, by the names of their bounds in [safety]."""

_NEVER_OFF = {
    "stale_cycles": "without feedback nothing else can be checked",
    "stale_time": "without feedback nothing else can be checked",
    "echo_lag": "a drive that hangs would count as one that answers",
    "rejected_replies": "a line with noise or another master on it would be trusted",
    "condition": "near a singular pose no leg forces hold the platform",
    "overruns_in_a_row": "a host that is late for good does not control",
    "heartbeat": "a client that hangs would go on commanding",
    "hold_renewal": "a motion that nobody holds any more would go on",
    "unattended_hold": "nobody would ever take the torque off",
    "homing_timeout": "a leg that finds no reference would move for ever",
    "homing_tolerance": "lengths that do not fit together would count as homed",
    "stop_time": "a stop that fails would never be escalated",
}
"""Bounds in [safety] that a rig cannot do without, and why."""


class Section(BaseModel):
    """Base of all sections: immutable, no unknown keys, defaults held to the same rules."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True, defer_build=True)


def with_present_driver(data: object) -> object:
    """A section's data with the driver that it names by what that is called now."""
    if isinstance(data, Mapping) and isinstance(name := data.get("driver"), str):
        return {**data, "driver": present_name(name)}
    return data


def refused(section: str, field: str, value: object, text: str) -> ValidationError:
    """The error of a section whose `field` is not what it may be, by a word on it from elsewhere."""
    fault = PydanticCustomError("value_error", "{text}", {"text": text})
    return ValidationError.from_exception_data(section, [InitErrorDetails(type=fault, loc=(field,), input=value)])


class Control(Section):
    """Gains and timing of the control law."""

    stiffness: Gain = 20e3
    """K_p of mode `force`, N/m, per leg."""
    damping: Annotated[Damping, within(0.0, 1e6, "N s/m")] = 900.0
    """K_d of mode `force`, N s/m, per leg."""
    task_stiffness: Annotated[Number, within(0.0, 1e6, "1/s^2")] = 100.0
    """K_p of mode `computed-torque`, 1/s²."""
    task_damping: Annotated[Number, within(0.0, 1e4, "1/s")] = 20.0
    """K_v of mode `computed-torque`, 1/s."""
    observer_bandwidth: Annotated[Frequency, within(0.01, 1e3, "Hz")] = 15.0
    """Bandwidth of the disturbance observer of mode `observer`, Hz."""
    lead: Delay | None = None
    """How far ahead of the cycle a command's reference is evaluated, s; not given: half the time for which a command
    holds, plus `drives.delay` and 1/(2π `drives.force_bandwidth`); of a length that is commanded, `drives.delay`."""
    coulomb_speed: Smoothing = 1e-3
    """Leg speed over which the feedforward smooths Coulomb friction, m/s."""


class Safety(Section):
    """Bounds on feedback, reference and timing, beside the mechanism's own limits."""

    stale_cycles: Annotated[Count, Field(ge=1, le=MOST_STALE_CYCLES)] = 3
    """Consecutive cycles without fresh feedback that are borne, where `stale_time` does not say it in seconds."""
    stale_time: Annotated[Time, within(1e-4, 1.0, "s")] | None = None
    """Time without fresh feedback that is borne, s; not given: `stale_cycles` of the rig's cycles."""
    echo_lag: Annotated[Count, Field(ge=0, le=10)] = 1
    """Cycles by which a drive's replies may be old for good, by its echo of the command's number."""
    rejected_replies: Annotated[Number, within(1e-3, 1.0)] = 0.1
    """Part of a device's requests of a second after which bytes came that were no good reply, where five are more."""
    following_error: Annotated[Length, within(1e-6, 0.1, "m")] = 2e-3
    """Largest distance of a leg's length from its reference, m."""
    position_jump: Annotated[Length, within(1e-6, 0.1, "m")] = 2e-3
    """Change of a leg's length beyond what its speed explains, in one cycle or creeping, m."""
    force_residual: Annotated[Force, within(1e-3, 1e5, "N")] = 30.0
    """Largest difference between a load cell and the model, N."""
    condition: Annotated[Number, within(1.0, 1e4)] = 100.0
    """Largest condition number of the leg matrix H."""
    characteristic_length: Annotated[Length, within(1e-3, 10.0, "m")] = 0.2
    """Length by which the moment rows of H are divided, which makes them comparable with its force rows, m."""
    overruns_in_a_row: Annotated[Count, Field(ge=1, le=200)] = 3
    """Consecutive overrun cycles that are borne."""
    heartbeat: Annotated[Time, within(0.1, 10.0, "s")] = 0.5
    """Silence of the commanding client that is borne, s."""
    hold_renewal: Annotated[Time, within(0.05, 2.0, "s")] = 0.25
    """Silence that is borne of the client that holds a motion which runs only as long as it is held, s."""
    unattended_hold: Annotated[Time, within(0.1, 3600.0, "s")] = 30.0
    """How long after the last sign of life of the client that commands the platform is held, if no other takes its
    place, before it is brought to rest without torque; the engine of an owner that is gone ends then, s."""
    homing_timeout: Annotated[Time, within(0.1, 600.0, "s")] = 30.0
    """Longest time for homing, s."""
    homing_tolerance: Annotated[Length, within(1e-7, 0.01, "m")] = 1e-4
    """Agreement of the six homed lengths with the forward kinematics, m."""
    stop_time: Annotated[Time, within(0.02, 10.0, "s")] = 1.0
    """A controlled stop that takes longer is escalated, s."""
    frozen_cycles: Annotated[Count, Field(ge=2, le=200)] = 4
    """Cycles in a row after which a moving leg's encoder or load cell that repeats itself bit for bit is frozen."""
    tare_shift: Annotated[Force, within(1e-3, 1e5, "N")] = 5.0
    """Change of a load cell's zero beyond which engaging is refused, N."""
    brake_slip: Annotated[Length, within(1e-4, 0.05, "m")] = 2e-3
    """Movement of a leg without torque, from where it came to rest, beyond which the brakes do not hold, m."""
    overspeed: Annotated[Number, within(1.05, 3.0)] = 1.25
    """Measured speed of a leg under torque, in multiples of its `velocity` limit; without that limit not checked."""
    homing_force: Annotated[Number, within(0.1, 3.0)] = 1.25
    """Load cell while the drives close the loop, homing or in mode `position`, in multiples of the leg's `force` limit;
    without that limit not checked."""
    temperature: Annotated[Number, within(1.0, 150.0, "°C")] = 80.0
    """What a drive may say of its temperature, °C, where its profile has an auxiliary register of that name."""
    supply_min: Annotated[Number, within(1.0, 1000.0, "V")] = 36.0
    """Least supply voltage of a drive, V, where its profile has an auxiliary register `supply`."""
    supply_max: Annotated[Number, within(1.0, 1000.0, "V")] = 60.0
    """Greatest supply voltage of a drive, V, likewise."""
    off: tuple[CheckName, ...] = ()
    """Checks that are switched off, by the names of their bounds; every start, the app and the report say so."""

    @model_validator(mode="after")
    def _one_staleness(self) -> "Safety":
        if self.stale_time is not None and self.stale_cycles != Safety.model_fields["stale_cycles"].default:
            raise ValueError("stale_time and stale_cycles are one bound, in seconds and in cycles: give one of them")
        return self

    @model_validator(mode="after")
    def _supply_has_room(self) -> "Safety":
        if self.supply_min >= self.supply_max:
            raise ValueError(f"supply_min, {self.supply_min:g} V, is not below supply_max, {self.supply_max:g} V")
        return self

    @field_validator("off", mode="before")
    @classmethod
    def _may_be_off(cls, names: object) -> object:
        if isinstance(names, (list, tuple)):
            for name in names:
                if isinstance(name, str) and name in _NEVER_OFF:
                    known = ", ".join(get_args(CheckName))
                    raise ValueError(f"{name} is never switched off: {_NEVER_OFF[name]}; those that may be: {known}")
                if names.count(name) > 1:
                    raise ValueError(f"{name!r} is there twice")
        return names

    def staleness(self, period: float) -> float:
        """Time without fresh feedback that is borne, s, in cycles of `period` s."""
        return self.stale_cycles * period if self.stale_time is None else self.stale_time

    def bound(self, name: str) -> float:
        """The bound of the check `name`, in its field's unit; infinite where the check is switched off."""
        value: float = getattr(self, name)
        return math.inf if name in self.off else value

    @property
    def said_off(self) -> str:
        """Which checks are switched off, in words; empty when all are on."""
        return f"switched off by safety.off, not checked: {', '.join(self.off)}" if self.off else ""


class Motion(Section):
    """Greatest speeds of the rig's own moves, to a motion's start and home to park; the legs' limits hold as well."""

    approach_speed: Annotated[Speed, within(1e-4, 10.0, "m/s")] = 0.05
    """Peak speed of the platform's origin, m/s."""
    approach_rotation: Annotated[AngularSpeed, within(1e-4, 30.0, "rad/s")] = 0.2
    """Peak rate of each of the three angles, rad/s."""


class RecordingOptions(Section):
    """Where recordings go, and what they say of who makes them and what for."""

    directory: Text = "recordings"
    """Folder, relative to where the command runs."""
    operator: Line = ""
    """Who operates the rig."""
    note: Line = ""
    """A note on what is recorded."""


class Realtime(Section):
    """What is asked of the operating system; used where permitted, reported where not."""

    cpu: Annotated[Count, Field(ge=0, le=4095)] | None = None
    """Processor to which the engine is pinned."""
    priority: Annotated[Count, Field(ge=1, le=99)] | None = 60
    """SCHED_FIFO priority of the engine's cycle and of a virtual rig."""
