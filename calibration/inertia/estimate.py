"""Estimating the exact model's parameters from measured forces.

Weighted least squares on the regressor with what was known before: x = Λ⁻¹ (Σ w aᵀy + P₀⁻¹ x₀), Λ = Σ w aᵀa + P₀⁻¹. A
sensor's weight comes from its own residual in the band of the motion, so that what no model explains counts as noise
there; then the nearest parameters that bodies can have.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calibration.inertia.base import BaseParameters, base_parameters
from calibration.inertia.considered import considered
from calibration.inertia.consistent import is_consistent, nearest_consistent
from calibration.inertia.design import THETA, Unknown, design_of, feels_friction
from calibration.inertia.prior import STATED, Accuracy, prior
from calibration.inertia.refusals import check_data, check_result
from calibration.inertia.samples import ForceRecord, Samples, noise_floor, prepared
from dynamics import Mechanism, with_linear_parameters
from kinematics import Array

_DESIGNS = 2  # the first with the nominal inertias where only a correction needs them
_ROUNDS = 3
_FRICTION_TIME = 0.5
"""s, for which what friction has beyond any model stays the same: as the motion that it depends on, it is no noise"""
_HELD_SHARE = 0.05
"""of what drives that close their own loops give at the instant of a reading, see `Design.held`: of no shape known …"""
_HELD_TIME = 0.1
"""… for so long, s: as the motion that it depends on, it is no noise either"""
_LEAST_NOISE = 1e-6  # N
_SEGMENT = 512  # samples of a spectrum


@dataclass(frozen=True, slots=True)
class IdentificationSettings:
    """How to estimate: the zero-phase low-pass' cutoff, Hz; the band of motion, Hz; what is known before.

    coulomb_speed: m/s, over which the model smooths Coulomb friction.
    """

    cutoff: float = 25.0
    band: float = 5.0
    accuracy: Accuracy = STATED
    coulomb_speed: float = 1e-3


USUAL = IdentificationSettings()


@dataclass(frozen=True, slots=True, eq=False)
class Identification:
    """What was found.

    nominal, mechanism: as it was known before, and as it is now. estimate, covariance: of all unknowns (n,), (n, n),
    θ first, then `others`. noise: (6,) N, of the cells, by what of them is too fast for any motion. residual: (6,) N,
    of the low-passed cells. middles: of each stretch its source and the middle, s on that one's clock, at which its
    zeros are told. base: what forces can tell, `base_sigma` (r,) what it is known to. told: which of those are known
    twice as well as before, at least. moved: whether bodies that can exist had to be looked for. consistent: whether
    they were found.
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
    from scipy.linalg import block_diag  # takes long to import, and few need it

    samples = prepared(nominal.geometry, records, settings.cutoff, settings.coulomb_speed)
    check_data(nominal, records, samples, settings.coulomb_speed)
    accuracy = settings.accuracy
    theta, known = prior(nominal, accuracy)
    noise = np.sqrt(np.mean([noise_floor(record) ** 2 for record in records], axis=0))
    gain = samples.rate / records[0].rate
    white = np.maximum(noise, _LEAST_NOISE) ** 2 * gain
    heavy = nominal
    rubbed = [
        *(leg for leg in range(6) if feels_friction(nominal, leg)),
        *range(6, 6 if samples.drives is None else 12),
    ]
    x, variances = theta, np.empty(0)
    for _ in range(_DESIGNS):
        design = design_of(nominal, samples, accuracy, settings.coulomb_speed, heavy)
        before = np.concatenate([theta, np.zeros(len(design.others))])
        prior_information = block_diag(np.linalg.inv(known), np.diag([1.0 / each.sigma**2 for each in design.others]))
        if not len(variances):
            variances = np.concatenate([white, np.ones(len(design.channels) - 6)])
        for _ in range(_ROUNDS):
            matrix, right = design.normal(1.0 / variances)
            information = matrix + prior_information
            x = np.linalg.solve(information, right + prior_information @ before)
            left = design.residuals(x)
            variances = np.array([_variance(values, samples, settings.band) for values in left])
            variances[rubbed] *= max(1.0, _FRICTION_TIME * samples.rate)
            variances += (_HELD_SHARE * design.held(x)) ** 2 * max(1.0, _HELD_TIME * samples.rate)
        if is_consistent(x[:THETA]):
            heavy = with_linear_parameters(nominal, x[:THETA])
    matrix, right = design.normal(1.0 / variances)
    information = matrix + prior_information
    x = np.linalg.solve(information, right + prior_information @ before)
    moved = not is_consistent(x[:THETA])
    if moved:
        x = nearest_consistent(x, information, before)
    covariance = np.asarray(np.linalg.inv(information), dtype=np.float64)
    effects = covariance @ considered(nominal, samples, design, 1.0 / variances, accuracy, settings.coulomb_speed)
    covariance += effects @ effects.T
    base = base_parameters(nominal, np.sqrt(np.diag(known)), drives=samples.drives is not None)
    base_sigma = np.sqrt(np.einsum("ij,jk,ik->i", base.matrix, covariance[:THETA, :THETA], base.matrix))
    base_before = np.sqrt(np.einsum("ij,jk,ik->i", base.matrix, known, base.matrix))
    left = design.residuals(x)
    result = Identification(
        nominal=nominal,
        mechanism=with_linear_parameters(nominal, x[:THETA]),
        before=before,
        estimate=x,
        covariance=covariance,
        others=design.others,
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
    )
    check_result(result, known, gain)
    return result


def _variance(left: Array, samples: Samples, band: float) -> float:
    """Variance, N², that white residuals would have to have for the power that these have in the band of motion."""
    from scipy.signal import welch  # takes long to import, and few need it

    powers, weights = [], []
    for record in range(int(samples.record.max()) + 1):
        values = left[samples.record == record]
        frequency, density = welch(values, samples.rate, nperseg=min(_SEGMENT, len(values)), detrend=False)
        inside = frequency <= band
        powers.append(float(density[inside].mean()) * 0.5 * samples.rate)
        weights.append(len(values))
    in_band = float(np.average(powers, weights=weights))
    return max(in_band, float(np.mean(left**2)), _LEAST_NOISE**2)
