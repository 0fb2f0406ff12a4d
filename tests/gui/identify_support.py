"""A recording to identify from, and the wizard over it."""

import contextlib
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fit_support import BUTTON, looked, opened, recordings
from live_rows import live_rows, write_recording
from pyqtgraph.Qt import QtCore
from shell_support import press

from calibration import ExcitationSettings, design_excitation
from gui.shell.main_window import MainWindow
from gui.wizard import FitWizard, Outcome
from rig.cli import main
from rig.client import write_excitation
from rig.config.rig_config import load_config
from rig.errors import ExitCode

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
    write_excitation(
        folder / "excite.toml", design_excitation(machine, ExcitationSettings(13.0, margin=0.6, candidates=1, steps=0))
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rig.report.html.figures", lambda *_: {})  # nobody looks at the report
        run = ["run", str(config), str(folder / "excite.toml"), "--lockstep", "-o", str(folder)]
        assert main(run) == ExitCode.OK
    (found,) = folder.glob("*.mcap")
    return found


@pytest.fixture(scope="session")
def useless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of recordings that cannot be used."""
    folder = tmp_path_factory.mktemp("useless")
    (folder / "none.mcap").write_text("no recording")
    write_recording(folder / "still.mcap", live_rows(8000))
    write_recording(folder / "short.mcap", live_rows(100))
    return folder


@dataclass(frozen=True, slots=True)
class Found:
    """What `rig identify` tells of that recording, and the file that it writes."""

    told: dict[str, Any]
    text: str

    def shown_in(self, wizard: FitWizard, qtbot: Any) -> None:
        """The wizard stands on its second page, as if its own fit had ended with this."""
        assert not looked(wizard, qtbot)
        press(wizard.button(BUTTON.NextButton))
        wizard.runner.finished.emit(Outcome(wizard.request_page.request, self.told, self.text), "")
        assert wizard.results.isVisible()


@pytest.fixture(scope="session")
def by_command(recorded: Path, tmp_path_factory: pytest.TempPathFactory) -> Found:
    """What a person gets at a terminal who says how well the masses are known, and has a note."""
    folder = tmp_path_factory.mktemp("command")
    recording = folder / "excite.mcap"
    recording.write_bytes(recorded.read_bytes())
    output = io.StringIO()
    options = ["--note", "as built", "--mass", "0.25", "--json", "-o", str(folder / "cli.toml")]
    with contextlib.redirect_stdout(output):
        assert main(["identify", str(recording), *options]) == ExitCode.OK
    return Found(json.loads(output.getvalue()), (folder / "cli.toml").read_text())


@pytest.fixture
def identifying(window: MainWindow, recorded: Path, useless: Path, qtbot: Any, tmp_path: Path) -> Iterator[FitWizard]:
    """The wizard on a folder with that recording and three that cannot be used, in view."""
    for made_once in useless.iterdir():
        (tmp_path / made_once.name).write_bytes(made_once.read_bytes())
    recording = tmp_path / "excite.mcap"
    recording.write_bytes(recorded.read_bytes())
    made = opened(window.menus.calibrate.identify, recording, qtbot)
    yield made
    window.menus.calibrate.identify.close()


def row_of(wizard: FitWizard, name: str) -> int:
    """The row of a recording on the first page."""
    return [one.path.name for one in recordings(wizard).found].index(name)


def only(wizard: FitWizard, name: str) -> None:
    """Tick one recording to be fitted on, and no other."""
    for row in range(len(recordings(wizard).found)):
        recordings(wizard).table.item(row, 2).setCheckState(QtCore.Qt.CheckState.Unchecked)
    recordings(wizard).choose(row_of(wizard, name))
