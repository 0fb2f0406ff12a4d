"""Least squares for the identification: which combinations of parameters forces depend on, and the normal equations."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynamics import LINEAR_NAMES, LINEAR_UNITS, Mechanism, Regressor, SingularityError
from kinematics import Array

_STATES = 400
_RANK = 1e-9  # of the largest singular value, of columns in units of what is known before
_NEGLIGIBLE = 1e-9  # of a combination's coefficients, in the same units
_SEED = 1


@dataclass(frozen=True, slots=True, eq=False)
class BaseParameters:
    """β = K θ: the combinations of the parameters θ that forces identify, for any motion.

    matrix (r, n) is K; pivots (r,): the parameter after which each is named, with coefficient 1. labels, label_units:
    (n,) names and units of θ.
    """

    matrix: Array
    pivots: tuple[int, ...]
    labels: tuple[str, ...] = LINEAR_NAMES
    label_units: tuple[str, ...] = LINEAR_UNITS

    @property
    def names(self) -> tuple[str, ...]:
        """The parameter that each is named after."""
        return tuple(self.labels[pivot] for pivot in self.pivots)

    @property
    def units(self) -> tuple[str, ...]:
        """Their units."""
        return tuple(self.label_units[pivot] for pivot in self.pivots)

    def combination(self, row: int) -> dict[str, float]:
        """Parameters by name and the coefficients with which they are in one of them."""
        values = self.matrix[row]
        return {self.labels[k]: float(values[k]) for k in np.flatnonzero(values)}


def base_parameters(mechanism: Mechanism, scale: Array, *, drives: bool) -> BaseParameters:
    """Base parameters of the load cells at their places, and with `drives` of the drives' forces too.

    By a QR factorisation with pivoting of the regressor at random motions about home. Independent
    parameters are chosen by `scale` (n,), the prior σ of each, zero for known ones.
    """
    generator = np.random.Generator(np.random.PCG64(_SEED))
    regressor = Regressor(mechanism)
    lengths = 0.1 * float(np.linalg.norm(mechanism.geometry.platform_points, axis=1).mean())
    motions = np.zeros((_STATES, 19))
    for motion in motions:
        motion[:3] = mechanism.geometry.home_pose[:3] + generator.uniform(-lengths, lengths, 3)
        quaternion = np.concatenate([[1.0], generator.uniform(-0.1, 0.1, 3)])
        motion[3:7] = quaternion / np.linalg.norm(quaternion)
        motion[7:] = generator.normal(size=12) * np.repeat([0.3, 1.0, 4.0, 15.0], 3)
    try:
        blocks = _rows(regressor, motions, drives)
    except SingularityError:  # some other states will do
        blocks = []
        for motion in motions:
            with suppress(SingularityError):
                blocks += _rows(regressor, motion[np.newaxis], drives)
    return BaseParameters(*base_combinations(np.concatenate(blocks), scale))


def base_combinations(rows: Array, scale: Array) -> tuple[Array, tuple[int, ...]]:
    """K (r, n) and pivots (r,) of `BaseParameters` from the rows (m, n) of a regressor.

    By a QR factorisation with pivoting; `scale` as in `base_parameters`.
    """
    import scipy.linalg  # takes long to import, and few need it

    stacked = rows * scale
    triangle, order = scipy.linalg.qr(stacked, mode="r", pivoting=True)
    diagonal = np.abs(np.diag(triangle))
    rank = int(np.count_nonzero(diagonal > _RANK * diagonal[0]))
    dependent = scipy.linalg.solve_triangular(triangle[:rank, :rank], triangle[:rank, rank:])
    dependent[np.abs(dependent) < _NEGLIGIBLE] = 0.0
    scaled = np.zeros((rank, stacked.shape[1]))
    scaled[np.arange(rank), order[:rank]] = 1.0
    scaled[:, order[rank:]] = dependent
    per_scale = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0.0)
    matrix = scale[order[:rank], np.newaxis] * scaled * per_scale
    ordered = np.argsort(order[:rank])
    return matrix[ordered], tuple(int(order[k]) for k in ordered)


def _rows(regressor: Regressor, motions: Array, drives: bool) -> list[Array]:
    """The regressor's rows (6 n, COLUMNS) of cells, and of drives, at motions (n, 19). Raises SingularityError."""
    found = [regressor.cells(motions)[0], *([regressor.forces(motions)] if drives else [])]
    return [each.reshape(-1, each.shape[2]) for each in found]


class Information:
    """An information matrix of unknowns that all legs share (s) and of some that are of one leg only (n of each).

    No reading depends on the own unknowns of two legs, so it is inverted by elimination leg by leg, a quarter of the
    work.
    shared (s, s), mixed: of each leg (s, n), own: of each leg (n, n).
    """

    def __init__(self, shared: Array, mixed: Sequence[Array], own: Sequence[Array]) -> None:
        self.shared, self.mixed, self.own = shared, mixed, own
        self.alone = [np.linalg.inv(each) for each in own]
        self.through = [each @ alone for each, alone in zip(mixed, self.alone, strict=True)]
        rest = shared.copy()
        for through, each in zip(self.through, mixed, strict=True):
            rest -= through @ each.T
        self.core = _inverse(rest)
        """covariance of the shared unknowns"""

    def solve(self, shared: Array, own: Sequence[Array]) -> tuple[Array, list[Array]]:
        """The inverse times (s, …) and, of each leg, (n, …)."""
        top = self.core @ (shared - sum(through @ each for through, each in zip(self.through, own, strict=True)))
        return top, [
            alone @ each - through.T @ top for alone, through, each in zip(self.alone, self.through, own, strict=True)
        ]

    def covariance_of(self, leg: int) -> tuple[Array, Array]:
        """Covariance (s, n) of what is shared and of what is of a leg, and that (n, n) of the latter."""
        across = -self.core @ self.through[leg]
        return across, self.alone[leg] - self.through[leg].T @ across

    def whole(self, places: Sequence[NDArray[np.intp]]) -> tuple[Array, Array]:
        """Covariance and information (k, k), what is shared and what is of each leg at `places` of them."""
        size = sum(len(each) for each in places)
        covariance, information = np.zeros((size, size)), np.zeros((size, size))
        first = places[0]
        covariance[np.ix_(first, first)] = self.core
        information[np.ix_(first, first)] = self.shared
        for leg, here in enumerate(places[1:]):
            across, _ = self.covariance_of(leg)
            for matrix, values in ((covariance, across), (information, self.mixed[leg])):
                matrix[np.ix_(first, here)] = values
                matrix[np.ix_(here, first)] = values.T
            information[np.ix_(here, here)] = self.own[leg]
            for other, there in enumerate(places[1:]):
                covariance[np.ix_(here, there)] = -across.T @ self.through[other]
            covariance[np.ix_(here, here)] += self.alone[leg]
        return covariance, information


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """aᵀa by channel (c) and band (b), of the unknowns that all legs share (s) and of those of the channel's leg (n).

    shared: (c, b, s (s + 1) / 2), the upper triangles; mixed, own: of each channel (b, s, n + 1) and (b, n + 1, n + 1),
    the values as the last column.
    """

    shared: Array
    mixed: tuple[Array, ...]
    own: tuple[Array, ...]

    def __iadd__(self, other: "Sums") -> "Sums":
        for mine, others in zip(
            (self.shared, *self.mixed, *self.own), (other.shared, *other.mixed, *other.own), strict=True
        ):
            mine += others
        return self

    def of(self, chosen: Sequence[NDArray[np.intp]]) -> "Sums":
        """The same of some of the unknowns of each leg."""
        columns_of = [np.append(chosen[number % 6], own.shape[1] - 1) for number, own in enumerate(self.own)]
        return Sums(
            self.shared,
            tuple(each.take(columns, axis=2) for each, columns in zip(self.mixed, columns_of, strict=True)),
            tuple(
                each.take(columns, axis=1).take(columns, axis=2)
                for each, columns in zip(self.own, columns_of, strict=True)
            ),
        )

    def weighted(self, weights: Array) -> tuple[Array, list[Array], list[Array]]:
        """Their sums by weights (c, b): upper triangle, and of each leg (s, n + 1) and (n + 1, n + 1)."""
        shared = weights.ravel() @ self.shared.reshape(weights.size, -1)
        mixed, own = ([np.zeros(each.shape[1:]) for each in found[:6]] for found in (self.mixed, self.own))
        for number, weight in enumerate(weights):
            for sums, found in ((mixed, self.mixed), (own, self.own)):
                whole = sums[number % 6]
                whole += (weight @ found[number].reshape(len(weight), -1)).reshape(whole.shape)
        return shared, mixed, own


def _inverse(matrix: Array) -> Array:
    """The inverse of a symmetric matrix, by Cholesky. Raises LinAlgError where it is not positive definite."""
    from scipy.linalg.lapack import dpotrf, dpotri  # takes long to import, and few need it

    root, failed = dpotrf(matrix, lower=1)
    if failed:
        raise np.linalg.LinAlgError("the information matrix is not positive definite")
    inverse = np.tril(dpotri(root, lower=1)[0])
    whole: Array = np.ascontiguousarray(inverse + np.tril(inverse, -1).T)
    return whole
