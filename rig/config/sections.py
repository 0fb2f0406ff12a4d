"""The sections of a rig's configuration file with names, units and bounds."""

from __future__ import annotations

import ipaddress
import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    SerializeAsAny,
    ValidationError,
    create_model,
    field_validator,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from actuators import (
    ActuatorError,
    DriveAddress,
    Driver,
    DriveSettings,
    find_cell_driver,
    find_driver,
    present_name,
)
from kinematics import (
    AngularSpeed,
    Damping,
    Force,
    Frequency,
    Length,
    Number,
    Speed,
    Stiffness,
    Thresholds,
    Time,
    read_number,
    within,
)
from rig.config.faulty_values import finding_of
from rig.config.task_gains import GainRange, GainValue
from rig.errors import ConfigError, ConfigFault
from rig.findings import Code, Finding
from rig.names import valid_line

if TYPE_CHECKING:
    from rig.config.rig_config import RigConfig


LEGS = 6
MOST_STALE_CYCLES = 100
"""Maximum of consecutive cycles without new feedback that a configuration may permit."""
MOST_DELAYED = 60
"""Maximum dead time of a drive, cycles."""

Count = Annotated[int, Field(strict=True)]
Line = Annotated[str, AfterValidator(valid_line)]
"""A line of text without control characters, possibly empty."""
Text = Annotated[Line, Field(min_length=1)]
"""A non-empty line of text without control characters."""


def _once_or_per_leg(value: object) -> object:
    return value if isinstance(value, (list, tuple)) else [value] * LEGS


OnceOrPerLeg = BeforeValidator(_once_or_per_leg)
"""One value for all legs, or one per leg."""
Bandwidth = Annotated[Frequency, within(1.0, 1e5, "Hz")]
Delay = Annotated[Time, within(0.0, 0.5, "s")]
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

_ALWAYS_ON = {
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
"""Bounds in [safety] that cannot be switched off, and why."""


class Section(BaseModel):
    """Base of all sections: immutable, no unknown keys, validated defaults."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True, defer_build=True)


def with_present_driver(data: object) -> object:
    """Return a section's data with the current name of its driver."""
    if isinstance(data, Mapping) and isinstance(name := data.get("driver"), str):
        return {**data, "driver": present_name(name)}
    return data


_Section = TypeVar("_Section", bound=Section)


def read_of_driver(
    data: object, model: type[_Section], usual: str, section_of: Callable[[str], type[_Section]]
) -> _Section:
    """Validate `data` as a section of the driver that it names. Raises ValidationError.

    Args:
        data: read from a file; a section is returned as it is.
        model: of the section, without what drivers add.
        usual: the driver of one that names none.
        section_of: gives the section's model with what a driver adds; may raise ActuatorError.
    """
    if isinstance(data, model):
        return data
    data = with_present_driver(data)
    name = data.get("driver", usual) if isinstance(data, Mapping) else usual
    try:
        section = section_of(name) if isinstance(name, str) else model
    except ActuatorError as error:
        raise refused(model.__name__, "driver", name, str(error)) from error
    return section.model_validate(data)


def is_local(host: str) -> bool:
    """Return whether only this machine reaches the address `host`."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def refused(section: str, field: str, value: object, text: str) -> ValidationError:
    """Return the validation error of a section's `field`, with a given text."""
    fault = PydanticCustomError("value_error", "{text}", {"text": text})
    return ValidationError.from_exception_data(section, [InitErrorDetails(type=fault, loc=(field,), input=value)])


class Control(Section):
    """Gains and timing of the control law."""

    stiffness: Gain = 20e3
    """K_p of mode `force`, N/m, per leg."""
    damping: Annotated[Damping, within(0.0, 1e6, "N s/m")] = 900.0
    """K_d of mode `force`, N s/m, per leg."""
    task_bandwidth: Annotated[Frequency, within(0.01, 1e3, "Hz")] | None = None
    """Natural frequency f of the error in mode `computed-torque`, Hz: K_p = (2πf)², K_v = 2ζ(2πf); not given, with no
    matrices: 10 Hz, or less where the loop's delay requires it for a gain margin of 2 with masses 20 % off."""
    task_damping_ratio: Annotated[Number, within(0.05, 10.0)] | None = None
    """Damping ratio ζ of that error; not given: 1."""
    task_stiffness: Annotated[GainValue, GainRange(1e6, "1/s^2")] | None = None
    """K_p of mode `computed-torque` instead, 1/s², with `task_damping`: a number, six (the diagonal), or six rows of
    six; symmetric and positive definite."""
    task_damping: Annotated[GainValue, GainRange(1e4, "1/s")] | None = None
    """K_v of mode `computed-torque` likewise, 1/s, with `task_stiffness`; symmetric and non-negative definite."""
    observer_bandwidth: Annotated[Frequency, within(0.01, 1e3, "Hz")] = 15.0
    """Bandwidth of the disturbance observer of mode `observer`, Hz."""
    lead: Annotated[Time, within(0.0, 0.5, "s")] | None = None
    """Time by which a command's reference is evaluated ahead of its cycle, s; not given: half the time for which a
    command applies, plus `drives.delay` and 1/(2π `drives.force_bandwidth`); for length commands `drives.delay`."""
    coulomb_speed: Smoothing = 1e-3
    """Leg speed below which the feedforward smooths Coulomb friction, m/s."""


class Safety(Section):
    """Bounds on feedback, reference and timing, in addition to the mechanism's own limits."""

    stale_cycles: Annotated[Count, Field(ge=1, le=MOST_STALE_CYCLES)] = 3
    """Maximum number of consecutive cycles without new feedback, unless `stale_time` is given."""
    stale_time: Annotated[Time, within(1e-4, 1.0, "s")] | None = None
    """Maximum time without new feedback, s; not given: `stale_cycles` of the rig's cycles."""
    echo_lag: Annotated[Count, Field(ge=0, le=10)] = 1
    """Maximum constant delay of a drive's replies, cycles, by the echoed command number."""
    rejected_replies: Annotated[Number, within(1e-3, 1.0)] = 0.1
    """Maximum share of bad replies to a device's requests in one second; five are always tolerated."""
    following_error: Annotated[Length, within(1e-6, 0.1, "m")] = 2e-3
    """Maximum deviation of a leg's length from its reference, m."""
    position_jump: Annotated[Length, within(1e-6, 0.1, "m")] = 2e-3
    """Maximum deviation of a leg's length from its integrated speed, in one cycle or accumulated, m."""
    force_residual: Annotated[Force, within(1e-3, 1e5, "N")] = 30.0
    """Maximum difference between a load cell and the model, N."""
    condition: Annotated[Number, within(1.0, 1e4)] = 100.0
    """Maximum condition number of the leg matrix H."""
    characteristic_length: Annotated[Length, within(1e-3, 10.0, "m")] = 0.2
    """Length that divides the moment rows of H, to make them comparable with its force rows, m."""
    overruns_in_a_row: Annotated[Count, Field(ge=1, le=200)] = 3
    """Maximum number of consecutive overrun cycles."""
    heartbeat: Annotated[Time, within(0.1, 10.0, "s")] = 0.5
    """Maximum silence of the commanding client, s."""
    hold_renewal: Annotated[Time, within(0.05, 2.0, "s")] = 0.25
    """Maximum silence of the client during a hold-to-run motion, s."""
    unattended_hold: Annotated[Time, within(0.1, 3600.0, "s")] = 30.0
    """Time from the last sign of life of the commanding client until the platform is brought to rest without torque,
    unless another client takes over, s; the engine ends then if its owner is gone."""
    homing_timeout: Annotated[Time, within(0.1, 600.0, "s")] = 30.0
    """Maximum time for homing, s."""
    homing_tolerance: Annotated[Length, within(1e-7, 0.01, "m")] = 1e-4
    """Maximum deviation of the six homed lengths from the forward kinematics, m. Left
    out: at least what the drives need, if their driver states it."""
    stop_time: Annotated[Time, within(0.02, 10.0, "s")] = 1.0
    """Maximum time of a controlled stop, s; a longer one is escalated."""
    frozen_cycles: Annotated[Count, Field(ge=2, le=200)] = 4
    """Consecutive identical readings of a moving leg's encoder or load cell that count as frozen."""
    tare_shift: Annotated[Force, within(1e-3, 1e5, "N")] = 5.0
    """Maximum shift of a load cell's zero, N; beyond it engaging is refused."""
    brake_slip: Annotated[Length, within(1e-4, 0.05, "m")] = 2e-3
    """Maximum movement of a leg without torque from its rest position, m; beyond it the brakes slip."""
    overspeed: Annotated[Number, within(1.05, 3.0)] = 1.25
    """Maximum measured speed of a leg under torque, in multiples of its `velocity` limit; not checked without it."""
    homing_force: Annotated[Number, within(0.1, 3.0)] = 1.25
    """Maximum load-cell force in homing or mode `position`, in multiples of the leg's `force` limit; not checked
    without it."""
    temperature: Annotated[Number, within(1.0, 150.0, "°C")] = 80.0
    """Maximum drive temperature, °C, if its profile has an auxiliary register `temperature`."""
    supply_min: Annotated[Number, within(1.0, 1000.0, "V")] = 36.0
    """Minimum supply voltage of a drive, V, if its profile has an auxiliary register `supply`. Left out with
    `supply_max`: the range of the drives, if their driver states one."""
    supply_max: Annotated[Number, within(1.0, 1000.0, "V")] = 60.0
    """Maximum supply voltage of a drive, V, likewise."""
    off: tuple[CheckName, ...] = ()
    """Checks that are switched off, by the names of their bounds; shown at every start, in the app and in the
    report."""

    @model_validator(mode="after")
    def _one_staleness(self) -> Safety:
        if self.stale_time is not None and self.stale_cycles != Safety.model_fields["stale_cycles"].default:
            raise ValueError("stale_time and stale_cycles are one bound, in seconds and in cycles: give one of them")
        return self

    @model_validator(mode="after")
    def _supply_has_room(self) -> Safety:
        if self.supply_min >= self.supply_max:
            raise ValueError(f"supply_min, {self.supply_min:g} V, is not below supply_max, {self.supply_max:g} V")
        return self

    @field_validator("off", mode="before")
    @classmethod
    def _can_be_disabled(cls, names: object) -> object:
        if isinstance(names, (list, tuple)):
            for name in names:
                if isinstance(name, str) and name in _ALWAYS_ON:
                    known = ", ".join(get_args(CheckName))
                    raise ValueError(f"{name} is never switched off: {_ALWAYS_ON[name]}; those that may be: {known}")
                if names.count(name) > 1:
                    raise ValueError(f"{name!r} is there twice")
        return names

    def staleness(self, period: float) -> float:
        """Return the permitted time without new feedback, s, for cycles of `period` s."""
        return self.stale_cycles * period if self.stale_time is None else self.stale_time

    def bound(self, name: str) -> float:
        """Return the bound of the check `name`, in its field's unit; infinite if it is switched off."""
        value: float = getattr(self, name)
        return math.inf if name in self.off else value

    @property
    def disabled_text(self) -> str:
        """Describe which checks are switched off; empty if all are on."""
        return f"switched off by safety.off, not checked: {', '.join(self.off)}" if self.off else ""


class ReceiverOptions(Section):
    """The receiver of streamed set-points: where it listens, and which senders it accepts."""

    transport: Literal["udp", "tcp"] = "udp"
    """"udp": a packet is a set-point; "tcp": lines of JSON or CSV."""
    host: Text = "127.0.0.1"
    """Address to listen on; one that other machines reach needs a key."""
    port: Annotated[Count, Field(ge=0, le=65535)] = 9872
    """Port to listen on; 0: a free one, which is shown."""
    key_file: Text | None = None
    """File with the key of the stream, 32 to 128 hexadecimal digits, readable by its owner alone; relative to the
    configuration's folder. The key is no part of the configuration, since every recording has a copy of that."""
    queue: Annotated[Count, Field(ge=1, le=4096)] = 256
    """Maximum of set-points that wait for the receiver; the oldest are dropped, and counted."""
    silence: Annotated[Time, within(0.02, 10.0, "s")] = 0.25
    """Silence of a sender after which another one, or the same one started anew, is followed, s."""
    feedback: bool = True
    """Whether the sender gets an answer in every cycle: pose, velocity, forces, external wrench, state, delay."""

    @model_validator(mode="after")
    def _key_beyond_this_machine(self) -> ReceiverOptions:
        if self.key_file is None and not self.is_local:
            raise ValueError(
                f"host {self.host!r} is reached from other machines: give a key_file, or listen on 127.0.0.1"
            )
        return self

    @property
    def is_local(self) -> bool:
        """Return whether only this machine reaches the address."""
        return is_local(self.host)


class Motion(Section):
    """Maximum speeds of the rig's own moves, to a motion's start and home to park; the legs' limits also apply."""

    approach_speed: Annotated[Speed, within(1e-4, 10.0, "m/s")] = 0.05
    """Peak speed of the platform's origin, m/s."""
    approach_rotation: Annotated[AngularSpeed, within(1e-4, 30.0, "rad/s")] = 0.2
    """Peak rate of each of the three angles, rad/s."""


class CueOptions(Section):
    """The washout that turns a vehicle's streamed motion into poses, see docs/cueing.md."""

    tuning: Text
    """Tuning of the washout: a .toml file, relative to the configuration's folder, or the name of a shipped one."""
    rate: Annotated[Frequency, within(50.0, 1000.0, "Hz")] = 200.0
    """Steps of the washout per second, Hz."""
    hold: Annotated[Time, within(0.0, 2.0, "s")] = 0.1
    """Time for which the vehicle's last sample is held where the next ones are missing, s."""
    decay: Annotated[Time, within(0.02, 5.0, "s")] = 0.3
    """Time constant with which it falls off to a vehicle at rest on level ground after that, s."""
    rest_after: Annotated[Time, within(0.2, 5.0, "s")] = 2.0
    """Silence of the vehicle after which the washout brings the platform to rest, s; then `watchdog` and `stop_after`
    of the stream begin."""


class Stream(Section):
    """How poses that are streamed in become the platform's motion, see docs/streaming.md."""

    frame: Literal["base", "home", "platform"] = "base"
    """Frame of the poses, velocities and accelerations: "base", absolute in the base frame; "home", about the home pose
    in base axes; "platform", about the home pose in the platform's axes there."""
    delay: Annotated[Time, within(0.0, 0.5, "s")] = 0.05
    """Time from the instant at which a pose is meant to that at which the platform is there, s; it covers the cycle's
    look-ahead, two periods of the sender, its jitter and the transmission."""
    resampling: Literal["interpolate", "predict"] = "interpolate"
    """Motion between samples: "interpolate", through each of them; "predict", also beyond the newest one, by its
    velocity and acceleration."""
    predict: Annotated[Time, within(1e-3, 0.2, "s")] = 0.05
    """Maximum time beyond the newest sample with `resampling = "predict"`, s."""
    mode: Literal["refuse", "limit"] = "refuse"
    """What is asked beyond the limits: "refuse", the platform comes to rest; "limit", it follows within them."""
    watchdog: Annotated[Time, within(0.01, 5.0, "s")] = 0.1
    """Silence of the sender after which its stream is lost, s; no motion is interpolated across a longer gap."""
    fade_in: Annotated[Time, within(0.05, 30.0, "s")] = 1.0
    """Time in which the platform passes from rest to the stream, s; longer over a long distance."""
    fade_out: Annotated[Time, within(0.02, 5.0, "s")] = 0.3
    """Time in which it comes to rest when the stream ends or is lost, s, where that keeps to the limits."""
    stop_after: Annotated[Time, within(0.1, 3600.0, "s")] = 2.0
    """Time from the loss of a stream to a stop of category 2, s; until then it may come back."""
    receiver: ReceiverOptions = ReceiverOptions()
    """How the samples of another program come in."""
    cue: CueOptions | None = None
    """The washout of a stream that is a vehicle's motion; left out: the stream is the platform's own."""

    @model_validator(mode="after")
    def _frame_of_the_washout(self) -> Stream:
        if self.cue is not None and self.frame != "base":
            raise ValueError(f"frame {self.frame!r}: a washout gives poses in the base frame, leave it out with cue")
        return self


class RecordingOptions(Section):
    """Folder of recordings, and their operator and note."""

    directory: Text = "recordings"
    """Folder, relative to where the command runs."""
    operator: Line = ""
    """Operator of the rig."""
    note: Line = ""
    """Note on the recording."""


class Realtime(Section):
    """Real-time settings requested from the operating system; used if permitted, otherwise reported."""

    cpu: Annotated[Count, Field(ge=0, le=4095)] | None = None
    """Processor to which the engine is pinned."""
    priority: Annotated[Count, Field(ge=1, le=99)] | None = 60
    """SCHED_FIFO priority of the engine's cycle and of a virtual rig."""


def with_found_files(config: RigConfig, folder: Path) -> RigConfig:
    """Return the configuration with absolute paths for the files of drives and load cells, which are in `folder`."""
    drives = config.drives
    legs = tuple(
        leg if leg.settings is None else leg.model_copy(update={"settings": _found(leg.settings, folder)})
        for leg in drives.legs
    )
    files = {
        name: str(resolve_name(folder, getattr(drives, name))) for name in find_driver(drives.driver).settings.files
    }
    changes: dict[str, Section] = {"drives": drives.model_copy(update=files | {"legs": legs})}
    cells = config.load_cells
    if cells.places:
        named = find_cell_driver(cells.driver).files
        placed = [
            place.model_copy(update={name: str(resolve_name(folder, getattr(place, name))) for name in named})
            for place in cells.places.values()
        ]
        own = {"amplifier": placed[0]} if cells.devices is None else {"devices": tuple(placed)}
        changes["load_cells"] = cells.model_copy(update=own)
    return config.model_copy(update=changes)


def _found(settings: DriveSettings, folder: Path) -> DriveSettings:
    """Return a leg's settings with absolute file paths."""
    return settings.model_copy(
        update={name: str(resolve_name(folder, getattr(settings, name))) for name in settings.files}
    )


def names_file(name: str) -> bool:
    """Return whether the `name` of a mechanism or profile is a file; a bare name is a shipped one."""
    return name.endswith(".toml") or Path(name).name != name


def resolve_name(folder: Path, name: str) -> str | Path:
    """Return the file `name` in `folder`; a bare name is unchanged."""
    return folder / name if names_file(name) else name


DRIVER = "servo"
"""Default driver of a configuration."""


class LegDrive(Section, DriveAddress):
    """Address of one leg's drive: the common keys; `leg_section` adds those of the driver."""

    driver: Text | None = None
    """Driver of this drive, if it differs from the section's."""
    settings: SerializeAsAny[DriveSettings] | None = None
    """Settings of this drive's own driver, instead of the section's; see the driver's settings below."""
    mode: Literal["position"] | None = None
    """This drive closes its own position loop, whatever the mode of the rig."""
    serial: Text | None = None
    """Expected serial number; not given: not compared."""
    position_offset: Annotated[Length, within(-10.0, 10.0, "m")] = 0.0
    """Leg length at drive position zero, in addition to the offset of its profile, m."""

    @property
    def given(self) -> dict[str, Any]:
        """Return the options passed to its driver."""
        return self.model_dump(exclude={"driver", "settings", "mode"})


class Drives(Section, DriveSettings):
    """The six drives, legs 1 to 6 in this order; `read_drives` adds the chosen driver's own settings."""

    driver: Text = DRIVER
    """Driver of the drives; a leg's table may name another one."""
    watchdog: Annotated[Time, within(1e-3, 10.0, "s")] = 0.05
    """Silence after which a drive stops by itself, s."""
    reply_deadline: Annotated[Number, within(0.05, 0.95)] = 0.6
    """Deadline of the replies, as a fraction of the period."""
    sample_period: Annotated[Time, within(0.0, 1.0, "s")] = 0.0
    """Time between two exchanges with a drive slower than the cycle, s; 0: one per cycle."""
    enable_time: Annotated[Time, within(0.01, 2.0, "s")] = 0.3
    """Maximum time from the enable command to torque, s, in addition to four exchanges; later is a fault, because the
    leg would start unexpectedly."""
    connect_timeout: Annotated[Time, within(0.01, 60.0, "s")] = 2.0
    """Timeout of connecting to a drive, and of each acyclic access, s."""
    force_bandwidth: Bandwidth = 300.0
    """-3 dB frequency of the force loop, assumed first order, Hz."""
    delay: Delay = 1e-4
    """Dead time between a command's arrival and its force, s."""
    position_stiffness: Annotated[Stiffness, within(0.0, 1e9, "N/m")] | None = None
    """Stiffness of the drive's own position loop, N/m; with `position_damping` it determines the drive's force between
    two commands if the drive applies the model's feedforward. Not given: unknown."""
    position_damping: Annotated[Damping, within(0.0, 1e7, "N s/m")] | None = None
    """Damping of the drive's own position loop, N s/m."""
    position_integral_time: Annotated[Time, within(1e-3, 1e3, "s")] | None = None
    """Integral time (reset time) of the drive's own position loop, s: after it the integral of a constant error is as
    large as the force by `position_stiffness`. Not given: no integral; in a virtual rig that of its drives."""
    legs: tuple[LegDrive, LegDrive, LegDrive, LegDrive, LegDrive, LegDrive]
    """One table per leg, legs 1 to 6 in this order."""

    @property
    def settings(self) -> dict[str, Any]:
        """Return the driver's own settings by name."""
        return {name: getattr(self, name) for name in find_driver(self.driver).settings.model_fields}

    def driver_of(self, leg: int) -> str:
        """Return the driver of a leg's (index) drive."""
        return self.legs[leg].driver or self.driver

    def settings_of(self, leg: int) -> dict[str, Any]:
        """Return the settings of a leg's (index) driver by name."""
        own = self.legs[leg].settings
        return self.settings if own is None else {name: getattr(own, name) for name in type(own).model_fields}

    def described(self, leg: int) -> str:
        """Describe the driver of a leg (index) and its non-default settings."""
        name = self.driver_of(leg)
        usual = find_driver(name).settings.model_fields
        own = [f"{key} {value}" for key, value in self.settings_of(leg).items() if value != usual[key].default]
        return ", ".join([f"driver {name}", *own])

    @property
    def unidentified(self) -> str:
        """Describe which legs' drives are not identified, and the consequence; empty if none."""
        legs = [str(leg) for leg, drive in enumerate(self.legs, start=1) if drive.serial is None]
        if not legs:
            return ""
        which = "no drive has" if len(legs) == LEGS else f"the drive of leg {', '.join(legs)} has not"
        return (
            f"{which} a serial number in drives.legs: exchanged cables are not noticed on connecting, and "
            "after homing only where the forces at rest tell"
        )

    @model_validator(mode="after")
    def _whole_loop(self) -> Drives:
        if (self.position_stiffness is None) != (self.position_damping is None):
            raise ValueError("position_stiffness and position_damping: give both or none, the two are one loop")
        if self.position_integral_time is not None and self.position_stiffness is None:
            raise ValueError("position_integral_time: give position_stiffness and position_damping too, it is one loop")
        return self

    @model_validator(mode="after")
    def _distinct(self) -> Drives:
        seen: dict[tuple[str, str], int] = {}
        for leg, drive in enumerate(self.legs, start=1):
            if drive.identity in seen:
                raise ValueError(f"legs {seen[drive.identity]} and {leg} share {drive.label}")
            seen[drive.identity] = leg
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by content: the class is generated per driver in each process."""
        return read_drives, (self.model_dump(),)


def leg_section(driver: str) -> type[LegDrive]:
    """Return the model of a leg's table with the address of `driver`. Raises ConfigurationError: no such driver."""
    return _sections(driver, find_driver(driver))[0]


def read_drives(data: object) -> Drives:
    """Validate `data` as this section, with the models of the drivers it names. Raises ValidationError."""
    return read_of_driver(data, Drives, DRIVER, lambda name: _sections(name, find_driver(name))[1])


def _read_leg(usual: str, data: object) -> LegDrive:
    """Validate `data` as a leg's table, with the model of the driver it names, or else of the `usual` one."""
    if isinstance(data, LegDrive):
        return data
    data = with_present_driver(data)
    name = data.get("driver") if isinstance(data, Mapping) else None
    if not isinstance(name, str) or name == usual:
        return leg_section(usual).model_validate(data)
    try:
        section = leg_section(name)
    except ActuatorError as error:
        raise refused("LegDrive", "driver", name, str(error)) from error
    given = dict(data) if isinstance(data, Mapping) else {}
    return section.model_validate(given | {"settings": given.get("settings") or {}})


@cache
def _sections(name: str, driver: Driver) -> tuple[type[LegDrive], type[Drives]]:
    """Return the models of a leg's table and of the section, for one driver."""
    make: Any = create_model
    own = (driver.settings | None, None)
    leg = make("LegDrive", __base__=(driver.address, LegDrive), __module__=__name__, settings=own)
    any_leg: Any = Annotated[SerializeAsAny[LegDrive], PlainValidator(partial(_read_leg, name))]
    legs = (tuple.__class_getitem__((any_leg,) * LEGS), ...)
    return leg, make("Drives", __base__=(Drives, driver.settings), __module__=__name__, legs=legs)


AnyDrives = Annotated[SerializeAsAny[Drives], PlainValidator(read_drives)]
"""`Drives` with the models of the drivers named in the section."""


RIG, MOTION, GIVEN = "rig", "motion", "given"
"""Source of a threshold: the configuration, the motion's own file, or neither."""
PROPOSED: Mapping[str, float] = {
    "residual_noise": 1.3,
    "band_noise": 2.0,
    "bias": 0.5,
    "lag": 1e-3,
    "mass_error": 0.02,
    "inertia_error": 0.1,
    "gravity_error": 0.02,
    "friction_error": 0.2,
    "center_error": 2e-3,
    "gain_error": 0.005,
}
"""Thresholds, SI: a correct model of a laboratory hexapod passes them in an informative motion, a wrong one fails.
The shipped configuration and the guide have the same."""
_Kind = TypeVar("_Kind", bound=Thresholds)


class Validation(Thresholds):
    """Thresholds of a run's verdict, all optional. Quantities without a threshold are not judged."""

    confidence: Annotated[Number, within(0.5, 0.9999)] = 0.95
    """Confidence required for a pass or a fail; otherwise the verdict is undecided."""

    @property
    def thresholds(self) -> dict[str, float]:
        """Return the given thresholds, SI, by name, without the confidence."""
        return {name: value for name, value in self.named.items() if name != "confidence"}

    def under(self, own: Thresholds) -> Validation:
        """Return the thresholds of a run: these, overridden by its motion's `own`."""
        return self.model_copy(update=own.named)


def own_thresholds(wanted: Validation, rig: Validation, before: Thresholds) -> Thresholds:
    """Return the thresholds a motion's file needs so that its runs are judged by `wanted` on a rig with `rig`.

    These are the differences from the rig's, and those that the motion's file named `before`.

    Raises:
        ConfigError: the rig's configuration requires a threshold that is not wanted.
    """
    values: dict[str, float] = {}
    faults = []
    for name in Validation.model_fields:
        value, general = getattr(wanted, name), getattr(rig, name)
        if value is None and general is not None:
            faults.append(ConfigFault((name,), Finding(Code.THRESHOLD_GENERAL, bound=general)))
        elif value is not None and (value != general or name in before.named):
            values[name] = value
    if faults:
        raise ConfigError(Finding(Code.THRESHOLDS_NOT_OF_MOTION), faults)
    return Thresholds.model_validate(values)


def parse_thresholds(texts: Mapping[str, str], kind: type[_Kind]) -> _Kind:
    """Parse thresholds entered by a user, numbers in SI or with their unit; empty ones are left out.

    Raises:
        ConfigError: unknown names, no numbers, or values out of bounds: all of them at once.
    """
    values: dict[str, float | str] = {}
    for name, text in texts.items():
        if text.strip():
            values[name] = text.strip()
            with suppress(ValueError):
                values[name] = read_number(text)
    return checked_thresholds(values, kind)


def checked_thresholds(values: Mapping[str, float | str], kind: type[_Kind]) -> _Kind:
    """Validate thresholds by name, numbers in SI or texts with a unit. Raises ConfigError as `parse_thresholds`."""
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        unknown = Finding(Code.THRESHOLD_UNKNOWN, details={"names": list(kind.model_fields)})
        faults = [
            ConfigFault(
                item["loc"] or ("thresholds",),
                unknown if item["type"] == "extra_forbidden" else finding_of(item),
            )
            for item in error.errors(include_url=False)
        ]
        raise ConfigError(Finding(Code.THRESHOLDS_UNUSABLE), faults) from None
