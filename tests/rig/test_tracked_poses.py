"""Measurements for a geometry calibration from a recorded tracker: what is found again, and what is refused."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from synthetic_rows import make_header
from tracked_platform import Platform, estimates, in_gauge, reachable_poses

from calibration import GeometryNoise, calibrate_geometry
from dynamics import format_mechanism, load_mechanism
from kinematics import Array, quaternion_from_rotation_vector, quaternion_multiply
from rig.csvio import POSE, write_table
from rig.errors import InputError, RefusedError
from rig.recording import READING, Recording, RecordingFile, RecordingWriter, series_of
from rig.services.geometry_tables import LENGTHS, read_measurements
from rig.services.tracked_poses import poses_at_rest
from rig.states import State
from rig.telemetry import CHANNELS, ROW, SensorChannels

NOMINAL = load_mechanism("lab-hexapod")
RATE, TRACKED, REST, WAY = 50.0, 50.0, 1.5, 0.5
NOISE = GeometryNoise(50e-6, 200e-6, 10e-6)  # of one reading
LOADED = np.array([1.0, -0.5, 0.3, 0.8, -1.2, 0.4]) * 1e-3
"""m, length offsets of the parameters that the engine had loaded"""
OFFSETS = LOADED + np.array([0.6, 0.1, -0.4, 0.2, 0.5, -0.3]) * 1e-3
"""m, those of the machine"""


def recording(poses: Array, random: np.random.Generator) -> Recording:
    """The machine at rest at each of the poses (n, 7), with ways between them, seen by a tracker."""
    machine = Platform(NOMINAL.geometry, OFFSETS)
    exact = machine.lengths(poses, random, GeometryNoise(0.0, 0.0, 0.0))
    each = round((REST + WAY) * RATE)
    rows = np.zeros(len(poses) * each, ROW)
    rows["t"] = np.arange(len(rows)) / RATE
    rows["state"] = State.ENGAGED
    at = np.repeat(np.arange(len(poses)), each)
    rows["reference"][:, :7] = poses[at]
    rows["length"] = exact[at] - LOADED + random.normal(0.0, NOISE.length, (len(rows), 6))
    rows["reference"][np.arange(len(rows)) % each >= REST * RATE, 7] = 0.1  # on the way to the next
    seen = np.zeros(len(rows), READING)
    seen["t"] = rows["t"] + 0.003
    true = machine.measured(poses, random, GeometryNoise(0.0, 0.0, 0.0)).poses
    assert true is not None
    turns = quaternion_from_rotation_vector(random.normal(0.0, NOISE.rotation, (len(rows), 3)))
    seen["values"][:, :3] = true[at, :3] + random.normal(0.0, NOISE.position, (len(rows), 3))
    seen["values"][:, 3:7] = quaternion_multiply(turns, true[at, 3:]) * random.choice([-1.0, 1.0], (len(rows), 1))
    legs = tuple(replace(leg, length_offset=float(x)) for leg, x in zip(NOMINAL.legs, LOADED, strict=True))
    channels = SensorChannels("tracker", "pose", *zip(*CHANNELS["pose"], strict=True))
    header = make_header(RATE) | {"mechanism": format_mechanism(replace(NOMINAL, legs=legs))}
    return Recording(Path("run.mcap"), header, rows, (), 0, True, {}, sensors={"tracker": series_of(channels, [seen])})


@pytest.fixture(scope="module")
def recorded() -> tuple[Array, Recording]:
    random = np.random.default_rng(5)
    poses = reachable_poses(NOMINAL, 30, random)
    return poses, recording(poses, random)


def test_the_offsets_of_a_machine_are_found_from_a_recording_with_other_ones_loaded(
    recorded: tuple[Array, Recording], tmp_path: Path
) -> None:
    poses, run = recorded
    found = poses_at_rest(run, "tracker")
    assert len(found.poses) == len(poses)
    path = tmp_path / "poses.csv"
    write_table(path, (*POSE, *LENGTHS), np.hstack([found.poses, found.lengths]))
    noise = GeometryNoise(found.position_sigma, found.rotation_sigma, found.length_sigma)
    result = calibrate_geometry(
        NOMINAL.geometry, read_measurements(path, "none", None), length_offsets=NOMINAL.length_offsets, noise=noise
    )
    values, sigmas = estimates(result)
    true = in_gauge(Platform(NOMINAL.geometry, OFFSETS), NOMINAL.geometry)
    off = ((values - true) / sigmas).reshape(6, 7)[:, 6]
    assert np.abs(off).max() < 4.0, off
    assert sigmas.reshape(6, 7)[:, 6].max() < 1e-3  # of the prior's 2 mm
    error = (values - true).reshape(6, 7)[:, 6]
    assert np.abs(error).max() < 0.5 * np.abs(OFFSETS).max(), error


def test_rests_of_a_file_of_many_blocks_are_those_of_the_same_recording_in_memory(
    recorded: tuple[Array, Recording], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, path = recorded[1], tmp_path / "run.mcap"
    (series,) = run.sensors.values()
    writer = RecordingWriter(path, run.header, [series.channels])
    writer.write_rows(run.rows)
    writer.write_readings(series.readings(0))
    writer.close()
    monkeypatch.setattr("rig.recording.reader._BLOCK", 256)
    found, expected = poses_at_rest(RecordingFile(path), "tracker"), poses_at_rest(run, "tracker")
    assert len(found.times) == len(expected.times)
    for name in ("times", "poses", "lengths"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-9)


def test_the_uncertainty_of_a_mean_is_that_of_its_readings(recorded: tuple[Array, Recording]) -> None:
    found = poses_at_rest(recorded[1], "tracker")
    count = (REST - 0.5) * RATE
    assert found.position_sigma == pytest.approx(NOISE.position / np.sqrt(count), rel=0.2)
    assert found.rotation_sigma == pytest.approx(NOISE.rotation / np.sqrt(count), rel=0.2)
    assert found.length_sigma == pytest.approx(NOISE.length / np.sqrt(count), rel=0.2)


def test_a_recording_without_a_tracker_or_a_rest_is_refused_by_name(recorded: tuple[Array, Recording]) -> None:
    run = recorded[1]
    with pytest.raises(InputError, match=r"has no sensor 'other'; trackers in it: 'tracker'"):
        poses_at_rest(run, "other")
    imu = SensorChannels("tracker", "imu", *zip(*CHANNELS["imu"], strict=True))
    with pytest.raises(InputError, match="of kind 'imu', not 'pose', 'tracker'"):
        poses_at_rest(replace(run, sensors={"tracker": series_of(imu, [])}), "tracker")
    moving = run.rows.copy()
    moving["state"] = State.HOMING
    with pytest.raises(RefusedError, match=r"no rest of 1 s or more at which 'tracker' has 20 readings"):
        poses_at_rest(replace(run, rows=moving), "tracker")
