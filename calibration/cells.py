"""Calibration of the six load cells: zero readings, a line fitted to each, versioned parameters out."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import permutations
from math import isfinite, sqrt
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibration.errors import CalibrationError, CellsError
from kinematics import Array, figure_and_bound

_EXCHANGED = 0.5
"""an exchange is reported if its residual RMS is below this part of the present one"""


def exchanged_pairs(cost: Array) -> list[tuple[int, int]]:
    """Sensors that fit another leg much better than their own: pairs (sensor, leg) from 0.

    cost (6, 6): mean-square residual of sensor i (row) taken as that of leg j. The least sum counts.
    """
    orders = np.array(list(permutations(range(len(cost)))))
    sums = cost[np.arange(len(cost)), orders].sum(axis=1)
    best = int(np.argmin(sums))
    if np.sqrt(sums[best] / np.trace(cost)) >= _EXCHANGED:
        return []
    return [(sensor, int(leg)) for sensor, leg in enumerate(orders[best]) if sensor != leg]


def cells_in_words(pairs: list[tuple[int, int]]) -> str:
    """Text of exchanged load cells, legs counted from 1."""
    return ", ".join(f"cell {cell + 1} reads leg {leg + 1}" for cell, leg in pairs)


CELLS = 6
"""Load cells of the rig, one per leg."""


def read_only(values: ArrayLike) -> Array:
    """Copy as float64 that cannot be written to."""
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array


@dataclass(frozen=True, slots=True, eq=False)
class Tare:
    """Readings of the six unloaded cells: `offset` (6,) mean and `noise` (6,) sample standard deviation, raw units.

    `n`: samples of each cell.
    """

    offset: Array
    noise: Array
    n: int

    @property
    def standard_error(self) -> Array:
        """Standard error (6,) of the mean, raw units, for independent samples."""
        error: Array = self.noise / np.sqrt(self.n)
        return error


@dataclass(frozen=True, slots=True, eq=False)
class Drift:
    """Move of the zero from the tare before to the tare after, (6,) N, and its bound (6,) N."""

    force: Array
    bound: Array

    @property
    def within(self) -> NDArray[np.bool_]:
        """Whether each cell's drift (6,) is within its bound."""
        return np.abs(self.force) <= self.bound


def tare(samples: ArrayLike) -> Tare:
    """Mean and noise of the unloaded cells.

    Args:
        samples: (n, 6) raw readings, at least two of each cell.

    Raises:
        CalibrationError: wrong shape, too few samples, or a non-finite one (every faulty leg is named).
    """
    array = np.asarray(samples, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != CELLS:
        raise CalibrationError(f"tare: samples must have shape (n, 6), got {array.shape}")
    if len(array) < 2:
        raise CalibrationError(f"tare: {len(array)} samples, at least 2 are needed to know the noise")
    finite = np.isfinite(array)
    if not finite.all():
        raise CalibrationError(
            [
                f"tare: cell {leg + 1}: {np.count_nonzero(~finite[:, leg])} of {len(array)} samples are not finite"
                for leg in range(CELLS)
                if not finite[:, leg].all()
            ]
        )
    return Tare(read_only(array.mean(axis=0)), read_only(array.std(axis=0, ddof=1)), len(array))


def drift(before: Tare, after: Tare, gain: ArrayLike, *, limit: float = 0.5, sigmas: float = 5.0) -> Drift:
    """Drift of the zero, judged by max(`limit`, `sigmas` x its standard error).

    The second bound keeps a short, noisy tare from failing by chance; it matters only when it is the larger one.

    Args:
        before: tare taken first.
        after: tare taken last.
        gain: (6,) N per raw unit, signed (polarity included).
        limit: N, drift that is always accepted.
        sigmas: multiples of the standard error of the difference of the two means.

    Raises:
        CalibrationError: a bound or gain that is negative or not finite.
    """
    scale = np.asarray(gain, dtype=np.float64)
    if scale.shape != (CELLS,) or not np.isfinite(scale).all():
        raise CalibrationError(f"drift: gain must be six finite numbers, N per raw unit, got {scale.tolist()}")
    for name, value in (("limit (N)", limit), ("sigmas", sigmas)):
        if not (np.isfinite(value) and value >= 0.0):
            raise CalibrationError(f"drift: {name} must be finite and not negative, got {value}")
    error = np.abs(scale) * np.hypot(before.standard_error, after.standard_error)
    return Drift(read_only((after.offset - before.offset) * scale), read_only(np.maximum(limit, sigmas * error)))


STANDARD_GRAVITY = 9.80665
"""m/s²."""

Load = Literal["compression", "tension"]
"""How the masses load the cell: placed on it (compression, force +m g) or hung from it (tension, force -m g)."""

LOADS: tuple[Load, ...] = ("compression", "tension")

LARGEST_RESIDUAL_SIGMAS = 5.0
"""Multiples of the noise up to which a single residual does not count as nonlinearity."""

SMALLEST_RESPONSE_SIGMAS = 5.0
"""A sensitivity within this many standard errors of zero counts as none."""


@dataclass(frozen=True, slots=True)
class CellCalibration:
    """One cell: force = polarity * gain * (reading - offset), N, compression positive."""

    gain: float
    """N per raw unit, > 0."""
    offset: float
    """Raw reading at zero force."""
    polarity: int
    """+1: compression raises the reading; -1: compression lowers it."""
    gain_standard_error: float
    """N per raw unit."""
    offset_standard_error: float
    """Raw units."""
    residual_rms: float
    """N, of the readings about the line."""
    residual_max: float
    """N, largest magnitude."""
    nonlinearity: float
    """% of `range`: largest distance from the line of the mean reading at one mass."""
    hysteresis: float | None
    """% of `range`: largest difference of unloading and loading at one mass; None when the masses only rose."""
    range: float
    """N, span of the forces applied."""
    n: int
    """Readings that were fitted."""
    repeatability: float | None = None
    """% of `range`: standard deviation of readings under repeated loads of one mass; None without any."""

    @property
    def signed_gain(self) -> float:
        """N per raw unit, polarity included."""
        return self.polarity * self.gain


def fit_cell(
    masses: ArrayLike,
    readings: ArrayLike,
    gravity: float = STANDARD_GRAVITY,
    *,
    load: Load = "compression",
    noise: ArrayLike | None = None,
    nonlinearity_limit: float = 0.5,
    cell: int = 1,
) -> CellCalibration:
    """Least-squares calibration of one cell: reading = offset + F / (polarity gain), F = ±m g.

    The readings carry the noise, so they are regressed on the known forces. With `noise` each reading has the weight
    1/noise², and the standard errors are those of the noise, widened by the scatter about the line where that is
    larger; without it they come from the scatter alone.

    Args:
        masses: (n,) kg, in the order they were applied.
        readings: (n,) raw readings, or means of several.
        gravity: m/s², local magnitude.
        load: "compression" (placed on the cell) or "tension" (hung from it).
        noise: standard deviation of the readings, raw units, one or (n,); None or all zero: not known.
        nonlinearity_limit: % of the force range a residual may reach beyond five times its noise.
        cell: 1..6, for messages.

    Raises:
        CalibrationError: not finite, fewer than three distinct masses, no sensitivity, or not a straight line.
    """
    mass, reading = _checked_data(masses, readings, cell)
    for name, value in (("gravity (m/s²)", gravity), ("nonlinearity limit (% of range)", nonlinearity_limit)):
        if not (isfinite(value) and value > 0.0):
            raise CalibrationError(f"cell {cell}: {name} must be finite and positive, got {value}")
    if load not in LOADS:
        raise CalibrationError(f"cell {cell}: load must be compression or tension, got {load!r}")
    sigma = _checked_noise(noise, len(mass), cell)

    force = mass * (gravity if load == "compression" else -gravity)
    unit_noise = 0.0 if sigma is None else float(sigma.min())  # what a weight of one stands for
    weight = np.ones(len(mass)) if sigma is None else (unit_noise / sigma) ** 2
    total = weight.sum()
    mean_force = (weight @ force) / total
    mean_reading = (weight @ reading) / total
    spread = weight @ (force - mean_force) ** 2
    sensitivity = float(weight @ ((force - mean_force) * (reading - mean_reading)) / spread)
    offset = float(mean_reading - sensitivity * mean_force)
    misfit = reading - (offset + sensitivity * force)
    scatter = float(weight @ misfit**2) / (len(mass) - 2)
    variance = max(scatter, unit_noise**2)
    sensitivity_error = sqrt(variance / spread)
    offset_error = sqrt(variance * (1.0 / total + mean_force**2 / spread))

    span = float(np.ptp(force))
    change = abs(sensitivity) * span
    response_error = sqrt((scatter if sigma is None else unit_noise**2) / spread) * span
    least = max(SMALLEST_RESPONSE_SIGMAS * response_error, 1e-9 * float(np.abs(reading).max()))
    if change <= least:
        raise CalibrationError(
            f"cell {cell}: no sensitivity: the reading changes by {change:.3g} raw units over {span:.4g} N, "
            f"and up to {least:.3g} cannot be told from {'the scatter' if sigma is None else 'the noise'}"
        )
    gain = 1.0 / abs(sensitivity)
    residual = misfit / sensitivity
    allowed = np.full(len(mass), 0.01 * nonlinearity_limit * span)
    if sigma is not None:
        allowed += LARGEST_RESIDUAL_SIGMAS * sigma * gain
    worst = int(np.argmax(np.abs(residual) - allowed))
    if abs(residual[worst]) > allowed[worst]:
        deviation, most = figure_and_bound(residual[worst], allowed[worst], "+.3g", 3)
        raise CalibrationError(
            f"cell {cell}: not linear: at {mass[worst]:g} kg the reading is {deviation} N off the line, "
            f"allowed {most} N ({nonlinearity_limit:g} % of {span:.4g} N"
            f"{'' if sigma is None else ' and five times the noise'})"
        )
    return CellCalibration(
        gain=gain,
        offset=offset,
        polarity=1 if sensitivity > 0.0 else -1,
        gain_standard_error=gain**2 * sensitivity_error,
        offset_standard_error=offset_error,
        residual_rms=float(np.sqrt(np.mean(residual**2))),
        residual_max=float(np.abs(residual).max()),
        nonlinearity=100.0 * max(abs(value) for value in _means(mass, residual).values()) / span,
        hysteresis=_hysteresis(mass, residual, span),
        range=span,
        n=len(mass),
        repeatability=_repeatability(mass, residual, span),
    )


def check_masses(masses: Array, what: str) -> None:
    """Refuse masses (n,) kg that no line can be fitted to and judged by; `what` begins the message.

    Raises:
        CalibrationError: not finite, negative, or fewer than three distinct ones.
    """
    bad = np.flatnonzero(~np.isfinite(masses))
    if len(bad):
        raise CalibrationError(f"{what}: mass {bad[0] + 1} of {len(masses)} is {masses[bad[0]]} kg, not finite")
    if len(masses) and masses.min() < 0.0:
        raise CalibrationError(f"{what}: mass {masses.min():g} kg is negative; say load = tension for hung masses")
    distinct = len(np.unique(masses))
    if distinct < 3:
        raise CalibrationError(f"{what}: {distinct} distinct masses, at least 3 are needed to fit a line and judge it")


def _checked_data(masses: ArrayLike, readings: ArrayLike, cell: int) -> tuple[Array, Array]:
    mass = np.asarray(masses, dtype=np.float64)
    reading = np.asarray(readings, dtype=np.float64)
    if mass.ndim != 1 or mass.shape != reading.shape:
        raise CalibrationError(f"cell {cell}: {mass.shape} masses but {reading.shape} readings, must be (n,) both")
    bad = np.flatnonzero(~np.isfinite(reading))
    if len(bad):
        raise CalibrationError(f"cell {cell}: reading {bad[0] + 1} of {len(reading)} is {reading[bad[0]]}, not finite")
    check_masses(mass, f"cell {cell}")
    return mass, reading


def _checked_noise(noise: ArrayLike | None, n: int, cell: int) -> Array | None:
    if noise is None:
        return None
    sigma = np.asarray(noise, dtype=np.float64)
    if sigma.shape not in ((), (n,)):
        raise CalibrationError(f"cell {cell}: noise must be one number or {n}, got shape {sigma.shape}")
    sigma = np.broadcast_to(sigma, (n,))
    if not np.isfinite(sigma).all() or (sigma < 0.0).any():
        raise CalibrationError(f"cell {cell}: noise must be finite and not negative, got {sigma.tolist()}")
    if not sigma.any():
        return None
    if not sigma.all():
        raise CalibrationError(f"cell {cell}: noise is zero for some readings only; give it for all or for none")
    return sigma


def _means(mass: Array, residual: Array) -> dict[float, float]:
    """Mean residual at each distinct mass."""
    return {float(value): float(residual[mass == value].mean()) for value in np.unique(mass)}


def _hysteresis(mass: Array, residual: Array, span: float) -> float | None:
    """Largest |down - up| in % of the span, when the masses rose to their largest and came down again."""
    top = np.flatnonzero(mass == mass.max())
    first, last = int(top[0]), int(top[-1])
    falls_before = (np.diff(mass[: first + 1]) < 0.0).any()
    rises_after = (np.diff(mass[last:]) > 0.0).any()
    if falls_before or rises_after or len(top) != last - first + 1:
        return None
    up = _means(mass[:first], residual[:first])
    down = _means(mass[last + 1 :], residual[last + 1 :])
    common = up.keys() & down.keys()
    return 100.0 * max(abs(down[value] - up[value]) for value in common) / span if common else None


def _repeatability(mass: Array, residual: Array, span: float) -> float | None:
    """Pooled standard deviation, % of the span, of what one mass reads each time that it is reached from one side.

    Successive readings under one mass are one loading, represented by their mean; a mass that is reached once from
    below and once from above shows the hysteresis, not this.
    """
    first = np.flatnonzero(np.diff(mass, prepend=np.nan) != 0.0)
    groups: dict[tuple[float, bool], list[float]] = {}
    before = float(mass[first[0]]) - (1.0 if mass[first[0]] > mass.min() else -1.0)  # from the end it must come from
    for begin, end in zip(first, [*first[1:], len(mass)], strict=True):
        value = float(mass[begin])
        groups.setdefault((value, value > before), []).append(float(residual[begin:end].mean()))
        before = value
    repeated = [np.array(values) for values in groups.values() if len(values) > 1]
    if not repeated:
        return None
    squares = sum(float(np.sum((values - values.mean()) ** 2)) for values in repeated)
    return 100.0 * sqrt(squares / sum(len(values) - 1 for values in repeated)) / span


ZERO_SIGMAS = 5.0
"""Standard errors between the line's zero and the tare from which on an unaccounted mass is suspected."""


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
    """Recorded data: (n, 6) raw readings of the unloaded cells before and after, and the loads of each cell."""

    tare_before: Array
    tare_after: Array
    loads: tuple[CellLoads, ...]


@dataclass(frozen=True, slots=True)
class Limits:
    """Acceptance limits of a calibration."""

    drift: float = 0.5
    """N, drift of the zero between the two tares."""
    drift_sigmas: float = 5.0
    """Standard errors of the drift that are always accepted."""
    nonlinearity: float = 0.5
    """% of the force range, residual beyond the noise."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Operator, place, masses and source of the numbers."""

    operator: str = ""
    place: str = ""
    masses: str = ""
    source: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class LoadCellCalibration:
    """Parameters of the six load cells, as in a dated file.

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
        """Relative covariance (6, 6) of the gains; None where they were not calibrated."""
        gains, errors = np.array([[cell.gain, cell.gain_standard_error] for cell in self.cells]).T
        if not errors.any():
            return None
        if self.covariance is None:
            return np.diag((errors / gains) ** 2)
        relative: Array = self.covariance[:CELLS, :CELLS] / np.outer(gains, gains)
        return relative

    @property
    def in_place(self) -> bool:
        """Whether the gains were calibrated by the platform's own weight, and so agree with the model's weights."""
        return self.covariance is not None

    def apply(self, raw: ArrayLike, out: Array | None = None) -> Array:
        """Forces (…, 6) N, compression positive, of raw readings (…, 6); a non-finite reading stays non-finite.

        out: array for the forces, which may be `raw`; None for a new one.
        """
        force: Array = np.subtract(raw, self.offset, out=out, dtype=np.float64)
        force *= self.gain
        return force


def identity() -> LoadCellCalibration:
    """Calibration of cells that read forces: gain 1, offset 0, compression positive."""
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

    A reading's weight follows from the noise of both tares and its number of samples.

    Raises:
        CellsError: reasons why no fit is possible, of all cells at once.
    """
    if len(measurements.loads) != CELLS:
        raise CalibrationError(f"loads of {len(measurements.loads)} cells, must be six")
    before, after = tare(measurements.tare_before), tare(measurements.tare_after)
    noise = np.sqrt(0.5 * (before.noise**2 + after.noise**2))
    cells: list[CellCalibration] = []
    faults: list[tuple[str, ...]] = []
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
            faults.append(())
        except CalibrationError as error:
            faults.append(error.faults)
    if any(faults):
        raise CellsError(faults)
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
    """Reasons against a calibration, a tuple for each leg; empty where there are none.

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
