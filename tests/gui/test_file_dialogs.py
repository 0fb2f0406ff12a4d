"""Asking for the name of a file, through the real dialog."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyqtgraph.Qt import QtCore, QtWidgets
from pytestqt.qtbot import QtBot

from gui.widgets import STYLE_SHEET
from gui.widgets.file_dialogs import ask_save


@pytest.fixture
def parent(qtbot: QtBot) -> Iterator[QtWidgets.QWidget]:
    widget = QtWidgets.QWidget()
    qtbot.addWidget(widget)
    yield widget
    widget.close()


def _ask(parent: QtWidgets.QWidget, folder: Path, typed: str, replace: bool) -> tuple[Path | None, list[str]]:
    """What was chosen, and what was asked meanwhile."""
    asked: list[str] = []

    def answer() -> None:
        box = QtWidgets.QApplication.activeModalWidget()
        assert isinstance(box, QtWidgets.QMessageBox)
        asked.append(box.text())
        buttons = QtWidgets.QMessageBox.StandardButton
        QtCore.QTimer.singleShot(0, lambda: dialog().reject() if not replace else None)
        box.button(buttons.Yes if replace else buttons.No).click()

    def dialog() -> QtWidgets.QFileDialog:
        (found,) = parent.findChildren(QtWidgets.QFileDialog)
        return found

    def type_name() -> None:
        (line,) = dialog().findChildren(QtWidgets.QLineEdit, "fileNameEdit")
        assert line.text() == "live.csv"
        line.setText(typed)
        if (folder / "foo.csv").exists():
            QtCore.QTimer.singleShot(0, answer)
        dialog().accept()

    QtCore.QTimer.singleShot(0, type_name)
    return ask_save(parent, "Export", str(folder / "live.csv"), "Tables (*.csv)", ".csv"), asked


def test_a_name_without_a_suffix_gets_one(parent: QtWidgets.QWidget, tmp_path: Path) -> None:
    assert _ask(parent, tmp_path, "foo", True) == (tmp_path / "foo.csv", [])


@pytest.mark.parametrize("replace", [True, False])
def test_a_file_that_is_there_is_replaced_only_when_that_is_wanted(
    parent: QtWidgets.QWidget, tmp_path: Path, replace: bool
) -> None:
    (tmp_path / "foo.csv").write_text("of last week")
    chosen, asked = _ask(parent, tmp_path, "foo", replace)
    assert chosen == (tmp_path / "foo.csv" if replace else None)
    assert len(asked) == 1 and "foo.csv" in asked[0]


def test_nothing_is_chosen(parent: QtWidgets.QWidget, tmp_path: Path) -> None:
    QtCore.QTimer.singleShot(0, lambda: parent.findChildren(QtWidgets.QFileDialog)[0].reject())
    assert ask_save(parent, "Export", str(tmp_path / "live.csv"), "Tables (*.csv)", ".csv") is None


@pytest.mark.usefixtures("theme")
def test_the_dialogs_icons_have_room(qtbot: QtBot) -> None:
    dialog = QtWidgets.QFileDialog()
    dialog.setOption(QtWidgets.QFileDialog.Option.DontUseNativeDialog)
    dialog.setStyleSheet(STYLE_SHEET)
    qtbot.addWidget(dialog)
    with qtbot.waitExposed(dialog):
        dialog.show()
    buttons = [button for button in dialog.findChildren(QtWidgets.QToolButton) if not button.icon().isNull()]
    assert len(buttons) >= 5
    for button in buttons:
        picture = button.grab().toImage()
        inside = range(3, min(picture.width(), picture.height()) - 3)
        drawn = [(x, y) for x in inside for y in inside if picture.pixel(x, y) != picture.pixel(3, 3)]
        width, height = (max(places) - min(places) + 1 for places in zip(*drawn, strict=True))
        assert width >= 10 and height >= 10, button.objectName()  # px
