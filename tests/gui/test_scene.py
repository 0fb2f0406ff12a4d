"""The machine in space: camera, solids and meshes as OpenGL draws them, the figure's parts, limits, controls."""

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from live_rows import MECHANISM, live_rows
from pyqtgraph.Qt import QtCore, QtGui, QtWidgets
from pytestqt.qtbot import QtBot

from gui.live import PlatformView
from gui.live.platform_flat import PlatformFlat
from gui.live.platform_view import OverlayMenu
from gui.models import hull_faces
from gui.models.timeline import Floats
from gui.scene import (
    LIMITS,
    STROKE_SCALE,
    Colouring,
    Figure,
    LegPaint,
    Scene,
    gl_problem,
    limit_uses,
    make_scene,
    shapes_of,
    tightest,
)
from gui.scene.arrows import Mark, write_marks
from gui.scene.camera import VIEWPOINTS, Camera, focal
from gui.scene.meshes import SOLID, Placed, Solids, balls, hull, plate, solids
from gui.scene.renderer import Drawn, Renderer
from gui.widgets import FlowLayout
from gui.widgets.theme import DARK
from kinematics import angles_to_quaternion, leg_lengths
from rig.config.rig_config import load_config, parse_config

SIZE = (200, 160)
RED, GREEN = np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])
NO_SOLIDS: Solids = np.zeros(0, SOLID)
SQUARE = np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]])


@pytest.fixture
def renderer(qapp: QtWidgets.QApplication) -> Iterator[Renderer | None]:
    """None where there is no OpenGL."""
    made = None if gl_problem() else Renderer()
    yield made
    if made is not None:
        made.close()


@pytest.fixture
def view(qtbot: QtBot) -> Iterator[PlatformView]:
    made = PlatformView(DARK)
    qtbot.addWidget(made)
    made.set_mechanism(MECHANISM)
    made.resize(700, 500)
    with qtbot.waitExposed(made):
        made.show()
    made.show_row(live_rows(1)[0])
    yield made
    made.close_worker()


def pixels(drawn: Drawn | None) -> np.ndarray:
    """Blue, green, red and alpha, (height, width, 4)."""
    assert drawn is not None
    image = drawn.image
    bits = image.constBits()
    bits.setsize(image.sizeInBytes())
    return np.frombuffer(bits, np.uint8).reshape(image.height(), image.width(), 4)


def scene_of(pose: Floats, **fields: Floats) -> Scene:
    row = live_rows(1)[0]
    row["pose"], row["length"] = pose, leg_lengths(MECHANISM.geometry, pose)
    for name, values in fields.items():
        row[name] = values
    return make_scene(MECHANISM, row, LegPaint(Colouring.LEG, STROKE_SCALE, DARK))


@pytest.mark.parametrize("size", [(300, 200), (200, 300), (900, 200)])
@pytest.mark.parametrize("viewpoint", VIEWPOINTS)
def test_what_is_framed_just_fits(viewpoint: str, size: tuple[int, int]) -> None:
    points = np.random.default_rng(2).uniform([-1, -2, 0], [3, 1, 1], (50, 3))
    camera = Camera()
    camera.set_viewpoint(viewpoint)
    camera.frame(points, size)
    away = np.abs(camera.picture(points, size) / size - 0.5)  # from the middle, of the picture
    assert away.max() <= 0.5
    assert away.max() > 0.45


def test_views_look_from_where_their_names_say() -> None:
    camera = Camera()
    right, up = np.eye(2, 3), np.eye(3)[1:]
    for viewpoint, axes in (("Front", np.eye(3)[[0, 2]]), ("Side", up), ("Top", right)):
        camera.set_viewpoint(viewpoint)
        np.testing.assert_allclose(camera.axes[:2], axes, atol=1e-12)
    camera.turn(0.0, -10.0)
    assert camera.elevation == 0.0  # nobody looks from below the ground


def test_a_ball_covers_its_circle_with_smooth_edges(renderer: Renderer | None) -> None:
    if renderer is None:
        return
    camera, radius = Camera(distance=2.0), 0.1
    found = pixels(renderer.draw(camera, SIZE, balls(np.zeros((1, 3)), radius, RED), [], rim=0.0))
    seen = focal(SIZE) * radius / math.sqrt(camera.distance**2 - radius**2)
    assert found[..., 3].sum() / 255 == pytest.approx(math.pi * seen**2, rel=0.01)
    assert ((found[..., 3] > 20) & (found[..., 3] < 235)).sum() > seen  # its edge is not in steps
    middle = found[found.shape[0] // 2, found.shape[1] // 2]
    assert middle[2] > 100 and middle[2] > 2 * middle[1]


def test_a_rod_covers_its_shadow_and_no_more_is_drawn_than_it_takes(renderer: Renderer | None) -> None:
    if renderer is None:
        return
    camera = Camera(azimuth=-math.pi / 2, elevation=0.0, distance=2.0)
    rod = solids(np.array([[-0.2, 0.0, 0.1]]), np.array([[0.1, 0.0, 0.1]]), 0.02, RED)
    drawn = renderer.draw(camera, SIZE, rod, [], rim=0.0)
    assert drawn is not None
    scale = focal(SIZE) / 2.0
    area = scale**2 * (0.3 * 0.04 + math.pi * 0.02**2)
    assert pixels(drawn)[..., 3].sum() / 255 == pytest.approx(area, rel=0.02)
    assert drawn.image.width() < scale * 0.34 + 10 and drawn.image.height() < scale * 0.04 + 10
    assert drawn.corner.y() == pytest.approx(80 - scale * 0.12, abs=5)  # upwards on the picture is upwards
    camera.shift(5.0, 0.0)
    assert renderer.draw(camera, SIZE, rod, [], rim=0.0) is None
    assert renderer.draw(camera, SIZE, NO_SOLIDS, [], rim=0.0) is None


@pytest.mark.parametrize("fine", [False, True])
def test_what_is_nearer_hides_what_is_behind(renderer: Renderer | None, fine: bool) -> None:
    if renderer is None:
        return
    camera = Camera(elevation=math.pi / 2, distance=2.0)
    board = plate(0.3 * SQUARE, 0.01)
    for height, hidden in ((-0.2, True), (0.2, False)):
        ball = balls(np.array([[0.0, 0.0, height]]), 0.05, RED)
        placed = Placed(board, np.eye(3), np.zeros(3), GREEN)
        found = pixels(renderer.draw(camera, SIZE, ball, [placed], rim=0.0, fine=fine))
        middle = found[found.shape[0] // 2, found.shape[1] // 2]
        assert (middle[1] > middle[2]) == hidden
    both = balls(np.array([[0.0, 0.0, 0.1], [0.0, 0.0, -0.1]]), 0.05, np.array([RED, GREEN]))
    for pair in (both, both[::-1]):  # whichever comes first
        found = pixels(renderer.draw(camera, SIZE, pair, [], rim=0.0, fine=fine))
        middle = found[found.shape[0] // 2, found.shape[1] // 2]
        assert middle[2] > middle[1]


def test_what_is_light_alone_shines_through_what_is_in_front(renderer: Renderer | None) -> None:
    if renderer is None:
        return
    camera = Camera(elevation=math.pi / 2, distance=2.0)
    board = Placed(plate(0.3 * SQUARE, 0.01), np.eye(3), np.zeros(3), GREEN)
    behind = np.array([[0.0, 0.0, -0.2]])
    for glow, seen in ((0.99, False), (1.0, True)):
        ball = solids(behind, behind, 0.05, RED, alpha=0.9, glow=glow)
        found = pixels(renderer.draw(camera, SIZE, ball, [board], rim=0.0))
        middle = found[found.shape[0] // 2, found.shape[1] // 2]
        assert (middle[2] > 4.0 * middle[1]) == seen


def test_meshes_are_uploaded_once_and_given_back(renderer: Renderer | None) -> None:
    if renderer is None:
        return
    camera, board = Camera(), plate(0.3 * SQUARE, 0.01)
    for height in (0.0, 0.1):
        renderer.draw(camera, SIZE, NO_SOLIDS, [Placed(board, np.eye(3), np.array([0, 0, height]), RED)], rim=0.0)
        kept = renderer._meshes[board]
    assert renderer._meshes == {board: kept} and kept.corners == len(board.corners)
    renderer.draw(camera, SIZE, balls(np.zeros((1, 3)), 0.1, RED), [], rim=0.0)
    assert renderer._meshes == {}


def test_a_cylinder_stays_as_long_and_its_rod_reaches_the_platform() -> None:
    figure = Figure(MECHANISM)
    lengths = []
    for height in (0.40, 0.45, 0.52):
        scene = scene_of(np.array([0.0, 0.0, height, 1.0, 0.0, 0.0, 0.0]))
        parts = figure.solids(scene, DARK)
        tubes, rods = parts[:6], parts[12:18]
        lengths.append(np.linalg.norm(tubes["end"] - tubes["begin"], axis=1))
        np.testing.assert_allclose(rods["end"], scene.platform, atol=1e-6)
        np.testing.assert_allclose(rods["begin"], tubes["end"], atol=1e-6)
    np.testing.assert_allclose(lengths[1:], [lengths[0]] * 2, rtol=1e-5)
    shortest = [leg.limits.length[0] for leg in MECHANISM.legs if leg.limits and leg.limits.length]
    assert (lengths[0] < shortest).all()


def test_plates_follow_their_platform_and_the_command_is_a_ghost() -> None:
    figure = Figure(MECHANISM)
    pose = np.array([0.02, 0.0, 0.46, *angles_to_quaternion(np.radians([5.0, -4.0, 10.0]))])
    reference = np.full(19, np.nan)
    reference[:7] = pose
    reference[0] += 0.03
    scene = scene_of(pose, reference=reference)
    np.testing.assert_allclose(figure.rings(pose[None])[0], figure.placed_ring(scene), atol=1e-12)
    rim, ghost = figure.solids(scene, DARK)[-12:-6], figure.solids(scene, DARK)[-6:]
    assert (ghost["colour"][:, 3] < 1.0).all()
    assert (ghost["begin_radius"] > 1.2 * rim["begin_radius"]).all()  # it is seen where it lies on its platform too
    np.testing.assert_allclose(ghost["begin"], figure.rings(reference[None, :7])[0], atol=1e-6)
    (placed,) = figure.meshes(scene, DARK)  # the base's plate is painted with the ground
    np.testing.assert_array_equal(placed.origin, pose[:3])


def test_a_leg_near_a_limit_is_striped_and_says_which() -> None:
    home = MECHANISM.geometry.home_pose
    limits = MECHANISM.legs[2].limits
    assert limits is not None and limits.length is not None and limits.force is not None
    low, high = limits.length
    length = leg_lengths(MECHANISM.geometry, home)
    length[2] = low + 0.97 * (high - low)
    scene = scene_of(home, length=length, force_measured=np.array([0.0, 0.0, 0.0, 0.0, -1.05 * limits.force, np.nan]))
    np.testing.assert_allclose(scene.uses[2], [0.94, 0.0, 0.0, 0.0], atol=1e-6)
    found = tightest(scene.uses)
    assert [leg for leg in range(6) if (use := found[leg]) is not None and use.near] == [2, 4]
    assert (found[2].words, found[4].words) == ("stroke 94 %", "force 105 %")  # type: ignore[union-attr]
    stripes = Figure(MECHANISM).solids(scene, DARK)["stripes"][:6]
    assert [leg for leg in range(6) if stripes[leg] > 0] == [2, 4]


def test_warnings_of_legs_behind_each_other_stand_apart_the_worst_in_its_place(
    qapp: QtWidgets.QApplication,
) -> None:
    image = QtGui.QImage(400, 300, QtGui.QImage.Format.Format_RGB32)
    image.fill(QtCore.Qt.GlobalColor.black)
    chips = [
        Mark(f"⚠ {leg}: stroke 10{leg} %", np.zeros(3), "#000000", colour, moves=True)
        for leg, colour in enumerate(("#ff0000", "#00ff00", "#0000ff"))
    ]
    places = [QtCore.QPointF(200.0, 150.0), QtCore.QPointF(205.0, 152.0), QtCore.QPointF(195.0, 149.0)]
    painter = QtGui.QPainter(image)
    write_marks(painter, qapp.font(), chips, places)
    painter.end()
    found = pixels(Drawn(image, QtCore.QPoint(0, 0)))
    height = QtGui.QFontMetricsF(qapp.font()).height()
    middles = [float(np.argwhere(found[..., 2 - channel] == 255)[:, 0].mean()) for channel in range(3)]
    assert middles[0] == pytest.approx(150.0, abs=1.5)  # the one that came first
    assert min(abs(a - b) for a, b in combinations(middles, 2)) > height


def test_joint_angles_count_as_limits_and_what_has_no_limit_does_not() -> None:
    row = live_rows(1)[0]
    row["pose"] = [0.0, 0.0, 0.45, *angles_to_quaternion(np.radians([0.0, 0.0, 30.0]))]
    uses = limit_uses(MECHANISM, row, row["force_measured"])
    assert uses.shape == (6, len(LIMITS)) and (uses[:, 1:3] > 0.2).all()
    bare = replace(MECHANISM.legs[0], limits=None)
    free = limit_uses(replace(MECHANISM, legs=(bare,) * 6), row, row["force_measured"])
    assert np.isnan(free).all() and tightest(free) == [None] * 6


def test_the_hull_has_all_its_points_and_a_flat_one_is_none() -> None:
    points = np.random.default_rng(3).normal(size=(200, 3))
    faces = hull_faces(points)
    assert faces is not None
    mesh = hull(points, faces)
    triangles = mesh.corners[:, :3].reshape(-1, 3, 3).astype(float)
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    heights = np.einsum("mi,nmi->nm", normals, points[:, None] - triangles[:, 0])
    assert heights.max() < 1e-5  # all facets look outwards, with everything behind them
    assert hull_faces(points * [1.0, 1.0, 0.0]) is None


def test_keys_and_mouse_move_the_camera(view: PlatformView, qtbot: QtBot) -> None:
    picture = view.picture
    if isinstance(picture, PlatformFlat):
        return
    canvas, camera, keys = picture.view, picture.view.camera, QtCore.Qt.Key
    canvas.setFocus()
    for key, viewpoint in ((keys.Key_T, "Top"), (keys.Key_S, "Side"), (keys.Key_F, "Front"), (keys.Key_I, "Isometric")):
        qtbot.keyClick(canvas, key)
        assert (camera.elevation, camera.azimuth) == VIEWPOINTS[viewpoint]
    distance = camera.distance
    qtbot.keyClick(canvas, keys.Key_Plus)
    qtbot.keyClick(canvas, keys.Key_Left)
    assert camera.distance < distance and camera.azimuth > VIEWPOINTS["Isometric"][1]
    qtbot.keyClick(canvas, keys.Key_Home)
    assert camera.distance == pytest.approx(distance, rel=0.05)
    elevation = camera.elevation
    qtbot.mousePress(canvas, QtCore.Qt.MouseButton.LeftButton, pos=QtCore.QPoint(100, 100))
    moved = QtGui.QMouseEvent(
        QtCore.QEvent.Type.MouseMove,
        QtCore.QPointF(100, 120),
        QtCore.Qt.MouseButton.NoButton,
        QtCore.Qt.MouseButton.LeftButton,
        QtCore.Qt.KeyboardModifier.NoModifier,
    )
    QtWidgets.QApplication.sendEvent(canvas, moved)
    assert camera.elevation > elevation


def test_nothing_is_drawn_that_nobody_sees(view: PlatformView, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    picture = view.picture
    if isinstance(picture, PlatformFlat):
        return
    drawn: list[int] = []
    draw = Renderer.draw

    def counted(*args: Any, **kept: Any) -> Drawn | None:
        drawn.append(1)
        return draw(*args, **kept)

    monkeypatch.setattr(Renderer, "draw", counted)
    view.hide()
    view.show_row(live_rows(1, 5)[0])
    QtWidgets.QApplication.processEvents()
    assert drawn == []
    view.show()
    qtbot.waitUntil(lambda: bool(drawn), timeout=60_000)


def test_a_picture_is_saved_twice_as_fine(view: PlatformView, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "platform.png"
    shown = view.picture.size()
    view.export_picture(path)
    qtbot.waitUntil(lambda: view.pose.text() == "Saved platform.png", timeout=60_000)
    image = QtGui.QImage(str(path))
    assert (image.width(), image.height()) == (2 * shown.width(), 2 * shown.height())
    view.set_mechanism(None)
    assert view.save_picture.obstacle == "no mechanism is shown"


def test_what_is_shown_is_chosen_and_kept(view: PlatformView, tmp_path: Path) -> None:
    picture = view.picture
    settings = QtCore.QSettings(str(tmp_path / "kept.ini"), QtCore.QSettings.Format.IniFormat)
    view.menu.actions_["forces"].setChecked(False)
    view.menu.actions_["wrench"].setChecked(True)
    view.save(settings, "platform")
    other = OverlayMenu("", measured=True)
    other.restore(settings, "platform")
    assert not other.shown.forces and other.shown.wrench and other.shown.trail
    assert isinstance(picture, PlatformFlat) or picture.shown == other.shown
    without = OverlayMenu("the screen gives no OpenGL context", measured=True)
    assert not without.isEnabled() and "the screen gives no OpenGL" in without.toolTip()
    assert not OverlayMenu("", measured=False).actions_["wrench"].isEnabled()


def test_a_flow_goes_on_in_the_next_line(qtbot: QtBot) -> None:
    widget, flow = QtWidgets.QWidget(), FlowLayout(gap=4)
    qtbot.addWidget(widget)
    widget.setLayout(flow)
    for height in (10, 20, 10):
        part = QtWidgets.QWidget()
        part.setFixedSize(50, height)
        flow.addWidget(part)
    assert [flow.heightForWidth(width) for width in (158, 157, 50)] == [20, 34, 48]
    assert flow.minimumSize() == QtCore.QSize(50, 20)


def test_an_owners_shapes_are_shown_or_it_is_said_why_not(tmp_path: Path) -> None:
    (tmp_path / "platform.obj").write_text(
        "v 0 0 0\nv 200 0 0\nv 0 200 0\nv 0 0 50\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"
    )
    (tmp_path / "base.stl").write_bytes(b"not a shape")
    text = load_config("virtual").path.read_text(encoding="utf-8")
    text = text.replace('# platform = "platform.stl"', 'platform = "platform.obj"')
    config = parse_config(text.replace('# base = "base.obj"', 'base = "base.stl"'), tmp_path / "rig.toml")
    shapes, faults = shapes_of(config)
    assert shapes.base is None and shapes.platform is not None
    (fault,) = faults
    assert "plate is shown instead" in fault and f"{tmp_path / 'base.stl'}: 11 bytes are not an STL file" in fault
    figure, scene = Figure(MECHANISM, shapes), scene_of(MECHANISM.geometry.home_pose)
    (placed,) = figure.meshes(scene, DARK)
    assert placed.mesh is shapes.platform
    plates = Figure(MECHANISM)
    assert len(figure.solids(scene, DARK)) == len(plates.solids(scene, DARK)) - 6  # without the rim of a plate
    np.testing.assert_allclose(shapes.platform.bounds.max(axis=0), [0.2, 0.2, 0.05], atol=1e-7)
