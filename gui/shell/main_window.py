"""The main window: what is always in view, the panels, and what happens when it is closed."""

import contextlib
import math
from collections.abc import Callable, Iterator

import numpy as np
from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.calibrate import CalibrateMenu
from gui.live import LiveView, PlatformView, RecordingsView
from gui.motion import MotionPanel
from gui.operate import FaultsPanel, JogPanel, OperatePanel
from gui.runs import RunDesk, RunsPage
from gui.scene import gl_problem, shapes_of
from gui.session import (
    Action,
    FrameClock,
    History,
    Mover,
    Phase,
    Repair,
    RigSession,
    StopButton,
    StopEverywhere,
    heavy_work_obstacle,
)
from gui.setup import SetupEntry
from gui.shell.banner import Banner, detail_of, state_style
from gui.shell.body import Body
from gui.shell.closing import Closing
from gui.shell.dashboards import DashboardViews
from gui.shell.docking import Docking
from gui.shell.event_log import EventLog
from gui.shell.guide import HelpMenu
from gui.shell.motion_opening import MotionOpening
from gui.shell.pictures import Page, Pictures, Tabs
from gui.shell.reporting import Reporting, connect_runs
from gui.shell.sounds import Sounds
from gui.shell.split_view import SideBySide
from gui.shell.style import dress
from gui.shell.switch_rig import OtherRig
from gui.shell.telemetry_menu import TelemetryMenu
from gui.shell.view_menu import ViewMenu
from gui.texts import mark, tr
from gui.widgets import DARK, THEMES, InParts, PressGuard, Theme, at_once, give, put_tab, tab_name
from rig.findings import Remedy
from rig.states import State

_HISTORY = 120.0  # s of telemetry that the views reach back
_SIZE = QtCore.QSize(1280, 800)
_FRAME = QtCore.QSize(8, 32)  # what a window manager adds
_PAINTED = 1000  # ms after which the views are built although nobody has seen the window
_TITLE = "stewart-rig"


class MainWindow(QtWidgets.QMainWindow):
    """Everything the operator sees.

    Args:
        session: the rig.
        settings: where layout and look are kept.
    """

    def __init__(self, session: RigSession, settings: QtCore.QSettings) -> None:
        super().__init__()
        self.session = session
        self._settings = settings
        self.theme: Theme = THEMES.get(str(settings.value("theme", DARK.name)), DARK)
        self.history = History(int(_HISTORY * session.config.rate))
        self.mover = Mover(session, self)
        self.stop_button = StopButton(lambda: session.stop(1, "button"))
        self.banner = Banner(self.stop_button, session.config.virtual is not None, session.config.safety.off)
        self.notice = self.banner.notice
        self.runs = RunDesk(session, self)
        self.reporting = Reporting(session, self.notice, lambda: self.runs.judged_by, self)
        self.sounds = Sounds(session, settings, self)
        self.operate = OperatePanel(session)
        self.banner.mend_asked.connect(self._press)
        self.notice.repair_asked.connect(self._repair)
        self.motion = MotionPanel(session, self.mover, self.theme)
        self.runs.follow_motion(self.motion.document)
        self.jog = JogPanel(session, self.mover)
        self.live_page, self.dashboards_page, self.platform_page, self.recordings_page = (Page() for _ in range(4))
        self.log = EventLog(self.theme)
        self.tabs = Tabs()
        self.tabs.setDocumentMode(True)
        self.tabs.tabBar().setDrawBase(False)
        self.tabs.setAccessibleName(tr("Panels"))
        self._dressing = InParts(self)
        self._closers: list[Callable[[], None]] = []
        """ends the threads of views"""
        self._themed: list[Callable[[Theme], None]] = [self.motion.set_theme, self.log.set_theme]
        self.closing = Closing(session, self, self.motion.let_go)
        self.closing.ended.connect(self.close, QtCore.Qt.ConnectionType.QueuedConnection)
        put_tab(self.tabs, self.motion, mark("Motion"))
        self.opening = MotionOpening(self.tabs, self.motion)
        put_tab(self.tabs, self.jog, mark("Jog"))
        put_tab(self.tabs, self.live_page, mark("Live"))
        put_tab(self.tabs, self.dashboards_page, mark("Dashboards"))
        put_tab(self.tabs, self.platform_page, mark("3-D view"))
        put_tab(self.tabs, self.recordings_page, mark("Recordings"))
        if session.config.virtual is not None:
            self.faults = FaultsPanel(session)
            put_tab(self.tabs, self.faults, mark("Faults"))
        put_tab(self.tabs, self.log, mark("Event log"))
        torn = (self.live_page, self.dashboards_page, self.platform_page, self.recordings_page, self.log)
        self.side = SideBySide(self.tabs)
        self.docking = Docking(self.side, self.tabs, torn, lambda: session.stop(1, "button"), settings)
        self.docking.refused.connect(lambda reason: self.notice.refuse("beside", reason))
        self._lay_out()
        self._make_menus()
        self.clock = FrameClock(session, self.history, self._slow_update, self)
        session.changed.connect(self._refresh)
        session.logged.connect(self.log.add)
        session.refused.connect(self.notice.refuse)
        session.accepted.connect(lambda _what: self.notice.clear())
        self.reporting.changed.connect(self._refresh)
        self.runs.report_asked.connect(lambda run, place, by: self.reporting.make([run], place, by))
        self.motion.words.operator_changed.connect(session.set_operator)
        self.motion.words.note_changed.connect(self.runs.set_note)
        self._restore()
        self._refresh()
        self.operate.buttons[Action.CONNECT].setFocus()
        self.stop_everywhere = StopEverywhere(self.stop_button, lambda source: session.stop(1, source))
        self.press_guard = PressGuard(self)
        self.clock.start()
        self._building = InParts(self)  # dozens of plots: neither the window nor what is pressed waits for them
        self._building.finished.connect(self.docking.restore)
        live = (self._build_pictures(), self._build_live(), self._build_dashboards(), self._build_platform())
        self._building.take(*live, self._build_recordings())
        self._building.start(_PAINTED)

    @property
    def complete(self) -> bool:
        """Whether every view is there; the window shows before."""
        return self._building.done

    # -- what is on the window ---------------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        self.report = give(QtWidgets.QPushButton(tr("Open report")), "report")
        self.report.setAccessibleName(tr("Make and open the report of the recording"))
        self.report.clicked.connect(lambda: self.reporting.make())
        steps = (self.operate, self.report)
        body = Body(self.banner, steps, self.side, (self.runs.card, self.motion.transport))
        self.splitter = body.splitter
        self.setCentralWidget(body)

    def _build_pictures(self) -> Iterator[None]:
        self._shapes, faults = shapes_of(self.session.config)
        for fault in faults:
            self.session.log("warning", "app", fault)
        yield
        gl_problem()  # the first look at it takes its time
        yield
        theme = self.theme
        parts = (self.jog, self.motion, self._settings)
        self.pictures = Pictures(self.session.config, self._shapes, theme, *parts)
        yield from self.pictures.build()
        self._theme_late(theme, *self.pictures.themed)
        self.clock.views += self.pictures.views
        self._say_what_is_past(self.session.phase)

    def _build_live(self) -> Iterator[None]:
        theme = self.theme
        self.live = LiveView(theme, whole=False)
        self._closers.append(self.live.close_worker)
        yield
        yield from self.live.build()
        self.live.set_shapes(self._shapes)
        self.live.set_mechanism(self.session.config.machine, self.session.config.control.coulomb_speed)
        yield
        self._add_view(self.live, self.live_page, theme)
        self.live.restore(self._settings, "live")

    def _build_dashboards(self) -> Iterator[None]:
        theme = self.theme
        self.dashboards = DashboardViews(self._settings, theme)
        yield from self.dashboards.build()
        self._closers.append(self.dashboards.view.close_worker)
        self.dashboards.view.set_shapes(self._shapes)
        self.dashboards.view.set_mechanism(self.session.config.machine, self.session.config.control.coulomb_speed)
        yield
        self._add_view(self.dashboards.view, self.dashboards_page, theme)

    def _build_platform(self) -> Iterator[None]:
        theme = self.theme
        self.platform = PlatformView(theme)
        self._closers.append(self.platform.close_worker)
        yield
        self.platform.set_shapes(self._shapes)
        self.platform.set_mechanism(self.session.config.machine)
        yield
        self._add_view(self.platform, self.platform_page, theme)
        self.platform.restore(self._settings, "platform")

    def _build_recordings(self) -> Iterator[None]:
        theme = self.theme
        live = LiveView(theme, replayed=True, whole=False)
        self._closers.append(live.close_worker)
        yield
        self.recordings = RecordingsView(
            theme,
            show_file=lambda path: self.reporting.open_file(path),
            obstacle=lambda: heavy_work_obstacle(self.session.situation),
            live=live,
        )
        self._closers.append(self.recordings.close_worker)
        yield
        yield from self.recordings.build()
        self.recordings.list.identified.connect(self.calibrate.identify.start)
        self.recordings.set_folder(self.session.folder)
        yield
        self.runs_page = RunsPage(lambda: heavy_work_obstacle(self.session.situation))
        self._closers.append(self.runs_page.close_worker)
        self.runs_page.not_recorded = lambda: self.session.recording_fault
        connect_runs(self.runs_page, self.recordings, self.reporting, self.runs)
        yield
        self.dashboards.add_to(self.recordings.live, self._settings, theme)
        yield
        self.recordings.set_shapes(self._shapes)
        self.recordings.set_mechanism(self.session.config.machine)
        yield
        self._add_view(self.recordings, self.recordings_page, theme)
        self.recordings.restore(self._settings)

    def _add_view(self, view: LiveView | PlatformView | RecordingsView, page: Page, theme: Theme) -> None:
        page.fill(view)
        self._theme_late(theme, view.set_theme)
        self.clock.views.append(view)
        self._say_what_is_past(self.session.phase)

    def _theme_late(self, theme: Theme, *themed: Callable[[Theme], None]) -> None:
        """Have what was made in a theme follow from now on; somebody may have chosen another one meanwhile."""
        self._themed += themed
        if theme is not self.theme:
            for take in themed:
                take(self.theme)

    def _make_menus(self) -> None:
        rig = self.menuBar().addMenu(tr("&Rig"))
        self._add_action(rig, tr("Open &motion …"), self.opening.ask, "Ctrl+O", "open")
        self._add_action(rig, tr("Open &report"), lambda: self.reporting.make(), "Ctrl+R", "report")
        self.calibrate = CalibrateMenu(self.session, self, lambda: self.theme)
        self.calibrate.motion_wanted.connect(self.opening.take)
        rig.addMenu(self.calibrate)
        self.telemetry = TelemetryMenu(self.session, self.notice.remark, self.notice.refuse, self)
        rig.addMenu(self.telemetry)
        rig.addSeparator()
        self.setup = SetupEntry(self.session, rig, self)
        self.other = OtherRig(rig, lambda: self.setup.against, self.notice.refuse, self)
        self.setup.finished.connect(self.other.open)
        self.closing.stayed.connect(self.other.window_stays)
        self._add_action(rig, tr("&Quit"), self.close, "Ctrl+Q", "quit")
        self.view = ViewMenu(self.theme.name, self.use_theme, self.tabs, self.docking, self.notice.remark, self.sounds)
        self.menuBar().addMenu(self.view)
        self.help = HelpMenu(self)

    def _add_action(
        self, menu: QtWidgets.QMenu, text: str, act: Callable[..., object], shortcut: str, meaning: str
    ) -> None:
        action = give(menu.addAction(text), meaning)
        action.triggered.connect(act)
        action.setShortcut(QtGui.QKeySequence(shortcut))

    def use_theme(self, name: str) -> None:
        """Take the dark or the light look, a little at a time."""
        self.theme = THEMES[name]
        self._dressing.take(self._dress(self.theme))
        self._dressing.start(0)

    def _dress(self, theme: Theme) -> Iterator[None]:
        widgets = dress(QtWidgets.QApplication.instance(), theme)
        next(widgets, None)
        for take in self._themed:
            yield
            take(theme)
        yield
        yield from widgets

    # -- following the rig -------------------------------------------------------------------------------------------

    def _refresh(self) -> None:
        now = self.session.situation
        self.banner.show_situation(now)
        self.notice.follow(now)
        cause = [detail_of(now)] if now.status is not None and now.status.finding is not None else []
        virtual = [tr("VIRTUAL RIG")] if now.virtual else []
        title = " – ".join((state_style(now).text, *cause, *virtual, self.session.config.name, _TITLE))
        if title != self.windowTitle():
            self.setWindowTitle(title)
        self.view.guard(self.session.torque)
        self.other.refresh()
        self._say_what_is_past(now.phase)
        reason = self.reporting.obstacle
        self.report.setEnabled(not reason)
        self.report.setToolTip(
            reason or tr("Make the report of {recording} and open it").format(recording=now.recording)
        )
        self.report.setText(tr("Making the report …") if self.reporting.maker.busy else tr("Open report"))

    def _press(self, action: Action) -> None:
        (self.motion.pause if action is Action.PAUSE else self.operate.buttons[action]).click()

    def _repair(self, repair: Repair) -> None:
        """Press what mends a refusal, or lead to it where that brings torque or takes several steps."""
        if repair.action is not None:
            self._press(repair.action)
        elif repair.remedy in (Remedy.TEST_LEGS, Remedy.ZERO_CELLS):
            if self.setup.obstacle:
                self.notice.refuse(mark("set up"), self.setup.obstacle)
            else:
                self.setup.start()
        elif repair.remedy is Remedy.STOP:
            self.stop_button.setFocus()
        elif repair.remedy in (Remedy.HOME, Remedy.ENGAGE):
            self.operate.show_button(Action.HOME if repair.remedy is Remedy.HOME else Action.ENGAGE)
        else:
            self.tabs.setCurrentWidget(self.motion)
            (self.motion.resume if repair.remedy is Remedy.RESUME else self.motion.run).setFocus()

    def _say_what_is_past(self, phase: Phase) -> None:
        """Platforms that are drawn stand still without an engine."""
        past = tr("The engine died") if phase is Phase.DIED else ""
        past = tr("Not connected") if phase in (Phase.DOWN, Phase.ENDING) else past
        for view in self.clock.views:
            if isinstance(view, PlatformView):
                view.set_past(past)
            elif isinstance(view, LiveView):
                view.beside.set_past(past)

    def _slow_update(self, row: "np.void | None") -> None:
        up = self.session.phase is Phase.UP
        size, room, status = None, math.inf, self.session.status
        if self.session.recording is not None and status is not None:
            with contextlib.suppress(OSError):
                size, room = self.session.recording.stat().st_size, status.recording_room if up else math.inf
        self.banner.show_figures(self.clock.meter.figures() if up and not self.session.silent else None, size, room)
        if row is not None and up and self.session.status is not None and self.session.status.state is not State.OFF:
            self.operate.show_row(row, self.session.status.echo_lag, self.session.status.drives)

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        """Once it is on the screen there is time to build the views."""
        super().paintEvent(event)
        self._building.setInterval(0)

    # -- closing -----------------------------------------------------------------------------------------------------

    def closeEvent(self, event: QtGui.QCloseEvent) -> None:
        """Go once nothing is left that would have to end before; see `Closing`."""
        if self.closing.request():
            self.other.window_closes()
            self.close_now()
            event.accept()
        else:
            event.ignore()

    def close_now(self) -> None:
        """Keep layout and look, and end every thread and process. May be called again."""
        self.clock.stop()
        self._building.stop()
        self._dressing.stop()
        self.stop_everywhere.remove()
        self.press_guard.remove()
        self.sounds.close()
        self.reporting.close()
        self.runs.close()
        self.setup.close()
        self.calibrate.close_wizards()
        self.telemetry.close_streams()
        self.docking.close()
        for close in self._closers:
            close()
        if self.complete:
            self.pictures.close()
            self.live.save(self._settings, "live")
            self.dashboards.close(self._settings)
            self.platform.save(self._settings, "platform")
            self.recordings.save(self._settings)
        self.motion.close_worker()
        self.jog.pad.close_pad()
        self.mover.close()
        self.session.close()
        settings = self._settings
        settings.setValue("theme", self.theme.name)
        settings.setValue("geometry", self.saveGeometry())
        settings.setValue("splitter", self.splitter.saveState())
        settings.setValue("motion splitter", self.motion.splitter.saveState())
        settings.setValue("tab", tab_name(self.tabs, self.tabs.currentIndex()))
        self.jog.save(settings)
        settings.setValue("operator", self.motion.words.operator.text())
        settings.sync()

    def _restore(self) -> None:
        settings = self._settings
        at_once(self._dress(self.theme))
        geometry = settings.value("geometry")
        if not isinstance(geometry, QtCore.QByteArray) or not self.restoreGeometry(geometry):
            self.resize(_SIZE)
        room = self.screen().availableSize()
        self.resize(self.size().boundedTo(room - _FRAME).expandedTo(self.minimumSizeHint()))
        self.jog.restore(settings)
        self.motion.words.operator.setText(str(settings.value("operator", "")))
        self._restore_splitter("splitter", self.splitter)
        self._restore_splitter("motion splitter", self.motion.splitter)
        titles = [tab_name(self.tabs, index) for index in range(self.tabs.count())]
        wanted = settings.value("tab", titles[0])
        if wanted in titles:
            self.tabs.setCurrentIndex(titles.index(wanted))

    def _restore_splitter(self, key: str, splitter: QtWidgets.QSplitter) -> None:
        state = self._settings.value(key)
        if isinstance(state, QtCore.QByteArray):  # somebody may have edited the file
            splitter.restoreState(state)
