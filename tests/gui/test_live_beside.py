"""The platform beside the curves, and the two cursors."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from live_rows import MECHANISM, RATE, live_rows
from pyqtgraph.Qt import QtCore
from pytestqt.qtbot import QtBot
from shell_support import FakeSession, make_settings

from gui.history import History
from gui.live import LiveView
from gui.live.cursors import Cursors
from gui.live.platform_view import PlatformView
from gui.live.plot_page import PlotPage
from gui.live.plot_panel import PlotPanel
from gui.main_window import MainWindow
from gui.theme import DARK, LIGHT


@pytest.fixture
def shown(qtbot: QtBot) -> Iterator[Callable[[int], LiveView]]:
    made: list[LiveView] = []

    def show(width: int) -> LiveView:
        view = LiveView(DARK)
        made.append(view)
        qtbot.addWidget(view)
        view.set_mechanism(MECHANISM)
        view.resize(width, 700)
        with qtbot.waitExposed(view):
            view.show()
        return view

    yield show
    for view in made:
        view.close()
        view.close_worker()


@pytest.fixture
def history() -> History:
    filled = History(30_000)
    rows = live_rows(3000)
    rows["pose"][:, 0] = 1e-5 * np.arange(3000)
    filled.append(rows)
    return filled


def _forces(view: LiveView) -> PlotPanel:
    page = view.pages["Forces"]
    assert isinstance(page, PlotPage)
    return page.panels[0]


def _origin(view: LiveView) -> float:
    assert view.beside.drawn is not None and view.beside.drawn.picture.scene is not None
    return float(view.beside.drawn.picture.scene.origin[0])


def test_a_wide_window_shows_it_and_a_narrow_one_does_not(shown: Callable[[int], LiveView]) -> None:
    assert shown(1700).beside.drawn is not None
    narrow = shown(1000)
    assert narrow.beside.platform is None and not narrow.bar.platform.isChecked()
    narrow.resize(1700, 700)
    assert narrow.bar.platform.isChecked() and narrow.beside.drawn is not None


def test_who_chooses_is_obeyed_at_any_width(shown: Callable[[int], LiveView]) -> None:
    view = shown(1700)
    view.bar.platform.click()
    assert view.beside.drawn is None
    view.resize(1800, 700)
    assert view.beside.drawn is None
    view.bar.platform.click()
    view.resize(1000, 700)
    assert view.beside.drawn is not None


def test_it_follows_the_newest_row_and_the_cursor(shown: Callable[[int], LiveView], history: History) -> None:
    view = shown(1700)
    for _ in range(2):
        history.append(live_rows(1, len(history)))
        view.refresh(history)
    assert _origin(view) == pytest.approx(0.011)
    view.set_cursor(2.0)
    assert _origin(view) == pytest.approx(1e-5 * 2.0 * RATE)
    assert view.beside.drawn is not None and "2.000 s" in view.beside.drawn.pose.text()
    view.set_cursor(None)
    assert _origin(view) == pytest.approx(0.011)


def test_what_is_hidden_is_not_drawn(
    monkeypatch: pytest.MonkeyPatch, shown: Callable[[int], LiveView], history: History
) -> None:
    view = shown(1700)
    view.refresh(history)
    drawn: list[object] = []
    monkeypatch.setattr(PlatformView, "show_row", lambda platform, *_args, **_kept: drawn.append(platform))
    view.bar.platform.click()
    history.append(live_rows(10, 3000))
    view.refresh(history)
    assert drawn == []
    view.bar.platform.click()
    assert drawn  # at once, although nothing new has come


def test_its_place_is_kept(shown: Callable[[int], LiveView], tmp_path: Path) -> None:
    settings = make_settings(tmp_path)
    first = shown(1000)
    first.save(settings, "live")
    assert not settings.contains("live/platform beside")  # nobody has chosen anything
    first.bar.platform.click()
    first.beside.setSizes([350, 380])
    sizes = first.beside.sizes()
    first.save(settings, "live")
    second = shown(1000)
    second.restore(settings, "live")
    assert second.bar.platform.isChecked() and second.beside.sizes() == sizes
    second.bar.platform.click()
    second.save(settings, "live")
    wide = shown(1700)
    wide.restore(settings, "live")
    assert not wide.bar.platform.isChecked() and wide.beside.drawn is None


def test_the_main_window_keeps_both_places(
    window: MainWindow, session: FakeSession, qtbot: QtBot, tmp_path: Path
) -> None:
    assert not window.live.bar.platform.isChecked()  # 1280 px
    window.tabs.setCurrentWidget(window.live_page)
    window.live.bar.platform.click()
    assert window.live.beside.drawn is not None
    assert window.width() == 1280  # there is room for both
    window.close_now()
    other = MainWindow(FakeSession(session.config, tmp_path), make_settings(tmp_path))
    try:
        qtbot.waitUntil(lambda: other.complete, timeout=10_000)
        assert other.live.bar.platform.isChecked() and not other.recordings.live.bar.platform.isChecked()
        assert other.live.models._coulomb_speed == session.config.control.coulomb_speed
    finally:
        other.close_now()


def test_it_takes_theme_and_mechanism_along(shown: Callable[[int], LiveView], history: History) -> None:
    view = shown(1700)
    view.refresh(history)
    view.set_theme(LIGHT)
    assert not view.grab().isNull()
    view.set_mechanism(None)
    assert view.beside.drawn is not None and view.beside.drawn.pose.text() == "No mechanism"


def test_cursors_by_three_clicks() -> None:
    cursors = Cursors()
    cursors.point(1.0)
    assert (cursors.at, cursors.apart) == (1.0, None)
    cursors.click(1.0)
    cursors.point(None)
    assert (cursors.at, cursors.apart) == (1.0, None)
    assert cursors.point(3.0) and (cursors.at, cursors.apart) == (3.0, 2.0)
    cursors.click(3.5)
    assert not cursors.point(9.0) and not cursors.point(None)
    assert (cursors.a, cursors.b, cursors.apart) == (1.0, 3.5, 2.5)
    cursors.click(4.0)
    assert (cursors.a, cursors.at) == (None, 4.0)
    cursors.point(None)
    assert cursors.at is None


def test_differences_between_the_cursors(shown: Callable[[int], LiveView], history: History) -> None:
    view = shown(1000)
    view.refresh(history)
    forces = _forces(view)
    forces.pinned.emit(1.0)
    assert forces.mark.isVisible() and forces.mark.value() == 1.0 and not forces.cursor.isVisible()
    assert view.moment.text() == "1.000 s, cursor A"
    forces.pointed.emit(2.5)
    view.refresh(history)
    assert view.moment.text() == "2.500 s, cursor B\nΔt = B − A = +1.500 s"
    difference = f"{np.sin(2.5) - np.sin(1.0):.1f}".replace("-", "−")
    text = forces.header.text()
    assert "B − A" in text and f">3</b></span>&nbsp;{difference}/\u2060{difference}" in text
    forces.pinned.emit(0.5)
    forces.pointed.emit(None)
    view.refresh(history)
    assert "Δt = B − A = −0.500 s" in view.moment.text()
    forces.pinned.emit(0.5)
    forces.pointed.emit(None)
    view.refresh(history)
    assert not forces.mark.isVisible() and view.moment.text() == "5.998 s, newest"
    assert "B − A" not in forces.header.text()


def test_the_mouse_sets_a_cursor(qtbot: QtBot, shown: Callable[[int], LiveView], history: History) -> None:
    view = shown(1000)
    view.refresh(history)
    forces = _forces(view)
    middle = forces.plot.mapFromScene(forces.view.sceneBoundingRect().center())
    qtbot.mouseClick(forces.plot.viewport(), QtCore.Qt.MouseButton.LeftButton, pos=middle)
    assert view.cursors.a == pytest.approx(sum(forces.span) / 2, abs=0.05)
