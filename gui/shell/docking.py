"""Docking: pages detached into windows or shown next to the tabs, docked back, and restored.

Ordinary windows, not QDockWidget: floating ones are tool windows, which window managers do not maximise and whose place
is lost with their monitor. Pages that command the machine stay in the main window.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.session import StopButton
from gui.texts import tr
from gui.widgets import ElidedLabel, Ground, GuardedButton, icon, put_tab, set_icon, tab_name

_IN_VIEW = QtCore.QSize(120, 32)
"""px of a window's title bar that must be on a screen, to be draggable."""


class DetachedWindow(QtWidgets.QWidget):
    """Shows a detached page. Signal `closed`: closed by the user, dock the page.

    Args:
        title: the page's name.
        stop: action of its own STOP, as it may cover that of the main window.
        window: the main window, its parent.
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
        set_icon(self.back, "dock")
        set_icon(self.whole, "full screen")
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
        self._area = QtWidgets.QScrollArea()  # a larger page scrolls, and STOP stays visible
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QtWidgets.QFrame.Shape.NoFrame)
        layout.addWidget(self._area, 1)
        self.back.clicked.connect(self.close)
        self.whole.clicked.connect(self._fill_screen)
        for keys, act in (("Ctrl+T", self.close), ("F11", self.whole.click)):
            QtWidgets.QShortcut(QtGui.QKeySequence(keys), self, activated=act)
        window.windowTitleChanged.connect(self.set_situation)
        self.set_situation(window.windowTitle())

    def set_situation(self, situation: str) -> None:
        """Show the main window's title text in this title."""
        self.situation.setText(situation)
        self.setWindowTitle(f"{self._title} – {situation}")

    def set_page(self, page: QtWidgets.QWidget) -> None:
        """Show a page."""
        self._area.setWidget(page)
        page.show()

    @property
    def page(self) -> QtWidgets.QWidget:
        """The page shown."""
        return self._area.widget()

    def remove_page(self) -> QtWidgets.QWidget:
        """Remove and return the page."""
        page: QtWidgets.QWidget = self._area.takeWidget()
        return page

    def move_onto_screen(self) -> None:
        """Move to the main window's screen if its own no longer exists."""
        screens = [screen.availableGeometry() for screen in QtGui.QGuiApplication.screens()]
        if not in_view(self.frameGeometry(), screens):
            room = self.parentWidget().screen().availableGeometry()
            self.resize(self.size().boundedTo(room.size()))
            self.move(room.center() - self.rect().center())

    def changeEvent(self, event: QtCore.QEvent) -> None:
        """Follow a window manager that leaves full screen."""
        super().changeEvent(event)
        if event.type() == QtCore.QEvent.Type.WindowStateChange:
            self.whole.setChecked(self.isFullScreen())

    def closeEvent(self, event: QtGui.QCloseEvent) -> None:
        """Emit `closed`."""
        event.accept()
        self.closed.emit()

    def _fill_screen(self) -> None:
        state = QtCore.Qt.WindowState.WindowFullScreen
        now = self.windowState()
        self.setWindowState(now & ~state if now & state else now | state)


def in_view(frame: QtCore.QRect, screens: list[QtCore.QRect]) -> bool:
    """Whether enough of a window's title bar is on one of the screens, px, to drag it."""
    head = QtCore.QRect(frame.topLeft(), QtCore.QSize(frame.width(), min(frame.height(), _IN_VIEW.height())))
    needed = QtCore.QSize(min(_IN_VIEW.width(), head.width()), head.height())
    parts = [head.intersected(screen).size() for screen in screens]
    return any(part.width() >= needed.width() and part.height() >= needed.height() for part in parts)


_MARK = 24  # px of the icon in the tab of a page shown elsewhere
_EDGE = 70
"""px of the right edge where a dropped tab goes next to the tabs."""


class _Head(QtWidgets.QLabel):
    """The title above a page. Signal `dropped(point of the screen)`: it was dragged there."""

    dropped = QtCore.Signal(QtCore.QPoint)

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.setObjectName("heading")
        self.setCursor(QtCore.Qt.CursorShape.OpenHandCursor)
        self.setToolTip(tr("Drag it to the tabs to put the page back there"))

    def mouseReleaseEvent(self, event: QtGui.QMouseEvent) -> None:
        """Emit where it was dropped."""
        self.dropped.emit(event.globalPos())


class Pane(QtWidgets.QWidget):
    """A page next to the tabs.

    Args:
        name: of the page.
        page: shown page.
    """

    def __init__(self, name: str, page: QtWidgets.QWidget) -> None:
        super().__init__()
        self.setAccessibleName(tr("{name}, split view").format(name=tr(name)))
        self.page = page
        self.head = _Head(tr(name))
        self.back = set_icon(GuardedButton(tr("Dock back"), tr("Put this page back to its tab (Ctrl+B)")), "dock")
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
    """The tabs, and to their right the pages next to them, by name in `panes`.

    Signals: `back(name)`: dock this page; `dragged(name, point of the screen)`.

    Args:
        tabs: at least as wide as the current page needs.
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
        """Why a page cannot be shown next to a given current page; empty if all pages then fit."""
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

    def add_page(self, name: str, page: QtWidgets.QWidget) -> None:
        """Show a page to the right of the others."""
        pane = self.panes[name] = Pane(name, page)
        pane.back.clicked.connect(lambda: self.back.emit(name))
        pane.head.dropped.connect(lambda at: self.dragged.emit(name, at))
        before = self.sizes()
        self.addWidget(pane)
        tabs = max(self._tabs.tabBar().sizeHint().width() + _MARK, before[0] // 2)  # all tab names visible
        self.setSizes([tabs, *before[1:], before[0] - tabs])

    def remove_page(self, name: str) -> QtWidgets.QWidget:
        """Remove and return a page."""
        pane = self.panes.pop(name)
        pane.layout().removeWidget(pane.page)
        pane.page.setParent(None)
        pane.hide()
        pane.deleteLater()
        return pane.page

    @property
    def focused(self) -> str:
        """The name of the side page with the focus; empty without."""
        holder = QtWidgets.QApplication.focusWidget()
        return next((name for name, pane in self.panes.items() if holder and pane.isAncestorOf(holder)), "")

    def at_edge(self, place: QtCore.QPoint) -> bool:
        """Whether a point of the screen is at the right edge, where a drop shows the page next to the tabs."""
        at = self.mapFromGlobal(place)
        return bool(self.rect().contains(at) and at.x() >= self.width() - _EDGE)

    def frame_edge(self, framed: bool) -> None:
        """Frame the place of a dropped page, or remove the frame."""
        self._band.setVisible(framed)
        if framed:
            self._band.setGeometry(self._tabs.rect().adjusted(self._tabs.width() // 2, 0, 0, 0))
            self._band.raise_()


def _least(page: QtWidgets.QWidget) -> int:
    return int(page.minimumSizeHint().expandedTo(page.minimumSize()).width())


_EVENTS = QtCore.QEvent.Type
_OUT = 40
"""px from the tab bar at which a dropped tab becomes a window."""
_SIZE = QtCore.QSize(900, 640)
_LAID_OUT = 40  # ms of layout after a move: wrapped texts request their height repeatedly


class Docking(QtCore.QObject):
    """Detaches pages of a tab widget into windows or next to the tabs, and docks them back.

    Dragging a tab off the bar, or a double click, makes a window; dragging it to the right edge shows it next to the
    tabs;
    also Ctrl+T and Ctrl+B for the current page, and the tab's menu. A placeholder tab stays. Places are saved in the
    settings under `windows`.

    Signals: `changed`: a page was moved; `refused(reason)`: no room next to the tabs.

    Args:
        side: the tabs and the pages next to them.
        tabs: the pages.
        pages: detachable pages, already in tabs.
        stop: action of each window's STOP.
        settings: store of the windows' places.
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
        """Names of the detachable pages."""
        self.windows: dict[str, DetachedWindow] = {}
        """Windows of the detached pages by name."""
        self._spare: dict[str, DetachedWindow] = {}
        """Hidden windows by page: a window closed by a key still gets the key's release."""
        self._placed: set[str] = set()
        """Windows with a place to save: restored, or chosen by the user."""
        self._pressed = -1
        bar = tabs.tabBar()
        bar.installEventFilter(self)
        bar.setContextMenuPolicy(QtCore.Qt.ContextMenuPolicy.CustomContextMenu)
        bar.customContextMenuRequested.connect(self._show_menu)
        application = QtGui.QGuiApplication.instance()
        assert application is not None
        application.screenRemoved.connect(self._screen_gone)

    def tear_off(self, name: str, place: QtCore.QPoint | None = None) -> None:
        """Detach a page into a window: at a point of the screen, by default where it last was."""
        if name in self.windows or name not in self.names:
            return
        with self._drawn_once():
            self._tear_off(name, place)
        self._placed.add(name)
        self.changed.emit()

    def _tear_off(self, name: str, place: QtCore.QPoint | None) -> None:
        self._dock(name)
        page = self._detach(name, tr("This page is in a separate window."), "tear off")
        window = self.windows[name] = self._spare.pop(name) if name in self._spare else self._new_window(name)
        window.set_page(page)
        saved = self._settings.value(f"windows/{name}/geometry")
        if not isinstance(saved, QtCore.QByteArray) or not window.restoreGeometry(saved):
            window.move(self.tabs.mapToGlobal(self.tabs.rect().center()) - window.rect().center())
        if place is not None:
            window.move(place)
        window.move_onto_screen()
        window.show()

    def split_obstacle(self, name: str) -> str:
        """Why a page cannot be shown next to the tabs; empty if it can, or already is."""
        if name not in self.names:
            return tr("what commands the machine stays where it is")
        if name in self.side.panes:
            return ""
        window = self.windows.get(name)
        page = self.tabs.widget(self._index(name)) if window is None else window.page
        return self.side.obstacle(name, page, self.tabs.widget(self._front_without(name)))

    def show_in_split(self, name: str) -> None:
        """Show a page next to the tabs; emits `refused` if there is no room."""
        reason = self.split_obstacle(name)
        if reason:
            self.refused.emit(reason)
        if reason or name in self.side.panes:
            return
        with self._drawn_once():
            front = self._front_without(name)
            self._dock(name)
            self.side.add_page(name, self._detach(name, tr("This page is shown in the split view."), "beside"))
            self.tabs.setCurrentIndex(front)
        self._placed.add(name)
        self.changed.emit()

    def dock(self, name: str) -> None:
        """Put a page back into its tab, and select it."""
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
        put_tab(self.tabs, self.side.remove_page(name) if window is None else window.remove_page(), name, index)
        self.tabs.setCurrentIndex(index)
        stand_in.deleteLater()
        if window is not None:
            window.hide()
            self._spare[name] = window

    @contextlib.contextmanager
    def _drawn_once(self) -> Iterator[None]:
        """Suspend painting of `side` during the `with` block and shortly after, instead of painting every layout step.

        On a large screen that takes longer than the engine's heartbeat timeout. Grabbed pictures lack it meanwhile.
        """
        self.side.setUpdatesEnabled(False)
        try:
            yield
        finally:
            self._drawing.start()

    def toggle(self, name: str) -> None:
        """Detach a page, or dock it."""
        (self.dock if name in self.windows else self.tear_off)(name)

    def toggle_split(self, name: str) -> None:
        """Show a page next to the tabs, or dock it."""
        (self.dock if name in self.side.panes else self.show_in_split)(name)

    def toggle_front_split(self) -> None:
        """Same as `toggle_split`, for the side page with the focus, or else the current page."""
        self.toggle_split(self.side.focused or tab_name(self.tabs, self.tabs.currentIndex()))

    def toggle_front(self) -> None:
        """Same as `toggle` for the current page."""
        self.toggle(tab_name(self.tabs, self.tabs.currentIndex()))

    def show_page(self, name: str) -> None:
        """Bring a page to the front, wherever it is."""
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
        """Restore the places of the last session; pages without room next to the tabs stay in them."""
        for name in self.names:
            if name in self._placed:
                continue
            if self._settings.value(f"windows/{name}/torn") == "yes":
                self.tear_off(name)
            elif self._settings.value(f"windows/{name}/beside") != "yes":
                self._placed.add(name)
            elif not self.split_obstacle(name):  # otherwise saved for a larger screen
                self.show_in_split(name)
        sizes = self._settings.value("windows/beside")
        if self.side.panes and isinstance(sizes, QtCore.QByteArray):  # the user may have edited the file
            self.side.restoreState(sizes)

    def close(self) -> None:
        """Save all places and close the windows. May be called again."""
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
        """Detect dragged and double-clicked tabs."""
        kind, bar = event.type(), self.tabs.tabBar()
        if kind == _EVENTS.MouseButtonPress and event.button() == QtCore.Qt.MouseButton.LeftButton:
            self._pressed = bar.tabAt(event.pos())
        elif kind == _EVENTS.MouseMove and self._pressed >= 0:
            name = tab_name(self.tabs, self._pressed)
            self.side.frame_edge(self.side.at_edge(event.globalPos()) and not self.split_obstacle(name))
        elif kind == _EVENTS.MouseButtonRelease and self._pressed >= 0:
            index, self._pressed = self._pressed, -1
            self.side.frame_edge(False)
            name = tab_name(self.tabs, index)
            if self._off(bar, event.pos()) and self.side.at_edge(event.globalPos()) and name in self.names:
                self.show_in_split(name)
            elif self._off(bar, event.pos()):
                self.tear_off(name, event.globalPos())
        elif kind == _EVENTS.MouseButtonDblClick and (index := bar.tabAt(event.pos())) >= 0:
            self._pressed = -1
            self.tear_off(tab_name(self.tabs, index))
        return False

    def menu_of(self, name: str) -> QtWidgets.QMenu:
        """Return the menu of a page's possible moves."""
        menu = QtWidgets.QMenu(self.tabs)
        menu.setToolTipsVisible(True)
        if name in self.windows or name in self.side.panes:
            set_icon(menu.addAction(tr("&Dock back"), partial(self.dock, name)), "dock")
        if name not in self.windows:
            set_icon(menu.addAction(tr("&Window of its own"), partial(self.tear_off, name), "Ctrl+T"), "tear off")
        if name not in self.side.panes:
            action = set_icon(menu.addAction(tr("&Beside"), partial(self.show_in_split, name), "Ctrl+B"), "beside")
            reason = self.split_obstacle(name)
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
        """Return the current tab without that of a page: the current one, or the first that holds its page."""
        front = int(self.tabs.currentIndex())
        if tab_name(self.tabs, front) != name:
            return front
        elsewhere = {name, *self.windows, *self.side.panes}
        texts = [tab_name(self.tabs, index) for index in range(self.tabs.count())]
        return next((index for index, text in enumerate(texts) if text not in elsewhere), front)

    def _detach(self, name: str, words: str, meaning: str) -> QtWidgets.QWidget:
        """Take a page out of its tab, leaving a placeholder."""
        index, front = self._index(name), self.tabs.currentIndex()
        page = self.tabs.widget(index)
        self.tabs.removeTab(index)
        put_tab(self.tabs, self._stand_in(name, words), name, index)
        self.tabs.setTabIcon(index, icon(meaning, Ground.TAB))
        self.tabs.setCurrentIndex(front)
        return page

    def _index(self, name: str) -> int:
        return next(index for index in range(self.tabs.count()) if tab_name(self.tabs, index) == name)

    def _new_window(self, name: str) -> DetachedWindow:
        window = DetachedWindow(tr(name), self._stop, self.tabs.window())
        window.closed.connect(partial(self.dock, name))
        window.resize(_SIZE)
        return window

    def _stand_in(self, name: str, text: str) -> QtWidgets.QWidget:
        """Return the placeholder of a page shown elsewhere."""
        made = QtWidgets.QWidget()
        words = QtWidgets.QLabel(text)
        words.setAlignment(QtCore.Qt.AlignmentFlag.AlignCenter)
        show = GuardedButton(tr("Show it"), tr("Bring it to the front"))
        back = GuardedButton(tr("Dock it back"), tr("Put the page back here"))
        set_icon(show, "tear off")
        set_icon(back, "dock")
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
        # after the screen is gone, when the rest are updated
        QtCore.QTimer.singleShot(0, self._move_onto_screens)

    def _move_onto_screens(self) -> None:
        for window in self.windows.values():
            window.move_onto_screen()
