"""Calibration of the six load cells: measurements in, versioned parameters out."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date

import numpy as np
from numpy.typing import ArrayLike

from calibration.errors import CalibrationError
from calibration.fit import STANDARD_GRAVITY, CellCalibration, Load, fit_cell
from calibration.taring import CELLS, Array, Drift, Tare, drift, read_only, tare
from kinematics import figure_and_bound

ZERO_SIGMAS = 5.0
"""Standard errors by which the line's zero may miss the tare before a mass left out of account is suspected."""


@dataclass(frozen=True, slots=True, eq=False)
class CellLoads:
    """Readings of one cell under known masses: `masses` (n,) kg and `readings` (n,) raw units, in order of loading.

    `samples` (n,) says how many samples each reading is the mean of.
    """

    masses: Array
    readings: Array
    samples: Array


@dataclass(frozen=True, slots=True, eq=False)
class CellMeasurements:
    """All that was recorded: (n, 6) raw readings of the unloaded cells before and after, and the loads of each cell."""

    tare_before: Array
    tare_after: Array
    loads: tuple[CellLoads, ...]


@dataclass(frozen=True, slots=True)
class Limits:
    """What a calibration is judged by."""

    drift: float = 0.5
    """N, drift of the zero between the two tares."""
    drift_sigmas: float = 5.0
    """Standard errors of the drift that are accepted whatever `drift` says."""
    nonlinearity: float = 0.5
    """% of the force range, residual beyond the noise."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Who calibrated, where, with which masses, and where the numbers came from."""

    operator: str = ""
    place: str = ""
    masses: str = ""
    source: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class LoadCellCalibration:
    """Parameters of the six load cells, as a file of a given date holds them.

    force = gain * (raw - offset) per cell: N, compression positive; `gain` (6,) N per raw unit is signed, that is
    polarity times the cell's gain; `offset` (6,) raw units is the reading at zero force. Both are read-only arrays.
    """

    cells: tuple[CellCalibration, ...]
    date: date
    unit: str = "N"
    """Raw unit of the readings."""
    load: Load = "compression"
    gravity: float = STANDARD_GRAVITY
    tare_before: Tare | None = None
    tare_after: Tare | None = None
    drift: Drift | None = None
    serials: tuple[str, ...] = ("",) * CELLS
    provenance: Provenance = Provenance()
    covariance: Array | None = None
    """(12, 12), of the gains without their polarity, N per raw unit, then of the offsets, raw units, of cells that were
    calibrated in place; None: each for itself, by its standard error."""
    gain: Array = field(init=False, repr=False)
    offset: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if len(self.cells) != CELLS or len(self.serials) != CELLS:
            raise CalibrationError(f"{len(self.cells)} cells and {len(self.serials)} serial numbers, must be six each")
        object.__setattr__(self, "gain", read_only([cell.signed_gain for cell in self.cells]))
        object.__setattr__(self, "offset", read_only([cell.offset for cell in self.cells]))

    @property
    def gain_covariance(self) -> Array | None:
        """Covariance (6, 6) of the gains, each as a part of itself; None where they were not calibrated."""
        gains, errors = np.array([[cell.gain, cell.gain_standard_error] for cell in self.cells]).T
        if not errors.any():
            return None
        if self.covariance is None:
            return np.diag((errors / gains) ** 2)
        relative: Array = self.covariance[:CELLS, :CELLS] / np.outer(gains, gains)
        return relative

    @property
    def in_place(self) -> bool:
        """Whether the platform's own weight told the gains, which agree with the model's weights then."""
        return self.covariance is not None

    def apply(self, raw: ArrayLike) -> Array:
        """Forces (…, 6) N, compression positive, of raw readings (…, 6); a non-finite reading stays non-finite."""
        force: Array = (np.asarray(raw, dtype=np.float64) - self.offset) * self.gain
        return force


def identity() -> LoadCellCalibration:
    """Readings that are forces already: gain 1, offset 0, compression positive."""
    cell = CellCalibration(
        gain=1.0,
        offset=0.0,
        polarity=1,
        gain_standard_error=0.0,
        offset_standard_error=0.0,
        residual_rms=0.0,
        residual_max=0.0,
        nonlinearity=0.0,
        hysteresis=None,
        range=0.0,
        n=0,
    )
    return LoadCellCalibration((cell,) * CELLS, date.min, provenance=Provenance(source="identity"))


def calibrate_cells(
    measurements: CellMeasurements,
    day: date,
    *,
    load: Load = "compression",
    gravity: float = STANDARD_GRAVITY,
    limits: Limits = Limits(),
    unit: str = "N",
    serials: Sequence[str] = ("",) * CELLS,
    provenance: Provenance = Provenance(),
) -> LoadCellCalibration:
    """Tare, fit all six cells and judge the drift; `judge` says whether the result may be used.

    The weight of every reading follows from the noise of the two tares and the number of its samples.

    Raises:
        CalibrationError: what makes a fit impossible, of all cells at once.
    """
    if len(measurements.loads) != CELLS:
        raise CalibrationError(f"loads of {len(measurements.loads)} cells, must be six")
    before, after = tare(measurements.tare_before), tare(measurements.tare_after)
    noise = np.sqrt(0.5 * (before.noise**2 + after.noise**2))
    cells: list[CellCalibration] = []
    faults: list[str] = []
    for leg, data in enumerate(measurements.loads):
        try:
            cells.append(
                fit_cell(
                    data.masses,
                    data.readings,
                    gravity,
                    load=load,
                    noise=noise[leg] / np.sqrt(data.samples),
                    nonlinearity_limit=limits.nonlinearity,
                    cell=leg + 1,
                )
            )
        except CalibrationError as error:
            faults.extend(error.faults)
    if faults:
        raise CalibrationError(faults)
    moved = drift(before, after, [cell.signed_gain for cell in cells], limit=limits.drift, sigmas=limits.drift_sigmas)
    return LoadCellCalibration(
        tuple(cells),
        day,
        unit=unit,
        load=load,
        gravity=gravity,
        tare_before=before,
        tare_after=after,
        drift=moved,
        serials=tuple(serials),
        provenance=provenance,
    )


def judge(calibration: LoadCellCalibration, limits: Limits = Limits()) -> tuple[tuple[str, ...], ...]:
    """Reasons, leg by leg, not to use a calibration; six empty tuples when there are none.

    The zero must not have drifted, and the line must pass through the tare: where it does not, the cell carried
    something while it was loaded that no mass accounts for (a hanger, a pan). That bound is the drift limit and the
    nonlinearity limit together, plus `ZERO_SIGMAS` standard errors, plus half the drift.
    """
    before, after, moved = calibration.tare_before, calibration.tare_after, calibration.drift
    if before is None or after is None or moved is None:
        return (("no tare and no drift: it was never measured",),) * CELLS
    verdicts: list[tuple[str, ...]] = []
    for leg, cell in enumerate(calibration.cells):
        reasons: list[str] = []
        change, bound = float(moved.force[leg]), float(moved.bound[leg])
        if not moved.within[leg]:
            figure, most = figure_and_bound(change, bound, "+.3g", 3)
            reasons.append(f"cell {leg + 1}: the zero drifted by {figure} N, allowed {most} N")
        zero = 0.5 * float(before.offset[leg] + after.offset[leg])
        error = float(np.hypot(cell.offset_standard_error, before.standard_error[leg]))
        gap = cell.signed_gain * (zero - cell.offset)
        allowed = (
            limits.drift + 0.01 * limits.nonlinearity * cell.range + ZERO_SIGMAS * error * cell.gain + 0.5 * abs(change)
        )
        if abs(gap) > allowed:
            figure, most = figure_and_bound(gap, allowed, "+.3g", 3)
            reasons.append(
                f"cell {leg + 1}: unloaded it reads {figure} N by the fitted line, allowed {most} N: "
                "was something on the cell that the masses leave out?"
            )
        verdicts.append(tuple(reasons))
    return tuple(verdicts)
