"""What moves as long as it is held, by the mouse or by a pad, on real processes: the engine moves, and lets go."""

from typing import Any

import pytest
from live_app import STEP, engage, reach, state_of, status_of
from pyqtgraph.Qt import QtTest
from shell_support import KEY, LEFT, focus, key
from virtual_pad import VirtualPad

from gui.operate.hold_button import HoldButton
from gui.shell.main_window import MainWindow
from rig.states import State


def _hold(window: MainWindow, qtbot: Any, button: HoldButton) -> float:
    """Keep a button down until the platform has moved with it; from which height, m."""
    qtbot.waitUntil(button.isEnabled, timeout=STEP)
    start = status_of(window).reference[2]
    QtTest.QTest.mousePress(button, LEFT)
    qtbot.waitUntil(
        lambda: state_of(window) is State.RUNNING and status_of(window).reference[2] > start + 1e-3, timeout=STEP
    )
    return start


def _lose_the_pad(window: MainWindow, qtbot: Any) -> None:
    """One that moves the platform is pulled out."""
    with VirtualPad() as hand:
        window.jog.pad.switch.setChecked(True)
        qtbot.waitUntil(lambda: window.jog.pad._wishes.ready, timeout=STEP)
        hand.press("dead-man")
        hand.move("right y", -1.0)
        start = status_of(window).reference[2]
        qtbot.waitUntil(
            lambda: state_of(window) is State.RUNNING and status_of(window).reference[2] < start - 1e-3, timeout=STEP
        )
        hand.unplug()
        reach(window, qtbot, State.ENGAGED)
        qtbot.waitUntil(lambda: not window.motion.mover.active, timeout=STEP)
    end = status_of(window).reference
    told = status_of(window).cycles
    qtbot.waitUntil(lambda: status_of(window).cycles > told + 10, timeout=STEP)
    assert status_of(window).reference == end and start - 0.1 < end[2] < start - 1e-3 and window.jog.outcome == ""
    window.jog.pad.switch.setChecked(False)


def test_an_engine_moves_as_long_as_a_button_is_held(
    live: MainWindow, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    engage(live, qtbot)
    live.tabs.setCurrentWidget(live.jog)
    live.jog.speeds.share.set_si(1.0)
    button = live.jog.buttons["+z"]
    assert isinstance(button, HoldButton)
    focus(qtbot, button)
    start = _hold(live, qtbot, button)
    QtTest.QTest.mouseRelease(button, LEFT)
    reach(live, qtbot, State.ENGAGED)
    qtbot.waitUntil(lambda: not live.motion.mover.active, timeout=STEP)
    assert 1e-3 < status_of(live).reference[2] - start < 0.1 and live.jog.outcome == ""

    _lose_the_pad(live, qtbot)

    _hold(live, qtbot, button)
    with monkeypatch.context() as patch:
        patch.setattr(live.session, "signal_hold", lambda _held: None)  # as by a window that hangs
        reach(live, qtbot, State.ENGAGED)
        qtbot.waitUntil(lambda: not button.holding, timeout=STEP)
    QtTest.QTest.mouseRelease(button, LEFT)
    assert any("hold-to-run client was silent for" in entry.text for entry in live.views.log.model.entries)

    _hold(live, qtbot, button)
    key(KEY.Key_Escape, live)
    assert not button.holding
    reach(live, qtbot, State.PARKED)
    QtTest.QTest.mouseRelease(button, LEFT)
