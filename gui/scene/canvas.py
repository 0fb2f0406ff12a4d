"""View of a scene: ground and shadows, the OpenGL picture over them, and marks; with mouse and key control.

A QOpenGLWidget would make Qt compose the whole window through OpenGL, including plots: without a GPU that costs several
times as much as the picture.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.models import Floats
from gui.scene.arrows import Mark, write_marks
from gui.scene.backdrop import Ground, paint_backdrop, paint_shadow, paint_streaks
from gui.scene.camera import Camera
from gui.scene.handle import Drag, Handle
from gui.scene.meshes import SOLID, Placed, Solids
from gui.scene.renderer import Renderer
from gui.texts import tr
from gui.widgets import Theme

_TURN = 0.008  # rad per px
_STEP = math.radians(10.0)
"""Rotation per arrow key."""
_WHEEL = 0.999
"""Distance factor per unit of the wheel's angle."""
_ZOOM = 0.87
"""Distance factor per key."""
_SHADOW, _STREAK = 0.11, 0.05
"""Half of the width over which the platform's shadow fades, and width of a leg's shadow, of the machine's radius."""


@dataclass(frozen=True, slots=True, eq=False)
class Content:
    """A drawn picture, and the outlines of its shadows on the ground, (n, 3) m each."""

    solids: Solids = field(default_factory=lambda: np.zeros(0, SOLID))
    meshes: Sequence[Placed] = ()
    marks: Sequence[Mark] = ()
    shadow: Floats | None = None
    streaks: Floats | None = None
    """Leg shadows, (n, 2, 3) m, on the ground."""


class Canvas(QtWidgets.QWidget):
    """Shows a `Content` from its camera, and a `Handle` over it, draggable with the left button.

    Signals: `camera_moved`: the user moved the camera; `taken(part)`: a part of the handle was grabbed; `dragged(part,
    amount)`: its displacement since then, m or rad; `dropped`: it was released.
    """

    camera_moved = QtCore.Signal()
    taken = QtCore.Signal(str)
    dragged = QtCore.Signal(str, float)
    dropped = QtCore.Signal()

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setAccessibleDescription(
            tr("Drag, or arrow keys: turn; right button: move; wheel, + and −: nearer, farther")
        )
        self.setFocusPolicy(QtCore.Qt.FocusPolicy.StrongFocus)
        self.setAttribute(QtCore.Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.camera = Camera()
        self.ground: Ground | None = None
        self.content = Content()
        self.theme = theme
        self.keys: dict[int, Callable[[], object]] = {}
        """Actions of further keys."""
        self._renderer = Renderer()
        self.destroyed.connect(self._renderer.close)
        self._backdrop: tuple[object, QtGui.QImage] | None = None
        self._apart: tuple[object, QtGui.QImage] | None = None
        """Cached backdrop of exported pictures."""
        self._dragged = QtCore.QPoint()
        self._handle: Handle | None = None
        self._drag: Drag | None = None
        self._lit = ""
        """Highlighted part of the handle, under the pointer or dragged."""

    @property
    def handle(self) -> Handle | None:
        """The handle; None: none."""
        return self._handle

    @property
    def dragging(self) -> bool:
        """Whether a part of the handle is being dragged."""
        return self._drag is not None

    def show_handle(self, handle: Handle | None) -> None:
        """Show a handle, or None; a drag in progress continues."""
        self._handle = handle
        if handle is None:
            self._end_drag()
            self._light("")
        self.setMouseTracking(handle is not None)
        self.update()

    def show_content(self, content: Content) -> None:
        """Show a content; drawn when visible."""
        self.content = content
        self.update()

    def place_of(self, points: Floats) -> list[QtCore.QPointF]:
        """Return the positions of points (n, 3) m, px of the widget."""
        return [QtCore.QPointF(x, y) for x, y in self.camera.picture(points, (self.width(), self.height())).tolist()]

    def paintEvent(self, _event: QtGui.QPaintEvent) -> None:
        """Draw."""
        ratio = self.devicePixelRatioF()
        size = (max(1, round(self.width() * ratio)), max(1, round(self.height() * ratio)))
        painter = QtGui.QPainter(self)
        painter.scale(1.0 / ratio, 1.0 / ratio)
        self._paint(painter, size, ratio, self.content)
        painter.end()

    def picture(self, size: tuple[int, int], letters: float = 1.0, content: Content | None = None) -> QtGui.QImage:
        """Return a separate picture of the current or another content, px, with text scaled by `letters`."""
        image = QtGui.QImage(*size, QtGui.QImage.Format.Format_RGB32)
        painter = QtGui.QPainter(image)
        backdrop, self._backdrop = self._backdrop, self._apart
        self._paint(painter, size, letters, content or self.content, fine=True)
        self._backdrop, self._apart = backdrop, self._backdrop
        painter.end()
        return image

    def _paint(
        self, painter: QtGui.QPainter, size: tuple[int, int], ratio: float, content: Content, *, fine: bool = False
    ) -> None:
        painter.drawImage(0, 0, self._ground(size))
        painter.setRenderHint(QtGui.QPainter.RenderHint.Antialiasing)
        self._paint_shadows(painter, size, content)
        rim = 0.16 if self.theme.name == "dark" else -0.22
        drawn = self._renderer.draw(self.camera, size, content.solids, content.meshes, rim=rim, fine=fine)
        if drawn is not None:
            painter.drawImage(drawn.corner, drawn.image)
        if self._handle is not None and not fine:  # always on top, so that a visible part can be grabbed
            handle = self._handle.solids(self.camera, self.theme, self._lit)
            drawn = self._renderer.draw(self.camera, size, handle, (), rim=rim)
            if drawn is not None:
                painter.drawImage(drawn.corner, drawn.image)
        if content.marks:
            places = self.camera.picture(np.array([mark.place for mark in content.marks]), size)
            font = QtGui.QFont(self.font())
            font.setPointSizeF(font.pointSizeF() * ratio)
            write_marks(painter, font, content.marks, [QtCore.QPointF(x, y) for x, y in places.tolist()])

    def _ground(self, size: tuple[int, int]) -> QtGui.QImage:
        """Return the backdrop, repainted only after camera changes."""
        camera, ground = self.camera, self.ground
        view_key = (
            camera.azimuth,
            camera.elevation,
            camera.distance,
            *camera.target,
            size,
            self.theme.name,
            id(ground),
        )
        if self._backdrop is None or self._backdrop[0] != view_key:
            if ground is None:
                image = QtGui.QImage(*size, QtGui.QImage.Format.Format_RGB32)
                image.fill(QtGui.QColor(self.theme.surface))
            else:
                image = paint_backdrop(size, camera, self.theme, ground)
            self._backdrop = view_key, image
        return self._backdrop[1]

    def _paint_shadows(self, painter: QtGui.QPainter, size: tuple[int, int], content: Content) -> None:
        if self.ground is None or content.shadow is None:
            return
        radius = self.ground.radius
        if content.streaks is not None:
            paint_streaks(painter, size, self.camera, self.theme, content.streaks, _STREAK * radius)
        paint_shadow(painter, size, self.camera, self.theme, content.shadow, _SHADOW * radius)

    # -- camera control and dragging ---------------------------------------------------------------------------------

    def mousePressEvent(self, event: QtGui.QMouseEvent) -> None:
        """Grab the handle's part under the pointer; otherwise begin to move the camera."""
        self._dragged = event.pos()
        plain = event.modifiers() == QtCore.Qt.KeyboardModifier.NoModifier
        if event.button() == QtCore.Qt.MouseButton.LeftButton and plain and (part := self._part_at(event.pos())):
            assert self._handle is not None
            self._drag = Drag(self._handle, part, self.camera, *self._where(event.pos()))
            self._light(part)
            self.taken.emit(part)

    def mouseMoveEvent(self, event: QtGui.QMouseEvent) -> None:
        """Drag the grabbed part; otherwise rotate with the left button, shift with the others or Ctrl."""
        if self._drag is not None and not event.buttons() & QtCore.Qt.MouseButton.LeftButton:
            self._end_drag()  # the release event was lost
        if self._drag is not None:
            amount = self._drag.to(self.camera, *self._where(event.pos()))
            if amount is not None:
                self.dragged.emit(self._drag.part, amount)
            return
        if not event.buttons():
            self._light(self._part_at(event.pos()))
            return
        moved, self._dragged = event.pos() - self._dragged, event.pos()
        buttons = QtCore.Qt.MouseButton
        shifting = event.buttons() & (buttons.MiddleButton | buttons.RightButton)
        if shifting or event.modifiers() & QtCore.Qt.KeyboardModifier.ControlModifier:
            side = max(1, min(self.width(), self.height()))
            self.camera.shift(-moved.x() / side, moved.y() / side)
        elif event.buttons() & buttons.LeftButton:
            self.camera.turn(_TURN * moved.x(), _TURN * moved.y())
        self._camera_moved()

    def mouseReleaseEvent(self, event: QtGui.QMouseEvent) -> None:
        """Release the dragged part."""
        if event.button() == QtCore.Qt.MouseButton.LeftButton:
            self._end_drag()
            self._light(self._part_at(event.pos()))

    def leaveEvent(self, event: QtCore.QEvent) -> None:
        """Clear the highlight."""
        super().leaveEvent(event)
        if self._drag is None:
            self._light("")

    def _where(self, place: QtCore.QPoint) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the picture's size and a position in it, px."""
        return (float(self.width()), float(self.height())), (float(place.x()), float(place.y()))

    def _part_at(self, place: QtCore.QPoint) -> str:
        return "" if self._handle is None else self._handle.at(self.camera, *self._where(place))

    def _light(self, part: str) -> None:
        if part != self._lit:
            self._lit = part
            if part:
                self.setCursor(QtCore.Qt.CursorShape.SizeAllCursor)
            else:
                self.unsetCursor()
            self.update()

    def _end_drag(self) -> None:
        if self._drag is not None:
            self._drag = None
            self.dropped.emit()

    def wheelEvent(self, event: QtGui.QWheelEvent) -> None:
        """Zoom."""
        self.camera.zoom(_WHEEL ** event.angleDelta().y())
        event.accept()
        self._camera_moved()

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        """Rotate with arrows, zoom with + and −."""
        keys, camera = QtCore.Qt.Key, self.camera
        plain = event.modifiers() in (QtCore.Qt.KeyboardModifier.NoModifier, QtCore.Qt.KeyboardModifier.KeypadModifier)
        if plain and event.key() in self.keys:
            self.keys[event.key()]()
            return
        match event.key():
            case keys.Key_Left:
                camera.turn(-_STEP, 0.0)
            case keys.Key_Right:
                camera.turn(_STEP, 0.0)
            case keys.Key_Up:
                camera.turn(0.0, _STEP)
            case keys.Key_Down:
                camera.turn(0.0, -_STEP)
            case keys.Key_Plus | keys.Key_Equal:
                camera.zoom(_ZOOM)
            case keys.Key_Minus:
                camera.zoom(1.0 / _ZOOM)
            case _:
                super().keyPressEvent(event)
                return
        self._camera_moved()

    def _camera_moved(self) -> None:
        self.update()
        self.camera_moved.emit()
