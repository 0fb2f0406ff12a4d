"""Pages that stand beside the tabs inside the main window, each with a head that leads it back."""

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.texts import tr
from gui.widgets import GuardedButton, give

_MARK = 24  # px of the icon that tells in the tab where the page is
_EDGE = 70
"""px of the right edge on which a tab that is dragged there is let go to stand beside the others"""


class _Head(QtWidgets.QLabel):
    """The name above a page. Signal `dropped(point of the screen)`: it was dragged there."""

    dropped = QtCore.Signal(QtCore.QPoint)

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.setObjectName("heading")
        self.setCursor(QtCore.Qt.CursorShape.OpenHandCursor)
        self.setToolTip(tr("Drag it to the tabs to put the page back there"))

    def mouseReleaseEvent(self, event: QtGui.QMouseEvent) -> None:
        """Say where it was dragged to."""
        self.dropped.emit(event.globalPos())


class Pane(QtWidgets.QWidget):
    """A page beside the tabs.

    Args:
        name: of the page.
        page: is shown.
    """

    def __init__(self, name: str, page: QtWidgets.QWidget) -> None:
        super().__init__()
        self.setAccessibleName(tr("{name}, beside the tabs").format(name=tr(name)))
        self.page = page
        self.head = _Head(tr(name))
        self.back = give(GuardedButton(tr("Dock back"), tr("Put this page back to its tab (Ctrl+B)")), "dock")
        row = QtWidgets.QHBoxLayout()
        row.setContentsMargins(9, 2, 6, 2)
        row.addWidget(self.head, 1)
        row.addWidget(self.back)
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(row)
        layout.addWidget(page, 1)
        page.show()


class SideBySide(QtWidgets.QSplitter):
    """The tabs, and to their right the pages that stand beside them, by their names in `panes`.

    Signals: `back(name)`: somebody wants a page back where it was; `dragged(name, point of the screen)`.

    Args:
        tabs: as wide as the page in front needs at least.
    """

    back = QtCore.Signal(str)
    dragged = QtCore.Signal(str, QtCore.QPoint)

    def __init__(self, tabs: QtWidgets.QTabWidget) -> None:
        super().__init__()
        self._tabs = tabs
        self.panes: dict[str, Pane] = {}
        self.setChildrenCollapsible(False)
        self.addWidget(tabs)
        self._band = QtWidgets.QRubberBand(QtWidgets.QRubberBand.Shape.Rectangle, tabs)

    def obstacle(self, name: str, page: QtWidgets.QWidget, front: QtWidgets.QWidget) -> str:
        """Why a page cannot stand beside one in front of the tabs; empty where there is room for all that do then."""
        needed = max(_least(front), self._tabs.tabBar().sizeHint().width() + _MARK)
        others = sum(_least(pane) for pane in self.panes.values()) + self.handleWidth() * (1 + len(self.panes))
        room = self.parentWidget().width()
        whole = needed + others + _least(page)
        if whole <= room:
            return ""
        return tr(
            "{name} beside what is in front needs {whole} px of width, and there are {room}: make the window wider, "
            "or give the page a window of its own (Ctrl+T)"
        ).format(name=tr(name), whole=whole, room=room)

    def take(self, name: str, page: QtWidgets.QWidget) -> None:
        """Show a page beside the others."""
        pane = self.panes[name] = Pane(name, page)
        pane.back.clicked.connect(lambda: self.back.emit(name))
        pane.head.dropped.connect(lambda at: self.dragged.emit(name, at))
        before = self.sizes()
        self.addWidget(pane)
        tabs = max(self._tabs.tabBar().sizeHint().width() + _MARK, before[0] // 2)  # all of their names in view
        self.setSizes([tabs, *before[1:], before[0] - tabs])

    def give_back(self, name: str) -> QtWidgets.QWidget:
        """The page, for another place."""
        pane = self.panes.pop(name)
        pane.layout().removeWidget(pane.page)
        pane.page.setParent(None)
        pane.hide()
        pane.deleteLater()
        return pane.page

    @property
    def focused(self) -> str:
        """The name of the page beside that has the keyboard; empty where none of them has."""
        holder = QtWidgets.QApplication.focusWidget()
        return next((name for name, pane in self.panes.items() if holder and pane.isAncestorOf(holder)), "")

    def at_edge(self, place: QtCore.QPoint) -> bool:
        """Whether a point of the screen is at the right edge, where what is let go comes to stand beside."""
        at = self.mapFromGlobal(place)
        return bool(self.rect().contains(at) and at.x() >= self.width() - _EDGE)

    def frame_edge(self, framed: bool) -> None:
        """Frame the place that a page would have, or nothing."""
        self._band.setVisible(framed)
        if framed:
            self._band.setGeometry(self._tabs.rect().adjusted(self._tabs.width() // 2, 0, 0, 0))
            self._band.raise_()


def _least(page: QtWidgets.QWidget) -> int:
    return int(page.minimumSizeHint().expandedTo(page.minimumSize()).width())
