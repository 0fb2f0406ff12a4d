"""The six legs of the platform side by side: where they are, how they move, what they carry.

Symbols are those of Dasgupta & Mruthyunjaya (1998), the universal joint taken in full: S = q + t − b the leg's vector,
L its length, s its direction, u the universal joint's fixed axis, v = (u×s)/‖u×s‖, c = u×v, W and A the leg's angular
velocity and acceleration, T = [s v w] with w = s×v the leg's axes. Index d is the lower part (frame D at the base
point), u the upper part (frame U at the platform point). All vectors in base axes.
"""

import math

from dynamics.kernels.layout import (
    ACCELERATION,
    AD,
    ARM,
    AU,
    AXIS,
    BASE,
    COSINE,
    COULOMB,
    COULOMB_SPEED,
    EULER,
    GRAVITY,
    LANES,
    LEG_INERTIA,
    LENGTH,
    LOWER_CENTER,
    LOWER_MASS,
    MC,
    MOTION,
    OK,
    PRISMATIC,
    RD,
    ROTATION,
    RU,
    SINE,
    SPEED,
    SPHERICAL,
    SPIN,
    SPIN_RATE,
    TOP,
    TURN,
    UNIVERSAL,
    UPPER_CENTER,
    UPPER_MASS,
    C,
    D,
    K,
    Q,
    S,
    V,
    W,
)
from dynamics.kernels.vectors import combine, euler, load, store, turning, vector
from kinematics import MINIMUM_SINE, Array, cross, dot, kernel, leg_axes, leg_direction, leg_rates, point_motion, rotate


@kernel
def legs_motion(work: Array) -> int:
    """Fill in the legs' kinematics and what their parts' inertia needs, from the motion and R in `work`.

        L, s, L̇, L̈, W, A as in `kinematics.compiled.legs`
        r_d = T r_d0            r_u = T (L x̂ + r_u0)
        a_d = A×r_d + W×(W×r_d)
        a_u = L̈ s + A×r_u + W×(W×r_u) + 2L̇ W×s
        (I_d+I_u) A + W×(I_d+I_u) W,  I = T I₀ Tᵀ about each part's own centre of mass

    Returns OK, or the number 1…6 of a leg that has no length or lies along u.
    """
    tx, ty, tz = vector(work, MOTION)
    tdx, tdy, tdz = vector(work, MOTION + 7)
    ox, oy, oz = vector(work, MOTION + 10)
    tddx, tddy, tddz = vector(work, MOTION + 13)
    alx, aly, alz = vector(work, MOTION + 16)
    R00, R01, R02 = vector(work, ROTATION)
    R10, R11, R12 = vector(work, ROTATION + 3)
    R20, R21, R22 = vector(work, ROTATION + 6)
    for i in range(LANES):
        # q = R p, S = q + t − b
        px, py, pz = load(work, TOP + i)
        qx, qy, qz = rotate(R00, R01, R02, R10, R11, R12, R20, R21, R22, px, py, pz)
        bx, by, bz = load(work, BASE + i)
        ux, uy, uz = load(work, AXIS + i)
        L, per_L, sx, sy, sz = leg_direction(bx, by, bz, qx, qy, qz, tx, ty, tz)
        vx, vy, vz, wx, wy, wz, n, slope = leg_axes(ux, uy, uz, sx, sy, sz)
        cx, cy, cz = cross(ux, uy, uz, vx, vy, vz)
        hx, hy, hz, ex, ey, ez = point_motion(
            qx, qy, qz, tdx, tdy, tdz, ox, oy, oz, tddx, tddy, tddz, alx, aly, alz
        )  # fmt: skip
        Ld, hv, hw = rotate(sx, sy, sz, vx, vy, vz, wx, wy, wz, hx, hy, hz)
        es, ev, ew = rotate(sx, sy, sz, vx, vy, vz, wx, wy, wz, ex, ey, ez)
        Ldd, Ws, Wv, Ww, As, Av, Aw = leg_rates(L, per_L, slope, hv, hw, Ld, es, ev, ew)
        Wx, Wy, Wz = combine(sx, sy, sz, vx, vy, vz, wx, wy, wz, Ws, Wv, Ww)
        Ax, Ay, Az = combine(sx, sy, sz, vx, vy, vz, wx, wy, wz, As, Av, Aw)
        Wsx, Wsy, Wsz = Ww * vx - Wv * wx, Ww * vy - Wv * wy, Ww * vz - Wv * wz
        # the parts' centres of mass
        x, y, z = load(work, LOWER_CENTER + i)
        rdx, rdy, rdz = combine(sx, sy, sz, vx, vy, vz, wx, wy, wz, x, y, z)
        adx, ady, adz = turning(Ax, Ay, Az, Wx, Wy, Wz, rdx, rdy, rdz)
        x, y, z = load(work, UPPER_CENTER + i)
        rux, ruy, ruz = combine(sx, sy, sz, vx, vy, vz, wx, wy, wz, L + x, y, z)
        aux, auy, auz = turning(Ax, Ay, Az, Wx, Wy, Wz, rux, ruy, ruz)
        aux += Ldd * sx + 2.0 * Ld * Wsx
        auy += Ldd * sy + 2.0 * Ld * Wsy
        auz += Ldd * sz + 2.0 * Ld * Wsz
        # the moment of their rotation, taken in the leg's axes, where the inertias are constant
        Ixx, Iyy, Izz = load(work, LEG_INERTIA + i)
        Ixy, Ixz, Iyz = load(work, LEG_INERTIA + 3 * LANES + i)
        x, y, z = euler(Ixx, Iyy, Izz, Ixy, Ixz, Iyz, As, Av, Aw, Ws, Wv, Ww)
        ex, ey, ez = combine(sx, sy, sz, vx, vy, vz, wx, wy, wz, x, y, z)
        store(work, S + i, sx, sy, sz)
        store(work, V + i, vx, vy, vz)
        store(work, W + i, wx, wy, wz)
        store(work, C + i, cx, cy, cz)
        store(work, Q + i, qx, qy, qz)
        x, y, z = cross(qx, qy, qz, sx, sy, sz)
        store(work, ARM + i, x, y, z)
        store(work, SPIN + i, Wx, Wy, Wz)
        store(work, SPIN_RATE + i, Ax, Ay, Az)
        store(work, RD + i, rdx, rdy, rdz)
        store(work, RU + i, rux, ruy, ruz)
        store(work, AD + i, adx, ady, adz)
        store(work, AU + i, aux, auy, auz)
        store(work, EULER + i, ex, ey, ez)
        work[LENGTH + i] = L
        work[SPEED + i] = Ld
        work[ACCELERATION + i] = Ldd
        work[SINE + i] = n
        work[COSINE + i] = dot(ux, uy, uz, sx, sy, sz)
    for i in range(6):
        if not work[SINE + i] >= MINIMUM_SINE:  # not a number where L = 0
            return i + 1
    return OK


@kernel
def legs_load(gravity: float, inertia: float, friction: float, work: Array) -> None:
    """Fill in K, D, m_c and q×K − f, of the causes whose factors (0 or 1) are set, from the legs' motion.

    C = m_d r_d×(a_d−g) + m_u r_u×(a_u−g) + (I_d+I_u) A + W×(I_d+I_u) W + C_u W + f,   f = C_s (W−ω)
    m_c = C·s / c·s         K = (C×s − m_c c×s)/L
    D = m_u s·(a_u−g) + C_p L̇ + F_c sign(L̇)
    """
    gx, gy, gz = vector(work, GRAVITY)
    gx, gy, gz = gravity * gx, gravity * gy, gravity * gz
    ox, oy, oz = vector(work, MOTION + 10)
    for i in range(LANES):
        sx, sy, sz = load(work, S + i)
        Wx, Wy, Wz = load(work, SPIN + i)
        m_d, m_u = work[LOWER_MASS + i], work[UPPER_MASS + i]
        C_u, C_s = friction * work[UNIVERSAL + i], friction * work[SPHERICAL + i]
        x, y, z = load(work, AD + i)
        rx, ry, rz = load(work, RD + i)
        dx, dy, dz = cross(rx, ry, rz, inertia * x - gx, inertia * y - gy, inertia * z - gz)
        x, y, z = load(work, AU + i)
        x, y, z = inertia * x - gx, inertia * y - gy, inertia * z - gz
        rx, ry, rz = load(work, RU + i)
        rx, ry, rz = cross(rx, ry, rz, x, y, z)
        nx, ny, nz = load(work, EULER + i)
        fx, fy, fz = C_s * (Wx - ox), C_s * (Wy - oy), C_s * (Wz - oz)
        Cx = m_d * dx + m_u * rx + inertia * nx + C_u * Wx + fx
        Cy = m_d * dy + m_u * ry + inertia * ny + C_u * Wy + fy
        Cz = m_d * dz + m_u * rz + inertia * nz + C_u * Wz + fz
        cx, cy, cz = load(work, C + i)
        m_c = -dot(Cx, Cy, Cz, sx, sy, sz) / work[SINE + i]  # c·s = −‖u×s‖
        hx, hy, hz = cross(Cx - m_c * cx, Cy - m_c * cy, Cz - m_c * cz, sx, sy, sz)
        per_L = 1.0 / work[LENGTH + i]
        Kx, Ky, Kz = hx * per_L, hy * per_L, hz * per_L
        qx, qy, qz = load(work, Q + i)
        hx, hy, hz = cross(qx, qy, qz, Kx, Ky, Kz)
        store(work, K + i, Kx, Ky, Kz)
        store(work, TURN + i, hx - fx, hy - fy, hz - fz)
        work[MC + i] = m_c
        work[D + i] = m_u * dot(sx, sy, sz, x, y, z) + friction * work[PRISMATIC + i] * work[SPEED + i]
    if friction != 0.0:
        for i in range(6):
            coulomb = work[COULOMB + i]
            if coulomb != 0.0:
                work[D + i] += friction * coulomb * direction(work[SPEED + i], work[COULOMB_SPEED])


@kernel
def direction(speed: float, smoothing: float) -> float:
    """Sign of a speed, or its smoothing tanh(speed/smoothing) where `smoothing` (m/s) is above zero."""
    if smoothing > 0.0:
        return math.tanh(speed / smoothing)
    if speed > 0.0:
        return 1.0
    return -1.0 if speed < 0.0 else 0.0
