"""`rig.open` as scripts and notebooks use it, on real processes and in lockstep; the guide's script as printed."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from live_bench import live_config
from lockstep_bench import bench_config, causes
from waiting import eventually

import rig
from rig.client import HoldInterrupt, LockstepRig, Progress, RigClient, motions, open_rig
from rig.client import client as client_module
from rig.engine import find_engine
from rig.errors import ExitCode, HardwareError, InputError, RefusedError
from rig.recording import open_recording
from rig.runtime import StopRequest
from rig.states import FaultCode, State

ROOT = Path(__file__).parents[2]
(SCRIPT, *_) = re.findall(
    r"```python\n(.*?)```", (ROOT / "docs" / "scripting.md").read_text(encoding="utf-8"), re.DOTALL
)
SINE = {"parts": [{"type": "harmonic", "duration": 3.0, "fade": 0.5, "terms": [
    {"dof": "z", "amplitude": "10 mm", "frequency": 1.0}]}]}  # fmt: skip

Open = Callable[..., RigClient]
LOCKSTEP = pytest.param(True, id="lockstep")
LIVE = pytest.param(False, id="live")


@pytest.fixture
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Open]:
    """`rig.open` of a virtual rig of the test's own, whichever is asked for; nothing of it is left."""
    lockstep = request.param
    config = bench_config() if lockstep else live_config()
    made: list[RigClient] = []

    def open_it(_name: str = "virtual", **options: Any) -> RigClient:
        made.append(open_rig(config, **{"lockstep": lockstep, "output": tmp_path / "out"} | options))
        return made[-1]

    yield open_it
    for one in made:
        one.close()
    assert find_engine(config) is None


@pytest.mark.parametrize("opened", [LOCKSTEP, LIVE], indirect=True)
def test_the_script_of_the_guide_runs_as_it_is_printed(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rig, "open", opened)
    assert len([line for line in SCRIPT.splitlines() if line.startswith(("with", "    "))]) == 10
    names: dict[str, Any] = {}
    exec(SCRIPT, names)
    forces, robot = names["forces"], names["robot"]
    rate = robot.rig.config.rate
    assert forces.shape == (pytest.approx(4.0 * rate, rel=0.1), 6) and np.isfinite(forces).all()
    assert np.ptp(forces, axis=0).min() > 1.0  # N; the platform moved
    recording = open_recording(robot.recording)
    assert recording.complete and recording.rows["state"][-1] == State.PARKED
    assert causes(recording) == [FaultCode.OPERATOR_STOP]
    assert robot.closed and len(robot.telemetry()) > 6.0 * rate


def test_a_script_in_a_file_is_run_once_and_needs_no_guard_of_its_main_module(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    lines = [
        "import rig",
        "from rig.client import on_free_ports",
        "from rig.config import load_config",
        "print('begun')",
        "with rig.open(on_free_ports(load_config('virtual'))) as robot:",
        "    robot.connect()",
        "    print(robot.state.name)",
    ]
    script.write_text("\n".join(lines))
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    ended = subprocess.run(
        [sys.executable, script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert (ended.stdout, ended.stderr, ended.returncode) == ("begun\nIDLE\n", "", 0)


@pytest.mark.parametrize("opened", [LOCKSTEP, LIVE], indirect=True)
def test_an_interrupted_cell_leaves_a_platform_that_holds(opened: Open) -> None:
    robot = opened()
    robot.home()
    robot.engage()
    before = signal.getsignal(signal.SIGINT)

    def interrupt(progress: Progress) -> None:
        if progress.phase == "running" and progress.fraction > 0.01 and not robot._interruption.count:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt) as told:
        robot.run({"parts": SINE["parts"] * 20}, report=interrupt)  # longer than a busy computer is late
    held = r"interrupted: the platform holds under power, 'motion' paused at [0-9]+\.\d{3} s: resume\(\), abandon\(\)"
    assert re.match(held, str(told.value))
    assert isinstance(told.value, HoldInterrupt) and signal.getsignal(signal.SIGINT) is before
    assert robot.state is State.ENGAGED and robot.status.paused
    robot.abandon()
    robot.jog("z", "1 mm")
    with pytest.raises(HoldInterrupt, match=r"holds under power: park\(\) or stop\(\)"):
        _interrupted(robot)
    robot.park()
    assert robot.state is State.PARKED
    robot.close()
    stops = [event.text for event in open_recording(robot.recording).events if event.code == FaultCode.OPERATOR_STOP]
    assert stops and {text[-10:] for text in stops} == {"category 2"}


@pytest.mark.parametrize("opened", [LIVE], indirect=True)
def test_what_is_interrupted_before_it_moves_does_not_move_after(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stop of that moment finds nothing to stop, and the motion is sent after it."""
    robot = opened()
    robot.home()
    robot.engage()
    checked_move = motions.checked_move

    def interrupted(*arguments: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        eventually(lambda: robot.rig.status().cycles > taken + 5, "the stop to be taken")
        return checked_move(*arguments)

    monkeypatch.setattr(client_module, "checked_move", interrupted)
    taken, begun = robot.status.cycles, robot.pose[2]
    with pytest.raises(HoldInterrupt, match="holds under power"):
        robot.move(robot.pose + np.array([0, 0, 0.04, 0, 0, 0, 0]), speed="20 mm/s")
    assert robot.state is State.ENGAGED and abs(robot.pose[2] - begun) < 0.02


def _interrupted(robot: RigClient) -> None:
    """A request during which Ctrl-C comes while nothing moves."""
    with robot._asking():
        signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("opened", [LOCKSTEP], indirect=True)
def test_a_run_with_repeats_is_paused_and_goes_on(opened: Open) -> None:
    robot = opened()
    robot.home()
    robot.engage()
    robot.jog("z", 0.004)
    phases: list[str] = []

    def show(progress: Progress) -> None:
        phases.append(progress.phase)
        if progress.phase == "running 1 of 2" and progress.fraction > 0.2 and "paused" not in phases:
            phases.append("paused")
            assert robot.pause() and robot.status.paused
            robot.resume()

    robot.run(SINE, repeats=2, report=show)
    assert [phase for at, phase in enumerate(phases) if phase not in phases[:at]] == [
        "moving to the start",
        "running 1 of 2",
        "paused",
        "running 2 of 2",
    ]
    followed = robot.telemetry().during(State.RUNNING)
    assert np.ptp(followed.pose[:, 2]) == pytest.approx(0.02, abs=1e-3)
    assert [event.text for event in robot.events].count("RUNNING → ENGAGED") == 5  # jog, way, pause, two ends
    robot.start(SINE)
    robot.wait(1.0)
    assert robot.pause()
    robot.abandon()
    robot.move("home")
    robot.park()


@pytest.mark.parametrize("opened", [LOCKSTEP], indirect=True)
def test_what_cannot_be_is_refused_by_name_and_nothing_moves(opened: Open) -> None:
    robot = opened()
    with pytest.raises(RefusedError, match=r"engage: .*connect first"):
        robot.engage()
    robot.home()
    with pytest.raises(RefusedError, match="home: homed; disconnect to home again"):
        robot.home()
    robot.engage()
    here = robot.pose
    wrong: list[tuple[Callable[[], object], type[Exception], str]] = [
        (partial(robot.jog, "z", 0.9), RefusedError, "the target exceeds the limits"),
        (partial(robot.jog, "q", 0.1), InputError, "axis: 'q' must be one of x, y, z"),
        (partial(robot.jog, "z", "5 kg"), InputError, "step: '5 kg' has the wrong dimension; expected a length"),
        (partial(robot.jog, "z", np.nan), InputError, "step: nan is not finite"),
        (partial(robot.move, [0, 0, 0.45, 2, 0, 0, 0]), InputError, "quaternion's norm is 2, must be 1"),
        (partial(robot.move, [0, 0, np.inf, 1, 0, 0, 0]), InputError, "is not seven finite numbers"),
        (partial(robot.move, "away"), InputError, "'away' is neither \"home\" nor"),
        (partial(robot.move, "home", speed=0.0), InputError, "speed: 0 m/s must be greater than 0"),
        (partial(robot.run, {"parts": []}), InputError, "parts"),
        (partial(robot.run, SINE, amplitude=50.0), RefusedError, "exceeds the limits"),
        (partial(robot.wait, "-1 s"), InputError, "duration: -1 s must be greater than 0"),
        (partial(robot.stop, cast(StopRequest, 3)), InputError, "category: 3 must be 0, 1 or 2"),
        (partial(robot.run, SINE, repeats=0), InputError, "repeats: 0 is not a whole number of at least 1"),
        (partial(robot.run, SINE, repeats=cast(int, 1.5)), InputError, r"repeats: 1\.5 is not a whole number"),
        (partial(robot.run, SINE, amplitude=0), InputError, "amplitude: 0 is not a number greater than 0"),
        (partial(robot.start, SINE, amplitude=np.nan), InputError, "amplitude: nan is not a number greater than 0"),
    ]
    for ask, kind, text in wrong:
        with pytest.raises(kind, match=text):
            ask()
    assert robot.state is State.ENGAGED and np.array_equal(robot.pose, here)
    robot.close()
    robot.close()
    asked: list[Callable[[], object]] = [robot.park, robot.stop, lambda: robot.status, lambda: robot.state]
    for ask in [*asked, lambda: robot.pose]:
        with pytest.raises(HardwareError, match="the rig was closed"):
            ask()
    assert isinstance(robot.rig, LockstepRig) and not robot.rig.engine.drives.connected


def test_an_interpreter_that_ends_without_close_leaves_nothing(tmp_path: Path) -> None:
    config = live_config()
    ports = [leg.model_dump()["port"] for leg in config.drives.legs]
    script = f"""
import sys
sys.path[:0] = [{str(Path(__file__).parent)!r}, {str(Path(__file__).parents[1])!r}]
from live_bench import live_config
from rig.client import on_ports
import rig
robot = rig.open(on_ports(live_config(), {[*ports, 0]}), output={str(tmp_path / "out")!r})
robot.home()
robot.engage()
print(robot.recording, flush=True)
"""
    ended = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=180.0,
        check=False,
        start_new_session=True,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    eventually(lambda: find_engine(config) is None, "the engine to be gone")
    recording = open_recording(Path(ended.stdout.strip()))
    assert recording.complete and recording.rows["state"][-1] == State.PARKED
    assert causes(recording) == [FaultCode.OPERATOR_STOP]


def test_a_script_that_outlives_its_engine_ends_with_one_line(tmp_path: Path) -> None:
    script = "\n".join(
        [
            "import os, signal, rig",
            "from rig.client import on_free_ports",
            "from rig.config import load_config",
            "robot = rig.open(on_free_ports(load_config('virtual')))",
            "robot.connect()",
            "os.kill(robot.rig.engine.pid, signal.SIGKILL)",
        ]
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=180.0, check=False
    )
    assert ended.returncode == 0
    assert ended.stderr == "the rig could not be parked and closed: the engine has died\n"


@pytest.mark.parametrize("limit", [16, 24, 63])
def test_a_rig_is_not_started_where_its_processes_would_run_out_of_files(tmp_path: Path, limit: int) -> None:
    ended = subprocess.run(
        ["sh", "-c", f'ulimit -n {limit}; exec "$0" -m rig demo', sys.executable],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=180.0,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (ExitCode.HARDWARE, "")
    assert ended.stderr == f"error: a process may open {limit} files here (ulimit -n), must be at least 64\n"
    assert not list(tmp_path.rglob("*.mcap"))
