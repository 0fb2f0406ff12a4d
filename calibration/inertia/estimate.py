"""Estimation of the exact model's parameters from measured forces, with checks of data and result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from calibration.cells import cells_in_words, exchanged_pairs
from calibration.effects import GAINS, GEOMETRY_PLACES
from calibration.errors import CalibrationError
from calibration.inertia.departures import FRICTION_CODES, Scales
from calibration.inertia.design import THETA, Candidate, Design, Unknown, design_of, scale_names
from calibration.inertia.least_squares import BaseParameters, Information, Sums, base_parameters
from calibration.inertia.prior import (
    DRIVE_NOISE,
    FRICTION_SHARE,
    FRICTION_TIME,
    LAW_SHARE,
    Accuracy,
    DriveParameter,
    exists,
    from_unconstrained,
    prior,
    unconstrained,
    unconstrained_jacobian,
)
from calibration.inertia.samples import ForceRecord, Samples, fast_part, noise_floor, prepared
from calibration.parameters import ParameterFile, covariance_of
from dynamics import (
    BODIES,
    FRICTIONS,
    Dynamics,
    DynamicsError,
    Mechanism,
    drive_parameters,
    machine_size,
    with_drive_parameters,
    with_linear_parameters,
)
from kinematics import Array

_LEAST_FRICTION = 1e-12
_EVALUATIONS = 200


def is_consistent(theta: Array) -> bool:
    """Whether all bodies of θ are physically consistent and no friction is negative."""
    return all(exists(theta[place]) for place in BODIES) and all((theta[place] >= 0.0).all() for place in FRICTIONS)


def nearest_consistent(estimate: Array, information: Array, start: Array, stated: Mapping[int, float]) -> Array:
    """The unknowns x (n,) with consistent θ that are least (x − estimate)ᵀ information (x − estimate) away.

    By a parametrisation with consistent θ only, see `unconstrained`, and Levenberg–Marquardt from `start` (n,), whose θ
    is consistent. Unknowns at the places of `stated` are not less than the negative of its numbers: those of drives,
    beyond the mechanism's.
    Raises CalibrationError if it does not converge.
    """
    from scipy.optimize import least_squares  # takes long to import, and few need it

    root = np.asarray(np.linalg.cholesky(information).T, dtype=np.float64)
    numbers = start.copy()
    for place in BODIES:
        numbers[place] = unconstrained(start[place])
    for place in FRICTIONS:
        numbers[place] = np.log(np.maximum(start[place], _LEAST_FRICTION))
    drives = np.array(list(stated), dtype=np.intp)
    least = np.array(list(stated.values()))
    numbers[drives] = np.log(np.maximum(start[drives] + least, _LEAST_FRICTION))

    def unknowns(numbers: Array) -> Array:
        x = numbers.copy()
        for place in BODIES:
            x[place] = from_unconstrained(numbers[place])
        for place in FRICTIONS:
            x[place] = np.exp(numbers[place])
        x[drives] = np.exp(numbers[drives]) - least
        return x

    def away(numbers: Array) -> Array:
        distance: Array = root @ (unknowns(numbers) - estimate)
        return distance

    def slopes(numbers: Array) -> Array:
        result: Array = root.copy()
        for place in BODIES:
            result[:, place] = root[:, place] @ unconstrained_jacobian(numbers[place])
        for place in FRICTIONS:
            result[:, place] = root[:, place] * np.exp(numbers[place])
        result[:, drives] = root[:, drives] * np.exp(numbers[drives])
        return result

    with np.errstate(over="ignore"):
        found = least_squares(away, numbers, slopes, method="lm", x_scale="jac", max_nfev=_EVALUATIONS)
    x = unknowns(found.x)
    if not (np.isfinite(x).all() and is_consistent(x)):
        raise CalibrationError("no bodies that can exist explain the forces: see which parameters are off by much")
    return x


_CLIPPED = 8  # samples of one value at an end of what a cell said
_COARSE = 0.5  # of the noise, from which steps of readings make many alike
_TURNED = 0.5  # of the residual that a cell leaves as it is, against that with the other sign
_UNEXPLAINED = 6.0  # times the noise
_FAR = 4.0  # standard deviations, mean square, from what was known before
_FAR_SCALE = 5.0  # standard deviations of a gain or cross-talk from what was known before
_MIN_IDENTIFIABLE = 0.15  # of the base parameters; the fewer, the better they were known before


def check_data(mechanism: Mechanism, records: Sequence[ForceRecord], samples: Samples, coulomb_speed: float) -> None:
    """Refuse cells at the end of their scale, exchanged or turned round, and motions that the mechanism cannot do."""
    faults: list[str] = []
    model: Array | None = None
    try:
        model = Dynamics(mechanism, coulomb_speed).cells(samples.motions)
    except DynamicsError as error:
        faults.append(f"the motion is none of {mechanism.name}: {error}")
    for number, record in enumerate(records):
        here = samples.record == number
        for leg in range(6):
            values = record.cells[:, leg]
            beyond = int(np.count_nonzero(np.abs(values) >= record.range))
            if model is None or not _coarse(record, leg):
                top = max(int(np.count_nonzero(values == end)) for end in (values.min(), values.max()))
            else:
                begin = samples.t[here][0]  # where the filter's edge ends
                rows = np.round((samples.t[here] - begin) * record.rate).astype(int) + round(begin * record.rate)
                top = _saturated_count(values[rows], model[here, leg]) * round(record.rate / samples.rate)
            if beyond or top >= _CLIPPED:
                faults.append(
                    f"stretch {number + 1}: load cell {leg + 1} was at an end of its scale, {values.min():g} to "
                    f"{values.max():g} N, in {max(beyond, top)} of {len(values)} samples"
                )
    if model is None:
        raise CalibrationError(faults[1:] + faults[:1])
    faults += _exchanged(samples.cells, model)
    if faults:
        raise CalibrationError(faults)


def _coarse(record: ForceRecord, leg: int) -> bool:
    """Whether a cell's resolution is so coarse that many readings are equal, also at the extremes of its force."""
    return record.steps is not None and record.steps[leg] > _COARSE * fast_part(record.cells, record.rate)[leg]


def _saturated_count(values: Array, model: Array) -> int:
    """Number of readings (n,) N at an extreme of the cell's range while the model's force exceeds it.

    The model's force (n,) is shifted by the median residual, and its usual error is allowed.
    """
    residual = values - model
    usual = float(np.median(residual))
    spread = float(np.ptp(np.quantile(residual, (0.05, 0.95))))
    beyond = [
        np.count_nonzero((values == end) & (side * (model + usual - end) > spread))
        for side, end in ((-1.0, values.min()), (1.0, values.max()))
    ]
    return int(max(beyond))


def _exchanged(measured: Array, model: Array) -> list[str]:
    """Cells that explain another leg's forces much better than their own, or their own with the other sign."""
    cost = np.empty((6, 6))
    for cell in range(6):
        for leg in range(6):
            cost[cell, leg] = np.mean((measured[:, cell] - model[:, leg]) ** 2)
    if pairs := exchanged_pairs(cost):
        return [f"load cells look exchanged: {cells_in_words(pairs)}"]
    turned = np.mean((measured + model) ** 2, axis=0)
    return [
        f"load cell {leg + 1} looks turned round: its readings have the wrong sign"
        for leg in range(6)
        if np.sqrt(turned[leg] / cost[leg, leg]) < _TURNED
    ]


def check_result(result: Identification, known: Array, gain: float) -> None:
    """Refuse unidentifiable parameters, residuals that no noise explains, and parameters far from their priors."""
    faults = []
    share = float(np.mean(result.identifiable))
    if share < _MIN_IDENTIFIABLE:
        faults.append(
            f"the motion tells {np.count_nonzero(result.identifiable)} of {len(result.identifiable)} combinations of "
            "parameters better than they were known: move all six axes together, faster: `rig excite` designs such a "
            "motion"
        )
    change = result.theta - result.before[:THETA]
    distance = float(np.sqrt(change @ np.linalg.solve(known, change) / max(1, np.count_nonzero(result.identifiable))))
    if distance > _FAR:
        faults.append(
            f"the parameters would be {distance:.1f} standard deviations (RMS) from the mechanism's file, at most "
            f"{_FAR:g}: another rig, or something on the platform"
        )
    names = scale_names()
    for each, value in zip(result.others, result.estimate[THETA:], strict=True):
        if each.name in names and abs(value) > _FAR_SCALE * each.sigma:
            faults.append(
                f"{names[each.name]}: {100.0 * value:+.2f} %, {abs(value) / each.sigma:.1f} times the standard "
                f"deviation of {100.0 * each.sigma:g} % that was stated, at most {_FAR_SCALE:g}: another rig, or a "
                "wider standard deviation has to be stated"
            )
    floor = result.noise * np.sqrt(gain)
    for leg in range(6):
        if result.residual[leg] > _UNEXPLAINED * floor[leg]:
            faults.append(
                f"load cell {leg + 1}: the best parameters leave {result.residual[leg]:.2f} N of the low-passed "
                f"readings, noise explains {floor[leg]:.2f} N: not this mechanism, or something touches the platform"
            )
    if faults:
        raise CalibrationError(faults)


_DESIGNS = 2  # the first with nominal inertias and gains of one; the last with candidates, about what the first found
_ROUNDS = 4
_HELD_SHARE = 0.05
"""part of the effect of held set-points, see `Design.held`, that has an unknown shape …"""
_HELD_TIME = 0.1
"""… and this correlation time, s, that of the motion"""
_LEAST_NOISE = 1e-6  # N
_LEAST_DRIVE = 0.1
"""part of `DRIVE_NOISE`: least residual of a drive's force"""
_EXPECTED_DEGREES = 4.0
"""degrees of freedom of the expected variance, besides those of the residual"""
_BANDS = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Hz, lower edges of the bands; the last ends at `_PASSED` of the low-pass' cutoff"""
_PASSED = 0.8
_PARTS, _TEST_SHARE = 2, 1.0 / 3.0
"""parts of each stretch, and the share at its end on which candidates are tested"""
_EVIDENCE = 3.0
"""nats beyond the logarithm of the number of candidates"""
_CONTRADICTED = 1e-4
"""significance level of the χ² test of a group's stated standard deviations"""
_INFORMED = 0.1
"""least share of a direction's prior variance that the data remove for the direction to count"""
_MOUNTED = 5e-4
"""additional σ of a gain, relative, once the cell is mounted and warm"""
_SETTLED = 1e-6
"""m, additional σ of a joint's place and a length's offset"""
_TRIED, _MOST_TERMS = 2, 40


@dataclass(frozen=True, slots=True)
class IdentificationSettings:
    """Settings: cutoff, Hz, of the zero-phase low-pass; accuracy: the prior, `Accuracy.of` the mechanism if None.

    coulomb_speed: m/s, over which the model smooths Coulomb friction. noise: (6,) N, of the cells, as stated or
    measured at rest; None: from the part of the readings that is too fast for a machine. gains: relative covariance
    (6, 6) of the cells' gains by their calibration; None: by `accuracy`. geometry: files with joints and length offsets
    and their covariance.
    """

    cutoff: float = 25.0
    accuracy: Accuracy | None = None
    coulomb_speed: float = 1e-3
    noise: Array | None = None
    gains: Array | None = None
    geometry: tuple[ParameterFile, ...] = ()

    def known(self, mechanism: Mechanism) -> Accuracy:
        """The prior accuracy of a mechanism."""
        return Accuracy.of(mechanism) if self.accuracy is None else self.accuracy


USUAL = IdentificationSettings()


GROUPS = ("geometry", "lag", "compliance", "tilt")
"""Groups of unknowns whose stated standard deviations are tested, and widened where the data contradict them."""


def _group(name: str) -> str:
    """The group of an unknown by its name, "" for none."""
    if name in GEOMETRY_PLACES:
        return "geometry"
    first, _, last = name.rpartition(".")
    last = "tilt" if first == "tilt" else last
    return last if last in GROUPS else ""


@dataclass(frozen=True, slots=True)
class _Group:
    """A group of unknowns at `places`, whose stated standard deviations are to be `factor` times as wide."""

    code: str
    places: NDArray[np.intp]
    factor: float


@dataclass(frozen=True, slots=True)
class FoundTerm:
    """An estimated term beyond the model: a candidate (`departures`), "held_set_points" or of `GROUPS`.

    code: of the term. leg: 0 to 5, None for the whole machine. size: N RMS, where it is greatest. evidence: nats, None
    for terms that are always estimated.
    """

    code: str
    leg: int | None
    size: float
    evidence: float | None


@dataclass(frozen=True, slots=True, eq=False)
class Identification:
    """Result of an identification.

    nominal, mechanism: before and after. estimate, covariance: all unknowns (n,), (n, n), θ first, then `others`.
    noise: (6,) N, of the cells: the stated one, else from the part of the readings that is too fast for any motion.
    residual: (6,) N, of the low-passed cells. middles: of each stretch its source and the time, s on the source's
    clock, for which the zeros are given. base: the base parameters; base_sigma (r,): their standard deviations.
    identifiable (r,): the base parameters whose σ is at most half of that before. moved: whether the estimate had to be
    moved to physically consistent bodies. consistent: whether such bodies were found. terms: effects beyond the model.
    bands: Hz, edges (b + 1,). excess (6, b): variance of the residual by that of the noise. degrees (6, b): degrees of
    freedom of each. spikes: (6,), number of readings left out. scales: of the candidates.
    """

    nominal: Mechanism
    mechanism: Mechanism
    before: Array
    estimate: Array
    covariance: Array
    others: tuple[Unknown, ...]
    noise: Array
    residual: Array
    middles: tuple[tuple[str, float], ...]
    base: BaseParameters
    base_sigma: Array
    identifiable: np.ndarray[tuple[int], np.dtype[np.bool_]]
    moved: bool
    consistent: bool
    drives: bool
    terms: tuple[FoundTerm, ...]
    settings: IdentificationSettings
    bands: Array
    excess: Array
    degrees: Array
    spikes: NDArray[np.intp]
    scales: Scales

    @property
    def theta(self) -> Array:
        """The mechanism's parameters (COLUMNS,), see `dynamics.linear_parameters`."""
        return self.estimate[:THETA]

    @property
    def offsets(self) -> Array:
        """Zeros of the cells (6,) N, mean of all records."""
        return self._of("offset")

    @property
    def lags(self) -> Array:
        """Lags of the cells behind the forces, (6,) s."""
        return self._of("lag")

    def zeros(self, source: str, t: Array) -> Array:
        """Zeros of the cells (n, 6) N at times t (n,), s on the clock of a source.

        From the nearest fitted stretch of that source, with its drift; the mean of all if there is none.
        """
        middles = np.array([middle if of == source and of else np.nan for of, middle in self.middles])
        if np.isnan(middles).all():
            return np.tile(self.offsets, (len(t), 1))
        near = int(np.nanargmin(np.abs(middles - np.mean(t))))
        zero, drift = self._by_stretch("offset")[near], self._by_stretch("drift")[near]
        drifted: Array = zero + (t - middles[near])[:, np.newaxis] * drift
        return drifted

    def _of(self, what: str) -> Array:
        mean: Array = self._by_stretch(what).mean(axis=0)
        return mean

    def _by_stretch(self, what: str) -> Array:
        """Values of the cells by stretch (n, 6); n = 1 where they are the same in all."""
        found = [
            [
                value
                for value, other in zip(self.estimate[THETA:], self.others, strict=True)
                if other.name.endswith(f"load_cells[{leg}].{what}")
            ]
            for leg in range(6)
        ]
        return np.array(found).T


def identify(
    nominal: Mechanism, records: Sequence[ForceRecord], settings: IdentificationSettings = USUAL
) -> Identification:
    """Estimate inertias and frictions of a mechanism from stretches of measured motion and forces.

    Raises CalibrationError, with every reason, for data that cannot support an answer: too short, at the end of a
    cell's scale, of exchanged cells, of another rig, or of a motion that does not identify the parameters.
    """
    unit = machine_size(nominal).force
    samples = prepared(nominal.geometry, records, settings.cutoff, settings.coulomb_speed, unit=unit)
    check_data(nominal, records, samples, settings.coulomb_speed)
    accuracy = settings.known(nominal)
    theta, known = prior(nominal, accuracy)
    fast = np.sqrt(np.mean([noise_floor(record) ** 2 for record in records], axis=0))
    noise = fast if settings.noise is None else settings.noise
    gain = samples.rate / records[0].rate
    bands = np.array([*(edge for edge in _BANDS if edge < _PASSED * settings.cutoff), _PASSED * settings.cutoff])
    floor = np.full((6 if samples.drives is None else 12, len(bands) - 1), _LEAST_NOISE**2)
    floor[6:] = gain * (unit * DRIVE_NOISE) ** 2
    floor[:6] = np.maximum(floor[:6], gain * np.minimum(noise, fast)[:, np.newaxis] ** 2)
    variances = np.maximum(floor, unit**2)
    heavy, guess = nominal, theta
    about: dict[str, float] = {}
    for number in range(_DESIGNS):
        last = number == _DESIGNS - 1
        design = design_of(nominal, samples, accuracy, settings.coulomb_speed, heavy, guess, about, last)
        problem = _Problem(design, samples, bands, theta, known, settings)
        fit = problem.fit(variances, floor)
        variances = fit.variances
        x = fit.estimate
        guess = x[:THETA]
        if is_consistent(x[:THETA]) and not _negative(x, design.drives):
            heavy = _mechanism(nominal, x, design.drives)
        places = {each.name: THETA + k for k, each in enumerate(design.others)}
        about = {name: float(x[places[name]]) for name in scale_names() if name in places}
    fit, found = problem.select_terms(fit, floor)
    least = floor.copy()
    least[6:] *= _LEAST_DRIVE**2
    fit = problem.fit(fit.variances, floor, fit.active, least)
    covariance, information = fit.matrix.whole(fit.places)
    if groups := problem.contradicted(fit, covariance):
        problem.widen(groups)
        fit = problem.fit(fit.variances, floor, fit.active, least)
        covariance, information = fit.matrix.whole(fit.places)
        found += tuple(problem.group_term(group, fit.estimate) for group in groups)
    x, before = fit.estimate[fit.active], problem.before[fit.active]
    drives = {int(np.searchsorted(fit.active, place)): each for place, each in design.drives.items()}
    moved = not is_consistent(x[:THETA]) or _negative(x, drives)
    if moved:
        x = nearest_consistent(x, information, before, {place: each.value for place, each in drives.items()})
    others = tuple(
        replace(design.others[place - THETA], sigma=float(problem.sigmas[place])) for place in fit.active[THETA:]
    )
    base = base_parameters(nominal, np.sqrt(np.diag(known)), drives=samples.drives is not None)
    base_sigma = np.sqrt(np.einsum("ij,jk,ik->i", base.matrix, covariance[:THETA, :THETA], base.matrix))
    base_before = np.sqrt(np.einsum("ij,jk,ik->i", base.matrix, known, base.matrix))
    whole = np.zeros(design.size)
    whole[fit.active] = x
    left = design.residuals(whole)
    result = Identification(
        nominal=nominal,
        mechanism=_mechanism(nominal, x, drives),
        before=before,
        estimate=x,
        covariance=covariance,
        others=others,
        noise=noise,
        residual=np.array([float(np.sqrt(np.mean(values**2))) for values in left[:6]]),
        middles=tuple(
            (each.source, each.begin + float(samples.t[samples.record == number].mean()))
            for number, each in enumerate(records)
        ),
        base=base,
        base_sigma=base_sigma,
        identifiable=base_sigma < 0.5 * base_before,
        moved=moved,
        consistent=is_consistent(x[:THETA]),
        drives=samples.drives is not None,
        terms=found + problem.held_set_points(fit.estimate, noise),
        settings=settings,
        bands=bands,
        excess=fit.raw[:6] / (gain * np.maximum(noise, _LEAST_NOISE)[:, np.newaxis] ** 2),
        degrees=fit.degrees[:6],
        spikes=samples.spikes,
        scales=samples.scales,
    )
    check_result(result, known, gain)
    return result


def _negative(x: Array, drives: Mapping[int, DriveParameter]) -> bool:
    """Whether an inertia or friction of a drive would be below 0, by the unknowns x."""
    return any(each.value + x[place] < 0.0 for place, each in drives.items())


def _mechanism(nominal: Mechanism, x: Array, drives: Mapping[int, DriveParameter]) -> Mechanism:
    """The mechanism with the parameters of the unknowns x; drives: by their places in x."""
    values = drive_parameters(nominal)
    for place, each in drives.items():
        values[each.leg, each.column] = each.scale * max(each.value + x[place], 0.0)  # below 0 by rounding only
    return with_drive_parameters(with_linear_parameters(nominal, x[:THETA]), values)


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    """An estimate (size,) of the unknowns that are `active`, 0 for others; variances, N², of each channel and band.

    raw: variances before the noise was set as their lower bound. degrees: of freedom of each. places: indices in
    `active` of the shared unknowns and of each leg's.
    """

    active: NDArray[np.intp]
    estimate: Array
    matrix: Information
    places: tuple[NDArray[np.intp], ...]
    variances: Array
    raw: Array
    degrees: Array


def _prior_covariance(others: Sequence[Unknown], settings: IdentificationSettings) -> Array:
    """Prior covariance (n, n) of the unknowns besides θ, by calibrations of cells and geometry if there are any."""
    whole = np.diag([each.sigma**2 for each in others])
    places = {each.name: place for place, each in enumerate(others)}
    if settings.gains is not None:
        here = [places[name] for name in GAINS]
        whole[np.ix_(here, here)] = settings.gains + _MOUNTED**2 * np.eye(6)
    if settings.geometry:
        whole = covariance_of(settings.geometry, places, whole)
        calibrated = {each.name for file in settings.geometry for each in file.parameters}
        here = [places[name] for name in GEOMETRY_PLACES if name in calibrated]
        whole[here, here] += _SETTLED**2
    return whole


class _Problem:
    """The normal equations of a design by part of the data, channel and band, for sums with any weights."""

    def __init__(
        self,
        design: Design,
        samples: Samples,
        bands: Array,
        theta: Array,
        known: Array,
        settings: IdentificationSettings,
    ) -> None:
        self.design = design
        self.before = np.concatenate([theta, np.zeros(len(design.others))])
        others_prior = _prior_covariance(design.others, settings)
        self._others_prior = others_prior
        self.sigmas = np.concatenate([np.sqrt(np.diag(known)), np.sqrt(np.diag(others_prior))])
        candidates = np.concatenate([np.empty(0, dtype=np.intp), *(each.places for each in design.candidates)])
        self._first = np.setdiff1d(np.arange(design.size), candidates)
        self._rate = samples.rate
        acts = np.zeros((design.size, 6), dtype=np.bool_)
        for number, channel in enumerate(design.channels):
            acts[channel.places, number % 6] = True
        alone = np.count_nonzero(acts, axis=1) == 1
        alone[:THETA] = False
        if settings.gains is not None:
            alone[[place for place, each in enumerate(design.others, THETA) if each.name in GAINS]] = False
        self._unknowns = (np.flatnonzero(~alone), *(np.flatnonzero(alone & acts[:, leg]) for leg in range(6)))
        """those that all legs share, and those of each leg"""
        self._home = np.where(alone, 1 + np.argmax(acts, axis=1), 0)
        """of each unknown: in which of these it is, …"""
        self._place = np.zeros(design.size, dtype=np.intp)
        """… and where there"""
        for unknowns in self._unknowns:
            self._place[unknowns] = np.arange(len(unknowns))
        count = len(self._unknowns[0])
        first, second = self._pairs = np.triu_indices(count)
        self._upper, self._lower = first * count + second, second * count + first
        """where the upper triangle of a matrix of what is shared is in its elements, and in those of its transpose"""
        others = self._unknowns[0][THETA:] - THETA
        self._prior = np.zeros((count, count))
        self._prior[:THETA, :THETA] = np.linalg.inv(known)
        self._shared_others = others
        self._prior[THETA:, THETA:] = np.linalg.inv(others_prior[np.ix_(others, others)])
        self._held, self._friction = design.held(), design.friction()
        self._stated = np.zeros(design.size)
        """numbers of drives by the mechanism, which the unknowns are beyond"""
        for place, each in design.drives.items():
            self._stated[place] = each.value
        self.counts = np.zeros(len(bands) - 1)
        self._sums = [self._nothing(len(bands) - 1) for _ in range(_PARTS)]
        """by the first part of the data, by the first two …"""
        for record in range(int(samples.record.max()) + 1):
            here = np.flatnonzero(samples.record == record)
            cut = int(here[0]) + round((1.0 - _TEST_SHARE) * len(here))
            for part, rows in enumerate((slice(int(here[0]), cut), slice(cut, int(here[-1]) + 1))):
                self._add(self._sums[part], rows, samples.rate, bands)
        for before, after in pairwise(self._sums):
            after += before

    def _nothing(self, bands: int) -> Sums:
        count, channels = len(self._unknowns[0]), len(self.design.channels)
        own = [len(self._unknowns[1 + number % 6]) + 1 for number in range(channels)]
        return Sums(
            np.zeros((channels, bands, count * (count + 1) // 2)),
            tuple(np.zeros((bands, count, each)) for each in own),
            tuple(np.zeros((bands, each, each)) for each in own),
        )

    def _add(self, sums: Sums, rows: slice, rate: float, bands: Array) -> None:
        samples = rows.stop - rows.start
        frequencies = np.fft.rfftfreq(samples, 1.0 / rate)
        twice = np.full(len(frequencies), 2.0 / samples)  # each stands for its negative too …
        twice[0] /= 2.0
        if samples % 2 == 0:
            twice[-1] /= 2.0
        edges = np.searchsorted(frequencies, bands)
        self.counts += [samples * float(twice[low:high].sum()) for low, high in pairwise(edges)]
        count, last = len(self._unknowns[0]), int(edges[-1])
        for number, channel in enumerate(self.design.channels):
            columns = channel.rows[rows].T
            left = channel.values[rows] - channel.rows[rows] @ self.before[channel.places]
            own = self._home[channel.places] > 0
            size = count + len(self._unknowns[1 + number % 6]) + 1
            spectra = np.zeros((size, last), dtype=np.complex128)
            spectra[self._place[channel.places] + count * own] = np.fft.rfft(columns, axis=1)[:, :last]
            spectra[-1] = np.fft.rfft(left)[:last]
            spectra *= np.sqrt(twice[:last])
            parts = spectra.view(np.float64)  # real and imaginary ones in turn
            products = np.empty((size, size))
            for band, (low, high) in enumerate(pairwise(edges)):
                values = parts[:, 2 * low : 2 * high]
                np.matmul(values, values.T, out=products)
                sums.shared[number, band] += products[:count, :count].take(self._upper)
                sums.mixed[number][band] += products[:count, count:]
                sums.own[number][band] += products[count:, count:]

    def _split(self, active: NDArray[np.intp]) -> tuple[NDArray[np.intp], list[NDArray[np.intp]]]:
        """Where in `_unknowns` those that are active are: of those that all legs share, and of each leg's own."""
        home, place = self._home[active], self._place[active]
        return place[home == 0], [place[home == leg] for leg in range(1, 7)]

    def _equations(
        self,
        found: tuple[Array, list[Array], list[Array]],
        shared: NDArray[np.intp],
        own: Sequence[NDArray[np.intp]],
        columns: Sequence[NDArray[np.intp]],
    ) -> tuple[Information, Array, list[Array], Array]:
        """The information of some unknowns, and the ways of their estimate from the prior's mean.

        found: weighted sums, in which `columns` are those of each leg's `own`. Also the sums of all that is shared.
        """
        count = len(self._unknowns[0])
        everything = np.zeros((count, count))
        everything.put(self._upper, found[0])
        everything.put(self._lower, found[0])
        mixed, single = found[1], found[2]
        information = Information(
            (everything + self._prior)[np.ix_(shared, shared)],
            [each[np.ix_(shared, here)] for each, here in zip(mixed, columns, strict=True)],
            [
                each[np.ix_(here, here)] + np.diag(1.0 / self.sigmas[unknowns[places]] ** 2)
                for each, here, places, unknowns in zip(single, columns, own, self._unknowns[1:], strict=True)
            ],
        )
        right = np.sum([each[shared, -1] for each in mixed], axis=0)
        away, ways = information.solve(right, [each[here, -1] for each, here in zip(single, columns, strict=True)])
        return information, away, ways, everything

    def fit(
        self, variances: Array, floor: Array, active: NDArray[np.intp] | None = None, least: Array | None = None
    ) -> _Fit:
        """Estimate the active unknowns; if None, all but the candidates.

        floor (c, b): N², least variance of each channel and band by its known noise. With `least` (c, b), N², it is the
        expected variance instead, and the lower bound is `least`. Terms are selected without `least`: effects that are
        small against a drive's noise are no evidence.
        """
        active = self._first if active is None else active
        shared, own = self._split(active)
        sums = self._sums[-1].of(own)
        within = [np.arange(len(columns)) for columns in own]
        unknowns = [each[columns] for each, columns in zip(self._unknowns, (shared, *own), strict=True)]
        raw = degrees = variances
        for _ in range(_ROUNDS):
            matrix, away, ways, _ = self._equations(sums.weighted(1.0 / variances), shared, own, within)
            raw, degrees = self._residuals(sums, matrix, shared, away, ways, variances)
            estimate = np.zeros(self.design.size)
            for here, way in zip(unknowns, (away, *ways), strict=True):
                estimate[here] = self.before[here] + way
            held = _HELD_SHARE**2 * _mean_squares(self._held, estimate) * max(1.0, _HELD_TIME * self._rate)
            lawless = FRICTION_SHARE**2 * _mean_squares(self._friction, estimate + self._stated)
            lasting = max(1.0, FRICTION_TIME * self._rate)
            if least is None:
                variances = np.maximum(raw, floor) + (held + lasting * lawless)[:, np.newaxis]
            else:
                expected = floor + lasting * lawless[:, np.newaxis]
                pooled = (_EXPECTED_DEGREES * expected + degrees * raw) / (_EXPECTED_DEGREES + degrees)
                laws = LAW_SHARE**2 * self._selected_friction(active, estimate)
                variances = np.maximum(np.maximum(pooled, raw), least) + (held + lasting * laws)[:, np.newaxis]
        places = tuple(np.searchsorted(active, here) for here in unknowns)
        return _Fit(active, estimate, matrix, places, variances, raw, degrees)

    def _selected_friction(self, active: NDArray[np.intp], estimate: Array) -> Array:
        """Mean squares (c,) N² of the friction by selected laws in each channel."""
        places = [each.places for each in self.design.candidates if each.code in FRICTION_CODES]
        return self._squares(np.intersect1d(active, np.concatenate(places)) if places else active[:0], estimate)

    def _residuals(
        self,
        sums: Sums,
        matrix: Information,
        shared: NDArray[np.intp],
        away: Array,
        ways: Sequence[Array],
        variances: Array,
    ) -> tuple[Array, Array]:
        """Residual variances (c, b) N², and their degrees of freedom (c, b): samples less leverage."""
        count = len(self._unknowns[0])
        covariance, left = np.zeros((count, count)), np.zeros(count)
        covariance[np.ix_(shared, shared)] = matrix.core
        left[shared] = -away
        first, second = self._pairs
        twice = 2.0 - (first == second)
        fitted = sums.shared @ (twice * covariance.take(self._upper))
        squares = sums.shared @ (twice * left[first] * left[second])
        for leg, way in enumerate(ways):
            across, own = np.zeros((count, len(way) + 1)), np.zeros((len(way) + 1, len(way) + 1))
            across[shared, :-1], own[:-1, :-1] = matrix.covariance_of(leg)
            rest = np.append(-way, 1.0)
            mixed = 2.0 * np.stack([across, np.outer(left, rest)]).reshape(2, -1)
            single = np.stack([own, np.outer(rest, rest)]).reshape(2, -1)
            for number in range(leg, len(sums.own), 6):
                for found, weights in ((sums.mixed[number], mixed), (sums.own[number], single)):
                    parts = weights @ found.reshape(len(found), -1).T
                    fitted[number] += parts[0]
                    squares[number] += parts[1]
        degrees = np.maximum(self.counts - fitted / variances, 1.0)
        return np.maximum(squares, 0.0) / degrees, degrees

    def select_terms(self, fit: _Fit, floor: Array) -> tuple[_Fit, tuple[FoundTerm, ...]]:
        """Forward selection: the fit with the candidates that the data support, and these.

        Candidates are ranked twice, with the present residual variances and with those of noise alone: a large effect
        that is not modelled yet inflates the former. A trial is judged by the residual variances after it.
        """
        left = list(self.design.candidates)
        least = _EVIDENCE + np.log(max(1, len(left)))
        taken: list[tuple[Candidate, float]] = []
        for _ in range(_MOST_TERMS):
            groups = [each.places for each in left]
            ranks = [self._evidence(fit.active, groups, _PARTS, by) for by in (fit.variances, floor)]
            tried = {int(number) for rank in ranks for number in np.argsort(-rank)[:_TRIED] if rank[number] >= least}
            best: tuple[float, int, _Fit] | None = None
            for number in sorted(tried):
                trial = self.fit(fit.variances, floor, np.sort(np.concatenate([fit.active, groups[number]])))
                whole = float(self._evidence(fit.active, [groups[number]], _PARTS, trial.variances)[0])
                if whole < least or (best is not None and whole <= best[0]):
                    continue
                if whole >= self._evidence(fit.active, [groups[number]], _PARTS - 1, trial.variances)[0]:
                    best = whole, number, trial
            if best is None:
                break
            gain, number, fit = best
            taken.append((left.pop(number), gain))
        laws = {self._law(candidate) for candidate, _ in taken} - {()}
        alike = [each.places for each in left if self._law(each) in laws]
        if alike:
            fit = self.fit(fit.variances, floor, np.sort(np.concatenate([fit.active, *alike])))
        return fit, tuple(self._found_term(candidate, gain, fit.estimate) for candidate, gain in taken)

    def contradicted(self, fit: _Fit, covariance: Array) -> list[_Group]:
        """Groups of unknowns whose stated standard deviations the data contradict.

        Before any data are seen the estimates have the prior's covariance less the posterior's (n, n). Along its
        principal directions their squares are χ² distributed; a factor follows from their mean (method of moments).
        """
        from scipy.special import chdtrc  # takes long to import, and few need it

        found = []
        for code in GROUPS:
            here = [
                row
                for row, place in enumerate(fit.active)
                if place >= THETA and _group(self.design.others[place - THETA].name) == code
            ]
            places = fit.active[here]
            if not len(places):
                continue
            root = np.linalg.cholesky(self._others_prior[np.ix_(places - THETA, places - THETA)])
            after = np.linalg.solve(root, np.linalg.solve(root, covariance[np.ix_(here, here)]).T)
            shares, ways = np.linalg.eigh(np.eye(len(places)) - after)
            squares = (ways.T @ np.linalg.solve(root, fit.estimate[places])) ** 2
            informed = shares > _INFORMED
            shares, squares = shares[informed], squares[informed]
            if len(shares) and chdtrc(len(shares), float(np.sum(squares / shares))) < _CONTRADICTED:
                widened = 1.0 + float(np.sum(squares - shares) / np.sum(shares**2))
                found.append(_Group(code, places, float(np.sqrt(widened))))
        return found

    def widen(self, groups: Sequence[_Group]) -> None:
        """Take groups of unknowns as less well known before."""
        factors = np.ones(len(self._others_prior))
        for group in groups:
            factors[group.places - THETA] = group.factor
        self._others_prior = self._others_prior * np.outer(factors, factors)
        self.sigmas[THETA:] *= factors
        others = self._shared_others
        self._prior[THETA:, THETA:] = np.linalg.inv(self._others_prior[np.ix_(others, others)])

    def group_term(self, group: _Group, estimate: Array) -> FoundTerm:
        """A widened group with its RMS effect on the channel where it is greatest."""
        return FoundTerm(group.code, None, self._size(group.places, estimate), None)

    def held_set_points(self, estimate: Array, least: Array) -> tuple[FoundTerm, ...]:
        """Cells on which the effect of held set-points is above `least` (6,) N RMS; see `Design.held`."""
        sizes = np.sqrt(_mean_squares(self._held[:6], estimate))
        return tuple(
            FoundTerm("held_set_points", leg, float(sizes[leg]), None) for leg in np.flatnonzero(sizes > least).tolist()
        )

    def _law(self, candidate: Candidate) -> tuple[str, ...]:
        """Names of a friction candidate's unknowns without the leg, the same for all legs; empty for other candidates.

        All legs have joints of one kind, so a law that is selected for one is estimated for all. Without it the sigmas
        of the others' friction would be too small.
        """
        if candidate.code not in FRICTION_CODES:
            return ()
        return tuple(self.design.others[place - THETA].name.partition(".")[2] for place in candidate.places)

    def _found_term(self, candidate: Candidate, gain: float, estimate: Array) -> FoundTerm:
        """A selected candidate with its RMS effect on the channel where it is greatest."""
        return FoundTerm(candidate.code, candidate.leg, self._size(candidate.places, estimate), gain)

    def _size(self, places: NDArray[np.intp], estimate: Array) -> float:
        """RMS effect of unknowns, N, on the channel where it is greatest."""
        return float(np.sqrt(self._squares(places, estimate).max()))

    def _squares(self, places: NDArray[np.intp], estimate: Array) -> Array:
        """Mean squares (c,) N² of the effect of unknowns on each channel."""
        squares = np.zeros(len(self.design.channels))
        for number, channel in enumerate(self.design.channels):
            here = np.flatnonzero(np.isin(channel.places, places))
            if len(here):
                squares[number] = np.mean((channel.rows[:, here] @ estimate[channel.places[here]]) ** 2)
        return squares

    def _evidence(
        self, active: NDArray[np.intp], groups: Sequence[NDArray[np.intp]], parts: int, variances: Array
    ) -> Array:
        """Gain of log evidence, nats, of the first parts by each group of unknowns; the others are marginalised.

        A group is shared by all legs, or belongs to one leg.
        """
        shared, own = self._split(active)
        weighted = self._sums[parts - 1].weighted(1.0 / variances)
        matrix, away, ways, everything = self._equations(weighted, shared, own, own)
        mixed, single = weighted[1], weighted[2]
        information, score = {}, {}
        for home in {int(self._home[group[0]]) for group in groups}:
            count = len(self._unknowns[home])
            if home == 0:
                top, below = (
                    everything[shared],
                    [each[:count, columns].T for each, columns in zip(mixed, own, strict=True)],
                )
                inner, right = everything, np.sum([each[:, -1] for each in mixed], axis=0)
            else:
                top = mixed[home - 1][shared, :-1]
                below = [np.zeros((len(columns), count)) for columns in own]
                below[home - 1] = single[home - 1][own[home - 1], :-1]
                inner, right = single[home - 1][:-1, :-1], single[home - 1][:-1, -1]
            solved, rest = matrix.solve(top, below)
            information[home] = inner - top.T @ solved
            score[home] = right - top.T @ away
            for each, of, way in zip(below, rest, ways, strict=True):
                information[home] -= each.T @ of
                score[home] -= each.T @ way
        found = np.empty(len(groups))
        for size in {len(group) for group in groups}:
            chosen = [number for number, group in enumerate(groups) if len(group) == size]
            places = [self._place[groups[number]] for number in chosen]
            homes = [int(self._home[groups[number][0]]) for number in chosen]
            before = np.stack([1.0 / self.sigmas[groups[number]] ** 2 for number in chosen])
            after = np.stack([information[home][np.ix_(here, here)] for home, here in zip(homes, places, strict=True)])
            after += before[:, :, np.newaxis] * np.eye(size)
            scores = np.stack([score[home][here] for home, here in zip(homes, places, strict=True)])
            sizes = np.linalg.slogdet(after)[1] - np.log(before).sum(axis=1)
            towards = np.linalg.solve(after, scores[:, :, np.newaxis])[:, :, 0]
            found[chosen] = 0.5 * (np.einsum("ni,ni->n", scores, towards) - sizes)
        return found


def _mean_squares(forms: Sequence[tuple[NDArray[np.intp], Array]], estimate: Array) -> Array:
    """xᵀ M x (c,) of each channel's places and M, see `Design.held`."""
    return np.array([float(estimate[places] @ matrix @ estimate[places]) for places, matrix in forms])
