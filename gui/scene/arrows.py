"""Overlays of the machine: force arrows, external wrench, trail, axes and labels."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product

import numpy as np
from pyqtgraph.Qt import QtCore, QtGui

from gui.models import Floats
from gui.scene.figure import Figure, leg_hues, near_limits
from gui.scene.meshes import SOLID, Solids, arrows, solids
from gui.scene.scene import Scene, rgb
from gui.widgets import LEG_COLOURS, Theme

_PLACES = 8  # positions above and below to try
_ROOM = 4.0  # px, padding of a label


@dataclass(frozen=True, slots=True, eq=False)
class Mark:
    """A short label centred at a point (3,), m, in a colour; on a background unless that is empty."""

    text: str
    place: Floats
    colour: str
    ground: str = ""
    moves: bool = False
    """Whether it moves up or down if its place is taken by an earlier mark; otherwise it may overlap."""


def write_marks(
    painter: QtGui.QPainter, font: QtGui.QFont, marks: Iterable[Mark], places: Iterable[QtCore.QPointF]
) -> None:
    """Draw marks at their places in the picture."""
    bold = QtGui.QFont(font)
    bold.setBold(True)
    painter.setFont(bold)
    metrics = QtGui.QFontMetricsF(bold)
    taken: list[QtCore.QRectF] = []
    for mark, place in zip(marks, places, strict=True):
        area = metrics.boundingRect(mark.text)
        area.moveCenter(place)
        if mark.ground:
            chip = QtCore.QRectF(0.0, 0.0, max(area.width() + 2 * _ROOM, area.height() + 2.0), area.height() + 2.0)
            chip.moveCenter(place)
            if mark.moves:
                chip = _apart(chip, taken)
            taken.append(chip)
            painter.setPen(QtCore.Qt.PenStyle.NoPen)
            painter.setBrush(QtGui.QColor(mark.ground))
            painter.drawRoundedRect(chip, 0.5 * chip.height(), 0.5 * chip.height())
            area = chip
        painter.setPen(QtGui.QColor(mark.colour))
        painter.drawText(area, QtCore.Qt.AlignmentFlag.AlignCenter, mark.text)


def _apart(chip: QtCore.QRectF, taken: Sequence[QtCore.QRectF]) -> QtCore.QRectF:
    """Return the nearest free place above or below."""
    step = chip.height() + 2.0
    tried = (chip.translated(0.0, step * number) for number in sorted(range(-_PLACES, _PLACES + 1), key=abs))
    return next((one for one in tried if not any(one.intersects(other) for other in taken)), chip)


_SHAFT = 0.013
"""Radius of an arrow, of the base joints' mean radius."""
_CLEAR = 0.11
"""Gap between a platform joint and its arrow, of the same."""
_LONGEST = 0.62
"""Length of an arrow at the end of the force scale, of the same."""
_ASIDE = 0.15
"""Gap between a base joint and its leg's number, of the base's radius."""
_BEYOND = 1.2
"""Distance of an axis' letter, of the axis' length."""
_WAY = 0.006
"""Radius of a motion's path, of the base joints' mean radius."""
_PIECES = 300
"""Segments of such a path, at most twice as many: each costs some µs per frame."""


@dataclass(frozen=True, slots=True)
class OverlayOptions:
    """Optional overlays of the machine."""

    forces: bool = True
    wrench: bool = False
    trail: bool = True
    limits: bool = True


def extras(figure: Figure, scene: Scene, theme: Theme, shown: OverlayOptions, full_force: float) -> Solids:
    """Return the platform's axes and the selected overlays; arrows have full length at `full_force`, N."""
    u, parts = figure.radius, [_axes(figure, scene, theme)]
    if shown.forces:
        axes = scene.platform - scene.base
        axes = axes / np.maximum(np.linalg.norm(axes, axis=1), 1e-9)[:, None]
        hues, reach = leg_hues(scene, theme), _LONGEST * u / full_force
        expected = not np.isfinite(scene.measured).any()  # there are no measured forces
        lengths, radius, clear = reach * (scene.model if expected else scene.measured), _SHAFT * u, _CLEAR * u
        parts.append(_pushes(scene, axes, lengths, radius, hues, clear))
        if not expected:
            aside = np.cross(axes, scene.platform - scene.origin)
            aside *= 3.4 * radius / np.maximum(np.linalg.norm(aside, axis=1), 1e-9)[:, None]
            parts.append(_pushes(scene, axes, reach * scene.model, 0.62 * radius, rgb(theme.text), clear, aside))
    if shown.wrench and scene.wrench is not None:
        reach = _LONGEST * u / full_force
        force, moment = scene.wrench[:3] * reach, scene.wrench[3:] * reach / u
        tail, hue = scene.origin[None], rgb(theme.warning)
        parts.append(arrows(tail, force[None], 1.6 * _SHAFT * u, hue))
        for part in (1.0, 0.86):  # a moment has a double head
            parts.append(arrows(tail, part * moment[None], 1.2 * _SHAFT * u, hue))
    if shown.trail and len(scene.trail) > 1:
        fade, places = np.linspace(0.06, 0.9, len(scene.trail) - 1), figure.points(scene.trail)
        parts.append(solids(places[:-1], places[1:], 0.007 * u, rgb(theme.accent), alpha=fade, glow=1.0))
    return np.concatenate(parts)


def way(figure: Figure, poses: Floats, theme: Theme) -> Solids:
    """Return the path of the plate's upper centre along a motion, poses (n, 7), and its bounding box."""
    places = figure.points(poses[:: max(1, len(poses) // _PIECES)])
    low, high = figure.points(poses).min(axis=0), figure.points(poses).max(axis=0)
    corners = np.array(list(product(*zip(low, high, strict=True))))
    edges = [(a, b) for a, b in combinations(range(8), 2) if (a ^ b).bit_count() == 1]
    begins, ends = (corners[list(each)] for each in zip(*edges, strict=True))
    thin = _WAY * figure.radius
    line = solids(places[:-1], places[1:], thin, rgb(theme.accent), glow=0.8)
    return np.concatenate([line, solids(begins, ends, 0.5 * thin, rgb(theme.muted), glow=0.8)])


def force_room(figure: Figure) -> Floats:
    """Return the reach of the legs' arrows at home, (6, 3) m, base frame."""
    up = figure.rest.mean(axis=0) - figure.middle
    reach: Floats = figure.rest + _LONGEST * figure.radius * up / max(float(np.linalg.norm(up)), 1e-9)
    return reach


def marks_of(figure: Figure, scene: Scene, theme: Theme, shown: OverlayOptions) -> list[Mark]:
    """Return the legs' numbers, the axes' letters, and the limits that legs are near."""
    marks = _leg_numbers(figure, scene, theme)
    tips = _tips(figure, scene)
    places = tips + (_BEYOND - 1.0) * (tips - _middle(figure, scene))
    marks += [
        Mark(letter, place, colour) for letter, place, colour in zip("xyz", places, theme.axis_colours(), strict=True)
    ]
    if shown.limits:
        middles = 0.42 * scene.base + 0.58 * scene.platform
        for leg, found in sorted(near_limits(scene), key=lambda near: -near[1].used):  # the worst is placed first
            colour = theme.error if found.used >= 1.0 else theme.warning
            marks.append(Mark(f"⚠ {leg + 1}: {found.words}", middles[leg], theme.surface, colour, moves=True))
    return marks


def _leg_numbers(figure: Figure, scene: Scene, theme: Theme) -> list[Mark]:
    """Return the marks next to the base joints, outwards and below, on the colour of their leg."""
    below = figure.middle - figure.rest.mean(axis=0)
    outwards = scene.base - figure.middle
    away = outwards + figure.radius * below / max(float(np.linalg.norm(below)), 1e-9)
    places = scene.base + _ASIDE * away
    grounds = LEG_COLOURS if scene.present else (theme.muted,) * 6
    return [
        Mark(str(leg), place, _ink(ground), ground)
        for leg, (place, ground) in enumerate(zip(places, grounds, strict=True), 1)
    ]


@cache
def _ink(ground: str) -> str:
    """Return black or white, whichever has more contrast."""
    linear = np.where(rgb(ground) <= 0.04045, rgb(ground) / 12.92, ((rgb(ground) + 0.055) / 1.055) ** 2.4)
    return "#101418" if float(linear @ [0.2126, 0.7152, 0.0722]) > 0.18 else "#FFFFFF"


def _middle(figure: Figure, scene: Scene) -> Floats:
    """Return the origin of the axes, (3,) m: on the plate, above the platform's origin."""
    middle: Floats = scene.origin + scene.axes @ figure.top
    return middle


def _tips(figure: Figure, scene: Scene) -> Floats:
    tips: Floats = _middle(figure, scene) + 0.42 * figure.radius * scene.axes.T
    return tips


def _axes(figure: Figure, scene: Scene, theme: Theme) -> Solids:
    middle, tips = _middle(figure, scene), _tips(figure, scene)
    colours = np.array([rgb(colour) for colour in theme.axis_colours()])
    return arrows(np.tile(middle, (3, 1)), tips - middle, 0.010 * figure.radius, colours)


def _pushes(
    scene: Scene,
    axes: Floats,
    lengths: Floats,
    radius: float,
    hues: Floats,
    clear: float,
    aside: "float | Floats" = 0.0,
) -> Solids:
    """Return arrows of lengths (6,) m above the platform joints: away from a pushing leg, towards a pulling one.

    clear: m between joint and arrow, for the plate; aside: (6, 3) m from the legs' axes.
    """
    known = np.isfinite(lengths)
    if not known.any():
        return np.zeros(0, SOLID)
    vectors = axes[known] * lengths[known, None]
    tails = (scene.platform + aside + clear * axes)[known] + np.where(lengths[known, None] < 0.0, -vectors, 0.0)
    return arrows(tails, vectors, radius, np.broadcast_to(hues, (6, 3))[known])
