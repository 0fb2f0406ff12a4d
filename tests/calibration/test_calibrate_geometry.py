"""Geometry from measured poses: against truths that the fit never sees, and every refusal with its reason."""

from dataclasses import replace

import numpy as np
import pytest
from tracked_platform import built, estimates, in_gauge, reachable_poses

from calibration import (
    CalibrationError,
    GeometryMeasurements,
    GeometryNoise,
    calibrate_geometry,
    homing_repeatability,
    next_poses,
)
from calibration.geometry.model import length_derivatives, moved
from dynamics import load_mechanism, pose_limits
from kinematics import pose_to_coordinates

LAB = load_mechanism("lab-hexapod")
NOISE = GeometryNoise()


def case(seed, count=60, **options):
    random = np.random.default_rng(seed)
    platform = built(LAB.geometry, random)
    poses = reachable_poses(LAB, count, random, **options)
    return platform, platform.measured(poses, random, NOISE), random


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


def test_sigmas_and_hold_out_are_what_they_say():
    scores, reduced = [], []
    for seed in range(8):
        platform, measured, _ = case(seed)
        result = calibrate_geometry(LAB.geometry, measured)
        values, sigmas = estimates(result)
        scores.append((values - in_gauge(platform, LAB.geometry)) / sigmas)
        reduced.append(result.reduced_chi_square)
        assert result.hold_out is not None
        assert result.hold_out.after.position_rms < 50e-6 < 500e-6 < result.hold_out.before.position_rms
        assert result.left_out == ()
    assert 0.9 < np.mean(np.abs(scores) < 2.0) < 0.99
    assert 0.93 < np.mean(reduced) < 1.07


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
    said = refusal(measured)
    assert said.startswith("15 directions of the geometry")
    assert "base and platform joint together along x" in said
    assert "all poses have one orientation" in said


def test_exchanged_legs_are_named():
    _, measured, _ = case(3)
    assert "columns l3 and l4 are exchanged" in refusal(
        replace(measured, lengths=measured.lengths[:, [0, 1, 3, 2, 4, 5]])
    )


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
