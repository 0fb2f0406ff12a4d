"""Simulated sensors against independent computations, and readings in a lockstep rig's recording."""

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from configured import VIRTUAL

import rig
from actuators import Mode
from kinematics import TrajectorySpec, angles_to_matrix, build_trajectory, quaternion_to_matrix
from rig.acceptance.sensors import aligned
from rig.config import RigConfig
from rig.errors import ConfigError, InputError
from rig.findings import Code
from rig.recording import READING, MotionPart, RecordingFile, open_recording, recover, series_of
from rig.sensing import decode, platform_poses
from rig.telemetry import CHANNELS, SensorChannels
from rig.virtual import VirtualRig
from rig.virtual import drive_kernel as columns

IMU: dict[str, Any] = {
    "name": "imu",
    "kind": "imu",
    "source": "udp://127.0.0.1:9873",
    "rate": 500.0,
    "stale_after": 0.1,
    "position": [0.06, -0.03, 0.02],
    "rotation": [0.3, -0.2, 1.1],
}
TRACKER: dict[str, Any] = {
    "name": "tracker",
    "kind": "pose",
    "source": "udp://127.0.0.1:9874",
    "position": [0.0, 0.1, 0.05],
    "rotation": [0.0, 0.0, 0.4],
    "frame_position": [2.0, -1.0, 0.5],
    "frame_rotation": [0.1, 0.2, -0.7],
}


def config(*sensors: dict[str, Any], **twins: dict[str, Any]) -> RigConfig:
    """The virtual rig with sensors, each with a twin, whose errors are given by its name."""
    simulated = [{"name": each["name"], **twins.get(each["name"], {})} for each in sensors]
    return VIRTUAL.changed({"sensors": sensors, "virtual": {"drive": {"start_spread": 1e-3}, "sensors": simulated}})


def thrown(settings: RigConfig) -> VirtualRig:
    """The machine in free flight with open brakes: no device commands it."""
    virtual = VirtualRig(settings)
    state = virtual.plant.state
    state[3:7] = np.array([1.0, 0.05, -0.04, 0.03]) / np.linalg.norm([1.0, 0.05, -0.04, 0.03])
    state[7:13] = 0.2, -0.1, 0.15, 0.9, -0.7, 0.5
    drives = np.zeros((6, columns.DRIVE_COLUMNS))
    drives[:, columns.GAIN] = drives[:, columns.HOLD] = drives[:, columns.ENABLED] = 1.0
    drives[:, columns.LEG] = np.arange(6)
    drives[:, columns.MODE] = float(Mode.FORCE)
    drives[:, columns.MOTOR] = drives[:, columns.FORCE] = 45.0
    virtual.plant.set_moving(state, drives)
    return virtual


def flown(virtual: VirtualRig, count: int, step: float) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Poses (count, 7) of the plant `step` s apart, and the readings then."""
    poses, readings = [], []
    for number in range(1, count + 1):
        virtual.plant.advance(number * step)
        virtual.sensors.measure()
        poses.append(virtual.plant.state[:7])
        readings += [decode(packet, 6 if len(packet) < 112 else 7).values for _, packet in virtual.sensors.take()]
    return np.array(poses), np.array(readings)


def test_an_imu_measures_what_differences_of_the_pose_say() -> None:
    step = 5e-4
    virtual = thrown(config(IMU | {"rate": 2000.0}))
    poses, readings = flown(virtual, 20, step)  # until a leg's friction turns
    assert readings.shape == (20, 6)
    rotations = np.array([quaternion_to_matrix(pose[3:]) for pose in poses])
    axes = rotations @ angles_to_matrix(np.array(IMU["rotation"]))
    places = poses[:, :3] + rotations @ np.array(IMU["position"])
    accelerations = (places[2:] - 2.0 * places[1:-1] + places[:-2]) / step**2
    felt = np.einsum("nji,nj->ni", axes[1:-1], accelerations - np.asarray(VIRTUAL.machine.gravity))
    turned = np.einsum("nji,njk->nik", axes[:-2], axes[2:])  # over two steps, in the sensor's axes
    rates = np.stack([turned[:, 2, 1] - turned[:, 1, 2], turned[:, 0, 2] - turned[:, 2, 0],
                      turned[:, 1, 0] - turned[:, 0, 1]], axis=1) / (4.0 * step)  # fmt: skip
    assert np.abs(accelerations).max() > 1.0
    assert np.abs(readings[1:-1, :3] - felt).max() < 1e-5
    assert np.abs(readings[1:-1, 3:] - rates).max() < 1e-5


def test_at_rest_and_level_an_imu_reads_gravity_upwards() -> None:
    settings = config(IMU | {"rotation": [0.0, 0.0, 0.0]}).changed({"virtual": {"drive": {"start_spread": 0.0}}})
    virtual = VirtualRig(settings)
    virtual.advance(0.004)
    *_, (_, packet) = virtual.sensors.take()
    assert decode(packet, 6).values == pytest.approx((0.0, 0.0, 9.80665, 0.0, 0.0, 0.0), abs=2e-3)


def test_a_tracker_sees_its_target_and_gives_the_platform_back() -> None:
    settings = config(TRACKER | {"rate": 2000.0})
    poses, readings = flown(thrown(settings), 20, 5e-4)
    channels = settings.sensors[0].meaning
    series = series_of(channels, [_readings(readings)])
    assert np.abs(platform_poses(series, settings.sensors[0]) - poses).max() < 1e-9
    target = poses[0, :3] + quaternion_to_matrix(poses[0, 3:]) @ np.array(TRACKER["position"])
    frame = angles_to_matrix(np.array(TRACKER["frame_rotation"]))
    assert np.array(TRACKER["frame_position"]) + frame @ readings[0, :3] == pytest.approx(target, abs=1e-12)


def test_errors_of_an_imu_are_those_configured() -> None:
    errors: dict[str, Any] = {
        "force_bias": [0.1, -0.2, 0.3],
        "rate_bias": [0.01, 0.02, -0.03],
        "force_scale": [1.01, 1.0, 0.99],
        "rate_scale": [1.0, 1.1, 1.0],
        "force_noise": 0.02,
        "rate_noise": 0.003,
    }
    _, true = flown(thrown(config(IMU | {"rate": 2000.0})), 60, 5e-4)
    _, found = flown(thrown(config(IMU | {"rate": 2000.0}, imu=errors)), 60, 5e-4)
    _, again = flown(thrown(config(IMU | {"rate": 2000.0}, imu=errors)), 60, 5e-4)
    assert np.array_equal(found, again)  # by the seed
    scale = np.array([*errors["force_scale"], *errors["rate_scale"]])
    left = found - scale * true
    spread = np.sqrt(1000.0) * np.array([0.02] * 3 + [0.003] * 3)
    bias = np.array([*errors["force_bias"], *errors["rate_bias"]])
    assert np.abs((left.mean(axis=0) - bias) / spread).max() < 4.0 / 60**0.5
    assert (left.std(axis=0) / spread) == pytest.approx(np.ones(6), rel=0.3)


def test_a_part_of_the_readings_is_lost_on_the_way() -> None:
    settings = config(TRACKER | {"rate": 2000.0}, tracker={"loss": 0.25})
    _, readings = flown(thrown(settings), 60, 5e-4)
    _, again = flown(thrown(settings), 60, 5e-4)
    assert np.array_equal(readings, again)  # by the seed
    assert 30 < len(readings) < 60


def test_what_a_sensor_measures_late_is_stamped_late() -> None:
    virtual = VirtualRig(config(IMU, imu={"delay": 0.003}))
    virtual.advance(0.0049)
    assert not virtual.sensors.take()  # that of 2 ms is sent at 5 ms
    virtual.advance(0.0051)
    ((_, packet),) = virtual.sensors.take()
    assert decode(packet, 6).time == pytest.approx(0.005)


HEAVE = {
    "frame": "home",
    "parts": [
        {
            "type": "harmonic",
            "duration": 2.0,
            "fade": 0.3,
            "terms": [
                {"dof": "z", "amplitude": 0.004, "frequency": 2.0},
                {"dof": "ry", "amplitude": 0.02, "frequency": 3.0},
            ],
        }
    ],
}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with an IMU whose clock is elsewhere and drifts, and a slow tracker."""
    settings = config(
        IMU | {"rotation": [0.0, 0.0, 0.0], "delay": 0.003},
        TRACKER,
        imu={"delay": 0.003, "clock_offset": 5000.0, "clock_drift": 1e-4},
    )
    with rig.open(settings, lockstep=True, output=tmp_path_factory.mktemp("sensors")) as robot:
        robot.home()
        robot.engage()
        robot.run(build_trajectory(TrajectorySpec.model_validate(HEAVE), settings.machine.geometry.home_pose))
        reports = robot.status.sensors
        robot.park()
        path = robot.recording
    assert [report.name for report in reports] == ["imu", "tracker"]
    assert all(report.state == "live" and not report.missing and not report.dropped for report in reports)
    return path


def test_readings_are_recorded_with_their_own_times(recorded: Path) -> None:
    recording = open_recording(recorded)
    assert recording.complete
    assert not recording.doubts
    imu, tracker = recording.sensors["imu"], recording.sensors["tracker"]
    assert imu.channels == SensorChannels("imu", "imu", *zip(*CHANNELS["imu"], strict=True))
    assert np.diff(imu.sequence.astype(int)).tolist() == [1] * (len(imu.time) - 1)
    assert np.diff(imu.time) == pytest.approx(0.002, abs=1e-4)
    assert np.diff(tracker.time) == pytest.approx(0.01, abs=1e-6)
    assert imu.sent[0] > 4999.0
    part = MotionPart(RecordingFile(recorded), recording.motions[-2].id)
    assert 0.0 < part.sensors["imu"].time[0] - part.motion.start < 0.002


def test_an_imu_is_in_time_with_telemetry_within_a_millisecond(recorded: Path) -> None:
    """The rate about y against the reference's, whose drives follow within some 0.1 ms at these frequencies."""
    recording = open_recording(recorded)
    rows = recording.rows[(recording.rows["path_rate"] == 1.0) & (recording.rows["motion"] > 0)]
    imu = recording.sensors["imu"].between(rows["t"][0] - 0.1, rows["t"][-1] + 0.1)
    found = aligned(rows["t"], rows["twist"][:, 4:5], imu.time, imu.values[:, 4:5], "imu", ("wy",), "rad/s")
    assert abs(found.offset) < 1e-3
    assert found.correlation > 0.999


def test_a_cut_recording_has_the_readings_before_the_cut_and_is_recovered(recorded: Path, tmp_path: Path) -> None:
    whole = open_recording(recorded)
    data = recorded.read_bytes()
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(data[: 2 * len(data) // 3])
    part = RecordingFile(cut).sensors["imu"]
    assert 100 < len(part.time) < len(whole.sensors["imu"].time)
    recovered = recover(cut)
    assert recovered.complete
    assert np.array_equal(recovered.sensors["imu"].values, part.values)
    assert np.array_equal(recovered.sensors["imu"].time, part.time)
    assert recovered.sensors["tracker"].channels == whole.sensors["tracker"].channels


def test_simulated_sensors_that_fall_silent_or_read_nothing_are_reported_and_the_rig_goes_on(tmp_path: Path) -> None:
    with rig.open(config(IMU), lockstep=True, output=tmp_path) as robot:
        robot.home()
        assert robot.faults is not None
        before = robot.status.sensors[0].taken
        robot.faults.inject("sensors_nan", duration=0.05)
        robot.wait(0.2)
        robot.faults.inject("sensors_silent", duration=0.3)
        robot.wait(0.6)
        reported = {event.finding.code: event for event in robot.status.events if "sensor" in event.finding.code.value}
        report = robot.status.sensors[0]
        assert robot.status.state.name == "PARKED"
    assert set(reported) >= {Code.SENSOR_UNUSABLE, Code.SENSOR_STALE, Code.SENSOR_BACK}
    assert reported[Code.SENSOR_STALE].level == "warning"
    assert dict(report.dropped) == {"invalid": 25}
    assert report.state == "live"
    assert report.taken > before


def test_a_rig_without_simulated_sensors_has_none_of_their_faults() -> None:
    with pytest.raises(InputError, match="no simulated external sensors"):
        VirtualRig(config()).faults.inject("sensors_silent")


def test_readings_are_interpolated_between_their_times_alone() -> None:
    channels = SensorChannels("motor", "scalar", ("temperature",), ("°C",))
    rows = _readings(np.array([[1.0], [3.0], [7.0]]), times=[1.0, 2.0, 4.0])
    series = series_of(channels, [rows[2:], rows[:2], rows[:1]])
    assert series.time.tolist() == [1.0, 2.0, 4.0]  # in order, and each once
    times = np.array([0.9, 1.0, 1.5, 2.0, 3.0, 4.0, 4.1])
    found = series.resampled(times)[:, 0]
    assert found[1:-1].tolist() == [1.0, 2.0, 3.0, 5.0, 7.0]
    assert np.isnan(found[[0, -1]]).all()
    assert np.isnan(series.resampled(times, gap=1.5)[4, 0])
    assert series.column("temperature").tolist() == [1.0, 3.0, 7.0]
    with pytest.raises(KeyError, match="no channel 'pressure'"):
        series.column("pressure")


def test_a_quaternion_is_interpolated_on_the_shorter_way() -> None:
    half = math.radians(10.0)
    poses = np.zeros((2, 7))
    poses[0, 3], poses[1, 3:] = 1.0, [-math.cos(half), 0.0, 0.0, -math.sin(half)]
    series = series_of(SensorChannels("tracker", "pose", *zip(*CHANNELS["pose"], strict=True)), [_readings(poses)])
    (middle,) = series.resampled(np.array([0.5]))
    assert middle[3:] == pytest.approx([math.cos(half / 2), 0.0, 0.0, math.sin(half / 2)])


def _readings(values: npt.NDArray[np.float64], times: list[float] | None = None) -> Any:
    rows = np.zeros(len(values), READING)
    rows["t"] = np.arange(float(len(values))) if times is None else times
    rows["values"][:, : values.shape[1]] = values
    return rows


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"name": "IMU"}, "must be a small letter"),
        ({"source": "udp://127.0.0.1"}, "must be udp://HOST:PORT"),
        ({"source": "tcp://127.0.0.1:1"}, "must begin with udp://, serial:// or plugin://"),
        ({"source": "udp://192.168.1.5:9873"}, "give a key_file"),
        ({"source": "serial://ttyUSB0"}, "the path of a device"),
        ({"source": "serial:///dev/ttyUSB0?baud=12"}, "baud '12' must be 50 to"),
        ({"source": "serial:///dev/ttyUSB0?stop=1"}, "'stop' is neither baud nor parity"),
        ({"source": "plugin://none", "clock": "machine"}, "no sensor reader 'none'; known sensor readers: none"),
        ({"kind": "scalar", "position": [0, 0, 0], "rotation": [0, 0, 0]}, "needs one at least"),
        ({"channels": [{"name": "ax"}]}, "has its own, ax, ay, az, wx, wy, wz"),
        ({"frame_position": [1, 0, 0]}, 'are of kind "pose"'),
        ({"rate": 5.0}, "stale_after, 0.1 s, is below the period of 5 Hz"),
        ({"settings": {"a": 1}}, "settings are of a source plugin://"),
        ({"position": [math.nan, 0, 0]}, "position"),
    ],
)
def test_an_unusable_sensor_is_refused_by_name(changes: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(text)):
        VIRTUAL.changed({"sensors": [IMU | changes]})


@pytest.mark.parametrize(
    ("sensors", "twins", "text"),
    [
        ([IMU, IMU | {"source": "udp://127.0.0.1:1"}], [], "'imu' is there twice"),
        ([IMU, TRACKER | {"source": IMU["source"]}], [], "is that of sensor 'imu', too"),
        ([IMU, TRACKER | {"source": "udp://localhost:9873"}], [], "is that of sensor 'imu', too"),
        ([IMU], [{"name": "tracker"}], "'tracker' is none of the [[sensors]]: imu"),
        ([IMU], [{"name": "imu"}, {"name": "imu"}], "'imu' is there twice"),
        ([IMU | {"source": "serial:///dev/ttyS9"}], [{"name": "imu"}], "with a source udp://HOST:PORT"),
        ([IMU | {"clock": "machine"}], [{"name": "imu", "clock_offset": 1.0}], 'need clock = "sender"'),
    ],
)
def test_contradictions_between_sensors_are_refused(
    sensors: list[dict[str, Any]], twins: list[dict[str, Any]], text: str
) -> None:
    with pytest.raises(ConfigError, match=re.escape(text)):
        VIRTUAL.changed({"sensors": sensors, "virtual": {"sensors": twins}})
