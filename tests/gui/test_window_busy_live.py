"""A window that builds a page, and one that hangs, on real processes and a loaded machine."""

import ctypes
import multiprocessing
from multiprocessing.context import SpawnProcess
from typing import Any

from live_app import STEP, engage, live_config, reach, run, status_of
from pyqtgraph.Qt import QtWidgets
from shell_support import be_rid_of, make_settings

from gui.session.rig_session import RigSession
from gui.shell.main_window import MainWindow
from rig.client.heartbeat import WINDOW_BOUND
from rig.states import FaultCode, State


def _busy() -> None:
    while True:
        pass


def _end(load: list[SpawnProcess]) -> None:
    for one in load:
        if one.pid is not None:
            one.kill()
            one.join()


def test_a_page_that_is_built_pauses_nothing_and_a_window_that_hangs_does(
    qapp: QtWidgets.QApplication, tmp_path: Any, qtbot: Any
) -> None:
    config = live_config(heartbeat=0.5)
    window = MainWindow(RigSession(config, tmp_path), make_settings(tmp_path))
    window.views.building.stop()
    window.show()
    load = [multiprocessing.get_context("spawn").Process(target=_busy, daemon=True) for _ in range(2)]
    try:
        engage(window, qtbot)
        run(window, qtbot, 120.0)
        for one in load:
            one.start()
        # nothing of this process runs, as where a page is built in one block
        ctypes.PyDLL(None).usleep(int(1e6 * (0.5 * WINDOW_BOUND)))
        seen = status_of(window).t
        qtbot.waitUntil(lambda: status_of(window).t > seen + 0.5, timeout=STEP)
        assert status_of(window).state is State.RUNNING and status_of(window).lease == "rig gui"
        _end(load)  # a window that hangs is noticed with or without it
        ctypes.PyDLL(None).usleep(int(1e6 * (WINDOW_BOUND + 3.0)))
        reach(window, qtbot, State.ENGAGED)
        status = status_of(window)
        assert status.paused and status.begun_by == "rig gui"
        assert status.paused_for is not None and status.paused_for.fault is FaultCode.CLIENT_LOST
        assert status.paused_for.text in window.banner.detail
        qtbot.waitUntil(window.motion.resume.isEnabled, timeout=STEP)
    finally:
        _end(load)
        be_rid_of(window)
