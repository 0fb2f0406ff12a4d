"""Buttons that set a field to preset values."""

import math
from collections.abc import Sequence

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.widgets import QuantityBox, display_unit

_SAME = 1e-9  # relative tolerance
_PADDING = 12  # px


class Presets(QtWidgets.QWidget):
    """A field, and a button for each of some values; the current one is checked.

    Args:
        box: the field.
        name: accessible name of the value.
        unit: the field's, SI.
        values: SI, each within the field's bounds.
    """

    def __init__(
        self,
        box: QuantityBox,
        name: str,
        unit: str,
        values: Sequence[float],
        parent: QtWidgets.QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._box = box
        self.buttons: dict[float, QtWidgets.QToolButton] = {}
        shown, factor, _decimals = display_unit(unit)
        row = QtWidgets.QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(3)
        row.addWidget(box, 1)
        widest = max(self.fontMetrics().horizontalAdvance(f"{value * factor:g}") for value in values)
        for value in values:
            button = QtWidgets.QToolButton()
            button.setObjectName("preset")
            button.setText(f"{value * factor:g}")
            button.setFixedWidth(widest + _PADDING)
            button.setCheckable(True)
            button.setFocusPolicy(QtCore.Qt.FocusPolicy.TabFocus)
            button.setAccessibleName(f"{name}: {value * factor:g} {shown}")
            button.setToolTip(f"{name}: {value * factor:g} {shown}")
            button.clicked.connect(lambda _checked, value=value: self._set_value(value))
            self.buttons[value] = button
            row.addWidget(button)
        box.changed.connect(self._light)
        self._light()

    def _set_value(self, value: float) -> None:
        self._box.set_si(value)
        self._light()  # a second click must not uncheck it

    def _light(self) -> None:
        present = math.nan if self._box.reason else self._box.si()
        for value, button in self.buttons.items():
            button.setChecked(abs(present - value) <= _SAME * value)
