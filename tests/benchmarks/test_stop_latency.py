"""From Esc or a click on STOP to the engine: `make bench`, or this file under `xvfb-run -a`.

The whole app on a real engine and virtual rig, a motion running and the live views drawn. The time begins when the
event is due, be the window drawing then or not, and ends when another process sees the stop flag in shared memory, and
the first telemetry row in state STOPPING.
"""

import multiprocessing
import random
import time
from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing.connection import Connection

import pytest
from bench_app import app
from pyqtgraph.Qt import QtCore, QtTest, QtWidgets

from gui.shell import Pilot
from gui.shell.docking import DetachedWindow
from gui.shell.main_window import MainWindow
from rig.engine import ControlBlock, EngineAddress
from rig.runtime.ring import TelemetryRing
from rig.states import State

BOUND = 0.1  # s
ROUNDS = 3
_LEFT = QtCore.Qt.MouseButton.LeftButton
_PLAIN = QtCore.Qt.KeyboardModifier.NoModifier
_OPENING = 1500  # ms for what is to have the focus to be there
_LOOK = 1e-4  # s between two looks at the flag, which the engine lowers in its next cycle
_PATIENCE = 20.0  # s


def _watch(address: EngineAddress, told: Connection) -> None:
    """Main function of the watching process: each question is answered by when flag and STOPPING were seen, s."""
    block, ring = ControlBlock.attach(address.block), TelemetryRing.attach(address.ring)
    told.send("ready")
    while told.recv():
        rows = ring.reader()
        flag = None
        told.send("watching")
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline:
            if flag is None and block.stop_requested() is not None:
                flag = time.monotonic()
            if (rows.read_new()[0]["state"] == State.STOPPING).any():
                stopping = time.monotonic()
                told.send((stopping if flag is None else flag, stopping, flag is not None))
                break
            time.sleep(_LOOK)
    ring.close()
    block.close()


class _Watcher:
    """Owns the watching process."""

    def __init__(self, address: EngineAddress) -> None:
        context = multiprocessing.get_context("spawn")
        self.told, theirs = context.Pipe()
        self._process = context.Process(target=_watch, args=(address, theirs), daemon=True)
        self._process.start()
        self._hear("ready")  # before anything moves: while the app waits, the engine misses it

    def begin(self) -> None:
        self.told.send(True)
        self._hear("watching")

    def _hear(self, word: str) -> None:
        assert self.told.poll(_PATIENCE) and self.told.recv() == word

    def close(self) -> None:
        self.told.send(False)
        self._process.join(_PATIENCE)


@pytest.fixture(scope="module")
def pilot(qapp: QtWidgets.QApplication, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pilot]:
    """The app with a homed rig, live views in view."""
    with app(tmp_path_factory.mktemp("stop"), {}, (1280, 800)) as made:
        made.home()
        yield made


@pytest.fixture(scope="module")
def watcher(pilot: Pilot) -> Iterator[_Watcher]:
    address = pilot.window.session.engine_address
    assert address is not None
    made = _Watcher(address)
    yield made
    made.close()


def _nothing(window: MainWindow) -> None:
    window.tabs.setCurrentWidget(window.views.live_page)
    window.activateWindow()


def _field(window: MainWindow) -> None:
    window.tabs.setCurrentWidget(window.views.log)
    window.activateWindow()
    window.views.log.search.setFocus()


def _menu(window: MainWindow) -> None:
    _nothing(window)
    window.menuBar().actions()[0].menu().popup(window.mapToGlobal(QtCore.QPoint(300, 300)))


def _combo(window: MainWindow) -> None:
    window.tabs.setCurrentWidget(window.jog)
    window.jog.steps.frame.showPopup()


def _dialog(window: MainWindow) -> None:
    _nothing(window)
    box = QtWidgets.QMessageBox(window)
    box.setText("a question")
    box.exec()


def _file_dialog(window: MainWindow) -> None:
    window.motion.open()


def _torn(window: MainWindow) -> None:
    window.docking.tear_off("Live")
    window.docking.show_page("Live")


def _in_front(window: MainWindow) -> DetachedWindow | MainWindow:
    return next(iter(window.docking.windows.values()), window)


def _esc(window: MainWindow) -> None:
    top = QtWidgets.QApplication.activePopupWidget() or window.guards.stop.dialog or _in_front(window)
    QtTest.QTest.keyClick(top.window().windowHandle(), QtCore.Qt.Key.Key_Escape)


def _click(window: MainWindow) -> None:
    """Where the red button is, on the window that a click there goes to."""
    front = _in_front(window)
    popup, button = QtWidgets.QApplication.activePopupWidget(), front.stop_button
    receiver = front if popup is None else popup
    place = receiver.mapFromGlobal(button.mapToGlobal(button.rect().center()))
    QtTest.QTest.mousePress(receiver.windowHandle(), _LEFT, _PLAIN, place)
    QtTest.QTest.mouseRelease(receiver.windowHandle(), _LEFT, _PLAIN, place)


def _stop(window: MainWindow, act: Callable[[MainWindow], None]) -> None:
    """Stop, and close what the event left open."""
    act(window)
    while (top := QtWidgets.QApplication.activePopupWidget() or window.guards.stop.dialog) is not None:
        top.close()
    window.docking.dock("Live")


_PLACES: dict[str, Callable[[MainWindow], None]] = {
    "main window": _nothing,
    "text field": _field,
    "menu": _menu,
    "combo popup": _combo,
    "modal dialog": _dialog,
    "file dialog": _file_dialog,
    "window of its own": _torn,
}


_CASES = [(act, place) for act in (_esc, _click) for place in _PLACES]


@pytest.mark.parametrize(("act", "place"), _CASES)
def test_stop_reaches_the_engine(
    pilot: Pilot, watcher: _Watcher, place: str, act: Callable[[MainWindow], None]
) -> None:
    window, delays = pilot.window, []
    for _ in range(ROUNDS):
        pilot.engage()
        pilot.run(20)
        watcher.begin()
        wait = _OPENING + random.randrange(100)  # ms
        due = time.monotonic() + wait / 1000.0
        QtCore.QTimer.singleShot(wait, QtCore.Qt.TimerType.PreciseTimer, partial(_stop, window, act))
        _PLACES[place](window)
        pilot.wait(watcher.told.poll, "the stop to be seen", _PATIENCE)
        flag, stopping, seen = watcher.told.recv()
        delays.append((flag - due, stopping - due, seen))
        pilot.wait(lambda: _state(window) is State.PARKED, "the stop to be done", _PATIENCE)
    flags, rows, seen_by_eye = zip(*delays, strict=True)
    how = "Esc" if act is _esc else "mouse"
    print(
        f"\nSTOP by {how}, {place}: flag after {1e3 * min(flags):.1f} to {1e3 * max(flags):.1f} ms, "
        f"STOPPING after {1e3 * max(rows):.1f} ms ({sum(seen_by_eye)} of {ROUNDS} flags seen before the engine took it)"
    )
    assert min(flags) >= 0.0 and max(flags) <= BOUND


def _state(window: MainWindow) -> State | None:
    status = window.session.status
    return None if status is None else status.state
