"""Inverse dynamics: the leg forces a motion takes.

Platform:  Σ x_i s_i        = R F_ext + M(g−a) − Σ K_i
           Σ x_i (q_i×s_i)  = r×M(g−a) − Iα − ω×Iω + R M_ext − Σ (q_i×K_i − f_i)
with a = ẗ + α×r + ω×(ω×r), r = R R₀, I = R I_p Rᵀ; then F = D − x for each leg.
"""

import math

from dynamics.kernels.layout import (
    CENTER,
    GRAVITY,
    INERTIA,
    LEG_D,
    LEG_F,
    LEG_K,
    LEG_Q,
    LEG_S,
    LEG_X,
    MASS,
    MATRIX,
    MATRIX_STRIDE,
    MOTION,
    NOT_FINITE,
    OK,
    ROW_STRIDE,
    ROWS,
    load_motion,
)
from dynamics.kernels.leg import leg_inertia, leg_load, leg_motion, load, rotate, rotate_back, tensor_times
from dynamics.kernels.solve import solve
from kinematics import Array, cross, kernel


@kernel
def all_legs(parameters: Array, work: Array) -> int:
    """Fill the rows of the six legs with their motion and inertia. Returns a status."""
    for leg in range(6):
        status = leg_motion(parameters, leg, work)
        if status != OK:
            return status
        leg_inertia(parameters, leg, work)
    return OK


@kernel
def leg_matrix(work: Array) -> None:
    """Put H, columns [s_i; q_i×s_i], into the platform's equations."""
    for leg in range(6):
        row = ROWS + leg * ROW_STRIDE
        sx, sy, sz = load(work, row + LEG_S)
        qx, qy, qz = load(work, row + LEG_Q)
        mx, my, mz = cross(qx, qy, qz, sx, sy, sz)
        work[MATRIX + leg] = sx
        work[MATRIX + MATRIX_STRIDE + leg] = sy
        work[MATRIX + 2 * MATRIX_STRIDE + leg] = sz
        work[MATRIX + 3 * MATRIX_STRIDE + leg] = mx
        work[MATRIX + 4 * MATRIX_STRIDE + leg] = my
        work[MATRIX + 5 * MATRIX_STRIDE + leg] = mz


@kernel
def right_hand_side(
    parameters: Array,
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
    ox, oy, oz = load(work, MOTION + 10)
    alx, aly, alz = load(work, MOTION + 16)
    M = parameters[MASS]
    x, y, z = load(parameters, CENTER)
    rx, ry, rz = rotate(work, x, y, z)
    # M(g−a)
    x, y, z = cross(ox, oy, oz, rx, ry, rz)
    x, y, z = cross(ox, oy, oz, x, y, z)
    ax, ay, az = cross(alx, aly, alz, rx, ry, rz)
    fx = M * (gravity * parameters[GRAVITY] - platform * (work[MOTION + 13] + ax + x))
    fy = M * (gravity * parameters[GRAVITY + 1] - platform * (work[MOTION + 14] + ay + y))
    fz = M * (gravity * parameters[GRAVITY + 2] - platform * (work[MOTION + 15] + az + z))
    mx, my, mz = cross(rx, ry, rz, fx, fy, fz)
    # Iα + ω×Iω, in platform axes where I is constant
    x, y, z = rotate_back(work, alx, aly, alz)
    ex, ey, ez = tensor_times(parameters, INERTIA, x, y, z)
    ox, oy, oz = rotate_back(work, ox, oy, oz)
    x, y, z = tensor_times(parameters, INERTIA, ox, oy, oz)
    x, y, z = cross(ox, oy, oz, x, y, z)
    # … with M_ext, which comes in platform axes too
    x, y, z = rotate(
        work,
        external * wrench[3] - platform * (ex + x),
        external * wrench[4] - platform * (ey + y),
        external * wrench[5] - platform * (ez + z),
    )
    mx, my, mz = mx + x, my + y, mz + z
    x, y, z = rotate(work, external * wrench[0], external * wrench[1], external * wrench[2])
    fx, fy, fz = fx + x, fy + y, fz + z
    for leg in range(6):
        row = ROWS + leg * ROW_STRIDE
        x, y, z = leg_load(parameters, leg, gravity, legs, friction, work)
        mx, my, mz = mx + x, my + y, mz + z
        Kx, Ky, Kz = load(work, row + LEG_K)
        fx, fy, fz = fx - Kx, fy - Ky, fz - Kz
        qx, qy, qz = load(work, row + LEG_Q)
        x, y, z = cross(qx, qy, qz, Kx, Ky, Kz)
        mx, my, mz = mx - x, my - y, mz - z
    work[MATRIX + 6 + column] = fx
    work[MATRIX + MATRIX_STRIDE + 6 + column] = fy
    work[MATRIX + 2 * MATRIX_STRIDE + 6 + column] = fz
    work[MATRIX + 3 * MATRIX_STRIDE + 6 + column] = mx
    work[MATRIX + 4 * MATRIX_STRIDE + 6 + column] = my
    work[MATRIX + 5 * MATRIX_STRIDE + 6 + column] = mz


@kernel
def inverse_kernel(parameters: Array, motion: Array, wrench: Array, work: Array, forces: Array) -> int:
    """Actuator forces (6,) N of a motion (19,) under an external wrench (6,) in platform axes.

    Leaves every leg's motion, K, D, m_c, x and F in `work`, for cells and reactions. Returns a status; `forces` is
    written only with OK.
    """
    status = load_motion(motion, 1.0, 1.0, work)
    if status != OK:
        return status
    status = all_legs(parameters, work)
    if status != OK:
        return status
    leg_matrix(work)
    right_hand_side(parameters, wrench, 0, 1.0, 1.0, 1.0, 1.0, 1.0, work)
    status = solve(1, work)
    if status != OK:
        return status
    total = 0.0
    for leg in range(6):
        row = ROWS + leg * ROW_STRIDE
        x = work[MATRIX + leg * MATRIX_STRIDE + 6]
        force = work[row + LEG_D] - x
        work[row + LEG_X] = x
        work[row + LEG_F] = force
        total += abs(force)
    if not math.isfinite(total):
        return NOT_FINITE
    for leg in range(6):
        forces[leg] = work[ROWS + leg * ROW_STRIDE + LEG_F]
    return OK


@kernel
def terms_kernel(parameters: Array, motion: Array, wrench: Array, work: Array, terms: Array) -> int:
    """Actuator forces split by cause: `terms` (30,), six legs each of platform inertia, gravity, leg inertia, friction,
    external wrench.

    The forces are linear in these, so the same equations are solved once for five right-hand sides. Leaves every
    leg's x and F in `work`, for the cells; K, D and m_c there are not those of the whole. Returns a status;
    `terms` is worthless unless it is OK.
    """
    status = load_motion(motion, 1.0, 1.0, work)
    if status != OK:
        return status
    status = all_legs(parameters, work)
    if status != OK:
        return status
    leg_matrix(work)
    for k in range(5):
        right_hand_side(
            parameters,
            wrench,
            k,
            1.0 if k == 1 else 0.0,
            1.0 if k == 0 else 0.0,
            1.0 if k == 2 else 0.0,
            1.0 if k == 3 else 0.0,
            1.0 if k == 4 else 0.0,
            work,
        )
        for leg in range(6):
            terms[6 * k + leg] = work[ROWS + leg * ROW_STRIDE + LEG_D]
    status = solve(5, work)
    if status != OK:
        return status
    total = 0.0
    for leg in range(6):
        row = ROWS + leg * ROW_STRIDE
        x = 0.0
        force = 0.0
        for k in range(5):
            x_k = work[MATRIX + leg * MATRIX_STRIDE + 6 + k]
            terms[6 * k + leg] -= x_k
            x += x_k
            force += terms[6 * k + leg]
        work[row + LEG_X] = x
        work[row + LEG_F] = force
        total += abs(force)
    return OK if math.isfinite(total) else NOT_FINITE
