"""Six linear equations in six unknowns, in place."""

from dynamics.kernels.layout import LEAST_PIVOT, MATRIX, MATRIX_STRIDE, OK, SINGULAR
from kinematics import Array, eliminate, kernel


@kernel
def solve(columns: int, work: Array) -> int:
    """Solve the platform's equations in `work` for the first `columns` right-hand sides, which become the solutions.

    The rows are scaled to a largest element of 1, so that neither the unit of length nor the size of the mechanism
    decides what counts as singular. The matrix is destroyed.
    Returns OK, or SINGULAR where a pivot is below LEAST_PIVOT.
    """
    for i in range(6):
        row = MATRIX + i * MATRIX_STRIDE
        largest = 0.0
        for j in range(6):
            largest = max(largest, abs(work[row + j]))
        if not largest > 0.0:
            return SINGULAR
        scale = 1.0 / largest
        for j in range(6 + columns):
            work[row + j] *= scale
    sign = eliminate(work, MATRIX, MATRIX_STRIDE, 6, columns, LEAST_PIVOT)
    return OK if sign != 0.0 else SINGULAR
