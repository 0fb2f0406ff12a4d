"""`identify_arm`: an arm's parameters from measured motions and forces, with their uncertainty and hold-outs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from calibration.arm.estimate import ArmFit, ArmSettings, Problem
from calibration.arm.judgement import Formulation, Study, Whiteness, formulations, whiteness
from calibration.arm.samples import ArmRecord, ArmSamples, prepare
from calibration.arm.torque_model import BODY, TorqueModel, body_regressor
from calibration.errors import CalibrationError
from calibration.inertia.least_squares import BaseParameters, base_combinations
from calibration.inertia.parameter_report import BODY_NUMBERS, body_numbers, body_slopes
from calibration.parameters import Parameter
from dynamics import body_of, serial
from kinematics import Array

_STATES = 400
_SEED = 1
_DRAWS = 200
_DETERMINED = 0.5
"""of the prior's standard deviation, from which down a combination counts as determined by the data"""
_LEAST = 1e-8  # of a variance
_SMOOTHING = 0.03
_FOUND = 0.69
"""σ of the logarithm of a gain that is known to a factor of two"""
_SOME_BODY = np.array([1.0, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.0, 0.0, 0.0])
_USUAL = ArmSettings()


@dataclass(frozen=True, slots=True, eq=False)
class ArmIdentification:
    """Result of `identify_arm`.

    arm: as known before; identified: with the parameters found. An arm's file has Coulomb and viscous friction alone,
    so that `identified` is from a fit without the further `terms`, if there are any. fit: to all rows, with terms of
    friction and smoothing, the latter as part of the RMS speed.

    base: the combinations of unknowns on which forces of this arm depend; base_before, base_after (r,): their values;
    base_sigma (r,); determined (r,): whether the data reduce the standard deviation of each to half of the prior's or
    less. singular (r,): singular values of the weighted columns of these motions in units of the prior's standard
    deviations.

    covariance (p, p): of the fit's unknowns, in every direction by the larger of the residual's correlation and a
    bootstrap of blocks, and by the prior. stated_over_bootstrap (number of determined ones,): their standard deviations
    by the former alone, over those by the bootstrap. gains (n,): of each drive, over the stated one; gain_sigma (n,), 0
    for gains that are known. formulations: other models and estimators on the same forces.
    """

    arm: serial.Arm
    identified: serial.Arm
    samples: ArmSamples
    fit: ArmFit
    terms: tuple[str, ...]
    smoothing: float
    base: BaseParameters
    base_before: Array
    base_after: Array
    base_sigma: Array
    determined: NDArray[np.bool_]
    singular: Array
    covariance: Array
    stated_over_bootstrap: Array
    gains: Array
    gain_sigma: Array
    formulations: tuple[Formulation, ...]
    whiteness: Whiteness

    def formulation(self, code: str) -> Formulation:
        """One of the formulations. Raises KeyError for one that is not among them."""
        found = {each.code: each for each in self.formulations}
        return found[code]

    def physical(self) -> tuple[tuple[Parameter, ...], Array]:
        """Masses, centres, inertias, rotors and friction by their names in an arm's file, and their covariance (m, m).

        To first order.
        """
        return physical_parameters(self.fit, self.covariance)


def identify_arm(
    arm: serial.Arm,
    records: Sequence[ArmRecord],
    settings: ArmSettings = _USUAL,
    cutoff: float | None = None,
    progress: Callable[[str, float], None] = lambda _stage, _share: None,
) -> ArmIdentification:
    """Identify an arm from records of motions and forces.

    Args:
        arm: its geometry, and what is known of the rest.
        records: of one arm with the same drives. cutoff: Hz, of the zero-phase low-pass; None: `chosen_cutoff`.
        progress: receives the code of a stage and its share: preparing, fitting-parameters, judging.

    Raises:
        CalibrationError: data or settings that cannot be used, with all reasons.
    """
    progress("preparing", 0.0)
    samples = prepare(arm, records, cutoff)
    scale = np.ones(len(arm))
    if settings.accuracy.gain >= 1.0:  # forces in an unknown unit: what friction may be before is by their size
        scale = rough_gains(Study(samples, settings))
        samples = prepare(arm, [replace(each, drives=each.drives * scale) for each in records], samples.cutoff)
    study = Study(samples, settings)
    progress("fitting-parameters", 0.0)
    terms, smoothing = study.chosen(None)
    problem = study.problem(settings, terms, smoothing, None)
    fit = problem.fit()
    plain = fit if not terms else study.problem(replace(settings, friction=()), (), smoothing, None).fit()
    size = len(fit.model)
    by_draws = problem.bootstrap(fit, _DRAWS)
    everything = larger_covariance(fit.data_covariance, by_draws) + fit.covariance - fit.data_covariance
    by_draws, by_residual, covariance = (each[:size, :size] for each in (by_draws, fit.data_covariance, everything))
    gain_sigma = np.sqrt(np.diag(everything)[size:]) if len(everything) > size else np.zeros(len(arm))
    base = base_parameters_of(fit.model, samples, fit.before_sigma)
    after = _sigmas(base.matrix, covariance)
    determined = after < _DETERMINED * _sigmas(base.matrix, np.linalg.inv(problem.information))
    found = formulations(study, smoothing, lambda share: progress("judging", share))
    return ArmIdentification(
        arm=arm,
        identified=with_parameters(arm, plain),
        samples=samples,
        fit=fit,
        terms=terms,
        smoothing=smoothing,
        base=base,
        base_before=base.matrix @ fit.before,
        base_after=base.matrix @ fit.x,
        base_sigma=after,
        determined=determined,
        singular=_singular_values(problem, fit, base),
        covariance=covariance,
        stated_over_bootstrap=_sigmas(base.matrix[determined], by_residual)
        / _sigmas(base.matrix[determined], by_draws),
        gains=scale * fit.gains,
        gain_sigma=scale * fit.gains * gain_sigma,
        formulations=found,
        whiteness=whiteness(samples, fit),
    )


def rough_gains(study: Study) -> Array:
    """Gains (n,) of drives whose forces are in an unknown unit, by runs with a known load.

    Raises CalibrationError where no run has a load, or a drive's gain is not found better than to a factor of two.
    """
    samples = study.samples
    if not samples.known.any():
        raise CalibrationError("gains: unknown, and no run has a known load: state the gains, or give such a run")
    fit = study.problem(study.settings, (), study.settings.smoothing or _SMOOTHING, None).fit()
    sigma = np.sqrt(np.diag(fit.covariance)[len(fit.model) :])
    found = sigma < _FOUND
    if not found.any():
        raise CalibrationError(
            "gains: the known load does not tell any of them to a factor of two: a heavier load, or faster motions"
        )
    return np.where(found, fit.gains, np.median(fit.gains[found]))


def larger_covariance(one: Array, other: Array) -> Array:
    """The least covariance (p, p) that is in every direction at least as large as two others."""
    scale = np.sqrt(np.maximum(np.diag(one) + np.diag(other), 1e-300))
    sizes, axes = np.linalg.eigh(one / np.outer(scale, scale))
    root = axes * np.sqrt(np.maximum(sizes, _LEAST))
    second = np.linalg.solve(root, np.linalg.solve(root, other / np.outer(scale, scale)).T)
    values, ways = np.linalg.eigh(0.5 * (second + second.T))
    half = root @ ways * np.sqrt(np.maximum(values, 1.0))
    larger: Array = half @ half.T * np.outer(scale, scale)
    return larger


def base_parameters_of(model: TorqueModel, samples: ArmSamples, scale: Array) -> BaseParameters:
    """The combinations of a model's unknowns that joint forces depend on, at random states within the motions' reach.

    scale (p,): what is known of each before, by which independent unknowns are chosen.
    """
    generator = np.random.Generator(np.random.PCG64(_SEED))
    n = len(samples.arm.joints)
    q = generator.uniform(samples.q.min(axis=0), samples.q.max(axis=0), (_STATES, n))
    qd = generator.normal(size=(_STATES, n)) * samples.qd.std(axis=0)
    qdd = generator.normal(size=(_STATES, n)) * samples.qdd.std(axis=0)
    rows = body_regressor(samples.arm, q, qd, qdd)
    driven = model.drive_values(qd, qdd)[:, np.newaxis, :] * model.drive_rows.T
    parts: list[Array] = [rows, driven]
    if "load" in model.terms:
        parts.append(model.load_columns(model.smoothed_sign(qd), rows @ np.tile(_SOME_BODY, n)))
    stacked = np.concatenate(parts, axis=2).reshape(-1, len(model))
    matrix, pivots = base_combinations(stacked, scale)
    return BaseParameters(matrix, pivots, model.parameters.names, model.parameters.units)


def _singular_values(problem: Problem, fit: ArmFit, base: BaseParameters) -> Array:
    """Singular values (r,) of the weighted columns of the base parameters, in units of what was known of them."""
    known = _sigmas(base.matrix, np.linalg.inv(problem.information))
    weighted = problem.columns[:, :, list(base.pivots)] * np.sqrt(fit.weights)[:, :, np.newaxis] * known
    return np.asarray(np.linalg.svd(weighted.reshape(-1, len(known)), compute_uv=False), dtype=np.float64)


def _sigmas(matrix: Array, covariance: Array) -> Array:
    """Standard deviations (r,) of the combinations (r, p) of quantities with a covariance (p, p)."""
    squares: Array = np.einsum("rp,pq,rq->r", matrix, covariance, matrix, optimize=True)
    return np.sqrt(np.maximum(squares, 0.0))


def with_parameters(arm: serial.Arm, fit: ArmFit) -> serial.Arm:
    """The arm with the bodies, rotors, friction and offsets of a fit without further terms of friction."""
    values = dict(zip(fit.model.parameters.names, fit.x.tolist(), strict=True))
    joints = []
    for i, joint in enumerate(arm.joints):
        body = body_of(fit.x[BODY * i : BODY * (i + 1)])
        inertia = np.asarray(body.inertia)
        changes = {
            name: values.get(f"joints[{i}].{name}", 0.0) for name in ("motor_inertia", "viscous", "coulomb", "offset")
        }
        joints.append(
            replace(
                joint,
                mass=body.mass,
                center=np.asarray(body.center_of_mass),
                inertia=0.5 * (inertia + inertia.T),
                **changes,
            )
        )
    geared = arm.transmission is not None
    rotors, viscous, coulomb = (
        np.array([values.get(f"{name}[{k}]", 0.0) for k in range(len(arm.joints))]) if geared else None
        for name in _MOTOR_NAMES
    )
    return replace(
        arm,
        joints=tuple(joints),
        source="",
        warnings=(),
        rotor_inertia=rotors,
        motor_viscous=viscous,
        motor_coulomb=coulomb,
    )


_MOTOR_NAMES = {"rotor_inertia": "rotor_inertia", "motor_viscous": "viscous", "motor_coulomb": "coulomb"}


def physical_parameters(fit: ArmFit, covariance: Array) -> tuple[tuple[Parameter, ...], Array]:
    """Parameters of a fit by their names in an arm's file, with their values before, and their covariance (m, m).

    To first order. Raises DynamicsError for a mass that is not above zero.
    """
    names, before, after = [], fit.before.copy(), fit.x.copy()
    slopes = np.eye(len(fit.x))
    for i, place in enumerate(fit.model.parameters.bodies):
        before[place], after[place] = body_numbers(fit.before[place]), body_numbers(fit.x[place])
        names += [f"joints[{i}].{name}" for name, _ in BODY_NUMBERS]
        slopes[place, place] = body_slopes(fit.x[place])
    for name in fit.model.parameters.names[len(names) :]:
        first, _, index = name.partition("[")
        names.append(f"joints[{index[:-1]}].motor.{_MOTOR_NAMES[first]}" if first in _MOTOR_NAMES else name)
    units = [unit for _ in fit.model.parameters.bodies for _, unit in BODY_NUMBERS]
    units += fit.model.parameters.units[len(units) :]
    moved: Array = slopes @ covariance @ slopes.T
    sigmas = np.sqrt(np.maximum(np.diag(moved), 0.0))
    columns = (before.tolist(), after.tolist(), sigmas.tolist())
    return tuple(Parameter(*each) for each in zip(names, units, *columns, strict=True)), moved
