"""Fields of forms with unit and bounds, and forms generated from a pydantic model or a motion part."""

import math
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from annotated_types import Ge, Gt
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pyqtgraph.Qt import QtCore, QtWidgets

from gui.models import Data, in_words
from gui.texts import sentence, tr
from gui.widgets import Choice, QuantityBox, WholeNumber, set_icon
from kinematics import Quantity

COORDINATE_NAMES = ("x", "y", "z", "θx", "θy", "θz")


class Field(QtWidgets.QWidget):
    """One value of a form. Signals: `edited`: every key and change by the user; `rearranged`: its tab stops changed."""

    edited = QtCore.Signal()
    rearranged = QtCore.Signal()

    def value(self) -> Any:
        """Return the value as in a file, SI; the last valid one while the text is invalid: see `field_refusal`."""
        raise NotImplementedError

    def set_value(self, value: Any) -> None:
        """Show a value, SI. Raises ValueError, without effect, if a number is beyond a bound."""
        raise NotImplementedError

    def stops(self) -> list[QtWidgets.QWidget]:
        """Return the tab stops in reading order."""
        tab, children = QtCore.Qt.FocusPolicy.TabFocus, self.findChildren(QtWidgets.QWidget)
        return [each for each in children if each.focusPolicy() & tab and each.focusProxy() is None]


class QuantityField(Field):
    """A number with its unit."""

    def __init__(self, name: str, quantity: Quantity, minimum: float = -math.inf) -> None:
        super().__init__()
        self.box = QuantityBox(name, quantity.unit, max(0.0, minimum), minimum)
        self.box.changed.connect(self.edited)
        _row(self, self.box)

    def value(self) -> float:
        """See `Field`."""
        return self.box.known()

    def set_value(self, value: Any) -> None:
        """See `Field`."""
        self.box.set_si(float(value))


class OptionalField(Field):
    """A number that may be empty."""

    def __init__(self, name: str, inner: QuantityField) -> None:
        super().__init__()
        self.given = QtWidgets.QCheckBox()
        self.given.setAccessibleName(tr("{name} is given").format(name=name))
        self._inner = inner
        inner.setEnabled(False)
        self.given.toggled.connect(inner.setEnabled)
        self.given.toggled.connect(lambda _on: self.edited.emit())
        inner.edited.connect(self.edited)
        _row(self, self.given, inner)

    def value(self) -> float | None:
        """See `Field`; None if empty."""
        return self._inner.value() if self.given.isChecked() else None

    def set_value(self, value: Any) -> None:
        """See `Field`."""
        self.given.setChecked(value is not None)
        if value is not None:
            self._inner.set_value(value)


class TupleField(Field):
    """A fixed group of numbers: coordinates, or a point."""

    def __init__(self, name: str, quantities: list[Quantity]) -> None:
        super().__init__()
        grid = QtWidgets.QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(3)
        self.boxes = []
        for index, (coordinate, quantity) in enumerate(zip(COORDINATE_NAMES, quantities, strict=False)):
            box = QuantityBox(f"{name} {coordinate}", quantity.unit)
            box.setPrefix(f"{coordinate} ")
            box.changed.connect(self.edited)
            if len(quantities) > 3:
                grid.addWidget(box, index % 3, index // 3)
            else:
                grid.addWidget(box, 0, index)
            self.boxes.append(box)

    def value(self) -> list[float]:
        """See `Field`."""
        return [box.known() for box in self.boxes]

    def set_value(self, value: Any) -> None:
        """See `Field`."""
        if faults := [fault for box, number in zip(self.boxes, value, strict=True) if (fault := box.fault(number))]:
            raise ValueError("; ".join(faults))
        for box, number in zip(self.boxes, value, strict=True):
            box.set_si(float(number))


class SwitchField(Field):
    """Yes or no."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.box = QtWidgets.QCheckBox()
        self.box.setAccessibleName(name)
        self.box.toggled.connect(lambda _on: self.edited.emit())
        _row(self, self.box)

    def value(self) -> bool:
        """See `Field`."""
        return bool(self.box.isChecked())

    def set_value(self, value: Any) -> None:
        """See `Field`."""
        self.box.setChecked(bool(value))


class FileField(Field):
    """The path of a file, whose content `example` says; by default a CSV file of poses. kinds: filter of the dialog."""

    def __init__(self, name: str, example: str = "", kinds: str = "") -> None:
        super().__init__()
        self._name, self._kinds, self._poses = name, kinds, not example
        self.line = QtWidgets.QLineEdit()
        self.line.setAccessibleName(name)
        self.line.setPlaceholderText(example or "CSV: t,x,y,z,qw,qx,qy,qz")
        self.line.editingFinished.connect(self.edited)
        browse = QtWidgets.QPushButton(tr("Browse …"))
        browse.setSizePolicy(QtWidgets.QSizePolicy.Policy.Maximum, QtWidgets.QSizePolicy.Policy.Fixed)
        browse.clicked.connect(self._browse)
        _row(self, self.line, browse)

    def value(self) -> str:
        """See `Field`."""
        return str(self.line.text())

    def set_value(self, value: Any) -> None:
        """See `Field`."""
        self.line.setText(str(value))

    def _browse(self) -> None:
        start = str(Path(self.value()).parent) if self.value() else ""
        title, kinds = (tr("Poses"), tr("Poses (*.csv)")) if self._poses else (tr("Accelerations"), "")
        if self._kinds:
            title, kinds = self._name, self._kinds
        name, _kind = QtWidgets.QFileDialog.getOpenFileName(self, title, start, kinds)
        if name:
            self.set_value(name)
            self.edited.emit()


class ChoiceField(Field):
    """One of several options."""

    def __init__(self, name: str, words: Iterable[str]) -> None:
        super().__init__()
        self.box = Choice(name, [(tr(word), word) for word in words])
        self.box.activated.connect(lambda _index: self.edited.emit())
        _row(self, self.box)

    def value(self) -> str:
        """See `Field`."""
        return str(self.box.currentData())

    def set_value(self, value: Any) -> None:
        """See `Field`."""
        self.box.setCurrentIndex(self.box.findData(value))


class WholeField(Field):
    """An integer."""

    def __init__(self, name: str, metadata: list[Any]) -> None:
        super().__init__()
        least, most = (
            next((int(getattr(each, bound)) for each in metadata if hasattr(each, bound)), default)
            for bound, default in (("ge", 0), ("le", 2**31 - 1))
        )
        self.box = WholeNumber(name, least, least, most)
        self.box.changed.connect(self.edited)
        _row(self, self.box)

    def value(self) -> int:
        """See `Field`."""
        return round(self.box.known())

    def set_value(self, value: Any) -> None:
        """See `Field`."""
        self.box.set_si(value)


class AxesField(Field):
    """A selection of the six coordinates."""

    def __init__(self, name: str, axes: Iterable[str]) -> None:
        super().__init__()
        self.boxes = {axis: QtWidgets.QCheckBox(axis.replace("r", "θ")) for axis in axes}
        for box in self.boxes.values():
            box.setAccessibleName(f"{name}: {box.text()}")
            box.toggled.connect(lambda _on: self.edited.emit())
        _row(self, *self.boxes.values())

    def value(self) -> list[str]:
        """See `Field`."""
        return [axis for axis, box in self.boxes.items() if box.isChecked()]

    def set_value(self, value: Any) -> None:
        """See `Field`."""
        for axis, box in self.boxes.items():
            box.setChecked(axis in value)


def _row(parent: QtWidgets.QWidget, *widgets: QtWidgets.QWidget) -> None:
    layout = QtWidgets.QHBoxLayout(parent)
    layout.setContentsMargins(0, 0, 0, 0)
    for widget in widgets:
        layout.addWidget(widget, 1 if widget is widgets[-1] else 0)


class TermsField(Field):
    """A list of sines or sweeps: one row each, with the columns of the model."""

    def __init__(self, name: str, models: list[type[BaseModel]]) -> None:
        super().__init__()
        self._models: dict[str, type[BaseModel]] = {}
        for model in models:
            for dof in get_args(model.model_fields["dof"].annotation):
                self._models[dof] = model
        self._columns = [column for column in models[0].model_fields if column != "dof"]
        self.table = QtWidgets.QTableWidget(0, 1 + len(self._columns))
        self.table.setAccessibleName(name)
        self.setSizePolicy(QtWidgets.QSizePolicy.Policy.Preferred, QtWidgets.QSizePolicy.Policy.Fixed)
        self.table.setHorizontalHeaderLabels(
            [tr("axis"), *(in_words(column).replace(" ", "\n") for column in self._columns)]
        )
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(QtWidgets.QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(0, QtWidgets.QHeaderView.ResizeMode.ResizeToContents)
        self.table.verticalHeader().setVisible(False)
        self.table.setVerticalScrollBarPolicy(QtCore.Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        # Tab moves between fields; a table's own Tab cycles within it and does not select text
        self.table.setTabKeyNavigation(False)
        self.table.setFocusPolicy(QtCore.Qt.FocusPolicy.NoFocus)
        add, remove = QtWidgets.QPushButton(tr("Add line")), QtWidgets.QPushButton(tr("Remove line"))
        set_icon(add, "add")
        set_icon(remove, "remove")
        add.clicked.connect(self._add_default)
        remove.clicked.connect(self._remove)
        self._buttons = (add, remove)
        buttons = QtWidgets.QHBoxLayout()
        for button in self._buttons:
            buttons.addWidget(button)
        buttons.addStretch(1)
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.table)
        layout.addLayout(buttons)
        self._fit()

    def value(self) -> list[dict[str, Any]]:
        """See `Field`."""
        terms = []
        for row in range(self.table.rowCount()):
            term: dict[str, Any] = {"dof": self.table.cellWidget(row, 0).currentData()}
            for place, column in enumerate(self._columns, start=1):
                term[column] = self.table.cellWidget(row, place).known()
            terms.append(term)
        return terms

    def set_value(self, value: Any) -> None:
        """See `Field`. Existing rows are reused and keep the focus."""
        for row, term in enumerate(value):
            if row < self.table.rowCount():
                self._show(row, term)
            else:
                self._add(term)
        self.table.setRowCount(len(value))
        self._fit()

    def _show(self, row: int, term: dict[str, Any]) -> None:
        choice = self.table.cellWidget(row, 0)
        if choice.currentData() != term["dof"]:
            choice.setCurrentIndex(choice.findData(term["dof"]))
        for place, column in enumerate(self._columns, start=1):
            self.table.cellWidget(row, place).set_si(term.get(column, 0.0))

    def _add(self, term: dict[str, Any]) -> None:
        row = self.table.rowCount()
        self.table.insertRow(row)
        choice = Choice(
            tr("Axis of line {number}").format(number=row + 1), [(dof.replace("r", "θ"), dof) for dof in self._models]
        )
        choice.setCurrentIndex(choice.findData(term["dof"]))
        boxes = []
        for place, column in enumerate(self._columns, start=1):
            field = self._models[term["dof"]].model_fields[column]
            quantity = quantity_of(field)
            name = tr("{field} of line {number}").format(field=in_words(column), number=row + 1)
            least = least_of(field.metadata)
            box = QuantityBox(name, quantity.unit, max(0.0, least), least)
            box.setMinimumWidth(60)
            box.set_si(term.get(column, 0.0))
            box.changed.connect(self.edited)
            self.table.setCellWidget(row, place, box)
            boxes.append(box)
        choice.currentIndexChanged.connect(lambda index: self._change(choice.itemData(index), boxes))
        self.table.setCellWidget(row, 0, choice)
        self._fit()
        self.rearranged.emit()

    def stops(self) -> list[QtWidgets.QWidget]:
        """Return the rows' fields in reading order, then the buttons."""
        rows, columns = range(self.table.rowCount()), range(self.table.columnCount())
        return [*(self.table.cellWidget(row, column) for row in rows for column in columns), *self._buttons]

    def _fit(self) -> None:
        """Make the table as high as its rows, since the form around it scrolls."""
        lines = self.table.horizontalHeader().sizeHint().height() + self.table.verticalHeader().length()
        self.table.setFixedHeight(lines + 2 * self.table.frameWidth())

    def _change(self, dof: str, boxes: list[QuantityBox]) -> None:
        for column, box in zip(self._columns, boxes, strict=True):
            box.set_unit(quantity_of(self._models[dof].model_fields[column]).unit)
        self.edited.emit()

    def _add_default(self) -> None:
        last = self.value()[-1:] or [{"dof": "z"}]
        self._add(last[0])
        self.edited.emit()

    def _remove(self) -> None:
        row = self.table.currentRow()
        self.table.removeRow(row if row >= 0 else self.table.rowCount() - 1)
        self._fit()
        self.edited.emit()


def make_field(name: str, info: FieldInfo) -> Field:
    """Create the field for an entry of a model. Raises TypeError for a type that trajectories do not use."""
    kind, origin = info.annotation, get_origin(info.annotation)
    if origin is tuple and get_args(kind)[-1] is Ellipsis:
        return AxesField(name, get_args(get_args(kind)[0]))
    if origin is tuple:
        return TupleField(name, [argument.__metadata__[0] for argument in get_args(kind)])
    if origin is list:
        union = get_args(get_args(kind)[0])[0]
        return TermsField(name, list(get_args(union)))
    if origin is Literal:
        return ChoiceField(name, get_args(kind))
    if kind is int:
        return WholeField(name, info.metadata)
    if kind is float:
        return QuantityField(name, quantity_of(info), least_of(info.metadata))
    if kind is bool:
        return SwitchField(name)
    if kind is str:
        return FileField(name, str((info.examples or [""])[0]))
    given = [argument for argument in get_args(kind) if argument is not type(None)]
    if len(given) == 1 and hasattr(given[0], "__metadata__"):
        metadata = list(given[0].__metadata__)
        bounds = [bound for item in metadata for bound in getattr(item, "metadata", [item])]
        quantity = next(item for item in metadata if isinstance(item, Quantity))
        return OptionalField(name, QuantityField(name, quantity, least_of(bounds)))
    raise TypeError(f"{name}: no field for {kind}")


def quantity_of(info: FieldInfo) -> Quantity:
    """Return the kind of quantity of a model's entry."""
    return next(item for item in info.metadata if isinstance(item, Quantity))


def least_of(metadata: list[Any]) -> float:
    """Return the minimum; for an exclusive bound that value is refused with the whole motion."""
    for item in metadata:
        if isinstance(item, Gt):
            return float(item.gt)  # type: ignore[arg-type]
        if isinstance(item, Ge):
            return float(item.ge)  # type: ignore[arg-type]
    return -math.inf


class PartForm(QtWidgets.QWidget):
    """The fields of one part; `edited` is emitted for every change by the user."""

    edited = QtCore.Signal()

    def __init__(self, kind: str, model: type[BaseModel]) -> None:
        super().__init__()
        self.kind = kind
        self.fields: dict[str, Field] = {}
        self._before: QtWidgets.QWidget | None = None
        layout = QtWidgets.QFormLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setRowWrapPolicy(QtWidgets.QFormLayout.RowWrapPolicy.WrapLongRows)
        about = QtWidgets.QLabel(tr(about_part(kind, model)))
        about.setObjectName("muted")
        about.setWordWrap(True)
        layout.addRow(about)
        for name, info in model.model_fields.items():
            if name == "type":
                continue
            label = in_words(name)
            field = make_field(label, info)
            field.edited.connect(self.edited)
            field.rearranged.connect(self._order)
            self.fields[name] = field
            if name == "terms":
                layout.addRow(field)
            else:
                layout.addRow(sentence(label), field)

    def value(self) -> Data:
        """The part as data, SI."""
        return {"type": self.kind} | {name: field.value() for name, field in self.fields.items()}

    def set_value(self, part: Data) -> None:
        """Show a part."""
        for name, field in self.fields.items():
            if name in part:
                field.set_value(part[name])

    def follow(self, before: QtWidgets.QWidget) -> None:
        """Set the tab order from a widget of the same window through all fields, and maintain it."""
        self._before = before
        self._order()

    def _order(self) -> None:
        if self._before is not None:  # Qt ignores the tab order of widgets without a window
            stops = [stop for field in self.fields.values() for stop in field.stops()]
            for before, after in pairwise([self._before, *stops]):
                self.setTabOrder(before, after)


def about_part(kind: str, model: type[BaseModel]) -> str:
    """Return the description of a part, in English."""
    return (model.__doc__ or kind).split(" (`")[0].rstrip(".") + "."
