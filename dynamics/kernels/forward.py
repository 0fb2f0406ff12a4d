"""Forward dynamics as compiled code: acceleration from leg forces, its integration, and with slow terms frozen."""

import math
from math import sqrt

import numpy as np

from dynamics.kernels.inverse import leg_matrix, legs_motion, load, right_hand_side, solve, store, to_base, vector
from dynamics.kernels.layout import (
    ACCELERATION,
    CENTER,
    COSINE,
    COULOMB,
    DRIVE_COULOMB,
    DRIVE_MASS,
    DRIVE_VISCOUS,
    INERTIA,
    LANES,
    LEG_INERTIA,
    LENGTH,
    LOWER_CENTER,
    LOWER_MASS,
    MASS,
    MATRIX,
    MATRIX_STRIDE,
    MOTION,
    NOT_FINITE,
    OK,
    PRISMATIC,
    SINE,
    SINGULAR,
    STAGES,
    TIP,
    UPPER_CENTER,
    UPPER_MASS,
    D,
    Q,
    S,
    V,
    W,
    form_rotation,
    load_parameters,
    load_state,
)
from kinematics import Array, cross, inlined, kernel


@inlined
def rotated(
    ax: float, ay: float, az: float,
    bx: float, by: float, bz: float,
    cx: float, cy: float, cz: float,
    xx: float, yy: float, zz: float, xy: float, xz: float, yz: float,
) -> tuple[float, float, float, float, float, float]:  # fmt: skip
    """B I Bᵀ, packed symmetric, of a packed symmetric I; a, b, c are the columns of B."""
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
def tip_inertias(work: Array) -> None:
    """Compute each leg's part of M: Q (xx, yy, zz, xy, xz, yz), the rows of −Q q̃ (9), −q̃ Q q̃ packed like Q (6)."""
    for i in range(LANES):
        L = work[LENGTH + i]
        per_L = 1.0 / L
        ratio = work[COSINE + i] / work[SINE + i]  # μ/n
        m_d, m_u = work[LOWER_MASS + i], work[UPPER_MASS + i]
        dx, dy, dz = load(work, LOWER_CENTER + i)
        x, y, z = load(work, UPPER_CENTER + i)
        x += L
        # J in the leg's axes
        Jxx, Jyy, Jzz = load(work, LEG_INERTIA + i)
        Jxy, Jxz, Jyz = load(work, LEG_INERTIA + 3 * LANES + i)
        Jxx += m_d * (dy * dy + dz * dz) + m_u * (y * y + z * z)
        Jyy += m_d * (dx * dx + dz * dz) + m_u * (x * x + z * z)
        Jzz += m_d * (dx * dx + dy * dy) + m_u * (x * x + y * y)
        Jxy -= m_d * dx * dy + m_u * x * y
        Jxz -= m_d * dx * dz + m_u * x * z
        Jyz -= m_d * dy * dz + m_u * y * z
        # Q in the leg's axes, then in base axes
        square = per_L * per_L
        vv = square * (Jxx * ratio * ratio + 2.0 * Jxz * ratio + Jzz)
        ww = square * Jyy
        sv, sw, vw = -m_u * y * per_L, -m_u * z * per_L, -square * (Jxy * ratio + Jyz)
        sx, sy, sz = load(work, S + i)
        vx, vy, vz = load(work, V + i)
        wx, wy, wz = load(work, W + i)
        ss = m_u + work[DRIVE_MASS + i]
        xx, yy, zz, xy, xz, yz = rotated(sx, sy, sz, vx, vy, vz, wx, wy, wz, ss, vv, ww, sv, sw, vw)
        # a row of −Q q̃ is q × that row of Q; a column of −q̃ Q q̃ is q × that column of −Q q̃
        qx, qy, qz = load(work, Q + i)
        ax, ay, az = cross(qx, qy, qz, xx, xy, xz)
        bx, by, bz = cross(qx, qy, qz, xy, yy, yz)
        cx, cy, cz = cross(qx, qy, qz, xz, yz, zz)
        store(work, TIP + i, xx, yy, zz)
        store(work, TIP + 3 * LANES + i, xy, xz, yz)
        store(work, TIP + 6 * LANES + i, ax, ay, az)
        store(work, TIP + 9 * LANES + i, bx, by, bz)
        store(work, TIP + 12 * LANES + i, cx, cy, cz)
        dx, dy, dz = cross(qx, qy, qz, ax, bx, cx)
        _, ey, ez = cross(qx, qy, qz, ay, by, cy)
        _, _, fz = cross(qx, qy, qz, az, bz, cz)
        store(work, TIP + 15 * LANES + i, dx, ey, fz)
        store(work, TIP + 18 * LANES + i, dy, dz, ez)


@kernel
def put_mass(work: Array, i: int, j: int, place: int, platform: float) -> None:
    """Set elements (i, j) and (j, i) of M: the platform's part plus entry `place` of all legs' parts."""
    total = platform
    for leg in range(6):
        total += work[TIP + place * LANES + leg]
    work[MATRIX + i * MATRIX_STRIDE + j] = total
    work[MATRIX + j * MATRIX_STRIDE + i] = total


@kernel
def mass_matrix(work: Array) -> None:
    """Compute M(X) of platform and legs, base axes about the platform origin, into the matrix in `work`."""
    tip_inertias(work)
    M = work[MASS]
    x, y, z = vector(work, CENTER)
    rx, ry, rz = to_base(work, x, y, z)
    ax, ay, az = to_base(work, 1.0, 0.0, 0.0)
    bx, by, bz = to_base(work, 0.0, 1.0, 0.0)
    cx, cy, cz = to_base(work, 0.0, 0.0, 1.0)
    Ixx, Iyy, Izz = vector(work, INERTIA)
    Ixy, Ixz, Iyz = vector(work, INERTIA + 3)
    xx, yy, zz, xy, xz, yz = rotated(ax, ay, az, bx, by, bz, cx, cy, cz, Ixx, Iyy, Izz, Ixy, Ixz, Iyz)
    put_mass(work, 0, 0, 0, M)
    put_mass(work, 1, 1, 1, M)
    put_mass(work, 2, 2, 2, M)
    put_mass(work, 0, 1, 3, 0.0)
    put_mass(work, 0, 2, 4, 0.0)
    put_mass(work, 1, 2, 5, 0.0)
    put_mass(work, 0, 3, 6, 0.0)
    put_mass(work, 0, 4, 7, M * rz)
    put_mass(work, 0, 5, 8, -M * ry)
    put_mass(work, 1, 3, 9, -M * rz)
    put_mass(work, 1, 4, 10, 0.0)
    put_mass(work, 1, 5, 11, M * rx)
    put_mass(work, 2, 3, 12, M * ry)
    put_mass(work, 2, 4, 13, -M * rx)
    put_mass(work, 2, 5, 14, 0.0)
    put_mass(work, 3, 3, 15, xx + M * (ry * ry + rz * rz))
    put_mass(work, 4, 4, 16, yy + M * (rx * rx + rz * rz))
    put_mass(work, 5, 5, 17, zz + M * (rx * rx + ry * ry))
    put_mass(work, 3, 4, 18, xy - M * rx * ry)
    put_mass(work, 3, 5, 19, xz - M * rx * rz)
    put_mass(work, 4, 5, 20, yz - M * ry * rz)


@kernel
def residual_wrench(forces: Array, offset: int, wrench: Array, work: Array) -> int:
    """Compute H F + wrench − h, base axes about the platform origin, into the right-hand side in `work`.

    The state is the motion in `work`, whose acceleration must be zero; the forces start at `offset`.
    """
    status = legs_motion(work)
    if status != OK:
        return status
    leg_matrix(work)
    right_hand_side(wrench, 0, 1.0, 1.0, 1.0, 1.0, 1.0, work)
    for i in range(6):
        row = MATRIX + i * MATRIX_STRIDE
        total = work[row + 6]  # a local: the compiler cannot prove that `work` and `forces` do not overlap
        for leg in range(6):
            total -= work[row + leg] * (work[D + leg] - forces[offset + leg])
        work[row + 6] = total
    return OK


@kernel
def accelerate(forces: Array, offset: int, wrench: Array, work: Array) -> int:
    """Solve for [ẗ; α] of the state in `work`; the right-hand side receives the solution. Returns a status."""
    status = residual_wrench(forces, offset, wrench, work)
    if status != OK:
        return status
    mass_matrix(work)
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
    """Compute the acceleration [ẗ; α] (6,) of a state (13,) under leg forces (6,) N and a wrench (6,) in platform axes.

    Returns a status; `acceleration` is written only if it is OK.
    """
    load_parameters(parameters, work)
    status = load_state(state, work)
    if status == OK:
        status = accelerate(forces, 0, wrench, work)
    if status == OK:
        for i in range(6):
            acceleration[i] = work[MATRIX + i * MATRIX_STRIDE + 6]
    return status


@kernel
def equations_kernel(parameters: Array, state: Array, work: Array, mass: Array, bias: Array) -> int:
    """Compute M (6, 6) and h (6,) of M [ẗ; α] + h = H F + wrench in a state (13,), base axes. Returns a status."""
    load_parameters(parameters, work)
    status = load_state(state, work)
    if status != OK:
        return status
    for i in range(12):
        work[STAGES + i] = 0.0
    status = residual_wrench(work, STAGES, work[STAGES + 6 : STAGES + 12], work)
    if status != OK:
        return status
    mass_matrix(work)
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

    The quaternion is normalised at the end of the step. Returns a status; the state is changed only if it is OK.
    """
    start, total, slope, force = STAGES, STAGES + 13, STAGES + 26, STAGES + 39
    load_parameters(parameters, work)
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
        status = accelerate(work, force, wrench, work)
        if status != OK:
            return status
        w, x, y, z = work[MOTION + 3], work[MOTION + 4], work[MOTION + 5], work[MOTION + 6]
        ox, oy, oz = vector(work, MOTION + 10)
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


MOBILITY = 0  # B, row by row
DRIFT = 36  # β
_Y = 42  # row by row
_RESIDUAL = 78  # y
_C = 84  # row by row; the diagonal holds inverses
FROZEN_SIZE = 120


def without_leg_friction(parameters: Array) -> tuple[Array, Array]:
    """Return a mechanism's parameters without friction along the legs, and that friction (2, 6): N s/m, Coulomb N.

    It is that of the prismatic joints and of the drives.
    """
    smooth = parameters.copy()
    friction = np.zeros((2, 6))
    for row, places in enumerate(((PRISMATIC, DRIVE_VISCOUS), (COULOMB, DRIVE_COULOMB))):
        for place in places:
            friction[row] += smooth[place : place + 6]
            smooth[place : place + LANES] = 0.0
    return smooth, friction


@kernel
def frozen_kernel(state: Array, wrench: Array, work: Array, frozen: Array) -> int:
    """Fill `frozen` (FROZEN_SIZE,) at a state (13,); `work` already holds the parameters.

    wrench (6,): in platform axes. B (36) starts at `MOBILITY`, β (6) at `DRIFT`. Returns a status.
    """
    status = load_state(state, work)
    for leg in range(6):
        work[STAGES + leg] = 0.0
    if status == OK:
        status = residual_wrench(work, STAGES, wrench, work)
    if status != OK:
        return status
    for i in range(6):
        row = MATRIX + i * MATRIX_STRIDE
        for j in range(6):
            frozen[_Y + 6 * i + j] = work[row + j]
        frozen[_RESIDUAL + i] = work[row + 6]
    mass_matrix(work)
    for i in range(6):
        row = MATRIX + i * MATRIX_STRIDE
        for j in range(i):
            element = work[row + j]
            for k in range(j):
                element -= frozen[_C + 6 * i + k] * frozen[_C + 6 * j + k]
            frozen[_C + 6 * i + j] = element * frozen[_C + 7 * j]
        pivot = work[row + i]
        for k in range(i):
            pivot -= frozen[_C + 6 * i + k] * frozen[_C + 6 * i + k]
        if not pivot > 0.0:
            return SINGULAR
        inverse = 1.0 / sqrt(pivot)
        frozen[_C + 7 * i] = inverse
        for k in range(i):
            factor = frozen[_C + 6 * i + k]
            for j in range(6):
                frozen[_Y + 6 * i + j] -= factor * frozen[_Y + 6 * k + j]
            frozen[_RESIDUAL + i] -= factor * frozen[_RESIDUAL + k]
        for j in range(6):
            frozen[_Y + 6 * i + j] *= inverse
        frozen[_RESIDUAL + i] *= inverse
    y0, y1, y2 = frozen[_RESIDUAL], frozen[_RESIDUAL + 1], frozen[_RESIDUAL + 2]
    y3, y4, y5 = frozen[_RESIDUAL + 3], frozen[_RESIDUAL + 4], frozen[_RESIDUAL + 5]
    for i in range(6):
        a0, a1, a2 = frozen[_Y + i], frozen[_Y + 6 + i], frozen[_Y + 12 + i]
        a3, a4, a5 = frozen[_Y + 18 + i], frozen[_Y + 24 + i], frozen[_Y + 30 + i]
        # Ḣᵀ V, since the platform's acceleration was zero
        frozen[DRIFT + i] = work[ACCELERATION + i] + (
            (a0 * y0 + a1 * y1) + (a2 * y2 + a3 * y3) + (a4 * y4 + a5 * y5)
        )  # fmt: skip
        for j in range(i, 6):
            element = (
                (a0 * frozen[_Y + j] + a1 * frozen[_Y + 6 + j])
                + (a2 * frozen[_Y + 12 + j] + a3 * frozen[_Y + 18 + j])
                + (a4 * frozen[_Y + 24 + j] + a5 * frozen[_Y + 30 + j])
            )
            frozen[MOBILITY + 6 * i + j] = element
            frozen[MOBILITY + 6 * j + i] = element
    return OK


@kernel
def frozen_acceleration_kernel(frozen: Array, forces: Array, acceleration: Array) -> None:
    """Compute the platform's acceleration [ẗ; α] (6,) under leg forces (6,) N from the output of `frozen_kernel`."""
    for i in range(6):
        total = frozen[_RESIDUAL + i]
        for j in range(6):
            total += frozen[_Y + 6 * i + j] * forces[j]
        acceleration[i] = total
    for i in range(5, -1, -1):
        total = acceleration[i]
        for k in range(i + 1, 6):
            total -= frozen[_C + 6 * k + i] * acceleration[k]
        acceleration[i] = total * frozen[_C + 7 * i]


@kernel
def response_batch_kernel(
    parameters: Array, states: Array, forces: Array, wrench: Array, work: Array, start: Array, out: Array
) -> tuple[int, int]:
    """Compute M⁻¹ H ΔF (n, 6) of states (n, 13) and forces ΔF (n, 6), as the difference of two forward dynamics.

    `wrench` (6,) is arbitrary, `start` (12,) is working space. Returns a status and its sample.
    """
    for i in range(6):
        start[i] = 0.0
    for sample in range(states.shape[0]):
        status = acceleration_kernel(parameters, states[sample], start[:6], wrench, work, start[6:])
        if status != OK:
            return status, sample
        status = acceleration_kernel(parameters, states[sample], forces[sample], wrench, work, out[sample])
        if status != OK:
            return status, sample
        for i in range(6):
            out[sample, i] -= start[6 + i]
    return OK, -1
