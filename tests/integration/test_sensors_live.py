"""Sensors of a live rig: processes, packets over UDP, and the death of their reader while the rig moves."""

import os
import signal
import socket
from pathlib import Path

import numpy as np
from configured import VIRTUAL
from waiting import eventually

import rig
from kinematics import TrajectorySpec, build_trajectory
from rig.acceptance.sensors import aligned
from rig.client import on_free_ports
from rig.engine import find_engine
from rig.findings import Code
from rig.recording import open_recording

HEAVE = {
    "frame": "home",
    "parts": [
        {
            "type": "harmonic",
            "duration": 1.0,
            "fade": 0.2,
            "terms": [{"dof": "z", "amplitude": 0.003, "frequency": 2.0}],
        }
    ],
}


def readers(engine: int) -> list[int]:
    """Processes that read an engine's sensors."""
    found = []
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            text = status.read_text()
        except OSError:  # it has ended
            continue
        if f"PPid:\t{engine}\n" in text and "rig: sensors" in text:
            found.append(int(status.parent.name))
    return found


def test_a_live_rig_records_its_sensors_and_outlives_their_reader(tmp_path: Path) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        source = f"udp://127.0.0.1:{free.getsockname()[1]}"
    imu = {"name": "imu", "kind": "imu", "source": source, "rate": 250.0, "clock": "machine"}
    config = on_free_ports(VIRTUAL).changed(
        {"sensors": [imu], "virtual": {"drive": {"start_spread": 1e-3}, "sensors": [{"name": "imu"}]}}
    )
    with rig.open(config, output=tmp_path) as robot:
        robot.home()
        robot.engage()
        motion = build_trajectory(TrajectorySpec.model_validate(HEAVE), config.machine.geometry.home_pose)
        robot.run(motion)
        eventually(lambda: [each.state for each in robot.status.sensors] == ["live"], "a reading")
        engine = find_engine(robot.config)
        assert engine is not None
        assert engine.describe().endswith("; sensors: imu live")
        (reader,) = readers(engine.pid)
        os.kill(reader, signal.SIGKILL)
        robot.run(motion)
        codes = [event.finding.code for event in robot.status.events]
        assert Code.SENSORS_DEAD in codes
        robot.park()
        path = robot.recording
    recording = open_recording(path)
    assert recording.complete
    assert not recording.doubts
    series = recording.sensors["imu"]
    assert len(series.time) > 250
    assert np.diff(series.time).min() > 0.0039  # their own times, whenever they arrive
    rows = recording.rows
    moving = rows[(rows["path_rate"] == 1.0) & (rows["t"] < series.time[-1]) & (rows["motion"] > 0)]
    # stamps of the plant's own clock: evenly spaced in rig time, and of the motion to a part of a cycle
    assert np.ptp(np.mod(series.time * 250.0 + 0.5, 1.0)) < 1e-6
    motion_of = aligned(
        moving["t"], moving["reference"][:, 15:16], series.time, series.values[:, 2:3], "imu", ("az",), "m/s²"
    )
    assert abs(motion_of.offset) < 1e-3
    felt = series.resampled(moving["t"])[:, 2]
    assert np.corrcoef(felt, moving["reference"][:, 15])[0, 1] > 0.9
    assert series.time[-1] < rows["t"][-1] - 1.0
    assert not Path("/dev/shm").joinpath(engine.address.readings).exists()
