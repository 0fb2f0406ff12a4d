"""The operating steps: what each button sends, when it can be pressed, and what it says when it cannot."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from pyqtgraph.Qt import QtCore, QtWidgets
from shell_support import FakeSession, make_event, make_status, press

from actuators import Status as DriveStatus
from gui.models.operate import state_style
from gui.models.rules import Action, Phase
from gui.operate.operate_panel import OperatePanel
from gui.screen import LEAST
from gui.shell.guide import CONTENTS
from gui.shell.main_window import MainWindow
from rig.engine import CellsReport, DriveReport, Engage, Event, Home, Park, ReplyCounts, Reset, Unproven
from rig.findings import Code, Finding
from rig.states import State
from rig.telemetry import ROW


@pytest.fixture
def operate(session: FakeSession, qtbot: Any) -> OperatePanel:
    """The panel alone, in view."""
    made = OperatePanel(session)
    qtbot.addWidget(made)
    made.resize(290, 700)
    with qtbot.waitExposed(made):
        made.show()
    return made


@pytest.mark.parametrize(
    ("state", "action", "command"),
    [
        (State.IDLE, Action.HOME, Home()),
        (State.ENGAGED, Action.PARK, Park()),
        (State.FAULT, Action.RESET, Reset()),
    ],
)
def test_steps_send_their_command(
    operate: OperatePanel, session: FakeSession, state: State, action: Action, command: Any
) -> None:
    session.take(make_status(state))
    press(operate.buttons[action])
    assert [sent[1] for sent in session.sent] == [command]


def test_connect_and_disconnect(operate: OperatePanel, session: FakeSession) -> None:
    press(operate.buttons[Action.CONNECT])
    session.take(make_status(State.PARKED))
    press(operate.buttons[Action.DISCONNECT])
    assert session.commands == ["connect", "disconnect"]


def test_engaging_takes_two_steps(operate: OperatePanel, session: FakeSession) -> None:
    session.take(make_status(State.PARKED))
    engage, arm = operate.buttons[Action.ENGAGE], operate.arm
    assert not engage.isEnabled() and "press Arm, then" in operate.shown_reason(Action.ENGAGE)
    assert [operate.shown_reason(action) for action in (Action.PARK, Action.RESET)] == ["", ""]
    press(engage)
    assert session.sent == []
    press(arm)
    press(engage)
    assert [sent[1] for sent in session.sent] == [Engage()]
    assert not arm.isChecked()


def test_arming_ends_by_itself(operate: OperatePanel, session: FakeSession, qtbot: Any) -> None:
    session.take(make_status(State.PARKED))
    operate.pair.timer.setInterval(20)
    press(operate.arm)
    qtbot.waitUntil(lambda: not operate.arm.isChecked(), timeout=60_000)
    assert not operate.buttons[Action.ENGAGE].isEnabled()


def test_a_stop_and_another_state_disarm(window: MainWindow, session: FakeSession) -> None:
    session.take(make_status(State.PARKED))
    press(window.operate.arm)
    press(window.stop_button)
    assert not window.operate.arm.isChecked()
    press(window.operate.arm)
    session.take(make_status(State.FAULT))
    assert not window.operate.arm.isChecked()


def test_what_cannot_be_done_says_why_in_its_tip_and_to_readers(operate: OperatePanel, session: FakeSession) -> None:
    session.take(make_status(State.RUNNING))
    button = operate.buttons[Action.PARK]
    assert not button.isEnabled()
    assert operate.reason(Action.PARK) == button.toolTip() == "a motion is running"
    assert button.accessibleDescription() == "not possible now: a motion is running"


def test_drives_that_do_not_answer_say_why(window: MainWindow, session: FakeSession) -> None:
    session.refuse_connect((2, "127.0.0.1:9: refused"), (5, "serial X, not Y"))
    assert window.operate.drives.text(2) == "✗ 127.0.0.1:9: refused"
    assert window.operate.drives.text(5) == "✗ serial X, not Y"
    assert window.operate.drives.text(1).startswith("✓ answered")
    session.take(make_status(State.OFF))
    assert window.operate.drives.text(1).startswith("✓ answered")
    assert "connect" in window.banner.notice.text()


def test_drives_are_followed_from_telemetry(operate: OperatePanel, session: FakeSession) -> None:
    session.take(
        make_status(
            State.ENGAGED,
            events=[
                make_event(
                    Finding(Code.DRIVE_IDENTIFIED, 1, details={"identity": "maker servo, serial A7, firmware 1"})
                )
            ],
        )
    )
    row = np.zeros(1, ROW)[0]
    row["state"] = State.ENGAGED
    row["drive_status"] = DriveStatus.ENABLED | DriveStatus.HOMED
    row["drive_status"][3] = DriveStatus.FAULT | DriveStatus.WATCHDOG
    row["drive_error"][3] = 17
    row["stale"][1] = 4
    operate.show_row(row, make_status(State.ENGAGED))
    assert operate.drives.text(1) == "✓ torque on, homed"
    assert operate.drives.text(2) == "✗ silent for 4 cycles"
    assert operate.drives.text(4) == "✗ error 17, stopped by its own watchdog, fault"
    operate.show_row(row, make_status(State.ENGAGED, echo_lag=(1, 0, 0, 0, 0, 2)))
    assert operate.drives.text(1) == "✓ torque on, homed, replies 1 cycle old"
    assert operate.drives.text(6).endswith("replies 2 cycles old")


COUNTS = ReplyCounts(late=3, damaged=4, foreign=2, lately=1, bound=5.0)
WORDS = [
    "3 replies late, 6 rejected",
    "rejected: 4 damaged, 2 foreign, 0 refused, 0 to another command",
    "1 of them in the last second, at most 5 tolerated",
]


def test_what_drives_measure_in_themselves_stands_beside_them(operate: OperatePanel, session: FakeSession) -> None:
    session.take(make_status(State.ENGAGED))
    row = np.zeros(1, ROW)[0]
    row["state"] = State.ENGAGED
    row["drive_error"][1] = 64
    drives = operate.drives
    reports = [DriveReport() for _ in range(6)]
    reports[0] = DriveReport((("temperature", 41.3), ("supply", 47.95), ("power", 12.0), ("rpm", math.nan)), "", COUNTS)
    reports[1] = DriveReport((("temperature", math.nan),), "too hot")
    operate.show_row(row, make_status(State.ENGAGED, drives=tuple(reports)))
    assert [drives.values(leg) for leg in (1, 2, 3)] == ["41.3 °C  48 V", "–", ""]
    assert drives.text(2) == "✗ error 64: too hot"
    tip = drives.findChildren(QtWidgets.QLabel)[1].toolTip().splitlines()
    assert tip[1:] == ["temperature 41.3 °C", "supply 48 V", "power 12 W", "rpm –", *WORDS]
    assert drives.text(1).endswith("6 replies rejected, 1 in the last second")
    operate.show_row(row, make_status(State.ENGAGED))  # before the engine has looked at them
    assert drives.values(1) == ""
    operate.show_row(row, make_status(State.ENGAGED, drives=tuple(reports)))
    session.refuse_connect((2, "refused"))
    assert drives.values(1) == ""


def test_replies_of_the_load_cells_devices_are_counted_by_kind(operate: OperatePanel, session: FakeSession) -> None:
    session.take(make_status(State.ENGAGED))
    row = np.zeros(1, ROW)[0]
    row["state"] = State.ENGAGED
    drives = operate.drives
    operate.show_row(row, make_status(State.ENGAGED))  # the drives read the cells
    assert drives.cells == ""
    reports = [CellsReport(f"load cell {number}") for number in range(1, 7)]
    operate.show_row(row, make_status(State.ENGAGED, cells=tuple(reports)))
    assert drives.cells == "✓ ready"
    reports[2] = CellsReport("load cell 3", COUNTS)
    operate.show_row(row, make_status(State.ENGAGED, cells=tuple(reports)))
    assert drives.cells == "✓ Load cell 3: 6 replies rejected, 1 in the last second"
    tip = drives.findChildren(QtWidgets.QLabel)[-1].toolTip().splitlines()
    assert tip[:5] == [
        "Load cell 1",
        "0 replies late, 0 rejected",
        "Load cell 2",
        "0 replies late, 0 rejected",
        "Load cell 3",
    ]
    assert tip[5:8] == WORDS
    operate.show_row(row, make_status(State.ENGAGED, cells=(CellsReport("amplifier", COUNTS),)))
    assert drives.cells == "✓ Amplifier: 6 replies rejected, 1 in the last second"
    session.refuse_connect((2, "refused"))
    assert drives.cells == ""


def test_the_banner_follows_and_the_title_says_it_too(window: MainWindow, session: FakeSession) -> None:
    assert window.banner.state_text == "Off"
    session.take(make_status(State.ENGAGED, overruns=7, rows=1234, dropped=2))
    assert window.banner.state_text == "Engaged"
    assert window.windowTitle().startswith("Engaged – VIRTUAL RIG")
    paused = make_status(State.ENGAGED, paused=True, motion="demo", path_time=1.0, path_duration=2.0)
    looks = [state_style(replace(session.situation, status=status)) for status in
             (make_status(State.ENGAGED), make_status(State.RUNNING), paused)]  # fmt: skip
    for part in ("text", "icon", "background"):
        assert len({getattr(look, part) for look in looks}) == 3
    assert window.banner.accessibleName() == "State of the rig: Engaged"
    assert [window.banner.figure(name) for name in ("Overruns", "Recorded", "Dropped")] == ["7", "1234 rows", "2 rows"]
    session.take(make_status(State.ENGAGED, slower=0.13))
    assert window.banner.figure("Overruns") == "0, 13 % slower"


def test_a_dead_engine_is_said_with_what_the_drives_do(window: MainWindow, session: FakeSession) -> None:
    session.take(make_status(State.RUNNING))
    session._engine_died()
    assert session.phase is Phase.DIED
    assert window.operate.shown_reason(Action.PARK) == ""
    assert window.banner.state_text == "Engine died"
    assert "in state Running" in window.banner.detail and "watchdog within 50 ms" in window.banner.detail
    assert window.operate.buttons[Action.CONNECT].isEnabled()
    assert window.operate.reason(Action.PARK) == "the engine has died: restart it first"


def test_a_warning_of_the_engine_is_shown(window: MainWindow, session: FakeSession) -> None:
    doubtful = Event(1.0, "warning", Finding(Code.LOOP_DOUBTFUL, details={"text": "the control loop is slow"}))
    tripped = Event(2.0, "warning", Finding(Code.OPERATOR_STOP, details={"category": 1}))
    session.take(make_status(State.OFF, events=[doubtful, tripped]))
    assert window.banner.notice.text() == "warning: the control loop is slow"


def test_every_control_has_an_accessible_name(whole_window: MainWindow) -> None:
    kinds = (QtWidgets.QAbstractButton, QtWidgets.QLineEdit, QtWidgets.QComboBox, QtWidgets.QAbstractSpinBox)
    whole_window.menus.help.show_about()
    (box,) = whole_window.findChildren(QtWidgets.QMessageBox)
    whole_window.menus.help.show_page(CONTENTS)
    guide = whole_window.menus.help.guide
    pages = [whole_window.tabs.widget(index) for index in range(whole_window.tabs.count())]
    nameless = []
    for panel in (whole_window.operate, whole_window.banner, *pages, box, guide, whole_window):
        controls = [control for kind in kinds for control in panel.findChildren(kind)]
        assert controls or panel is whole_window.views.platform_page
        for control in controls:
            inner = control.objectName().startswith("qt_") or isinstance(
                control.parent(),
                (QtWidgets.QAbstractSpinBox, QtWidgets.QTableView, QtWidgets.QHeaderView, QtWidgets.QTabBar),
            )
            text = control.text() if isinstance(control, QtWidgets.QAbstractButton) else ""
            if not (inner or control.accessibleName() or text):
                nameless.append(
                    f"{type(panel).__name__}: {type(control).__name__} of {type(control.parent()).__name__}"
                )
    box.close()
    assert nameless == []


def test_an_engine_that_does_not_answer_is_said(window: MainWindow, session: FakeSession) -> None:
    session.take(make_status(State.RUNNING))
    session._take_status(None, RuntimeError("no reply"))
    assert window.banner.state_text == "No answer"
    session.take(make_status(State.RUNNING))
    assert window.banner.state_text == "Running"


@pytest.mark.parametrize(
    ("state", "action"), [(State.OFF, Action.CONNECT), (State.IDLE, Action.HOME), (State.FAULT, Action.RESET)]
)
def test_the_next_step_stands_out(operate: OperatePanel, session: FakeSession, state: State, action: Action) -> None:
    session.take(make_status(state))
    assert [step for step, button in operate.buttons.items() if button.property("next")] == [action]


def test_the_next_step_of_two_is_marked_in_turn(operate: OperatePanel, session: FakeSession) -> None:
    session.take(make_status(State.PARKED))
    arm, engage = operate.arm, operate.buttons[Action.ENGAGE]
    assert arm.property("next") and not engage.property("next")
    press(arm)
    assert engage.property("next") and not arm.property("next")


def test_stop_before_the_engine_is_there_prevents_connecting(window: MainWindow, session: FakeSession) -> None:
    session.enter(Phase.STARTING)
    session._connect_next = True
    press(window.stop_button)
    assert not session._connect_next


def test_longer_words_of_another_language_make_the_panel_wider_and_are_not_cut(window: MainWindow, qtbot: Any) -> None:
    panel, before, text = window.operate, window.operate.width(), window.operate.pair.act.text()
    least = window.centralWidget().splitter.widget(0).minimumSizeHint().width()
    panel.pair.act.setText(4 * text)
    qtbot.waitUntil(lambda: panel.width() > before)
    QtWidgets.QApplication.processEvents()
    assert panel.widget().width() <= panel.viewport().width()
    assert panel.pair.act.width() >= panel.pair.act.minimumSizeHint().width()
    panel.pair.act.setText(text)
    qtbot.waitUntil(lambda: window.centralWidget().splitter.widget(0).minimumSizeHint().width() == least)


def test_an_address_or_a_failure_of_any_length_wraps_and_leaves_buttons_and_window_as_they_are(
    window: MainWindow, session: FakeSession, qtbot: Any
) -> None:
    panel, before = window.operate, window.operate.width()
    path = "/dev/serial/by-id/usb-FTDI_FT232R_USB_RS485_Adapter_A10MKLZT-if00-port0"
    session.refuse_connect((1, f"{path}: No such device"), (2, 150 * "x"))
    QtWidgets.QApplication.processEvents()
    label = panel.drives._labels[0]
    qtbot.waitUntil(lambda: label.height() > 3 * label.fontMetrics().height())
    assert panel.drives.text(1) == f"✗ {path}: No such device" and panel.drives.text(2) == f"✗ {150 * 'x'}"
    panel._reason_room.show_text(150 * "x")
    QtWidgets.QApplication.processEvents()
    assert panel.width() == before and panel.widget().width() <= panel.viewport().width()
    for shown in (*panel.buttons.values(), *panel.drives._labels):
        assert shown.mapTo(panel.widget(), QtCore.QPoint(shown.width(), 0)).x() <= panel.widget().width()
    assert window.minimumSizeHint().width() <= LEAST.width()


def test_homing_a_wiring_that_is_not_proven_takes_the_operators_word(
    operate: OperatePanel, session: FakeSession
) -> None:
    lacking = Unproven((2, 5), Finding(Code.UNPROVEN, details={"legs": [2, 5]}))
    session.take(make_status(State.IDLE, unproven=lacking))
    home = operate.buttons[Action.HOME]
    assert home.isEnabled()
    for answer, sent in (("stay", []), ("home", [Home(unproven=True)])):
        press(home)
        question = operate.question
        assert question is not None and question.isVisible() and "2, 5" in question.text()
        assert lacking.text in question.informativeText() and session.sent == []
        if answer == "home":
            press(question.home)
        else:
            question.reject()
        assert not question.isVisible() and [one[1] for one in session.sent] == sent
