"""Drag and drop inside the app, by mouse only.

Qt's own drag grabs the keyboard, so Esc would cancel it instead of stopping the rig.
"""

from collections.abc import Callable

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

_EVENTS = QtCore.QEvent.Type
_LEFT = QtCore.Qt.MouseButton.LeftButton
_OFFSET = QtCore.QPoint(14, 10)  # px from the mouse to the dragged label


class Dragging(QtCore.QObject):
    """Drags that start in a widget, whose clicks still work.

    Signals: `carried(place)`: dragged over a point of the screen; `dropped(place)`: released there; `ended`: drag over,
    dropped or cancelled. Esc cancels it and stops the rig as usual.

    Args:
        source: the widget.
        words: label of what a drag from a point in the widget carries; empty: nothing.
    """

    carried = QtCore.Signal(QtCore.QPoint)
    dropped = QtCore.Signal(QtCore.QPoint)
    ended = QtCore.Signal()

    def __init__(self, source: QtWidgets.QWidget, words: Callable[[QtCore.QPoint], str]) -> None:
        super().__init__(source)
        self._source, self._words = source, words
        self._pressed: QtCore.QPoint | None = None
        self._label: QtWidgets.QLabel | None = None
        """The label at the mouse."""
        source.installEventFilter(self)

    @property
    def on(self) -> bool:
        """Whether a drag is in progress."""
        return self._label is not None

    def eventFilter(self, watched: QtCore.QObject, event: QtCore.QEvent) -> bool:
        """Track the mouse; during a drag the widget gets no mouse events."""
        kind = event.type()
        if kind == _EVENTS.KeyPress:  # from the focus widget, during a drag
            if event.key() == QtCore.Qt.Key.Key_Escape:
                self._end()
            return False
        if watched is not self._source:
            return False
        if kind == _EVENTS.MouseButtonPress and event.button() == _LEFT:
            self._pressed = event.pos()
        elif kind == _EVENTS.MouseMove and event.buttons() & _LEFT and self._pressed is not None:
            return self._move(event)
        elif kind == _EVENTS.MouseButtonRelease and event.button() == _LEFT:
            self._pressed, dragged = None, self.on
            if dragged:
                self._end()
                self.dropped.emit(event.globalPos())
            return dragged
        elif kind == _EVENTS.Hide:
            self._end()
        return False

    def _move(self, event: QtGui.QMouseEvent) -> bool:
        assert self._pressed is not None
        if self._label is None:
            far = (event.pos() - self._pressed).manhattanLength() >= QtWidgets.QApplication.startDragDistance()
            words = self._words(self._pressed) if far else ""
            if not words:
                return False
            self._label = QtWidgets.QLabel(words, self._source.window())
            self._label.setObjectName("carried")
            self._label.setAttribute(QtCore.Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            self._label.setAutoFillBackground(True)
            self._label.setFrameShape(QtWidgets.QFrame.Shape.Box)
            self._label.setMargin(3)
            self._label.adjustSize()
            self._label.show()
            QtWidgets.QApplication.instance().installEventFilter(self)
        self._label.move(self._source.window().mapFromGlobal(event.globalPos()) + _OFFSET)
        self._label.raise_()
        self.carried.emit(event.globalPos())
        return True

    def _end(self) -> None:
        self._pressed = None
        if self._label is not None:
            QtWidgets.QApplication.instance().removeEventFilter(self)
            self._label.hide()
            self._label.deleteLater()
            self._label = None
            self.ended.emit()
