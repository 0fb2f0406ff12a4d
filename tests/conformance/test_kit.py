"""The kit for drivers of somebody's own: the template passes the suite, a broken driver is named, pytest shows both."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from own_packages import installed

from actuators import DeviceReading, IoReading
from rig.cli import main
from rig.errors import ExitCode
from rig.testing import (
    CELL_CHECKS,
    DRIVE_CHECKS,
    IO_CHECKS,
    CellBench,
    Failure,
    IoBench,
    cell_benches,
    check_cell_driver,
    check_driver,
    check_io_driver,
    drive_benches,
    io_benches,
)

ROOT = Path(__file__).parents[2]
BROKEN = {
    "position = values[0] * MICRO + self._options.position_offset": ("position = values[0] * MICRO", "SI units"),
    "number(command.force, MILLI)": ("number(-command.force, MILLI)", "set-points"),
    "self._fed > self._watchdog and": ("self._fed > 2.0 * self._watchdog and", "watchdog"),
    "if reply is None:\n            self.counters.late += 1\n": ("if reply is None:\n", "wire fault drop_all"),
    "(Status.BRAKE, not self._on)": ("(Status.BRAKE, False)", "power"),
    'raise ProtocolError(f"{self.name}: refuses': ('print(f"{self.name}: refuses', "time limits"),
    "self._sequence = (self._sequence + 1) % 65536": ("self._sequence = 7", "hung drive"),
    "or (0 if len(received) < 80 else -1)": ("or len(received) + 1", "twin: any bytes"),
    "on = self._on or self.torque_stuck": ("on = True", "moves nothing unasked"),
    'math.nan if b"?" in found[group] else float(found[group])': ("float(found[group])", "twin: no numbers"),
    'self._serial = options.serial or "VIRTUAL"': (
        "self._serial = str(int(options.serial or 1))",
        "twin: serial number",
    ),
    "identity = Identity(*": ('identity = Identity("", *', "describes itself"),
    "class AsciiSettings(DriveSettings, LineTimes):": (
        "class AsciiSettings(DriveSettings, LineTimes):\n    pass\n\nclass AsciiSettings(DriveSettings, LineTimes):"
        '\n    files = ("profile",)',
        "declared",
    ),
}
"""What is replaced in the template, by what, and the check that says so."""
CONFTEST = """
from rig.testing import DriveBench

class MineBench(DriveBench):
    def __init__(self, **options):
        super().__init__("mine", {"device": "elsewhere", "unit": 7, **options})

def pytest_rig_drive_benches(driver):
    return {"mine in its own place": MineBench} if driver == "mine" else None
"""


@pytest.fixture
def package(tmp_path: Path) -> Iterator[Path]:
    """A driver's package from the template, installed."""
    folder = tmp_path / "mine"
    assert main(["template", "driver", "mine", "-o", str(folder)]) == ExitCode.OK
    project = (folder / "pyproject.toml").read_text(encoding="utf-8")
    assert '[project.entry-points."stewart_rig.drivers"]\nmine = "mine:DRIVER"' in project
    with installed(folder, {"mine": (folder / "mine.py").read_text(encoding="utf-8")}, ENTRY):
        yield folder


ENTRY = "[stewart_rig.drivers]\nmine = mine:DRIVER\n"


def run_pytest(folder: Path, *arguments: str) -> tuple[int, str]:
    """pytest in the package's folder, as its owner starts it; the plug-in is named, as a checkout installs none."""
    path = f"{ROOT}{os.pathsep}{folder}"
    environment = {**os.environ, "PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "pytest", "-p", "rig.testing.plugin", "-p", "no:cacheprovider", *arguments]
    ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    return ended.returncode, ended.stdout + ended.stderr


def test_the_template_passes_the_suite_in_a_package_of_its_own(package: Path) -> None:
    code, output = run_pytest(package, "--rig-driver", "mine", "-q")
    assert code == 0, output
    assert f"{2 * len(DRIVE_CHECKS)} passed" in output  # at a serial port and behind a host


def test_benches_are_declared_in_a_conftest_and_a_failure_reads_well(package: Path) -> None:
    (package / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    text = (package / "mine.py").read_text(encoding="utf-8")
    (package / "mine.py").write_text(text.replace("self._on = wanted[0]", "self._on = False and wanted[0]"), "utf-8")
    code, output = run_pytest(package, "--rig-driver", "mine", "-q", "-k", "power or declared")
    assert code == 1 and "1 failed, 1 passed" in output
    assert "mine in its own place: power: after 1 cycles with COMMAND_HOME its status is not HOMING" in output
    assert "Traceback" not in output and "def _power" not in output


def test_a_driver_that_there_is_not_is_named_with_those_there_are(package: Path) -> None:
    code, output = run_pytest(package, "--rig-driver", "yours")
    assert code == 4 and "no driver 'yours'; known drivers: canopen, iai, jrk-g2, mine, orca, servo" in output


@pytest.mark.parametrize(("right", "broken"), BROKEN.items(), ids=str)
def test_a_driver_that_is_broken_is_named(package: Path, right: str, broken: tuple[str, str]) -> None:
    wrong, check = broken
    text = (package / "mine.py").read_text(encoding="utf-8")
    assert text.count(right) == 1
    (package / "mine.py").write_text(text.replace(right, wrong), encoding="utf-8")
    benches = {"mine": drive_benches("mine")["mine device"]}
    assert check in {one.check.removeprefix("mine: ") for one in check_driver("mine", benches)}


def test_the_plug_in_checks_load_cells_and_blocks_of_inputs_and_outputs(tmp_path: Path) -> None:
    code, output = run_pytest(tmp_path, "--rig-cell-driver", "modbus", "--rig-io-driver", "modbus-io", "-q")
    assert code == 0, output
    cells, blocks = cell_benches("modbus"), io_benches("modbus-io")
    assert f"{len(cells) * len(CELL_CHECKS) + len(blocks) * len(IO_CHECKS)} passed" in output


def test_a_script_checks_load_cells_and_blocks_and_names_what_fails() -> None:
    class Deaf(IoBench):
        def cycle(self, states: tuple[bool, ...] | None = None) -> IoReading:
            self.terminals.inputs.clear()
            return super().cycle(states)

    class Weak(CellBench):
        def read(self) -> DeviceReading:
            reading = super().read()
            return replace(reading, forces=tuple(0.5 * force for force in reading.forces))

    place = {"device": "memory"}
    assert check_cell_driver("modbus", {"as it is": lambda **more: CellBench("modbus", place | more)}) == ()
    assert check_io_driver("modbus-io", {"as it is": lambda **more: IoBench("modbus-io", place | more)}) == ()
    (cell,) = check_cell_driver("modbus", {"weak": lambda **more: Weak("modbus", place | more)})
    assert isinstance(cell, Failure) and cell.check == "weak: newtons"
    blocks = check_io_driver("modbus-io", {"deaf": lambda **more: Deaf("modbus-io", place | more)})
    assert [failure.check for failure in blocks] == ["deaf: inputs", "deaf: nothing received"]


@pytest.mark.parametrize(
    ("name", "reason"), [("Mine", "small letters"), ("servo", "there is one"), ("struct", "there is one")]
)
def test_a_name_that_cannot_be_one_is_refused(name: str, reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["template", "driver", name]) == ExitCode.INPUT
    assert reason in capsys.readouterr().err
