"""Six linear equations in six unknowns, in place."""

from dynamics.kernels.layout import LEAST_PIVOT, MATRIX, MATRIX_STRIDE, OK, SINGULAR
from kinematics import Array, kernel


@kernel
def solve(columns: int, work: Array) -> int:
    """Solve the platform's equations in `work` for the first `columns` right-hand sides, which become the solutions.

    Gaussian elimination with partial pivoting on rows scaled to a largest element of 1, so that neither the
    unit of length nor the size of the mechanism decides what counts as singular. The matrix is destroyed.
    Returns OK, or SINGULAR where a pivot is below LEAST_PIVOT.
    """
    width = 6 + columns
    for i in range(6):
        row = MATRIX + i * MATRIX_STRIDE
        largest = 0.0
        for j in range(6):
            largest = max(largest, abs(work[row + j]))
        if not largest > 0.0:
            return SINGULAR
        scale = 1.0 / largest
        for j in range(width):
            work[row + j] *= scale
    for k in range(6):
        row = MATRIX + k * MATRIX_STRIDE
        best = k
        for i in range(k + 1, 6):
            if abs(work[MATRIX + i * MATRIX_STRIDE + k]) > abs(work[MATRIX + best * MATRIX_STRIDE + k]):
                best = i
        if best != k:
            other = MATRIX + best * MATRIX_STRIDE
            for j in range(k, width):
                work[row + j], work[other + j] = work[other + j], work[row + j]
        pivot = work[row + k]
        if not abs(pivot) > LEAST_PIVOT:
            return SINGULAR
        inverse = 1.0 / pivot
        for i in range(k + 1, 6):
            other = MATRIX + i * MATRIX_STRIDE
            factor = work[other + k] * inverse
            for j in range(k + 1, width):
                work[other + j] -= factor * work[row + j]
    for column in range(6, width):
        for k in range(5, -1, -1):
            row = MATRIX + k * MATRIX_STRIDE
            value = work[row + column]
            for j in range(k + 1, 6):
                value -= work[row + j] * work[MATRIX + j * MATRIX_STRIDE + column]
            work[row + column] = value / work[row + k]
    return OK
