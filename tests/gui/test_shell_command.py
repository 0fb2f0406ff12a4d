"""The command `rig gui`: finds the app, and says what is wrong with a configuration before a window shows."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import gui
from rig.cli import main
from rig.runtime import NEEDED, needed_packages


def test_the_command_runs_the_app_with_its_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[tuple[str, bool]] = []

    def run(config: str, real_time: bool) -> int:
        started.append((config, real_time))
        return 0

    monkeypatch.setattr(gui, "main", run)
    assert main(["gui"]) == 0 and main(["gui", "mine.toml", "--real-time"]) == 0
    assert started == [("virtual", False), ("mine.toml", True)]


def test_without_qt_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def run(config: str, real_time: bool) -> int:
        raise ModuleNotFoundError("No module named 'PyQt5'", name="PyQt5")

    monkeypatch.setattr(gui, "main", run)
    assert main(["gui"]) == 2
    assert "pip install 'stewart-rig[gui]'" in capsys.readouterr().err


def test_a_configuration_that_is_not_there_is_said_without_a_window(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gui", "nothing.toml"]) == 2
    assert "no such configuration: nothing.toml" in capsys.readouterr().err


def test_help_does_not_load_qt() -> None:
    code = (
        "import sys; from rig.cli import main; main(['gui', '--help']); "
        "print('PyQt5' in sys.modules, 'gui' in sys.modules)"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.rstrip().endswith("False False")


SHOWN = """
import sys
from pyqtgraph.Qt import QtCore
from gui.application import app_config, make_window
from gui.screen import make_application
application = make_application()
window = make_window(app_config("virtual"), QtCore.QSettings(sys.argv[1], QtCore.QSettings.Format.IniFormat))
window.show()
print({"matplotlib", "numba"} & set(sys.modules))
window.close_now()
"""


def test_the_window_does_not_wait_for_what_reports_are_drawn_with_nor_for_the_compiler(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SHOWN, str(tmp_path / "gui.ini")]
    shown = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60.0).stdout
    assert shown == "set()\n"


@pytest.mark.parametrize(
    ("screen", "reason"),
    [({}, "could not connect to display"), ({"DISPLAY": ":9999"}, "could not connect to display :9999")],
)
def test_without_a_screen_the_app_says_so_and_is_not_aborted(screen: dict[str, str], reason: str) -> None:
    bare = {name: value for name, value in os.environ.items() if not name.startswith(("DISPLAY", "WAYLAND", "QT_"))}
    done = subprocess.run(
        [sys.executable, "-m", "rig", "gui"], env=bare | screen, capture_output=True, text=True, timeout=60.0
    )
    assert done.returncode == 2
    assert done.stdout == "" and done.stderr.startswith(f"error: the desktop app has no screen: {reason}")
    assert "rig operate" in done.stderr and len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("library", "package", "platform"),
    [("libGL.so.1", "libgl1", "offscreen"), ("libxcb-icccm.so.4", "libxcb-icccm4", "xcb")],
)
def test_a_system_library_that_is_missing_is_said_by_its_package(
    tmp_path: Path, library: str, package: str, platform: str
) -> None:
    """The loader takes the first of that name, which cannot be loaded: as where there is none."""
    (tmp_path / library).write_bytes(b"")
    without = os.environ | {"LD_LIBRARY_PATH": str(tmp_path), "QT_QPA_PLATFORM": platform, "DISPLAY": ":9999"}
    command = [sys.executable, "-m", "rig", "gui"]
    done = subprocess.run(command, env=without, capture_output=True, text=True, timeout=60.0)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
    assert done.stderr.endswith(f"; type: sudo apt-get install {package}\n")
    look = "from rig.services.machine_probes import qt; print(qt().status, qt().fix)"
    looked = subprocess.run([sys.executable, "-c", look], env=without, capture_output=True, text=True, timeout=60.0)
    assert looked.stdout == f"warn sudo apt-get install {package}\n"


def test_make_installs_what_the_program_names() -> None:
    script = Path(__file__).parents[2] / "rig" / "runtime" / "system_packages.py"
    command = [sys.executable, "-I", str(script), "packages", *NEEDED]  # as the Makefile, before anything is installed
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert told == needed_packages(*NEEDED) and {"libgl1", "libxcb-icccm4", "fonts-dejavu-core"} <= set(told)
    makefile = (script.parents[2] / "Makefile").read_text(encoding="utf-8")
    assert "rig/runtime/system_packages.py" in makefile and not any(name in makefile for name in told)


def test_the_screen_is_looked_for_before_the_app_loads() -> None:
    code = "import sys; import gui.screen; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60.0
    ).stdout.split()
    assert "PyQt5.QtWidgets" in loaded and not {"gui.application", "rig.config", "numba"} & set(loaded)
