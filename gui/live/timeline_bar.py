"""A recording's timeline: states by colour and name, events as flags, and two draggable cursors."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.models import STATE_COLOURS, STATE_WORDS
from gui.texts import tr
from gui.widgets import Theme
from rig.recording import EventLevel, RecordedEvent

SHORTEST = 1e-3
"""s, shortest visible span."""
_STEP = 1.25  # zoom factor of a wheel notch
_NEAR = 6  # px
_FLAGS, _STATES = 12, 18  # px heights
_WORDS = {state.name: word for state, word in STATE_WORDS.items()}
_COLOURS = {state.name: colours for state, colours in STATE_COLOURS.items()}
_UNKNOWN = ("#5b6470", "white")


@dataclass(frozen=True, slots=True)
class StateSpan:
    """A state and its times, s."""

    state: str
    begin: float
    end: float


class TimelineBar(QtWidgets.QWidget):
    """The wheel zooms, dragging the line moves it, a double click shows all. Disabled without a recording.

    The context menu places cursors. Keys: A and B select a cursor and bring it into view; ← and → move it, faster with
    Shift; + and − zoom around it, 0 shows all.

    Signals: `clicked(t)`: clicked time, s; `flagged(number)`: index of the event whose flag was clicked;
    `zoomed(t0, t1)`: the visible times; `measured(a, b)`: the cursor times.
    """

    clicked = QtCore.Signal(float)
    flagged = QtCore.Signal(int)
    zoomed = QtCore.Signal(float, float)
    measured = QtCore.Signal(float, float)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._states: Sequence[StateSpan] = ()
        self._events: Sequence[RecordedEvent] = ()
        self._whole = (0.0, 0.0)
        self.span = (0.0, 0.0)
        """s, visible times."""
        self.cursors: list[float] = []
        """s, A and B; empty without a recording."""
        self.present: float | None = None
        """s, of the replay"""
        self._dragged = ""
        self._selected = 0
        """Cursor that the keys move: 0 for A, 1 for B."""
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
        self, states: Sequence[StateSpan], events: Sequence[RecordedEvent], begin: float, end: float
    ) -> None:
        """Show all of a recording from begin to end, s; the cursors at a third and two thirds."""
        self._states, self._events, self._whole = states, events, (begin, end)
        there = end > begin
        self.setEnabled(there)
        self.cursors = [begin + (end - begin) * part for part in (1 / 3, 2 / 3)] if there else []
        self.span = self._whole
        self._emit_measured()
        self.update()

    def set_present(self, t: float) -> None:
        """Set the replay's present, s."""
        if t != self.present:
            self.present = t
            self.update()

    def zoom_to(self, begin: float, end: float) -> None:
        """Show these times, s, within the recording, at least a millisecond."""
        self.show_span(begin, end)
        self.zoomed.emit(*self.span)

    def show_span(self, begin: float, end: float) -> None:
        """Same as `zoom_to`, without emitting `zoomed`."""
        low, high = self._whole
        length = min(max(end - begin, SHORTEST), high - low)
        first = min(max(begin, low), high - length)
        self.span = (first, first + length)
        self.update()

    def measure(self, a: float, b: float) -> None:
        """Move the cursors, s, within the recording."""
        self.show_cursors(a, b)
        self.measured.emit(*self.cursors)

    def show_cursors(self, a: float, b: float) -> None:
        """Same as `measure`, without emitting `measured`."""
        low, high = self._whole
        self.cursors = [min(max(t, low), high) for t in (a, b)]
        self._emit_measured()
        self.update()

    @property
    def words(self) -> str:
        """Return the cursor times and their distance as text."""
        if not self.cursors:
            return tr("Open a recording first")
        a, b = self.cursors
        apart = b - a
        rate = "" if apart == 0.0 else f", 1/Δt = {1.0 / abs(apart):.3g} Hz"
        return f"A {a:.4f} s    B {b:.4f} s    Δt = B − A = {apart:+.4f} s{rate}".replace("-", "−")

    def x_of(self, t: float) -> float:
        """Return the x of a time, s, px."""
        length = self.span[1] - self.span[0]
        return (t - self.span[0]) / length * float(self.width()) if length > 0.0 else 0.0

    def t_at(self, x: float) -> float:
        """Return the time, s, at an x, px."""
        return self.span[0] + x / max(1, int(self.width())) * (self.span[1] - self.span[0])

    def flag_at(self, x: float) -> int | None:
        """Return the index of the event with a flag at x, the most severe of several; None without."""
        near = [number for number, event in enumerate(self._events) if abs(self.x_of(event.t) - x) <= _NEAR]
        return max(near, key=lambda number: self._events[number].level, default=None)

    # -- mouse -------------------------------------------------------------------------------------------------------

    def wheelEvent(self, event: QtGui.QWheelEvent) -> None:
        """Zoom around the pointer, from everything to a millisecond."""
        notches = event.angleDelta().y() / 120.0
        if not self.isEnabled() or not notches or not math.isfinite(notches):
            return
        t = self.t_at(event.position().x())
        factor = _STEP**-notches
        self.zoom_to(t - (t - self.span[0]) * factor, t + (self.span[1] - t) * factor)
        event.accept()

    def mousePressEvent(self, event: QtGui.QMouseEvent) -> None:
        """Begin to drag a cursor, or the line."""
        if event.button() != QtCore.Qt.MouseButton.LeftButton or not self.cursors:
            return
        self._pressed = event.pos()
        away = [abs(self.x_of(t) - event.pos().x()) for t in self.cursors]
        nearest = away.index(min(away))
        on_flags = event.pos().y() < _FLAGS and self.flag_at(event.pos().x()) is not None
        self._dragged = "AB"[nearest] if away[nearest] <= _NEAR and not on_flags else "line"
        self._selected = nearest if self._dragged != "line" else self._selected

    def mouseMoveEvent(self, event: QtGui.QMouseEvent) -> None:
        """Drag; without a button show the tooltip."""
        x = event.pos().x()
        if self._dragged in ("A", "B"):
            self._put("AB".index(self._dragged), self.t_at(x))
        elif self._dragged == "line":
            apart = self.t_at(self._pressed.x()) - self.t_at(x)
            if abs(self._pressed.x() - x) > 3:
                self._dragged = "moving"
                self.zoom_to(self.span[0] + apart, self.span[1] + apart)
                self._pressed = event.pos()
        elif self._dragged == "moving":
            apart = self.t_at(self._pressed.x()) - self.t_at(x)
            self.zoom_to(self.span[0] + apart, self.span[1] + apart)
            self._pressed = event.pos()
        else:
            flag = self.flag_at(x) if event.pos().y() < _FLAGS else None
            over = any(abs(self.x_of(t) - x) <= _NEAR for t in self.cursors)
            self.setCursor(QtCore.Qt.CursorShape.SizeHorCursor if over else QtCore.Qt.CursorShape.ArrowCursor)
            self.setToolTip(self.words if flag is None else f"{self._events[flag].t:.3f} s: {self._events[flag].text}")

    def mouseReleaseEvent(self, event: QtGui.QMouseEvent) -> None:
        """A click on a flag opens its event, elsewhere it seeks the replay."""
        dragged, self._dragged = self._dragged, ""
        if dragged != "line":
            return
        flag = self.flag_at(event.pos().x()) if event.pos().y() < _FLAGS else None
        if flag is not None:
            self.flagged.emit(flag)
        else:
            self.clicked.emit(self.t_at(event.pos().x()))

    def mouseDoubleClickEvent(self, _event: QtGui.QMouseEvent) -> None:
        """Show everything."""
        if self.cursors:
            self.zoom_to(*self._whole)

    def contextMenuEvent(self, event: QtGui.QContextMenuEvent) -> None:
        """Offer to place a cursor, and to show the span between both."""
        if self.cursors:
            menu = self.menu_at(self.t_at(event.pos().x()))
            menu.exec(event.globalPos())
            menu.deleteLater()

    def menu_at(self, t: float) -> QtWidgets.QMenu:
        """Create the context menu for a time, s."""
        menu = QtWidgets.QMenu(self)
        menu.addAction(tr("Put A here")).triggered.connect(lambda: self._put(0, t))
        menu.addAction(tr("Put B here")).triggered.connect(lambda: self._put(1, t))
        menu.addSeparator()
        between = menu.addAction(tr("Show from A to B"))
        between.triggered.connect(lambda: self.zoom_to(*sorted(self.cursors)))
        between.setEnabled(self.cursors[0] != self.cursors[1])
        menu.addAction(tr("Show all")).triggered.connect(lambda: self.zoom_to(*self._whole))
        return menu

    # -- keys --------------------------------------------------------------------------------------------------------

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        """Select and move cursors, and zoom, if there is a recording."""
        key, keys = event.key(), QtCore.Qt.Key
        if not self.cursors:
            super().keyPressEvent(event)
            return
        t, length = self.cursors[self._selected], self.span[1] - self.span[0]
        if key in (keys.Key_A, keys.Key_B):
            self._selected = (keys.Key_A, keys.Key_B).index(key)
            if not self.span[0] <= self.cursors[self._selected] <= self.span[1]:
                self._put(self._selected, self.span[0] + length / 2)
            self.update()
        elif key in (keys.Key_Left, keys.Key_Right):
            step = length / max(1, int(self.width()))
            fast = 10 if event.modifiers() & QtCore.Qt.KeyboardModifier.ShiftModifier else 1
            self._put(self._selected, t + fast * (step if key == keys.Key_Right else -step))
        elif key in (keys.Key_Plus, keys.Key_Equal, keys.Key_Minus):
            factor = _STEP if key == keys.Key_Minus else 1 / _STEP
            self.zoom_to(t - (t - self.span[0]) * factor, t + (self.span[1] - t) * factor)
        elif key == keys.Key_0:
            self.zoom_to(*self._whole)
        else:
            super().keyPressEvent(event)

    def _put(self, cursor: int, t: float) -> None:
        moved = list(self.cursors)
        moved[cursor] = t
        self._selected = cursor
        self.measure(*moved)

    # -- painting ----------------------------------------------------------------------------------------------------

    def paintEvent(self, _event: QtGui.QPaintEvent) -> None:
        """Draw states, flags, present and cursors, each with its label."""
        painter = QtGui.QPainter(self)
        painter.fillRect(self.rect(), QtGui.QColor(self._theme.surface))
        if self.cursors:
            for segment in self._states:
                self._paint_state(painter, segment)
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

    def _paint_state(self, painter: QtGui.QPainter, segment: StateSpan) -> None:
        left, right = (min(max(self.x_of(t), 0.0), float(self.width())) for t in (segment.begin, segment.end))
        if right <= left:
            return
        background, foreground = _COLOURS.get(segment.state, _UNKNOWN)
        box = QtCore.QRectF(left, _FLAGS, max(1.0, right - left), _STATES)
        painter.fillRect(box, QtGui.QColor(background))
        name = _WORDS.get(segment.state, segment.state)
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
        top = 1.0 if event.level > EventLevel.INFO else 5.0  # warnings and errors are taller
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

    def _emit_measured(self) -> None:
        self.setAccessibleDescription(self.words)
