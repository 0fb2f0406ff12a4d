"""An acceptance test whose accelerations and poses are those of sensors of the rig."""

from pathlib import Path

import pytest
from configured import slower_file

from rig.acceptance import Basis
from rig.recording import open_recording
from rig.services import AcceptRequest, AcceptResult, accept

SENSORS = """
[[sensors]]
name = "imu"
kind = "imu"
source = "udp://127.0.0.1:9873"
rate = 330.0
position = [0.05, 0.02, 0.03]
rotation = [0.0, 0.0, 0.5]

[[sensors]]
name = "tracker"
kind = "pose"
source = "udp://127.0.0.1:9874"
rate = 200.0
position = [0.0, 0.1, 0.05]
frame_position = [1.0, 0.5, 0.0]
frame_rotation = [0.0, 0.0, 0.3]

[[virtual.sensors]]
name = "imu"
force_noise = 1e-4
clock_offset = 77.0

[[virtual.sensors]]
name = "tracker"
position_noise = 1e-6
"""


def configuration(folder: Path, extra: str) -> Path:
    """The file of the tests' rig with more in it."""
    path = folder / "sensed.toml"
    slower_file(path)
    with path.open("a", encoding="utf-8") as file:
        file.write(extra)
    return path


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> AcceptResult:
    folder = tmp_path_factory.mktemp("accept")
    return accept(
        AcceptRequest(
            config=str(configuration(folder, SENSORS)),
            axes=("z",),
            tests=("acceleration",),
            lockstep=True,
            folder=folder,
        )
    )


def test_acceleration_is_the_imu_s_and_the_pose_the_tracker_s(result: AcceptResult) -> None:
    assert result.recording is not None
    assert {number.basis for number in result.found.numbers if number.value is not None} == {Basis.ACCELEROMETER}
    assert result.verdict == "pass"
    sensors = result.numbers["sensors"]
    assert sensors["accelerometer"]["corrected"] is False
    assert abs(sensors["tracker"]["offset_s"]) < 2e-3  # the platform's delay behind the command, and nothing else
    assert sensors["accelerometer"]["correlation"] > 0.99
    assert set(open_recording(result.recording).sensors) == {"imu", "tracker"}


def test_a_recorded_sensor_that_shows_another_motion_is_not_used(result: AcceptResult, tmp_path: Path) -> None:
    """The IMU's axes are said to be others: the encoders serve, and the report says why."""
    turned = SENSORS.replace("rotation = [0.0, 0.0, 0.5]", "rotation = [3.14159, 0.0, 0.0]")
    again = accept(
        AcceptRequest(
            config=str(configuration(tmp_path, turned)),
            axes=("z",),
            tests=("acceleration",),
            recording=result.recording,
            output=tmp_path / "again.html",
        )
    )
    assert "rotation, delay and clock" in again.numbers["sensors"]["accelerometer"]["not_used"]
    assert {number.basis for number in again.found.numbers if number.value is not None} == {Basis.TRACKER}
    assert "Not used: " in (tmp_path / "again.html").read_text(encoding="utf-8")
    assert any(line.startswith("not used   accelerometer") for line in again.lines())
