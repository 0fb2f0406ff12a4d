"""The platform's pose and the residual in digits that are read from two metres away."""

import math
from contextlib import suppress

import numpy as np
from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.live.numbers import number_text
from gui.session import Rows
from gui.texts import tr
from gui.widgets import Theme
from kinematics import KinematicsError, pose_to_coordinates
from rig.telemetry import CycleFlag

_LOOKS = ((28, 2), (26, 2), (24, 2), (22, 2), (20, 2), (20, 1))
"""Size of the digits, px, and decimals: the first that fits is taken."""
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
"""Caption, unit, and the widest that usually stands before the point: each has that room, so that nothing jumps."""


class LargeNumbers(QtWidgets.QWidget):
    """Pose of the platform's origin in the base frame (R = Rz·Ry·Rx), and RMS of all legs' residuals; painted."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.values = [math.nan] * len(_PLACES)
        """in the units shown; not a number where it is not known"""
        self._widest = [widest for *_rest, widest in _PLACES]
        self.setObjectName("ground")
        self.setAccessibleName(tr("Pose of the platform, mm and °, and RMS of the residual, N"))
        self.setSizePolicy(QtWidgets.QSizePolicy.Policy.Preferred, QtWidgets.QSizePolicy.Policy.Fixed)
        self.setFixedHeight(_LOOKS[0][0] + _SMALL + 12)

    def set_theme(self, theme: Theme) -> None:
        """Change colours."""
        self._theme = theme
        self.update()

    def show_rows(self, now: Rows, before: Rows) -> None:
        """Show the pose of the last of telemetry rows `now` (n,), and the residual over the rows `before` (m,).

        Before homing no pose is known.
        """
        values = [math.nan] * len(_PLACES)
        with suppress(KinematicsError):  # whatever a file says
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
        """Caption, number and unit of each."""
        both = zip(self.values, _PLACES, strict=True)
        return [f"{name} {number_text(value, _LOOKS[0][1])} {unit}" for value, (name, unit, _widest) in both]

    @property
    def look(self) -> tuple[int, int]:
        """Size of the digits, px, and decimals: the largest with which all numbers have room."""
        return next((look for look in _LOOKS if sum(self._rooms(*look)) <= self.width()), _LOOKS[-1])

    def _font(self, size: int) -> QtGui.QFont:
        font = QtGui.QFont(self.font())
        font.setPixelSize(size)
        font.setBold(size > _SMALL)
        return font

    def _rooms(self, size: int, decimals: int) -> list[int]:
        """Width of each number with its unit and the gap behind it, px, with digits of this size."""
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
        """Draw captions, and below them numbers that end where they always end, with their units behind."""
        painter = QtGui.QPainter(self)
        painter.setRenderHint(QtGui.QPainter.RenderHint.Antialiasing)
        painter.setPen(QtCore.Qt.PenStyle.NoPen)
        painter.setBrush(QtGui.QColor(self._theme.surface))
        painter.drawRoundedRect(self.rect(), 6, 6)
        size, decimals = self.look
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
    """A residual is small, and keeps its decimals."""
    return _LOOKS[0][1] if unit == "N" else decimals
