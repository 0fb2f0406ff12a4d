"""The 3-D view of the platform, through OpenGL."""

from typing import ClassVar

import numpy as np
from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from dynamics import Mechanism
from gui.models import Floats, Swept
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
"""Alpha of a swept surface."""
_FEW = 50
"""Rings of it used for framing."""


_ARROW = 0.58
"""Length of a handle's arrows, of the base joints' mean radius."""


class PlatformGL(QtWidgets.QWidget):
    """Draws scenes; mouse and keys move the camera. `viewpoints` are the named directions."""

    viewpoints: ClassVar[tuple[str, ...]] = tuple(VIEWPOINTS)
    problem = ""
    """Why the view is not 3-D; set by the 2-D fallback."""

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
        self._target: TargetPose | None = None
        self._framed = False
        self._followed = True
        """Whether the camera is unchanged since it was framed: then it is framed again on resize."""
        self.scene: Scene | None = None
        self.shown = OverlayOptions()
        self.full_force = 1.0
        """N, force of the longest arrow."""
        self.keys = self.view.keys
        self.view.camera_moved.connect(self._camera_moved)

    def set_theme(self, theme: Theme) -> None:
        """Change colours."""
        self._theme = self.view.theme = theme
        self._draw_way()
        if self.scene is not None:
            self.show_scene(self.scene)

    def set_mechanism(self, mechanism: Mechanism | None, shapes: Shapes | None = None) -> None:
        """Set the machine of the scenes, and frame it."""
        self._figure = None if mechanism is None else Figure(mechanism, shapes)
        self._draw_way()
        self._framed = False

    def set_swept(self, swept: Swept | None, poses: Floats | None = None) -> None:
        """Show the convex hull of the space that the plate sweeps; None: hide.

        poses (t, 7): along the same motion, shown as a path with its bounding box.
        """
        self._swept = None
        if swept is not None and swept.faces is not None:
            self._swept = hull(swept.rings.reshape(-1, 3), swept.faces)
        self._rings, self._poses = None if swept is None else swept.rings, poses
        self._draw_way()
        if self.scene is not None:
            self.show_scene(self.scene)
        if self._followed:
            self.fit()

    def set_target(self, target: TargetPose | None) -> None:
        """Show a target pose and its drag handle, whose signals are `view`'s; None: hide."""
        before, self._target = self._target, target
        if target is not None and before is not None and target.same_as(before):
            return
        handle = None
        if target is not None and self._figure is not None:
            handle = Handle(target.middle, target.axes, _ARROW * self._figure.radius)
        self.view.show_handle(handle)
        if self.scene is not None:
            self.show_scene(self.scene)

    def snapshot(self, size: tuple[int, int], letters: float, scene: Scene | None = None) -> QtGui.QImage:
        """Return a picture of `size`, px, of the current or another scene, with text scaled by `letters`."""
        return self.view.picture(size, letters, None if scene is None else self._content(scene))

    def set_viewpoint(self, viewpoint: str) -> None:
        """Set one of `viewpoints` and frame the machine."""
        self.view.camera.set_viewpoint(viewpoint)
        self.fit()

    def fit(self) -> None:
        """Frame the machine from the current direction."""
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
        """Frame again if the camera is unchanged, but not during a drag."""
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
        if self._target is not None:
            colour = theme.error if self._target.refused else theme.accent
            drawn.append(figure.ghost(self._target.pose, rgb(colour)))
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

    def _camera_moved(self) -> None:
        self._followed = False
