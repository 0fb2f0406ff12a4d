"""Dynamics of a serial arm as compiled code: joint forces, mass matrix, accelerations, and simulation.

Each body has its motion in axes of its own frame i, as in modified Denavit–Hartenberg form but with any placement of
frame i in frame i − 1: R_i = P_i Rot_z(q_i) for a revolute joint; for a prismatic one R_i = P_i, and the frame's origin
is at p_i + P_i z q_i. Outward, with a_0 = −g:

    ω_i = R_iᵀ ω_{i−1} + q̇_i z        α_i = R_iᵀ α_{i−1} + q̈_i z + R_iᵀ ω_{i−1} × q̇_i z        (revolute)
    a_i = R_iᵀ (a_{i−1} + α_{i−1}×p_i + ω_{i−1}×(ω_{i−1}×p_i))   + q̈_i z + 2 ω_i × q̇_i z      (prismatic)

Inward, with h = m c and I about the origin of frame i:

    f_i = m a_i + α_i×h + ω_i×(ω_i×h) + R_{i+1} f_{i+1}
    n_i = I α_i + ω_i×I ω_i + h×a_i + R_{i+1} n_{i+1} + p_{i+1} × R_{i+1} f_{i+1}

The joint's force is z·n_i or z·f_i, plus what the drives add: D q̈ + B q̇ + F_c sign(q̇) + offset
+ Gᵀ (f_v ṗ + f_c sign(ṗ)), ṗ = G q̇.

`parameters` is `ArmDynamics.parameters`: gravity, one block a joint, then the drives. `work` is np.zeros(work_size(n)),
owned by one thread. The kernels do not allocate; arrays are contiguous float64.
"""

import math

from dynamics.kernels.layout import NOT_FINITE, OK, SINGULAR
from kinematics import Array, inlined, kernel

# -- parameters -------------------------------------------------------------------------------------------------------
GRAVITY = 0
COUPLED = 3  # 1 if the drives' matrices are not diagonal
JOINTS = 4
# in a joint's block
KIND = 0  # 0 revolute, 1 prismatic
PLACEMENT = 1  # P, row by row
POSITION = 10  # p
MASS = 13
CENTER_MOMENT = 14  # h
SECOND_MOMENT = 17  # xx, yy, zz, xy, xz, yz
COULOMB = 23  # F_c at the joint
OFFSET = 24
COULOMB_SPEED = 25  # of the joint; 0 for the exact sign
MOTOR_COULOMB = 26  # f_c of motor i
MOTOR_SPEED = 27  # of motor i, as COULOMB_SPEED
VISCOUS = 28  # at the joint
MOTOR_VISCOUS = 29  # f_v of motor i
ARM_STRIDE = 30
# behind the joints: D (n, n), G (n, n)

# -- work: one block a joint ------------------------------------------------------------------------------------------
_COS = 0
_SIN = 1
_P = 2  # p_i, with a prismatic joint's travel
_F = 5  # own force, or the first moment of the composite body
_N = 8  # own moment
_I = 11  # inertia of the composite body
_M = 17  # its mass
_STRIDE = 18


_SATURATED = 20.0  # tanh is 1 to the last bit beyond


def drives_at(joints: int) -> int:
    """Return where D begins in the parameters of an arm of n joints."""
    return JOINTS + ARM_STRIDE * joints


def parameter_size(joints: int) -> int:
    """Return the size of the parameters of an arm of n joints."""
    return drives_at(joints) + 2 * joints * joints


def work_size(joints: int) -> int:
    """Return the size of `work`: joints, M (n, n), and four vectors of the simulation and their slopes."""
    return _STRIDE * joints + joints * joints + 8 * joints


@inlined
def _into(
    p: Array, at: int, c: float, s: float, x: float, y: float, z: float
) -> tuple[float, float, float]:  # fmt: skip
    """Rᵀ v: a vector in frame i − 1 in axes of frame i."""
    u = p[at + 1] * x + p[at + 4] * y + p[at + 7] * z
    v = p[at + 2] * x + p[at + 5] * y + p[at + 8] * z
    w = p[at + 3] * x + p[at + 6] * y + p[at + 9] * z
    return c * u + s * v, c * v - s * u, w


@inlined
def _out_of(
    p: Array, at: int, c: float, s: float, x: float, y: float, z: float
) -> tuple[float, float, float]:  # fmt: skip
    """R v: a vector in frame i in axes of frame i − 1."""
    u, v = c * x - s * y, s * x + c * y
    return (
        p[at + 1] * u + p[at + 2] * v + p[at + 3] * z,
        p[at + 4] * u + p[at + 5] * v + p[at + 6] * z,
        p[at + 7] * u + p[at + 8] * v + p[at + 9] * z,
    )


@inlined
def _sign(speed: float, smoothing: float) -> float:
    """The sign of a speed, or its smooth form, tanh(speed / smoothing)."""
    if smoothing > 0.0:
        ratio = speed / smoothing
        if abs(ratio) < _SATURATED:
            return 1.0 - 2.0 / (math.exp(2.0 * ratio) + 1.0)  # half the time of tanh
    return 1.0 if speed > 0.0 else (-1.0 if speed < 0.0 else 0.0)


@inlined
def _place(parameters: Array, n: int, q: Array, work: Array) -> None:
    """Compute cosines, sines and positions of all joints."""
    for i in range(n):
        at, to = JOINTS + ARM_STRIDE * i, _STRIDE * i
        x, y, z = parameters[at + POSITION], parameters[at + POSITION + 1], parameters[at + POSITION + 2]
        if parameters[at + KIND] == 0.0:
            work[to + _COS], work[to + _SIN] = math.cos(q[i]), math.sin(q[i])
        else:
            work[to + _COS], work[to + _SIN] = 1.0, 0.0
            x += q[i] * parameters[at + 3]
            y += q[i] * parameters[at + 6]
            z += q[i] * parameters[at + 9]
        work[to + _P], work[to + _P + 1], work[to + _P + 2] = x, y, z


@inlined
def _bodies(
    parameters: Array, n: int, qd: Array, qdd: Array, wrench: Array, work: Array, tau: Array
) -> None:  # fmt: skip
    """Compute the joint forces (n,) of the bodies, once `_place` has been called; `wrench` acts on the last body."""
    ox, oy, oz = 0.0, 0.0, 0.0
    ex, ey, ez = 0.0, 0.0, 0.0
    ax, ay, az = -parameters[0], -parameters[1], -parameters[2]
    for i in range(n):
        at, to = JOINTS + ARM_STRIDE * i, _STRIDE * i
        c, s = work[to + _COS], work[to + _SIN]
        x, y, z = work[to + _P], work[to + _P + 1], work[to + _P + 2]
        # a + α×p + ω×(ω×p)
        wx, wy, wz = oy * z - oz * y, oz * x - ox * z, ox * y - oy * x
        ax += ey * z - ez * y + oy * wz - oz * wy
        ay += ez * x - ex * z + oz * wx - ox * wz
        az += ex * y - ey * x + ox * wy - oy * wx
        ax, ay, az = _into(parameters, at, c, s, ax, ay, az)
        ox, oy, oz = _into(parameters, at, c, s, ox, oy, oz)
        ex, ey, ez = _into(parameters, at, c, s, ex, ey, ez)
        rate, change = qd[i], qdd[i]
        if parameters[at + KIND] == 0.0:
            ex += oy * rate
            ey -= ox * rate
            ez += change
            oz += rate
        else:
            ax += 2.0 * oy * rate
            ay -= 2.0 * ox * rate
            az += change
        m = parameters[at + MASS]
        hx, hy, hz = parameters[at + 14], parameters[at + 15], parameters[at + 16]
        xx, yy, zz = parameters[at + 17], parameters[at + 18], parameters[at + 19]
        xy, xz, yz = parameters[at + 20], parameters[at + 21], parameters[at + 22]
        wx, wy, wz = oy * hz - oz * hy, oz * hx - ox * hz, ox * hy - oy * hx
        work[to + _F] = m * ax + ey * hz - ez * hy + oy * wz - oz * wy
        work[to + _F + 1] = m * ay + ez * hx - ex * hz + oz * wx - ox * wz
        work[to + _F + 2] = m * az + ex * hy - ey * hx + ox * wy - oy * wx
        lx, ly, lz = xx * ox + xy * oy + xz * oz, xy * ox + yy * oy + yz * oz, xz * ox + yz * oy + zz * oz
        work[to + _N] = xx * ex + xy * ey + xz * ez + oy * lz - oz * ly + hy * az - hz * ay
        work[to + _N + 1] = xy * ex + yy * ey + yz * ez + oz * lx - ox * lz + hz * ax - hx * az
        work[to + _N + 2] = xz * ex + yz * ey + zz * ez + ox * ly - oy * lx + hx * ay - hy * ax
    fx, fy, fz = -wrench[0], -wrench[1], -wrench[2]
    nx, ny, nz = -wrench[3], -wrench[4], -wrench[5]
    for i in range(n - 1, -1, -1):
        at, to = JOINTS + ARM_STRIDE * i, _STRIDE * i
        fx += work[to + _F]
        fy += work[to + _F + 1]
        fz += work[to + _F + 2]
        nx += work[to + _N]
        ny += work[to + _N + 1]
        nz += work[to + _N + 2]
        tau[i] = nz if parameters[at + KIND] == 0.0 else fz
        if i > 0:
            c, s = work[to + _COS], work[to + _SIN]
            x, y, z = work[to + _P], work[to + _P + 1], work[to + _P + 2]
            fx, fy, fz = _out_of(parameters, at, c, s, fx, fy, fz)
            nx, ny, nz = _out_of(parameters, at, c, s, nx, ny, nz)
            nx += y * fz - z * fy
            ny += z * fx - x * fz
            nz += x * fy - y * fx


@inlined
def _friction(parameters: Array, n: int, qd: Array, tau: Array) -> None:
    """Add friction and offsets (n,) to joint forces."""
    ratios = JOINTS + ARM_STRIDE * n + n * n
    coupled = parameters[COUPLED] != 0.0
    for i in range(n):
        at = JOINTS + ARM_STRIDE * i
        tau[i] += parameters[at + OFFSET] + parameters[at + VISCOUS] * qd[i]
        if parameters[at + COULOMB] != 0.0:
            tau[i] += parameters[at + COULOMB] * _sign(qd[i], parameters[at + COULOMB_SPEED])
        viscous, coulomb = parameters[at + MOTOR_VISCOUS], parameters[at + MOTOR_COULOMB]
        if viscous == 0.0 and coulomb == 0.0:
            continue
        row = ratios + i * n
        speed = parameters[row + i] * qd[i]
        if coupled:
            speed = 0.0
            for k in range(n):
                speed += parameters[row + k] * qd[k]
        torque = viscous * speed
        if coulomb != 0.0:
            torque += coulomb * _sign(speed, parameters[at + MOTOR_SPEED])
        if coupled:
            for k in range(n):
                tau[k] += parameters[row + k] * torque
        else:
            tau[i] += parameters[row + i] * torque


@inlined
def _rotors(parameters: Array, n: int, qdd: Array, tau: Array) -> None:
    """Add D q̈ (n,) to joint forces."""
    inertia = JOINTS + ARM_STRIDE * n
    for i in range(n):
        if parameters[COUPLED] == 0.0:
            tau[i] += parameters[inertia + i * n + i] * qdd[i]
        else:
            for k in range(n):
                tau[i] += parameters[inertia + i * n + k] * qdd[k]


@inlined
def _status(n: int, values: Array) -> int:
    total = 0.0
    for i in range(n):
        total += 0.0 * values[i]
    return OK if total == 0.0 else NOT_FINITE


@kernel
def arm_inverse_kernel(
    parameters: Array, q: Array, qd: Array, qdd: Array, wrench: Array, work: Array, tau: Array
) -> int:  # fmt: skip
    """Compute joint forces tau (n,) of a motion (n,) each; `wrench` (6,) acts on the last body, in frame n.

    Returns OK or NOT_FINITE.
    """
    n = q.shape[0]
    _place(parameters, n, q, work)
    _bodies(parameters, n, qd, qdd, wrench, work, tau)
    _rotors(parameters, n, qdd, tau)
    _friction(parameters, n, qd, tau)
    return _status(n, tau)


@kernel
def arm_inverse_batch_kernel(
    parameters: Array, q: Array, qd: Array, qdd: Array, wrench: Array, work: Array, tau: Array
) -> int:  # fmt: skip
    """Compute joint forces tau (m, n) of m motions, all under `wrench` (6,). Returns the first bad sample, or −1."""
    bad = -1
    for k in range(q.shape[0] - 1, -1, -1):
        if arm_inverse_kernel(parameters, q[k], qd[k], qdd[k], wrench, work, tau[k]) != OK:
            bad = k
    return bad


@kernel
def _composite(parameters: Array, n: int, work: Array, M: Array, start: int) -> None:
    """Compute the mass matrix into M[start:], row by row, once `_place` has been called (composite rigid bodies)."""
    for i in range(n):
        at, to = JOINTS + ARM_STRIDE * i, _STRIDE * i
        work[to + _M] = parameters[at + MASS]
        for k in range(3):
            work[to + _F + k] = parameters[at + CENTER_MOMENT + k]
        for k in range(6):
            work[to + _I + k] = parameters[at + SECOND_MOMENT + k]
    inertia = JOINTS + ARM_STRIDE * n
    for i in range(n - 1, -1, -1):
        at, to = JOINTS + ARM_STRIDE * i, _STRIDE * i
        m = work[to + _M]
        hx, hy, hz = work[to + _F], work[to + _F + 1], work[to + _F + 2]
        if parameters[at + KIND] == 0.0:  # α = z: f = z×h, n = I z
            fx, fy, fz = -hy, hx, 0.0
            nx, ny, nz = work[to + _I + 4], work[to + _I + 5], work[to + _I + 2]
            M[start + i * n + i] = nz
        else:  # a = z: f = m z, n = h×z
            fx, fy, fz = 0.0, 0.0, m
            nx, ny, nz = hy, -hx, 0.0
            M[start + i * n + i] = m
        for j in range(i, 0, -1):
            up, by = JOINTS + ARM_STRIDE * j, _STRIDE * j
            c, s = work[by + _COS], work[by + _SIN]
            x, y, z = work[by + _P], work[by + _P + 1], work[by + _P + 2]
            fx, fy, fz = _out_of(parameters, up, c, s, fx, fy, fz)
            nx, ny, nz = _out_of(parameters, up, c, s, nx, ny, nz)
            nx += y * fz - z * fy
            ny += z * fx - x * fz
            nz += x * fy - y * fx
            below = nz if parameters[JOINTS + ARM_STRIDE * (j - 1) + KIND] == 0.0 else fz
            M[start + i * n + j - 1] = below
            M[start + (j - 1) * n + i] = below
        if i == 0:
            break
        # the composite body in axes and about the origin of frame i − 1
        c, s = work[to + _COS], work[to + _SIN]
        x, y, z = work[to + _P], work[to + _P + 1], work[to + _P + 2]
        xx, yy, zz = work[to + _I], work[to + _I + 1], work[to + _I + 2]
        xy, xz, yz = work[to + _I + 3], work[to + _I + 4], work[to + _I + 5]
        # columns of R: R e_k
        r00, r10, r20 = _out_of(parameters, at, c, s, 1.0, 0.0, 0.0)
        r01, r11, r21 = _out_of(parameters, at, c, s, 0.0, 1.0, 0.0)
        r02, r12, r22 = _out_of(parameters, at, c, s, 0.0, 0.0, 1.0)
        hx, hy, hz = r00 * hx + r01 * hy + r02 * hz, r10 * hx + r11 * hy + r12 * hz, r20 * hx + r21 * hy + r22 * hz
        # R I
        ax, ay, az = r00 * xx + r01 * xy + r02 * xz, r00 * xy + r01 * yy + r02 * yz, r00 * xz + r01 * yz + r02 * zz
        bx, by_, bz = r10 * xx + r11 * xy + r12 * xz, r10 * xy + r11 * yy + r12 * yz, r10 * xz + r11 * yz + r12 * zz
        cx, cy, cz = r20 * xx + r21 * xy + r22 * xz, r20 * xy + r21 * yy + r22 * yz, r20 * xz + r21 * yz + r22 * zz
        # moved by p: + (2 h·p + m p·p) 1 − (h pᵀ + p hᵀ + m p pᵀ)
        turn = 2.0 * (hx * x + hy * y + hz * z) + m * (x * x + y * y + z * z)
        down = _STRIDE * (i - 1)
        work[down + _I] += ax * r00 + ay * r01 + az * r02 + turn - 2.0 * hx * x - m * x * x
        work[down + _I + 1] += bx * r10 + by_ * r11 + bz * r12 + turn - 2.0 * hy * y - m * y * y
        work[down + _I + 2] += cx * r20 + cy * r21 + cz * r22 + turn - 2.0 * hz * z - m * z * z
        work[down + _I + 3] += ax * r10 + ay * r11 + az * r12 - hx * y - hy * x - m * x * y
        work[down + _I + 4] += ax * r20 + ay * r21 + az * r22 - hx * z - hz * x - m * x * z
        work[down + _I + 5] += bx * r20 + by_ * r21 + bz * r22 - hy * z - hz * y - m * y * z
        work[down + _F] += hx + m * x
        work[down + _F + 1] += hy + m * y
        work[down + _F + 2] += hz + m * z
        work[down + _M] += m
    for k in range(n * n):
        M[start + k] += parameters[inertia + k]


@kernel
def arm_mass_matrix_kernel(parameters: Array, q: Array, work: Array, M: Array) -> int:
    """Compute the mass matrix, row by row in M (n·n,), drives included. Returns OK or NOT_FINITE."""
    n = q.shape[0]
    _place(parameters, n, q, work)
    _composite(parameters, n, work, M, 0)
    return _status(n * n, M)


@kernel
def arm_mass_matrices_kernel(parameters: Array, q: Array, work: Array, M: Array) -> int:
    """Compute m mass matrices, M (m, n·n), of q (m, n). Returns the first bad sample, or −1."""
    bad = -1
    for k in range(q.shape[0] - 1, -1, -1):
        if arm_mass_matrix_kernel(parameters, q[k], work, M[k]) != OK:
            bad = k
    return bad


@kernel
def _accelerate(
    parameters: Array, n: int, q: Array, qd: Array, tau: Array, still: Array, wrench: Array, work: Array, qdd: Array
) -> int:
    """Compute q̈ (n,) of joint forces tau (n,): M q̈ = τ − bias by Cholesky's method, with `still` (n,) zeros."""
    matrix = _STRIDE * n
    _place(parameters, n, q, work)
    _bodies(parameters, n, qd, still, wrench, work, qdd)
    _friction(parameters, n, qd, qdd)
    for i in range(n):
        qdd[i] = tau[i] - qdd[i]
    _composite(parameters, n, work, work, matrix)
    for i in range(n):
        row = matrix + i * n
        for j in range(i):
            total = work[row + j]
            for k in range(j):
                total -= work[row + k] * work[matrix + j * n + k]
            work[row + j] = total / work[matrix + j * n + j]
        pivot = work[row + i]
        least = 1e-14 * pivot
        for k in range(i):
            pivot -= work[row + k] * work[row + k]
        if not pivot > least:
            return SINGULAR
        work[row + i] = math.sqrt(pivot)
    for i in range(n):
        value = qdd[i]
        for k in range(i):
            value -= work[matrix + i * n + k] * qdd[k]
        qdd[i] = value / work[matrix + i * n + i]
    for i in range(n - 1, -1, -1):
        value = qdd[i]
        for k in range(i + 1, n):
            value -= work[matrix + k * n + i] * qdd[k]
        qdd[i] = value / work[matrix + i * n + i]
    return _status(n, qdd)


@kernel
def arm_forward_kernel(
    parameters: Array, q: Array, qd: Array, tau: Array, wrench: Array, work: Array, qdd: Array
) -> int:  # fmt: skip
    """Compute joint accelerations qdd (n,) under joint forces tau (n,). Returns OK, SINGULAR or NOT_FINITE."""
    n = q.shape[0]
    free = _STRIDE * n + n * n
    still = work[free : free + n]
    for i in range(n):
        still[i] = 0.0
    return _accelerate(parameters, n, q, qd, tau, still, wrench, work, qdd)


@kernel
def arm_forward_batch_kernel(
    parameters: Array, q: Array, qd: Array, tau: Array, wrench: Array, work: Array, qdd: Array
) -> int:  # fmt: skip
    """Compute joint accelerations qdd (m, n) of m samples under `wrench` (6,). Returns the first bad one, or −1."""
    for k in range(q.shape[0]):
        if arm_forward_kernel(parameters, q[k], qd[k], tau[k], wrench, work, qdd[k]) != OK:
            return k
    return -1


@kernel
def arm_step_kernel(
    parameters: Array, q: Array, qd: Array, tau: Array, wrench: Array, step: float, work: Array
) -> int:  # fmt: skip
    """Advance q and qd (n,) in place by `step` s under constant tau (n,): the classical Runge–Kutta formula.

    Returns OK, SINGULAR or NOT_FINITE; q and qd are then unchanged.
    """
    n = q.shape[0]
    free = _STRIDE * n + n * n
    still = work[free : free + n]
    position = work[free + n : free + 2 * n]
    rate = work[free + 2 * n : free + 3 * n]
    slope = work[free + 3 * n : free + 4 * n]
    moved = work[free + 4 * n : free + 5 * n]
    gained = work[free + 5 * n : free + 6 * n]
    for i in range(n):
        still[i] = 0.0
        position[i], rate[i] = q[i], qd[i]
        moved[i] = 0.0
        gained[i] = 0.0
    for stage in range(4):
        status = _accelerate(parameters, n, position, rate, tau, still, wrench, work, slope)
        if status != OK:
            return status
        weight = 1.0 if stage == 0 or stage == 3 else 2.0
        ahead = 0.5 * step if stage < 2 else step
        for i in range(n):
            moved[i] += weight * rate[i]
            gained[i] += weight * slope[i]
            position[i] = q[i] + ahead * rate[i]
            rate[i] = qd[i] + ahead * slope[i]
    for i in range(n):
        q[i] += step / 6.0 * moved[i]
        qd[i] += step / 6.0 * gained[i]
    return OK


@kernel
def arm_simulation_kernel(
    parameters: Array, torques: Array, wrench: Array, period: float, substeps: int, work: Array, q: Array, qd: Array
) -> int:  # fmt: skip
    """Simulate from row 0 of q and qd (m + 1, n); row k of `torques` (m, n) is held for the k-th `period` s.

    Each period has `substeps` steps of `arm_step_kernel`. Returns the number of periods done, below m if a step fails.
    """
    n = q.shape[1]
    for k in range(torques.shape[0]):
        for i in range(n):
            q[k + 1, i], qd[k + 1, i] = q[k, i], qd[k, i]
        for _ in range(substeps):
            status = arm_step_kernel(parameters, q[k + 1], qd[k + 1], torques[k], wrench, period / substeps, work)
            if status != OK:
                return k
    return len(torques)
