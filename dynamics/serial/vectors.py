"""Three-vectors and matrices as plain lists, of whatever scalar is put into them.

Nothing here names a number type, so the algorithms built on it run on floats, on numpy scalars and on
`dynamics.counting.Counted` unchanged. Literal zeros and ones are plain integers.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

Scalar: TypeAlias = Any  # float, a numpy scalar, Counted: anything with +, −, × and an optional cos() and sin()
Vector: TypeAlias = Sequence[Scalar]
Matrix: TypeAlias = Sequence[Sequence[Scalar]]
Values: TypeAlias = Iterable[Scalar]  # what callers give: a list, a tuple or an array


def cosine(x: Scalar) -> Scalar:
    """cos x, by the scalar's own method if it has one."""
    return x.cos() if hasattr(x, "cos") else math.cos(x)


def sine(x: Scalar) -> Scalar:
    """sin x, by the scalar's own method if it has one."""
    return x.sin() if hasattr(x, "sin") else math.sin(x)


def add(first: Vector, second: Vector, *others: Vector) -> list[Scalar]:
    """Sum of vectors."""
    if len(first) == len(second) == 3:  # most are: several times as fast
        (x, y, z), (u, v, w) = first, second
        total = [x + u, y + v, z + w]
    else:
        total = [x + y for x, y in zip(first, second, strict=True)]
    for other in others:
        total = [x + y for x, y in zip(total, other, strict=True)]
    return total


def scale(factor: Scalar, vector: Vector) -> list[Scalar]:
    """A scalar times a vector."""
    return [factor * x for x in vector]


def dot(a: Vector, b: Vector) -> Scalar:
    """Scalar product, of any length."""
    if len(a) == len(b) == 3:  # as in `add`
        (x, y, z), (u, v, w) = a, b
        return x * u + y * v + z * w
    pairs = zip(a, b, strict=True)
    x, y = next(pairs)
    total = x * y
    for x, y in pairs:
        total = total + x * y
    return total


def cross(a: Vector, b: Vector) -> list[Scalar]:
    """Vector product a×b."""
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def transpose(matrix: Matrix) -> list[list[Scalar]]:
    """Rows to columns."""
    return [list(column) for column in zip(*matrix, strict=True)]


def apply(matrix: Matrix, vector: Vector) -> list[Scalar]:
    """Matrix times vector."""
    if len(vector) == 3:
        u, v, w = vector
        return [x * u + y * v + z * w for x, y, z in matrix]
    return [dot(row, vector) for row in matrix]


def apply_transposed(matrix: Matrix, vector: Vector) -> list[Scalar]:
    """Transposed matrix times vector."""
    if len(matrix) == len(vector) == 3:
        u, v, w = vector
        return [x * u + y * v + z * w for x, y, z in zip(*matrix, strict=True)]
    return [dot(column, vector) for column in zip(*matrix, strict=True)]


def multiply(a: Matrix, b: Matrix) -> list[list[Scalar]]:
    """Product of two matrices."""
    columns = transpose(b)
    return [[dot(row, column) for column in columns] for row in a]


def solve_positive_definite(matrix: Matrix, right: Vector) -> list[Scalar]:
    """Solution x of M x = b by Gaussian elimination without pivoting, which a positive definite M does not need."""
    n = len(right)
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for k in range(n):
        for i in range(k + 1, n):
            factor = rows[i][k] / rows[k][k]
            rows[i][k + 1 :] = [x - factor * y for x, y in zip(rows[i][k + 1 :], rows[k][k + 1 :], strict=True)]
    solution: list[Scalar] = [None] * n
    for k in reversed(range(n)):
        value = rows[k][n]
        for j in range(k + 1, n):
            value = value - rows[k][j] * solution[j]
        solution[k] = value / rows[k][k]
    return solution
