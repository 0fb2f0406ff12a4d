"""The plant's time step as compiled code: six drives, brakes and end stops on the exact forward dynamics, RK4."""

from math import isfinite, sqrt

from dynamics import acceleration_kernel, cells_kernel
from kinematics import kernel, rotate, rotation_matrix
from rig.virtual.arrays import Array, Counts
from rig.virtual.drive_kernel import (
    BEFORE_FRICTION,
    EVERY_FRICTION,
    GAIN,
    IMPULSE,
    LEG,
    MOTOR,
    OWN_FRICTION,
    REFERENCE,
    begin_step_kernel,
    contact_kernel,
    encoder_kernel,
    end_step_kernel,
    every_friction_kernel,
    friction_kernel,
    grip_kernel,
    keep_bristle_kernel,
    middle_force_kernel,
    motor_kernel,
    run_in_kernel,
)

RUNNING = 0
SINGULAR = 1
"""The forward dynamics has no solution: a leg lies along its universal joint's fixed axis."""
DIVERGED = 2
"""An impossible speed, or a number that is not finite."""

SPEED_BOUND = 200.0
"""Speed of the platform, m/s, beyond which the plant has diverged; ten times this for its angular speed, rad/s."""

# Rows of the scratch array.
_STAGE = 0
_SLOPE = 1
_SUM = 2
_LENGTHS = 3
_SPEEDS = 4
_FORCES = 5
_MOTOR = 6  # motor forces at the beginning, middle and end of the step: three rows
_ACCELERATION = 9
_MOTION = 10
_WRENCH = 11  # on the platform, including the hose
SCRATCH_ROWS = 12
SCRATCH_COLUMNS = 19

# Rows of the outputs (OUTPUTS, 6).
LENGTHS = 0  # m
SPEEDS = 1  # m/s
FORCES = 2  # N, between the two parts of each leg: motor, brake, jam and end stop, minus the plant's own friction
CELLS = 3  # N, true force at each load cell, compression positive
ACCELERATION = 4  # m/s², rad/s², of the platform
READINGS = 5  # m, of the encoders
OUTPUTS = 6


# Entries of a hose.
HOSE_STIFFNESS = 0  # N/m
HOSE_DAMPING = 1  # N s/m
HOSE_POINT = 2  # m, attachment point on the platform: three entries, platform frame
HOSE_REST = 5  # m, that point's rest position: three entries, base frame
HOSE_ENTRIES = 8


@kernel
def loads_kernel(hose: Array, state: Array, wrench: Array, loads: Array) -> None:
    """Add a wrench (6,) and that of a hose (HOSE_ENTRIES,) at a state (13,) into `loads` (6,).

    All at the platform's origin, in its axes, N and N m. The hose pulls its point p to its rest position by an
    isotropic spring and damper: f = −k (t + R p − rest) − d (ṫ + ω×R p).
    """
    for j in range(6):
        loads[j] = wrench[j]
    k, d = hose[HOSE_STIFFNESS], hose[HOSE_DAMPING]
    if k == 0.0 and d == 0.0:
        return
    r00, r01, r02, r10, r11, r12, r20, r21, r22 = rotation_matrix(state[3], state[4], state[5], state[6])
    px, py, pz = hose[HOSE_POINT], hose[HOSE_POINT + 1], hose[HOSE_POINT + 2]
    qx, qy, qz = rotate(r00, r01, r02, r10, r11, r12, r20, r21, r22, px, py, pz)
    vx = state[7] + state[11] * qz - state[12] * qy
    vy = state[8] + state[12] * qx - state[10] * qz
    vz = state[9] + state[10] * qy - state[11] * qx
    fx = -k * (state[0] + qx - hose[HOSE_REST]) - d * vx
    fy = -k * (state[1] + qy - hose[HOSE_REST + 1]) - d * vy
    fz = -k * (state[2] + qz - hose[HOSE_REST + 2]) - d * vz
    gx, gy, gz = rotate(r00, r10, r20, r01, r11, r21, r02, r12, r22, fx, fy, fz)
    loads[0] += gx
    loads[1] += gy
    loads[2] += gz
    loads[3] += py * gz - pz * gy
    loads[4] += pz * gx - px * gz
    loads[5] += px * gy - py * gx


@kernel
def leg_rates_kernel(geometry: Array, state: Array, lengths: Array, speeds: Array) -> None:
    """Compute leg lengths (m) and speeds (m/s), (6,) each, at a state (13,); geometry as `Geometry.array`."""
    r00, r01, r02, r10, r11, r12, r20, r21, r22 = rotation_matrix(state[3], state[4], state[5], state[6])
    for i in range(6):
        qx, qy, qz = rotate(
            r00, r01, r02, r10, r11, r12, r20, r21, r22, geometry[i, 6], geometry[i, 7], geometry[i, 8]
        )  # fmt: skip
        x, y, z = qx + state[0] - geometry[i, 0], qy + state[1] - geometry[i, 1], qz + state[2] - geometry[i, 2]
        vx = state[7] + state[11] * qz - state[12] * qy
        vy = state[8] + state[12] * qx - state[10] * qz
        vz = state[9] + state[10] * qy - state[11] * qx
        length = sqrt(x * x + y * y + z * z)
        lengths[i] = length
        speeds[i] = (x * vx + y * vy + z * vz) / length


@kernel
def _leg_forces(
    geometry: Array, legs: Array, parameters: Array, state: Array, drives: Array, motor: Array,
    lengths: Array, speeds: Array, forces: Array,
) -> None:  # fmt: skip
    """Force between the parts of each leg at `state`: motor, brake, jam, end stop, minus the plant's own friction."""
    leg_rates_kernel(geometry, state, lengths, speeds)
    for i in range(6):
        force = motor[i] + contact_kernel(drives[i], parameters, legs[i], lengths[i], speeds[i])
        if legs[i, OWN_FRICTION] == EVERY_FRICTION:
            force += every_friction_kernel(legs[i], drives[i], force, lengths[i], speeds[i])
        elif legs[i, OWN_FRICTION] != 0.0:
            force += friction_kernel(legs[i], force, speeds[i])
        forces[i] = force


@kernel
def _slope(state: Array, acceleration: Array, slope: Array) -> None:
    """Time derivative of a state: ṫ; q̇ = ½ ω⊗q, ω in base axes; the accelerations are already in place."""
    w, x, y, z = state[3], state[4], state[5], state[6]
    ox, oy, oz = state[10], state[11], state[12]
    slope[0], slope[1], slope[2] = state[7], state[8], state[9]
    slope[3] = -0.5 * (ox * x + oy * y + oz * z)
    slope[4] = 0.5 * (ox * w + oy * z - oz * y)
    slope[5] = 0.5 * (oy * w + oz * x - ox * z)
    slope[6] = 0.5 * (oz * w + ox * y - oy * x)
    for i in range(6):
        slope[7 + i] = acceleration[i]


@kernel
def _motors(drives: Array, forces: Array) -> None:
    for i in range(6):
        forces[int(drives[i, LEG])] = drives[i, GAIN] * drives[i, MOTOR]


@kernel
def _step(
    mechanism: Array, geometry: Array, legs: Array, parameters: Array, state: Array, drives: Array, wrench: Array,
    hose: Array, h: float, scratch: Array, work: Array,
) -> int:  # fmt: skip
    """Advance the state by one RK4 step of `h` s; `scratch` has the motors' forces at its beginning, middle and end."""
    stage, slope, total = scratch[_STAGE], scratch[_SLOPE], scratch[_SUM]
    acceleration = scratch[_ACCELERATION]
    pulled = hose[HOSE_STIFFNESS] != 0.0 or hose[HOSE_DAMPING] != 0.0
    loads = scratch[_WRENCH] if pulled else wrench
    for j in range(13):
        stage[j] = state[j]
        total[j] = 0.0
    for k in range(4):
        motor = scratch[_MOTOR + (k + 1) // 2]
        _leg_forces(
            geometry, legs, parameters, stage, drives, motor, scratch[_LENGTHS], scratch[_SPEEDS], scratch[_FORCES]
        )
        if pulled:
            loads_kernel(hose, stage, wrench, loads)
        if acceleration_kernel(mechanism, stage, scratch[_FORCES], loads, work, acceleration) != 0:
            return SINGULAR
        _slope(stage, acceleration, slope)
        weight = 1.0 if k == 0 or k == 3 else 2.0
        ahead = h if k == 2 else 0.5 * h
        for j in range(13):
            total[j] += weight * slope[j]
            stage[j] = state[j] + ahead * slope[j]
    for j in range(13):
        stage[j] = state[j] + h / 6.0 * total[j]
        if not isfinite(stage[j]):
            return DIVERGED
    for j in range(3):
        if abs(stage[7 + j]) > SPEED_BOUND or abs(stage[10 + j]) > 10.0 * SPEED_BOUND:
            return DIVERGED
    norm = sqrt(stage[3] * stage[3] + stage[4] * stage[4] + stage[5] * stage[5] + stage[6] * stage[6])
    for j in range(13):
        state[j] = stage[j] / norm if 3 <= j <= 6 else stage[j]
    return RUNNING


@kernel
def observe_kernel(
    mechanism: Array, geometry: Array, legs: Array, parameters: Array, state: Array, drives: Array, wrench: Array,
    hose: Array, scratch: Array, work: Array, out: Array,
) -> int:  # fmt: skip
    """Compute all measurable outputs at `state` into `out` (OUTPUTS, 6). Returns RUNNING or SINGULAR."""
    _motors(drives, scratch[_MOTOR])
    _leg_forces(
        geometry, legs, parameters, state, drives, scratch[_MOTOR], out[LENGTHS], out[SPEEDS], out[FORCES]
    )  # fmt: skip
    for i in range(6):
        out[READINGS, i] = encoder_kernel(legs[i], out[LENGTHS, i], scratch[_MOTOR, i])
    loads = scratch[_WRENCH]
    loads_kernel(hose, state, wrench, loads)
    if acceleration_kernel(mechanism, state, out[FORCES], loads, work, out[ACCELERATION]) != 0:
        return SINGULAR
    motion = scratch[_MOTION]
    for j in range(13):
        motion[j] = state[j]
    for j in range(6):
        motion[13 + j] = out[ACCELERATION, j]
    # if H is singular the motion does not determine the leg forces: the cells then keep their last reading
    if cells_kernel(mechanism, motion, loads, work, scratch[_FORCES], out[CELLS]) == 0:
        for i in range(6):
            if legs[i, BEFORE_FRICTION] != 0.0:
                force = scratch[_MOTOR, i] + contact_kernel(
                    drives[i], parameters, legs[i], out[LENGTHS, i], out[SPEEDS, i]
                )
                out[CELLS, i] += force - out[FORCES, i]
    return RUNNING


@kernel
def advance_kernel(
    mechanism: Array, geometry: Array, legs: Array, parameters: Array, state: Array, drives: Array,
    queues: Array, waiting: Counts, wrench: Array, hose: Array, start: float, steps: int, h: float,
    scratch: Array, work: Array, out: Array,
) -> int:  # fmt: skip
    """Integrate the plant from `start` (s) over `steps` RK4 steps of `h` s, then observe it.

    mechanism: the plant's `Mechanism.array`. geometry (6, 9). legs (6, LEG_COLUMNS), drives (6, DRIVE_COLUMNS),
    queues (6, QUEUE_LENGTH + 1, QUEUE_COLUMNS) with `waiting` (6,) commands, parameters: see `drive_kernel`.
    wrench (6,): on the platform, at its origin, platform axes. hose: see `loads_kernel`. out: see `observe_kernel`.
    Returns RUNNING; or SINGULAR or DIVERGED with the state as it was before the step that failed, and at rest.
    """
    lengths, speeds = scratch[_LENGTHS], scratch[_SPEEDS]
    status = RUNNING
    for k in range(steps):
        t = start + k * h
        run_in_kernel(legs, t)
        leg_rates_kernel(geometry, state, lengths, speeds)
        for i in range(6):
            drive, reference = drives[i], legs[i, REFERENCE]
            leg = int(drive[LEG])
            reading = encoder_kernel(legs[i], lengths[i], drive[GAIN] * drive[MOTOR])
            begin_step_kernel(drive, parameters, reference, reading, speeds[i], t, h)
            grip_kernel(drives[leg], drive, parameters)
            scratch[_MOTOR, leg] = drive[GAIN] * drive[MOTOR]
            begin, drive[IMPULSE] = drive[MOTOR], 0.0
            for half in range(2):
                waiting[i] = motor_kernel(
                    drive, queues[i], waiting[i], parameters, reference, reading,
                    t + 0.5 * half * h, (0.25 + 0.5 * half) * h, t + 0.5 * (half + 1) * h,
                )  # fmt: skip
            scratch[_MOTOR + 1, leg] = drive[GAIN] * middle_force_kernel(begin, drive[IMPULSE], drive[MOTOR], h)
            scratch[_MOTOR + 2, leg] = drive[GAIN] * drive[MOTOR]
        if legs[0, OWN_FRICTION] == EVERY_FRICTION:
            for i in range(6):
                force = scratch[_MOTOR, i] + contact_kernel(drives[i], parameters, legs[i], lengths[i], speeds[i])
                keep_bristle_kernel(legs[i], drives[i], force, lengths[i], speeds[i])
        status = _step(mechanism, geometry, legs, parameters, state, drives, wrench, hose, h, scratch, work)
        if status != RUNNING:
            break
        leg_rates_kernel(geometry, state, lengths, speeds)
        for i in range(6):
            end_step_kernel(drives[i], parameters, lengths[i], speeds[i], h)
    if status == RUNNING:
        status = observe_kernel(
            mechanism, geometry, legs, parameters, state, drives, wrench, hose, scratch, work, out
        )  # fmt: skip
    if status != RUNNING:
        for j in range(7, 13):
            state[j] = 0.0
        for i in range(6):
            out[SPEEDS, i] = 0.0
            out[ACCELERATION, i] = 0.0
    return status
