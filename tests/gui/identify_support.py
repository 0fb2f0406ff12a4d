"""A recording to identify from, and the wizard over it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from live_rows import live_rows, write_recording
from pyqtgraph.Qt import QtCore, QtWidgets
from shell_support import press

from calibration import design_excitation
from gui.identify import IdentifyWizard
from gui.shell.main_window import MainWindow
from rig.cli import main
from rig.client import write_excitation
from rig.config.rig_config import load_config
from rig.errors import ExitCode

PATIENCE = 90_000  # ms; a process starts, and the machine has other work
BUTTON = QtWidgets.QWizard.WizardButton
BUILT = """
name = "built"
rate = 320
mechanism = "lab-hexapod"
safety = { tare_shift = 15.0, force_residual = 80.0 }
virtual = { seed = 5, plant = { as_built = 21 } }

[drives]
driver = "servo"
profile = "generic-servo"
legs = [
    { host = "127.0.0.1", port = 15121 }, { host = "127.0.0.1", port = 15122 }, { host = "127.0.0.1", port = 15123 },
    { host = "127.0.0.1", port = 15124 }, { host = "127.0.0.1", port = 15125 }, { host = "127.0.0.1", port = 15126 },
]
"""


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording of a machine as built on a motion that tells its parameters."""
    folder = tmp_path_factory.mktemp("built")
    config = folder / "built.toml"
    config.write_text(BUILT)
    machine = load_config(str(config)).machine
    write_excitation(folder / "excite.toml", design_excitation(machine, 13.0, margin=0.6, candidates=1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rig.report.html.figures", lambda *_: {})  # nobody looks at the report
        run = ["run", str(config), str(folder / "excite.toml"), "--lockstep", "-o", str(folder)]
        assert main(run) == ExitCode.OK
    (found,) = folder.glob("*.mcap")
    return found


@pytest.fixture
def identifying(window: MainWindow, recorded: Path, qtbot: Any, tmp_path: Path) -> Iterator[IdentifyWizard]:
    """The wizard on a folder with that recording and three that cannot be used, in view."""
    (tmp_path / "none.mcap").write_text("no recording")
    write_recording(tmp_path / "still.mcap", live_rows(8000))
    write_recording(tmp_path / "short.mcap", live_rows(100))
    recording = tmp_path / "excite.mcap"
    recording.write_bytes(recorded.read_bytes())
    window.identify.start(recording)
    made = window.identify.wizard
    assert made is not None
    qtbot.waitUntil(made.isVisible, timeout=PATIENCE)
    made.activateWindow()
    yield made
    window.identify.close()


def row_of(wizard: IdentifyWizard, name: str) -> int:
    """The row of a recording on the first page."""
    return [one.path.name for one in wizard.recordings.found].index(name)


def only(wizard: IdentifyWizard, name: str) -> None:
    """Tick one recording to be fitted on, and no other."""
    for row in range(len(wizard.recordings.found)):
        wizard.recordings.table.item(row, 2).setCheckState(QtCore.Qt.CheckState.Unchecked)
    wizard.recordings.choose(row_of(wizard, name))


def looked(wizard: IdentifyWizard, qtbot: Any) -> str:
    """What the first page says once what is chosen was looked into."""
    qtbot.waitUntil(lambda: not wizard.recordings.fault.startswith("Looking"), timeout=PATIENCE)
    return wizard.recordings.fault


def begin(wizard: IdentifyWizard, qtbot: Any) -> None:
    """To the second page, and Identify."""
    assert not looked(wizard, qtbot)
    press(wizard.button(BUTTON.NextButton))
    assert wizard.currentPage() is wizard.computing
    press(wizard.computing.identify)
    assert wizard.identifier.busy


def identify(wizard: IdentifyWizard, qtbot: Any) -> None:
    """The same, to the end of the fit."""
    begin(wizard, qtbot)
    qtbot.waitUntil(lambda: not wizard.identifier.busy, timeout=PATIENCE)
