"""Inverse dynamics as compiled code: legs vectorised, and the leg forces of a motion."""

import math

from dynamics.kernels.layout import (
    ACCELERATION,
    AD,
    ARM,
    AU,
    AXIS,
    BASE,
    CENTER,
    COSINE,
    COULOMB,
    COULOMB_SPEED,
    DRIVE_COULOMB,
    DRIVE_MASS,
    DRIVE_VISCOUS,
    EULER,
    GRAVITY,
    INERTIA,
    LANES,
    LEAST_PIVOT,
    LEG_INERTIA,
    LENGTH,
    LOWER_CENTER,
    LOWER_MASS,
    MASS,
    MATRIX,
    MATRIX_STRIDE,
    MC,
    MOTION,
    NOT_FINITE,
    OK,
    PRISMATIC,
    RD,
    ROTATION,
    RU,
    SINE,
    SINGULAR,
    SPEED,
    SPHERICAL,
    SPIN,
    SPIN_RATE,
    TOP,
    TURN,
    UNIVERSAL,
    UPPER_CENTER,
    UPPER_MASS,
    WRONG_SHAPE,
    C,
    D,
    F,
    K,
    Q,
    S,
    V,
    W,
    X,
    load_motion,
    load_parameters,
)
from kinematics import (
    MINIMUM_SINE,
    Array,
    cross,
    dot,
    eliminate,
    inlined,
    kernel,
    leg_axes,
    leg_direction,
    leg_rates,
    point_motion,
    rotate,
)


@inlined
def vector(array: Array, at: int) -> tuple[float, float, float]:
    """Load a platform vector: three consecutive numbers of an array."""
    return array[at], array[at + 1], array[at + 2]


@inlined
def load(array: Array, at: int) -> tuple[float, float, float]:
    """Load a leg vector; `at` is its place plus the leg's index."""
    return array[at], array[at + LANES], array[at + 2 * LANES]


@inlined
def store(array: Array, at: int, x: float, y: float, z: float) -> None:
    """Store a leg vector at the place `load` reads."""
    array[at] = x
    array[at + LANES] = y
    array[at + 2 * LANES] = z


@inlined
def combine(
    ax: float, ay: float, az: float,
    bx: float, by: float, bz: float,
    cx: float, cy: float, cz: float,
    x: float, y: float, z: float,
) -> tuple[float, float, float]:  # fmt: skip
    """Return x a + y b + z c; if a, b, c are the axes of a frame, the vector (x, y, z) of that frame."""
    return x * ax + y * bx + z * cx, x * ay + y * by + z * cy, x * az + y * bz + z * cz


@inlined
def tensor_times(
    xx: float, yy: float, zz: float, xy: float, xz: float, yz: float, x: float, y: float, z: float
) -> tuple[float, float, float]:
    """Multiply a symmetric tensor by a vector."""
    return xx * x + xy * y + xz * z, xy * x + yy * y + yz * z, xz * x + yz * y + zz * z


@inlined
def turning(
    Ax: float, Ay: float, Az: float, Wx: float, Wy: float, Wz: float, rx: float, ry: float, rz: float
) -> tuple[float, float, float]:
    """Return A×r + W×(W×r), the acceleration of a point at r of a body rotating about the origin of r."""
    hx, hy, hz = Wy * rz - Wz * ry, Wz * rx - Wx * rz, Wx * ry - Wy * rx
    return (
        Ay * rz - Az * ry + Wy * hz - Wz * hy,
        Az * rx - Ax * rz + Wz * hx - Wx * hz,
        Ax * ry - Ay * rx + Wx * hy - Wy * hx,
    )


@inlined
def euler(
    xx: float, yy: float, zz: float, xy: float, xz: float, yz: float,
    Ax: float, Ay: float, Az: float, Wx: float, Wy: float, Wz: float,
) -> tuple[float, float, float]:  # fmt: skip
    """I A + W×(I W), all in the axes of the body."""
    hx, hy, hz = tensor_times(xx, yy, zz, xy, xz, yz, Wx, Wy, Wz)
    ex, ey, ez = tensor_times(xx, yy, zz, xy, xz, yz, Ax, Ay, Az)
    return ex + Wy * hz - Wz * hy, ey + Wz * hx - Wx * hz, ez + Wx * hy - Wy * hx


@kernel
def solve(columns: int, work: Array) -> int:
    """Solve the platform's equations in `work` for the first `columns` right-hand sides, in place.

    The rows are scaled to a largest element of 1, so that the singularity check is independent of the unit of length
    and the size of the mechanism. The matrix is destroyed.
    Returns OK, or SINGULAR if a pivot is below LEAST_PIVOT.
    """
    for i in range(6):
        row = MATRIX + i * MATRIX_STRIDE
        largest = 0.0
        for j in range(6):
            largest = max(largest, abs(work[row + j]))
        if not largest > 0.0:
            return SINGULAR
        scale = 1.0 / largest
        for j in range(6 + columns):
            work[row + j] *= scale
    sign = eliminate(work, MATRIX, MATRIX_STRIDE, 6, columns, LEAST_PIVOT)
    return OK if sign != 0.0 else SINGULAR


@kernel
def legs_motion(work: Array) -> int:
    """Compute the legs' kinematics and inertial terms from the motion and R in `work`.

        L, s, L̇, L̈, W, A as in `kinematics.compiled.legs`
        r_d = T r_d0            r_u = T (L x̂ + r_u0)
        a_d = A×r_d + W×(W×r_d)
        a_u = L̈ s + A×r_u + W×(W×r_u) + 2L̇ W×s
        (I_d+I_u) A + W×(I_d+I_u) W,  I = T I₀ Tᵀ about the centre of mass of each part

    Returns OK, or the number 1…6 of a leg that has zero length or lies along u.
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
        # their rotational moment, in the leg's axes, where the inertias are constant
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
        if not work[SINE + i] >= MINIMUM_SINE:  # NaN if L = 0
            return i + 1
    return OK


@kernel
def legs_load(gravity: float, inertia: float, friction: float, work: Array) -> None:
    """Compute K, D, m_c and q×K − f from the legs' motion, for the causes whose factors (0 or 1) are set.

    C = m_d r_d×(a_d−g) + m_u r_u×(a_u−g) + (I_d+I_u) A + W×(I_d+I_u) W + C_u W + f,   f = C_s (W−ω)
    m_c = C·s / c·s         K = (C×s − m_c c×s)/L
    D = m_u s·(a_u−g) + m_r L̈ + (C_p + C_r) L̇ + (F_c + F_r) sign(L̇)
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
        viscous = work[PRISMATIC + i] + work[DRIVE_VISCOUS + i]
        work[D + i] = m_u * dot(sx, sy, sz, x, y, z) + friction * viscous * work[SPEED + i]
        work[D + i] += inertia * work[DRIVE_MASS + i] * work[ACCELERATION + i]
    if friction != 0.0:
        for i in range(6):
            coulomb = work[COULOMB + i] + work[DRIVE_COULOMB + i]
            if coulomb != 0.0:
                work[D + i] += friction * coulomb * direction(work[SPEED + i], work[COULOMB_SPEED])


@kernel
def direction(speed: float, smoothing: float) -> float:
    """Sign of a speed, or tanh(speed/smoothing) if `smoothing` (m/s) is above zero."""
    if smoothing > 0.0:
        return math.tanh(speed / smoothing)
    if speed > 0.0:
        return 1.0
    return -1.0 if speed < 0.0 else 0.0


@kernel
def drive_part(work: Array, i: int) -> float:
    """Return the part of F that the drive of leg i itself takes, N: m_r L̈ + C_r L̇ + F_r sign(L̇)."""
    part: float = work[DRIVE_MASS + i] * work[ACCELERATION + i] + work[DRIVE_VISCOUS + i] * work[SPEED + i]
    coulomb = work[DRIVE_COULOMB + i]
    if coulomb != 0.0:
        part += coulomb * direction(work[SPEED + i], work[COULOMB_SPEED])
    return part


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
    """Write H, columns [s_i; q_i×s_i], to the platform's equations."""
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
    """Write the right-hand side of the causes whose factors (0 or 1) are set to `column`, and each leg's K and D.

    `gravity` applies to platform and legs; `platform` and `legs` select their inertia.
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
    # Iα + ω×Iω in platform axes, where I is constant; the wrench is given in these
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
    """As `inverse_kernel`; `work` already holds the parameters."""
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
    """Compute actuator forces (6,) N of a motion (19,) under an external wrench (6,) in platform axes.

    Leaves every leg's motion, K, D, m_c, x and F in `work`, for cells and reactions. Returns a status; `forces` is
    written only if it is OK.
    """
    load_parameters(parameters, work)
    return inverse(motion, wrench, work, forces)


@kernel
def forces_kernel(motion: Array, wrench: Array, work: Array, forces: Array) -> int:
    """As `inverse_kernel`; `work` already holds the parameters. Checks shapes; for calls from Python."""
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
    """Write right-hand side and D of the causes whose factors (0 or 1) are set to place `k` of five."""
    right_hand_side(wrench, k, gravity, platform, legs, friction, external, work)
    for i in range(6):
        terms[6 * k + i] = work[D + i]


@kernel
def terms_kernel(motion: Array, wrench: Array, work: Array, terms: Array) -> int:
    """Compute actuator forces split by cause; `work` already holds the parameters.

    `terms` (30,): six legs each of platform inertia, gravity, leg inertia, friction, external wrench.
    The forces are linear in these, so the same equations are solved once for five right-hand sides. Leaves every
    leg's x and F in `work`, for the cells; K, D and m_c there are not the totals. Returns a status; `terms` is
    invalid unless it is OK.
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
