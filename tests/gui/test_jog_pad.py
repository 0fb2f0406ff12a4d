"""A game pad on the Jog page: what it holds, everything that lets go of it, and its STOP."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pyqtgraph.Qt import QtCore, QtTest
from shell_support import KEY, LEFT, FakeSession, focus, key, make_status
from virtual_pad import VirtualPad

from gui.operate import pad_jog
from gui.shell.main_window import MainWindow
from kinematics import MotionTable
from rig.engine import Follow
from rig.errors import HardwareError
from rig.states import State

PATIENCE = 60_000  # ms; the first check on a machine compiles its kernels


@pytest.fixture
def hand() -> Iterator[VirtualPad]:
    with VirtualPad() as made:
        yield made


@pytest.fixture
def jog(
    window: MainWindow, session: FakeSession, hand: VirtualPad, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> MainWindow:
    """The Jog page of a platform that is held, the pad in its hand at rest; nobody looks for free ranges."""
    monkeypatch.setattr(window.jog.finder, "ask", lambda _question: None)
    session.take(make_status(State.ENGAGED))
    window.tabs.setCurrentWidget(window.jog)
    focus(qtbot, window.jog.buttons["+z"])
    window.jog.pad.switch.setChecked(True)
    says(window, qtbot, "hold the dead-man's button")
    return window


def says(window: MainWindow, qtbot: Any, words: str) -> None:
    qtbot.waitUntil(lambda: words in window.jog.pad.words.text(), timeout=PATIENCE)


def looks(window: MainWindow, qtbot: Any, times: int = 18) -> None:
    """The page looks at the pad so many times, longer than a press takes to become a hold."""
    seen = []
    window.jog.pad._timer.timeout.connect(lambda: seen.append(1))
    qtbot.waitUntil(lambda: len(seen) >= times, timeout=PATIENCE)


def runs(session: FakeSession, qtbot: Any, number: int = 1) -> MotionTable:
    """The way of the hold is sent, and followed."""
    qtbot.waitUntil(lambda: len(session.sent) == number, timeout=PATIENCE)
    _what, command, samples = session.sent[-1]
    assert isinstance(command, Follow) and command.slowing is not None
    session.take(make_status(State.RUNNING, t=10.1, motion=command.name, path_time=0.1, path_duration=5.0))
    return MotionTable(command.step, samples)


def push(window: MainWindow, session: FakeSession, hand: VirtualPad, qtbot: Any) -> MotionTable:
    """Upwards at full speed."""
    hand.press("dead-man")
    hand.move("right y", 1.0)
    table = runs(session, qtbot)
    assert window.jog.hold_to_run.key == "+z"
    return table


def let_go(window: MainWindow, session: FakeSession, qtbot: Any) -> None:
    qtbot.waitUntil(lambda: not window.jog.hold_to_run.key, timeout=PATIENCE)
    assert True in session.held and session.held[-1] is False


def stands(session: FakeSession, t: float = 10.9) -> None:
    session.take(make_status(State.ENGAGED, t=t))


def test_a_stick_moves_as_long_as_it_and_the_dead_mans_button_are_held(
    jog: MainWindow, session: FakeSession, hand: VirtualPad, qtbot: Any
) -> None:
    jog.jog.speeds.share.set_si(10.0)
    hand.move("right y", -0.5)
    looks(jog, qtbot)
    assert session.sent == [] and not jog.jog.buttons["-z"].isDown()  # a stick alone does nothing
    hand.move("right y", 0.0)
    hand.press("dead-man")
    says(jog, qtbot, "dead-man's button is down")
    hand.move("right y", -0.5)
    table = runs(session, qtbot)
    assert jog.jog.hold_to_run.key == "-z" and "−z, 50 % of" in jog.jog.pad.words.text()
    assert table.samples[:, 8].min() == pytest.approx(-0.5 * 0.08, rel=0.01)  # of a tenth of the legs' 0.8 m/s
    renewed = len(session.held)
    qtbot.waitUntil(lambda: len(session.held) > renewed + 3, timeout=PATIENCE)
    assert all(session.held)
    hand.move("right y", -0.05)
    let_go(jog, session, qtbot)
    stands(session)
    assert jog.jog.outcome == "" and len(session.sent) == 1
    hand.press("turning")
    hand.move("left x", 1.0)
    assert runs(session, qtbot, 2).samples[-1, 3] > 0.1 and jog.jog.hold_to_run.key == "+rx"
    hand.release("dead-man")
    let_go(jog, session, qtbot)


def test_another_axis_or_step_of_speed_comes_to_a_stand_first(
    jog: MainWindow, session: FakeSession, hand: VirtualPad, qtbot: Any
) -> None:
    fast = push(jog, session, hand, qtbot)
    hand.move("right y", 0.4)
    let_go(jog, session, qtbot)
    says(jog, qtbot, "stops first")
    assert len(session.sent) == 1
    stands(session)
    slow = runs(session, qtbot, 2)
    assert slow.samples[:, 8].max() == pytest.approx(0.25 * fast.samples[:, 8].max(), rel=0.02)
    hand.move("left y", -1.0)
    let_go(jog, session, qtbot)
    stands(session, 11.9)
    runs(session, qtbot, 3)
    assert jog.jog.hold_to_run.key == "-y"


def _other_page(window: MainWindow, _hand: VirtualPad) -> None:
    window.tabs.setCurrentWidget(window.views.log)


LOSSES: dict[str, Callable[[MainWindow, VirtualPad], object]] = {
    "another page": _other_page,
    "the window is left": lambda window, _hand: QtCore.QCoreApplication.sendEvent(
        window, QtCore.QEvent(QtCore.QEvent.Type.WindowDeactivate)
    ),
    "Esc": lambda window, _hand: key(KEY.Key_Escape, window),
    "the mouse does something": lambda window, _hand: QtTest.QTest.mousePress(window.banner, LEFT),
    "a fault": lambda window, _hand: window.session.take(make_status(State.FAULT, latched=True)),
    "the end of the range": lambda window, _hand: window.session.take(make_status(State.ENGAGED, t=10.8)),
    "its button is folded away": lambda window, _hand: window.jog.folds[0].set_open(False),
}


def test_what_takes_it_from_the_hand_lets_go_until_the_stick_was_back(
    jog: MainWindow, session: FakeSession, hand: VirtualPad, qtbot: Any
) -> None:
    """One loss after the other in one window, each from a platform that is held and the page as it was."""
    for loss, act in LOSSES.items():
        push(jog, session, hand, qtbot)
        act(jog, hand)
        let_go(jog, session, qtbot)
        stands(session)
        jog.tabs.setCurrentWidget(jog.jog)
        jog.jog.folds[0].set_open(True)
        focus(qtbot, jog.jog.buttons["+z"])
        looks(jog, qtbot)
        assert len(session.sent) == 1, loss  # all is as it was, the stick too, and nothing begins
        says(jog, qtbot, "bring the stick back")
        hand.move("right y", 0.0)
        says(jog, qtbot, "dead-man's button is down")
        session.sent.clear()
        session.held.clear()


def test_a_lost_pad_lets_go_and_one_that_comes_back_must_be_let_up_first(
    jog: MainWindow, session: FakeSession, hand: VirtualPad, qtbot: Any
) -> None:
    push(jog, session, hand, qtbot)
    hand.unplug()
    let_go(jog, session, qtbot)
    says(jog, qtbot, "No game pad is there.")
    assert any("'Virtual Controller' was disconnected" in entry.text for entry in jog.views.log.model.entries)
    stands(session)
    with VirtualPad() as other:
        other.press("dead-man")
        other.move("right y", 1.0)
        says(jog, qtbot, "release the dead-man's button first")
        looks(jog, qtbot)
        assert len(session.sent) == 1
        other.release("dead-man")
        says(jog, qtbot, "hold the dead-man's button")
        other.press("dead-man")
        runs(session, qtbot, 2)


def test_a_stick_that_is_out_already_does_not_begin_once_it_is_possible(
    jog: MainWindow, session: FakeSession, hand: VirtualPad, qtbot: Any
) -> None:
    session.take(make_status(State.PARKED, t=11.0))
    hand.press("dead-man")
    hand.move("right y", 1.0)
    says(jog, qtbot, "bring the stick back")
    stands(session, 12.0)
    looks(jog, qtbot)
    assert session.sent == [] and not jog.motion.mover.active


def test_stop_works_on_every_page_while_the_pad_is_on(
    jog: MainWindow, session: FakeSession, hand: VirtualPad, qtbot: Any
) -> None:
    _other_page(jog, hand)
    hand.tap("start")  # no button but the one
    hand.press("stop")
    qtbot.waitUntil(lambda: bool(session.stops), timeout=PATIENCE)
    looks(jog, qtbot, 5)
    assert session.stops == [(1, "game pad")]  # once for each press
    jog.jog.pad.switch.setChecked(False)
    assert not jog.jog.pad._timer.isActive()  # nobody looks any more


def test_it_is_off_until_it_is_turned_on_and_says_which_pad_is_there(
    window: MainWindow, session: FakeSession, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pad = window.jog.pad
    window.tabs.setCurrentWidget(window.jog)
    assert not pad.switch.isChecked() and not pad.map.isVisible() and not pad._timer.isActive()
    focus(qtbot, pad.switch)
    key(KEY.Key_Space, window)
    assert not pad.switch.isChecked()  # Space is hit by accident
    pad.switch.click()
    says(window, qtbot, "No game pad is there.")
    assert pad.map.isVisible()
    with VirtualPad(known=False):
        says(window, qtbot, "Virtual Wheel: SDL has no mapping")
    pad.switch.click()
    assert not pad.map.isVisible()

    def fails() -> None:
        raise HardwareError("game pads cannot be read: there is no SDL")

    monkeypatch.setattr(pad_jog, "GamePad", fails)
    pad.switch.click()
    assert not pad.switch.isChecked() and "there is no SDL" in pad.words.text()
