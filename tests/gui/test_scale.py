"""The size of everything: chosen, kept, applied at the next start, and refused where STOP would be out of view."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from motion_support import look_first
from pyqtgraph.Qt import QtCore, QtWidgets

from gui import screen
from gui.shell.main_window import MainWindow

_SAID = "from gui.screen import make_application; app = make_application(); print(app.primaryScreen().size().width())"


@pytest.fixture(autouse=True)
def own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of the test's own, and an environment that says nothing of sizes."""
    path = tmp_path / "gui.ini"
    monkeypatch.setattr(screen, "app_settings", lambda: QtCore.QSettings(str(path), QtCore.QSettings.Format.IniFormat))
    for name in ("QT_SCALE_FACTOR", "STEWART_RIG_SCALE"):
        monkeypatch.delenv(name, raising=False)
    return path


def test_a_choice_is_kept_and_said(window: MainWindow, own_settings: Path) -> None:
    assert window.menus.view.scales[1.0].isChecked()
    window.menus.view.scales[1.5].trigger()
    assert screen.saved_scale() == 1.5 and "scale=1.5" in own_settings.read_text()
    assert window.banner.notice.text() == "The scale of 150 % applies when the app is started again."


@pytest.mark.parametrize(("written", "taken"), [("2.0", 2.0), ("7", 1.0), ("nan", 1.0), ("large", 1.0)])
def test_what_somebody_wrote_into_the_file_is_not_believed(own_settings: Path, written: str, taken: float) -> None:
    own_settings.write_text(f"[General]\nscale={written}\n")
    assert screen.saved_scale() == taken


def test_sizes_that_the_screen_has_no_room_for_are_refused(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    full_hd, small = QtCore.QSize(1920, 1080), QtCore.QSize(800, 600)
    assert [factor for factor in screen.SCALES if not screen.obstacle(factor, full_hd)] == [1.0, 1.25, 1.5]
    assert [factor for factor in screen.SCALES if not screen.obstacle(factor, QtCore.QSize(3840, 2160))] == [
        *screen.SCALES
    ]
    assert screen.obstacle(1.0, small) == "" and "800 × 600 px" in screen.obstacle(1.25, small)
    monkeypatch.setenv("QT_SCALE_FACTOR", "1.5")
    monkeypatch.setenv("STEWART_RIG_SCALE", "1.5")  # of 1920 × 1080 there are 1280 × 720 left
    assert [factor for factor in screen.SCALES if not screen.obstacle(factor, QtCore.QSize(1280, 720))] == [
        1.0,
        1.25,
        1.5,
    ]
    monkeypatch.delenv("STEWART_RIG_SCALE")
    window.menus.view._update_sizes()
    action = window.menus.view.scales[2.0]
    assert not action.isEnabled() and action.toolTip() == "QT_SCALE_FACTOR of the environment says the size"


@pytest.mark.parametrize(("kept", "part"), [(1.5, 1.5), (3.0, 1.0)], ids=["applied", "too large for this screen"])
def test_the_next_start_applies_it_where_it_fits(tmp_path: Path, kept: float, part: float) -> None:
    assert _width(tmp_path, f"scale={kept}") == round(_width(tmp_path, "") / part)


def test_a_screen_that_is_too_small_for_any_size_begins_at_1_and_not_for_ever(tmp_path: Path) -> None:
    small = {"QT_QPA_PLATFORM": "offscreen"}  # 800 px wide
    assert _width(tmp_path, "scale=1.5", small) == _width(tmp_path, "", small) < screen.LEAST.width()


def _width(folder: Path, kept: str, environment: dict[str, str] | None = None) -> int:
    """px of the app's own that the screen has after a start with these settings."""
    path = folder / "stewart-rig" / "gui.ini"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"[General]\n{kept}\n")
    done = subprocess.run(
        [sys.executable, "-c", _SAID],
        env=os.environ | {"XDG_CONFIG_HOME": str(folder)} | (environment or {}),
        capture_output=True,
        text=True,
        timeout=60.0,
        check=True,
    )
    return int(done.stdout)


def test_the_window_fills_the_screen_and_comes_back(window: MainWindow) -> None:
    window.menus.view.whole.trigger()
    assert window.isFullScreen() and window.menus.view.whole.isChecked()
    window.menus.view.whole.trigger()
    assert not window.isFullScreen() and not window.menus.view.whole.isChecked()


def test_one_press_leaves_a_full_screen_that_the_menu_has_not_begun(window: MainWindow) -> None:
    window.showFullScreen()  # as it was left the last time, say
    window.menus.view.aboutToShow.emit()
    assert window.menus.view.whole.isChecked()
    window.menus.view.whole.trigger()
    assert not window.isFullScreen() and not window.menus.view.whole.isChecked()


def test_in_the_least_window_no_page_is_scrolled_sideways(whole_window: MainWindow, qtbot: Any) -> None:
    whole_window.resize(screen.LEAST)
    look_first(whole_window.motion, qtbot)  # which has its curves made
    tabs, room = whole_window.tabs, whole_window.centralWidget().splitter.widget(1).viewport()
    for index in range(tabs.count()):
        tabs.setCurrentIndex(index)
        QtWidgets.QApplication.processEvents()
        assert whole_window.size() == screen.LEAST
        assert tabs.minimumSizeHint().width() <= room.width(), tabs.tabText(index)
