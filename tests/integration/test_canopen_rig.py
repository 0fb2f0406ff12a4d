"""The whole rig on CiA 402 drives of one CAN bus, in lockstep: positions, and a drive that restarts."""

from pathlib import Path

import numpy as np
from lockstep_bench import MOTION, Bench, causes

from actuators import Mode
from kinematics import TrajectorySpec, build_trajectory
from rig.client.lifecycle import run_motion
from rig.client.motions import prepare_motion
from rig.config import load_config
from rig.states import FaultCode, State

NEAR = {"drive": {"start_spread": 1e-3}, "cells": {"noise": 0.01}}
CONFIG = load_config("virtual-canopen").changed({"load_cells": {"noise": 0.01}, "virtual": NEAR})


def test_they_home_follow_and_park_and_the_model_is_compared(tmp_path: Path) -> None:
    trajectory = build_trajectory(TrajectorySpec.model_validate(MOTION), CONFIG.machine.geometry.home_pose)
    with Bench(tmp_path, CONFIG) as bench:
        run_motion(bench.rig, prepare_motion(CONFIG, trajectory), "motion", lambda _progress: None)
        recording = bench.recording()
    assert recording.complete and causes(recording) == []
    rows = recording.rows[recording.rows["state"] == State.RUNNING]
    assert (rows["mode"] == Mode.POSITION).all()
    assert np.sqrt(np.mean((rows["length_reference"] - rows["length"]) ** 2)) < 1e-3
    residual = np.sqrt(np.mean(rows["force_residual"] ** 2))
    assert 0.1 < residual < 4.0 < 2.0 * np.ptp(rows["force_model"], axis=0).min()
    assert recording.rows["state"][-1] == State.PARKED


def test_a_drive_that_restarts_stops_the_rig(tmp_path: Path) -> None:
    with Bench(tmp_path, CONFIG) as bench:
        bench.run(0.6).inject("reboot", 2)
        bench.until_state(State.FAULT)
        bench.until(lambda: not bench.torque)
        recorded = causes(bench.recording())
    assert recorded[0] in (FaultCode.COMMUNICATION_LOST, FaultCode.DRIVE_RESTARTED)
