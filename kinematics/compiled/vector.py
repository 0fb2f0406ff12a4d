"""Three-vectors as plain floats, for kernels: the compiler keeps them in registers and allocates nothing."""

from kinematics.compiled.compiling import kernel


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

    The quaternion need not be of unit norm, only not zero: R is a rotation to rounding all the same, so a norm that
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
    """Product R x of a matrix given row by row and a vector; with a frame's axes as rows, the components of x in it."""
    return r00 * x + r01 * y + r02 * z, r10 * x + r11 * y + r12 * z, r20 * x + r21 * y + r22 * z
