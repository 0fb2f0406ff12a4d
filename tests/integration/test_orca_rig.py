"""The whole rig on ORCA motors, in lockstep: by force and by position, and what they do of their own accord."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from lockstep_bench import Bench, causes, near_home, whole_run

from actuators import Status
from dynamics import Dynamics, LoadCell
from rig.config import RigConfig
from rig.engine.messages import Connect
from rig.engine.snapshot import SNAPSHOT
from rig.errors import HardwareError
from rig.states import FaultCode, State

LEG = 3


def config(mode: str = "force", rate: float = 250.0) -> RigConfig:
    """Motors near home, whose cells say what they measure."""
    return near_home("virtual-orca", mode=mode, rate=rate, control={"stiffness": 8e3, "damping": 360.0})


@pytest.mark.parametrize(("mode", "tracking", "residual"), [("force", 3e-4, 1.5), ("position", 1e-3, 3.0)])
def test_they_home_follow_and_park(tmp_path: Path, mode: str, tracking: float, residual: float) -> None:
    chosen = config(mode)
    recording = whole_run(tmp_path, chosen)
    rows = recording.rows[recording.rows["state"] == State.RUNNING]
    assert np.abs(rows["length_reference"] - rows["length"]).max() < tracking
    assert np.sqrt(np.mean(rows["force_residual"] ** 2)) < residual


def test_what_the_motors_say_of_themselves_is_published(tmp_path: Path) -> None:
    with Bench(tmp_path, config()) as bench:
        assert not bench.engine.snapshot.drives
        bench.park()
        report = bench.engine.snapshot.drives[LEG - 1]
        assert dict(report.values) == {"temperature": 35.0, "supply": 48.0, "power": 12.0, "motor force": 0.0}
        assert (report.error, report.replies.kinds) == ("", {})
        bench.inject("temperature", LEG, 71.0)
        bench.inject("drop_all", LEG + 1, duration=0.01)
        bench.until(lambda: bench.engine.snapshot.drives[LEG - 1].values[0] == ("temperature", 71.0))
        bench.until(lambda: bench.engine.snapshot.drives[LEG].replies.late == 2)  # reports are made in turn
        again = SNAPSHOT.validate_json(SNAPSHOT.dump_json(bench.engine.snapshot))
        assert again.drives == bench.engine.snapshot.drives


def test_a_motors_force_is_that_of_its_current_and_no_cells(tmp_path: Path) -> None:
    """It includes friction and weight of the leg, which a cell at the rod's end does not read."""
    machine = config().machine
    at_motors = replace(machine, legs=tuple(replace(leg, load_cell=LoadCell("motor")) for leg in machine.legs))
    with Bench(tmp_path, config()) as bench:
        bench.run(1.0)
        reported, cells = [], []
        for _ in range(25):
            bench.steps(1)
            plant = bench.virtual.plant
            motion = np.concatenate([plant.state, plant.acceleration])[None]
            forces = [bench.engine.drives.auxiliary(leg)["motor force"] for leg in range(6)]
            reported.append(forces - Dynamics(at_motors).cells(motion)[0])
            cells.append(forces - Dynamics(machine).cells(motion)[0])
    errors = [float(np.sqrt(np.mean(np.square(found)))) for found in (reported, cells)]
    assert errors[0] < 1.0 and errors[1] > 3.0, errors


def test_a_rig_whose_cells_are_the_motors_is_refused(tmp_path: Path) -> None:
    cells = {"source": "drive", "amplifier": None}
    said = r"leg 6: the drive reads no load cell: name the cells' devices in"
    with Bench(tmp_path, config().changed({"load_cells": cells})) as bench, pytest.raises(HardwareError, match=said):
        bench.rig.request(Connect())


def test_one_that_restarts_is_noticed_and_all_stop(tmp_path: Path) -> None:
    with Bench(tmp_path, config()) as bench:
        bench.run(0.5).inject("reboot", LEG)
        bench.until_state(State.FAULT)
        bench.until(lambda: not bench.torque)
        assert bench.machine.cause is not None and f"leg {LEG}" in bench.machine.cause.text
        assert not bench.engine.drives.any(Status.ENABLED)


def test_silence_is_ended_by_the_motors_own_watchdog_and_told_afterwards(tmp_path: Path) -> None:
    with Bench(tmp_path, config()) as bench:
        bench.run(0.5).inject("drop_all", LEG, duration=0.2)
        bench.until_state(State.FAULT)
        motor = bench.virtual.drives[LEG - 1]
        bench.until(lambda: "drop_all" not in motor.active)
        bench.until(lambda: bool(bench.engine.drives.status[LEG - 1] & Status.WATCHDOG))
        assert not bench.torque
        recorded = causes(bench.recording())
    assert recorded[0] is FaultCode.COMMUNICATION_LOST
