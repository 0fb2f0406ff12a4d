"""The card on the last run, the list and the report say the same: every run judged, by the same thresholds."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyqtgraph.Qt import QtTest
from pytestqt.qtbot import QtBot
from recorded_runs import make_runs
from shell_support import FakeSession, make_status, press

from gui.session import ReportMaker
from gui.shell.main_window import MainWindow
from rig.config import Validation
from rig.recording import MotionRecord, comparison_path, report_path
from rig.runs import Catalogue
from rig.states import MotionKind, MotionOutcome, State

START = 60_000  # ms, for a process that is started on a busy machine
ENDED = MotionRecord(1, MotionKind.RUN, MotionOutcome.FINISHED, 0.0, 3.0, 3.0, 3.0, "sway 1", 0.5)


def _begins(session: FakeSession, number: int) -> None:
    begun = replace(ENDED, id=number, outcome=MotionOutcome.UNDERWAY, end=math.nan, reached=0.0)
    session.take(make_status(State.RUNNING, last_motion=begun))


def _runs(session: FakeSession, *numbers: int) -> None:
    """The engine tells of motions, each that it is under way, and that it has ended."""
    for number in numbers:
        _begins(session, number)
        session.take(make_status(State.ENGAGED, last_motion=replace(ENDED, id=number)))


def test_each_of_runs_that_end_faster_than_they_are_judged_is_judged(
    window: MainWindow, session: FakeSession, qtbot: QtBot, tmp_path: Path
) -> None:
    session.recording = make_runs(tmp_path / "a.mcap", (0.0, 3.0, 0.0, 3.0))
    _runs(session, 1, 2, 3, 4)
    card = window.runs.card
    assert card.badge.text() == "… JUDGING"
    qtbot.waitUntil(lambda: card.badge.text() == "✗ FAIL", timeout=START)
    wanted = ["fail", "pass", "fail", "pass"]
    qtbot.waitUntil(lambda: [one.verdict for one in Catalogue(tmp_path).runs()] == wanted, timeout=START)
    qtbot.waitUntil(lambda: not window.runs.judge.busy, timeout=START)
    assert card.badge.text() == "✗ FAIL"


def test_cancelling_ends_those_that_wait_too(
    window: MainWindow, session: FakeSession, qtbot: QtBot, tmp_path: Path
) -> None:
    session.recording = make_runs(tmp_path / "a.mcap", (0.0, 3.0))
    _runs(session, 1, 2)
    card = window.runs.card
    press(card.cancel)
    assert card.advice.text() == "Not judged: cancelled" and not window.runs.judge.busy


def test_a_run_that_the_engine_died_in_is_judged_by_what_was_recorded(
    window: MainWindow, session: FakeSession, qtbot: QtBot, tmp_path: Path
) -> None:
    session.recording = make_runs(tmp_path / "a.mcap", (0.0, 0.0), close=False)
    _runs(session, 1)
    qtbot.waitUntil(lambda: window.runs.card.badge.text() == "✓ PASS", timeout=START)
    _begins(session, 2)
    session.died.emit()
    card = window.runs.card
    assert card.badge.text() == "… JUDGING"  # not the pass of the run before
    qtbot.waitUntil(lambda: card.badge.text() == "? UNDECIDED", timeout=START)
    assert "It ended early: cut off at 3.00 s" in card.advice.text()
    for figure in card.figures:  # the longest there are
        figure.setText(figure.text().replace("0.", "1234."))
    assert card.minimumSizeHint().width() <= 1024
    session.died.emit()  # nothing was under way any more
    assert card.badge.text() == "? UNDECIDED"


def test_card_list_and_report_are_by_the_same_thresholds(
    whole_window: MainWindow, session: FakeSession, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = whole_window
    made: list[Any] = []
    monkeypatch.setattr(
        window.runs.reporting.maker, "make", lambda *given, alone, pdf: made.append((*given, alone, pdf))
    )
    session.recording = make_runs(tmp_path / "a.mcap", (0.0,))
    page, card = window.views.runs_page, window.runs.card
    page.set_folder(tmp_path)
    _runs(session, 1)
    session.take(make_status(State.PARKED, last_motion=ENDED))
    qtbot.waitUntil(lambda: card.badge.text() == "✓ PASS", timeout=START)
    qtbot.waitUntil(lambda: [one.verdict for one in page.listed] == ["pass"], timeout=START)
    press(card.report)
    card.thresholds.applied.emit(Validation(position_rms=1e-3, peak_force=10.0))
    qtbot.waitUntil(lambda: card.badge.text() == "✗ FAIL", timeout=START)
    qtbot.waitUntil(lambda: [one.verdict for one in page.listed] == ["fail"], timeout=START)
    assert page.message.text() == "Verdicts use the thresholds typed on the card"
    press(card.report)
    page.table.selectRow(0)
    press(page.buttons["Report"])
    press(page.buttons["PDF"])
    window.runs.reporting.make()
    run, typed = tmp_path / "a.mcap#1", Validation(position_rms=1e-3, peak_force=10.0)
    pages = [([run], None, False, False), *2 * [([run], typed, True, False)]]
    assert made == [*pages, ([run], typed, True, True), ([tmp_path / "a.mcap"], typed, True, False)]


def test_thresholds_being_typed_stay_when_a_verdict_comes(
    window: MainWindow, session: FakeSession, qtbot: QtBot, tmp_path: Path
) -> None:
    session.recording = make_runs(tmp_path / "a.mcap", (0.0, 3.0))
    card = window.runs.card
    _runs(session, 1)
    qtbot.waitUntil(lambda: card.badge.text() == "✓ PASS", timeout=START)
    press(card.change)
    field = card.thresholds.fields["position_max"]
    QtTest.QTest.keyClicks(field, "0.2 mm")
    _runs(session, 2)
    qtbot.waitUntil(lambda: card.badge.text() == "✗ FAIL", timeout=START)
    assert field.text() == "0.2 mm"
    press(card.thresholds.apply)
    qtbot.waitUntil(lambda: "edited thresholds" in card.title.text(), timeout=START)
    assert (field.text(), card.thresholds.fields["residual_rms"].text()) == ("200 µm", "1 N")


def test_what_waits_for_the_drives_says_so_and_can_be_cancelled(
    window: MainWindow, session: FakeSession, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Any] = []
    desk, card = window.runs, window.runs.card
    monkeypatch.setattr(desk.judge, "start", lambda _where, runs, _by: started.append(runs))
    monkeypatch.setattr(type(desk.judge), "busy", property(lambda _judge: len(started) == 1))
    session.recording = make_runs(tmp_path / "a.mcap", (0.0, 0.0))
    _runs(session, 1, 2)
    assert started == [["a.mcap#1"]] and card.badge.text() == "… JUDGING"
    monkeypatch.setattr(type(desk), "obstacle", property(lambda _desk: "the drives have torque"))
    monkeypatch.setattr(type(desk.judge), "busy", property(lambda _judge: False))
    desk.judge.judged.emit([], "")
    assert "Will be judged later: the drives have torque." in card.advice.text() and len(started) == 1
    assert "Will be judged later" in card.report.obstacle and not card.cancel.isEnabled()
    desk._cancel()
    assert card.advice.text() == "Not judged: cancelled"
    monkeypatch.undo()


def test_thresholds_go_to_the_file_that_ran_whatever_the_motion_is_called_by_then(
    window: MainWindow, session: FakeSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(window.runs.judge, "start", lambda *_given: None)
    session.recording, keep = tmp_path / "a.mcap", window.runs.card.thresholds.keep
    window.motion.begin_new()
    window.motion.save_file(tmp_path / "sway 1.toml")
    _begins(session, 1)
    window.motion.document.rename("another name")
    session.take(make_status(State.ENGAGED, last_motion=ENDED))
    assert not keep.obstacle
    window.motion.save_file(tmp_path / "other.toml")
    assert keep.obstacle == "the tab Motion shows another motion than the one that ran"


def test_reports_of_runs_do_not_wait_for_something_to_be_recorded(
    whole_window: MainWindow, session: FakeSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Any] = []
    monkeypatch.setattr(
        whole_window.runs.reporting.maker, "make", lambda *given, alone, pdf: made.append((*given, alone, pdf))
    )
    assert session.recording is None
    whole_window.runs.reporting.make([f"{tmp_path}/a.mcap#1", f"{tmp_path}/b.mcap#1"])
    assert len(made) == 1


def test_runs_side_by_side_are_one_report_made_in_a_process_of_its_own(qtbot: QtBot, tmp_path: Path) -> None:
    path = make_runs(tmp_path / "a.mcap", (0.0, 3.0))
    maker, runs = ReportMaker(), [path.with_name(f"a.mcap#{number}") for number in (1, 2)]
    with qtbot.waitSignal(maker.finished, timeout=START) as made:
        maker.make(runs, Validation(position_max=1e-3), alone=True)
    report, fault = made.args
    assert (report, fault) == (str(comparison_path(runs)), "")
    assert "2 runs side by side" in Path(report).read_text(encoding="utf-8") and not maker.busy
    with qtbot.waitSignal(maker.finished, timeout=START) as printed:
        maker.make(runs[:1], pdf=True)
    sheets, fault = printed.args
    assert (sheets, fault) == (str(report_path(runs[0]).with_suffix(".pdf")), "")
    assert Path(sheets).read_bytes().startswith(b"%PDF-")
    with qtbot.waitSignal(maker.finished, timeout=START) as refused:
        maker.make([runs[0], path.with_name("a.mcap#7")])
    assert refused.args[0] == "" and "has no motion 7" in refused.args[1]
    maker.close()
