"""Motion cueing on a rig: what is felt and how faithfully, by theory; the command, its files, and what is refused."""

import csv
import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import signal
from typer.testing import CliRunner

from dynamics import Mechanism, load_mechanism
from kinematics import Tuning, load_tuning
from rig.cli import app
from rig.config import RigConfig, load_config
from rig.cueing import (
    FREQUENCIES,
    TESTS,
    Cueing,
    Fidelity,
    ObjectiveTest,
    RigResponse,
    cue,
    named_vehicle,
    objective_test,
    read_response,
    read_vehicle,
)
from rig.cueing.cueing import sensed_at
from rig.errors import InputError
from rig.motions import read_trajectory
from rig.safety import check_trajectory
from rig.streaming import washout_of

G = 9.80665
RATE = 50.0
DELAY = 0.03  # s, of a rig


@cache
def virtual() -> RigConfig:
    return load_config("virtual")


def wide_tuning() -> Tuning:
    """The shipped tuning, with tilts as fast as the filter says, and so small that no leg meets its bounds."""
    shipped = load_tuning("lab-hexapod")
    return shipped.model_copy(
        update={
            "head": (0.0, 0.0, 0.0),
            "tilt": shipped.tilt.model_copy(update={"rate": 1.0, "acceleration": 50.0}),
            "limiter": shipped.limiter.model_copy(update={"jerk": 1e6}),
        }
    )


@cache
def objective() -> ObjectiveTest:
    """The objective test of a linear washout, on a rig that is `DELAY` late along every coordinate."""
    frequency = np.linspace(0.01, 10.0, 300)
    late = np.exp(-2j * np.pi * frequency * DELAY)
    rig = tuple(RigResponse("late", dof, frequency, late) for dof in ("x", "y", "z", "rx", "ry", "rz"))
    return objective_test(virtual().machine, virtual().safety, wide_tuning(), RATE, rig)


def theory(name: str) -> Any:
    """What a test should find, from the transfer functions of the shipped tuning: scale 0.5 everywhere."""
    s = 1j * FREQUENCIES
    low = 2.5**2 / (s + 2.5) ** 2
    turn = 0.5 * s / (s + 1.0) * np.exp(-s / RATE / 2.0)
    high = {axis: s**2 / (s + omega) ** 2 * s / (s + 0.3) for axis, omega in (("x", 2.5), ("z", 4.0))}
    if name in ("surge", "sway"):  # what the tilt gives, and of the rest what the translation does
        return 0.5 * (low + high["x"] * (1.0 - low))
    if name == "heave":
        return 0.5 * high["z"]
    if name in ("roll", "pitch", "yaw"):
        return turn
    sign = -1.0 if "pitch" in name else 1.0
    if name in ("surge to pitch", "sway to roll"):
        return sign * 0.5 * s**2 * low / G
    # the rotation tilts the head against gravity, of which the translation takes a part back
    return sign * turn / s**2 * G * (1.0 - high["x"])


@pytest.mark.parametrize("one", TESTS, ids=[one.name for one in TESTS])
def test_the_objective_test_finds_the_transfer_functions(one: object) -> None:
    test = next(each for each in TESTS if each is one)
    found, expected = objective().response(test), theory(test.name)
    share = 5e-3 if test.input < 3 else 0.045  # rates are taken to be linear between samples, and followed to a half
    assert (np.abs(found - expected) <= share * np.abs(expected) + 2e-3).all(), np.abs(found / expected)
    assert np.abs(expected).max() > 0.05


def test_the_objective_test_is_of_motions_within_the_bounds() -> None:
    assert not objective().limited.any()
    assert objective().distortion.max() < 5e-3


@pytest.mark.parametrize("one", TESTS, ids=[one.name for one in TESTS])
def test_a_late_rig_is_as_late_in_every_response(one: object) -> None:
    test = next(each for each in TESTS if each is one)
    alone, together = objective().response(test), objective().response(test, rig=True)
    expected = alone * np.exp(-1j * FREQUENCIES * DELAY)
    assert (np.abs(together - expected) <= 5e-3 * np.abs(alone).max()).all()


def test_twelve_frequencies_and_ten_tests_are_those_of_the_standard() -> None:
    printed = [0.100, 0.158, 0.251, 0.398, 0.631, 1.000, 1.585, 2.512, 3.981, 6.310, 10.000, 15.849]
    assert np.round(FREQUENCIES, 3).tolist() == printed
    assert [one.number for one in TESTS] == list(range(1, 11))
    assert [one.name for one in TESTS if not one.direct] == [
        "pitch to surge", "roll to sway", "surge to pitch", "sway to roll",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("gain", "degrees", "level"),
    [(1.0, 0.0, "high"), (0.79, 0.0, "medium"), (0.9, -21.0, "medium"), (0.39, 0.0, "low"), (1.0, 41.0, "low")],
)
def test_classes_of_fidelity(gain: float, degrees: float, level: str) -> None:
    assert Fidelity("surge", gain, np.radians(degrees)).level == level


def test_what_is_felt_is_what_an_accelerometer_of_another_engine_reads() -> None:
    """MuJoCo's accelerometer and gyroscope, on a body in the same state."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody><body name="platform"><freejoint/><geom size="0.1" mass="1"/>
        <site name="head" pos="0.1 -0.2 0.3"/></body></worldbody>
        <sensor><accelerometer site="head"/><gyro site="head"/></sensor></mujoco>"""
    )
    data = mujoco.MjData(model)
    rng = np.random.default_rng(0)
    for _ in range(5):
        motion = rng.standard_normal(19)
        motion[3:7] /= np.linalg.norm(motion[3:7])
        data.qpos[:] = motion[:7]
        flat = np.zeros(9)
        mujoco.mju_quat2Mat(flat, motion[3:7])
        R = flat.reshape(3, 3)
        data.qvel[:3], data.qvel[3:] = motion[7:10], R.T @ motion[10:13]
        data.qacc[:3], data.qacc[3:] = motion[13:16], R.T @ motion[16:19]
        wanted = data.qacc.copy()
        mujoco.mj_inverse(model, data)
        data.qfrc_applied[:] = data.qfrc_inverse
        mujoco.mj_forward(model, data)
        np.testing.assert_allclose(data.qacc, wanted, atol=1e-9)
        felt = sensed_at(motion[None], np.array([0.1, -0.2, 0.3]), model.opt.gravity)[0]
        np.testing.assert_allclose(felt, data.sensordata, atol=1e-9)


# -- manoeuvres, as textbooks have them --------------------------------------------------------------------------------


@cache
def manoeuvre(name: str, shipped: bool = True) -> Cueing:
    config = virtual()
    tuning = load_tuning("lab-hexapod") if shipped else wide_tuning()
    return cue(config.machine, config.safety, tuning, 100.0, named_vehicle(name, 100.0))


def transfer(given: Any, times: Any) -> tuple[Any, Any, Any]:
    """What is felt of a force along x or y in theory, by acceleration, by tilt and both: shipped filters, scalehalf."""
    low = ([2.5**2], [1.0, 5.0, 2.5**2])
    tilt = signal.lsim(low, 0.5 * given, times)[1]
    high = ([1.0, 0.0, 0.0, 0.0], np.polymul([1.0, 5.0, 2.5**2], [1.0, 0.3]))
    acceleration = signal.lsim(high, 0.5 * given - tilt, times)[1]
    return acceleration, tilt, acceleration + tilt


def test_a_step_is_felt_as_the_linear_filters_say() -> None:
    """In time, against the closed form: onset, washout, and the tilt that takes over."""
    found = manoeuvre("step", shipped=False)
    inside = (found.times >= 0.0) & (found.times <= 14.0)
    acceleration, tilt, felt = transfer(found.vehicle[inside, 0], found.times[inside])
    assert not found.flags[inside].any()
    np.testing.assert_allclose(found.sensed_by_tilt[inside, 0], tilt, atol=5e-3)
    np.testing.assert_allclose(found.sensed[inside, 0] - found.sensed_by_tilt[inside, 0], acceleration, atol=0.01)
    np.testing.assert_allclose(found.sensed[inside, 0], felt, atol=0.01)


def test_a_step_begins_by_acceleration_and_stays_by_tilt() -> None:
    """The shipped tuning, head above the origin and tilt limited."""
    found = manoeuvre("step")

    def at(time: float, values: Any) -> float:
        return float(values[np.searchsorted(found.times, time)])

    force, tilt = found.sensed[:, 0], found.sensed_by_tilt[:, 0]
    assert at(1.1, force) > 0.35 and at(1.1, tilt) < 0.02
    assert at(8.5, force) == pytest.approx(0.5, abs=0.01) and at(8.5, tilt) == pytest.approx(0.5, abs=0.01)
    assert np.abs(found.sensed[:, 4]).max() <= np.radians(3.0) * 1.01
    assert at(8.5, found.coordinates[:, 0]) < 0.3 * found.coordinates[:, 0].max()  # the translation is washed out


def test_a_sine_has_gain_and_phase_of_the_transfer_function() -> None:
    found = manoeuvre("sine", shipped=False)
    steady = (found.times > 11.0) & (found.times <= 31.0)  # four periods
    wave = np.exp(-0.4j * np.pi * (found.times[steady] - 1.0))
    s = 0.4j * np.pi
    low, high = 2.5**2 / (s + 2.5) ** 2, s**3 / (s + 2.5) ** 2 / (s + 0.3)
    expected = 0.5 * (low + high * (1.0 - low))
    phasor = 2j * np.mean(found.sensed[steady, 1] * wave)
    assert abs(phasor) == pytest.approx(abs(expected), rel=0.01)
    assert np.angle(phasor / expected) == pytest.approx(0.0, abs=0.01)
    assert abs(expected) < 0.45 and np.angle(expected) < -0.5  # both can be told


def test_a_drive_is_felt_within_the_bounds_and_its_tilt_is_slow() -> None:
    found = manoeuvre("drive")
    assert found.verdict.passed
    assert 0.5 < max(np.abs(values).max() for values in found.use.values()) < 1.0
    changes = found.times < 8.5
    onset = (found.times > 2.0) & (found.times < 2.6)
    for rows, column in ((onset, 1), (onset, 3), (changes, 5)):  # what follows the onset sideways is late
        assert np.corrcoef(found.vehicle[rows, column], found.sensed[rows, column])[0, 1] > 0.85
    braking = (found.times > 11.0) & (found.times < 13.4)
    assert np.abs(found.sensed[braking, 4]).max() <= np.radians(3.0) * 1.01
    assert (found.sensed[braking, 0] < -0.7).all()  # sustained
    gained = np.abs(found.sensed_by_tilt[braking, 0] / found.sensed[braking, 0])
    assert (gained > 0.8).all()


def test_a_manoeuvre_is_that_of_a_car() -> None:
    samples = named_vehicle("drive", 100.0).samples
    t = np.arange(len(samples)) / 100.0
    lateral, yaw = samples[:, 1], samples[:, 5]
    changes, braking = t < 8.5, (t > 10.5) & (t < 13.0)
    assert 3.0 < np.abs(lateral[changes]).max() < 8.0  # tyres and stomachs
    assert np.trapezoid(yaw, t) == pytest.approx(0.0, abs=0.02)  # it goes straight on in the end
    assert np.count_nonzero(np.diff(np.sign(yaw[changes & (np.abs(yaw) > 0.05)]))) == 2  # left, right, left
    np.testing.assert_allclose(samples[braking, 0], -5.0 * np.cos(0.0222) - G * np.sin(0.0222), atol=0.05)
    assert named_vehicle("step", 100.0, "z-down").samples[0, 2] == -G
    with pytest.raises(InputError, match="slalom: must be one of step, sine, drive"):
        named_vehicle("slalom", 100.0)


# -- machines and files ------------------------------------------------------------------------------------------------


def test_a_machine_without_limits_or_not_level_is_refused() -> None:
    safety, tuning = virtual().safety, load_tuning("lab-hexapod")
    with pytest.raises(InputError, match=r"'dasgupta-1998': leg 1 has no limits of its length"):
        washout_of(load_mechanism("dasgupta-1998", evaluate_only=True), safety, tuning, 500.0)
    machine: Mechanism = virtual().machine
    leaning = replace(machine, gravity=np.array([0.0, 1.0, -9.8]))
    with pytest.raises(InputError, match="must be along -z there for motion cueing"):
        washout_of(leaning, safety, tuning, 500.0)


def vehicle_file(folder: Path, rows: Any = None, header: str = "t,ax,ay,az,p,q,r") -> Path:
    """A drive of 4 s: away for 2 s with a turn."""
    t = np.arange(0.0, 4.01, 0.02)
    away = ((t > 1.0) & (t < 3.0)).astype(float)
    given = np.column_stack([t, 1.5 * away, 0.5 * away, G + 0 * t, 0 * t, 0 * t, 0.2 * away]) if rows is None else rows
    path = folder / "vehicle.csv"
    np.savetxt(path, given, delimiter=",", header=header, comments="")
    return path


def test_a_vehicles_motion_is_interpolated_at_the_rate(tmp_path: Path) -> None:
    path = vehicle_file(tmp_path, [[1.0, 0, 0, G, 0, 0, 0], [1.1, 1, 0, G, 0, 0, 0], [1.4, 4, 0, G, 0, 0, 3]])
    found = read_vehicle(path, 100.0)
    assert len(found.times) == 41
    np.testing.assert_allclose(found.samples[:, 0], np.arange(41) / 10.0, atol=1e-12)
    assert found.samples[25, 5] == pytest.approx(1.5)
    assert not found.looks_weightless


@pytest.mark.parametrize(
    ("rows", "header", "says"),
    [
        ([[0, 0, 0, G, 0, 0, 0]], "t,ax,ay,az,p,q,r", "1 rows, must be at least 2"),
        ([[0, 0, 0, G, 0, 0], [1, 0, 0, G, 0, 0]], "t,ax,ay,az,p,q", "missing: r"),
        ([[0, 0, 0, G, 0, 0, 0], [0, 0, 0, G, 0, 0, 0]], "t,ax,ay,az,p,q,r", "does not increase"),
        ([[0, 0, 0, G, 0, 0, np.nan], [1, 0, 0, G, 0, 0, 0]], "t,ax,ay,az,p,q,r", "nan is not finite"),
        ([[0, 0, 0, G, 0, 0, 0], [3601, 0, 0, G, 0, 0, 0]], "t,ax,ay,az,p,q,r", "3601 s, must be at most 3600 s"),
    ],
)
def test_a_vehicles_motion_that_cannot_be_used_is_refused(tmp_path: Path, rows: object, header: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        read_vehicle(vehicle_file(tmp_path, rows, header), 100.0)


def test_a_response_of_the_rig_is_read_from_what_respond_writes(tmp_path: Path) -> None:
    path = tmp_path / "respond.json"
    pose = {"frequency_hz": [1.0, 2.0], "magnitude": [1.0, 0.5], "phase_rad": [-0.2, -0.4]}
    path.write_text(json.dumps({"dof": "x", "pose": pose, "force": {}}), encoding="utf-8")
    found = read_response(path)
    below, between, above = found.at(2.0 * np.pi * np.array([0.5, 1.5, 3.0]))
    assert below == pytest.approx(np.exp(-0.1j))
    assert between == pytest.approx(0.75 * np.exp(-0.3j))
    assert np.isnan(above)
    for text, says in (("{}", "is no response"), (json.dumps({"dof": "w", "pose": pose}), "needs a coordinate")):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=says):
            read_response(path)
    with pytest.raises(InputError, match="two of one coordinate"):
        objective_test(virtual().machine, virtual().safety, wide_tuning(), RATE, (found, found))


def test_a_cueing_begins_and_ends_at_rest_and_passes_the_rigs_check(tmp_path: Path) -> None:
    config = virtual()
    for name in ("lab-hexapod", "lab-hexapod-constrained"):
        vehicle = read_vehicle(vehicle_file(tmp_path), config.rate)
        found = cue(config.machine, config.safety, load_tuning(name), config.rate, vehicle)
        for row in (0, -1):
            np.testing.assert_allclose(found.motions[row, :7], config.machine.geometry.home_pose, atol=2e-4)
            np.testing.assert_allclose(found.motions[row, 7:], 0.0, atol=1e-12)
        assert found.verdict.passed
        assert found.times[np.flatnonzero(found.vehicle[:, 0])[0]] == pytest.approx(1.0, abs=0.021)
        assert 0.05 < max(np.abs(values).max() for values in found.use.values()) < 1.0


def test_the_command_writes_a_motion_that_check_takes(tmp_path: Path) -> None:
    runner, vehicle, folder = CliRunner(), vehicle_file(tmp_path), tmp_path / "cued"
    command = ["cue", "virtual", str(vehicle), "-o", str(folder), "--no-fidelity", "--rate", "100"]
    done = runner.invoke(app, command)
    assert done.exit_code == 0, done.output
    assert "the rig's check passes the motion" in done.output
    names = {path.name for path in folder.iterdir()}
    assert names == {"cueing.html", "cueing.json", "motion.csv", "cues.csv", "figures"}
    assert {path.stem for path in (folder / "figures").iterdir()} == {"force", "rate", "tilt", "pose", "legs"}
    config = virtual()
    motion = read_trajectory(folder / "motion.csv", config.machine.geometry)
    assert check_trajectory(config.machine, config.safety, motion, config.rate).passed
    with (folder / "cues.csv").open(encoding="utf-8") as file:
        cues = list(csv.DictReader(file))
    assert max(float(row["felt_ax"]) for row in cues) == pytest.approx(0.75, abs=0.05)
    page = (folder / "cueing.html").read_text(encoding="utf-8")
    assert "Motion cueing of" in page
    assert "passes the motion" in page

    again = runner.invoke(app, command)
    assert again.exit_code != 0
    assert "holds a cueing already" in str(again.exception or again.output)
    replaced = runner.invoke(app, [*command, "--force", "--json", "--tuning", "lab-hexapod-constrained"])
    assert replaced.exit_code == 0
    summary = json.loads(replaced.output)
    assert summary["tuning"]["algorithm"] == "constrained"
    assert summary["check"]["passed"]
    assert summary["omct"] is None


def test_the_command_says_what_is_wrong(tmp_path: Path) -> None:
    vehicle, folder = vehicle_file(tmp_path), str(tmp_path / "cued")
    for arguments, says in (
        (["--tuning", "there-is-none"], "tuning there-is-none: must be a .toml file, or a shipped tuning"),
        (["--rate", "5"], "5 Hz, must be 10 to 100000 Hz"),
        (["--no-fidelity", "--response", str(vehicle)], "only with the objective motion cueing test"),
        (["--response", str(vehicle)], "is no response of a pose"),
    ):
        done = CliRunner().invoke(app, ["cue", "virtual", str(vehicle), "-o", folder, *arguments])
        assert done.exit_code != 0
        assert says in f"{done.output}{done.exception}"
        assert not Path(folder).exists()
