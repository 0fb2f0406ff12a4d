"""Estimating the exact model's parameters from measured forces.

Least squares on the regressor with what was known before: x = Λ⁻¹ (Σ w aᵀy + P₀⁻¹ x₀), Λ = Σ w aᵀa + P₀⁻¹, of the
spectra of all sensors: each band of frequencies has a weight of its own, by the variance that the residual has there,
corrected for the unknowns that were fitted (Rao, J. Am. Stat. Assoc. 65, 1970). What no model explains counts as noise
in its band. Candidate terms (`departures`) are added one by one (forward selection): each must raise the log evidence
by more than chance among so many, also on the part of the data that is held back.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from calibration.effects import GAINS, GEOMETRY_PLACES
from calibration.inertia.base import BaseParameters, base_parameters
from calibration.inertia.consistent import is_consistent, nearest_consistent
from calibration.inertia.departures import Scales
from calibration.inertia.design import THETA, Candidate, Design, Unknown, design_of, scale_names
from calibration.inertia.prior import STATED, Accuracy, prior
from calibration.inertia.refusals import check_data, check_result
from calibration.inertia.samples import ForceRecord, Samples, noise_floor, prepared
from calibration.parameters import ParameterFile, covariance_of
from dynamics import Mechanism, with_linear_parameters
from kinematics import Array

_DESIGNS = 2  # the first with nominal inertias, gains of one and no candidates, the last with all
_ROUNDS = 4
_HELD_SHARE = 0.05
"""of what drives that close their own loops give at the instant of a reading, see `Design.held`: of no shape known …"""
_HELD_TIME = 0.1
"""… for so long, s: as the motion that it depends on, it is no noise either"""
_FRICTION_SHARE, _FRICTION_TIME = 0.01, 0.1
"""of friction, to which no law holds, for so long, s"""
_LEAST_NOISE = 1e-6  # N
_DRIVE_NOISE = 0.2
"""N, of a drive's force about what its command makes of it, as white noise"""
_BANDS = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Hz, where bands begin; the last ends at `_PASSED` of the low-pass' cutoff"""
_PASSED = 0.8
_PARTS, _HELD_BACK = 2, 1.0 / 3.0
"""parts of each stretch; of it, its end: what candidates have to explain as well"""
_EVIDENCE = 3.0
"""nats beyond the logarithm of the number of candidates"""
_MOUNTED = 5e-4
"""of a gain: how much it is known less than its calibration says, once the cell is mounted and warm"""
_SETTLED = 1e-6
"""m, likewise of a joint's place and a length's offset"""
_TRIED, _MOST_TERMS = 2, 40


@dataclass(frozen=True, slots=True)
class IdentificationSettings:
    """How to estimate: the zero-phase low-pass' cutoff, Hz; what is known before.

    coulomb_speed: m/s, over which the model smooths Coulomb friction. noise: (6,) N, of the cells, as it was stated or
    measured apart from any motion; None: taken from what is too fast for a machine. gains: covariance (6, 6) of the
    cells' gains, each as a part of itself, by their calibration; None: by `accuracy`. geometry: files that tell joints
    and length offsets with their covariance.
    """

    cutoff: float = 25.0
    accuracy: Accuracy = STATED
    coulomb_speed: float = 1e-3
    noise: Array | None = None
    gains: Array | None = None
    geometry: tuple[ParameterFile, ...] = ()


USUAL = IdentificationSettings()


@dataclass(frozen=True, slots=True)
class FoundTerm:
    """A candidate term (`departures`) that was selected and estimated with the other unknowns.

    code: what it is. leg: 0 to 5, None for the whole machine. size: N RMS, where it is greatest. evidence: nats.
    """

    code: str
    leg: int | None
    size: float
    evidence: float


@dataclass(frozen=True, slots=True, eq=False)
class Identification:
    """What was found.

    nominal, mechanism: as it was known before, and as it is now. estimate, covariance: of all unknowns (n,), (n, n),
    θ first, then `others`. noise: (6,) N, of the cells: as it was stated, else by what of them is too fast for any
    motion. residual: (6,) N, of the low-passed cells. middles: of each stretch its source and the
    middle, s on that one's clock, at which its zeros are told. base: what forces can tell, `base_sigma` (r,) what it is
    known to. told: which of those are known twice as well as before, at least. moved: whether bodies that can exist had
    to be looked for. consistent: whether they were found. terms: what the data show beyond the model. bands: Hz, edges
    (b + 1,); excess (6, b): variance of what is left of each cell there, by that of its noise; degrees (6, b): of
    freedom, how many numbers each rests on. spikes: (6,), readings that were left out. scales: of the candidates.
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
    told: np.ndarray[tuple[int], np.dtype[np.bool_]]
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
        """Zeros of the cells (6,) N, the mean of those of all records."""
        return self._of("offset")

    @property
    def lags(self) -> Array:
        """How much later than they act the cells say forces, (6,) s."""
        return self._of("lag")

    def zeros(self, source: str, t: Array) -> Array:
        """Zeros of the cells (n, 6) N at times t (n,), s on the clock of a source.

        As the stretch of it that was fitted next to them tells, with its drift; those of all, where none is of it.
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
        """What was found of the cells by each stretch (n, 6); n = 1 where it is the same in all."""
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
    cell's scale, of exchanged cells, of another rig, or of a motion that does not tell what is asked.
    """
    samples = prepared(nominal.geometry, records, settings.cutoff, settings.coulomb_speed)
    check_data(nominal, records, samples, settings.coulomb_speed)
    accuracy = settings.accuracy
    theta, known = prior(nominal, accuracy)
    fast = np.sqrt(np.mean([noise_floor(record) ** 2 for record in records], axis=0))
    noise = fast if settings.noise is None else settings.noise
    gain = samples.rate / records[0].rate
    bands = np.array([*(edge for edge in _BANDS if edge < _PASSED * settings.cutoff), _PASSED * settings.cutoff])
    floor = np.full((6 if samples.drives is None else 12, len(bands) - 1), _LEAST_NOISE**2)
    floor[6:] = gain * _DRIVE_NOISE**2
    floor[:6] = np.maximum(floor[:6], gain * np.minimum(noise, fast)[:, np.newaxis] ** 2)
    variances = np.maximum(floor, 1.0)
    heavy = nominal
    about: dict[str, float] = {}
    for number in range(_DESIGNS):
        last = number == _DESIGNS - 1
        design = design_of(nominal, samples, accuracy, settings.coulomb_speed, heavy, about, last)
        problem = _Problem(design, samples, bands, theta, known, settings)
        fit = problem.fit(variances, floor)
        variances = fit.variances
        x = fit.estimate
        if is_consistent(x[:THETA]):
            heavy = with_linear_parameters(nominal, x[:THETA])
        places = {each.name: THETA + k for k, each in enumerate(design.others)}
        about = {name: float(x[places[name]]) for name in scale_names() if name in places}
    fit, found = problem.select_terms(fit, floor)
    covariance, information = fit.covariance, fit.information
    x, before = fit.estimate[fit.active], problem.before[fit.active]
    moved = not is_consistent(x[:THETA])
    if moved:
        x = nearest_consistent(x, information, before)
    others = tuple(
        replace(design.others[place], sigma=float(problem.sigmas[place])) for place in fit.active[THETA:] - THETA
    )
    base = base_parameters(nominal, np.sqrt(np.diag(known)), drives=samples.drives is not None)
    base_sigma = np.sqrt(np.einsum("ij,jk,ik->i", base.matrix, covariance[:THETA, :THETA], base.matrix))
    base_before = np.sqrt(np.einsum("ij,jk,ik->i", base.matrix, known, base.matrix))
    whole = np.zeros(design.size)
    whole[fit.active] = x
    left = design.residuals(whole)
    result = Identification(
        nominal=nominal,
        mechanism=with_linear_parameters(nominal, x[:THETA]),
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
        told=base_sigma < 0.5 * base_before,
        moved=moved,
        consistent=is_consistent(x[:THETA]),
        drives=samples.drives is not None,
        terms=found,
        settings=settings,
        bands=bands,
        excess=fit.raw[:6] / (gain * np.maximum(noise, _LEAST_NOISE)[:, np.newaxis] ** 2),
        degrees=fit.degrees[:6],
        spikes=samples.spikes,
        scales=samples.scales,
    )
    check_result(result, known, gain)
    return result


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    """An estimate (size,) of the unknowns that are `active`, 0 for others; variances, N², of each channel and band.

    raw: those before they were held to the noise at least; degrees: of freedom that each rests on.
    """

    active: NDArray[np.intp]
    estimate: Array
    information: Array
    covariance: Array
    variances: Array
    raw: Array
    degrees: Array


def _known_beside(others: Sequence[Unknown], settings: IdentificationSettings) -> Array:
    """Covariance of the other unknowns before: by calibrations of cells and geometry where there are any."""
    whole = np.diag([each.sigma**2 for each in others])
    places = {each.name: place for place, each in enumerate(others)}
    if settings.gains is not None:
        here = [places[name] for name in GAINS]
        whole[np.ix_(here, here)] = settings.gains + _MOUNTED**2 * np.eye(6)
    if settings.geometry:
        whole = covariance_of(settings.geometry, places, whole)
        told = {each.name for file in settings.geometry for each in file.parameters}
        here = [places[name] for name in GEOMETRY_PLACES if name in told]
        whole[here, here] += _SETTLED**2
    return whole


class _Problem:
    """The normal equations of a design by part of the data, channel and band, which any weights sum up."""

    def __init__(
        self,
        design: Design,
        samples: Samples,
        bands: Array,
        theta: Array,
        known: Array,
        settings: IdentificationSettings,
    ) -> None:
        from scipy.linalg import block_diag  # takes long to import, and few need it

        self.design = design
        self.before = np.concatenate([theta, np.zeros(len(design.others))])
        beside = _known_beside(design.others, settings)
        self.sigmas = np.sqrt(np.diag(beside))
        self.prior = block_diag(np.linalg.inv(known), np.linalg.inv(beside))
        candidates = np.concatenate([np.empty(0, dtype=np.intp), *(each.places for each in design.candidates)])
        self._first = np.setdiff1d(np.arange(design.size), candidates)
        self._rate = samples.rate
        self.counts = np.zeros(len(bands) - 1)
        sizes = [len(channel.places) + 1 for channel in design.channels]
        self._products = [np.zeros((_PARTS, len(bands) - 1, size, size)) for size in sizes]
        """of each channel aᵀa, the values as its last column, by part of the data and band"""
        for record in range(int(samples.record.max()) + 1):
            here = np.flatnonzero(samples.record == record)
            cut = round((1.0 - _HELD_BACK) * len(here))
            for part, rows in enumerate((here[:cut], here[cut:])):
                self._add(part, rows, samples.rate, bands)

    def _add(self, part: int, rows: NDArray[np.intp], rate: float, bands: Array) -> None:
        frequencies = np.fft.rfftfreq(len(rows), 1.0 / rate)
        twice = np.full(len(frequencies), 2.0 / len(rows))  # each stands for its negative too …
        twice[0] /= 2.0
        if len(rows) % 2 == 0:
            twice[-1] /= 2.0
        edges = np.searchsorted(frequencies, bands)
        self.counts += [len(rows) * float(twice[low:high].sum()) for low, high in pairwise(edges)]
        for channel, products in zip(self.design.channels, self._products, strict=True):
            left = channel.values - channel.rows @ self.before[channel.places]
            spectra = np.fft.rfft(np.column_stack([channel.rows, left])[rows], axis=0)
            spectra *= np.sqrt(twice)[:, np.newaxis]
            for band, (low, high) in enumerate(pairwise(edges)):
                values = np.vstack([spectra[low:high].real, spectra[low:high].imag])
                products[part, band] += values.T @ values

    def _normal(self, variances: Array, parts: int, wanted: NDArray[np.intp]) -> tuple[Array, Array]:
        """Σ w aᵀa and Σ w aᵀ(y − a x₀) of the unknowns that are wanted, (k, k) and (k,), by the first parts."""
        matrix, right = np.zeros((len(wanted),) * 2), np.zeros(len(wanted))
        for number, products in enumerate(self._products):
            kept, there = self._columns_of(number, wanted)
            whole = np.tensordot(1.0 / variances[number], products[:parts].sum(axis=0), axes=1)[np.ix_(kept, kept)]
            matrix[np.ix_(there, there)] += whole[:-1, :-1]
            right[there] += whole[:-1, -1]
        return matrix, right

    def _columns_of(self, number: int, wanted: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Of a channel: which of its columns are wanted, and the values' behind them; where in `wanted` they are."""
        places = self.design.channels[number].places
        where = np.full(self.design.size, -1)
        where[wanted] = np.arange(len(wanted))
        here = np.flatnonzero(where[places] >= 0)
        return np.append(here, len(places)), where[places[here]]

    def fit(self, variances: Array, floor: Array, active: NDArray[np.intp] | None = None) -> _Fit:
        """The estimate of the unknowns that are active, those that are no candidates if None."""
        active = self._first if active is None else active
        before = self.prior[np.ix_(active, active)]
        channels = []
        for number, products in enumerate(self._products):
            kept, there = self._columns_of(number, active)
            channels.append((there, products.sum(axis=0)[:, kept[:, np.newaxis], kept]))
        raw = degrees = variances
        for _ in range(_ROUNDS):
            information, right = before.copy(), np.zeros(len(active))
            for (there, products), variance in zip(channels, variances, strict=True):
                whole = np.einsum("b,bij->ij", 1.0 / variance, products)
                information[np.ix_(there, there)] += whole[:-1, :-1]
                right[there] += whole[:-1, -1]
            covariance = np.linalg.inv(information)
            away = covariance @ right
            left = [
                self._residual(products, away[there], covariance[np.ix_(there, there)], variance)
                for (there, products), variance in zip(channels, variances, strict=True)
            ]
            raw, degrees = np.array([each[0] for each in left]), np.array([each[1] for each in left])
            estimate = np.zeros(self.design.size)
            estimate[active] = self.before[active] + away
            unmodelled = (_HELD_SHARE * self.design.held(estimate)) ** 2 * max(1.0, _HELD_TIME * self._rate)
            unmodelled += (_FRICTION_SHARE * self.design.friction(estimate)) ** 2 * max(
                1.0, _FRICTION_TIME * self._rate
            )
            variances = np.maximum(raw, floor) + unmodelled[:, np.newaxis]
        return _Fit(active, estimate, information, covariance, variances, raw, degrees)

    def _residual(self, products: Array, away: Array, covariance: Array, variances: Array) -> tuple[Array, Array]:
        """Residual variance (bands,) N² of a channel, and its degrees of freedom (bands,): samples less leverage."""
        inner, across = products[:, :-1, :-1], products[:, :-1, -1]
        squares = products[:, -1, -1] - 2.0 * across @ away + inner @ away @ away
        fitted = np.einsum("bij,ij->b", inner, covariance) / variances
        degrees = np.maximum(self.counts - fitted, 1.0)
        return np.maximum(squares, 0.0) / degrees, degrees

    def select_terms(self, fit: _Fit, floor: Array) -> tuple[_Fit, tuple[FoundTerm, ...]]:
        """Forward selection: the fit with the candidates that the data need, and what they are.

        Candidates are ranked twice, with the present residual variances and with those of noise alone: a large effect
        that is not modelled yet inflates the former and hides itself. A trial is judged by the variances it leaves.
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
                whole, known = (
                    float(self._evidence(fit.active, [groups[number]], parts, trial.variances)[0])
                    for parts in (_PARTS, _PARTS - 1)
                )
                if whole >= max(least, known) and (best is None or whole > best[0]):
                    best = whole, number, trial
            if best is None:
                break
            gain, number, fit = best
            taken.append((left.pop(number), gain))
        return fit, tuple(self._found_term(candidate, gain, fit.estimate) for candidate, gain in taken)

    def _found_term(self, candidate: Candidate, gain: float, estimate: Array) -> FoundTerm:
        """A selected candidate with its RMS effect on the channel where it is greatest."""
        sizes = []
        for channel in self.design.channels:
            here = np.flatnonzero(np.isin(channel.places, candidate.places))
            effect = channel.rows[:, here] @ estimate[channel.places[here]]
            sizes.append(float(np.sqrt(np.mean(effect**2))))
        return FoundTerm(candidate.code, candidate.leg, max(sizes), gain)

    def _evidence(
        self, active: NDArray[np.intp], groups: Sequence[NDArray[np.intp]], parts: int, variances: Array
    ) -> Array:
        """Gain of log evidence, nats, of the first parts by each group of unknowns; the others are marginalised."""
        rest = np.concatenate([np.empty(0, dtype=np.intp), *groups])
        wanted = np.concatenate([active, rest])
        matrix, right = self._normal(variances, parts, wanted)
        count = len(active)
        root = np.linalg.cholesky(matrix[:count, :count] + self.prior[np.ix_(active, active)])
        from scipy.linalg import solve_triangular  # takes long to import, and few need it

        coupled = solve_triangular(root, matrix[:count, count:], lower=True)
        towards = solve_triangular(root, right[:count], lower=True)
        place = 0
        found = np.empty(len(groups))
        for number, group in enumerate(groups):
            here = slice(place, place + len(group))
            there = slice(count + place, count + place + len(group))
            place += len(group)
            information = matrix[there, there] - coupled[:, here].T @ coupled[:, here]
            score = right[there] - coupled[:, here].T @ towards
            before = self.prior[np.ix_(group, group)]
            after = information + before
            sizes = np.linalg.slogdet(after)[1] - np.linalg.slogdet(before)[1]
            found[number] = 0.5 * (score @ np.linalg.solve(after, score) - sizes)
        return found
