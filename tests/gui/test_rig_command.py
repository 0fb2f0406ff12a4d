"""A command beside the app: what it says comes as it says it, in the app's folder, and its end is on every path."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fit_support import PATIENCE
from processes import offspring

from gui.session import RigCommand
from rig import __version__
from rig.errors import ExitCode
from rig.runtime import wait_until

LONG = ["excite", "virtual", "--duration", "60", "--candidates", "100000"]
SHIELDED = (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP)


@pytest.fixture
def command(qtbot: Any) -> Iterator[RigCommand]:
    made = RigCommand()
    yield made
    made.close()


def run(command: RigCommand, qtbot: Any, *arguments: str) -> tuple[int, str, str]:
    """What a command ended with."""
    with qtbot.waitSignal(command.ended, timeout=PATIENCE) as ended:
        command.start(arguments)
        assert command.busy
    assert not command.busy
    code, output, errors = ended.args
    return code, output, errors


def child() -> int:
    """Process id of the command."""
    wait_until(lambda: len(found()) == 1, 10.0)
    return found()[0]


def found() -> list[int]:
    """Those of all commands."""
    return [pid for pid in offspring(os.getpid()) if name_of(pid) == "rig: command"]


def name_of(pid: int) -> str:
    """As a list of processes has it; empty for one that has gone."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def test_output_and_errors_come_apart_with_the_exit_code(
    command: RigCommand, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here.csv").write_text("x,y\n")
    code, output, errors = run(command, qtbot, "ik", "lab-hexapod", "here.csv", "-o", "l.csv")
    assert (code, output) == (ExitCode.INPUT, "") and errors.startswith("error: here.csv: "), errors
    assert run(command, qtbot, "--version") == (ExitCode.OK, f"stewart-rig {__version__}\n", "")


def test_lines_are_told_as_they_come_and_more_than_a_pipe_holds_is_read(
    command: RigCommand, qtbot: Any, tmp_path: Path
) -> None:
    told: list[str] = []
    command.told.connect(told.append)
    code, output, errors = run(
        command, qtbot, "calibrate", "geometry", "lab-hexapod", "--plan", "700", "--progress", "--json", "-o",
        str(tmp_path / "poses.csv"),
    )  # fmt: skip
    assert code == ExitCode.OK and len(output) > 1 << 16 and output.endswith("}\n")
    assert told == errors.splitlines() and told


def test_it_is_shielded_and_killed_and_nothing_is_left(command: RigCommand, qtbot: Any, tmp_path: Path) -> None:
    ended: list[object] = []
    command.ended.connect(lambda *what: ended.append(what))
    command.start([*LONG, "-o", str(tmp_path / "x.toml")])
    pid = child()
    status = Path(f"/proc/{pid}/status").read_text()
    (blocked,) = (int(line.split()[1], 16) for line in status.splitlines() if line.startswith("SigBlk"))
    assert all(blocked >> (number - 1) & 1 for number in SHIELDED)
    command.start(["--version"])  # one at a time
    assert found() == [pid]
    command.close()
    assert found() == [] and not command.busy and not ended


def test_what_ends_by_a_signal_says_so(command: RigCommand, qtbot: Any, tmp_path: Path) -> None:
    with qtbot.waitSignal(command.ended, timeout=PATIENCE) as ended:
        command.start([*LONG, "-o", str(tmp_path / "x.toml")])
        os.kill(child(), signal.SIGKILL)
    assert ended.args[0] == -signal.SIGKILL and not command.busy


def test_what_cannot_be_started_says_so_and_leaves_nothing(
    command: RigCommand, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr("gui.session.rig_command.ChildProcess", refuse)
    before = len(os.listdir("/proc/self/fd"))
    with qtbot.waitSignal(command.ended, timeout=PATIENCE) as ended:
        command.start(["--version"])
    assert ended.args == [ExitCode.INTERNAL, "", "no process can be started: Resource temporarily unavailable"]
    assert not command.busy and len(os.listdir("/proc/self/fd")) == before
