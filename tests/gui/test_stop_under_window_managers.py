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
    "question of the wizard",
    "menu",
    "combo box",
)


@pytest.mark.parametrize("name", DIALOGS)
def test_every_stop_in_sight_raises_the_flag(desk: Desk, name: str) -> None:
    popup = name in ("menu", "combo box")
    desk.open(name, 0 if popup else 2 if " of " in name else 1, popup)
    stops, before = desk.ask("look")["stops"], desk.value("len(session.stops)")
    assert len(stops) >= (1 if popup else 2), "the window's STOP, and that of each dialog"
    for x, y in stops:
        assert desk.block.take_stop() is None
        desk.click(x, y)
        assert until(desk.block.take_stop, f"the flag, after a click at {x}, {y}") == 1
    assert desk.value("len(session.stops)") == before + len(stops)
