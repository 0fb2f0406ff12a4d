"""Accelerations of a run, from its record."""

from dynamics import acceleration_kernel
from kinematics import kernel
from rig.virtual.arrays import Array
from rig.virtual.drive_kernel import (
    BRISTLE,
    BRISTLE_LENGTH,
    EVERY_FRICTION,
    OWN_FRICTION,
    contact_kernel,
    every_friction_kernel,
    friction_kernel,
    run_in_kernel,
)
from rig.virtual.plant_kernel import leg_rates_kernel, loads_kernel


@kernel
def accelerations_kernel(
    parameters: Array, geometry: Array, legs: Array, shared: Array, times: Array, states: Array, motors: Array,
    bristles: Array, wrenches: Array, hose: Array, drive: Array, work: Array, lengths: Array, speeds: Array,
    force: Array, out: Array, rubbed: Array, loads: Array,
) -> int:  # fmt: skip
    """Accelerations (n, 6) of states (n, 13) under motor forces (n, 6), N, end stops, wrenches (n, 6) and a hose.

    times (n,): s, from the beginning. bristles (n, 6): m, deflections of the legs' friction. drive: a row of
    `drive_kernel` with open brake; legs, shared: its legs and parameters. hose: see `plant_kernel.loads_kernel`.
    rubbed (n, 6): receives the friction that is not in the mechanism, N. loads (n, 6): receives the wrenches including
    the hose. Returns a status.
    """
    for row in range(states.shape[0]):
        run_in_kernel(legs, times[row])
        leg_rates_kernel(geometry, states[row], lengths, speeds)
        for i in range(6):
            force[i] = motors[row, i] + contact_kernel(drive, shared, legs[i], lengths[i], speeds[i])
            if legs[i, OWN_FRICTION] == EVERY_FRICTION:
                drive[BRISTLE], drive[BRISTLE_LENGTH] = bristles[row, i], lengths[i]
                rubbed[row, i] = every_friction_kernel(legs[i], drive, force[i], lengths[i], speeds[i])
            elif legs[i, OWN_FRICTION] != 0.0:
                rubbed[row, i] = friction_kernel(legs[i], force[i], speeds[i])
            if legs[i, OWN_FRICTION] != 0.0:
                force[i] += rubbed[row, i]
        loads_kernel(hose, states[row], wrenches[row], loads[row])
        status = acceleration_kernel(parameters, states[row], force, loads[row], work, out[row])
        if status != 0:
            return status
    return 0
