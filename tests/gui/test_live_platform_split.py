"""The platform beside the curves."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from live_rows import RATE, live_rows
from live_views import panel_of
from pytestqt.qtbot import QtBot
from shell_support import FakeSession, make_settings

from gui.live import LiveView
from gui.live.platform_view import PlatformView
from gui.live.plot_page import PlotPage
from gui.live.plot_panel import PlotPanel
from gui.models.timeline import History
from gui.shell.main_window import MainWindow
from gui.widgets.theme import LIGHT


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
    assert view.platform_split.drawn is not None and view.platform_split.drawn.picture.scene is not None
    return float(view.platform_split.drawn.picture.scene.origin[0])


def test_a_wide_window_shows_it_and_a_narrow_one_does_not(live_view: Callable[[int, int], LiveView]) -> None:
    assert live_view(1700, 700).platform_split.drawn is not None
    narrow = live_view(1000, 700)
    assert narrow.platform_split.platform is None and not narrow.bar.platform.isChecked()
    narrow.resize(1700, 700)
    assert narrow.bar.platform.isChecked() and narrow.platform_split.drawn is not None


def test_who_chooses_is_obeyed_at_any_width(live_view: Callable[[int, int], LiveView]) -> None:
    view = live_view(1700, 700)
    view.bar.platform.click()
    assert view.platform_split.drawn is None
    view.resize(1800, 700)
    assert view.platform_split.drawn is None
    view.bar.platform.click()
    view.resize(1000, 700)
    assert view.platform_split.drawn is not None


def test_it_follows_the_newest_row_and_the_cursor(live_view: Callable[[int, int], LiveView], history: History) -> None:
    view = live_view(1700, 700)
    for _ in range(2):
        history.append(live_rows(1, len(history)))
        view.refresh(history)
    assert _origin(view) == pytest.approx(0.011)
    panel_of(view, "Forces").hovered.emit(2.0)
    view.refresh(history)
    assert _origin(view) == pytest.approx(1e-5 * 2.0 * RATE)
    assert view.platform_split.drawn is not None and "2.000 s" in view.platform_split.drawn.pose.text()
    panel_of(view, "Forces").hovered.emit(None)
    view.refresh(history)
    assert _origin(view) == pytest.approx(0.011)


def test_what_is_hidden_is_not_drawn(
    monkeypatch: pytest.MonkeyPatch, live_view: Callable[[int, int], LiveView], history: History
) -> None:
    view = live_view(1700, 700)
    view.refresh(history)
    drawn: list[object] = []
    monkeypatch.setattr(PlatformView, "show_row", lambda platform, *_args, **_kept: drawn.append(platform))
    view.bar.platform.click()
    history.append(live_rows(10, 3000))
    view.refresh(history)
    assert drawn == []
    view.bar.platform.click()
    assert drawn  # at once, although nothing new has come


def test_its_place_is_kept(live_view: Callable[[int, int], LiveView], tmp_path: Path) -> None:
    settings = make_settings(tmp_path)
    first = live_view(1000, 700)
    first.save(settings, "live")
    assert not settings.contains("live/platform beside")  # nobody has chosen anything
    first.bar.platform.click()
    first.platform_split.setSizes([350, 380])
    sizes = first.platform_split.sizes()
    first.save(settings, "live")
    second = live_view(1000, 700)
    second.restore(settings, "live")
    assert second.bar.platform.isChecked() and second.platform_split.sizes() == sizes
    second.bar.platform.click()
    second.save(settings, "live")
    wide = live_view(1700, 700)
    wide.restore(settings, "live")
    assert not wide.bar.platform.isChecked() and wide.platform_split.drawn is None


def test_the_main_window_keeps_both_places(
    whole_window: MainWindow, session: FakeSession, qtbot: QtBot, tmp_path: Path
) -> None:
    assert not whole_window.views.live.bar.platform.isChecked()  # 1280 px
    whole_window.tabs.setCurrentWidget(whole_window.views.live_page)
    whole_window.views.live.bar.platform.click()
    assert whole_window.views.live.platform_split.drawn is not None
    assert whole_window.width() == 1280  # there is room for both
    whole_window.close_now()
    other = MainWindow(FakeSession(session.config, tmp_path), make_settings(tmp_path))
    try:
        qtbot.waitUntil(lambda: other.complete, timeout=60_000)
        assert other.views.live.bar.platform.isChecked() and not other.views.recordings.live.bar.platform.isChecked()
        assert other.views.live.models._coulomb_speed == session.config.control.coulomb_speed
    finally:
        other.close_now()


def test_it_takes_theme_and_mechanism_along(live_view: Callable[[int, int], LiveView], history: History) -> None:
    view = live_view(1700, 700)
    view.refresh(history)
    view.set_theme(LIGHT)
    assert not view.grab().isNull()
    view.set_mechanism(None)
    assert view.platform_split.drawn is not None and view.platform_split.drawn.pose.text() == "No mechanism"
