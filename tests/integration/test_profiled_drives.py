"""The whole rig on servos whose profile is not plain, in lockstep: homed, engaged, moved, parked, and their torque."""

from pathlib import Path

import numpy as np
import pytest
from lockstep_bench import Bench, causes
from servo_profiles import COILS_TOML, SHIPPED, UGLY_TOML

import rig
from actuators import Status
from rig.config import load_config
from rig.errors import RefusedError
from rig.states import FaultCode, State

RIG = """
name = "profiled"
rate = 50
mechanism = "lab-hexapod"
mode = "position"
safety = { tare_shift = 15.0, force_residual = 80.0 }
virtual = { seed = 5, step = 1e-3, drive = { start_spread = 1e-3 } }

[load_cells]
source = "amplifier"

[load_cells.amplifier]
host = "127.0.0.1"
port = 15030

[drives]
watchdog = 0.2
"""
SINE = {"dof": "z", "amplitude": 0.01, "frequency": 0.5}
MOTION = {"parts": [{"type": "harmonic", "duration": 2.0, "fade": 0.5, "terms": [SINE]}]}
OWN = {"ugly": UGLY_TOML, "coils": COILS_TOML}


def rig_file(folder: Path, name: str) -> Path:
    """The file of a rig whose drives have a profile, on TCP or each on a line."""
    if name in OWN:
        (folder / f"{name}.toml").write_text(OWN[name])
    lines = [f'profile = "{f"./{name}.toml" if name in OWN else name}"', "legs = ["]
    if name in ("oriental-az", "delta-asda-a2"):
        lines.insert(0, "turnaround = 1e-4")
        lines += [f'    {{ device = "{folder}/leg{leg}", baud = 1000000 }},' for leg in range(6)]
    else:
        lines += [f'    {{ host = "127.0.0.1", port = {15021 + leg} }},' for leg in range(6)]
    path = folder / "profiled.toml"
    path.write_text(RIG + "\n".join([*lines, "]\n"]))
    return path


@pytest.mark.parametrize("name", [*OWN, *SHIPPED])
def test_a_rig_of_them_homes_engages_moves_and_parks(name: str, tmp_path: Path) -> None:
    with rig.open(rig_file(tmp_path, name), lockstep=True, record=False) as robot:
        robot.home()
        robot.engage()
        robot.run(MOTION)
        rows = robot.telemetry(last=2.0).rows
        assert robot.status.state is State.ENGAGED
        robot.park()
        assert robot.status.state is State.PARKED
    assert np.ptp(rows["length"], axis=0).min() > 0.005
    assert np.abs(rows["length_reference"] - rows["length"]).max() < 5e-3


@pytest.mark.parametrize(
    ("amplitude", "frequency", "quantity"), [(0.006, 2.5, "acceleration"), (0.02, 0.65, "lag"), (0.04, 1.0, "speed")]
)
def test_a_motion_beyond_the_ramp_of_one_of_them_is_refused_before_it_starts(
    amplitude: float, frequency: float, quantity: str, tmp_path: Path
) -> None:
    sine = SINE | {"amplitude": amplitude, "frequency": frequency}
    motion = {"parts": [{"type": "harmonic", "duration": 4.0, "fade": 1.0, "terms": [sine]}]}
    with rig.open(rig_file(tmp_path, "oriental-az"), lockstep=True, record=False) as robot:
        robot.home()
        robot.engage()
        with pytest.raises(RefusedError, match=f"{quantity} by the drive's ramp of leg"):
            robot.run(motion)
        assert robot.status.state is State.ENGAGED


def test_a_move_is_as_slow_as_the_ramp_of_one_of_them_asks_for(tmp_path: Path) -> None:
    config = load_config(rig_file(tmp_path, "oriental-az")).changed({"motion": {"approach_speed": 0.2}})
    home = config.machine.geometry.home_pose
    with rig.open(config, lockstep=True, record=False) as robot:
        robot.home()
        robot.engage()
        robot.move([*home[:2], home[2] + 0.03, *home[3:]])
        assert robot.status.state is State.ENGAGED
        rows = robot.telemetry(last=2.0).rows
    assert np.ptp(rows["length"], axis=0).min() > 0.02
    assert np.abs(rows["length_reference"] - rows["length"]).max() < config.safety.bound("following_error")


@pytest.mark.parametrize("name", ["ugly", "oriental-az"])
def test_torque_that_one_of_them_loses_stops_the_rig_and_does_not_come_back(name: str, tmp_path: Path) -> None:
    config = load_config(rig_file(tmp_path, name))
    with Bench(tmp_path, config) as bench:
        bench.engage().inject("safe_torque_off", 3)
        bench.until_state(State.FAULT)
        bench.virtual.faults.clear()
        bench.steps(20)
        assert not bench.engine.drives.any(Status.ENABLED)
        recorded = causes(bench.recording())
    assert recorded[0] is FaultCode.TORQUE_LOST


@pytest.mark.parametrize("name", ["coils", "oriental-az"])
def test_a_quick_stop_ends_with_torque_off_whether_or_not_the_drive_takes_it_off(name: str, tmp_path: Path) -> None:
    with Bench(tmp_path, load_config(rig_file(tmp_path, name))) as bench:
        bench.engage().inject("encoder_jump", 3)
        bench.until_state(State.FAULT)
        assert not bench.torque
        recorded = causes(bench.recording())
    assert recorded == [FaultCode.POSITION_JUMP]
