"""Trajectory files of an arm: parts in order, in the coordinates of its joints."""

import math
from collections.abc import Sequence as Values
from pathlib import Path
from textwrap import indent
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field, StrictInt, StrictStr, ValidationError

from kinematics.arrays import Array
from kinematics.errors import InputFileError, TrajectoryError
from kinematics.inputs import (
    ANGLE,
    LENGTH,
    Angle,
    Frequency,
    Quantity,
    Time,
    fault_reason,
    parse_toml,
    read_text,
    within,
)
from kinematics.trajectories.base import SHORTEST, Axes, Sequence, Trajectory, time_span
from kinematics.trajectories.files import (
    LONGEST_FILE,
    MOST_PARTS,
    Duration,
    FileModel,
    QuinticSpline,
    TransitionPart,
    built_parts,
    listed_faults,
)
from kinematics.trajectories.generators import (
    Chirp,
    ChirpTerm,
    Harmonic,
    HarmonicTerm,
    Hold,
    MinimumJerk,
    RandomMotion,
    RandomTerm,
    parabolic,
)

_MOST_WAYPOINTS = 10_000
_QUANTITIES: dict[str, Quantity] = {"rad": ANGLE, "m": LENGTH}
_Value = Annotated[float, Field(strict=True)] | StrictStr
"""A position: a number in rad or m, or text with a unit; its joint says which of the two."""
_Positions = Annotated[list[_Value], Field(min_length=1, max_length=1000)]
_Fade = Annotated[Time, Field(gt=0.0), within(-math.inf, LONGEST_FILE, "s")]
_Frequency = Annotated[Frequency, Field(ge=0.0)]


class JointBlend(Trajectory):
    """Straight line in joint space with parabolic blends of `blend` s: constant acceleration, speed, deceleration.

    All joints begin, blend and end together. Raises TrajectoryError for a blend longer than half the duration.
    """

    def __init__(self, start: ArrayLike, end: ArrayLike, duration: float, blend: float, axes: Axes) -> None:
        time_span("duration", duration)
        if not SHORTEST <= blend <= 0.5 * duration * (1.0 + 1e-9):
            raise TrajectoryError(
                f"blend: {blend:g} s, must be from {SHORTEST:g} s to half the duration, {0.5 * duration:g} s"
            )
        self._start = axes.values("start", start)
        self._way = axes.values("end", end) - self._start
        self._blend = min(float(blend), 0.5 * duration)
        super().__init__(duration, None, tuple(sorted({self._blend, duration - self._blend})), axes)

    def _evaluate(self, t: Array) -> tuple[Array, Array, Array]:
        speed = 1.0 / (self.duration - self._blend)
        along, rate, change = (
            np.outer(part, self._way) for part in parabolic(t, self.duration, 1.0, speed, self._blend)
        )
        return self._start + along, rate, change


class Waypoints(QuinticSpline):
    """Smooth motion through `positions` (m, n) at `times` (m,) s, at rest at both ends: a quintic spline.

    Raises TrajectoryError for fewer than two points, or times less than 1 µs apart.
    """

    def __init__(self, times: ArrayLike, positions: Values[ArrayLike], axes: Axes) -> None:
        t = np.asarray(times, dtype=np.float64)
        if t.ndim != 1 or len(t) < 2 or len(t) != len(positions):
            raise TrajectoryError(f"{t.size} times and {len(positions)} positions, must be as many, at least 2")
        points = np.array([axes.values(f"position {k}", row) for k, row in enumerate(positions, start=1)])
        super().__init__(t, points, rest_ends=True, axes=axes)


class MinimumJerkJointPart(FileModel):
    """Straight line in joint space of minimum jerk, at rest at both ends."""

    type: Literal["minimum-jerk"]
    """Kind of the part."""
    start: _Positions
    """Positions of all joints at the start, rad or m."""
    end: _Positions
    """Positions of all joints at the end, rad or m."""
    duration: Duration
    """Duration, s."""

    def build(self, axes: Axes) -> Trajectory:
        """The part as a trajectory of an arm's joints."""
        start, end = joint_positions(axes, "start", self.start), joint_positions(axes, "end", self.end)
        return MinimumJerk(start, end, self.duration, axes=axes)


class BlendJointPart(FileModel):
    """Straight line in joint space with parabolic blends: the acceleration jumps at their ends."""

    type: Literal["blend"]
    """Kind of the part."""
    start: _Positions
    """Positions of all joints at the start, rad or m."""
    end: _Positions
    """Positions of all joints at the end, rad or m."""
    duration: Duration
    """Duration, s."""
    blend: _Fade
    """Duration of each of the two blends, s; at most half the duration."""

    def build(self, axes: Axes) -> Trajectory:
        """The part as a trajectory of an arm's joints."""
        start, end = joint_positions(axes, "start", self.start), joint_positions(axes, "end", self.end)
        return JointBlend(start, end, self.duration, self.blend, axes)


class HoldJointPart(FileModel):
    """Standing still."""

    type: Literal["hold"]
    """Kind of the part."""
    position: _Positions | None = None
    """Positions of all joints, rad or m; left out: 0."""
    duration: Duration
    """Duration, s."""

    def build(self, axes: Axes) -> Trajectory:
        """The part as a trajectory of an arm's joints."""
        return Hold(joint_positions(axes, "position", self.position), self.duration, axes=axes)


class _Term(FileModel):
    joint: StrictInt | str
    """Number of the joint, from 1, or its name."""


class SineTerm(_Term):
    """One sine on a joint."""

    amplitude: _Value
    """Amplitude, rad or m."""
    phase: Angle = 0.0
    """Phase at the start, rad."""
    frequency: _Frequency
    """Frequency, Hz."""


class SweepTerm(_Term):
    """One frequency sweep on a joint."""

    amplitude: _Value
    """Amplitude, rad or m."""
    phase: Angle = 0.0
    """Phase at the start, rad."""
    start_frequency: _Frequency
    """Frequency at the start, Hz."""
    end_frequency: _Frequency
    """Frequency at the end, Hz."""


class NoiseTerm(_Term):
    """Band-limited noise on a joint."""

    rms: _Value
    """Root mean square, rad or m."""
    low_frequency: _Frequency
    """Lower end of the band, Hz."""
    high_frequency: _Frequency
    """Upper end of the band, Hz."""


class _FadedJointPart(FileModel):
    duration: Duration
    """Duration, s."""
    fade: _Fade
    """Duration of the fade-in and of the fade-out, s; at most half the duration."""
    offset: _Positions | None = None
    """Positions of all joints in the centre of the motion, rad or m; left out: 0."""


class HarmonicJointPart(_FadedJointPart):
    """Faded sines about an offset."""

    type: Literal["harmonic"]
    """Kind of the part."""
    terms: Annotated[list[SineTerm], Field(min_length=1, max_length=1000)]
    """Sines, added up."""

    def build(self, axes: Axes) -> Trajectory:
        """The part as a trajectory of an arm's joints."""
        terms = [
            HarmonicTerm(name, _size(axes, index, name, "amplitude", term.amplitude), term.frequency, term.phase)
            for index, (name, term) in enumerate(_named(axes, self.terms))
        ]
        offset = joint_positions(axes, "offset", self.offset)
        return Harmonic(terms, self.duration, self.fade, offset=offset, axes=axes)


class ChirpJointPart(_FadedJointPart):
    """Faded frequency sweeps about an offset."""

    type: Literal["chirp"]
    """Kind of the part."""
    terms: Annotated[list[SweepTerm], Field(min_length=1, max_length=1000)]
    """Frequency sweeps, added up."""

    def build(self, axes: Axes) -> Trajectory:
        """The part as a trajectory of an arm's joints."""
        terms = [
            ChirpTerm(
                name,
                _size(axes, index, name, "amplitude", term.amplitude),
                term.start_frequency,
                term.end_frequency,
                term.phase,
            )
            for index, (name, term) in enumerate(_named(axes, self.terms))
        ]
        offset = joint_positions(axes, "offset", self.offset)
        return Chirp(terms, self.duration, self.fade, offset=offset, axes=axes)


class RandomJointPart(_FadedJointPart):
    """Faded noise about an offset, the same for the same seed."""

    type: Literal["random"]
    """Kind of the part."""
    terms: Annotated[list[NoiseTerm], Field(min_length=1, max_length=64)]
    """Noise signals, added up."""
    seed: Annotated[int, Field(ge=0, le=2**31 - 1)] = 0
    """Seed of the noise: the same seed gives the same motion."""

    def build(self, axes: Axes) -> Trajectory:
        """The part as a trajectory of an arm's joints."""
        terms = [
            RandomTerm(name, _size(axes, index, name, "rms", term.rms), term.low_frequency, term.high_frequency)
            for index, (name, term) in enumerate(_named(axes, self.terms))
        ]
        offset = joint_positions(axes, "offset", self.offset)
        return RandomMotion(terms, self.duration, self.fade, self.seed, offset=offset, axes=axes)


class WaypointsJointPart(FileModel):
    """A smooth motion through points, at rest at both ends."""

    type: Literal["waypoints"]
    """Kind of the part."""
    times: Annotated[list[Time], Field(min_length=2, max_length=_MOST_WAYPOINTS)]
    """Times of the points, s, increasing; the first is the part's beginning."""
    positions: Annotated[list[_Positions], Field(min_length=2, max_length=_MOST_WAYPOINTS)]
    """Positions of all joints at these times, rad or m."""

    def build(self, axes: Axes) -> Trajectory:
        """The part as a trajectory of an arm's joints."""
        rows = [joint_positions(axes, f"position {k}", row) for k, row in enumerate(self.positions, start=1)]
        return Waypoints(self.times, rows, axes)


JointPart = Annotated[
    MinimumJerkJointPart
    | BlendJointPart
    | HoldJointPart
    | HarmonicJointPart
    | ChirpJointPart
    | RandomJointPart
    | WaypointsJointPart
    | TransitionPart,
    Field(discriminator="type"),
]


class JointTrajectorySpec(FileModel):
    """A trajectory file of an arm."""

    parts: Annotated[list[JointPart], Field(min_length=1, max_length=MOST_PARTS)]
    """The parts, run one after the other."""


def joint_positions(axes: Axes, name: str, value: Values[_Value] | None) -> Array:
    """Return positions of all joints in SI: numbers, or text with a unit; zeros for None.

    Raises TrajectoryError with `name`, the joint, the value and the expected unit.
    """
    if value is None:
        return np.zeros(len(axes))
    if len(value) != len(axes):
        raise TrajectoryError(f"{name}: {len(value)} values, must be {len(axes)}, one for each joint")
    found = [
        _position(f"{name}, {joint}", unit, each)
        for joint, unit, each in zip(axes.names, axes.units, value, strict=True)
    ]
    return np.array(found)


def _position(name: str, unit: str, value: _Value) -> float:
    try:
        return _QUANTITIES[unit].parse(value)
    except ValueError as error:
        raise TrajectoryError(f"{name}: {error}") from None


def _named(axes: Axes, terms: Values[Any]) -> list[tuple[str, Any]]:
    """Return terms with the names of their joints."""
    named = []
    for index, term in enumerate(terms, start=1):
        joint = term.joint
        if isinstance(joint, int):
            if not 1 <= joint <= len(axes):
                raise TrajectoryError(f"term {index}, joint: {joint}, must be 1 to {len(axes)}")
            joint = axes.names[joint - 1]
        if joint not in axes.names:
            raise TrajectoryError(f"term {index}, joint: {joint!r}, must be one of {', '.join(axes.names)}")
        named.append((joint, term))
    return named


def _size(axes: Axes, index: int, joint: str, key: str, value: _Value) -> float:
    return _position(f"term {index + 1}, {key}", axes.units[axes.names.index(joint)], value)


def parse_joint_trajectory(text: str, axes: Axes) -> Trajectory:
    """Make the trajectory of TOML `text` for the joints `axes`.

    Raises TrajectoryError listing all faults, each with its place.
    """
    try:
        spec = JointTrajectorySpec.model_validate(parse_toml(text))
    except InputFileError as error:
        raise TrajectoryError(str(error)) from None
    except ValidationError as error:
        faults = [f"{_place(each['loc'])}: {fault_reason(each)}" for each in error.errors(include_url=False)]
        raise TrajectoryError("\n".join(faults)) from None
    parts, faults = built_parts(spec.parts, lambda part: part.build(axes))
    if faults:
        raise TrajectoryError("\n".join(faults))
    return Sequence(parts)


def load_joint_trajectory(path: Path, axes: Axes) -> Trajectory:
    """Read a trajectory file for the joints `axes`. Raises TrajectoryError naming the file and listing its faults."""
    try:
        return parse_joint_trajectory(read_text(path), axes)
    except InputFileError as error:
        raise TrajectoryError(f"{path}: {error}") from None
    except TrajectoryError as error:
        raise TrajectoryError(f"{path}:\n{indent(listed_faults(str(error)), '  ')}") from None


def _place(location: tuple[int | str, ...]) -> str:
    """Format the place of a fault: parts, terms and values counted from 1."""
    words: list[str] = []
    after_part = False  # the part's type follows its index
    for item in location:
        if isinstance(item, int):
            parent = words.pop() if words and words[-1] in ("parts", "terms", "positions") else ""
            words.append(f"{parent.removesuffix('s') or 'value'} {item + 1}")
            after_part = parent == "parts"
        elif item in ("float", "str", "int", "constrained-int"):
            continue  # the members of a union
        elif not after_part:
            words.append(item)
        else:
            after_part = False
    return ", ".join(words) or "file"
