"""Regressor of the exact model: forces as a matrix times the parameters in which they are linear.

The moments of a leg's lower part are about the base point b, those of its upper part about the platform point, whose
acceleration is S̈. With h = m r and J about these points, in the leg's axes T = [s v w],

    C = J_d A + W×J_d W − h_d×g + J_u A + W×J_u W + h_u×(S̈−g) + L s×[m_u(S̈−g) + A×h_u + W×(W×h_u)]
        + C_u W + C_s (W−ω)
    D = s·[m_u(S̈−g) + A×h_u + W×(W×h_u)] + C_p L̇ + F_c sign(L̇)

and the platform's likewise with M, H = M R₀ and I_o about its origin. K, x and F follow linearly from C and D as in
`dynamics.kernels.inverse`.
"""

import math

from dynamics.kernels.inverse import (
    direction,
    drive_part,
    euler,
    leg_matrix,
    legs_motion,
    load,
    to_base,
    to_platform,
    turning,
    vector,
)
from dynamics.kernels.layout import (
    ACCELERATION,
    CELL_ACTUATOR,
    CELL_BASE,
    CELL_LOCATION,
    CELL_MASS,
    CELL_MOTOR,
    CELL_PLACE,
    CELL_ROD_END,
    COSINE,
    COULOMB_SPEED,
    GRAVITY,
    LEAST_PIVOT,
    LENGTH,
    MATRIX,
    MATRIX_STRIDE,
    MOTION,
    NOT_FINITE,
    OK,
    SINE,
    SINGULAR,
    SPEED,
    SPIN,
    SPIN_RATE,
    Q,
    S,
    V,
    W,
    load_motion,
    load_parameters,
)
from kinematics import Array, cross, eliminate, inlined, kernel, rotate

# Columns of the regressor: the platform's, then each leg's.
MASS, FIRST, SECOND = 0, 1, 4  # within a body: m, h (3), J (xx, yy, zz, xy, xz, yz)
BODY = 10
LOWER, UPPER = 0, BODY  # within a leg
UNIVERSAL, PRISMATIC, SPHERICAL, COULOMB = 20, 21, 22, 23
LEG = 24
COLUMNS = BODY + 6 * LEG

_WIDTH = 12  # of a row [H | 1]
REGRESSOR_WORK = 6 * _WIDTH + 3 * LEG + 18

_KV, _KW, _OWN = 6 * _WIDTH, 6 * _WIDTH + LEG, 6 * _WIDTH + 2 * LEG
_XV = 6 * _WIDTH + 3 * LEG
_XW, _XF = _XV + 6, _XV + 12


@inlined
def _unit(k: int) -> tuple[float, float, float]:
    return 1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0


@inlined
def _unit_tensor(k: int) -> tuple[float, float, float, float, float, float]:
    return (
        1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0,
        1.0 if k == 3 else 0.0, 1.0 if k == 4 else 0.0, 1.0 if k == 5 else 0.0,
    )  # fmt: skip


@kernel
def _invert(work: Array, scratch: Array) -> int:
    """Put the inverse of H, from the platform's equations in `work`, into columns 6…11 of the rows in `scratch`."""
    for i in range(6):
        largest = 0.0
        for j in range(6):
            largest = max(largest, abs(work[MATRIX + i * MATRIX_STRIDE + j]))
        if not largest > 0.0:
            return SINGULAR
        scale = 1.0 / largest
        for j in range(6):
            scratch[i * _WIDTH + j] = scale * work[MATRIX + i * MATRIX_STRIDE + j]
            scratch[i * _WIDTH + 6 + j] = scale if i == j else 0.0
    return OK if eliminate(scratch, 0, _WIDTH, 6, 6, LEAST_PIVOT) != 0.0 else SINGULAR


@kernel
def _solve(scratch: Array, place: int, fx: float, fy: float, fz: float, mx: float, my: float, mz: float) -> None:
    """Store H⁻¹ [f; m] (6,) at `place`."""
    for i in range(6):
        at = i * _WIDTH + 6
        scratch[place + i] = (
            scratch[at] * fx + scratch[at + 1] * fy + scratch[at + 2] * fz
            + scratch[at + 3] * mx + scratch[at + 4] * my + scratch[at + 5] * mz
        )  # fmt: skip


@kernel
def _platform(work: Array, scratch: Array, out: Array) -> None:
    """Compute the platform's ten columns of −x."""
    gx, gy, gz = vector(work, GRAVITY)
    ox, oy, oz = vector(work, MOTION + 10)
    ax, ay, az = vector(work, MOTION + 13)
    lx, ly, lz = vector(work, MOTION + 16)
    fx, fy, fz = ax - gx, ay - gy, az - gz
    _solve(scratch, _XV, fx, fy, fz, 0.0, 0.0, 0.0)
    for i in range(6):
        out[i, MASS] = scratch[_XV + i]
    for k in range(3):
        x, y, z = _unit(k)
        rx, ry, rz = to_base(work, x, y, z)
        x, y, z = turning(lx, ly, lz, ox, oy, oz, rx, ry, rz)
        mx, my, mz = cross(rx, ry, rz, fx, fy, fz)
        _solve(scratch, _XV, x, y, z, mx, my, mz)
        for i in range(6):
            out[i, FIRST + k] = scratch[_XV + i]
    lx, ly, lz = to_platform(work, lx, ly, lz)
    ox, oy, oz = to_platform(work, ox, oy, oz)
    for k in range(6):
        xx, yy, zz, xy, xz, yz = _unit_tensor(k)
        x, y, z = euler(xx, yy, zz, xy, xz, yz, lx, ly, lz, ox, oy, oz)
        mx, my, mz = to_base(work, x, y, z)
        _solve(scratch, _XV, 0.0, 0.0, 0.0, mx, my, mz)
        for i in range(6):
            out[i, SECOND + k] = scratch[_XV + i]


@kernel
def _column(scratch: Array, k: int, Cs: float, Cv: float, Cw: float, own: float, per_L: float, slope: float) -> None:
    """Store K = K_v v + K_w w of a column's C, and what it adds to the reading of its own leg."""
    scratch[_KV + k] = (Cw + Cs * slope) * per_L
    scratch[_KW + k] = -Cv * per_L
    scratch[_OWN + k] = own


@kernel
def _leg(work: Array, i: int, location: int, scratch: Array, out: Array) -> float:
    """Compute the columns of leg i in all six rows; return the known part of its reading."""
    sx, sy, sz = load(work, S + i)
    vx, vy, vz = load(work, V + i)
    wx, wy, wz = load(work, W + i)
    qx, qy, qz = load(work, Q + i)
    L, Ld, Ldd = work[LENGTH + i], work[SPEED + i], work[ACCELERATION + i]
    per_L, slope = 1.0 / L, work[COSINE + i] / work[SINE + i]
    x, y, z = load(work, SPIN + i)
    Ws, Wv, Ww = rotate(sx, sy, sz, vx, vy, vz, wx, wy, wz, x, y, z)
    ox, oy, oz = vector(work, MOTION + 10)
    rx, ry, rz = x - ox, y - oy, z - oz  # W − ω, base axes
    ts, tv, tw = rotate(sx, sy, sz, vx, vy, vz, wx, wy, wz, rx, ry, rz)
    x, y, z = load(work, SPIN_RATE + i)
    As, Av, Aw = rotate(sx, sy, sz, vx, vy, vz, wx, wy, wz, x, y, z)
    x, y, z = vector(work, GRAVITY)
    gs, gv, gw = rotate(sx, sy, sz, vx, vy, vz, wx, wy, wz, x, y, z)
    x, y, z = turning(As, Av, Aw, Ws, Wv, Ww, L, 0.0, 0.0)
    fs, fv, fw = x + Ldd - gs, y + 2.0 * Ld * Ww - gv, z - 2.0 * Ld * Wv - gw  # S̈ − g
    base, rod_end = location == CELL_BASE, location == CELL_ROD_END
    lower, upper = 1.0 if base else 0.0, 0.0 if rod_end else 1.0  # parts whose inertia along the leg is in the reading
    _column(scratch, LOWER + MASS, 0.0, 0.0, 0.0, -lower * gs, per_L, slope)
    _column(scratch, UPPER + MASS, 0.0, -L * fw, L * fv, upper * fs, per_L, slope)
    for k in range(3):
        ex, ey, ez = _unit(k)
        x, y, z = turning(As, Av, Aw, Ws, Wv, Ww, ex, ey, ez)
        cs, cv, cw = cross(gs, gv, gw, ex, ey, ez)
        _column(scratch, LOWER + FIRST + k, cs, cv, cw, lower * x, per_L, slope)
        cs, cv, cw = cross(ex, ey, ez, fs, fv, fw)
        _column(scratch, UPPER + FIRST + k, cs, cv - L * z, cw + L * y, upper * x, per_L, slope)
    for k in range(6):
        xx, yy, zz, xy, xz, yz = _unit_tensor(k)
        cs, cv, cw = euler(xx, yy, zz, xy, xz, yz, As, Av, Aw, Ws, Wv, Ww)
        _column(scratch, LOWER + SECOND + k, cs, cv, cw, 0.0, per_L, slope)
        _column(scratch, UPPER + SECOND + k, cs, cv, cw, 0.0, per_L, slope)
    friction = 1.0 if location in (CELL_ACTUATOR, CELL_MOTOR) else 0.0
    _column(scratch, UNIVERSAL, Ws, Wv, Ww, 0.0, per_L, slope)
    _column(scratch, PRISMATIC, 0.0, 0.0, 0.0, friction * Ld, per_L, slope)
    _column(scratch, SPHERICAL, ts, tv, tw, 0.0, per_L, slope)
    _column(scratch, COULOMB, 0.0, 0.0, 0.0, friction * direction(Ld, work[COULOMB_SPEED]), per_L, slope)
    x, y, z = cross(qx, qy, qz, vx, vy, vz)
    _solve(scratch, _XV, vx, vy, vz, x, y, z)
    x, y, z = cross(qx, qy, qz, wx, wy, wz)
    _solve(scratch, _XW, wx, wy, wz, x, y, z)
    _solve(scratch, _XF, 0.0, 0.0, 0.0, rx, ry, rz)
    first = BODY + i * LEG
    for row in range(6):
        v, w = scratch[_XV + row], scratch[_XW + row]
        for k in range(LEG):
            out[row, first + k] = v * scratch[_KV + k] + w * scratch[_KW + k]
        out[row, first + SPHERICAL] -= scratch[_XF + row]
    for k in range(LEG):
        out[i, first + k] += scratch[_OWN + k]
    if location == CELL_MOTOR:
        return drive_part(work, i)
    # m_e s·(a_e−g) of the mass between the cell and the joint or the drive
    x, y, z = load(work, CELL_PLACE + i)
    rise = 0.0 if base else Ldd
    x, _, _ = turning(As, Av, Aw, Ws, Wv, Ww, x if base else x + L, y, z)
    carried: float = work[CELL_MASS + i] * (x + rise - gs)
    return carried if rod_end else -carried


@kernel
def regressor_kernel(
    parameters: Array, motion: Array, at_cells: bool, work: Array, scratch: Array, out: Array, known: Array
) -> int:
    """Compute Y (6, COLUMNS) and known part (6,) N of a motion (19,): reading = Y θ + known, without external wrench.

    Readings are those of the load cells at their places, or the forces of the actuators on the rods: the motors' forces
    without the drives' own inertia and friction. `work` (WORK_SIZE,) and `scratch` (REGRESSOR_WORK,) are working space.
    Returns a status; `out` is invalid unless it is OK.
    """
    load_parameters(parameters, work)
    status = load_motion(motion, work)
    if status != OK:
        return status
    status = legs_motion(work)
    if status != OK:
        return status
    leg_matrix(work)
    status = _invert(work, scratch)
    if status != OK:
        return status
    _platform(work, scratch, out)
    for i in range(6):
        location = int(work[CELL_LOCATION + i]) if at_cells else CELL_ACTUATOR
        carried = _leg(work, i, location, scratch, out)
        known[i] = carried if at_cells else 0.0
    return OK if math.isfinite(out[0, 0]) else NOT_FINITE


@kernel
def regressor_batch_kernel(
    parameters: Array, motions: Array, at_cells: bool, work: Array, scratch: Array, out: Array, known: Array
) -> tuple[int, int]:
    """As `regressor_kernel` for motions (n, 19), into (n, 6, COLUMNS) and (n, 6). Returns a status and its sample."""
    for sample in range(motions.shape[0]):
        status = regressor_kernel(parameters, motions[sample], at_cells, work, scratch, out[sample], known[sample])
        if status != OK:
            return status, sample
    return OK, -1
