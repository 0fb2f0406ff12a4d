"""Forces on MuJoCo's model in a step, as compiled code: drives, brakes, end stops, frictions that MuJoCo lacks."""

from math import isfinite

from kinematics import kernel
from rig.virtual.arrays import Array, Counts
from rig.virtual.drive_kernel import (
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
    motor_kernel,
    run_in_kernel,
)
from rig.virtual.plant_kernel import (
    DIVERGED,
    FORCES,
    LENGTHS,
    READINGS,
    RUNNING,
    SPEED_BOUND,
    SPEEDS,
    loads_kernel,
)

PLATFORM = 13
"""Index of the platform's body."""


@kernel
def drives_kernel(
    legs: Array, parameters: Array, drives: Array, queues: Array, waiting: Counts, home: Array,
    positions: Array, velocities: Array, t: float, h: float, motor: Array,
) -> None:  # fmt: skip
    """Advance the six drives by a step of `h` s from `t` (s); `motor` (6,) is their mean force in it, N.

    home (6,): the legs' lengths at home, m. positions (25,), velocities (24,): MuJoCo's qpos and qvel at `t`.
    Others: see `plant_kernel.advance_kernel`.
    """
    run_in_kernel(legs, t)
    for i in range(6):
        drive, reference = drives[i], legs[i, REFERENCE]
        leg = int(drive[LEG])
        reading = encoder_kernel(legs[i], home[i] + positions[3 * i + 2], drive[GAIN] * drive[MOTOR])
        speed = velocities[3 * i + 2]
        begin_step_kernel(drive, parameters, reference, reading, speed, t, h)
        grip_kernel(drives[leg], drive, parameters)
        drive[IMPULSE] = 0.0
        for half in range(2):
            waiting[i] = motor_kernel(
                drive, queues[i], waiting[i], parameters, reference, reading,
                t + 0.5 * half * h, (0.25 + 0.5 * half) * h, t + 0.5 * (half + 1) * h,
            )  # fmt: skip
        motor[leg] = drive[GAIN] * drive[IMPULSE] / h
    for i in range(6):
        if legs[i, OWN_FRICTION] == EVERY_FRICTION:
            length, speed = home[i] + positions[3 * i + 2], velocities[3 * i + 2]
            force = motor[i] + contact_kernel(drives[i], parameters, legs[i], length, speed)
            keep_bristle_kernel(legs[i], drives[i], force, length, speed)


@kernel
def motors_kernel(drives: Array, motor: Array) -> None:
    """Current motor forces (6,) at the legs that they act on, N."""
    for i in range(6):
        motor[int(drives[i, LEG])] = drives[i, GAIN] * drives[i, MOTOR]


@kernel
def apply_kernel(
    legs: Array, parameters: Array, drives: Array, motor: Array, home: Array, spherical: Array, wrench: Array,
    hose: Array, positions: Array, velocities: Array, axes: Array, spins: Array, applied: Array, pushes: Array,
    own: Array, state: Array, loads: Array, out: Array,
) -> None:  # fmt: skip
    """Forces on MuJoCo's current state except its own, into its qfrc_applied (24,) and xfrc_applied (14, 6).

    spherical (6,): friction of the spherical joints, N m s/rad. wrench (6,): on the platform, at its origin, platform
    axes. axes: MuJoCo's xmat (14, 9). spins: its cvel (14, 6). own (6,): receives the friction along the legs
    that is not in the mechanism, N. hose, out: see `plant_kernel`; `out` has drive readings and leg forces.
    state (13,), loads (6,): receive the platform's state and its wrench including the hose.
    """
    for j in range(6):
        applied[18 + j] = 0.0
    for i in range(6):
        length, speed = home[i] + positions[3 * i + 2], velocities[3 * i + 2]
        force = motor[i] + contact_kernel(drives[i], parameters, legs[i], length, speed)
        own[i] = 0.0
        if legs[i, OWN_FRICTION] == EVERY_FRICTION:
            own[i] = every_friction_kernel(legs[i], drives[i], force, length, speed)
        elif legs[i, OWN_FRICTION] != 0.0:
            own[i] = friction_kernel(legs[i], force, speed)
        force += own[i]
        applied[3 * i + 2] = force
        out[LENGTHS, i], out[SPEEDS, i], out[FORCES, i] = length, speed, force
        out[READINGS, i] = encoder_kernel(legs[i], length, motor[i])
        for j in range(3):
            torque = spherical[i] * (spins[2 + 2 * i, j] - spins[PLATFORM, j])
            pushes[2 + 2 * i, 3 + j] = -torque
            for k in range(3):  # a free joint's angular velocity is in platform axes
                applied[21 + k] += axes[PLATFORM, 3 * j + k] * torque
    for j in range(3):
        state[j], state[7 + j] = positions[18 + j], velocities[18 + j]
        state[10 + j] = 0.0
        for k in range(3):
            state[10 + j] += axes[PLATFORM, 3 * j + k] * velocities[21 + k]
    for j in range(4):
        state[3 + j] = positions[21 + j]
    loads_kernel(hose, state, wrench, loads)
    for j in range(3):
        applied[21 + j] += loads[3 + j]
        for k in range(3):
            applied[18 + j] += axes[PLATFORM, 3 * j + k] * loads[k]


@kernel
def settle_kernel(
    legs: Array, parameters: Array, drives: Array, home: Array, positions: Array, velocities: Array, h: float
) -> int:
    """Let the brakes slip after a step of `h` s; return RUNNING or DIVERGED."""
    for j in range(24):
        bound = SPEED_BOUND if 18 <= j < 21 else 10.0 * SPEED_BOUND
        if not (isfinite(velocities[j]) and abs(velocities[j]) <= bound):
            return DIVERGED
    for i in range(6):
        end_step_kernel(drives[i], parameters, home[i] + positions[3 * i + 2], velocities[3 * i + 2], h)
    return RUNNING
