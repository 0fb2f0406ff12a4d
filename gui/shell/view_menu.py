"""The menu of views: colours and size of the whole app, and the panels by their numbers."""

from collections.abc import Callable
from functools import partial

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.screen import SCALES, keep_scale, obstacle, saved_scale
from gui.shell.docking import Docking
from gui.shell.sounds import Sounds
from gui.texts import mark, tr
from gui.widgets import THEMES, give, tab_name

_COLOURS = {"dark": mark("Dark &colours"), "light": mark("Light &colours")}
_COMMANDS = tr("what commands the machine stays in the main window")
_OBSTACLE = tr("not while the drives have torque, as the window stands still meanwhile: park or stop first")


class ViewMenu(QtWidgets.QMenu):
    """Colours, size and panels.

    Args:
        theme: name of the colours now.
        choose: takes the name of others.
        tabs: the panels.
        docking: those of them that may have windows of their own.
        remark: told what is to be done so that a choice shows.
        sounds: are switched here.
    """

    def __init__(
        self,
        theme: str,
        choose: Callable[[str], None],
        tabs: QtWidgets.QTabWidget,
        docking: Docking,
        remark: Callable[[str], None],
        sounds: Sounds,
    ) -> None:
        super().__init__(tr("&View"))
        self.setToolTipsVisible(True)
        self._remark = remark
        self._choose, self._tabs, self._docking = choose, tabs, docking
        self.schemes = QtGui.QActionGroup(self)
        for name in THEMES:
            action = self.addAction(tr(_COLOURS[name]))
            action.triggered.connect(partial(self._chosen, name))
            action.setCheckable(True)
            action.setChecked(name == theme)
            self.schemes.addAction(action)
        self.scales = self._add_scales()
        self.whole = self.addAction(tr("&Full screen"))
        self.whole.setShortcut("F11")
        self.whole.setCheckable(True)
        self.whole.triggered.connect(lambda _checked: self._fill_screen())
        self.aboutToShow.connect(self._look_at_window)
        self.sound = self.addAction(sounds.words)
        self.sound.setCheckable(True)
        self.sound.setChecked(sounds.on)
        self.sound.setToolTip(tr("Tones for torque on, a motion's end, a stop, and a fault until it is acknowledged"))
        self.sound.triggered.connect(lambda on: sounds.switch(on=on))
        sounds.told.connect(lambda: self.sound.setText(sounds.words))
        self.addSeparator()
        for index in range(tabs.count()):
            name = tab_name(tabs, index)
            action = self.addAction(tr(name))
            action.triggered.connect(partial(self._show_tab, name))
            action.setShortcut(QtGui.QKeySequence(f"Ctrl+{index + 1}"))
        self.torn: dict[str, QtGui.QAction] = {}
        self._add_windows()

    def guard(self, torque: bool) -> None:
        """No other colours under torque: restyling takes longer than STOP may take."""
        if self.schemes.isEnabled() == torque:
            self.schemes.setEnabled(not torque)
            for action in self.schemes.actions():
                action.setToolTip(_OBSTACLE if torque else "")
                action.setStatusTip(_OBSTACLE if torque else "")

    def _add_scales(self) -> dict[float, QtGui.QAction]:
        menu, group = self.addMenu(tr("&Size")), QtGui.QActionGroup(self)
        menu.setToolTipsVisible(True)
        menu.aboutToShow.connect(self._look_at_screen)
        found = {}
        for scale in SCALES:
            action = found[scale] = menu.addAction(f"{100 * scale:.0f} %")
            action.setCheckable(True)
            action.setChecked(scale == saved_scale())
            action.triggered.connect(partial(self._resized, scale))
            group.addAction(action)
        return found

    def _add_windows(self) -> None:
        """Ticks of the panels that have windows of their own."""
        self.addSeparator()
        menu = self.addMenu(tr("&Windows of their own"))
        self.tear = give(menu.addAction(tr("&Panel in front"), self._docking.toggle_front, "Ctrl+T"), "tear off")
        menu.addSeparator()
        for name in self._docking.names:
            action = self.torn[name] = menu.addAction(tr(name))
            action.setCheckable(True)
            action.triggered.connect(partial(self._toggle_window, name))
        menu = self.addMenu(tr("&Beside the tabs"))
        menu.setToolTipsVisible(True)
        menu.aboutToShow.connect(self._mark_beside)
        self.front_beside = give(
            menu.addAction(tr("&Panel in front"), self._docking.toggle_front_beside, "Ctrl+B"), "beside"
        )
        menu.addSeparator()
        self.beside: dict[str, QtGui.QAction] = {}
        for name in self._docking.names:
            action = self.beside[name] = menu.addAction(tr(name))
            action.setCheckable(True)
            action.triggered.connect(partial(self._toggle_beside, name))
        self._docking.changed.connect(self._mark_windows)
        self._docking.changed.connect(self._mark_beside)
        self._tabs.currentChanged.connect(self._mark_windows)
        self._mark_windows()

    def _toggle_window(self, name: str, _checked: bool = False) -> None:
        self._docking.toggle(name)

    def _toggle_beside(self, name: str, _checked: bool = False) -> None:
        self._docking.toggle_beside(name)
        self._mark_beside()  # where it was refused nothing has changed, but the tick

    def _mark_windows(self, _index: int = 0) -> None:
        front = tab_name(self._tabs, self._tabs.currentIndex())
        self.tear.setEnabled(front in self._docking.names)
        self.tear.setToolTip("" if self.tear.isEnabled() else _COMMANDS)
        for name, action in self.torn.items():
            action.setChecked(name in self._docking.windows)

    def _mark_beside(self) -> None:
        """Say which panels have no room beside the tabs."""
        for name, action in self.beside.items():
            reason = self._docking.obstacle_beside(name)
            action.setChecked(name in self._docking.side.panes)
            action.setEnabled(not reason)
            action.setToolTip(reason)
            action.setStatusTip(reason)

    def _look_at_screen(self) -> None:
        """Say which sizes the screen is too small for."""
        screen = self._tabs.screen()
        for scale, action in self.scales.items():
            reason = obstacle(scale, screen.size())
            action.setEnabled(not reason)
            action.setToolTip(reason)
            action.setStatusTip(reason)

    def _resized(self, scale: float, _checked: bool = False) -> None:
        keep_scale(scale)
        self._remark(
            tr("Everything is drawn at {scale:.0f} % when the app is started the next time.").format(scale=100 * scale)
        )

    def _fill_screen(self) -> None:
        """By the window, not by the tick: it may have begun in full screen, or its window manager have left it."""
        window = self._tabs.window()
        window.setWindowState(window.windowState() ^ QtCore.Qt.WindowState.WindowFullScreen)
        self._look_at_window()

    def _look_at_window(self) -> None:
        self.whole.setChecked(self._tabs.window().isFullScreen())

    def _chosen(self, name: str, _checked: bool = False) -> None:
        self._choose(name)

    def _show_tab(self, name: str, _checked: bool = False) -> None:
        self._docking.show_page(name)
