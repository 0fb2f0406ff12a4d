"""The closed loop as compiled code: control cycle and plant in turns, over a whole trajectory, without Python between.

A cycle is that of the engine (`rig.engine.core`): the commands of the cycle before go out and take effect after the
drives' dead time; what is measured meets the reference of now, and the law computes the next commands for the time at
which those will act.
"""

from math import exp, nan

import numpy as np

from actuators import Mode
from dynamics import inverse_kernel
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
from rig.virtual import drive_kernel as drive_columns
from rig.virtual.arrays import Array, Counts
from rig.virtual.closed_loop.step import DEMAND, LENGTHS, MOTOR, SPEEDS, step_kernel
from rig.virtual.drive_kernel import (
    begin_step_kernel,
    carried_kernel,
    demand_kernel,
    keep_bristle_kernel,
    middle_force_kernel,
    motor_kernel,
    run_in_kernel,
)
from rig.virtual.plant_kernel import RUNNING, leg_rates_kernel

OPEN_LOOP, PD, FORCE, COMPUTED_TORQUE, POSITION, OBSERVER = range(6)
"""The laws."""

LEFT_STROKE = 10
"""Status: without a loop, a leg left its stroke."""
LOST = 11
"""The leg lengths have no pose near the one before, or the reference or the model no solution there."""

# Entries of the settings.
PERIOD = 0  # s
AHEAD = 1  # s, from a cycle to the reference of its commands but the feedforward
BEGIN = 2  # s, place on the path at the first cycle
STIFFNESS, DAMPING = 3, 4  # N/m, N s/m
TASK_STIFFNESS, TASK_DAMPING = 5, 6  # 1/s², 1/s
RESOLUTION = 7  # m, of the encoders
DELAY = 8  # s, of the drives
STEP = 9  # s, of the plant
TABLE_STEP = 10  # s
COULOMB_SPEED = 11  # m/s, of the plant
FORCES_AHEAD = 12  # s, from a cycle to the reference of the feedforward
SETTINGS = 13

# Rows of the controller's memory (CONTROL_ROWS, 19).
_NOW, _AHEAD = 0, 1  # the reference
_MOTION = 2
POSE = 3  # measured
_TWIST = 4
_MEASURED, _RATE = 5, 6  # lengths and speeds of the legs
_LENGTH_ERROR, _SPEED_ERROR = 7, 8
_LATER = 9  # zeros
CONTROL_ROWS = 10

# Rows of a command.
COMMAND_FORCE, COMMAND_LENGTH, COMMAND_SPEED = 0, 1, 2

# Rows of what is kept of a cycle (ROWS, 6); the state has its own array.
APPLIED = 0  # N, of the motors
COMMANDED = 1  # N
FEEDFORWARD = 2  # N
SATURATED = 3  # 1 where a leg's force was bounded
BRISTLE = 4  # m, deflection of a leg's friction
ROWS = 5

_FORCE_MODE, _POSITION_MODE = float(Mode.FORCE), float(Mode.POSITION)


@kernel
def _control(
    law: int, settings: Array, geometry: Array, model: Array, observer: Array, samples: Array, path_time: float,
    bounds: Array, memory: Array, legs: Array, estimate_work: Array, rows: Array, work: Array, observed: Array,
    commands: Array, row: Array,
) -> int:  # fmt: skip
    """What the engine computes in a cycle, from lengths and speeds in `memory` to `commands`. Gives a status."""
    end = (samples.shape[0] - 1) * settings[TABLE_STEP]
    now, ahead, motion = memory[_NOW], memory[_AHEAD], memory[_MOTION]
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
        if not estimate_kernel(geometry, memory[_MEASURED, :6], memory[_RATE, :6], pose, twist, estimate_work, rows):
            return LOST
    if law in (PD, FORCE, OBSERVER):
        inverse_kinematics_kernel(geometry, now, legs)
        for i in range(6):
            length_error[i] = legs[i, 0] - memory[_MEASURED, i]
            speed_error[i] = legs[i, 1] - memory[_RATE, i]
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
        task_motion_kernel(now, ahead, pose, twist, settings[TASK_STIFFNESS], settings[TASK_DAMPING], motion)
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
    """The motors' forces at the beginning, middle and end of the step at `t`, into `scratch`.

    Of a drive that follows a force, nothing is left of `drive_kernel` but its lag until the next command takes effect.
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
    law: int, settings: Array, cycles: int, steps: int,
    geometry: Array, model: Array, observer: Array, samples: Array, bounds: Array,
    memory: Array, legs: Array, estimate_work: Array, rows: Array, work: Array, observed: Array, commands: Array,
    plant_geometry: Array, strokes: Array, leg_rows: Array, parameters: Array, friction: Array,
    state: Array, drives: Array, queues: Array, waiting: Counts, wrenches: Array,
    hose: Array, scratch: Array, plant_work: Array, frozen: Array,
    states: Array, kept: Array,
) -> tuple[int, int]:  # fmt: skip
    """Run so many cycles from `state` and `drives` as they stand; gives a status and how many cycles were kept.

    Of each cycle, `states` (cycles, 13) has the plant at its time, `kept` (cycles, ROWS, 6) what was commanded then.
    wrenches (cycles, 6): on the platform, platform axes. hose: see `plant_kernel.loads_kernel`. strokes (6, 2) m. The
    controller's model, geometry and memory come first, then the plant's; see the modules of laws, drives and step for
    theirs.
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
            memory[_MEASURED, i] = (
                np.rint((lengths[i] + leg_rows[i, drive_columns.OFFSET]) / settings[RESOLUTION]) * settings[RESOLUTION]
            )
            memory[_RATE, i] = speeds[i]
        row = kept[cycle]
        status = _control(
            law, settings, geometry, model, observer, samples, settings[BEGIN] + t, bounds, memory, legs,
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
