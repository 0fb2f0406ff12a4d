"""Fields of forms: each shows one value with its unit and bounds, in SI inside."""

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.texts import tr
from gui.widgets import Choice, QuantityBox, WholeNumber
from kinematics import Quantity

COORDINATE_NAMES = ("x", "y", "z", "θx", "θy", "θz")


class Field(QtWidgets.QWidget):
    """One value of a form. `edited` follows every key and change by a person, `rearranged` one of what Tab stops at."""

    edited = QtCore.Signal()
    rearranged = QtCore.Signal()

    def value(self) -> Any:
        """The value as a file would state it, SI; where what is typed is none, the one before: see `field_refusal`."""
        raise NotImplementedError

    def set_value(self, value: Any) -> None:
        """Show a value, SI. Raises ValueError, and shows what it did, where a number is beyond a bound."""
        raise NotImplementedError

    def stops(self) -> list[QtWidgets.QWidget]:
        """What Tab stops at, as it is read."""
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
    """A number that may be left out."""

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
        """See `Field`; None where it is left out."""
        return self._inner.value() if self.given.isChecked() else None

    def set_value(self, value: Any) -> None:
        """See `Field`."""
        self.given.setChecked(value is not None)
        if value is not None:
            self._inner.set_value(value)


class TupleField(Field):
    """Several numbers of fixed meaning: coordinates, or a point."""

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
    """The path of a CSV file."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.line = QtWidgets.QLineEdit()
        self.line.setAccessibleName(name)
        self.line.setPlaceholderText("CSV: t,x,y,z,qw,qx,qy,qz")
        self.line.editingFinished.connect(self.edited)
        browse = QtWidgets.QPushButton(tr("Browse …"))
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
        name, _kind = QtWidgets.QFileDialog.getOpenFileName(self, tr("Poses"), start, tr("Poses (*.csv)"))
        if name:
            self.set_value(name)
            self.edited.emit()


class ChoiceField(Field):
    """One of several words."""

    def __init__(self, name: str, words: Iterable[str]) -> None:
        super().__init__()
        self.box = Choice(name, [(word, word) for word in words])
        self.box.activated.connect(lambda _index: self.edited.emit())
        _row(self, self.box)

    def value(self) -> str:
        """See `Field`."""
        return str(self.box.currentData())

    def set_value(self, value: Any) -> None:
        """See `Field`."""
        self.box.setCurrentIndex(self.box.findData(value))


class WholeField(Field):
    """A whole number."""

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
    """Which of the six coordinates."""

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
