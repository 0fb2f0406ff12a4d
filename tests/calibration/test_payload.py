"""Payloads weighed from what the exact model has at the cells with them and without: the truth is another mechanism."""

import math
from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from calibration import (
    CalibrationError,
    CellZero,
    Parameter,
    ParameterFile,
    PayloadSamples,
    fit_payload,
    loaded_platform,
    overlaid,
)
from dynamics import Dynamics, Mechanism, load_mechanism, payload_wrenches, residual_from_wrench
from kinematics import coordinates_to_motion

LAB = load_mechanism("lab-hexapod")
MASS, PLACE, OWN = 3.0, np.array([0.02, -0.03, 0.08]), np.diag([0.02, 0.03, 0.025])
NOISE = 0.05


def loaded() -> Mechanism:
    total = LAB.mass + MASS
    center = (LAB.mass * LAB.center_of_mass + MASS * PLACE) / total
    inertia = LAB.inertia + OWN
    for mass, place in ((LAB.mass, LAB.center_of_mass), (MASS, PLACE)):
        arm = place - center
        inertia = inertia + mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return replace(LAB, mass=total, center_of_mass=center, inertia=inertia)


LOADED = loaded()
REST = np.zeros((4, 6))
REST[1, 3], REST[2, 3], REST[3, 4] = 0.17, -0.17, 0.17


def motions(moving: int, seed: int = 0) -> np.ndarray:
    random = np.random.default_rng(seed)
    coordinates = np.concatenate([REST, random.uniform(-0.1, 0.1, (moving, 6)) * [0.3, 0.3, 0.3, 1, 1, 1]])
    rates = np.concatenate([np.zeros((4, 6)), random.normal(0.0, 0.5, (moving, 6))])
    accelerations = np.concatenate([np.zeros((4, 6)), random.normal(0.0, 4.0, (moving, 6))])
    coordinates[:, :3] += LAB.geometry.home_pose[:3]
    return coordinates_to_motion(coordinates, rates, accelerations)


def samples(moving: int, seed: int, offset: float = 0.0) -> PayloadSamples:
    random = np.random.default_rng(seed)
    where = motions(moving, seed)
    residual = Dynamics(LOADED).cells(where) - Dynamics(LAB).cells(where)
    design = residual_from_wrench(LAB.geometry, where[:, :7]) @ payload_wrenches(where, LAB.gravity)
    noise = random.normal(0.0, NOISE, residual.shape)
    slopes = np.zeros((len(where), 6, 2))
    return PayloadSamples(residual + noise + offset, design, slopes, np.full(len(where), NOISE**2))


def truth() -> np.ndarray:
    of = LOADED.inertia
    return np.concatenate([[LOADED.mass], LOADED.center_of_mass, of[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]])


@pytest.mark.parametrize("inertia", [False, True], ids=["at rest", "in motion"])
def test_the_truth_lies_within_the_stated_uncertainty(inertia: bool) -> None:
    z = []
    for seed in range(40):
        found = fit_payload(samples(60 if inertia else 0, seed), LAB, inertia=inertia)
        names, values, covariance = loaded_platform(LAB, found)
        assert len(names) == (10 if inertia else 4)
        z.append((values - truth()[: len(values)]) / np.sqrt(np.diag(covariance)))
    inside = np.mean(np.abs(np.array(z)) < 2.0)
    assert 0.9 < inside <= 0.995


def test_the_cells_zero_is_estimated_along() -> None:
    zero = CellZero(np.full(6, 2.0), 1e-4 * np.eye(6))
    with_zero = fit_payload(samples(0, 1, offset=2.0), LAB, inertia=False, zero=zero)
    assert with_zero.mass == pytest.approx(MASS, abs=3.0 * math.sqrt(with_zero.covariance[0, 0]))
    without = fit_payload(samples(0, 1, offset=2.0), LAB, inertia=False)
    assert abs(without.mass - MASS) > 0.3


def test_what_the_data_do_not_tell_is_named_with_what_would() -> None:
    four = samples(0, 2)
    one = PayloadSamples(four.residual[:1], four.design[:1], four.slopes[:1], four.variance[:1])
    with pytest.raises(CalibrationError, match=r"do not tell center_of_mass\[2\](.|\n)*rx = ±10 deg"):
        fit_payload(one, LAB, inertia=False)
    with pytest.raises(CalibrationError, match=r"inertia(.|\n)*turns to and fro about rx, ry, rz"):
        fit_payload(four, LAB, inertia=True)
    chance = 0.01 * np.random.default_rng(0).normal(size=(4, 6))
    nothing = PayloadSamples(chance, four.design, four.slopes, four.variance)
    with pytest.raises(CalibrationError, match="none is found"):
        fit_payload(nothing, LAB, inertia=False)
    lighter = PayloadSamples(-four.residual, four.design, four.slopes, four.variance)
    with pytest.raises(CalibrationError, match="lighter than its model"):
        fit_payload(lighter, LAB, inertia=False)


def test_the_parameters_laid_over_the_mechanism_explain_the_cells() -> None:
    found = fit_payload(samples(200, 3), LAB, inertia=True)
    names, values, _ = loaded_platform(LAB, found)
    parameters = tuple(Parameter(name, "", 0.0, float(value), 0.0) for name, value in zip(names, values, strict=True))
    file = ParameterFile("payload", date(2026, 1, 1), LAB.name, parameters)
    where = motions(30, 99)
    left = Dynamics(LOADED).cells(where) - Dynamics(overlaid(LAB, [file])).cells(where)
    before = Dynamics(LOADED).cells(where) - Dynamics(LAB).cells(where)
    assert np.sqrt(np.mean(left**2)) < 0.02 * np.sqrt(np.mean(before**2))
