"""Gains and offsets of the cells by weighted least squares against the exact model, and their observability."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from math import isfinite

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibration.cells import CELLS, CellCalibration, LoadCellCalibration, Provenance, Tare, drift, read_only
from calibration.errors import CalibrationError
from calibration.in_place.rests import Rests, cell_forces, check_rests, exchanged_cells, robust_lines
from dynamics import BODIES, Mechanism, Regressor, linear_parameters, machine_size
from kinematics import Array, coordinates_to_pose, pose_to_coordinates

_NAMES = ("x", "y", "z", "rx", "ry", "rz")
_STEPS = np.array([0.05, 0.05, 0.05, 0.17, 0.17, 0.17])  # m, rad: what platforms move
_IN_WORDS = ("±50 mm", "±10 deg")


def unobservable_gains(mechanism: Mechanism, poses: Array, forces: Array, relative: Array, limit: float) -> list[str]:
    """Faults: legs whose gain is less accurate than the limit, with the two movements that change their force most."""
    faults = []
    changes = _changes(mechanism, poses)
    for leg in np.flatnonzero(~(relative <= limit)):
        best = np.argsort(changes[:, leg])[::-1][:2]
        would = " and ".join(f"{_NAMES[k]} by {_IN_WORDS[k // 3]} ({changes[k, leg]:.0f} N)" for k in best)
        accuracy = "not at all" if np.isinf(relative[leg]) else f"to {100.0 * relative[leg]:.2g} %"
        faults.append(
            f"leg {leg + 1}: these poses load its cell with {forces[:, leg].min():.1f} to {forces[:, leg].max():.1f} N "
            f"and tell its gain {accuracy}, wanted {100.0 * limit:g} %: gain and offset look alike; what would change "
            f"its force: {would}; `--plan` gives such poses"
        )
    return faults


def _changes(mechanism: Mechanism, poses: Array) -> Array:
    """Change (6, 6) N of each leg's force (column) between both ends of a movement (row) about the mean."""
    middle = pose_to_coordinates(poses[len(poses) // 2])
    steps = np.diag(_STEPS)
    ends = coordinates_to_pose(np.concatenate([middle + steps, middle - steps]))
    forces = cell_forces(mechanism, ends)
    change: Array = np.abs(forces[:6] - forces[6:])
    return change


_FALSE_ALARM = 1e-6  # probability that a pose is left out for its noise alone
_MOST_LEFT_OUT = 0.2  # of the poses
_ROUNDS = 10
_FOLDS = 5


@dataclass(frozen=True, slots=True)
class WeightSigmas:
    """Standard deviations of the weights that the cells carry.

    mass: kg, of the platform. center: m, each axis of its centre of mass. leg_mass: relative, of each body of a leg.
    leg_center: m, each axis of its centre of mass.
    """

    mass: float = 0.0
    center: float = 0.0
    leg_mass: float = 0.2
    leg_center: float = 3e-3

    def __post_init__(self) -> None:
        """Refuse invalid standard deviations."""
        units = {"mass": " kg", "center": " m", "leg_mass": "", "leg_center": " m"}
        faults = [
            f"{name} sigma: {value:g}{unit}, must be finite and at least 0"
            for name, unit in units.items()
            if not (isfinite(value := getattr(self, name)) and value >= 0.0)
        ]
        if faults:
            raise CalibrationError(faults)

    @classmethod
    def of(cls, mechanism: Mechanism, **stated: float) -> "WeightSigmas":
        """The `stated` values, else the defaults, with lengths scaled by the mechanism's size."""
        return cls(**{"leg_center": cls().leg_center * machine_size(mechanism).length} | stated)

    def roots(self, mechanism: Mechanism) -> Array:
        """Errors (n, k) of θ of `dynamics.linear_parameters`: k independent ones of one σ each."""
        theta, columns = linear_parameters(mechanism), []
        for number, place in enumerate(BODIES):
            mass = theta[place.start]
            if mass == 0.0:
                continue
            by_mass, by_center = (self.leg_mass * mass, self.leg_center) if number else (self.mass, self.center)
            heavier = np.zeros(len(theta))
            heavier[place.start : place.start + 4] = theta[place.start : place.start + 4] * by_mass / mass
            columns.append(heavier)
            for axis in range(3):
                moved = np.zeros(len(theta))
                moved[place.start + 1 + axis] = mass * by_center
                columns.append(moved)
        return np.column_stack([each for each in columns if each.any()] or [np.empty((len(theta), 0))])


@dataclass(frozen=True, slots=True, eq=False)
class InPlaceCalibration:
    """Calibration of six cells by the platform's weight.

    gain (6,) N per raw unit, signed; offset (6,) raw units; covariance (12, 12) of gains, then offsets, the mass's
    and the centre's uncertainty included. forces (n, 6) N by the model and residual (n, 6) N of all poses; used (n,)
    masks those that were fitted. hold_out (6,) N: RMS error on poses predicted by a fit to the others; expected (6,)
    N: noise of such a mean. chi_square: reduced; the covariance is enlarged by it where it is above 1.
    reversed: legs (1 to 6) whose polarity is not the expected one. friction: legs whose cells measure the friction of a
    joint at rest.
    """

    gain: Array
    offset: Array
    covariance: Array
    forces: Array
    residual: Array
    used: NDArray[np.bool_]
    hold_out: Array
    expected: Array
    chi_square: float
    reversed: tuple[int, ...]
    friction: tuple[int, ...]
    rests: Rests

    @property
    def gain_sigma(self) -> Array:
        """Standard uncertainty (6,) of the gains, N per raw unit."""
        sigma: Array = np.sqrt(np.diag(self.covariance)[:CELLS])
        return sigma

    @property
    def offset_sigma(self) -> Array:
        """Standard uncertainty (6,) of the offsets, raw units."""
        sigma: Array = np.sqrt(np.diag(self.covariance)[CELLS:])
        return sigma

    @property
    def left_out(self) -> tuple[int, ...]:
        """Outliers: poses, counted from 1, that were not fitted."""
        return tuple(int(row) + 1 for row in np.flatnonzero(~self.used))

    def calibration(
        self,
        day: date,
        gravity: float,
        *,
        unit: str = "N",
        serials: Sequence[str] = ("",) * CELLS,
        drift_limit: float = 0.5,
        provenance: Provenance,
    ) -> LoadCellCalibration:
        """The dated calibration for a file: the zeros by the first and the last half of the poses are the tares.

        gravity: m/s². The nonlinearity is the greatest residual of a pose by the range of forces.
        """
        used = self.used
        unloaded = self.rests.readings[used] - self.forces[used] / self.gain
        halves = [
            Tare(read_only(half.mean(axis=0)), read_only(half.std(axis=0, ddof=1)), len(half))
            for half in np.array_split(unloaded, 2)
        ]
        span = np.ptp(self.forces[used], axis=0)
        signs = np.append(np.sign(self.gain), np.ones(CELLS))
        cells = [
            CellCalibration(
                gain=abs(float(self.gain[leg])),
                offset=float(self.offset[leg]),
                polarity=1 if self.gain[leg] > 0.0 else -1,
                gain_standard_error=float(self.gain_sigma[leg]),
                offset_standard_error=float(self.offset_sigma[leg]),
                residual_rms=float(np.sqrt(np.mean(self.residual[used, leg] ** 2))),
                residual_max=float(np.abs(self.residual[used, leg]).max()),
                nonlinearity=100.0 * float(np.abs(self.residual[used, leg]).max() / span[leg]),
                hysteresis=None,
                range=float(span[leg]),
                n=int(np.count_nonzero(used)),
            )
            for leg in range(CELLS)
        ]
        return LoadCellCalibration(
            tuple(cells),
            day,
            unit=unit,
            gravity=gravity,
            tare_before=halves[0],
            tare_after=halves[1],
            drift=drift(halves[0], halves[1], self.gain, limit=drift_limit),
            serials=tuple(serials),
            provenance=provenance,
            covariance=np.outer(signs, signs) * self.covariance,
        )


def calibrate_in_place(
    mechanism: Mechanism,
    rests: Rests,
    *,
    expected_gain: ArrayLike = (1.0,) * CELLS,
    weights: WeightSigmas | None = None,
    gain_limit: float = 0.01,
) -> InPlaceCalibration:
    """Signed gain and offset of six cells from the platform's weight at many poses.

    A cell at the actuator measures the friction of a joint at rest, which is anywhere within ±F_c: the variance F_c²/3
    is added to its readings; to a motor's force that of the drive's friction too. Cells at the rod's end or at the base
    do not measure it.

    Args:
        mechanism: with known masses; a payload must be included.
        rests: poses at rest and raw readings there.
        expected_gain: (6,) N per raw unit, signed; only its signs count, to name reversed cells.
        weights: their standard deviations, `WeightSigmas.of` the mechanism if None. Rests do not reduce them, and the
            platform's mass scales all gains.
        gain_limit: greatest relative standard uncertainty of a gain from noise alone.

    Raises:
        CalibrationError: rests that cannot be used (see `check_rests`), exchanged cells, many
            outliers, or poses whose forces differ too little to separate gain and offset, with a remedy.
    """
    check_rests(rests)
    forces = cell_forces(mechanism, rests.poses)
    flat = np.flatnonzero(np.ptp(forces, axis=0) < 1e-6 * np.abs(forces).max())
    if len(flat):
        raise CalibrationError(
            unobservable_gains(
                mechanism, rests.poses, forces, np.where(np.isin(range(CELLS), flat), np.inf, 0.0), gain_limit
            )
        )
    exchanged = exchanged_cells(forces, rests.readings)
    if exchanged:
        raise CalibrationError(f"load cells look exchanged: {exchanged}")
    coulomb = np.array([leg.cell_coulomb for leg in mechanism.legs])
    slopes = np.array([robust_lines(forces[:, [leg]], rests.readings[:, leg])[0][0] for leg in range(CELLS)])
    noise = np.sqrt(np.mean(rests.noise**2, axis=0))
    variance = noise**2 / rests.counts[:, np.newaxis] + (slopes * coulomb) ** 2 / 3.0
    used = _trustworthy(forces, rests.readings, variance)
    offset, slope, normal = _lines(forces[used], rests.readings[used], variance[used])
    left = rests.readings - offset - slope * forces
    freedom = CELLS * (int(np.count_nonzero(used)) - 2)
    chi_square = float(np.sum(left[used] ** 2 / variance[used])) / freedom
    covariance = _covariance(normal) * max(1.0, chi_square)
    relative = np.sqrt(np.diag(covariance)[:CELLS]) / np.abs(slope)
    if not (relative <= gain_limit).all():
        raise CalibrationError(unobservable_gains(mechanism, rests.poses[used], forces[used], relative, gain_limit))
    covariance = covariance + _considered(
        mechanism, rests.poses[used], variance[used], slope, WeightSigmas.of(mechanism) if weights is None else weights
    )
    # gain = 1/slope: its derivative is −gain²
    scale = np.concatenate([-1.0 / slope**2, np.ones(CELLS)])
    gain = 1.0 / slope
    signs = np.sign(np.asarray(expected_gain, dtype=np.float64))
    return InPlaceCalibration(
        gain=read_only(gain),
        offset=read_only(offset),
        covariance=read_only(scale[:, np.newaxis] * covariance * scale),
        forces=read_only(forces),
        residual=read_only(left * gain),
        used=used,
        hold_out=read_only(_hold_out(forces[used], rests.readings[used], variance[used])),
        expected=read_only(np.sqrt(variance[used].mean(axis=0)) * np.abs(gain)),
        chi_square=chi_square,
        reversed=tuple(int(leg) + 1 for leg in np.flatnonzero(np.sign(gain) != signs)),
        friction=tuple(int(leg) + 1 for leg in np.flatnonzero(coulomb)),
        rests=rests,
    )


def _lines(forces: Array, readings: Array, variance: Array) -> tuple[Array, Array, Array]:
    """Offsets and slopes (6,) each, and the normal matrices (6, 2, 2) of slope and offset."""
    weight = 1.0 / variance
    normal = np.empty((CELLS, 2, 2))
    normal[:, 0, 0] = (weight * forces**2).sum(axis=0)
    normal[:, 0, 1] = normal[:, 1, 0] = (weight * forces).sum(axis=0)
    normal[:, 1, 1] = weight.sum(axis=0)
    right = np.stack([(weight * forces * readings).sum(axis=0), (weight * readings).sum(axis=0)], axis=1)
    solution = np.linalg.solve(normal, right[:, :, np.newaxis])[:, :, 0]
    return solution[:, 1], solution[:, 0], normal


def _covariance(normal: Array) -> Array:
    """Covariance (12, 12) of slopes, then offsets."""
    covariance = np.zeros((2 * CELLS, 2 * CELLS))
    inverse = np.linalg.inv(normal)
    for leg in range(CELLS):
        covariance[np.ix_([leg, CELLS + leg], [leg, CELLS + leg])] = inverse[leg]
    return covariance


def _trustworthy(forces: Array, readings: Array, variance: Array) -> NDArray[np.bool_]:
    """Mask (n,) of poses without gross errors: by medians first, which gross errors do not affect, then by the fit.

    The scatter counts if greater than the noise: errors of the model make no pose an outlier.
    """
    from scipy.special import chdtri  # takes long to import, and few need it

    first = [robust_lines(forces[:, [leg]], readings[:, leg]) for leg in range(CELLS)]
    slope, offset, scatter = (np.array([line[part][0] for line in first]) for part in range(3))
    spread = np.sqrt(np.maximum(variance, scatter**2))
    bound = float(chdtri(CELLS, _FALSE_ALARM))
    used = np.ones(len(forces), dtype=bool)
    for _ in range(_ROUNDS):
        before = used
        used = (((readings - offset - slope * forces) / spread) ** 2).sum(axis=1) <= bound
        if np.count_nonzero(~used) > _MOST_LEFT_OUT * len(used):
            raise CalibrationError(
                f"{np.count_nonzero(~used)} of {len(used)} poses do not fit the others, pose "
                f"{', '.join(str(row + 1) for row in np.flatnonzero(~used)[:10])} among them: something touched the "
                "platform, or the readings are not of these poses"
            )
        if np.array_equal(used, before):
            break
        offset, slope, _ = _lines(forces[used], readings[used], variance[used])
    return used


def _considered(mechanism: Mechanism, poses: Array, variance: Array, slope: Array, weights: "WeightSigmas") -> Array:
    """Covariance (12, 12) of slopes and offsets due to the weights' uncertainty."""
    covariance = np.zeros((2 * CELLS, 2 * CELLS))
    motions = np.zeros((len(poses), 19))
    motions[:, :7] = poses
    columns = Regressor(mechanism).cells(motions)[0]
    bare = cell_forces(mechanism, poses)
    for root in weights.roots(mechanism).T:
        offset, change, _ = _lines(bare, -slope * (columns @ root), variance)
        moved = np.concatenate([change, offset])
        covariance += np.outer(moved, moved)
    return covariance


def _hold_out(forces: Array, readings: Array, variance: Array) -> Array:
    """RMS (6,) N of each pose's residual to a fit to four fifths of the poses without it."""
    left = np.empty_like(forces)
    for fold in range(_FOLDS):
        test_rows = np.arange(len(forces)) % _FOLDS == fold
        offset, slope, _ = _lines(forces[~test_rows], readings[~test_rows], variance[~test_rows])
        left[test_rows] = (readings[test_rows] - offset) / slope - forces[test_rows]
    rms: Array = np.sqrt(np.mean(left**2, axis=0))
    return rms
