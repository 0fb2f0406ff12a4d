"""Recordings, through real widgets, real files and a clock turned by hand."""

import csv
import gc
import shutil
import weakref
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from live_rows import RATE, live_rows, write_recording
from pyqtgraph.Qt import QtCore, QtWidgets
from pytestqt.qtbot import QtBot
from shell_support import FakeSession, make_settings, make_status

from gui.live import RecordingsView
from gui.models.decimation import Outline
from gui.models.timeline import History
from gui.shell.main_window import MainWindow
from gui.widgets.theme import DARK, LIGHT
from rig.config import in_real_time
from rig.recording import size_of_rows
from rig.states import State

LIVE = History(1)
"""the running rig's, which replays do not look at"""


class Clock:
    """Turned by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of two recordings, to be copied."""
    made = tmp_path_factory.mktemp("originals")
    write_recording(made / "first.mcap", live_rows(2000, 500, offset=0.5))
    write_recording(made / "second.mcap", live_rows(1000, 4500, offset=1.5))
    (made / "notes.txt").write_text("no recording")
    return made


@pytest.fixture
def folder(originals: Path, tmp_path: Path) -> Path:
    return shutil.copytree(originals, tmp_path, dirs_exist_ok=True)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def shown_files() -> list[Path]:
    return []


@pytest.fixture
def view(qtbot: QtBot, folder: Path, clock: Clock, shown_files: list[Path]) -> Iterator[RecordingsView]:
    def show_file(path: Path) -> bool:
        shown_files.append(path)
        return True

    made = RecordingsView(DARK, clock, show_file)
    qtbot.addWidget(made)
    made.set_folder(folder)
    made.resize(1140, 700)
    with qtbot.waitExposed(made):
        made.show()
    yield made
    made.close()
    made.close_worker()


def _press(qtbot: QtBot, view: RecordingsView, name: str, recording: str) -> None:
    view.list.select(view.list.folder / recording)
    qtbot.mouseClick(view.list.buttons[name], QtCore.Qt.MouseButton.LeftButton)


def _open(qtbot: QtBot, view: RecordingsView, recording: str = "first.mcap") -> None:
    _press(qtbot, view, "Open", recording)
    qtbot.waitUntil(lambda: view.opened is not None and view.opened.name == recording, timeout=60_000)


def _another(view: RecordingsView, before: object) -> bool:
    """Whether another recording is open than before."""
    return view.opened is not before


def test_recordings_of_the_folder_are_listed(qtbot: QtBot, view: RecordingsView, folder: Path) -> None:
    assert {one.path.name for one in view.list.found} == {"first.mcap", "second.mcap"}
    assert not view.list.buttons["Open"].isEnabled()
    assert view.list.buttons["Open"].toolTip() == "Choose a recording first"
    view.list.select(folder / "second.mcap")
    assert view.list.buttons["Open"].isEnabled()
    assert not view.list.buttons["Compare"].isEnabled()
    assert "Open a recording first" in view.list.buttons["Compare"].toolTip()
    write_recording(folder / "third.mcap", live_rows(10))
    qtbot.mouseClick(view.list.again, QtCore.Qt.MouseButton.LeftButton)
    assert view.list.table.rowCount() == 3
    assert view.list.chosen == folder / "second.mcap"


def test_a_folder_is_chosen(
    monkeypatch: pytest.MonkeyPatch, qtbot: QtBot, view: RecordingsView, tmp_path: Path
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.setattr(QtWidgets.QFileDialog, "getExistingDirectory", lambda *_args: str(empty))
    qtbot.mouseClick(view.list.choose, QtCore.Qt.MouseButton.LeftButton)
    assert view.list.folder == empty and "0 recordings" in view.list.where.text()
    view.set_folder(tmp_path / "nowhere")
    assert "No such file" in view.list.where.text()


def test_replay_through_the_live_views(qtbot: QtBot, view: RecordingsView, clock: Clock) -> None:
    assert not view.bar.isEnabled()
    view.refresh(LIVE)
    _open(qtbot, view)
    assert view.replay is not None and view.bar.isEnabled()
    view.bar.speed.setCurrentText("0.5 ×")
    qtbot.mouseClick(view.bar.play, QtCore.Qt.MouseButton.LeftButton)
    assert view.bar.play.text() == "Pause"
    for clock.now in (100.0, 101.0, 102.0):
        view.refresh(LIVE)
    assert view.bar.time.value() == pytest.approx(2.0)  # began at 1 s
    panel = view.live.pages["Forces"].panels[0]
    t, force = panel.curves[0].points(2)
    assert panel.present.isVisible() and panel.present.value() == 2.0
    assert np.interp(2.0, t, force) == pytest.approx(30 + np.sin(2.0), abs=1e-3)
    for _ in range(5):  # numbers change less often
        view.refresh(LIVE)
    assert view.live.values.moment.text().startswith("2.000 s")
    view.tabs.setCurrentWidget(view.platform)
    view.refresh(LIVE)
    assert view.platform.picture.scene is not None and view.platform.picture.scene.known
    qtbot.mouseClick(view.bar.play, QtCore.Qt.MouseButton.LeftButton)
    clock.now = 110.0
    view.refresh(LIVE)
    assert view.bar.time.value() == pytest.approx(2.0)


def test_scrubbing(qtbot: QtBot, view: RecordingsView) -> None:
    _open(qtbot, view)
    assert view.replay is not None
    view.bar.slider.setValue(5000)
    assert view.replay.position == pytest.approx((1.0 + 4.998) / 2)
    view.refresh(LIVE)
    panel = view.live.pages["Forces"].panels[0]
    assert panel.present.value() == pytest.approx(view.replay.position, abs=2.1 / RATE)
    view.live.bar.window.setCurrentText("1 s")  # the window follows the present
    assert not panel.present.isVisible()
    assert panel.curves[0].points(0)[0][-1] == pytest.approx(view.replay.position, abs=2.1 / RATE)
    assert panel.span == pytest.approx((view.replay.position - 1.0, view.replay.position), abs=2.1 / RATE)
    view.bar.time.setValue(4.0)
    assert view.replay.position == 4.0 and view.bar.slider.value() == round(10_000 * 3.0 / 3.998)
    view.live.tabs.setCurrentWidget(view.live.pages["External wrench"])
    assert view.live.values.wrench.mean[2] != 0.0  # the recording's own mechanism is known


def test_two_recordings_side_by_side(qtbot: QtBot, view: RecordingsView) -> None:
    _open(qtbot, view)
    _press(qtbot, view, "Compare", "second.mcap")
    qtbot.waitUntil(lambda: len(view.compared) == 2, timeout=60_000)
    assert view.tabs.currentWidget() is view.compare
    assert "first.mcap" in view.compare.names.text() and "second.mcap" in view.compare.names.text()
    force, residual = view.compare.plots[:2]
    first, second = force.curves[0][0].getData(), force.curves[1][0].getData()
    assert first[0][0] == second[0][0] == 0.0  # both from where the motion began
    assert first[1][0] == pytest.approx(10 + np.sin(1.0), abs=0.02)
    assert second[1][0] == pytest.approx(10 + np.sin(9.0), abs=0.02)
    assert (residual.curves[0][0].getData()[1] == 0.5).all() and (residual.curves[1][0].getData()[1] == 1.5).all()
    assert not force.curves[0][3].isVisible()
    view.compare.legs.set_legs([False, False, False, True, False, False])
    assert force.curves[1][3].isVisible() and not force.curves[1][0].isVisible()
    table = view.numbers
    names = [table.item(row, 0).text() for row in range(table.rowCount())]
    row = names.index("Residual, RMS, leg 2")
    assert [table.item(row, column).text() for column in range(1, 5)] == ["N", "0.500", "1.500", "1.000"]
    assert table.horizontalHeaderItem(4).text() == "Difference"
    _open(qtbot, view, "second.mcap")
    assert len(view.compared) == 1 and table.columnCount() == 3
    assert not force.curves[1][3].isVisible()


def test_events_are_listed(qtbot: QtBot, view: RecordingsView) -> None:
    _open(qtbot, view)
    shown = [[view.events.item(row, column).text() for column in range(4)] for row in range(3)]
    assert shown == [
        ["1.000", "info", "", "the motion begins"],
        ["1.000", "error", "drive restarted", "leg 2: restarted"],
        ["1.000", "error", "99", "what a later program may write"],
    ]
    assert view.events.item(1, 3).foreground().color().name().upper() == DARK.error
    view.set_theme(LIGHT)
    assert view.events.item(1, 3).foreground().color().name().upper() == LIGHT.error
    assert view.events.item(0, 3).text() == "the motion begins"


def test_a_replay_is_paused_not_frozen(qtbot: QtBot, view: RecordingsView) -> None:
    _open(qtbot, view)
    assert view.live.bar.isVisible() and view.live.bar.fit.isVisible()
    assert not view.live.bar.freeze.isVisible() and not view.live.bar.clear.isVisible()


def test_rows_are_exported(monkeypatch: pytest.MonkeyPatch, qtbot: QtBot, view: RecordingsView, tmp_path: Path) -> None:
    target = tmp_path / "rows.csv"
    monkeypatch.setattr("gui.live.recordings_view.ask_save", lambda *_args: target)
    _press(qtbot, view, "CSV…", "first.mcap")
    qtbot.waitUntil(lambda: view.note.text() == "Saved rows.csv", timeout=60_000)
    with open(target, encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    rows = live_rows(2000, 500, offset=0.5)
    assert len(table) == 2000
    for name, values in (
        ("t", rows["t"]),
        ("force_measured_6", rows["force_measured"][:, 5]),
        ("terms_2_3", rows["terms"][:, 1, 2]),
        ("cycle", rows["cycle"]),
    ):
        np.testing.assert_array_equal(np.array([float(line[name]) for line in table]), values)
    view.export_to(tmp_path / "first.mcap", tmp_path / "nowhere" / "rows.csv")
    qtbot.waitUntil(lambda: "there is no folder" in view.note.text(), timeout=60_000)


def test_a_report_is_made_and_opened(qtbot: QtBot, view: RecordingsView, folder: Path, shown_files: list[Path]) -> None:
    _press(qtbot, view, "Report", "first.mcap")
    assert view.note.text().startswith("Making the report")
    view.make_report(folder / "second.mcap")
    assert view.note.text() == "A report is already being made"
    qtbot.waitUntil(lambda: bool(shown_files), timeout=60_000)
    assert shown_files == [folder / "first.html"]
    assert "<html" in shown_files[0].read_text(encoding="utf-8")[:500].lower()
    assert view.note.text() == "Report: first.html"


@pytest.mark.parametrize("act", ["open", "compare_with"])
def test_what_is_no_recording_is_said(qtbot: QtBot, view: RecordingsView, folder: Path, act: str) -> None:
    (folder / "broken.mcap").write_bytes(b"not at all")
    open_it: Callable[[Path], None] = getattr(view, act)
    open_it(folder / "broken.mcap")
    qtbot.waitUntil(lambda: "not an MCAP recording" in view.note.text(), timeout=60_000)
    assert view.opened is None


def test_a_recording_cut_off_is_shown_as_far_as_it_goes(qtbot: QtBot, view: RecordingsView, folder: Path) -> None:
    whole = (folder / "first.mcap").read_bytes()
    (folder / "cut.mcap").write_bytes(whole[: len(whole) * 2 // 3])
    view.list.reload()
    _open(qtbot, view, "cut.mcap")
    assert "cut off" in view.note.text()
    assert view.opened is not None and 0 < len(view.opened.recording.rows) < 2000


def test_rows_of_a_recording_go_with_it(qtbot: QtBot, view: RecordingsView) -> None:
    """They are most of the app's memory; views that nobody looks at may not keep those of what was open before."""

    def visit_all(reverse: bool) -> None:
        for tabs in (view.tabs, view.live.tabs):
            view.tabs.setCurrentWidget(view.live)
            places = range(tabs.count())
            for place in reversed(places) if reverse else places:
                tabs.setCurrentIndex(place)
                view.refresh(LIVE)
                QtWidgets.QApplication.processEvents()

    rows: list[weakref.ref[np.ndarray]] = []
    for number, name in enumerate(("first.mcap", "second.mcap", "first.mcap")):
        before = view.opened
        view.tabs.setCurrentWidget(view.list)
        _press(qtbot, view, "Open", name)
        qtbot.waitUntil(partial(_another, view, before), timeout=60_000)
        assert view.opened is not None
        rows.append(weakref.ref(view.opened.recording.rows))
        if number < 2:
            visit_all(reverse=bool(number))  # which ends on another page, and leaves other ones unseen
    del before
    gc.collect()
    assert [one() is None for one in rows] == [True, True, False]


def test_a_recording_too_large_is_refused_before_it_is_read(
    monkeypatch: pytest.MonkeyPatch, qtbot: QtBot, view: RecordingsView, folder: Path
) -> None:
    rows = live_rows(2000)
    size = size_of_rows(folder / "first.mcap")
    assert rows.nbytes <= size < 1.05 * rows.nbytes
    monkeypatch.setattr("gui.models.recordings.LARGEST", rows.nbytes - 1)
    monkeypatch.setattr("gui.models.recordings.open_part", lambda _path: pytest.fail("it was read"))
    view.open(folder / "first.mcap")
    qtbot.waitUntil(lambda: "first.mcap: its rows take 0.00 GB" in view.note.text(), timeout=60_000)
    assert "at most 0.00 GB; use `rig report`" in view.note.text() and view.opened is None


def test_of_a_long_recording_some_rows_are_replayed_and_all_are_drawn_and_counted(
    monkeypatch: pytest.MonkeyPatch, qtbot: QtBot, view: RecordingsView, folder: Path
) -> None:
    rows = live_rows(10_000)
    rows["force_measured"][4321, 2] = 777.0
    write_recording(folder / "long.mcap", rows)
    monkeypatch.setattr("gui.models.recordings.MAX_ROW_MEMORY", rows.nbytes // 4)
    view.list.reload()
    _open(qtbot, view, "long.mcap")
    opened = view.opened
    assert opened is not None and opened.every == 4 and "one in 4 cycles is replayed" in view.note.text()
    np.testing.assert_array_equal(opened.recording.rows["cycle"], rows["cycle"][::4])
    assert opened.summary["recording"]["rows"] == 10_000
    assert opened.summary["force"]["legs"][2]["peak_measured_n"] == 777.0
    times, values = opened.outlines[0].between(0.0, 20.0, 10_000)
    assert len(times) < 3000 and values[:, 2].max() == 777.0 and (np.diff(times) >= 0.0).all()
    view.compare_with(folder / "long.mcap")
    qtbot.waitUntil(lambda: len(view.compared) == 2, timeout=60_000)
    second = view.compared[1]
    assert not len(second.recording.rows) and second.summary == opened.summary


def test_heavy_work_waits_while_there_is_an_obstacle(
    monkeypatch: pytest.MonkeyPatch, qtbot: QtBot, folder: Path, tmp_path: Path
) -> None:
    obstacle = ""
    view = RecordingsView(DARK, obstacle=lambda: obstacle)
    qtbot.addWidget(view)
    try:
        view.set_folder(folder)
        view.list.select(folder / "first.mcap")
        assert view.list.buttons["Report"].isEnabled()
        obstacle = "the drives have torque"
        view.refresh(LIVE)
        for name in ("Report", "CSV…"):
            assert not view.list.buttons[name].isEnabled() and view.list.buttons[name].toolTip() == obstacle
        assert view.list.buttons["Open"].isEnabled()
        monkeypatch.setattr("gui.models.recordings.QUICK", 1000)
        view.open(folder / "first.mcap")
        qtbot.waitUntil(lambda: view.note.text().endswith("above 0.00 GB: the drives have torque"), timeout=60_000)
        monkeypatch.undo()
        _open(qtbot, view)  # what is small does no harm
        view.make_report(folder / "first.mcap")
        assert view.note.text() == "No report: the drives have torque"
        view.export_to(folder / "first.mcap", tmp_path / "rows.csv")
        assert view.note.text() == "No CSV: the drives have torque"
        obstacle = ""
        view.refresh(LIVE)
        assert view.list.buttons["CSV…"].isEnabled()
    finally:
        view.close()
        view.close_worker()
    assert not (tmp_path / "rows.csv").exists() and not (folder / "first.html").exists()


def test_the_main_window_forbids_it_with_torque_on(
    whole_window: MainWindow, session: FakeSession, folder: Path
) -> None:
    recordings = whole_window.views.recordings
    recordings.set_folder(folder)
    recordings.list.select(folder / "first.mcap")
    assert recordings.list.buttons["Report"].isEnabled()  # although this session has recorded nothing yet
    session.take(make_status(State.ENGAGED))
    recordings.refresh(LIVE)
    assert recordings.list.buttons["Report"].isEnabled()  # a virtual rig in paced time waits for the processor
    session.config = in_real_time(session.config)
    recordings.refresh(LIVE)
    assert "the processor is reserved for the engine" in recordings.list.buttons["Report"].toolTip()
    assert not recordings.list.buttons["CSV…"].isEnabled()
    session.take(make_status(State.PARKED))
    recordings.refresh(LIVE)
    assert recordings.list.buttons["Report"].isEnabled()


def test_folder_speed_and_colours_are_kept(
    monkeypatch: pytest.MonkeyPatch, qtbot: QtBot, view: RecordingsView, tmp_path: Path
) -> None:
    settings = make_settings(tmp_path)
    view.save(settings)
    assert not settings.contains("recordings/folder")  # nobody has chosen one
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.setattr(QtWidgets.QFileDialog, "getExistingDirectory", lambda *_args: str(elsewhere))
    qtbot.mouseClick(view.list.choose, QtCore.Qt.MouseButton.LeftButton)
    view.bar.speed.setCurrentText("0.25 ×")
    view.platform.colouring.setCurrentIndex(1)
    view.save(settings)
    other = RecordingsView(DARK)
    qtbot.addWidget(other)
    try:
        other.set_folder(tmp_path)
        other.restore(settings)
        assert other.list.folder == elsewhere and other.bar.speed.currentData() == 0.25
        assert other.platform.colouring.currentIndex() == 1
        elsewhere.rmdir()
        other.set_folder(tmp_path)
        other.restore(settings)
        assert other.list.folder == tmp_path
    finally:
        other.close()
        other.close_worker()


def test_a_comparison_nobody_sees_is_not_drawn(
    monkeypatch: pytest.MonkeyPatch, qtbot: QtBot, view: RecordingsView
) -> None:
    drawn: list[Outline] = []
    plain = Outline.between

    def between(outline: Outline, t0: float, t1: float, bins: int) -> object:
        drawn.append(outline)
        return plain(outline, t0, t1, bins)

    monkeypatch.setattr(Outline, "between", between)
    _open(qtbot, view)
    assert drawn == []
    view.tabs.setCurrentWidget(view.compare)
    assert drawn
    force = view.compare.plots[0]
    low, high = force.view.viewRange()[1]
    assert low < 10 + np.sin(2.0) < high < 12.0  # one leg is shown


def test_themes_and_accessible_names(qtbot: QtBot, view: RecordingsView) -> None:
    view.set_theme(LIGHT)
    kinds = (QtWidgets.QPushButton, QtWidgets.QComboBox, QtWidgets.QSlider, QtWidgets.QTableWidget)
    for kind in kinds:
        for control in view.findChildren(kind):
            assert control.accessibleName(), control
    assert view.bar.time.accessibleName() and view.bar.time.suffix() == " s"
