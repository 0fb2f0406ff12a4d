"""`rig operate` in lockstep: scripts, and what a person at a terminal sees."""

import io
import os
import re
import select
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from configured import slower_file

import rig.config.rig_config
from kinematics import JogFrame, leg_lengths, leg_stepped_pose, pose_difference, stepped_pose
from rig.cli import main
from rig.cli.console_hold import until_enter
from rig.config.rig_config import load_config
from rig.errors import ExitCode
from rig.recording import Recording, open_recording
from rig.runs import runs_of
from rig.states import FaultCode, MotionKind, MotionOutcome, State

pytestmark = pytest.mark.usefixtures("undrawn_reports")

GEOMETRY = load_config("virtual").machine.geometry
HOME = GEOMETRY.home_pose
UP = """frame = "home"
[[parts]]
type = "minimum-jerk"
start = [0, 0, 0, 0, 0, 0]
end = [0, 0, "20 mm", 0, 0, 0]
duration = 2
"""
ENGAGED = "connect\nhome\nengage\n"

Operate = Callable[..., tuple[ExitCode, str, str]]


class Terminal(io.StringIO):
    """Lines as a person types them."""

    def isatty(self) -> bool:
        return True


class InterruptedScript(io.StringIO):
    """Ctrl-C is pressed in place of the line "^C"."""

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]  # as StringIO has it
        line = super().readline()
        if line == "^C\n":
            signal.raise_signal(signal.SIGINT)
        return line


class Interrupted(InterruptedScript, Terminal):
    """A terminal at which Ctrl-C is pressed."""


@pytest.fixture
def operate(here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Operate:
    """Give `rig operate --lockstep` these lines; its exit code and what it wrote."""
    (here / "up.toml").write_text(UP)
    rig = slower_file(here / "rig.toml")

    def run(lines: str, kind: type[io.StringIO] = io.StringIO) -> tuple[ExitCode, str, str]:
        monkeypatch.setattr("sys.stdin", kind(lines))
        code = ExitCode(main(["operate", rig, "--lockstep", "-o", "out"]))
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def recorded(folder: Path = Path("out")) -> Recording:
    (path,) = folder.glob("*.mcap")
    assert path.with_suffix(".html").exists()
    recording = open_recording(path)
    assert recording.complete
    return recording


def came_to(recording: Recording) -> list[npt.NDArray[np.float64]]:
    """Where the reference was at the end of every motion, poses (7,)."""
    state = recording.rows["state"]
    ends = np.flatnonzero((state[:-1] == State.RUNNING) & (state[1:] == State.ENGAGED)) + 1
    return list(recording.rows["reference"][ends, :7])


def test_a_whole_script(operate: Operate) -> None:
    lower = HOME.copy()
    lower[2] -= 0.01
    pose = ",".join(repr(float(value)) for value in lower)
    code, out, err = operate(
        "# up, and about\n\n" + ENGAGED + "jog z 5mm\njog rx -1deg --pivot 0.02m,0,50mm\n"
        "jog x 0.004m --frame platform --speed 10mm/s\njog ry 2deg --frame platform --pivot -100mm,0,0\njog leg3 -2mm\n"
        f"go {pose}\ngo home --rotation-speed 5deg/s\nrun up.toml --amplitude 0.5 --repeat 2\nstatus\n"
        "park\ndisconnect\n"
    )
    assert (code, err) == (ExitCode.OK, "")
    assert "> jog leg3 -2mm\n" in out and "# up" not in out and "report     out/operate-" in out
    assert "pose       0.00, 0.00, 460.00 mm; 0.00, 0.00, 0.00 °\n" in out
    recording = recorded()
    steps: list[tuple[list[float], JogFrame, list[float]]] = [
        ([0, 0, 0, -np.pi / 180, 0, 0], "base", [0.02, 0, 0.05]),
        ([0.004, 0, 0, 0, 0, 0], "platform", [0, 0, 0]),
        ([0, 0, 0, 0, np.pi / 90, 0], "platform", [-0.1, 0, 0]),
    ]
    first, *kinds = [motion.kind for motion in recording.motions]
    assert first == MotionKind.HOMING
    assert kinds[:4] == [MotionKind.JOG] * 4 and kinds[4:7] == [MotionKind.LEG_STEP, MotionKind.MOVE, MotionKind.MOVE]
    assert kinds[7:] == [MotionKind.RUN, MotionKind.APPROACH, MotionKind.RUN, MotionKind.PARK]
    assert all(motion.outcome == MotionOutcome.FINISHED for motion in recording.motions)
    here, *others = came_to(recording)
    assert here[2] - HOME[2] == pytest.approx(0.005, abs=1e-4)  # engaged where homing left it
    for (step, frame, pivot), reached in zip(steps, others, strict=False):
        here = stepped_pose(here, step, frame, pivot)
        assert np.abs(pose_difference(reached, here)).max() < 1e-9
    shorter = leg_stepped_pose(GEOMETRY, here, 3, -0.002)
    assert leg_lengths(GEOMETRY, others[3]) == pytest.approx(leg_lengths(GEOMETRY, shorter), abs=1e-9)
    assert np.abs(pose_difference(others[4], lower)).max() < 1e-9
    assert np.abs(pose_difference(others[5], HOME)).max() < 1e-9
    assert [reached[2] - HOME[2] for reached in others[6:]] == pytest.approx([0.01, 0.0, 0.01], abs=1e-9)
    assert recording.rows["state"][-1] == State.PARKED


def test_a_motion_is_paused_resumed_and_abandoned_and_what_is_left_engaged_is_stopped(operate: Operate) -> None:
    code, out, err = operate(
        ENGAGED + "start up.toml\nwait 0.8\npause\nresume\nwait\nstatus\n"
        "start up.toml\nwait 800ms\npause\nabandon\njog z 1mm\nstart up.toml\nwait 0.8\nstop 2\nabandon\n"
    )
    assert (code, err) == (ExitCode.OK, "the drives still have torque: stopping, category 1\n")
    assert out.count("paused: 'up' at ") == 2
    assert "pose       0.00, 0.00, 470.00 mm; 0.00, 0.00, 0.00 °\n" in out
    recording = recorded()
    back, paused, end, start, abandoned, jogged, again = (pose[2] - HOME[2] for pose in came_to(recording))
    assert [back, end, start, again] == pytest.approx([0.0, 0.02, 0.0, 0.0], abs=1e-9)
    assert 0.001 < paused < 0.019
    assert jogged - abandoned == pytest.approx(0.001, abs=1e-9)
    stops = [event.text for event in recording.events if event.code == FaultCode.OPERATOR_STOP]
    assert [text[-10:] for text in stops] == ["category 2", "category 1"]
    assert recording.rows["state"][-1] == State.PARKED


def test_a_fault_is_injected_cleared_and_reset(operate: Operate) -> None:
    code, out, err = operate(
        ENGAGED + "start up.toml\nwait 0.5\ninject drop_all --leg 2\nwait 2\nfaults\nstatus\n"
        "clear drop_all --leg 2\nfaults\nreset\nhome\nengage\npark\n"
    )
    assert (code, err) == (ExitCode.OK, "")
    assert out.count("on: cable 2 unplugged (drop_all)\n") == 1 and "\namplifier_" not in out
    assert "cause      communication lost: leg 2: no fresh feedback" in out
    states = recorded().rows["state"]
    changes = [State(state) for state in states[np.flatnonzero(np.diff(states.astype(int), prepend=-1))]]
    tail = [State.FAULT, State.IDLE, State.HOMING, State.PARKED, State.ENGAGING, State.ENGAGED]
    assert changes[changes.index(State.FAULT) :] == [*tail, State.PARKING, State.PARKED]


def test_a_motion_that_a_fault_ends_ends_the_script(operate: Operate) -> None:
    code, _out, err = operate(ENGAGED + "inject jam --value 2000 --leg 5\nrun up.toml\npark\n")
    assert code == ExitCode.FAULT and err.startswith("error: line 5: the run ended in a fault at ")
    recording = recorded()
    (cause,) = [run.cause for run in runs_of(recording) if run.cause]
    assert cause.split(":")[0] in ("following error", "force residual") and cause in err
    assert recording.rows["state"][-1] == State.FAULT


def test_a_fault_that_is_left_is_no_success(operate: Operate) -> None:
    code, out, err = operate("connect\ninject drop_all\nwait 1\n")
    assert code == ExitCode.FAULT and err.startswith("error: the rig is left in a fault, at ")
    assert " s: communication lost: all six legs: no fresh feedback" in err
    assert "no fresh feedback for 15 ms" in out and "no fresh feedback for 15 ms" in err


def test_a_refused_move_ends_a_script_and_moves_nothing(operate: Operate) -> None:
    code, out, err = operate(ENGAGED + "jog z 900mm\npark\n")
    assert code == ExitCode.REFUSED and "> park" not in out
    assert err.startswith("error: line 4: the target exceeds the limits:\n  greatest length of leg ")
    recording = recorded()
    engaged = recording.rows["reference"][recording.rows["state"] == State.ENGAGED]
    assert np.ptp(engaged, axis=0).max() == 0.0
    assert not (recording.rows["state"] == State.RUNNING).any() and recording.rows["state"][-1] == State.PARKED


def test_at_a_terminal_the_session_goes_on_after_errors_and_ctrl_c(operate: Operate) -> None:
    code, out, err = operate(
        ENGAGED + "jog z 900mm\njog z 1mm\nstart up.toml\n^C\nengage\n^C\nstatus\nquit\nconnect\n", Interrupted
    )
    assert code == ExitCode.OK
    assert err.count("error: ") == 1 and "error: the target exceeds the limits" in err
    assert err.count("interrupted: stopping, category 1") == 2
    assert "OFF> " in out and "IDLE> " in out and "state      PARKED" in out and out.count("OFF> ") == 1
    recording = recorded()
    stops = [event.text for event in recording.events if event.code == FaultCode.OPERATOR_STOP]
    assert stops == ["operator's stop, category 1"] * 2
    assert recording.rows["state"][-1] == State.PARKED


def test_ctrl_c_ends_a_script(operate: Operate) -> None:
    code, out, err = operate(ENGAGED + "^C\npark\n", InterruptedScript)
    assert (code, err) == (ExitCode.INTERRUPTED, "error: interrupted; the rig was stopped\n")
    assert "> park" not in out and recorded().rows["state"][-1] == State.PARKED


def test_the_platform_moves_as_long_as_it_is_held(operate: Operate) -> None:
    lines = "hold z + 20mm/s --for 1.2s\nhold ry - --for 0.8s --frame platform\nhold leg2 - 10mm/s --for 1\n"
    code, _out, err = operate(ENGAGED + lines + "park\n")
    assert (code, err) == (ExitCode.OK, "")
    recording = recorded()
    held = [motion for motion in recording.motions if motion.name.startswith("hold ")]
    assert [(motion.name, motion.kind) for motion in held] == [
        ("hold +z", MotionKind.JOG), ("hold -ry", MotionKind.JOG), ("hold -leg2", MotionKind.LEG_STEP)
    ]  # fmt: skip
    assert all(motion.outcome == MotionOutcome.FINISHED for motion in held)
    up, turned, _shorter = came_to(recording)
    assert up[2] - HOME[2] == pytest.approx(0.02 * 1.2, rel=0.1)
    assert np.linalg.norm(pose_difference(turned, up)[3:]) == pytest.approx(0.2 * 0.8, rel=0.1)


def test_at_a_terminal_enter_lets_go(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    ours, theirs = os.openpty()
    with open(ours, "wb", buffering=0) as person, open(theirs, encoding="utf-8") as terminal:
        monkeypatch.setattr("sys.stdin", terminal)
        held = until_enter()
        assert held() and held() and "Enter" in capsys.readouterr().out
        person.write(b"\n")
        assert not held()
        assert not select.select([terminal], [], [], 0.0)[0]  # it is no command


def test_positions_are_saved_gone_to_renamed_and_forgotten(operate: Operate, here: Path) -> None:
    steps = ["jog z 5mm", "save 'a little up'", "rename 'a little up' up", "go home", "room", "go up", "positions"]
    lines = "\n".join([*steps, "forget up", "go up"])
    code, out, err = operate(ENGAGED + lines)
    assert code is ExitCode.INPUT and "line 12: pose: 'up' is neither \"home\" nor a saved position" in err
    assert re.search(r"^up {18} 0\.00, 0\.00, 45\d\.\d\d mm; 0\.00, 0\.00, 0\.00 °$", out, re.M)
    assert "rig.positions.toml\n" in out and "[[position]]" not in (here / "rig.positions.toml").read_text()
    room = {line.split()[0]: line for line in out.splitlines() if line[:2] in ("-z", "+z")}
    assert room["+z"].startswith("+z     135.14 mm, then greatest length of leg")
    height = recorded().rows["reference"][:, 2]
    assert height[-1] == pytest.approx(height.max(), abs=1e-5)
    assert height.max() == pytest.approx(HOME[2] + 0.005, abs=1e-4)  # it was engaged near home
    assert (np.abs(height - HOME[2]) < 1e-9).any()


@pytest.mark.parametrize(
    ("line", "code", "reason"),
    [
        ("fly", ExitCode.INPUT, "No such command 'fly'"),
        ("jog z", ExitCode.INPUT, "Missing argument 'STEP'"),
        ("jog z '5 kg'", ExitCode.INPUT, "'5 kg' has the wrong dimension; expected a length"),
        ("jog rx 5mm", ExitCode.INPUT, "'5mm' has the wrong dimension; expected an angle"),
        ("jog z 5", ExitCode.INPUT, "'STEP': 5 has no unit: 5mm or 5m?"),
        ("jog rx -5", ExitCode.INPUT, "'STEP': -5 has no unit: -5deg or -5rad?"),
        ("jog z 5mm --speed 20", ExitCode.INPUT, "'--speed': 20 has no unit: 20mm/s or 20m/s?"),
        ("jog rx 1deg --pivot 0,0,50", ExitCode.INPUT, "'--pivot': 50 has no unit: 50mm or 50m?"),
        ("jog z nan", ExitCode.INPUT, "nan is not finite"),
        ("jog leg7 1mm", ExitCode.INPUT, "'leg7' must be one of x, y, z, rx, ry, rz, leg1 to leg6"),
        ("jog leg1 1mm --frame platform", ExitCode.INPUT, "a leg's length has neither --frame nor --pivot"),
        ("jog z 1mm --frame world", ExitCode.INPUT, "'--frame'"),
        ("jog z 1mm --pivot 1,2", ExitCode.INPUT, "'--pivot': 2 numbers, not the three x,y,z"),
        ("jog z 1mm --speed -1mm/s", ExitCode.INPUT, "'--speed': -0.001 m/s must be greater than 0"),
        ("hold z up", ExitCode.INPUT, "'DIRECTION': 'up' is neither + nor -"),
        ("hold z + 5 --for 1", ExitCode.INPUT, "'SPEED': 5 has no unit: 5mm/s or 5m/s?"),
        ("hold leg9 +", ExitCode.INPUT, "'leg9' must be one of x, y, z, rx, ry, rz, leg1 to leg6"),
        ("hold z + --for 0", ExitCode.INPUT, "'--for': 0 s must be greater than 0"),
        ("hold z + --for 1", ExitCode.REFUSED, "follow: connect first"),
        ("go 0,0,0.45,1,0,0", ExitCode.INPUT, "6 numbers, not the seven x,y,z,qw,qx,qy,qz"),
        ("go home 'x", ExitCode.INPUT, "No closing quotation"),
        ("run nowhere.toml", ExitCode.REFUSED, "follow: connect first"),
        ("run up.toml --amplitude 2", ExitCode.INPUT, "'--amplitude'"),
        ("inject jam --leg 7", ExitCode.INPUT, "'--leg'"),
        ("inject jam --value nan", ExitCode.INPUT, "'--value': nan is not finite"),
        ("inject thirst", ExitCode.INPUT, "no fault 'thirst'; known faults: jam, "),
        ("clear thirst", ExitCode.INPUT, "no fault 'thirst'; known faults: jam, "),
        ("stop 3", ExitCode.INPUT, "CATEGORY"),
        ("wait 0", ExitCode.INPUT, "0 s must be greater than 0"),
        ("home", ExitCode.REFUSED, "home: connect first"),
        ("go home", ExitCode.REFUSED, "follow: connect first"),
        ("save a", ExitCode.REFUSED, "the pose is not known: connect and home first"),
        ("room", ExitCode.REFUSED, "the pose is not known: connect and home first"),
        ("forget a", ExitCode.INPUT, "no position 'a' is saved; saved are: none"),
        ("pause", ExitCode.REFUSED, "pause: no motion is running"),
        ("abandon", ExitCode.REFUSED, "abandon: nothing is paused"),
    ],
)
def test_what_cannot_be_done_is_said_with_its_line(operate: Operate, line: str, code: ExitCode, reason: str) -> None:
    ended, out, err = operate(f"\n{line}\nstatus\n")
    assert ended == code and reason in err and err.startswith("error: line 2: ")
    assert "> status" not in out and not list(Path().glob("out/*"))


def test_in_a_script_nobody_can_let_go(operate: Operate) -> None:
    code, _out, err = operate(ENGAGED + "hold z +\n")
    assert code == ExitCode.INPUT and "'--for': no interactive input for Enter" in err
    code, _out, err = operate(ENGAGED + "hold z + 2m/s --for 1s\n")
    assert code == ExitCode.REFUSED and "speed: 2 m/s, must be above 0 and at most 0.8 m/s" in err


def test_a_motion_that_is_not_there_ends_the_script(operate: Operate) -> None:
    code, out, err = operate(ENGAGED + "run nowhere.toml\nstatus\n")
    assert code == ExitCode.INPUT and err.startswith("error: line 4: ") and "nowhere.toml" in err
    assert "> status" not in out


def test_a_session_of_one_cycle_and_a_script_of_another_system(operate: Operate) -> None:
    code, out, err = operate("\ufeffconnect\r\n")
    assert (code, err) == (ExitCode.OK, "") and "overruns\n" in out


def test_what_nobody_foresaw_still_brings_the_rig_to_rest(operate: Operate, monkeypatch: pytest.MonkeyPatch) -> None:
    def odd(_rig: Any) -> str:
        raise ArithmeticError("nobody foresaw this")

    monkeypatch.setattr("rig.cli.console_motions.place", odd)
    code, _out, err = operate(ENGAGED + "start up.toml\nwait 0.8\nstatus\n")
    assert code == ExitCode.INTERNAL and "nobody foresaw this" in err
    recording = recorded()
    assert recording.rows["state"][-1] == State.PARKED
    assert [event.text for event in recording.events if event.code == FaultCode.OPERATOR_STOP]


def test_without_an_input_nothing_begins(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    assert main(["operate", "virtual", "--lockstep", "-o", "out"]) == ExitCode.INPUT
    assert not (here / "out").exists()


def test_help_at_the_prompt(operate: Operate) -> None:
    code, out, err = operate("help\nhelp jog\nwait --help\nquit\n", Terminal)
    assert (code, err) == (ExitCode.OK, "")
    assert "Commands" in out and "--pivot" in out and "Left out: to the end of the motion" in out


def test_lockstep_needs_a_virtual_rig(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (Path(rig.config.__file__).parent / "shipped" / "virtual.toml").read_text(encoding="utf-8")
    Path("real.toml").write_text(text[: text.index("\n[virtual]")], encoding="utf-8")
    assert main(["operate", "real.toml", "--lockstep"]) == ExitCode.INPUT
    assert "has no [virtual] table" in capsys.readouterr().err


def test_the_script_of_the_guide_runs(operate: Operate) -> None:
    guide = (Path(__file__).parents[2] / "docs" / "operator.md").read_text(encoding="utf-8")
    (script,) = re.findall(r"```text\n(connect\n.*?)```", guide, re.DOTALL)
    code, out, err = operate(script)
    assert (code, err) == (ExitCode.OK, "")
    assert "paused: 'demo' at 2." in out and "state      FAULT" in out
    assert recorded().rows["state"][-1] == State.PARKED
