"""What forces along the legs change of the platform's acceleration, of many states at once."""

from dynamics.kernels.forward import acceleration_kernel
from dynamics.kernels.layout import OK
from kinematics import Array, kernel


@kernel
def response_batch_kernel(
    parameters: Array, states: Array, forces: Array, wrench: Array, work: Array, start: Array, out: Array
) -> tuple[int, int]:
    """M⁻¹ H ΔF (n, 6) of states (n, 13) and forces ΔF (n, 6), as the difference of two forward dynamics.

    `wrench` (6,) may be anything, `start` (12,) is working space. Returns a status and its sample.
    """
    for i in range(6):
        start[i] = 0.0
    for sample in range(states.shape[0]):
        status = acceleration_kernel(parameters, states[sample], start[:6], wrench, work, start[6:])
        if status != OK:
            return status, sample
        status = acceleration_kernel(parameters, states[sample], forces[sample], wrench, work, out[sample])
        if status != OK:
            return status, sample
        for i in range(6):
            out[sample, i] -= start[6 + i]
    return OK, -1
