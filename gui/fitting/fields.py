"""Fields of a wizard's page side by side, each with its label; one that cannot be used now says why."""

from pathlib import Path
from typing import Any

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.steps import browse_button, line_edit
from gui.texts import tr
from gui.widgets import Choice, NumberField, NumberList, QuantityBox, WholeNumber

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
        field.changed.connect(self.edited)
        self._add(label, field, False)
        return field

    def optional(self, label: str, name: str, unit: str, least: float, most: float, hint: str) -> NumberField:
        """Add a number of an SI unit from `least` to `most`, SI, that may be left out; `hint` says what that means."""
        field = NumberField(name, unit, None, least, most, optional=True)
        field.setPlaceholderText(hint)
        field.changed.connect(self.edited)
        self._add(label, field, False)
        return field

    def span(self, label: str, name: str, hints: tuple[str, str]) -> "SpanField":
        """Add a stretch of time that may be left out; `hints` stand in its two empty fields."""
        field = SpanField(name, hints)
        field.edited.connect(self.edited)
        self._add(label, field, False)
        return field

    def numbers(self, label: str, name: str, values: list[float], least: float, most: float) -> NumberList:
        """Add several numbers in one field, each from `least` to `most`."""
        field = NumberList(name, values, least, most)
        field.changed.connect(self.edited)
        self._add(label, field, False)
        return field

    def count(self, label: str, name: str, value: int, least: int, most: int) -> WholeNumber:
        """Add a whole number."""
        field = WholeNumber(name, value, least, most)
        field.changed.connect(self.edited)
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


class SpanField(QtWidgets.QWidget):
    """A stretch of time, s, from a first to a later moment; both are given or none. Signals: `edited` by a person."""

    edited = QtCore.Signal()

    def __init__(self, name: str, hints: tuple[str, str]) -> None:
        super().__init__()
        self._name = name
        row = QtWidgets.QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        names = (tr("{name}: from").format(name=name), tr("{name}: to").format(name=name))
        self.begin, self.end = (NumberField(each, "s", None, optional=True) for each in names)
        for field, hint in zip((self.begin, self.end), hints, strict=True):
            field.setPlaceholderText(hint)
            field.changed.connect(self.edited)
            row.addWidget(field, 1)

    @property
    def span(self) -> tuple[float, float] | None:
        """From when to when; None where it is left out, or only one moment is given: see `fault`."""
        begin, end = self.begin.entered(), self.end.entered()
        return None if begin is None or end is None else (begin, end)

    @property
    def fault(self) -> str:
        """Why it is no stretch; empty where it is one, or left out."""
        begin, end = self.begin.entered(), self.end.entered()
        if (begin is None) != (end is None):
            return tr("{name}: give both moments, or none.").format(name=self._name)
        if begin is not None and end is not None and begin >= end:
            return tr("{name}: the first moment, {begin:g} s, must be before the last, {end:g} s.").format(
                name=self._name, begin=begin, end=end
            )
        return ""


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
