"""Poses of a platform from the places of targets on it, whose own places need not be known.

The targets' shape (the places relative to each other) is that which fits all rows: Procrustes' problem of many
figures. What noise the shape has left is the same in every row, and moves the target's frame by a rigid motion only,
which the gauge takes up; so nothing is lost by finding the poses first and the geometry after.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calibration.errors import CalibrationError
from calibration.geometry.frames import RigidMotion, best_fit
from kinematics import Array

_ROUNDS = 50
_STILL = 1e-12  # m
_FALSE_ALARM = 1e-3  # that any row of good data is called not rigid
_LINE = 0.02  # of the targets' extent: how far off a line they must lie


@dataclass(frozen=True, slots=True, eq=False)
class TargetPoses:
    """Poses (n, 7) of the targets' frame, their information (n, 6, 6), and how well the targets are one body.

    shape (k, 3): the targets in their frame, m. cost (n,): squared misfits over the noise's variance. rigid (n,): rows
    whose targets lie as in the others. chi_square, freedom: of the rigid rows, beyond what fixes poses and shape.
    middles (n, 3): of the targets, tracker's frame, m. scale: the tracker's by the known shape
    (k of `calibration.geometry.model`), and its standard deviation; none of a shape that was measured itself.
    """

    poses: Array
    information: Array
    shape: Array
    misfits: Array
    rigid: npt.NDArray[np.bool_]
    chi_square: float
    freedom: int
    middles: Array
    scale: tuple[float, float] | None = None

    def reason(self, row: int) -> str:
        """Why a row is not used."""
        worst = int(self.misfits[row].argmax())
        return f"target {worst + 1} lies {1e6 * self.misfits[row, worst]:.0f} µm from where the others put it"


def poses_of_targets(points: Array, sigma: float, known: Array | None = None) -> TargetPoses:
    """Poses from targets (n, k, 3), m, tracker's frame, each coordinate with the standard deviation `sigma`, m.

    known (k, 3): the targets in the platform's frame; the poses are the platform's own then.
    Raises CalibrationError for targets on one line, or known places that the measured ones do not fit.
    """
    from scipy.special import chdtri  # takes long to import, and few need it

    n, k = points.shape[:2]
    shape = _median_shape(points) if known is None else known
    extent = np.linalg.svd(shape - shape.mean(axis=0), compute_uv=False)
    if extent[1] < _LINE * extent[0]:
        raise CalibrationError(
            f"points: the targets lie on one line within {extent[1] / np.sqrt(k):.2g} m; set one beside it"
        )
    own = 1 if known is not None else 3 * k - 6  # a scale, or a shape
    scale = None
    bound = float(chdtri(3 * k - 6, _FALSE_ALARM / n))
    rigid = np.ones(n, dtype=bool)
    for _ in range(_ROUNDS):
        motions = [best_fit(shape, row) for row in points]
        fitted = np.array([motion.inverse.apply(row) for motion, row in zip(motions, points, strict=True)])
        if known is not None:
            fitted, scale = _scaled(fitted, known, sigma)
        misfits = np.linalg.norm(fitted - shape, axis=2)
        cost = (misfits**2).sum(axis=1) / sigma**2
        looser = max(1.0, float(np.median(cost)) / float(chdtri(3 * k - 6, 0.5)))
        rigid = cost <= bound * looser
        if known is not None:
            break
        better = fitted[rigid].mean(axis=0)
        step = np.abs(better - shape).max()
        shape = better
        if step < _STILL:
            break
    if rigid.sum() < n / 2:
        raise CalibrationError(
            f"points: in {n - int(rigid.sum())} of {n} rows the targets do not lie as "
            f"{'they are known to' if known is not None else 'in the others'}; is their order the same in every row?"
        )
    poses = np.array([motion.pose for motion in motions])
    chi_square = float(cost[rigid].sum())
    freedom = (3 * k - 6) * int(rigid.sum()) - own
    information = _information(shape, motions, sigma)
    return TargetPoses(poses, information, shape, misfits, rigid, chi_square, freedom, points.mean(axis=1), scale)


def _scaled(fitted: Array, known: Array, sigma: float) -> tuple[Array, tuple[float, float]]:
    """Targets (n, k, 3) about their middle in the known shape's metres, and the scale with its standard deviation.

    The median of the rows' scales: gross errors of a target do not count. Its variance is π/2 of the mean's.
    """
    middles = fitted.mean(axis=1, keepdims=True)
    arms, shape = fitted - middles, known - known.mean(axis=0)
    spread = np.einsum("nka,nka->n", arms, arms)
    scale = float(np.median(1.0 - np.einsum("nka,ka->n", arms, shape) / spread))
    return middles + (1.0 - scale) * arms, (scale, sigma * float(np.sqrt(0.5 * np.pi / spread.sum())))


def _median_shape(points: Array) -> Array:
    """The targets (k, 3) of the row whose distances between targets are nearest to the medians, about their centre."""
    apart = np.linalg.norm(points[:, :, None] - points[:, None], axis=3)
    off = np.abs(apart - np.median(apart, axis=0)).max(axis=(1, 2))
    chosen = points[int(off.argmin())]
    return np.asarray(chosen - chosen.mean(axis=0))


def _information(shape: Array, motions: list[RigidMotion], sigma: float) -> Array:
    """(n, 6, 6): AᵀA/σ² with A = [1, −[R c]×] of every target."""
    information = np.zeros((len(motions), 6, 6))
    for row, motion in enumerate(motions):
        for arm in shape @ motion.rotation.T:
            cross = np.array([[0.0, -arm[2], arm[1]], [arm[2], 0.0, -arm[0]], [-arm[1], arm[0], 0.0]])
            a = np.hstack([np.eye(3), -cross])
            information[row] += a.T @ a / sigma**2
    return information
