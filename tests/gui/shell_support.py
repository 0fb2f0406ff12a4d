"""A session without processes, and the window on it: what widgets do, seen without a rig."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from pyqtgraph.Qt import QtCore, QtTest, QtWidgets

from gui.application import garbage_searched_here
from gui.models.rules import Phase
from gui.motion.panel import MotionPanel
from gui.operate.jog_panel import JogPanel
from gui.session.mover import Mover
from gui.session.rig_session import RigSession
from gui.session.session_state import Done
from gui.session.stop_everywhere import StopButton
from gui.session.virtual_hardware import VirtualHardware
from gui.shell.main_window import MainWindow
from gui.widgets.theme import DARK, LIGHT, Theme, palette
from rig.config.rig_config import RigConfig, load_config
from rig.engine import ControlBlock, Event, Snapshot
from rig.findings import Code, Finding
from rig.states import State, StopSeverity
from rig.telemetry import ROW
from rig.virtual import ActiveFault, RigView

LEFT = QtCore.Qt.MouseButton.LeftButton
KEY = QtCore.Qt.Key
VIRTUAL = load_config("virtual")  # frozen: read once for all
_HOME = tuple(VIRTUAL.machine.geometry.home_pose.tolist())


def make_status(state: State = State.OFF, **changes: Any) -> Snapshot:
    """A status as an engine without trouble gives it in `state`; `cause`: what it says of a trouble, in words."""
    if "cause" in changes:
        cause = changes.pop("cause")
        changes["finding"] = Finding.of_text(cause) if cause else None
    status = Snapshot(
        state=state,
        stop=StopSeverity.NONE,
        t=10.0,
        finding=None,
        cause_t=0.0,
        latched=False,
        homed=state not in (State.OFF, State.IDLE, State.HOMING),
        paused=False,
        lease="rig gui",
        motion="",
        path_time=0.0,
        path_duration=0.0,
        reference=_HOME,
        cycles=5000,
        overruns=0,
        rate=500.0,
        virtual=True,
        realtime=(),
        recording="",
        rows=5000,
        dropped=0,
        recording_fault="",
        ring="",
    )
    return replace(status, **changes)


def make_event(finding: Finding | str, t: float = 1.0) -> Event:
    """An event of the engine's; a text is what it says in words."""
    found = finding if isinstance(finding, Finding) else Finding(Code.REALTIME, details={"text": finding})
    return Event(t, "error" if found.fault else "info", found)


class FakeVirtual(VirtualHardware):
    """A virtual rig that writes down what it is asked for."""

    def __init__(self, config: RigConfig, parent: QtCore.QObject) -> None:
        super().__init__(config, parent)
        self.injected: list[tuple[Any, ...]] = []

    def inject(self, name: str, leg: int | None, value: float | None, duration: float | None) -> None:
        self.injected.append((name, leg, value, duration))

    def clear(self, name: str | None = None, leg: int | None = None) -> None:
        self.injected.append(("clear", name, leg))


class FakeSession(RigSession):
    """A session that writes down what it is asked for; `refuse` says why the next requests are refused."""

    def __init__(self, config: RigConfig, folder: Path) -> None:
        super().__init__(config, folder)
        self.sent: list[tuple[str, Any, Any]] = []
        self.stops: list[tuple[int, str]] = []
        self.reported: list[Finding] = []
        self.found.close(1.0)  # there may be an engine on this machine
        self.virtual.finish()
        self.virtual = FakeVirtual(config, self)
        self.injected = self.virtual.injected
        self.held: list[bool] = []
        self.refuse = ""
        self.hold_answers = False
        self._held: tuple[str, Done | None] = ("", None)
        self.ended_by_window = False

    def take(self, status: Snapshot) -> None:
        """An engine is up and says `status`."""
        self.phase = Phase.UP
        self._take_status(status, None)

    def enter(self, phase: Phase) -> None:
        """Another phase."""
        self._enter(phase)

    def stop(self, category: Literal[0, 1, 2] = 1, source: Any = "button") -> None:
        self.stops.append((category, source))
        super().stop(category, source)

    def signal_hold(self, holding: bool) -> None:
        self.held.append(holding)

    def report(self, finding: Finding) -> None:
        self.reported.append(finding)

    def connect_rig(self) -> None:
        self.sent.append(("connect", None, None))

    def send(self, what: str, command: Any, samples: Any = None, done: Done | None = None) -> None:
        self.sent.append((what, command, samples))
        if self.hold_answers:
            self._held = (what, done)
            return
        self._answer(what, RuntimeError(self.refuse) if self.refuse else None, done)

    def answer(self) -> None:
        """The request whose answer was held is accepted."""
        self._answer(self._held[0], None, self._held[1])

    def refuse_connect(self, *failures: tuple[int, str]) -> None:
        """Connecting fails, for what is said of these legs."""
        parts = tuple(Finding(Code.DRIVE_FAILS, leg, details={"text": text}) for leg, text in failures)
        self.refused.emit("connect", Finding(Code.DEVICES_UNUSABLE, details={"count": len(parts)}, within=parts))

    def disconnect_rig(self) -> None:
        self.sent.append(("disconnect", None, None))
        self._enter(Phase.DOWN)

    def show_faults(self, *faults: ActiveFault) -> None:
        """The virtual rig says which faults are on."""
        self.virtual.seen.emit(RigView(0.0, "", faults))

    def end(self) -> None:
        self.ended_by_window = True
        self._enter_ended()

    @property
    def commands(self) -> list[str]:
        """What was sent, by name."""
        return [what for what, _command, _samples in self.sent]


class BusyEngine:
    """An engine that answers nothing: its control block, and a link that hangs until it is closed."""

    attached = False

    def __init__(self, name: str) -> None:
        self.alive = True
        self._client = ControlBlock.attach(name)
        self._closed = threading.Event()
        self.raise_stop_flag = self._client.request_stop
        self.beat = self._client.sign(self._client.lease).beat

    def read_rows(self) -> tuple[np.ndarray[Any, Any], int]:
        """None."""
        return np.empty(0, ROW), 0

    def send_stop(self, _category: int) -> None:
        self._closed.wait(20.0)

    def let_go(self) -> None:
        """The link fails, and whoever waited for it goes on."""
        self._closed.set()

    def close(self) -> None:
        self._client.close()


def make_settings(folder: Path) -> QtCore.QSettings:
    """Settings in a file of the test's own."""
    return QtCore.QSettings(str(folder / "gui.ini"), QtCore.QSettings.Format.IniFormat)


@pytest.fixture(scope="package", autouse=True)
def garbage_as_in_the_app(qapp: QtWidgets.QApplication) -> Iterator[None]:
    """Garbage is searched for in the app's thread alone."""
    assert qapp.thread() is QtCore.QThread.currentThread()
    with garbage_searched_here():
        yield


@pytest.fixture(autouse=True)
def no_window_left(qapp: QtWidgets.QApplication) -> Iterator[None]:
    """Be rid of the windows that a test leaves, and of the look that it gave the application.

    Whatever is left takes part in every change of the look, and so in the making of each window that follows.
    """
    yield
    for each in qapp.topLevelWidgets():
        if isinstance(each, MainWindow):
            be_rid_of(each)
    if qapp.styleSheet():
        qapp.setStyleSheet("")


@pytest.fixture(params=[DARK, LIGHT], ids=lambda theme: theme.name)
def theme(qapp: QtWidgets.QApplication, request: pytest.FixtureRequest) -> Iterator[Theme]:
    """Colours of the application while a test runs."""
    before = qapp.palette()
    qapp.setPalette(palette(request.param))
    yield request.param
    qapp.setPalette(before)


@pytest.fixture
def session(qapp: QtWidgets.QApplication, tmp_path: Path) -> Iterator[FakeSession]:
    """A session without processes."""
    made = FakeSession(VIRTUAL, tmp_path)
    yield made
    made.close()


@pytest.fixture
def window(qtbot: Any, session: FakeSession, tmp_path: Path) -> Iterator[MainWindow]:
    """The main window on a session without processes, in view as it is at first: its dozens of plots come later."""
    made = MainWindow(session, make_settings(tmp_path))
    made.views.building.stop()
    made.motion._changed.stop()  # nor is the motion looked at that it begins with, before it is changed
    made.resize(1280, 800)
    with qtbot.waitExposed(made):
        made.show()
    yield made
    be_rid_of(made)


class Panels(QtWidgets.QWidget):  # type: ignore[misc]  # no types
    """The panels Motion and Jog with what moves the rig, and nothing else of the window, which takes as long as six.

    Args:
        session: theirs.
    """

    def __init__(self, session: FakeSession) -> None:
        super().__init__()
        self.session = session
        self.stop_button = StopButton(lambda: session.stop(1, "button"))
        mover = Mover(session, self)
        self.motion, self.jog = MotionPanel(session, mover, DARK), JogPanel(session, mover)
        self.tabs = QtWidgets.QTabWidget()
        self.tabs.addTab(self.motion, "Motion")
        self.tabs.addTab(self.jog, "Jog")
        layout = QtWidgets.QVBoxLayout(self)
        for each in (self.stop_button, self.tabs, self.motion.transport):
            layout.addWidget(each)

    def close_now(self) -> None:
        """End every thread, and be rid of it."""
        self.motion.close_worker()
        self.jog.pad.close_pad()
        self.motion.mover.close()
        self.deleteLater()
        QtWidgets.QApplication.sendPostedEvents(None, QtCore.QEvent.Type.DeferredDelete)


@pytest.fixture
def panels(qtbot: Any, session: FakeSession) -> Iterator[Panels]:
    """The panels on a session without processes, in view; the motion that they begin with is not looked at."""
    made = Panels(session)
    made.motion._changed.stop()
    made.resize(1000, 760)
    with qtbot.waitExposed(made):
        made.show()
    yield made
    made.close_now()


@pytest.fixture
def whole_window(window: MainWindow, qtbot: Any) -> MainWindow:
    """The same, with every view."""
    window.views.building.start()
    qtbot.waitUntil(lambda: window.complete, timeout=60_000)
    return window


def built_on(window: MainWindow) -> Iterator[None]:
    """Let a window build, and come by after each part, once what it has brought about is done."""
    while not window.complete:
        window.views.building._continue()
        QtWidgets.QApplication.processEvents()
        yield


def build_until(window: MainWindow, stage: str) -> None:
    """Let a window build until it has what this is the name of, and no further."""
    assert any(hasattr(window.views, stage) for _ in built_on(window)), stage


def be_rid_of(window: MainWindow) -> None:
    """Close a window, and leave the application without a look as it starts.

    With a look every widget takes it anew wherever it is put in, and the next window would take twice as long to make.
    """
    window.close_now()
    window.deleteLater()
    QtWidgets.QApplication.sendPostedEvents(None, QtCore.QEvent.Type.DeferredDelete)
    QtWidgets.QApplication.instance().setStyleSheet("")


def asked(window: MainWindow, qtbot: Any, patience: int = 2000) -> QtWidgets.QMessageBox:
    """The question of a window that is being closed, once it is asked; patience: ms."""
    qtbot.waitUntil(lambda: window.closing.question is not None, timeout=patience)
    assert window.closing.question is not None
    return window.closing.question


def choose(question: QtWidgets.QMessageBox, text: str) -> None:
    """Press one of the question's buttons."""
    press(next(button for button in question.buttons() if button.text() == text))


def press(widget: QtWidgets.QWidget) -> None:
    """A real click into the middle of a widget."""
    QtTest.QTest.mouseClick(widget, LEFT)


def key(code: Any, widget: QtWidgets.QWidget | None = None) -> None:
    """A key as the window system delivers it: to the focused window, not to a widget of the test's choice."""
    handle = QtWidgets.QApplication.focusWindow() if widget is None else widget.window().windowHandle()
    QtTest.QTest.keyClick(handle, code)


def focus(qtbot: Any, widget: QtWidgets.QWidget) -> None:
    """Give a widget the keyboard, as a click into it does."""
    widget.window().activateWindow()
    widget.setFocus()
    qtbot.waitUntil(widget.hasFocus, timeout=60_000)


def finite(values: Any) -> bool:
    """Whether every number is finite."""
    return bool(np.isfinite(np.asarray(values)).all())
