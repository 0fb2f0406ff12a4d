"""Base parameters: the combinations of parameters that forces depend on at all."""

from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from dynamics import LINEAR_NAMES, LINEAR_UNITS, Mechanism, Regressor, SingularityError
from kinematics import Array

_STATES = 400
_RANK = 1e-9  # of the largest singular value, of columns in units of what is known before
_NEGLIGIBLE = 1e-9  # of a combination's coefficients, in the same units
_SEED = 1


@dataclass(frozen=True, slots=True, eq=False)
class BaseParameters:
    """β = K θ: what can be told of the parameters θ by forces, however the platform moves.

    matrix (r, n) is K; pivots (r,) says which parameter each is named after, with coefficient 1.
    """

    matrix: Array
    pivots: tuple[int, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The parameter that each is named after."""
        return tuple(LINEAR_NAMES[pivot] for pivot in self.pivots)

    @property
    def units(self) -> tuple[str, ...]:
        """Their units."""
        return tuple(LINEAR_UNITS[pivot] for pivot in self.pivots)

    def combination(self, row: int) -> dict[str, float]:
        """Parameters by name and the coefficients with which they are in one of them."""
        values = self.matrix[row]
        return {LINEAR_NAMES[k]: float(values[k]) for k in np.flatnonzero(values)}


def base_parameters(mechanism: Mechanism, scale: Array, *, drives: bool) -> BaseParameters:
    """What the load cells can tell where they sit, and with `drives` the drives' forces beside them.

    By a QR factorisation with pivoting of the regressor at random motions about home. The parameters that are
    independent are preferred by `scale` (n,), the spread that each is known to before, zero for what is known.
    """
    import scipy.linalg  # takes long to import, and few need it

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
    stacked = np.concatenate(blocks) * scale
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
    return BaseParameters(matrix[ordered], tuple(int(order[k]) for k in ordered))


def _rows(regressor: Regressor, motions: Array, drives: bool) -> list[Array]:
    """The regressor's rows (6 n, COLUMNS) of cells, and of drives, at motions (n, 19). Raises SingularityError."""
    found = [regressor.cells(motions)[0], *([regressor.forces(motions)] if drives else [])]
    return [each.reshape(-1, each.shape[2]) for each in found]
