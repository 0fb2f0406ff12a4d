"""The platform as pyqtgraph's own 3-D items draw it: lines, a plate and points, for the benchmark to be beside."""

from typing import Any

import numpy as np
import pyqtgraph.opengl as gl
from OpenGL import GL
from pyqtgraph.opengl.GLViewWidget import GLViewMixin, QtOpenGL
from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.scene import Scene, ring_order
from gui.scene.gl_context import drawing_board


class PlainPlatform(GLViewMixin, QtWidgets.QWidget):  # type: ignore[misc]
    """Draws scenes beside the window, as the app's picture does; without light, solids, shadow, arrows or texts."""

    def __init__(self) -> None:
        self._board: Any = None
        super().__init__()
        self.setAttribute(QtCore.Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self._context, self._surface = drawing_board()
        self._floor = gl.GLGridItem(glOptions="translucent")
        self._rings = [gl.GLLinePlotItem(glOptions="translucent", mode="line_strip", width=2) for _ in range(3)]
        self._legs, self._tubes = (gl.GLLinePlotItem(glOptions="translucent", mode="lines", width=w) for w in (3, 7))
        self._joints = gl.GLScatterPlotItem(glOptions="translucent", size=7, pxMode=True)
        self._plate = gl.GLMeshItem(smooth=False, shader=None, glOptions="translucent")
        self._plate.hide()
        for item in (self._floor, *self._rings, self._tubes, self._legs, self._joints, self._plate):
            self.addItem(item)
        self.setCameraPosition(pos=QtGui.QVector3D(0.0, 0.0, 0.25), distance=1.8, elevation=22.0, azimuth=-60.0)

    def context(self) -> QtGui.QOpenGLContext:
        """The OpenGL context."""
        return self._context

    def isValid(self) -> bool:
        """Whether items can be initialised at once."""
        return False

    def makeCurrent(self) -> None:
        """Make the context current."""
        self._context.makeCurrent(self._surface)

    def show_scene(self, scene: Scene) -> None:
        """Draw a scene."""
        rings = [ring_order(points) for points in (scene.base, scene.platform, scene.platform)]
        for item, ring in zip(self._rings, rings, strict=True):
            item.setData(pos=ring, color=(0.8, 0.8, 0.8, 1.0))
        ends = np.stack([scene.base, scene.platform], axis=1)
        tubes = np.stack([scene.base, scene.base + 0.55 * (scene.platform - scene.base)], axis=1)
        colours = np.repeat(np.hstack([scene.colours, np.ones((6, 1))]), 2, axis=0)
        self._legs.setData(pos=ends.reshape(12, 3), color=colours)
        self._tubes.setData(pos=tubes.reshape(12, 3), color=colours)
        faces = np.array([[0, corner, corner + 1] for corner in range(1, 5)])
        self._plate.show()
        self._plate.setMeshData(vertexes=rings[1][:6], faces=faces, color=(0.6, 0.6, 0.6, 0.35))
        self._joints.setData(pos=np.vstack([scene.base, scene.platform]), color=(1.0, 1.0, 1.0, 1.0))
        self.update()

    def paintEvent(self, _event: QtGui.QPaintEvent) -> None:
        """Draw."""
        self.makeCurrent()
        try:
            self.initializeGL()
            size = max(1, self.deviceWidth()), max(1, self.deviceHeight())
            if self._board is None or (self._board.width(), self._board.height()) != size:
                kind = QtOpenGL.QOpenGLFramebufferObject.Attachment.CombinedDepthStencil
                self._board = QtOpenGL.QOpenGLFramebufferObject(*size, kind, GL.GL_TEXTURE_2D, GL.GL_RGBA8)
            self._board.bind()
            GL.glViewport(0, 0, *size)
            self.paintGL()
            picture = self._board.toImage()
        finally:
            self._context.doneCurrent()
        painter = QtGui.QPainter(self)
        painter.drawImage(self.rect(), picture)
        painter.end()
