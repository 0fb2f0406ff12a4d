"""A foreign FMU as the source of a followed motion: what it gives, and what follows where it fails."""

import fcntl
import math
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from configured import VIRTUAL
from fmpy.validation import validate_fmu
from foreign_units import PERIOD, foreign_vehicle, with_steps_of_its_own
from waiting import eventually

from rig.client import LockstepRig, RigClient, check_unit, open_rig
from rig.config import REFERENCE_MOTION, ReferenceFmu, complete_motion
from rig.errors import ConfigError, InputError
from rig.findings import Code
from rig.fmu import FmuEndedError, FmuError, MotionUnit, Pacing, ReferenceProcess
from rig.fmu import foreign as units
from rig.runtime import TelemetryRing
from rig.streaming import ACCELERATION, END, VELOCITY
from rig.telemetry import ROW

HEAVE, PITCH = 0.006, 1.2  # m and degrees
STEP = 0.002  # s
BY_ANGLES = [
    "heave -> pose.z", "pitch -> pose.ry", "heave_speed -> velocity.z", "pitch_rate -> velocity.ry",
    "heave_acceleration -> acceleration.z", "pitch_acceleration -> acceleration.ry",
]  # fmt: skip
BY_QUATERNION = [
    *(f"{part} -> pose.{part}" for part in ("qw", "qx", "qy", "qz")), "heave -> pose.z", "heave_speed -> velocity.z",
    "none -> angular_velocity.x", "pitch_rate -> angular_velocity.y", "none -> angular_velocity.z",
]  # fmt: skip
FEEDBACK = "platform.pose.z -> height"
SIZES = (f"heave_size = {HEAVE}", f"pitch_size = {PITCH}")
PLATFORM = np.array([0.1, 0.2, 0.45, 1.0, *np.zeros(15)])


@pytest.fixture(scope="module")
def ships(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    folder = tmp_path_factory.mktemp("ships")
    return {version: foreign_vehicle(version, folder) for version in (2, 3)}


def test_a_parameter_beyond_its_bounds_is_refused(ships: dict[int, Path]) -> None:
    with pytest.raises(InputError, match=re.escape("heave_size: 0.2, must be -inf to 0.1")):
        check_unit(VIRTUAL, _settings(ships[2]).model_copy(update={"parameters": ("heave_size = 0.2",)}))


def _settings(ship: Path, connections: list[str] = BY_ANGLES, *parameters: str, **changes: object) -> ReferenceFmu:
    given = {"fmu": str(ship), "step": STEP, "connections": connections, "parameters": [*SIZES, *parameters]}
    return ReferenceFmu.model_validate(given | changes)


def _motion(t: float) -> tuple[float, float, float, float]:
    """Heave and pitch of the ship, m and rad, and their rates."""
    rate = 2.0 * math.pi / PERIOD
    lifted, turned = HEAVE, math.radians(PITCH)
    shape, slope = 1.0 - math.cos(rate * t), rate * math.sin(rate * t)
    return lifted * shape, turned * shape, lifted * slope, turned * slope


def _unpacked() -> set[Path]:
    """Folders that units are unpacked into, but those in use by other processes than this one."""
    return {folder for folder in Path(tempfile.gettempdir()).glob("*rig-unit-*") if not _used_elsewhere(folder)}


def _used_elsewhere(folder: Path) -> bool:
    owner = folder / "owner"
    held = {os.path.realpath(link) for link in Path("/proc/self/fd").iterdir()}
    try:
        with owner.open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return str(owner) not in held
    except FileNotFoundError:  # removed meanwhile
        return True
    return False


def test_the_ships_of_the_tests_are_valid_units(ships: dict[int, Path]) -> None:
    assert [validate_fmu(str(path)) for path in ships.values()] == [[], []]


@pytest.mark.parametrize(("version", "connections"), [(2, BY_ANGLES), (3, BY_ANGLES), (2, BY_QUATERNION)])
def test_its_outputs_are_a_motion(ships: dict[int, Path], version: int, connections: list[str]) -> None:
    """In degrees where it says so; by angles or by a quaternion; with a resource, and its own parameters."""
    with MotionUnit(ships[version], _settings(ships[version], connections)) as unit:
        sample = unit.sample_of(unit.begin(unit.inputs_of(PLATFORM)))
        assert sample["pose"][0].tolist() == [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
        for _ in range(137):
            sample = unit.sample_of(unit.step(unit.inputs_of(PLATFORM)))
        heave, pitch, speed, rate = _motion(137 * STEP)
        wanted = [0.0, 0.0, heave, math.cos(0.5 * pitch), 0.0, math.sin(0.5 * pitch), 0.0]
        assert np.allclose(sample["pose"][0], wanted, rtol=0.0, atol=1e-12)
        assert np.allclose(sample["velocity"][0], [0.0, 0.0, speed, 0.0, rate, 0.0], rtol=0.0, atol=1e-12)
        assert sample["sent"][0] == pytest.approx(137 * STEP)
        given = VELOCITY | ACCELERATION if connections is BY_ANGLES else VELOCITY
        assert sample["given"][0] == unit.given == given


def test_what_it_takes_is_in_its_unit(ships: dict[int, Path]) -> None:
    """The platform's height, which the ship takes in mm, comes back as what it has heard."""
    with MotionUnit(ships[2], _settings(ships[2], ["heard [mm] -> pose.z", FEEDBACK])) as unit:
        unit.begin(unit.inputs_of(PLATFORM))
        values = unit.step(unit.inputs_of(PLATFORM))
        assert unit.sample_of(values)["pose"][0, 2] == pytest.approx(0.45, abs=1e-15)


@pytest.mark.parametrize(
    ("connections", "words"),
    [
        (["heave -> pose.rx"], "heave: its unit is m, must be one of rad"),
        (["pitch -> pose.z"], "pitch: its unit is degree, must be one of m"),
        (["heave [mm] -> pose.z"], "heave: its unit is m, the connection says another one"),
        (["depth -> pose.z"], "depth: is no output of it; those are: heard, heave"),
        (["heave -> pose.z", "platform.pose.z -> depth"], "depth: is no input of it; those are: height"),
        (["heave[1] -> pose.z"], "heave[1]: heave is no array"),
        (["motion -> pose.z"], "motion: must be one of its 3 elements, the first of which is motion[1]"),
        (["motion[4] -> pose.z"], "motion[4]: must be one of its 3 elements, the first of which is motion[1]"),
        (["motion[1,1] -> pose.z"], "motion[1,1]: must be one of its 3 elements"),
        (["crew -> pose.z"], "crew: is of type Int32, must be of Real, Float64 or Float32"),
    ],
)
def test_what_does_not_fit_is_refused_before_it_is_loaded(
    ships: dict[int, Path], connections: list[str], words: str
) -> None:
    version = 3 if any(name in words for name in ("motion", "crew")) else 2
    with pytest.raises(InputError, match=re.escape(words)):
        check_unit(VIRTUAL, _settings(ships[version], connections))


def test_elements_of_arrays_and_single_precision_are_connected(ships: dict[int, Path]) -> None:
    """The wind's first element keeps its start value, 0.25, and its second one is the platform's height."""
    connections = ["motion[3] -> pose.x", "gust -> pose.z", "motion[2] -> pose.y", "platform.pose.z -> wind[2]"]
    with MotionUnit(ships[3], _settings(ships[3], connections)) as unit:
        unit.begin(unit.inputs_of(PLATFORM))
        for _ in range(100):
            sample = unit.sample_of(unit.step(unit.inputs_of(PLATFORM)))
    assert sample["pose"][0, :3] == pytest.approx([0.25, _motion(100 * STEP)[0], 0.45], abs=1e-7)


def test_a_step_that_is_no_multiple_of_its_own_is_refused(ships: dict[int, Path]) -> None:
    """Its outputs would be those of another time, and stand still in between."""
    ship = with_steps_of_its_own(ships[3], 2.0 * STEP)
    with pytest.raises(InputError, match=r"its states advance in steps of 0.004 s: its step, 0.002 s, must be a mul"):
        check_unit(VIRTUAL, _settings(ship))
    check_unit(VIRTUAL, _settings(ship, step=4.0 * STEP))


@pytest.mark.parametrize(
    ("parameter", "words"),
    [
        ("trouble = 1.5", "trouble: 1.5, must be a whole number"),
        ("storm = 1", "storm: is no start value or parameter of it"),
        ("heave = 1", "heave: is no start value or parameter of it"),
        ("trouble = 3e9", "trouble: 3e+09, must be -2.14748e+09 to 2.14748e+09"),
        ("sail = 2", "sail: 2, must be one of 1 (jib), 4 (spinnaker)"),
    ],
)
def test_a_parameter_that_does_not_fit_is_refused(ships: dict[int, Path], parameter: str, words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        check_unit(VIRTUAL, _settings(ships[3], BY_ANGLES, parameter))


@pytest.mark.parametrize(
    ("connections", "words"),
    [
        (["a - pose.z"], "'a - pose.z' must be a quantity"),
        (["a -> velocity.z"], "no quantity of the pose is connected"),
        (["a -> pose.qw"], "pose.qx is missing, a quaternion has four parts"),
        (["a -> pose.rx", *BY_QUATERNION], "a quaternion and angles are connected"),
        (["a -> pose.z", "b -> velocity.x"], "velocity.z is missing"),
        (["a -> pose.z", "b -> pose.rx", "c -> velocity.z"], "angular_velocity.x is missing"),
        (["a -> pose.z", "b -> acceleration.z"], "acceleration.z has no place"),
        (["a -> pose.z", "b -> velocity.z", "c -> velocity.x"], "velocity.x has no place"),
        (["a -> pose.z", "b -> pose.z"], "pose.z is connected 2 times"),
        (["a [kg] -> pose.z"], "a [kg]: is no unit of pose.z, such as m"),
    ],
)
def test_connections_that_are_no_motion_are_refused(connections: list[str], words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        VIRTUAL.changed({"reference": {"fmu": "x.fmu", "connections": connections}})
    assert words in str(caught.value)


def test_outputs_of_the_same_names_are_a_motion_as_far_as_they_are_whole() -> None:
    whole = complete_motion(list(REFERENCE_MOTION))
    assert len(whole) == 19 and "pose.qw" in whole and "pose.rx" not in whole
    assert complete_motion(["pose.z", "velocity.z", "acceleration.x"]) == ["pose.z", "velocity.z"]
    assert complete_motion(["pose.rx", "velocity.rx", "velocity.z"]) == ["pose.rx", "velocity.rx"]
    assert complete_motion(["velocity.z", "force"]) == []


FAILURES = {
    2: (FmuError, "status 2 .*a wave breaks at 0.1 s"),
    3: (FmuError, "status 3 .*a wave breaks at 0.1 s"),
    4: (FmuError, "status 4 .*a wave breaks at 0.1 s"),
    7: (FmuError, "heave is not finite at 0.1 s of its time"),
    8: (FmuEndedError, "it ended at 0.(1|098) s of its time"),
}


@pytest.mark.parametrize("version", [2, 3])
def test_what_a_step_returns_is_reported(
    ships: dict[int, Path], version: int, capfd: pytest.CaptureFixture[str]
) -> None:
    """With the text of its log, formatted. After a fatal error none of its functions is called."""
    before = _unpacked()
    for trouble in (1, *FAILURES):
        with MotionUnit(ships[version], _settings(ships[version], BY_ANGLES, f"trouble = {trouble}")) as unit:
            unit.begin(unit.inputs_of(PLATFORM))
            for _ in range(49):
                unit.step(unit.inputs_of(PLATFORM))
            if trouble == 1:  # a warning
                unit.step(unit.inputs_of(PLATFORM))
                continue
            kind, words = FAILURES[trouble]
            with pytest.raises(FmuError, match=words) as caught:
                unit.step(unit.inputs_of(PLATFORM))
            assert caught.type is kind
    assert _unpacked() == before
    assert "a wreck is freed" not in capfd.readouterr().out


def test_what_dead_processes_left_is_removed(ships: dict[int, Path], tmp_path: Path) -> None:
    with MotionUnit(ships[2], _settings(ships[2])) as unit:
        left = unit.folder.with_name("rig-unit-left")
        left.mkdir()
        (left / "owner").touch()
        other = unit.folder.with_name("rig-unit-of-others")  # without a lock: not one of these
        other.mkdir()
        try:
            units.remove_remains()
            assert not left.exists() and unit.folder.exists() and other.exists()
        finally:
            other.rmdir()
    assert not unit.folder.exists()


# -- in a process of its own --------------------------------------------------------------------------------------


def _stepped(duration: float = math.inf) -> Pacing:
    return Pacing(None, 0.1, duration)


def _run_out(process: ReferenceProcess) -> str:
    """Have steps made until the FMU fails; why."""
    process.go()
    for k in range(200):
        process.advance(k * STEP, PLATFORM)
        try:
            process.check()
        except FmuError as error:
            return str(error)
    return ""


def test_it_streams_in_step_with_its_owner(ships: dict[int, Path]) -> None:
    """The first process here: most of its time is the start of the server that processes are forked from."""
    settings = _settings(ships[3], [*BY_ANGLES, FEEDBACK], lead=0.01)
    before = _unpacked()
    with ReferenceProcess(ships[3], settings, PLATFORM, _stepped(0.02)) as process:
        process.advance(5.0, PLATFORM)
        process.advance(5.0031, PLATFORM)
        process.go()
        for k in range(3, 20):
            process.advance(5.0 + k * STEP, np.full(19, np.nan))
        pid = process.pid
        assert pid is not None
        process.check()
        assert process.time == pytest.approx(0.02)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert _unpacked() == before


@pytest.mark.parametrize(
    ("trouble", "words"),
    [
        (5, r"it crashed by SIGSEGV in a step from 0.098 s"),
        (6, r"it hangs in a step from 0.098 s.*no answer for 0.3 s"),
    ],
    ids=["crashes", "hangs"],
)
def test_one_that_crashes_or_hangs_ends_with_its_process(ships: dict[int, Path], trouble: int, words: str) -> None:
    before = _unpacked()
    settings = _settings(ships[2], BY_ANGLES, f"trouble = {trouble}")
    with ReferenceProcess(ships[2], settings, PLATFORM, _stepped(), patience=0.3) as process:
        assert re.search(words, _run_out(process))
        assert process.ring.pushed == 50
        pid = process.pid
    assert pid is not None
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert _unpacked() == before


def test_a_motion_that_does_not_begin_at_rest_is_not_waited_with(ships: dict[int, Path]) -> None:
    """Else it is repeated as what it is as long as it is repeated: at rest."""
    settings = _settings(ships[3], ["surge -> pose.x", "surge_speed -> velocity.x"])
    with pytest.raises(InputError, match=r"ship3.fmu: it begins in motion, velocity.x is 0.02 at 0 s of its time"):
        ReferenceProcess(ships[3], settings, PLATFORM, _stepped())
    settings = settings.model_copy(update={"wait": False})
    with ReferenceProcess(ships[3], settings, PLATFORM, _stepped()) as process:
        process.advance(0.0, PLATFORM)
        assert process.ring.take()["velocity"].tolist() == [[0.0] * 6]
        process.go()
        process.advance(STEP, PLATFORM)
        assert process.ring.take()["velocity"][0, 0] == pytest.approx(0.02)


def test_a_process_that_hangs_ends_after_its_owner(ships: dict[int, Path]) -> None:
    """The owner is killed: nobody is left to end it."""
    settings = _settings(ships[3], BY_ANGLES, "trouble = 6", "trouble_at = 0.004")
    with ReferenceProcess(ships[3], settings, PLATFORM, _stepped(), patience=0.2) as process:
        assert "it hangs" in _run_out(process)
        process._process.pipe.close()
        eventually(lambda: not process._process.alive, "the process to end", patience=10.0)
        assert process._process.exitcode == 1


@pytest.fixture
def telemetry() -> Iterator[TelemetryRing]:
    with TelemetryRing.create(64) as ring:
        yield ring


def test_paced_it_is_ahead_of_the_clock_and_hears_of_the_platform(
    ships: dict[int, Path], telemetry: TelemetryRing
) -> None:
    settings = _settings(ships[2], ["heard [mm] -> pose.z", "pitch -> pose.ry", FEEDBACK], lead=0.05, step=0.005)
    pacing = Pacing(telemetry.name, 0.1, 0.1)
    with ReferenceProcess(ships[2], settings, PLATFORM, pacing, patience=30.0) as process:  # it is not looked at here
        row = np.zeros(1, ROW)
        row["pose"][0, 2] = 0.47
        telemetry.push(row)
        process.go()
        collected: list[Any] = []

        def ended() -> bool:
            collected.extend(process.ring.take().copy())
            return bool(collected and collected[-1]["given"] & END)

        eventually(ended, "the end of the stream", patience=30.0)
        process.check()
    times = np.array([each["time"] for each in collected])
    assert np.allclose(np.diff(times), 0.005, rtol=0.0, atol=1e-9)
    assert collected[-1]["sent"] == pytest.approx(0.1) and collected[0]["sent"] == 0.0
    assert min(each["time"] - each["received"] for each in collected) <= 0.05
    assert collected[-1]["pose"][2] == pytest.approx(0.47)
    assert not process.needed > 0.0025


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        (("busy = 0.002",), "a step of 0.002 s takes .* s on this machine, must take at most 0.001 s"),
        (("trouble = 3", "trouble_at = 0"), "status 3 .*a wave breaks"),
        (("trouble = 5", "trouble_at = 0"), "it crashed by SIGSEGV before its first step"),
        (("trouble = 6", "trouble_at = 0"), "it hangs before its first step"),
    ],
    ids=["slow", "fails", "crashes", "hangs"],
)
def test_one_that_cannot_be_paced_is_refused_before_the_motion(
    ships: dict[int, Path], telemetry: TelemetryRing, parameters: tuple[str, ...], words: str
) -> None:
    settings = _settings(ships[3], BY_ANGLES, *parameters)
    patience = 1.5 if "hangs" in words else 30.0
    with pytest.raises((InputError, FmuError), match=words):
        ReferenceProcess(ships[3], settings, PLATFORM, Pacing(telemetry.name, 0.1, 1.0), beginning=patience)


def test_one_that_slows_down_is_named(ships: dict[int, Path], telemetry: TelemetryRing) -> None:
    """After 50 steps, which are those that are timed before, each takes ten times as long as it may."""
    settings = _settings(ships[2], BY_ANGLES, "trouble = 9", "trouble_at = 0.104")
    with ReferenceProcess(ships[2], settings, PLATFORM, Pacing(telemetry.name, 0.02, math.inf)) as process:
        process.go()

        def failed() -> bool:
            try:
                process.check()
            except FmuError as error:
                return bool(re.search(r"ship2.fmu: it is too slow, .* late, and for 0.5 s none was", str(error)))
            return False

        eventually(failed, "the end of a process that is late", patience=30.0)


# -- on a rig -----------------------------------------------------------------------------------------------------

DELAY = 0.03
FOLLOWING = VIRTUAL.changed({"rate": 500.0, "stream": {"frame": "home", "delay": DELAY, "fade_in": 0.2}})


@pytest.fixture(scope="module")
def robot() -> Iterator[RigClient]:
    """Engaged, in lockstep at 500 Hz: its start takes most of the time."""
    with open_rig(FOLLOWING, lockstep=True, record=False) as made:
        made.home()
        made.engage()
        yield made


def _rows(robot: RigClient) -> list[Any]:
    rows: list[Any] = []
    assert isinstance(robot.rig, LockstepRig)
    robot.rig.listen(None, lambda new: rows.extend(new))
    return rows


@pytest.mark.parametrize("version", [2, 3])
def test_a_rig_follows_it(ships: dict[int, Path], robot: RigClient, version: int) -> None:
    """In step with it at 500 Hz: the reference is the ship's own motion, late by the stated delay."""
    rows = _rows(robot)
    robot.follow(_settings(ships[version]), duration=0.6)
    asked = [row for row in rows if np.isfinite(row["stream_asked"][0])]
    home, fastest = FOLLOWING.machine.geometry.home_pose, HEAVE * 2.0 * math.pi / PERIOD
    offsets = [
        row["t"] - math.acos(1.0 - (row["reference"][2] - home[2]) / HEAVE) * PERIOD / (2.0 * math.pi)
        for row in asked
        if row["reference"][9] > 0.5 * fastest
    ]
    assert len(offsets) > 150 and np.ptp(offsets) < 1e-6
    delays = [row["stream_delay"] for row in asked]
    assert np.allclose(delays, DELAY, rtol=0.0, atol=1e-9)
    assert max(row["reference"][2] for row in asked) - home[2] > 1.25 * HEAVE
    assert robot.status.stream is not None and robot.status.stream.lost == robot.status.stream.late == 0


def test_one_that_fails_on_the_way_stops_the_rig_by_name(ships: dict[int, Path], robot: RigClient) -> None:
    """It crashes at 0.2 s of its time: the platform comes to rest from the moment for which a sample is missing."""
    rows = _rows(robot)
    with pytest.raises(FmuError, match=r"ship2.fmu: it crashed by SIGSEGV in a step from 0.198 s"):
        robot.follow(_settings(ships[2], BY_ANGLES, "trouble = 5", "trouble_at = 0.2"), duration=2.0)
    speeds = [row["reference"][9] for row in rows]
    assert 0.5 * _motion(0.2)[2] < max(speeds) < _motion(0.2)[2]
    longest = FOLLOWING.stream.fade_out + FOLLOWING.safety.stop_time  # of the fade-out, and of the stop that follows
    moving = [k for k, row in enumerate(rows) if np.abs(row["reference"][7:13]).max() > 1e-6]
    assert rows[moving[-1]]["t"] < rows[int(np.argmax(speeds))]["t"] + longest
    assert robot.status.state.name == "ENGAGED"
    robot.abandon()


def test_why_it_failed_is_an_event_with_fields(ships: dict[int, Path], robot: RigClient) -> None:
    """In the log and the recording, before the stop: the call, its status and the FMU's own message."""
    with pytest.raises(FmuError, match=r"ship3.fmu: fmi3DoStep failed with status 3 \(error\): a wave breaks at 0.1 s"):
        robot.follow(_settings(ships[3], BY_ANGLES, "trouble = 3"), duration=2.0)
    robot.abandon()
    assert isinstance(robot.rig, LockstepRig)
    events = [event for event in robot.rig.engine.events if event.finding.code is Code.REFERENCE_FMU_FAILED]
    details = events[-1].finding.details
    assert (details["function"], details["status"], details["log"]) == ("fmi3DoStep", 3, "a wave breaks at 0.1 s")
    assert details["time"] == pytest.approx(0.098) and details["fmu"] == str(ships[3])
    assert events[-1].level == "error"


def test_a_stream_that_does_not_suit_its_steps_is_refused(ships: dict[int, Path], robot: RigClient) -> None:
    with pytest.raises(InputError, match=r"stream.delay: 0.03 s, must be at least .* with reference.step 0.05 s"):
        robot.follow(_settings(ships[2], step=0.05))
    with pytest.raises(InputError, match=r"duration: nan s"):
        robot.follow(_settings(ships[2]), duration=math.nan)


def test_what_is_missing_is_named(ships: dict[int, Path], robot: RigClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fmpy", None)
    with pytest.raises(InputError, match=r"needs FMPy, which is not installed: pip install 'stewart-rig\[fmi\]'"):
        check_unit(VIRTUAL, _settings(ships[2]))
