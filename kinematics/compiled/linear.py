"""Small linear algebra for hot loops, for single systems or blocks: no allocation, no library call."""

from math import inf, sqrt

import numpy as np
import numpy.typing as npt

from kinematics.arrays import Array
from kinematics.compiled.compiling import inlined, kernel

_SWEEPS = 30
_ORTHOGONAL = 1e-30  # squared cosine of the angle between two rows
# Each pair of six rows once, in five rounds r of three pairs without a common row: 5 and r, r + p and r - p modulo 5.
_FIRST = np.array([0, 1, 2, 1, 0, 3, 2, 1, 0, 3, 2, 0, 4, 0, 1])
_SECOND = np.array([5, 4, 3, 5, 2, 4, 5, 3, 4, 5, 4, 1, 5, 3, 2])


@inlined
def eliminate(
    system: Array | npt.NDArray[np.complex128], start: int, stride: int, unknowns: int, columns: int, least: float
) -> float:
    """Solve A x = b in place for one or more right-hand sides: Gaussian elimination with partial pivoting.

    `system` is flat, real or complex: row i of [A | b] begins at start + i·stride and has unknowns + columns elements.
    x replaces b, the pivots are on the diagonal. Returns 1 or −1, the sign of the row exchanges, or 0 if a pivot is not
    larger than `least` (by |re| + |im|); x is then invalid.
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
    """Solve A x = b in place for system (6, 7) = [A | b] and return det A; the last column receives x.

    Returns 0 if A is singular to the last bit; x is then invalid.
    """
    flat = system.reshape(42)
    determinant = eliminate(flat, 0, 7, 6, 1, 0.0)
    for k in range(6):
        determinant *= flat[8 * k]
    return determinant


@kernel
def spectral_condition_kernel(matrix: Array) -> float:
    """Return σmax/σmin of `matrix` (6, 6), which is overwritten; infinite if σmin is zero.

    One-sided Jacobi (Hestenes): the rows are rotated in pairs until they are orthogonal; their lengths are then the
    singular values, each to high relative accuracy. Three pairs without a common row follow each other, so that the
    processor overlaps their roots and quotients.
    """
    for _ in range(_SWEEPS):
        rotated = False
        for pair in range(15):
            i, j = _FIRST[pair], _SECOND[pair]
            alpha = 0.0
            beta = 0.0
            gamma = 0.0
            for k in range(6):
                alpha += matrix[i, k] * matrix[i, k]
                beta += matrix[j, k] * matrix[j, k]
                gamma += matrix[i, k] * matrix[j, k]
            if not gamma * gamma > _ORTHOGONAL * (alpha * beta):
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


BLOCK = 32
"""States per block: whole vector registers, small enough for all rows to stay in the L1 cache."""

SYSTEM_ROWS = 42
"""Rows of a block of systems [A | b]: element (i, k) of the six by seven is row 7 i + k."""

Row = tuple[float, float, float, float, float, float, float]


@inlined
def _greater(x: float, y: float) -> float:
    """Return the maximum without a branch, which `max` would compile to."""
    return x if x > y else y


@inlined
def _less(x: float, y: float) -> float:
    """Return the minimum without a branch."""
    return x if x < y else y


@inlined
def _row(system: Array, i: int, j: int) -> Row:
    """Equation i of state j, scaled to a largest coefficient of 1."""
    a, b, c = system[7 * i * BLOCK + j], system[(7 * i + 1) * BLOCK + j], system[(7 * i + 2) * BLOCK + j]
    d, e, f = system[(7 * i + 3) * BLOCK + j], system[(7 * i + 4) * BLOCK + j], system[(7 * i + 5) * BLOCK + j]
    k = 1.0 / _greater(_greater(_greater(abs(a), abs(b)), _greater(abs(c), abs(d))), _greater(abs(e), abs(f)))
    return k * a, k * b, k * c, k * d, k * e, k * f, k * system[(7 * i + 6) * BLOCK + j]


@inlined
def _chosen(first: bool, x: Row, y: Row) -> Row:
    """Return x if `first`, otherwise y."""
    return (
        x[0] if first else y[0],
        x[1] if first else y[1],
        x[2] if first else y[2],
        x[3] if first else y[3],
        x[4] if first else y[4],
        x[5] if first else y[5],
        x[6] if first else y[6],
    )


@inlined
def _ordered(k: int, x: Row, y: Row, sign: float) -> tuple[Row, Row, float]:
    """Return the two rows, the one with the larger element k first, and the updated sign of the determinant."""
    stay = abs(x[k]) >= abs(y[k])
    return _chosen(stay, x, y), _chosen(stay, y, x), sign if stay else -sign


@inlined
def _reduced(x: Row, factor: float, pivot: Row) -> Row:
    """Subtract a multiple of the pivot row from row x."""
    return (
        x[0] - factor * pivot[0],
        x[1] - factor * pivot[1],
        x[2] - factor * pivot[2],
        x[3] - factor * pivot[3],
        x[4] - factor * pivot[4],
        x[5] - factor * pivot[5],
        x[6] - factor * pivot[6],
    )


@kernel
def solve_block_kernel(system: Array) -> None:
    """Solve A x = b in place for the BLOCK systems of `system` (SYSTEM_ROWS * BLOCK,).

    Leaves x in rows 6, 13, …, 41, the determinant of A, its rows scaled to a largest element of 1, in row 0, and its
    smallest pivot's size in row 1; the rest is undefined. Gaussian elimination with partial pivoting by selection.
    A singular state gives numbers that are not finite, without effect on the others.
    """
    for j in range(BLOCK):
        a, b, c = _row(system, 0, j), _row(system, 1, j), _row(system, 2, j)
        d, e, f = _row(system, 3, j), _row(system, 4, j), _row(system, 5, j)
        sign = 1.0
        a, b, sign = _ordered(0, a, b, sign)
        a, c, sign = _ordered(0, a, c, sign)
        a, d, sign = _ordered(0, a, d, sign)
        a, e, sign = _ordered(0, a, e, sign)
        a, f, sign = _ordered(0, a, f, sign)
        pivot = 1.0 / a[0]
        b = _reduced(b, b[0] * pivot, a)
        c = _reduced(c, c[0] * pivot, a)
        d = _reduced(d, d[0] * pivot, a)
        e = _reduced(e, e[0] * pivot, a)
        f = _reduced(f, f[0] * pivot, a)
        b, c, sign = _ordered(1, b, c, sign)
        b, d, sign = _ordered(1, b, d, sign)
        b, e, sign = _ordered(1, b, e, sign)
        b, f, sign = _ordered(1, b, f, sign)
        pivot = 1.0 / b[1]
        c = _reduced(c, c[1] * pivot, b)
        d = _reduced(d, d[1] * pivot, b)
        e = _reduced(e, e[1] * pivot, b)
        f = _reduced(f, f[1] * pivot, b)
        c, d, sign = _ordered(2, c, d, sign)
        c, e, sign = _ordered(2, c, e, sign)
        c, f, sign = _ordered(2, c, f, sign)
        pivot = 1.0 / c[2]
        d = _reduced(d, d[2] * pivot, c)
        e = _reduced(e, e[2] * pivot, c)
        f = _reduced(f, f[2] * pivot, c)
        d, e, sign = _ordered(3, d, e, sign)
        d, f, sign = _ordered(3, d, f, sign)
        pivot = 1.0 / d[3]
        e = _reduced(e, e[3] * pivot, d)
        f = _reduced(f, f[3] * pivot, d)
        e, f, sign = _ordered(4, e, f, sign)
        f = _reduced(f, f[4] / e[4], e)
        x5 = f[6] / f[5]
        x4 = (e[6] - e[5] * x5) / e[4]
        x3 = (d[6] - d[5] * x5 - d[4] * x4) / d[3]
        x2 = (c[6] - c[5] * x5 - c[4] * x4 - c[3] * x3) / c[2]
        x1 = (b[6] - b[5] * x5 - b[4] * x4 - b[3] * x3 - b[2] * x2) / b[1]
        x0 = (a[6] - a[5] * x5 - a[4] * x4 - a[3] * x3 - a[2] * x2 - a[1] * x1) / a[0]
        system[6 * BLOCK + j], system[13 * BLOCK + j], system[20 * BLOCK + j] = x0, x1, x2
        system[27 * BLOCK + j], system[34 * BLOCK + j], system[41 * BLOCK + j] = x3, x4, x5
        system[j] = sign * a[0] * b[1] * c[2] * d[3] * e[4] * f[5]
        least = _less(_less(abs(a[0]), abs(b[1])), _less(abs(c[2]), abs(d[3])))
        system[BLOCK + j] = _less(least, _less(abs(e[4]), abs(f[5])))
