"""The command `rig` itself: help, exit codes, errors in one message."""

import re
import subprocess
import sys
from collections.abc import Callable

import pytest
from typer.main import get_group

from actuators import ActuatorError
from dynamics import DynamicsError
from kinematics import KinematicsError
from rig import __version__
from rig.cli import app, main
from rig.errors import ExitCode, HardwareError, InputError, RefusedError, RigError, RunFaultError
from rig.recording import RecordingError

COMMANDS = tuple(get_group(app).commands)
HEAVY = ("rich", "numpy", "numba", "scipy", "pydantic", "matplotlib", "pymodbus", "zmq", "PyQt5", "kinematics")


def _python(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_help_loads_nothing_heavy() -> None:
    loaded = _python(
        "import sys; from rig.cli import main; code = main(['--help']); print(code, sorted(sys.modules))"
    ).splitlines()[-1]
    assert loaded.startswith("0 ")
    assert [name for name in HEAVY if f"'{name}'" in loaded] == []


def test_nothing_that_was_loaded_is_searched_when_a_command_ends() -> None:
    said = "atexit.register(lambda: print('frozen', gc.get_freeze_count() > 10_000))"  # registered first, called last
    assert _python(f"import atexit, gc; {said}; from rig.cli import main; main(['--version'])").split()[-1] == "True"


def test_help_lists_commands_and_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert {"demo", "run", "gui", "setup"} <= set(COMMANDS)
    for command in COMMANDS:
        assert re.search(rf"\b{command}\b", text)
    for code in ExitCode:
        assert re.search(rf"\b{int(code)}\b", text[text.index("Exit codes") :])


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    assert f"rig {command}" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["run", "virtual"])
def test_help_shows_what_is_in_brackets(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    assert "[virtual] table" in " ".join(capsys.readouterr().out.split())


def test_help_lists_commands_by_what_they_are_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    panels = ("The rig", "Checks, calibration and reports", "The model, offline")
    places = [text.index(f"\n{panel}:\n") for panel in panels]
    assert text.index("  operate ") < places[1] < text.index("  export ") < places[2] < text.index("  simulate ")


def test_no_arguments_show_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == ExitCode.INPUT
    assert "Usage: rig" in capsys.readouterr().err


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"stewart-rig {__version__}\n"


def test_unknown_command_and_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fly"]) == ExitCode.INPUT
    assert "No such command 'fly'" in capsys.readouterr().err
    assert main(["check", "--fast"]) == ExitCode.INPUT
    assert "--fast" in capsys.readouterr().err


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """Run `rig check` with an error raised inside; returns the exit code and what stderr says."""

    def run(error: BaseException, *options: str) -> tuple[int, str]:
        def fail(name: str) -> None:
            raise error

        monkeypatch.setattr("rig.config.load_config", fail)
        code = main([*options, "check"])
        printed = capsys.readouterr()
        assert printed.out == ""
        return code, printed.err

    return run


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (RunFaultError("leg 3"), 1),
        (InputError("leg 3"), 2),
        (KinematicsError("leg 3"), 2),
        (DynamicsError("leg 3"), 2),
        (HardwareError("leg 3"), 3),
        (ActuatorError("leg 3"), 3),
        (RefusedError("leg 3"), 4),
        (RecordingError("leg 3"), 5),
    ],
)
def test_every_family_of_errors_has_its_exit_code(
    failing: Callable[..., tuple[int, str]], error: Exception, code: int
) -> None:
    assert failing(error) == (code, "error: leg 3\n")


def test_a_defect_is_one_message_without_a_traceback(failing: Callable[..., tuple[int, str]]) -> None:
    code, text = failing(ZeroDivisionError("float division"))
    assert code == ExitCode.INTERNAL
    assert text.startswith("error: internal error: ZeroDivisionError: float division\n")
    assert "rig --debug" in text
    assert "Traceback" not in text
    assert failing(RigError("base"))[0] == ExitCode.INTERNAL


def test_debug_shows_where(failing: Callable[..., tuple[int, str]]) -> None:
    with pytest.raises(ZeroDivisionError):
        failing(ZeroDivisionError(), "--debug")


def test_ctrl_c_is_130_without_a_traceback(failing: Callable[..., tuple[int, str]]) -> None:
    code, text = failing(KeyboardInterrupt())
    assert code == ExitCode.INTERRUPTED
    assert "Traceback" not in text


def test_the_module_is_the_command() -> None:
    done = subprocess.run([sys.executable, "-m", "rig", "--version"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, f"stewart-rig {__version__}\n")
