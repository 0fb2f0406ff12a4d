"""The picture of a scene: ground and shadows, what OpenGL draws over them, and the marks; turned with mouse and keys.

A QOpenGLWidget would make Qt compose the whole window through OpenGL, plots included: without a graphics processor that
costs several times what the picture itself does.
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

_TURN = 0.008  # rad a px
_STEP = math.radians(10.0)
"""turned by an arrow key"""
_WHEEL = 0.999
"""of the distance, a unit of the wheel's angle"""
_ZOOM = 0.87
"""of the distance, for a key"""
_SHADOW, _STREAK = 0.11, 0.05
"""half of the width over which the platform's shadow fades, and the width of a leg's, of the machine's radius"""


@dataclass(frozen=True, slots=True, eq=False)
class Content:
    """What a picture shows, made of what is drawn and where it throws shadows on the ground, (n, 3) m each."""

    solids: Solids = field(default_factory=lambda: np.zeros(0, SOLID))
    meshes: Sequence[Placed] = ()
    marks: Sequence[Mark] = ()
    shadow: Floats | None = None
    streaks: Floats | None = None
    """(n, 2, 3) m, on the ground"""


class Canvas(QtWidgets.QWidget):
    """Shows a `Content` as its camera sees it, and a `Handle` over it, which the left button drags.

    `looked` is emitted when somebody has turned, moved or zoomed it; `taken(part)` when a part of the handle was taken,
    `dragged(part, amount)` with how far it is dragged since then, m or rad, and `dropped` when it was let go.
    """

    looked = QtCore.Signal()
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
        """what further keys do"""
        self._renderer = Renderer()
        self.destroyed.connect(self._renderer.close)
        self._backdrop: tuple[object, QtGui.QImage] | None = None
        self._apart: tuple[object, QtGui.QImage] | None = None
        """the backdrop of pictures of their own"""
        self._dragged = QtCore.QPoint()
        self._handle: Handle | None = None
        self._drag: Drag | None = None
        self._lit = ""
        """the part of the handle that is under the pointer, or is dragged"""

    @property
    def handle(self) -> Handle | None:
        """What can be dragged; None: nothing."""
        return self._handle

    @property
    def dragging(self) -> bool:
        """Whether somebody drags a part of the handle."""
        return self._drag is not None

    def show_handle(self, handle: Handle | None) -> None:
        """Show a handle, or none any more; one that is dragged is dragged on."""
        self._handle = handle
        if handle is None:
            self._end_drag()
            self._light("")
        self.setMouseTracking(handle is not None)
        self.update()

    def show_content(self, content: Content) -> None:
        """Show this; drawn once somebody can see it."""
        self.content = content
        self.update()

    def place_of(self, points: Floats) -> list[QtCore.QPointF]:
        """Where points (n, 3) m are seen, px of the widget."""
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
        """What is shown, or another content, as a picture of its own, px, its letters so many times as large."""
        image = QtGui.QImage(*size, QtGui.QImage.Format.Format_RGB32)
        painter = QtGui.QPainter(image)
        kept, self._backdrop = self._backdrop, self._apart
        self._paint(painter, size, letters, content or self.content, fine=True)
        self._backdrop, self._apart = kept, self._backdrop
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
        if self._handle is not None and not fine:  # over everything: what is seen can be taken
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
        """The backdrop, painted anew only where somebody looks from elsewhere."""
        camera, ground = self.camera, self.ground
        looks = (camera.azimuth, camera.elevation, camera.distance, *camera.target, size, self.theme.name, id(ground))
        if self._backdrop is None or self._backdrop[0] != looks:
            if ground is None:
                image = QtGui.QImage(*size, QtGui.QImage.Format.Format_RGB32)
                image.fill(QtGui.QColor(self.theme.surface))
            else:
                image = paint_backdrop(size, camera, self.theme, ground)
            self._backdrop = looks, image
        return self._backdrop[1]

    def _paint_shadows(self, painter: QtGui.QPainter, size: tuple[int, int], content: Content) -> None:
        if self.ground is None or content.shadow is None:
            return
        radius = self.ground.radius
        if content.streaks is not None:
            paint_streaks(painter, size, self.camera, self.theme, content.streaks, _STREAK * radius)
        paint_shadow(painter, size, self.camera, self.theme, content.shadow, _SHADOW * radius)

    # -- looking from elsewhere --------------------------------------------------------------------------------------

    def mousePressEvent(self, event: QtGui.QMouseEvent) -> None:
        """Take the part of the handle that is there; else begin to turn or move."""
        self._dragged = event.pos()
        plain = event.modifiers() == QtCore.Qt.KeyboardModifier.NoModifier
        if event.button() == QtCore.Qt.MouseButton.LeftButton and plain and (part := self._part_at(event.pos())):
            assert self._handle is not None
            self._drag = Drag(self._handle, part, self.camera, *self._where(event.pos()))
            self._light(part)
            self.taken.emit(part)

    def mouseMoveEvent(self, event: QtGui.QMouseEvent) -> None:
        """Drag what was taken; else turn with the left button; move with the others, or with Ctrl."""
        if self._drag is not None and not event.buttons() & QtCore.Qt.MouseButton.LeftButton:
            self._end_drag()  # it came up where nobody told so
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
        self._look()

    def mouseReleaseEvent(self, event: QtGui.QMouseEvent) -> None:
        """Let go of what was dragged."""
        if event.button() == QtCore.Qt.MouseButton.LeftButton:
            self._end_drag()
            self._light(self._part_at(event.pos()))

    def leaveEvent(self, event: QtCore.QEvent) -> None:
        """Nothing is under a pointer that is gone."""
        super().leaveEvent(event)
        if self._drag is None:
            self._light("")

    def _where(self, place: QtCore.QPoint) -> tuple[tuple[float, float], tuple[float, float]]:
        """The picture's size and a place on it, px."""
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
        """Go nearer or farther."""
        self.camera.zoom(_WHEEL ** event.angleDelta().y())
        event.accept()
        self._look()

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        """Turn by arrows, go nearer and farther by + and −."""
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
        self._look()

    def _look(self) -> None:
        self.update()
        self.looked.emit()
