"""The closed loop as compiled code: control cycle and plant steps in turn."""

from math import cos, exp, isfinite, nan, sin, sqrt, tanh

import numpy as np

from actuators import Mode
from dynamics import DRIFT, MOBILITY, frozen_acceleration_kernel, frozen_kernel, inverse_kernel
from kinematics import inverse_kinematics_kernel, kernel, table_motion_kernel
from rig.engine import (
    add_estimate_kernel,
    estimate_kernel,
    leg_feedback_kernel,
    length_set_points_kernel,
    note_command_kernel,
    observe_disturbance_kernel,
    task_motion_kernel,
)
from rig.safety import LONG_PERIOD
from rig.virtual import drive_kernel as drive_columns
from rig.virtual.arrays import Array, Counts
from rig.virtual.drive_kernel import (
    EVERY_FRICTION,
    LOWER_STOP,
    OWN_FRICTION,
    UPPER_STOP,
    begin_step_kernel,
    carried_kernel,
    contact_kernel,
    demand_kernel,
    every_friction_kernel,
    friction_kernel,
    keep_bristle_kernel,
    middle_force_kernel,
    motor_kernel,
    run_in_kernel,
)
from rig.virtual.plant_kernel import (
    DIVERGED,
    HOSE_DAMPING,
    HOSE_STIFFNESS,
    RUNNING,
    SINGULAR,
    SPEED_BOUND,
    leg_rates_kernel,
    loads_kernel,
)

# Rows of the scratch array (SCRATCH_ROWS, 13).
LENGTHS, SPEEDS = 0, 1  # of the legs at the beginning of the step, m and m/s
MOTOR = 2  # N, motor forces at the beginning, middle and end of the step: three rows
MEAN = 5  # mean acceleration of the platform in the previous step, m/s², rad/s²
_LENGTH, _SPEED = 6, 7  # of a stage
_FORCE = 8
_SUM, _HALF_SUM = 9, 10  # sums of forces: for speed, for position
_AHEAD = 11  # the state in the middle; then the mean speed
DEMAND = 12  # N, of force-controlled drives; NaN for others
_LOADS = 13  # wrench on the platform, including the hose
SCRATCH_ROWS = 14
SCRATCH_COLUMNS = 13


@kernel
def _predict(state: Array, mean: Array, h: float, ahead: Array) -> None:
    """Predict the state half a step of `h` s ahead; the quaternion is not normalised."""
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
    """Multiply quaternion (w, x, y, z), in base axes, by that of `state`, into `out`."""
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
    """Advance a state (13,) by `h` s; `scratch` holds the legs' lengths and speeds and the motors' forces.

    legs, parameters, drives: see `drive_kernel`. hose: see `plant_kernel.loads_kernel`. friction (2, 6) along the
    legs and `work` with the parameters without it: see `dynamics.without_leg_friction`. Returns RUNNING; or SINGULAR or
    DIVERGED with the state unchanged.
    """
    length, speed, force = scratch[_LENGTH], scratch[_SPEED], scratch[_FORCE]
    total, half_total, ahead, mean = scratch[_SUM], scratch[_HALF_SUM], scratch[_AHEAD], scratch[MEAN]
    _predict(state, mean, h, ahead)
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


OPEN_LOOP, PD, FORCE, COMPUTED_TORQUE, POSITION, OBSERVER = range(6)
"""The control laws."""

LEFT_STROKE = 10
"""Status: in open loop, a leg left its stroke."""
LOST = 11
"""The leg lengths have no pose near the previous one, or the model no solution there or at the reference."""

# Entries of the settings.
PERIOD = 0  # s
AHEAD = 1  # s, from a cycle to the reference of its commands, except the feedforward
BEGIN = 2  # s, path time at the first cycle
STIFFNESS, DAMPING = 3, 4  # N/m, N s/m
RESOLUTION = 5  # m, of the encoders
DELAY = 6  # s, of the drives
STEP = 7  # s, of the plant
TABLE_STEP = 8  # s
COULOMB_SPEED = 9  # m/s, of the plant
FORCES_AHEAD = 10  # s, from a cycle to the reference of the feedforward
SETTINGS = 11

# Rows of the controller's memory (CONTROL_ROWS, 19).
_NOW, _NEXT = 0, 1  # the reference
_MOTION = 2
POSE = 3  # measured
_TWIST = 4
MEASURED, RATE = 5, 6  # lengths and speeds of the legs
_LENGTH_ERROR, _SPEED_ERROR = 7, 8
_LATER = 9  # zeros
CONTROL_ROWS = 10

# Rows of a command.
COMMAND_FORCE, COMMAND_LENGTH, COMMAND_SPEED = 0, 1, 2

# Rows of the record of a cycle (ROWS, 6); the state has its own array.
APPLIED = 0  # N, of the motors
COMMANDED = 1  # N
FEEDFORWARD = 2  # N
SATURATED = 3  # 1 if a leg's force was saturated
BRISTLE = 4  # m, deflection of a leg's friction
ROWS = 5

_FORCE_MODE, _POSITION_MODE = float(Mode.FORCE), float(Mode.POSITION)


@kernel
def control_kernel(
    law: int, settings: Array, gains: Array, geometry: Array, model: Array, observer: Array, samples: Array,
    path_time: float, bounds: Array, memory: Array, legs: Array, estimate_work: Array, rows: Array, work: Array,
    observed: Array, commands: Array, row: Array,
) -> int:  # fmt: skip
    """Compute the engine's `commands` of a cycle from lengths and speeds in `memory`. Returns a status."""
    end = (samples.shape[0] - 1) * settings[TABLE_STEP]
    now, ahead, motion = memory[_NOW], memory[_NEXT], memory[_MOTION]
    forces_ahead = path_time + settings[FORCES_AHEAD]
    for reference, place in ((now, path_time), (ahead, path_time + settings[AHEAD]), (motion, forces_ahead)):
        rate = 1.0 if place < end else 0.0
        if table_motion_kernel(samples, settings[TABLE_STEP], min(place, end), rate, 0.0, reference) != 0:
            return LOST
    length_error, speed_error = memory[_LENGTH_ERROR], memory[_SPEED_ERROR]
    force, feedforward = commands[COMMAND_FORCE], row[FEEDFORWARD]
    if inverse_kernel(model, motion, memory[_LATER, :6], work, feedforward) != 0:
        return LOST
    if law in (COMPUTED_TORQUE, OBSERVER):
        pose, twist = memory[POSE, :7], memory[_TWIST, :6]
        if not estimate_kernel(geometry, memory[MEASURED, :6], memory[RATE, :6], pose, twist, estimate_work, rows):
            return LOST
    if law in (PD, FORCE, OBSERVER):
        inverse_kinematics_kernel(geometry, now, legs)
        for i in range(6):
            length_error[i] = legs[i, 0] - memory[MEASURED, i]
            speed_error[i] = legs[i, 1] - memory[RATE, i]
        if law == PD:
            feedforward[:] = 0.0
        leg_feedback_kernel(
            length_error, speed_error, settings[STIFFNESS], settings[DAMPING], feedforward, force
        )  # fmt: skip
        if law == OBSERVER:
            if observe_disturbance_kernel(observer, model, pose, twist, work, observed) != 0:
                return LOST
            add_estimate_kernel(observed, force)
    elif law == COMPUTED_TORQUE:
        task_motion_kernel(now, ahead, pose, twist, gains[0], gains[1], motion)
        if inverse_kernel(model, motion, memory[_LATER, :6], work, force) != 0:
            return LOST
    else:
        for i in range(6):
            force[i] = feedforward[i]
        if law == POSITION:
            inverse_kinematics_kernel(geometry, ahead, legs)
            length_set_points_kernel(
                legs, memory[_LATER], 0.5 * settings[PERIOD], commands[COMMAND_LENGTH], commands[COMMAND_SPEED]
            )
            if settings[PERIOD] > LONG_PERIOD:
                place = path_time + settings[AHEAD] + settings[PERIOD]
                rate = 1.0 if place < end else 0.0
                if table_motion_kernel(samples, settings[TABLE_STEP], min(place, end), rate, 0.0, motion) != 0:
                    return LOST
                inverse_kinematics_kernel(geometry, motion, legs)
                for i in range(6):
                    later = memory[_LATER, i]
                    following = legs[i, 0] + later * (legs[i, 1] + 0.5 * later * legs[i, 2])
                    commands[COMMAND_SPEED, i] = (following - commands[COMMAND_LENGTH, i]) / settings[PERIOD]
    for i in range(6):
        row[SATURATED, i] = 1.0 if abs(force[i]) > bounds[i] else 0.0
        force[i] = min(max(force[i], -bounds[i]), bounds[i])
        row[COMMANDED, i] = force[i]
    if law == OBSERVER:
        note_command_kernel(force, observed)
    return RUNNING


@kernel
def _motors(
    drives: Array, queues: Array, waiting: Counts, parameters: Array, legs: Array, t: float, h: float, decay: float,
    scratch: Array,
) -> None:  # fmt: skip
    """Compute the motors' forces at the beginning, middle and end of the step at `t`, into `scratch`.

    A force-controlled drive reduces to the lag of `drive_kernel` until the next command takes effect.
    """
    for i in range(6):
        motor = drives[i, drive_columns.MOTOR]
        scratch[MOTOR, i] = motor
        demand = scratch[DEMAND, i]
        due = waiting[i] > 0 and queues[i, 0, 0] <= t + h
        if demand == demand and not due:
            motor = demand + (motor - demand) * decay
            scratch[MOTOR + 1, i] = motor
            motor = demand + (motor - demand) * decay
            scratch[MOTOR + 2, i] = motor
            drives[i, drive_columns.MOTOR] = motor
            continue
        drive = drives[i]
        length, speed = scratch[LENGTHS, i] + legs[i, drive_columns.OFFSET], scratch[SPEEDS, i]
        begin_step_kernel(drive, parameters, 0.0, length, speed, t, h)
        drive[drive_columns.IMPULSE] = 0.0
        for half in range(2):
            begin, end = t + 0.5 * half * h, t + 0.5 * (half + 1) * h
            middle = (0.25 + 0.5 * half) * h
            if due:
                waiting[i] = motor_kernel(drive, queues[i], waiting[i], parameters, 0.0, length, begin, middle, end)
                motor = drive[drive_columns.MOTOR]
            else:
                there, rate = carried_kernel(drive, length, middle)
                demand, _ = demand_kernel(drive, parameters, 0.0, there, rate, begin + 0.25 * h)
                motor = demand + (motor - demand) * decay
                drive[drive_columns.MOTOR] = motor
            scratch[MOTOR + 1 + half, i] = motor
        if due:
            scratch[MOTOR + 1, i] = middle_force_kernel(scratch[MOTOR, i], drive[drive_columns.IMPULSE], motor, h)
        if drive[drive_columns.MODE] == _FORCE_MODE:
            scratch[DEMAND, i], _ = demand_kernel(drive, parameters, 0.0, length, speed, t)


@kernel
def _keep_bristles(legs: Array, drives: Array, lengths: Array, speeds: Array) -> None:
    if legs[0, drive_columns.OWN_FRICTION] == drive_columns.EVERY_FRICTION:
        for i in range(6):
            keep_bristle_kernel(legs[i], drives[i], drives[i, drive_columns.MOTOR], lengths[i], speeds[i])


@kernel
def run_kernel(
    law: int, settings: Array, gains: Array, cycles: int, steps: int,
    geometry: Array, model: Array, observer: Array, samples: Array, bounds: Array,
    memory: Array, legs: Array, estimate_work: Array, rows: Array, work: Array, observed: Array, commands: Array,
    plant_geometry: Array, strokes: Array, leg_rows: Array, parameters: Array, friction: Array,
    state: Array, drives: Array, queues: Array, waiting: Counts, wrenches: Array,
    hose: Array, scratch: Array, plant_work: Array, frozen: Array,
    states: Array, signals: Array,
) -> tuple[int, int]:  # fmt: skip
    """Run up to `cycles` cycles from `state` and `drives`; return a status and the number of recorded cycles.

    `states` (cycles, 13) is the plant at the time of each cycle, `signals` (cycles, ROWS, 6) the commands of that time.
    gains (2, 6, 6): K_p, 1/s², and K_v, 1/s, of computed torque. wrenches (cycles, 6): on the platform, platform axes.
    hose: see `plant_kernel.loads_kernel`. strokes (6, 2) m. The arguments of the controller (model, geometry, memory)
    come first, then those of the plant; see the modules of laws, drives and step.
    """
    period, h = settings[PERIOD], settings[STEP]
    mode = _POSITION_MODE if law == POSITION else _FORCE_MODE
    decay = exp(-0.5 * h / parameters[drive_columns.TIME_CONSTANT])
    lengths, speeds = scratch[LENGTHS], scratch[SPEEDS]
    scratch[DEMAND, :6] = nan
    leg_rates_kernel(plant_geometry, state, lengths, speeds)
    for i in range(6):
        drives[i, drive_columns.BRISTLE_LENGTH] = lengths[i]
    for cycle in range(cycles):
        t = cycle * period
        for i in range(6):
            place = min(waiting[i], drive_columns.QUEUE_LENGTH - 1)
            entry = queues[i, place]
            entry[0], entry[1] = t + settings[DELAY], mode
            entry[2], entry[3], entry[4] = commands[0, i], commands[1, i], commands[2, i]
            entry[5], entry[6], entry[7] = 1.0, 0.0, 0.0
            waiting[i] = place + 1
            memory[MEASURED, i] = (
                np.rint((lengths[i] + leg_rows[i, drive_columns.OFFSET]) / settings[RESOLUTION]) * settings[RESOLUTION]
            )
            memory[RATE, i] = speeds[i]
        row = signals[cycle]
        status = control_kernel(
            law, settings, gains, geometry, model, observer, samples, settings[BEGIN] + t, bounds, memory, legs,
            estimate_work, rows, work, observed, commands, row,
        )  # fmt: skip
        if status != RUNNING:
            return status, cycle
        for j in range(13):
            states[cycle, j] = state[j]
        run_in_kernel(leg_rows, t)
        _keep_bristles(leg_rows, drives, lengths, speeds)
        for i in range(6):
            row[APPLIED, i], row[BRISTLE, i] = drives[i, drive_columns.MOTOR], drives[i, drive_columns.BRISTLE]
            demand, _ = demand_kernel(drives[i], parameters, 0.0, lengths[i], speeds[i], t)
            if abs(demand) >= parameters[drive_columns.FORCE_LIMIT]:
                row[SATURATED, i] = 1.0
            if law == OPEN_LOOP and not strokes[i, 0] <= lengths[i] <= strokes[i, 1]:
                return LEFT_STROKE, cycle + 1
        for k in range(steps):
            if k > 0:
                run_in_kernel(leg_rows, t + k * h)
                _keep_bristles(leg_rows, drives, lengths, speeds)
            _motors(drives, queues, waiting, parameters, leg_rows, t + k * h, h, decay, scratch)
            status = step_kernel(
                leg_rows, parameters, friction, settings[COULOMB_SPEED], state, drives, wrenches[cycle],
                hose, h, scratch, plant_work, frozen,
            )  # fmt: skip
            if status != RUNNING:
                return status, cycle + 1
            leg_rates_kernel(plant_geometry, state, lengths, speeds)
    return RUNNING, cycles
