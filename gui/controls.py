"""Controls that every panel uses: buttons that say why they cannot be pressed, and number fields with their unit."""

import math

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

_DISPLAY: dict[str, tuple[str, float, int]] = {
    "m": ("mm", 1e3, 3),
    "m/s": ("mm/s", 1e3, 2),
    "rad": ("°", 180.0 / math.pi, 3),
    "rad/s": ("°/s", 180.0 / math.pi, 2),
    "s": ("s", 1.0, 3),
    "Hz": ("Hz", 1.0, 3),
}
"""SI unit → unit shown, how many of it one SI unit is, and decimals."""

_LARGEST = 1e6


def shown_unit(unit: str) -> tuple[str, float, int]:
    """The unit in which a person sees a quantity of the SI `unit`, how many of it make one, and decimals."""
    return _DISPLAY.get(unit, (unit, 1.0, 3))


class GuardedButton(QtWidgets.QPushButton):
    """A button for what the rig may refuse: disabled it says why, and Space never presses it.

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
        self.setAccessibleDescription(f"not possible now: {reason}" if reason else self._hint)

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        """Return and Enter press the button; Space, which is hit by accident, does not."""
        if not _guarded_key(self, event):
            super().keyPressEvent(event)


class GuardedCheckBox(QtWidgets.QCheckBox):
    """A check box for what makes the rig do more than it would: Space never ticks it."""

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        """As those of `GuardedButton`."""
        if not _guarded_key(self, event):
            super().keyPressEvent(event)


def _guarded_key(button: QtWidgets.QAbstractButton, event: QtGui.QKeyEvent) -> bool:
    """Click on Return and Enter, do nothing on Space; whether it was one of these."""
    if event.key() in (QtCore.Qt.Key.Key_Return, QtCore.Qt.Key.Key_Enter):
        button.click()
        return True
    return bool(event.key() == QtCore.Qt.Key.Key_Space)


class Reason(QtWidgets.QLabel):
    """One line that says why a group of controls cannot be used now; empty when it can."""

    def __init__(self, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("reason")
        self.setWordWrap(True)
        self.setAccessibleName("Why this is not possible now")

    def show_reason(self, reason: str) -> None:
        """Say `reason`, or nothing."""
        self.setText(f"Not now: {reason}." if reason else "")
        self.setVisible(bool(reason))


class QuantityBox(QtWidgets.QDoubleSpinBox):
    """A number with its unit, given and taken in SI, shown in a person's unit (mm, °).

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
        self.setKeyboardTracking(False)
        self.setButtonSymbols(QtWidgets.QAbstractSpinBox.ButtonSymbols.NoButtons)
        self.setStepType(QtWidgets.QAbstractSpinBox.StepType.AdaptiveDecimalStepType)
        self.setFocusPolicy(QtCore.Qt.FocusPolicy.StrongFocus)
        self._name, self._minimum, self._maximum = name, minimum, maximum
        self._factor = 1.0
        self.set_unit(unit)
        self.set_si(value)
        self.setMinimumWidth(self.fontMetrics().horizontalAdvance(f"-000.000 {self.suffix()}") + 16)

    def set_unit(self, unit: str) -> None:
        """Measure in another SI `unit`; the number shown stays."""
        shown, self._factor, decimals = shown_unit(unit)
        self.setDecimals(decimals)
        self.setSuffix(f" {shown}" if shown else "")
        least = max(self._minimum * self._factor, -_LARGEST)
        self.setRange(least, min(self._maximum * self._factor, _LARGEST))
        self.setAccessibleName(f"{self._name}, {shown}" if shown else self._name)
        bounds = [f"at least {self.minimum():g}"] if math.isfinite(self._minimum) else []
        bounds += [f"at most {self.maximum():g}"] if math.isfinite(self._maximum) else []
        self.setToolTip(f"{self._name}: {' and '.join(bounds)} {shown}" if bounds else f"{self._name} in {shown}")

    def si(self) -> float:
        """The value in SI."""
        return float(self.value()) / self._factor

    def set_si(self, value: float) -> None:
        """Show a value given in SI."""
        self.setValue(value * self._factor)

    def wheelEvent(self, event: QtGui.QWheelEvent) -> None:
        """Only a field that was chosen follows the wheel: scrolling past must not change a number."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()
