"""Pages that are torn off into windows of their own, docked back, and where they were left.

Ordinary windows, no QDockWidget: one that floats is a tool window, which window managers neither maximise nor put on a
full screen, and its place is lost with its monitor. What commands the machine stays with the main window.
"""

from collections.abc import Callable, Sequence
from functools import partial

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.shell.torn_window import TornWindow
from gui.texts import tr
from gui.widgets import GuardedButton, put_tab, tab_name

_EVENTS = QtCore.QEvent.Type
_OUT = 40
"""px off the tabs at which a tab that is let go becomes a window"""
_SIZE = QtCore.QSize(900, 640)


class Docking(QtCore.QObject):
    """Tears pages off a window's tabs, and docks them back. Signal `changed`: one of them is elsewhere.

    A tab is dragged off the others or clicked twice; or Ctrl+T for the page in front. In its place stays one that leads
    to the window, and where it was is kept in the settings under `windows`.

    Args:
        tabs: the pages.
        pages: those that may be torn off, tabs already.
        stop: for the STOP of each window.
        settings: where the windows' places are kept.
    """

    changed = QtCore.Signal()

    def __init__(
        self,
        tabs: QtWidgets.QTabWidget,
        pages: Sequence[QtWidgets.QWidget],
        stop: Callable[[], None],
        settings: QtCore.QSettings,
    ) -> None:
        super().__init__(tabs)
        self._tabs, self._stop, self._settings = tabs, stop, settings
        self.names = [tab_name(tabs, tabs.indexOf(page)) for page in pages]
        """of the pages that may be torn off"""
        self.windows: dict[str, TornWindow] = {}
        """of those that are, by their names"""
        self._spare: dict[str, TornWindow] = {}
        """of those that were: a window that is closed by a key is still to be told that the key is let go"""
        self._pressed = -1
        tabs.tabBar().installEventFilter(self)
        application = QtGui.QGuiApplication.instance()
        assert application is not None
        application.screenRemoved.connect(self._screen_gone)

    def tear_off(self, name: str, place: QtCore.QPoint | None = None) -> None:
        """Put a page into a window of its own: at a place of the screen, left out: where it was the last time."""
        if name in self.windows or name not in self.names:
            return
        index = self._index(name)
        page = self._tabs.widget(index)
        front = self._tabs.currentIndex()
        self._tabs.removeTab(index)
        put_tab(self._tabs, self._stand_in(name), name, index)
        self._tabs.setCurrentIndex(front)
        window = self.windows[name] = self._spare.pop(name) if name in self._spare else self._new_window(name)
        window.take(page)
        kept = self._settings.value(f"windows/{name}/geometry")
        if not isinstance(kept, QtCore.QByteArray) or not window.restoreGeometry(kept):
            window.move(self._tabs.mapToGlobal(self._tabs.rect().center()) - window.rect().center())
        if place is not None:
            window.move(place)
        window.come_into_view()
        window.show()
        self.changed.emit()

    def dock(self, name: str) -> None:
        """Put a page back to its tab, in front of the others."""
        window = self.windows.pop(name, None)
        if window is None:
            return
        self._settings.setValue(f"windows/{name}/geometry", window.saveGeometry())
        index = self._index(name)
        stand_in = self._tabs.widget(index)
        self._tabs.removeTab(index)
        put_tab(self._tabs, window.give_back(), name, index)
        self._tabs.setCurrentIndex(index)
        stand_in.deleteLater()
        window.hide()
        self._spare[name] = window
        self.changed.emit()

    def toggle(self, name: str) -> None:
        """Tear a page off, or dock it back."""
        (self.dock if name in self.windows else self.tear_off)(name)

    def toggle_front(self) -> None:
        """The same for the page in front."""
        self.toggle(tab_name(self._tabs, self._tabs.currentIndex()))

    def show_page(self, name: str) -> None:
        """Bring a page before the operator, wherever it is."""
        window = self.windows.get(name)
        if window is None:
            self._tabs.setCurrentIndex(self._index(name))
        else:
            window.setWindowState(window.windowState() & ~QtCore.Qt.WindowState.WindowMinimized)
            window.show()
            window.raise_()
            window.activateWindow()

    def restore(self) -> None:
        """Tear off what was when the app was closed."""
        for name in self.names:
            if self._settings.value(f"windows/{name}/torn") == "yes":
                self.tear_off(name)

    def close(self) -> None:
        """Keep where all are, and close the windows. May be called again."""
        self._tabs.tabBar().removeEventFilter(self)
        for name in self.names:
            window = self.windows.get(name)
            self._settings.setValue(f"windows/{name}/torn", "no" if window is None else "yes")
            if window is not None:
                self._settings.setValue(f"windows/{name}/geometry", window.saveGeometry())
                window.hide()

    def eventFilter(self, _bar: QtCore.QObject, event: QtCore.QEvent) -> bool:
        """Notice a tab that is dragged off the others, or clicked twice."""
        kind, bar = event.type(), self._tabs.tabBar()
        if kind == _EVENTS.MouseButtonPress and event.button() == QtCore.Qt.MouseButton.LeftButton:
            self._pressed = bar.tabAt(event.pos())
        elif kind == _EVENTS.MouseButtonRelease and self._pressed >= 0:
            index, self._pressed = self._pressed, -1
            if not bar.rect().adjusted(-_OUT, -_OUT, _OUT, _OUT).contains(event.pos()):
                self.tear_off(tab_name(self._tabs, index), event.globalPos())
        elif kind == _EVENTS.MouseButtonDblClick and (index := bar.tabAt(event.pos())) >= 0:
            self._pressed = -1
            self.tear_off(tab_name(self._tabs, index))
        return False

    def _index(self, name: str) -> int:
        return next(index for index in range(self._tabs.count()) if tab_name(self._tabs, index) == name)

    def _new_window(self, name: str) -> TornWindow:
        window = TornWindow(tr(name), self._stop, self._tabs.window())
        window.closed.connect(partial(self.dock, name))
        window.resize(_SIZE)
        return window

    def _stand_in(self, name: str) -> QtWidgets.QWidget:
        """What is in the place of a page that has a window of its own."""
        made = QtWidgets.QWidget()
        words = QtWidgets.QLabel(tr("This page has a window of its own."))
        words.setAlignment(QtCore.Qt.AlignmentFlag.AlignCenter)
        show = GuardedButton(tr("Show it"), tr("Bring that window to the front"))
        back = GuardedButton(tr("Dock it back"), tr("Put the page back here (Ctrl+T)"))
        show.clicked.connect(partial(self.show_page, name))
        back.clicked.connect(partial(self.dock, name))
        row = QtWidgets.QHBoxLayout()
        row.addStretch(1)
        row.addWidget(show)
        row.addWidget(back)
        row.addStretch(1)
        layout = QtWidgets.QVBoxLayout(made)
        layout.addStretch(1)
        layout.addWidget(words)
        layout.addLayout(row)
        layout.addStretch(1)
        return made

    def _screen_gone(self, _screen: QtGui.QScreen) -> None:
        # the screens that are left are told once this one is gone
        QtCore.QTimer.singleShot(0, self, self._come_into_view)

    def _come_into_view(self) -> None:
        for window in self.windows.values():
            window.come_into_view()
