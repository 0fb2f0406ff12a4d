"""Six-by-six linear algebra for hot loops: no allocation, no library call."""

from math import inf, sqrt

from kinematics.arrays import Array
from kinematics.compiled.compiling import kernel

_SWEEPS = 30
_ORTHOGONAL = 1e-15


@kernel
def solve_kernel(system: Array) -> float:
    """Solve A x = b in place for system (6, 7) = [A | b] and return det A; x is left in the last column.

    Gaussian elimination with partial pivoting. Where A is singular to the last bit, 0 is returned and there is no x.
    """
    determinant = 1.0
    for column in range(6):
        pivot = column
        for row in range(column + 1, 6):
            if abs(system[row, column]) > abs(system[pivot, column]):
                pivot = row
        if pivot != column:
            determinant = -determinant
            for k in range(column, 7):
                system[column, k], system[pivot, k] = system[pivot, k], system[column, k]
        value = system[column, column]
        determinant *= value
        if value == 0.0:
            return 0.0
        for row in range(column + 1, 6):
            factor = system[row, column] / value
            for k in range(column + 1, 7):
                system[row, k] -= factor * system[column, k]
    for row in range(5, -1, -1):
        total = system[row, 6]
        for k in range(row + 1, 6):
            total -= system[row, k] * system[k, 6]
        system[row, 6] = total / system[row, row]
    return determinant


@kernel
def spectral_condition_kernel(matrix: Array) -> float:
    """σmax/σmin of `matrix` (6, 6), which is overwritten; infinite where σmin is zero.

    One-sided Jacobi (Hestenes): the rows are rotated in pairs until they are orthogonal; their lengths are then the
    singular values, each to high relative accuracy.
    """
    for _ in range(_SWEEPS):
        rotated = False
        for i in range(5):
            for j in range(i + 1, 6):
                alpha = 0.0
                beta = 0.0
                gamma = 0.0
                for k in range(6):
                    alpha += matrix[i, k] * matrix[i, k]
                    beta += matrix[j, k] * matrix[j, k]
                    gamma += matrix[i, k] * matrix[j, k]
                if abs(gamma) <= _ORTHOGONAL * sqrt(alpha * beta):
                    continue
                rotated = True
                zeta = (beta - alpha) / (2.0 * gamma)
                tangent = 1.0 / (abs(zeta) + sqrt(1.0 + zeta * zeta))
                if zeta < 0.0:
                    tangent = -tangent
                cosine = 1.0 / sqrt(1.0 + tangent * tangent)
                sine = cosine * tangent
                for k in range(6):
                    first = matrix[i, k]
                    second = matrix[j, k]
                    matrix[i, k] = cosine * first - sine * second
                    matrix[j, k] = sine * first + cosine * second
        if not rotated:
            break
    smallest = inf
    largest = 0.0
    for i in range(6):
        total = 0.0
        for k in range(6):
            total += matrix[i, k] * matrix[i, k]
        smallest = min(smallest, total)
        largest = max(largest, total)
    return sqrt(largest) / sqrt(smallest) if smallest > 0.0 else inf
