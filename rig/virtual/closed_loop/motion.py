"""The accelerations of a run, from what was kept of it."""

from dynamics import acceleration_kernel
from kinematics import kernel
from rig.virtual.arrays import Array
from rig.virtual.drive_kernel import OWN_FRICTION, contact_kernel, friction_kernel
from rig.virtual.plant_kernel import leg_rates_kernel


@kernel
def accelerations_kernel(
    parameters: Array, geometry: Array, legs: Array, shared: Array, states: Array, motors: Array, wrenches: Array,
    drive: Array, work: Array, lengths: Array, speeds: Array, force: Array, out: Array,
) -> int:  # fmt: skip
    """Accelerations (n, 6) of states (n, 13) under motor forces (n, 6), N, end stops and wrenches (n, 6).

    drive: a row of `drive_kernel`, its brake open; legs, shared: its legs and parameters. Gives a status.
    """
    for row in range(states.shape[0]):
        leg_rates_kernel(geometry, states[row], lengths, speeds)
        for i in range(6):
            force[i] = motors[row, i] + contact_kernel(drive, shared, legs[i], lengths[i], speeds[i])
            if legs[i, OWN_FRICTION] != 0.0:
                force[i] += friction_kernel(legs[i], force[i], speeds[i])
        status = acceleration_kernel(parameters, states[row], force, wrenches[row], work, out[row])
        if status != 0:
            return status
    return 0
