"""The whole rig on ROBO Cylinders, in lockstep: positions only, each going to its targets by ramps of its own."""

from pathlib import Path

import numpy as np
import pytest
from lockstep_bench import Bench, causes, near_home, whole_run

from actuators import Mode, Status
from rig.engine.messages import Reset
from rig.errors import HardwareError
from rig.findings import Code
from rig.states import FaultCode, State

CONFIG = near_home("virtual-iai")


def test_they_home_follow_and_park_and_the_model_is_compared(tmp_path: Path) -> None:
    recording = whole_run(tmp_path, CONFIG)
    rows = recording.rows[recording.rows["state"] == State.RUNNING]
    assert (rows["mode"] == Mode.POSITION).all()
    assert np.sqrt(np.mean((rows["length_reference"] - rows["length"]) ** 2)) < 1e-3
    residual = np.sqrt(np.mean(rows["force_residual"] ** 2))
    assert 0.1 < residual < 4.0 < 2.0 * np.ptp(rows["force_model"], axis=0).min()


def test_an_encoder_that_stands_is_noticed_however_coarse(tmp_path: Path) -> None:
    with Bench(tmp_path, CONFIG) as bench:
        bench.run(0.6).inject("encoder_frozen", 2)
        bench.until_state(State.FAULT)
        bench.until(lambda: not bench.torque)
        assert not bench.engine.drives.any(Status.ENABLED)
        recorded = causes(bench.recording())
    assert recorded[0] is FaultCode.FEEDBACK_FROZEN


def test_torque_that_stayed_on_after_a_lost_connection_is_not_blamed_on_another_master(tmp_path: Path) -> None:
    with Bench(tmp_path, CONFIG) as bench:
        bench.engage().inject("close", 3)
        bench.until_state(State.FAULT)
        bench.virtual.faults.clear()
        assert not bench.virtual.plant.braked(2)
        with pytest.raises(HardwareError) as refused:
            bench.rig.request(Reset())
        assert [(found.code, found.leg) for found in refused.value.finding.within] == [(Code.TORQUE_STAYS_ON, 3)]
        bench.inject("safe_torque_off", 3)
        bench.steps(5)
        bench.rig.request(Reset())
        assert bench.in_state(State.IDLE)
