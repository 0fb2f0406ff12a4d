"""Cycles that the host skips in a motion: the commands after them to drives that close their own loops."""

from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tomlkit
from engine_support import bench, smooth_table

from kinematics import Array
from rig.config import RigConfig, load_config
from rig.states import State

NEAR: dict[str, Any] = {
    "safety": {"force_residual": 400.0},  # a jolt is measured here, not stopped at
    "virtual": {"drive": {"start_spread": 1e-3}, "cells": {"noise": 0.01}},
}


def residuals(folder: Path, config: RigConfig, skipped: int) -> Array:
    """The residuals, N, of a motion in which so many cycles are skipped every 20 cycles."""
    with bench(folder, config) as rig:
        rig.engage()
        rig.tap.take()
        rig.follow(smooth_table(1.0, 10e-3, config.period))
        for cycle in range(round(1.0 / config.period)):
            rig.step(skipped if cycle % 20 == 19 else 0)
        assert rig.state is State.ENGAGED
        found: Array = np.abs(rig.tap.take()["force_residual"])
        return found


@pytest.mark.parametrize(
    ("shipped", "change", "skipped"),
    [
        ("virtual", {"mode": "position"}, 1),
        ("virtual", {"mode": "position"}, 3),
        ("virtual-canopen", {}, 1),
        ("virtual-iai", {}, 1),
    ],
    ids=["tcp", "tcp, three", "canopen", "iai"],
)
def test_a_skipped_cycle_is_no_jolt(tmp_path: Path, shipped: str, change: dict[str, Any], skipped: int) -> None:
    """A drive has gone on meanwhile: a length that is a cycle old would pull it back, at full stiffness."""
    config = load_config(shipped).changed(NEAR | change)
    for name in ("with", "without"):
        (tmp_path / name).mkdir()
    smooth = residuals(tmp_path / "without", config, 0).max()
    assert residuals(tmp_path / "with", config, skipped).max() < 1.5 * smooth + 1.0


@pytest.mark.parametrize("skipped", [0, 3])
def test_the_model_knows_a_drive_that_takes_a_force_but_no_speed(tmp_path: Path, skipped: int) -> None:
    """It waits at a length until the next comes, also where that comes late and is old."""
    text = (resources.files("actuators.profiles") / "generic-servo.toml").read_text(encoding="utf-8")
    profile = tomlkit.parse(text)
    del profile["command"]["velocity"]
    (tmp_path / "without-speed.toml").write_text(tomlkit.dumps(profile), encoding="utf-8")
    drives = {"profile": str(tmp_path / "without-speed.toml")}
    config = load_config("virtual").changed(NEAR | {"mode": "position", "drives": drives})
    found = np.sqrt(np.mean(residuals(tmp_path, config, skipped) ** 2))
    assert found < 0.3, "N RMS, that of a drive with both; 0.6 N if it counted as one, 1.8 N with cycles skipped"
