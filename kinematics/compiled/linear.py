"""Small linear algebra for hot loops: no allocation, no library call."""

from math import inf, sqrt

import numpy as np
import numpy.typing as npt

from kinematics.arrays import Array
from kinematics.compiled.compiling import inlined, kernel

_SWEEPS = 30
_ORTHOGONAL = 1e-15


@inlined
def eliminate(
    system: Array | npt.NDArray[np.complex128], start: int, stride: int, unknowns: int, columns: int, least: float
) -> float:
    """Solve A x = b in place for one or more right-hand sides: Gaussian elimination with partial pivoting.

    `system` is flat, real or complex: row i of [A | b] begins at start + i·stride and has unknowns + columns elements.
    x is left where b was, the pivots on the diagonal. Returns 1 or −1, the sign of the row exchanges, or 0 where a
    pivot is not larger than `least` (by |re| + |im|): there is no x then.
    """
    sign = 1.0
    width = unknowns + columns
    for k in range(unknowns):
        row = start + k * stride
        best = row
        size = abs(system[row + k].real) + abs(system[row + k].imag)
        for i in range(k + 1, unknowns):
            other = start + i * stride
            rival = abs(system[other + k].real) + abs(system[other + k].imag)
            if rival > size:
                best, size = other, rival
        if not size > least:
            return 0.0
        if best != row:
            sign = -sign
            for j in range(k, width):
                system[row + j], system[best + j] = system[best + j], system[row + j]
        inverse = 1.0 / system[row + k]
        for i in range(k + 1, unknowns):
            other = start + i * stride
            factor = system[other + k] * inverse
            for j in range(k + 1, width):
                system[other + j] -= factor * system[row + j]
    for column in range(unknowns, width):
        for k in range(unknowns - 1, -1, -1):
            row = start + k * stride
            value = system[row + column]
            for j in range(k + 1, unknowns):
                value -= system[row + j] * system[start + j * stride + column]
            system[row + column] = value / system[row + k]
    return sign


@kernel
def solve_kernel(system: Array) -> float:
    """Solve A x = b in place for system (6, 7) = [A | b] and return det A; x is left in the last column.

    Where A is singular to the last bit, 0 is returned and there is no x.
    """
    flat = system.reshape(42)
    determinant = eliminate(flat, 0, 7, 6, 1, 0.0)
    for k in range(6):
        determinant *= flat[8 * k]
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
