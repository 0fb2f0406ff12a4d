"""The whole rig on Jrk G2 controllers, in lockstep: absolute, in coarse steps, by loops of their own."""

from pathlib import Path

import numpy as np
from lockstep_bench import Bench, near_home, whole_run

from actuators import Mode, Status
from actuators.jrk import VirtualJrk
from rig.engine.messages import Home, Reset
from rig.states import FaultCode, State

CONFIG = near_home("virtual-jrk-g2", 2e-3)
LEG = 3


def test_they_home_and_follow_and_the_model_is_compared(tmp_path: Path) -> None:
    recording = whole_run(tmp_path, CONFIG)
    rows = recording.rows[recording.rows["state"] == State.RUNNING]
    assert (rows["mode"] == Mode.POSITION).all()
    assert np.sqrt(np.mean((rows["length_reference"] - rows["length"]) ** 2)) < 2e-3
    residual = np.sqrt(np.mean(rows["force_residual"] ** 2))
    assert 0.5 < residual < 8.0 < np.ptp(rows["force_model"], axis=0).min()  # of the steps in its targets


def test_one_that_restarts_is_noticed_and_all_stop(tmp_path: Path) -> None:
    with Bench(tmp_path, CONFIG) as bench:
        bench.engage().inject("reboot", LEG)
        controller = bench.virtual.drives[LEG - 1].device
        assert isinstance(controller, VirtualJrk)
        while not bench.in_state(State.FAULT):
            bench.steps(1)
            assert not controller._running  # not for one cycle
        bench.until(lambda: not bench.torque)
        assert not bench.engine.drives.any(Status.ENABLED)
        cause = bench.machine.cause
        assert cause is not None and (cause.code, cause.leg) == (FaultCode.DRIVE_RESTARTED, LEG)
        assert not bench.machine.homed


def test_a_host_that_stands_still_is_noticed_by_their_time_out_and_reset_goes_on(tmp_path: Path) -> None:
    with Bench(tmp_path, CONFIG) as bench:
        bench.engage()
        bench.inject("drop_all", None, duration=0.2)
        bench.until_state(State.FAULT)
        bench.until(lambda: not bench.torque)
        bench.steps(30)
        assert all(status & Status.WATCHDOG for status in bench.engine.drives.status)
        bench.rig.request(Reset())
        assert bench.in_state(State.IDLE)
        bench.rig.request(Home())
        bench.until_state(State.PARKED)
