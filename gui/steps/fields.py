"""Fields of a wizard's page: their description, widgets, and grid."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, replace
from dataclasses import fields as fields_of
from pathlib import Path
from typing import Any

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.steps.form import browse_button, line_edit
from gui.texts import tr
from gui.widgets import Choice, GuardedCheckBox, NumberField, NumberList, QuantityBox, WholeNumber


@dataclass(frozen=True, slots=True)
class Field:
    """One field.

    name: of the request's field. label: before it. make: creates its widget, with the default. changed: name of the
    signal for changes by the user. read: returns its value. usual: its default, equal to the service's; None for the
    request's default. only: number of its task, None for all. whole: whether it takes a whole row. convert: returns the
    request's value; by default the value, left out if equal to the default.
    """

    name: str
    label: str
    make: Callable[[Any], Any]
    changed: str
    read: Callable[[Any], Any]
    usual: Any = None
    only: int | None = None
    whole: bool = False
    convert: Callable[[Any], object] | None = None

    def requested(self, value: Any) -> object:
        """Return the value for the request, None for none."""
        return self.convert(value) if self.convert else None if value == self.usual else value


def text(name: str, label: str, words: str, hint: str = "", *, filled: bool = False, **more: Any) -> Field:
    """Return a text field; `words` is the accessible name, as for every field, `hint` its placeholder.

    filled: whether it begins with its default; else it is empty, and the default counts if it stays so.
    """
    return Field(
        name,
        label,
        lambda usual: line_edit(words, usual if filled else "", hint),
        "textEdited",
        lambda line: line.text().strip(),
        **more,
    )


def tick(name: str, words: str) -> Field:
    """Return a check box for a permission to the rig; `words` is its text."""

    def make(usual: bool) -> GuardedCheckBox:
        box = GuardedCheckBox(words)
        box.setChecked(bool(usual))
        return box

    return Field(name, "", make, "toggled", GuardedCheckBox.isChecked)


def alternatives(name: str, label: str, entries: Sequence[tuple[str, Any]], usual: Any) -> Field:
    """Return radio buttons of (text, value), one below the other."""
    return Field(
        name, label, lambda usual: RadioButtons(entries, usual), "edited", lambda each: each.value, usual, whole=True
    )


def name_or_file(name: str, label: str, words: str, names: Sequence[str], place: tuple[str, str, str]) -> Field:
    """Return a field for one of `names` or a file; `place`: name of its button, title and kinds of its dialog."""
    return Field(
        name,
        label,
        lambda usual: NameOrFileField(words, names, usual, place),
        "edited",
        lambda widget: widget.choice.currentText().strip(),
        whole=True,
    )


def folder(name: str, label: str, words: str, place: tuple[str, str]) -> Field:
    """Return a field for a folder, as entered; `place`: name of its button and title of its dialog."""
    return Field(
        name,
        label,
        lambda usual: FolderField(words, usual, place),
        "edited",
        lambda widget: widget.line.text().strip(),
        whole=True,
    )


def quantity(name: str, label: str, words: str, unit: str, span: tuple[float, float], **more: Any) -> Field:
    """Return a field for a quantity in an SI unit within `span`, SI."""
    return Field(name, label, lambda usual: QuantityBox(words, unit, usual, *span), "changed", QuantityBox.si, **more)


def optional(name: str, label: str, words: str, unit: str, span: tuple[float, float], *, hint: str) -> Field:
    """Return an optional field for a quantity in an SI unit within `span`, SI; `hint`: meaning of the empty field."""

    def make(usual: None) -> NumberField:
        widget = NumberField(words, unit, usual, *span, optional=True)
        widget.setPlaceholderText(hint)
        return widget

    return Field(name, label, make, "changed", NumberField.entered)


def count(name: str, label: str, words: str, span: tuple[int, int], **more: Any) -> Field:
    """Return a field for an integer within `span`."""
    return Field(name, label, lambda usual: WholeNumber(words, usual, *span), "changed", WholeNumber.value, **more)


def numbers(name: str, label: str, words: str, span: tuple[float, float], **more: Any) -> Field:
    """Return a field for several numbers, each within `span`."""

    def read(widget: NumberList) -> tuple[float, ...]:
        return tuple(widget.numbers())

    return Field(name, label, lambda usual: NumberList(words, usual, *span), "changed", read, **more)


def choice(name: str, label: str, words: str, entries: Sequence[tuple[str, Any]], **more: Any) -> Field:
    """Return a choice of (text, value); the default is the first."""

    def make(usual: Any) -> Choice:
        widget = Choice(words, entries)
        widget.setCurrentIndex(max(widget.findData(usual), 0))
        return widget

    return Field(name, label, make, "currentIndexChanged", Choice.currentData, **more)


def time_span(name: str, label: str, words: str, hints: tuple[str, str]) -> Field:
    """Return an optional field for a time span, s; `hints` are the two placeholders."""
    return Field(name, label, lambda _usual: SpanField(words, hints), "edited", lambda widget: widget.span)


def file(name: str, label: str, words: str, kinds: str, hint: str = "", **more: Any) -> Field:
    """Return a field for an input file, over a whole row; `kinds` of the dialog, `hint` its placeholder."""
    return Field(
        name,
        label,
        lambda _usual: FileField(words, kinds, hint),
        "edited",
        lambda widget: widget.path,
        whole=True,
        **more,
    )


def with_default(field: Field, kind: type[Any]) -> Field:
    """Return a field with the default of the dataclass `kind`, unless it has its own."""
    defaults = {each.name: each.default for each in fields_of(kind) if each.default is not MISSING}
    return replace(field, usual=defaults.get(field.name)) if field.usual is None else field


def of_task(number: int, *fields: Field) -> tuple[Field, ...]:
    """Restrict fields to one task."""
    return tuple(replace(each, only=number) for each in fields)


class FieldGrid(QtWidgets.QWidget):
    """Grid of fields, `across` in a row or one over all of it; `widgets` by name. Signals: `edited` by the user."""

    edited = QtCore.Signal()

    def __init__(self, fields: Sequence[Field], across: int = 2) -> None:
        super().__init__()
        self.widgets: dict[str, Any] = {}
        grid = QtWidgets.QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(5)
        for column in range(across):
            grid.setColumnStretch(2 * column + 1, 1)
        taken = 0  # places, of which a row has `across`
        for each in fields:
            widget = each.make(each.usual)
            getattr(widget, each.changed).connect(lambda *_: self.edited.emit())
            self.widgets[each.name] = widget
            if each.whole:
                taken += -taken % across
            row, column = divmod(taken, across)
            heading = QtWidgets.QLabel(each.label)
            heading.setBuddy(widget)
            grid.addWidget(heading, row, 2 * column)
            grid.addWidget(widget, row, 2 * column + 1, 1, 2 * across - 1 if each.whole else 1)
            taken += across if each.whole else 1


def span_fault(widgets: Mapping[str, Any]) -> str:
    """Why the first invalid time span is invalid, empty if all are valid or left out."""
    return next((each.fault for each in widgets.values() if isinstance(each, SpanField) and each.fault), "")


class SpanField(QtWidgets.QWidget):
    """A time span, s; both ends are given or none. Signals: `edited` by the user."""

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
        """Return the span; None if left out or incomplete: see `fault`."""
        begin, end = self.begin.entered(), self.end.entered()
        return None if begin is None or end is None else (begin, end)

    @property
    def fault(self) -> str:
        """Why the span is invalid; empty if valid or left out."""
        begin, end = self.begin.entered(), self.end.entered()
        if (begin is None) != (end is None):
            return tr("{name}: give both moments, or none.").format(name=self._name)
        if begin is not None and end is not None and begin >= end:
            return tr("{name}: the first moment, {begin:g} s, must be before the last, {end:g} s.").format(
                name=self._name, begin=begin, end=end
            )
        return ""


class FileField(QtWidgets.QWidget):
    """A file path with a browse button. Signals: `edited` by the user."""

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
        """The file, None without."""
        text = self.line.text().strip()
        return Path(text).expanduser() if text else None

    def choose(self, path: Path | None) -> None:
        """Set the file, as the user would."""
        self.line.setText("" if path is None else str(path))
        self.edited.emit()

    def _browse(self) -> None:
        name, _kind = QtWidgets.QFileDialog.getOpenFileName(self, self._name, self.line.text(), self._kinds)
        if name:
            self.choose(Path(name))


class NameOrFileField(QtWidgets.QWidget):
    """A choice of names that also takes a path, with a browse button. Signals: `edited` by the user."""

    edited = QtCore.Signal()

    def __init__(self, name: str, names: Sequence[str], usual: str, place: tuple[str, str, str]) -> None:
        super().__init__()
        browse, self._title, self._kinds = place
        self.choice = Choice(name)
        self.choice.setEditable(True)
        self.choice.setInsertPolicy(QtWidgets.QComboBox.InsertPolicy.NoInsert)
        self.choice.addItems(names)
        self.choice.setCurrentText(usual)
        self.choice.currentTextChanged.connect(lambda _text: self.edited.emit())
        row = QtWidgets.QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.choice, 1)
        row.addWidget(browse_button(browse, self._browse))
        self.setFocusProxy(self.choice)

    def _browse(self) -> None:
        given = Path(self.choice.currentText())
        start = str(given.parent) if given.suffix == ".toml" else ""
        name, _kind = QtWidgets.QFileDialog.getOpenFileName(self, self._title, start, self._kinds)
        if name:
            self.choice.setCurrentText(name)


class FolderField(QtWidgets.QWidget):
    """A folder's path with a browse button. Signals: `edited` by the user."""

    edited = QtCore.Signal()

    def __init__(self, name: str, usual: str, place: tuple[str, str]) -> None:
        super().__init__()
        browse, self._title = place
        self.line = line_edit(name, usual)
        self.line.textEdited.connect(lambda _text: self.edited.emit())
        row = QtWidgets.QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.line, 1)
        row.addWidget(browse_button(browse, self._browse))
        self.setFocusProxy(self.line)

    def _browse(self) -> None:
        name = QtWidgets.QFileDialog.getExistingDirectory(self, self._title, self.line.text())
        if name:
            self.line.setText(name)
            self.edited.emit()


class RadioButtons(QtWidgets.QWidget):
    """Radio buttons, one below the other; `buttons` by value. Signals: `edited` by the user."""

    edited = QtCore.Signal()

    def __init__(self, entries: Sequence[tuple[str, Any]], usual: Any) -> None:
        super().__init__()
        self.buttons = {value: QtWidgets.QRadioButton(text) for text, value in entries}
        self.buttons[usual].setChecked(True)
        column = QtWidgets.QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        for button in self.buttons.values():
            column.addWidget(button)
            button.toggled.connect(self._toggled)

    @property
    def value(self) -> Any:
        """The value of the checked button."""
        return next(value for value, button in self.buttons.items() if button.isChecked())

    def _toggled(self, checked: bool) -> None:
        if checked:  # the other one changes as well
            self.edited.emit()
