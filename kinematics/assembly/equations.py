"""The equations of a platform with locked legs, as seven quadrics in eight homogeneous complex unknowns.

Study's parameters x = [e, g], two quaternions, stand for the pose with rotation R(e) and position t = g ē / (e·e); x
and any multiple of it are the same pose, and e·g = 0 makes the position a vector. With u = e p and v = b e, the
squared length d of a leg from b to p reads

    g·g + c e·e + 2 g·(u − v) − 2 u·v = 0,   c = b·b + p·p − d,

where the dot is without conjugation (Wampler, Forward displacement analysis of general six-in-parallel SPS platform
manipulators using soma coordinates, 1996). A general platform has forty solutions; those with e·e = 0 are no poses but
"at infinity".
"""

import numpy as np
import numpy.typing as npt

from kinematics.compiled import eliminate, kernel

Complex = npt.NDArray[np.complex128]

UNKNOWNS = 8
ASSEMBLY_FIELDS = 7
"""Columns of a platform here, one row per leg: b (3), p (3), d."""

WORK_COLUMNS = 15
"""Columns of the array (8, WORK_COLUMNS) in which a system [A | r] stands first; a constant, for the compiler."""


@kernel
def _times_vector(
    w: complex, x: complex, y: complex, z: complex, i: complex, j: complex, k: complex
) -> tuple[complex, complex, complex, complex]:
    """Quaternion product [w, x, y, z] · [0, i, j, k]."""
    return -x * i - y * j - z * k, w * i + y * k - z * j, w * j + z * i - x * k, w * k + x * j - y * i


@kernel
def _vector_times(
    i: complex, j: complex, k: complex, w: complex, x: complex, y: complex, z: complex
) -> tuple[complex, complex, complex, complex]:
    """Quaternion product [0, i, j, k] · [w, x, y, z]."""
    return -x * i - y * j - z * k, w * i - y * k + z * j, w * j - z * i + x * k, w * k - x * j + y * i


@kernel
def linearised_kernel(start: Complex, change: Complex, s: complex, x: Complex, along: bool, system: Complex) -> None:
    """The quadrics at x (8,) on the platform start + s·change, both (6, 7), linearised, into nine columns of `system`.

    Rows 0 to 6 are [∂F/∂x | −F], or [∂F/∂x | −∂F/∂s] if `along`; the last row is left alone.
    """
    ew, ex, ey, ez, gw, gx, gy, gz = x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]
    ee = ew * ew + ex * ex + ey * ey + ez * ez
    gg = gw * gw + gx * gx + gy * gy + gz * gz
    for leg in range(6):
        b0, b1, b2 = start[leg, 0], start[leg, 1], start[leg, 2]
        p0, p1, p2 = start[leg, 3], start[leg, 4], start[leg, 5]
        d0, d1, d2 = change[leg, 0], change[leg, 1], change[leg, 2]
        q0, q1, q2 = change[leg, 3], change[leg, 4], change[leg, 5]
        b0, b1, b2 = b0 + s * d0, b1 + s * d1, b2 + s * d2
        p0, p1, p2 = p0 + s * q0, p1 + s * q1, p2 + s * q2
        c = b0 * b0 + b1 * b1 + b2 * b2 + p0 * p0 + p1 * p1 + p2 * p2 - start[leg, 6] - s * change[leg, 6]
        uw, ux, uy, uz = _times_vector(ew, ex, ey, ez, p0, p1, p2)
        vw, vx, vy, vz = _vector_times(b0, b1, b2, ew, ex, ey, ez)
        # ∂F/∂e = 2 c e − 2 (g − v) p + 2 b (g + u): the products with a vector are antisymmetric matrices
        mw, mx, my, mz = _times_vector(gw - vw, gx - vx, gy - vy, gz - vz, p0, p1, p2)
        nw, nx, ny, nz = _vector_times(b0, b1, b2, gw + uw, gx + ux, gy + uy, gz + uz)
        system[leg, 0] = 2.0 * (c * ew - mw + nw)
        system[leg, 1] = 2.0 * (c * ex - mx + nx)
        system[leg, 2] = 2.0 * (c * ey - my + ny)
        system[leg, 3] = 2.0 * (c * ez - mz + nz)
        system[leg, 4] = 2.0 * (gw + uw - vw)
        system[leg, 5] = 2.0 * (gx + ux - vx)
        system[leg, 6] = 2.0 * (gy + uy - vy)
        system[leg, 7] = 2.0 * (gz + uz - vz)
        if along:
            rate = 2.0 * (b0 * d0 + b1 * d1 + b2 * d2 + p0 * q0 + p1 * q1 + p2 * q2) - change[leg, 6]
            mw, mx, my, mz = _times_vector(ew, ex, ey, ez, q0, q1, q2)
            nw, nx, ny, nz = _vector_times(d0, d1, d2, ew, ex, ey, ez)
            value = (gw - vw) * mw + (gx - vx) * mx + (gy - vy) * my + (gz - vz) * mz
            value -= (gw + uw) * nw + (gx + ux) * nx + (gy + uy) * ny + (gz + uz) * nz
            system[leg, 8] = -rate * ee - 2.0 * value
        else:
            value = gw * (uw - vw) + gx * (ux - vx) + gy * (uy - vy) + gz * (uz - vz)
            value -= uw * vw + ux * vx + uy * vy + uz * vz
            system[leg, 8] = -gg - c * ee - 2.0 * value
    for k in range(4):
        system[6, k] = x[4 + k]
        system[6, 4 + k] = x[k]
    if along:
        system[6, 8] = 0.0
    else:
        system[6, 8] = -(ew * gw + ex * gx + ey * gy + ez * gz)


@kernel
def solve_complex_kernel(system: Complex) -> bool:
    """Solve A x = r in place for [A | r] (8, 9), the first columns of `system` (8, WORK_COLUMNS).

    x is left in the ninth column. False where A is singular.
    """
    return eliminate(system.reshape(8 * WORK_COLUMNS), 0, WORK_COLUMNS, 8, 1, 0.0) != 0.0
