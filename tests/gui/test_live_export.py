"""What is shown, written to files."""

import csv
from pathlib import Path

import numpy as np
import pytest
from live_rows import latest, live_rows
from pyqtgraph.Qt import QtGui
from pytestqt.qtbot import QtBot

from gui.live import LiveView
from gui.live.export import write_picture
from gui.live.plot_page import PlotPage
from gui.models.timeline import History


def test_export_writes_what_is_shown(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, qtbot: QtBot, view: LiveView, history: History
) -> None:
    view.bar.window.setCurrentText("1 s")
    view.bar.legs.set_legs([True, False, False, False, False, True])
    view.refresh(history)
    monkeypatch.setattr("gui.live.live_bar.ask_save", lambda *args: tmp_path / f"shown{args[-1]}")
    view.bar.csv.click()
    assert view.bar.note.text() == "Writing shown.csv …"
    history.append(live_rows(100, 6000))
    history.clear()  # what was shown when it was asked for is what is written
    qtbot.waitUntil(lambda: view.bar.note.text() == "Saved shown.csv", timeout=60_000)
    history.append(live_rows(6000, offset=0.25))
    with open(tmp_path / "shown.csv", encoding="utf-8") as file:
        names, *lines = list(csv.reader(file))
    assert names == [
        "t [s]",
        "Force at the load cell: measured leg 1 [N]",
        "Force at the load cell: measured leg 6 [N]",
        "Force at the load cell: model leg 1 [N]",
        "Force at the load cell: model leg 6 [N]",
        "Residual: residual leg 1 [N]",
        "Residual: residual leg 6 [N]",
    ]
    rows = latest(history, 1.0)
    np.testing.assert_allclose(np.array(lines, float)[:, 0], rows["t"])
    np.testing.assert_allclose(np.array(lines, float)[:, 2], rows["force_measured"][:, 5])
    view.bar.png.click()
    qtbot.waitUntil(lambda: view.bar.note.text() == "Saved shown.png", timeout=60_000)
    picture = QtGui.QImage(str(tmp_path / "shown.png"))
    assert (picture.width(), picture.height()) == (view.body.width(), view.body.height())


def test_export_of_histograms_and_a_disk_that_refuses(
    tmp_path: Path, qtbot: QtBot, view: LiveView, history: History
) -> None:
    view.refresh(history)
    view.tabs.setCurrentWidget(view.pages["Timing"])
    view.export_table(tmp_path / "timing.csv")
    qtbot.waitUntil(lambda: view.bar.note.text() == "Saved timing.csv", timeout=60_000)
    lines = (tmp_path / "timing.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("Period error: from [µs],Period error: to [µs],Period error: cycles [1]")
    assert len(lines) == 61
    view.export_table(tmp_path / "nowhere" / "timing.csv")
    said = "Not saved: cannot write {0}/timing.csv: there is no folder {0}".format(tmp_path / "nowhere")
    qtbot.waitUntil(lambda: view.bar.note.text() == said, timeout=60_000)
    view.export_picture(tmp_path / "nowhere" / "picture.png")
    qtbot.waitUntil(lambda: view.bar.note.text() == "Not saved: No such file or directory", timeout=60_000)


def test_what_fails_leaves_the_file_that_was_there(tmp_path: Path) -> None:
    target = tmp_path / "shown.csv"
    target.write_text("of last week")
    with pytest.raises(OSError):
        write_picture(target, QtGui.QImage())
    assert target.read_text() == "of last week" and list(tmp_path.iterdir()) == [target]


def test_a_file_begun_is_finished_before_the_view_ends(tmp_path: Path, view: LiveView, history: History) -> None:
    view.refresh(history)
    view.export_table(tmp_path / "last.csv")
    view.close_worker()
    assert len((tmp_path / "last.csv").read_text(encoding="utf-8").splitlines()) == 5002
    view.close_worker()


@pytest.mark.parametrize("page", ["Terms", "Tracking", "Pose", "External wrench"])
def test_every_page_can_be_exported(tmp_path: Path, qtbot: QtBot, view: LiveView, history: History, page: str) -> None:
    view.refresh(history)
    shown = view.pages[page]
    assert isinstance(shown, PlotPage)
    view.tabs.setCurrentWidget(shown)
    view.export_table(tmp_path / "page.csv")
    qtbot.waitUntil(lambda: view.bar.note.text() == "Saved page.csv", timeout=60_000)
    values = np.loadtxt(tmp_path / "page.csv", delimiter=",", skiprows=1)
    columns = [panel.panel.series[0].extract(shown.segment(history)) for panel in shown.panels]
    np.testing.assert_array_equal(values[:, 1 : 1 + columns[0].shape[1]], columns[0])
    assert values.shape[0] == 5001
