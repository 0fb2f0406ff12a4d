"""From a place on the picture to the machine: how far along an axis, or round a ring, the pointer is.

A pinhole camera at the eye e sees the point p at (u, v) = (x, y) / −z, (x, y, z) being p − e in the camera's axes. What
is under (u, v) lies on the ray e + s·d, where d is (u, v, −1) carried to base axes.
"""

import math

import numpy as np

from gui.scene.camera import Camera, focal
from gui.session import Floats

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
