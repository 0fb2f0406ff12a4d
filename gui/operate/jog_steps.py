"""Controls of a jog: step sizes, and a pad with two buttons per axis or leg."""

import math
from typing import Any

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.operate.hold_button import HoldButton, Repeats
from gui.operate.presets import Presets
from gui.operate.range_bar import RangeBar
from gui.texts import tr
from gui.widgets import Choice, QuantityBox
from kinematics import JogFrame
from rig.client import AXES, LEGS, search_limit, size_class
from rig.config import RigConfig

NAMES = dict(zip(AXES, ("x", "y", "z", "θx", "θy", "θz"), strict=True))
"""Axis of a step → displayed name."""
_HINTS = {
    tr("Position"): tr("Distance per step along an axis"),
    tr("Angle"): tr("Rotation per step about an axis"),
    tr("Frame"): tr("Axes of translation and rotation of a step"),
    tr("Pivot"): tr("Pivot point of the platform, in platform axes"),
}
_STEPS = (0.1, 0.5, 1.0, 5.0, 10.0)
"""Steps in °, all but the last, and in mm on a desktop machine."""
_FULL = 0.5
"""Fraction of the search range that fills a bar."""
_PER_COLUMN = 3
_BUTTON = 34  # px, so that "−" and "+" have the same width
_HOLD_HINT = tr("Click: one step. Hold: move until released")
_KEYS, _WITH = QtCore.Qt.Key, QtCore.Qt.KeyboardModifier
_NO_KEY, _SHIFT, _PADDED = _WITH.NoModifier, _WITH.ShiftModifier, _WITH.KeypadModifier
KEYS = {
    _KEYS.Key_Left: "-x",
    _KEYS.Key_Right: "+x",
    _KEYS.Key_Down: "-y",
    _KEYS.Key_Up: "+y",
    _KEYS.Key_PageDown: "-z",
    _KEYS.Key_PageUp: "+z",
}
"""Axis moved by a key while pressed; with Shift, rotation about it."""


class Pad(QtWidgets.QWidget):
    """A minus and a plus button for each of six axes, in two columns of three.

    Args:
        middles: axis → widget between its buttons.
        names: axis → accessible names of its minus and its plus.
        keys: key → direction of its move while pressed, when one of the buttons has the focus.
    """

    pressed = QtCore.Signal(str, int)
    """Axis, and the direction: 1 or -1."""

    def __init__(
        self,
        middles: dict[str, QtWidgets.QWidget],
        names: dict[str, tuple[str, str]],
        keys: dict[Any, str] | None = None,
        parent: QtWidgets.QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._keys = keys or {}
        self._repeats = Repeats()
        self.buttons: dict[str, HoldButton] = {}
        """By direction: "+x", "-leg3"."""
        grid = QtWidgets.QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(4)
        grid.setVerticalSpacing(4)
        for index, (axis, middle) in enumerate(middles.items()):
            row, column = index % _PER_COLUMN, 4 * (index // _PER_COLUMN)
            for place, (sign, symbol, key) in enumerate(((-1, "−", f"-{axis}"), (1, "+", f"+{axis}"))):
                button = HoldButton(symbol, _HOLD_HINT)
                button.setFixedWidth(_BUTTON)
                button.setAccessibleName(names[axis][place])
                button.clicked.connect(lambda _checked, axis=axis, sign=sign: self.pressed.emit(axis, sign))
                self.buttons[key] = button
                grid.addWidget(button, row, column + 2 * place)
            grid.addWidget(middle, row, column + 1)
        for column in (1, 5):
            grid.setColumnStretch(column, 1)
        grid.setColumnMinimumWidth(3, 6)

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        """Hold the button of an axis key; never a click, as arrow keys are easily pressed by accident."""
        way = self._keys.get(event.key(), "")
        if not way or event.modifiers() not in (_NO_KEY, _SHIFT, _PADDED, _PADDED | _SHIFT):
            super().keyPressEvent(event)
        elif self._repeats.again(event):
            for button in self.buttons.values():
                button.keep_key_pressed(event.key())
        elif not any(button.isDown() for button in self.buttons.values()):
            turning = bool(event.modifiers() & _SHIFT)
            self.buttons[f"{way[0]}r{way[1]}" if turning else way].press_key(event.key(), clicks=False)

    def keyReleaseEvent(self, event: QtGui.QKeyEvent) -> None:
        """See `keyPressEvent`."""
        self._repeats.release(event)
        if event.isAutoRepeat() or not any(button.release_key(event.key()) for button in self.buttons.values()):
            super().keyReleaseEvent(event)


class PoseSteps(QtWidgets.QWidget):
    """Steps along and about the axes of a frame, about a pivot.

    Args:
        config: the rig, whose size scales bars and steps.
    """

    def __init__(self, config: RigConfig, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        size = size_class(config)
        larger, smaller = max(size, 1.0), min(size, 1.0)
        self.translation = QuantityBox(tr("Step of position"), "m", 0.005 * size, 1e-5 * smaller, 0.1 * larger)
        self.rotation = QuantityBox(tr("Step of angle"), "rad", math.radians(1.0), 1e-4, 0.5)
        self.frame = Choice(tr("Frame of the steps"), [(tr("base axes"), "base"), (tr("platform axes"), "platform")])
        self.frame.setToolTip(tr("Axes of translation and rotation of a step"))
        self.pivot = [
            QuantityBox(tr("Pivot {axis}, platform axes").format(axis=axis), "m", 0.0, -larger, larger)
            for axis in "xyz"
        ]
        names = {axis: (f"− {name}", f"+ {name}") for axis, name in NAMES.items()}
        self.bars = {axis: _bar(config, axis) for axis in AXES}
        self.pad = Pad(dict(self.bars), names, KEYS)
        grid = QtWidgets.QGridLayout(self)
        grid.setContentsMargins(4, 2, 4, 4)
        grid.setHorizontalSpacing(4)
        grid.setVerticalSpacing(4)
        pivot = QtWidgets.QHBoxLayout()
        pivot.setSpacing(4)
        for axis, box in zip("xyz", self.pivot, strict=True):
            box.setPrefix(f"{axis} ")
            box.setMinimumWidth(box.fontMetrics().horizontalAdvance("x -000.0 mm") + 8)
            pivot.addWidget(box)
        for row, (name, hint) in enumerate(_HINTS.items()):
            label = QtWidgets.QLabel(name)
            label.setToolTip(hint)
            grid.addWidget(label, row, 0)
        self.presets = [
            Presets(self.translation, tr("Step of position"), "m", [1e-3 * size * step for step in _STEPS]),
            Presets(self.rotation, tr("Step of angle"), "rad", [math.radians(step) for step in _STEPS[:-1]]),
        ]
        for row, presets in enumerate(self.presets):
            grid.addWidget(presets, row, 1)
        grid.addWidget(self.frame, 2, 1)
        grid.addLayout(pivot, 3, 1)
        grid.addWidget(self.pad, 4, 0, 1, 2)
        grid.setColumnStretch(1, 1)

    def size_of(self, axis: str) -> float:
        """Return the step along or about an axis, m or rad."""
        return (self.translation if axis in AXES[:3] else self.rotation).si()

    @property
    def axes(self) -> JogFrame:
        """Return the selected frame."""
        frame: JogFrame = self.frame.currentData()
        return frame

    @property
    def point(self) -> tuple[float, float, float]:
        """Return the pivot, (3,) m, platform axes."""
        x, y, z = (box.si() for box in self.pivot)
        return x, y, z


class LegSteps(QtWidgets.QWidget):
    """Steps of one leg at constant length of the others; shows each leg's length.

    Args:
        config: the rig, whose size scales the steps.
    """

    def __init__(self, config: RigConfig, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        size = size_class(config)
        self.step = QuantityBox(tr("Step of a leg"), "m", 0.002 * size, 1e-5 * min(size, 1.0), 0.05 * max(size, 1.0))
        self.lengths: list[QtWidgets.QLabel] = []
        for leg in LEGS.values():
            length = QtWidgets.QLabel("–")
            length.setMinimumWidth(length.fontMetrics().horizontalAdvance("000.00 mm"))
            length.setAlignment(QtCore.Qt.AlignmentFlag.AlignRight | QtCore.Qt.AlignmentFlag.AlignVCenter)
            length.setAccessibleName(tr("Length of leg {leg}, mm").format(leg=leg))
            self.lengths.append(length)
        names = {
            axis: (tr("Leg {leg} shorter").format(leg=leg), tr("Leg {leg} longer").format(leg=leg))
            for axis, leg in LEGS.items()
        }
        middles = {axis: _labelled(f"{leg}", self.lengths[leg - 1]) for axis, leg in LEGS.items()}
        self.pad = Pad(middles, names)
        grid = QtWidgets.QGridLayout(self)
        grid.setContentsMargins(4, 2, 4, 4)
        grid.setHorizontalSpacing(4)
        grid.setVerticalSpacing(4)
        label = QtWidgets.QLabel(tr("Length"))
        label.setToolTip(tr("Change of leg length per step"))
        grid.addWidget(label, 0, 0)
        grid.addWidget(self.step, 0, 1)
        grid.addWidget(self.pad, 1, 0, 1, 2)
        grid.setColumnStretch(1, 1)


def _bar(config: RigConfig, axis: str) -> RangeBar:
    turning = axis in AXES[3:]
    return RangeBar(NAMES[axis], "rad" if turning else "m", _FULL * search_limit(config, turning=turning))


def _labelled(name: str, value: QtWidgets.QLabel) -> QtWidgets.QWidget:
    both = QtWidgets.QWidget()
    layout = QtWidgets.QHBoxLayout(both)
    layout.setContentsMargins(2, 0, 2, 0)
    layout.addWidget(QtWidgets.QLabel(name))
    layout.addWidget(value, 1)
    return both
