"""Controls that every panel uses: buttons that say why they cannot be pressed, and number fields with their unit."""

import math
from collections.abc import Iterable
from typing import Any

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.texts import tr
from gui.widgets.icons import give
from gui.widgets.still import TextRoom

_DISPLAY: dict[str, tuple[str, float, int]] = {
    "m": ("mm", 1e3, 3),
    "m/s": ("mm/s", 1e3, 2),
    "rad": ("°", 180.0 / math.pi, 3),
    "rad/s": ("°/s", 180.0 / math.pi, 2),
    "s": ("s", 1.0, 3),
    "Hz": ("Hz", 1.0, 3),
    "%": ("%", 1.0, 1),
}
"""SI unit → unit shown, how many of it one SI unit is, and decimals."""

_LARGEST = 1e6  # of the unit shown
_MOST_DECIMALS = 9
_ROUGH = 0.01  # of a number; as much may be hidden by rounding what is shown
_KEYS = QtCore.Qt.Key
_PRESSES = (QtCore.QEvent.Type.MouseButtonPress, QtCore.QEvent.Type.MouseButtonDblClick)
_ARROWS = (_KEYS.Key_Up, _KEYS.Key_Down, _KEYS.Key_Left, _KEYS.Key_Right)


def shown_unit(unit: str) -> tuple[str, float, int]:
    """The unit in which a person sees a quantity of the SI `unit`, how many of it make one, and decimals."""
    return _DISPLAY.get(unit, (unit, 1.0, 3))


class GuardedButton(QtWidgets.QPushButton):
    """A button for what the rig may refuse: disabled it says why, and Space never presses it.

    It keeps the keyboard focus while it is disabled, and at arrow keys: Qt would pass that on, and the next keys would
    change a field that nobody chose.

    Args:
        text: label.
        hint: tooltip while it can be pressed.
    """

    def __init__(self, text: str, hint: str = "", parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(text, parent)
        self._hint = hint
        self.obstacle = ""
        self.setAccessibleName(text.replace("&", ""))
        self.setToolTip(hint)
        self.setAutoDefault(False)

    def set_obstacle(self, reason: str) -> None:
        """Disable the button for `reason`, or enable it when that is empty."""
        self.obstacle = reason
        self.setEnabled(not reason)
        self.setToolTip(reason or self._hint)
        self.setAccessibleDescription(tr("not possible now: {reason}").format(reason=reason) if reason else self._hint)

    def set_hint(self, hint: str) -> None:
        """Say what the button does, where that changes."""
        self._hint = hint
        self.set_obstacle(self.obstacle)

    def focusNextPrevChild(self, following: bool) -> bool:
        """Move the focus on as Tab does, but not away from a button that is being disabled."""
        return (self.isVisible() and not self.isEnabled()) or bool(super().focusNextPrevChild(following))

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        """Return and Enter press the button; Space, which is hit by accident, does not; arrows scroll the page."""
        if not _guarded_key(self, event):
            super().keyPressEvent(event)


class PressGuard(QtCore.QObject):
    """Application event filter: a press of the mouse does nothing where its button is another when it is let go.

    That is one that was moved meanwhile, or means something else: has another accessible name or another tick. Whoever
    pressed it saw the one before. STOP acts when it is pressed, before any of this.
    """

    def __init__(self, parent: QtCore.QObject) -> None:
        super().__init__(parent)
        self._pressed: tuple[QtWidgets.QAbstractButton, object] | None = None
        QtWidgets.QApplication.instance().installEventFilter(self)

    def remove(self) -> None:
        """Look no further."""
        QtWidgets.QApplication.instance().removeEventFilter(self)

    def eventFilter(self, receiver: QtCore.QObject, event: QtCore.QEvent) -> bool:
        """See the class; keeps no event back."""
        kind = event.type()
        if kind in _PRESSES and isinstance(receiver, QtWidgets.QAbstractButton):
            self._pressed = (receiver, _meaning(receiver))
        elif kind == QtCore.QEvent.Type.MouseButtonRelease and self._pressed is not None:
            (button, before), self._pressed = self._pressed, None
            if button is receiver and _meaning(button) != before:
                button.setDown(False)  # what is not down is not clicked
        return False


def _meaning(button: QtWidgets.QAbstractButton) -> object:
    """Where a button is, and what it does."""
    name = button.accessibleName() or button.text()
    return button.mapToGlobal(QtCore.QPoint()), button.size(), name, button.isChecked()


class GuardedCheckBox(QtWidgets.QCheckBox):
    """A check box for what makes the rig do more than it would: Space never ticks it."""

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        """As those of `GuardedButton`."""
        if not _guarded_key(self, event):
            super().keyPressEvent(event)


def _guarded_key(button: QtWidgets.QAbstractButton, event: QtGui.QKeyEvent) -> bool:
    """Click on Return and Enter, do nothing on Space, leave arrows to what scrolls; whether it was one of these."""
    if event.key() in (_KEYS.Key_Return, _KEYS.Key_Enter):
        button.click()
        return True
    if event.key() in _ARROWS:
        event.ignore()
        return True
    return bool(event.key() == _KEYS.Key_Space)


def _may_turn(field: QtWidgets.QWidget, event: QtGui.QWheelEvent) -> bool:
    """Whether the wheel is for a field: only for one that was chosen, as scrolling past must not change anything."""
    if not field.hasFocus():
        event.ignore()
    return bool(field.hasFocus())


def mark_next(button: GuardedButton, following: bool) -> None:
    """Show that a button is the next step, or not."""
    if bool(button.property("next")) != following:
        button.setProperty("next", following)
        button.style().unpolish(button)
        button.style().polish(button)
        if meaning := button.property("meaning"):
            give(button, meaning)


def room_for(button: QtWidgets.QPushButton, texts: Iterable[str]) -> int:
    """px that a button needs for the longest of its texts, bold as the next step is: it need not change with them."""
    bold = QtGui.QFont(button.font())
    bold.setBold(True)
    longest = max(map(QtGui.QFontMetrics(bold).horizontalAdvance, (button.text(), *texts)))
    return int(button.minimumSizeHint().width() - button.fontMetrics().horizontalAdvance(button.text()) + longest)


class Reason(TextRoom):
    """Says why a group of controls cannot be used now; empty when it can. It has its room all the time.

    Args:
        name: accessible name.
        role: of the text, by which it is styled.
        lines: that have room; more scroll.
    """

    def __init__(self, name: str = "", role: str = "reason", lines: int = 2) -> None:
        self._said = QtWidgets.QLabel()
        self._said.setObjectName(role)
        self._said.setAccessibleName(name or tr("Why this is not possible now"))
        super().__init__(self._said, lines)

    def text(self) -> str:
        """What is said."""
        return str(self._said.text())

    def show_reason(self, reason: str) -> None:
        """Say `reason`, or nothing."""
        self.show_text(tr("Not now: {reason}.").format(reason=reason) if reason else "")


class Choice(QtWidgets.QComboBox):
    """One of several (text, data). The wheel turns it only after it was chosen, as with `QuantityBox`.

    Args:
        name: accessible name.
        entries: what there is to choose from.
    """

    def __init__(
        self, name: str, entries: Iterable[tuple[str, Any]] = (), parent: QtWidgets.QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setFocusPolicy(QtCore.Qt.FocusPolicy.StrongFocus)
        for text, data in entries:
            self.addItem(text, data)
        self.setAccessibleName(name)
        self.setToolTip(name)

    def wheelEvent(self, event: QtGui.QWheelEvent) -> None:
        """See `QuantityBox.wheelEvent`."""
        if _may_turn(self, event):
            super().wheelEvent(event)


class WholeNumber(QtWidgets.QSpinBox):
    """A whole number from `least` to `most`. The wheel turns it only after it was chosen, as with `QuantityBox`.

    Args:
        name: accessible name.
        value, least, most: in whatever is counted.
    """

    def __init__(self, name: str, value: int, least: int, most: int, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        self.setRange(least, most)
        self.setValue(value)
        self.setAccessibleName(name)
        self.setToolTip(tr("{name}: {least} to {most}").format(name=name, least=least, most=most))
        self.setProperty("plain", True)  # without buttons the style sheet may draw its frame
        self.setButtonSymbols(QtWidgets.QAbstractSpinBox.ButtonSymbols.NoButtons)
        self.setFocusPolicy(QtCore.Qt.FocusPolicy.StrongFocus)

    def wheelEvent(self, event: QtGui.QWheelEvent) -> None:
        """See `QuantityBox.wheelEvent`."""
        if _may_turn(self, event):
            super().wheelEvent(event)


class QuantityBox(QtWidgets.QDoubleSpinBox):
    """A number with its unit, given and taken in SI, shown in a person's unit (mm, °).

    What is shown is rounded; what was given stays as it is until a person types another number.

    Args:
        name: accessible name.
        unit: SI unit.
        value, minimum, maximum: SI.
    """

    def __init__(
        self,
        name: str,
        unit: str,
        value: float = 0.0,
        minimum: float = -math.inf,
        maximum: float = math.inf,
        parent: QtWidgets.QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setLocale(QtCore.QLocale.c())
        self.setProperty("plain", True)
        self.setKeyboardTracking(False)
        self.setButtonSymbols(QtWidgets.QAbstractSpinBox.ButtonSymbols.NoButtons)
        self.setStepType(QtWidgets.QAbstractSpinBox.StepType.AdaptiveDecimalStepType)
        self.setFocusPolicy(QtCore.Qt.FocusPolicy.StrongFocus)
        self._name, self._minimum, self._maximum = name, minimum, maximum
        self._given, self._shown = value, 0.0  # SI, and the number on the screen that stands for it
        self.valueChanged.connect(self._typed)
        self._measure(unit)
        self.set_si(value)
        self.setMinimumWidth(self.fontMetrics().horizontalAdvance(f"-000.000 {self.suffix()}") + 16)

    def set_unit(self, unit: str) -> None:
        """Measure in another SI `unit`; the number stays. Raises ValueError where it is beyond the bounds then."""
        number = self.si() * self._factor
        self._measure(unit)
        self.set_si(number / self._factor)

    def si(self) -> float:
        """The value in SI: to the last digit what was given, or what a person typed instead."""
        number = float(self.value())
        return self._given if number == self._shown else number / self._factor

    def set_si(self, value: float) -> None:
        """Show a value given in SI. Raises ValueError where `fault` says that it cannot be."""
        if fault := self.fault(value):
            raise ValueError(fault)
        number = value * self._factor
        decimals = _decimals(number, self._decimals)
        self._given, self._shown = float(value), float(f"{number:.{decimals}f}") + 0.0
        # more decimals than either needs while the value changes: none of the two is rounded on the way
        self.setDecimals(max(decimals, self.decimals()))
        self.setValue(self._shown)
        self.setDecimals(decimals)

    def fault(self, value: float) -> str:
        """Why a value, SI, cannot be in this field; empty when it can."""
        shown = self._unit_shown
        if not math.isfinite(value):
            return tr("{name}: {value:g}, must be finite").format(name=self._name, value=value)
        least, most = (max(self._minimum, -_LARGEST / self._factor), min(self._maximum, _LARGEST / self._factor))
        if least <= value <= most:
            return ""
        bound = (
            tr("must be at least {least:g}").format(least=least * self._factor)
            if value < least
            else tr("must be at most {most:g}").format(most=most * self._factor)
        )
        return f"{self._name}: {value * self._factor:g} {shown}, {bound} {shown}".rstrip()

    def _measure(self, unit: str) -> None:
        shown, self._factor, self._decimals = shown_unit(unit)
        self._unit_shown = shown
        self._shown = math.nan  # a number that is bounded or rounded here stands for nothing that was given
        self.setDecimals(self._decimals)
        self.setSuffix(f" {shown}" if shown else "")
        least = max(self._minimum * self._factor, -_LARGEST)
        self.setRange(least, min(self._maximum * self._factor, _LARGEST))
        self.setAccessibleName(f"{self._name}, {shown}" if shown else self._name)
        low, high = math.isfinite(self._minimum), math.isfinite(self._maximum)
        bounds = tr("at least {least:g} and at most {most:g}") if high else tr("at least {least:g}")
        bounds = (bounds if low else tr("at most {most:g}")).format(least=self.minimum(), most=self.maximum())
        inside = tr("{name} in {unit}").format(name=self._name, unit=shown)
        self.setToolTip(f"{self._name}: {bounds} {shown}" if low or high else inside)

    def _typed(self, number: float) -> None:
        if number != self._shown:
            self._shown = math.nan

    def wheelEvent(self, event: QtGui.QWheelEvent) -> None:
        """Only a field that was chosen follows the wheel."""
        if _may_turn(self, event):
            super().wheelEvent(event)


def _decimals(number: float, least: int) -> int:
    """Decimals that show a small number as what it is, and not as nothing."""
    for decimals in range(least, _MOST_DECIMALS + 1):
        if abs(float(f"{number:.{decimals}f}") - number) <= _ROUGH * abs(number):
            return decimals
    return least
