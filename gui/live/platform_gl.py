"""The platform in three dimensions, through OpenGL."""

import math
from typing import ClassVar

import numpy as np
import pyqtgraph as pg
import pyqtgraph.opengl as gl
from pyqtgraph.Qt import QtGui, QtWidgets

from gui.live.gl_canvas import HALF_SIGHT, GLCanvas, Mark
from gui.live.scene import Scene, ring_order
from gui.session import Floats
from gui.widgets import Theme

_TUBE = 0.55
"""part of the leg that is drawn thick"""
_ASIDE = 0.14
"""of the base's radius, between a base joint and its leg's number"""
_BEYOND = 1.18
"""of an axis' length, where its letter stands"""
_FLOOR = 1.5
"""side of the floor, of the joints' extent"""
_MARGIN = 1.12
"""of the sphere about all that is drawn, to the edge of the picture"""


class PlatformGL(QtWidgets.QWidget):
    """Draws scenes; the mouse turns and zooms. `viewpoints` are named camera directions."""

    viewpoints: ClassVar[dict[str, tuple[float, float]]] = {
        "Oblique": (22.0, -60.0),
        "Front": (0.0, -90.0),
        "Side": (0.0, 0.0),
        "Top": (90.0, -90.0),
    }
    """elevation and azimuth, deg"""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.view = GLCanvas()
        self.view.setMinimumSize(200, 160)
        self.view.setAccessibleName("Platform in three dimensions")
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.view)
        self._floor = gl.GLGridItem(glOptions="translucent")
        self._floor.translate(0.0, 0.0, -0.004)  # below the base's outline, which would flicker in one plane with it
        self._base = gl.GLLinePlotItem(glOptions="translucent", mode="line_strip", width=2)
        self._plate = gl.GLMeshItem(smooth=False, shader=None, glOptions="translucent")
        self._outline = gl.GLLinePlotItem(glOptions="translucent", mode="line_strip", width=2)
        self._command = gl.GLLinePlotItem(glOptions="translucent", mode="line_strip", width=1)
        self.legs = gl.GLLinePlotItem(glOptions="translucent", mode="lines", width=3)
        self._tubes = gl.GLLinePlotItem(glOptions="translucent", mode="lines", width=7)
        self._triad = gl.GLLinePlotItem(glOptions="translucent", mode="lines", width=2)
        self._joints = gl.GLScatterPlotItem(glOptions="translucent", size=7, pxMode=True)
        for item in (
            self._floor,
            self._base,
            self._tubes,
            self.legs,
            self._joints,
            self._command,
            self._outline,
            self._triad,
            self._plate,
        ):
            self.view.addItem(item)
        self._plate.hide()  # it cannot be drawn without corners
        self._framed = False
        self.scene: Scene | None = None
        self.look_from("Oblique")
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Change colours."""
        self._theme = theme
        self.view.setBackgroundColor(theme.surface)
        self._floor.setColor(pg.mkColor(theme.grid))
        if self.scene is not None:
            self.show_scene(self.scene)

    def look_from(self, viewpoint: str) -> None:
        """Put the camera to one of `viewpoints`, the scene fitted into the picture."""
        elevation, azimuth = self.viewpoints[viewpoint]
        self.view.setCameraPosition(elevation=elevation, azimuth=azimuth)
        self.fit()

    def fit(self) -> None:
        """Fit the scene into the picture, seen from the direction in which the camera looks."""
        if self.scene is not None:
            self._frame(self.scene)
            self.view.update()

    def frame_anew(self) -> None:
        """Fit the next scene into the picture, seen from where the camera is."""
        self._framed = False

    def show_scene(self, scene: Scene) -> None:
        """Draw a scene."""
        if not self._framed:
            self._frame(scene)
        theme, self.scene = self._theme, scene
        ring, floor = ring_order(scene.platform), ring_order(scene.base)
        ends = np.stack([scene.base, scene.platform], axis=1)
        tubes = np.stack([scene.base, scene.base + _TUBE * (scene.platform - scene.base)], axis=1)
        colours = np.repeat(np.hstack([scene.colours, np.ones((6, 1))]), 2, axis=0)
        self._base.setData(pos=floor, color=pg.mkColor(theme.muted))
        self.legs.setData(pos=ends.reshape(12, 3), color=colours)
        self._tubes.setData(pos=tubes.reshape(12, 3), color=colours)
        self._outline.setData(pos=ring, color=pg.mkColor(theme.text))
        faces = np.array([[0, corner, corner + 1] for corner in range(1, 5)])
        self._plate.show()
        self._plate.setMeshData(vertexes=ring[:6], faces=faces, color=(*pg.mkColor(theme.muted).getRgbF()[:3], 0.35))
        self._joints.setData(pos=np.vstack([scene.base, scene.platform]), color=pg.mkColor(theme.text))
        self._command.setVisible(scene.command is not None)
        if scene.command is not None:
            self._command.setData(pos=ring_order(scene.command), color=pg.mkColor(theme.accent))
        length = 0.4 * float(np.linalg.norm(scene.platform - scene.origin, axis=1).mean())
        tips = scene.origin + length * scene.axes.T
        triad = np.stack([np.tile(scene.origin, (3, 1)), tips], axis=1).reshape(6, 3)
        self._triad.setData(pos=triad, color=np.repeat(self._axis_colours(), 2, axis=0))
        self.view.marks = [*self._leg_numbers(scene), *self._axis_letters(scene, tips)]
        self.view.update()

    def _leg_numbers(self, scene: Scene) -> list[Mark]:
        """Beside the base joints, away from the legs: outwards and below."""
        middle: Floats = scene.base.mean(axis=0)
        below = middle - scene.platform.mean(axis=0)
        outwards = scene.base - middle
        radius = float(np.linalg.norm(outwards, axis=1).mean())
        places = scene.base + _ASIDE * (outwards + radius * below / max(float(np.linalg.norm(below)), 1e-9))
        return [Mark(str(leg), place, self._theme.text) for leg, place in enumerate(places, start=1)]

    def _axis_letters(self, scene: Scene, tips: Floats) -> list[Mark]:
        """At the tips (3, 3) of the platform's axes."""
        places = scene.origin + _BEYOND * (tips - scene.origin)
        return [
            Mark(letter, place, colour)
            for letter, place, colour in zip("xyz", places, self._theme.axis_colours(), strict=True)
        ]

    def _frame(self, scene: Scene) -> None:
        marks = [mark.place for mark in self._leg_numbers(scene)]
        points = np.vstack([scene.base, scene.platform, marks])
        middle: Floats = (points.min(axis=0) + points.max(axis=0)) / 2
        radius = float(np.linalg.norm(points - middle, axis=1).max())
        distance = _MARGIN * radius / math.sin(math.atan(HALF_SIGHT))
        size = float(np.linalg.norm(np.ptp(np.vstack([scene.base, scene.platform]), axis=0)))
        self.view.setCameraPosition(pos=QtGui.QVector3D(*middle.tolist()), distance=distance)
        self._floor.setSize(_FLOOR * size, _FLOOR * size)
        self._floor.setSpacing(_FLOOR * size / 12, _FLOOR * size / 12)
        self._framed = True

    def _axis_colours(self) -> Floats:
        """Colours (3, 4) of the platform's x, y and z axis."""
        return np.array([pg.mkColor(colour).getRgbF() for colour in self._theme.axis_colours()])
