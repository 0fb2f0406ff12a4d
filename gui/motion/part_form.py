"""The form of one part of a motion."""

from itertools import pairwise

from pydantic import BaseModel
from pyqtgraph.Qt import QtCore, QtWidgets

from gui.motion.fields import Field
from gui.motion.signal_table import make_field
from gui.motion.specification import Data, in_words
from gui.texts import tr


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
                layout.addRow(label[:1].upper() + label[1:], field)

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


def about_part(kind: str, model: type[BaseModel]) -> str:
    """What a part does, in English."""
    return (model.__doc__ or kind).split(" (`")[0].rstrip(".") + "."
