"""The menus of the window: rig, calibration and set-up, views, and help."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.calibrate import CalibrateMenu
from gui.models import Phase
from gui.motion import MotionPanel
from gui.runs import RunDesk
from gui.screen import SCALES, keep_scale, obstacle, saved_scale
from gui.session import JobRunner, RigSession
from gui.setup import SetupEntry
from gui.shell.appearance import Appearance
from gui.shell.docking import Docking
from gui.shell.guide import HelpMenu
from gui.shell.sounds import Sounds
from gui.texts import finding_text, mark, tr
from gui.widgets import THEMES, set_icon, tab_name
from rig.config import RigConfig, load_config
from rig.errors import RigError
from rig.findings import Finding
from rig.services import Event, Progress, StreamRequest, stream_telemetry


class MotionOpening:
    """Opens motions in the tab Motion.

    Args:
        tabs: of the window.
        panel: the tab's.
    """

    def __init__(self, tabs: QtWidgets.QTabWidget, panel: MotionPanel) -> None:
        self._tabs, self._panel = tabs, panel

    def ask(self) -> None:
        """Ask for a file."""
        self._tabs.setCurrentWidget(self._panel)
        self._panel.open()

    def open(self, path: Path) -> None:
        """Open a file, after a question if the current motion is unsaved."""
        self._tabs.setCurrentWidget(self._panel)
        self._panel.confirm_discard(lambda: self._panel.load_file(path))


_OTHER = tr("Open another ri&g …")
_OTHER_HINT = tr("Close this window and open another rig configuration")


class SwitchRig(QtCore.QObject):
    """Opens another configuration's rig in place of this window's.

    Args:
        menu: gets the entry.
        against: why the rig of this window cannot be left now, None if it can.
        refused: called with what was refused, and why.
        window: the main window.
    """

    def __init__(
        self,
        menu: QtWidgets.QMenu,
        against: Callable[[], Finding | None],
        refused: Callable[[str, Finding | str], None],
        window: QtWidgets.QMainWindow,
    ) -> None:
        super().__init__(window)
        self._against = against
        self._refused = refused
        self._window = window
        self._requested: RigConfig | None = None
        self.following: RigConfig | None = None
        """The rig to open after the window has closed."""
        self.action = set_icon(menu.addAction(_OTHER), "open")
        self.action.setShortcut("Ctrl+Shift+O")
        self.action.triggered.connect(lambda: self._ask())
        self.refresh()

    def refresh(self) -> None:
        """Enable the entry, or show why not."""
        against = self._against()
        reason = "" if against is None else finding_text(against)
        self.action.setEnabled(not reason)
        self.action.setToolTip(reason or _OTHER_HINT)
        self.action.setStatusTip(reason)

    def open(self, path: Path) -> None:
        """Close the window, then open the rig of this configuration; a refusal changes nothing."""
        against = self._against()
        if against is None:
            try:
                self._requested = load_config(str(path))
            except RigError as error:
                against = error.finding
        if against is not None:
            self._refused(tr("open {name}").format(name=path.name), against)
        else:
            self._window.close()

    def window_closes(self) -> None:
        """Called when the window closes for good."""
        self.following = self._requested

    def window_stays(self) -> None:
        """Called when closing was cancelled."""
        self._requested = None

    def _ask(self) -> None:
        name, _kind = QtWidgets.QFileDialog.getOpenFileName(
            self._window, tr("Open another rig"), "", tr("Configurations (*.toml)")
        )
        if name:
            self.open(Path(name))


@dataclass(frozen=True, slots=True)
class _Tool:
    """A tool: key in `StreamRequest`, name, and instructions.

    `page` opens it with the `address`, or shows how to install it; an installed `program` is started instead.
    """

    key: Literal["plotjuggler", "foxglove"]
    name: str
    how: str
    page: str
    program: str = ""


_TOOLS = (
    _Tool(
        "plotjuggler",
        "PlotJuggler",
        tr("In PlotJuggler (plotjuggler.io) start Streaming → UDP Server with that port and JSON."),
        "https://plotjuggler.io",
        "plotjuggler",
    ),
    _Tool(
        "foxglove",
        "Foxglove",
        tr(
            "In Foxglove (foxglove.dev/download, or in a browser) open a connection, Foxglove WebSocket, to that "
            "address."
        ),
        "https://app.foxglove.dev/~/view?ds=foxglove-websocket&ds.url={address}&openIn=desktop",
    ),
)
_OPENS = tr("Send to it and open it: the installed program, or its web page")
_OFF = tr("connect first: there is no telemetry without an engine")


class TelemetryMenu(QtWidgets.QMenu):
    """Two entries per tool: one streams to it and is checked meanwhile, the other also opens it.

    `rig.services.stream_telemetry` sends, in its own process.

    Args:
        session: the app's rig.
        remark: called with the destination and instructions.
        parent: the main window.
    """

    def __init__(self, session: RigSession, remark: Callable[[str], None], parent: QtWidgets.QWidget) -> None:
        super().__init__(tr("Send &telemetry to"), parent)
        self.setToolTipsVisible(True)
        self._session, self._remark = session, remark
        self.entries = {tool.key: self._add(tool) for tool in _TOOLS}
        self.addSeparator()
        self.openers = {tool.key: self._add_opener(tool) for tool in _TOOLS}
        self._jobs: dict[str, JobRunner] = {}
        self._places: dict[str, tuple[str, str]] = {}
        """Destinations as text and as address, once known."""
        self._to_open: set[str] = set()
        """Tools to open once the stream runs."""
        session.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Enable the entries, or show why not."""
        up = self._session.phase is Phase.UP and self._session.engine_pid is not None
        for tool in _TOOLS:
            action = self.entries[tool.key]
            running = tool.key in self._jobs
            action.setEnabled(up or running)
            action.setChecked(running)
            action.setToolTip(self._hint(tool) if up or running else _OFF)
            action.setStatusTip("" if up or running else _OFF)
            opener = self.openers[tool.key]
            opener.setEnabled(up or running)
            opener.setToolTip(_OPENS if up or running else _OFF)
            opener.setStatusTip("" if up or running else _OFF)

    def _hint(self, tool: _Tool) -> str:
        place = self._places.get(tool.key)
        return tool.how if place is None else tr("Telemetry goes {place}. {how}").format(place=place[0], how=tool.how)

    def close_streams(self) -> None:
        """End all streams. May be called again."""
        for key in list(self._jobs):
            self._end(key)

    def _add(self, tool: _Tool) -> QtGui.QAction:
        action = self.addAction(f"&{tool.name}")
        action.setCheckable(True)
        action.triggered.connect(lambda wanted: self._choose(tool, wanted))
        return action

    def _add_opener(self, tool: _Tool) -> QtGui.QAction:
        action = self.addAction(tr("Open in {name} …").format(name=tool.name))
        action.triggered.connect(lambda _checked=False: self._open(tool))
        return action

    def _open(self, tool: _Tool) -> None:
        if tool.key in self._places:
            self._bring_up(tool)
            return
        self._to_open.add(tool.key)
        if tool.key not in self._jobs:
            self._choose(tool, True)

    def _bring_up(self, tool: _Tool) -> None:
        program = shutil.which(tool.program) if tool.program else None
        if program is not None and QtCore.QProcess.startDetached(program, []):
            return
        page = tool.page.format(address=self._places[tool.key][1])
        opened = QtGui.QDesktopServices.openUrl(QtCore.QUrl(page))
        lacks = tr("{name} is not installed here. ").format(name=tool.name) if tool.program else ""
        shown = tr("Its page: {page}") if opened else tr("No browser opened; the page is {page}")
        self._remark(f"{self._hint(tool)} {lacks}{shown.format(page=page)}")

    def _choose(self, tool: _Tool, wanted: bool) -> None:
        engine = self._session.engine_pid
        if not wanted or tool.key in self._jobs or engine is None:
            self._end(tool.key)
            self.refresh()
            return
        job = JobRunner(self)
        job.reported.connect(lambda event: self._handle_event(tool, event))
        job.ended.connect(lambda _result, error: self._ended(tool, error))
        self._jobs[tool.key] = job
        job.start(stream_telemetry, StreamRequest(tool.key, engine=engine))
        self.refresh()

    def _handle_event(self, tool: _Tool, event: Event) -> None:
        if isinstance(event, Progress):
            place = event.values["place"]
            self._session.log("info", "telemetry", place)
            self._places[tool.key] = place, event.values["address"]
            self._remark(self._hint(tool))
            self.refresh()
            if tool.key in self._to_open:
                self._to_open.discard(tool.key)
                self._bring_up(tool)

    def _ended(self, tool: _Tool, error: Exception | None) -> None:
        self._end(tool.key)
        if error is not None:
            self._session.log("warning", "telemetry", str(error))
            self._session.refused.emit(tr("telemetry to {name}").format(name=tool.name), str(error))
        self.refresh()

    def _end(self, key: str) -> None:
        self._places.pop(key, None)
        self._to_open.discard(key)
        job = self._jobs.pop(key, None)
        if job is not None:
            job.close()
            job.deleteLater()


_COLOURS = {"dark": mark("Dark &colours"), "light": mark("Light &colours")}
_COMMANDS = tr("what commands the machine stays in the main window")
_OBSTACLE = tr("not while the drives have torque, because the window is blocked meanwhile: park or stop first")


class ViewMenu(QtWidgets.QMenu):
    """Colours, size and panels.

    Args:
        appearance: of the window.
        tabs: the panels.
        docking: of detachable panels.
        remark: called with what a choice needs to take effect.
        sounds: switched here.
    """

    def __init__(
        self,
        appearance: Appearance,
        tabs: QtWidgets.QTabWidget,
        docking: Docking,
        remark: Callable[[str], None],
        sounds: Sounds,
    ) -> None:
        super().__init__(tr("&View"))
        self.setToolTipsVisible(True)
        self._remark = remark
        self._tabs, self._docking, self.sounds = tabs, docking, sounds
        self.schemes = QtGui.QActionGroup(self)
        for name in THEMES:
            action = self.addAction(tr(_COLOURS[name]))
            action.triggered.connect(lambda _checked=False, name=name: appearance.use(name))
            action.setCheckable(True)
            action.setChecked(name == appearance.theme.name)
            self.schemes.addAction(action)
        self.scales = self._add_scales()
        self.whole = self.addAction(tr("&Full screen"))
        self.whole.setShortcut("F11")
        self.whole.setCheckable(True)
        self.whole.triggered.connect(lambda _checked: self._fill_screen())
        self.aboutToShow.connect(self._update_windows)
        self.sound = self.addAction(sounds.words)
        self.sound.setCheckable(True)
        self.sound.setChecked(sounds.on)
        self.sound.setToolTip(tr("Tones for torque on, end of a motion, stop, and fault until it is acknowledged"))
        self.sound.triggered.connect(lambda on: sounds.switch(on=on))
        sounds.changed.connect(lambda: self.sound.setText(sounds.words))
        self.addSeparator()
        for index in range(tabs.count()):
            name = tab_name(tabs, index)
            action = self.addAction(tr(name))
            action.triggered.connect(partial(self._show_tab, name))
            action.setShortcut(QtGui.QKeySequence(f"Ctrl+{index + 1}"))
        self.torn: dict[str, QtGui.QAction] = {}
        self._add_windows()

    def guard(self, torque: bool) -> None:
        """Disable colour changes under torque: restyling would delay STOP too long."""
        if self.schemes.isEnabled() == torque:
            self.schemes.setEnabled(not torque)
            for action in self.schemes.actions():
                action.setToolTip(_OBSTACLE if torque else "")
                action.setStatusTip(_OBSTACLE if torque else "")

    def _add_scales(self) -> dict[float, QtGui.QAction]:
        menu, group = self.addMenu(tr("&Size")), QtGui.QActionGroup(self)
        menu.setToolTipsVisible(True)
        menu.aboutToShow.connect(self._update_sizes)
        found = {}
        for scale in SCALES:
            action = found[scale] = menu.addAction(f"{100 * scale:.0f} %")
            action.setCheckable(True)
            action.setChecked(scale == saved_scale())
            action.triggered.connect(partial(self._resized, scale))
            group.addAction(action)
        return found

    def _add_windows(self) -> None:
        """Add the entries of detachable panels and of the split view."""
        self.addSeparator()
        menu = self.addMenu(tr("&Detached windows"))
        self.tear = set_icon(menu.addAction(tr("&Panel in front"), self._docking.toggle_front, "Ctrl+T"), "tear off")
        menu.addSeparator()
        for name in self._docking.names:
            action = self.torn[name] = menu.addAction(tr(name))
            action.setCheckable(True)
            action.triggered.connect(partial(self._toggle_window, name))
        menu = self.addMenu(tr("&Split view"))
        menu.setToolTipsVisible(True)
        menu.aboutToShow.connect(self._mark_split)
        self.front_split = set_icon(
            menu.addAction(tr("&Panel in front"), self._docking.toggle_front_split, "Ctrl+B"), "beside"
        )
        menu.addSeparator()
        self.split_actions: dict[str, QtGui.QAction] = {}
        for name in self._docking.names:
            action = self.split_actions[name] = menu.addAction(tr(name))
            action.setCheckable(True)
            action.triggered.connect(partial(self._toggle_split, name))
        self._docking.changed.connect(self._mark_windows)
        self._docking.changed.connect(self._mark_split)
        self._tabs.currentChanged.connect(self._mark_windows)
        self._mark_windows()

    def _toggle_window(self, name: str, _checked: bool = False) -> None:
        self._docking.toggle(name)

    def _toggle_split(self, name: str, _checked: bool = False) -> None:
        self._docking.toggle_split(name)
        self._mark_split()  # a refusal only changed the check mark

    def _mark_windows(self, _index: int = 0) -> None:
        front = tab_name(self._tabs, self._tabs.currentIndex())
        self.tear.setEnabled(front in self._docking.names)
        self.tear.setToolTip("" if self.tear.isEnabled() else _COMMANDS)
        for name, action in self.torn.items():
            action.setChecked(name in self._docking.windows)

    def _mark_split(self) -> None:
        """Check the panels in the split view, and show which have no room there."""
        for name, action in self.split_actions.items():
            reason = self._docking.split_obstacle(name)
            action.setChecked(name in self._docking.side.panes)
            action.setEnabled(not reason)
            action.setToolTip(reason)
            action.setStatusTip(reason)

    def _update_sizes(self) -> None:
        """Disable sizes that are too large for the screen."""
        screen = self._tabs.screen()
        for scale, action in self.scales.items():
            reason = obstacle(scale, screen.size())
            action.setEnabled(not reason)
            action.setToolTip(reason)
            action.setStatusTip(reason)

    def _resized(self, scale: float, _checked: bool = False) -> None:
        keep_scale(scale)
        self._remark(tr("The scale of {scale:.0f} % applies when the app is started again.").format(scale=100 * scale))

    def _fill_screen(self) -> None:
        """Toggle by the window's state, not the check mark: the window manager may have changed it."""
        window = self._tabs.window()
        window.setWindowState(window.windowState() ^ QtCore.Qt.WindowState.WindowFullScreen)
        self._update_windows()

    def _update_windows(self) -> None:
        self.whole.setChecked(self._tabs.window().isFullScreen())

    def _show_tab(self, name: str, _checked: bool = False) -> None:
        self._docking.show_page(name)


class Menus(QtCore.QObject):
    """The menu bar.

    Args:
        window: owner.
        session: the rig.
        appearance: of the window.
        motion: panel that opens motions.
        docking: of detachable pages.
        runs: makes reports.
        remark: shows a remark.
    """

    def __init__(
        self,
        window: QtWidgets.QMainWindow,
        session: RigSession,
        appearance: Appearance,
        motion: MotionPanel,
        docking: Docking,
        runs: RunDesk,
        remark: Callable[[str], None],
    ) -> None:
        super().__init__(window)
        bar, tabs, refuse = window.menuBar(), docking.tabs, session.refused.emit
        self.opening = MotionOpening(tabs, motion)
        rig = bar.addMenu(tr("&Rig"))
        _add(rig, tr("Open &motion …"), self.opening.ask, "Ctrl+O", "open")
        _add(rig, tr("Open &report"), lambda: runs.reporting.make(), "Ctrl+R", "report")
        self.calibrate = CalibrateMenu(session, window, lambda: appearance.theme)
        self.calibrate.motion_requested.connect(self.opening.open)
        rig.addMenu(self.calibrate)
        self.telemetry = TelemetryMenu(session, remark, window)
        rig.addMenu(self.telemetry)
        rig.addSeparator()
        self.setup = SetupEntry(session, rig, window)
        self.other = SwitchRig(rig, lambda: self.setup.against, refuse, window)
        self.setup.finished.connect(self.other.open)
        session.changed.connect(self.other.refresh)
        _add(rig, tr("&Quit"), window.close, "Ctrl+Q", "quit")
        sounds = Sounds(session, appearance.settings, self)
        self.view = ViewMenu(appearance, tabs, docking, remark, sounds)
        session.changed.connect(lambda: self.view.guard(session.torque))
        bar.addMenu(self.view)
        self.help = HelpMenu(window)

    def set_up(self) -> None:
        """Open the set-up of a rig, or show why not."""
        if self.setup.obstacle:
            self.setup.session.refused.emit(mark("set up"), self.setup.obstacle)
        else:
            self.setup.start()

    def close(self) -> None:
        """End everything started from the menus. May be called again."""
        self.view.sounds.close()
        self.setup.close()
        self.calibrate.close_wizards()
        self.telemetry.close_streams()


def _add(menu: QtWidgets.QMenu, text: str, act: Callable[..., object], shortcut: str, meaning: str) -> None:
    action = set_icon(menu.addAction(text), meaning)
    action.triggered.connect(act)
    action.setShortcut(QtGui.QKeySequence(shortcut))
