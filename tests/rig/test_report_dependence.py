"""The residual over speed and acceleration of the leg: what is put into one leg shows there and nowhere else."""

import numpy as np
import pytest

from dynamics import load_mechanism
from kinematics import Array, Harmonic, HarmonicTerm, Placement, leg_kinematics
from rig.report.validation.band import Samples
from rig.report.validation.dependence import dependence

LAB = load_mechanism("lab-hexapod")
NOISE = 0.5
RANDOM = np.random.default_rng(3)


def moving() -> Array:
    terms = [
        HarmonicTerm(dof, size, frequency, phase)
        for dof, size in zip(("x", "y", "z", "rx", "ry", "rz"), (0.02, 0.02, 0.02, 0.1, 0.1, 0.1), strict=True)
        for frequency, phase in zip(RANDOM.uniform(0.3, 1.5, 3), RANDOM.uniform(0.0, 6.0, 3), strict=True)
    ]
    path = Harmonic(terms, 40.0, 1.0, placement=Placement("home", home=LAB.geometry.home_pose))
    return path.motion(np.arange(8000) / 200.0)


MOTIONS = moving()
LEGS = leg_kinematics(LAB.geometry, MOTIONS)


def samples(residuals: Array, motions: Array = MOTIONS) -> Samples:
    count = len(motions)
    lengths = np.zeros((count, 6))
    return Samples(
        np.arange(count) / 200.0,
        motions,
        residuals,
        lengths,
        lengths,
        0.0 * lengths,
        np.zeros((count, 3, 6)),
        np.zeros(count, np.intp),
    )


def noise() -> Array:
    return RANDOM.normal(0.0, NOISE, (len(MOTIONS), 6))


def test_friction_that_the_model_lacks_is_a_step_in_its_leg() -> None:
    residuals = noise()
    residuals[:, 2] += 3.0 * np.sign(LEGS.velocity[:, 2])
    told = dependence(samples(residuals), LAB.geometry)
    assert told is not None
    for leg in told["speed"]["legs"]:
        at, mean = np.array(leg["at"]), np.array(leg["mean_n"])
        fast = np.abs(at) > 0.02
        if leg["leg"] == 3:
            assert mean[fast] == pytest.approx(3.0 * np.sign(at[fast]), abs=0.3)
        else:
            assert np.abs(mean).max() < 0.3
        assert np.median(leg["spread_n"]) == pytest.approx(NOISE, rel=0.2)


def test_mass_that_the_model_lacks_is_a_slope_over_acceleration() -> None:
    residuals = noise()
    residuals[:, 5] += 2.0 * LEGS.acceleration[:, 5]
    told = dependence(samples(residuals), LAB.geometry)
    assert told is not None
    slopes = [np.polyfit(leg["at"], leg["mean_n"], 1)[0] for leg in told["acceleration"]["legs"]]
    assert slopes[5] == pytest.approx(2.0, rel=0.05)
    assert np.abs(slopes[:5]).max() < 0.2


def test_a_platform_at_rest_and_missing_forces_tell_nothing() -> None:
    rest = np.tile(MOTIONS[0], (200, 1))
    rest[:, 7:] = 0.0
    assert dependence(samples(np.zeros((200, 6)), rest), LAB.geometry) is None
    assert dependence(samples(np.full((len(MOTIONS), 6), np.nan)), LAB.geometry) is None
