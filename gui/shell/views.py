"""The pages that watch: what is built after the window shows, and the clock that refreshes all of it."""

from collections.abc import Callable, Iterator
from pathlib import Path

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.dashboard import DashboardPage, Dashboards
from gui.live import LiveView, PlatformView, RecordingsView
from gui.models import History, heavy_work_obstacle, past_of
from gui.motion import MotionPanel, MotionPlayer
from gui.operate import JogPanel
from gui.runs import RunDesk, RunsPage
from gui.scene import Shapes, gl_problem, shapes_of
from gui.session import FrameClock, RigSession
from gui.shell.event_log import EventLog
from gui.shell.look import Look
from gui.texts import mark, tr
from gui.widgets import InParts, Theme, put_tab
from rig.config import RigConfig

_JOG = "jog/platform"
_HISTORY = 120.0  # s of telemetry that the views reach back
_PAINTED = 1000  # ms after which the views are built although nobody has seen the window
_FILE = "dashboards.toml"
_LIVE, _RECORDED = "dashboards", "recordings/dashboards"


class Tabs(QtWidgets.QTabWidget):
    """Tabs, with an accessible name, that need the room of the page in view alone: a wide one cuts off no other."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setDocumentMode(True)
        self.tabBar().setDrawBase(False)
        self.setAccessibleName(name)
        self.currentChanged.connect(lambda _index: self.updateGeometry())

    def minimumSizeHint(self) -> QtCore.QSize:
        """That of the page in view, below the tabs."""
        page, stack = self.currentWidget(), self.findChild(QtWidgets.QStackedWidget)
        needed = QtCore.QSize() if page is None else page.minimumSizeHint().expandedTo(page.minimumSize())
        around = super().minimumSizeHint().height() - stack.minimumSizeHint().height()
        return QtCore.QSize(max(needed.width(), self.tabBar().minimumSizeHint().width()), needed.height() + around)


class Page(QtWidgets.QWidget):
    """A tab whose view comes later, and says so until then."""

    def __init__(self) -> None:
        super().__init__()
        self._layout = QtWidgets.QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._coming = QtWidgets.QLabel(tr("This page is loading …"))
        self._coming.setObjectName("muted")
        self._coming.setAlignment(QtCore.Qt.AlignmentFlag.AlignCenter)
        self._layout.addWidget(self._coming)

    def fill(self, view: QtWidgets.QWidget) -> None:
        """Put the view in."""
        self._coming.hide()
        self._layout.addWidget(view)


class Pictures:
    """The platform drawn in the panel Jog, and the motion's in the panel Motion; `build` makes and places them.

    Args:
        config: the rig.
        shapes: the owner's own.
        theme: colours.
        jog, motion: the panels.
        settings: what was kept of them.
    """

    def __init__(
        self,
        config: RigConfig,
        shapes: Shapes,
        theme: Theme,
        jog: JogPanel,
        motion: MotionPanel,
        settings: QtCore.QSettings,
    ) -> None:
        self._config, self._shapes, self._theme, self._settings = config, shapes, theme, settings
        self._panels = jog, motion

    def build(self) -> Iterator[None]:
        """Make the views one after the other, in steps."""
        jog, motion = self._panels
        self.jog = PlatformView(self._theme, bare=True)
        yield
        self.jog.set_shapes(self._shapes)
        self.jog.set_mechanism(self._config.machine)
        yield
        self.jog.restore(self._settings, _JOG)
        jog.drag.show_on(self.jog.picture)
        self.jog.controls.addWidget(jog.drag.switch)
        self.jog.layout().addWidget(jog.drag.bar)
        jog.show_beside(self.jog)
        yield
        self.motion = MotionPlayer(self._config, self._theme, self._shapes)
        yield
        motion.sights.show_in_space(self.motion)
        yield

    @property
    def views(self) -> "tuple[PlatformView, MotionPlayer]":
        """What the clock of frames refreshes."""
        return self.jog, self.motion

    @property
    def themed(self) -> "list[Callable[[Theme], None]]":
        """What takes another theme; the motion's own does with its panel."""
        return [self.jog.set_theme]

    def close(self) -> None:
        """Keep what is shown, and finish pictures that are being written."""
        self.jog.save(self._settings, _JOG)
        self.jog.close_worker()


class DashboardViews:
    """Dashboards of live telemetry and of recordings, saved in one file; `build` makes the live ones.

    Args:
        settings: what was kept of them.
        theme: colours.
    """

    def __init__(self, settings: QtCore.QSettings, theme: Theme) -> None:
        self.kept = Dashboards(Path(settings.fileName()).with_name(_FILE))
        self._settings, self._theme = settings, theme
        self.recorded: DashboardPage | None = None

    def build(self) -> Iterator[None]:
        """Make page and view."""
        self.page = DashboardPage(self.kept, self._theme)
        yield
        self.view = LiveView(self._theme, alone=self.page)
        yield
        self.view.restore(self._settings, _LIVE)
        self.page.restore(self._settings, _LIVE)
        yield

    def add_to(self, recordings: LiveView, settings: QtCore.QSettings, theme: Theme) -> None:
        """Put a page of dashboards to those of a recording."""
        self.recorded = DashboardPage(self.kept, theme)
        self.recorded.restore(settings, _RECORDED)
        recordings.add_page(self.recorded.accessibleName(), self.recorded)

    def close(self, settings: QtCore.QSettings) -> None:
        """Keep what is shown how, and end the threads of exports. May be called again."""
        self.view.close_worker()
        self.view.save(settings, _LIVE)
        self.page.save(settings, _LIVE)
        if self.recorded is not None:
            self.recorded.save(settings, _RECORDED)


class Views(QtCore.QObject):
    """The pages that watch, each in its place from the beginning; `begin` has the views come into them.

    Signals: `identified(path)`: masses and inertias are wanted of a recording.

    Args:
        session: the rig.
        look: of the window.
        jog, motion: panels that have the machine drawn beside them.
        runs: judges runs and makes reports.
    """

    identified = QtCore.Signal(object)

    def __init__(
        self,
        session: RigSession,
        look: Look,
        jog: JogPanel,
        motion: MotionPanel,
        runs: RunDesk,
    ) -> None:
        super().__init__(look)
        self._session, self._look, self._settings, self._runs = session, look, look.settings, runs
        self._panels = jog, motion
        self.history = History(int(_HISTORY * session.config.rate))
        self.clock = FrameClock(session, self.history, self)
        self.live_page, self.dashboards_page, self.platform_page, self.recordings_page = (Page() for _ in range(4))
        self.log = EventLog(look.theme)
        look.follow(look.theme, self.log.set_theme)
        session.logged.connect(self.log.add)
        session.changed.connect(self._follow)
        self._closers: list[Callable[[], None]] = []
        """ends the threads of views"""
        self.building = InParts(self)  # dozens of plots: neither the window nor what is pressed waits for them

    @property
    def watching(self) -> tuple[QtWidgets.QWidget, ...]:
        """The pages, which command nothing."""
        return self.live_page, self.dashboards_page, self.platform_page, self.recordings_page, self.log

    def begin(self) -> None:
        """Begin to build, and to refresh."""
        self.clock.start()
        live = (self._build_pictures(), self._build_live(), self._build_dashboards(), self._build_platform())
        self.building.take(*live, self._build_recordings())
        self.building.start(_PAINTED)

    def _build_pictures(self) -> Iterator[None]:
        self._shapes, faults = shapes_of(self._session.config)
        for fault in faults:
            self._session.log("warning", "app", fault)
        yield
        gl_problem()  # the first look at it takes its time
        yield
        theme = self._look.theme
        parts = (*self._panels, self._settings)
        self.pictures = Pictures(self._session.config, self._shapes, theme, *parts)
        yield from self.pictures.build()
        self._look.follow(theme, *self.pictures.themed)
        self.clock.views += self.pictures.views
        self._follow()

    def _build_live(self) -> Iterator[None]:
        theme = self._look.theme
        self.live = LiveView(theme, whole=False)
        self._closers.append(self.live.close_worker)
        yield
        yield from self.live.build()
        self.live.set_shapes(self._shapes)
        self.live.set_mechanism(self._session.config.machine, self._session.config.control.coulomb_speed)
        yield
        self._add_view(self.live, self.live_page, theme)
        self.live.restore(self._settings, "live")

    def _build_dashboards(self) -> Iterator[None]:
        theme = self._look.theme
        self.dashboards = DashboardViews(self._settings, theme)
        yield from self.dashboards.build()
        self._closers.append(self.dashboards.view.close_worker)
        self.dashboards.view.set_shapes(self._shapes)
        self.dashboards.view.set_mechanism(self._session.config.machine, self._session.config.control.coulomb_speed)
        yield
        self._add_view(self.dashboards.view, self.dashboards_page, theme)

    def _build_platform(self) -> Iterator[None]:
        theme = self._look.theme
        self.platform = PlatformView(theme)
        self._closers.append(self.platform.close_worker)
        yield
        self.platform.set_shapes(self._shapes)
        self.platform.set_mechanism(self._session.config.machine)
        yield
        self._add_view(self.platform, self.platform_page, theme)
        self.platform.restore(self._settings, "platform")

    def _build_recordings(self) -> Iterator[None]:
        theme = self._look.theme
        live = LiveView(theme, replayed=True, whole=False)
        self._closers.append(live.close_worker)
        yield
        self.recordings = RecordingsView(
            theme,
            show_file=lambda path: self._runs.reporting.open_file(path),
            obstacle=lambda: heavy_work_obstacle(self._session.situation),
            live=live,
        )
        self._closers.append(self.recordings.close_worker)
        yield
        yield from self.recordings.build()
        self.recordings.list.identified.connect(self.identified)
        self.recordings.set_folder(self._session.folder)
        yield
        self.runs_page = RunsPage(lambda: heavy_work_obstacle(self._session.situation))
        self._closers.append(self.runs_page.close_worker)
        self.runs_page.not_recorded = lambda: self._session.recording_fault
        self._connect_runs(self.runs_page, self.recordings)
        yield
        self.dashboards.add_to(self.recordings.live, self._settings, theme)
        yield
        self.recordings.set_shapes(self._shapes)
        self.recordings.set_mechanism(self._session.config.machine)
        yield
        self._add_view(self.recordings, self.recordings_page, theme)
        self.recordings.restore(self._settings)

    def _add_view(self, view: LiveView | PlatformView | RecordingsView, page: Page, theme: Theme) -> None:
        page.fill(view)
        self._look.follow(theme, view.set_theme)
        self.clock.views.append(view)
        self._follow()

    def _connect_runs(self, page: RunsPage, recordings: RecordingsView) -> None:
        """Put the list of runs before the files of recordings, and let each do what the other is asked for."""
        desk, make = self._runs, self._runs.reporting.make
        put_tab(recordings.tabs, page, mark("Runs"), 0)
        recordings.tabs.setCurrentWidget(page)
        page.set_folder(recordings.list.folder)
        recordings.list.moved.connect(page.set_folder)
        recordings.refreshed.connect(page.follow)
        page.opened.connect(lambda run: recordings.open(page.folder / run.run.recording, run))
        page.reported.connect(lambda runs: make(runs, "validation" if len(runs) == 1 else ""))
        page.printed.connect(lambda runs: make(runs, pdf=True))
        page.compared.connect(lambda runs: recordings.compare_runs(page.folder, runs))
        page.judged_by = lambda: desk.judged_by
        desk.changed.connect(page.look)

    def _follow(self) -> None:
        """Platforms that are drawn stand still without an engine."""
        past = past_of(self._session.phase)
        for view in self.clock.views:
            if isinstance(view, PlatformView):
                view.set_past(past)
            elif isinstance(view, LiveView):
                view.platform_split.set_past(past)

    def close(self) -> None:
        """Keep what is shown, and end the threads of views. May be called again."""
        self.clock.stop()
        self.building.stop()
        for close in self._closers:
            close()
        if self.building.done:
            self.pictures.close()
            self.live.save(self._settings, "live")
            self.dashboards.close(self._settings)
            self.platform.save(self._settings, "platform")
            self.recordings.save(self._settings)
