"""The plant's time step for long runs: one evaluation of the platform's equations where Runge-Kutta takes four.

In half a millisecond a platform's motion hardly changes M, H and h, but a motor's force, friction that turns round and
an end stop do change. Each step takes M, H and h from its middle, foreseen by the acceleration of the step before, and
integrates what is fast by classical Runge-Kutta in the legs' lengths L and speeds w, six numbers each:

    ẇ = B (F_motor(t) + contact(L, w) − C_p w − F_c tanh(w / v_c) + …) + β,   L̇ = w       B, β: `dynamics.frozen_kernel`

The mean forces that come of it move the platform: second order in what is slow, fourth in what is fast.
"""

from math import cos, isfinite, sin, sqrt, tanh

from dynamics import DRIFT, MOBILITY, frozen_acceleration_kernel, frozen_kernel
from kinematics import kernel
from rig.virtual.arrays import Array
from rig.virtual.drive_kernel import (
    EVERY_FRICTION,
    LOWER_STOP,
    OWN_FRICTION,
    UPPER_STOP,
    contact_kernel,
    every_friction_kernel,
    friction_kernel,
)
from rig.virtual.plant_kernel import (
    DIVERGED,
    HOSE_DAMPING,
    HOSE_STIFFNESS,
    RUNNING,
    SINGULAR,
    SPEED_BOUND,
    loads_kernel,
)

# Rows of the scratch array (SCRATCH_ROWS, 13).
LENGTHS, SPEEDS = 0, 1  # of the legs at the beginning of the step
MOTOR = 2  # N, motor forces at the beginning, middle and end of the step: three rows
MEAN = 5  # acceleration of the platform over the step before, m/s², rad/s²
_LENGTH, _SPEED = 6, 7  # of a stage
_FORCE = 8
_SUM, _HALF_SUM = 9, 10  # of forces: for the speed, for the place
_AHEAD = 11  # the state in the middle; then the mean speed
DEMAND = 12  # N, of drives that follow a force; not a number of others
_LOADS = 13  # wrench on the platform, with that of the hose
SCRATCH_ROWS = 14
SCRATCH_COLUMNS = 13


@kernel
def _foresee(state: Array, mean: Array, h: float, ahead: Array) -> None:
    """The state half a step of `h` s on; the quaternion's length is no matter here."""
    half, quarter = 0.5 * h, 0.25 * h
    for j in range(6):
        ahead[7 + j] = state[7 + j] + half * mean[j]
    for j in range(3):
        ahead[j] = state[j] + half * (state[7 + j] + quarter * mean[j])
    x, y, z = (
        quarter * (state[10] + quarter * mean[3]),
        quarter * (state[11] + quarter * mean[4]),
        quarter * (state[12] + quarter * mean[5]),
    )
    _turn(state, 1.0, x, y, z, ahead)


@kernel
def _turn(state: Array, w: float, x: float, y: float, z: float, out: Array) -> None:
    """Quaternion (w, x, y, z), in base axes, times that of `state`, into `out`."""
    a, b, c, d = state[3], state[4], state[5], state[6]
    out[3] = w * a - x * b - y * c - z * d
    out[4] = w * b + x * a + y * d - z * c
    out[5] = w * c - x * d + y * a + z * b
    out[6] = w * d + x * c - y * b + z * a


@kernel
def step_kernel(
    legs: Array, parameters: Array, friction: Array, coulomb_speed: float, state: Array, drives: Array, wrench: Array,
    hose: Array, h: float, scratch: Array, work: Array, frozen: Array,
) -> int:  # fmt: skip
    """Advance a state (13,) by `h` s; the legs' lengths and speeds and the motors' forces stand in `scratch`.

    legs, parameters, drives: see `drive_kernel`. hose: see `plant_kernel.loads_kernel`. friction (2, 6) along the
    legs and `work` with the parameters without it: see `dynamics.without_leg_friction`. Returns RUNNING; or SINGULAR or
    DIVERGED, the state as it was.
    """
    length, speed, force = scratch[_LENGTH], scratch[_SPEED], scratch[_FORCE]
    total, half_total, ahead, mean = scratch[_SUM], scratch[_HALF_SUM], scratch[_AHEAD], scratch[MEAN]
    _foresee(state, mean, h, ahead)
    pulled = hose[HOSE_STIFFNESS] != 0.0 or hose[HOSE_DAMPING] != 0.0
    loads = scratch[_LOADS] if pulled else wrench
    if pulled:
        loads_kernel(hose, ahead, wrench, loads)
    if frozen_kernel(ahead, loads, work, frozen) != 0:
        return SINGULAR
    for i in range(6):
        total[i] = half_total[i] = 0.0
        length[i], speed[i] = scratch[LENGTHS, i], scratch[SPEEDS, i]
    for k in range(4):
        motor = scratch[MOTOR + (k + 1) // 2]
        for i in range(6):
            v = speed[i]
            f = motor[i] - friction[0, i] * v - friction[1, i] * tanh(v / coulomb_speed)
            if legs[i, OWN_FRICTION] == EVERY_FRICTION:
                f += every_friction_kernel(legs[i], drives[i], motor[i], length[i], v)
            elif legs[i, OWN_FRICTION] != 0.0:
                f += friction_kernel(legs[i], motor[i], v)
            if not legs[i, LOWER_STOP] <= length[i] <= legs[i, UPPER_STOP]:
                f += contact_kernel(drives[i], parameters, legs[i], length[i], v)
            force[i] = f
            total[i] += (1.0 if k == 0 or k == 3 else 2.0) / 6.0 * f
            if k < 3:
                half_total[i] += f / 3.0
                length[i] = scratch[LENGTHS, i] + (h if k == 2 else 0.5 * h) * v
        if k < 3:
            f0, f1, f2, f3, f4, f5 = force[0], force[1], force[2], force[3], force[4], force[5]
            ahead_by = h if k == 2 else 0.5 * h
            for i in range(6):
                row = MOBILITY + 6 * i
                slope = frozen[DRIFT + i] + (
                    (frozen[row] * f0 + frozen[row + 1] * f1)
                    + (frozen[row + 2] * f2 + frozen[row + 3] * f3)
                    + (frozen[row + 4] * f4 + frozen[row + 5] * f5)
                )
                speed[i] = scratch[SPEEDS, i] + ahead_by * slope
    frozen_acceleration_kernel(frozen, half_total, force)
    for j in range(3):
        ahead[j] = state[j] + h * (state[7 + j] + 0.5 * h * force[j])
    x, y, z = state[10] + 0.5 * h * force[3], state[11] + 0.5 * h * force[4], state[12] + 0.5 * h * force[5]
    rate = sqrt(x * x + y * y + z * z)
    angle = 0.5 * h * rate
    part = sin(angle) / rate if rate > 0.0 else 0.0
    _turn(state, cos(angle), part * x, part * y, part * z, ahead)
    frozen_acceleration_kernel(frozen, total, force)
    size = 0.0
    for j in range(6):
        ahead[7 + j] = state[7 + j] + h * force[j]
        size += abs(ahead[j]) + abs(ahead[7 + j])
        if abs(ahead[7 + j]) > (SPEED_BOUND if j < 3 else 10.0 * SPEED_BOUND):
            return DIVERGED
    if not isfinite(size):
        return DIVERGED
    norm = sqrt(ahead[3] * ahead[3] + ahead[4] * ahead[4] + ahead[5] * ahead[5] + ahead[6] * ahead[6])
    for j in range(13):
        state[j] = ahead[j] / norm if 3 <= j <= 6 else ahead[j]
    for j in range(6):
        mean[j] = force[j]
    return RUNNING
