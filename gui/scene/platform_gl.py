"""The platform in three dimensions, through OpenGL."""

from typing import ClassVar

import numpy as np
from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from dynamics import Mechanism
from gui.models import Floats
from gui.scene.arrows import OverlayOptions, extras, force_room, marks_of, way
from gui.scene.camera import VIEWPOINTS
from gui.scene.canvas import Canvas, Content
from gui.scene.figure import Figure, Shapes
from gui.scene.handle import PARTS, Handle, TargetPose
from gui.scene.meshes import Mesh, Placed, Solids, hull
from gui.scene.scene import Scene, rgb
from gui.texts import tr
from gui.widgets import Theme

_CLEAR = 0.16
"""alpha of a swept surface"""
_FEW = 50
"""rings of it that a picture is framed by"""


_ARROW = 0.58
"""length of a handle's arrows, of the base joints' mean radius"""


class PlatformGL(QtWidgets.QWidget):
    """Draws scenes; mouse and keys turn and zoom. `viewpoints` are the directions to look from that have a name."""

    viewpoints: ClassVar[tuple[str, ...]] = tuple(VIEWPOINTS)
    problem = ""
    """why it is not in three dimensions; a stand-in says so"""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.view = Canvas(theme, tr("Platform in three dimensions"))
        self.view.setMinimumSize(180, 150)
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.view)
        self._theme = theme
        self._figure: Figure | None = None
        self._swept: Mesh | None = None
        self._rings: Floats | None = None
        self._poses: Floats | None = None
        self._way: Solids | None = None
        self._wanted: TargetPose | None = None
        self._framed = False
        self._followed = True
        """whether the picture is as it was framed: it is framed anew with another size"""
        self.scene: Scene | None = None
        self.shown = OverlayOptions()
        self.full_force = 1.0
        """N, of the longest arrow"""
        self.keys = self.view.keys
        self.view.looked.connect(self._look)

    def set_theme(self, theme: Theme) -> None:
        """Change colours."""
        self._theme = self.view.theme = theme
        self._draw_way()
        if self.scene is not None:
            self.show_scene(self.scene)

    def set_mechanism(self, mechanism: Mechanism | None, shapes: Shapes | None = None) -> None:
        """The machine that scenes are of, framed anew."""
        self._figure = None if mechanism is None else Figure(mechanism, shapes)
        self._draw_way()
        self._framed = False

    def set_swept(self, rings: Floats | None, poses: Floats | None = None) -> None:
        """Show the convex hull of all places of the plate's corners (t, 6, 3) m, base frame; None: none.

        poses (t, 7): along the same motion, whose way is shown too, with the box that it stays in.
        """
        self._swept = None if rings is None else hull(rings.reshape(-1, 3))
        self._rings, self._poses = rings, poses
        self._draw_way()
        if self.scene is not None:
            self.show_scene(self.scene)
        if self._followed:
            self.fit()

    def set_wanted(self, wanted: TargetPose | None) -> None:
        """Show a pose that somebody wants, and the handle that drags it, whose signals are `view`'s; None: none."""
        before, self._wanted = self._wanted, wanted
        if wanted is not None and before is not None and wanted.same_as(before):
            return
        handle = None
        if wanted is not None and self._figure is not None:
            handle = Handle(wanted.middle, wanted.axes, _ARROW * self._figure.radius)
        self.view.show_handle(handle)
        if self.scene is not None:
            self.show_scene(self.scene)

    def snapshot(self, size: tuple[int, int], letters: float, scene: Scene | None = None) -> QtGui.QImage:
        """What is shown, or another scene, as a picture of width and height `size`, px, its letters so much larger."""
        return self.view.picture(size, letters, None if scene is None else self._content(scene))

    def look_from(self, viewpoint: str) -> None:
        """Put the camera to one of `viewpoints`, the machine fitted into the picture."""
        self.view.camera.look_from(viewpoint)
        self.fit()

    def fit(self) -> None:
        """Fit the machine into the picture, seen from the direction in which the camera looks."""
        figure, scene = self._figure, self.scene
        if figure is None or scene is None:
            return
        marks = np.array([mark.place for mark in marks_of(figure, scene, self._theme, self.shown)])
        points = [figure.extent, scene.platform, marks]
        if self.shown.forces:
            points.append(force_room(figure))
        if self.view.handle is not None:
            points.append(np.concatenate([self.view.handle.line(part) for part in PARTS]))
        if self._rings is not None:
            points.append(self._rings[:: max(1, len(self._rings) // _FEW)].reshape(-1, 3))
        self.view.camera.frame(np.concatenate(points), (max(1, self.view.width()), max(1, self.view.height())))
        self._framed = self._followed = True
        self.view.update()

    def resizeEvent(self, event: QtCore.QEvent) -> None:
        """Frame anew what nobody has turned or zoomed, but not under a hand that drags in it."""
        super().resizeEvent(event)
        if self._followed and not self.view.dragging:
            self.fit()

    def show_scene(self, scene: Scene) -> None:
        """Draw a scene."""
        self.scene, figure = scene, self._figure
        if figure is None:
            return
        if not self._framed:
            self.view.ground = figure.backdrop
            self.fit()
        self.view.show_content(self._content(scene))

    def _content(self, scene: Scene) -> Content:
        figure, theme = self._figure, self._theme
        assert figure is not None
        ring, streaks = figure.shadows(scene, self.view.camera)
        drawn = [figure.solids(scene, theme), extras(figure, scene, theme, self.shown, self.full_force)]
        drawn += [] if self._way is None else [self._way]
        if self._wanted is not None:
            colour = theme.error if self._wanted.refused else theme.accent
            drawn.append(figure.ghost(self._wanted.pose, rgb(colour)))
        return Content(
            solids=np.concatenate(drawn),
            meshes=figure.meshes(scene, theme) + self._envelope(),
            marks=marks_of(figure, scene, theme, self.shown),
            shadow=ring,
            streaks=streaks,
        )

    def _draw_way(self) -> None:
        self._way = None
        if self._figure is not None and self._poses is not None:
            self._way = way(self._figure, self._poses, self._theme)

    def _envelope(self) -> list[Placed]:
        if self._swept is None:
            return []
        return [Placed(self._swept, np.eye(3), np.zeros(3), rgb(self._theme.accent), _CLEAR)]

    def _look(self) -> None:
        self._followed = False
