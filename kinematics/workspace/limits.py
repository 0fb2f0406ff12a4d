"""Which poses a platform can take: strokes, joint angles, distances between legs, conditioning."""

import math
from dataclasses import dataclass
from enum import IntFlag

import numpy as np
import numpy.typing as npt

from kinematics.arrays import LEGS, Array, checked_poses
from kinematics.compiled import BLOCK, SYSTEM_ROWS, run_chunks
from kinematics.errors import KinematicsError, LimitError
from kinematics.geometry import Geometry
from kinematics.jacobian import leg_matrix
from kinematics.leg import leg_lengths
from kinematics.rotations import quaternion_to_matrix
from kinematics.workspace import kernels

CHUNK = 1 << 13
"""Poses given to a thread at a time."""


class PoseFault(IntFlag):
    """Why a pose is not to be had."""

    STROKE = kernels.BEYOND_STROKE
    UNIVERSAL = kernels.BEYOND_UNIVERSAL
    SPHERICAL = kernels.BEYOND_SPHERICAL
    CLEARANCE = kernels.LEGS_TOO_CLOSE
    CONDITION = kernels.ILL_CONDITIONED
    SIDE = kernels.OTHER_SIDE
    INVALID = kernels.NO_POSE


@dataclass(frozen=True, slots=True, eq=False, init=False)
class PoseLimits:
    """What a pose must keep to, legs 1 to 6 in order.

    lengths (6, 2): least and greatest length of each leg, m.
    universal_angles, spherical_angles (6,): greatest angle of the leg's axis from its home direction, in the base and
        in the platform frame, rad; π does not limit.
    clearance: least distance between the surfaces of two legs, m, each a cylinder of `leg_radius`, m, about the line
        from its base point to its platform point; −inf does not limit.
    condition: greatest condition number of H, moments divided by `characteristic_length`, m; inf does not limit.
    same_side: whether det H must have the sign it has at home, so that no singularity lies between.

    Raises KinematicsError, naming the limit, its value and its bound, for one that cannot be.
    """

    lengths: Array
    universal_angles: Array
    spherical_angles: Array
    clearance: float = -math.inf
    leg_radius: float = 0.0
    condition: float = math.inf
    characteristic_length: float = 1.0
    same_side: bool = True

    def __init__(
        self,
        lengths: npt.ArrayLike | None = None,
        universal_angles: npt.ArrayLike | None = None,
        spherical_angles: npt.ArrayLike | None = None,
        *,
        clearance: float = -math.inf,
        leg_radius: float = 0.0,
        condition: float = math.inf,
        characteristic_length: float = 1.0,
        same_side: bool = True,
    ) -> None:
        """One pair of lengths or one angle stands for all legs; None does not limit."""
        strokes = np.array(np.broadcast_to(np.asarray((0.0, np.inf) if lengths is None else lengths, float), (LEGS, 2)))
        for leg, (least, greatest) in enumerate(strokes, start=1):
            if not 0.0 <= least < greatest:
                raise KinematicsError(f"length of leg {leg}: from {least} to {greatest} m is no range")
        object.__setattr__(self, "lengths", strokes)
        object.__setattr__(self, "universal_angles", _angles("universal angle", universal_angles))
        object.__setattr__(self, "spherical_angles", _angles("spherical angle", spherical_angles))
        for name, value, unit, fits, bound in (
            ("clearance", clearance, " m", clearance < math.inf, "finite"),
            ("leg_radius", leg_radius, " m", 0.0 <= leg_radius < math.inf, "finite and at least 0 m"),
            ("condition", condition, "", condition >= 1.0, "at least 1"),
            (
                "characteristic_length",
                characteristic_length,
                " m",
                0.0 < characteristic_length < math.inf,
                "finite and above 0 m",
            ),
        ):
            if not fits:
                raise LimitError(name, f"{value:g}{unit}, must be {bound}")
            object.__setattr__(self, name, float(value))
        object.__setattr__(self, "same_side", bool(same_side))


def _angles(name: str, value: npt.ArrayLike | None) -> Array:
    angles = np.array(np.broadcast_to(np.asarray(math.pi if value is None else value, float), (LEGS,)))
    for leg, angle in enumerate(angles, start=1):
        if not 0.0 < angle <= math.pi:
            raise KinematicsError(f"{name} of leg {leg}: {angle} rad, must be above 0 and at most π rad")
    return angles


@dataclass(frozen=True, slots=True, eq=False)
class PoseAssessment:
    """What n poses ask of the legs.

    faults (n,): PoseFault of each pose, 0 where it keeps to all limits.
    condition (n,): condition number of H.  side (n,): sign of det H.
    stroke_margin (n,): least distance of a leg's length from its bounds, m, negative beyond.
    universal_angle, spherical_angle (n,): greatest of the legs', rad; NaN where the geometry has no home.
    clearance (n,): least distance between two legs' surfaces, m.
    """

    faults: npt.NDArray[np.uint8]
    condition: Array
    side: npt.NDArray[np.int8]
    stroke_margin: Array
    universal_angle: Array
    spherical_angle: Array
    clearance: Array

    @property
    def reachable(self) -> npt.NDArray[np.bool_]:
        """(n,): whether the pose keeps to all limits."""
        return np.asarray(self.faults == 0)


def assess_poses(
    geometry: Geometry, poses: npt.ArrayLike, limits: PoseLimits, *, threads: int | None = None
) -> PoseAssessment:
    """Assess poses (n, 7) of the platform against the limits.

    threads: how many at a time; None for one a processor, 1 inside something that is parallel itself.
    Raises KinematicsError for a wrong shape, a number that is not finite, a quaternion not of unit norm; for limits of
    joint angles or side where the geometry has no home.
    """
    batch = checked_poses("poses", poses).reshape(-1, 7)
    legs, bounds = _packed(geometry, limits)
    values = np.empty((len(batch), kernels.ASSESSED))
    flags = np.empty(len(batch), dtype=np.int64)

    def work(first: int, end: int) -> None:
        kernels.assess_kernel(
            legs,
            bounds,
            batch[first:end],
            np.zeros(kernels.ASSESS_WORK),
            np.zeros(SYSTEM_ROWS * BLOCK),
            np.zeros(SYSTEM_ROWS * BLOCK),
            values[first:end],
            flags[first:end],
        )

    for _ in run_chunks(work, len(batch), CHUNK, threads):
        pass
    angles = 2.0 * np.arcsin(np.minimum(0.5 * np.sqrt(values[:, 3:5]), 1.0))
    if geometry.home is None:
        angles[:] = np.nan
    return PoseAssessment(
        faults=flags.astype(np.uint8),
        condition=values[:, 0].copy(),
        side=values[:, 1].astype(np.int8),
        stroke_margin=values[:, 2].copy(),
        universal_angle=angles[:, 0].copy(),
        spherical_angle=angles[:, 1].copy(),
        clearance=np.sqrt(values[:, 5]) - 2.0 * limits.leg_radius,
    )


def strokes_beyond(geometry: Geometry, poses: npt.ArrayLike, limits: PoseLimits) -> npt.NDArray[np.int8]:
    """Which end of which leg's stroke each of the poses (n, 7) is farthest beyond, (n,).

    The leg's number, negative where it would have to be shorter than it can be, positive where longer; 0 where all
    strokes are kept.
    Raises KinematicsError as `leg_lengths`.
    """
    lengths = leg_lengths(geometry, checked_poses("poses", poses).reshape(-1, 7))
    excess = np.concatenate([limits.lengths[:, 0] - lengths, lengths - limits.lengths[:, 1]], axis=1)
    worst = excess.argmax(axis=1)
    ends = np.where(worst < LEGS, -1 - worst, worst - LEGS + 1)
    return np.where(excess.max(axis=1) > 0.0, ends, 0).astype(np.int8)


def _packed(geometry: Geometry, limits: PoseLimits) -> tuple[Array, Array]:
    """Legs (6, 17) and bounds (3,) as `assess_kernel` takes them."""
    legs = np.zeros((LEGS, 17))
    legs[:, 0:3], legs[:, 3:6], legs[:, 6:8] = geometry.base_points, geometry.platform_points, limits.lengths
    for column, angles in ((8, limits.universal_angles), (9, limits.spherical_angles)):
        legs[:, column] = np.where(angles < math.pi, (2.0 * np.sin(0.5 * angles)) ** 2, np.inf)
    legs[:, 16] = limits.characteristic_length
    side = 0.0
    if geometry.home is None:
        if np.isfinite(legs[:, 8:10]).any() or limits.same_side:
            raise KinematicsError("limits of joint angles and of the side of a singularity need a home pose")
    else:
        legs[:, 10:13], legs[:, 13:16] = _home_directions(geometry)
        if limits.same_side:
            side = float(np.sign(np.linalg.det(leg_matrix(geometry, geometry.home))))
    least = limits.clearance + 2.0 * limits.leg_radius
    return legs, np.array([least * least if least > 0.0 else 0.0, limits.condition, side])


def _home_directions(geometry: Geometry) -> tuple[Array, Array]:
    """Directions (6, 3) of the legs at home, in base and in platform axes."""
    home = geometry.home_pose
    rotation = quaternion_to_matrix(home[3:])
    directions = geometry.platform_points @ rotation.T + home[:3] - geometry.base_points
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return directions, directions @ rotation
