"""What every trajectory is: coordinates over time, and where on the platform and in which frame they apply."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from kinematics.arrays import Array, checked_poses, finite_array, single
from kinematics.errors import KinematicsError, TrajectoryError
from kinematics.rotations import coordinates_to_motion, quaternion_multiply, quaternion_to_matrix
from kinematics.trajectories.thresholds import NO_THRESHOLDS

TrajectoryFrame = Literal["base", "home"]
COORDINATES = ("x", "y", "z", "rx", "ry", "rz")
COORDINATE_UNITS = ("m", "m", "m", "rad", "rad", "rad")

# Far beyond any platform, and far enough inside the range of a float for every derivative to be finite.
LARGEST = 1e6  # m, rad, Hz
SHORTEST, LONGEST = 1e-6, 1e9  # s

_TIME_ROUNDING = 1e-9  # s; a sample time this far outside [0, duration] is a rounding error, not a mistake


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """Where a trajectory's coordinates apply.

    frame: "base": x, y, z are the place of the pivot in the base frame, and the angles turn platform axes into base
    axes.  "home": all six are relative to the pose `home` (7,) of the platform in the base frame, in the axes the
    platform has there; x, y, z move the pivot away from its place at home, so that zeros are the home pose.
    pivot (3,): the point the platform turns about, in platform axes from the platform origin, m.
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
        p = x + c − R c, then all of it moved by the home pose.
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
    """Six coordinates [x y z θx θy θz] (m, rad; R = Rz Ry Rx) as functions of time over [0, duration].

    duration: s.  placement: the pivot and frame of the coordinates.  breakpoints: times inside (0, duration), s, at
    which the acceleration jumps; position and speed never do.  amplitude: size about the start pose at which it is to
    be run; a table of it (`tabulate`) has it, the trajectory itself is that of 1.  thresholds: what runs of it have to
    achieve, as far as its file says so.
    """

    amplitude = 1.0
    thresholds = NO_THRESHOLDS

    def __init__(self, duration: float, placement: Placement | None, breakpoints: tuple[float, ...] = ()) -> None:
        self.duration = time_span("duration", duration)
        self.placement = placement or Placement()
        self.breakpoints = breakpoints

    def coordinates(self, times: ArrayLike) -> tuple[Array, Array, Array]:
        """Coordinates, their rates and accelerations, each (n,6), at `times` (n,) s.

        At a breakpoint the acceleration is a value from beside or between the two.  TrajectoryError for times that are
        not finite or outside [0, duration] by more than 1 ns.
        """
        t = np.atleast_1d(np.asarray(times, dtype=np.float64))
        if t.ndim != 1:
            raise TrajectoryError(f"times: shape {t.shape}, must be (n,)")
        bad = ~((t >= -_TIME_ROUNDING) & (t <= self.duration + _TIME_ROUNDING))
        if bad.any():
            raise TrajectoryError(f"time {t[bad][0]:g} s is outside the trajectory's 0 to {self.duration:g} s")
        return self._evaluate(np.clip(t, 0.0, self.duration))

    def motion(self, times: ArrayLike) -> Array:
        """Motion (n,19) of the platform origin in the base frame at `times` (n,) s.  Errors as `coordinates`."""
        return self.placement.to_motion(*self.coordinates(times))

    @abstractmethod
    def _evaluate(self, t: Array) -> tuple[Array, Array, Array]:
        """The answer of `coordinates` for times (n,) known to lie in [0, duration]."""


def time_span(name: str, value: float) -> float:
    """`value`, s, as a float; TrajectoryError unless it is from 1e-6 to 1e9."""
    if not SHORTEST <= value <= LONGEST:
        raise TrajectoryError(f"{name}: {value:g} s, must be finite, from {SHORTEST:g} to {LONGEST:g} s")
    return float(value)


def six(name: str, value: ArrayLike) -> Array:
    """`value` as six finite coordinates of at most 1e6; TrajectoryError otherwise."""
    try:
        array = single(name, finite_array(name, value, 6, COORDINATES))
    except KinematicsError as error:
        raise TrajectoryError(str(error)) from None
    for place, unit, number in zip(COORDINATES, COORDINATE_UNITS, array, strict=True):
        bounded(f"{name}, {place}", float(number), unit)
    return array


def bounded(name: str, value: float, unit: str, *, least: float = -LARGEST) -> float:
    """`value` as a float; TrajectoryError unless it is finite, at least `least` and at most 1e6."""
    if not least <= value <= LARGEST:
        raise TrajectoryError(f"{name}: {value:g} {unit}, must be finite, from {least:g} to {LARGEST:g} {unit}")
    return float(value)
