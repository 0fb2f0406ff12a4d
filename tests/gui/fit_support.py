"""Going through a wizard over a command as a person does."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyqtgraph.Qt import QtWidgets
from shell_support import FakeSession, press

from gui.calibrate import CalibrateMenu
from gui.calibrate.menu import FitEntry
from gui.widgets import DARK
from gui.wizard import FitWizard
from gui.wizard.recordings import RecordingsTable

PATIENCE = 90_000  # ms; a process starts, and the machine has other work
BUTTON = QtWidgets.QWizard.WizardButton


@pytest.fixture
def menu(session: FakeSession, qtbot: Any) -> Iterator[CalibrateMenu]:
    """The wizards' menu on a session without processes, in a window that has nothing else."""
    window = QtWidgets.QMainWindow()
    qtbot.addWidget(window)
    made = CalibrateMenu(session, window, lambda: DARK)
    window.menuBar().addMenu(made)
    with qtbot.waitExposed(window):
        window.show()
    yield made
    made.close_wizards()


def opened(entry: FitEntry, source: Path | None, qtbot: Any) -> FitWizard:
    """The wizard of an entry, in view."""
    entry.start(source)
    made = entry.wizard
    assert made is not None
    qtbot.waitUntil(made.isVisible, timeout=PATIENCE)
    made.activateWindow()
    return made


def recordings(wizard: FitWizard) -> RecordingsTable:
    """The recordings on the first page."""
    assert wizard.request_page.recordings is not None
    return wizard.request_page.recordings


def looked(wizard: FitWizard, qtbot: Any) -> str:
    """What the first page says once what is chosen was looked into."""
    qtbot.waitUntil(lambda: not wizard.request_page.fault.startswith("Reading"), timeout=PATIENCE)
    assert wizard.request_page.reason.text().replace("\u00a0", " ") == wizard.request_page.fault
    return wizard.request_page.fault


def begin(wizard: FitWizard, qtbot: Any) -> None:
    """To the second page, and begin."""
    assert not looked(wizard, qtbot)
    while wizard.currentPage() is not wizard.request_page:
        press(wizard.button(BUTTON.BackButton))
    press(wizard.button(BUTTON.NextButton))
    assert wizard.currentPage() is wizard.compute_page
    press(wizard.compute_page.begin)
    assert wizard.runner.busy


def compute(wizard: FitWizard, qtbot: Any) -> str:
    """The same, to the end of the fit; what the page says of it."""
    begin(wizard, qtbot)
    qtbot.waitUntil(lambda: not wizard.runner.busy, timeout=PATIENCE)
    said: str = wizard.compute_page.result.text().replace("\u00a0", " ")
    return said


def save(wizard: FitWizard, qtbot: Any) -> Path:
    """To the last page, and save where it is offered; the file."""
    press(wizard.button(BUTTON.NextButton))
    assert wizard.currentPage() is wizard.save_page
    press(wizard.save_page.save)
    qtbot.waitUntil(lambda: wizard.save_page.saved is not None, timeout=PATIENCE)
    target: Path = wizard.save_page.target()
    return target
