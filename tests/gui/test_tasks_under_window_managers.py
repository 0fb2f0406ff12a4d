"""What an operator wants to get done, by real mouse clicks on the app, and how many it takes.

Under the first window manager, and under each in the long profile: none of it is left to the window manager.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from desk import MANAGERS, Desk
from exploration import first_or_all
from live_desk import DISCONNECT, RESET, START, STEP, LiveDesk

pytestmark = pytest.mark.parametrize("manager", first_or_all(*MANAGERS), indirect=True)
_ROWS = "window.views.runs_page.table"


@pytest.fixture
def operator(manager: str, tmp_path: Path) -> Iterator[LiveDesk]:
    with ExitStack() as owner:
        made = LiveDesk(Desk(manager, tmp_path, owner, live=True))
        yield made
        made.desk.ask("quit")


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
    operator.press("window.views.runs_page.buttons['Compare']")
    desk.wait("len(window.views.recordings.compared) == 2 and window.views.recordings.compare.isVisible()", START)
    assert operator.clicks <= 5


def test_a_sine_of_z_and_roll_from_a_template(desk: Desk) -> None:
    desk.do("session.take(make_status(State.ENGAGED))")
    page, begun, logged = (
        "window.motion.templates",
        desk.value("keys.clicks"),
        desk.value("len(window.views.log.model.entries)"),
    )
    desk.press("button('From template motion')")
    desk.wait(f"{page}.message.text().startswith('Sizes are')")
    desk.press(f"part({page}.form.fields['axes'].boxes['rx'], 0.1, 0.5)")
    desk.press(f"{page}.create")
    desk.wait("window.motion.title == 'Motion: sine (not saved)' and window.motion.run.isEnabled()")
    moving = "sorted({term['dof'] for term in window.motion.editor.value()['parts'][0]['terms']})"
    assert desk.value(moving) == ["rx", "z"]
    desk.press("window.motion.run")
    desk.wait("session.commands == [\"follow 'sine'\"]")
    assert desk.value("keys.clicks") - begun <= 8
    assert not desk.value("window.banner.notice.isVisible()") and desk.value("window.motion.verdict.refused") == ""
    since = f"window.views.log.model.entries[{logged}:]"
    assert desk.value(f"[each.text for each in {since} if each.level == 'error']") == []
