"""The camera: where from a scene is seen, and where on the picture a point of it is."""

import math
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from gui.models import Floats

HALF_SIGHT = 0.22
"""half of what is seen across the shorter side, as part of the distance: a long lens, which bends little"""
KEY_LIGHT: Floats = np.array([-0.42, 0.62, 0.66]) / np.linalg.norm([-0.42, 0.62, 0.66])
"""towards the key light, in the camera's axes: over the left shoulder, wherever one looks from"""
_MARGIN = 1.08
"""of what is to be seen, to the edge of the picture"""
_LOWEST, _HIGHEST = 0.0, 0.5 * math.pi
"""elevations, rad: from below the ground nothing is seen"""
_NEAREST = 1e-3  # m

VIEWPOINTS: dict[str, tuple[float, float]] = {
    "Isometric": (math.atan(math.sqrt(0.5)) - 0.22, math.radians(-60.0)),
    "Front": (0.0, math.radians(-90.0)),
    "Side": (0.0, 0.0),
    "Top": (_HIGHEST, math.radians(-90.0)),
}
"""Elevation and azimuth, rad, of the views that have a name."""


@dataclass(slots=True)
class Camera:
    """Looks at `target` (3,) m from `distance` m; azimuth about z from x, and elevation above the ground, rad."""

    azimuth: float = VIEWPOINTS["Isometric"][1]
    elevation: float = VIEWPOINTS["Isometric"][0]
    distance: float = 3.0
    target: Floats = field(default_factory=lambda: np.zeros(3))

    @property
    def axes(self) -> Floats:
        """Rows (3, 3) in base axes: to the right, upwards on the picture, and backwards to the eye."""
        return _axes(self.azimuth, self.elevation)

    @property
    def eye(self) -> Floats:
        """Where the camera is, (3,) m, base frame."""
        place: Floats = self.target + self.distance * self.axes[2]
        return place

    def seen(self, points: Floats) -> Floats:
        """Points (n, 3) m of the base frame in the camera's axes, from the eye: what is in front has z < 0."""
        places: Floats = (points - self.eye) @ self.axes.T
        return places

    def picture(self, points: Floats, size: tuple[float, float]) -> Floats:
        """Where points (n, 3) m are on a picture of width and height `size`, (n, 2) from its upper left corner."""
        places = self.seen(points)
        scale = focal(size) / np.maximum(-places[:, 2], _NEAREST)
        return np.column_stack([0.5 * size[0] + scale * places[:, 0], 0.5 * size[1] - scale * places[:, 1]])

    def look_from(self, viewpoint: str) -> None:
        """Turn to one of `VIEWPOINTS`. Raises KeyError for another."""
        self.elevation, self.azimuth = VIEWPOINTS[viewpoint]

    def turn(self, across: float, up: float) -> None:
        """Go round the target by angles, rad; the ground and the zenith are the ends."""
        self.azimuth -= across
        self.elevation = min(max(self.elevation + up, _LOWEST), _HIGHEST)

    def zoom(self, factor: float) -> None:
        """Go to `factor` times the distance."""
        self.distance = max(self.distance * factor, 10 * _NEAREST)

    def shift(self, across: float, up: float) -> None:
        """Move what is looked at by parts of the shorter side of the picture."""
        side = 2.0 * HALF_SIGHT * self.distance
        self.target = self.target + side * (across * self.axes[0] + up * self.axes[1])

    def frame(self, points: Floats, size: tuple[float, float]) -> None:
        """Go so near that points (n, 3) m just fit into a picture of width and height `size`, and into its middle.

        A point x across and z backwards is within if |x − c| ≤ half·(d − z): c and the least d follow at once.
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


@lru_cache(maxsize=16)  # a frame asks for the same again and again
def _axes(azimuth: float, elevation: float) -> Floats:
    """`Camera.axes`, not to be written to."""
    ca, sa, ce, se = (f(angle) for angle in (azimuth, elevation) for f in (math.cos, math.sin))
    axes = np.array([[-sa, ca, 0.0], [-se * ca, -se * sa, ce], [ce * ca, ce * sa, se]])
    axes.flags.writeable = False
    return axes


def focal(size: tuple[float, float]) -> float:
    """How far, in units of the picture, something is from its middle that is seen at 45° off."""
    return 0.5 * min(size) / HALF_SIGHT
