"""The handle that a pose is dragged by: an arrow along each of three axes, and a ring about each."""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from gui.scene.camera import Camera
from gui.scene.picking import across, along_axis, can_be_taken, distance_to, round_axis
from gui.scene.scene import rgb
from gui.scene.solids import Solids, arrows, loop
from gui.session import Floats
from gui.widgets import Theme

PARTS = ("x", "y", "z", "rx", "ry", "rz")
"""What of a handle can be taken: the arrows, then the rings about the same axes."""
_RING = 0.74
"""radius of a ring, of the arrows' length"""
_ARROW, _TUBE = 0.028, 0.016
"""radii of an arrow's shaft and of a ring, of the same"""
_PIECES = 60
"""of a ring"""
_FAINT = 0.18
"""alpha of what cannot be taken from where one looks"""
_NEAR = 9.0
"""px from the pointer to what it takes"""
_FIRST = 3.0
"""px by which an arrow comes before a ring that crosses it"""


@dataclass(frozen=True, slots=True, eq=False)
class TargetPose:
    """A pose that somebody wants, and by what it can be dragged.

    pose (7,), base frame; middle (3,) m and axes (3, 3), columns, base frame: of the handle; refused: whether the
    machine cannot go there.
    """

    pose: Floats
    middle: Floats
    axes: Floats
    refused: bool

    def same_as(self, other: "TargetPose") -> bool:
        """Whether a picture of the two is the same."""
        pairs = ((self.pose, other.pose), (self.middle, other.middle), (self.axes, other.axes))
        return self.refused == other.refused and all(np.array_equal(one, another) for one, another in pairs)


@dataclass(frozen=True, slots=True, eq=False)
class Handle:
    """Its middle (3,) m and axes (3, 3), columns of length 1, base frame, and how long its arrows are, m."""

    place: Floats
    axes: Floats
    reach: float

    def axis(self, part: str) -> Floats:
        """The axis (3,) along or about which a part of `PARTS` is dragged."""
        axis: Floats = self.axes[:, PARTS.index(part) % 3]
        return axis

    def line(self, part: str) -> Floats:
        """Points (n, 3) m, base frame, along a part: an arrow from its middle, a ring closed."""
        axis = self.axis(part)
        if len(part) == 1:
            return np.array([self.place + 0.2 * self.reach * axis, self.place + self.reach * axis])
        first, second = across(axis)
        ring: Floats = self.place + _RING * self.reach * (_circle() @ np.array([first, second]))
        return ring

    def at(self, camera: Camera, size: tuple[float, float], place: tuple[float, float]) -> str:
        """The part of `PARTS` under a place, px, of a picture of this size; empty where there is none."""
        found, nearest = "", _NEAR
        for part in PARTS:
            turning = len(part) > 1
            if can_be_taken(camera, self.place, self.axis(part), turning=turning):
                away = distance_to(camera.picture(self.line(part), size), place) - (0.0 if turning else _FIRST)
                if away < nearest:
                    found, nearest = part, away
        return found

    def solids(self, camera: Camera, theme: Theme, lit: str) -> Solids:
        """All of it as it is seen by a camera; `lit`: the part that is under the pointer, or is dragged."""
        made = []
        for index, part in enumerate(PARTS):
            colour = rgb(theme.text if part == lit else theme.axis_colours()[index % 3])
            turning = index > 2
            alpha = 1.0 if can_be_taken(camera, self.place, self.axis(part), turning=turning) else _FAINT
            if turning:
                ring = loop(self.line(part)[:-1], _TUBE * self.reach, colour, alpha=alpha)
                ring["glow"] = 0.5
                made.append(ring)
            else:
                vector = self.reach * self.axis(part)
                made.append(arrows(self.place[None], vector[None], _ARROW * self.reach, colour, alpha=alpha))
        return np.concatenate(made)


class Drag:
    """A part of a handle that is dragged from a place on the picture, px; the handle stays where it was taken.

    Args:
        handle: as it was.
        part: of `PARTS`.
        camera: that sees it.
        size: of the picture, px.
        place: where it was taken.
    """

    def __init__(
        self, handle: Handle, part: str, camera: Camera, size: tuple[float, float], place: tuple[float, float]
    ) -> None:
        self.part = part
        self._handle = handle
        self._amount = 0.0
        self._last = self._measured(camera, size, place)

    def to(self, camera: Camera, size: tuple[float, float], place: tuple[float, float]) -> float | None:
        """How far it is dragged now, m or rad, as often round as one likes; None where the pointer tells nothing."""
        now, last = self._measured(camera, size, place), self._last
        if now is None:
            return None
        self._last = now
        if last is not None:
            self._amount += now - last if len(self.part) == 1 else math.remainder(now - last, 2.0 * math.pi)
        return self._amount

    def _measured(self, camera: Camera, size: tuple[float, float], place: tuple[float, float]) -> float | None:
        measure = along_axis if len(self.part) == 1 else round_axis
        return measure(camera, size, place, self._handle.place, self._handle.axis(self.part))


@cache
def _circle() -> Floats:
    """Cosines and sines (n, 2) once round, the last point the first, not to be written to."""
    angles = np.linspace(0.0, 2.0 * math.pi, _PIECES + 1)
    return np.column_stack([np.cos(angles), np.sin(angles)])
