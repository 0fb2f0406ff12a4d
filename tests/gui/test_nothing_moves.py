"""Whatever the rig does by itself, everything that can be pressed stays where it is, and no page scrolls."""

import pytest
from exploration import first_or_all
from happenings import happenings, view_happenings
from shell_support import FakeSession, make_status
from standing import moved_by

from gui.shell.main_window import MainWindow
from rig.states import State

_SIZES = {"least": (1024, 700), "usual": (1280, 800)}


@pytest.mark.parametrize("size", first_or_all(*_SIZES))
def test_nothing_that_can_be_pressed_moves_by_itself(whole_window: MainWindow, session: FakeSession, size: str) -> None:
    window, moved = whole_window, []
    window.resize(*_SIZES[size])
    for index in range(window.tabs.count()):
        window.tabs.setCurrentIndex(index)
        window.banner.notice.clear()
        moved += [f"{window.tabs.tabText(index)}, {each}" for each in moved_by(happenings(window, session))]
    assert not moved, "\n".join(moved)
    assert (window.width(), window.height()) == _SIZES[size]


@pytest.mark.parametrize("size", first_or_all(*_SIZES))
def test_no_page_of_curves_or_recordings_moves_by_itself(
    whole_window: MainWindow, session: FakeSession, size: str
) -> None:
    window, moved = whole_window, []
    window.resize(*_SIZES[size])
    session.take(make_status(State.RUNNING, path_duration=20.0))
    within = {
        window.views.live_page: window.views.live.tabs,
        window.views.dashboards_page: window.views.dashboards.view.tabs,
        window.views.platform_page: None,
        window.views.recordings_page: window.views.recordings.tabs,
    }
    for page, tabs in within.items():
        window.tabs.setCurrentWidget(page)
        for index in range(1 if tabs is None else tabs.count()):
            if tabs is not None:
                tabs.setCurrentIndex(index)
            window.views.history.clear()
            inner = "" if tabs is None else tabs.tabText(index)
            found = moved_by(view_happenings(window, session))
            moved += [f"{page.accessibleName()} {inner}, {each}" for each in found]
    assert not moved, "\n".join(moved)
    assert (window.width(), window.height()) == _SIZES[size]
