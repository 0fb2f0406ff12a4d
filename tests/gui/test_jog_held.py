"""Buttons of the Jog page that are kept down: what begins then, and everything that lets go of them."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from pyqtgraph.Qt import QtCore, QtGui, QtTest, QtWidgets
from shell_support import KEY, LEFT, FakeSession, Panels, focus, key, make_status, press

from gui.models.rules import Phase
from gui.operate.hold_button import REPEAT, HoldButton
from gui.shell.main_window import MainWindow
from kinematics import MotionTable
from rig.engine import Follow
from rig.states import State

SHIFT = QtCore.Qt.KeyboardModifier.ShiftModifier
NONE = QtCore.Qt.KeyboardModifier.NoModifier
EVENTS = QtCore.QEvent.Type
PATIENCE = 60_000  # ms; the first check on a machine compiles its kernels


@pytest.fixture
def jog(panels: Panels, session: FakeSession, qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> Panels:
    """The Jog page of a platform that is held, its window in front; no ranges are looked into beside."""
    _hold(panels, session, qtbot, monkeypatch)
    return panels


@pytest.fixture
def whole(window: MainWindow, session: FakeSession, qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> MainWindow:
    """The same page in the main window."""
    _hold(window, session, qtbot, monkeypatch)
    return window


def _hold(window: MainWindow | Panels, session: FakeSession, qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window.jog.finder, "ask", lambda _question: None)
    session.take(make_status(State.ENGAGED))
    window.tabs.setCurrentWidget(window.jog)
    focus(qtbot, window.jog.buttons["+z"])


def keep_down(window: MainWindow | Panels, session: FakeSession, qtbot: Any, name: str = "+z") -> HoldButton:
    """A button that the mouse keeps down, its way sent and running."""
    button = window.jog.buttons[name]
    assert isinstance(button, HoldButton)
    QtTest.QTest.mousePress(button, LEFT)
    runs(session, qtbot)
    assert button.holding and button.isEnabled()
    return button


def runs(session: FakeSession, qtbot: Any) -> MotionTable:
    qtbot.waitUntil(lambda: bool(session.sent), timeout=PATIENCE)
    _what, command, samples = session.sent[-1]
    assert isinstance(command, Follow) and command.slowing is not None
    session.take(make_status(State.RUNNING, t=10.1, motion=command.name, path_time=0.1, path_duration=5.0))
    return MotionTable(command.step, samples)


def let_go(session: FakeSession) -> bool:
    """Whether the engine was told last that nothing is held, after it was told that something is."""
    return True in session.held and session.held[-1] is False


def test_a_button_that_is_kept_down_moves_along_its_axis_until_it_is_let_go(
    jog: Panels, session: FakeSession, qtbot: Any
) -> None:
    jog.jog.speeds.share.set_si(10.0)
    button = keep_down(jog, session, qtbot)
    table = MotionTable(session.sent[0][1].step, session.sent[0][2])
    assert table.samples[:, 8].max() == pytest.approx(0.08, rel=0.01)  # a tenth of the legs' 0.8 m/s
    renewed = len(session.held)
    qtbot.waitUntil(lambda: len(session.held) > renewed + 3, timeout=PATIENCE)
    assert all(session.held)
    assert "as long as +z is held" in jog.jog.buttons["-z"].obstacle
    QtTest.QTest.mouseRelease(button, LEFT)
    assert let_go(session) and not button.holding
    told = len(session.held)
    session.take(make_status(State.ENGAGED, t=10.9))
    assert button.isEnabled() and jog.jog.outcome == "" and len(session.sent) == 1  # and no step after it
    assert len(session.held) == told and not jog.jog.hold_to_run._timer.isActive()  # nothing renews it any more


def test_a_short_press_is_the_step_that_it_was(jog: Panels, session: FakeSession, qtbot: Any) -> None:
    press(jog.jog.buttons["+z"])
    qtbot.waitUntil(lambda: bool(session.sent), timeout=PATIENCE)
    assert session.sent[0][1].slowing is None and session.held == []


def _leave(window: MainWindow | Panels, button: HoldButton) -> None:
    place = QtCore.QPoint(button.width() + 20, 5)
    moved = QtGui.QMouseEvent(EVENTS.MouseMove, QtCore.QPointF(place), LEFT, LEFT, NONE)
    QtWidgets.QApplication.sendEvent(button, moved)


def _ask(window: MainWindow, _button: HoldButton) -> None:
    dialog = QtWidgets.QMessageBox(window)
    dialog.show()
    dialog.deleteLater()


def _show_without_keyboard(window: MainWindow, _button: HoldButton) -> None:
    dialog = QtWidgets.QDialog(window)
    dialog.setAttribute(QtCore.Qt.WidgetAttribute.WA_ShowWithoutActivating)
    QtWidgets.QVBoxLayout(dialog)
    dialog.setWindowFlag(QtCore.Qt.WindowType.WindowDoesNotAcceptFocus)
    dialog.show()
    dialog.deleteLater()


def _menu(window: MainWindow, _button: HoldButton) -> None:
    menu = window.menuBar().actions()[0].menu()
    menu.popup(window.mapToGlobal(QtCore.QPoint(5, 5)))
    menu.close()


def _tell(kind: Any) -> Callable[[MainWindow, HoldButton], None]:
    return lambda window, _button: QtWidgets.QApplication.sendEvent(window, QtCore.QEvent(kind))


LOSSES: dict[str, Callable[[MainWindow, HoldButton], object]] = {
    "the pointer leaves it": _leave,
    "another page": lambda window, _button: window.tabs.setCurrentWidget(window.views.log),
    "its group is folded": lambda window, _button: window.jog.folds[0].set_open(False),
    "the focus goes on": lambda window, _button: window.jog.steps.translation.setFocus(),
    "the window is left": _tell(EVENTS.WindowDeactivate),
    "the page is scrolled": _tell(EVENTS.Wheel),
    "another button of the mouse": lambda window, button: QtTest.QTest.mousePress(
        window.banner, QtCore.Qt.MouseButton.RightButton
    ),
    "Esc": lambda window, _button: key(KEY.Key_Escape, window),
    "STOP": lambda window, _button: window.session.stop(1),
    "a fault": lambda window, _button: window.session.take(make_status(State.FAULT, latched=True)),
    "a stop by somebody else": lambda window, _button: window.session.take(make_status(State.STOPPING)),
    "the engine dies": lambda window, _button: window.session.enter(Phase.DIED) or window.session.died.emit(),
}


TAKEN: dict[str, Callable[[MainWindow, HoldButton], object]] = {
    "minimised": lambda window, _button: window.showMinimized(),
    "hidden": lambda window, _button: window.hide(),
    "under a dialog": _ask,
    "under a dialog without the keyboard": _show_without_keyboard,
    "under a menu": _menu,
}
"""what leaves a window without the keyboard"""


def test_whatever_takes_it_from_the_hand_lets_go(whole: MainWindow, session: FakeSession, qtbot: Any) -> None:
    """One loss after the other in one window, each from a platform that is held and the page as it was."""
    for loss, act in LOSSES.items():
        _lose(whole, session, qtbot, loss, act)
        assert (session.stops == [(1, "Esc")]) is (loss == "Esc"), loss
        _begin_again(whole, session, qtbot)


@pytest.mark.parametrize("taken", TAKEN, ids=lambda taken: taken.replace(" ", "-"))
def test_a_window_that_is_taken_away_lets_go(whole: MainWindow, session: FakeSession, qtbot: Any, taken: str) -> None:
    _lose(whole, session, qtbot, taken, TAKEN[taken])
    assert session.stops == []


def _lose(
    window: MainWindow, session: FakeSession, qtbot: Any, loss: str, act: Callable[[MainWindow, HoldButton], object]
) -> None:
    button = keep_down(window, session, qtbot)
    told = len(session.held)
    act(window, button)
    assert not button.holding and let_go(session) and len(session.held) <= told + 1, loss
    QtTest.QTest.mouseRelease(button, LEFT)
    assert len(session.sent) == 1, loss  # what is up at last is no click


def _begin_again(window: MainWindow, session: FakeSession, qtbot: Any) -> None:
    """The window, the page and the platform as `jog` has them, and nothing written down."""
    session.take(make_status(State.ENGAGED, t=10.9))
    window.tabs.setCurrentWidget(window.jog)
    window.jog.folds[0].set_open(True)
    focus(qtbot, window.jog.buttons["+z"])
    for told in (session.sent, session.held, session.stops):
        told.clear()
    assert window.jog.buttons["+z"].isEnabled() and not window.motion.mover.active


def test_a_pointer_that_comes_back_holds_nothing_and_clicks_nothing(
    jog: Panels, session: FakeSession, qtbot: Any
) -> None:
    button = keep_down(jog, session, qtbot)
    _leave(jog, button)
    session.take(make_status(State.ENGAGED, t=10.9))
    back = QtGui.QMouseEvent(EVENTS.MouseMove, QtCore.QPointF(5, 5), LEFT, LEFT, NONE)
    QtWidgets.QApplication.sendEvent(button, back)
    assert not button._timer.isActive()  # which would make a hold of it
    QtTest.QTest.mouseRelease(button, LEFT)
    assert not button.holding and len(session.sent) == 1 and not jog.motion.mover.active


def test_a_button_that_is_not_in_hand_any_more_is_not_renewed(
    jog: Panels, session: FakeSession, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing was heard of its being taken: whoever renews looks for himself."""
    button = keep_down(jog, session, qtbot)
    assert button.is_held
    monkeypatch.setattr(jog, "isActiveWindow", lambda: False)
    qtbot.waitUntil(lambda: let_go(session), timeout=PATIENCE)
    assert not button.holding


def test_what_is_let_go_while_it_is_looked_at_is_not_sent(jog: Panels, session: FakeSession, qtbot: Any) -> None:
    button = jog.jog.buttons["+z"]
    assert isinstance(button, HoldButton)
    QtTest.QTest.mousePress(button, LEFT)
    qtbot.waitUntil(lambda: button.holding, timeout=PATIENCE)
    QtTest.QTest.mouseRelease(button, LEFT)
    assert jog.jog.outcome and not jog.motion.mover.active
    after: list[object] = []
    jog.motion.mover._checks.submit(lambda: None, lambda *answer: after.append(answer))
    qtbot.waitUntil(lambda: bool(after), timeout=PATIENCE)  # it was looked at meanwhile
    assert session.sent == []


def _nothing_begins(window: Panels) -> bool:
    """Whether no button is down, or about to be held."""
    buttons = window.jog.findChildren(HoldButton)
    return len(buttons) == 24 and not any(button.isDown() or button._timer.isActive() for button in buttons)


def test_a_key_that_is_kept_down_holds_and_one_that_is_tapped_does_nothing(
    jog: Panels, session: FakeSession, qtbot: Any
) -> None:
    handle = jog.windowHandle()
    for code in (KEY.Key_Up, KEY.Key_PageDown, KEY.Key_Space):
        key(code, jog)
    QtTest.QTest.keyPress(handle, KEY.Key_Space)
    qtbot.waitUntil(lambda: _nothing_begins(jog))
    QtTest.QTest.keyRelease(handle, KEY.Key_Space)
    assert session.sent == [] and not jog.motion.mover.active
    QtTest.QTest.keyPress(handle, KEY.Key_Left, SHIFT)
    table = runs(session, qtbot)
    assert table.samples[-1, 3] < -0.1 and jog.jog.hold_to_run.key == "-rx"
    QtTest.QTest.keyRelease(handle, KEY.Key_Left)  # Shift may be up before
    qtbot.waitUntil(lambda: let_go(session))


def _send(widget: QtWidgets.QWidget, kind: QtCore.QEvent.Type, code: int, timestamp: int) -> None:
    event = QtGui.QKeyEvent(kind, code, NONE)
    event.setTimestamp(timestamp)
    QtWidgets.QApplication.sendEvent(widget, event)


def test_a_key_that_repeats_is_held_until_it_is_up_for_real(jog: Panels, session: FakeSession, qtbot: Any) -> None:
    button = jog.jog.buttons["+z"]
    _send(button, EVENTS.KeyPress, KEY.Key_Right, 1000)
    runs(session, qtbot)
    for timestamp in (1660, 1700, 1740):  # as X repeats it, and Qt does not notice
        _send(button, EVENTS.KeyRelease, KEY.Key_Right, timestamp)
        _send(button, EVENTS.KeyPress, KEY.Key_Right, timestamp)
    qtbot.wait(2 * REPEAT)
    assert jog.jog.hold_to_run.key == "+x" and all(session.held)
    jog.jog.hold_to_run.end()  # whatever takes it from the hand
    assert let_go(session)
    session.take(make_status(State.ENGAGED, t=11.0))
    _send(button, EVENTS.KeyRelease, KEY.Key_Right, 1780)
    _send(button, EVENTS.KeyPress, KEY.Key_Right, 1780)
    assert _nothing_begins(jog)
    _send(button, EVENTS.KeyRelease, KEY.Key_Right, 1820)
    _send(button, EVENTS.KeyPress, KEY.Key_Right, 1950)
    assert jog.jog.buttons["+x"].isDown()
    _send(button, EVENTS.KeyRelease, KEY.Key_Right, 1960)
    qtbot.waitUntil(lambda: _nothing_begins(jog))
    assert len(session.sent) == 1


def test_return_on_a_button_clicks_or_holds(jog: Panels, session: FakeSession, qtbot: Any) -> None:
    handle = jog.windowHandle()
    focus(qtbot, jog.jog.buttons["-leg4"])
    QtTest.QTest.keyPress(handle, KEY.Key_Return)
    runs(session, qtbot)
    assert jog.jog.hold_to_run.key == "-leg4"
    QtTest.QTest.keyRelease(handle, KEY.Key_Return)
    qtbot.waitUntil(lambda: let_go(session))
    assert len(session.sent) == 1


def test_keys_are_those_of_the_field_that_has_them(jog: Panels, session: FakeSession, qtbot: Any) -> None:
    focus(qtbot, jog.jog.steps.translation)
    QtTest.QTest.keyPress(jog.windowHandle(), KEY.Key_Right)
    assert _nothing_begins(jog)
    QtTest.QTest.keyRelease(jog.windowHandle(), KEY.Key_Right)


def test_a_key_whose_button_loses_the_keyboard_is_let_go(jog: Panels, session: FakeSession, qtbot: Any) -> None:
    QtTest.QTest.keyPress(jog.windowHandle(), KEY.Key_PageUp)
    runs(session, qtbot)
    jog.jog.speeds.share.setFocus()
    assert let_go(session)


def test_a_refused_way_says_why_and_lets_go(jog: Panels, session: FakeSession, qtbot: Any) -> None:
    session.refuse = "no fresh feedback of leg 3"
    button = jog.jog.buttons["+x"]
    QtTest.QTest.mousePress(button, LEFT)
    qtbot.waitUntil(lambda: "no fresh feedback of leg 3" in jog.jog.outcome, timeout=PATIENCE)
    assert let_go(session)


def test_the_end_of_the_range_lets_go(jog: Panels, session: FakeSession, qtbot: Any) -> None:
    button = keep_down(jog, session, qtbot)
    session.take(make_status(State.ENGAGED, t=12.0))
    assert let_go(session) and not button.holding and jog.jog.outcome == ""


def test_the_speed_is_told_in_units_about_the_pivot_of_the_page(jog: Panels, session: FakeSession) -> None:
    speeds = jog.jog.speeds
    speeds.share.set_si(25.0)
    assert "200 mm/s along" in speeds.words.text()
    before = speeds.hold_speed("rz")
    jog.jog.steps.pivot[0].set_si(0.2)
    assert speeds.hold_speed("rz") < before and f"{speeds.hold_speed('rz') * 57.29578:.3g} °/s" in speeds.words.text()
    assert "at most 100" in speeds.share.toolTip()


def test_the_windows_own_thread_alone_tells_that_something_is_held(
    jog: Panels, session: FakeSession, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A window that hangs holds nothing: the engine lets go then."""
    threads: list[int] = []
    monkeypatch.setattr(session, "signal_hold", lambda _held: threads.append(threading.get_ident()))
    QtTest.QTest.mousePress(jog.jog.buttons["+z"], LEFT)
    qtbot.waitUntil(lambda: len(threads) > 4, timeout=PATIENCE)
    assert set(threads) == {threading.get_ident()}
