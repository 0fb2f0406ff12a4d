"""The platform, in three dimensions where the screen has OpenGL, else in two."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
from configured import stroke
from live_rows import MECHANISM, live_rows
from live_views import out_of_picture, xy_of
from pyqtgraph.Qt import QtCore, QtGui, QtWidgets
from pytestqt.qtbot import QtBot

from gui.live import PlatformView, platform_view
from gui.live.platform_flat import PlatformFlat
from gui.models import LEG_COLOURS
from gui.models.timeline import Floats, History, Replay
from gui.scene import (
    STROKE_SCALE,
    Colouring,
    LegPaint,
    force_scale,
    gl_problem,
    leg_colours,
    make_scene,
    ring_order,
    strokes,
)
from gui.widgets.theme import DARK, LIGHT, Theme
from kinematics import Geometry, leg_lengths

SMALL = MECHANISM.geometry
LARGE = replace(
    MECHANISM,
    geometry=Geometry(
        3 * SMALL.base_points,
        SMALL.universal_axes,
        3 * SMALL.platform_points,
        SMALL.home_pose * [3, 3, 3, 1, 1, 1, 1],
    ),
)
"""three times as large"""
FIT = "Fit the platform into the picture"


@pytest.fixture
def shown(qtbot: QtBot) -> Iterator[Callable[[], PlatformView]]:
    """Makes views on the screen; they are held, for a window nobody holds may be collected while it is painted."""
    views = []

    def show() -> PlatformView:
        view = PlatformView(DARK)
        views.append(view)
        qtbot.addWidget(view)
        view.set_mechanism(MECHANISM)
        view.resize(700, 500)
        with qtbot.waitExposed(view):
            view.show()
        return view

    yield show
    for view in views:
        view.close()


def test_joints_are_a_legs_length_apart() -> None:
    pose = np.array([0.02, -0.01, 0.46, *(np.array([1, 0.05, -0.1, 0.2]) / np.linalg.norm([1, 0.05, -0.1, 0.2]))])
    joints = MECHANISM.geometry.platform_joints(pose)
    lengths = np.linalg.norm(joints - MECHANISM.geometry.base_points, axis=1)
    np.testing.assert_allclose(lengths, leg_lengths(MECHANISM.geometry, pose), rtol=1e-14)


def test_legs_are_coloured_by_force_and_by_stroke() -> None:
    row = live_rows(1)[0]
    row["force_measured"] = [-100, 0, 100, 50, np.nan, 100]
    colours = leg_colours(MECHANISM, row, LegPaint(Colouring.FORCE, force_scale(100), DARK))
    assert colours[0, 2] > colours[0, 0] and colours[2, 0] > colours[2, 2]  # pulling blue, pushing orange
    np.testing.assert_array_equal(colours[2], colours[5])
    low, high = stroke(MECHANISM.legs[0])
    row["length"] = low + (high - low) * np.array([0.0, 0.5, 1.0, 0.5, 0.5, 0.5])
    np.testing.assert_allclose(strokes(MECHANISM, row["length"]), [0, 50, 100, 50, 50, 50], atol=1e-9)
    colours = leg_colours(MECHANISM, row, LegPaint(Colouring.STROKE, STROKE_SCALE, DARK))
    np.testing.assert_allclose(colours[0], colours[2], atol=1e-6)
    assert colours[0, 0] > colours[0, 2] and colours[1, 2] > colours[1, 0]  # orange at the ends, blue between
    colours = leg_colours(MECHANISM, row, LegPaint(Colouring.LEG, STROKE_SCALE, DARK))
    assert [f"#{bytes((255 * c).round().astype(np.uint8)).hex()}".upper() for c in colours] == list(LEG_COLOURS)


def test_force_scale_has_round_ends() -> None:
    assert [force_scale(largest).high for largest in (0.0, np.nan, 1e-5, 0.3, 3.0, 10.0, 11.0, 73.0, 450.0)] == [
        1, 1, 0.01, 0.5, 5, 10, 20, 100, 500
    ]  # fmt: skip


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=lambda theme: theme.name)
@pytest.mark.parametrize("force", [-100.0, -50.0, 0.0, 50.0, 100.0])
def test_a_leg_is_seen_whatever_its_force(theme: Theme, force: float) -> None:
    row = live_rows(1)[0]
    row["force_measured"] = force
    colour = leg_colours(MECHANISM, row, LegPaint(Colouring.FORCE, force_scale(100), theme))[0]
    ground = np.frombuffer(bytes.fromhex(theme.surface[1:]), np.uint8) / 255
    bright, dark = sorted((_luminance(colour), _luminance(ground)), reverse=True)
    assert (bright + 0.05) / (dark + 0.05) >= 2.5


def _luminance(colour: Floats) -> float:
    linear = np.where(colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_ring_goes_round_the_platform_once() -> None:
    ring = ring_order(MECHANISM.geometry.platform_points)
    angles = np.unwrap(np.arctan2(ring[:, 1], ring[:, 0]))
    assert abs(angles[-1] - angles[0]) == pytest.approx(2 * np.pi)
    assert (np.diff(angles) > 0).all() or (np.diff(angles) < 0).all()


def test_without_a_measured_pose_the_platform_is_at_home_and_grey() -> None:
    row = live_rows(1)[0]
    row["pose"] = np.nan
    scene = make_scene(MECHANISM, row, LegPaint(Colouring.FORCE, STROKE_SCALE, DARK))
    assert not scene.known and scene.command is None
    np.testing.assert_array_equal(scene.origin, MECHANISM.geometry.home_pose[:3])
    assert len(np.unique(scene.colours, axis=0)) == 1


def test_view_follows_the_newest_row(shown: Callable[[], PlatformView]) -> None:
    view = shown()
    assert "at home" in view.pose.text()
    history = History(100)
    view.refresh(history)
    history.append(live_rows(10))
    for batch in range(1, 7):
        history.append(live_rows(10, 10 * batch))
        view.refresh(history)
    scene = view.picture.scene
    assert scene is not None and scene.known
    np.testing.assert_allclose(scene.origin, [0.011, 0.02, 0.45])
    assert scene.command is not None
    np.testing.assert_allclose(scene.command[0] - scene.platform[0], [-0.001, 0, 0], atol=1e-12)
    assert "x 11.00 mm" in view.pose.text() and "Running" in view.pose.text()
    assert view.bar.ends == ("−100 N", "100 N")
    view.colouring.setCurrentIndex(1)
    assert view.kind is Colouring.STROKE and view.bar.ends == ("0 %", "100 %")
    view.set_theme(LIGHT)
    assert not view.grab().isNull()
    view.set_mechanism(None)
    assert view.pose.text() == "No mechanism"


def test_a_platform_turned_by_a_right_angle_is_shown(shown: Callable[[], PlatformView]) -> None:
    view = shown()
    row = live_rows(1)[0]
    row["pose"][3:] = np.sqrt([0.5, 0.0, 0.5, 0.0])
    row["state"] = 99  # of a later program
    view.show_row(row)
    assert "θy 90.00°" in view.pose.text() and "0.000 s   99" in view.pose.text()


def test_what_is_forgotten_is_not_shown_any_more(shown: Callable[[], PlatformView]) -> None:
    view = shown()
    history = History(100)
    history.append(live_rows(10))
    view.refresh(history)
    assert view.picture.scene is not None and view.picture.scene.known
    history.clear()
    view.refresh(history)
    assert not view.picture.scene.known


def test_the_colours_of_a_replay_mean_the_same_from_its_first_row_on(shown: Callable[[], PlatformView]) -> None:
    view = shown()
    rows = live_rows(30)
    rows["force_measured"][20, 3], rows["force_measured"][25, 1] = -1234.0, np.nan
    replay = Replay(rows)
    for t in (replay.begin, replay.end, replay.begin):
        replay.seek(t)
        view.refresh(replay.excerpt)
        assert view.bar.ends == ("−2000 N", "2000 N")


def test_another_mechanism_is_framed_anew(shown: Callable[[], PlatformView]) -> None:
    view = shown()
    picture = view.picture
    if isinstance(picture, PlatformFlat):
        return
    picture.set_viewpoint("Side")
    camera = picture.view.camera
    distance, side = camera.distance, camera.azimuth
    view.show_row(live_rows(1)[0])
    assert camera.distance == distance
    view.set_mechanism(LARGE)
    assert camera.distance == pytest.approx(3 * distance, rel=0.01)
    assert camera.azimuth == side  # where somebody looks from stays


@pytest.mark.parametrize("size", [(700, 500), (1200, 400), (420, 700)])
@pytest.mark.parametrize("button", ["Isometric view", "Front view", "Side view", "Top view", FIT])
def test_every_view_has_the_platform_in_the_picture(
    qtbot: QtBot, shown: Callable[[], PlatformView], button: str, size: tuple[int, int]
) -> None:
    view = shown()
    view.resize(*size)
    row = live_rows(1)[0]
    row["pose"][:3] += [0.05, -0.04, 0.12]  # above home
    view.show_row(row)
    picture = view.picture
    if isinstance(picture, PlatformFlat):
        return
    picture.view.camera.zoom(0.3)  # as the wheel and the right button may have left it
    picture.view.camera.shift(0.4, 0.3)
    assert out_of_picture(view).max() > 0
    (pressed,) = (b for b in view.findChildren(QtWidgets.QToolButton) if b.accessibleName() == button)
    direction = picture.view.camera.azimuth
    qtbot.mouseClick(pressed, QtCore.Qt.MouseButton.LeftButton)
    assert out_of_picture(view).max() <= 0
    assert button != FIT or picture.view.camera.azimuth == direction


def test_what_is_not_the_present_any_more_is_grey_and_says_so(shown: Callable[[], PlatformView]) -> None:
    view = shown()
    view.show_row(live_rows(1)[0])
    assert "Running" in view.pose.text() and "last known" not in view.pose.text()
    view.set_past("The engine died")
    scene = view.picture.scene
    assert scene is not None and scene.known and scene.command is None
    assert len(np.unique(scene.colours, axis=0)) == 1
    assert "The engine died; last known: Running" in view.pose.text() and "x 11.00 mm" in view.pose.text()
    view.set_past("")
    assert scene is not view.picture.scene and "last known" not in view.pose.text()
    view.set_past("The engine died")
    view.show_row(None)
    assert view.pose.text() == "The engine died, pose not known: shown at home, in grey"


def test_the_screens_picture(shown: Callable[[], PlatformView]) -> None:
    """Under Xvfb the items are drawn through OpenGL; the offscreen platform gets the projections."""
    view = shown()
    view.show_row(live_rows(1)[0])
    if QtGui.QGuiApplication.platformName() == "offscreen":
        assert isinstance(view.picture, PlatformFlat)
        assert "offscreen" in gl_problem() and "offscreen" in view.picture.note.text()
        return
    assert gl_problem() == ""
    canvas = view.picture.view
    before = canvas.picture((600, 400))
    assert canvas.picture((600, 400)) == before  # nothing in it depends on what was drawn before
    view.picture.set_viewpoint("Top")
    assert canvas.picture((600, 400)) != before
    again = shown()  # a second one shares the context
    again.show_row(live_rows(1)[0])
    assert again.picture.view.picture((600, 400)) == before
    assert not view.grab().isNull()


@pytest.mark.parametrize("viewpoint", ["Isometric", "Front", "Side", "Top"])
def test_legs_and_axes_are_named_in_the_picture(shown: Callable[[], PlatformView], viewpoint: str) -> None:
    view = shown()
    view.show_row(live_rows(1)[0])
    picture = view.picture
    if isinstance(picture, PlatformFlat):
        return
    picture.set_viewpoint(viewpoint)
    assert picture.scene is not None
    marks = {mark.text: mark for mark in picture.view.content.marks}
    assert list(marks) == [*"123456", *"xyz"]
    places = picture.view.place_of(np.array([mark.place for mark in marks.values()]))
    seen = {text: xy_of(place) for text, place in zip(marks, places, strict=True)}
    joints = np.array([xy_of(point) for point in picture.view.place_of(picture.scene.base)])
    for leg in range(6):
        assert 8 < np.linalg.norm(seen[str(leg + 1)] - joints[leg]) < 60  # px: beside its joint, not on it
    shown_picture = view.grab().toImage()
    corner = picture.view.mapTo(view, QtCore.QPoint(0, 0))
    for text in "6y":
        x, y = (seen[text] + [corner.x(), corner.y()]).astype(int)
        around = {shown_picture.pixelColor(x + i, y + j).name() for i in range(-5, 6) for j in range(-7, 8)}
        assert (marks[text].ground or marks[text].colour).lower() in around
    view.set_theme(LIGHT)
    now = picture.view.content.marks
    assert [mark.ground for mark in now] == [*LEG_COLOURS, "", "", ""]
    assert [mark.colour for mark in now[6:]] == list(LIGHT.axis_colours())


def test_projections_where_there_is_no_gl(monkeypatch: pytest.MonkeyPatch, shown: Callable[[], PlatformView]) -> None:
    monkeypatch.setattr(platform_view, "gl_problem", lambda: "the screen gives no OpenGL context")
    view = shown()
    picture = view.picture
    assert isinstance(picture, PlatformFlat)
    assert picture.note.text() == "No 3-D view: the screen gives no OpenGL context. Front and top view instead."
    row = live_rows(1)[0]
    view.show_row(row)
    joints = MECHANISM.geometry.platform_joints(row["pose"])
    for projection, (across, up) in zip(picture.projections, ((0, 2), (0, 1)), strict=True):
        for leg, curve in enumerate(projection.legs):
            x, y = curve.getData()
            np.testing.assert_allclose(x, [MECHANISM.geometry.base_points[leg, across], joints[leg, across]])
            np.testing.assert_allclose(y, [MECHANISM.geometry.base_points[leg, up], joints[leg, up]])
    across = picture.projections[1].view.viewRange()
    view.set_mechanism(LARGE)
    np.testing.assert_allclose(picture.projections[1].view.viewRange(), 3 * np.array(across), rtol=0.01)
    assert "m" in picture.projections[0].plot.getAxis("bottom").labelText
    with pytest.raises(KeyError):
        picture.set_viewpoint("Top")
    view.set_theme(LIGHT)
