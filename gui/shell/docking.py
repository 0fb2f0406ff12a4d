"""Pages that are torn off into windows of their own or put beside the tabs, docked back, and where they were left.

Ordinary windows, no QDockWidget: one that floats is a tool window, which window managers neither maximise nor put on a
full screen, and its place is lost with its monitor. What commands the machine stays with the main window.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.session import StopButton
from gui.texts import tr
from gui.widgets import ElidedLabel, Ground, GuardedButton, give, icon, put_tab, tab_name

_IN_VIEW = QtCore.QSize(120, 32)
"""px of a window's head that must be on a screen, for somebody to take hold of it"""


class TornWindow(QtWidgets.QWidget):
    """Shows a page while there is one. Signal `closed`: somebody has closed it, and wants the page back where it was.

    Args:
        title: the page's name.
        stop: for its own STOP, as it may lie over that of the main window.
        window: the main window, which it belongs to.
    """

    closed = QtCore.Signal()

    def __init__(self, title: str, stop: Callable[[], None], window: QtWidgets.QWidget) -> None:
        super().__init__(window, QtCore.Qt.WindowType.Window)
        self._title = title
        self.setAccessibleName(title)
        self.stop_button = StopButton(stop)
        self.back = GuardedButton(
            tr("Dock back"), tr("Put this page back into the main window (Ctrl+T, or close the window)")
        )
        self.whole = GuardedButton(tr("Full screen"), tr("Fill the screen (F11)"))
        self.whole.setCheckable(True)
        give(self.back, "dock")
        give(self.whole, "full screen")
        self.situation = ElidedLabel()
        self.situation.setAccessibleName(tr("State of the rig"))
        row = QtWidgets.QHBoxLayout()
        row.setContentsMargins(9, 6, 9, 2)
        row.addWidget(self.back)
        row.addWidget(self.whole)
        row.addWidget(self.situation, 1)
        row.addWidget(self.stop_button)
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addLayout(row)
        self._area = QtWidgets.QScrollArea()  # a page that is larger than its window scrolls, and STOP stays whole
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QtWidgets.QFrame.Shape.NoFrame)
        layout.addWidget(self._area, 1)
        self.back.clicked.connect(self.close)
        self.whole.clicked.connect(self._fill_screen)
        for keys, act in (("Ctrl+T", self.close), ("F11", self.whole.click)):
            QtWidgets.QShortcut(QtGui.QKeySequence(keys), self, activated=act)
        window.windowTitleChanged.connect(self.say)
        self.say(window.windowTitle())

    def say(self, situation: str) -> None:
        """Say what the main window says in its title."""
        self.situation.setText(situation)
        self.setWindowTitle(f"{self._title} – {situation}")

    def take(self, page: QtWidgets.QWidget) -> None:
        """Take a page in."""
        self._area.setWidget(page)
        page.show()

    @property
    def page(self) -> QtWidgets.QWidget:
        """The page that is in it."""
        return self._area.widget()

    def give_back(self) -> QtWidgets.QWidget:
        """The page, for another place."""
        page: QtWidgets.QWidget = self._area.takeWidget()
        return page

    def come_into_view(self) -> None:
        """Come to the main window's screen where the one that it was on is no longer there."""
        screens = [screen.availableGeometry() for screen in QtGui.QGuiApplication.screens()]
        if not in_view(self.frameGeometry(), screens):
            room = self.parentWidget().screen().availableGeometry()
            self.resize(self.size().boundedTo(room.size()))
            self.move(room.center() - self.rect().center())

    def changeEvent(self, event: QtCore.QEvent) -> None:
        """Follow a window manager that leaves the full screen."""
        super().changeEvent(event)
        if event.type() == QtCore.QEvent.Type.WindowStateChange:
            self.whole.setChecked(self.isFullScreen())

    def closeEvent(self, event: QtGui.QCloseEvent) -> None:
        """Give the page back."""
        event.accept()
        self.closed.emit()

    def _fill_screen(self) -> None:
        state = QtCore.Qt.WindowState.WindowFullScreen
        now = self.windowState()
        self.setWindowState(now & ~state if now & state else now | state)


def in_view(frame: QtCore.QRect, screens: list[QtCore.QRect]) -> bool:
    """Whether enough of a window's head is on one of the screens, px, for somebody to take hold of it."""
    head = QtCore.QRect(frame.topLeft(), QtCore.QSize(frame.width(), min(frame.height(), _IN_VIEW.height())))
    needed = QtCore.QSize(min(_IN_VIEW.width(), head.width()), head.height())
    parts = [head.intersected(screen).size() for screen in screens]
    return any(part.width() >= needed.width() and part.height() >= needed.height() for part in parts)


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
        self.setAccessibleName(tr("{name}, split view").format(name=tr(name)))
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
            "{name} in the split view needs a width of {whole} px, {room} are available: make the window "
            "wider, or detach the page (Ctrl+T)"
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


_EVENTS = QtCore.QEvent.Type
_OUT = 40
"""px off the tabs at which a tab that is let go becomes a window"""
_SIZE = QtCore.QSize(900, 640)
_LAID_OUT = 40  # ms after which what was moved is laid out: lines that wrap ask for their height again and again


class Docking(QtCore.QObject):
    """Tears pages off a window's tabs or puts them beside these, and docks them back.

    A tab is dragged off the others, or clicked twice, for a window, and dragged to the right edge to stand beside the
    others; or Ctrl+T and Ctrl+B for the page in front, and the tab's menu. In its place stays one that leads to it, and
    where it was is kept in the settings under `windows`.

    Signals: `changed`: one of them is elsewhere; `refused(reason)`: there is no room beside the tabs.

    Args:
        side: the tabs, the pages in them, and what stands beside them.
        tabs: the pages.
        pages: those that may be torn off, tabs already.
        stop: for the STOP of each window.
        settings: where the windows' places are kept.
    """

    changed = QtCore.Signal()
    refused = QtCore.Signal(str)

    def __init__(
        self,
        side: SideBySide,
        tabs: QtWidgets.QTabWidget,
        pages: Sequence[QtWidgets.QWidget],
        stop: Callable[[], None],
        settings: QtCore.QSettings,
    ) -> None:
        super().__init__(tabs)
        self.side = side
        self.tabs, self._stop, self._settings = tabs, stop, settings
        self._drawing = QtCore.QTimer(self, singleShot=True, interval=_LAID_OUT)
        self._drawing.timeout.connect(lambda: side.setUpdatesEnabled(True))
        side.back.connect(self.dock)
        side.dragged.connect(self._pane_dropped)
        self.names = [tab_name(tabs, tabs.indexOf(page)) for page in pages]
        """of the pages that may be torn off"""
        self.windows: dict[str, TornWindow] = {}
        """of those that are, by their names"""
        self._spare: dict[str, TornWindow] = {}
        """of those that were: a window that is closed by a key is still to be told that the key is let go"""
        self._placed: set[str] = set()
        """of those whose place is to be kept: it has been restored, or chosen by somebody"""
        self._pressed = -1
        bar = tabs.tabBar()
        bar.installEventFilter(self)
        bar.setContextMenuPolicy(QtCore.Qt.ContextMenuPolicy.CustomContextMenu)
        bar.customContextMenuRequested.connect(self._show_menu)
        application = QtGui.QGuiApplication.instance()
        assert application is not None
        application.screenRemoved.connect(self._screen_gone)

    def tear_off(self, name: str, place: QtCore.QPoint | None = None) -> None:
        """Put a page into a window of its own: at a place of the screen, left out: where it was the last time."""
        if name in self.windows or name not in self.names:
            return
        with self._drawn_once():
            self._tear_off(name, place)
        self._placed.add(name)
        self.changed.emit()

    def _tear_off(self, name: str, place: QtCore.QPoint | None) -> None:
        self._dock(name)
        page = self._taken(name, tr("This page is in a separate window."), "tear off")
        window = self.windows[name] = self._spare.pop(name) if name in self._spare else self._new_window(name)
        window.take(page)
        kept = self._settings.value(f"windows/{name}/geometry")
        if not isinstance(kept, QtCore.QByteArray) or not window.restoreGeometry(kept):
            window.move(self.tabs.mapToGlobal(self.tabs.rect().center()) - window.rect().center())
        if place is not None:
            window.move(place)
        window.come_into_view()
        window.show()

    def obstacle_beside(self, name: str) -> str:
        """Why a page cannot stand beside the tabs; empty where it can, or does."""
        if name not in self.names:
            return tr("what commands the machine stays where it is")
        if name in self.side.panes:
            return ""
        window = self.windows.get(name)
        page = self.tabs.widget(self._index(name)) if window is None else window.page
        return self.side.obstacle(name, page, self.tabs.widget(self._front_without(name)))

    def put_beside(self, name: str) -> None:
        """Show a page beside the tabs, in the main window; `refused` says why where there is no room."""
        reason = self.obstacle_beside(name)
        if reason:
            self.refused.emit(reason)
        if reason or name in self.side.panes:
            return
        with self._drawn_once():
            front = self._front_without(name)
            self._dock(name)
            self.side.take(name, self._taken(name, tr("This page is shown in the split view."), "beside"))
            self.tabs.setCurrentIndex(front)
        self._placed.add(name)
        self.changed.emit()

    def dock(self, name: str) -> None:
        """Put a page back to its tab, in front of the others."""
        if name in self.windows or name in self.side.panes:
            with self._drawn_once():
                self._dock(name)
            self._placed.add(name)
            self.changed.emit()

    def _dock(self, name: str) -> None:
        window = self.windows.pop(name, None)
        if window is None and name not in self.side.panes:
            return
        if window is not None:
            self._settings.setValue(f"windows/{name}/geometry", window.saveGeometry())
        index = self._index(name)
        stand_in = self.tabs.widget(index)
        self.tabs.removeTab(index)
        put_tab(self.tabs, self.side.give_back(name) if window is None else window.give_back(), name, index)
        self.tabs.setCurrentIndex(index)
        stand_in.deleteLater()
        if window is not None:
            window.hide()
            self._spare[name] = window

    @contextlib.contextmanager
    def _drawn_once(self) -> Iterator[None]:
        """Within a `with` block and a little longer nothing of `side` is drawn: each step of its layout would be.

        On a large screen that takes longer than the engine waits for a sign of life. A picture grabbed meanwhile lacks
        it as well.
        """
        self.side.setUpdatesEnabled(False)
        try:
            yield
        finally:
            self._drawing.start()

    def toggle(self, name: str) -> None:
        """Tear a page off, or dock it back."""
        (self.dock if name in self.windows else self.tear_off)(name)

    def toggle_beside(self, name: str) -> None:
        """Put a page beside the tabs, or dock it back."""
        (self.dock if name in self.side.panes else self.put_beside)(name)

    def toggle_front_beside(self) -> None:
        """The same for the page beside that has the keyboard, or else the one in front."""
        self.toggle_beside(self.side.focused or tab_name(self.tabs, self.tabs.currentIndex()))

    def toggle_front(self) -> None:
        """The same for the page in front."""
        self.toggle(tab_name(self.tabs, self.tabs.currentIndex()))

    def show_page(self, name: str) -> None:
        """Bring a page before the operator, wherever it is."""
        window = self.windows.get(name)
        if name in self.side.panes:
            self.side.panes[name].back.setFocus()
        elif window is None:
            self.tabs.setCurrentIndex(self._index(name))
        else:
            window.setWindowState(window.windowState() & ~QtCore.Qt.WindowState.WindowMinimized)
            window.show()
            window.raise_()
            window.activateWindow()

    def restore(self) -> None:
        """Put pages where they were when the app was closed; what has no room beside the tabs now stays in them."""
        for name in self.names:
            if name in self._placed:
                continue
            if self._settings.value(f"windows/{name}/torn") == "yes":
                self.tear_off(name)
            elif self._settings.value(f"windows/{name}/beside") != "yes":
                self._placed.add(name)
            elif not self.obstacle_beside(name):  # else it comes back on a larger screen
                self.put_beside(name)
        sizes = self._settings.value("windows/beside")
        if self.side.panes and isinstance(sizes, QtCore.QByteArray):  # somebody may have edited the file
            self.side.restoreState(sizes)

    def close(self) -> None:
        """Keep where all are that have a place, and close the windows. May be called again."""
        self.tabs.tabBar().removeEventFilter(self)
        if self.side.panes:
            self._settings.setValue("windows/beside", self.side.saveState())
        for name in self._placed:
            window = self.windows.get(name)
            self._settings.setValue(f"windows/{name}/torn", "no" if window is None else "yes")
            self._settings.setValue(f"windows/{name}/beside", "yes" if name in self.side.panes else "no")
            if window is not None:
                self._settings.setValue(f"windows/{name}/geometry", window.saveGeometry())
                window.hide()

    def eventFilter(self, _bar: QtCore.QObject, event: QtCore.QEvent) -> bool:
        """Notice a tab that is dragged off the others, or clicked twice."""
        kind, bar = event.type(), self.tabs.tabBar()
        if kind == _EVENTS.MouseButtonPress and event.button() == QtCore.Qt.MouseButton.LeftButton:
            self._pressed = bar.tabAt(event.pos())
        elif kind == _EVENTS.MouseMove and self._pressed >= 0:
            name = tab_name(self.tabs, self._pressed)
            self.side.frame_edge(self.side.at_edge(event.globalPos()) and not self.obstacle_beside(name))
        elif kind == _EVENTS.MouseButtonRelease and self._pressed >= 0:
            index, self._pressed = self._pressed, -1
            self.side.frame_edge(False)
            name = tab_name(self.tabs, index)
            if self._off(bar, event.pos()) and self.side.at_edge(event.globalPos()) and name in self.names:
                self.put_beside(name)
            elif self._off(bar, event.pos()):
                self.tear_off(name, event.globalPos())
        elif kind == _EVENTS.MouseButtonDblClick and (index := bar.tabAt(event.pos())) >= 0:
            self._pressed = -1
            self.tear_off(tab_name(self.tabs, index))
        return False

    def menu_of(self, name: str) -> QtWidgets.QMenu:
        """Where a page can go from where it is."""
        menu = QtWidgets.QMenu(self.tabs)
        menu.setToolTipsVisible(True)
        if name in self.windows or name in self.side.panes:
            give(menu.addAction(tr("&Dock back"), partial(self.dock, name)), "dock")
        if name not in self.windows:
            give(menu.addAction(tr("&Window of its own"), partial(self.tear_off, name), "Ctrl+T"), "tear off")
        if name not in self.side.panes:
            action = give(menu.addAction(tr("&Beside"), partial(self.put_beside, name), "Ctrl+B"), "beside")
            reason = self.obstacle_beside(name)
            action.setEnabled(not reason)
            action.setToolTip(reason)
            action.setStatusTip(reason)
        return menu

    def _show_menu(self, at: QtCore.QPoint) -> None:
        bar = self.tabs.tabBar()
        name = tab_name(self.tabs, bar.tabAt(at))
        if name in self.names:
            menu = self.menu_of(name)
            menu.setAttribute(QtCore.Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.popup(bar.mapToGlobal(at))

    def _pane_dropped(self, name: str, at: QtCore.QPoint) -> None:
        bar = self.tabs.tabBar()
        if not self._off(bar, bar.mapFromGlobal(at)):
            self.dock(name)

    @staticmethod
    def _off(bar: QtWidgets.QTabBar, at: QtCore.QPoint) -> bool:
        return not bar.rect().adjusted(-_OUT, -_OUT, _OUT, _OUT).contains(at)

    def _front_without(self, name: str) -> int:
        """The tab that is in front where that of a page is not: the one that is, or the first that holds its page."""
        front = int(self.tabs.currentIndex())
        if tab_name(self.tabs, front) != name:
            return front
        elsewhere = {name, *self.windows, *self.side.panes}
        texts = [tab_name(self.tabs, index) for index in range(self.tabs.count())]
        return next((index for index, text in enumerate(texts) if text not in elsewhere), front)

    def _taken(self, name: str, words: str, meaning: str) -> QtWidgets.QWidget:
        """A page out of its tab, where a stand-in is left."""
        index, front = self._index(name), self.tabs.currentIndex()
        page = self.tabs.widget(index)
        self.tabs.removeTab(index)
        put_tab(self.tabs, self._stand_in(name, words), name, index)
        self.tabs.setTabIcon(index, icon(meaning, Ground.TAB))
        self.tabs.setCurrentIndex(front)
        return page

    def _index(self, name: str) -> int:
        return next(index for index in range(self.tabs.count()) if tab_name(self.tabs, index) == name)

    def _new_window(self, name: str) -> TornWindow:
        window = TornWindow(tr(name), self._stop, self.tabs.window())
        window.closed.connect(partial(self.dock, name))
        window.resize(_SIZE)
        return window

    def _stand_in(self, name: str, said: str) -> QtWidgets.QWidget:
        """What is in the place of a page that is elsewhere, and says so."""
        made = QtWidgets.QWidget()
        words = QtWidgets.QLabel(said)
        words.setAlignment(QtCore.Qt.AlignmentFlag.AlignCenter)
        show = GuardedButton(tr("Show it"), tr("Bring it to the front"))
        back = GuardedButton(tr("Dock it back"), tr("Put the page back here"))
        give(show, "tear off")
        give(back, "dock")
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
        QtCore.QTimer.singleShot(0, self._come_into_view)

    def _come_into_view(self) -> None:
        for window in self.windows.values():
            window.come_into_view()
