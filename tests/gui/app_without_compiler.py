"""The app in a process of its own, used as an operator does; prints which of the heavy packages it has loaded."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from live_rows import live_rows
from processes import offspring
from pyqtgraph.Qt import QtCore, QtWidgets
from shell_support import VIRTUAL, FakeSession, be_rid_of, make_status

from gui.shell.main_window import MainWindow
from rig.recording import RecordingWriter
from rig.states import State

HEAVY = ("numba", "llvmlite", "scipy", "matplotlib")
_PATIENCE = 120.0  # s
_ROWS = 500


def wait(until: Callable[[], bool], what: str) -> None:
    """Run the event loop until `until` holds."""
    timer = QtCore.QElapsedTimer()
    timer.start()
    while not until():
        if timer.elapsed() > 1e3 * _PATIENCE:
            raise TimeoutError(what)
        QtWidgets.QApplication.processEvents(QtCore.QEventLoop.ProcessEventsFlag.AllEvents, 20)  # ms


def use(window: MainWindow, session: FakeSession, recording: Path) -> None:
    """Look at a motion and a template, run it, jog, and compare a published model with a recording."""
    motion, jog, mover = window.motion, window.jog, window.motion.mover
    wait(lambda: window.complete, "the window")
    wait(lambda: motion.preview.verdict is not None and motion.preview.verdict.passed, "the preview")
    motion.begin_template()
    wait(lambda: motion.templates.found, "the template")
    motion.templates.leave()
    high = tuple((VIRTUAL.machine.geometry.home_pose + np.array([0.0, 0.0, 0.01, 0.0, 0.0, 0.0, 0.0])).tolist())
    session.take(make_status(State.ENGAGED, reference=high))
    window.tabs.setCurrentWidget(jog)
    wait(lambda: jog.finder.complete, "the free ranges")
    for button in (motion.run, jog.buttons["+z"], jog.buttons["-leg3"]):
        session.sent.clear()
        button.click()
        wait(lambda: bool(session.sent), "the move")
        mover.hold()
        wait(lambda: not mover.active, "the end of the move")
    view = window.views.recordings
    window.tabs.setCurrentWidget(window.views.recordings_page)
    view.open(recording)
    wait(lambda: view.opened is not None, "the recording")
    view.live.chooser.boxes["massless"].click()
    live, replay = view.live, view.replay
    assert replay is not None
    view.tabs.setCurrentWidget(live)
    live.tabs.setCurrentWidget(live.pages["Forces"])
    shown = replay.excerpt.cut(0, 1)
    wait(lambda: bool(np.isfinite(live.models.differences("massless", shown)).all()), "the model")


def main() -> None:
    """See the module."""
    folder = Path(sys.argv[1])
    with RecordingWriter(folder / "a.mcap", {"rate": 500.0, "mechanism": VIRTUAL.machine.source}) as writer:
        writer.write_rows(live_rows(_ROWS))
    _application = QtWidgets.QApplication(sys.argv[:1])
    session = FakeSession(VIRTUAL, folder)
    window = MainWindow(session, QtCore.QSettings(str(folder / "gui.ini"), QtCore.QSettings.Format.IniFormat))
    window.resize(1280, 800)
    window.show()
    use(window, session, folder / "a.mcap")
    print("loaded:", *(name for name in HEAVY if name in sys.modules))
    assert any("rig: process" in command for command in offspring(os.getpid()).values())
    be_rid_of(window)


if __name__ == "__main__":
    main()
