"""Identification of arms from forces of an independent model with coloured noise and friction that no law describes."""

from dataclasses import replace

import numpy as np
import pytest
from measured_arms import RATE, coloured, elbow, measured, motion, roughly_known

from calibration import CalibrationError
from calibration.arm import (
    UNKNOWN_GAIN,
    ArmAccuracy,
    ArmRecord,
    ArmSettings,
    Study,
    base_parameters_of,
    chosen_cutoff,
    identify_arm,
    prepare,
    splits,
)
from calibration.arm.consistent import all_consistent, nearest_body_parameters
from calibration.arm.estimate import autocorrelation, correlation_length, long_run_covariance
from calibration.arm.identify import larger_covariance, physical_parameters, rough_gains
from calibration.arm.judgement import whiteness
from dynamics import Body, linear_body
from dynamics.serial import ArmDynamics

ARM = elbow()
KNOWN = roughly_known(ARM)
SMOOTH = ArmSettings(smoothing=0.03)


def fitted(records, settings=SMOOTH, arm=KNOWN):
    samples = prepare(arm, records, 20.0)
    problem = Study(samples, settings).problem(settings, settings.friction, settings.smoothing, None)
    return samples, problem, problem.fit()


def truth_of(fit, arm=ARM):
    bodies = [linear_body(Body(joint.mass, joint.center, joint.inertia)) for joint in arm.joints]
    names = ("motor_inertia", "viscous", "coulomb", "offset")
    return np.concatenate([*bodies, *([getattr(joint, name) for joint in arm.joints] for name in names)])


def test_without_noise_the_base_parameters_are_found():
    samples, _, fit = fitted([measured(ARM, 1, noise=1e-4)])
    base = base_parameters_of(fit.model, samples, fit.before_sigma)
    assert base.matrix.shape[0] < len(fit.model)
    inertial = [row for row, pivot in enumerate(base.pivots) if pivot < 33]
    change = base.matrix @ (fit.before - truth_of(fit))
    error = base.matrix @ (fit.x - truth_of(fit))
    assert np.linalg.norm(error[inertial]) < 0.05 * np.linalg.norm(change[inertial])


def scores(correlation, seeds, white=False):
    """Errors of the base parameters over their stated standard deviations, of several runs."""
    found = []
    for seed in seeds:
        record = measured(ARM, seed, noise=0.4, correlation=correlation)
        samples, _, fit = fitted([record])
        covariance = fit.covariance
        if white:
            covariance = covariance / np.mean(fit.correlation)
        base = base_parameters_of(fit.model, samples, fit.before_sigma)
        sigma = np.sqrt(np.einsum("rp,pq,rq->r", base.matrix, covariance, base.matrix))
        prior = np.linalg.norm(base.matrix * fit.before_sigma, axis=1)
        determined = (sigma < 0.5 * prior) & (np.array(base.pivots) < 33)
        found.append(((base.matrix @ (fit.x - truth_of(fit))) / sigma)[determined])
    return np.concatenate(found)


def test_stated_sigmas_cover_the_truth_under_coloured_noise():
    z = scores(0.1, range(6))
    assert len(z) > 60
    assert 0.6 < np.sqrt(np.mean(z**2)) < 1.35
    assert np.mean(np.abs(z) < 2.0) > 0.9


def test_sigmas_that_take_the_noise_as_white_would_not_cover():
    assert np.sqrt(np.mean(scores(0.1, range(3), white=True) ** 2)) > 1.6


def test_a_bootstrap_of_blocks_agrees_with_the_residuals_correlation():
    samples, problem, fit = fitted([measured(ARM, 2, seconds=24.0, correlation=0.1)])
    draws = problem.bootstrap(fit, 150)
    base = base_parameters_of(fit.model, samples, fit.before_sigma)
    by_data, by_draws = (
        np.sqrt(np.einsum("rp,pq,rq->r", base.matrix, each, base.matrix)) for each in (fit.data_covariance, draws)
    )
    determined = by_data > 1e-3 * np.linalg.norm(base.matrix * fit.before_sigma, axis=1)
    assert 0.7 < np.median(by_data[determined] / by_draws[determined]) < 1.3


def test_constrained_fit_has_consistent_bodies_where_the_free_one_has_not():
    record = measured(ARM, 3, noise=2.0, correlation=0.3, outside=1.0)
    loose = replace(SMOOTH, accuracy=ArmAccuracy(mass=3.0, center=0.5, inertia=3.0), consistent=False)
    _, problem, free = fitted([record], loose)
    assert not free.consistent
    _, _, bound = fitted([record], replace(loose, consistent=True))
    assert bound.consistent
    assert bound.moved
    assert (bound.x[free.model.places("coulomb")] >= 0.0).all()
    assert problem.mean.shape == bound.x.shape


@pytest.mark.parametrize("inertia", [[0.01, 0.01, 0.02], [0.02, 0.01, 0.01], [0.0, 0.01, 0.01], [0.0, 0.0, 0.0]])
def test_a_stated_body_without_volume_keeps_its_mass_and_bodies_that_can_exist_are_found(inertia):
    *others, last = KNOWN.joints
    arm = replace(KNOWN, joints=(*others, replace(last, inertia=np.diag(inertia))))
    samples, problem, fit = fitted([measured(ARM, 1, noise=0.4)], arm=arm)
    place = fit.model.parameters.bodies[-1]
    body = problem.mean[place]
    np.testing.assert_allclose(body[:4], last.mass * np.array([1.0, *last.center]))
    assert all_consistent(problem.mean, fit.model.parameters.bodies, ())
    assert np.linalg.cond(problem.information[place, place] * np.outer(*[problem.before_sigma[place]] * 2)) < 1e9
    assert fit.consistent
    assert samples.arm is arm


def test_a_barrier_method_on_an_indefinite_information_is_refused():
    body = linear_body(Body(1.0, np.zeros(3), np.diag([0.01, 0.01, 0.01])))
    information = 1e9 * np.eye(10)
    information[1:3, 1:3] = [[1e9, 3e9], [3e9, 1e9]]  # a saddle, as of rounding in a matrix that is nearly singular
    estimate = body + np.eye(10)[1] - np.eye(10)[2]
    with pytest.raises(CalibrationError, match="did not converge"):
        nearest_body_parameters(estimate, information, body, [slice(0, 10)], [])


def test_the_nearest_consistent_parameters_are_optimal():
    rng = np.random.default_rng(4)
    bodies, positive = (slice(0, 10),), (slice(10, 12),)
    start = np.concatenate([linear_body(Body(2.0, np.array([0.1, 0.0, 0.0]), 0.01 * np.eye(3))), [1.0, 1.0]])
    estimate = start + rng.normal(size=12)
    root = rng.normal(size=(20, 12))
    information = 1e3 * root.T @ root
    assert not all_consistent(estimate, bodies, positive)
    found = nearest_body_parameters(estimate, information, start, bodies, positive)
    assert all_consistent(found, bodies, positive)
    slope = information @ (found - estimate)
    for _ in range(200):  # towards any other consistent point the distance grows: the problem is convex
        inertia = rng.uniform(1e-4, 1.0) * np.diag([1.0, 1.2, 0.9])
        other = np.concatenate(
            [linear_body(Body(rng.uniform(0.01, 5.0), rng.normal(size=3), inertia)), rng.uniform(0.0, 3.0, 2)]
        )
        assert slope @ (other - found) > -0.1
    with pytest.raises(CalibrationError, match="to begin from"):
        nearest_body_parameters(estimate, information, -start, bodies, positive)


def test_gains_are_found_from_runs_with_a_known_load():
    gains = np.array([1.15, 0.9, 1.3])
    empty, loaded = (
        measured(ARM, seed, noise=0.05, gains=gains, load=load)
        for seed, load in ((5, None), (6, np.array([4.0, 0.1, 0.02, 0.05])))
    )
    settings = replace(SMOOTH, accuracy=ArmAccuracy(gain=UNKNOWN_GAIN))
    _, _, fit = fitted([empty, loaded], settings)
    sigma = np.sqrt(np.diag(fit.covariance)[len(fit.model) :])
    assert (sigma[1:] < 0.03).all()  # the load hardly weighs on the first, vertical joint
    assert (np.abs(np.log(fit.gains / gains)) < 3.0 * sigma).all()
    _, _, without = fitted([empty], settings)
    assert (np.sqrt(np.diag(without.covariance)[len(fit.model) :]) > 3.0 * sigma).all()


def test_gains_in_any_unit_are_found():
    gains = np.array([11.5, 9.0, 13.0])  # N m at the joint per A
    records = [
        measured(ARM, seed, noise=0.05, gains=gains, load=load)
        for seed, load in ((5, None), (6, np.array([4.0, 0.1, 0.02, 0.05])))
    ]
    unknown = replace(SMOOTH, accuracy=ArmAccuracy(gain=UNKNOWN_GAIN))
    found = rough_gains(Study(prepare(KNOWN, records, 20.0), unknown))
    np.testing.assert_allclose(found[1:], gains[1:], rtol=0.05)
    with pytest.raises(CalibrationError, match="no run has a known load"):
        identify_arm(KNOWN, records[:1], unknown, 20.0)


def test_held_out_forces_are_predicted_better_than_by_ordinary_least_squares():
    found = identify_arm(KNOWN, [measured(ARM, 7, seconds=9.0, noise=0.6, outside=0.6, size=0.8)], SMOOTH, 20.0)
    ordinary, ours = found.formulation("ordinary"), found.formulation("chosen")
    for theirs, mine in zip(ordinary.hold_outs, ours.hold_outs, strict=True):
        assert theirs.split == mine.split
        assert np.mean(mine.held_out) < 0.97 * np.mean(theirs.held_out)
    assert found.fit.consistent
    bare = found.formulation("without-friction")
    assert (bare.hold_outs[1].held_out > ours.hold_outs[1].held_out).all()
    codes = [each.code for each in found.formulations]
    assert "without-coupling" not in codes
    assert [split.name for split in splits(found.samples)] == ["last-third", "blocks"]
    names = {each.name: each for each in found.physical()[0]}
    assert abs(names["joints[1].coulomb"].value - 2.5) < 1.5
    assert names["joints[1].mass"].sigma > 0.1  # forces alone do not tell a mass
    assert not found.whiteness.white.all()
    arm = found.identified
    q, qd, qdd = motion(ARM, 11, 2.0)
    true = ArmDynamics(ARM, 0.02).inverse(q, qd, qdd)
    before, after = (np.std(ArmDynamics(each, 0.02).inverse(q, qd, qdd) - true) for each in (KNOWN, arm))
    assert after < 0.4 * before


def test_a_coupled_wrist_needs_its_coupling_and_several_runs_are_held_out_whole():
    arm = elbow(coupled=True)
    records = [measured(arm, seed, seconds=6.0, noise=0.1) for seed in (8, 9)]
    samples = prepare(roughly_known(arm), records, 20.0)
    study = Study(samples, SMOOTH)
    assert [split.name for split in splits(samples)] == ["last-third", "blocks", "trajectory"]
    with_it, without = (study.formulation(code, 0.03) for code in ("consistent", "without-coupling"))
    for ours, theirs in zip(with_it.hold_outs, without.hold_outs, strict=True):
        assert (ours.held_out[1:] < 0.6 * theirs.held_out[1:]).all()
    assert (samples.record == np.repeat([0, 1], [np.sum(samples.record == 0), np.sum(samples.record == 1)])).all()


def test_held_out_rows_are_not_fitted():
    record = measured(ARM, 18, seconds=8.0)
    drives = record.drives.copy()
    drives[int(0.7 * len(drives)) :] *= -1.0  # forces that no model of the rest has
    study = Study(prepare(KNOWN, [replace(record, drives=drives)], 20.0), SMOOTH)
    held = study.formulation("consistent", 0.03).hold_outs[0]
    assert held.split == "last-third"
    assert (held.fitted < 0.2).all()
    assert (held.held_out > 1.5).all()


def test_the_only_run_with_a_load_is_not_held_out_where_gains_are_unknown():
    ball = np.array([4.0, 0.1, 0.02, 0.05])
    records = [measured(ARM, seed, seconds=6.0, load=load) for seed, load in ((5, None), (6, ball))]
    samples = prepare(KNOWN, records, 20.0)
    fitted_of = {known: splits(samples, with_load=known)[-1].fitted for known in (False, True)}
    assert set(samples.record[fitted_of[False]]) == {0}
    assert set(samples.record[fitted_of[True]]) == {1}
    assert splits(prepare(KNOWN, records[1:], 20.0), with_load=True)[-1].name == "blocks"


def test_bootstrap_sigmas_of_gains_agree_with_the_stated_ones():
    ball = np.array([4.0, 0.1, 0.02, 0.05])
    records = [measured(ARM, seed, noise=0.3, load=load) for seed, load in ((5, None), (6, ball))]
    _, problem, fit = fitted(records, replace(SMOOTH, accuracy=ArmAccuracy(gain=0.2)))
    draws = np.sqrt(np.diag(problem.bootstrap(fit, 100)))[len(fit.model) :]
    stated = np.sqrt(np.diag(fit.data_covariance))[len(fit.model) :]
    assert draws.shape == (3,)
    assert (np.abs(np.log(stated / draws)) < np.log(2.0)).all()


def test_cross_validation_chooses_the_power_law_of_friction_only_where_it_acts():
    q, qd, qdd = motion(ARM, 12, 20.0)
    rng = np.random.default_rng(0)
    forces = ArmDynamics(ARM, 0.02).inverse(q, qd, qdd) + coloured(rng, len(q), np.full(3, 0.1), 0.05)
    falling = 4.0 * np.tanh(qd / 0.02) * np.sqrt(np.abs(qd))
    auto = ArmSettings(friction="auto")
    plain, powered = (
        Study(prepare(KNOWN, [ArmRecord(RATE, q, each)], 20.0), auto).chosen(None)[0]
        for each in (forces, forces + falling)
    )
    assert "power" not in plain
    assert "power" in powered


def test_whiteness_test_accepts_white_and_rejects_coloured_noise():
    q, qd, qdd = motion(ARM, 13, 20.0)
    forces = ArmDynamics(ARM, 0.02).inverse(q, qd, qdd)
    rng = np.random.default_rng(3)
    for noise, white in ((rng.normal(size=q.shape), True), (coloured(rng, len(q), np.ones(3), 0.2), False)):
        samples, _, fit = fitted([ArmRecord(RATE, q, forces + noise)])
        test = whiteness(samples, fit)
        assert test.white.all() == white
        assert (test.white == white).sum() >= 2


def test_correlation_of_rows_is_measured():
    rng = np.random.default_rng(5)
    slow = coloured(rng, 40_000, np.ones(1), 0.05)[:, 0]  # e⁻⁰·¹ from row to row: (1 + r)/(1 − r) = 20
    assert 15.0 < correlation_length([slow]) < 25.0
    assert correlation_length([rng.normal(size=5000)]) < 1.3
    assert correlation_length([np.zeros(10)]) == 1.0
    np.testing.assert_allclose(autocorrelation([np.array([1.0, 2.0]), np.array([3.0, -1.0])]), [1.0, -1.0 / 15.0])
    parts = np.split(slow[:, np.newaxis], 4)
    whole = long_run_covariance(parts, 20.0)[0, 0] / len(slow)
    assert 15.0 < whole < 25.0


def test_the_larger_of_two_covariances_is_at_least_both():
    rng = np.random.default_rng(6)
    one, other = (each @ each.T for each in rng.normal(size=(2, 5, 8)))
    larger = larger_covariance(one, other)
    for each in (one, other):
        assert np.linalg.eigvalsh(larger - each)[0] > -1e-6
    np.testing.assert_allclose(larger_covariance(one, 0.5 * one), one, rtol=1e-6, atol=1e-8)


def test_sigma_of_a_light_bodys_centre_is_to_first_order():
    _, _, fit = fitted([measured(ARM, 2, seconds=6.0)])
    x, covariance = fit.x.copy(), np.zeros_like(fit.covariance)
    x[:10] = linear_body(Body(1e-5, np.array([0.1, 0.0, 0.0]), 1e-7 * np.eye(3)))
    covariance[0, 0] = 1.0  # of the mass: 1 kg, a hundred thousand times the mass
    center = physical_parameters(replace(fit, x=x), covariance)[0][1]
    assert center.name == "joints[0].center_of_mass[0]"
    np.testing.assert_allclose(center.sigma, x[1] / x[0] ** 2, rtol=1e-6)  # |∂(hx/m)/∂m| σ


def test_filtering_has_no_phase_and_the_cut_off_follows_the_motion():
    q, qd, qdd = motion(ARM, 14, 20.0)
    record = ArmRecord(RATE, q + np.random.default_rng(7).normal(size=q.shape) * 1e-6, qdd)
    cutoff = chosen_cutoff(record)
    assert 5.0 < cutoff < 30.0
    samples = prepare(ARM, [record], cutoff)
    rows = np.round(samples.t * RATE).astype(int)
    np.testing.assert_allclose(samples.qd, qd[rows], atol=0.01 * qd.std())
    np.testing.assert_allclose(samples.qdd, qdd[rows], atol=0.05 * qdd.std())
    np.testing.assert_allclose(samples.drives, qdd[rows], atol=0.05 * qdd.std())


def broken(**changes):
    record = measured(ARM, 15, seconds=6.0)
    return replace(record, **{name: change(getattr(record, name)) for name, change in changes.items()})


def still(q):
    q = q.copy()
    q[:, 1] = 0.2
    return q


def clipped(drives):
    return np.minimum(drives, np.quantile(drives, 0.9, axis=0))


@pytest.mark.parametrize(
    ("record", "fault"),
    [
        (broken(positions=still), "joint 2 moves by 0 rad, at least 0.001 rad"),
        (broken(drives=clipped), "the force of joint 1 stays at its greatest value"),
        (broken(drives=lambda x: 0.0 * x), "the force of joint 1 is 0 throughout"),
        (broken(positions=lambda q: q[:, :2]), "elbow has 3 joints"),
        (broken(positions=lambda q: np.where(q == q[5], np.nan, q)), "not finite"),
        (broken(rate=lambda _: np.inf), "rate inf Hz"),
        (broken(positions=lambda q: q[:350], drives=lambda x: x[:350]), "at least 100 are needed"),
    ],
)
def test_data_that_cannot_be_used_are_refused_by_name(record, fault):
    with pytest.raises(CalibrationError, match="run-15") as error:
        prepare(ARM, [record], 20.0)
    assert fault in str(error.value)


def test_settings_and_arms_that_cannot_be_used_are_refused_by_name():
    with pytest.raises(CalibrationError, match="cut-off: 90 Hz, must be above 0 and at most 80 Hz at a rate of 200 Hz"):
        prepare(ARM, [measured(ARM, 16, seconds=3.0)], 90.0)
    with pytest.raises(CalibrationError, match="no data"):
        prepare(ARM, [])
    with pytest.raises(CalibrationError, match="mass: -1 must be finite and above 0"):
        ArmAccuracy(mass=-1.0)
    with pytest.raises(CalibrationError, match="friction: magic: must be of asymmetry"):
        ArmSettings(friction=("magic",))
    with pytest.raises(CalibrationError, match="smoothing: 3 of the RMS speed"):
        ArmSettings(smoothing=3.0)
    hollow = replace(ARM, joints=tuple(replace(joint, mass=0.0, inertia=np.zeros((3, 3))) for joint in ARM.joints))
    with pytest.raises(CalibrationError, match="no joint has a body that can exist"):
        fitted([measured(ARM, 17, seconds=6.0)], arm=hollow)
    one = replace(KNOWN, joints=(replace(KNOWN.joints[0], mass=0.0, inertia=np.zeros((3, 3))), *KNOWN.joints[1:]))
    assert fitted([measured(ARM, 17, seconds=6.0)], arm=one)[2].consistent
