"""Straight line through the readings of one load cell under known masses."""

from dataclasses import dataclass
from math import isfinite, sqrt
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from calibration.errors import CalibrationError
from calibration.taring import Array
from kinematics import figure_and_bound

STANDARD_GRAVITY = 9.80665
"""m/s²."""

Load = Literal["compression", "tension"]
"""How the masses load the cell: placed on it (compression, force +m g) or hung from it (tension, force -m g)."""

LOADS: tuple[Load, ...] = ("compression", "tension")

LARGEST_RESIDUAL_SIGMAS = 5.0
"""Noise a single residual may show before it counts as nonlinearity."""

SMALLEST_RESPONSE_SIGMAS = 5.0
"""A sensitivity closer to zero than this many standard errors is none."""


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
    """Readings the line went through."""
    repeatability: float | None = None
    """% of `range`: standard deviation of readings whenever a mass is put on again; None where none was."""

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
        off, most = figure_and_bound(residual[worst], allowed[worst], "+.3g", 3)
        raise CalibrationError(
            f"cell {cell}: not linear: at {mass[worst]:g} kg the reading is {off} N off the line, "
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

    Readings one after the other under one mass are one loading, told by their mean; a mass that is reached once from
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
