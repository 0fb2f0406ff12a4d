"""Films of a recording: what is written, what is refused, and what a cancelled one leaves behind."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from live_rows import MECHANISM, live_rows, write_recording
from PIL import Image
from pyqtgraph.Qt import QtWidgets
from pytestqt.qtbot import QtBot

from gui.live import PlatformView, RecordingsView
from gui.live.film import MOST_PIXELS, Cut, FilmDialog
from gui.live.platform_flat import PlatformFlat
from gui.models.timeline import Replay
from gui.widgets import DARK

ROWS = live_rows(300)  # 0.6 s
ROWS["pose"][:, 0] += ROWS["t"] / 10
SMALL = (120, 90)


@pytest.fixture
def dialog(qtbot: QtBot) -> Iterator[FilmDialog]:
    """A film of six frames is chosen."""
    view = PlatformView(DARK)
    view.set_mechanism(MECHANISM)
    view.show_row(ROWS[0])
    window = QtWidgets.QWidget()
    made = FilmDialog(view, Replay(ROWS), float(ROWS["t"][-1]), "run", lambda: "", window)
    made.size_.addItem("small", SMALL)
    made.size_.setCurrentIndex(made.size_.count() - 1)
    made.rate.setCurrentIndex(made.rate.findData(10))
    made.begin.set_si(0.0)
    made.end.set_si(0.5)
    yield made
    made.stop()
    view.close_worker()
    for widget in (view, window):
        widget.close()
        qtbot.addWidget(widget)


def _make(dialog: FilmDialog, qtbot: QtBot, path: Path) -> str:
    dialog.start(path)
    maker = dialog.maker
    assert maker is not None
    if not maker.ended:
        with qtbot.waitSignal(maker.finished, timeout=60_000):
            pass
    return str(dialog.message.text())


def test_a_gif_moves_at_the_rate_chosen(dialog: FilmDialog, qtbot: QtBot, tmp_path: Path) -> None:
    assert dialog.message.text() == "6 frames, 0.6 s"
    assert _make(dialog, qtbot, tmp_path / "run.gif") == "Saved run.gif"
    assert dialog.progress.value() == 100 and dialog.make.isEnabled()
    with Image.open(tmp_path / "run.gif") as film:
        assert (film.size, film.n_frames, film.info["duration"], film.info["loop"]) == (SMALL, 6, 100, 0)  # type: ignore[attr-defined]
        first = film.convert("RGB")
        film.seek(5)
        assert film.convert("RGB").tobytes() != first.tobytes()
    assert list(tmp_path.iterdir()) == [tmp_path / "run.gif"]


def test_a_folder_has_every_frame(dialog: FilmDialog, qtbot: QtBot, tmp_path: Path) -> None:
    dialog.kind.setCurrentIndex(1)
    dialog.speed.setCurrentIndex(dialog.speed.findData(0.5))
    assert _make(dialog, qtbot, tmp_path / "run") == "Saved run"
    assert [path.name for path in sorted((tmp_path / "run").iterdir())][-1] == "frame-00011.png"
    assert _make(dialog, qtbot, tmp_path / "run").startswith("run was not made: ")  # it is there already
    assert list(tmp_path.iterdir()) == [tmp_path / "run"]


@pytest.mark.parametrize("kind", [0, 1])
def test_a_cancelled_film_leaves_nothing(dialog: FilmDialog, qtbot: QtBot, tmp_path: Path, kind: int) -> None:
    dialog.kind.setCurrentIndex(kind)
    dialog.start(tmp_path / "run")
    assert not dialog.make.isEnabled() and dialog.make.obstacle == "a film is being made"
    assert dialog.maker is not None
    with qtbot.waitSignal(dialog.maker.progressed, timeout=60_000):
        pass
    dialog.cancel.click()
    assert dialog.message.text() == "run was not made: cancelled"
    assert list(tmp_path.iterdir()) == []
    assert dialog.cancel.obstacle == "no film is being made"


def test_a_film_that_cannot_be_written_says_why(dialog: FilmDialog, qtbot: QtBot, tmp_path: Path) -> None:
    assert _make(dialog, qtbot, tmp_path / "nowhere" / "run.gif") == "run.gif was not made: No such file or directory"


def test_what_no_film_can_be_is_refused(dialog: FilmDialog) -> None:
    dialog.end.set_si(0.0)
    assert dialog.make.obstacle == "it ends at 0.000 s, must end after its start at 0.000 s"
    long = Cut(0.0, 60.0, 1.0, 50, (1920, 1080))
    assert long.fault(bounded=False) == ""
    assert long.fault(bounded=True).startswith("3001 frames of 1920 × 1080 px are 6223 million px, must be at most 400")
    assert len(long.times) * 1920 * 1080 > MOST_PIXELS


def test_the_recordings_page_makes_films_once_a_recording_is_open(qtbot: QtBot, tmp_path: Path) -> None:
    path = write_recording(tmp_path / "run.mcap", ROWS)
    view = RecordingsView(DARK)
    qtbot.addWidget(view)
    try:
        flat = isinstance(view.platform.picture, PlatformFlat)
        assert flat or view.film.button.obstacle == "open a recording first"
        view.open(path)
        qtbot.waitUntil(lambda: view.replay is not None, timeout=60_000)
        assert view.film.button.isEnabled() != flat
        view.film.begin()
        assert view.film.dialog is not None and view.film.dialog.isVisible()
        view.film.dialog.close()
        assert view.film.dialog is None
    finally:
        view.close_worker()
