"""The camera: its position, and the projection of points."""

import math
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from gui.models import Floats

HALF_SIGHT = 0.22
"""Half field of view across the shorter side, as a fraction of the distance: a long focal length with little
distortion."""
KEY_LIGHT: Floats = np.array([-0.42, 0.62, 0.66]) / np.linalg.norm([-0.42, 0.62, 0.66])
"""Direction to the key light, in camera axes: over the left shoulder."""
_MARGIN = 1.08
"""Factor of the framed extent."""
_LOWEST, _HIGHEST = 0.0, 0.5 * math.pi
"""Elevations, rad: not from below the ground."""
_NEAREST = 1e-3  # m

VIEWPOINTS: dict[str, tuple[float, float]] = {
    "Isometric": (math.atan(math.sqrt(0.5)) - 0.22, math.radians(-60.0)),
    "Front": (0.0, math.radians(-90.0)),
    "Side": (0.0, 0.0),
    "Top": (_HIGHEST, math.radians(-90.0)),
}
"""Elevation and azimuth, rad, of the named viewpoints."""


@dataclass(slots=True)
class Camera:
    """Orbits `target` (3,) m from `distance` m; azimuth about z from x, and elevation above the ground, rad."""

    azimuth: float = VIEWPOINTS["Isometric"][1]
    elevation: float = VIEWPOINTS["Isometric"][0]
    distance: float = 3.0
    target: Floats = field(default_factory=lambda: np.zeros(3))

    @property
    def axes(self) -> Floats:
        """Return rows (3, 3) in base axes: right, up in the picture, and backwards to the eye."""
        return _axes(self.azimuth, self.elevation)

    @property
    def eye(self) -> Floats:
        """Return the camera's position, (3,) m, base frame."""
        place: Floats = self.target + self.distance * self.axes[2]
        return place

    def seen(self, points: Floats) -> Floats:
        """Transform points (n, 3) m from the base frame to camera axes; in front of the camera z < 0."""
        places: Floats = (points - self.eye) @ self.axes.T
        return places

    def picture(self, points: Floats, size: tuple[float, float]) -> Floats:
        """Project points (n, 3) m to a picture of `size` (width, height): (n, 2) from its upper left corner."""
        places = self.seen(points)
        scale = focal(size) / np.maximum(-places[:, 2], _NEAREST)
        return np.column_stack([0.5 * size[0] + scale * places[:, 0], 0.5 * size[1] - scale * places[:, 1]])

    def set_viewpoint(self, viewpoint: str) -> None:
        """Set one of `VIEWPOINTS`. Raises KeyError for another name."""
        self.elevation, self.azimuth = VIEWPOINTS[viewpoint]

    def turn(self, across: float, up: float) -> None:
        """Orbit by angles, rad; elevation is limited by ground and zenith."""
        self.azimuth -= across
        self.elevation = min(max(self.elevation + up, _LOWEST), _HIGHEST)

    def zoom(self, factor: float) -> None:
        """Multiply the distance by `factor`."""
        self.distance = max(self.distance * factor, 10 * _NEAREST)

    def shift(self, across: float, up: float) -> None:
        """Move the target by fractions of the picture's shorter side."""
        side = 2.0 * HALF_SIGHT * self.distance
        self.target = self.target + side * (across * self.axes[0] + up * self.axes[1])

    def frame(self, points: Floats, size: tuple[float, float]) -> None:
        """Frame points (n, 3) m: centre them and set the least distance at which they fit into a picture of `size`.

        A point x across and z backwards is inside if |x − c| ≤ half·(d − z), which determines c and the least d.
        """
        axes = self.axes
        places = points @ axes.T
        middle, needed = np.zeros(3), 0.0
        for axis in range(2):
            half = HALF_SIGHT * size[axis] / min(size) / _MARGIN
            high = float((places[:, axis] / half + places[:, 2]).max())
            low = float((-places[:, axis] / half + places[:, 2]).max())
            middle[axis], needed = half * (high - low) / 2, max(needed, (high + low) / 2)
        middle[2] = places[:, 2].mean()
        self.target = middle @ axes
        self.distance = max(needed - float(middle[2]), 10 * _NEAREST)


@lru_cache(maxsize=16)  # called repeatedly within a frame
def _axes(azimuth: float, elevation: float) -> Floats:
    """`Camera.axes`, read-only."""
    ca, sa, ce, se = (f(angle) for angle in (azimuth, elevation) for f in (math.cos, math.sin))
    axes = np.array([[-sa, ca, 0.0], [-se * ca, -se * sa, ce], [ce * ca, ce * sa, se]])
    axes.flags.writeable = False
    return axes


def focal(size: tuple[float, float]) -> float:
    """Return the focal length in units of the picture."""
    return 0.5 * min(size) / HALF_SIGHT
