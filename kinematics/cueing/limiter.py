"""Limiter of a motion in leg space: a bounded step towards what is wanted, and a braking path behind every state.

A state (18,) holds coordinates [x y z θx θy θz], their rates and their accelerations (six each; m, rad, s). Position is
that of the head, a point fixed to the platform, from its place at home, along the platform's axes at home; angles are
those of R = Rz(θz) Ry(θy) Rx(θx), from the attitude at home. Zeros are the home pose.

No state is let through from which a braking path within all bounds is not known. Where no step towards what is wanted
has one, the state follows the braking path of the state before. By induction no state leaves the bounds, whatever is
wanted.
"""

from dataclasses import dataclass, field
from math import cos, inf, isfinite, pi, sin, sqrt

import numpy as np
import numpy.typing as npt

from kinematics.arrays import LEGS, Array
from kinematics.compiled import cross, dot, kernel, point_motion, rotate, rotation_matrix, solve_kernel
from kinematics.errors import KinematicsError, LimitError
from kinematics.geometry import Geometry
from kinematics.leg import LEG_COLUMNS, condition_number_kernel, inverse_kinematics_kernel, leg_rows_kernel
from kinematics.rotations import coordinates_to_motion_kernel, quaternion_to_matrix

_LOWEST, _HIGHEST, _SPEED, _ACCELERATION, _UNIVERSAL, _SPHERICAL = range(6)
"""Columns of the bounds (6, 6): lengths m, speed m/s, acceleration m/s², chords² of the joints' angles."""
_CONDITION, _LENGTH, _STEEPEST = range(3)
"""Numbers of a pose: greatest condition number, its characteristic length m, greatest angle rad."""
_USUAL = 0.1
"""s, shortest duration of a braking path of legs without bounds of speed or acceleration"""
_STEEPEST_ANGLE = 1.2
"""rad, greatest angle about any axis: the coordinates are singular at θy = ±π/2."""
_INSIDE = 0.98
"""of speed, acceleration and condition number; the last may be a little greater between two samples of a path"""
_ANGLE_INSIDE = 0.99
_FEWEST, _FINENESS = 12, 3.0
"""samples of a braking path: at least, and of the shortest"""
_DURATIONS = np.array([1.0, 1.5, 2.2, 3.3, 5.0, 7.5, 11.0, 16.0])
"""of a braking path, in multiples of the shortest"""
_SHARES = (1.0, 0.5, 0.2, 0.05)
"""of the step from the braking path towards what is wanted, tried in this order"""
_SWEEPS = 60
_CONVERGED = 1e-6
"""m/s², change of a leg's acceleration in one sweep, below which the quadratic program is solved"""
_SMALLEST = 1e-9
"""of the square of a row: an angle that no acceleration changes"""
_LENGTH_ERROR, _SPEED_ERROR, _ACCELERATION_ERROR, _UNIVERSAL_ERROR, _SPHERICAL_ERROR = range(5)
"""Rows of the errors (5, 6) of what is interpolated between two samples, see `_errors_kernel`."""
_WORK_ROWS = 13
"""of the scratch array: four states, five rows of errors, four of greatest derivatives"""

LIMITED, BRAKING = 1, 2
"""Flags of a step: a leg's bound has changed it; it follows a braking path, wholly or in part."""


@dataclass(frozen=True, slots=True, eq=False)
class MotionBounds:
    """Bounds of a motion, legs 1 to 6 in order; inf or π for none. Lengths must be bounded.

    lengths (6, 2): least and greatest, m. velocity (6,): m/s. acceleration (6,): m/s².
    universal_angles, spherical_angles (6,): from home, in the base and in the platform frame, rad.
    condition: greatest condition number of H with moments divided by `characteristic_length`, m.

    Raises KinematicsError with the bound, its value and its unit, for an invalid one.
    """

    lengths: npt.ArrayLike
    velocity: npt.ArrayLike = inf
    acceleration: npt.ArrayLike = inf
    universal_angles: npt.ArrayLike = pi
    spherical_angles: npt.ArrayLike = pi
    condition: float = inf
    characteristic_length: float = 1.0
    array: Array = field(init=False, repr=False)
    """(6, 6), columns least and greatest length, speed, acceleration, angles at the universal and spherical joint."""

    def __post_init__(self) -> None:
        bounds = np.empty((LEGS, 6))
        bounds[:, :2] = np.broadcast_to(np.asarray(self.lengths, dtype=np.float64), (LEGS, 2))
        for column, value in enumerate(
            (self.velocity, self.acceleration, self.universal_angles, self.spherical_angles), start=2
        ):
            bounds[:, column] = np.broadcast_to(np.asarray(value, dtype=np.float64), (LEGS,))
        for leg, row in enumerate(bounds, start=1):
            if not (np.isfinite(row[:2]).all() and 0.0 <= row[0] < row[1]):
                raise KinematicsError(f"length of leg {leg}: from {row[0]:g} to {row[1]:g} m, must be a finite range")
            for name, unit, value in zip(
                ("speed", "acceleration", "universal angle", "spherical angle"),
                ("m/s", "m/s²", "rad", "rad"),
                row[2:],
                strict=True,
            ):
                if not value > 0.0:
                    raise KinematicsError(f"{name} of leg {leg}: {value:g} {unit}, must be above 0 {unit}")
        if not self.condition >= 1.0:
            raise LimitError("condition", f"{self.condition:g}, must be at least 1")
        if not 0.0 < self.characteristic_length < inf:
            raise LimitError("characteristic_length", f"{self.characteristic_length:g} m, must be finite and above 0 m")
        object.__setattr__(self, "array", bounds)


@kernel
def head_motion_kernel(state: Array, frame: Array, out: Array) -> None:
    """Compute the motion (19,) of the platform's origin in the base frame, of a state (18,), into `out`.

    frame (19,): home position, its quaternion, its rotation matrix, head in platform axes from the platform's origin.
    """
    coordinates_to_motion_kernel(state, out)
    r00, r01, r02, r10, r11, r12, r20, r21, r22 = rotation_matrix(out[3], out[4], out[5], out[6])
    cx, cy, cz = frame[16], frame[17], frame[18]
    ax, ay, az = rotate(r00, r01, r02, r10, r11, r12, r20, r21, r22, cx, cy, cz)
    wx, wy, wz = out[10], out[11], out[12]
    sx, sy, sz = cross(wx, wy, wz, ax, ay, az)
    ex, ey, ez = cross(out[16], out[17], out[18], ax, ay, az)
    fx, fy, fz = cross(wx, wy, wz, sx, sy, sz)
    out[0], out[1], out[2] = out[0] + cx - ax, out[1] + cy - ay, out[2] + cz - az
    out[7], out[8], out[9] = out[7] - sx, out[8] - sy, out[9] - sz
    out[13], out[14], out[15] = out[13] - ex - fx, out[14] - ey - fy, out[15] - ez - fz
    for k in (0, 7, 10, 13, 16):
        out[k], out[k + 1], out[k + 2] = rotate(
            frame[7], frame[8], frame[9], frame[10], frame[11], frame[12], frame[13], frame[14], frame[15],
            out[k], out[k + 1], out[k + 2],
        )  # fmt: skip
    for k in range(3):
        out[k] += frame[k]
    aw, ax, ay, az = frame[3], frame[4], frame[5], frame[6]
    bw, bx, by, bz = out[3], out[4], out[5], out[6]
    out[3] = aw * bw - ax * bx - ay * by - az * bz
    out[4] = aw * bx + ax * bw + ay * bz - az * by
    out[5] = aw * by - ax * bz + ay * bw + az * bx
    out[6] = aw * bz + ax * by - ay * bx + az * bw


@kernel
def _conditioned_kernel(geometry: Array, pose: Array, length: float, bound: float, work: Array) -> bool:
    """Whether the condition number of a pose (7,) is at most `bound`; work (6, 7).

    First by κ < 2/|det H| (‖H‖²/6)³, with the Frobenius norm, which takes a tenth of the time of singular values:
    Guggenheimer, Edelman and Johnson, College Mathematics Journal 26 (1995).
    """
    leg_rows_kernel(geometry, pose, work)
    total = 0.0
    for i in range(6):
        total += 1.0 + dot(work[i, 3], work[i, 4], work[i, 5], work[i, 3], work[i, 4], work[i, 5]) / (length * length)
    determinant = abs(solve_kernel(work)) / length**3
    if 2.0 * (total / 6.0) ** 3 <= bound * determinant:
        return True
    condition: float = condition_number_kernel(geometry, pose, length, work)
    return condition <= bound


@kernel
def _within_kernel(
    state: Array, geometry: Array, frame: Array, bounds: Array, directions: Array, numbers: Array, motion: Array,
    legs: Array, work: Array,
) -> bool:  # fmt: skip
    """Whether a state keeps to all bounds; `motion` (19,) and `legs` (6, 13) are then those of it."""
    for k in range(18):
        if not isfinite(state[k]):
            return False
    for k in range(3, 6):
        if abs(state[k]) > numbers[_STEEPEST]:
            return False
    head_motion_kernel(state, frame, motion)
    if inverse_kinematics_kernel(geometry, motion, legs) != 0:
        return False
    r00, r01, r02, r10, r11, r12, r20, r21, r22 = rotation_matrix(motion[3], motion[4], motion[5], motion[6])
    for i in range(6):
        if not bounds[i, 0] <= legs[i, 0] <= bounds[i, 1]:
            return False
        if not (abs(legs[i, 1]) <= bounds[i, 2] and abs(legs[i, 2]) <= bounds[i, 3]):
            return False
        sx, sy, sz = legs[i, 3], legs[i, 4], legs[i, 5]
        ex, ey, ez = sx - directions[i, 0], sy - directions[i, 1], sz - directions[i, 2]
        if not dot(ex, ey, ez, ex, ey, ez) <= bounds[i, 4]:
            return False
        ex, ey, ez = rotate(r00, r10, r20, r01, r11, r21, r02, r12, r22, sx, sy, sz)
        ex, ey, ez = ex - directions[i, 3], ey - directions[i, 4], ez - directions[i, 5]
        if not dot(ex, ey, ez, ex, ey, ez) <= bounds[i, 5]:
            return False
    good: bool = _conditioned_kernel(geometry, motion[:7], numbers[_LENGTH], numbers[_CONDITION], work)
    return good


@kernel
def braking_kernel(start: Array, duration: float, t: float, out: Array) -> None:
    """Compute the state (18,) at time `t` of the braking path from a state (18,), into `out`.

    The acceleration is the quadratic in t that goes on from the state's, and ends with the speed at zero: a quartic of
    the coordinates, each at rest after `duration` s. Beyond it the state rests.
    """
    rests = not t < duration
    t = duration if rests else t
    for i in range(6):
        q, v, a = start[i], start[6 + i], start[12 + i]
        c = 6.0 * v / duration**3 + 3.0 * a / duration**2
        b = -4.0 * a / duration - 6.0 * v / duration**2
        out[i] = q + t * (v + t * (0.5 * a + t * (b / 6.0 + t * c / 12.0)))
        out[6 + i] = 0.0 if rests else v + t * (a + t * (0.5 * b + t * c / 3.0))
        out[12 + i] = 0.0 if rests else a + t * (b + t * c)


@kernel
def _braking_rates_kernel(start: Array, duration: float, out: Array) -> None:
    """Bounds of the first four derivatives of the coordinates on a braking path, into `out` (4, 6 or more).

    With τ = t/T the acceleration is a (1 − τ)(1 − 3τ) − 6 v/T τ (1 − τ), the speed v (1 − 3τ² + 2τ³) + a T τ (1 − τ)².
    """
    for i in range(6):
        v, a = abs(start[6 + i]), abs(start[12 + i])
        out[0, i] = v + 4.0 / 27.0 * a * duration
        out[1, i] = a + 1.5 * v / duration
        out[2, i] = (4.0 * a + 6.0 * v / duration) / duration
        out[3, i] = (6.0 * a + 12.0 * v / duration) / duration**2


@kernel
def _step_rates_kernel(first: Array, last: Array, h: float, out: Array) -> None:
    """Bounds of the first four derivatives between two states (18,), `h` s apart, as `_braking_rates_kernel`.

    A step is the quintic of the coordinates with both states. Without a braking path in it, it is a cubic.
    """
    for i in range(6):
        v0, v1 = h * first[6 + i], h * last[6 + i]
        a0, a1 = h * h * first[12 + i], h * h * last[12 + i]
        d, v, a = last[i] - first[i] - v0 - 0.5 * a0, v1 - v0 - a0, a1 - a0
        jerk, snap, fifth = (
            60.0 * d - 24.0 * v + 3.0 * a,
            -360.0 * d + 168.0 * v - 24.0 * a,
            720.0 * d - 360.0 * v + 60.0 * a,
        )
        fourth = max(abs(snap), abs(snap + fifth))
        third = max(abs(jerk), abs(jerk + snap + 0.5 * fifth)) + 0.125 * abs(fifth)
        out[3, i] = fourth / h**4
        out[2, i] = third / h**3
        out[1, i] = (max(abs(a0), abs(a1)) + 0.125 * fourth) / h**2
        out[0, i] = (max(abs(v0), abs(v1)) + 0.125 * third) / h


@kernel
def _errors_kernel(rates: Array, step: float, geometry: Array, frame: Array, bounds: Array, out: Array) -> bool:
    """Bounds of what a leg differs by between two samples from its interpolation there, into `out` (5, 6 or more).

    rates (4, 6): bounds of the coordinates' derivatives on the path. step: s between samples. Returns whether there are
    such bounds: a leg may not get near to zero length.

    A leg is S = x + R p − b with p from the head. Norms of its derivatives are at most D_k = |x⁽ᵏ⁾| + |p| B_k: those of
    a turn about one axis are at most the complete Bell polynomials B_k of |θ̇|, |θ̈|, …, and of three turns those of the
    sums over the axes. From L² = S·S follow bounds of L⃛ and L⁗, with L s = S those of the direction's derivatives,
    and with both those of 1 − cos φ. Between samples h apart a function differs

    * from the straight line through both by at most h²/8 max |f″|: accelerations,
    * from the cubic with both values and slopes by at most h³/96 max |f‴| (speeds), h⁴/384 max |f⁗| (lengths, angles).
    """
    x1, x2, x3, x4, w1, w2, w3, w4 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(3):
        x1, x2 = x1 + rates[0, i] * rates[0, i], x2 + rates[1, i] * rates[1, i]
        x3, x4 = x3 + rates[2, i] * rates[2, i], x4 + rates[3, i] * rates[3, i]
        w1, w2, w3, w4 = w1 + rates[0, 3 + i], w2 + rates[1, 3 + i], w3 + rates[2, 3 + i], w4 + rates[3, 3 + i]
    x1, x2, x3, x4 = sqrt(x1), sqrt(x2), sqrt(x3), sqrt(x4)
    b1, b2, b3 = w1, w2 + w1 * w1, w3 + 3.0 * w1 * w2 + w1**3
    b4 = w4 + 4.0 * w1 * w3 + 3.0 * w2 * w2 + 6.0 * w1 * w1 * w2 + w1**4
    for i in range(6):
        px, py, pz = geometry[i, 6] - frame[16], geometry[i, 7] - frame[17], geometry[i, 8] - frame[18]
        arm = sqrt(dot(px, py, pz, px, py, pz))
        d1, d2, d3, d4 = x1 + arm * b1, x2 + arm * b2, x3 + arm * b3, x4 + arm * b4
        shortest = bounds[i, 0] - 0.5 * step * d1  # both samples are within their bounds
        if not shortest > 0.0:
            return False
        inverse = 1.0 / shortest
        m2 = d2 + d1 * d1 * inverse
        m3 = d3 + 3.0 * d1 * m2 * inverse
        m4 = d4 + (3.0 * m2 * m2 + 4.0 * d1 * (d3 + m3)) * inverse
        e1 = d1 * inverse
        e2 = (d2 + m2 + 2.0 * d1 * e1) * inverse
        e3 = (d3 + m3 + 3.0 * (d1 * e2 + m2 * e1)) * inverse
        e4 = (d4 + m4 + 4.0 * (d1 * e3 + m3 * e1) + 6.0 * m2 * e2) * inverse
        square = step * step
        out[_LENGTH_ERROR, i] = square * square / 384.0 * m4
        out[_SPEED_ERROR, i] = square * step / 96.0 * m4
        out[_ACCELERATION_ERROR, i] = square / 8.0 * m4
        out[_UNIVERSAL_ERROR, i] = square * square / 384.0 * e4
        out[_SPHERICAL_ERROR, i] = (
            square * square / 384.0 * (e4 + 4.0 * (e3 * b1 + e1 * b3) + 6.0 * e2 * b2 + b4)
        )  # fmt: skip
    return True


@kernel
def _cubic_within_kernel(
    first: float, slope: float, last: float, last_slope: float, step: float, least: float, greatest: float
) -> bool:
    """Whether the cubic with these values and slopes at two samples `step` apart stays in a range in between."""
    if not (least <= first <= greatest and least <= last <= greatest):
        return False
    p, q = first + step * slope / 3.0, last - step * last_slope / 3.0
    if least <= p <= greatest and least <= q <= greatest:  # it is in the convex hull of its Bernstein coefficients
        return True
    a, b, c = (p - first) - 2.0 * (q - p) + (last - q), (q - p) - (p - first), p - first
    root = b * b - a * c  # of a u² + 2 b u + c, a third of the slope
    if root <= 0.0:
        return True  # monotonic
    large = -(b + sqrt(root)) if b > 0.0 else -b + sqrt(root)
    for number in range(2):
        above, below = (large, a) if number == 0 else (c, large)
        if below == 0.0:
            continue
        u = above / below
        if 0.0 < u < 1.0:
            w = 1.0 - u
            value = first * w * w * w + 3.0 * u * w * (p * w + q * u) + last * u * u * u
            if not least <= value <= greatest:
                return False
    return True


@kernel
def _turns_within_kernel(
    motion: Array, legs: Array, before: Array, step: float, errors: Array, geometry: Array, bounds: Array,
    directions: Array, joints: Array,
) -> bool:  # fmt: skip
    """Whether lengths, speeds, accelerations and joint angles keep to their bounds between two samples, `step` s apart.

    before (6, 7): length, speed, acceleration, c and ċ of both joints at the sample before; replaced by those of now.
    errors (5, 6 or more): of the interpolation in between, see `_errors_kernel`. joints (3, 9): working space.
    """
    within = True
    rotation = joints[2]
    (
        rotation[0], rotation[1], rotation[2], rotation[3], rotation[4], rotation[5], rotation[6], rotation[7],
        rotation[8],
    ) = rotation_matrix(motion[3], motion[4], motion[5], motion[6])  # fmt: skip
    for i in range(6):
        last = before[i]
        v0, v1, a0, a1 = last[1], legs[i, 1], last[2], legs[i, 2]
        error = errors[_LENGTH_ERROR, i]
        within = within and _cubic_within_kernel(
            last[0], v0, legs[i, 0], v1, step, bounds[i, 0] + error, bounds[i, 1] - error
        )  # fmt: skip
        error = bounds[i, 2] - errors[_SPEED_ERROR, i]
        within = within and _cubic_within_kernel(v0, a0, v1, a1, step, -error, error)
        within = within and max(abs(a0), abs(a1)) <= bounds[i, 3] - errors[_ACCELERATION_ERROR, i]
        last[0], last[1], last[2] = legs[i, 0], v1, a1
        _joint_angles_kernel(i, motion, legs, geometry, directions, rotation, joints)
        for joint in range(2):
            k = 3 + 2 * joint
            c0, d0, c1, d1 = last[k], last[k + 1], joints[joint, 0], joints[joint, 1]
            greatest = 0.5 * bounds[i, 4 + joint] - errors[_UNIVERSAL_ERROR + joint, i]
            within = within and _cubic_within_kernel(c0, d0, c1, d1, step, -inf, greatest)
            last[k], last[k + 1] = c1, d1
    return within


@kernel
def _brakes_kernel(
    state: Array, duration: float, shortest: float, geometry: Array, frame: Array, bounds: Array, directions: Array,
    numbers: Array, scratch: Array, motion: Array, legs: Array, before: Array, joints: Array, work: Array,
) -> bool:  # fmt: skip
    """Whether the braking path from a state, of `duration` s, keeps to all bounds. scratch (13, 18): rows 3 to 12."""
    samples = max(_FEWEST, int(_FINENESS * duration / shortest))
    sample, errors, rates = scratch[3], scratch[4:9], scratch[9:13]
    _braking_rates_kernel(state, duration, rates)
    if not _errors_kernel(rates, duration / samples, geometry, frame, bounds, errors):
        return False
    for row in range(samples, -1, -1):  # its end first, which fails most often
        braking_kernel(state, duration, duration * row / samples, sample)
        if not _within_kernel(sample, geometry, frame, bounds, directions, numbers, motion, legs, work):
            return False
        turns = _turns_within_kernel(
            motion, legs, before, -duration / samples, errors, geometry, bounds, directions, joints
        )  # fmt: skip
        if row < samples and not turns:
            return False
    return True


@kernel
def _braking_time_kernel(
    state: Array, shortest: float, last: int, geometry: Array, frame: Array, bounds: Array, directions: Array,
    numbers: Array, scratch: Array, motion: Array, legs: Array, before: Array, joints: Array, work: Array,
) -> int:  # fmt: skip
    """Index of a duration in which the platform brakes within all bounds; near to `last`, and shorter first.

    Returns −1 if there is none.
    """
    count = len(_DURATIONS)
    for distance in range(count):
        for side in range(2):
            place = last - distance if side == 0 else last + distance
            if place < 0 or place >= count or (side == 1 and distance == 0):
                continue
            if _brakes_kernel(
                state, shortest * _DURATIONS[place], shortest, geometry, frame, bounds, directions, numbers, scratch,
                motion, legs, before, joints, work,
            ):  # fmt: skip
                return place
    return -1


@kernel
def _step_to(now: Array, accelerations: Array, period: float, out: Array) -> None:
    """State a period later with the accelerations (6,) then, linear in between: cubics of the coordinates."""
    for i in range(6):
        a, b = now[12 + i], accelerations[i]
        out[i] = now[i] + period * (now[6 + i] + period * (2.0 * a + b) / 6.0)
        out[6 + i] = now[6 + i] + 0.5 * period * (a + b)
        out[12 + i] = b


@kernel
def _clip(value: float, low: float, high: float) -> float:
    return low if value < low else high if value > high else value


@kernel
def _joint_angles_kernel(
    i: int, motion: Array, legs: Array, geometry: Array, directions: Array, rotation: Array, out: Array
) -> None:
    """Angles at both joints of leg i as c = 1 − cos φ, with ċ and c̈, and what c̈ changes by with the acceleration.

    Universal joint: cos φ = s·h, with the leg's direction h at home. Spherical joint: cos φ = s·m, with m = R k that of
    home in platform axes. rotation (9,): R. out (2, 9) by joint: c, ċ, c̈, ∂c̈/∂S̈ (3), ∂c̈/∂α beyond that of S̈ (3).
    """
    length, speed, acceleration = legs[i, 0], legs[i, 1], legs[i, 2]
    sx, sy, sz = legs[i, 3], legs[i, 4], legs[i, 5]
    wx, wy, wz = motion[10], motion[11], motion[12]
    ax, ay, az = motion[16], motion[17], motion[18]
    r00, r01, r02, r10, r11, r12 = rotation[0], rotation[1], rotation[2], rotation[3], rotation[4], rotation[5]
    r20, r21, r22 = rotation[6], rotation[7], rotation[8]
    qx, qy, qz = rotate(r00, r01, r02, r10, r11, r12, r20, r21, r22, geometry[i, 6], geometry[i, 7], geometry[i, 8])
    dx, dy, dz, ex, ey, ez = point_motion(
        qx, qy, qz, motion[7], motion[8], motion[9], wx, wy, wz, motion[13], motion[14], motion[15], ax, ay, az
    )  # fmt: skip
    inverse = 1.0 / length
    vx, vy, vz = inverse * (dx - speed * sx), inverse * (dy - speed * sy), inverse * (dz - speed * sz)  # ṡ
    ux = inverse * (ex - acceleration * sx - 2.0 * speed * vx)  # s̈
    uy = inverse * (ey - acceleration * sy - 2.0 * speed * vy)
    uz = inverse * (ez - acceleration * sz - 2.0 * speed * vz)
    for joint in range(2):
        k = 3 * joint
        hx, hy, hz = directions[i, k], directions[i, k + 1], directions[i, k + 2]
        row = out[joint]
        row[6], row[7], row[8] = 0.0, 0.0, 0.0
        cosine, rate, change = 0.0, 0.0, 0.0
        if joint == 1:
            hx, hy, hz = rotate(r00, r01, r02, r10, r11, r12, r20, r21, r22, hx, hy, hz)
            mx, my, mz = cross(wx, wy, wz, hx, hy, hz)
            nx, ny, nz = cross(wx, wy, wz, mx, my, mz)
            ox, oy, oz = cross(ax, ay, az, hx, hy, hz)
            rate = dot(sx, sy, sz, mx, my, mz)
            change = 2.0 * dot(vx, vy, vz, mx, my, mz) + dot(sx, sy, sz, nx + ox, ny + oy, nz + oz)
            mx, my, mz = cross(hx, hy, hz, sx, sy, sz)
            row[6], row[7], row[8] = -mx, -my, -mz
        cosine = dot(sx, sy, sz, hx, hy, hz)
        row[0] = 1.0 - cosine
        row[1] = -(dot(vx, vy, vz, hx, hy, hz) + rate)
        row[2] = -(dot(ux, uy, uz, hx, hy, hz) + change)
        row[3], row[4] = -inverse * (hx - cosine * sx), -inverse * (hy - cosine * sy)
        row[5] = -inverse * (hz - cosine * sz)


@kernel
def _gradient_kernel(
    arm: tuple[float, float, float], force: tuple[float, float, float], moment: tuple[float, float, float],
    frame: Array, angles: Array, out: Array,
) -> None:  # fmt: skip
    """Change of a number with the coordinates' accelerations, into `out` (6,): from those with S̈ and with α.

    arm: of the leg's platform point from the head, base axes. angles (4,): cos θy, sin θy, cos θz, sin θz.
    """
    mx, my, mz = cross(arm[0], arm[1], arm[2], force[0], force[1], force[2])
    mx, my, mz = mx + moment[0], my + moment[1], mz + moment[2]
    # into the axes at home, in which the coordinates are
    out[0], out[1], out[2] = rotate(
        frame[7], frame[10], frame[13], frame[8], frame[11], frame[14], frame[9], frame[12], frame[15],
        force[0], force[1], force[2],
    )  # fmt: skip
    mx, my, mz = rotate(
        frame[7], frame[10], frame[13], frame[8], frame[11], frame[14], frame[9], frame[12], frame[15], mx, my, mz
    )  # fmt: skip
    cy, sy, cz, sz = angles[0], angles[1], angles[2], angles[3]
    out[3] = cy * cz * mx + cy * sz * my - sy * mz
    out[4] = -sz * mx + cz * my
    out[5] = mz


@kernel
def _project_kernel(
    wanted: Array, now_legs: Array, period: float, geometry: Array, frame: Array, directions: Array, soft: Array,
    weights: Array, candidate: Array, motion: Array, legs: Array, joints: Array, limits: Array, rows: Array,
    change: Array,
) -> bool:  # fmt: skip
    """Change the accelerations `wanted` (6,) to the nearest that keep to the soft bounds; whether they changed.

    A quadratic program, min dᵀ W d with low ≤ G d ≤ high: a row of G for each leg's length and for the angles at its
    joints, 18 in all. Near its bound a quantity c keeps c̈ ≤ p² (c_max − c) − 2 p ċ, so that it comes to rest there
    without overshoot (a barrier function of second order); a speed keeps L̈ ≤ r (V − L̇). Accelerations and jerks of the
    legs are bounded too. Solved by Hildreth's method, coordinate ascent of the dual. What it leaves beyond a bound, the
    braking path takes care of.

    `candidate` is the state of `wanted`, `motion` and `legs` those of it. soft (6, 9): least and greatest length,
    speed, acceleration, jerk, p of the ends and r of the speed, greatest c at the universal and the spherical joint.
    Working space: joints (3, 9), limits (18, 4), rows (18, 6), change (6,).
    """
    rotation = joints[2]
    (
        rotation[0], rotation[1], rotation[2], rotation[3], rotation[4], rotation[5], rotation[6], rotation[7],
        rotation[8],
    ) = rotation_matrix(motion[3], motion[4], motion[5], motion[6])  # fmt: skip
    active = False
    for i in range(6):
        length, speed, acceleration = legs[i, 0], legs[i, 1], legs[i, 2]
        most, jerk, p, r = soft[i, 3], soft[i, 4], soft[i, 5], soft[i, 6]
        low = max(-most - acceleration, now_legs[i, 2] - jerk * period - acceleration)
        high = min(most - acceleration, now_legs[i, 2] + jerk * period - acceleration)
        if low > high:  # the acceleration of now is beyond its bound, and falls off as fast as it may
            low = high = low if now_legs[i, 2] > 0.0 else high
        at_end = 1.0 + p * period + p * p * period * period / 6.0
        at_speed = 1.0 + 0.5 * r * period
        above = min(
            (p * p * (soft[i, 1] - length) - 2.0 * p * speed - acceleration) / at_end,
            (r * (soft[i, 2] - speed) - acceleration) / at_speed,
        )
        below = max(
            (p * p * (soft[i, 0] - length) - 2.0 * p * speed - acceleration) / at_end,
            (r * (-soft[i, 2] - speed) - acceleration) / at_speed,
        )
        above, below = _clip(above, low, high), _clip(below, low, high)
        if below > above:
            above = below = 0.5 * (above + below)
        limits[3 * i, 0], limits[3 * i, 1] = below, above
        active = active or below > 0.0 or above < 0.0
        _joint_angles_kernel(i, motion, legs, geometry, directions, rotation, joints)
        for joint in range(2):
            row = joints[joint]
            above = (p * p * (soft[i, 7 + joint] - row[0]) - 2.0 * p * row[1] - row[2]) / at_end
            limits[3 * i + 1 + joint, 0], limits[3 * i + 1 + joint, 1] = -inf, above
            active = active or above < 0.0
    if not active:
        return False
    angles = change  # of the same size, and not needed before the solution begins
    angles[0], angles[1] = cos(candidate[4]), sin(candidate[4])
    angles[2], angles[3] = cos(candidate[5]), sin(candidate[5])
    for i in range(6):
        arm = rotate(
            rotation[0], rotation[1], rotation[2], rotation[3], rotation[4], rotation[5], rotation[6], rotation[7],
            rotation[8], geometry[i, 6] - frame[16], geometry[i, 7] - frame[17], geometry[i, 8] - frame[18],
        )  # fmt: skip
        _gradient_kernel(
            arm, (legs[i, 3], legs[i, 4], legs[i, 5]), (0.0, 0.0, 0.0), frame, angles, rows[3 * i]
        )  # fmt: skip
        _joint_angles_kernel(i, motion, legs, geometry, directions, rotation, joints)
        for joint in range(2):
            row = joints[joint]
            _gradient_kernel(
                arm, (row[3], row[4], row[5]), (row[6], row[7], row[8]), frame, angles, rows[3 * i + 1 + joint]
            )  # fmt: skip
    _solve_kernel(wanted, weights, rows, limits, change)
    return True


@kernel
def _solve_kernel(wanted: Array, weights: Array, rows: Array, limits: Array, change: Array) -> None:
    """Add to `wanted` (6,) the d of least dᵀ W d with low ≤ G d ≤ high; limits (n, 4): low, high, working space."""
    count = rows.shape[0]
    for k in range(6):
        change[k] = 0.0
    for i in range(count):
        total = 0.0
        for k in range(6):
            total += rows[i, k] * rows[i, k] / weights[k]
        limits[i, 2], limits[i, 3] = total, 0.0
    for _ in range(_SWEEPS):
        moved = 0.0
        for i in range(count):
            if not limits[i, 2] > _SMALLEST:
                continue
            total = 0.0
            for k in range(6):
                total += rows[i, k] * change[k]
            # the multiplier is above 0 at the lower bound, below 0 at the upper one
            multiplier = limits[i, 3]
            free = multiplier - total / limits[i, 2]
            wanted_multiplier = max(0.0, free + limits[i, 0] / limits[i, 2])
            if wanted_multiplier == 0.0:
                wanted_multiplier = min(0.0, free + limits[i, 1] / limits[i, 2])
            step = wanted_multiplier - multiplier
            limits[i, 3] = wanted_multiplier
            moved = max(moved, abs(step) * limits[i, 2])
            for k in range(6):
                change[k] += step * rows[i, k] / weights[k]
        if moved < _CONVERGED:
            break
    for k in range(6):
        wanted[k] += change[k]


@kernel
def limited_step_kernel(
    wanted: Array, hold: bool, now: Array, now_legs: Array, plan: Array, times: Array, geometry: Array, frame: Array,
    bounds: Array, directions: Array, numbers: Array, soft: Array, weights: Array, scratch: Array, limits: Array,
    rows: Array, conditioning: Array, joints: Array, change: Array, before: Array, legs: Array, motion: Array,
) -> int:  # fmt: skip
    """Step a state towards the accelerations `wanted` (6,) by one period; return flags.

    hold: brake, whatever is wanted. now (18,), now_legs (6, 13): the state and its legs, replaced. plan (18,): state
    from which the known braking path goes; times (4,): period, shortest duration of a path, s, index of the path's
    duration, time on it, s. motion (19,): that of the new state. Working space: scratch (13, 18), limits (18, 4),
    rows (18, 6), conditioning (6, 7), joints (3, 9), change (6,), before (3, 6, 7), legs (6, 13); before[2] keeps what
    the legs did before.
    """
    period, shortest = times[0], times[1]
    last = int(times[2])
    braked, candidate, tried, errors, rates = scratch[0], scratch[1], scratch[2], scratch[4:9], scratch[9:13]
    braking_kernel(plan, shortest * _DURATIONS[last], times[3] + period, braked)
    flags = 0
    if not hold:
        _step_to(now, wanted, period, candidate)
        head_motion_kernel(candidate, frame, motion)
        if inverse_kinematics_kernel(geometry, motion, legs) == 0:
            if _project_kernel(
                wanted, now_legs, period, geometry, frame, directions, soft, weights, candidate, motion, legs, joints,
                limits, rows, change,
            ):  # fmt: skip
                flags |= LIMITED
                _step_to(now, wanted, period, candidate)
            for share in _SHARES:
                for k in range(18):
                    tried[k] = braked[k] + share * (candidate[k] - braked[k])
                if not _within_kernel(
                    tried, geometry, frame, bounds, directions, numbers, motion, now_legs, conditioning
                ):  # fmt: skip
                    continue
                _copy_kernel(before[2], before[1])
                _step_rates_kernel(now, tried, period, rates)
                if not _errors_kernel(rates, period, geometry, frame, bounds, errors):
                    continue
                if not _turns_within_kernel(
                    motion, now_legs, before[1], period, errors, geometry, bounds, directions, joints
                ):  # fmt: skip
                    continue
                found = _braking_time_kernel(
                    tried, shortest, last, geometry, frame, bounds, directions, numbers, scratch, motion, legs,
                    before[0], joints, conditioning,
                )  # fmt: skip
                if found >= 0:
                    for k in range(18):
                        now[k] = tried[k]
                        plan[k] = tried[k]
                    times[2], times[3] = float(found), 0.0
                    _copy_kernel(before[1], before[2])
                    head_motion_kernel(now, frame, motion)
                    return flags if share == 1.0 else flags | BRAKING
    times[3] += period
    for k in range(18):
        now[k] = braked[k]
    head_motion_kernel(now, frame, motion)
    inverse_kinematics_kernel(geometry, motion, now_legs)
    _turns_within_kernel(motion, now_legs, before[2], period, errors, geometry, bounds, directions, joints)
    return flags | BRAKING


@kernel
def _copy_kernel(source: Array, target: Array) -> None:
    for i in range(source.shape[0]):
        for k in range(source.shape[1]):
            target[i, k] = source[i, k]


def pack_frame(geometry: Geometry, head: Array) -> Array:
    """Frame (19,) of `head_motion_kernel`: home pose, its rotation matrix, the head in platform axes, m."""
    home = geometry.home_pose
    return np.concatenate([home, quaternion_to_matrix(home[3:]).ravel(), head])


def pack_bounds(bounds: MotionBounds, margin: float) -> Array:
    """Bounds (6, 6) that no state passes: lengths `margin` m inside, speed and acceleration a little inside.

    Raises LimitError if nothing of a leg's stroke is left.
    """
    packed = bounds.array.copy()
    packed[:, _LOWEST] += margin
    packed[:, _HIGHEST] -= margin
    if not (packed[:, _LOWEST] < packed[:, _HIGHEST]).all():
        leg = int(np.argmax(packed[:, _LOWEST] - packed[:, _HIGHEST]))
        stroke = bounds.array[leg, _HIGHEST] - bounds.array[leg, _LOWEST]
        raise LimitError("stroke_margin", f"{margin:g} m at both ends leaves nothing of leg {leg + 1}'s {stroke:g} m")
    packed[:, [_SPEED, _ACCELERATION]] *= _INSIDE
    angles = packed[:, _UNIVERSAL:]
    packed[:, _UNIVERSAL:] = np.where(angles < pi, (2.0 * np.sin(0.5 * _ANGLE_INSIDE * angles)) ** 2, inf)
    return packed


def pack_directions(geometry: Geometry) -> Array:
    """Directions of the legs at home (6, 6): in base and in platform axes."""
    home = geometry.home_pose
    directions = geometry.platform_joints(home) - geometry.base_points
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return np.hstack([directions, directions @ quaternion_to_matrix(home[3:])])


def pack_numbers(bounds: MotionBounds) -> Array:
    """Numbers (3,) of a pose: greatest condition number, its characteristic length m, greatest angle rad."""
    return np.array([_INSIDE * bounds.condition, bounds.characteristic_length, _STEEPEST_ANGLE])


def shortest_braking(bounds: Array, period: float) -> float:
    """Shortest duration of a braking path, s: a leg's speed by its acceleration, and at least two periods."""
    with np.errstate(invalid="ignore"):
        times = bounds[:, _SPEED] / bounds[:, _ACCELERATION]
    usual = float(np.max(times[np.isfinite(times) & (times > 0.0)], initial=0.0)) or _USUAL
    return max(usual, 2.0 * period)


class Limiter:
    """State of a platform that is led towards wanted accelerations, and never out of its bounds.

    Args:
        geometry: of the mechanism, with a home.
        bounds: of the legs and of the pose, which no state passes.
        soft: (6, 9), see `_project_kernel`.
        weights: (6,) of the changes of the accelerations of x, y, z, θx, θy, θz.
        margin: m, from the ends of the legs' strokes.
        head: (3,) m, the point that the coordinates are those of, in platform axes from the platform's origin.
        period: s.

    Raises:
        KinematicsError: the home pose is not within the bounds, or there is none.
    """

    def __init__(
        self, geometry: Geometry, bounds: MotionBounds, soft: Array, weights: Array, margin: float, head: Array,
        period: float,
    ) -> None:  # fmt: skip
        self.geometry = geometry
        self.soft, self.weights = soft, weights
        self._frame = pack_frame(geometry, head)
        self._bounds = pack_bounds(bounds, margin)
        self._directions = pack_directions(geometry)
        self._numbers = pack_numbers(bounds)
        self.state = np.zeros(18)
        """coordinates, rates and accelerations of the head, see the module"""
        self.legs = np.zeros((LEGS, LEG_COLUMNS))
        self.motion = np.zeros(19)
        """of the platform's origin, base frame"""
        self._plan = np.zeros(18)
        self._times = np.array([period, shortest_braking(self._bounds, period), 0.0, 0.0])
        self._scratch, self._limits, self._rows = np.zeros((_WORK_ROWS, 18)), np.zeros((18, 4)), np.zeros((18, 6))
        self._conditioning, self._joints, self._change = np.zeros((6, 7)), np.zeros((3, 9)), np.zeros(6)
        self._before, self._work_legs = np.zeros((3, LEGS, 7)), np.zeros((LEGS, LEG_COLUMNS))
        self.reset()

    @property
    def arguments(self) -> tuple[Array, ...]:
        """Return the arrays of `limited_step_kernel` behind `hold`, in its order."""
        return (
            self.state, self.legs, self._plan, self._times, self.geometry.array, self._frame, self._bounds,
            self._directions, self._numbers, self.soft, self.weights, self._scratch, self._limits, self._rows,
            self._conditioning, self._joints, self._change, self._before, self._work_legs, self.motion,
        )  # fmt: skip

    def reset(self) -> None:
        """Put the platform to rest at home."""
        self.state[:], self._plan[:], self._times[2:] = 0.0, 0.0, 0.0
        inside = _within_kernel(
            self.state, self.geometry.array, self._frame, self._bounds, self._directions, self._numbers, self.motion,
            self.legs, self._conditioning,
        )  # fmt: skip
        if not inside:
            raise KinematicsError("the home pose is not within the bounds of the motion")
        _turns_within_kernel(
            self.motion, self.legs, self._before[2], 1.0, self._scratch[4:9], self.geometry.array, self._bounds,
            self._directions, self._joints,
        )  # fmt: skip

    @property
    def braking_time(self) -> float:
        """Remaining duration of the known braking path, s; 0 at rest."""
        duration = self._times[1] * _DURATIONS[int(self._times[2])]
        return float(max(0.0, duration - self._times[3])) if self.state[6:].any() else 0.0

    def braking_path(self, times: npt.ArrayLike) -> Array:
        """Return motions (n, 19) of the known braking path, at times (n,) s from now."""
        duration = float(self._times[1] * _DURATIONS[int(self._times[2])])
        moments = np.atleast_1d(np.asarray(times, dtype=np.float64))
        state, out = np.zeros(18), np.zeros((len(moments), 19))
        for row, moment in enumerate(moments):
            braking_kernel(self._plan, duration, float(self._times[3] + moment), state)
            head_motion_kernel(state, self._frame, out[row])
        return out
