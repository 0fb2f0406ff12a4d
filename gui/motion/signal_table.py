"""Fields of forms that are made from a pydantic model; among them a list of sines, sweeps or noises."""

import math
from typing import Any, Literal, get_args, get_origin

from annotated_types import Ge, Gt
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pyqtgraph.Qt import QtCore, QtWidgets

from gui.motion.fields import (
    AxesField,
    ChoiceField,
    Field,
    FileField,
    OptionalField,
    QuantityField,
    SwitchField,
    TupleField,
    WholeField,
)
from gui.motion.specification import in_words
from gui.texts import tr
from gui.widgets import Choice, QuantityBox, give
from kinematics import Quantity


class TermsField(Field):
    """A list of sines or sweeps: one line each, its columns those of the model."""

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
        # Tab goes from field to field as anywhere, and on: a table's own Tab goes round, and selects no text
        self.table.setTabKeyNavigation(False)
        self.table.setFocusPolicy(QtCore.Qt.FocusPolicy.NoFocus)
        add, remove = QtWidgets.QPushButton(tr("Add line")), QtWidgets.QPushButton(tr("Remove line"))
        give(add, "add")
        give(remove, "remove")
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
        """See `Field`. Lines that are there already stay, with the keyboard in them where it was."""
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
        """The lines as they are read, then the buttons."""
        rows, columns = range(self.table.rowCount()), range(self.table.columnCount())
        return [*(self.table.cellWidget(row, column) for row in rows for column in columns), *self._buttons]

    def _fit(self) -> None:
        """Make the table as high as its lines: what it stands in scrolls, and nothing in it."""
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
    """The field for one entry of a model. Raises TypeError for a type that no trajectory uses."""
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
        return FileField(name)
    given = [argument for argument in get_args(kind) if argument is not type(None)]
    if len(given) == 1 and hasattr(given[0], "__metadata__"):
        metadata = list(given[0].__metadata__)
        bounds = [bound for item in metadata for bound in getattr(item, "metadata", [item])]
        quantity = next(item for item in metadata if isinstance(item, Quantity))
        return OptionalField(name, QuantityField(name, quantity, least_of(bounds)))
    raise TypeError(f"{name}: no field for {kind}")


def quantity_of(info: FieldInfo) -> Quantity:
    """What kind of quantity an entry of a model is."""
    return next(item for item in info.metadata if isinstance(item, Quantity))


def least_of(metadata: list[Any]) -> float:
    """Its least value; a value at one that must be exceeded is refused with the rest of the motion."""
    for item in metadata:
        if isinstance(item, Gt):
            return float(item.gt)  # type: ignore[arg-type]
        if isinstance(item, Ge):
            return float(item.ge)  # type: ignore[arg-type]
    return -math.inf
