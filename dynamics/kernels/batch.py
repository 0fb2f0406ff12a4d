"""Inverse dynamics of many states at once: states in blocks, leg by leg.

The leg forces are those of `dynamics.kernels.inverse`, in fewer operations: leg vectors are in leg axes
T = [s v w], where the inertia is constant and the motion (`kinematics.compiled.legs`) is simplest:

    C = J A + W×J W − m_d r_d×g + m_u r_u×(a_u−g) + C_u W + f,   J = I_d + I_u + m_d (r_d·r_d 1 − r_d r_dᵀ)
    K = ((C_w + C_s μ/n) v − C_v w)/L       (C_s here the component of C along s)

Row `row` of state j of a block is element `row * BLOCK + j` of one flat array, so that every loop over j is compiled
to vector instructions.
"""

import math

import numpy as np
import numpy.typing as npt

from dynamics.kernels.inverse import combine, euler, inverse_kernel, load, turning, vector
from dynamics.kernels.layout import (
    AXIS,
    BASE,
    CENTER,
    COULOMB,
    COULOMB_SPEED,
    DRIVE_COULOMB,
    DRIVE_MASS,
    DRIVE_VISCOUS,
    GRAVITY,
    INERTIA,
    LANES,
    LEAST_PIVOT,
    LEG_INERTIA,
    LOWER_CENTER,
    LOWER_MASS,
    MASS,
    OK,
    PRISMATIC,
    SPHERICAL,
    TOP,
    UNIVERSAL,
    UPPER_CENTER,
    UPPER_MASS,
)
from kinematics import (
    BLOCK,
    MINIMUM_SINE,
    Array,
    cross,
    kernel,
    leg_axes,
    leg_direction,
    leg_rates,
    point_motion,
    rotate,
    rotation_matrix,
    solve_block_kernel,
)

Indices = npt.NDArray[np.int64]

NOT_UNIT = 10
"""Status of a state whose quaternion is not of unit norm; extends those of `layout`."""

UNIT_TOLERANCE = 1e-6  # of a quaternion's norm
_MARGIN = 4.0  # states within this factor of a bound go to `inverse_kernel`, so that both reject the same states

# Rows of the block's array. Loops mostly use literal numbers: 0…18 motion, 19…24 wrench, 25…33 R, 34…39 right-hand
# side.
_MOTION = 0
_WRENCH = 19
_ROTATION = 25
_RIGHT = 34  # right-hand side summed over the platform and the legs done so far
_D = 40
_NEAR_BOUND = 46  # above zero if the state needs `inverse_kernel`
_COLUMN = 47  # of the current leg: column of H, D and L̇
BLOCK_WORK = 55 * BLOCK


@kernel
def _gather(motions: Array, wrenches: Array, first: int, work: Array) -> None:
    """Transpose up to BLOCK samples from `first` into rows; an incomplete block repeats the last sample."""
    last = motions.shape[0] - 1
    for j in range(BLOCK):
        sample = min(first + j, last)
        for k in range(19):
            work[(_MOTION + k) * BLOCK + j] = motions[sample, k]
        for k in range(6):
            work[(_WRENCH + k) * BLOCK + j] = wrenches[sample, k]


@kernel
def _platform(p: Array, work: Array) -> None:
    """Compute R of every state, and the platform's part of the right-hand side."""
    gx, gy, gz = vector(p, GRAVITY)
    M = p[MASS]
    cx, cy, cz = vector(p, CENTER)
    Ixx, Iyy, Izz = vector(p, INERTIA)
    Ixy, Ixz, Iyz = vector(p, INERTIA + 3)
    for j in range(BLOCK):
        qw, qx, qy, qz = work[3 * BLOCK + j], work[4 * BLOCK + j], work[5 * BLOCK + j], work[6 * BLOCK + j]
        square = qw * qw + qx * qx + qy * qy + qz * qz
        off = abs(square - 1.0)
        R00, R01, R02, R10, R11, R12, R20, R21, R22 = rotation_matrix(qw, qx, qy, qz)
        ox, oy, oz = work[10 * BLOCK + j], work[11 * BLOCK + j], work[12 * BLOCK + j]
        ax, ay, az = work[13 * BLOCK + j], work[14 * BLOCK + j], work[15 * BLOCK + j]
        lx, ly, lz = work[16 * BLOCK + j], work[17 * BLOCK + j], work[18 * BLOCK + j]
        # Iα + ω×Iω and r×M(g−a), in base axes
        rx, ry, rz = rotate(R00, R01, R02, R10, R11, R12, R20, R21, R22, cx, cy, cz)
        x, y, z = turning(lx, ly, lz, ox, oy, oz, rx, ry, rz)
        fx, fy, fz = M * (gx - ax - x), M * (gy - ay - y), M * (gz - az - z)
        mx, my, mz = cross(rx, ry, rz, fx, fy, fz)
        lx, ly, lz = combine(R00, R01, R02, R10, R11, R12, R20, R21, R22, lx, ly, lz)
        ox, oy, oz = combine(R00, R01, R02, R10, R11, R12, R20, R21, R22, ox, oy, oz)
        ex, ey, ez = euler(Ixx, Iyy, Izz, Ixy, Ixz, Iyz, lx, ly, lz, ox, oy, oz)
        x, y, z = work[22 * BLOCK + j] - ex, work[23 * BLOCK + j] - ey, work[24 * BLOCK + j] - ez
        ex, ey, ez = rotate(R00, R01, R02, R10, R11, R12, R20, R21, R22, x, y, z)
        x, y, z = work[19 * BLOCK + j], work[20 * BLOCK + j], work[21 * BLOCK + j]
        x, y, z = rotate(R00, R01, R02, R10, R11, R12, R20, R21, R22, x, y, z)
        work[_RIGHT * BLOCK + j], work[(_RIGHT + 3) * BLOCK + j] = fx + x, mx + ex
        work[(_RIGHT + 1) * BLOCK + j], work[(_RIGHT + 4) * BLOCK + j] = fy + y, my + ey
        work[(_RIGHT + 2) * BLOCK + j], work[(_RIGHT + 5) * BLOCK + j] = fz + z, mz + ez
        work[(_ROTATION + 0) * BLOCK + j], work[(_ROTATION + 1) * BLOCK + j] = R00, R01
        work[(_ROTATION + 2) * BLOCK + j], work[(_ROTATION + 3) * BLOCK + j] = R02, R10
        work[(_ROTATION + 4) * BLOCK + j], work[(_ROTATION + 5) * BLOCK + j] = R11, R12
        work[(_ROTATION + 6) * BLOCK + j], work[(_ROTATION + 7) * BLOCK + j] = R20, R21
        work[(_ROTATION + 8) * BLOCK + j] = R22
        work[_NEAR_BOUND * BLOCK + j] = 0.0 if off < UNIT_TOLERANCE else 1.0


@kernel
def _leg(p: Array, i: int, work: Array) -> None:
    """Compute leg i of every state: its column of H, D, L̇ and part of the right-hand side."""
    gx, gy, gz = vector(p, GRAVITY)
    bx, by, bz = load(p, BASE + i)
    ux, uy, uz = load(p, AXIS + i)
    px, py, pz = load(p, TOP + i)
    m_d, m_u = p[LOWER_MASS + i], p[UPPER_MASS + i]
    dx, dy, dz = load(p, LOWER_CENTER + i)
    rx, ry, rz = load(p, UPPER_CENTER + i)
    Jxx, Jyy, Jzz = load(p, LEG_INERTIA + i)
    Jxy, Jxz, Jyz = load(p, LEG_INERTIA + 3 * LANES + i)
    Jxx, Jyy, Jzz = Jxx + m_d * (dy * dy + dz * dz), Jyy + m_d * (dx * dx + dz * dz), Jzz + m_d * (dx * dx + dy * dy)
    Jxy, Jxz, Jyz = Jxy - m_d * dx * dy, Jxz - m_d * dx * dz, Jyz - m_d * dy * dz
    dx, dy, dz = m_d * dx, m_d * dy, m_d * dz
    C_u, C_p, C_s = p[UNIVERSAL + i], p[PRISMATIC + i] + p[DRIVE_VISCOUS + i], p[SPHERICAL + i]
    m_r = p[DRIVE_MASS + i]
    for j in range(BLOCK):
        R00, R01, R02 = work[25 * BLOCK + j], work[26 * BLOCK + j], work[27 * BLOCK + j]
        R10, R11, R12 = work[28 * BLOCK + j], work[29 * BLOCK + j], work[30 * BLOCK + j]
        R20, R21, R22 = work[31 * BLOCK + j], work[32 * BLOCK + j], work[33 * BLOCK + j]
        qx, qy, qz = rotate(R00, R01, R02, R10, R11, R12, R20, R21, R22, px, py, pz)
        L, per_L, sx, sy, sz = leg_direction(
            bx, by, bz, qx, qy, qz, work[j], work[BLOCK + j], work[2 * BLOCK + j]
        )  # fmt: skip
        vx, vy, vz, wx, wy, wz, n, slope = leg_axes(ux, uy, uz, sx, sy, sz)
        ox, oy, oz = work[10 * BLOCK + j], work[11 * BLOCK + j], work[12 * BLOCK + j]
        hx, hy, hz, ex, ey, ez = point_motion(
            qx, qy, qz, work[7 * BLOCK + j], work[8 * BLOCK + j], work[9 * BLOCK + j], ox, oy, oz,
            work[13 * BLOCK + j], work[14 * BLOCK + j], work[15 * BLOCK + j],
            work[16 * BLOCK + j], work[17 * BLOCK + j], work[18 * BLOCK + j],
        )  # fmt: skip
        Ld, hv, hw = rotate(sx, sy, sz, vx, vy, vz, wx, wy, wz, hx, hy, hz)
        es, ev, ew = rotate(sx, sy, sz, vx, vy, vz, wx, wy, wz, ex, ey, ez)
        Ldd, Ws, Wv, Ww, As, Av, Aw = leg_rates(L, per_L, slope, hv, hw, Ld, es, ev, ew)
        vertical, across = 2.0 * Ld * Ww, -2.0 * Ld * Wv  # 2L̇ W×s, along v and w
        os, ov, ow = rotate(sx, sy, sz, vx, vy, vz, wx, wy, wz, ox, oy, oz)
        gs, gv, gw = rotate(sx, sy, sz, vx, vy, vz, wx, wy, wz, gx, gy, gz)
        # m_u (a_u−g) and the moment C about b
        rs = L + rx
        x, y, z = turning(As, Av, Aw, Ws, Wv, Ww, rs, ry, rz)
        fs, fv, fw = m_u * (x + Ldd - gs), m_u * (y + vertical - gv), m_u * (z + across - gw)
        x, y, z = cross(rs, ry, rz, fs, fv, fw)
        kx, ky, kz = cross(dx, dy, dz, gs, gv, gw)
        ex, ey, ez = euler(Jxx, Jyy, Jzz, Jxy, Jxz, Jyz, As, Av, Aw, Ws, Wv, Ww)
        ts, tv, tw = C_s * (Ws - os), C_s * (Wv - ov), C_s * (Ww - ow)
        Cs = ex + x - kx + C_u * Ws + ts
        Cv = ey + y - ky + C_u * Wv + tv
        Cw = ez + z - kz + C_u * Ww + tw
        Kv, Kw = (Cw + Cs * slope) * per_L, -Cv * per_L
        Kx, Ky, Kz = Kv * vx + Kw * wx, Kv * vy + Kw * wy, Kv * vz + Kw * wz
        mx, my, mz = cross(qx, qy, qz, Kx, Ky, Kz)
        tx, ty, tz = combine(sx, sy, sz, vx, vy, vz, wx, wy, wz, ts, tv, tw)
        work[34 * BLOCK + j] -= Kx
        work[35 * BLOCK + j] -= Ky
        work[36 * BLOCK + j] -= Kz
        work[37 * BLOCK + j] -= mx - tx
        work[38 * BLOCK + j] -= my - ty
        work[39 * BLOCK + j] -= mz - tz
        x, y, z = cross(qx, qy, qz, sx, sy, sz)
        work[_COLUMN * BLOCK + j], work[(_COLUMN + 3) * BLOCK + j] = sx, x
        work[(_COLUMN + 1) * BLOCK + j], work[(_COLUMN + 4) * BLOCK + j] = sy, y
        work[(_COLUMN + 2) * BLOCK + j], work[(_COLUMN + 5) * BLOCK + j] = sz, z
        work[(_COLUMN + 6) * BLOCK + j], work[(_COLUMN + 7) * BLOCK + j] = fs + C_p * Ld + m_r * Ldd, Ld
        work[_NEAR_BOUND * BLOCK + j] += 0.0 if n > _MARGIN * MINIMUM_SINE else 1.0


@kernel
def _put(i: int, work: Array, system: Array) -> None:
    """Copy the results of `_leg` to leg i; in the loop of `_leg` these stores would prevent vectorisation."""
    for k in range(6):
        for j in range(BLOCK):
            system[(7 * k + i) * BLOCK + j] = work[(_COLUMN + k) * BLOCK + j]
    for j in range(BLOCK):
        work[(_D + i) * BLOCK + j] = work[(_COLUMN + 6) * BLOCK + j]


@kernel
def _coulomb(coulomb: float, smoothing: float, work: Array) -> None:
    """Add the prismatic joint's Coulomb friction to D of the current leg."""
    if smoothing > 0.0:
        for j in range(BLOCK):
            work[(_COLUMN + 6) * BLOCK + j] += coulomb * math.tanh(work[(_COLUMN + 7) * BLOCK + j] / smoothing)
    else:
        for j in range(BLOCK):
            speed = work[(_COLUMN + 7) * BLOCK + j]
            sign = (1.0 if speed > 0.0 else 0.0) - (1.0 if speed < 0.0 else 0.0)
            work[(_COLUMN + 6) * BLOCK + j] += coulomb * sign


@kernel
def forces_batch_kernel(
    parameters: Array,
    motions: Array,
    wrenches: Array,
    block: Array,
    system: Array,
    work: Array,
    forces: Array,
    failed: Indices,
) -> int:
    """Compute actuator forces (n, 6), N, of motions (n, 19) under wrenches (n, 6) in platform axes.

    `block` (BLOCK_WORK,), `system` (SYSTEM_ROWS * BLOCK,) and `work` (WORK_SIZE,) are working space. `failed` (n, 2)
    receives index and status of every state without solution; their forces are NaN. Returns the number of these.
    """
    n = motions.shape[0]
    failures = 0
    for first in range(0, n, BLOCK):
        _gather(motions, wrenches, first, block)
        _platform(parameters, block)
        for i in range(6):
            _leg(parameters, i, block)
            coulomb = parameters[COULOMB + i] + parameters[DRIVE_COULOMB + i]
            if coulomb != 0.0:
                _coulomb(coulomb, parameters[COULOMB_SPEED], block)
            _put(i, block, system)
        for i in range(6):
            for j in range(BLOCK):
                system[(7 * i + 6) * BLOCK + j] = block[(_RIGHT + i) * BLOCK + j]
        solve_block_kernel(system)
        for j in range(min(BLOCK, n - first)):
            total = block[_NEAR_BOUND * BLOCK + j]
            if not system[BLOCK + j] > _MARGIN * LEAST_PIVOT:
                total += 1.0
            for i in range(6):
                force = block[(_D + i) * BLOCK + j] - system[(7 * i + 6) * BLOCK + j]
                forces[first + j, i] = force
                total += 0.0 * force
            if total == 0.0:
                continue
            status = _single_state(parameters, motions[first + j], wrenches[first + j], work, forces[first + j])
            if status != OK:
                failed[failures, 0] = first + j
                failed[failures, 1] = status
                failures += 1
                for i in range(6):
                    forces[first + j, i] = math.nan
    return failures


@kernel
def _single_state(parameters: Array, motion: Array, wrench: Array, work: Array, forces: Array) -> int:
    """Compute the forces of one state near a bound. Returns a status."""
    status = inverse_kernel(parameters, motion, wrench, work, forces)
    norm = math.sqrt(motion[3] * motion[3] + motion[4] * motion[4] + motion[5] * motion[5] + motion[6] * motion[6])
    return NOT_UNIT if status == OK and not abs(norm - 1.0) <= UNIT_TOLERANCE else status
