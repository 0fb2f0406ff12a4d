"""What an operator wants to get done, by real mouse clicks on the app with real processes, and how many it takes.

Within the one window, in which every window manager has the app do alike: under one of them.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from desk import Desk
from live_desk import DISCONNECT, RESET, START, STEP, LiveDesk

_ROWS = "window.runs_page.table"


@pytest.fixture
def operator(manager: str, tmp_path: Path) -> Iterator[LiveDesk]:
    with ExitStack() as owner:
        made = LiveDesk(Desk(manager, tmp_path, owner, live=True))
        yield made
        made.desk.ask("quit")


@pytest.mark.parametrize("manager", ["openbox"], indirect=True)
def test_first_start_stop_fault_and_two_runs_compared(operator: LiveDesk) -> None:
    desk = operator.desk
    operator.engage()
    operator.run()
    assert operator.clicks <= 6  # from the first start to the demo that runs
    page = desk.value("window.tabs.currentIndex()")

    operator.press("window.stop_button")
    operator.reach("PARKED")
    operator.arm_and_engage()
    operator.run()
    desk.do("session.virtual.inject('drop_all', 3, None, 0.5)")
    operator.reach("FAULT")
    operator.press(RESET)
    operator.reach("IDLE")
    operator.home()
    operator.arm_and_engage()
    operator.run()
    assert desk.value("window.tabs.currentIndex()") == page  # stop, fault, reset and on: everything is on one page

    operator.press("window.stop_button")
    operator.reach("PARKED")
    operator.press(DISCONNECT)
    desk.wait("session.phase is Phase.DOWN", STEP)
    desk.make_views()
    operator.clicks = 0
    operator.press("tab(window.tabs, 'Recordings')")
    desk.wait(f"{_ROWS}.rowCount() == 3", START)
    operator.press(f"item({_ROWS}, {_ROWS}.item(0, 1))")
    desk.hand("keydown", "ctrl")
    operator.press(f"item({_ROWS}, {_ROWS}.item(1, 1))")
    desk.hand("keyup", "ctrl")
    operator.press("window.runs_page.buttons['Compare']")
    desk.wait("len(window.recordings.compared) == 2 and window.recordings.compare.isVisible()", START)
    assert operator.clicks <= 5
