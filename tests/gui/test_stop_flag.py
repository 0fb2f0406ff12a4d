"""STOP reaches the engine's flag in shared memory while the event is processed: it waits for nobody."""

import gc
from collections.abc import Callable, Iterator
from typing import Any, cast

import pytest
from pyqtgraph.Qt import QtCore, QtTest, QtWidgets
from shell_support import KEY, LEFT, BusyEngine, FakeSession, key, make_status

from gui.session.stop_everywhere import StopButton
from gui.shell.main_window import MainWindow
from rig.client import LiveRig
from rig.engine import ControlBlock
from rig.states import State


@pytest.fixture
def block(session: FakeSession, window: MainWindow) -> Iterator[ControlBlock]:
    """The engine's side of the block; the motion runs, and the link hangs."""
    owned = ControlBlock.create()
    engine = BusyEngine(owned.name)
    session.take(make_status(State.RUNNING))
    session._engine = cast(LiveRig, engine)  # as far as the app asks it
    window.views.clock.stop()  # it would read telemetry
    yield owned
    engine.let_go()
    session.close()
    owned.close()


def _raised(block: ControlBlock) -> bool:
    """Whether the flag is up; lowered as the engine does."""
    return block.take_stop() == 1


def test_by_mouse_and_by_esc_in_the_window_and_in_a_field(window: MainWindow, block: ControlBlock, qtbot: Any) -> None:
    assert not _raised(block)
    place = window.stop_button.mapTo(window, window.stop_button.rect().center())
    QtTest.QTest.mousePress(window.windowHandle(), LEFT, QtCore.Qt.KeyboardModifier.NoModifier, place)
    assert _raised(block)
    QtTest.QTest.mouseRelease(window.windowHandle(), LEFT, QtCore.Qt.KeyboardModifier.NoModifier, place)
    key(KEY.Key_Escape, window)
    assert _raised(block)
    window.tabs.setCurrentWidget(window.views.log)
    window.activateWindow()
    window.views.log.search.setFocus()
    qtbot.waitUntil(window.views.log.search.hasFocus, timeout=60_000)
    key(KEY.Key_Escape, window)
    assert _raised(block) and not _raised(block)


def _menu(window: MainWindow) -> None:
    window.menuBar().actions()[0].menu().popup(window.mapToGlobal(QtCore.QPoint(10, 10)))


def _combo(window: MainWindow) -> None:
    window.tabs.setCurrentWidget(window.jog)
    window.jog.steps.frame.showPopup()


def _dialog(window: MainWindow) -> None:
    QtWidgets.QMessageBox(window).exec()


def _file_dialog(window: MainWindow) -> None:
    window.motion.open()


@pytest.mark.parametrize("show", [_menu, _combo, _dialog, _file_dialog])
def test_by_esc_under_what_takes_every_key(
    window: MainWindow, block: ControlBlock, qtbot: Any, show: Callable[[MainWindow], None]
) -> None:
    raised: list[bool] = []

    def escape() -> None:
        top = QtWidgets.QApplication.activePopupWidget() or window.guards.stop.dialog
        key(KEY.Key_Escape, top)
        raised.append(_raised(block))

    QtCore.QTimer.singleShot(0, escape)
    show(window)
    qtbot.waitUntil(lambda: bool(raised), timeout=60_000)
    assert raised == [True]


@pytest.mark.parametrize("show", [_dialog, _file_dialog])
def test_by_mouse_under_a_dialog(
    window: MainWindow, block: ControlBlock, qtbot: Any, show: Callable[[MainWindow], None]
) -> None:
    """The window's own STOP, and that of the dialog, also where Qt made the dialog."""
    raised: list[bool] = []

    def press() -> None:
        gc.collect()
        dialog = window.guards.stop.dialog
        assert dialog is not None
        try:
            for button in (window.stop_button, dialog.findChild(StopButton)):
                place = button.mapTo(button.window(), button.rect().center())
                handle = button.window().windowHandle()
                QtTest.QTest.mouseClick(handle, LEFT, QtCore.Qt.KeyboardModifier.NoModifier, place)
                raised.append(_raised(block))
        finally:
            dialog.reject()

    QtCore.QTimer.singleShot(0, press)
    show(window)
    assert raised == [True, True]
    assert window.guards.stop.dialog is None
