"""Motions from templates: a few numbers each, in a size that a rig bears."""

import math
from abc import abstractmethod
from collections.abc import Container
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kinematics import (
    SYNTHETIC,
    Angle,
    Factor,
    Frequency,
    Length,
    RecordAxis,
    RecordUnit,
    Speed,
    Time,
    TrajectorySpec,
    build_trajectory,
)
from rig.client.motions import checked_motion
from rig.config import RigConfig, config_faults
from rig.engine import motion_verdict
from rig.errors import InputError, RefusedError
from rig.findings import Code, Finding

Axis: TypeAlias = Literal["x", "y", "z", "rx", "ry", "rz"]
_Axes = Annotated[tuple[Axis, ...], Field(min_length=1, max_length=6, title="Axes")]
_Size = Annotated[Length, Field(ge=0.0, title="Amplitude of x y z")]
_AngularSize = Annotated[Angle, Field(ge=0.0, title="Amplitude of θx θy θz")]
_Hertz = Annotated[Frequency, Field(gt=0.0)]
_Seconds = Annotated[Time, Field(gt=0.0, le=3600.0)]
_Times = Annotated[int, Field(ge=1, le=10_000)]

_FADE = 0.1  # of the duration, at each end
_MOST_LINES, _MOST_TERMS = 40, 100  # of a multisine on one axis, and of a part on all its axes


class Template(BaseModel):
    """What every template is: numbers in SI, or text with a unit, and the motion that they make.

    title: for a person. sizes: names of those that say how large the motion is; 0 is for `fitted` to choose. whole:
    whether a size of one is what is wished for, so that no room is left to make it larger.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)
    title: ClassVar[str]
    sizes: ClassVar[tuple[str, ...]] = ()
    whole: ClassVar[bool] = False

    @abstractmethod
    def motion(self) -> dict[str, Any]:
        """The motion as its file states it, at rest at both ends. Raises InputError for numbers that make none."""

    def matters(self, name: str) -> bool:
        """Whether a number matters beside the others: the size of an angle only where there is an angle."""
        axes: tuple[Axis, ...] | None = getattr(self, "axes", None)
        if axes is None or name not in ("amplitude", "angle"):
            return True
        return any(_is_angle(axis) == (name == "angle") for axis in axes)


def _is_angle(axis: str) -> bool:
    return axis.startswith("r")


def _about_home(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"frame": "home", "parts": list(parts)}


def _faded(terms: list[dict[str, Any]], duration: float) -> dict[str, Any]:
    return _about_home({"type": "harmonic", "terms": terms, "duration": duration, "fade": _FADE * duration})


class _OnAxes(Template):
    sizes = ("amplitude", "angle")
    axes: _Axes = ("z",)
    amplitude: _Size = 0.0
    angle: _AngularSize = 0.0

    def _size(self, axis: str) -> float:
        return self.angle if _is_angle(axis) else self.amplitude


class Sine(_OnAxes):
    """A sine on one or several axes, about home (faded in and out over one more cycle each)."""

    title = "Sine"
    frequency: Annotated[_Hertz, Field(title="Frequency")] = 0.5
    cycles: Annotated[_Times, Field(title="Cycles")] = 5

    def motion(self) -> dict[str, Any]:
        """See `Template`."""
        terms = [{"dof": axis, "amplitude": self._size(axis), "frequency": self.frequency} for axis in self.axes]
        duration, fade = (self.cycles + 2) / self.frequency, 1.0 / self.frequency
        return _about_home({"type": "harmonic", "terms": terms, "duration": duration, "fade": fade})


class Sweep(_OnAxes):
    """A sine whose frequency runs from one to another, on one or several axes (faded in and out)."""

    title = "Frequency sweep"
    start: Annotated[_Hertz, Field(title="From")] = 0.2
    end: Annotated[_Hertz, Field(title="To")] = 5.0
    duration: Annotated[_Seconds, Field(title="Duration")] = 20.0

    def motion(self) -> dict[str, Any]:
        """See `Template`."""
        terms = [
            {"dof": axis, "amplitude": self._size(axis), "start_frequency": self.start, "end_frequency": self.end}
            for axis in self.axes
        ]
        fade = _FADE * self.duration
        return _about_home({"type": "chirp", "terms": terms, "duration": self.duration, "fade": fade})


class Circle(Template):
    """A circle about home (a spiral leads out to it and back, one more turn each)."""

    title = "Circle"
    sizes = ("radius",)
    plane: Annotated[Literal["xy", "xz", "yz"], Field(title="Plane")] = "xy"
    radius: Annotated[Length, Field(ge=0.0, title="Radius")] = 0.0
    period: Annotated[_Seconds, Field(title="Time of a turn")] = 4.0
    cycles: Annotated[_Times, Field(title="Turns")] = 3

    def motion(self) -> dict[str, Any]:
        """See `Template`."""
        terms = [
            {"dof": axis, "amplitude": self.radius, "frequency": 1.0 / self.period, "phase": phase}
            for axis, phase in zip(self.plane, (0.5 * math.pi, 0.0), strict=True)
        ]
        duration = (self.cycles + 2) * self.period
        return _about_home({"type": "harmonic", "terms": terms, "duration": duration, "fade": self.period})


class Step(Template):
    """A smooth step from home to a pose, which is held, and back (minimum jerk both ways)."""

    title = "Step and back"
    sizes = ("pose",)
    pose: Annotated[tuple[Length, Length, Length, Angle, Angle, Angle], Field(title="Pose")] = (0.0,) * 6
    duration: Annotated[_Seconds, Field(title="Time of a step")] = 1.0
    hold: Annotated[_Seconds, Field(title="Hold")] = 2.0

    def motion(self) -> dict[str, Any]:
        """See `Template`."""
        home, pose = [0.0] * 6, list(self.pose)
        there = {"type": "minimum-jerk", "start": home, "end": pose, "duration": self.duration}
        back = {"type": "minimum-jerk", "start": pose, "end": home, "duration": self.duration}
        return _about_home(there, {"type": "hold", "position": pose, "duration": self.hold}, back)


class Random(_OnAxes):
    """Random motion in a band of frequencies (faded in and out); the same seed makes the same motion."""

    title = "Random motion"
    amplitude: Annotated[Length, Field(ge=0.0, title="RMS of x y z")] = 0.0
    angle: Annotated[Angle, Field(ge=0.0, title="RMS of θx θy θz")] = 0.0
    start: Annotated[_Hertz, Field(title="From")] = 0.2
    end: Annotated[_Hertz, Field(title="To")] = 2.0
    duration: Annotated[_Seconds, Field(title="Duration")] = 20.0
    seed: Annotated[int, Field(ge=0, le=2**31 - 1, title="Seed")] = 1

    def motion(self) -> dict[str, Any]:
        """See `Template`."""
        terms = [
            {"dof": axis, "rms": self._size(axis), "low_frequency": self.start, "high_frequency": self.end}
            for axis in self.axes
        ]
        fade = _FADE * self.duration
        return _about_home(
            {"type": "random", "terms": terms, "duration": self.duration, "fade": fade, "seed": self.seed}
        )


class Multisine(_OnAxes):
    """Many frequencies at once, repeated (faded in and out over one more period each), for a frequency response."""

    title = "Multisine"
    start: Annotated[_Hertz, Field(title="From")] = 0.5
    end: Annotated[_Hertz, Field(title="To")] = 5.0
    period: Annotated[_Seconds, Field(title="Period")] = 4.0
    cycles: Annotated[int, Field(ge=2, le=10_000, title="Periods")] = 4
    seed: Annotated[int, Field(ge=0, le=2**31 - 1, title="Seed of the phases")] = 0

    def motion(self) -> dict[str, Any]:
        """See `Template`."""
        from rig.analysis import multisine  # what every process loads must not bring it along

        numbers, lines = (self.start, self.end), min(_MOST_LINES, _MOST_TERMS // len(self.axes))
        made = [
            multisine(axis, *numbers, self._size(axis), self.period, self.cycles, self.seed + place, most_lines=lines)
            for place, axis in enumerate(self.axes)
        ]
        terms = [term for one in made for term in one["parts"][0]["terms"]]
        return _about_home(made[0]["parts"][0] | {"terms": terms})


class Sea(Template):
    """A raft on long-crested waves of a sea (faded in and out); for a model of scale 1:λ, height/λ and period/√λ."""

    title = "Sea waves"
    sizes = ("height",)
    axes: Annotated[tuple[Literal["x", "y", "z", "rx", "ry"], ...], Field(min_length=1, max_length=5, title="Axes")] = (
        "z",
        "rx",
        "ry",
    )
    spectrum: Annotated[Literal["JONSWAP", "Pierson-Moskowitz"], Field(title="Spectrum")] = "JONSWAP"
    height: Annotated[Length, Field(ge=0.0, title="Significant wave height")] = 0.0
    period: Annotated[_Seconds, Field(title="Period of the peak")] = 3.0
    heading: Annotated[Angle, Field(ge=-math.pi, le=math.pi, title="Direction of the waves, from x towards y")] = (
        math.radians(30.0)
    )
    duration: Annotated[_Seconds, Field(title="Duration")] = 60.0
    seed: Annotated[int, Field(ge=0, le=2**31 - 1, title="Seed")] = 1

    def motion(self) -> dict[str, Any]:
        """See `Template`."""
        from rig.analysis import sea_terms  # as in `Multisine`

        numbers = self.height, self.period, self.heading, self.spectrum, self.seed
        return _faded(sea_terms(self.axes, *numbers, _MOST_TERMS), self.duration)


class Road(Template):
    """A stiff vehicle on a random road of a class of ISO 8608, or of a size that passes (faded in and out)."""

    title = "Road"
    sizes = ("height",)
    axes: Annotated[tuple[Literal["z", "rx", "ry"], ...], Field(min_length=1, max_length=3, title="Axes")] = (
        "z", "rx", "ry",
    )  # fmt: skip
    road: Annotated[Literal["sized", "A", "B", "C", "D", "E", "F", "G", "H"], Field(title="Class")] = "sized"
    height: Annotated[Length, Field(ge=0.0, title="RMS of the profile in the band")] = 0.0
    speed: Annotated[Speed, Field(gt=0.0, le=100.0, title="Speed")] = 15.0
    wheelbase: Annotated[Length, Field(gt=0.0, le=100.0, title="Wheelbase")] = 2.7
    track: Annotated[Length, Field(gt=0.0, le=100.0, title="Track")] = 1.5
    start: Annotated[_Hertz, Field(title="From")] = 0.5
    end: Annotated[_Hertz, Field(title="To")] = 8.0
    duration: Annotated[_Seconds, Field(title="Duration")] = 20.0
    seed: Annotated[int, Field(ge=0, le=2**31 - 1, title="Seed")] = 1

    def matters(self, name: str) -> bool:
        """See `Template`: a class has its height."""
        return name != "height" or self.road == "sized"

    def motion(self) -> dict[str, Any]:
        """See `Template`."""
        from rig.analysis import ROAD_CLASSES, road_height, road_terms  # as in `Multisine`

        band = self.start, self.end
        if self.road == "sized":
            density = (self.height / road_height(1.0, self.speed, band)) ** 2 if self.start < self.end else 0.0
        else:
            density = ROAD_CLASSES[self.road]
        numbers = density, self.speed, self.wheelbase, self.track, band, self.seed
        return _faded(road_terms(self.axes, *numbers, _MOST_TERMS), self.duration)


class Seismic(Template):
    """Recorded accelerations, integrated without a drift: CSV of t, ax, ay, az, PEER AT2, or a synthetic record."""

    title = "Seismic record"
    sizes = ("scale",)
    whole = True
    file: Annotated[str, Field(min_length=1, title="File", examples=["CSV: t,ax,ay,az; AT2"])] = SYNTHETIC
    file_y: Annotated[str, Field(title="File of y", examples=["AT2"])] = ""
    file_z: Annotated[str, Field(title="File of z", examples=["AT2"])] = ""
    axis: Annotated[RecordAxis, Field(title="Axis of a file of one")] = "x"
    unit: Annotated[RecordUnit, Field(title="Unit")] = "file"
    step: Annotated[_Seconds | None, Field(title="Step of a column")] = None
    seed: Annotated[int, Field(ge=0, le=2**31 - 1, title="Seed of the synthetic record")] = 1
    high_pass: Annotated[_Hertz, Field(title="High-pass")] = 0.5
    low_pass: Annotated[_Hertz | None, Field(title="Low-pass")] = None
    fade: Annotated[_Seconds, Field(title="Fade")] = 1.0
    scale: Annotated[Factor, Field(ge=0.0, le=100.0, title="Factor of the accelerations")] = 0.0

    def matters(self, name: str) -> bool:
        """See `Template`: files of a column have no times, and the synthetic record no file."""
        synthetic = self.file == SYNTHETIC
        if name == "seed":
            return synthetic
        return not synthetic or name not in ("file_y", "file_z", "axis", "unit", "step")

    def part(self) -> dict[str, Any]:
        """Return the part of the motion's file."""
        return {"type": "accelerations", **self.model_dump(exclude_none=True)}

    def motion(self) -> dict[str, Any]:
        """See `Template`."""
        return _about_home(self.part())


class Csv(Template):
    """Poses over time from a CSV file with the columns t, x, y, z, qw, qx, qy, qz, in the base frame."""

    title = "Poses from a CSV file"
    file: Annotated[str, Field(min_length=1, title="File")]

    def motion(self) -> dict[str, Any]:
        """See `Template`."""
        return {"frame": "base", "parts": [{"type": "poses", "file": self.file, "rest_ends": True}]}


TEMPLATES: dict[str, type[Template]] = {
    "sine": Sine,
    "sweep": Sweep,
    "circle": Circle,
    "step": Step,
    "random": Random,
    "multisine": Multisine,
    "sea": Sea,
    "road": Road,
    "seismic": Seismic,
    "csv": Csv,
}
"""By the names that a person says."""


_PART = 0.5  # of the largest size that passes: room to make it larger
_MOST_OF = 0.98  # of it, where one is wished for
_TRIES = 4
_LEAST = 0.05  # of a size; where next to nothing passes it is made smaller by no more than this at once
_UNLIMITED = 0.05  # m, half of a stroke that nothing bounds
_ROUGH_RATE = 100.0  # Hz, of the first look; what it leads to is checked as every motion is
_ROUND = (5.0, 2.0, 1.0)

SomeTemplate = TypeVar("SomeTemplate", bound=Template)


def template_motion(template: Template) -> TrajectorySpec:
    """The motion of a template, validated. Raises InputError for numbers that make none."""
    try:
        return TrajectorySpec.model_validate(template.motion())
    except ValidationError as error:
        raise InputError("\n".join(fault.text for fault in config_faults(error))) from None


def fitted(
    config: RigConfig, template: SomeTemplate, given: Container[str] = (), folder: Path | None = None
) -> SomeTemplate:
    """A template with its sizes chosen, but for those `given`: some half of the largest that pass, in round numbers.

    Of a factor it is the largest, at most one.

    It begins with the size of the legs' stroke, and of the angle that it makes of the platform, of which the check of
    every motion tells the largest scale that passes. What does not matter is not chosen.
    Raises RefusedError where no size passes, InputError for numbers that make no motion.
    """
    free = [name for name in template.sizes if name not in given and template.matters(name)]
    if not free:
        return template
    home, factor = config.machine.geometry.home_pose, 1.0
    for look in range(_TRIES):
        trial = template.model_copy(update=_sizes(config, free, factor))
        motion = build_trajectory(template_motion(trial), home, folder)
        if look == 0:
            verdict = motion_verdict(config, motion, min(config.rate, _ROUGH_RATE))
        elif (verdict := checked_motion(config, motion)[1]).passed:
            return trial
        share = _PART if not template.whole else 1.0 if verdict.passed else _MOST_OF
        factor *= share * max(verdict.scale, _LEAST)
    raise RefusedError(Finding(Code.NO_SIZE_PASSES, within=() if verdict.finding is None else (verdict.finding,)))


def _sizes(config: RigConfig, names: list[str], factor: float) -> dict[str, object]:
    length, angle = _nominal(config)
    length, angle = _rounded(1e3 * factor * length) / 1e3, math.radians(_rounded(math.degrees(factor * angle)))
    values = {
        "amplitude": length,
        "angle": angle,
        "radius": length,
        "height": length,
        "pose": (0.0, 0.0, length, 0.0, 0.0, 0.0),
        "scale": _two_digits(factor),
    }
    return {name: values[name] for name in names}


def _nominal(config: RigConfig) -> tuple[float, float]:
    """Half the shortest stroke, m, and the angle, rad, that moves the outermost joint of the platform as far."""
    bounds = [limits.length for limits in config.machine.limits if limits is not None and limits.length is not None]
    reach = min((0.5 * (high - low) for low, high in bounds), default=_UNLIMITED)
    points = config.machine.geometry.platform_points
    radius = max(float(((points - points.mean(axis=0)) ** 2).sum(axis=1).max()) ** 0.5, 1e-3)
    return reach, min(reach / radius, 0.5)


def _two_digits(number: float) -> float:
    """The next number of two digits at or below one above 0."""
    power = 10.0 ** (math.ceil(math.log10(number)) - 2)
    return math.floor(number / power * (1.0 + 1e-12)) * power


def _rounded(number: float) -> float:
    """The next round number (1, 2, 5, 10 …) at or below one above 0."""
    power = 10.0 ** math.floor(math.log10(number))
    return power * next(each for each in _ROUND if each * power <= number * (1.0 + 1e-12))
