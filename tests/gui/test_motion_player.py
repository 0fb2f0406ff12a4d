"""A motion in space: its rows, how it is played, the space that it needs, and where it stands in the panel."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from live_rows import live_rows
from pyqtgraph.Qt import QtWidgets
from pytestqt.qtbot import QtBot

from gui.models import FRAMES, Preview, preview_motion
from gui.models.timeline import History
from gui.motion.preview_views import MotionPlayer, PreviewViews
from gui.scene import Figure, force_scale
from gui.scene.arrows import way
from gui.shell.main_window import MainWindow
from gui.widgets.theme import DARK
from kinematics import leg_lengths
from rig.config.rig_config import load_config

CONFIG = load_config("virtual")
HISTORY = History(1)
PLATE = Figure(CONFIG.machine).platform_ring
HOME = CONFIG.machine.geometry.home_pose[:3]


def motion(height: float) -> dict[str, object]:
    part = {"type": "minimum-jerk", "start": [0.0] * 6, "end": [0.01, 0.0, height, 0.0, 0.0, 0.1], "duration": 1.0}
    return {"frame": "home", "pivot": [0.0] * 3, "parts": [part]}


@pytest.fixture(scope="module")
def preview() -> Preview:
    """A second upwards, a centimetre aside."""
    return preview_motion(CONFIG, motion(0.02), Path(), 1.0, PLATE)


@pytest.fixture
def sight(qtbot: QtBot) -> Iterator[tuple[MotionPlayer, list[float]]]:
    """In view; what it takes for the present, s, is the list's only number."""
    now = [0.0]
    made = MotionPlayer(CONFIG, DARK, clock=lambda: now[0])
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.show()
    yield made, now
    made.view.close_worker()


def test_rows_are_what_the_model_expects(preview: Preview) -> None:
    rows, curves = preview.rows, preview.curves
    assert rows is not None and curves is not None and preview.swept is not None
    assert (rows["t"][0], rows["t"][-1]) == (0.0, pytest.approx(1.0))
    assert np.diff(rows["t"]).max() == pytest.approx(1 / FRAMES, rel=0.1)
    np.testing.assert_allclose(rows["pose"][-1, :3], HOME + np.array([0.01, 0.0, 0.02]))
    np.testing.assert_allclose(rows["length"], leg_lengths(CONFIG.machine.geometry, rows["pose"]), atol=1e-12)
    assert np.abs(rows["force_model"]).max() == pytest.approx(np.abs(curves.forces).max(), rel=0.02)
    assert np.isnan(rows["force_measured"]).all() and np.isnan(rows["reference"]).all()
    np.testing.assert_allclose(preview.swept.rings, Figure(CONFIG.machine).rings(rows["pose"]))


def test_a_motion_that_cannot_be_evaluated_has_no_rows(sight: tuple[MotionPlayer, list[float]]) -> None:
    impossible = preview_motion(CONFIG, motion(0.02) | {"parts": [{"type": "nothing"}]}, Path(), 1.0, PLATE)
    assert impossible.rows is None and impossible.fault
    view, _now = sight
    view.show_preview(impossible)
    assert not view.bar.isEnabled() and "no motion that can be evaluated" in view.bar.toolTip()


def test_it_plays_with_the_clock(sight: tuple[MotionPlayer, list[float]], preview: Preview) -> None:
    view, now = sight
    view.show_preview(preview)
    scene = view.view.picture.scene
    assert scene is not None and scene.present
    np.testing.assert_allclose(scene.origin, HOME)
    view.bar.play.click()
    for t in (0.0, 0.5, *[2.0] * 5):  # numbers change less often than the picture
        now[0] = t
        view.refresh(HISTORY)
    scene = view.view.picture.scene
    assert scene is not None and scene.origin[2] == pytest.approx(0.47)
    assert view.replay is not None and not view.replay.playing and view.bar.play.text() == "Play"
    assert view.view.colouring.currentText() == "expected force"
    assert "1.000 s" in view.view.pose.text()


def test_while_its_motion_runs_the_machine_is_shown_as_it_moves(
    sight: tuple[MotionPlayer, list[float]], preview: Preview
) -> None:
    view, _now = sight
    live = History(10)
    view.show_preview(preview)
    view.bar.play.click()
    view.show_present(None, live=True)  # on the way to its start
    view.refresh(live)  # nothing is measured yet
    assert view.view.picture.scene is not None
    np.testing.assert_allclose(view.view.picture.scene.origin, HOME)
    live.append(live_rows(3))
    view.show_present(0.4, live=True)
    view.refresh(live)
    scene, replay = view.view.picture.scene, view.replay
    np.testing.assert_allclose(scene.origin, [0.011, 0.02, 0.45])
    assert scene.command_pose is not None and scene.command_pose[0] == 0.01  # its ghost
    assert replay is not None and not replay.playing and view.bar.time.value() == pytest.approx(0.4)
    assert not view.bar.isEnabled()  # it says where the motion is
    view.show_present(None, live=False)
    view.refresh(live)
    np.testing.assert_allclose(view.view.picture.scene.origin, replay.excerpt.rows[-1]["pose"][:3])
    assert replay.position == pytest.approx(0.4) and view.bar.isEnabled()  # where it was left


def test_a_refused_motion_is_shown_at_its_worst_and_the_scale_holds_all_of_it(
    sight: tuple[MotionPlayer, list[float]], preview: Preview
) -> None:
    view, _now = sight
    refused = preview_motion(CONFIG, motion(0.15), Path(), 1.0, PLATE)
    assert refused.verdict is not None and not refused.verdict.passed
    view.show_preview(refused)
    scene = view.view.picture.scene
    assert scene is not None and np.nanmax(scene.uses[:, 0]) > 1.0
    assert view.replay is not None and view.bar.time.value() == pytest.approx(view.replay.position)
    view.show_preview(preview)
    assert preview.rows is not None and view.replay.position == 0.0
    assert view.view.bar.scale == force_scale(float(np.abs(preview.rows["force_model"]).max()))


def test_the_required_space_is_shown(sight: tuple[MotionPlayer, list[float]], preview: Preview) -> None:
    view, _now = sight
    view.show_preview(preview)
    assert preview.swept is not None
    low, high = (1e3 * f(preview.swept.rings[..., 2]) for f in (np.min, np.max))
    assert f"z {low:.0f} … {high:.0f} mm" in view.envelope.text()
    assert view.envelope.text().startswith("The plate's edge stays within x −")


def test_the_way_of_the_platform_is_drawn_in_the_box_that_it_stays_in(preview: Preview) -> None:
    figure, rows = Figure(CONFIG.machine), preview.rows
    assert rows is not None
    places = figure.points(rows["pose"])
    drawn = way(figure, rows["pose"], DARK)
    line, box = drawn[:-12], drawn[-12:]
    np.testing.assert_allclose(line["begin"], places[:-1], atol=1e-6)
    np.testing.assert_allclose(line["end"], places[1:], atol=1e-6)
    corners = np.concatenate([box["begin"], box["end"]])
    np.testing.assert_allclose(corners.min(axis=0), places.min(axis=0), atol=1e-6)
    np.testing.assert_allclose(corners.max(axis=0), places.max(axis=0), atol=1e-6)
    spans = np.sort(np.linalg.norm(box["end"] - box["begin"], axis=1))
    np.testing.assert_allclose(spans, np.repeat(np.sort(np.ptp(places, axis=0)), 4), atol=1e-6)
    assert len(way(figure, np.tile(rows["pose"], (50, 1)), DARK)) < 800


def test_both_views_stand_beside_each_other_where_there_is_room(qtbot: QtBot) -> None:
    sights = PreviewViews(CONFIG, DARK)
    qtbot.addWidget(sights)
    sights.resize(600, 500)
    sights.show()
    assert sights.currentWidget() is sights.tabs
    space = MotionPlayer(CONFIG, DARK)
    sights.show_in_space(space)
    assert [sights.tabs.tabText(index) for index in range(2)] == ["In space", "Curves"]
    sights.resize(1200, 500)
    assert sights.currentWidget() is sights.splitter and sights.splitter.count() == 2
    assert space.isVisible() and sights.plots.isVisible()
    sights.resize(600, 500)
    assert sights.currentWidget() is sights.tabs and sights.tabs.currentWidget() is space
    sights.close_worker()


def test_jog_and_motion_have_the_machine_once_the_window_is_complete(whole_window: MainWindow) -> None:
    window = whole_window
    assert window.motion.sights.space is window.views.pictures.motion
    for picture, panel in ((window.views.pictures.jog, window.jog), (window.views.pictures.motion, window.motion)):
        assert picture in window.views.clock.views
        window.tabs.setCurrentWidget(panel)
        assert picture.isVisible()
    assert not window.views.pictures.jog.isVisible()
    buttons = window.views.pictures.jog.findChildren(QtWidgets.QAbstractButton)
    assert all(button.accessibleName() for button in buttons)
