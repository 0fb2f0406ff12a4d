"""The faults of a virtual rig, and the event log."""

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyqtgraph.Qt import QtWidgets
from shell_support import FakeSession, make_event, make_status, press

from gui.operate.faults_panel import FaultsPanel, fault_words
from gui.session.session_state import LogEntry
from gui.shell.main_window import MainWindow
from rig.findings import Code, Finding
from rig.states import State
from rig.virtual import FAULTS, ActiveFault


@pytest.fixture
def faults(session: FakeSession, qtbot: Any) -> FaultsPanel:
    """The panel alone, in view."""
    made = FaultsPanel(session)
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.show()
    return made


def test_every_fault_of_this_rig_is_offered(faults: FaultsPanel) -> None:
    names = faults.names
    assert len(names) == len(set(names))
    assert set(names) == {name for name in FAULTS if not name.startswith(("amplifier_", "io_", "sensors_"))}


def test_faults_are_in_groups_and_called_by_words(faults: FaultsPanel) -> None:
    tree = faults.faults
    groups = {tree.topLevelItem(row).text(0): tree.topLevelItem(row) for row in range(tree.topLevelItemCount())}
    assert list(groups) == ["Machine", "Drives", "Encoders", "Load cells", "Wires", "Computer"]
    wires = [groups["Wires"].child(row).text(0) for row in range(groups["Wires"].childCount())]
    assert wires[0] == "cable unplugged" and all(group.isExpanded() for group in groups.values())
    faults.choose("drop_all")
    assert tree.currentItem().text(0) == "cable unplugged" and "drop_all" in tree.currentItem().toolTip(0)
    words = [fault_words(name, 3) for name in FAULTS]
    assert len(set(words)) == len(words) and not any("_" in each or "{" in each for each in words)


def test_a_fault_is_injected_with_leg_value_and_duration(faults: FaultsPanel, session: FakeSession) -> None:
    session.take(make_status(State.RUNNING))
    faults.choose("jam")
    assert faults.value.text() == "300.000 N"
    faults.leg.setCurrentIndex(3)
    faults.value.setValue(250.0)
    faults.lasting.setChecked(True)
    faults.duration.set_si(0.5)
    press(faults.inject)
    faults.choose("encoder_frozen")
    assert not faults.value.isEnabled()
    faults.lasting.setChecked(False)
    press(faults.inject)
    assert session.injected == [("jam", 3, 250.0, 0.5), ("encoder_frozen", 3, None, None)]


def test_a_fault_of_the_whole_rig_is_of_no_leg(faults: FaultsPanel, session: FakeSession) -> None:
    session.take(make_status(State.RUNNING))
    panel = faults
    panel.choose("jam")
    panel.leg.setCurrentIndex(3)
    panel.choose("payload")
    assert not panel.leg.isEnabled() and panel.leg.currentText() == "whole rig"
    press(panel.inject)
    panel.choose("jam")
    assert panel.leg.isEnabled() and panel.leg.currentText() == "all legs"
    panel.choose("force_step")
    assert panel.leg.isEnabled() and panel.leg.currentText() == "platform"
    assert [(name, leg) for name, leg, *_rest in session.injected] == [("payload", None)]


def test_the_value_of_a_fault_says_its_unit(faults: FaultsPanel) -> None:
    for name, said in (("jam", "in N"), ("weak", "without unit"), ("encoder_frozen", "no value"), ("payload", "in kg")):
        faults.choose(name)
        assert said in faults.value.toolTip()


def test_the_reaction_keeps_its_newest_lines(faults: FaultsPanel, session: FakeSession) -> None:
    session.take(make_status(State.RUNNING, t=10.0))
    press(faults.inject)
    for number in range(1010):
        session.logged.emit(LogEntry("info", "engine", f"event {number}"))
    lines = faults.reaction.toPlainText().splitlines()
    assert len(lines) == 1000 and lines[-1].endswith("event 1009")


def test_active_faults_are_shown_and_cleared(faults: FaultsPanel, session: FakeSession) -> None:
    session.take(make_status(State.RUNNING))
    assert not faults.clear_all.isEnabled()
    session.show_faults(ActiveFault("jam", 3, 300.0, 1e9), ActiveFault("payload", 0, 5.0, 1e9))
    shown = [faults.active.topLevelItem(0).text(column) for column in range(3)]
    assert shown == ["leg 3 jammed", "3", "300 N"]
    press(faults.clear)
    press(faults.clear_all)
    assert session.injected == [("clear", "jam", 3), ("clear", None, None)]


def test_the_reaction_is_shown_with_its_delay(
    faults: FaultsPanel, session: FakeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.monotonic()
    for module in ("rig_session", "session_state"):
        monkeypatch.setattr(f"gui.session.{module}.time", SimpleNamespace(monotonic=lambda: now))
    session.take(make_status(State.RUNNING, t=10.0))
    now += 0.05  # the rig's time goes on until the press
    press(faults.inject)
    event = make_event(Finding(Code.DRIVE_WATCHDOG, 3), 10.25)
    session.take(make_status(State.STOPPING, t=10.3, events=[event]))
    assert faults.reaction.toPlainText() == "+0.200 s  error: leg 3: the drive's own watchdog stopped it"


def test_without_a_virtual_rig_no_fault_can_be_injected(faults: FaultsPanel) -> None:
    assert not faults.inject.isEnabled()
    assert "connect first" in faults.inject.toolTip()


@pytest.fixture
def filled(window: MainWindow) -> MainWindow:
    window.tabs.setCurrentWidget(window.views.log)
    window.views.log.model.entries.clear()
    for level, text in (("info", "OFF → IDLE"), ("warning", "operator's stop"), ("error", "leg 3: jam\nhard")):
        window.views.log.add(LogEntry(level, "engine", text, t=1.5))
    return window


def test_the_log_is_searched_by_words_and_level(filled: MainWindow, qtbot: Any) -> None:
    log = filled.views.log
    qtbot.keyClicks(log.search, "ENGINE jam")
    assert [entry.text for entry in log.shown()] == ["leg 3: jam\nhard"]
    log.search.clear()
    log.level.setCurrentIndex(1)
    assert [entry.level for entry in log.shown()] == ["warning", "error"]


def test_a_line_that_is_chosen_is_read_whole(filled: MainWindow) -> None:
    assert not filled.views.log.whole.isVisible()
    filled.views.log.table.selectRow(2)
    assert filled.views.log.whole.isVisible() and filled.views.log.whole.text() == "leg 3: jam\nhard"
    filled.views.log.level.setCurrentIndex(1)  # rows go, the chosen line stays
    assert filled.views.log.whole.text() == "leg 3: jam\nhard"
    filled.views.log.search.setText("nothing of the kind")
    assert not filled.views.log.whole.isVisible()


def test_the_log_is_saved_as_it_is_shown(filled: MainWindow, tmp_path: Path) -> None:
    filled.views.log.level.setCurrentIndex(2)
    filled.views.log.save_to(tmp_path / "events.csv")
    header, line = (tmp_path / "events.csv").read_text(encoding="utf-8").splitlines()[:2]
    assert header == "wall_time,rig_time_s,level,source,code,text"
    assert '1.500,error,engine,,"leg 3: jam' in line


def test_engine_events_reach_the_log_once(window: MainWindow, session: FakeSession) -> None:
    events = [make_event("HOMING → PARKED", 2.0)]
    session.take(make_status(State.PARKED, events=events))
    session.take(make_status(State.PARKED, events=events))
    assert [entry.text for entry in window.views.log.model.entries].count("HOMING → PARKED") == 1


def test_refusals_are_in_the_log_and_in_sight(window: MainWindow, session: FakeSession) -> None:
    session.take(make_status(State.IDLE))
    session.refuse = "no fresh feedback of leg 2"
    press(window.operate.buttons[next(a for a in window.operate.buttons if a.value == "Home")])
    assert "no fresh feedback of leg 2" in window.banner.notice.text()
    assert window.views.log.model.entries[-1].level == "error"


def test_the_log_goes_on_at_its_end_until_somebody_looks_further_back(window: MainWindow, session: FakeSession) -> None:
    log = window.views.log
    window.tabs.setCurrentWidget(log)
    bar = log.table.verticalScrollBar()

    def add(count: int) -> None:
        for number in range(count):
            session.logged.emit(LogEntry("info", "engine", f"event {number}"))
        QtWidgets.QApplication.processEvents()

    add(100)
    assert bar.value() == bar.maximum() > 0
    window.resize(window.width(), window.height() - 150)  # as when a card comes below it
    QtWidgets.QApplication.processEvents()
    add(5)
    assert bar.value() == bar.maximum()
    bar.setValue(10)
    window.resize(window.width(), window.height() + 100)
    add(5)
    assert bar.value() == 10
    bar.setValue(bar.maximum())
    add(5)
    assert bar.value() == bar.maximum()
