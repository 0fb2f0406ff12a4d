"""Cells calibrated, the rig identified with them, a payload weighed: each step's sigmas have those before in them."""

from dataclasses import dataclass, replace
from datetime import date

import numpy as np
import pytest
from built_machines import MACHINE, NOISE, RATE, SMOOTHING, drawn_of_the_prior, motion
from followed_poses import followed_poses

from calibration import (
    FRICTION_SHAPES,
    Accuracy,
    CellErrors,
    CellLoads,
    CellMeasurements,
    ForceRecord,
    IdentificationSettings,
    LoadCellCalibration,
    Nuisance,
    ParameterFile,
    PayloadSamples,
    Provenance,
    Rests,
    WeightSigmas,
    calibrate_cells,
    calibrate_in_place,
    cell_errors,
    fit_payload,
    format_cell_calibration,
    format_parameters,
    identify,
    overlaid,
    parse_cell_calibration,
    parse_parameters,
    reported_parameters,
)
from dynamics import Dynamics, Mechanism, Regressor, linear_parameters, payload_wrenches, residual_from_wrench
from kinematics import coordinates_to_motion, leg_lengths

DAY = date(2026, 1, 1)
ACCURACY = Accuracy(cross_talk=2e-3)
WEIGHED, CENTERED = 0.25, 2e-3  # kg, m, to which the platform is known
PATH = motion(24.0)
MASS, PLACE = 3.0, np.array([0.02, -0.03, 0.08])
PAYLOAD = np.array([MASS, *MASS * PLACE])
TILTS = np.zeros((6, 6))
TILTS[[1, 2], 3], TILTS[[3, 4], 4] = (0.17, -0.17), (0.17, -0.17)
TILTS[:, :3] = MACHINE.geometry.home_pose[:3]
BY_WEIGHT = 9.0
"""of the covariance of gains that the weights told: see `rig.analysis.identification`"""


@dataclass
class Built:
    """A machine off its drawing, and cells: raw = matrix · force + zero."""

    truth: Mechanism
    matrix: np.ndarray
    zero: np.ndarray
    random: np.random.Generator

    def raw(self, motions: np.ndarray, noise: float, machine: Mechanism | None = None) -> np.ndarray:
        forces = Dynamics(self.truth if machine is None else machine, SMOOTHING).cells(motions)
        reading: np.ndarray = forces @ self.matrix.T + self.zero + noise * self.random.normal(size=forces.shape)
        return reading

    def read(self, motions: np.ndarray, machine: Mechanism = MACHINE) -> np.ndarray:
        """The motions with the poses that a machine's geometry makes of the true lengths."""
        found, lengths = motions.copy(), leg_lengths(self.truth.geometry, motions[:, :7]) - machine.length_offsets
        found[:, :7] = followed_poses(machine.geometry, lengths, motions[0, :7])
        return found


def built(seed: int) -> Built:
    random = np.random.default_rng([seed, 77])
    truth = replace(
        drawn_of_the_prior(seed, PATH[:2], ACCURACY).truth,
        mass=MACHINE.mass + WEIGHED * random.normal(),
        center_of_mass=MACHINE.center_of_mass + CENTERED * random.normal(size=3),
    )
    neighbours = np.abs(np.subtract.outer(range(6), range(6))) % 4 == 1
    matrix = np.eye(6) + ACCURACY.gain * np.diag(random.normal(size=6))
    matrix += ACCURACY.cross_talk * neighbours * random.normal(size=(6, 6))
    return Built(truth, matrix, 3.0 * random.normal(size=6), random)


def in_place(rig: Built) -> LoadCellCalibration:
    spread = rig.random.uniform(-1.0, 1.0, (30, 6)) * [0.05, 0.05, 0.03, 0.25, 0.25, 0.25]
    spread[:, :3] += MACHINE.geometry.home_pose[:3] + np.array([0.0, 0.0, 0.03])
    rests = coordinates_to_motion(spread, np.zeros((30, 6)), np.zeros((30, 6)))
    readings = rig.raw(rests, NOISE / np.sqrt(300.0))
    data = Rests(rig.read(rests)[:, :7], readings, np.full((30, 6), NOISE), np.full(30, 300.0), np.zeros((30, 6)))
    found = calibrate_in_place(MACHINE, data, weights=WeightSigmas(WEIGHED, CENTERED))
    return found.calibration(DAY, 9.80665, drift_limit=50.0, provenance=Provenance())


def on_a_bench(rig: Built) -> LoadCellCalibration:
    masses = np.array([0.0, 5.0, 10.0, 15.0, 20.0, 10.0, 0.0])
    loads = tuple(
        CellLoads(masses, masses * 9.80665 * gain + zero + 0.015 * rig.random.normal(size=7), np.full(7, 200))
        for gain, zero in zip(np.diag(rig.matrix), rig.zero, strict=True)
    )
    before, after = (rig.zero + 0.2 * rig.random.normal(size=(200, 6)) for _ in range(2))
    return calibrate_cells(CellMeasurements(before, after, loads), DAY)


def weighed(rig: Built, calibration: LoadCellCalibration, file: ParameterFile, *, before: bool) -> np.ndarray:
    """The payload's errors by their sigmas, from six poses, with as many without it or by the file alone."""
    model, errors = overlaid(MACHINE, [file]), cell_errors([file])
    loaded = samples(rig, calibration, model, errors, loaded=True)
    data = loaded.joined(samples(rig, calibration, model, errors, loaded=False)) if before else loaded
    found = fit_payload(data, Nuisance(model, [file], None, calibration), inertia=False)
    away: np.ndarray = (found.theta - PAYLOAD) / np.sqrt(np.diag(found.covariance))
    return away


def samples(
    rig: Built, calibration: LoadCellCalibration, model: Mechanism, errors: CellErrors, *, loaded: bool
) -> PayloadSamples:
    truth, total = rig.truth, rig.truth.mass + MASS
    if loaded:
        truth = replace(truth, mass=total, center_of_mass=(truth.mass * truth.center_of_mass + MASS * PLACE) / total)
    motions, noise = coordinates_to_motion(TILTS, np.zeros((6, 6)), np.zeros((6, 6))), NOISE / 20.0
    forces = errors.corrected(calibration.apply(rig.raw(motions, noise, truth)))
    where, count = rig.read(motions, model), len(motions)
    return PayloadSamples(
        residual=forces - Dynamics(model).cells(where),
        forces=forces,
        motion=where,
        design=residual_from_wrench(model.geometry, where[:, :7]) @ payload_wrenches(where, model.gravity),
        regressor=Regressor(model).cells(where)[0],
        slopes=np.zeros((count, 6, 2)),
        friction=np.zeros((count, 6, len(FRICTION_SHAPES))),
        variance=np.full((count, 6), noise**2),
        loaded=np.full(count, loaded),
        moving=np.full(count, False),
        t=np.arange(count, dtype=np.float64),
        recording=np.full(count, int(loaded)),
    )


@pytest.mark.parametrize("calibrate", [in_place, on_a_bench])
def test_each_step_is_as_sure_as_it_says(calibrate: object) -> None:
    found: dict[str, list[np.ndarray]] = {"cells": [], "rig": [], "payload": [], "payload, by a difference": []}
    for seed in range(6):
        rig = built(seed)
        made = in_place(rig) if calibrate is in_place else on_a_bench(rig)
        calibration = parse_cell_calibration(format_cell_calibration(made))
        known = calibration.gain_covariance
        assert known is not None and calibration.in_place == (calibrate is in_place)
        found["cells"].append((calibration.gain * np.diag(rig.matrix) - 1.0) / np.sqrt(np.diag(known)))
        drives = Dynamics(rig.truth, SMOOTHING).inverse(PATH).forces
        drives = drives * (1.0 + 0.02 * rig.random.normal(size=6)) + 2.0 * rig.random.normal(size=6)
        drives += 0.2 * rig.random.normal(size=drives.shape)
        record = ForceRecord(RATE, rig.read(PATH)[:, :7], calibration.apply(rig.raw(PATH, NOISE)), drives)
        gains = known * (BY_WEIGHT if calibration.in_place else 1.0)
        settings = IdentificationSettings(coulomb_speed=SMOOTHING, noise=np.full(6, NOISE), gains=gains)
        result = identify(MACHINE, [record], settings)
        away = result.base.matrix @ (result.theta - linear_parameters(rig.truth)) / result.base_sigma
        found["rig"].append(away[result.identifiable])
        parameters, covariance, _ = reported_parameters(result)
        file = ParameterFile("inertia", DAY, MACHINE.name, parameters, covariance=covariance)
        file = parse_parameters(format_parameters(file))
        found["payload"].append(weighed(rig, calibration, file, before=False))
        found["payload, by a difference"].append(weighed(rig, calibration, file, before=True))
    for step, scores in found.items():
        z = np.concatenate(scores)
        assert np.mean(np.abs(z) < 2.0) > 0.85, step
        assert 0.6 < np.sqrt(np.mean(z**2)) < 1.4, step
