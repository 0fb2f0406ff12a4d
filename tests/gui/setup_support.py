"""The wizard on a window without processes of its own, and a rehearsal's drives filled in."""

from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from pyqtgraph.Qt import QtCore, QtTest, QtWidgets
from shell_support import FakeSession, press

from calibration import CellCalibration, LoadCellCalibration
from gui.session.stop_everywhere import StopButton, StopEverywhere
from gui.setup.entry import SetupEntry
from gui.setup.wizard import SetupWizard
from gui.shell.appearance import dress
from gui.widgets import DARK, run_all
from rig.commissioning import LegResult, Zero

PATIENCE = 90_000  # ms; processes start, and the machine has other work
BUTTON = QtWidgets.QWizard.WizardButton

_CELL = CellCalibration(1.0, 0.0, 1, 0.0, 0.0, 0.1, 0.3, 0.0, None, 100.0, 50)
ZERO = Zero(
    LoadCellCalibration((_CELL,) * 6, date(2024, 5, 1)),
    shift=(0.0,) * 6,
    noise=(0.1,) * 6,
    drift=(0.0,) * 6,
    bound=80.0,
    faults=(),
)
PASSED = LegResult(1, 0.002, (), False, None, 0.002, 0.0, 0.0, 0.0, 0.0, {})


@pytest.fixture
def set_up(session: FakeSession, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SetupEntry]:
    """The wizard's entry, in a window with the look of the app and its STOP, and nothing else of it."""
    monkeypatch.chdir(tmp_path)
    window = QtWidgets.QMainWindow()
    run_all(dress(QtWidgets.QApplication.instance(), DARK))
    stop = StopButton(lambda: session.stop(1, "button"))
    window.setCentralWidget(stop)
    everywhere = StopEverywhere(stop, lambda source: session.stop(1, source))
    made = SetupEntry(session, window.menuBar().addMenu("Rig"), window)
    with qtbot.waitExposed(window):
        window.show()
    yield made
    made.close()
    everywhere.remove()
    window.close()
    window.deleteLater()


@pytest.fixture
def wizard(set_up: SetupEntry, qtbot: Any) -> SetupWizard:
    """The wizard, in view."""
    return begun(set_up, qtbot)


def begun(entry: SetupEntry, qtbot: Any) -> SetupWizard:
    """The wizard of its entry, in view."""
    entry.action.trigger()
    made = entry.wizard
    assert made is not None
    qtbot.waitUntil(made.isVisible, timeout=PATIENCE)
    made.activateWindow()
    return made


def click(wizard: SetupWizard, button: QtWidgets.QWizard.WizardButton) -> None:
    """A click on one of the wizard's own buttons."""
    assert wizard.button(button).isEnabled(), wizard.currentPage().missing
    press(wizard.button(button))


def back(wizard: SetupWizard, page: QtWidgets.QWizardPage) -> None:
    """Back, until a page is shown."""
    for _ in wizard.pages:
        if wizard.currentPage() is page:
            return
        click(wizard, BUTTON.BackButton)
    assert wizard.currentPage() is page


def forward(wizard: SetupWizard, page: QtWidgets.QWizardPage) -> None:
    """Next, until a page is shown."""
    for _ in wizard.pages:
        if wizard.currentPage() is page:
            return
        click(wizard, BUTTON.NextButton)
    assert wizard.currentPage() is page


def settled(wizard: SetupWizard, qtbot: Any) -> None:
    """Wait until what was entered has been looked at and nothing is being done."""
    qtbot.waitUntil(lambda: not wizard._pause.isActive() and not wizard.bench.busy, timeout=PATIENCE)


def write(field: QtWidgets.QLineEdit, text: str) -> None:
    """Type a text in place of what is there."""
    field.setFocus()
    field.selectAll()
    QtTest.QTest.keyClicks(field, text)


def rehearse(wizard: SetupWizard, qtbot: Any, name: str = "trial") -> None:
    """A name and a rehearsal that bears a busy machine, at a rate that costs little, by mouse and keys."""
    write(wizard.start["name"], name)
    wizard.start["rate"].set_si(200.0)
    press_indicator(wizard.start["virtual"].buttons[True])
    wizard.drives["watchdog"].set_si(0.2)
    settled(wizard, qtbot)


def press_indicator(button: QtWidgets.QAbstractButton) -> None:
    """A click where a check box or radio button takes one."""
    QtTest.QTest.mouseClick(button, QtCore.Qt.MouseButton.LeftButton, pos=QtCore.QPoint(8, button.height() // 2))


def until(qtbot: Any, condition: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    qtbot.waitUntil(condition, timeout=PATIENCE)
