"""A rig whose joints and encoders are not where the drawing says: calibrated it goes where it is told."""

from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from calibration import Parameter, ParameterFile, save_parameters
from dynamics import format_mechanism, load_mechanism
from kinematics import Geometry, Harmonic, HarmonicTerm, Placement
from rig.client import LockstepRig, prepare_motion
from rig.client.interruption import Interruption
from rig.client.lifecycle import run_motion
from rig.config import RigConfig, load_config
from rig.states import State

MACHINE = load_mechanism("lab-hexapod")
OFFSETS = np.array([4e-4, -3e-4, 5e-4, -2e-4, 1e-4, -5e-4])
GAINS, TALK = (1.02, 0.99, 1.01, 0.98, 1.0, 1.03), 0.01
SHIFTS = np.array([6e-4, -4e-4, 3e-4])
TERMS = [HarmonicTerm("z", 0.01, 1.0), HarmonicTerm("rx", 0.03, 0.7), HarmonicTerm("x", 0.01, 0.8)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plant with a joint, its encoders and two cells elsewhere, and the parameter file that says so."""
    folder = tmp_path_factory.mktemp("calibrated")
    points = MACHINE.geometry.base_points.copy()
    points[2] += SHIFTS
    geometry = Geometry(
        points, MACHINE.geometry.universal_axes, MACHINE.geometry.platform_points, MACHINE.geometry.home
    )
    legs = tuple(replace(leg, length_offset=float(o)) for leg, o in zip(MACHINE.legs, OFFSETS, strict=True))
    (folder / "truth.toml").write_text(format_mechanism(replace(MACHINE, geometry=geometry, legs=legs)))
    parameters = [Parameter(f"legs[{leg}].length_offset", "m", 0.0, float(o), 1e-6) for leg, o in enumerate(OFFSETS)]
    parameters += [Parameter(f"base.points[2][{k}]", "m", 0.0, float(points[2][k]), 1e-6) for k in range(3)]
    parameters += [Parameter(f"load_cells[{leg}].offset", "N", 0.0, 2.0, 0.1) for leg in (1, 4)]
    parameters += [Parameter(f"load_cells[{leg}].gain", "", 0.0, g - 1.0, 1e-3) for leg, g in enumerate(GAINS)]
    parameters += [
        Parameter(f"load_cells[{leg}].cross_talk[{other}]", "", 0.0, TALK, 1e-3)
        for leg in range(6)
        for other in ((leg - 1) % 6, (leg + 1) % 6)
    ]
    save_parameters(
        folder / "geometry.toml", ParameterFile("geometry", date(2026, 11, 23), MACHINE.name, tuple(parameters))
    )
    return folder


def configured(folder: Path, mode: str, calibrated: bool) -> RigConfig:
    plant = {"mechanism": str(folder / "truth.toml")}
    cells = {"bias": [0.0, 2.0, 0.0, 0.0, 2.0, 0.0], "noise": 0.05, "gain": list(GAINS), "cross_talk": TALK}
    parameters = [str(folder / "geometry.toml")] if calibrated else []
    changes = {"mode": mode, "parameters": parameters, "virtual": {"plant": plant, "cells": cells}}
    return load_config("virtual").changed(changes)


def worst(config: RigConfig, path: Path) -> tuple[float, float]:
    """How far the true platform is from its reference at most, m, and what its worst cell leaves, N RMS, in motion."""
    motion = Harmonic(TERMS, 2.0, 0.5, placement=Placement("home", home=MACHINE.geometry.home_pose))
    away, left = [], []
    with LockstepRig(config, path, Interruption()) as rig:

        def look(rows: np.ndarray) -> None:
            running = rows[rows["state"] == State.RUNNING]
            if len(running):
                away.append(np.abs(rig.virtual.plant.state[:3] - running[-1]["reference"][:3]).max())
                left.append(running["force_residual"])

        rig.sink.listener = look
        run_motion(rig, prepare_motion(config, motion), "motion", lambda _progress: None)
    return max(away), float(np.sqrt(np.mean(np.concatenate(left) ** 2, axis=0)).max())


@pytest.mark.parametrize("mode", ["force", "position"])
def test_a_calibrated_rig_goes_where_it_is_told(folder: Path, tmp_path: Path, mode: str) -> None:
    away, left = worst(configured(folder, mode, calibrated=True), tmp_path / "after.mcap")
    assert away < 6e-5
    assert left < 0.4


def test_a_rig_that_is_not_calibrated_does_not(folder: Path, tmp_path: Path) -> None:
    away, left = worst(configured(folder, "force", calibrated=False), tmp_path / "before.mcap")
    assert away > 3e-4
    assert left > 1.5
