"""The drag handle of a pose: arrows and rings, and the pointer's position on them."""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from gui.models import Floats
from gui.scene.camera import Camera, focal
from gui.scene.meshes import Solids, arrows, loop
from gui.scene.scene import rgb
from gui.widgets import Theme

STEEPEST = math.sin(math.radians(12.0))
"""Sine of the least angle between a ray and an axis or a ring's plane; below it a px means too large a displacement."""
_NEAREST = 1e-3  # m in front of the eye


def ray(camera: Camera, size: tuple[float, float], place: tuple[float, float]) -> Floats:
    """Return the unit direction (3,), base axes, from the eye through a position, px, of a picture of this size."""
    seen = np.array([place[0] - 0.5 * size[0], 0.5 * size[1] - place[1], -focal(size)])
    direction: Floats = seen @ camera.axes
    return direction / float(np.linalg.norm(direction))


def along_axis(
    camera: Camera, size: tuple[float, float], place: tuple[float, float], origin: Floats, axis: Floats
) -> float | None:
    """Return the position along an axis, m from `origin` (3,) m, whose projection is nearest to a position, px.

    `axis` (3,): unit vector. None if undefined: the axis is seen end-on, or the point would be behind the eye.
    """
    x, y, z = camera.seen(origin[None])[0]
    across, up, back = camera.axes @ axis
    if z > -_NEAREST or math.sqrt(1.0 - min(1.0, float(axis @ _towards(camera, origin)) ** 2)) < STEEPEST:
        return None
    middle, scale = np.array([x, y]) / -z, focal(size)
    line = np.array([-across * z + x * back, -up * z + y * back])  # direction of the projected axis, quotient rule
    line /= float(np.linalg.norm(line))
    wanted = np.array([place[0] - 0.5 * size[0], 0.5 * size[1] - place[1]]) / scale
    u, v = middle + float((wanted - middle) @ line) * line
    # origin + s·axis projects to (x + s·across, y + s·up) / −(z + s·back): equate with (u, v), in its larger component
    one, other = across + u * back, up + v * back
    reached = -(x + u * z) / one if abs(one) > abs(other) else -(y + v * z) / other
    return float(reached) if z + reached * back < -_NEAREST else None


def round_axis(
    camera: Camera, size: tuple[float, float], place: tuple[float, float], origin: Floats, axis: Floats
) -> float | None:
    """Return the angle about an axis, rad, at which the ray of a position, px, meets the plane across it in `origin`.

    `axis` (3,): unit vector; `origin` (3,) m; the angle is measured by `across`. None if undefined: the plane is seen
    edge-on, or the point is behind the eye.
    """
    direction = ray(camera, size, place)
    steepness = float(direction @ axis)
    if abs(steepness) < STEEPEST:
        return None
    distance = float((origin - camera.eye) @ axis) / steepness
    if distance < _NEAREST:
        return None
    arm = camera.eye + distance * direction - origin
    first, second = across(axis)
    return math.atan2(float(arm @ second), float(arm @ first))


def across(axis: Floats) -> tuple[Floats, Floats]:
    """Return two unit vectors (3,) that form a right-handed frame with `axis` (3,): axis = first × second."""
    helper = np.eye(3)[int(np.abs(axis).argmin())]
    first: Floats = np.cross(axis, helper)
    first = first / float(np.linalg.norm(first))
    return first, np.cross(axis, first)


def is_draggable(camera: Camera, origin: Floats, axis: Floats, *, turning: bool) -> bool:
    """Whether an axis (3,) through `origin` (3,) m, or the ring about it, can be dragged from this camera."""
    cosine = abs(float(axis @ _towards(camera, origin)))
    return cosine >= STEEPEST if turning else math.sqrt(1.0 - min(1.0, cosine**2)) >= STEEPEST


def distance_to(lines: Floats, place: tuple[float, float]) -> float:
    """Return the distance of a position from a polyline (n, 2), px."""
    begins, ways = lines[:-1], np.diff(lines, axis=0)
    lengths = np.maximum((ways**2).sum(axis=1), 1e-12)
    parts = np.clip(((np.array(place) - begins) * ways).sum(axis=1) / lengths, 0.0, 1.0)
    return float(np.linalg.norm(begins + parts[:, None] * ways - np.array(place), axis=1).min())


def _towards(camera: Camera, point: Floats) -> Floats:
    way = point - camera.eye
    towards: Floats = way / max(float(np.linalg.norm(way)), 1e-12)
    return towards


PARTS = ("x", "y", "z", "rx", "ry", "rz")
"""Parts of a handle: the arrows, then the rings about the same axes."""
_RING = 0.74
"""Radius of a ring, of the arrows' length."""
_ARROW, _TUBE = 0.028, 0.016
"""Radii of an arrow's shaft and of a ring, of the same."""
_PIECES = 60
"""Segments of a ring."""
_FAINT = 0.18
"""Alpha of parts that cannot be dragged from this camera."""
_NEAR = 9.0
"""px, grab distance."""
_FIRST = 3.0
"""px by which arrows take precedence over rings."""


@dataclass(frozen=True, slots=True, eq=False)
class TargetPose:
    """A target pose, and the frame of its handle.

    pose (7,), base frame; middle (3,) m and axes (3, 3), columns, base frame: of the handle; refused: whether the
    machine cannot go there.
    """

    pose: Floats
    middle: Floats
    axes: Floats
    refused: bool

    def same_as(self, other: "TargetPose") -> bool:
        """Whether both look the same."""
        pairs = ((self.pose, other.pose), (self.middle, other.middle), (self.axes, other.axes))
        return self.refused == other.refused and all(np.array_equal(one, another) for one, another in pairs)


@dataclass(frozen=True, slots=True, eq=False)
class Handle:
    """Middle (3,) m and axes (3, 3), unit columns, base frame, and the length of its arrows, m."""

    place: Floats
    axes: Floats
    reach: float

    def axis(self, part: str) -> Floats:
        """Return the axis (3,) of a part of `PARTS`."""
        axis: Floats = self.axes[:, PARTS.index(part) % 3]
        return axis

    def line(self, part: str) -> Floats:
        """Return points (n, 3) m, base frame, along a part: an arrow from its middle, or a closed ring."""
        axis = self.axis(part)
        if len(part) == 1:
            return np.array([self.place + 0.2 * self.reach * axis, self.place + self.reach * axis])
        first, second = across(axis)
        ring: Floats = self.place + _RING * self.reach * (_circle() @ np.array([first, second]))
        return ring

    def at(self, camera: Camera, size: tuple[float, float], place: tuple[float, float]) -> str:
        """Return the part of `PARTS` under a position, px, of a picture of this size; empty without."""
        found, nearest = "", _NEAR
        for part in PARTS:
            turning = len(part) > 1
            if is_draggable(camera, self.place, self.axis(part), turning=turning):
                away = distance_to(camera.picture(self.line(part), size), place) - (0.0 if turning else _FIRST)
                if away < nearest:
                    found, nearest = part, away
        return found

    def solids(self, camera: Camera, theme: Theme, lit: str) -> Solids:
        """Return the solids seen by a camera; `lit`: the highlighted part."""
        made = []
        for index, part in enumerate(PARTS):
            colour = rgb(theme.text if part == lit else theme.axis_colours()[index % 3])
            turning = index > 2
            alpha = 1.0 if is_draggable(camera, self.place, self.axis(part), turning=turning) else _FAINT
            if turning:
                ring = loop(self.line(part)[:-1], _TUBE * self.reach, colour, alpha=alpha)
                ring["glow"] = 0.5
                made.append(ring)
            else:
                vector = self.reach * self.axis(part)
                made.append(arrows(self.place[None], vector[None], _ARROW * self.reach, colour, alpha=alpha))
        return np.concatenate(made)


class Drag:
    """Drag of a handle's part from a position, px; the handle itself stays.

    Args:
        handle: at the start.
        part: of `PARTS`.
        camera: of the view.
        size: of the picture, px.
        place: start position.
    """

    def __init__(
        self, handle: Handle, part: str, camera: Camera, size: tuple[float, float], place: tuple[float, float]
    ) -> None:
        self.part = part
        self._handle = handle
        self._amount = 0.0
        self._last = self._measured(camera, size, place)

    def to(self, camera: Camera, size: tuple[float, float], place: tuple[float, float]) -> float | None:
        """Return the displacement, m or rad, counting full turns; None if undefined."""
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
    """Return cosines and sines (n, 2) of a full turn, closed, read-only."""
    angles = np.linspace(0.0, 2.0 * math.pi, _PIECES + 1)
    return np.column_stack([np.cos(angles), np.sin(angles)])
