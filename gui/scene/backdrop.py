"""The background: the ground with its grid, cached per camera, and the moving shadows on it."""

import math
from dataclasses import dataclass, field

import numpy as np
from pyqtgraph.Qt import QtCore, QtGui

from gui.models import Floats
from gui.scene.camera import KEY_LIGHT, Camera, focal
from gui.scene.scene import rgb
from gui.scene.shaders import AMBIENT, KEY, SKY
from gui.widgets import Theme

_REACH = 3.4
"""Radius of the ground, of the scene's."""
_LINES = 4
"""Approximate number of grid lines across the scene's radius."""
_PIECES = 24
"""Segments of a grid line, each with its own fading."""
_LAYERS = 8
"""Layers of a soft shadow."""
_SPREAD = 0.10
"""Half of the width over which the shadow of the base fades, of the scene's radius."""
_STREAKS = 2
"""Layers of a leg's shadow."""
_DARKNESS = {"dark": 0.50, "light": 0.26}
"""Opacity of a shadow's middle, by theme."""


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """The ground: its middle (3,) m, the machine's radius, m, and the ring (n, 3) m of the base on it.

    face: the base's upper side (n, 3) m, in a colour (3,), 0 to 1; painted with the ground, since nothing can be behind
    it.
    """

    middle: Floats
    radius: float
    ring: Floats
    face: Floats | None = None
    colour: dict[str, str] = field(default_factory=dict)
    """Colour of the face, #RRGGBB, by theme."""


def paint_backdrop(size: tuple[int, int], camera: Camera, theme: Theme, ground: Ground) -> QtGui.QImage:
    """Return the ground seen by a camera, as a picture of this size, px."""
    middle, radius = ground.middle, ground.radius
    image = QtGui.QImage(*size, QtGui.QImage.Format.Format_RGB32)
    painter = QtGui.QPainter(image)
    painter.setRenderHint(QtGui.QPainter.RenderHint.Antialiasing)
    spot = camera.picture(middle[None], size)[0]
    glow = QtGui.QRadialGradient(QtCore.QPointF(*spot), 0.85 * max(size))
    glow.setColorAt(0.0, QtGui.QColor(_lifted(theme)))
    glow.setColorAt(1.0, QtGui.QColor(theme.window))
    painter.fillRect(image.rect(), glow)
    _paint_grid(painter, size, camera, theme, middle, radius)
    paint_shadow(painter, size, camera, theme, cast(ground.ring, camera, float(middle[2])), _SPREAD * radius)
    if ground.face is not None:
        light = AMBIENT + SKY + KEY * max(float(camera.axes[:, 2] @ KEY_LIGHT), 0.0)
        painter.setPen(QtCore.Qt.PenStyle.NoPen)
        painter.setBrush(QtGui.QColor.fromRgbF(*np.clip(light * rgb(ground.colour[theme.name]), 0.0, 1.0)))
        painter.drawPolygon(polygon(camera.picture(ground.face, size)))
    painter.end()
    return image


def paint_shadow(
    painter: QtGui.QPainter, size: tuple[int, int], camera: Camera, theme: Theme, ring: Floats, spread: float
) -> None:
    """Draw a soft shadow of a ring (n, 3) m that lies on the ground; it fades over twice `spread`, m."""
    middle = ring.mean(axis=0)
    outwards = ring - middle
    extent = max(float(np.linalg.norm(outwards, axis=1).mean()), 1e-9)
    faint = 1.0 - (1.0 - _DARKNESS[theme.name]) ** (1.0 / _LAYERS)  # per layer, to sum up to the darkness
    painter.setPen(QtCore.Qt.PenStyle.NoPen)
    painter.setBrush(QtGui.QColor.fromRgbF(0.0, 0.0, 0.0, faint))
    factors = 1.0 + spread / extent * np.linspace(1.0, -1.0, _LAYERS)
    rings = middle + factors[factors > 0.0, None, None] * outwards
    for places in camera.picture(rings.reshape(-1, 3), size).reshape(*rings.shape[:2], 2):
        painter.drawPolygon(polygon(places))


def paint_streaks(
    painter: QtGui.QPainter, size: tuple[int, int], camera: Camera, theme: Theme, rods: Floats, width: float
) -> None:
    """Draw the soft shadows of rods, with ends (n, 2, 3) m on the ground, about `width` m wide."""
    ends = rods.reshape(-1, 3)
    distances = -camera.seen(ends)[:, 2].reshape(-1, 2).mean(axis=1)
    faint = QtGui.QColor.fromRgbF(0.0, 0.0, 0.0, 0.45 * _DARKNESS[theme.name] / _STREAKS)
    for places, distance in zip(camera.picture(ends, size).reshape(-1, 4).tolist(), distances.tolist(), strict=True):
        line, scale = QtCore.QLineF(*places), focal(size) / max(distance, 1e-3)
        for part in range(_STREAKS):
            pen = QtGui.QPen(faint, scale * width * (0.7 + 0.7 * part))
            pen.setCapStyle(QtCore.Qt.PenCapStyle.RoundCap)
            painter.setPen(pen)
            painter.drawLine(line)


def cast(points: Floats, camera: Camera, ground: float) -> Floats:
    """Project points (n, 3) m along the key light onto the ground at a height, m: a little to the right and back."""
    right, back = camera.axes[0], np.array([-camera.axes[0][1], camera.axes[0][0], 0.0])
    height = (points[:, 2] - ground)[:, None]
    thrown: Floats = points + height * (0.16 * right + 0.10 * back)
    thrown[:, 2] = ground
    return thrown


def polygon(places: Floats) -> QtGui.QPolygonF:
    """Return pixel positions (n, 2) as a polygon."""
    return QtGui.QPolygonF([QtCore.QPointF(x, y) for x, y in places.tolist()])


def _lifted(theme: Theme) -> str:
    """Return the colour of the ground, slightly lighter than its surroundings."""
    return theme.raised if theme.name == "dark" else theme.surface


def _paint_grid(
    painter: QtGui.QPainter, size: tuple[int, int], camera: Camera, theme: Theme, middle: Floats, radius: float
) -> None:
    step = _round(radius / _LINES)
    reach = _REACH * radius
    count = int(reach / step)
    colour = QtGui.QColor(theme.muted)
    for number in range(-count, count + 1):
        offset = number * step
        half = math.sqrt(max(reach**2 - offset**2, 0.0))
        along = np.linspace(-half, half, _PIECES + 1)
        strength = 0.42 if number % 5 == 0 else 0.20
        for flip in (False, True):
            points = np.tile(middle, (_PIECES + 1, 1))
            points[:, 0 if flip else 1] += along
            points[:, 1 if flip else 0] += offset
            in_front = -camera.seen(points)[:, 2] > 0.15 * camera.distance
            places = camera.picture(points, size)
            far = np.hypot(0.5 * (along[1:] + along[:-1]), offset) / reach
            fades = strength * np.clip(1.0 - far, 0.0, 1.0) ** 1.5
            for piece in np.flatnonzero(in_front[1:] & in_front[:-1] & (fades > 0.01)):
                colour.setAlphaF(float(fades[piece]))
                painter.setPen(QtGui.QPen(colour, max(1.0, focal(size) / 1400.0)))
                painter.drawLine(QtCore.QPointF(*places[piece]), QtCore.QPointF(*places[piece + 1]))


def _round(length: float) -> float:
    """Round a length up to 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(length))
    return next(step * power for step in (1.0, 2.0, 5.0, 10.0) if step * power >= length)
