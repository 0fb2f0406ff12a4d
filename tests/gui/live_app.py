"""The app on real processes: virtual rig, engine and recorder, operated by its buttons."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from desk import of_desks
from processes import COMPUTING, offspring
from pyqtgraph.Qt import QtWidgets
from shell_support import be_rid_of, make_settings, press

from gui.application import app_config
from gui.models.rules import Action
from gui.session.rig_session import RigSession
from gui.shell.main_window import MainWindow
from rig.config import RigConfig, relaxed_timing
from rig.engine import Snapshot
from rig.states import State

START = 180_000  # ms; the first start on a machine compiles the kernels
STEP = 30_000  # ms
_SLOW = {"type": "minimum-jerk", "start": [0.0] * 6, "end": [0.0, 0.0, 0.01, 0.0, 0.0, 0.0], "duration": 20.0}


def live_config(**safety: float) -> RigConfig:
    """The app's virtual rig with patience for a shared machine."""
    return with_patience(app_config("virtual"), **safety)


def with_patience(config: RigConfig, **safety: float) -> RigConfig:
    """The same rig at a rate that costs little, where what comes late says nothing about the app."""
    bounds = {"heartbeat": 2.0, "hold_renewal": 1.0, "following_error": 0.02, "force_residual": 200.0} | safety
    slow = {"rate": 100.0, "control": {"stiffness": 2.5e3, "damping": 200.0}}  # with which it is stable at this rate
    return relaxed_timing(config.changed({"drives": {"watchdog": 0.3}, "safety": bounds} | slow))


@pytest.fixture
def live(qapp: QtWidgets.QApplication, tmp_path: Path) -> Iterator[MainWindow]:
    """The app as it is at first, before its dozens of plots come; recordings in a folder of the test's own."""
    window = MainWindow(RigSession(live_config(), tmp_path), make_settings(tmp_path))
    window.views.building.stop()
    window.show()
    yield window
    be_rid_of(window)


@pytest.fixture
def whole_live(live: MainWindow, qtbot: Any) -> MainWindow:
    """The same, with every view."""
    live.views.building.start()
    qtbot.waitUntil(lambda: live.complete, timeout=STEP)
    return live


def state_of(window: MainWindow) -> State | None:
    status = window.session.status
    return None if status is None else status.state


def status_of(window: MainWindow) -> Snapshot:
    """What the engine said last, which has said something."""
    status = window.session.status
    assert status is not None
    return status


def reach(window: MainWindow, qtbot: Any, state: State, timeout: int = STEP) -> None:
    qtbot.waitUntil(lambda: state_of(window) is state, timeout=timeout)


def press_when_possible(qtbot: Any, button: QtWidgets.QPushButton) -> None:
    qtbot.waitUntil(button.isEnabled, timeout=STEP)
    press(button)


def connect(window: MainWindow, qtbot: Any) -> None:
    press_when_possible(qtbot, window.operate.buttons[Action.CONNECT])
    reach(window, qtbot, State.IDLE, START)


def engage(window: MainWindow, qtbot: Any) -> None:
    """From no engine to ENGAGED."""
    buttons = window.operate.buttons
    connect(window, qtbot)
    press_when_possible(qtbot, buttons[Action.HOME])
    reach(window, qtbot, State.PARKED)
    settled = status_of(window).t + 0.3  # s; the cells' zero is judged at rest
    qtbot.waitUntil(lambda: status_of(window).t > settled, timeout=STEP)
    press_when_possible(qtbot, window.operate.arm)
    press(buttons[Action.ENGAGE])
    reach(window, qtbot, State.ENGAGED)


def run(window: MainWindow, qtbot: Any, duration: float = 20.0) -> None:
    """From ENGAGED into a motion of `duration` s, which a loaded machine does not come to the end of."""
    motion = window.motion
    slow = {"frame": "home", "pivot": [0.0] * 3, "parts": [_SLOW | {"duration": duration}]}
    motion.document.show("slow", slow, Path())  # as one that was opened
    qtbot.waitUntil(lambda: motion.run.isEnabled(), timeout=STEP)
    window.tabs.setCurrentWidget(window.views.live_page)  # which draws what comes, where it is there
    motion.run.click()

    def under_way() -> bool:
        """The motion itself, not the way to its start."""
        status = status_of(window)
        return status.state is State.RUNNING and status.path_duration > 0.9 * duration and status.path_time > 0.2

    qtbot.waitUntil(under_way, timeout=STEP)


def left_over(*, computing: bool = True) -> list[int]:
    """Processes of the app's that still run; those of a desk are another app's.

    computing: with those in which its threads compute.
    """
    desks, found = of_desks(), offspring(os.getpid())
    return [pid for pid, name in found.items() if pid not in desks and (computing or not name.startswith(COMPUTING))]
