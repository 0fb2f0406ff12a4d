"""Small pieces of the leg's equations, in plain floats, compiled into the loops that use them."""

from dynamics.kernels.layout import LANES
from kinematics import Array, inlined


@inlined
def vector(array: Array, at: int) -> tuple[float, float, float]:
    """Three consecutive numbers of an array: a vector of the platform."""
    return array[at], array[at + 1], array[at + 2]


@inlined
def load(array: Array, at: int) -> tuple[float, float, float]:
    """A vector of a leg; `at` is its place plus the leg's index."""
    return array[at], array[at + LANES], array[at + 2 * LANES]


@inlined
def store(array: Array, at: int, x: float, y: float, z: float) -> None:
    """Put a vector of a leg where `load` finds it."""
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
    """x a + y b + z c; with the axes of a frame, the vector (x, y, z) of that frame."""
    return x * ax + y * bx + z * cx, x * ay + y * by + z * cy, x * az + y * bz + z * cz


@inlined
def tensor_times(
    xx: float, yy: float, zz: float, xy: float, xz: float, yz: float, x: float, y: float, z: float
) -> tuple[float, float, float]:
    """A symmetric tensor times a vector."""
    return xx * x + xy * y + xz * z, xy * x + yy * y + yz * z, xz * x + yz * y + zz * z


@inlined
def turning(
    Ax: float, Ay: float, Az: float, Wx: float, Wy: float, Wz: float, rx: float, ry: float, rz: float
) -> tuple[float, float, float]:
    """A×r + W×(W×r), the acceleration of a point at r of a body that turns about the origin of r."""
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
