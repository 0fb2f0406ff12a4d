"""What an arm's model predicts of data that it was not fitted to, beside simpler models; and whether noise is left."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from calibration.arm.estimate import ArmFit, ArmSettings, Problem, model_scales
from calibration.arm.samples import FILTER_ORDER, ArmSamples, drive_matrix
from calibration.arm.torque_model import FRICTION_TERMS, TorqueModel, body_regressor
from calibration.errors import CalibrationError
from kinematics import Array

_BLOCKS = 18
"""blocks of each record, of which every third is held out"""
_THIRD = 3
_LEAST_SQUARES_RANK = 1e-4
"""of the largest singular value, below which ordinary least squares leaves a direction out"""
_SIGN = 1e-9
"""of a joint's RMS speed, over which a smoothed sign is the sign"""
_MOVING = 0.05
"""of a joint's RMS speed, from which it counts as moving"""
_SMOOTHING = (0.01, 0.03, 0.1)
"""speeds over which Coulomb friction is smoothed that are tried, of the RMS speed"""
_USUAL_SMOOTHING = 0.03
_LAWS: tuple[tuple[str, ...], ...] = ((), ("asymmetry",), ("power",), ("stribeck",), ("load",), ("asymmetry", "power"))
"""laws of friction that are tried"""
_IMPROVEMENT = 0.02
"""least part by which a further term must lower the mean square of the prediction's errors"""
_FOLDS = 5
_FOLD_BLOCKS = 4
"""blocks of neighbouring rows in each fold"""
_BAND = 0.8
"""of the cut-off, highest frequency at which the residual is tested"""
_SIGNIFICANT = 0.01


@dataclass(frozen=True, slots=True)
class Split:
    """Rows to fit (T,) and rows to judge by, the others. name: "last-third", "blocks" or "trajectory"."""

    name: str
    fitted: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class ArmHoldOut:
    """Relative residual |τ − τ̂| / |τ| of each joint's force (n,), of one split and one model.

    fitted: on the rows that were fitted. held_out: on the others; moving: on those of them in which the joint moves.
    measured, predicted (T, n): joint forces at all rows; held (T,): which were held out.
    """

    split: str
    fitted: Array
    held_out: Array
    moving: Array
    measured: Array = field(repr=False)
    predicted: Array = field(repr=False)
    held: NDArray[np.bool_] = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Formulation:
    """One model and estimator with its hold-outs, by split. code: see `FORMULATIONS`; unknowns: their number."""

    code: str
    unknowns: int
    hold_outs: tuple[ArmHoldOut, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Whiteness:
    """Test of the residual of each drive (n,) for white noise, by its cumulative periodogram (Bartlett 1955).

    distance: greatest one to the straight line that white noise follows; probability that white noise exceeds it, by
    Kolmogorov and Smirnov. correlation_time s: of the residual, after which a row is worth another one.
    """

    distance: Array
    probability: Array
    correlation_time: Array

    @property
    def white(self) -> NDArray[np.bool_]:
        """Whether each drive's residual (n,) may be white noise, at a level of 1 %."""
        return self.probability >= _SIGNIFICANT


FORMULATIONS = (
    "ordinary",
    "weighted",
    "consistent",
    "chosen",
    "without-rotors",
    "without-coupling",
    "without-friction",
    *(f"with-{term}" for term in FRICTION_TERMS),
)
"""Codes of formulations: ordinary least squares by singular values; weighted, without robust weights and constraint;
consistent, with Coulomb and viscous friction; with the chosen terms of friction; and the consistent one without rotor
inertias, couplings or friction, or with one further term of friction."""


def splits(samples: ArmSamples, *, with_load: bool = False) -> tuple[Split, ...]:
    """How data are held out: last third of each record, every third of 18 blocks, and the last of several records.

    with_load: leave a record with a known load to be fitted, without which unknown gains would not be found.
    """
    share = np.empty(len(samples.t))
    for number in np.unique(samples.record):
        here = samples.record == number
        begin, end = samples.t[here][[0, -1]]
        share[here] = (samples.t[here] - begin) / (end - begin)
    third = 1.0 - 1.0 / _THIRD
    block = np.minimum((share * _BLOCKS).astype(int), _BLOCKS - 1)
    found = [Split("last-third", share < third), Split("blocks", block % _THIRD != _THIRD - 1)]
    records = np.unique(samples.record)
    loaded = [number for number in records if samples.known[samples.record == number].any()]
    held = [number for number in records if not (with_load and loaded == [number])]
    if len(records) > 1 and held:
        found.append(Split("trajectory", samples.record != held[-1]))
    return tuple(found)


def make_model(samples: ArmSamples, settings: ArmSettings, terms: Sequence[str], smoothing: float) -> TorqueModel:
    """The torque model of settings with some terms of friction; smoothing: of the RMS speed."""
    scales = np.maximum(model_scales(samples, settings.coupling), 1e-9)
    return TorqueModel(
        samples.arm,
        smoothing * scales,
        scales,
        terms=terms,
        rotors=settings.rotors,
        friction=settings.with_friction,
        coupling=settings.coupling,
    )


class Study:
    """Samples with what all models of them share."""

    def __init__(self, samples: ArmSamples, settings: ArmSettings) -> None:
        self.samples, self.settings = samples, settings
        self.rows = body_regressor(samples.arm, samples.q, samples.qd, samples.qdd)

    def problem(
        self, settings: ArmSettings, terms: Sequence[str], smoothing: float, fitted: NDArray[np.bool_] | None
    ) -> Problem:
        """The estimation problem of one model; the term "load" takes the bodies from a fit without it."""
        bodies = None
        if "load" in terms:
            others = [term for term in terms if term != "load"]
            bodies = self.problem(settings, others, smoothing, fitted).fit(fitted).bodies
        model = make_model(self.samples, settings, terms, smoothing)
        return Problem(self.samples, model, settings, self.rows, bodies)

    def chosen(self, fitted: NDArray[np.bool_] | None) -> tuple[tuple[str, ...], float]:
        """Terms of friction and smoothing, as stated or by cross-validation within the fitted rows.

        Rows are cut into blocks of neighbours, each predicted from the others, at the weights of a fit with Coulomb and
        viscous friction. A further term must lower the mean square of the errors by 2 %.
        """
        settings = self.settings
        smoothings = _SMOOTHING if settings.smoothing is None else (settings.smoothing,)
        laws = _LAWS if settings.friction == "auto" else (settings.friction,)
        if not settings.with_friction:
            return (), smoothings[0]
        if len(smoothings) * len(laws) == 1:
            return laws[0], smoothings[0]
        rows = np.arange(len(self.samples.t)) if fitted is None else np.flatnonzero(fitted)
        first = self.problem(settings, (), _USUAL_SMOOTHING if len(smoothings) > 1 else smoothings[0], fitted)
        fit = first.fit(fitted)
        best_smoothing, best_cost = smoothings[0], np.inf
        for smoothing in smoothings:
            cost = self._predicted(self.problem(settings, laws[0], smoothing, fitted), fit, rows)
            if cost < best_cost:
                best_smoothing, best_cost = smoothing, cost
        best = laws[0]
        for law in laws[1:]:
            cost = self._predicted(self.problem(settings, law, best_smoothing, fitted), fit, rows)
            if cost < (1.0 - _IMPROVEMENT) * best_cost:
                best, best_cost = law, cost
        return best, best_smoothing

    def _predicted(self, problem: Problem, fit: ArmFit, rows: NDArray[np.intp]) -> float:
        """Weighted sum of squares of what blocks of rows leave, each predicted from the others."""
        slopes = problem.columns[rows] / fit.gains[:, np.newaxis]
        values = self.samples.drives[rows] - self.samples.known[rows] / fit.gains
        fold = np.minimum(np.arange(len(rows)) * _FOLDS * _FOLD_BLOCKS // len(rows), _FOLDS * _FOLD_BLOCKS - 1) % _FOLDS
        normals, rights = [], []
        for number in range(_FOLDS):
            here = fold == number
            flat, weights = slopes[here].reshape(-1, slopes.shape[2]), fit.weights[here].reshape(-1, 1)
            normals.append(flat.T @ (weights * flat))
            rights.append(flat.T @ (weights[:, 0] * values[here].ravel()))
        cost = 0.0
        for number in range(_FOLDS):
            matrix = problem.information + sum(each for k, each in enumerate(normals) if k != number)
            right = problem.information @ problem.mean + sum(each for k, each in enumerate(rights) if k != number)
            here = fold == number
            left = values[here] - slopes[here] @ np.linalg.solve(matrix, right)
            cost += float(np.sum(fit.weights[here] * left**2))
        return cost

    def held_out(
        self, split: Split, settings: ArmSettings, terms: Sequence[str], smoothing: float
    ) -> tuple[ArmHoldOut, int]:
        """Hold-out of one model and estimator on one split, and its number of unknowns."""
        problem = self.problem(settings, terms, smoothing, split.fitted)
        fit = problem.fit(split.fitted)
        measured, predicted = problem.judged(fit)
        return self._judged(split, measured, predicted), len(fit.model)

    def _judged(self, split: Split, measured: Array, predicted: Array) -> ArmHoldOut:
        speed = np.abs(self.samples.qd)
        moving = speed > _MOVING * np.sqrt(np.mean(speed**2, axis=0))
        held = ~split.fitted[:, np.newaxis] & np.ones_like(moving)
        return ArmHoldOut(
            split.name,
            relative_residual(measured, predicted, ~held),
            relative_residual(measured, predicted, held),
            relative_residual(measured, predicted, held & moving),
            measured,
            predicted,
            ~split.fitted,
        )

    def ordinary(self, split: Split) -> tuple[ArmHoldOut, int]:
        """Ordinary least squares of all joint forces, by singular values, with the sign of the speed in the friction.

        The way of textbooks: no weights, no prior, no constraint.
        """
        samples = self.samples
        model = make_model(samples, self.settings, (), _SIGN)
        driven = model.drive_values(samples.qd, samples.qdd)[:, np.newaxis, :] * model.drive_rows.T
        columns = np.concatenate([self.rows, driven], axis=2)
        known = samples.known @ np.linalg.inv(drive_matrix(samples.arm)).T
        forces = samples.joint_forces - known
        chosen = columns[split.fitted].reshape(-1, len(model))
        x = np.linalg.lstsq(chosen, forces[split.fitted].ravel(), rcond=_LEAST_SQUARES_RANK)[0]
        return self._judged(split, samples.joint_forces, columns @ x + known), len(model)

    def formulation(self, code: str, smoothing: float) -> Formulation:
        """Hold-outs of one of `FORMULATIONS`; smoothing: of the RMS speed.

        "chosen" chooses terms and smoothing anew within the fitted rows of each split.
        Raises CalibrationError as `Problem.fit`.
        """
        plain = replace(self.settings, friction=())
        models: dict[str, tuple[ArmSettings, tuple[str, ...]]] = {
            "weighted": (replace(plain, robust=False, consistent=False), ()),
            "consistent": (plain, ()),
            "without-rotors": (replace(plain, rotors=False), ()),
            "without-coupling": (replace(plain, coupling=False), ()),
            "without-friction": (replace(plain, with_friction=False), ()),
            **{f"with-{term}": (plain, (term,)) for term in FRICTION_TERMS},
        }
        found = []
        for split in splits(self.samples, with_load=self.settings.accuracy.gain >= 1.0):
            if code == "ordinary":
                found.append(self.ordinary(split))
            elif code == "chosen":
                found.append(self.held_out(split, self.settings, *self.chosen(split.fitted)))
            else:
                found.append(self.held_out(split, *models[code], smoothing))
        return Formulation(code, found[0][1], tuple(each for each, _ in found))


def formulations(
    study: Study, smoothing: float, progress: Callable[[float], None] = lambda _share: None
) -> tuple[Formulation, ...]:
    """All formulations that apply to an arm, on the same forces and splits; those that fail are left out."""
    coupled = np.count_nonzero(study.samples.arm.motor_ratios) > len(study.samples.arm.joints)
    codes = [
        code
        for code in FORMULATIONS
        if not (code == "without-coupling" and not coupled)
        and not (code == "without-rotors" and not study.settings.rotors)
        and not (not study.settings.with_friction and (code == "without-friction" or code.startswith("with-")))
    ]
    found = []
    for number, code in enumerate(codes):
        progress(number / len(codes))
        try:
            found.append(study.formulation(code, smoothing))
        except CalibrationError:
            if code == "chosen":
                raise
    return tuple(found)


def relative_residual(measured: Array, predicted: Array, rows: NDArray[np.bool_]) -> Array:
    """|τ − τ̂| / |τ| (n,) over rows (T, n) of each joint; nan for a joint without any."""
    with np.errstate(invalid="ignore", divide="ignore"):
        left = np.sqrt(np.sum(np.where(rows, measured - predicted, 0.0) ** 2, axis=0))
        ratio: Array = left / np.sqrt(np.sum(np.where(rows, measured, 0.0) ** 2, axis=0))
    return ratio


def whiteness(samples: ArmSamples, fit: ArmFit) -> Whiteness:
    """Test the residual of a fit to all rows, below 0.8 of the cut-off and with the low-pass taken out."""
    from scipy.special import kolmogorov  # takes long to import, and few need it

    numbers = np.unique(samples.record)
    distance = np.zeros(fit.residual.shape[1])
    probability = np.ones(fit.residual.shape[1])
    for number in numbers:
        part = fit.residual[samples.record == number]
        frequency = np.fft.rfftfreq(len(part), 1.0 / samples.rate)
        band = (frequency > 0.0) & (frequency <= _BAND * samples.cutoff)
        passed = 1.0 / (1.0 + (frequency[band] / samples.cutoff) ** (2 * FILTER_ORDER)) ** 2
        power = np.abs(np.fft.rfft(part - part.mean(axis=0), axis=0)[band]) ** 2 / passed[:, np.newaxis]
        share = np.cumsum(power, axis=0) / np.sum(power, axis=0)
        away = np.abs(share - (np.arange(1, len(power) + 1) / len(power))[:, np.newaxis]).max(axis=0)
        distance = np.maximum(distance, away)
        probability = np.minimum(probability, kolmogorov(np.sqrt(len(power)) * away) * len(numbers))
    return Whiteness(distance, np.minimum(probability, 1.0), fit.correlation / samples.rate)
