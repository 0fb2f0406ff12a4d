"""Three-vectors and the kinematics of one leg in plain floats, inlined into kernels."""

from math import sqrt

from kinematics.compiled.compiling import inlined, kernel


@kernel
def dot(ax: float, ay: float, az: float, bx: float, by: float, bz: float) -> float:
    """Scalar product a·b."""
    return ax * bx + ay * by + az * bz


@kernel
def cross(ax: float, ay: float, az: float, bx: float, by: float, bz: float) -> tuple[float, float, float]:
    """Vector product a×b."""
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@kernel
def rotation_matrix(
    qw: float, qx: float, qy: float, qz: float
) -> tuple[float, float, float, float, float, float, float, float, float]:
    """Rotation matrix R of a quaternion, row by row: r00, r01, r02, r10, … r22.

    The quaternion need not be of unit norm, only not zero: R is a rotation to rounding in any case, so a norm that
    drifts over many integration steps never scales the platform.
    """
    k = 2.0 / (qw * qw + qx * qx + qy * qy + qz * qz)
    xx, yy, zz = k * qx * qx, k * qy * qy, k * qz * qz
    xy, xz, yz = k * qx * qy, k * qx * qz, k * qy * qz
    wx, wy, wz = k * qw * qx, k * qw * qy, k * qw * qz
    return 1.0 - yy - zz, xy - wz, xz + wy, xy + wz, 1.0 - xx - zz, yz - wx, xz - wy, yz + wx, 1.0 - xx - yy


@kernel
def rotate(
    r00: float, r01: float, r02: float,
    r10: float, r11: float, r12: float,
    r20: float, r21: float, r22: float,
    x: float, y: float, z: float,
) -> tuple[float, float, float]:  # fmt: skip
    """Multiply a matrix given row by row by a vector; with a frame's axes as rows, the components of x in the frame."""
    return r00 * x + r01 * y + r02 * z, r10 * x + r11 * y + r12 * z, r20 * x + r21 * y + r22 * z


@inlined
def leg_direction(
    bx: float, by: float, bz: float, qx: float, qy: float, qz: float, tx: float, ty: float, tz: float
) -> tuple[float, float, float, float, float]:
    """Length, inverse length and direction of a leg, (L, 1/L, s), of S = q + t − b."""
    x, y, z = qx + tx - bx, qy + ty - by, qz + tz - bz
    length = sqrt(dot(x, y, z, x, y, z))
    inverse = 1.0 / length
    return length, inverse, x * inverse, y * inverse, z * inverse


@inlined
def leg_axes(
    ux: float, uy: float, uz: float, sx: float, sy: float, sz: float
) -> tuple[float, float, float, float, float, float, float, float]:
    """Transverse axes of a leg of direction s, (v, w), the sine n = ‖u×s‖ and μ/n."""
    x, y, z = cross(ux, uy, uz, sx, sy, sz)
    sine = sqrt(dot(x, y, z, x, y, z))
    inverse = 1.0 / sine
    vx, vy, vz = x * inverse, y * inverse, z * inverse
    wx, wy, wz = cross(sx, sy, sz, vx, vy, vz)
    return vx, vy, vz, wx, wy, wz, sine, dot(ux, uy, uz, sx, sy, sz) * inverse


@inlined
def point_motion(
    qx: float, qy: float, qz: float,
    vx: float, vy: float, vz: float,
    ox: float, oy: float, oz: float,
    ax: float, ay: float, az: float,
    lx: float, ly: float, lz: float,
) -> tuple[float, float, float, float, float, float]:  # fmt: skip
    """Velocity and acceleration of the platform's point q, Ṡ = ω×q + ṫ and S̈ = α×q + ω×(ω×q) + ẗ, from ṫ, ω, ẗ, α."""
    dx, dy, dz = cross(ox, oy, oz, qx, qy, qz)
    ex, ey, ez = cross(ox, oy, oz, dx, dy, dz)
    fx, fy, fz = cross(lx, ly, lz, qx, qy, qz)
    return dx + vx, dy + vy, dz + vz, fx + ex + ax, fy + ey + ay, fz + ez + az


@inlined
def leg_rates(
    length: float, inverse: float, slope: float,
    velocity_v: float, velocity_w: float, speed: float,
    acceleration_s: float, acceleration_v: float, acceleration_w: float,
) -> tuple[float, float, float, float, float, float, float]:  # fmt: skip
    """L̈, W_s, W_v, W_w, A_s, A_v, A_w of a leg, from L, 1/L, μ/n, Ṡ·v, Ṡ·w, L̇ = Ṡ·s, and S̈ in the leg's axes.

    W_v = −Ṡ·w/L     W_w = Ṡ·v/L     w_u = W_w/n     W_s = μ w_u
    L̈ = s·S̈ + L (W_v² + W_w²)
    A_w = (S̈·v − 2L̇ W_w)/L − W_s W_v          A_v = W_s W_w − (S̈·w + 2L̇ W_v)/L
    a_u = (A_w − μ w_u W_v)/n                  A_s = μ a_u − n w_u W_v
    """
    Ww, Wv = velocity_v * inverse, -velocity_w * inverse
    Ws = Ww * slope
    acceleration = acceleration_s + length * (Wv * Wv + Ww * Ww)
    twice = 2.0 * speed
    Aw = (acceleration_v - twice * Ww) * inverse - Ws * Wv
    Av = Ws * Ww - (acceleration_w + twice * Wv) * inverse
    As = slope * (Aw - Ws * Wv) - Ww * Wv
    return acceleration, Ws, Wv, Ww, As, Av, Aw
