"""The main window: banner, panels, and closing."""

from collections.abc import Sequence
from typing import NamedTuple

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.models import Action, Repair, title_of
from gui.motion import FollowPanel, MotionPanel
from gui.operate import CueingPanel, FaultsPanel, JogPanel, OperatePanel
from gui.runs import RunDesk
from gui.session import Mover, RigSession, StopButton, StopEverywhere
from gui.shell.appearance import Appearance
from gui.shell.banner import Banner
from gui.shell.closing import Closing
from gui.shell.docking import Docking, SideBySide
from gui.shell.menus import Menus
from gui.shell.views import Tabs, Views
from gui.texts import mark, tr
from gui.widgets import PressGuard, put_tab
from rig.findings import Remedy

_STEPS, _PAGES = 290, 990  # px at first
_LEAST = 270  # px


class Guards(NamedTuple):
    """Event filters of the whole app."""

    stop: StopEverywhere
    press: PressGuard


class MainWindow(QtWidgets.QMainWindow):
    """The operator's window: assembles panels, pages and menus, which have their own logic.

    Args:
        session: the rig.
        settings: store of layout and look.
    """

    def __init__(self, session: RigSession, settings: QtCore.QSettings) -> None:
        super().__init__()
        self.session = session
        self.appearance = Appearance(self, settings)
        self.stop_button = StopButton(lambda: session.stop(1, "button"))
        self.banner = Banner(self.stop_button, session.config.virtual is not None, session.config.safety.off)
        notice, mover = self.banner.notice, Mover(session, self)
        self.runs = RunDesk(session, self)
        self.operate = OperatePanel(session)
        self.motion = MotionPanel(session, mover, self.appearance.theme)
        self.follow = FollowPanel(session, mover)
        self.jog = JogPanel(session, mover)
        self.views = views = Views(session, self.appearance, self.jog, self.motion, self.runs)
        pages: list[tuple[str, QtWidgets.QWidget]] = [
            (mark("Motion"), self.motion),
            (mark("Follow"), self.follow),
            (mark("Jog"), self.jog),
            (mark("Live"), views.live_page),
            (mark("Dashboards"), views.dashboards_page),
            (mark("3-D view"), views.platform_page),
            (mark("Recordings"), views.recordings_page),
            (mark("Event log"), views.log),
        ]
        if session.config.stream.cue is not None:
            pages.insert(2, (mark("Cueing"), CueingPanel(session, self.follow.receiving)))
        if session.config.virtual is not None:
            self.faults = FaultsPanel(session)
            pages.insert(-1, (mark("Faults"), self.faults))
        self.tabs = Tabs(tr("Panels"))
        for name, page in pages:
            put_tab(self.tabs, page, name)
        side = SideBySide(self.tabs)
        self.docking = Docking(side, self.tabs, views.watching, lambda: session.stop(1, "button"), settings)
        body = Body(
            self.banner,
            (self.operate, self.runs.reporting.button),
            side,
            (self.runs.card, self.motion.transport),
        )
        self.setCentralWidget(body)
        self.menus = Menus(self, session, self.appearance, self.motion, self.docking, self.runs, notice.remark)
        self.closing = Closing(session, self, self.motion.confirm_discard)
        self._connect()
        self.appearance.follow(self.appearance.theme, self.motion.set_theme)
        self.appearance.restore({"splitter": body.splitter, "motion splitter": self.motion.splitter}, self.tabs)
        self.jog.restore(settings)
        self.motion.words.restore(settings)
        self._refresh()
        self.operate.buttons[Action.CONNECT].setFocus()
        self.guards = Guards(StopEverywhere(self.stop_button, lambda source: session.stop(1, source)), PressGuard(self))
        views.begin()

    def _connect(self) -> None:
        session, notice, views, runs, menus = self.session, self.banner.notice, self.views, self.runs, self.menus
        session.changed.connect(self._refresh)
        session.refused.connect(notice.refuse)
        session.accepted.connect(lambda _what: notice.clear())
        self.banner.remedy_requested.connect(self._press)
        notice.repair_requested.connect(self._repair)
        self.docking.refused.connect(lambda reason: notice.refuse(mark("split view"), reason))
        runs.reporting.remarked.connect(notice.remark)
        runs.follow_motion(self.motion.document)
        self.motion.words.operator_changed.connect(session.set_operator)
        self.motion.words.note_changed.connect(runs.set_note)
        views.identified.connect(menus.calibrate.identify.start)
        views.building.finished.connect(self.docking.restore)
        views.clock.slow.connect(lambda _row: self.banner.show_cycle(session.situation, views.clock.meter.figures()))
        views.clock.slow.connect(self.operate.show_newest)
        self.closing.ended.connect(self.close, QtCore.Qt.ConnectionType.QueuedConnection)
        self.closing.stayed.connect(menus.other.window_stays)

    @property
    def complete(self) -> bool:
        """Whether every view has been created; the window is shown before."""
        return self.views.building.done

    def _refresh(self) -> None:
        now = self.session.situation
        self.banner.show_situation(now)
        self.banner.notice.follow(now)
        title = title_of(now, self.session.config.name)
        if title != self.windowTitle():
            self.setWindowTitle(title)

    def _press(self, action: Action) -> None:
        (self.motion.pause if action is Action.PAUSE else self.operate.buttons[action]).click()

    def _repair(self, repair: Repair) -> None:
        """Carry out a repair, or show its control if it enables torque or takes several steps."""
        if repair.action is not None:
            self._press(repair.action)
            return
        ways = {
            Remedy.TEST_LEGS: self.menus.set_up,
            Remedy.ZERO_CELLS: self.menus.set_up,
            Remedy.STOP: self.stop_button.setFocus,
            Remedy.HOME: lambda: self.operate.show_button(Action.HOME),
            Remedy.ENGAGE: lambda: self.operate.show_button(Action.ENGAGE),
            Remedy.RESUME: lambda: self._show_motion(self.motion.resume),
            Remedy.MOVE_TO_START: lambda: self._show_motion(self.motion.run),
        }
        ways[repair.remedy]()

    def _show_motion(self, button: QtWidgets.QWidget) -> None:
        self.tabs.setCurrentWidget(self.motion)
        button.setFocus()

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        """Start creating the views after the first paint."""
        super().paintEvent(event)
        self.views.building.setInterval(0)

    def closeEvent(self, event: QtGui.QCloseEvent) -> None:
        """Close once all processes have ended; see `Closing`."""
        if self.closing.request():
            self.menus.other.window_closes()
            self.close_now()
            event.accept()
        else:
            event.ignore()

    def close_now(self) -> None:
        """Save layout and look, and end every thread and process. May be called again."""
        for guard in self.guards:
            guard.remove()
        for owner in (self.runs, self.menus, self.docking, self.views):
            owner.close()
        self.motion.close_worker()
        self.follow.close_receiver()
        self.jog.pad.close_pad()
        self.motion.mover.close()
        self.session.close()
        for part in (self.jog, self.motion.words):
            part.save(self.appearance.settings)
        self.appearance.close()


class _Column(QtWidgets.QWidget):
    """As wide as its content, which depends on the language, and at least `_LEAST`."""

    def minimumSizeHint(self) -> QtCore.QSize:
        """See the class."""
        return super().minimumSizeHint().expandedTo(QtCore.QSize(_LEAST, 0))


class Body(QtWidgets.QWidget):
    """Layout of the window: banner, steps next to the pages, and widgets below. `splitter` divides the middle.

    Args:
        banner: state and STOP.
        steps: stacked; the first one grows.
        pages: scroll on a small screen, where STOP stays visible.
        below: stacked.
    """

    def __init__(
        self,
        banner: QtWidgets.QWidget,
        steps: Sequence[QtWidgets.QWidget],
        pages: QtWidgets.QWidget,
        below: Sequence[QtWidgets.QWidget],
    ) -> None:
        super().__init__()
        side = _Column()
        column = QtWidgets.QVBoxLayout(side)
        column.setContentsMargins(6, 4, 6, 6)
        for place, step in enumerate(steps):
            column.addWidget(step, 0 if place else 1)
        scrolled = QtWidgets.QScrollArea()
        scrolled.setWidgetResizable(True)
        scrolled.setFrameShape(QtWidgets.QFrame.Shape.NoFrame)
        scrolled.setWidget(pages)
        self.splitter = QtWidgets.QSplitter()
        self.splitter.addWidget(side)
        self.splitter.addWidget(scrolled)
        self.splitter.setStretchFactor(1, 1)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.setSizes([_STEPS, _PAGES])
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(banner)
        layout.addWidget(self.splitter, 1)
        for widget in below:
            layout.addWidget(widget)
