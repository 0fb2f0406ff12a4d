"""Pose limits: strokes, joint angles and distances between legs, for blocks of poses."""

import math
from dataclasses import dataclass
from enum import IntFlag

import numpy as np
import numpy.typing as npt

from kinematics.arrays import LEGS, Array, checked_poses
from kinematics.compiled import (
    BLOCK,
    SYSTEM_ROWS,
    cross,
    dot,
    inlined,
    kernel,
    leg_direction,
    rotate,
    rotation_matrix,
    run_chunks,
    solve_block_kernel,
)
from kinematics.errors import KinematicsError, LimitError
from kinematics.geometry import Geometry
from kinematics.leg import leg_lengths, leg_matrix
from kinematics.rotations import quaternion_to_matrix

ASSESSED = 6
"""Columns of `assess_kernel`'s output: condition, side, stroke margin, chord² at U and at S, axis distance²."""

BEYOND_STROKE, BEYOND_UNIVERSAL, BEYOND_SPHERICAL, LEGS_TOO_CLOSE, ILL_CONDITIONED, OTHER_SIDE, NO_POSE = (
    1, 2, 4, 8, 16, 32, 64,
)  # fmt: skip

_POSE, _ROTATION = 0, 7
_COLUMN = 16  # of the current leg: its column of H, then S
_FIRST, _SECOND = 25, 28  # S of two legs
_MARGIN, _UNIVERSAL, _SPHERICAL, _DISTANCE, _FLAGS = 31, 32, 33, 34, 35
_LEGS = 36  # S of all legs
ASSESS_WORK = 54 * BLOCK

_SWEEPS = 30
_DONE = 1e-9  # rows this orthogonal before a sweep are orthogonal to rounding after it
_PARALLEL = 1e-12

Flags = npt.NDArray[np.int64]
Row = tuple[float, float, float, float, float, float]


@kernel
def _begin(poses: Array, first: int, work: Array) -> None:
    """Compute R of up to BLOCK poses from `first`; an incomplete block repeats the last pose."""
    last = poses.shape[0] - 1
    for j in range(BLOCK):
        sample = min(first + j, last)
        for k in range(7):
            work[k * BLOCK + j] = poses[sample, k]
    for j in range(BLOCK):
        r00, r01, r02, r10, r11, r12, r20, r21, r22 = rotation_matrix(
            work[3 * BLOCK + j], work[4 * BLOCK + j], work[5 * BLOCK + j], work[6 * BLOCK + j]
        )
        work[7 * BLOCK + j], work[8 * BLOCK + j], work[9 * BLOCK + j] = r00, r01, r02
        work[10 * BLOCK + j], work[11 * BLOCK + j], work[12 * BLOCK + j] = r10, r11, r12
        work[13 * BLOCK + j], work[14 * BLOCK + j], work[15 * BLOCK + j] = r20, r21, r22
        work[_MARGIN * BLOCK + j] = math.inf
        work[_UNIVERSAL * BLOCK + j] = 0.0
        work[_SPHERICAL * BLOCK + j] = 0.0
        work[_DISTANCE * BLOCK + j] = math.inf
        work[_FLAGS * BLOCK + j] = 0.0


@kernel
def _leg(leg: Array, work: Array) -> None:
    """Assess one leg in every pose.

    `leg` (17,): b, p, least and greatest length, greatest chords² at U and S, home s in base and in platform axes,
    divisor of moments.
    """
    bx, by, bz, px, py, pz = leg[0], leg[1], leg[2], leg[3], leg[4], leg[5]
    shortest, longest, most_universal, most_spherical = leg[6], leg[7], leg[8], leg[9]
    hx, hy, hz, kx, ky, kz = leg[10], leg[11], leg[12], leg[13], leg[14], leg[15]
    scale = 1.0 / leg[16]
    for j in range(BLOCK):
        r00, r01, r02 = work[7 * BLOCK + j], work[8 * BLOCK + j], work[9 * BLOCK + j]
        r10, r11, r12 = work[10 * BLOCK + j], work[11 * BLOCK + j], work[12 * BLOCK + j]
        r20, r21, r22 = work[13 * BLOCK + j], work[14 * BLOCK + j], work[15 * BLOCK + j]
        qx, qy, qz = rotate(r00, r01, r02, r10, r11, r12, r20, r21, r22, px, py, pz)
        length, _, sx, sy, sz = leg_direction(
            bx, by, bz, qx, qy, qz, work[j], work[BLOCK + j], work[2 * BLOCK + j]
        )  # fmt: skip
        low, high = length - shortest, longest - length
        least = low if low < high else high
        margin = work[_MARGIN * BLOCK + j]
        work[_MARGIN * BLOCK + j] = least if least < margin else margin
        # chords of the unit circle, |s − s_home|: accurate for small angles, unlike a cosine
        ex, ey, ez = sx - hx, sy - hy, sz - hz
        universal = dot(ex, ey, ez, ex, ey, ez)
        ex, ey, ez = rotate(r00, r10, r20, r01, r11, r21, r02, r12, r22, sx, sy, sz)
        ex, ey, ez = ex - kx, ey - ky, ez - kz
        spherical = dot(ex, ey, ez, ex, ey, ez)
        greatest = work[_UNIVERSAL * BLOCK + j]
        work[_UNIVERSAL * BLOCK + j] = universal if universal > greatest else greatest
        greatest = work[_SPHERICAL * BLOCK + j]
        work[_SPHERICAL * BLOCK + j] = spherical if spherical > greatest else greatest
        # three bits per flag, as each kind is counted up to six times
        flags = work[_FLAGS * BLOCK + j]
        flags += 1.0 if not least >= 0.0 else 0.0
        flags += 8.0 if universal > most_universal else 0.0
        flags += 64.0 if spherical > most_spherical else 0.0
        work[_FLAGS * BLOCK + j] = flags
        ex, ey, ez = cross(qx, qy, qz, sx, sy, sz)
        work[16 * BLOCK + j], work[17 * BLOCK + j], work[18 * BLOCK + j] = sx, sy, sz
        work[19 * BLOCK + j], work[20 * BLOCK + j], work[21 * BLOCK + j] = scale * ex, scale * ey, scale * ez
        work[22 * BLOCK + j], work[23 * BLOCK + j], work[24 * BLOCK + j] = length * sx, length * sy, length * sz


@kernel
def _copy(source: int, target: int, rows: int, work: Array) -> None:
    """Copy rows within `work`."""
    for k in range(rows * BLOCK):
        work[target * BLOCK + k] = work[source * BLOCK + k]


@kernel
def _clearance(x: float, y: float, z: float, work: Array) -> None:
    """Distance² between the axes of two legs whose base points are (x, y, z) apart: Ericson (2005), section 5.1.9."""
    for j in range(BLOCK):
        ax, ay, az = work[25 * BLOCK + j], work[26 * BLOCK + j], work[27 * BLOCK + j]
        bx, by, bz = work[28 * BLOCK + j], work[29 * BLOCK + j], work[30 * BLOCK + j]
        a, e, b = dot(ax, ay, az, ax, ay, az), dot(bx, by, bz, bx, by, bz), dot(ax, ay, az, bx, by, bz)
        c, f = dot(ax, ay, az, x, y, z), dot(bx, by, bz, x, y, z)
        across = a * e - b * b
        s = (b * f - c * e) / across if across > _PARALLEL * a * e else 0.0
        s = 0.0 if s < 0.0 else s
        s = 1.0 if s > 1.0 else s
        t = (b * s + f) / e
        early, late = -c / a, (b - c) / a
        s = early if t < 0.0 else s
        s = late if t > 1.0 else s
        s = 0.0 if s < 0.0 else s
        s = 1.0 if s > 1.0 else s
        t = 0.0 if t < 0.0 else t
        t = 1.0 if t > 1.0 else t
        dx, dy, dz = x + s * ax - t * bx, y + s * ay - t * by, z + s * az - t * bz
        distance = dot(dx, dy, dz, dx, dy, dz)
        least = work[_DISTANCE * BLOCK + j]
        work[_DISTANCE * BLOCK + j] = distance if distance < least else least


@inlined
def _product(x: Row, y: Row) -> float:
    """Scalar product of two rows."""
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2] + x[3] * y[3] + x[4] * y[4] + x[5] * y[5]


@inlined
def _mix(c: float, x: Row, s: float, y: Row) -> Row:
    """c x + s y."""
    return (
        c * x[0] + s * y[0],
        c * x[1] + s * y[1],
        c * x[2] + s * y[2],
        c * x[3] + s * y[3],
        c * x[4] + s * y[4],
        c * x[5] + s * y[5],
    )


@inlined
def _rotated(x: Row, y: Row, worst: float) -> tuple[Row, Row, float]:
    """Rotate two rows in their plane until orthogonal; return them and the greatest cosine between rows so far."""
    alpha, beta, gamma = _product(x, x), _product(y, y), _product(x, y)
    cosine = abs(gamma) / math.sqrt(alpha * beta)
    zeta = (beta - alpha) / (2.0 * gamma)
    tangent = 1.0 / (abs(zeta) + math.sqrt(1.0 + zeta * zeta))
    tangent = -tangent if zeta < 0.0 else tangent
    tangent = tangent if gamma != 0.0 else 0.0
    c = 1.0 / math.sqrt(1.0 + tangent * tangent)
    s = c * tangent
    return _mix(c, x, -s, y), _mix(s, x, c, y), cosine if cosine > worst else worst


@inlined
def _matrix_row(matrix: Array, i: int, j: int) -> Row:
    """Row i of the matrix of pose j."""
    return (
        matrix[6 * i * BLOCK + j],
        matrix[(6 * i + 1) * BLOCK + j],
        matrix[(6 * i + 2) * BLOCK + j],
        matrix[(6 * i + 3) * BLOCK + j],
        matrix[(6 * i + 4) * BLOCK + j],
        matrix[(6 * i + 5) * BLOCK + j],
    )


@inlined
def _put_row(matrix: Array, i: int, j: int, x: Row) -> None:
    """Write a row where `_matrix_row` reads it."""
    matrix[6 * i * BLOCK + j], matrix[(6 * i + 1) * BLOCK + j], matrix[(6 * i + 2) * BLOCK + j] = x[0], x[1], x[2]
    matrix[(6 * i + 3) * BLOCK + j], matrix[(6 * i + 4) * BLOCK + j], matrix[(6 * i + 5) * BLOCK + j] = x[3], x[4], x[5]


@kernel
def _jacobi_sweep(matrix: Array) -> None:
    """Run one sweep of one-sided Jacobi (Hestenes) over the rows.

    Row 36 receives the greatest cosine, rows 37 and 38 the squares of the longest and the shortest row.
    """
    for j in range(BLOCK):
        a, b, c = _matrix_row(matrix, 0, j), _matrix_row(matrix, 1, j), _matrix_row(matrix, 2, j)
        d, e, f = _matrix_row(matrix, 3, j), _matrix_row(matrix, 4, j), _matrix_row(matrix, 5, j)
        worst = 0.0
        a, b, worst = _rotated(a, b, worst)
        c, d, worst = _rotated(c, d, worst)
        e, f, worst = _rotated(e, f, worst)
        a, c, worst = _rotated(a, c, worst)
        b, e, worst = _rotated(b, e, worst)
        d, f, worst = _rotated(d, f, worst)
        a, e, worst = _rotated(a, e, worst)
        c, f, worst = _rotated(c, f, worst)
        b, d, worst = _rotated(b, d, worst)
        a, f, worst = _rotated(a, f, worst)
        e, d, worst = _rotated(e, d, worst)
        c, b, worst = _rotated(c, b, worst)
        a, d, worst = _rotated(a, d, worst)
        f, b, worst = _rotated(f, b, worst)
        e, c, worst = _rotated(e, c, worst)
        _put_row(matrix, 0, j, a)
        _put_row(matrix, 1, j, b)
        _put_row(matrix, 2, j, c)
        _put_row(matrix, 3, j, d)
        _put_row(matrix, 4, j, e)
        _put_row(matrix, 5, j, f)
        most = least = _product(a, a)
        x = _product(b, b)
        most, least = x if x > most else most, x if x < least else least
        x = _product(c, c)
        most, least = x if x > most else most, x if x < least else least
        x = _product(d, d)
        most, least = x if x > most else most, x if x < least else least
        x = _product(e, e)
        most, least = x if x > most else most, x if x < least else least
        x = _product(f, f)
        most, least = x if x > most else most, x if x < least else least
        matrix[36 * BLOCK + j], matrix[37 * BLOCK + j], matrix[38 * BLOCK + j] = worst, most, least


@kernel
def _conditions(matrix: Array) -> None:
    """Sweep until all the block's rows are orthogonal."""
    for _ in range(_SWEEPS):
        _jacobi_sweep(matrix)
        worst = 0.0
        for j in range(BLOCK):
            worst = max(worst, matrix[36 * BLOCK + j])
        if worst <= _DONE:
            return


@kernel
def assess_kernel(
    legs: Array, bounds: Array, poses: Array, work: Array, system: Array, matrix: Array, out: Array, flags: Flags
) -> None:
    """Assess poses (n, 7) into `out` (n, ASSESSED) and `flags` (n,): the violated limits, 0 for none.

    legs (6, 17) as in `_leg`; bounds (3,): least distance² of two axes, greatest condition number, side.
    `work` (ASSESS_WORK,), `system` and `matrix` (SYSTEM_ROWS * BLOCK,) are working space.
    """
    n = poses.shape[0]
    for first in range(0, n, BLOCK):
        _begin(poses, first, work)
        for i in range(6):
            _leg(legs[i], work)
            _copy(_COLUMN + 6, _LEGS + 3 * i, 3, work)
            for k in range(6):
                for j in range(BLOCK):
                    value = work[(_COLUMN + k) * BLOCK + j]
                    system[(7 * k + i) * BLOCK + j] = value
                    matrix[(6 * k + i) * BLOCK + j] = value
        for i in range(5):
            _copy(_LEGS + 3 * i, _FIRST, 3, work)
            for k in range(i + 1, 6):
                _copy(_LEGS + 3 * k, _SECOND, 3, work)
                _clearance(
                    legs[i, 0] - legs[k, 0], legs[i, 1] - legs[k, 1], legs[i, 2] - legs[k, 2], work
                )  # fmt: skip
        _conditions(matrix)
        solve_block_kernel(system)
        for j in range(min(BLOCK, n - first)):
            _judge(j, bounds, work, system, matrix, out[first + j], flags, first + j)


@kernel
def _judge(
    j: int, bounds: Array, work: Array, system: Array, matrix: Array, out: Array, flags: Flags, sample: int
) -> None:
    """Collect the results of pose j of the block and compare them with the bounds."""
    condition = math.sqrt(matrix[37 * BLOCK + j]) / math.sqrt(matrix[38 * BLOCK + j])
    determinant = system[j]
    side = (1.0 if determinant > 0.0 else 0.0) - (1.0 if determinant < 0.0 else 0.0)
    out[0], out[1] = condition, side
    out[2], out[3] = work[_MARGIN * BLOCK + j], work[_UNIVERSAL * BLOCK + j]
    out[4], out[5] = work[_SPHERICAL * BLOCK + j], work[_DISTANCE * BLOCK + j]
    counted = int(work[_FLAGS * BLOCK + j])
    flag = 0
    if counted & 7:
        flag |= BEYOND_STROKE
    if counted & 56:
        flag |= BEYOND_UNIVERSAL
    if counted & 448:
        flag |= BEYOND_SPHERICAL
    if not out[5] >= bounds[0]:
        flag |= LEGS_TOO_CLOSE
    if not condition <= bounds[1]:
        flag |= ILL_CONDITIONED
    if bounds[2] != 0.0 and side != bounds[2]:
        flag |= OTHER_SIDE
    if not math.isfinite(out[3] + out[5]) or math.isnan(condition):
        flag |= NO_POSE
    flags[sample] = flag


CHUNK = 1 << 13
"""Poses per thread task."""


class PoseFault(IntFlag):
    """Limits that a pose violates."""

    STROKE = BEYOND_STROKE
    UNIVERSAL = BEYOND_UNIVERSAL
    SPHERICAL = BEYOND_SPHERICAL
    CLEARANCE = LEGS_TOO_CLOSE
    CONDITION = ILL_CONDITIONED
    SIDE = OTHER_SIDE
    INVALID = NO_POSE


@dataclass(frozen=True, slots=True, eq=False, init=False)
class PoseLimits:
    """Limits of a pose, legs 1 to 6 in order.

    lengths (6, 2): least and greatest length of each leg, m.
    universal_angles, spherical_angles (6,): greatest angle of the leg's axis from its home direction, in the base and
        in the platform frame, rad; π for no limit.
    clearance: least distance between the surfaces of two legs, m, each a cylinder of `leg_radius`, m, about the line
        from its base point to its platform point; −inf for no limit.
    condition: greatest condition number of H, moments divided by `characteristic_length`, m; inf for no limit.
    same_side: whether det H must have the same sign as at home, so that no singularity lies between.

    Raises KinematicsError with the limit, its value and its bound, for an invalid limit.
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
        """One pair of lengths or one angle applies to all legs; None for no limit."""
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
    """Assessment of n poses against limits.

    faults (n,): PoseFault of each pose, 0 if it is within all limits.
    condition (n,): condition number of H.  side (n,): sign of det H.
    stroke_margin (n,): least distance of a leg's length from its bounds, m, negative beyond.
    universal_angle, spherical_angle (n,): greatest of the legs', rad; NaN if the geometry has no home.
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
        """Whether the pose is within all limits, (n,)."""
        return np.asarray(self.faults == 0)


def assess_poses(
    geometry: Geometry, poses: npt.ArrayLike, limits: PoseLimits, *, threads: int | None = None
) -> PoseAssessment:
    """Assess poses (n, 7) of the platform against the limits.

    threads: their number; None for one per processor, 1 inside parallel code.
    Raises KinematicsError for a wrong shape, a number that is not finite, a quaternion not of unit norm; for limits of
    joint angles or side if the geometry has no home.
    """
    batch = checked_poses("poses", poses).reshape(-1, 7)
    legs, bounds = _packed(geometry, limits)
    values = np.empty((len(batch), ASSESSED))
    flags = np.empty(len(batch), dtype=np.int64)

    def work(first: int, end: int) -> None:
        assess_kernel(
            legs,
            bounds,
            batch[first:end],
            np.zeros(ASSESS_WORK),
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
    """Find the stroke limit that each of the poses (n, 7) exceeds most, (n,).

    The leg's number, negative if the leg would be too short, positive if too long; 0 if all strokes are within
    limits.
    Raises KinematicsError as `leg_lengths`.
    """
    lengths = leg_lengths(geometry, checked_poses("poses", poses).reshape(-1, 7))
    excess = np.concatenate([limits.lengths[:, 0] - lengths, lengths - limits.lengths[:, 1]], axis=1)
    worst = excess.argmax(axis=1)
    ends = np.where(worst < LEGS, -1 - worst, worst - LEGS + 1)
    return np.where(excess.max(axis=1) > 0.0, ends, 0).astype(np.int8)


def _packed(geometry: Geometry, limits: PoseLimits) -> tuple[Array, Array]:
    """Legs (6, 17) and bounds (3,) for `assess_kernel`."""
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
