"""STOP by mouse and by Esc, wherever the operator is; Space and Enter where they must not enable anything."""

from typing import Any

import pytest
from pyqtgraph.Qt import QtCore, QtTest, QtWidgets
from shell_support import KEY, LEFT, FakeSession, focus, key, make_status, press

from gui.models.rules import Action
from gui.session.stop_everywhere import StopButton
from gui.shell.main_window import MainWindow
from rig.states import State


def test_stop_by_mouse_acts_on_the_press(window: MainWindow, session: FakeSession) -> None:
    QtTest.QTest.mousePress(window.stop_button, LEFT)
    assert session.stops == [(1, "button")]
    QtTest.QTest.mouseRelease(window.stop_button, LEFT)
    assert session.stops == [(1, "button")]


def test_stop_can_be_pressed_in_every_state(window: MainWindow, session: FakeSession) -> None:
    for state in State:
        session.stops.clear()
        session.take(make_status(state))
        assert window.stop_button.isEnabled(), state
        press(window.stop_button)
        assert session.stops == [(1, "button")], state


def test_esc_in_a_text_field(window: MainWindow, session: FakeSession, qtbot: Any) -> None:
    window.tabs.setCurrentWidget(window.views.log)
    focus(qtbot, window.views.log.search)
    QtTest.QTest.keyClicks(window.views.log.search, "leg")
    key(KEY.Key_Escape)
    assert session.stops == [(1, "Esc")]


def test_esc_in_a_number_field_and_in_a_table(window: MainWindow, session: FakeSession, qtbot: Any) -> None:
    window.tabs.setCurrentWidget(window.jog)
    focus(qtbot, window.jog.steps.translation)
    key(KEY.Key_Escape)
    window.tabs.setCurrentWidget(window.views.log)
    focus(qtbot, window.views.log.table)
    key(KEY.Key_Escape)
    assert session.stops == [(1, "Esc")] * 2


def test_every_press_of_esc_counts_once(window: MainWindow, session: FakeSession, qtbot: Any) -> None:
    focus(qtbot, window.operate.buttons[Action.CONNECT])
    for _ in range(3):
        key(KEY.Key_Escape)
    assert session.stops == [(1, "Esc")] * 3


def test_esc_in_an_open_menu(window: MainWindow, session: FakeSession, qtbot: Any) -> None:
    menu = window.menuBar().actions()[0].menu()
    menu.popup(window.mapToGlobal(QtCore.QPoint(10, 10)))
    qtbot.waitUntil(menu.isVisible, timeout=60_000)
    key(KEY.Key_Escape, menu)
    assert session.stops == [(1, "Esc")]


def test_esc_in_the_popup_of_a_combo_box(window: MainWindow, session: FakeSession, qtbot: Any) -> None:
    window.tabs.setCurrentWidget(window.jog)
    window.jog.steps.frame.showPopup()
    popup = window.jog.steps.frame.view()
    qtbot.waitUntil(popup.isVisible, timeout=60_000)
    key(KEY.Key_Escape, popup)
    assert session.stops == [(1, "Esc")]


def test_esc_and_mouse_under_a_modal_dialog(window: MainWindow, session: FakeSession, qtbot: Any) -> None:
    dialog = QtWidgets.QMessageBox(window)
    dialog.setText("a question")
    seen = []

    def look() -> None:
        seen.append(window.guards.stop.dialog)
        press(dialog.findChild(StopButton))
        key(KEY.Key_Escape, dialog)

    QtCore.QTimer.singleShot(0, look)
    dialog.exec()
    assert seen == [dialog] and window.guards.stop.dialog is None
    assert session.stops == [(1, "button"), (1, "Esc")]


def test_what_is_behind_a_dialog_takes_nothing_but_stop(window: MainWindow, session: FakeSession, qtbot: Any) -> None:
    session.take(make_status(State.ENGAGED))
    park, step = window.operate.buttons[Action.PARK], window.jog.legs.step
    window.tabs.setCurrentWidget(window.jog)
    focus(qtbot, step)
    dialog = QtWidgets.QMessageBox(window)
    dialog.setWindowModality(QtCore.Qt.WindowModality.WindowModal)
    dialog.show()
    shown = window.guards.stop.dialog
    assert shown is not None and shown is dialog
    press(park)
    QtTest.QTest.keyClicks(step, "7")
    QtTest.QTest.keyClick(window.windowHandle(), KEY.Key_2, QtCore.Qt.KeyboardModifier.ControlModifier)
    QtTest.QTest.keyClick(window.windowHandle(), KEY.Key_3, QtCore.Qt.KeyboardModifier.ControlModifier)
    assert session.sent == [] and step.si() == 0.002 and window.tabs.currentWidget() is window.jog
    press(window.stop_button)
    assert session.stops == [(1, "button")]
    dialog.reject()
    press(park)
    assert session.commands == ["park"]


def test_esc_in_every_file_dialog(whole_window: MainWindow, session: FakeSession, qtbot: Any) -> None:
    window = whole_window
    for number, ask in enumerate(
        (
            window.motion.open,
            lambda: _press(window.motion, "Save as motion"),
            lambda: _press(window.views.log, "Save the event log"),
            window.views.live.bar.png.click,
            window.views.live.bar.csv.click,
            window.views.recordings.list.choose.click,
        )
    ):
        session.stops.clear()
        seen: list[type] = []

        def escape(seen: list[type] = seen) -> None:
            dialog = window.guards.stop.dialog
            seen.append(type(dialog))
            key(KEY.Key_Escape, dialog)

        QtCore.QTimer.singleShot(0, escape)
        ask()
        assert seen == [QtWidgets.QFileDialog], number
        assert session.stops == [(1, "Esc")], number
    # where a desktop offers a file dialog of its own, it would not let Esc through
    assert QtWidgets.QApplication.testAttribute(QtCore.Qt.ApplicationAttribute.AA_DontUseNativeDialogs)


def _press(panel: QtWidgets.QWidget, name: str) -> None:
    (button,) = [each for each in panel.findChildren(QtWidgets.QPushButton) if each.accessibleName() == name]
    button.click()


def test_stop_by_mouse_while_a_popup_is_open(window: MainWindow, session: FakeSession, qtbot: Any) -> None:
    menu = window.menuBar().actions()[0].menu()
    menu.popup(window.mapToGlobal(QtCore.QPoint(10, 10)))
    qtbot.waitUntil(menu.isVisible, timeout=60_000)
    place = window.stop_button.mapToGlobal(window.stop_button.rect().center())
    QtTest.QTest.mousePress(menu.windowHandle(), LEFT, QtCore.Qt.KeyboardModifier.NoModifier, menu.mapFromGlobal(place))
    assert session.stops == [(1, "button")]


@pytest.mark.parametrize("code", [KEY.Key_Space])
def test_space_presses_nothing_that_moves_or_enables(
    window: MainWindow, session: FakeSession, qtbot: Any, code: Any
) -> None:
    for state, action in (
        (State.OFF, Action.CONNECT),
        (State.IDLE, Action.HOME),
        (State.PARKED, Action.ENGAGE),
        (State.ENGAGED, Action.PARK),
        (State.FAULT, Action.RESET),
    ):
        session.take(make_status(state))
        button = window.operate.arm if action is Action.ENGAGE else window.operate.buttons[action]
        assert button.isEnabled()
        focus(qtbot, button)
        key(code)
    assert session.sent == [] and not window.operate.arm.isChecked()


def test_space_on_stop_stops(window: MainWindow, session: FakeSession, qtbot: Any) -> None:
    focus(qtbot, window.stop_button)
    key(KEY.Key_Space)
    assert session.stops == [(1, "button")]


def test_a_dialog_that_is_gone_without_being_closed_holds_nothing_back(
    window: MainWindow, session: FakeSession, qtbot: Any
) -> None:
    dialog = QtWidgets.QMessageBox(window)
    dialog.setModal(True)
    dialog.show()
    qtbot.waitUntil(dialog.isVisible, timeout=60_000)
    modal: Any = window.guards.stop
    assert modal.dialog is dialog
    dialog.deleteLater()
    QtWidgets.QApplication.sendPostedEvents(None, QtCore.QEvent.Type.DeferredDelete)
    assert modal.dialog is None
    press(window.stop_button)
    assert session.stops == [(1, "button")]
