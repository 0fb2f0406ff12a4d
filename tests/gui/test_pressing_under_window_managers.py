"""What can be pressed stays under the pointer, and does what it said when it was pressed: by real mouse."""

import pytest
from desk import MANAGERS, Desk
from exploration import first_or_all

within_the_window = pytest.mark.parametrize("manager", first_or_all(*MANAGERS), indirect=True)
"""Of what every window manager has the app do alike: under the first of them, under each in the long profile."""
_RUN, _PAGE = "window.motion.run", "window.motion.templates"


def _frame(desk: Desk) -> tuple[str, list[int]]:
    """Where the window manager has put the window, and how large it is with its decorations."""
    window = desk.hand("getactivewindow")
    return desk.hand("getwindowgeometry", window), desk.value("list(window.frameGeometry().getRect())")


def _all_happens(desk: Desk, width: int, height: int) -> None:
    desk.do(f"window.resize({width}, {height})")
    desk.wait(f"(window.width(), window.height()) == ({width}, {height})")
    desk.settle()
    frame, moved = _frame(desk), []
    desk.do("standing_still.look()")
    for name in desk.value("list(standing_still.events)"):
        desk.do(f"standing_still.let({name!r})")
        moved += [f"{name}: {each}" for each in desk.wait(f"standing_still.moved({name!r})")[1:]]
    assert not moved, "\n".join(moved)
    assert _frame(desk) == frame


def test_whatever_happens_nothing_moves_at_the_least_size(desk: Desk) -> None:
    _all_happens(desk, 1024, 700)


def test_whatever_happens_nothing_moves_at_the_usual_size(desk: Desk) -> None:
    desk.press("button('From template motion')")
    desk.wait(f"{_PAGE}.found")
    _all_happens(desk, 1280, 800)


@within_the_window
def test_create_is_pressed_although_a_verdict_comes_under_the_press(desk: Desk) -> None:
    desk.do("session.take(make_status(State.ENGAGED))")
    desk.press("button('From template motion')")
    desk.wait(f"{_PAGE}.found")
    x, y = desk.place(f"{_PAGE}.create")
    desk.hand("mousemove", x, y, "mousedown", 1)
    desk.wait(f"{_PAGE}.create.isDown()")
    for name in ("judging", "failed", "engage refused"):
        desk.do(f"standing_still.let({name!r})")
    desk.wait("standing_still.happened == 'engage refused'")
    desk.hand("mouseup", 1)
    desk.wait("window.motion.title == 'Motion: sine (not saved)'")
    assert desk.value("session.sent") == []


@within_the_window
def test_run_runs_what_it_names_or_nothing(desk: Desk) -> None:
    desk.do("session.take(make_status(State.ENGAGED))")
    desk.wait(f"{_RUN}.isEnabled() and {_RUN}.text() == 'Run demo, 20 s'")
    x, y = desk.place(_RUN)
    desk.press("button('From template motion')")
    desk.wait(f"{_PAGE}.found and {_RUN}.text() == 'Run sine, 14 s'")
    desk.click(x, y)
    desk.settle()
    assert desk.value("session.sent") == [] and "Create" in desk.value(f"{_RUN}.toolTip()")
    desk.press(f"{_PAGE}.create")
    desk.wait(f"{_RUN}.isEnabled() and {_RUN}.text() == 'Run sine, 14 s'")
    desk.hand("mousemove", x, y, "mousedown", 1)
    desk.wait(f"{_RUN}.isDown()")
    desk.do("window.motion.document.rename('another')")
    desk.wait(f"{_RUN}.text() == 'Run another, 14 s'")
    desk.hand("mouseup", 1)
    desk.settle()
    assert desk.value("session.sent") == []
    desk.press(_RUN)
    desk.wait("session.commands == [\"follow 'another'\"]")
