"""Cells calibrated by the platform's weight: gains and offsets that the estimator never sees come out of readings."""

from dataclasses import replace
from datetime import date
from functools import cache
from typing import Any

import numpy as np
import pytest

from calibration import (
    CalibrationError,
    InPlaceCalibration,
    Provenance,
    Rests,
    WeightSigmas,
    calibrate_in_place,
    format_cell_calibration,
    judge,
    parse_cell_calibration,
    plan_weight_poses,
)
from dynamics import BODIES, Dynamics, Mechanism, linear_parameters, load_mechanism, with_linear_parameters
from kinematics import Array, Placement, coordinates_to_pose

LAB = load_mechanism("lab-hexapod")
EXACT = WeightSigmas(leg_mass=0.0, leg_center=0.0)
NOISE, SAMPLES, POSES = 0.5, 500, 30
MEAN = NOISE / np.sqrt(SAMPLES)


@cache
def poses() -> Array:
    plan = plan_weight_poses(LAB, POSES, candidates=400)
    points = plan.way_points[plan.holds]
    placement = Placement("home", home=LAB.geometry.home_pose)
    return placement.to_motion(points, np.zeros_like(points), np.zeros_like(points))[:, :7]


def truth(seed: int) -> tuple[Array, Array]:
    """Signed gains, one of them reversed, 1 % off, and offsets 3 N off."""
    random = np.random.default_rng(seed)
    gain = 1.0 + random.normal(0.0, 0.01, 6)
    gain[random.integers(6)] *= -1.0
    return gain, random.normal(0.0, 3.0, 6)


def rests(seed: int, mechanism: Mechanism = LAB, where: Array | None = None) -> Rests:
    where = poses() if where is None else where
    gain, offset = truth(seed)
    motions = np.zeros((len(where), 19))
    motions[:, :7] = where
    noise = NOISE / np.abs(gain)
    random = np.random.default_rng([seed, 1])
    readings = offset + Dynamics(mechanism).cells(motions) / gain
    readings += random.normal(size=readings.shape) * noise / np.sqrt(SAMPLES)
    return Rests(where, readings, np.tile(noise, (len(where), 1)), np.full(len(where), float(SAMPLES)))


def scores(found: InPlaceCalibration, seed: int) -> Array:
    gain, offset = truth(seed)
    return np.concatenate([(found.gain - gain) / found.gain_sigma, (found.offset - offset) / found.offset_sigma])


def test_gains_to_a_thousandth_offsets_to_the_noise_of_the_mean_and_reversed_cells_found() -> None:
    z, offsets, held = [], [], []
    for seed in range(60):
        gain, offset = truth(seed)
        found = calibrate_in_place(LAB, rests(seed), weights=EXACT)
        assert np.abs(found.gain / gain - 1.0).max() < 1e-3
        assert found.reversed == tuple(np.flatnonzero(gain < 0.0) + 1)
        assert found.left_out == ()
        z.append(scores(found, seed))
        offsets.append(found.offset - offset)
        held.append(found.hold_out / found.expected)
    assert np.std(offsets) < 1.5 * MEAN / np.sqrt(POSES)
    assert 0.92 < np.mean(np.abs(z) < 2.0) < 0.98
    assert np.mean(held) == pytest.approx(1.0, abs=0.1)


def test_what_is_not_known_of_the_weight_scales_all_gains_together() -> None:
    z = []
    for seed in range(40):
        random = np.random.default_rng([seed, 2])
        other = replace(
            LAB,
            mass=LAB.mass + random.normal(0.0, 0.1),
            center_of_mass=LAB.center_of_mass + random.normal(0.0, 1e-3, 3),
        )
        found = calibrate_in_place(LAB, rests(seed, other), weights=WeightSigmas(0.1, 1e-3, 0.0, 0.0))
        z.append(scores(found, seed)[:6])
    assert 0.85 < np.mean(np.abs(z) < 2.0) <= 1.0
    assert 0.7 < np.std(z) < 1.3
    exact = calibrate_in_place(LAB, rests(0), weights=EXACT)
    known = calibrate_in_place(LAB, rests(0), weights=WeightSigmas(0.1, 0.0, 0.0, 0.0))
    sigma = known.gain_sigma * np.sign(known.gain)
    correlation = known.covariance[:6, :6] / np.outer(sigma, sigma)
    assert correlation.min() > 0.9  # the weight is one and the same
    assert (known.gain_sigma > 10.0 * exact.gain_sigma).all()


def test_legs_that_weigh_more_than_their_drawing_says_are_in_the_sigmas() -> None:
    """A fifth of each body of a leg, as nobody weighed them: without it the gains are wrong by many of their sigmas."""
    z, blind = [], []
    for seed in range(20):
        random = np.random.default_rng([seed, 3])
        theta = linear_parameters(LAB)
        for place in BODIES[1:]:
            theta[place] *= 1.0 + random.normal(0.0, 0.2)
        data = rests(seed, with_linear_parameters(LAB, theta))
        z.append(scores(calibrate_in_place(LAB, data, weights=WeightSigmas(leg_center=0.0)), seed))
        blind.append(scores(calibrate_in_place(LAB, data, weights=EXACT), seed))
    assert 0.8 < np.sqrt(np.mean(np.square(z))) < 1.25
    assert np.sqrt(np.mean(np.square(blind))) > 2.0


def test_a_pose_in_which_something_touched_the_platform_is_left_out_and_named() -> None:
    data = rests(3)
    data.readings[11] += [0.0, 40.0, -30.0, 0.0, 15.0, 5.0]
    found = calibrate_in_place(LAB, data)
    assert found.left_out == (12,)
    assert np.abs(scores(found, 3)).max() < 4.0
    data.readings[:10] += np.random.default_rng(0).normal(0.0, 30.0, (10, 6))
    with pytest.raises(CalibrationError, match=r"11 of 30 poses do not fit the others, pose 1, 2"):
        calibrate_in_place(LAB, data)


def test_exchanged_cells_are_named() -> None:
    data = rests(4)
    data.readings[:, [1, 4]] = data.readings[:, [4, 1]]
    with pytest.raises(CalibrationError, match="exchanged: cell 2 reads leg 5, cell 5 reads leg 2"):
        calibrate_in_place(LAB, data)


def test_poses_that_leave_the_forces_alike_are_refused_with_what_would_change_them() -> None:
    home = np.zeros((12, 6))
    home[:, :3] = LAB.geometry.home_pose[:3]
    home[:, 2] += np.linspace(-1e-3, 1e-3, 12)
    with pytest.raises(
        CalibrationError, match=r"leg 1: these poses load .* look alike; what would .*: y by ±50 mm"
    ) as caught:
        calibrate_in_place(LAB, rests(5, where=coordinates_to_pose(home)))
    assert len(caught.value.faults) == 6
    with pytest.raises(CalibrationError, match="not at all"):
        calibrate_in_place(LAB, rests(5, where=coordinates_to_pose(home[[0] * 12])))


def changed(**parts: Any) -> Rests:
    return replace(rests(6), **parts)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (lambda: rests(6, where=poses()[:7]), "7 poses at rest, at least 8"),
        (lambda: changed(readings=np.where(np.arange(180).reshape(30, 6) == 8, np.nan, 1.0)), "readings: .* at pose 2"),
        (lambda: changed(counts=np.zeros(30)), "1 sample at least"),
        (lambda: changed(counts=np.ones(3)), r"counts: shape \(3,\), must be \(30,\)"),
        (lambda: changed(noise=np.zeros((30, 6))), "load cell 6: no noise"),
        (lambda: changed(twists=np.full((30, 6), 2e-3)), "pose 30: the platform moves, 2 mm/s and 2 mrad/s"),
    ],
)  # fmt: skip
def test_rests_that_cannot_be_used_are_refused(data: Any, reason: str) -> None:
    with pytest.raises(CalibrationError, match=reason):
        calibrate_in_place(LAB, data())


def test_a_sigma_of_a_weight_that_is_none_is_refused() -> None:
    with pytest.raises(CalibrationError, match=r"mass sigma: -1 kg[\s\S]*leg_mass sigma: nan"):
        WeightSigmas(mass=-1.0, leg_mass=float("nan"))


def test_friction_at_rest_counts_where_the_cell_is_at_the_actuator() -> None:
    legs = tuple(replace(leg, load_cell=replace(leg.load_cell, location="actuator")) for leg in LAB.legs)
    other = replace(LAB, legs=legs)
    found = calibrate_in_place(other, rests(7, other), weights=EXACT)
    bare = calibrate_in_place(LAB, rests(7), weights=EXACT)
    assert found.friction == (1, 2, 3, 4, 5, 6)
    assert bare.friction == ()
    coulomb = LAB.legs[0].friction.coulomb
    assert found.offset_sigma[0] / bare.offset_sigma[0] == pytest.approx(coulomb / np.sqrt(3.0) / MEAN, rel=0.2)


def test_the_file_reads_the_readings_right() -> None:
    found = calibrate_in_place(LAB, rests(8))
    made = found.calibration(date(2026, 1, 2), 9.80665, provenance=Provenance(source="in place"))
    assert not any(judge(made))
    again = parse_cell_calibration(format_cell_calibration(made))
    assert again.apply(rests(8).readings) == pytest.approx(found.forces, abs=6.0 * MEAN)
    assert again.cells[0].polarity == np.sign(truth(8)[0][0])


def test_the_plan_keeps_to_the_limits_and_comes_back() -> None:
    plan = plan_weight_poses(LAB, 8, candidates=200)
    assert np.count_nonzero(plan.holds) == 8
    assert len(plan.moves) == len(plan.way_points) - 1
    assert not plan.way_points[[0, -1]].any()
    random = plan_weight_poses(LAB, 8, candidates=8)  # all that were drawn: no choice
    assert plan.gain_sigma.mean() < 0.8 * random.gain_sigma.mean()
    with pytest.raises(CalibrationError, match="3 poses, must be at least 8"):
        plan_weight_poses(LAB, 3)
