"""One leg of the 6-UPS platform: where it is, how it moves, what it carries.

Symbols are those of the notation of Dasgupta & Mruthyunjaya (1998) with the universal joint taken in full, base axes:
S = q + t − b the leg's vector, L its length, s its direction, u the universal joint's fixed axis, v = (u×s)/‖u×s‖,
c = u×v, W and A the leg's angular velocity and acceleration, T = [s v w] with w = s×v the leg's axes. Index d is the
lower part (frame D at the base point), u the upper part (frame U at the platform point).
"""

import math

from dynamics.kernels.layout import (
    AXIS,
    BASE,
    COULOMB,
    COULOMB_SPEED,
    GRAVITY,
    LEG_ACCELERATION,
    LEG_AD,
    LEG_AU,
    LEG_C,
    LEG_COSINE,
    LEG_D,
    LEG_INERTIA,
    LEG_K,
    LEG_LENGTH,
    LEG_MC,
    LEG_MOMENT,
    LEG_Q,
    LEG_RD,
    LEG_RU,
    LEG_S,
    LEG_SINE,
    LEG_SPEED,
    LEG_SPIN,
    LEG_SPIN_RATE,
    LEG_STRIDE,
    LEG_V,
    LEG_W,
    LEGS,
    LOWER_CENTER,
    LOWER_MASS,
    MOTION,
    OK,
    PRISMATIC,
    ROTATION,
    ROW_STRIDE,
    ROWS,
    SPHERICAL,
    TOP,
    UNIVERSAL,
    UPPER_CENTER,
    UPPER_MASS,
)
from kinematics import Array, cross, dot, kernel, leg_kernel


@kernel
def load(array: Array, at: int) -> tuple[float, float, float]:
    """Three consecutive numbers of an array as a vector."""
    return array[at], array[at + 1], array[at + 2]


@kernel
def store(array: Array, at: int, x: float, y: float, z: float) -> None:
    """Put a vector into three consecutive places of an array."""
    array[at] = x
    array[at + 1] = y
    array[at + 2] = z


@kernel
def rotate(work: Array, x: float, y: float, z: float) -> tuple[float, float, float]:
    """R·(x, y, z): from platform axes to base axes."""
    return (
        work[ROTATION] * x + work[ROTATION + 1] * y + work[ROTATION + 2] * z,
        work[ROTATION + 3] * x + work[ROTATION + 4] * y + work[ROTATION + 5] * z,
        work[ROTATION + 6] * x + work[ROTATION + 7] * y + work[ROTATION + 8] * z,
    )


@kernel
def rotate_back(work: Array, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Rᵀ·(x, y, z): from base axes to platform axes."""
    return (
        work[ROTATION] * x + work[ROTATION + 3] * y + work[ROTATION + 6] * z,
        work[ROTATION + 1] * x + work[ROTATION + 4] * y + work[ROTATION + 7] * z,
        work[ROTATION + 2] * x + work[ROTATION + 5] * y + work[ROTATION + 8] * z,
    )


@kernel
def to_base(work: Array, row: int, x: float, y: float, z: float) -> tuple[float, float, float]:
    """T·(x, y, z): from the leg's axes to base axes."""
    sx, sy, sz = load(work, row + LEG_S)
    vx, vy, vz = load(work, row + LEG_V)
    wx, wy, wz = load(work, row + LEG_W)
    return x * sx + y * vx + z * wx, x * sy + y * vy + z * wy, x * sz + y * vz + z * wz


@kernel
def to_leg(work: Array, row: int, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Tᵀ·(x, y, z): from base axes to the leg's axes."""
    sx, sy, sz = load(work, row + LEG_S)
    vx, vy, vz = load(work, row + LEG_V)
    wx, wy, wz = load(work, row + LEG_W)
    return dot(sx, sy, sz, x, y, z), dot(vx, vy, vz, x, y, z), dot(wx, wy, wz, x, y, z)


@kernel
def tensor_times(tensor: Array, at: int, x: float, y: float, z: float) -> tuple[float, float, float]:
    """A packed symmetric tensor times a vector."""
    xx, yy, zz = tensor[at], tensor[at + 1], tensor[at + 2]
    xy, xz, yz = tensor[at + 3], tensor[at + 4], tensor[at + 5]
    return xx * x + xy * y + xz * z, xy * x + yy * y + yz * z, xz * x + yz * y + zz * z


@kernel
def euler_moment(parameters: Array, tensor: int, work: Array, row: int) -> tuple[float, float, float]:
    """I·A + W×(I·W) of a body fixed in the leg's axes, base axes, N m; `tensor` is where its I₀ stands."""
    Ax, Ay, Az = load(work, row + LEG_SPIN_RATE)
    Wx, Wy, Wz = load(work, row + LEG_SPIN)
    Ax, Ay, Az = to_leg(work, row, Ax, Ay, Az)
    Wx, Wy, Wz = to_leg(work, row, Wx, Wy, Wz)
    ex, ey, ez = tensor_times(parameters, tensor, Ax, Ay, Az)
    hx, hy, hz = tensor_times(parameters, tensor, Wx, Wy, Wz)
    gx, gy, gz = cross(Wx, Wy, Wz, hx, hy, hz)
    return to_base(work, row, ex + gx, ey + gy, ez + gz)


@kernel
def turning_acceleration(work: Array, row: int, rx: float, ry: float, rz: float) -> tuple[float, float, float]:
    """A×r + W×(W×r), m/s², of a point at r from the base point that turns with the leg."""
    Ax, Ay, Az = load(work, row + LEG_SPIN_RATE)
    Wx, Wy, Wz = load(work, row + LEG_SPIN)
    ax, ay, az = cross(Ax, Ay, Az, rx, ry, rz)
    hx, hy, hz = cross(Wx, Wy, Wz, rx, ry, rz)
    hx, hy, hz = cross(Wx, Wy, Wz, hx, hy, hz)
    return ax + hx, ay + hy, az + hz


@kernel
def sliding_acceleration(work: Array, row: int, rx: float, ry: float, rz: float) -> tuple[float, float, float]:
    """L̈ s + A×r + W×(W×r) + 2L̇ W×s, m/s², of a point at r from the base point on the upper part."""
    sx, sy, sz = load(work, row + LEG_S)
    Wx, Wy, Wz = load(work, row + LEG_SPIN)
    Ld, Ldd = work[row + LEG_SPEED], work[row + LEG_ACCELERATION]
    ax, ay, az = turning_acceleration(work, row, rx, ry, rz)
    hx, hy, hz = cross(Wx, Wy, Wz, sx, sy, sz)
    return Ldd * sx + ax + 2.0 * Ld * hx, Ldd * sy + ay + 2.0 * Ld * hy, Ldd * sz + az + 2.0 * Ld * hz


@kernel
def leg_motion(parameters: Array, leg: int, work: Array) -> int:
    """Fill the row of `leg` (0…5) with its kinematics, from the motion and R in `work`.

    Returns OK, or leg + 1 where the leg has no length or lies along u.
    """
    at = LEGS + leg * LEG_STRIDE
    row = ROWS + leg * ROW_STRIDE
    px, py, pz = load(parameters, at + TOP)
    qx, qy, qz = rotate(work, px, py, pz)
    (
        L, Ld, Ldd, sx, sy, sz, vx, vy, vz, n, Wx, Wy, Wz, Ax, Ay, Az, _, _, _,
    ) = leg_kernel(
        parameters[at + BASE], parameters[at + BASE + 1], parameters[at + BASE + 2],
        parameters[at + AXIS], parameters[at + AXIS + 1], parameters[at + AXIS + 2],
        qx, qy, qz,
        work[MOTION], work[MOTION + 1], work[MOTION + 2],
        work[MOTION + 7], work[MOTION + 8], work[MOTION + 9],
        work[MOTION + 10], work[MOTION + 11], work[MOTION + 12],
        work[MOTION + 13], work[MOTION + 14], work[MOTION + 15],
        work[MOTION + 16], work[MOTION + 17], work[MOTION + 18],
    )  # fmt: skip
    if n == 0.0:
        return leg + 1
    ux, uy, uz = load(parameters, at + AXIS)
    cx, cy, cz = cross(ux, uy, uz, vx, vy, vz)
    wx, wy, wz = cross(sx, sy, sz, vx, vy, vz)
    store(work, row + LEG_S, sx, sy, sz)
    store(work, row + LEG_V, vx, vy, vz)
    store(work, row + LEG_W, wx, wy, wz)
    store(work, row + LEG_C, cx, cy, cz)
    store(work, row + LEG_Q, qx, qy, qz)
    store(work, row + LEG_SPIN, Wx, Wy, Wz)
    store(work, row + LEG_SPIN_RATE, Ax, Ay, Az)
    work[row + LEG_LENGTH] = L
    work[row + LEG_SPEED] = Ld
    work[row + LEG_ACCELERATION] = Ldd
    work[row + LEG_SINE] = n
    work[row + LEG_COSINE] = dot(ux, uy, uz, sx, sy, sz)
    return OK


@kernel
def leg_inertia(parameters: Array, leg: int, work: Array) -> None:
    """Add to the row of `leg` what its parts' inertia needs, from its kinematics there.

    r_d = T r_d0      a_d = A×r_d + W×(W×r_d)
    r_u = T (L x̂ + r_u0)      a_u = L̈ s + A×r_u + W×(W×r_u) + 2L̇ W×s
    (I_d+I_u) A + W×(I_d+I_u) W, I = T I₀ Tᵀ about each part's own centre of mass
    """
    at = LEGS + leg * LEG_STRIDE
    row = ROWS + leg * ROW_STRIDE
    x, y, z = load(parameters, at + LOWER_CENTER)
    x, y, z = to_base(work, row, x, y, z)
    store(work, row + LEG_RD, x, y, z)
    x, y, z = turning_acceleration(work, row, x, y, z)
    store(work, row + LEG_AD, x, y, z)
    x, y, z = load(parameters, at + UPPER_CENTER)
    x, y, z = to_base(work, row, work[row + LEG_LENGTH] + x, y, z)
    store(work, row + LEG_RU, x, y, z)
    x, y, z = sliding_acceleration(work, row, x, y, z)
    store(work, row + LEG_AU, x, y, z)
    x, y, z = euler_moment(parameters, at + LEG_INERTIA, work, row)
    store(work, row + LEG_MOMENT, x, y, z)


@kernel
def leg_load(
    parameters: Array, leg: int, gravity: float, inertia: float, friction: float, work: Array
) -> tuple[float, float, float]:
    """Fill K, D and m_c of `leg`, of the causes whose factors (0 or 1) are set, from its motion and inertia.

        C = m_d r_d×(a_d−g) + m_u r_u×(a_u−g) + (I_d+I_u) A + W×(I_d+I_u) W + C_u W + C_s (W−ω)
        m_c = C·s / c·s         K = (C×s − m_c c×s)/L
        D = m_u s·(a_u−g) + C_p L̇ + F_c sign(L̇)

    With a Coulomb speed sign(L̇) becomes tanh(L̇/speed). Returns f = C_s (W−ω), the spherical joint's friction
    moment on the platform, N m.
    """
    at = LEGS + leg * LEG_STRIDE
    row = ROWS + leg * ROW_STRIDE
    m_d, m_u = parameters[at + LOWER_MASS], parameters[at + UPPER_MASS]
    gx, gy, gz = load(parameters, GRAVITY)
    gx, gy, gz = gravity * gx, gravity * gy, gravity * gz
    sx, sy, sz = load(work, row + LEG_S)
    L, Ld = work[row + LEG_LENGTH], work[row + LEG_SPEED]

    x, y, z = load(work, row + LEG_AD)
    rx, ry, rz = load(work, row + LEG_RD)
    dx, dy, dz = cross(rx, ry, rz, inertia * x - gx, inertia * y - gy, inertia * z - gz)
    x, y, z = load(work, row + LEG_AU)
    x, y, z = inertia * x - gx, inertia * y - gy, inertia * z - gz
    rx, ry, rz = load(work, row + LEG_RU)
    rx, ry, rz = cross(rx, ry, rz, x, y, z)
    nx, ny, nz = load(work, row + LEG_MOMENT)
    Wx, Wy, Wz = load(work, row + LEG_SPIN)
    ox, oy, oz = load(work, MOTION + 10)
    C_u = friction * parameters[at + UNIVERSAL]
    C_s = friction * parameters[at + SPHERICAL]
    fx, fy, fz = C_s * (Wx - ox), C_s * (Wy - oy), C_s * (Wz - oz)
    Cx = m_d * dx + m_u * rx + inertia * nx + C_u * Wx + fx
    Cy = m_d * dy + m_u * ry + inertia * ny + C_u * Wy + fy
    Cz = m_d * dz + m_u * rz + inertia * nz + C_u * Wz + fz

    cx, cy, cz = load(work, row + LEG_C)
    m_c = -dot(Cx, Cy, Cz, sx, sy, sz) / work[row + LEG_SINE]  # c·s = −‖u×s‖
    Cx, Cy, Cz = cross(Cx - m_c * cx, Cy - m_c * cy, Cz - m_c * cz, sx, sy, sz)
    store(work, row + LEG_K, Cx / L, Cy / L, Cz / L)
    work[row + LEG_MC] = m_c

    coulomb = friction * parameters[at + COULOMB]
    if coulomb != 0.0:
        speed = parameters[COULOMB_SPEED]
        if speed > 0.0:
            coulomb *= math.tanh(Ld / speed)
        elif Ld < 0.0:
            coulomb = -coulomb
        elif Ld == 0.0:
            coulomb = 0.0
    work[row + LEG_D] = m_u * dot(sx, sy, sz, x, y, z) + friction * parameters[at + PRISMATIC] * Ld + coulomb
    return fx, fy, fz
