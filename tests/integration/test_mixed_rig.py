"""The whole rig on drives of three kinds, in lockstep: forces on four legs, lengths for the two cylinders."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lockstep_bench import Bench, causes

from actuators import Mode
from rig.config import RigConfig, load_config
from rig.safety import check_loop
from rig.states import FaultCode, State

NOISE = 0.01  # N
NEAR = {"drive": {"start_spread": 1e-3}, "cells": {"noise": NOISE}}
MIXED = load_config("virtual-mixed")
CONFIG = MIXED.changed({"load_cells": {"noise": NOISE}, "virtual": NEAR})
OWN = np.array([False] * 4 + [True] * 2)


def scaled(factor: float) -> RigConfig:
    """With both gains that many times."""
    control = CONFIG.control
    return CONFIG.changed({"control": {"stiffness": factor * control.stiffness, "damping": factor * control.damping}})


def running(bench: Bench) -> Any:
    """What was recorded in motion, a second of it left out."""
    recording = bench.recording()
    assert recording.complete and causes(recording) == []
    rows = recording.rows[recording.rows["state"] == State.RUNNING]
    return rows[len(rows) // 2 :]


def test_each_leg_is_commanded_in_its_own_mode_and_all_are_compared(tmp_path: Path) -> None:
    with Bench(tmp_path, CONFIG) as bench:
        bench.run(2.0)
        rows = running(bench)
    assert (rows["mode"] == np.where(OWN, Mode.POSITION, Mode.FORCE)).all()
    assert np.isfinite(rows["position_command"][:, OWN]).all() and np.isnan(rows["position_command"][:, ~OWN]).all()
    errors = np.sqrt(np.mean((rows["length_reference"] - rows["length"]) ** 2, axis=0))
    assert errors.max() < 1e-3
    residual = np.sqrt(np.mean(rows["force_residual"] ** 2, axis=0))
    swing = np.ptp(rows["force_model"], axis=0)
    assert (residual < 0.25 * swing).all() and residual.min() > 3.0 * NOISE  # what the cylinders' ramps make of it


def test_a_length_is_commanded_for_its_own_time(tmp_path: Path) -> None:
    """A length acts after the drive's dead time, a force for the whole period after it: not for the same instant."""
    with Bench(tmp_path, CONFIG) as bench:
        bench.run(2.0)
        rows = running(bench)
    told, wanted = rows["position_command"][:, OWN], rows["length_reference"][:, OWN]
    times = rows["t"] - rows["t"][0]
    found = []
    for leg in range(2):
        shifts = np.linspace(0.0, 0.03, 301)
        inner = slice(5, -5)
        errors = [np.abs(np.interp(times + s, times, wanted[:, leg]) - told[:, leg])[inner].max() for s in shifts]
        found.append(shifts[int(np.argmin(errors))])
    # one period to the exchange that sends it, the dead time, and what the line takes until the drive has its turn
    assert CONFIG.period < min(found) and max(found) < CONFIG.period + CONFIG.length_lead + 2e-3
    assert CONFIG.command_lead > CONFIG.length_lead + 4e-3


def test_the_margin_of_its_gains_is_that_of_the_legs_with_forces(tmp_path: Path) -> None:
    """Nearly at the margin it runs; half as far beyond, which is refused, it does not with the check taken out."""
    margin = check_loop(CONFIG).gain_margin
    with Bench(tmp_path, scaled(0.9 * margin)) as bench:
        bench.run(2.0)
        rows = running(bench)
    assert np.abs(rows["force_residual"]).max() < 10.0
    assert not check_loop(scaled(1.5 * margin)).passed
    beyond = tmp_path / "beyond"
    beyond.mkdir()
    with (
        pytest.MonkeyPatch.context() as patch,
        pytest.raises(AssertionError, match="FAULT"),
    ):
        patch.setattr("rig.engine.operator.check_loop", lambda _config: check_loop(CONFIG))
        with Bench(beyond, scaled(1.5 * margin)) as bench:
            bench.run(2.0)


@pytest.mark.parametrize("leg", [3, 5])
def test_a_drive_of_each_kind_that_falls_silent_stops_all(leg: int, tmp_path: Path) -> None:
    with Bench(tmp_path, CONFIG) as bench:
        bench.run(0.6).inject("drop_all", leg)
        bench.until_state(State.FAULT)
        others = [index for index in range(6) if index != leg - 1]
        bench.until(lambda: all(map(bench.virtual.plant.braked, others)))
        assert bench.machine.cause is not None
        assert (bench.machine.cause.code, bench.machine.cause.leg) == (FaultCode.COMMUNICATION_LOST, leg)
        # a motor sleeps by its watchdog; a cylinder has none, and stays where it was told to be
        bench.steps(int(CONFIG.rate))
        assert bench.virtual.plant.braked(leg - 1) is (leg == 3)
