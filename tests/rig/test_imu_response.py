"""Frequency response by a recorded inertial unit against that by the encoders, and recordings without one."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from configured import VIRTUAL

import rig
from kinematics import TrajectorySpec, build_trajectory
from rig.analysis import RecordedResponse, multisine, recorded_response
from rig.errors import InputError
from rig.recording import Recording, open_recording

SENSORS: list[dict[str, Any]] = [
    {
        "name": "imu",
        "kind": "imu",
        "source": "udp://127.0.0.1:9873",
        "rate": 937.3,
        "clock": "machine",
        "position": [0.06, -0.03, 0.02],
        "rotation": [0.3, -0.2, 1.1],
    },
    {"name": "tracker", "kind": "pose", "source": "udp://127.0.0.1:9874", "clock": "machine"},
]


def run(dof: str, amplitude: float, folder: Path) -> Recording:
    config = VIRTUAL.changed(
        {
            "sensors": SENSORS,
            "virtual": {
                "drive": {"start_spread": 1e-3},
                "sensors": [{"name": "imu", "force_noise": 1e-3, "rate_noise": 1e-4}, {"name": "tracker"}],
            },
        }
    )
    motion = TrajectorySpec.model_validate(multisine(dof, 2.0, 20.0, amplitude, 1.0, 2, realizations=3))
    with rig.open(config, lockstep=True, output=folder) as robot:
        robot.home()
        robot.engage()
        robot.run(build_trajectory(motion, config.machine.geometry.home_pose))
        robot.park()
        path = robot.recording
    return open_recording(path)


@pytest.fixture(scope="module")
def heave(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    return run("z", 1.5e-3, tmp_path_factory.mktemp("heave"))


@pytest.fixture(scope="module")
def roll(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    return run("rx", 8e-3, tmp_path_factory.mktemp("roll"))


def agree(found: RecordedResponse) -> None:
    assert found.imu is not None
    here = np.isin(found.pose.frequency, found.imu.frequency)
    pose, imu = found.pose.at(here), found.imu
    assert len(imu.frequency) >= 5
    sigma = np.hypot(imu.sigma, pose.sigma)
    assert np.median(sigma) < 0.02, sigma
    assert (np.abs(imu.gain - pose.gain) < 0.005 + 4.0 * sigma).all()
    apart = np.abs(imu.gain - pose.gain) / sigma
    assert np.median(apart) < 3.0, apart


def test_an_imu_finds_the_response_of_a_translation(heave: Recording) -> None:
    found = recorded_response(heave, sensor="imu")
    agree(found)
    assert found.measured_with["imu"] == "specific force of sensor 'imu'"
    assert found.measured_with["pose"] == "encoders"
    assert recorded_response(heave).imu is None


def test_an_imu_finds_the_response_of_a_rotation(roll: Recording) -> None:
    found = recorded_response(roll, sensor="imu")
    agree(found)
    assert found.measured_with["imu"] == "angular rate of sensor 'imu'"


def test_a_sensor_that_cannot_be_used_is_refused_by_name(heave: Recording) -> None:
    with pytest.raises(InputError, match=r"has no sensor 'other'; inertial units in it: 'imu'"):
        recorded_response(heave, sensor="other")
    with pytest.raises(InputError, match="a sensor of kind 'pose', not 'imu', 'tracker'"):
        recorded_response(heave, sensor="tracker")
    series = heave.sensors["imu"]
    half = series.between(0.0, float(heave.rows["t"][-1]) - 3.0)
    cut = replace(heave, sensors={"imu": half})
    with pytest.raises(InputError, match="sensor 'imu' has no readings throughout the run"):
        recorded_response(cut, sensor="imu")
