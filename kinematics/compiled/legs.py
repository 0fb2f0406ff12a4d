"""Kinematics of one leg in plain floats: the one place of its equations, compiled into every loop over legs or states.

Symbols: S = q + t − b the leg's vector, L its length, s its direction, u the universal joint's axis fixed in the base,
v = (u×s)/‖u×s‖ its other axis, w = s×v: [s v w] are the leg's axes. n = ‖u×s‖, μ = u·s, so that u = μ s + n w.
W and A are the leg's angular velocity and acceleration, W_s … A_w their components in the leg's axes.
Equations: Dasgupta & Mruthyunjaya (1998), eqs. 1–9, with the axial spin that a universal joint forces on the leg
(the paper leaves it out) as in Pedrammehr et al. (2012), eqs. 12–25, the second term of its eq. 21 completed.

Nothing is tested here, since only a loop without branches is turned into vector instructions: of a leg without length
no number is finite, of one along u none but those of `leg_direction`.
"""

from math import sqrt

from kinematics.compiled.compiling import inlined
from kinematics.compiled.vector import cross, dot


@inlined
def leg_direction(
    bx: float, by: float, bz: float, qx: float, qy: float, qz: float, tx: float, ty: float, tz: float
) -> tuple[float, float, float, float, float]:
    """Length, its inverse and direction of a leg, (L, 1/L, s), of S = q + t − b."""
    x, y, z = qx + tx - bx, qy + ty - by, qz + tz - bz
    length = sqrt(dot(x, y, z, x, y, z))
    inverse = 1.0 / length
    return length, inverse, x * inverse, y * inverse, z * inverse


@inlined
def leg_axes(
    ux: float, uy: float, uz: float, sx: float, sy: float, sz: float
) -> tuple[float, float, float, float, float, float, float, float]:
    """The other axes of a leg of direction s, (v, w), the sine n = ‖u×s‖ and μ/n."""
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
    """Velocity and acceleration of the platform's point q, Ṡ = ω×q + ṫ and S̈ = α×q + ω×(ω×q) + ẗ; takes ṫ, ω, ẗ, α."""
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
