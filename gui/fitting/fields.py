"""Fields of a wizard's page side by side, each with its label; one that cannot be used now says why."""

from pathlib import Path
from typing import Any

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.steps import browse_button, line_edit
from gui.texts import tr
from gui.widgets import Choice, QuantityBox, WholeNumber

_WHOLE = 4  # columns of a row: two fields with their labels


class FieldGrid(QtWidgets.QWidget):
    """Two fields a row, or one over all of it. Signals: `edited` after a change by a person."""

    edited = QtCore.Signal()

    def __init__(self) -> None:
        super().__init__()
        self._grid = QtWidgets.QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setVerticalSpacing(5)
        self._grid.setColumnStretch(1, 1)
        self._grid.setColumnStretch(3, 1)
        self._next = 0
        """half rows that are taken"""

    def text(self, label: str, name: str, hint: str = "", *, whole: bool = False) -> QtWidgets.QLineEdit:
        """Add a text."""
        field = line_edit(name, "", hint)
        field.textEdited.connect(lambda _text: self.edited.emit())
        self._add(label, field, whole)
        return field

    def quantity(self, label: str, name: str, unit: str, value: float, least: float, most: float) -> QuantityBox:
        """Add a number of an SI unit from `least` to `most`, SI."""
        field = QuantityBox(name, unit, value, least, most)
        field.valueChanged.connect(lambda _value: self.edited.emit())
        self._add(label, field, False)
        return field

    def count(self, label: str, name: str, value: int, least: int, most: int) -> WholeNumber:
        """Add a whole number."""
        field = WholeNumber(name, value, least, most)
        field.valueChanged.connect(lambda _value: self.edited.emit())
        self._add(label, field, False)
        return field

    def choice(self, label: str, name: str, entries: list[tuple[str, Any]], *, whole: bool = False) -> Choice:
        """Add one of several (text, data)."""
        field = Choice(name, entries)
        field.currentIndexChanged.connect(lambda _index: self.edited.emit())
        self._add(label, field, whole)
        return field

    def file(self, label: str, name: str, kinds: str, hint: str = "") -> "FileField":
        """Add a file to be read, over a whole row."""
        field = FileField(name, kinds, hint)
        field.edited.connect(self.edited)
        self._add(label, field, True)
        return field

    def _add(self, label: str, field: QtWidgets.QWidget, whole: bool) -> None:
        if whole:
            self._next += self._next % 2
        row, side = divmod(self._next, 2)
        heading = QtWidgets.QLabel(label)
        heading.setBuddy(field)
        self._grid.addWidget(heading, row, 2 * side)
        self._grid.addWidget(field, row, 2 * side + 1, 1, _WHOLE - 1 if whole else 1)
        self._next += 2 if whole else 1


class FileField(QtWidgets.QWidget):
    """The name of a file to be read, and a button to choose one. Signals: `edited` after a change by a person."""

    edited = QtCore.Signal()

    def __init__(self, name: str, kinds: str, hint: str) -> None:
        super().__init__()
        self._name, self._kinds = name, kinds
        self.line = line_edit(name, "", hint)
        self.browse = browse_button(tr("Choose: {name}").format(name=name), self._browse)
        row = QtWidgets.QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.line, 1)
        row.addWidget(self.browse)
        self.line.textEdited.connect(lambda _text: self.edited.emit())

    @property
    def path(self) -> Path | None:
        """The file, None where nothing is named."""
        text = self.line.text().strip()
        return Path(text).expanduser() if text else None

    def choose(self, path: Path | None) -> None:
        """Name a file, as a person does."""
        self.line.setText("" if path is None else str(path))
        self.edited.emit()

    def _browse(self) -> None:
        name, _kind = QtWidgets.QFileDialog.getOpenFileName(self, self._name, self.line.text(), self._kinds)
        if name:
            self.choose(Path(name))


def permit(field: QtWidgets.QWidget, obstacle: str) -> None:
    """Enable a field, or disable it and say in its tip why."""
    if field.property("hint") is None:
        field.setProperty("hint", field.toolTip())
    field.setEnabled(not obstacle)
    field.setToolTip(obstacle or field.property("hint"))
    field.setAccessibleDescription(tr("not possible now: {obstacle}").format(obstacle=obstacle) if obstacle else "")
