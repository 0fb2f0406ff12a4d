"""The wizard's pages: what is missing, going back and forth, saving, closing; nothing here moves."""

import socket
import threading
from pathlib import Path
from typing import Any

import pytest
from pyqtgraph.Qt import QtTest, QtWidgets
from setup_support import BUTTON, PASSED, ZERO, back, click, forward, press_indicator, rehearse, settled, until, write
from shell_support import KEY, FakeSession, key, make_status, press

from gui.models.rules import Phase
from gui.session.stop_everywhere import StopButton
from gui.setup.entry import SetupEntry
from gui.setup.wizard import SetupWizard
from gui.shell.main_window import MainWindow
from gui.steps import unbroken
from gui.texts import ranges
from rig.commissioning import Draft, LegMove, ZeroOptions, draft_config, draft_text
from rig.config.rig_config import RigConfig
from rig.errors import ConfigError
from rig.states import State
from rig.telemetry import SensorChannels


def test_the_entry_is_there_only_while_the_app_holds_no_drives(window: MainWindow, session: FakeSession) -> None:
    action = window.menus.setup.action
    assert action.isEnabled() and action.menu() is None
    session.take(make_status(State.IDLE))
    assert not action.isEnabled() and "disconnect first" in action.toolTip()
    session.enter(Phase.STARTING)
    assert not action.isEnabled()
    session.enter(Phase.DIED)
    assert action.isEnabled()
    session.enter(Phase.DOWN)
    action.trigger()
    assert window.menus.setup.wizard is not None
    assert not action.isEnabled() and "the set-up is open" in action.toolTip()
    window.menus.setup.close()


def test_drives_on_serial_ports_of_another_driver(wizard: SetupWizard, qtbot: Any) -> None:
    write(wizard.start["name"], "mine")
    settled(wizard, qtbot)
    click(wizard, BUTTON.NextButton)
    page = wizard.drives
    assert page["profile"].isEnabled() and page["driver"].currentData() == "servo"
    page["driver"].setCurrentIndex(page["driver"].findData("orca"))
    assert not page["profile"].isEnabled()
    for leg in range(6):
        write(page.host[leg], f"/dev/motor-{leg + 1}")
        page.port[leg].setValue(1_000_000)
    settled(wizard, qtbot)
    assert wizard.button(BUTTON.NextButton).isEnabled(), page.reason.text()
    config = draft_config(wizard._known, wizard.path, cells=False)  # the page of the cells comes later
    assert config.drives.driver == "orca"
    with pytest.raises(ConfigError, match="leg 1: the drive reads no load cell"):
        draft_config(wizard._known, wizard.path)
    assert [leg.place for leg in config.drives.legs] == [f"/dev/motor-{leg}" for leg in range(1, 7)]
    page.port[2].setValue(3)
    settled(wizard, qtbot)
    assert "baud" in page.reason.text()


def test_drives_on_a_can_bus_have_its_bit_rate(wizard: SetupWizard, qtbot: Any) -> None:
    write(wizard.start["name"], "mine")
    wizard.start["mode"].setCurrentIndex(wizard.start["mode"].findData("position"))
    wizard.start["rate"].set_si(200.0)
    settled(wizard, qtbot)
    click(wizard, BUTTON.NextButton)
    page = wizard.drives
    page["driver"].setCurrentIndex(page["driver"].findData("canopen"))
    for leg in range(6):
        write(page.host[leg], "can://socketcan/can0")
        page.port[leg].setValue(500_000)
        page.unit[leg].setValue(leg + 1)
    settled(wizard, qtbot)
    addresses = page.addresses()
    assert {(each.device, each.baud, each.host) for each in addresses} == {("can://socketcan/can0", 500_000, "")}
    assert 'device = "can://socketcan/can0"' in draft_text(wizard.entered())
    assert "bitrate = 500000" in draft_text(wizard.entered())
    page.port[2].setValue(5)
    settled(wizard, qtbot)
    assert "bitrate" in page.reason.text() and "10000" in page.reason.text().replace("\xa0", "").replace("\u202f", "")


def test_next_says_what_is_missing(wizard: SetupWizard, qtbot: Any) -> None:
    following = wizard.button(BUTTON.NextButton)
    assert not following.isEnabled() and wizard.start.reason.text() == "Give the rig a name."
    write(wizard.start["name"], "mine")
    settled(wizard, qtbot)
    assert following.isEnabled() and not wizard.start.reason.text()
    wizard.start["mechanism"].choice.setCurrentText("nothing.toml")
    wizard.start["rate"].set_si(2.0)
    settled(wizard, qtbot)
    assert not following.isEnabled()
    assert "rate: 2\xa0Hz, must be 5 to 2000\xa0Hz" in wizard.start.reason.text()
    assert "no such file" in wizard.start.reason.text()
    wizard.start["mechanism"].choice.setCurrentText("dasgupta-1998")
    wizard.start["rate"].set_si(500.0)
    settled(wizard, qtbot)
    assert "no real body has this inertia" in wizard.start.reason.text()
    wizard.start["mechanism"].choice.setCurrentText("lab-hexapod")
    settled(wizard, qtbot)
    click(wizard, BUTTON.NextButton)
    assert wizard.drives.reason.text() == "Give the host, serial port or CAN bus of leg 1, 2, 3, 4, 5, 6."
    assert wizard.drives.ask_all.obstacle == "give all six hosts first"
    for leg in range(5):
        write(wizard.drives.host[leg], f"10.0.0.{leg}")
    settled(wizard, qtbot)
    assert (
        wizard.drives.reason.text() == "Give the host, serial port or CAN bus of leg 6."
        and not wizard.drives.ask[0].obstacle
    )
    write(wizard.drives.host[5], "10.0.0.0")
    settled(wizard, qtbot)
    assert "legs 1 and 6 share 10.0.0.0:502 unit 1" in wizard.drives.reason.text()
    wizard.drives.unit[5].setValue(2)
    settled(wizard, qtbot)
    click(wizard, BUTTON.NextButton)
    assert not wizard.cells["host"].isEnabled()
    press_indicator(wizard.cells["amplifier"].buttons[True])
    settled(wizard, qtbot)
    assert "load_cells.amplifier.host" in wizard.cells.reason.text()
    write(wizard.cells["host"], "10.0.0.9")
    wizard.cells["noise"].set_si(0.0)
    settled(wizard, qtbot)
    assert wizard.cells.reason.text().startswith("load_cells.noise: 0\xa0N, must be 1e-06 to")
    wizard.cells["noise"].set_si(0.4)
    settled(wizard, qtbot)
    assert following.isEnabled()


def test_pages_begin_with_what_the_draft_and_the_tests_have_by_default(wizard: SetupWizard) -> None:
    assert wizard.entered() == Draft()
    assert LegMove(1, **wizard.legs.values) == LegMove(1)
    assert ZeroOptions(**wizard.zeroing.values) == ZeroOptions(largest_shift=80.0)


def test_the_bandwidth_is_that_of_computed_torque_alone(wizard: SetupWizard) -> None:
    start = wizard.start
    assert not start["task_bandwidth"].isEnabled()
    start["mode"].setCurrentIndex(start["mode"].findData("computed-torque"))
    assert start["task_bandwidth"].isEnabled() and wizard.entered().task_bandwidth is None
    start["task_bandwidth"].set_si(7.0)
    assert "[control]\ntask_bandwidth = 7.0 " in draft_text(wizard.entered())
    start["mode"].setCurrentIndex(start["mode"].findData("force"))
    assert not start["task_bandwidth"].isEnabled() and "[control]\n" not in draft_text(wizard.entered())


def test_external_sensors_are_entered_and_checked(wizard: SetupWizard, qtbot: Any) -> None:
    page = wizard.sensors
    rehearse(wizard, qtbot)
    forward(wizard, page)
    press(page.add_buttons["imu"])
    press(page.add_buttons["scalar"])
    press(page.add_buttons["scalar"])
    assert [row.name.text() for row in page.rows] == ["imu", "gauge", "gauge2"]
    assert not page.rows[0].channels.isEnabled() and page.rows[1].channels.isEnabled()
    settled(wizard, qtbot)
    assert not wizard.button(BUTTON.NextButton).isEnabled()
    assert page.reason.text() == "sensors[2].source: must not be empty\nsensors[3].source: must not be empty"
    press(page.rows[2].remove)
    write(page.rows[1].source, "serial:///dev/ttyUSB0?baud=9600")
    settled(wizard, qtbot)
    assert page.reason.text() == 'sensors[2]: channels: kind "scalar" needs one at least'
    write(page.rows[1].channels, "temperature °C, supply V, count")
    page.rows[1].clock.setCurrentIndex(2)
    settled(wizard, qtbot)
    assert not page.reason.text() and wizard.button(BUTTON.NextButton).isEnabled()
    config = draft_config(wizard.draft(), wizard.path)
    imu, gauge = config.sensors
    assert gauge.meaning == SensorChannels("gauge", "scalar", ("temperature", "supply", "count"), ("°C", "V", ""))
    assert (gauge.clock, gauge.rate, gauge.silence) == ("arrival", 1.0, 3.0)
    assert imu.source.startswith("udp://127.0.0.1:")
    assert config.virtual is not None and [twin.name for twin in config.virtual.sensors] == ["imu"]
    for _ in range(6):
        assert not page.add_buttons["pose"].obstacle
        page.add("pose")
    assert page.add_buttons["pose"].obstacle == "more sensors are entered in the file"


def test_going_back_and_forth_loses_nothing(wizard: SetupWizard, qtbot: Any) -> None:
    rehearse(wizard, qtbot)
    click(wizard, BUTTON.NextButton)
    ports = [port.value() for port in wizard.drives.port]
    assert len(set(ports)) == 6 and all(host.text() == "127.0.0.1" for host in wizard.drives.host)
    write(wizard.drives.serial[2], "S-3")
    click(wizard, BUTTON.NextButton)
    wizard.cells["range"].set_si(750.0)
    before = wizard.draft()
    for _ in range(2):
        click(wizard, BUTTON.BackButton)
    press_indicator(wizard.start["virtual"].buttons[False])
    assert wizard.drives.host[0].text() == ""
    press_indicator(wizard.start["virtual"].buttons[True])
    settled(wizard, qtbot)
    forward(wizard, wizard.saving)
    assert wizard.draft() == before
    assert before.drives[2].serial == "S-3" and before.range == 750.0
    assert [drive.port for drive in before.drives] == ports


def test_a_profile_that_nobody_knows_is_said_wherever_it_is_used(
    wizard: SetupWizard, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    looking: set[threading.Thread] = set()

    def observed(draft: Draft, path: Path, **asked: bool) -> RigConfig:
        looking.add(threading.current_thread())
        return draft_config(draft, path, **asked)

    monkeypatch.setattr("gui.setup.wizard.draft_config", observed)
    rehearse(wizard, qtbot)
    write(wizard.drives["profile"], "nothing")
    forward(wizard, wizard.drives)
    press(wizard.drives.ask[2])
    settled(wizard, qtbot)
    assert "no profile 'nothing'" in wizard.drives.status[2].text()
    press(wizard.drives.ask_all)
    settled(wizard, qtbot)
    assert "no profile 'nothing'" in wizard.drives.findings.text()
    assert {label.text() for label in wizard.drives.status} == {"not queried yet"}
    forward(wizard, wizard.legs)
    press(wizard.legs.pairs[0].arm)
    press(wizard.legs.pairs[0].act)
    settled(wizard, qtbot)
    assert "no profile 'nothing'" in wizard.legs.labels[0].text()
    forward(wizard, wizard.zeroing)
    press(wizard.zeroing.pair.arm)
    press(wizard.zeroing.pair.act)
    settled(wizard, qtbot)
    assert "no profile 'nothing'" in wizard.zeroing.status.text()
    assert looking and threading.current_thread() not in looking  # it may have to compile


def test_a_test_without_result_leaves_nothing_of_the_one_before(wizard: SetupWizard) -> None:
    legs, zeroing = wizard.legs, wizard.zeroing
    legs.show_result(2, PASSED, "")
    zeroing.show_result(ZERO, "")
    wizard.check_draft()
    assert wizard.saving.untested.text() == "⚠ Legs not tested: 1, 3–6" and "0.10" in zeroing.figures[0][1].text()
    legs.show_result(2, None, "drive 2 is silent")
    zeroing.show_result(None, "drive 2 is silent")
    wizard.check_draft()
    assert wizard.saving.untested.text() == "⚠ Legs not tested: 1–6"
    assert not legs.labels[1].toolTip() and "silent" in legs.labels[1].text()
    assert zeroing.zero is None and {label.text() for labels in zeroing.figures for label in labels} == {"–"}
    legs.invalidate(2)
    zeroing.invalidate()
    assert legs.labels[1].text() == "not tested yet" and zeroing.status.text().startswith("not zeroed")


def test_no_line_ends_between_a_number_and_its_unit() -> None:
    assert unbroken("leg 3 moved 0.2 mm in 4 cycles, 5 m/s") == "leg 3 moved 0.2\u00a0mm in 4 cycles, 5\u00a0m/s"
    assert ranges([1, 2, 4, 5, 6]) == "1, 2, 4–6"


def test_esc_stops_and_closes_nothing(wizard: SetupWizard, session: FakeSession, qtbot: Any) -> None:
    wizard.start["name"].setFocus()
    until(qtbot, wizard.start["name"].hasFocus)
    for _ in range(2):
        key(KEY.Key_Escape, wizard)
    assert session.stops == [(1, "Esc")] * 2 and wizard.isVisible()
    press(wizard.stop_button)
    assert session.stops[2:] == [(1, "button")]
    assert wizard.findChildren(StopButton) == [wizard.stop_button]


def test_cancel_asks_before_something_is_lost(wizard: SetupWizard, set_up: SetupEntry, qtbot: Any) -> None:
    write(wizard.start["name"], "mine")
    settled(wizard, qtbot)
    click(wizard, BUTTON.CancelButton)
    assert wizard.question is not None and wizard.isVisible()
    press(next(button for button in wizard.question.buttons() if button.text() == "Stay"))
    assert wizard.isVisible() and set_up.wizard is wizard
    click(wizard, BUTTON.CancelButton)
    press(next(button for button in wizard.question.buttons() if button.text() == "Close without saving"))
    until(qtbot, lambda: set_up.wizard is None)
    assert set_up.action.isEnabled()


def test_an_empty_wizard_closes_at_once(wizard: SetupWizard, set_up: SetupEntry, qtbot: Any) -> None:
    wizard.close()
    until(qtbot, lambda: set_up.wizard is None)


def test_every_control_has_a_name(wizard: SetupWizard) -> None:
    for page in wizard.pages:
        for kind in (QtWidgets.QLineEdit, QtWidgets.QAbstractSpinBox, QtWidgets.QComboBox, QtWidgets.QPushButton):
            for widget in page.findChildren(kind):
                inside = isinstance(widget.parent(), (QtWidgets.QAbstractSpinBox, QtWidgets.QComboBox))
                assert inside or widget.accessibleName() or widget.text(), f"{page.title()}: {kind.__name__}"


def test_space_arms_nothing(wizard: SetupWizard, qtbot: Any) -> None:
    rehearse(wizard, qtbot)
    forward(wizard, wizard.legs)
    for pair in (wizard.legs.pairs[0], wizard.zeroing.pair):
        if pair is wizard.zeroing.pair:
            forward(wizard, wizard.zeroing)
        assert pair.arm.isEnabled()
        pair.arm.setFocus()
        until(qtbot, pair.arm.hasFocus)
        key(KEY.Key_Space, wizard)
        assert not pair.arm.isChecked()
        press(pair.act)
        assert not wizard.bench.busy


def test_arming_ends_by_itself_by_a_stop_and_by_arming_another(
    wizard: SetupWizard, session: FakeSession, qtbot: Any
) -> None:
    rehearse(wizard, qtbot)
    forward(wizard, wizard.legs)
    first, second = wizard.legs.pairs[:2]
    assert "press Arm, then" in first.act.obstacle
    press(first.arm)
    assert first.arm.isChecked() and not first.act.obstacle
    press(second.arm)
    assert second.arm.isChecked() and not first.arm.isChecked()
    key(KEY.Key_Escape, wizard)
    assert not second.arm.isChecked()
    first.timer.setInterval(20)
    press(first.arm)
    until(qtbot, lambda: not first.arm.isChecked())
    assert not wizard.bench.busy


def focus(widget: QtWidgets.QWidget, qtbot: Any) -> None:
    """Give a widget the keys."""
    widget.setFocus()
    until(qtbot, widget.hasFocus)


def test_space_ticks_nothing_and_return_turns_no_page(wizard: SetupWizard, qtbot: Any) -> None:
    focus(wizard.start["name"], qtbot)
    QtTest.QTest.keyClicks(wizard.start["name"], "mine")
    settled(wizard, qtbot)
    key(KEY.Key_Return, wizard)
    assert wizard.currentPage() is wizard.start and wizard.button(BUTTON.NextButton).isEnabled()
    press_indicator(wizard.start["virtual"].buttons[True])
    settled(wizard, qtbot)
    forward(wizard, wizard.legs)
    for box in (wizard.legs["travel"], wizard.legs["speed"]):
        for code in (KEY.Key_Return, KEY.Key_Enter):
            focus(box, qtbot)
            key(code, wizard)
            assert wizard.currentPage() is wizard.legs
    key(KEY.Key_Up, wizard)
    assert wizard.legs["speed"].si() > LegMove(1).speed  # the keys did get there
    for box in (wizard.legs["home"], wizard.legs["clear"]):
        focus(box, qtbot)
        key(KEY.Key_Space, wizard)
        assert not box.isChecked()
        key(KEY.Key_Return, wizard)
        assert box.isChecked() and wizard.currentPage() is wizard.legs
        press_indicator(box)
        assert not box.isChecked()


def test_a_real_drive_that_is_being_asked(wizard: SetupWizard, qtbot: Any) -> None:
    write(wizard.start["name"], "mine")
    settled(wizard, qtbot)
    click(wizard, BUTTON.NextButton)
    page = wizard.drives
    with socket.create_server(("127.0.0.1", 0)) as silent:  # until it is closed
        for leg in range(6):
            write(page.host[leg], "127.0.0.1")
            page.port[leg].setValue(silent.getsockname()[1] if leg == 0 else 1 + leg)
        settled(wizard, qtbot)
        press(page.ask[0])
        write(page.host[1], "localhost")
        assert "querying the drive of leg 1" in page.ask[1].obstacle and "leg 1" in page.ask_all.obstacle
        press(page.ask[1])
        for button in (
            page.ask[1],
            page.ask_all,
            wizard.legs.pairs[0].act,
            wizard.zeroing.pair.act,
            wizard.saving.save,
        ):
            button.clicked.emit()  # a press that was on its way
        assert page.status[1].text() == "not queried yet" and wizard.legs.labels[0].text() == "not tested yet"
        wizard.check_draft()
        forward(wizard, wizard.legs)
        assert wizard.legs.obstacle.isVisible()
        assert wizard.legs.obstacle.text() == "Not now: querying the drive of leg 1."
        forward(wizard, wizard.zeroing)
        assert wizard.zeroing.obstacle.isVisible()
        back(wizard, wizard.start)
        press_indicator(wizard.start["virtual"].buttons[True])
        assert wizard.bench.busy
    settled(wizard, qtbot)
    assert page.status[0].text() == "changed during the query: query again" and not page.found
    forward(wizard, wizard.legs)
    assert not wizard.legs.obstacle.text() and not wizard.legs.pairs[0].arm.obstacle
