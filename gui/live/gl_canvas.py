"""A canvas for pyqtgraph's 3-D items that draws beside the window and shows the picture.

A QOpenGLWidget would make Qt compose the whole window through OpenGL, plots included: without a graphics processor that
costs several times what the picture itself does.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from OpenGL import GL
from pyqtgraph.opengl.GLViewWidget import GLViewMixin, QtOpenGL
from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.session import Floats

HALF_SIGHT = 0.31
"""half of what the camera sees across the shorter side, as part of the distance"""


@dataclass(frozen=True, slots=True, eq=False)
class Mark:
    """A short text whose middle stands at a point (3,), m, in a colour."""

    text: str
    place: Floats
    colour: str


@cache
def _drawing_board() -> tuple[Any, Any]:
    """Context and surface of all canvases: pyqtgraph keeps its shaders for the first context that it sees."""
    application = QtWidgets.QApplication.instance()
    context = QtGui.QOpenGLContext(application)
    surface = QtGui.QOffscreenSurface(None, application)
    surface.create()
    if not (context.create() and context.makeCurrent(surface)):
        raise RuntimeError("the screen gives no OpenGL context")
    context.doneCurrent()
    return context, surface


class GLCanvas(GLViewMixin, QtWidgets.QWidget):
    """Items as in pyqtgraph's GLViewWidget, turned and zoomed with the mouse, and marks written over them."""

    def __init__(self) -> None:
        self._board: Any = None
        """framebuffer that is drawn on"""
        super().__init__()
        self.setFocusPolicy(QtCore.Qt.FocusPolicy.ClickFocus)
        self.setAttribute(QtCore.Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self._context, self._surface = _drawing_board()
        self.marks: Sequence[Mark] = ()

    def context(self) -> Any:
        """The OpenGL context."""
        return self._context

    def isValid(self) -> bool:
        """Whether items can be initialised at once; before the first picture they wait for it."""
        return False

    def makeCurrent(self) -> None:
        """Make the context current."""
        self._context.makeCurrent(self._surface)

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        """Let the camera see as much across the shorter side, whatever the shape."""
        super().resizeEvent(event)
        half = HALF_SIGHT * max(1.0, self.width() / max(1, self.height()))
        self.setCameraParams(fov=2.0 * math.degrees(math.atan(half)))

    def paintEvent(self, _event: QtGui.QPaintEvent) -> None:
        """Draw the items, show the picture, and write the marks over it."""
        picture = self.draw()
        painter = QtGui.QPainter(self)
        painter.drawImage(self.rect(), picture)
        self._write_marks(painter)
        painter.end()

    def draw(self) -> QtGui.QImage:
        """The items as they are now, as a picture of the widget's size in device pixels."""
        self.makeCurrent()
        try:
            self.initializeGL()
            width, height = max(1, self.deviceWidth()), max(1, self.deviceHeight())
            if self._board is None or (self._board.width(), self._board.height()) != (width, height):
                kind = QtOpenGL.QOpenGLFramebufferObject.Attachment.CombinedDepthStencil
                self._board = QtOpenGL.QOpenGLFramebufferObject(width, height, kind, GL.GL_TEXTURE_2D, GL.GL_RGBA8)
            self._board.bind()
            GL.glViewport(0, 0, width, height)
            self.paintGL()
            return self._board.toImage()
        finally:
            self._context.doneCurrent()

    def point_of(self, place: Floats) -> QtCore.QPointF:
        """Where a point (3,), m, is seen, px."""
        viewport = QtGui.QMatrix4x4()
        viewport.viewport(0.0, float(self.height()), float(self.width()), -float(self.height()))
        region = self.getViewport()
        projection = viewport * self.projectionMatrix(region, region) * self.viewMatrix()
        return projection.map(QtGui.QVector3D(*place.tolist())).toPointF()

    def _write_marks(self, painter: QtGui.QPainter) -> None:
        font = QtGui.QFont(self.font())
        font.setBold(True)
        painter.setFont(font)
        for mark in self.marks:
            area = QtGui.QFontMetricsF(font).boundingRect(mark.text)
            area.moveCenter(self.point_of(mark.place))
            painter.setPen(QtGui.QColor(mark.colour))
            painter.drawText(area, QtCore.Qt.AlignmentFlag.AlignCenter, mark.text)
