"""What the live views say in numbers beside the plots: strokes as bars, the external wrench that is implied."""

import math

import numpy as np
from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from dynamics import Mechanism
from gui.live.numbers import number_text
from gui.live.wrench import AXES, wrench_of
from gui.scene import strokes
from gui.session import Floats, Rows
from gui.texts import tr
from gui.widgets import LEG_COLOURS, Theme
from rig.telemetry import CycleFlag

WRENCH_WINDOW = 0.5  # s


class StrokeBars(QtWidgets.QWidget):
    """Length of every leg between its limits, as bars in the legs' colours, with the value in mm."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._mechanism: Mechanism | None = None
        self.lengths: Floats = np.full(6, np.nan)
        """m"""
        self._digits = 0
        """px for the longest number so far: it never shrinks, so that the bars do not jump"""
        self.setMinimumSize(180, 6 * 22 + 4)
        self.setSizePolicy(QtWidgets.QSizePolicy.Policy.Preferred, QtWidgets.QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("Leg lengths, mm, and stroke used, %"))

    def set_theme(self, theme: Theme) -> None:
        """Change colours."""
        self._theme = theme
        self.update()

    def set_mechanism(self, mechanism: Mechanism | None) -> None:
        """Take the limits of these legs; None knows no limits."""
        self._mechanism = mechanism
        self.update()

    def show_rows(self, rows: Rows) -> None:
        """Show the leg lengths of the last of telemetry rows (n,); before homing they are counted from anywhere."""
        known = len(rows) and rows["flags"][-1] & CycleFlag.HOMED
        lengths = np.array(rows["length"][-1]) if known else np.full(6, np.nan)
        if not np.array_equal(lengths, self.lengths, equal_nan=True):
            self.lengths = lengths
            self.update()

    @property
    def used(self) -> Floats:
        """Stroke used (6,), %, 0 to 100 within a leg's limits; not a number where that is not known."""
        return strokes(self._mechanism, self.lengths) if self._mechanism is not None else np.full(6, np.nan)

    def paintEvent(self, _event: QtGui.QPaintEvent) -> None:
        """Draw."""
        painter = QtGui.QPainter(self)
        values = [f"{1e3 * length:.2f}" if math.isfinite(length) else "–" for length in self.lengths]
        metrics = painter.fontMetrics()
        digits = self._digits = max(self._digits, *map(metrics.horizontalAdvance, ["000.00", *values]))
        row_height = self.height() / 6
        align = QtCore.Qt.AlignmentFlag
        for leg, used in enumerate(self.used):
            top = leg * row_height
            text = QtCore.QRectF(0, top, 16, row_height)
            painter.setPen(QtGui.QColor(self._theme.text))
            painter.drawText(text, align.AlignVCenter | align.AlignLeft, str(leg + 1))
            numbers = QtCore.QRectF(self.width() - digits, top, digits, row_height)
            if math.isfinite(used) and not 0.0 <= used <= 100.0:
                painter.setPen(QtGui.QColor(self._theme.error))
            painter.drawText(numbers, align.AlignVCenter | align.AlignRight, values[leg])
            bar = QtCore.QRectF(18, top + 5, self.width() - digits - 26, row_height - 10)
            painter.fillRect(bar, QtGui.QColor(self._theme.raised))
            if math.isfinite(used):
                bar.setWidth(bar.width() * min(max(float(used) / 100.0, 0.0), 1.0))
                painter.fillRect(bar, QtGui.QColor(LEG_COLOURS[leg]))
        painter.end()


class WrenchTable(QtWidgets.QWidget):
    """Mean and standard deviation of the external wrench that the residuals of the last half second imply."""

    def __init__(self) -> None:
        super().__init__()
        grid = QtWidgets.QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(2)
        self.values = []
        for row, name in enumerate(AXES):
            unit = "N" if row < 3 else "N m"
            value = QtWidgets.QLabel("–")
            value.setAccessibleName(tr("External wrench {name}, {unit}").format(name=name, unit=unit))
            value.setAlignment(QtCore.Qt.AlignmentFlag.AlignRight)
            grid.addWidget(QtWidgets.QLabel(f"{name[0]}<sub>{name[1]}</sub>"), row, 0)
            grid.addWidget(value, row, 1)
            grid.addWidget(QtWidgets.QLabel(unit), row, 2)
            self.values.append(value)
        grid.setColumnStretch(1, 1)
        self.note = QtWidgets.QLabel(
            tr("Platform axes, at its origin; mean ± standard deviation of single cycles over half a second")
        )
        self.note.setWordWrap(True)
        self.note.setStyleSheet("font-size: 11px")
        grid.addWidget(self.note, len(AXES), 0, 1, 3)
        self._mechanism: Mechanism | None = None
        self.mean: Floats = np.full(6, np.nan)

    def set_mechanism(self, mechanism: Mechanism | None) -> None:
        """Take this mechanism's geometry; None shows nothing."""
        self._mechanism = mechanism

    def show_rows(self, rows: Rows) -> None:
        """Show what telemetry rows (n,) imply."""
        wrenches = np.empty((0, 6))
        if self._mechanism is not None and len(rows):
            wrenches = wrench_of(self._mechanism.geometry, rows)
            wrenches = wrenches[np.isfinite(wrenches).all(axis=1)]
        if not len(wrenches):
            self.mean = np.full(6, np.nan)
            for value in self.values:
                value.setText("–")
            return
        self.mean, deviation = wrenches.mean(axis=0), wrenches.std(axis=0)
        for row, value in enumerate(self.values):
            digits = 1 if row < 3 else 2
            value.setText(f"{number_text(self.mean[row], digits)} ± {number_text(deviation[row], digits)}")
