"""The app at twice the size of everything: STOP is on the screen and takes a real click, also over dialogs."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from desk import Desk

_SCREEN = (1920, 1080)


@pytest.fixture(scope="module")
def large(manager: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """The app at scale factor 2 on an ordinary screen."""
    with ExitStack() as owner:
        made = Desk(manager, tmp_path_factory.mktemp(manager), owner, QT_SCALE_FACTOR="2")
        yield made
        made.ask("quit")


def test_the_window_is_within_the_screen_and_stop_takes_a_click(large: Desk) -> None:
    assert large.value("window.devicePixelRatioF()") == 2.0
    frame = large.value("[2 * n for n in window.frameGeometry().getRect()]")
    assert min(frame[:2]) >= 0 and frame[0] + frame[2] <= _SCREEN[0] and frame[1] + frame[3] <= _SCREEN[1]
    for page in ("Motion", "Faults", "3-D view"):
        large.press(f"tab(window.tabs, {page!r})")
        large.press("window.stop_button")
        assert large.stopped() == 1
        corner = large.where("part(window.stop_button, 1.0, 1.0)")
        assert corner["clear"] and 0 <= corner["place"][0] < _SCREEN[0] and 0 <= corner["place"][1] < _SCREEN[1]


@pytest.mark.parametrize("name", ["file dialog", "question"])
def test_every_stop_of_a_dialog_is_on_the_screen_too(large: Desk, name: str) -> None:
    large.open(name, 1, False)
    stops = large.ask("look")["stops"]
    assert stops
    for x, y in stops:
        assert 0 <= x < _SCREEN[0] and 0 <= y < _SCREEN[1]
        large.click(x, y)
        assert large.stopped() == 1
    large.close_all()
