"""Geometry from measured poses: against truths that the fit never sees, and every refusal with its reason."""

from dataclasses import replace
from datetime import date

import numpy as np
import pytest
from tracked_platform import TARGETS, aligned_errors, built, estimates, in_gauge, reachable_poses

from calibration import (
    GEOMETRY_PARAMETERS,
    CalibrationError,
    GeometryLimits,
    GeometryMeasurements,
    GeometryNoise,
    GeometryPrior,
    calibrate_geometry,
    format_parameters,
    geometry_covariance,
    homing_repeatability,
    next_poses,
    parse_parameters,
    prepare_geometry,
    workspace_poses,
)
from calibration.geometry.calibrate import FitStart, exchanged_legs, fit
from calibration.geometry.frames import Gauge, nominal_unknowns, start
from calibration.geometry.model import length_derivatives, moved
from calibration.geometry.observability import UnknownsPrior, pose_sigmas
from dynamics import load_mechanism, pose_limits
from kinematics import Geometry, forward_kinematics, leg_lengths, pose_to_coordinates

LAB = load_mechanism("lab-hexapod")
NOISE = GeometryNoise()


COARSE = GeometryNoise(position=100e-6)
SMALLEST, GREATEST = (
    0.78,
    1.28,
)  # of squared errors over variances; sigmas 20 % too small make it 1.56, 25 % too large 0.64


def case(seed, count=60, noise=NOISE, **options):
    random = np.random.default_rng(seed)
    platform = built(LAB.geometry, random)
    poses = reachable_poses(LAB, count, random, **options)
    return platform, platform.measured(poses, random, noise), random


def refusal(measurements, **options):
    with pytest.raises(CalibrationError) as caught:
        calibrate_geometry(LAB.geometry, measurements, **options)
    return str(caught.value)


def test_derivatives_are_those_of_finite_differences():
    platform, _, random = case(1)
    poses, x, step = reachable_poses(LAB, 5, random), platform.unknowns, 1e-6
    _, slopes, by_pose = length_derivatives(x, poses)
    for column in range(7):
        change = np.zeros((6, 7))
        change[:, column] = step
        ahead, behind = length_derivatives(x + change, poses)[0], length_derivatives(x - change, poses)[0]
        np.testing.assert_allclose((ahead - behind) / (2 * step), slopes[:, :, column], atol=1e-9)
    for column in range(6):
        turn = np.zeros((5, 6))
        turn[:, column] = step
        ahead = length_derivatives(x, moved(poses, turn))[0]
        behind = length_derivatives(x, moved(poses, -turn))[0]
        np.testing.assert_allclose((ahead - behind) / (2 * step), by_pose[:, :, column], atol=1e-9)


@pytest.fixture(scope="module")
def calibrated():
    """Platforms of seven seeds and what came of them: half of them by a tracker of 100 µm, whose poses tell less."""
    found = []
    for seed in range(20, 27):
        noise = COARSE if seed % 2 else NOISE
        platform, measured, random = case(seed, 30, noise=noise)
        result = calibrate_geometry(LAB.geometry, measured, noise=noise, hold_out=0.5)
        found.append((platform, result, random))
    return found


def test_hold_out_and_residuals_are_what_they_say(calibrated):
    for seed, (_, result, _) in enumerate(calibrated):
        noise = COARSE if seed % 2 else NOISE
        held = result.hold_out
        assert held.after.position_rms < 4.5 * noise.position < 500e-6 < held.before.position_rms
        assert result.left_out == result.warnings == ()
    assert 0.93 < np.mean([result.reduced_chi_square for _, result, _ in calibrated]) < 1.07
    assert 0.9 < np.mean([result.hold_out.after.over_expected for _, result, _ in calibrated]) < 1.1


def test_errors_of_the_geometry_are_as_large_as_the_covariance_says(calibrated):
    """Squared errors by the covariance's own directions: 210 degrees of freedom, so 10 % of chance in their mean."""
    mean = []
    for platform, result, _ in calibrated:
        off = estimates(result)[0] - in_gauge(platform, LAB.geometry)
        values, vectors = np.linalg.eigh(result.covariance)
        told = values > 1e-9 * values[-1]
        assert told.sum() == 30
        mean.append(np.mean((vectors[:, told].T @ off) ** 2 / values[told]))
    assert SMALLEST < np.mean(mean) < GREATEST


def test_errors_of_poses_are_as_large_as_their_sigmas_say(calibrated):
    """The poses that lengths tell, beside the true ones in frames of their own; every pose has the error of all."""
    mean = []
    for platform, result, random in calibrated:
        poses = reachable_poses(LAB, 100, random)
        told = Geometry(
            result.geometry.base_points, platform.geometry.universal_axes, result.geometry.platform_points, poses[0]
        )
        lengths = leg_lengths(platform.geometry, poses) + platform.offsets - result.length_offsets
        found = np.array([forward_kinematics(told, row, pose) for row, pose in zip(lengths, poses, strict=True)])
        off = aligned_errors(found, poses, radius=0.22)
        x = np.hstack([told.base_points, told.platform_points, np.zeros((6, 1))])
        sigmas = pose_sigmas(x, found, result.covariance, result.gauge)
        mean.append(np.mean((off / np.hstack([sigmas.position, sigmas.rotation])) ** 2))
        assert np.sqrt(np.mean(off[:, :3] ** 2)) < 60e-6
    assert SMALLEST < np.mean(mean) < GREATEST


def test_a_tracker_s_scale_is_told_and_does_not_bias_the_geometry():
    platform, measured, _ = case(2)
    poses = measured.poses.copy()
    poses[:, :3] *= 1.0 + 3e-4
    result = calibrate_geometry(LAB.geometry, replace(measured, poses=poses), hold_out=0.5)
    scale = result.scale
    assert scale is not None and scale.outside and [each.code for each in result.warnings] == ["scale-outside-prior"]
    assert abs(scale.value - 3e-4) < 2.0 * scale.sigma < 1.2e-4
    values, sigmas = estimates(result)
    assert np.mean(np.abs(values - in_gauge(platform, LAB.geometry)) < 2.0 * sigmas) > 0.85
    # the same tracker, stated to be as far off as that
    wide = calibrate_geometry(
        LAB.geometry, replace(measured, poses=poses), prior=GeometryPrior(scale=1e-3), hold_out=0.5
    )
    assert wide.scale is not None and not wide.scale.outside and wide.warnings == ()
    assert abs(wide.scale.value - scale.value) < 0.5 * scale.sigma


def test_targets_at_known_places_tell_the_scale_too():
    platform, _, random = case(6)
    found = platform.targets(reachable_poses(LAB, 60, random), random, NOISE)
    found = replace(found, points=(1.0 + 2e-4) * found.points)
    free = calibrate_geometry(LAB.geometry, found, hold_out=0.5)
    known = calibrate_geometry(LAB.geometry, replace(found, target_points=TARGETS), hold_out=0.5)
    assert known.scale is not None and free.scale is not None
    assert known.scale.sigma < 0.7 * free.scale.sigma
    assert known.scale.outside and abs(known.scale.value - 2e-4) < 2.5 * known.scale.sigma
    assert 0.9 < known.reduced_chi_square < 1.1


def test_the_scale_s_sigma_is_where_the_cost_is_one_more():
    """The profile likelihood: everything else fitted anew with the scale held one sigma beside the best one."""
    _, measured, _ = case(9, count=30)
    result = calibrate_geometry(LAB.geometry, measured, hold_out=0.5)
    prepared = prepare_geometry(LAB.geometry, measured, NOISE, np.zeros(6))
    known = UnknownsPrior(result.prior, nominal_unknowns(LAB.geometry), prepared.gauge)
    begun = start(LAB.geometry, prepared.readings, prepared.gauge)
    assert begun is not None and result.scale is not None

    def cost(found):
        return found.equations.cost.sum() + known.terms(found.x, found.scale)[0]

    best = fit(prepared.readings, FitStart(*begun), known, outliers=False)
    held = replace(known, targets_scale=(best.scale + result.scale.sigma, 1e-10))
    beside = fit(prepared.readings, FitStart(best.x, best.poses, best.scale), held, outliers=False)
    assert result.scale.value == pytest.approx(best.scale, abs=0.01 * result.scale.sigma)
    assert cost(beside) - cost(best) == pytest.approx(1.0, abs=0.05)


def test_a_drawing_that_is_farther_off_than_its_tolerances_is_told():
    random = np.random.default_rng(12)
    platform = built(LAB.geometry, random)
    measured = platform.measured(reachable_poses(LAB, 30, random), random, COARSE)
    tight = GeometryPrior(joints=2e-4, offsets=2e-4)
    result = calibrate_geometry(LAB.geometry, measured, noise=COARSE, prior=tight, hold_out=0.5)
    assert [each.code for each in result.warnings] == ["tolerances-exceeded"]
    assert 5.0 < result.tolerances_widened < 20.0
    values, sigmas = estimates(result)
    assert np.mean(np.abs(values - in_gauge(platform, LAB.geometry)) < 2.0 * sigmas) > 0.85


def test_what_few_poses_do_not_tell_is_the_drawing_s():
    """Directions that no pose sees are as uncertain as the tolerances say, and stay where the drawing has them."""
    prior = GeometryPrior(joints=3e-4, offsets=4e-4)
    platform = built(LAB.geometry, np.random.default_rng(3), 3e-4)
    poses = reachable_poses(LAB, 20, np.random.default_rng(4), turn=0.0)
    measured = platform.measured(poses, np.random.default_rng(5), NOISE)
    result = calibrate_geometry(LAB.geometry, measured, prior=prior, hold_out=0.5)
    weak = result.observability.weak
    assert weak.shape[1] >= 15
    together = np.zeros((6, 7))
    together[0, 0] = together[0, 3] = 1.0  # no length changes by it, nor does a rigid motion make it
    along = weak @ (weak.T @ together.ravel())
    along /= np.linalg.norm(along)
    assert along @ result.covariance @ along == pytest.approx(prior.joints**2, rel=0.05)
    values, _ = estimates(result)
    drawn = np.array([each.nominal for each in result.parameters])
    assert abs(along @ (values - drawn)) < 0.1 * prior.joints


def test_the_file_carries_the_covariance_and_gives_it_back(calibrated):
    _, result, _ = calibrated[0]
    file = parse_parameters(format_parameters(result.as_file("lab-hexapod", date(2026, 1, 2), {})))
    assert [each.name for each in file.parameters] == list(GEOMETRY_PARAMETERS)
    whole = geometry_covariance([file])
    np.testing.assert_allclose(whole, result.covariance, atol=1e-5 * result.covariance.max())
    np.testing.assert_allclose(np.sqrt(np.diag(whole)), estimates(result)[1], rtol=1e-4)
    assert file.nuisance[0].name == "tracker.scale" and file.nuisance[0].sigma == result.scale.sigma
    only = replace(file, parameters=file.parameters[6:7], covariance=np.array([[4e-10]]))
    later = geometry_covariance([file, only])
    assert later[6, 6] == 4e-10 and not later[6, :6].any() and later[0, 0] == whole[0, 0]


def test_limits_and_priors_that_cannot_be_are_refused():
    _, measured, _ = case(3, count=20)
    said = refusal(
        measured,
        prior=GeometryPrior(-1.0, np.inf, np.nan),
        limits=GeometryLimits(position=0.0),
        workspace=[[np.nan] * 7],
    )
    for words in ("joints: -1 m", "offsets: inf m", "scale sigma: nan", "position sigma of poses: 0 m", "workspace"):
        assert words in said


@pytest.mark.parametrize("kind", ["targets", "position", "level"])
def test_other_sensors_do_as_well(kind):
    platform, measured, random = case(4, count=120)
    poses = reachable_poses(LAB, 120, random)
    noise = GeometryNoise(rotation=2e-5)
    if kind == "targets":
        measured = platform.targets(poses, random, noise)
    elif kind == "position":
        measured = replace(measured, poses=None, positions=measured.poses[:, :3])
    else:
        tilts = pose_to_coordinates(poses)[:, 3:5] + random.normal(0.0, noise.rotation, (120, 2))
        measured = GeometryMeasurements(platform.lengths(poses, random, noise), tilts=tilts)
    result = calibrate_geometry(LAB.geometry, measured, noise=noise)
    values, sigmas = estimates(result)
    assert np.mean(np.abs(values - in_gauge(platform, LAB.geometry)) < 2.0 * sigmas) > 0.8
    assert 0.75 < result.reduced_chi_square < 1.25


def test_gross_errors_are_named_and_spoil_nothing():
    platform, measured, _ = case(2)
    poses = measured.poses.copy()
    poses[7, 0] += 5e-3
    poses[33, 2] += 1.0
    result = calibrate_geometry(LAB.geometry, replace(measured, poses=poses))
    assert [each.row for each in result.left_out] == ["row 8", "row 34"]
    values, sigmas = estimates(result)
    assert np.mean(np.abs(values - in_gauge(platform, LAB.geometry)) < 2.0 * sigmas) > 0.85


def test_one_orientation_is_refused_with_its_directions():
    _, measured, _ = case(3, turn=0.0)
    said = refusal(measured, workspace=workspace_poses(LAB.geometry, pose_limits(LAB)))
    assert "15 directions of the geometry" in said and said.startswith("position of the pose")
    assert "base and platform joint together along x" in said
    assert "all poses have one orientation" in said


def test_exchanged_legs_are_named():
    _, measured, _ = case(3)
    assert "columns l3 and l4 are exchanged" in refusal(
        replace(measured, lengths=measured.lengths[:, [0, 1, 3, 2, 4, 5]])
    )


def test_exact_joints_are_no_exchanged_legs():
    """Their misfits are rounding, and may be below zero."""
    nominal = nominal_unknowns(LAB.geometry)
    moved_joints = nominal + 1e-9 * np.random.default_rng(1).standard_normal(nominal.shape)
    for joints in (nominal, moved_joints):
        assert exchanged_legs(joints, nominal, Gauge(base=False, platform=False)) == ""
        assert exchanged_legs(joints, nominal, Gauge()) == ""


def test_other_data_are_refused():
    _, measured, random = case(3)
    few = replace(measured, poses=measured.poses[:8], lengths=measured.lengths[:8])
    assert "8 rows" in refusal(few)
    assert "millimetres" in refusal(replace(measured, lengths=1e3 * measured.lengths))
    assert "nothing of the geometry" in refusal(replace(measured, poses=None))
    assert "must be (n, 6)" in refusal(replace(measured, lengths=measured.lengths[:, :5]))
    assert "do not belong together" in refusal(replace(measured, lengths=measured.lengths[random.permutation(60)]))
    broken = measured.lengths.copy()
    broken[3, 2] = np.nan
    assert "row 4 has nan" in refusal(replace(measured, lengths=broken))


def test_planned_poses_tell_more_than_random_ones():
    _, _, random = case(3)
    known = reachable_poses(LAB, 20, random)
    more = np.concatenate([known, reachable_poses(LAB, 20, random)])
    planned = next_poses(LAB.geometry, pose_limits(LAB), 20, measured=known)
    drawn = next_poses(LAB.geometry, pose_limits(LAB), 1, measured=more)
    assert planned.sigma_after < 0.7 * drawn.sigma_before < planned.sigma_before


def test_homing_repeats():
    lengths = 0.5 + np.random.default_rng(1).normal(0.0, 3e-6, (40, 6))
    lengths[5, 2] += 1e-4
    homed = homing_repeatability(lengths)
    assert [(row, leg) for row, leg, _ in homed.outliers] == [(6, 3)]
    np.testing.assert_allclose(homed.standard_deviation, 3e-6, rtol=0.4)
    np.testing.assert_allclose(homed.standard_error, homed.standard_deviation / np.sqrt(homed.count))
