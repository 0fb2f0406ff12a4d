"""Measured poses and leg lengths, checked completely; poses of targets; repeatability of homing."""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike

from calibration.errors import CalibrationError
from calibration.geometry.frames import Gauge, RigidMotion, best_fit
from calibration.geometry.model import Readings
from kinematics import Array, Geometry, angles_to_quaternion

_ROUNDS = 50
_NEGLIGIBLE = 1e-12  # m
_FALSE_ALARM = 1e-3  # that any row of good data is called not rigid
_LINE = 0.02  # of the targets' extent: how far off a line they must lie


@dataclass(frozen=True, slots=True, eq=False)
class TargetPoses:
    """Poses (n, 7) of the targets' frame, their information (n, 6, 6), and the rigidity of the targets.

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
        """The reason why a row is not used."""
        worst = int(self.misfits[row].argmax())
        return f"target {worst + 1} lies {1e6 * self.misfits[row, worst]:.0f} µm from where the others put it"


def poses_of_targets(points: Array, sigma: float, known: Array | None = None) -> TargetPoses:
    """Poses from targets (n, k, 3), m, tracker's frame, each coordinate with the standard deviation `sigma`, m.

    known (k, 3): the targets in the platform's frame; the poses are then those of the platform.
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
        if step < _NEGLIGIBLE:
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
    deviation = np.abs(apart - np.median(apart, axis=0)).max(axis=(1, 2))
    chosen = points[int(deviation.argmin())]
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


KnownFrames = Literal["none", "base", "platform", "both"]

LEAST_ROWS = 12
"""Least number of poses: 42 unknowns, some redundancy, and a fifth left out."""

_UNIT = 1e-6  # of a quaternion's norm
_UNIT_RATIO = 50.0  # between millimetres and metres, 1000, and what one mechanism's measures may differ by
_FEW_TARGETS = 3
_LISTED = 5


@dataclass(frozen=True, slots=True)
class GeometryNoise:
    """Standard deviations of one reading: position of a target, m, by axis; orientation, rad, by axis; leg length, m.

    position and rotation are of a whole pose. For points on the platform only `position` counts, by point; for a level
    only `rotation`.
    """

    position: float = 20e-6
    rotation: float = 1e-4
    length: float = 5e-6

    def faults(self) -> list[str]:
        """Invalid values, one text each."""
        return [
            f"{name} sigma: {value:g} {unit}, must be finite and above 0"
            for name, value, unit in (
                ("position", self.position, "m"),
                ("rotation", self.rotation, "rad"),
                ("length", self.length, "m"),
            )
            if not 0.0 < value < np.inf
        ]


@dataclass(frozen=True, slots=True, eq=False)
class GeometryMeasurements:
    """Measurements at n poses: the legs' lengths, and one of poses, points, positions and tilts.

    lengths (n, 6): by the encoders after homing, m, legs 1 to 6.
    poses (n, 7): [x y z qw qx qy qz] of a target on the platform in the tracker's frame.
    points (n, k, 3): k ≥ 3 targets fixed to the platform, tracker's frame, m; target_points (k, 3): their places in
        the platform's frame if they are known.
    positions (n, 3): of a single target on the platform, tracker's frame, m.
    tilts (n, 2): θx, θy of R = Rz Ry Rx, measured by a level on the platform, rad.
    known: which of the tracker's and the target's frames are the base's and the platform's own.
    rows (n,): what each row is called in messages; counted from 1 if left out.
    """

    lengths: Array
    poses: Array | None = None
    points: Array | None = None
    target_points: Array | None = None
    positions: Array | None = None
    tilts: Array | None = None
    known: KnownFrames = "none"
    rows: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """Readings for the fit, their gauge, names of rows (n,), and rows (n,) left out beforehand with the reason.

    Also cost and degrees of freedom of the targets' distances from each other.
    """

    readings: Readings
    gauge: Gauge
    rows: tuple[str, ...]
    targets: TargetPoses | None = None
    left_out: dict[int, str] = field(default_factory=dict)


def prepare_geometry(
    geometry: Geometry, measurements: GeometryMeasurements, noise: GeometryNoise, offsets: Array
) -> Prepared:
    """Check all the measurements and convert them to readings, the lengths less the nominal offsets (6,), m.

    Raises:
        CalibrationError: shapes, numbers that are not finite, quaternions, units, too few rows: every reason at once.
    """
    faults = noise.faults()
    lengths = _array("leg lengths", measurements.lengths, (None, 6), faults)
    kinds = {
        name: _array(name, value, shape, faults)
        for name, value, shape in (
            ("poses", measurements.poses, (None, 7)),
            ("points", measurements.points, (None, None, 3)),
            ("positions", measurements.positions, (None, 3)),
            ("tilts", measurements.tilts, (None, 2)),
        )
        if value is not None
    }
    if not kinds:
        faults.append(
            "leg lengths alone: six lengths tell the six freedoms of the pose and nothing of the geometry; measure "
            "poses, targets' points, one target's positions or a level's tilts beside them"
        )
    if len(kinds) > 1:
        faults.append(f"poses, points, positions, tilts: {len(kinds)} of them are given, must be one")
    if measurements.known not in ("none", "base", "platform", "both"):
        faults.append(f"known frames: {measurements.known!r}, must be none, base, platform or both")
    if faults:
        raise CalibrationError(faults)
    assert lengths is not None
    ((kind, values),) = kinds.items()
    assert values is not None
    if len(values) != len(lengths):
        faults.append(f"{len(values)} {kind} but {len(lengths)} rows of leg lengths")
    if len(lengths) < LEAST_ROWS:
        faults.append(f"{len(lengths)} rows, at least {LEAST_ROWS} are needed for the 42 parameters, and 40 are good")
    if measurements.rows and len(measurements.rows) != len(lengths):
        faults.append(f"{len(measurements.rows)} names of rows for {len(lengths)} rows")
    faults += _unit_faults(geometry, lengths, kind, values)
    if kind == "poses":
        norms = np.linalg.norm(values[:, 3:], axis=1)
        wrong = np.flatnonzero(np.abs(norms - 1.0) > _UNIT)
        faults += [f"row {row + 1}: the quaternion's norm is {norms[row]:.9g}, must be 1" for row in wrong[:_LISTED]]
    if kind == "points" and values.shape[1] < _FEW_TARGETS:
        faults.append(f"points: {values.shape[1]} targets on the platform, at least {_FEW_TARGETS} give a pose")
    target_points = None
    if measurements.target_points is not None:
        count = values.shape[1] if kind == "points" else 0
        target_points = _array("target points", measurements.target_points, (count, 3), faults)
    if faults:
        raise CalibrationError(faults)
    rows = measurements.rows or tuple(f"row {row + 1}" for row in range(len(lengths)))
    return _prepared(measurements, noise, kind, values, lengths - offsets, target_points, rows)


def _prepared(
    measurements: GeometryMeasurements,
    noise: GeometryNoise,
    kind: str,
    values: Array,
    lengths: Array,
    target_points: Array | None,
    rows: tuple[str, ...],
) -> Prepared:
    n = len(lengths)
    arms = np.zeros((n, 3))
    poses = np.tile([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], (n, 1))
    place, turn = [noise.position**-2] * 3, [noise.rotation**-2] * 3
    gauge = Gauge(measurements.known not in ("base", "both"), measurements.known not in ("platform", "both"))
    if kind == "points":
        found = poses_of_targets(values, noise.position, target_points)
        if target_points is not None:
            gauge = Gauge(gauge.base, False)
        left = {int(row): found.reason(int(row)) for row in np.flatnonzero(~found.rigid)}
        readings = Readings(found.poses, found.information, lengths, noise.length, found.middles)
        return Prepared(readings, gauge, rows, found, left)
    measured, tilt = 6, False
    if kind == "poses":
        poses = values.copy()
        poses[:, 3:] /= np.linalg.norm(poses[:, 3:], axis=1, keepdims=True)
    elif kind == "positions":
        poses[:, :3], turn, measured = values, [0.0] * 3, 3
    else:
        poses[:, 3:] = angles_to_quaternion(np.column_stack([values, np.zeros(n)]))
        place, turn, measured, tilt = [0.0] * 3, [*turn[:2], 0.0], 2, True
    if kind != "tilts":
        arms = poses[:, :3]
    information = np.broadcast_to(np.diag([*place, *turn]), (n, 6, 6))
    return Prepared(Readings(poses, information, lengths, noise.length, arms, measured, tilt), gauge, rows)


def _array(name: str, value: ArrayLike, shape: tuple[int | None, ...], faults: list[str]) -> Array | None:
    """Finite float64 copy of that shape; None after adding a fault."""
    wanted = "(" + ", ".join("nk"[index] if size is None else str(size) for index, size in enumerate(shape)) + ")"
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        faults.append(f"{name}: not an array of numbers ({error})")
        return None
    if array.ndim != len(shape) or any(size not in (None, got) for size, got in zip(shape, array.shape, strict=True)):
        faults.append(f"{name}: shape {array.shape}, must be {wanted}")
        return None
    bad = np.argwhere(~np.isfinite(array))
    faults += [f"{name}: row {place[0] + 1} has {array[tuple(place)]}, must be finite" for place in bad[:_LISTED]]
    if len(bad) > _LISTED:
        faults.append(f"{name}: and {len(bad) - _LISTED} more numbers that are not finite")
    return None if len(bad) else array


def _unit_faults(geometry: Geometry, lengths: Array, kind: str, values: Array) -> list[str]:
    """Faults: lengths and positions that are not in m, by the mechanism's size."""
    size = max(np.ptp(geometry.base_points, axis=0).max(), np.ptp(geometry.platform_points, axis=0).max())
    median = float(np.median(lengths))
    faults = []
    if lengths.min() <= 0.0:
        row, leg = np.unravel_index(int(lengths.argmin()), lengths.shape)
        faults.append(f"leg lengths: row {row + 1}, leg {leg + 1} is {lengths.min():g} m, must be above 0 m")
    if median > _UNIT_RATIO * size:
        faults.append(f"leg lengths: {median:g} m for a mechanism of {size:g} m; are they in millimetres?")
    if kind == "tilts" and np.abs(values).max() > 0.5 * np.pi:
        faults.append(f"tilts: up to {np.abs(values).max():g} rad; are they in degrees?")
    if kind in ("poses", "positions", "points"):
        way = float(np.median(np.abs(np.diff(values.reshape(len(values), -1)[:, :3], axis=0))))
        if way > _UNIT_RATIO * size:
            faults.append(f"{kind}: {way:g} m from one row to the next, for a mechanism of {size:g} m; millimetres?")
        elif kind == "points":
            apart = float(np.linalg.norm(values[:, 0] - values[:, 1], axis=1).max())
            if apart > _UNIT_RATIO * size:
                faults.append(f"points: targets {apart:g} m apart on a mechanism of {size:g} m; millimetres?")
    return faults


LEAST_HOMINGS = 5

_NORMAL = 1.4826  # standard deviation over median absolute deviation, of a normal distribution
_FAR = 4.5  # standard deviations, from the median: once in some 150 000 readings
_MEAN = 1.2533  # and over the mean absolute deviation, where more than half of the readings are one number


@dataclass(frozen=True, slots=True, eq=False)
class HomingRepeatability:
    """Lengths after repeated homings, by leg; outliers are not in the figures.

    mean, standard_deviation, standard_error (6,): m; the last one is of the mean. count (6,): homings used.
    outliers: (homing, leg, m from the median), counted from 1.
    """

    mean: Array
    standard_deviation: Array
    standard_error: Array
    count: tuple[int, ...]
    outliers: tuple[tuple[int, int, float], ...]

    def as_dict(self) -> dict[str, Any]:
        """The figures for JSON."""
        return {
            "mean_m": self.mean.tolist(),
            "standard_deviation_m": self.standard_deviation.tolist(),
            "standard_error_m": self.standard_error.tolist(),
            "count": list(self.count),
            "outliers": [{"homing": row, "leg": leg, "off_m": deviation} for row, leg, deviation in self.outliers],
        }


def homing_repeatability(lengths: ArrayLike) -> HomingRepeatability:
    """Repeatability from lengths (m, 6), m, measured at one pose after each of m homings.

    A reading beyond 4.5 robust standard deviations (from the median absolute deviation) of its leg's median is an
    outlier, and is listed.
    Raises CalibrationError for a wrong shape, fewer than five homings, numbers that are not finite.
    """
    values = np.asarray(lengths, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != 6:
        raise CalibrationError(f"homings: shape {values.shape}, must be (m, 6)")
    faults = [
        f"homing {row + 1}, leg {leg + 1}: {values[row, leg]}, must be finite"
        for row, leg in np.argwhere(~np.isfinite(values))
    ]
    if len(values) < LEAST_HOMINGS:
        faults.append(f"{len(values)} homings, at least {LEAST_HOMINGS} are needed")
    if faults:
        raise CalibrationError(faults)
    residual = values - np.median(values, axis=0)
    middle = np.median(np.abs(residual), axis=0)
    spread = np.where(middle > 0.0, _NORMAL * middle, _MEAN * np.abs(residual).mean(axis=0))
    spread = np.maximum(spread, np.median(spread))  # of a few homings one leg's own may come out small by chance
    good = np.abs(residual) <= _FAR * spread
    columns = [values[good[:, leg], leg] for leg in range(6)]
    deviation = np.array([column.std(ddof=1) for column in columns])
    count = tuple(len(column) for column in columns)
    return HomingRepeatability(
        mean=np.array([column.mean() for column in columns]),
        standard_deviation=deviation,
        standard_error=deviation / np.sqrt(count),
        count=count,
        outliers=tuple((int(row) + 1, int(leg) + 1, float(residual[row, leg])) for row, leg in np.argwhere(~good)),
    )
