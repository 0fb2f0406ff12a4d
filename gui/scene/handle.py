"""The handle that a pose is dragged by: arrows and rings, and where on them the pointer is."""

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
"""sine of the angle between a ray and an axis, or a ring's plane; below it a px of the pointer would tell too much"""
_NEAREST = 1e-3  # m before the eye


def ray(camera: Camera, size: tuple[float, float], place: tuple[float, float]) -> Floats:
    """Direction (3,), of length 1, base axes, from the eye through a place, px, of a picture of this size."""
    seen = np.array([place[0] - 0.5 * size[0], 0.5 * size[1] - place[1], -focal(size)])
    direction: Floats = seen @ camera.axes
    return direction / float(np.linalg.norm(direction))


def along_axis(
    camera: Camera, size: tuple[float, float], place: tuple[float, float], origin: Floats, axis: Floats
) -> float | None:
    """How far along an axis, m from `origin` (3,) m, the point is whose picture is nearest to a place, px.

    `axis` (3,): of length 1. None where the pointer tells nothing: the axis is seen end-on, or the point would not be
    before the eye.
    """
    x, y, z = camera.seen(origin[None])[0]
    across, up, back = camera.axes @ axis
    if z > -_NEAREST or math.sqrt(1.0 - min(1.0, float(axis @ _towards(camera, origin)) ** 2)) < STEEPEST:
        return None
    middle, scale = np.array([x, y]) / -z, focal(size)
    line = np.array([-across * z + x * back, -up * z + y * back])  # of the axis' picture, by the quotient's derivative
    line /= float(np.linalg.norm(line))
    wanted = np.array([place[0] - 0.5 * size[0], 0.5 * size[1] - place[1]]) / scale
    u, v = middle + float((wanted - middle) @ line) * line
    # the picture of origin + s·axis is (x + s·across, y + s·up) / −(z + s·back): equal to (u, v), in its larger part
    one, other = across + u * back, up + v * back
    reached = -(x + u * z) / one if abs(one) > abs(other) else -(y + v * z) / other
    return float(reached) if z + reached * back < -_NEAREST else None


def round_axis(
    camera: Camera, size: tuple[float, float], place: tuple[float, float], origin: Floats, axis: Floats
) -> float | None:
    """The angle about an axis, rad, at which a place, px, is in the plane through `origin` (3,) m across that axis.

    `axis` (3,): of length 1; the angle is measured by `across`. None where the pointer tells nothing: the plane is seen
    edge-on there, or is not before the eye.
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
    """Two directions (3,) of length 1 that with `axis` (3,) are a right-handed frame: axis = first × second."""
    helper = np.eye(3)[int(np.abs(axis).argmin())]
    first: Floats = np.cross(axis, helper)
    first = first / float(np.linalg.norm(first))
    return first, np.cross(axis, first)


def can_be_taken(camera: Camera, origin: Floats, axis: Floats, *, turning: bool) -> bool:
    """Whether the pointer tells enough of an axis (3,) through `origin` (3,) m, or of the ring about it."""
    cosine = abs(float(axis @ _towards(camera, origin)))
    return cosine >= STEEPEST if turning else math.sqrt(1.0 - min(1.0, cosine**2)) >= STEEPEST


def distance_to(lines: Floats, place: tuple[float, float]) -> float:
    """How far a place is from the nearest of joined lines (n, 2), px."""
    begins, ways = lines[:-1], np.diff(lines, axis=0)
    lengths = np.maximum((ways**2).sum(axis=1), 1e-12)
    parts = np.clip(((np.array(place) - begins) * ways).sum(axis=1) / lengths, 0.0, 1.0)
    return float(np.linalg.norm(begins + parts[:, None] * ways - np.array(place), axis=1).min())


def _towards(camera: Camera, point: Floats) -> Floats:
    way = point - camera.eye
    towards: Floats = way / max(float(np.linalg.norm(way)), 1e-12)
    return towards


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
