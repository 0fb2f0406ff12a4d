"""Cycles that the host skips in a motion: the commands after them to drives that close their own loops."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine_support import bench, smooth_table

from rig.config import RigConfig, load_config
from rig.states import State

NEAR: dict[str, Any] = {
    "safety": {"force_residual": 400.0},  # a jolt is measured here, not stopped at
    "virtual": {"drive": {"start_spread": 1e-3}, "cells": {"noise": 0.01}},
}


def largest(folder: Path, config: RigConfig, skipped: int) -> float:
    """The largest residual, N, of a motion in which so many cycles are skipped every 20 cycles."""
    with bench(folder, config) as rig:
        rig.engage()
        rig.tap.take()
        rig.follow(smooth_table(1.0, 10e-3, config.period))
        for cycle in range(round(1.0 / config.period)):
            rig.step(skipped if cycle % 20 == 19 else 0)
        assert rig.state is State.ENGAGED
        return float(np.nanmax(np.abs(rig.tap.take()["force_residual"])))


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
    smooth = largest(tmp_path / "without", config, 0)
    assert largest(tmp_path / "with", config, skipped) < 1.5 * smooth + 1.0
