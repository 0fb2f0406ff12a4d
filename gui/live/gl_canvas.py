"""A canvas for pyqtgraph's 3-D items that draws beside the window and shows the picture.

A QOpenGLWidget would make Qt compose the whole window through OpenGL, plots included: without a graphics processor that
costs several times what the picture itself does.
"""

import math
from functools import cache
from typing import Any

from OpenGL import GL
from pyqtgraph.opengl.GLViewWidget import GLViewMixin, QtOpenGL
from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.history import Floats

_HALF_SIGHT = 0.31
"""half of what the camera sees across the shorter side, as part of the distance"""


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
    """Items as in pyqtgraph's GLViewWidget, turned and zoomed with the mouse, and six names that stay beside points."""

    def __init__(self) -> None:
        self._board: Any = None
        """framebuffer that is drawn on"""
        super().__init__()
        self.setFocusPolicy(QtCore.Qt.FocusPolicy.ClickFocus)
        self.setAttribute(QtCore.Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self._context, self._surface = _drawing_board()
        self.names = [QtWidgets.QLabel(str(leg + 1), self) for leg in range(6)]
        self.places: Floats | None = None
        """points (6, 3) that the names stand at, m"""
        for name in self.names:
            name.hide()

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
        half = _HALF_SIGHT * max(1.0, self.width() / max(1, self.height()))
        self.setCameraParams(fov=2.0 * math.degrees(math.atan(half)))

    def paintEvent(self, _event: QtGui.QPaintEvent) -> None:
        """Draw the items, show the picture, and put the names where their points have come to lie."""
        picture = self.draw()
        painter = QtGui.QPainter(self)
        painter.drawImage(self.rect(), picture)
        painter.end()
        self._place_names()

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

    def _place_names(self) -> None:
        if self.places is None:
            return
        viewport = QtGui.QMatrix4x4()
        viewport.viewport(0.0, float(self.height()), float(self.width()), -float(self.height()))
        region = self.getViewport()
        projection = viewport * self.projectionMatrix(region, region) * self.viewMatrix()
        for name, place in zip(self.names, self.places, strict=True):
            corner = projection.map(QtGui.QVector3D(*place.tolist())).toPoint() - name.rect().center()
            if name.isHidden() or name.pos() != corner:
                name.move(corner)
                name.show()
