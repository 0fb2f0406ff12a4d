"""The whole rig on CiA 402 drives of one CAN bus, in lockstep: positions, late SYNCs, and a drive that restarts."""

import random
from pathlib import Path

import numpy as np
import pytest
from lockstep_bench import Bench, causes, motion_table, near_home, whole_run

from actuators import Mode
from rig.engine.messages import Follow
from rig.states import FaultCode, State

CONFIG = near_home("virtual-canopen")


def test_they_home_follow_and_park_and_the_model_is_compared(tmp_path: Path) -> None:
    recording = whole_run(tmp_path, CONFIG)
    rows = recording.rows[recording.rows["state"] == State.RUNNING]
    assert (rows["mode"] == Mode.POSITION).all()
    assert np.sqrt(np.mean((rows["length_reference"] - rows["length"]) ** 2)) < 1e-3
    residual = np.sqrt(np.mean(rows["force_residual"] ** 2))
    assert 0.1 < residual < 4.0 < 2.0 * np.ptp(rows["force_model"], axis=0).min()


def test_syncs_that_are_late_are_no_jolts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As they came in real time on a busy computer: most within 50 µs, and now and then some in a row by up to 4 ms."""
    draw, burst = random.Random(2), list[float]()
    with Bench(tmp_path, CONFIG) as bench:
        virtual, advance = bench.virtual, bench.virtual.advance

        def late(now: float) -> None:
            if not burst and draw.random() < 0.03:
                burst.extend(draw.uniform(2e-4, 3.8e-3) * part for part in (0.5, 1.0, 1.0))
            advance(max(now + (burst.pop() if burst else abs(draw.gauss(0.0, 2e-5))), virtual.time))

        bench.engage()
        monkeypatch.setattr(virtual, "advance", late)
        bench.rig.request(Follow("motion", (table := motion_table(CONFIG, 2.0)).step), table.samples)
        bench.until_state(State.RUNNING)
        bench.until(lambda: not bench.in_state(State.RUNNING))
        assert bench.in_state(State.ENGAGED), bench.machine.cause
        recording = bench.recording()
    rows = recording.rows[recording.rows["state"] == State.RUNNING]
    assert len(rows) > 350 and np.abs(rows["force_residual"]).max() < 20.0
    assert np.abs(rows["length_reference"] - rows["length"]).max() < 2e-3  # the sample of a late SYNC is late as well


def test_a_drive_that_restarts_stops_the_rig(tmp_path: Path) -> None:
    with Bench(tmp_path, CONFIG) as bench:
        bench.run(0.6).inject("reboot", 2)
        bench.until_state(State.FAULT)
        bench.until(lambda: not bench.torque)
        recorded = causes(bench.recording())
    assert recorded[0] in (FaultCode.COMMUNICATION_LOST, FaultCode.DRIVE_RESTARTED)
