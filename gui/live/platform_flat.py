"""The platform in two projections, a fallback without OpenGL."""

from collections.abc import Callable
from typing import ClassVar

import numpy as np
import pyqtgraph as pg
from pyqtgraph.Qt import QtGui, QtWidgets

from dynamics import Mechanism
from gui.live.plot import plain_plot
from gui.models import Floats, Swept
from gui.scene import OverlayOptions, Scene, Shapes, ring_order
from gui.texts import tr
from gui.widgets import Theme

_PROJECTIONS = {tr("Front view of the platform, m"): (0, 2), tr("Top view of the platform, m"): (0, 1)}


class PlatformFlat(QtWidgets.QWidget):
    """Draws scenes from the front and from above; `note` says why it is not 3-D.

    It has no selectable `viewpoints`.
    """

    viewpoints: ClassVar[tuple[str, ...]] = ()

    def __init__(self, theme: Theme, why: str) -> None:
        super().__init__()
        self.problem = why
        self.note = QtWidgets.QLabel(tr("No 3-D view: {why}. Front and top view instead.").format(why=why))
        self.note.setWordWrap(True)
        self.note.setAccessibleName(tr("Why there is no 3-D view"))
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        row = QtWidgets.QHBoxLayout()
        layout.addWidget(self.note)
        layout.addLayout(row, 1)
        self.projections = [_Projection(name, axes) for name, axes in _PROJECTIONS.items()]
        for projection in self.projections:
            row.addWidget(projection.plot)
        self._framed = False
        self.scene: Scene | None = None
        self.shown, self.full_force = OverlayOptions(), 1.0
        self.keys: dict[int, Callable[[], object]] = {}
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Change colours."""
        for projection in self.projections:
            projection.set_theme(theme)
        if self.scene is not None:
            self.show_scene(self.scene)

    def set_viewpoint(self, viewpoint: str) -> None:
        """Raises KeyError: this view has no viewpoints."""
        raise KeyError(viewpoint)

    def fit(self) -> None:
        """Fit the scene to the view."""
        self._framed = False
        if self.scene is not None:
            self.show_scene(self.scene)

    def set_mechanism(self, _mechanism: Mechanism | None, _shapes: Shapes | None = None) -> None:
        """Fit the view to the next machine's scene."""
        self._framed = False

    def set_swept(self, swept: Swept | None, poses: Floats | None = None) -> None:
        """Show the paths of the plate's corners, and of the poses (t, 7); None: hide."""
        for projection in self.projections:
            projection.show_swept(None if swept is None else swept.rings, poses)

    def snapshot(self, size: tuple[int, int], _letters: float, scene: Scene | None = None) -> QtGui.QImage:
        """Return a picture of `size`, px, of the current scene, or of another one, which then stays shown."""
        if scene is not None:
            self.show_scene(scene)
        return self.grab().toImage().scaled(*size)

    def show_scene(self, scene: Scene) -> None:
        """Draw a scene."""
        for projection in self.projections:
            projection.show_scene(scene, fit=not self._framed)
        self._framed = True
        self.scene = scene


class _Projection:
    """One of two views: `axes` are the base axes to the right and upwards."""

    def __init__(self, name: str, axes: tuple[int, int]) -> None:
        self._across, self._up = axes
        self._name = name
        self.plot = plain_plot(name)
        self.plot.getAxis("bottom").setLabel(f"{'xyz'[self._across]}, m")
        self.plot.getAxis("left").setLabel(f"{'xyz'[self._up]}, m")
        self.view = self.plot.view
        self.view.setAspectLocked(True)
        self.base, self.command, self.outline, self.swept, self.way = (pg.PlotCurveItem() for _ in range(5))
        self.legs = [pg.PlotCurveItem() for _ in range(6)]
        for curve in (self.swept, self.way, self.base, self.command, *self.legs, self.outline):
            self.plot.add(curve)

    def set_theme(self, theme: Theme) -> None:
        self.plot.dress(theme)
        self.plot.set_title(self._name, "10pt", theme.text)
        self.base.setPen(theme.pen(theme.muted))
        self.outline.setPen(theme.pen(theme.text))
        self.command.setPen(theme.pen(theme.accent, dashed=True))
        self.swept.setPen(theme.pen(theme.border))
        self.way.setPen(theme.pen(theme.accent))

    def show_swept(self, rings: Floats | None, poses: Floats | None) -> None:
        places = np.empty((0, 3)) if poses is None else poses[:, :3]
        self.way.setData(places[:, self._across], places[:, self._up])
        paths = np.empty((6, 0, 3)) if rings is None else rings.swapaxes(0, 1)
        gap = np.full((6, 1, 3), np.nan)  # gap between the paths of two corners
        paths = np.concatenate([paths, gap], axis=1).reshape(-1, 3)
        self.swept.setData(paths[:, self._across], paths[:, self._up], connect="finite")

    def show_scene(self, scene: Scene, *, fit: bool) -> None:
        across, up = self._across, self._up
        for curve, points in ((self.base, scene.base), (self.outline, scene.platform), (self.command, scene.command)):
            curve.setVisible(points is not None)
            if points is not None:
                ring = ring_order(points)
                curve.setData(ring[:, across], ring[:, up])
        for leg, curve in enumerate(self.legs):
            ends = [scene.base[leg], scene.platform[leg]]
            curve.setPen(pg.mkPen(*(int(255 * part) for part in scene.colours[leg]), width=3))
            curve.setData([end[across] for end in ends], [end[up] for end in ends])
        if fit:
            joints = [*scene.base, *scene.platform]
            x, y = [joint[across] for joint in joints], [joint[up] for joint in joints]
            self.view.setRange(xRange=(min(x), max(x)), yRange=(min(y), max(y)), padding=0.15)
