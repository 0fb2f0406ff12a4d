"""Compose a motion: its frame and pivot, its parts in their order, and a form for each part."""

from itertools import pairwise
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pyqtgraph.Qt import QtCore, QtWidgets

from gui.motion.fields import Field, TupleField, make_field
from gui.motion.specification import NEW_PARTS, Data, part_models
from gui.widgets import Choice
from kinematics import TrajectorySpec

_FRAMES = {"home": "relative to the home pose", "base": "in the base frame"}


class PartForm(QtWidgets.QWidget):
    """The fields of one part; `edited` follows every change by a person."""

    edited = QtCore.Signal()

    def __init__(self, kind: str, model: type[BaseModel]) -> None:
        super().__init__()
        self.kind = kind
        self.fields: dict[str, Field] = {}
        self._before: QtWidgets.QWidget | None = None
        layout = QtWidgets.QFormLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setRowWrapPolicy(QtWidgets.QFormLayout.RowWrapPolicy.WrapLongRows)
        about = QtWidgets.QLabel((model.__doc__ or kind).split(" (`")[0].rstrip(".") + ".")
        about.setObjectName("muted")
        about.setWordWrap(True)
        layout.addRow(about)
        for name, info in model.model_fields.items():
            if name == "type":
                continue
            label = name.replace("_", " ")
            field = make_field(label, info)
            field.edited.connect(self.edited)
            field.rearranged.connect(self._order)
            self.fields[name] = field
            if name == "terms":
                layout.addRow(field)
            else:
                layout.addRow(label.capitalize(), field)

    def value(self) -> Data:
        """The part as data, SI."""
        return {"type": self.kind} | {name: field.value() for name, field in self.fields.items()}

    def set_value(self, part: Data) -> None:
        """Show a part."""
        for name, field in self.fields.items():
            if name in part:
                field.set_value(part[name])

    def follow(self, before: QtWidgets.QWidget) -> None:
        """Let Tab go from a widget of the same window through the fields as they are read, however they change."""
        self._before = before
        self._order()

    def _order(self) -> None:
        if self._before is not None:  # Qt keeps no order of what is not in a window yet
            stops = [stop for field in self.fields.values() for stop in field.stops()]
            for before, after in pairwise([self._before, *stops]):
                self.setTabOrder(before, after)


class MotionEditor(QtWidgets.QWidget):
    """A whole motion as a form. `edited` follows every change."""

    edited = QtCore.Signal()

    def __init__(self, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        self.folder = Path()
        """where the file names of parts start"""
        self._models = part_models()
        self.frame = Choice("Frame of the motion", [(text, frame) for frame, text in _FRAMES.items()])
        point = TrajectorySpec.model_fields["pivot"]
        self.pivot = make_field("pivot", point)
        assert isinstance(self.pivot, TupleField)
        self.pivot.setToolTip("Point of the platform, in platform axes, that the coordinates move and turn about")
        self.parts = QtWidgets.QListWidget()
        self.parts.setAccessibleName("Parts of the motion, in their order")
        self.parts.setMaximumHeight(72)
        self.kinds = Choice("Kind of the part to add", [(kind, kind) for kind in self._models])
        self.forms = QtWidgets.QStackedWidget()
        acts = {
            "Add": self._add,
            "Remove": self._remove,
            "Up": lambda: self._shift(-1),
            "Down": lambda: self._shift(1),
        }
        self.buttons: dict[str, QtWidgets.QPushButton] = {}
        row = QtWidgets.QHBoxLayout()
        row.addWidget(self.kinds, 1)
        for text, act in acts.items():
            button = QtWidgets.QPushButton(text)
            button.setAccessibleName(f"{text} part")
            button.clicked.connect(lambda _checked=False, act=act: act())
            row.addWidget(button)
            self.buttons[text] = button
        scroll = QtWidgets.QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QtWidgets.QFrame.Shape.NoFrame)
        scroll.setWidget(self.forms)
        scroll.setHorizontalScrollBarPolicy(QtCore.Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        form = QtWidgets.QFormLayout()
        form.addRow("Frame", self.frame)
        form.addRow("Pivot", self.pivot)
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addLayout(form)
        layout.addWidget(self.parts)
        layout.addLayout(row)
        layout.addWidget(scroll, 1)
        self.frame.activated.connect(lambda _index: self.edited.emit())
        self.pivot.edited.connect(self.edited)
        self.parts.currentRowChanged.connect(self.forms.setCurrentIndex)

    def value(self) -> Data:
        """The motion as data, SI."""
        forms = [self.forms.widget(index) for index in range(self.forms.count())]
        return {
            "frame": self.frame.currentData(),
            "pivot": self.pivot.value(),
            "parts": [form.value() for form in forms],
        }

    def set_value(self, motion: Data, folder: Path) -> None:
        """Show a motion whose file names start at `folder`.

        Raises ValueError, naming the part and the field, where a number is beyond what a field takes; the motion shown
        stays.
        """
        forms = []
        for number, part in enumerate(motion["parts"], start=1):
            try:
                forms.append(self._make(part))
            except ValueError as error:
                raise ValueError(f"part {number}, {error}") from None
        self.pivot.set_value(motion["pivot"])
        self.folder = folder
        self.frame.setCurrentIndex(self.frame.findData(motion["frame"]))
        while self.forms.count():
            self._take(0)
        for form in forms:
            self._insert(self.forms.count(), form)
        self.parts.setCurrentRow(0)
        self.edited.emit()

    def form(self, index: int) -> PartForm:
        """The form of a part, counted from 0."""
        form: PartForm = self.forms.widget(index)
        return form

    def _make(self, part: Data) -> PartForm:
        form = PartForm(part["type"], self._models[part["type"]])
        form.set_value(part)
        form.edited.connect(self.edited)
        form.edited.connect(self._name_parts)
        return form

    def _insert(self, index: int, form: PartForm) -> None:
        self.forms.insertWidget(index, form)
        form.follow(self.buttons["Down"])
        self.parts.insertItem(index, "")
        self._name_parts()

    def _take(self, index: int) -> Data:
        form = self.form(index)
        part = form.value()
        self.parts.takeItem(index)
        self.forms.removeWidget(form)
        form.deleteLater()
        return part

    def _add(self) -> None:
        kind = self.kinds.currentText()
        part: dict[str, Any] = {"type": kind, **NEW_PARTS[kind]}
        index = self.parts.currentRow() + 1
        self._insert(index, self._make(part))
        self.parts.setCurrentRow(index)
        self.edited.emit()

    def _remove(self) -> None:
        if self.forms.count() > 1:
            self._take(self.parts.currentRow())
            self._name_parts()
            self.edited.emit()

    def _shift(self, by: int) -> None:
        index = self.parts.currentRow()
        if 0 <= index + by < self.forms.count():
            self._insert(index + by, self._make(self._take(index)))
            self.parts.setCurrentRow(index + by)
            self.edited.emit()

    def _name_parts(self) -> None:
        for index in range(self.parts.count()):
            part = self.form(index).value()
            length = f", {part['duration']:g} s" if "duration" in part else ""
            self.parts.item(index).setText(f"{index + 1}  {part['type']}{length}")
