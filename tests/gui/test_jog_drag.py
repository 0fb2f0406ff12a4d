"""The target of the Jog page dragged in the picture of the machine: numbers, ghost, refusals; nothing moves by it."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from pyqtgraph.Qt import QtCore, QtGui, QtWidgets
from shell_support import LEFT, FakeSession, build_until, make_status, press

from gui.live.platform_flat import PlatformFlat
from gui.models.timeline import Floats
from gui.scene.canvas import Canvas
from gui.shell.main_window import MainWindow
from gui.widgets.theme import DARK
from kinematics import MotionTable, coordinates_to_pose, pose_to_coordinates, quaternion_to_matrix
from rig.client import jogged
from rig.runtime import ChildDiedError
from rig.states import State

EVENTS = QtCore.QEvent.Type
PATIENCE = 60_000  # ms; the first check on a machine compiles its kernels
TURNED = coordinates_to_pose(np.array([0.01, -0.02, 0.47, 0.05, -0.06, 0.3]))


@pytest.fixture
def jog(window: MainWindow, session: FakeSession, qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[MainWindow]:
    """The Jog page with the machine beside it, of a platform that is held; its target can be dragged.

    Nobody looks for free ranges, and what is looked into the target is known before the window goes.
    """
    monkeypatch.setattr(window.jog.finder, "ask", lambda _question: None)
    build_until(window, "live")  # the pictures alone
    session.take(make_status(State.ENGAGED, reference=tuple(TURNED.tolist())))
    window.tabs.setCurrentWidget(window.jog)
    QtWidgets.QApplication.processEvents()
    press(window.jog.drag.switch)
    yield window
    qtbot.waitUntil(lambda: not window.jog.drag._checking, timeout=PATIENCE)


def in_space(window: MainWindow) -> bool:
    """Whether the screen has OpenGL, and so a handle; without it there is none."""
    flat = isinstance(window.views.pictures.jog.picture, PlatformFlat)
    assert window.jog.drag.bar.isVisible() is not flat and window.jog.drag.switch.isEnabled() is not flat
    return not flat


def canvas(window: MainWindow) -> Canvas:
    shown = window.views.pictures.jog.picture.view
    assert isinstance(shown, Canvas)
    return shown


def send(view: Canvas, kind: Any, place: QtCore.QPointF, buttons: Any = LEFT) -> None:
    button = QtCore.Qt.MouseButton.NoButton if kind == EVENTS.MouseMove else LEFT
    plain = QtCore.Qt.KeyboardModifier.NoModifier
    where = QtCore.QPointF(view.mapToGlobal(place.toPoint()))
    QtWidgets.QApplication.sendEvent(view, QtGui.QMouseEvent(kind, place, where, button, buttons, plain))


def place_of(view: Canvas, point: Floats) -> QtCore.QPointF:
    return QtCore.QPointF(view.place_of(point[None])[0].toPoint())  # a pointer is at whole px


def pull(window: MainWindow, part: str, far: float) -> QtCore.QPointF:
    """Take an arrow near its end, and drag it so many metres along its axis; it is not let go. Where it was taken."""
    view = canvas(window)
    assert view.handle is not None
    tip, axis = view.handle.line(part)[-1], view.handle.axis(part)
    begun = place_of(view, tip)
    send(view, EVENTS.MouseButtonPress, begun)
    for step in (0.3, 1.0):
        send(view, EVENTS.MouseMove, place_of(view, tip + step * far * axis))
    return begun


def drop(window: MainWindow) -> None:
    none = QtCore.Qt.MouseButton.NoButton
    send(canvas(window), EVENTS.MouseButtonRelease, QtCore.QPointF(5.0, 5.0), none)


def numbers(window: MainWindow) -> Floats:
    return np.array([box.si() for box in window.jog.to.boxes])


def known(window: MainWindow, qtbot: Any) -> None:
    """What is asked of the target is answered."""
    drag = window.jog.drag
    qtbot.waitUntil(lambda: not drag._checking and drag._asked is not None, timeout=PATIENCE)


def test_a_drag_fills_the_numbers_and_moves_nothing_before_go(
    jog: MainWindow, session: FakeSession, qtbot: Any
) -> None:
    if not in_space(jog):
        return
    np.testing.assert_allclose(numbers(jog), pose_to_coordinates(TURNED), atol=1e-12)  # it begins where the platform is
    pull(jog, "z", 0.03)
    moved = numbers(jog) - pose_to_coordinates(TURNED)
    assert moved[2] == pytest.approx(0.03, abs=2e-3) and np.abs(np.delete(moved, 2)).max() < 1e-12  # 2 mm: 1 px
    assert "z +" in jog.jog.drag.words.text()
    handle = canvas(jog).handle
    assert handle is not None and handle.place[2] == pytest.approx(TURNED[2] + moved[2])  # it goes with the pointer
    drop(jog)
    known(jog, qtbot)
    assert session.sent == [] and not jog.motion.mover.active and session.held == []
    assert jog.jog.drag.refusal == "" and jog.jog.drag.go.isEnabled()
    press(jog.jog.drag.go)
    qtbot.waitUntil(lambda: bool(session.sent), timeout=PATIENCE)
    command, samples = session.sent[0][1:]
    assert command.name == "go to pose"
    np.testing.assert_allclose(MotionTable(command.step, samples).samples[-1, :6], numbers(jog), atol=1e-9)


def test_a_target_beyond_what_is_free_is_refused_and_not_bounded(
    jog: MainWindow, session: FakeSession, qtbot: Any
) -> None:
    if not in_space(jog):
        return
    ghost = canvas(jog).content.solids["colour"].copy()
    begun = pull(jog, "z", 0.4)
    assert numbers(jog)[2] == pytest.approx(TURNED[2] + 0.4, abs=0.02)
    qtbot.waitUntil(lambda: bool(jog.jog.drag.refusal), timeout=PATIENCE)
    assert "Refused: greatest length of leg" in jog.jog.drag.words.text()
    for button in (jog.jog.drag.go, jog.jog.to.go):
        assert not button.isEnabled() and "greatest length of leg" in button.obstacle
    assert not np.array_equal(canvas(jog).content.solids["colour"], ghost)  # it is seen in the picture, too
    send(canvas(jog), EVENTS.MouseMove, begun)  # back again
    qtbot.waitUntil(lambda: not jog.jog.drag.refusal, timeout=PATIENCE)
    assert jog.jog.to.go.isEnabled() and session.sent == []
    drop(jog)
    pull(jog, "z", 0.4)
    qtbot.waitUntil(lambda: bool(jog.jog.drag.refusal), timeout=PATIENCE)
    press(jog.jog.drag.switch)
    assert not jog.jog.drag.refusal and jog.jog.to.go.isEnabled() and canvas(jog).handle is None


def test_of_a_target_that_could_not_be_checked_nothing_is_known(
    jog: MainWindow, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not in_space(jog):
        return
    drag = jog.jog.drag
    pull(jog, "z", 0.4)
    qtbot.waitUntil(lambda: bool(drag.refusal) and not drag._checking, timeout=PATIENCE)

    def preview(answered: Any, *_arguments: object) -> None:
        QtCore.QTimer.singleShot(0, lambda: answered(None, ChildDiedError("the process has died")))

    monkeypatch.setattr(jog.motion.mover, "preview", preview)
    with qtbot.capture_exceptions() as raised:
        jog.jog.to.fill(TURNED)
        qtbot.waitUntil(lambda: not drag._checking, timeout=PATIENCE)
    assert [kind for kind, *_ in raised] == [ChildDiedError]  # for the log
    assert drag.refusal == "" and drag.go.isEnabled()  # Go checks the move again


def test_a_picture_that_changes_its_size_meanwhile_is_not_fitted_anew(jog: MainWindow) -> None:
    if not in_space(jog):
        return
    view = canvas(jog)
    jog.resize(jog.width(), jog.height() + 200)  # higher than wide: its width alone gives its scale
    QtWidgets.QApplication.processEvents()
    assert view.height() > view.width()
    begun = pull(jog, "z", 0.03)
    before = place_of(view, TURNED[None, :3][0]), view.size()
    jog.resize(jog.width(), jog.height() + 40)
    QtWidgets.QApplication.processEvents()
    assert view.height() > before[1].height()
    shifted = 0.5 * (view.height() - before[1].height())  # what is in the middle stays there
    send(view, EVENTS.MouseMove, begun + QtCore.QPointF(0.0, shifted))
    np.testing.assert_allclose(numbers(jog), pose_to_coordinates(TURNED), atol=4e-3)
    drop(jog)


def test_the_handle_has_the_frame_and_the_pivot_of_the_page(jog: MainWindow) -> None:
    if not in_space(jog):
        return
    jog.jog.steps.frame.setCurrentIndex(1)
    jog.jog.steps.pivot[0].set_si(0.1)
    handle, turn = canvas(jog).handle, quaternion_to_matrix(TURNED[3:])
    assert handle is not None
    np.testing.assert_allclose(handle.axes, turn, atol=1e-12)
    np.testing.assert_allclose(handle.place, TURNED[:3] + 0.1 * turn[:, 0], atol=1e-12)
    canvas(jog).taken.emit("rz")
    canvas(jog).dragged.emit("rz", 0.2)
    canvas(jog).dragged.emit("rz", 0.1)  # from where it was taken
    there = jogged(jog.session.config, TURNED, "rz", 0.1, "platform", (0.1, 0.0, 0.0))
    np.testing.assert_allclose(numbers(jog), pose_to_coordinates(there), atol=1e-9)
    after = canvas(jog).handle
    assert after is not None
    np.testing.assert_allclose(after.place, handle.place, atol=1e-9)  # the pivot stays where it is


def test_beside_the_handle_the_camera_turns(jog: MainWindow) -> None:
    if not in_space(jog):
        return
    view, before = canvas(jog), numbers(jog)
    assert view.handle is not None
    tip = place_of(view, view.handle.line("x")[-1])
    send(view, EVENTS.MouseMove, tip, QtCore.Qt.MouseButton.NoButton)
    assert view.cursor().shape() == QtCore.Qt.CursorShape.SizeAllCursor
    for place, turns in ((tip, False), (QtCore.QPointF(8.0, 8.0), True)):
        azimuth = view.camera.azimuth
        send(view, EVENTS.MouseButtonPress, place)
        send(view, EVENTS.MouseMove, place + QtCore.QPointF(12.0, 0.0))
        drop(jog)
        assert (view.camera.azimuth != azimuth) is turns
    assert not np.array_equal(numbers(jog), before)
    moved = numbers(jog)
    send(view, EVENTS.MouseButtonPress, place_of(view, view.handle.line("z")[-1]))
    send(view, EVENTS.MouseMove, QtCore.QPointF(9.0, 9.0), QtCore.Qt.MouseButton.NoButton)  # it came up elsewhere
    send(view, EVENTS.MouseMove, QtCore.QPointF(99.0, 99.0), QtCore.Qt.MouseButton.NoButton)
    np.testing.assert_array_equal(numbers(jog), moved)
    press(jog.jog.drag.switch)
    azimuth = view.camera.azimuth
    send(view, EVENTS.MouseButtonPress, tip)
    send(view, EVENTS.MouseMove, tip + QtCore.QPointF(12.0, 0.0))
    assert view.camera.azimuth != azimuth  # there is no handle any more


def test_numbers_that_are_typed_move_the_handle(jog: MainWindow) -> None:
    if not in_space(jog):
        return
    jog.jog.to.boxes[0].setValue(40.0)
    handle = canvas(jog).handle
    assert handle is not None and handle.place[0] == pytest.approx(0.04)
    press(jog.jog.to.here)
    handle = canvas(jog).handle
    assert handle is not None
    np.testing.assert_allclose(handle.place, TURNED[:3], atol=1e-12)


def test_a_target_that_no_field_can_have_is_said_and_left(jog: MainWindow) -> None:
    if not in_space(jog):
        return
    before = numbers(jog)
    canvas(jog).taken.emit("x")
    canvas(jog).dragged.emit("x", 1e9)
    np.testing.assert_array_equal(numbers(jog), before)
    assert "Target x: 1e+12 mm, must be at most" in jog.jog.drag.words.text()


def test_without_three_dimensions_it_says_why_not(window: MainWindow) -> None:
    flat = PlatformFlat(DARK, "the screen gives no OpenGL context")
    window.jog.drag.show_on(flat)
    assert not window.jog.drag.switch.isEnabled()
    assert "no OpenGL context. Enter the numbers of the target" in window.jog.drag.switch.toolTip()
    flat.deleteLater()
