"""A button of the Jog page, and a key, that are really kept down, with a window manager about."""

import pytest
from desk import MANAGERS, Desk
from exploration import first_or_all

_STATUS = "t=10.1, motion=session.sent[-1][1].name, path_time=0.1, path_duration=5.0"
_HELD = "window.jog.hold_to_run.key"


def _runs(desk: Desk, way: str) -> None:
    """What is down is held, and its way runs."""
    desk.wait("bool(session.sent)")
    assert desk.value("session.sent[-1][1].slowing is not None") and desk.value(_HELD) == way
    desk.do(f"session.take(make_status(State.RUNNING, {_STATUS}))")
    told = desk.value("len(session.held)")
    desk.wait(f"len(session.held) > {told} + 3")
    assert desk.value(_HELD) == way and desk.value("all(session.held)")


def _let_go(desk: Desk) -> None:
    desk.wait(f"not {_HELD}")
    assert desk.value("not session.held[-1] and len(session.sent) == 1")
    desk.do("session.take(make_status(State.ENGAGED, t=10.9))")
    desk.wait("not window.motion.mover.active")
    desk.do("(session.sent.clear(), session.held.clear())")


@pytest.mark.parametrize("manager", first_or_all(*MANAGERS), indirect=True)
def test_what_is_kept_down_is_held_until_it_is_up_or_taken_from_the_hand(desk: Desk) -> None:
    desk.do("session.take(make_status(State.ENGAGED))")
    desk.press("tab(window.tabs, 'Jog')")
    x, y = desk.place("window.jog.buttons['+z']")
    desk.hand("mousemove", x, y, "mousedown", 1)
    _runs(desk, "+z")
    desk.hand("mousemove", x, y + 60)
    _let_go(desk)
    desk.hand("mouseup", 1)

    desk.hand("keydown", "Right")  # which the screen repeats by itself
    _runs(desk, "+x")
    desk.hand("keyup", "Right")
    _let_go(desk)

    desk.place("window.jog.buttons['+z']")
    desk.hand("mousemove", x, y, "mousedown", 1)
    _runs(desk, "+z")
    window = desk.hand("getactivewindow")
    desk.hand("windowminimize", window)
    _let_go(desk)
    desk.hand("mouseup", 1)
    desk.hand("windowmap", window, "windowactivate", window)
    desk.wait("window.isActiveWindow()")
    assert desk.value("session.sent == []")
