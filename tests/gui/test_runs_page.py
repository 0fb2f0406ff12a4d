"""Runs in the app: the verdict after each, the list of them, two of them compared, and what runs and stops them."""

import math
import shutil
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyqtgraph.Qt import QtCore, QtTest, QtWidgets
from pytestqt.qtbot import QtBot
from recorded_runs import make_runs
from shell_support import KEY, FakeSession, make_status, press
from validated import RATE

from gui.live import RecordingsView
from gui.models import JudgedBy, verdict_style
from gui.runs import RunDesk, RunsPage, VerdictCard
from gui.runs.run_desk import RunJudge
from gui.shell.main_window import MainWindow
from gui.widgets.theme import DARK
from rig.config import Validation, load_config
from rig.recording import MotionPart, MotionRecord, RecordingFile
from rig.report import summarize, validate
from rig.runs import Catalogue, Listed
from rig.states import MotionKind, MotionOutcome, State

START = 60_000  # ms, for a process that is started on a busy machine
ENDED = MotionRecord(1, MotionKind.RUN, MotionOutcome.FINISHED, 0.0, 3.0, 3.0, 3.0, "sway 1", 0.5)


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of two runs, to be copied."""
    made = tmp_path_factory.mktemp("originals")
    make_runs(made / "a.mcap", (0.0, 3.0))
    return made


@pytest.fixture(scope="module")
def counted(originals: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with the runs' numbers, to be copied."""
    made = shutil.copytree(originals, tmp_path_factory.mktemp("counted") / "recordings")
    catalogue = Catalogue(made)
    catalogue.count(catalogue.runs())
    return made


@pytest.fixture
def folder(originals: Path, tmp_path: Path) -> Path:
    return shutil.copytree(originals, tmp_path / "recordings")


@pytest.fixture
def judged(counted: Path, tmp_path: Path) -> Path:
    return shutil.copytree(counted, tmp_path / "recordings")


@pytest.fixture
def page(qtbot: QtBot, judged: Path) -> Iterator[RunsPage]:
    made = RunsPage()
    qtbot.addWidget(made)
    made.resize(1100, 500)
    made.set_folder(judged)
    with qtbot.waitExposed(made):
        made.show()
    qtbot.waitUntil(lambda: made.table.rowCount() == 2, timeout=START)
    yield made
    made.close_worker()


def _row(page: RunsPage, row: int) -> dict[str, str]:
    header = [page.table.horizontalHeaderItem(column).text() for column in range(page.table.columnCount())]
    return {name: page.table.item(row, column).text() for column, name in enumerate(header)}


def _click(page: RunsPage, row: int, column: int = 1, modifier: Any = QtCore.Qt.KeyboardModifier.NoModifier) -> None:
    rect = page.table.visualItemRect(page.table.item(row, column))
    QtTest.QTest.mouseClick(page.table.viewport(), QtCore.Qt.MouseButton.LeftButton, modifier, rect.center())


# -- the list --------------------------------------------------------------------------------------------------------


def test_the_list_has_what_the_command_tells(page: RunsPage) -> None:
    last, first = _row(page, 0), _row(page, 1)
    assert (first["Run"], first["Size"], first["Verdict"], first["Operator"]) == (
        "sway 1",
        "50 %",
        "✓ pass",
        "A. Weber",
    )
    assert (last["Verdict"], last["Injected"], last["Outcome"]) == ("✗ fail", "leg 3 jammed, 300 N", "finished")
    numbers = Catalogue(page.folder).runs()[0].numbers
    assert numbers is not None and last["Residual, N"] == f"{numbers['headline']['residual_n']:.3f}"


def test_a_lost_recording_is_shown_where_its_runs_would_be(page: RunsPage, qtbot: QtBot) -> None:
    lost = "the recording was deleted, with its 100 rows, while it was written: a.mcap"
    page.not_recorded = lambda: lost
    for path in page.folder.glob("*.mcap"):
        path.unlink()
    page.follow()
    qtbot.waitUntil(lambda: page.table.rowCount() == 0, timeout=START)
    assert page.message.toolTip() == f"Nothing is being recorded: {lost}."
    page.not_recorded = lambda: ""
    page.follow()
    qtbot.waitUntil(lambda: page.message.text().startswith("No runs in this folder yet"), timeout=START)


def test_it_is_searched_and_starred(page: RunsPage, qtbot: QtBot) -> None:
    page.search.setText("jam")
    assert page.table.rowCount() == 1 and _row(page, 0)["Run"] == "sway 2"
    page.search.clear()
    _click(page, 1, 0)
    qtbot.waitUntil(lambda: _row(page, 1)["★"] == "★", timeout=START)
    page.starred.setChecked(True)
    assert page.table.rowCount() == 1 and _row(page, 0)["Run"] == "sway 1"


def test_names_and_notes_are_edited_in_place(page: RunsPage, qtbot: QtBot) -> None:
    page.table.item(0, 1).setText("reference")
    qtbot.waitUntil(lambda: Catalogue(page.folder).runs()[0].name == "reference", timeout=START)
    page.table.item(0, 9).setText("two\nlines")
    qtbot.waitUntil(lambda: "run a.mcap#2" in page.message.text(), timeout=START)
    assert Catalogue(page.folder).runs()[0].note == "first try"


def test_one_click_opens_a_run(page: RunsPage, qtbot: QtBot) -> None:
    with qtbot.waitSignal(page.opened, timeout=1000) as opened:
        _click(page, 0, 11)
    (run,) = opened.args
    assert run.run.id == "a.mcap#2" and (run.run.begin, run.run.end) == (4.0, 7.0)


def test_buttons_say_why_they_are_disabled(page: RunsPage, judged: Path) -> None:
    assert page.buttons["Open"].obstacle == "choose a run first"
    _click(page, 0)
    assert not page.buttons["Open"].obstacle and "Ctrl" in page.buttons["Compare"].obstacle
    _click(page, 1, modifier=QtCore.Qt.KeyboardModifier.ControlModifier)
    assert not page.buttons["Compare"].obstacle and page.buttons["Open"].obstacle == "choose one run"
    page._obstacle = lambda: "the engine needs the processor"
    page.follow()
    assert page.buttons["Compare"].obstacle == page.buttons["Judge"].obstacle == "the engine needs the processor"


def test_a_book_that_cannot_be_used_is_said(page: RunsPage, qtbot: QtBot) -> None:
    (page.folder / "runs.json").write_text("{")
    page.reload()
    qtbot.waitUntil(lambda: "runs.json: cannot be used" in page.message.text(), timeout=START)


# -- compared --------------------------------------------------------------------------------------------------------


@pytest.fixture
def view(qtbot: QtBot, judged: Path) -> Iterator[RecordingsView]:
    made = RecordingsView(DARK)
    qtbot.addWidget(made)
    made.set_folder(judged)
    made.resize(1140, 700)
    with qtbot.waitExposed(made):
        made.show()
    yield made
    made.close_worker()


def test_two_runs_are_laid_over_each_other(view: RecordingsView, qtbot: QtBot, judged: Path) -> None:
    view.compare_runs(judged, Catalogue(judged).runs()[::-1])
    qtbot.waitUntil(lambda: len(view.compared) == 2, timeout=START)
    compare, (force, residual) = view.compare, view.compare.plots[:2]
    assert view.tabs.currentWidget() is compare and "sway 2 (a.mcap#2)" in compare.names.text()
    assert "differs from the first" in compare.verdict.text() and "a.mcap#2" in compare.verdict.text()
    first, second = (residual.curves[place][0].getData() for place in (0, 1))
    assert first[0][0] == second[0][0] == 0.0
    assert second[1].mean() - first[1].mean() == pytest.approx(3.0, abs=0.1)
    compare.difference.setChecked(True)
    _t, apart = residual.curves[1][0].getData()
    assert apart.mean() == pytest.approx(3.0, abs=0.1) and len(residual.curves[0][0].getData()[0]) == 0
    compare.shifts[0].setValue(0.5)
    assert residual.curves[1][0].getData()[0][0] == pytest.approx(0.5, abs=0.01)
    compare.difference.setChecked(False)
    assert force.curves[1][0].getData()[0][0] == pytest.approx(0.5, abs=0.01)
    assert [box.isVisible() for box in compare.shifts] == [True, False, False, False]
    compare.quantities.setCurrentIndex(1)
    assert [plot.isVisible() for plot in compare.plots] == [False, False, True, True, True]
    position = compare.plots[2]
    assert position.curves[1][2].isVisible() and not position.curves[1][2].yData.any()  # it stood where it should


def test_what_is_compared_begins_without_a_shift(view: RecordingsView, qtbot: QtBot, judged: Path) -> None:
    runs = Catalogue(judged).runs()[::-1]
    view.compare_runs(judged, runs)
    qtbot.waitUntil(lambda: len(view.compared) == 2, timeout=START)
    view.compare.shifts[0].setValue(0.5)
    view.compare_runs(judged, [*runs, *runs, *runs])
    qtbot.waitUntil(lambda: len(view.compared) == 5, timeout=START)
    assert view.note.text() == "At most 5 runs can be overlaid"
    assert [box.si() for box in view.compare.shifts] == [0.0] * 4
    view.compare_runs(judged, [*runs, *runs, runs[0]])
    qtbot.waitUntil(lambda: view.note.text() == "", timeout=START)


def test_a_run_is_opened_at_its_part_and_compare_and_numbers_are_of_it_alone(
    view: RecordingsView, qtbot: QtBot, judged: Path
) -> None:
    _first, run = sorted(Catalogue(judged).runs(), key=lambda one: one.run.begin)
    view.open(judged / "a.mcap", run)
    qtbot.waitUntil(lambda: view.opened is not None and view.replay is not None, timeout=START)
    assert view.replay is not None and view.replay.position == 4.0
    assert view.tabs.currentWidget() is view.live
    assert view.live.pages["Forces"].panels[0].span == pytest.approx((4.0, 7.0), abs=0.01)
    assert view.compare.plots[0]._outlines[0].span == pytest.approx((4.0, 7.0), abs=0.01)
    assert float(_numbers(view, "Duration")[0]) == pytest.approx(3.0, abs=0.01)
    assert [int(count) for count in _numbers(view, "Rows")] == pytest.approx(2 * [round(3.0 * RATE)], abs=1)
    view.compare_with(judged / "a.mcap")
    qtbot.waitUntil(lambda: len(view.compared) == 2, timeout=START)
    assert view._names == ["sway 2 (a.mcap#2)", "a.mcap"]


def test_numbers_say_which_are_of_the_run_and_which_of_the_session(
    view: RecordingsView, qtbot: QtBot, judged: Path
) -> None:
    view.open(judged / "a.mcap")
    qtbot.waitUntil(lambda: view.opened is not None, timeout=START)
    of_run, of_session = (float(text) for text in _numbers(view, "Duration"))
    assert of_run == pytest.approx(3.0, abs=0.01) and of_session > 7.0
    assert float(_numbers(view, "Rows")[1]) > float(_numbers(view, "Rows")[0]) == round(3.0 * RATE)
    judged_by = _numbers(view, "Judged")
    assert len(judged_by) == 1 and judged_by[0].startswith("motion sway")


def _numbers(view: RecordingsView, name: str) -> list[str]:
    """The first recording's values in the lines of a name, from the top."""
    table = view.numbers
    return [table.item(row, 2).text() for row in range(table.rowCount()) if table.item(row, 0).text() == name]


# -- judged ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def card(qtbot: QtBot) -> VerdictCard:
    made = VerdictCard("", "own.toml")
    qtbot.addWidget(made)
    made.resize(1280, 80)
    return made


def _told(folder: Path, place: int) -> dict[str, Any]:
    return Catalogue(folder).runs()[place].described()


def test_the_card_says_the_numbers_of_the_report(card: VerdictCard, judged: Path) -> None:
    card.show_run(_told(judged, 0))
    part = MotionPart(RecordingFile(judged / "a.mcap"), 2)
    summary = summarize(part)
    found = validate(part, summary)
    assert card.badge.text() == "✗ FAIL" and card.title.text() == "sway 2"
    assert f"{found['together']['rms_n']:.3f}" in card.figures[0].text()
    peak = max(leg["peak_measured_n"] for leg in summary["force"]["legs"])
    assert f"{peak:.1f}" in card.figures[2].text()
    assert found["reasons"][0][1:] in card.advice.text() and 'href="residuals"' in card.advice.text()
    card.show_run(_told(judged, 1))
    assert card.badge.text() == "✓ PASS" and card.title.text() == "sway 1, 50 %"
    assert card.thresholds.fields["residual_rms"].text() == "1 N" and card.thresholds.fields["bias"].text() == ""


def test_a_link_of_the_card_names_the_place_in_the_report(card: VerdictCard, judged: Path, qtbot: QtBot) -> None:
    card.show_run(_told(judged, 0))
    with qtbot.waitSignal(card.report_requested, timeout=1000) as asked:
        card.advice.linkActivated.emit("residuals")
    assert asked.args == ["a.mcap#2", "residuals"]


def test_thresholds_are_checked_where_they_are_edited(card: VerdictCard, judged: Path, qtbot: QtBot) -> None:
    card.show_run(_told(judged, 0))
    press(card.change)
    fields = card.thresholds.fields
    fields["bias"].lineEdit().setText("-1")
    assert fields["bias"].reason == "-1 N, must be 1e-06 to 100000 N"
    assert card.thresholds.apply.obstacle == fields["bias"].refusal
    with qtbot.assertNotEmitted(card.thresholds.applied):
        QtTest.QTest.keyClick(fields["bias"], QtCore.Qt.Key.Key_Return)
    fields["bias"].lineEdit().setText("250 mN")
    with qtbot.waitSignal(card.thresholds.applied, timeout=1000) as applied:
        press(card.thresholds.apply)
    assert applied.args == [Validation(residual_rms=1.0, bias=0.25)]
    assert card.thresholds.message.text() == ""


def test_runs_are_judged_in_a_process_of_their_own(qtbot: QtBot, folder: Path) -> None:
    judge = RunJudge()
    with qtbot.waitSignal(judge.judged, timeout=START) as told:
        judge.start(folder / "a.mcap", ["a.mcap#1"], JudgedBy(Validation(residual_rms=0.1)))
    (run,), reason = told.args
    assert (run["run"], run["verdict"], reason) == ("a.mcap#1", "fail", "") and not judge.busy
    judge.close()


def test_judging_can_be_cancelled_and_has_a_deadline(qtbot: QtBot, folder: Path) -> None:
    judge = RunJudge(deadline=1)
    with qtbot.waitSignal(judge.judged, timeout=START) as told:
        judge.start(folder / "a.mcap", ["a.mcap#1"])
    assert told.args == [[], "not done after 0.001 s"] and not judge.busy
    judge = RunJudge()
    judge.start(folder / "a.mcap", ["a.mcap#1"])
    with qtbot.waitSignal(judge.judged, timeout=1000) as told:
        judge.cancel()
    assert told.args == [[], "cancelled"] and not judge.busy


def test_what_cannot_be_judged_is_said(qtbot: QtBot, folder: Path) -> None:
    judge = RunJudge()
    with qtbot.waitSignal(judge.judged, timeout=START) as told:
        judge.start(folder / "none", ["a.mcap#1"])
    assert told.args[0] == [] and "neither a folder nor a recording" in told.args[1]


def test_a_run_that_is_not_on_the_disk_yet_is_looked_for_again(qtbot: QtBot, folder: Path, tmp_path: Path) -> None:
    judge = RunJudge()
    with qtbot.waitSignal(judge.judged, timeout=START) as told:
        judge.start(tmp_path, ["a.mcap#1"])
        with qtbot.waitSignal(judge._job.ended, timeout=START):
            pass
        assert judge.busy
        shutil.copy(folder / "a.mcap", tmp_path)
    (run,), reason = told.args
    assert (run["run"], reason) == ("a.mcap#1", "") and run["numbers"] is not None
    judge.close()


# -- in the window ---------------------------------------------------------------------------------------------------


def _ends(session: FakeSession, motion: MotionRecord) -> None:
    """The engine tells that a motion is under way, then that it has ended."""
    begun = replace(motion, outcome=MotionOutcome.UNDERWAY, end=math.nan)
    session.take(make_status(State.RUNNING, last_motion=begun))
    session.take(make_status(State.ENGAGED, last_motion=motion))


def test_each_run_gets_its_verdict(window: MainWindow, session: FakeSession, qtbot: QtBot, folder: Path) -> None:
    session.recording = folder / "a.mcap"
    window.runs.set_note("with the new belt")
    _ends(session, ENDED)
    card = window.runs.card
    assert card.badge.text() == "… JUDGING" and card.cancel.isEnabled()
    qtbot.waitUntil(lambda: card.badge.text() == "✓ PASS", timeout=START)
    qtbot.waitUntil(lambda: Catalogue(folder).runs()[1].note == "with the new belt", timeout=START)
    assert not card.cancel.isEnabled() and not window.runs.judge.busy
    session.take(make_status(State.ENGAGED, last_motion=ENDED))
    assert card.badge.text() == "✓ PASS" and not window.runs.judge.busy  # once each


def test_only_runs_that_ended_while_somebody_looked_are_judged(
    window: MainWindow, session: FakeSession, folder: Path
) -> None:
    session.recording = folder / "a.mcap"
    session.take(make_status(State.ENGAGED, last_motion=ENDED))
    _ends(session, replace(ENDED, id=2, kind=MotionKind.JOG))
    assert window.runs.card.badge.text() == "– NO RUN" and not window.runs.judge.busy


def test_a_machine_that_is_real_is_not_kept_from_its_processor(
    qtbot: QtBot, tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Any] = []
    session = FakeSession(load_config("virtual").changed({"virtual": {"real_time": True}}), tmp_path)
    desk = RunDesk(session)
    qtbot.addWidget(desk.card)
    monkeypatch.setattr(desk.judge, "start", lambda *given: started.append(given))
    session.recording = folder / "a.mcap"
    _ends(session, ENDED)
    assert not started and "processor is reserved for the engine" in desk.card.advice.text()
    session.take(make_status(State.PARKED, last_motion=ENDED))
    assert started == [(folder / "a.mcap", ["a.mcap#1"], JudgedBy())]
    desk.close()
    session.close()


def test_thresholds_are_saved_where_they_came_from_on_request_only(
    qtbot: QtBot, tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own.toml"
    own.write_text(load_config("virtual").path.read_text(encoding="utf-8"), encoding="utf-8")
    session = FakeSession(load_config(own), tmp_path)
    desk = RunDesk(session)
    qtbot.addWidget(desk.card)
    monkeypatch.setattr(desk.judge, "start", lambda *_given: None)
    before = own.read_bytes()
    desk.card.thresholds.applied.emit(Validation(bias=0.5))
    assert own.read_bytes() == before
    desk.card.thresholds.saved.emit(Validation(bias=0.5))
    qtbot.waitUntil(lambda: session.config.validation == Validation(bias=0.5), timeout=START)
    assert load_config(own).validation == Validation(bias=0.5)
    desk.close()
    session.close()


def test_a_recording_says_who_operates(
    window: MainWindow, session: FakeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Any] = []

    def hold(config: Any, _recording: Path, _told: Any) -> Any:
        made.append(config)
        raise OSError("no engine in this test")

    monkeypatch.setattr("gui.session.rig_session.acquire_engine", hold)
    monkeypatch.setattr(session.virtual, "begin", lambda: None)
    window.motion.words.operator.setText("A. Weber")
    with pytest.raises(OSError, match="no engine"):
        session._start()
    assert made[0].recording.operator == "A. Weber"


def test_what_is_typed_stays_at_its_run_while_others_come(page: RunsPage, qtbot: QtBot) -> None:
    last, item = page.table.item(1, 0), page.table.item(1, 9)
    run = page.listed[1].run.id
    page.table.editItem(item)
    QtTest.QTest.keyClicks(page.table.findChild(QtWidgets.QLineEdit), "new belt")
    page._loaded((page.listed[:1], []), None)  # a look that began before ends now, with other rows
    assert page.table.rowCount() == 2 and page.table.item(1, 0) is last
    QtTest.QTest.keyClick(page.table.findChild(QtWidgets.QLineEdit), KEY.Key_Return)
    qtbot.waitUntil(lambda: {one.run.id: one.entry.note for one in page.listed}.get(run) == "new belt", timeout=START)


def test_a_folder_without_runs_says_so(page: RunsPage, tmp_path: Path, qtbot: QtBot) -> None:
    (tmp_path / "empty").mkdir()
    page.set_folder(tmp_path / "empty")
    qtbot.waitUntil(lambda: page.message.text().startswith("No runs in this folder yet"), timeout=START)
    assert page.table.rowCount() == 0
    page.set_folder(tmp_path / "recordings")
    qtbot.waitUntil(lambda: page.message.text() == "" and page.table.rowCount() == 2, timeout=START)


def test_while_a_folder_is_read_nothing_is_said_of_its_runs(
    page: RunsPage, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the runs of the folder before, nor that there are none."""
    going, real = threading.Event(), Catalogue.runs

    def runs(catalogue: Catalogue) -> list[Listed]:
        assert going.wait(60.0)
        return real(catalogue)

    monkeypatch.setattr(Catalogue, "runs", runs)
    (tmp_path / "empty").mkdir()
    page.set_folder(tmp_path / "empty")
    assert page.message.text().startswith("Reading") and page.table.rowCount() == 0 and not page.chosen
    going.set()
    qtbot.waitUntil(lambda: page.message.text().startswith("No runs"), timeout=START)
    going.clear()
    page.set_folder(tmp_path / "recordings")
    assert page.message.text().startswith("Reading")
    going.set()
    qtbot.waitUntil(lambda: page.message.text() == "" and page.table.rowCount() == 2, timeout=START)
    going.clear()
    page.reload()  # again: what is listed stays
    assert page.message.text() == "" and page.table.rowCount() == 2
    going.set()


def test_every_verdict_has_a_word_a_mark_and_a_colour_of_its_own() -> None:
    looks = [verdict_style(verdict) for verdict in ("pass", "fail", "undecided", "expected", None)]
    for part in ("word", "mark", "background"):
        assert len({getattr(look, part) for look in looks}) == len(looks)
