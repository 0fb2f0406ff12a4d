"""Braking ahead: whether the platform can come to rest within all limits from a state, before it gets there.

A table is known to its end before it begins. A motion that arises while it is followed is not, so each state of it is
taken only if a braking path begins there that stays within the limits of stroke, speed, acceleration, joint angles,
conditioning and force. The state after it either is taken too, or that path is followed.

The braking path of T s from coordinates q, rates v and accelerations a (six each), with x = t/T and y = t/T_a, T_a ≤ T:
    q(t) = q + v T (x − x³ + x⁴/2) + a T_a² (y²/2 − 2y³/3 + y⁴/4)
The rates fall to zero with a cubic, the acceleration within T_a; speed and acceleration are continuous.

A path is looked at in some places, forces with Coulomb friction against it, as a leg may turn back between two of them.
Few are evaluated: near a state with the legs' Jacobian J(q), for a displacement δ,
rates v' and accelerations a' of the coordinates,
    L' = L + J δ        L̇' = J v'        L̈' = J a'
to within e = ½ h(δ, δ), h(δ, v') and h(δ, a') + h(v', v'), as the second derivatives of a leg's length are bounded by
    |∂²L(x, y)| ≤ h(x, y) = p |x_θ| |y_θ| + N(x) N(y)/L_min,        N(x) = |x_t| + p |x_θ|
with the translation's norm |x_t|, the sum |x_θ| over the angles, the greatest distance p of a joint, or of the centre
of mass, from the platform's origin, and the least length L_min = L − N(δ). Conditioning and forces are known at an
anchor, a pose at rest nearby, and bounded about it. What that leaves undecided is evaluated.
"""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dynamics import WORK_SIZE, Dynamics, LegLimits, forces_kernel
from kinematics import (
    MINIMUM_LENGTH,
    MINIMUM_SINE,
    Array,
    condition_number_kernel,
    coordinates_to_motion_kernel,
    cross,
    dot,
    inlined,
    kernel,
    leg_direction,
    point_motion,
    quaternion_to_matrix,
    rotate,
    rotation_matrix,
)
from rig.config import RigConfig

DURATIONS = (0.02, 0.04, 0.07, 0.12, 0.2, 0.35, 0.6)
"""Durations of a braking path that are tried, as parts of `safety.stop_time`."""
_CALM = 0.04  # s, at most, in which the acceleration at the beginning falls to zero
PART = 0.99
"""Part of the legs' limits of speed, acceleration and force that a state may use, as peaks lie between two samples."""
_STROKE = 3e-4  # m, likewise at both ends of a leg's stroke
_ANGLE = 2e-3  # rad, and of a joint's angle
# Where a path is looked at, in parts of its duration or of that of its beginning, in which the acceleration falls: the
# end first, where the stroke is used up, then where the deceleration is greatest, and where the acceleration has
# overshot.
_PLACES = (1.0, 0.5, 2.0 / 3.0, 1.0, 0.83, 0.3, 0.12, 0.48, 0.14, 0.28, 0.65, 0.8, 0.95)
_IN_CALM = (False, False, True, True, True, True, True, True, False, False, False, False, False)
_SAMPLES = len(_PLACES)
_SHARE = 0.94  # of the bound of acceleration: between two places of a path it may be greater by some percent
_FORCE_SHARE = 0.97  # of the force's, likewise
_TURN = 0.12 * _CALM  # s: a leg that turns back sooner does so before the first place of a path that is looked at
_CONDITIONED = 3  # of these, where the conditioning is looked at as well, which changes slowly
_NEAR = 0.02  # of a leg's length, within which the anchor stays

WITHIN, NOT_FINITE, LENGTH, SPEED, ACCELERATION, CONDITION, UNIVERSAL, SPHERICAL, FORCE, NO_PATH = range(10)
"""What stands against a state: nothing, a quantity of a leg or the pose, or that no braking path begins there."""

HERE, ELSEWHERE = 0, 1
"""Which evaluation: of the state that is judged, about which others are bounded; or of another one."""
LOADED, SURE, OPEN, BEYOND = 2, 1, 0, -1
"""What a bound says: all is within, all but the forces is, undecided, something is beyond."""
_L, _SPEED, ACCELERATION_OF, LINEAR_OF, _UNIVERSAL, _SPHERICAL, _AXIAL = range(7)
COLUMNS = 7
"""Of an evaluated leg: L, L̇, L̈, J a, cosines of its joints' angles from home, |u·s|."""
_AXIAL_MOST = math.sqrt(1.0 - 1e-6)  # cosine of a leg to its universal joint's fixed axis, up to which it is bounded

AHEAD = np.dtype(
    [
        ("geometry", np.float64, (6, 9)),
        ("bounds", np.float64, (6, 4)),
        ("force", np.float64, (6,)),
        ("home", np.float64, (2, 6, 3)),
        ("cosine", np.float64, (2, 6)),
        ("condition", np.float64),
        ("characteristic_length", np.float64),
        ("durations", np.float64, (len(DURATIONS),)),
        ("last", np.int64),
        ("what", np.int64),
        ("leg", np.int64),
        ("value", np.float64),
        ("arm", np.float64),
        ("basis", np.float64, (len(DURATIONS) + 1, _SAMPLES, 6)),
        ("anchor", np.float64, (6,)),
        ("least", np.float64),
        ("greatest", np.float64),
        ("shortest", np.float64),
        ("longest", np.float64),
        ("axial", np.float64),
        ("static", np.float64, (6,)),
        ("mass", np.float64),
        ("center", np.float64),
        ("inertia", np.float64),
        ("gravity", np.float64),
        ("lower_mass", np.float64),
        ("lower_center", np.float64, (2,)),
        ("upper_mass", np.float64),
        ("upper_center", np.float64, (3,)),
        ("leg_inertia", np.float64),
        ("universal", np.float64),
        ("spherical", np.float64),
        ("viscous", np.float64),
        ("coulomb", np.float64),
        ("drive_mass", np.float64),
        ("sliding", np.float64, (6,)),
        ("motion", np.float64, (19,)),
        ("state", np.float64, (18,)),
        ("change", np.float64, (6,)),
        ("legs", np.float64, (2, 6, COLUMNS)),
        ("jacobian", np.float64, (2, 6, 6)),
        ("matrix", np.float64, (6, 6)),
        ("forces", np.float64, (6,)),
        ("wrench", np.float64, (6,)),
        ("work", np.float64, (WORK_SIZE,)),
        ("smooth", np.float64, (WORK_SIZE,)),
    ],
    align=True,
)
"""Bounds and working memory of the check.

bounds: (6, 4) least and greatest length m, speed m/s and acceleration m/s² of a leg. force: (6,) N. home: (2, 6, 3)
directions of the legs at home, base and platform axes. cosine: (2, 6) of the greatest angles from these. last: index of
the duration that passed last. what, leg (index) and value: what the last refusal was for. arm: p, m. basis: factors of
v and a in displacement, rates and accelerations, by duration and place, the last one for any other duration. anchor:
its coordinates; least, greatest: singular values of its H with scaled moments; shortest, longest: lengths of its
legs, m; axial: the greatest |u·s| of these; static: forces there, N. The rest bounds masses, kg, and centres of mass,
m, of the platform and of any leg's parts (along the leg and aside; upper: least and greatest along it, and aside),
inertias, kg m², and friction; sliding: Coulomb friction of each leg, N. smooth: as work, without Coulomb friction.
"""

Ahead = NDArray[np.void]


@inlined
def rest_basis(duration: float, calm: float, elapsed: float) -> tuple[float, float, float, float, float, float]:
    """Factors of v and a in displacement, rates and accelerations, `elapsed` s after the beginning of a braking path.

    duration, calm: T and T_a, s.
    """
    x, y = min(elapsed / duration, 1.0), min(elapsed / calm, 1.0)
    return (
        duration * x * (1.0 + x * x * (0.5 * x - 1.0)), calm * calm * y * y * (0.5 + y * (0.25 * y - 2.0 / 3.0)),
        1.0 + x * x * (2.0 * x - 3.0), calm * y * (1.0 + y * (y - 2.0)),
        -6.0 * x * (1.0 - x) / duration, 1.0 + y * (3.0 * y - 4.0),
    )  # fmt: skip


@kernel
def rest_state_kernel(state: Array, duration: float, calm: float, elapsed: float, out: Array) -> None:
    """State (18,) on the braking path from `state` (18,), `elapsed` s after its beginning, into `out`; not the same.

    duration, calm: T and T_a, s, of the path.
    """
    moved, calm_moved, rate, calm_rate, change, calm_change = rest_basis(duration, calm, elapsed)
    for i in range(6):
        v, a = state[6 + i], state[12 + i]
        out[i] = state[i] + v * moved + a * calm_moved
        out[6 + i] = v * rate + a * calm_rate
        out[12 + i] = v * change + a * calm_change


@kernel
def calm_of(duration: float) -> float:
    """T_a of a braking path of `duration` s."""
    return min(duration, _CALM)


@kernel
def _set_basis(ahead: Ahead, row: int, duration: float) -> None:
    """Fill a row of the basis for paths of `duration` s."""
    calm = calm_of(duration)
    for sample in range(_SAMPLES):
        basis = ahead[0].basis[row, sample]
        elapsed = _PLACES[sample] * (calm if _IN_CALM[sample] else duration)
        basis[0], basis[1], basis[2], basis[3], basis[4], basis[5] = rest_basis(duration, calm, elapsed)


@inlined
def along(ahead: Ahead, at: int, leg: int, x: Array, start: int) -> float:
    """J x of a leg at an evaluated state, of six numbers from `start` on."""
    J = ahead[0].jacobian
    rate: float = (
        J[at, leg, 0] * x[start] + J[at, leg, 1] * x[start + 1] + J[at, leg, 2] * x[start + 2]
        + J[at, leg, 3] * x[start + 3] + J[at, leg, 4] * x[start + 4] + J[at, leg, 5] * x[start + 5]
    )  # fmt: skip
    return rate


@kernel
def evaluate_kernel(ahead: Ahead, state: Array, at: int) -> None:
    """Motion of the legs and J at a state (18,), into `legs` and `jacobian` at `at`, and its motion.

    L̈ = s·S̈ + (|Ṡ|² − L̇²)/L        J = [s, Eᵀ(q×s)], with ω = E θ̇
    """
    data = ahead[0]
    motion, geometry, home = data.motion[:], data.geometry, data.home
    coordinates_to_motion_kernel(state, motion)
    r00, r01, r02, r10, r11, r12, r20, r21, r22 = rotation_matrix(motion[3], motion[4], motion[5], motion[6])
    per = 1.0 / math.sqrt(r00 * r00 + r10 * r10)
    sz, cz = r10 * per, r00 * per
    for i in range(6):
        legs, J = data.legs[at, i], data.jacobian[at, i]
        qx, qy, qz = rotate(
            r00, r01, r02, r10, r11, r12, r20, r21, r22, geometry[i, 6], geometry[i, 7], geometry[i, 8]
        )  # fmt: skip
        L, per_L, x, y, z = leg_direction(
            geometry[i, 0], geometry[i, 1], geometry[i, 2], qx, qy, qz, motion[0], motion[1], motion[2]
        )
        mx, my, mz = cross(qx, qy, qz, x, y, z)
        dx, dy, dz, ex, ey, ez = point_motion(
            qx, qy, qz, motion[7], motion[8], motion[9], motion[10], motion[11], motion[12],
            motion[13], motion[14], motion[15], motion[16], motion[17], motion[18],
        )  # fmt: skip
        speed = dot(x, y, z, dx, dy, dz)
        J[0], J[1], J[2] = x, y, z
        J[3], J[4], J[5] = mx * r00 + my * r10 + mz * r20, my * cz - mx * sz, mz
        legs[_L], legs[_SPEED] = L, speed
        legs[ACCELERATION_OF] = dot(x, y, z, ex, ey, ez) + (dot(dx, dy, dz, dx, dy, dz) - speed * speed) * per_L
        legs[LINEAR_OF] = along(ahead, at, i, state, 12)
        legs[_UNIVERSAL] = x * home[0, i, 0] + y * home[0, i, 1] + z * home[0, i, 2]
        legs[_AXIAL] = abs(x * geometry[i, 3] + y * geometry[i, 4] + z * geometry[i, 5])
        x, y, z = rotate(r00, r10, r20, r01, r11, r21, r02, r12, r22, x, y, z)
        legs[_SPHERICAL] = x * home[1, i, 0] + y * home[1, i, 1] + z * home[1, i, 2]


@kernel
def state_within_kernel(ahead: Ahead, state: Array, whole: bool, share: float, at: int) -> bool:
    """Whether a state (18,) of coordinates, rates and accelerations keeps to all bounds but the force's.

    If not, why is stored. whole: look at the conditioning as well. share: of the bound of acceleration, that is used.
    at: where to keep what is evaluated.
    """
    data = ahead[0]
    bounds = data.bounds
    what, leg, value = WITHIN, -1, 0.0
    for k in range(18):
        if not math.isfinite(state[k]):
            what, value = NOT_FINITE, state[k]
    if what == WITHIN:
        evaluate_kernel(ahead, state, at)
        for i in range(6):
            legs = data.legs[at, i]
            if not (legs[_L] >= MINIMUM_LENGTH and 1.0 - legs[_AXIAL] * legs[_AXIAL] >= MINIMUM_SINE * MINIMUM_SINE):
                what, leg = UNIVERSAL, i
            elif not bounds[i, 0] <= legs[_L] <= bounds[i, 1]:
                what, leg, value = LENGTH, i, legs[_L]
            elif not abs(legs[_SPEED]) <= bounds[i, 2]:
                what, leg, value = SPEED, i, legs[_SPEED]
            elif not abs(legs[ACCELERATION_OF]) <= share * bounds[i, 3]:
                what, leg, value = ACCELERATION, i, legs[ACCELERATION_OF]
            elif not legs[_UNIVERSAL] >= data.cosine[0, i]:
                what, leg, value = UNIVERSAL, i, math.acos(max(-1.0, min(1.0, legs[_UNIVERSAL])))
            elif not legs[_SPHERICAL] >= data.cosine[1, i]:
                what, leg, value = SPHERICAL, i, math.acos(max(-1.0, min(1.0, legs[_SPHERICAL])))
            if what != WITHIN:
                break
    if what == WITHIN and whole and not _conditioned(ahead, *_from_anchor(ahead, state)):
        condition = condition_number_kernel(
            data.geometry[:], data.motion[:7], data.characteristic_length, data.matrix[:]
        )
        if not condition <= data.condition:
            what, value = CONDITION, condition
    if what != WITHIN:
        data.what, data.leg, data.value = what, leg, value
    return what == WITHIN


@kernel
def _move_anchor(ahead: Ahead, state: Array) -> None:
    """Make the pose of the evaluated state the anchor."""
    data = ahead[0]
    motion, matrix, forces = data.motion[:], data.matrix[:], data.forces[:]
    condition_number_kernel(data.geometry[:], motion[:7], data.characteristic_length, matrix)
    least, data.greatest, data.shortest, data.longest, data.axial = math.inf, 0.0, math.inf, 0.0, 0.0
    for i in range(6):
        square = 0.0
        for k in range(6):
            square += matrix[i, k] * matrix[i, k]  # its rows are orthogonal now, as long as the singular values
        least, data.greatest = min(least, math.sqrt(square)), max(data.greatest, math.sqrt(square))
        legs = data.legs[HERE, i]
        data.shortest, data.longest = min(data.shortest, legs[_L]), max(data.longest, legs[_L])
        data.axial = max(data.axial, legs[_AXIAL])
        data.anchor[i] = state[i]
    for k in range(7, 19):
        motion[k] = 0.0
    data.least = least if forces_kernel(motion, data.wrench[:], data.work[:], forces) == 0 else 0.0
    for i in range(6):
        data.static[i] = forces[i]
    coordinates_to_motion_kernel(state, motion)


@inlined
def _norms(x: Array, start: int, arm: float) -> tuple[float, float]:
    """N and the sum over the angles, of six numbers from `start` on."""
    turn = abs(x[start + 3]) + abs(x[start + 4]) + abs(x[start + 5])
    moved = math.sqrt(x[start] * x[start] + x[start + 1] * x[start + 1] + x[start + 2] * x[start + 2])
    return moved + arm * turn, turn


@inlined
def _from_anchor(ahead: Ahead, state: Array) -> tuple[float, float]:
    """N and the sum over the angles of the displacement from the anchor to a state."""
    data = ahead[0]
    for k in range(6):
        data.change[k] = state[k] - data.anchor[k]
    return _norms(data.change, 0, data.arm)


@inlined
def _change_of_matrix(ahead: Ahead, n: float, t: float) -> float:
    """Bound of the change of any singular value of H, with scaled moments, so far from the anchor.

    A column [s; q×s/l] of H changes by no more than d = N/L_min and p (d + |x_θ|)/l, no singular value by more than the
    Frobenius norm of all.
    """
    data = ahead[0]
    d = n / (data.shortest - n)
    moment = data.arm * (d + t) / data.characteristic_length
    return math.sqrt(6.0 * (d * d + moment * moment))


@kernel
def _conditioned(ahead: Ahead, n: float, t: float) -> bool:
    """Whether all poses no farther from the anchor, N and sum over the angles, are certain to be conditioned well."""
    data = ahead[0]
    if not n < data.shortest:
        return False
    change = _change_of_matrix(ahead, n, t)
    within: bool = data.greatest + change <= data.condition * (data.least - change)
    return within


@inlined
def _leg_bounds(ahead: Ahead, V: float, A: float, per: float, slope: float, reach: float) -> tuple[float, float, float]:
    """Bounds of |A_i| + |W|², |a_d| and |a_u| of a leg, from |Ṡ| ≤ V and |S̈| ≤ A, by `kinematics.compiled.legs`.

    Across the leg |W| ≤ V/L and |A_i| ≤ A/L + (2 + μ/n) (V/L)², along it |W_s| ≤ (μ/n) V/L.
    per: 1/L_min. slope: greatest μ/n. reach: of r_u along the leg, m.
    """
    data = ahead[0]
    square = V * V * per * per
    across, inward = A * per + (2.0 + slope) * square, (1.0 + slope * slope) * square
    turning = (1.0 + slope) * across + 2.0 * inward
    lower = data.lower_center[0] * (across + inward) + data.lower_center[1] * turning
    upper = max(1.0, reach * per) * A + 3.0 * V * V * per + reach * ((2.0 + slope) * square + inward)
    return turning, lower, upper + data.upper_center[2] * turning


@kernel
def _loaded(
    ahead: Ahead, n: float, t: float, nv: float, tv: float, na: float, ta: float, share: float
) -> bool:  # fmt: skip
    """Whether the forces of all states no farther than that from the anchor, with such rates, are certain to be within.

    share: of the forces' bounds, that is used.

    The leg forces are F = H⁻¹ Q with the generalised forces Q of inertia, gravity and friction, by virtual work, and
    those of friction and inertia of the drives. So with those at the anchor, F₀ = H₀⁻¹ Q₀,
        |F − F₀| ≤ (|Q − Q₀| + |H − H₀| |F₀|)/σ_min(H)
    A leg's part of mass m and acceleration a contributes m |a − g| |∂v/∂Ṡ|. Its weight's contribution changes with the
    second derivatives of its place, which are its acceleration for |Ṡ| = 1, S̈ = 0.
    """
    data = ahead[0]
    if not n < data.shortest:
        return False
    shortest, length = data.shortest - n, data.characteristic_length
    per = 1.0 / shortest
    axial = data.axial + n * per
    change = _change_of_matrix(ahead, n, t)
    if not (axial <= _AXIAL_MOST and change < data.least):
        return False
    nu = math.sqrt(1.0 - axial * axial)
    slope, once = axial / nu, per / nu
    reach = max(-(shortest + data.upper_center[0]), data.longest + n + data.upper_center[1])
    lever, arm = math.sqrt(1.0 + (data.arm / length) ** 2), data.center / length
    of_lower = data.lower_mass * (data.lower_center[0] * per + data.lower_center[1] * once)
    of_upper = data.upper_mass * (max(1.0, reach * per) + data.upper_center[2] * once)
    A, alpha = na + data.arm * tv * tv, ta + 2.0 * tv * tv
    turning, lower, upper = _leg_bounds(ahead, nv, A, per, slope, reach)
    joints = data.spherical * (nv * once + tv)
    point = (
        of_lower * lower + of_upper * upper + (data.leg_inertia * turning + data.universal * nv * once + joints) * once
    )
    Q = (
        data.mass * A * math.sqrt(1.0 + arm * arm)
        + data.inertia * alpha / length
        + 6.0 * (point * lever + joints / length)
    )
    turning, lower, upper = _leg_bounds(ahead, 1.0, 0.0, per, slope, reach)
    weights = 6.0 * n * (data.lower_mass * lower + data.upper_mass * upper) * lever
    weights += (data.mass * data.center + 6.0 * (of_lower + of_upper) * data.arm) * t / length
    static, most = 0.0, math.inf
    for i in range(6):
        static += data.static[i] * data.static[i]
        most = min(most, share * data.force[i] - abs(data.static[i]))
    by_legs = (Q + data.gravity * weights + change * math.sqrt(static)) / (data.least - change)
    own = data.viscous * nv + data.coulomb + data.drive_mass * (A + nv * nv * per)
    within: bool = by_legs + own <= most
    return within


@inlined
def _verdict(ahead: Ahead, n: float, t: float, nv: float, tv: float, na: float, ta: float, length: float,
    speed: float, acceleration: float) -> int:  # fmt: skip
    """Judge all legs at a place near the evaluated state, of which the worst excesses of J's approximation are given.

    n, t: N and the sum over the angles of the displacement there; nv, tv and na, ta: of rates and accelerations there.
    """
    data = ahead[0]
    legs, p = data.legs, data.arm
    shortest, universal, spherical, axial = math.inf, math.inf, math.inf, 0.0
    for i in range(6):
        shortest = min(shortest, legs[HERE, i, _L])
        universal = min(universal, legs[HERE, i, _UNIVERSAL] - data.cosine[0, i])
        spherical = min(spherical, legs[HERE, i, _SPHERICAL] - data.cosine[1, i])
        axial = max(axial, legs[HERE, i, _AXIAL])
    if not n < 0.5 * shortest:
        return OPEN
    per = 1.0 / (shortest - n)
    of_length = 0.5 * (p * t * t + n * n * per)
    of_speed = p * t * tv + n * nv * per
    of_acceleration = p * t * ta + n * na * per + p * tv * tv + nv * nv * per
    if length > of_length or speed > of_speed or acceleration > of_acceleration:
        return BEYOND
    turned = n * per  # of a leg's direction, at most
    within = length + of_length <= 0.0 and speed + of_speed <= 0.0 and acceleration + of_acceleration <= 0.0
    angles = universal >= turned and spherical >= turned + t and axial + turned <= _AXIAL_MOST
    return SURE if within and angles else OPEN


@kernel
def braking_verdict_kernel(ahead: Ahead, state: Array, row: int) -> int:
    """What is certain of the places of a braking path from the evaluated `state` (18,), of the duration of a basis row.

    LOADED if all is within, SURE if only the forces are undecided.
    """
    data = ahead[0]
    legs, bounds = data.legs, data.bounds
    nv, tv = _norms(state, 6, data.arm)
    na, ta = _norms(state, 12, data.arm)
    V, tV, A, tA = 0.0, 0.0, 0.0, 0.0
    certain = SURE
    for sample in range(_SAMPLES):
        basis = data.basis[row, sample]
        moved, calm_moved, rate, calm_rate, change, calm_change = (
            basis[0], basis[1], basis[2], basis[3], basis[4], basis[5]
        )  # fmt: skip
        length, speed, acceleration = -math.inf, -math.inf, -math.inf
        for i in range(6):
            v, a = legs[HERE, i, _SPEED], legs[HERE, i, LINEAR_OF]
            there = legs[HERE, i, _L] + v * moved + a * calm_moved
            length = max(length, max(there - bounds[i, 1], bounds[i, 0] - there))
            speed = max(speed, abs(v * rate + a * calm_rate) - bounds[i, 2])
            acceleration = max(acceleration, abs(v * change + a * calm_change) - _SHARE * bounds[i, 3])
        change, calm_change = abs(change), abs(calm_change)
        nv_there, tv_there = nv * rate + na * calm_rate, tv * rate + ta * calm_rate
        na_there, ta_there = nv * change + na * calm_change, tv * change + ta * calm_change
        found = _verdict(
            ahead, nv * moved + na * calm_moved, tv * moved + ta * calm_moved, nv_there, tv_there, na_there, ta_there,
            length, speed, acceleration,
        )  # fmt: skip
        V, tV, A, tA = max(V, nv_there), max(tV, tv_there), max(A, na_there), max(tA, ta_there)
        if found == BEYOND:
            return BEYOND
        if found != SURE:
            certain = OPEN
    end, calm_end = data.basis[row, 0, 0], data.basis[row, 0, 1]  # both rise to the end
    n, t = _from_anchor(ahead, state)
    n, t = n + nv * end + na * calm_end, t + tv * end + ta * calm_end
    if certain == SURE and not _conditioned(ahead, n, t):
        return OPEN
    if certain == SURE and _loaded(ahead, n, t, V, tV, A, tA, _FORCE_SHARE):
        return LOADED
    return certain


@kernel
def near_verdict_kernel(ahead: Ahead, centre: Array, state: Array) -> int:
    """What is certain of a state (18,) near the evaluated `centre` (18,), without conditioning and forces."""
    data = ahead[0]
    legs, bounds, change = data.legs, data.bounds, data.change[:]
    for k in range(6):
        change[k] = state[k] - centre[k]
    length, speed, acceleration = -math.inf, -math.inf, -math.inf
    for i in range(6):
        there = legs[HERE, i, _L] + along(ahead, HERE, i, change, 0)
        length = max(length, max(there - bounds[i, 1], bounds[i, 0] - there))
        speed = max(speed, abs(along(ahead, HERE, i, state, 6)) - bounds[i, 2])
        acceleration = max(acceleration, abs(along(ahead, HERE, i, state, 12)) - bounds[i, 3])
    n, t = _norms(change, 0, data.arm)
    nv, tv = _norms(state, 6, data.arm)
    na, ta = _norms(state, 12, data.arm)
    return _verdict(ahead, n, t, nv, tv, na, ta, length, speed, acceleration)


@inlined
def _turns(ahead: Ahead, leg: int) -> bool:
    """Whether a leg may turn back within `_TURN` of the evaluated state."""
    legs = ahead[0].legs
    most = max(abs(legs[HERE, leg, ACCELERATION_OF]), abs(legs[HERE, leg, LINEAR_OF]))
    turns: bool = abs(legs[HERE, leg, _SPEED]) <= _TURN * most
    return turns


@kernel
def forces_within_kernel(ahead: Ahead) -> bool:
    """Whether the forces of the evaluated state, of which `motion` is, keep to their bounds; if not, why is stored.

    Those of a leg that turns back at once do so with Coulomb friction either way.
    """
    data = ahead[0]
    forces, either_way = data.forces[:], False
    status = forces_kernel(data.motion[:], data.wrench[:], data.work[:], forces)
    for i in range(6):
        if status != 0 or not abs(forces[i]) <= data.force[i]:
            data.what, data.leg, data.value = FORCE, i, forces[i]
            return False
        either_way |= abs(forces[i]) + 2.0 * data.sliding[i] > data.force[i] and _turns(ahead, i)
    if not either_way:
        return True
    forces_kernel(data.motion[:], data.wrench[:], data.smooth[:], forces)
    for i in range(6):
        if abs(forces[i]) + data.sliding[i] > data.force[i] and _turns(ahead, i):
            data.what, data.leg, data.value = FORCE, i, math.copysign(abs(forces[i]) + data.sliding[i], forces[i])
            return False
    return True


@kernel
def _braking_forces_within(ahead: Ahead) -> bool:
    """Likewise of a place on a braking path, whichever way the legs slide."""
    data = ahead[0]
    forces = data.forces[:]
    within = forces_kernel(data.motion[:], data.wrench[:], data.smooth[:], forces) == 0
    for i in range(6):
        within = within and abs(forces[i]) + data.sliding[i] <= _FORCE_SHARE * data.force[i]
    if not within:
        data.what = FORCE
    return within


@kernel
def braking_within_kernel(ahead: Ahead, state: Array, row: int, loads: bool) -> bool:
    """Whether a braking path keeps to the bounds, where it is looked at. loads: only the forces are undecided."""
    data = ahead[0]
    then = data.state[:]
    for sample in range(_SAMPLES):
        basis = data.basis[row, sample]
        for i in range(6):
            v, a = state[6 + i], state[12 + i]
            then[i] = state[i] + v * basis[0] + a * basis[1]
            then[6 + i] = v * basis[2] + a * basis[3]
            then[12 + i] = v * basis[4] + a * basis[5]
        if loads:
            coordinates_to_motion_kernel(then, data.motion[:])
        elif not state_within_kernel(ahead, then, sample < _CONDITIONED, _SHARE, ELSEWHERE):
            return False
        if not _braking_forces_within(ahead):
            return False
    return True


@kernel
def judged_kernel(ahead: Ahead, state: Array) -> bool:
    """Whether a state (18,) itself keeps to all bounds; if not, why is stored. It is then the one that is evaluated."""
    data = ahead[0]
    if not state_within_kernel(ahead, state, True, 1.0, HERE):
        return False
    n, t = _from_anchor(ahead, state)
    if not n <= _NEAR * data.shortest:
        _move_anchor(ahead, state)
        n, t = 0.0, 0.0
    nv, tv = _norms(state, 6, data.arm)
    na, ta = _norms(state, 12, data.arm)
    return _loaded(ahead, n, t, nv, tv, na, ta, 1.0) or forces_within_kernel(ahead)


@kernel
def braking_kernel(ahead: Ahead, state: Array, wanted: float, only: bool) -> float:
    """Duration of a braking path within the bounds from a state (18,) within them, s; 0 if there is none.

    The state is the one that is evaluated. wanted: s, tried first; 0 for none. only: try no other.
    """
    data = ahead[0]
    count = len(data.durations)
    if wanted > 0.0:
        _set_basis(ahead, count, wanted)
    loads, whole = 0, 0  # bits of rows of which the forces are undecided, or all
    for open_rows in range(3):  # what is cheap comes first
        for trial in range(-2, 0 if only else count):
            row = count if trial == -2 else data.last if trial == -1 else trial
            if (trial == -2 and wanted <= 0.0) or (trial == -1 and only) or (trial >= 0 and trial == data.last):
                continue
            if open_rows == 0:
                found = braking_verdict_kernel(ahead, state, row)
                passes = found == LOADED
                loads |= (found == SURE) << row
                whole |= (found == OPEN) << row
            else:
                rows = loads if open_rows == 1 else whole
                passes = (rows >> row) & 1 == 1 and braking_within_kernel(ahead, state, row, open_rows == 1)
            if passes:
                data.last = row if row < count else data.last
                duration: float = wanted if row == count else data.durations[row]
                return duration
    data.what = NO_PATH
    return 0.0


@kernel
def accepted_kernel(ahead: Ahead, state: Array, wanted: float, only: bool) -> float:
    """Duration of a braking path within the bounds from a state (18,), s; 0 if there is none, and why not is stored.

    wanted: s, tried first; 0 for none. only: try no other, and do not look at the state itself, which is known to keep
    to the bounds. Else it has to do so, too.
    """
    if only:
        evaluate_kernel(ahead, state, HERE)
    elif not judged_kernel(ahead, state):
        return 0.0
    return braking_kernel(ahead, state, wanted, only)


def make_ahead(config: RigConfig) -> Ahead:
    """Bounds and working memory (1,) of dtype `AHEAD`, for the check of a rig: its limits less a margin."""
    mechanism, safety, geometry = config.machine, config.safety, config.machine.geometry
    ahead = np.zeros(1, AHEAD)
    data = ahead[0]
    limits = [leg.limits or LegLimits() for leg in mechanism.legs]

    def bounds(name: str) -> list[float]:
        return [math.inf if (bound := getattr(limit, name)) is None else bound for limit in limits]

    lengths = np.array([limit.length or (0.0, math.inf) for limit in limits])
    data["bounds"][:, :2] = lengths + np.array([_STROKE, -_STROKE])
    data["bounds"][:, 2] = PART * np.array(bounds("velocity"))
    data["bounds"][:, 3] = PART * np.array(bounds("acceleration"))
    data["force"] = PART * np.array(bounds("force"))
    data["geometry"] = geometry.array
    home = geometry.home_pose
    directions = geometry.platform_joints(home) - geometry.base_points
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    data["home"] = directions, directions @ quaternion_to_matrix(home[3:])
    angles = np.array([bounds("universal_angle"), bounds("spherical_angle")])
    data["cosine"] = np.where(angles < math.pi, np.cos(np.minimum(angles - _ANGLE, math.pi)), -2.0)
    data["condition"], data["characteristic_length"] = PART * safety.condition, safety.characteristic_length
    data["durations"] = np.array(DURATIONS) * safety.stop_time
    data["arm"] = max(np.linalg.norm(geometry.array[:, 6:9], axis=1).max(), np.linalg.norm(mechanism.center_of_mass))
    data["mass"], data["inertia"] = mechanism.mass, np.linalg.norm(mechanism.inertia, 2)
    data["center"], data["gravity"] = np.linalg.norm(mechanism.center_of_mass), np.linalg.norm(mechanism.gravity)
    legs = mechanism.legs
    data["lower_mass"], data["upper_mass"] = max(leg.lower.mass for leg in legs), max(leg.upper.mass for leg in legs)
    lower, upper = (np.array([getattr(leg, part).center_of_mass for leg in legs]) for part in ("lower", "upper"))
    data["lower_center"] = np.abs(lower[:, 0]).max(), np.linalg.norm(lower[:, 1:], axis=1).max()
    data["upper_center"] = upper[:, 0].min(), upper[:, 0].max(), np.linalg.norm(upper[:, 1:], axis=1).max()
    data["leg_inertia"] = max(np.linalg.norm(leg.lower.inertia + leg.upper.inertia, 2) for leg in legs)
    data["universal"] = max(leg.friction.universal for leg in legs)
    data["spherical"] = max(leg.friction.spherical for leg in legs)
    data["viscous"] = max(leg.friction.prismatic + leg.drive.viscous for leg in legs)
    data["coulomb"] = max(leg.friction.coulomb + leg.drive.coulomb for leg in legs)
    data["drive_mass"] = max(leg.drive.mass for leg in legs)
    for row, duration in enumerate(data["durations"].tolist()):
        _set_basis(ahead, row, duration)
    parameters = Dynamics(mechanism, coulomb_speed=config.control.coulomb_speed).parameters
    data["work"][: len(parameters)] = parameters
    data["sliding"] = [leg.coulomb for leg in legs]
    smooth = tuple(
        replace(leg, friction=replace(leg.friction, coulomb=0.0), drive=replace(leg.drive, coulomb=0.0)) for leg in legs
    )
    data["smooth"][: len(parameters)] = Dynamics(replace(mechanism, legs=smooth)).parameters
    return ahead
