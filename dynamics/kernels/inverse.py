"""Inverse dynamics: the leg forces a motion takes.

Platform:  Σ x_i s_i        = R F_ext + M(g−a) − Σ K_i
           Σ x_i (q_i×s_i)  = r×M(g−a) − Iα − ω×Iω + R M_ext − Σ (q_i×K_i − f_i)
with a = ẗ + α×r + ω×(ω×r), r = R R₀, I = R I_p Rᵀ; then F = D − x for each leg.
"""

import math

from dynamics.kernels.layout import (
    ARM,
    CENTER,
    GRAVITY,
    INERTIA,
    LANES,
    MASS,
    MATRIX,
    MATRIX_STRIDE,
    MOTION,
    NOT_FINITE,
    OK,
    ROTATION,
    TURN,
    WRONG_SHAPE,
    D,
    F,
    K,
    S,
    X,
    load_motion,
    load_parameters,
)
from dynamics.kernels.legs import legs_load, legs_motion
from dynamics.kernels.solve import solve
from dynamics.kernels.vectors import combine, euler, turning, vector
from kinematics import Array, cross, kernel, rotate


@kernel
def to_base(work: Array, x: float, y: float, z: float) -> tuple[float, float, float]:
    """R·(x, y, z): from platform axes to base axes."""
    ax, ay, az = vector(work, ROTATION)
    bx, by, bz = vector(work, ROTATION + 3)
    cx, cy, cz = vector(work, ROTATION + 6)
    return rotate(ax, ay, az, bx, by, bz, cx, cy, cz, x, y, z)


@kernel
def to_platform(work: Array, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Rᵀ·(x, y, z): from base axes to platform axes."""
    ax, ay, az = vector(work, ROTATION)
    bx, by, bz = vector(work, ROTATION + 3)
    cx, cy, cz = vector(work, ROTATION + 6)
    return combine(ax, ay, az, bx, by, bz, cx, cy, cz, x, y, z)


@kernel
def leg_matrix(work: Array) -> None:
    """Put H, columns [s_i; q_i×s_i], into the platform's equations."""
    for k in range(3):
        for i in range(6):
            work[MATRIX + k * MATRIX_STRIDE + i] = work[S + k * LANES + i]
            work[MATRIX + (3 + k) * MATRIX_STRIDE + i] = work[ARM + k * LANES + i]


@kernel
def right_hand_side(
    wrench: Array,
    column: int,
    gravity: float,
    platform: float,
    legs: float,
    friction: float,
    external: float,
    work: Array,
) -> None:
    """Put the right-hand side of the causes whose factors (0 or 1) are set into `column`, and each leg's K and D.

    `gravity` counts for the platform and the legs, `platform` and `legs` are the inertia of the one and the others.
    """
    legs_load(gravity, legs, friction, work)
    M = work[MASS]
    x, y, z = vector(work, CENTER)
    rx, ry, rz = to_base(work, x, y, z)
    ox, oy, oz = vector(work, MOTION + 10)
    alx, aly, alz = vector(work, MOTION + 16)
    x, y, z = turning(alx, aly, alz, ox, oy, oz, rx, ry, rz)
    fx = M * (gravity * work[GRAVITY] - platform * (work[MOTION + 13] + x))
    fy = M * (gravity * work[GRAVITY + 1] - platform * (work[MOTION + 14] + y))
    fz = M * (gravity * work[GRAVITY + 2] - platform * (work[MOTION + 15] + z))
    mx, my, mz = cross(rx, ry, rz, fx, fy, fz)
    # Iα + ω×Iω is taken in platform axes, where I is constant and in which the wrench comes
    alx, aly, alz = to_platform(work, alx, aly, alz)
    ox, oy, oz = to_platform(work, ox, oy, oz)
    Ixx, Iyy, Izz = vector(work, INERTIA)
    Ixy, Ixz, Iyz = vector(work, INERTIA + 3)
    x, y, z = euler(Ixx, Iyy, Izz, Ixy, Ixz, Iyz, alx, aly, alz, ox, oy, oz)
    x, y, z = to_base(
        work,
        external * wrench[3] - platform * x,
        external * wrench[4] - platform * y,
        external * wrench[5] - platform * z,
    )
    mx, my, mz = mx + x, my + y, mz + z
    x, y, z = to_base(work, external * wrench[0], external * wrench[1], external * wrench[2])
    fx, fy, fz = fx + x, fy + y, fz + z
    for i in range(6):
        fx -= work[K + i]
        fy -= work[K + LANES + i]
        fz -= work[K + 2 * LANES + i]
        mx -= work[TURN + i]
        my -= work[TURN + LANES + i]
        mz -= work[TURN + 2 * LANES + i]
    at = MATRIX + 6 + column
    work[at] = fx
    work[at + MATRIX_STRIDE] = fy
    work[at + 2 * MATRIX_STRIDE] = fz
    work[at + 3 * MATRIX_STRIDE] = mx
    work[at + 4 * MATRIX_STRIDE] = my
    work[at + 5 * MATRIX_STRIDE] = mz


@kernel
def inverse(motion: Array, wrench: Array, work: Array, forces: Array) -> int:
    """As `inverse_kernel`, of the parameters that `work` holds already."""
    status = load_motion(motion, work)
    if status != OK:
        return status
    status = legs_motion(work)
    if status != OK:
        return status
    leg_matrix(work)
    right_hand_side(wrench, 0, 1.0, 1.0, 1.0, 1.0, 1.0, work)
    status = solve(1, work)
    if status != OK:
        return status
    total = 0.0
    for i in range(6):
        x = work[MATRIX + i * MATRIX_STRIDE + 6]
        work[X + i] = x
        work[F + i] = work[D + i] - x
        total += abs(work[F + i])
    if not math.isfinite(total):
        return NOT_FINITE
    for i in range(6):
        forces[i] = work[F + i]
    return OK


@kernel
def inverse_kernel(parameters: Array, motion: Array, wrench: Array, work: Array, forces: Array) -> int:
    """Actuator forces (6,) N of a motion (19,) under an external wrench (6,) in platform axes.

    Leaves every leg's motion, K, D, m_c, x and F in `work`, for cells and reactions. Returns a status; `forces` is
    written only with OK.
    """
    load_parameters(parameters, work)
    return inverse(motion, wrench, work, forces)


@kernel
def forces_kernel(motion: Array, wrench: Array, work: Array, forces: Array) -> int:
    """As `inverse_kernel`, of the parameters that `work` holds already; checks shapes. For calls from Python."""
    if motion.shape[0] != 19 or wrench.shape[0] != 6 or forces.shape[0] != 6:
        return WRONG_SHAPE
    return inverse(motion, wrench, work, forces)


@kernel
def put_term(
    wrench: Array,
    k: int,
    gravity: float,
    platform: float,
    legs: float,
    friction: float,
    external: float,
    work: Array,
    terms: Array,
) -> None:
    """Put right-hand side and D of the causes whose factors (0 or 1) are set into place `k` of five."""
    right_hand_side(wrench, k, gravity, platform, legs, friction, external, work)
    for i in range(6):
        terms[6 * k + i] = work[D + i]


@kernel
def terms_kernel(motion: Array, wrench: Array, work: Array, terms: Array) -> int:
    """Actuator forces split by cause, of the parameters that `work` holds already.

    `terms` (30,): six legs each of platform inertia, gravity, leg inertia, friction, external wrench.
    The forces are linear in these, so the same equations are solved once for five right-hand sides. Leaves every
    leg's x and F in `work`, for the cells; K, D and m_c there are not those of the whole. Returns a status; `terms` is
    worthless unless it is OK.
    """
    if motion.shape[0] != 19 or wrench.shape[0] != 6:
        return WRONG_SHAPE
    status = load_motion(motion, work)
    if status != OK:
        return status
    status = legs_motion(work)
    if status != OK:
        return status
    leg_matrix(work)
    put_term(wrench, 0, 0.0, 1.0, 0.0, 0.0, 0.0, work, terms)
    put_term(wrench, 1, 1.0, 0.0, 0.0, 0.0, 0.0, work, terms)
    put_term(wrench, 2, 0.0, 0.0, 1.0, 0.0, 0.0, work, terms)
    put_term(wrench, 3, 0.0, 0.0, 0.0, 1.0, 0.0, work, terms)
    put_term(wrench, 4, 0.0, 0.0, 0.0, 0.0, 1.0, work, terms)
    status = solve(5, work)
    if status != OK:
        return status
    total = 0.0
    for i in range(6):
        x = 0.0
        force = 0.0
        for k in range(5):
            x_k = work[MATRIX + i * MATRIX_STRIDE + 6 + k]
            terms[6 * k + i] -= x_k
            x += x_k
            force += terms[6 * k + i]
        work[X + i] = x
        work[F + i] = force
        total += abs(force)
    return OK if math.isfinite(total) else NOT_FINITE
