"""Payloads weighed on rigs that are not their drawing: the truth is another mechanism, whose exact forces are read."""

import math
from dataclasses import dataclass, replace
from datetime import date

import numpy as np
import pytest

from calibration import (
    CALIBRATED_CELLS,
    Accuracy,
    CalibrationError,
    Nuisance,
    Parameter,
    ParameterFile,
    PayloadEstimate,
    PayloadSamples,
    UnidentifiablePayloadError,
    fit_payload,
    friction_shapes,
    identity,
    loaded_platform,
    overlaid,
    payload_sigma,
    payload_values,
)
from calibration.cells import Drift, read_only
from dynamics import Body, Dynamics, Mechanism, Regressor, load_mechanism, payload_wrenches, residual_from_wrench
from kinematics import Geometry, coordinates_to_motion, forward_kinematics, leg_lengths

LAB = load_mechanism("lab-hexapod")
MASS, PLACE, OWN = 3.0, np.array([0.02, -0.03, 0.08]), np.diag([0.02, 0.03, 0.025])
TRUTH = np.array([MASS, *PLACE])
NOISE = 0.03  # N, of a sample
RESTS = np.zeros((6, 6))
RESTS[[1, 2], 3], RESTS[[3, 4], 4] = (0.17, -0.17), (0.17, -0.17)
ACCURACY = Accuracy(mass=0.1, inertia=0.1, **CALIBRATED_CELLS)
Random = np.random.Generator


def with_payload(mechanism: Mechanism) -> Mechanism:
    total = mechanism.mass + MASS
    center = (mechanism.mass * mechanism.center_of_mass + MASS * PLACE) / total
    inertia = mechanism.inertia + OWN
    for mass, place in ((mechanism.mass, mechanism.center_of_mass), (MASS, PLACE)):
        arm = place - center
        inertia = inertia + mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return replace(mechanism, mass=total, center_of_mass=center, inertia=inertia)


@dataclass(frozen=True)
class Rig:
    """A machine as somebody built it, and its cells: reading = gain of the force + talk of the neighbours' + zero.

    lengths (6,) m: what its encoders read beyond the legs' lengths.
    """

    mechanism: Mechanism
    gain: np.ndarray
    talk: np.ndarray
    zero: np.ndarray
    lengths: np.ndarray

    def read(self, motions: np.ndarray, loaded: bool) -> np.ndarray:
        mechanism = with_payload(self.mechanism) if loaded else self.mechanism
        force = Dynamics(mechanism).cells(motions)
        beside = self.talk[0] * np.roll(force, 1, axis=1) + self.talk[1] * np.roll(force, -1, axis=1)
        reading: np.ndarray = self.gain * force + beside + self.zero
        return reading


def body(random: Random, drawn: Body) -> Body:
    mass = drawn.mass * (1.0 + random.normal(0.0, ACCURACY.mass))
    turned = np.diag(random.normal(0.0, ACCURACY.inertia, 3) * np.diag(drawn.inertia))
    place = np.asarray(drawn.center_of_mass) + random.normal(0.0, ACCURACY.center, 3)
    return Body(mass, place, np.asarray(drawn.inertia) + turned)


def built(random: Random, heavier: bool = True) -> Rig:
    """A rig about the drawing, within `ACCURACY`; with the drawing's own bodies where not `heavier`."""
    places = [points + random.normal(0.0, ACCURACY.joints, (6, 3)) for points in points_of(LAB)]
    geometry = Geometry(places[0], LAB.geometry.universal_axes, places[1], LAB.geometry.home)
    mechanism = replace(LAB, geometry=geometry)
    if heavier:
        platform = body(random, Body(LAB.mass, LAB.center_of_mass, LAB.inertia))
        legs = tuple(replace(leg, lower=body(random, leg.lower), upper=body(random, leg.upper)) for leg in LAB.legs)
        mechanism = replace(
            mechanism,
            mass=platform.mass,
            center_of_mass=platform.center_of_mass,
            inertia=platform.inertia,
            legs=legs,
        )
    return Rig(
        mechanism,
        1.0 + random.normal(0.0, ACCURACY.gain, 6),
        random.normal(0.0, ACCURACY.cross_talk, (2, 6)),
        random.normal(0.0, 2.0, 6),
        random.normal(0.0, ACCURACY.lengths, 6),
    )


def points_of(mechanism: Mechanism) -> tuple[np.ndarray, np.ndarray]:
    return mechanism.geometry.base_points, mechanism.geometry.platform_points


def motions(random: Random, moving: int) -> np.ndarray:
    coordinates = np.concatenate([RESTS, random.uniform(-0.1, 0.1, (moving, 6)) * [0.3, 0.3, 0.3, 1, 1, 1]])
    still = np.zeros((len(RESTS), 6))
    rates = np.concatenate([still, random.normal(0.0, 0.3, (moving, 6))])
    accelerations = np.concatenate([still, random.normal(0.0, 4.0, (moving, 6))])
    coordinates[:, :3] += LAB.geometry.home_pose[:3]
    return coordinates_to_motion(coordinates, rates, accelerations)


def recorded(
    random: Random, rig: Rig, *, loaded: bool, model: Mechanism = LAB, moving: int = 0, recording: int = 0
) -> PayloadSamples:
    """What a recording of the rig tells whose model is another: the model's poses are those of the legs' lengths."""
    truly = motions(random, moving)
    readings = rig.read(truly, loaded) + random.normal(0.0, NOISE, (len(truly), 6))
    where = truly.copy()
    for row, lengths in enumerate(leg_lengths(rig.mechanism.geometry, truly[:, :7]) + rig.lengths):
        where[row, :7] = forward_kinematics(model.geometry, lengths, truly[row, :7])
    count = len(truly)
    return PayloadSamples(
        residual=readings - Dynamics(model).cells(where),
        forces=readings,
        motion=where,
        design=residual_from_wrench(model.geometry, where[:, :7]) @ payload_wrenches(where, model.gravity),
        regressor=Regressor(model).cells(where)[0],
        slopes=np.zeros((count, 6, 2)),
        friction=friction_shapes(np.zeros((count, 6)), np.zeros((count, 6)), 0.0),
        variance=np.full((count, 6), NOISE**2),
        loaded=np.full(count, loaded),
        moving=np.arange(count) >= len(RESTS),
        t=np.arange(count, dtype=np.float64),
        recording=np.full(count, recording),
    )


def z_of(found: PayloadEstimate) -> np.ndarray:
    z: np.ndarray = (payload_values(found.theta)[:4] - TRUTH) / payload_sigma(found)[:4]
    return z


BY_HAND = Nuisance(LAB, accuracy=ACCURACY)


def by_before(random: Random) -> PayloadEstimate:
    """A rig that is not identified, with a recording without the payload, of other motions."""
    rig = built(random)
    samples = recorded(random, rig, loaded=True).joined(recorded(random, rig, loaded=False))
    return fit_payload(samples, BY_HAND, inertia=False)


def in_motion(random: Random) -> PayloadEstimate:
    rig = built(random)
    samples = recorded(random, rig, loaded=True, moving=20).joined(recorded(random, rig, loaded=False, moving=16))
    return fit_payload(samples, BY_HAND, inertia=True)


NAMES = (
    "platform.mass",
    *(f"platform.center_of_mass[{axis}]" for axis in range(3)),
    *(f"load_cells[{leg}].offset" for leg in range(6)),
)
VALUES = np.array([LAB.mass, *LAB.center_of_mass, *np.zeros(6)])
COMMON = np.array([0.1, 0.0, 0.0, 0.0, *[-0.16] * 6])
COVARIANCE = np.outer(COMMON, COMMON) + np.diag([0.01**2, *[2e-4**2] * 3, *[0.05**2] * 6])
FILE = ParameterFile(
    "inertia",
    date(2026, 1, 1),
    LAB.name,
    tuple(
        Parameter(name, "", value, value, sigma)
        for name, value, sigma in zip(NAMES, VALUES.tolist(), np.sqrt(np.diag(COVARIANCE)).tolist(), strict=True)
    ),
    covariance=COVARIANCE,
)
"""An identification that knows mass and zeros together better than each"""
BY_FILE = Nuisance(LAB, [FILE], replace(ACCURACY, mass=1e-6, center=1e-9))


def by_file(random: Random) -> PayloadEstimate:
    """A rig of which the parameter file is wrong by as much as it says."""
    off = random.multivariate_normal(np.zeros(len(NAMES)), COVARIANCE)
    rig = built(random, heavier=False)
    truth = replace(rig.mechanism, mass=LAB.mass + off[0], center_of_mass=LAB.center_of_mass + off[1:4])
    return fit_payload(
        recorded(random, replace(rig, mechanism=truth, zero=off[4:]), loaded=True), BY_FILE, inertia=False
    )


def test_the_stated_uncertainty_is_that_of_the_error() -> None:
    """Over many rigs; an uncertainty that is 20 % too small makes 1.25 of it, one that is 25 % too large 0.8."""
    z = np.array(
        [
            z_of(weighed(np.random.default_rng(seed)))
            for weighed, count in ((by_before, 30), (in_motion, 14), (by_file, 40))
            for seed in range(count)
        ]
    )
    assert np.sqrt(np.mean(z**2)) == pytest.approx(1.0, abs=0.1)
    assert np.mean(np.abs(z) < 2.0) >= 0.93


def bare_and_loaded(random: Random, moving: int = 0) -> PayloadSamples:
    rig = built(random)
    return recorded(random, rig, loaded=True, moving=moving).joined(recorded(random, rig, loaded=False, moving=moving))


def test_a_rig_that_is_not_identified_is_told_by_samples_without_the_payload() -> None:
    samples = bare_and_loaded(np.random.default_rng(1))
    assert payload_sigma(fit_payload(samples, BY_HAND, inertia=False))[0] < 0.02
    with pytest.raises(CalibrationError, match=r"none is found(.|\n)*--before") as refused:
        fit_payload(samples.select(samples.loaded), BY_HAND, inertia=False)
    assert not isinstance(refused.value, UnidentifiablePayloadError)
    better = Nuisance(LAB, accuracy=replace(ACCURACY, mass=0.02, center=0.03, offset=0.5))
    with pytest.raises(
        UnidentifiablePayloadError, match=r"not known well enough to tell center_of_mass(.|\n)*--before"
    ):
        fit_payload(samples.select(samples.loaded), better, inertia=False)


def test_what_no_model_explains_is_refused_and_a_little_of_it_widens_the_uncertainty() -> None:
    samples = bare_and_loaded(np.random.default_rng(2), moving=40)
    scatter = np.random.default_rng(3).normal(0.0, NOISE, samples.residual.shape)
    sigma = payload_sigma(fit_payload(samples, BY_HAND, inertia=True))
    more = fit_payload(replace(samples, residual=samples.residual + scatter), BY_HAND, inertia=True)
    assert 1.5 < more.rest.chi_square < 2.8 and 1.5 < more.motion.chi_square < 2.8
    assert payload_sigma(more)[0] > 1.2 * sigma[0]
    for moving, where in ((False, "at rest"), (True, "in motion")):
        off = np.where((samples.moving == moving)[:, np.newaxis], 5.0 * scatter, 0.0)
        with pytest.raises(CalibrationError, match=f"does not fit the samples {where}") as refused:
            fit_payload(replace(samples, residual=samples.residual + off), BY_HAND, inertia=True)
        assert not isinstance(refused.value, UnidentifiablePayloadError), "nothing else may be answered instead"


def test_what_is_left_more_slowly_than_noise_widens_the_uncertainty() -> None:
    """A friction that no model has follows the motion: many samples of it are not many."""
    samples = bare_and_loaded(np.random.default_rng(4), moving=80)
    samples = replace(samples, t=np.where(samples.moving, np.arange(len(samples)) * 0.05, samples.t - 100.0))
    slow = np.repeat(np.random.default_rng(5).normal(0.0, NOISE, (len(samples) // 4, 6)), 4, axis=0)
    white = np.random.default_rng(6).permutation(slow, axis=0)
    slower, whiter = (
        fit_payload(replace(samples, residual=samples.residual + each), BY_HAND, inertia=True).motion.chi_square
        for each in (slow, white)
    )
    assert slower > 1.5 * whiter


def test_the_cells_own_calibration_counts() -> None:
    samples = bare_and_loaded(np.random.default_rng(7))
    cells = replace(identity().cells[0], gain_standard_error=0.01)
    none = Drift(read_only(np.zeros(6)), read_only(np.ones(6)))
    nuisance = Nuisance(LAB, accuracy=ACCURACY, calibration=replace(identity(), cells=(cells,) * 6, drift=none))
    found = fit_payload(samples, nuisance, inertia=False)
    assert payload_sigma(found)[0] == pytest.approx(0.01 * MASS / math.sqrt(6.0), rel=0.3)


def test_a_zero_that_changes_between_recordings_is_in_the_uncertainty() -> None:
    random, change = np.random.default_rng(8), 0.3
    rig = built(random)
    other = replace(rig, zero=rig.zero + random.normal(0.0, change, 6))
    samples = recorded(random, other, loaded=True, recording=1).joined(recorded(random, rig, loaded=False))
    with pytest.raises(CalibrationError, match=r"does not fit(.|\n)*--zero-change"):
        fit_payload(samples, BY_HAND, inertia=False)
    found = fit_payload(samples, BY_HAND, inertia=False, zero_change=change)
    sigma = payload_sigma(found)[0]
    assert sigma == pytest.approx(change * math.sqrt(6.0) / 9.81, rel=0.5) and abs(found.mass - MASS) < 2.5 * sigma


def test_what_the_data_do_not_tell_is_named_with_what_would() -> None:
    samples = bare_and_loaded(np.random.default_rng(9))
    level = samples.select(np.abs(samples.motion[:, 4:7]).max(axis=1) < 1e-3)
    with pytest.raises(UnidentifiablePayloadError, match=r"do not tell center_of_mass\[2\](.|\n)*rx = ±10 deg"):
        fit_payload(level, BY_HAND, inertia=False)
    with pytest.raises(UnidentifiablePayloadError, match=r"inertia(.|\n)*turns to and fro about rx, ry, rz"):
        fit_payload(samples, BY_HAND, inertia=True)
    bare = samples.select(~samples.loaded)
    nothing = bare.joined(replace(bare, loaded=np.full(len(bare), True)))
    with pytest.raises(CalibrationError, match="none is found"):
        fit_payload(nothing, BY_HAND, inertia=False)
    with pytest.raises(CalibrationError, match="lighter than its model"):
        fit_payload(replace(samples, loaded=~samples.loaded), BY_HAND, inertia=False)
    with pytest.raises(CalibrationError, match="no samples"):
        fit_payload(bare, BY_HAND, inertia=False)


def test_the_parameters_laid_over_the_mechanism_are_those_of_the_platform_with_the_payload() -> None:
    random = np.random.default_rng(10)
    rig = built(random)
    samples = recorded(random, rig, loaded=True, moving=200).joined(recorded(random, rig, loaded=False, moving=200))
    names, values, covariance = loaded_platform(LAB, fit_payload(samples, BY_HAND, inertia=True))
    truth = with_payload(rig.mechanism)
    of = truth.inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    z = (values - np.concatenate([[truth.mass], truth.center_of_mass, of])) / np.sqrt(np.diag(covariance))
    assert len(names) == 10 and np.abs(z).max() < 3.5
    parameters = tuple(Parameter(name, "", 0.0, float(value), 0.0) for name, value in zip(names, values, strict=True))
    over = overlaid(LAB, [ParameterFile("payload", date(2026, 1, 1), LAB.name, parameters)])
    assert over.mass == pytest.approx(values[0]) and over.inertia[0, 2] == pytest.approx(values[8])
