"""Numbers of the live views at one time: pose and residual in large digits, strokes, the implied wrench."""

import math
from contextlib import suppress

import numpy as np
from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from dynamics import Mechanism
from gui.models import AXES, Floats, Rows, Segment, Timeline, number_text, wrench_of
from gui.scene import strokes
from gui.texts import tr
from gui.widgets import LEG_COLOURS, Card, Theme
from kinematics import KinematicsError, pose_to_coordinates
from rig.telemetry import CycleFlag

_DIGIT_STYLES = ((28, 2), (26, 2), (24, 2), (22, 2), (20, 2), (20, 1))
"""Font size of the digits, px, and decimals: the first that fits is used."""
_SMALL = 12  # px of captions and units
_GAP = 5  # px between number and unit
_PLACES = (
    ("x", "mm", "−000"),
    ("y", "mm", "−000"),
    ("z", "mm", "−000"),
    ("θx", "°", "−00"),
    ("θy", "°", "−00"),
    ("θz", "°", "−00"),
    (tr("RMS residual"), "N", "00"),
)
"""Caption, unit, and the widest usual integer part, for a fixed width."""


class LargeNumbers(QtWidgets.QWidget):
    """Pose of the platform's origin in the base frame (R = Rz·Ry·Rx), and RMS of all legs' residuals; painted."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.values = [math.nan] * len(_PLACES)
        """In the displayed units; NaN if unknown."""
        self._widest = [widest for *_rest, widest in _PLACES]
        self.setObjectName("ground")
        self.setAccessibleName(tr("Pose of the platform, mm and °, and RMS of the residual, N"))
        self.setSizePolicy(QtWidgets.QSizePolicy.Policy.Preferred, QtWidgets.QSizePolicy.Policy.Fixed)
        self.setFixedHeight(_DIGIT_STYLES[0][0] + _SMALL + 12)

    def set_theme(self, theme: Theme) -> None:
        """Change colours."""
        self._theme = theme
        self.update()

    def show_rows(self, now: Rows, before: Rows) -> None:
        """Show the pose of the last of telemetry rows `now` (n,), and the residual over the rows `before` (m,).

        Before homing the pose is unknown.
        """
        values = [math.nan] * len(_PLACES)
        with suppress(KinematicsError):  # a file may contain any pose
            if len(now) and now["flags"][-1] & CycleFlag.HOMED:
                pose = pose_to_coordinates(now["pose"][-1])
                values[:6] = [*(1e3 * pose[:3]).tolist(), *np.degrees(pose[3:]).tolist()]
        residuals = before["force_residual"]
        known = residuals[np.isfinite(residuals)]
        if len(known):
            values[-1] = math.sqrt(float(np.square(known).mean()))
        shown, self.values = self.words, values
        if self.words != shown:
            whole = [number_text(value, 0) for value in values]
            self._widest = [max(pair, key=len) for pair in zip(self._widest, whole, strict=True)]
            self.setAccessibleDescription(", ".join(self.words))
            self.update()

    @property
    def words(self) -> list[str]:
        """Caption, number and unit of each value."""
        both = zip(self.values, _PLACES, strict=True)
        return [f"{name} {number_text(value, _DIGIT_STYLES[0][1])} {unit}" for value, (name, unit, _widest) in both]

    @property
    def digit_style(self) -> tuple[int, int]:
        """Return the largest font size of the digits, px, and decimals that fit."""
        return next((look for look in _DIGIT_STYLES if sum(self._rooms(*look)) <= self.width()), _DIGIT_STYLES[-1])

    def _font(self, size: int) -> QtGui.QFont:
        font = QtGui.QFont(self.font())
        font.setPixelSize(size)
        font.setBold(size > _SMALL)
        return font

    def _rooms(self, size: int, decimals: int) -> list[int]:
        """Return the width of each number with unit and gap, px, at a digit size."""
        large, small = QtGui.QFontMetrics(self._font(size)), QtGui.QFontMetrics(self._font(_SMALL))
        digit = max(large.horizontalAdvance(each) for each in "0123456789")
        rooms = []
        for widest, (_name, unit, _usual) in zip(self._widest, _PLACES, strict=True):
            figures = sum(map(str.isdigit, widest))
            number = digit * (figures + _decimals(unit, decimals)) + large.horizontalAdvance(
                "−." if len(widest) > figures else "."
            )
            rooms.append(number + _GAP + small.horizontalAdvance(unit) + 2 * _GAP)
        return rooms

    def paintEvent(self, _event: QtGui.QPaintEvent) -> None:
        """Draw captions, and below them right-aligned numbers with units."""
        painter = QtGui.QPainter(self)
        painter.setRenderHint(QtGui.QPainter.RenderHint.Antialiasing)
        painter.setPen(QtCore.Qt.PenStyle.NoPen)
        painter.setBrush(QtGui.QColor(self._theme.surface))
        painter.drawRoundedRect(self.rect(), 6, 6)
        size, decimals = self.digit_style
        large, small = self._font(size), self._font(_SMALL)
        rooms = self._rooms(size, decimals)
        spare = max(self.width() - sum(rooms), 0) / len(rooms)
        base = self.height() - 7
        at = spare / 2
        align = QtCore.Qt.AlignmentFlag.AlignRight | QtCore.Qt.TextFlag.TextDontClip
        for room, value, (name, unit, _usual) in zip(rooms, self.values, _PLACES, strict=True):
            text = number_text(value, _decimals(unit, decimals))
            painter.setFont(small)
            wide = painter.fontMetrics().horizontalAdvance(unit)
            end = at + room - _GAP - wide
            painter.setPen(QtGui.QColor(self._theme.muted))
            painter.drawText(QtCore.QPointF(end, base), unit)
            caption = QtCore.QRectF(at, 3, end - _GAP - at, _SMALL + 4)
            painter.drawText(caption, int(align), name)
            painter.setFont(large)
            painter.setPen(QtGui.QColor(self._theme.text))
            number = painter.fontMetrics().horizontalAdvance(text)
            painter.drawText(QtCore.QPointF(end - _GAP - number, base), text)
            at += room + spare
        painter.end()


def _decimals(unit: str, decimals: int) -> int:
    """Return the decimals of a number: residuals always keep theirs."""
    return _DIGIT_STYLES[0][1] if unit == "N" else decimals


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
        """px of the widest number so far; never shrinks, so that the bars stay still."""
        self.setMinimumSize(180, 6 * 22 + 4)
        self.setSizePolicy(QtWidgets.QSizePolicy.Policy.Preferred, QtWidgets.QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("Leg lengths, mm, and stroke used, %"))

    def set_theme(self, theme: Theme) -> None:
        """Change colours."""
        self._theme = theme
        self.update()

    def set_mechanism(self, mechanism: Mechanism | None) -> None:
        """Set the limits from the mechanism; None: no limits."""
        self._mechanism = mechanism
        self.update()

    def show_rows(self, rows: Rows) -> None:
        """Show the leg lengths of the last of telemetry rows (n,); before homing they have no reference."""
        known = len(rows) and rows["flags"][-1] & CycleFlag.HOMED
        lengths = np.array(rows["length"][-1]) if known else np.full(6, np.nan)
        if not np.array_equal(lengths, self.lengths, equal_nan=True):
            self.lengths = lengths
            self.update()

    @property
    def used(self) -> Floats:
        """Stroke used (6,), %, 0 to 100 within a leg's limits; NaN if unknown."""
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
    """Mean and standard deviation of the external wrench implied by the residuals of the last half second."""

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
        """Set the mechanism's geometry; None: show nothing."""
        self._mechanism = mechanism

    def show_rows(self, rows: Rows) -> None:
        """Show the wrench implied by telemetry rows (n,)."""
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


_WIDTH = 224


class ValuesColumn(QtWidgets.QWidget):
    """A column of cards; `set_mechanism` sets the limits of the strokes and the geometry of the wrench."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.strokes = StrokeBars(theme)
        self.wrench = WrenchTable()
        self.large = LargeNumbers(theme)
        """Placed by the owner."""
        self.moment = QtWidgets.QLabel(tr("No data"))
        self.moment.setAccessibleName(tr("Time of the values"))
        hint = QtWidgets.QLabel(tr("Click in a plot: cursor A; again: B; again: none"))
        hint.setWordWrap(True)
        hint.setStyleSheet("font-size: 11px")
        self.setFixedWidth(_WIDTH)
        content = QtWidgets.QWidget()
        area = QtWidgets.QScrollArea()  # scrolls by itself in a low window, so that the plots stay visible
        area.setWidgetResizable(True)
        area.setFrameShape(QtWidgets.QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(QtCore.Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(content)
        whole = QtWidgets.QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(area)
        column = QtWidgets.QVBoxLayout(content)
        column.setContentsMargins(4, 4, 4, 4)
        for title, widgets in (
            (tr("Values at"), (self.moment, hint)),
            (tr("Leg length, mm"), (self.strokes,)),
            (tr("Implied wrench"), (self.wrench,)),
        ):
            column.addWidget(Card(title, *widgets))
        column.addStretch(1)

    def set_mechanism(self, mechanism: Mechanism | None) -> None:
        """Set the mechanism whose telemetry is shown, None if unknown."""
        self.strokes.set_mechanism(mechanism)
        self.wrench.set_mechanism(mechanism)

    def set_theme(self, theme: Theme) -> None:
        """Change colours."""
        self.strokes.set_theme(theme)
        self.large.set_theme(theme)

    def show_values(self, words: str, now: Segment, shown: Timeline, since: float) -> None:
        """Show the time as text, the lengths of its row, and the wrench over the time before it, from `since` s."""
        self.moment.setText(words)
        self.strokes.show_rows(now.rows)
        before = float(now.times[-1]) if len(now) else -math.inf
        lately = shown.window(max(before - WRENCH_WINDOW, since), before)
        self.wrench.show_rows(lately)
        self.large.show_rows(now.rows, lately)
