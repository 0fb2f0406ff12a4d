"""Content of a view of the platform: joints, each leg's use of its limits, and its colour."""

import math
from dataclasses import dataclass, field
from enum import Enum
from functools import cache

import numpy as np
import pyqtgraph as pg

from dynamics import Mechanism
from gui.models import Floats
from gui.texts import mark, tr
from gui.widgets import LEG_COLOURS, Theme
from kinematics import Geometry, interpreted, joint_angles, quaternion_to_matrix

LIMITS = (tr("stroke"), tr("base joint"), tr("platform joint"), tr("force"))
"""Columns of the limit uses."""
NEAR, AT = 0.9, 1.0
"""Fractions of a limit from which on a leg is near it, and at it."""


@dataclass(frozen=True, slots=True)
class Tightest:
    """The limit used most by a leg: its name, and the fraction used, 1 at the limit."""

    name: str
    used: float

    @property
    def near(self) -> bool:
        """Whether to warn."""
        return self.used >= NEAR

    @property
    def words(self) -> str:
        """Text of a mark next to the leg."""
        return f"{self.name} {100 * self.used:.0f} %"


def limit_uses(mechanism: Mechanism, row: np.void, forces: Floats) -> Floats:
    """Return fractions (6, 4) used of `LIMITS`, of a row with a measured pose; NaN without a limit.

    A stroke counts from its middle: 1 at either end. Angles are those of the measured pose; forces (6,) N.
    """
    uses = np.full((6, len(LIMITS)), np.nan)
    angles = None
    for leg, limits in enumerate(mechanism.limits):
        if limits is None:
            continue
        if limits.length is not None:
            low, high = limits.length
            uses[leg, 0] = abs(2.0 * float(row["length"][leg]) - low - high) / (high - low)
        if limits.universal_angle is not None or limits.spherical_angle is not None:
            if angles is None and mechanism.geometry.home is not None:
                with interpreted():  # one pose
                    angles = joint_angles(mechanism.geometry, row["pose"])
            if angles is not None:
                uses[leg, 1] = _part(float(angles.universal[leg]), limits.universal_angle)
                uses[leg, 2] = _part(float(angles.spherical[leg]), limits.spherical_angle)
        uses[leg, 3] = _part(abs(float(forces[leg])), limits.force)
    return uses


def tightest(uses: Floats) -> list[Tightest | None]:
    """Return the limit used most by each of six legs, None if unknown."""
    found: list[Tightest | None] = []
    for parts in uses:
        known = np.where(np.isfinite(parts), parts, -np.inf)
        index = int(known.argmax())
        found.append(Tightest(LIMITS[index], float(known[index])) if np.isfinite(known[index]) else None)
    return found


def _part(value: float, limit: float | None) -> float:
    return np.nan if limit is None else value / limit


class Colouring(Enum):
    """Meaning of the legs' colours; the value is the displayed name in English."""

    FORCE = mark("measured force")
    STROKE = mark("stroke used")
    LEG = mark("leg number")


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """Content of one picture, base frame, m.

    base and platform (6, 3): joints, by leg; command (6, 3): the platform's at the reference, whose pose is
    command_pose (7,), None when there is none; origin (3,) and axes (3, 3), columns, of the platform frame; colours (6,
    3): of the rods, 0 to 1; known: whether the pose was measured; present: whether it is the present, and the legs have
    the colours of their numbers. uses (6, 4): see `limit_uses`; measured and model (6,) N: forces along the legs,
    compression positive, NaN if unknown; wrench (6,): external force N and moment N m, base axes, None when there is
    none; trail (n, 7): past poses, oldest first.
    """

    base: Floats
    platform: Floats
    command: Floats | None
    command_pose: Floats | None
    origin: Floats
    axes: Floats
    colours: Floats
    known: bool
    present: bool
    uses: Floats
    measured: Floats
    model: Floats
    wrench: Floats | None = None
    trail: Floats = field(default_factory=lambda: np.empty((0, 7)))


@dataclass(frozen=True, slots=True)
class Scale:
    """Ends of the colour scale, and its unit."""

    low: float
    high: float
    unit: str


@dataclass(frozen=True, slots=True)
class LegPaint:
    """Colouring of the legs: meaning, scale, theme, and the row's field of forces.

    forces: telemetry field, N, that forces and their limits are taken from.
    """

    colouring: Colouring
    scale: Scale
    theme: Theme
    forces: str = "force_measured"


def is_pose(pose: Floats) -> bool:
    """Whether (7,) numbers are a pose."""
    return bool(np.isfinite(pose).all() and abs(np.linalg.norm(pose[3:]) - 1.0) < 1e-6)


_NEUTRAL = "#8A939C"
"""Colour of a leg without force, visible in both themes."""


def make_scene(
    mechanism: Mechanism,
    row: np.void | None,
    paint: LegPaint,
    *,
    past: bool = False,
    wrench: Floats | None = None,
    trail: Floats | None = None,
) -> Scene:
    """Return the scene of a telemetry row; without a row or a measured pose the platform is grey and at home.

    past: the row is not live: grey, without reference, forces and limits. wrench and trail: see `Scene`. Force limits
    use the paint's field of forces.
    """
    geometry = mechanism.geometry
    known = row is not None and is_pose(row["pose"])
    pose = np.array(row["pose"]) if row is not None and known else rest_pose(geometry)
    reference = np.array(row["reference"][:7]) if row is not None and not past else np.full(7, np.nan)
    colours = np.tile(rgb(paint.theme.muted), (6, 1))
    commanded = known and is_pose(reference)
    none, present = np.full(6, np.nan), False
    measured, model, uses = none, none, np.full((6, len(LIMITS)), np.nan)
    if row is not None and known and not past:
        present = True
        colours = leg_colours(mechanism, row, paint)
        measured, model = np.array(row["force_measured"]), np.array(row["force_model"])
        uses = limit_uses(mechanism, row, row[paint.forces])
    return Scene(
        base=geometry.base_points,
        platform=geometry.platform_joints(pose),
        command=geometry.platform_joints(reference) if commanded else None,
        command_pose=reference if commanded else None,
        origin=pose[:3],
        axes=quaternion_to_matrix(pose[3:]),
        colours=colours,
        known=known,
        present=present,
        uses=uses,
        measured=measured,
        model=model,
        wrench=wrench if present else None,
        trail=np.empty((0, 7)) if trail is None or not known else trail,
    )


def rest_pose(geometry: Geometry) -> Floats:
    """Return the home pose (7,); without one, level above the base by its joints' mean radius."""
    if geometry.home is not None:
        return geometry.home
    height = float(np.linalg.norm(geometry.base_points - geometry.base_points.mean(axis=0), axis=1).mean())
    x, y, z = geometry.base_points.mean(axis=0)
    return np.array([x, y, z + height, 1.0, 0.0, 0.0, 0.0])


def leg_colours(mechanism: Mechanism, row: np.void, paint: LegPaint) -> Floats:
    """Return the legs' colours (6, 3), 0 to 1; muted for NaN values."""
    if paint.colouring is Colouring.LEG:
        return np.array([rgb(colour) for colour in LEG_COLOURS])
    by_force = paint.colouring is Colouring.FORCE
    values = np.array(row[paint.forces]) if by_force else strokes(mechanism, row["length"])
    low, span = paint.scale.low, paint.scale.high - paint.scale.low
    colours = colour_map(paint.colouring).map(np.nan_to_num((values - low) / span), mode="float")[:, :3]
    shown: Floats = np.where(np.isfinite(values)[:, None], colours, rgb(paint.theme.muted))
    return shown


def strokes(mechanism: Mechanism, lengths: Floats) -> Floats:
    """Return the stroke used (6,), %, of lengths (6,), m: 0 at the minimum, 100 at the maximum; NaN without limits."""
    used = np.full(6, np.nan)
    for leg, limits in enumerate(mechanism.limits):
        if limits is not None and limits.length is not None:
            low, high = limits.length
            used[leg] = 100.0 * (float(lengths[leg]) - low) / (high - low)
    return used


@cache
def colour_map(colouring: Colouring) -> pg.ColorMap:
    """Return the colours of a scale, suitable for colour blindness.

    Forces from pulling blue over grey to pushing orange; strokes blue in their middle, orange at both ends.
    """
    if colouring is Colouring.FORCE:
        return pg.ColorMap([0.0, 0.5, 1.0], ["#3D8FE0", _NEUTRAL, "#E8820C"])
    return pg.ColorMap([0.0, 0.1, 0.5, 0.9, 1.0], ["#E8820C", "#C9A227", "#3D8FE0", "#C9A227", "#E8820C"])


_LEAST_FORCE = 0.01
"""N, end of the finest scale: smaller forces are noise of any cell."""


def force_scale(largest: float) -> Scale:
    """Return a symmetric scale with round ends for forces up to `largest` N; ±1 N without forces."""
    if not math.isfinite(largest) or largest <= 0.0:
        return Scale(-1.0, 1.0, "N")
    largest = max(largest, _LEAST_FORCE)
    power = 10.0 ** math.floor(math.log10(largest))
    end = next(step * power for step in (1.0, 2.0, 5.0, 10.0) if step * power >= largest * (1 - 1e-12))
    return Scale(-end, end, "N")


STROKE_SCALE = Scale(0.0, 100.0, "%")


def ring_order(points: Floats) -> Floats:
    """Return points (6, 3) in their order round the platform, closed: (7, 3)."""
    middle = points - points.mean(axis=0)
    _, _, basis = np.linalg.svd(middle)
    order = np.argsort(np.arctan2(middle @ basis[1], middle @ basis[0]))
    ordered: Floats = points[[*order, order[0]]]
    return ordered


@cache
def rgb(colour: str) -> Floats:
    """Return a colour #RRGGBB as (3,), 0 to 1, read-only."""
    return np.frombuffer(bytes.fromhex(colour.removeprefix("#")), np.uint8) / 255.0
