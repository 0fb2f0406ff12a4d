"""Base of all trajectories: coordinates over time about a pivot, thresholds of a run, and sequences."""

from abc import ABC, abstractmethod
from collections import abc
from dataclasses import dataclass, field
from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike
from pydantic import BaseModel, ConfigDict

from kinematics.arrays import Array, checked_poses, finite_array, single
from kinematics.errors import KinematicsError, TrajectoryError
from kinematics.inputs import Angle, Force, Length, Number, Time, in_words, within
from kinematics.rotations import coordinates_to_motion, quaternion_multiply, quaternion_to_matrix


class Thresholds(BaseModel):
    """Thresholds of a run's verdict, SI; each applies to the worst leg. None where it is not given."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True, defer_build=True)

    residual_rms: Annotated[Force, within(1e-6, 1e5, "N")] | None = None
    """Maximum RMS residual, N."""
    residual_noise: Annotated[Number, within(0.1, 1e4)] | None = None
    """Maximum RMS residual, in multiples of the rig's `load_cells.noise`."""
    bias: Annotated[Force, within(1e-6, 1e5, "N")] | None = None
    """Maximum absolute mean of the residual, N."""
    lag: Annotated[Time, within(1e-6, 0.1, "s")] | None = None
    """Maximum absolute lag between model and measurement, s."""
    r_squared: Annotated[Number, within(0.0, 1.0)] | None = None
    """Minimum share of the measured forces' variance explained by the model."""
    inside_band: Annotated[Number, within(0.0, 1.0)] | None = None
    """Minimum fraction of the samples inside the two-sigma uncertainty band."""
    band_noise: Annotated[Number, within(1.0, 1e4)] | None = None
    """Maximum residual in any frequency band, in multiples of the cells' noise in that band."""
    mass_error: Annotated[Number, within(1e-4, 10.0)] | None = None
    """Maximum relative error of the platform's mass, estimated from the residual."""
    inertia_error: Annotated[Number, within(1e-4, 10.0)] | None = None
    """The same for the inertia of platform and legs, and for the platform's alone about its centre of mass."""
    gravity_error: Annotated[Number, within(1e-4, 10.0)] | None = None
    """The same for gravity, relative, and for its direction, rad."""
    friction_error: Annotated[Number, within(1e-4, 10.0)] | None = None
    """The same for the friction measured by the cells, relative."""
    center_error: Annotated[Length, within(1e-6, 1.0, "m")] | None = None
    """The same for the platform's centre of mass, each axis, m."""
    gain_error: Annotated[Number, within(1e-4, 10.0)] | None = None
    """The same for each load cell's gain, relative."""
    position_rms: Annotated[Length, within(1e-9, 10.0, "m")] | None = None
    """Maximum RMS distance between measured and commanded position of the platform, m."""
    position_max: Annotated[Length, within(1e-9, 10.0, "m")] | None = None
    """Maximum of this distance, m."""
    rotation_rms: Annotated[Angle, within(1e-9, 4.0, "rad")] | None = None
    """Maximum RMS angle between measured and commanded orientation, rad."""
    rotation_max: Annotated[Angle, within(1e-9, 4.0, "rad")] | None = None
    """Maximum of this angle, rad."""
    peak_force: Annotated[Force, within(1e-3, 1e7, "N")] | None = None
    """Maximum absolute measured force, N."""
    peak_residual: Annotated[Force, within(1e-6, 1e7, "N")] | None = None
    """Maximum absolute residual, N."""
    period_error: Annotated[Time, within(1e-7, 1.0, "s")] | None = None
    """Maximum deviation of the cycle period, s, in 99 of 100 cycles."""
    overruns: Annotated[Number, within(0.0, 1.0)] | None = None
    """Maximum fraction of skipped cycles."""
    confidence: Annotated[Number, within(0.5, 0.9999)] | None = None
    """Confidence required for a pass or a fail on an estimated quantity; otherwise the verdict is undecided. Quantities
    counted over all rows (tracking, peaks, timing) are certain."""

    @property
    def named(self) -> dict[str, float]:
        """Return the given thresholds by name, including the confidence."""
        named: dict[str, float] = self.model_dump(exclude_none=True)
        return named

    @property
    def text(self) -> str:
        """Return the given thresholds as a JSON object, for a recording; empty if none."""
        return self.model_dump_json(exclude_none=True) if self.named else ""


NO_THRESHOLDS = Thresholds()
"""Thresholds of a motion whose file has none."""


TrajectoryFrame = Literal["base", "home"]
COORDINATES = ("x", "y", "z", "rx", "ry", "rz")
COORDINATE_UNITS = ("m", "m", "m", "rad", "rad", "rad")


@dataclass(frozen=True, slots=True)
class Axes:
    """Names and SI units (m or rad) of the coordinates of a trajectory: the platform's six, or an arm's joints."""

    names: tuple[str, ...]
    units: tuple[str, ...]

    def __len__(self) -> int:
        """Number n of coordinates."""
        return len(self.names)

    def values(self, name: str, value: ArrayLike) -> Array:
        """Return `value` as (n,) finite coordinates of at most 1e6; TrajectoryError with `name` otherwise."""
        try:
            array = single(name, finite_array(name, value, len(self), self.names))
        except KinematicsError as error:
            raise TrajectoryError(str(error)) from None
        for place, unit, number in zip(self.names, self.units, array, strict=True):
            bounded(f"{name}, {place}", float(number), unit)
        return array


PLATFORM = Axes(COORDINATES, COORDINATE_UNITS)
"""Coordinates of the platform."""

# Far beyond any platform, and small enough for every derivative to be a finite float.
LARGEST = 1e6  # m, rad, Hz
SHORTEST, LONGEST = 1e-6, 1e9  # s

_TIME_ROUNDING = 1e-9  # s; a sample time this far outside [0, duration] is a rounding error


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """Frame and pivot of a trajectory's coordinates.

    frame: "base": x, y, z are the position of the pivot in the base frame, and the angles rotate platform axes to base
    axes.  "home": all six are relative to the pose `home` (7,) of the platform in the base frame, in the platform axes
    at home; x, y, z displace the pivot from its position at home, so that zeros are the home pose.
    pivot (3,): the centre of rotation, in platform axes from the platform origin, m.
    TrajectoryError for the frame "home" without a home pose, or for non-finite values.
    """

    frame: TrajectoryFrame = "base"
    pivot: Array = field(default_factory=lambda: np.zeros(3))
    home: Array | None = None

    def __post_init__(self) -> None:
        if self.frame not in ("base", "home"):
            raise TrajectoryError(f'frame: {self.frame!r}, must be "base" or "home"')
        if self.frame == "home" and self.home is None:
            raise TrajectoryError('frame "home": the mechanism has no home pose; give the trajectory in frame "base"')
        try:
            object.__setattr__(self, "pivot", single("pivot", finite_array("pivot", self.pivot, 3, ("x", "y", "z"))))
            for place, number in zip("xyz", self.pivot, strict=True):
                bounded(f"pivot, {place}", float(number), "m")
            if self.home is not None:
                object.__setattr__(self, "home", single("home pose", checked_poses("home pose", self.home)))
        except TrajectoryError:
            raise
        except KinematicsError as error:
            raise TrajectoryError(str(error)) from None

    def to_motion(self, coordinates: Array, rates: Array, accelerations: Array) -> Array:
        """Motion (n,19) of the platform origin in the base frame, from coordinates and derivatives, each (n,6).

        With c the pivot in platform axes: p = x − R c, v = ẋ − ω×R c, a = ẍ − α×R c − ω×(ω×R c); in the frame "home"
        p = x + c − R c, then transformed by the home pose.
        """
        motion = coordinates_to_motion(coordinates, rates, accelerations)
        if self.pivot.any():
            arm = quaternion_to_matrix(motion[:, 3:7]) @ self.pivot
            omega, alpha = motion[:, 10:13], motion[:, 16:19]
            swing = np.cross(omega, arm)
            motion[:, 0:3] -= arm
            motion[:, 7:10] -= swing
            motion[:, 13:16] -= np.cross(alpha, arm) + np.cross(omega, swing)
        if self.frame == "home" and self.home is not None:
            turn = quaternion_to_matrix(self.home[3:])
            motion[:, 3:7] = quaternion_multiply(self.home[3:], motion[:, 3:7])
            for first in (0, 7, 10, 13, 16):
                motion[:, first : first + 3] = motion[:, first : first + 3] @ turn.T
            motion[:, 0:3] += self.home[:3] + turn @ self.pivot
        return motion


class Trajectory(ABC):
    """Coordinates as functions of time over [0, duration].

    axes: names and units; by default the platform's six, [x y z θx θy θz] (m, rad; R = Rz Ry Rx).
    duration: s.  placement: the pivot and frame of the coordinates.  breakpoints: times inside (0, duration), s, at
    which the acceleration jumps; position and speed are continuous.  amplitude: scale about the start pose for a
    run; a table (`tabulate`) includes it, the trajectory itself has scale 1.  thresholds: requirements on runs, as
    far as its file gives them.
    """

    amplitude = 1.0
    thresholds = NO_THRESHOLDS

    def __init__(
        self,
        duration: float,
        placement: Placement | None,
        breakpoints: tuple[float, ...] = (),
        axes: Axes = PLATFORM,
    ) -> None:
        self.axes = axes
        self.duration = time_span("duration", duration)
        self.placement = placement or Placement()
        self.breakpoints = breakpoints

    def coordinates(self, times: ArrayLike) -> tuple[Array, Array, Array]:
        """Compute coordinates, their rates and accelerations, each (n,6) or (n, axes), at `times` (n,) s.

        At a breakpoint the acceleration is one of its one-sided values or between them.  TrajectoryError for times
        that are not finite or outside [0, duration] by more than 1 ns.
        """
        t = np.atleast_1d(np.asarray(times, dtype=np.float64))
        if t.ndim != 1:
            raise TrajectoryError(f"times: shape {t.shape}, must be (n,)")
        bad = ~((t >= -_TIME_ROUNDING) & (t <= self.duration + _TIME_ROUNDING))
        if bad.any():
            raise TrajectoryError(f"time {t[bad][0]:g} s is outside the trajectory's 0 to {self.duration:g} s")
        return self._evaluate(np.clip(t, 0.0, self.duration))

    def motion(self, times: ArrayLike) -> Array:
        """Motion (n,19) of the platform origin in the base frame at `times` (n,) s.

        Errors as `coordinates`; TrajectoryError for coordinates of other axes than the platform's.
        """
        if self.axes != PLATFORM:
            raise TrajectoryError(f"coordinates {', '.join(self.axes.names)} are not those of a platform")
        return self.placement.to_motion(*self.coordinates(times))

    @abstractmethod
    def _evaluate(self, t: Array) -> tuple[Array, Array, Array]:
        """Evaluate `coordinates` for times (n,) already checked to be in [0, duration]."""


def time_span(name: str, value: float) -> float:
    """Return `value`, s, as a float; TrajectoryError unless it is from 1e-6 to 1e9."""
    if not SHORTEST <= value <= LONGEST:
        raise TrajectoryError(f"{name}: {value:g} s, must be finite, from {SHORTEST:g} to {LONGEST:g} s")
    return float(value)


def bounded(name: str, value: float, unit: str, *, least: float = -LARGEST) -> float:
    """Return `value` as a float; TrajectoryError unless it is finite, at least `least` and at most 1e6."""
    if not least <= value <= LARGEST:
        raise TrajectoryError(f"{name}: {value:g} {unit}, must be finite, from {least:g} to {LARGEST:g} {unit}")
    return float(value)


POSITION_TOLERANCE = 1e-9  # m, rad
SPEED_TOLERANCE = 1e-6  # m/s, rad/s
_ACCELERATION_STEP = 1e-6  # m/s², rad/s²; a smaller one is rounding


class Sequence(Trajectory):
    """`parts` in sequence; the placement of the sequence (pivot and frame) applies to all their coordinates.

    Consecutive parts must match in coordinates to 1e-9 m or rad and in speeds to 1e-6 m/s or rad/s; a jump of the
    acceleration becomes a breakpoint.  Raises TrajectoryError listing every mismatch (parts counted from 1).
    """

    def __init__(self, parts: abc.Sequence[Trajectory], *, placement: Placement | None = None) -> None:
        if not parts:
            raise TrajectoryError("parts: none given, must be at least one")
        self._parts = tuple(parts)
        self._starts = np.concatenate([[0.0], np.cumsum([part.duration for part in self._parts])])
        breakpoints, faults = list(self._parts[0].breakpoints), []
        for number in range(1, len(self._parts)):
            before, after = self._parts[number - 1], self._parts[number]
            faults += joint_faults(number, before, after)
            jump = after.coordinates(0.0)[2] - before.coordinates(before.duration)[2]
            start = float(self._starts[number])
            if np.abs(jump).max() > _ACCELERATION_STEP:
                breakpoints.append(start)
            breakpoints += [start + time for time in after.breakpoints]
        if faults:
            raise TrajectoryError(
                'parts do not join (one of type "transition" between them would lead from one to the other):\n'
                + "\n".join(f"  {fault}" for fault in faults)
            )
        super().__init__(float(self._starts[-1]), placement, tuple(breakpoints), self._parts[0].axes)

    def _evaluate(self, t: Array) -> tuple[Array, Array, Array]:
        indices = np.clip(np.searchsorted(self._starts, t, side="right") - 1, 0, len(self._parts) - 1)
        q, qd, qdd = np.empty((3, len(t), len(self.axes)))
        for index in np.unique(indices):
            part, rows = self._parts[index], indices == index
            local = np.clip(t[rows] - self._starts[index], 0.0, part.duration)
            q[rows], qd[rows], qdd[rows] = part.coordinates(local)
        return q, qd, qdd


def joint_faults(number: int, before: Trajectory, after: Trajectory) -> list[str]:
    """List mismatches between the end of part `number`, `before`, and the beginning of `after`."""
    left, right = before.coordinates(before.duration), after.coordinates(0.0)
    return [
        *_differences(before.axes, number, "", left[0][0], right[0][0], POSITION_TOLERANCE),
        *_differences(before.axes, number, "/s", left[1][0], right[1][0], SPEED_TOLERANCE),
    ]


def _differences(axes: Axes, number: int, per: str, left: Array, right: Array, allowed: float) -> list[str]:
    """List differences between the end of part `number`, `left` (n,), and the beginning of the next, `right` (n,)."""
    verb = "moves at" if per else "is"
    faults = []
    for name, unit, before, after in zip(axes.names, axes.units, left, right, strict=True):
        if abs(after - before) > allowed:
            end, start = (in_words(value if abs(value) > allowed else 0.0, unit + per) for value in (before, after))
            apart = "" if end != start else f" ({in_words(abs(after - before), unit + per)} apart)"
            faults.append(
                f"{name} {verb} {end} at the end of part {number}, but {start} where part {number + 1} begins{apart}"
            )
    return faults
