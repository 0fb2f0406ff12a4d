"""The pages with views: created after the window is shown, refreshed by the frame clock."""

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
from gui.shell.appearance import Appearance
from gui.shell.event_log import EventLog
from gui.texts import mark, tr
from gui.widgets import IncrementalBuild, Theme, put_tab
from rig.config import RigConfig

_JOG = "jog/platform"
_HISTORY = 120.0  # s of telemetry for the views
_PAINTED = 1000  # ms after which the views are created even if the window was not painted
_FILE = "dashboards.toml"
_LIVE, _RECORDED = "dashboards", "recordings/dashboards"


class Tabs(QtWidgets.QTabWidget):
    """Tabs with an accessible name, sized for the current page only: a wide page does not clip others."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setDocumentMode(True)
        self.tabBar().setDrawBase(False)
        self.setAccessibleName(name)
        self.currentChanged.connect(lambda _index: self.updateGeometry())

    def minimumSizeHint(self) -> QtCore.QSize:
        """The hint of the current page with the tab bar."""
        page, stack = self.currentWidget(), self.findChild(QtWidgets.QStackedWidget)
        needed = QtCore.QSize() if page is None else page.minimumSizeHint().expandedTo(page.minimumSize())
        around = super().minimumSizeHint().height() - stack.minimumSizeHint().height()
        return QtCore.QSize(max(needed.width(), self.tabBar().minimumSizeHint().width()), needed.height() + around)


class Page(QtWidgets.QWidget):
    """A tab with a placeholder until its view is created."""

    def __init__(self) -> None:
        super().__init__()
        self._layout = QtWidgets.QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._coming = QtWidgets.QLabel(tr("This page is loading …"))
        self._coming.setObjectName("muted")
        self._coming.setAlignment(QtCore.Qt.AlignmentFlag.AlignCenter)
        self._layout.addWidget(self._coming)

    def fill(self, view: QtWidgets.QWidget) -> None:
        """Insert the view."""
        self._coming.hide()
        self._layout.addWidget(view)


class Pictures:
    """The platform view in the panel Jog, and the motion view in the panel Motion; created by `build`.

    Args:
        config: the rig.
        shapes: custom meshes.
        theme: colours.
        jog, motion: the panels.
        settings: their saved state.
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
        """Create the views one by one, in steps."""
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
        jog.add_picture(self.jog)
        yield
        self.motion = MotionPlayer(self._config, self._theme, self._shapes)
        yield
        motion.sights.show_in_space(self.motion)
        yield

    @property
    def views(self) -> "tuple[PlatformView, MotionPlayer]":
        """Views for the frame clock."""
        return self.jog, self.motion

    @property
    def themed(self) -> "list[Callable[[Theme], None]]":
        """Views that follow the theme; the motion view follows with its panel."""
        return [self.jog.set_theme]

    def close(self) -> None:
        """Save their state, and finish writing pictures."""
        self.jog.save(self._settings, _JOG)
        self.jog.close_worker()


class DashboardViews:
    """Dashboards of live telemetry and of recordings, in one file; `build` creates the live ones.

    Args:
        settings: their saved state.
        theme: colours.
    """

    def __init__(self, settings: QtCore.QSettings, theme: Theme) -> None:
        self.dashboards = Dashboards(Path(settings.fileName()).with_name(_FILE))
        self._settings, self._theme = settings, theme
        self.recorded: DashboardPage | None = None

    def build(self) -> Iterator[None]:
        """Create page and view."""
        self.page = DashboardPage(self.dashboards, self._theme)
        yield
        self.view = LiveView(self._theme, alone=self.page)
        yield
        self.view.restore(self._settings, _LIVE)
        self.page.restore(self._settings, _LIVE)
        yield

    def add_to(self, recordings: LiveView, settings: QtCore.QSettings, theme: Theme) -> None:
        """Add a page of dashboards to a recordings view."""
        self.recorded = DashboardPage(self.dashboards, theme)
        self.recorded.restore(settings, _RECORDED)
        recordings.add_page(self.recorded.accessibleName(), self.recorded)

    def close(self, settings: QtCore.QSettings) -> None:
        """Save their state, and end the export threads. May be called again."""
        self.view.close_worker()
        self.view.save(settings, _LIVE)
        self.page.save(settings, _LIVE)
        if self.recorded is not None:
            self.recorded.save(settings, _RECORDED)


class Views(QtCore.QObject):
    """The pages with views, present from the start; `begin` fills them.

    Signals: `identified(path)`: identify masses and inertias from a recording.

    Args:
        session: the rig.
        appearance: of the window.
        jog, motion: panels with a view of the machine.
        runs: judges runs and makes reports.
    """

    identified = QtCore.Signal(object)

    def __init__(
        self,
        session: RigSession,
        appearance: Appearance,
        jog: JogPanel,
        motion: MotionPanel,
        runs: RunDesk,
    ) -> None:
        super().__init__(appearance)
        self._session, self._appearance, self._settings, self._runs = session, appearance, appearance.settings, runs
        self._panels = jog, motion
        self.history = History(int(_HISTORY * session.config.rate))
        self.clock = FrameClock(session, self.history, self)
        self.live_page, self.dashboards_page, self.platform_page, self.recordings_page = (Page() for _ in range(4))
        self.log = EventLog(appearance.theme)
        appearance.follow(appearance.theme, self.log.set_theme)
        session.logged.connect(self.log.add)
        session.changed.connect(self._follow)
        self._closers: list[Callable[[], None]] = []
        """Functions that end the views' threads."""
        self.building = IncrementalBuild(self)  # dozens of plots, created without blocking the window

    @property
    def watching(self) -> tuple[QtWidgets.QWidget, ...]:
        """Pages that command nothing."""
        return self.live_page, self.dashboards_page, self.platform_page, self.recordings_page, self.log

    def begin(self) -> None:
        """Start creating and refreshing."""
        self.clock.start()
        live = (self._build_pictures(), self._build_live(), self._build_dashboards(), self._build_platform())
        self.building.replace(*live, self._build_recordings())
        self.building.start(_PAINTED)

    def _build_pictures(self) -> Iterator[None]:
        self._shapes, faults = shapes_of(self._session.config)
        for fault in faults:
            self._session.log("warning", "app", fault)
        yield
        gl_problem()  # slow on its first call
        yield
        theme = self._appearance.theme
        parts = (*self._panels, self._settings)
        self.pictures = Pictures(self._session.config, self._shapes, theme, *parts)
        yield from self.pictures.build()
        self._appearance.follow(theme, *self.pictures.themed)
        self.clock.views += self.pictures.views
        self._follow()

    def _build_live(self) -> Iterator[None]:
        theme = self._appearance.theme
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
        theme = self._appearance.theme
        self.dashboards = DashboardViews(self._settings, theme)
        yield from self.dashboards.build()
        self._closers.append(self.dashboards.view.close_worker)
        self.dashboards.view.set_shapes(self._shapes)
        self.dashboards.view.set_mechanism(self._session.config.machine, self._session.config.control.coulomb_speed)
        channels = [options.meaning for options in self._session.config.sensors]
        self.dashboards.view.set_sensors(channels, self._session.sensor_series)
        yield
        self._add_view(self.dashboards.view, self.dashboards_page, theme)

    def _build_platform(self) -> Iterator[None]:
        theme = self._appearance.theme
        self.platform = PlatformView(theme)
        self._closers.append(self.platform.close_worker)
        yield
        self.platform.set_shapes(self._shapes)
        self.platform.set_mechanism(self._session.config.machine)
        yield
        self._add_view(self.platform, self.platform_page, theme)
        self.platform.restore(self._settings, "platform")

    def _build_recordings(self) -> Iterator[None]:
        theme = self._appearance.theme
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
        self._appearance.follow(theme, view.set_theme)
        self.clock.views.append(view)
        self._follow()

    def _connect_runs(self, page: RunsPage, recordings: RecordingsView) -> None:
        """Add the list of runs to the recordings, and connect both."""
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
        desk.changed.connect(page.reload)

    def _follow(self) -> None:
        """Mark platform views as past without an engine."""
        past = past_of(self._session.phase)
        for view in self.clock.views:
            if isinstance(view, PlatformView):
                view.set_past(past)
            elif isinstance(view, LiveView):
                view.platform_split.set_past(past)

    def close(self) -> None:
        """Save the state of the views, and end their threads. May be called again."""
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
