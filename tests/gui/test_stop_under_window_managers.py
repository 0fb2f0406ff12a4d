"""STOP by a real mouse under real window managers: over each dialog, popup and question the engine's flag goes up."""

import pytest
from desk import Desk, until

DIALOGS = (
    "file dialog",
    "folder dialog",
    "save dialog",
    "question of a file dialog",
    "question",
    "about",
    "wizard",
    "identify wizard",
    "geometry wizard",
    "bench wizard",
    "question of the wizard",
    "menu",
    "combo box",
)


@pytest.mark.parametrize("name", DIALOGS)
def test_every_stop_in_sight_raises_the_flag(desk: Desk, name: str) -> None:
    popup = name in ("menu", "combo box")
    desk.open(name, 0 if popup else 2 if " of " in name else 1, popup)
    wanted = 1 if popup else 2  # the window's STOP, and that of each dialog
    if len(desk.ask("look")["stops"]) < wanted:  # a manager may place a dialog over the window's: pull it aside
        desk.do("dialogs()[-1].move(20, 300)")
    until(lambda: len(desk.ask("look")["stops"]) >= wanted, "each STOP to be in sight")
    assert press_every_stop(desk) >= wanted


def test_the_guide_has_a_stop_and_esc_stops_in_it(desk: Desk) -> None:
    desk.open("guide", 0, popup=False)
    desk.wait("window.menus.help.guide.isActiveWindow()")
    assert desk.value("window.menus.help.guide.findChild(type(window.stop_button)).isVisible()")
    assert press_every_stop(desk) >= 1, "the guide's, and the window's where it is not under it"
    before = desk.value("len(session.stops)")
    desk.do("window.menus.help.guide.activateWindow()")
    desk.key("Escape")
    assert desk.stopped() == 1
    assert desk.value("len(session.stops)") == before + 1 and desk.value("window.menus.help.guide.isVisible()")


def test_a_window_of_a_page_has_a_stop_fills_the_screen_and_goes(desk: Desk) -> None:
    desk.do("window.docking.tear_off('Event log')")
    torn = "window.docking.windows['Event log']"
    desk.wait(f"{torn}.isActiveWindow()")
    for filled in (True, False):
        desk.key("F11")
        desk.wait(f"{torn}.isFullScreen() is {filled}")
        desk.press(f"{torn}.stop_button")
        assert desk.stopped() == 1
        desk.key("Escape")
        assert desk.stopped() == 1 and desk.value(f"{torn}.isFullScreen() is {filled}")
    desk.key("ctrl+t")
    desk.wait("not window.docking.windows and window.views.log.window() is window")


def press_every_stop(desk: Desk) -> int:
    """Click every STOP that lies under nothing; how many there are."""
    stops, before = desk.ask("look")["stops"], desk.value("len(session.stops)")
    for x, y in reversed(stops):  # the window's last: a click there may raise it above the guide
        assert desk.block.take_stop() is None
        desk.click(x, y)
        assert desk.stopped() == 1
    assert desk.value("len(session.stops)") == before + len(stops)
    return len(stops)
