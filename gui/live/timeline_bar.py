"""A recording's time in one line: its states by colour and name, its events as flags, and two cursors to be dragged."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.models import STATE_COLOURS, STATE_WORDS
from gui.texts import tr
from gui.widgets import Theme
from rig.recording import EventLevel, RecordedEvent

SHORTEST = 1e-3
"""s, the least that is shown"""
_STEP = 1.25  # by which a notch of the wheel zooms
_NEAR = 6  # px
_FLAGS, _STATES = 12, 18  # px of height
_WORDS = {state.name: word for state, word in STATE_WORDS.items()}
_COLOURS = {state.name: colours for state, colours in STATE_COLOURS.items()}
_UNKNOWN = ("#5b6470", "white")


@dataclass(frozen=True, slots=True)
class Stretch:
    """Times, s, in which a state lasted, by its name."""

    state: str
    begin: float
    end: float


class TimelineBar(QtWidgets.QWidget):
    """The wheel zooms, dragging the line moves it, a double click shows all. Disabled without a recording.

    The right button offers to put a cursor there. Keys: A and B take hold of a cursor, and bring it into view; ← and →
    move it, faster with Shift; + and − zoom about it, 0 shows all.

    Signals: `pointed(t)` where somebody clicked, s; `flagged(number)` of the event whose flag was clicked;
    `zoomed(t0, t1)`: the times shown now; `measured(a, b)`: where both cursors are.
    """

    pointed = QtCore.Signal(float)
    flagged = QtCore.Signal(int)
    zoomed = QtCore.Signal(float, float)
    measured = QtCore.Signal(float, float)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._states: Sequence[Stretch] = ()
        self._events: Sequence[RecordedEvent] = ()
        self._whole = (0.0, 0.0)
        self.span = (0.0, 0.0)
        """s, what is shown"""
        self.cursors: list[float] = []
        """s, A and B; none where there is no recording"""
        self.present: float | None = None
        """s, of the replay"""
        self._dragged = ""
        self._held = 0
        """which cursor keys move: of A, 0, or of B, 1"""
        self._pressed = QtCore.QPoint()
        self.setFocusPolicy(QtCore.Qt.FocusPolicy.StrongFocus)
        self.setFixedHeight(_FLAGS + _STATES + self.fontMetrics().height() + 4)
        self.setMouseTracking(True)
        self.setAccessibleName(tr("Timeline: states, events and two cursors"))
        self.show_recording((), (), 0.0, 0.0)

    def set_theme(self, theme: Theme) -> None:
        """Change colours."""
        self._theme = theme
        self.update()

    def show_recording(
        self, states: Sequence[Stretch], events: Sequence[RecordedEvent], begin: float, end: float
    ) -> None:
        """Show a recording from begin to end, s, whole; the cursors at a third and two thirds of it."""
        self._states, self._events, self._whole = states, events, (begin, end)
        there = end > begin
        self.setEnabled(there)
        self.cursors = [begin + (end - begin) * part for part in (1 / 3, 2 / 3)] if there else []
        self.span = self._whole
        self._tell()
        self.update()

    def set_present(self, t: float) -> None:
        """Mark where the replay is, s."""
        if t != self.present:
            self.present = t
            self.update()

    def look_at(self, begin: float, end: float) -> None:
        """Show these times, s, as far as the recording has them, and at least a millisecond."""
        self.show_span(begin, end)
        self.zoomed.emit(*self.span)

    def show_span(self, begin: float, end: float) -> None:
        """The same, where it was chosen elsewhere."""
        low, high = self._whole
        length = min(max(end - begin, SHORTEST), high - low)
        first = min(max(begin, low), high - length)
        self.span = (first, first + length)
        self.update()

    def measure(self, a: float, b: float) -> None:
        """Put the cursors there, s, within the recording."""
        self.show_cursors(a, b)
        self.measured.emit(*self.cursors)

    def show_cursors(self, a: float, b: float) -> None:
        """The same, where they were put elsewhere."""
        low, high = self._whole
        self.cursors = [min(max(t, low), high) for t in (a, b)]
        self._tell()
        self.update()

    @property
    def words(self) -> str:
        """Where the cursors are and how far apart."""
        if not self.cursors:
            return tr("Open a recording first")
        a, b = self.cursors
        apart = b - a
        rate = "" if apart == 0.0 else f", 1/Δt = {1.0 / abs(apart):.3g} Hz"
        return f"A {a:.4f} s    B {b:.4f} s    Δt = B − A = {apart:+.4f} s{rate}".replace("-", "−")

    def x_of(self, t: float) -> float:
        """Where a time, s, is, px."""
        length = self.span[1] - self.span[0]
        return (t - self.span[0]) / length * float(self.width()) if length > 0.0 else 0.0

    def t_at(self, x: float) -> float:
        """The time, s, at a place, px."""
        return self.span[0] + x / max(1, int(self.width())) * (self.span[1] - self.span[0])

    def flag_at(self, x: float) -> int | None:
        """Number of the event whose flag is there, the most severe of several; None without."""
        near = [number for number, event in enumerate(self._events) if abs(self.x_of(event.t) - x) <= _NEAR]
        return max(near, key=lambda number: self._events[number].level, default=None)

    # -- mouse -------------------------------------------------------------------------------------------------------

    def wheelEvent(self, event: QtGui.QWheelEvent) -> None:
        """Zoom about the pointer, from all of it to a millisecond."""
        notches = event.angleDelta().y() / 120.0
        if not self.isEnabled() or not notches or not math.isfinite(notches):
            return
        t = self.t_at(event.position().x())
        factor = _STEP**-notches
        self.look_at(t - (t - self.span[0]) * factor, t + (self.span[1] - t) * factor)
        event.accept()

    def mousePressEvent(self, event: QtGui.QMouseEvent) -> None:
        """Take hold of a cursor, or of the line."""
        if event.button() != QtCore.Qt.MouseButton.LeftButton or not self.cursors:
            return
        self._pressed = event.pos()
        away = [abs(self.x_of(t) - event.pos().x()) for t in self.cursors]
        nearest = away.index(min(away))
        on_flags = event.pos().y() < _FLAGS and self.flag_at(event.pos().x()) is not None
        self._dragged = "AB"[nearest] if away[nearest] <= _NEAR and not on_flags else "line"
        self._held = nearest if self._dragged != "line" else self._held

    def mouseMoveEvent(self, event: QtGui.QMouseEvent) -> None:
        """Move what is held; else say what is there."""
        x = event.pos().x()
        if self._dragged in ("A", "B"):
            self._put("AB".index(self._dragged), self.t_at(x))
        elif self._dragged == "line":
            apart = self.t_at(self._pressed.x()) - self.t_at(x)
            if abs(self._pressed.x() - x) > 3:
                self._dragged = "moving"
                self.look_at(self.span[0] + apart, self.span[1] + apart)
                self._pressed = event.pos()
        elif self._dragged == "moving":
            apart = self.t_at(self._pressed.x()) - self.t_at(x)
            self.look_at(self.span[0] + apart, self.span[1] + apart)
            self._pressed = event.pos()
        else:
            flag = self.flag_at(x) if event.pos().y() < _FLAGS else None
            over = any(abs(self.x_of(t) - x) <= _NEAR for t in self.cursors)
            self.setCursor(QtCore.Qt.CursorShape.SizeHorCursor if over else QtCore.Qt.CursorShape.ArrowCursor)
            self.setToolTip(self.words if flag is None else f"{self._events[flag].t:.3f} s: {self._events[flag].text}")

    def mouseReleaseEvent(self, event: QtGui.QMouseEvent) -> None:
        """A click on a flag shows its event, one elsewhere moves the replay."""
        held, self._dragged = self._dragged, ""
        if held != "line":
            return
        flag = self.flag_at(event.pos().x()) if event.pos().y() < _FLAGS else None
        if flag is not None:
            self.flagged.emit(flag)
        else:
            self.pointed.emit(self.t_at(event.pos().x()))

    def mouseDoubleClickEvent(self, _event: QtGui.QMouseEvent) -> None:
        """Show all of it."""
        if self.cursors:
            self.look_at(*self._whole)

    def contextMenuEvent(self, event: QtGui.QContextMenuEvent) -> None:
        """Offer to put a cursor there, and to show what lies between both."""
        if self.cursors:
            menu = self.menu_at(self.t_at(event.pos().x()))
            menu.exec(event.globalPos())
            menu.deleteLater()

    def menu_at(self, t: float) -> QtWidgets.QMenu:
        """What can be done at a time, s."""
        menu = QtWidgets.QMenu(self)
        menu.addAction(tr("Put A here")).triggered.connect(lambda: self._put(0, t))
        menu.addAction(tr("Put B here")).triggered.connect(lambda: self._put(1, t))
        menu.addSeparator()
        between = menu.addAction(tr("Show from A to B"))
        between.triggered.connect(lambda: self.look_at(*sorted(self.cursors)))
        between.setEnabled(self.cursors[0] != self.cursors[1])
        menu.addAction(tr("Show all")).triggered.connect(lambda: self.look_at(*self._whole))
        return menu

    # -- keys --------------------------------------------------------------------------------------------------------

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        """Move, fetch and zoom by keys, where there is a recording."""
        key, keys = event.key(), QtCore.Qt.Key
        if not self.cursors:
            super().keyPressEvent(event)
            return
        t, length = self.cursors[self._held], self.span[1] - self.span[0]
        if key in (keys.Key_A, keys.Key_B):
            self._held = (keys.Key_A, keys.Key_B).index(key)
            if not self.span[0] <= self.cursors[self._held] <= self.span[1]:
                self._put(self._held, self.span[0] + length / 2)
            self.update()
        elif key in (keys.Key_Left, keys.Key_Right):
            step = length / max(1, int(self.width()))
            fast = 10 if event.modifiers() & QtCore.Qt.KeyboardModifier.ShiftModifier else 1
            self._put(self._held, t + fast * (step if key == keys.Key_Right else -step))
        elif key in (keys.Key_Plus, keys.Key_Equal, keys.Key_Minus):
            factor = _STEP if key == keys.Key_Minus else 1 / _STEP
            self.look_at(t - (t - self.span[0]) * factor, t + (self.span[1] - t) * factor)
        elif key == keys.Key_0:
            self.look_at(*self._whole)
        else:
            super().keyPressEvent(event)

    def _put(self, cursor: int, t: float) -> None:
        moved = list(self.cursors)
        moved[cursor] = t
        self._held = cursor
        self.measure(*moved)

    # -- drawn -------------------------------------------------------------------------------------------------------

    def paintEvent(self, _event: QtGui.QPaintEvent) -> None:
        """States, flags, present and cursors, each with its name."""
        painter = QtGui.QPainter(self)
        painter.fillRect(self.rect(), QtGui.QColor(self._theme.surface))
        if self.cursors:
            for stretch in self._states:
                self._paint_state(painter, stretch)
            for event in self._events:
                self._paint_flag(painter, event)
            if self.present is not None:
                self._paint_line(painter, self.present, self._theme.text, "")
            for name, t in zip("AB", self.cursors, strict=True):
                self._paint_line(painter, t, self._theme.accent, name)
            if self.hasFocus():
                painter.setPen(QtGui.QPen(QtGui.QColor(self._theme.accent), 1))
                painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.setPen(QtGui.QColor(self._theme.muted))
        below = QtCore.QRect(4, _FLAGS + _STATES, self.width() - 8, self.height() - _FLAGS - _STATES)
        painter.drawText(below, QtCore.Qt.AlignmentFlag.AlignVCenter, self.words)
        painter.drawText(
            below,
            QtCore.Qt.AlignmentFlag.AlignVCenter | QtCore.Qt.AlignmentFlag.AlignRight,
            f"{self.span[0]:.4f} … {self.span[1]:.4f} s",
        )
        painter.end()

    def _paint_state(self, painter: QtGui.QPainter, stretch: Stretch) -> None:
        left, right = (min(max(self.x_of(t), 0.0), float(self.width())) for t in (stretch.begin, stretch.end))
        if right <= left:
            return
        background, foreground = _COLOURS.get(stretch.state, _UNKNOWN)
        box = QtCore.QRectF(left, _FLAGS, max(1.0, right - left), _STATES)
        painter.fillRect(box, QtGui.QColor(background))
        name = _WORDS.get(stretch.state, stretch.state)
        painter.setPen(QtGui.QColor(self._theme.surface))
        painter.drawLine(box.topRight(), box.bottomRight())
        if painter.fontMetrics().horizontalAdvance(name) + 8 <= box.width():
            painter.setPen(QtGui.QColor(foreground))
            painter.drawText(box, QtCore.Qt.AlignmentFlag.AlignCenter, name)

    def _paint_flag(self, painter: QtGui.QPainter, event: RecordedEvent) -> None:
        x = self.x_of(event.t)
        if not -_NEAR <= x <= self.width() + _NEAR:
            return
        severe = event.level >= EventLevel.ERROR
        mild = self._theme.warning if event.level > EventLevel.INFO else self._theme.muted
        colour = self._theme.error if severe else mild
        painter.setPen(QtCore.Qt.PenStyle.NoPen)
        painter.setBrush(QtGui.QColor(colour))
        top = 1.0 if event.level > EventLevel.INFO else 5.0  # what matters stands out
        painter.drawPolygon(
            QtGui.QPolygonF([QtCore.QPointF(x, _FLAGS), QtCore.QPointF(x - 4, top), QtCore.QPointF(x + 4, top)])
        )

    def _paint_line(self, painter: QtGui.QPainter, t: float, colour: str, name: str) -> None:
        x = self.x_of(t)
        painter.setPen(QtGui.QPen(QtGui.QColor(colour), 2))
        painter.drawLine(QtCore.QPointF(x, 0.0), QtCore.QPointF(x, _FLAGS + _STATES))
        if name:
            box = QtCore.QRectF(x - 7, 0.0, 14.0, 12.0)
            painter.fillRect(box, QtGui.QColor(colour))
            painter.setPen(QtGui.QColor(self._theme.surface))
            painter.drawText(box, QtCore.Qt.AlignmentFlag.AlignCenter, name)

    def _tell(self) -> None:
        self.setAccessibleDescription(self.words)
