"""Forward dynamics: the acceleration leg forces give, and its integration.

    M(X) [ẗ; α] + h(X, Ẋ) = H F + wrench

with M in closed form. In the leg's axes (s, v, w = s×v), with n = ‖u×s‖ and μ = u·s, the leg's angular acceleration
takes G S̈ from its top's acceleration S̈ = ẗ + α×q + …, G = (1/L) [0 μ/n 0; 0 0 −1; 0 1 0]; the leg then weighs on the
platform's joint as the point inertia

    Q = m_u s sᵀ + Gᵀ J G + m_u [s (r_u×s)ᵀ G + Gᵀ (r_u×s) sᵀ],   J = I_d + I_u + m_d, m_u about the base point

and M = platform + Σ [Q, −Q q̃; q̃ Q, −q̃ Q q̃]. h comes from the inverse dynamics' equations without acceleration.
"""

import math

from dynamics.kernels.inverse import all_legs, leg_matrix, right_hand_side
from dynamics.kernels.layout import (
    CENTER,
    INERTIA,
    LEG_COSINE,
    LEG_D,
    LEG_INERTIA,
    LEG_LENGTH,
    LEG_Q,
    LEG_S,
    LEG_SINE,
    LEG_STRIDE,
    LEG_V,
    LEG_W,
    LEGS,
    LOWER_CENTER,
    LOWER_MASS,
    MASS,
    MATRIX,
    MATRIX_STRIDE,
    MOTION,
    NOT_FINITE,
    OK,
    ROW_STRIDE,
    ROWS,
    STAGES,
    UPPER_CENTER,
    UPPER_MASS,
    form_rotation,
    load_state,
)
from dynamics.kernels.leg import load, rotate
from dynamics.kernels.solve import solve
from kinematics import Array, cross, kernel


@kernel
def tip_inertia(parameters: Array, leg: int, work: Array) -> tuple[float, float, float, float, float, float]:
    """Q of a leg in its own axes (s, v, w), packed symmetric: ss, vv, ww, sv, sw, vw, kg."""
    at = LEGS + leg * LEG_STRIDE
    row = ROWS + leg * ROW_STRIDE
    L = work[row + LEG_LENGTH]
    ratio = work[row + LEG_COSINE] / work[row + LEG_SINE]  # μ/n
    m_d, m_u = parameters[at + LOWER_MASS], parameters[at + UPPER_MASS]
    dx, dy, dz = load(parameters, at + LOWER_CENTER)
    x, y, z = load(parameters, at + UPPER_CENTER)
    x += L
    j = at + LEG_INERTIA
    Jxx = parameters[j] + m_d * (dy * dy + dz * dz) + m_u * (y * y + z * z)
    Jyy = parameters[j + 1] + m_d * (dx * dx + dz * dz) + m_u * (x * x + z * z)
    Jzz = parameters[j + 2] + m_d * (dx * dx + dy * dy) + m_u * (x * x + y * y)
    Jxy = parameters[j + 3] - m_d * dx * dy - m_u * x * y
    Jxz = parameters[j + 4] - m_d * dx * dz - m_u * x * z
    Jyz = parameters[j + 5] - m_d * dy * dz - m_u * y * z
    square = 1.0 / (L * L)
    return (
        m_u,
        square * (Jxx * ratio * ratio + 2.0 * Jxz * ratio + Jzz),
        square * Jyy,
        -m_u * y / L,
        -m_u * z / L,
        -square * (Jxy * ratio + Jyz),
    )


@kernel
def add_point_inertia(
    xx: float, yy: float, zz: float, xy: float, xz: float, yz: float, qx: float, qy: float, qz: float, work: Array
) -> None:
    """Add [Q, −Q q̃; q̃ Q, −q̃ Q q̃] of a symmetric Q (base axes) at q to the matrix in `work`."""
    # rows of −Q q̃ are the rows of Q crossed as q×Q_row; columns of q̃ Q likewise
    ax, ay, az = cross(qx, qy, qz, xx, xy, xz)
    bx, by, bz = cross(qx, qy, qz, xy, yy, yz)
    cx, cy, cz = cross(qx, qy, qz, xz, yz, zz)
    # −q̃ Q q̃ = q̃ (−Q q̃): its columns
    dx, dy, dz = cross(qx, qy, qz, ax, bx, cx)
    ex, ey, ez = cross(qx, qy, qz, ay, by, cy)
    fx, fy, fz = cross(qx, qy, qz, az, bz, cz)
    add_row(work, 0, xx, xy, xz, ax, ay, az)
    add_row(work, 1, xy, yy, yz, bx, by, bz)
    add_row(work, 2, xz, yz, zz, cx, cy, cz)
    add_row(work, 3, ax, bx, cx, dx, ex, fx)
    add_row(work, 4, ay, by, cy, dy, ey, fy)
    add_row(work, 5, az, bz, cz, dz, ez, fz)


@kernel
def add_row(work: Array, i: int, a: float, b: float, c: float, d: float, e: float, f: float) -> None:
    """Add six numbers to row `i` of the matrix in `work`."""
    row = MATRIX + i * MATRIX_STRIDE
    work[row] += a
    work[row + 1] += b
    work[row + 2] += c
    work[row + 3] += d
    work[row + 4] += e
    work[row + 5] += f


@kernel
def rotated_tensor(
    ax: float, ay: float, az: float,
    bx: float, by: float, bz: float,
    cx: float, cy: float, cz: float,
    xx: float, yy: float, zz: float, xy: float, xz: float, yz: float,
) -> tuple[float, float, float, float, float, float]:  # fmt: skip
    """B Q Bᵀ, packed symmetric, of a packed symmetric Q; a, b, c are the columns of B."""
    # rows of Q Bᵀ
    px, py, pz = xx * ax + xy * bx + xz * cx, xx * ay + xy * by + xz * cy, xx * az + xy * bz + xz * cz
    qx, qy, qz = xy * ax + yy * bx + yz * cx, xy * ay + yy * by + yz * cy, xy * az + yy * bz + yz * cz
    rx, ry, rz = xz * ax + yz * bx + zz * cx, xz * ay + yz * by + zz * cy, xz * az + yz * bz + zz * cz
    return (
        ax * px + bx * qx + cx * rx,
        ay * py + by * qy + cy * ry,
        az * pz + bz * qz + cz * rz,
        ax * py + bx * qy + cx * ry,
        ax * pz + bx * qz + cx * rz,
        ay * pz + by * qz + cy * rz,
    )


@kernel
def mass_matrix(parameters: Array, work: Array) -> None:
    """Put M(X) of platform and legs, base axes about the platform origin, into the matrix in `work`."""
    for i in range(6):
        row = MATRIX + i * MATRIX_STRIDE
        for j in range(6):
            work[row + j] = 0.0
    M = parameters[MASS]
    x, y, z = load(parameters, CENTER)
    x, y, z = rotate(work, x, y, z)
    add_point_inertia(M, M, M, 0.0, 0.0, 0.0, x, y, z, work)
    ax, ay, az = rotate(work, 1.0, 0.0, 0.0)
    bx, by, bz = rotate(work, 0.0, 1.0, 0.0)
    cx, cy, cz = rotate(work, 0.0, 0.0, 1.0)
    xx, yy, zz, xy, xz, yz = rotated_tensor(
        ax, ay, az, bx, by, bz, cx, cy, cz,
        parameters[INERTIA], parameters[INERTIA + 1], parameters[INERTIA + 2],
        parameters[INERTIA + 3], parameters[INERTIA + 4], parameters[INERTIA + 5],
    )  # fmt: skip
    add_row(work, 3, 0.0, 0.0, 0.0, xx, xy, xz)
    add_row(work, 4, 0.0, 0.0, 0.0, xy, yy, yz)
    add_row(work, 5, 0.0, 0.0, 0.0, xz, yz, zz)
    for leg in range(6):
        row = ROWS + leg * ROW_STRIDE
        xx, yy, zz, xy, xz, yz = tip_inertia(parameters, leg, work)
        ax, ay, az = load(work, row + LEG_S)
        bx, by, bz = load(work, row + LEG_V)
        cx, cy, cz = load(work, row + LEG_W)
        xx, yy, zz, xy, xz, yz = rotated_tensor(ax, ay, az, bx, by, bz, cx, cy, cz, xx, yy, zz, xy, xz, yz)
        x, y, z = load(work, row + LEG_Q)
        add_point_inertia(xx, yy, zz, xy, xz, yz, x, y, z, work)


@kernel
def residual_wrench(parameters: Array, forces: Array, offset: int, wrench: Array, work: Array) -> int:
    """Put H F + wrench − h, base axes about the platform origin, into the right-hand side in `work`.

    Takes the state from the motion in `work`, whose acceleration must be zero; the forces start at `offset`.
    """
    status = all_legs(parameters, work)
    if status != OK:
        return status
    leg_matrix(work)
    right_hand_side(parameters, wrench, 0, 1.0, 1.0, 1.0, 1.0, 1.0, work)
    for i in range(6):
        row = MATRIX + i * MATRIX_STRIDE
        for leg in range(6):
            x = work[ROWS + leg * ROW_STRIDE + LEG_D] - forces[offset + leg]
            work[row + 6] -= work[row + leg] * x
    return OK


@kernel
def accelerate(parameters: Array, forces: Array, offset: int, wrench: Array, work: Array) -> int:
    """Solve for [ẗ; α] of the state in `work`; the answer stands in the right-hand side. Returns a status."""
    status = residual_wrench(parameters, forces, offset, wrench, work)
    if status != OK:
        return status
    mass_matrix(parameters, work)
    status = solve(1, work)
    if status != OK:
        return status
    total = 0.0
    for i in range(6):
        total += abs(work[MATRIX + i * MATRIX_STRIDE + 6])
    return OK if math.isfinite(total) else NOT_FINITE


@kernel
def acceleration_kernel(
    parameters: Array, state: Array, forces: Array, wrench: Array, work: Array, acceleration: Array
) -> int:
    """Acceleration [ẗ; α] (6,) of a state (13,) under leg forces (6,) N and a wrench (6,) in platform axes.

    Returns a status; `acceleration` is written only with OK.
    """
    status = load_state(state, work)
    if status == OK:
        status = accelerate(parameters, forces, 0, wrench, work)
    if status == OK:
        for i in range(6):
            acceleration[i] = work[MATRIX + i * MATRIX_STRIDE + 6]
    return status


@kernel
def equations_kernel(parameters: Array, state: Array, work: Array, mass: Array, bias: Array) -> int:
    """M (6, 6) and h (6,) of M [ẗ; α] + h = H F + wrench at a state (13,), base axes. Returns a status."""
    status = load_state(state, work)
    if status != OK:
        return status
    for i in range(12):
        work[STAGES + i] = 0.0
    status = residual_wrench(parameters, work, STAGES, work[STAGES + 6 : STAGES + 12], work)
    if status != OK:
        return status
    mass_matrix(parameters, work)
    for i in range(6):
        row = MATRIX + i * MATRIX_STRIDE
        bias[i] = -work[row + 6]
        for j in range(6):
            mass[i, j] = work[row + j]
    return OK


@kernel
def rk4_kernel(
    parameters: Array,
    state: Array,
    forces: Array,
    forces_end: Array,
    wrench: Array,
    dt: float,
    work: Array,
) -> int:
    """Advance a state (13,) in place by `dt` s: classical Runge–Kutta, leg forces linear from `forces` to `forces_end`.

    The quaternion is normalised at the end of the step. Returns a status; the state is changed only with OK.
    """
    start, total, slope, force = STAGES, STAGES + 13, STAGES + 26, STAGES + 39
    status = load_state(state, work)
    for k in range(13):
        work[start + k] = state[k]
        work[total + k] = state[k]
    for stage in range(4):
        if status != OK:
            return status
        fraction = 0.0 if stage == 0 else (1.0 if stage == 3 else 0.5)
        for leg in range(6):
            work[force + leg] = forces[leg] + fraction * (forces_end[leg] - forces[leg])
        status = accelerate(parameters, work, force, wrench, work)
        if status != OK:
            return status
        w, x, y, z = work[MOTION + 3], work[MOTION + 4], work[MOTION + 5], work[MOTION + 6]
        ox, oy, oz = load(work, MOTION + 10)
        for k in range(3):
            work[slope + k] = work[MOTION + 7 + k]
        # q̇ = ½ [0, ω] q, ω in base axes
        work[slope + 3] = -0.5 * (ox * x + oy * y + oz * z)
        work[slope + 4] = 0.5 * (ox * w + oy * z - oz * y)
        work[slope + 5] = 0.5 * (oy * w + oz * x - ox * z)
        work[slope + 6] = 0.5 * (oz * w + ox * y - oy * x)
        for k in range(6):
            work[slope + 7 + k] = work[MATRIX + k * MATRIX_STRIDE + 6]
        weight = dt / 6.0 if stage == 0 or stage == 3 else dt / 3.0
        for k in range(13):
            work[total + k] += weight * work[slope + k]
        if stage < 3:
            ahead = dt if stage == 2 else 0.5 * dt
            for k in range(13):
                work[MOTION + k] = work[start + k] + ahead * work[slope + k]
            status = form_rotation(work)
    size = 0.0
    for k in range(13):
        size += abs(work[total + k])
    w, x, y, z = work[total + 3], work[total + 4], work[total + 5], work[total + 6]
    norm = math.sqrt(w * w + x * x + y * y + z * z)
    if not (math.isfinite(size) and norm > 0.0):
        return NOT_FINITE
    for k in range(3, 7):
        work[total + k] /= norm
    for k in range(13):
        state[k] = work[total + k]
    return OK
