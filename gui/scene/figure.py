"""The machine as drawn: its constant parts, custom meshes, and their places in a scene."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from dynamics import Mechanism
from gui.models import Floats
from gui.scene.backdrop import Ground, cast
from gui.scene.camera import Camera
from gui.scene.meshes import Mesh, Placed, Solids, balls, loop, plate, smooth_mesh, solids
from gui.scene.scene import Scene, Tightest, rest_pose, rgb, ring_order, tightest
from gui.texts import tr
from gui.widgets import LEG_COLOURS, Theme
from kinematics import quaternion_to_matrix
from rig.config import RigConfig, read_shape
from rig.errors import InputError

_TUBE, _ROD, _JOINT, _RIM = 0.043, 0.025, 0.050, 0.026
"""Radii of legs' parts, joints and plate rims, of the base joints' mean radius."""
_HALO = 1.35
"""Radius of the commanded rim, of the plate's: larger, so that it stays visible around the plate."""
_OVERHANG = 1.13
"""Size of a plate relative to its joints."""
_INSIDE = 0.88
"""Length of a leg's cylinder, of the shortest leg."""
_STRIPES = 14.0
"""Stripes per base radius on a leg near a limit."""
_METAL = {"dark": "#C3CAD2", "light": "#9AA4AE"}
_PLATE = {"dark": "#8E99A6", "light": "#AEB8C2"}
_BASE = {"dark": "#5A6470", "light": "#8D98A3"}


@dataclass(frozen=True, slots=True, eq=False)
class Shapes:
    """Custom meshes in place of the plates, in axes of the platform and of the base; None: the plate."""

    platform: Mesh | None = None
    base: Mesh | None = None


class Figure:
    """Drawing of a mechanism. Its meshes are created here and placed by `meshes`; legs are solids from joint to joint.

    Args:
        mechanism: gives joints and strokes.
        shapes: custom meshes.
    """

    def __init__(self, mechanism: Mechanism, shapes: Shapes | None = None) -> None:
        geometry = self._geometry = mechanism.geometry
        self.shapes = shapes or Shapes()
        base, pose = geometry.base_points, rest_pose(geometry)
        self._home = pose
        self.middle: Floats = base.mean(axis=0)
        self.radius = float(np.linalg.norm(base - self.middle, axis=1).mean())
        """m, mean distance of the base joints from their middle; scales everything else."""
        self.rest: Floats = geometry.platform_joints(pose)
        towards = quaternion_to_matrix(pose[3:]).T @ (pose[:3] - self.middle)
        lift = _JOINT * self.radius
        self.top: Floats = (
            (lift + _RIM * self.radius)
            * _sign(geometry.platform_points, towards)
            * _normal(ring_order(geometry.platform_points)[:6])
        )
        """From the platform's origin to the upper side of its plate, (3,) m, platform axes."""
        self.platform_ring = _widened(geometry.platform_points, lift * _sign(geometry.platform_points, towards))
        self.base_ring = _widened(base, -lift * _sign(base, pose[:3] - self.middle))
        rim = _RIM * self.radius
        self._platform_plate = plate(self.platform_ring, 2.0 * rim)
        self._base_plate = plate(self.base_ring, 2.0 * rim)
        lowest = [self.base_ring, self.rest]
        if self.shapes.base is not None:
            lowest.append(self.shapes.base.bounds)
        self.ground = min(float(points[:, 2].min()) for points in lowest) - rim
        """Height of the ground, m."""
        painted = self.shapes.base is None and bool(pose[2] > self.middle[2])
        face = self.base_ring + np.array([0.0, 0.0, rim]) if painted else None
        on_ground = np.column_stack([self.base_ring[:, :2], np.full(6, self.ground)])
        self.backdrop = Ground(np.array([*self.middle[:2], self.ground]), self.radius, on_ground, face, _BASE)
        self._cylinders = _cylinders(mechanism, self.rest)

    @property
    def extent(self) -> Floats:
        """Points (n, 3) m, base frame, to be framed with the machine at home."""
        points = [self.base_ring, self.rest, [[*self.middle[:2], self.ground]]]
        up = self.rest.mean(axis=0) - self.middle
        points.append(self.rest + 0.28 * up)  # room for motion, axes and arrows
        if self.shapes.base is not None:
            points.append(self.shapes.base.bounds)
        if self.shapes.platform is not None:
            points.append(self._home[:3] + self.shapes.platform.bounds @ quaternion_to_matrix(self._home[3:]).T)
        return np.concatenate([np.asarray(part) for part in points])

    def meshes(self, scene: Scene, theme: Theme) -> list[Placed]:
        """Return the plates, or the custom meshes."""
        platform = self.shapes.platform or self._platform_plate
        placed = [Placed(platform, scene.axes, scene.origin, rgb(_PLATE[theme.name]))]
        if self.backdrop.face is None:
            base = self.shapes.base or self._base_plate
            placed.append(Placed(base, np.eye(3), np.zeros(3), rgb(_BASE[theme.name])))
        return placed

    def solids(self, scene: Scene, theme: Theme) -> Solids:
        """Return legs, joints and rims, and the commanded platform as a ghost."""
        u, metal = self.radius, rgb(_METAL[theme.name])
        directions = _directions(scene)
        cylinder_ends = scene.base + self._cylinders[:, None] * directions
        hues = leg_hues(scene, theme)
        near = np.array([bool(found and found.near) for found in tightest(scene.uses)])
        stripes = np.where(near, _STRIPES / u, 0.0)
        parts = [
            solids(scene.base, cylinder_ends, _TUBE * u, hues, stripes=stripes),
            solids(cylinder_ends - 0.02 * u * directions, cylinder_ends, 1.22 * _TUBE * u, 0.55 * metal),
            solids(cylinder_ends, scene.platform, _ROD * u, scene.colours if scene.present else metal),
            balls(scene.base, _JOINT * u, 0.5 * metal),
            balls(scene.platform, 0.9 * _JOINT * u, metal),
        ]
        if self.shapes.base is None:
            parts.append(loop(self.base_ring, _RIM * u, rgb(_BASE[theme.name])))
        if self.shapes.platform is None:
            parts.append(loop(self.placed_ring(scene), _RIM * u, rgb(_PLATE[theme.name])))
        if scene.command_pose is not None:
            ghost = self.rings(scene.command_pose[None])[0]
            parts.append(loop(ghost, _HALO * _RIM * u, rgb(theme.accent), alpha=0.45))
        return np.concatenate(parts)

    def ghost(self, pose: Floats, colour: Floats) -> Solids:
        """Return a ghost of the machine at a target pose (7,), in a colour (3,): its rim and legs."""
        u, joints = self.radius, self._geometry.platform_joints(pose)
        rim = loop(self.rings(pose[None])[0], 0.8 * _RIM * u, colour, alpha=0.6)
        return np.concatenate([rim, solids(self._geometry.base_points, joints, 0.4 * _ROD * u, colour, alpha=0.35)])

    def points(self, poses: Floats) -> Floats:
        """Return the plate's upper centre, (n, 3) m, base frame, at poses (n, 7)."""
        places: Floats = poses[:, :3] + quaternion_to_matrix(poses[:, 3:]) @ self.top
        return places

    def rings(self, poses: Floats) -> Floats:
        """Return the platform plate's corners (n, 6, 3) m, base frame, at poses (n, 7)."""
        turned = np.einsum("nij,cj->nci", quaternion_to_matrix(poses[:, 3:]), self.platform_ring)
        rings: Floats = poses[:, None, :3] + turned
        return rings

    def placed_ring(self, scene: Scene) -> Floats:
        """Return the platform plate's corners (6, 3) m in the base frame."""
        ring: Floats = scene.origin + self.platform_ring @ scene.axes.T
        return ring

    def shadows(self, scene: Scene, camera: Camera) -> tuple[Floats, Floats]:
        """Return the shadows of the platform's ring and of the legs' axes (6, 2, 3) m, on the surface below them."""
        height = self.ground if self.backdrop.face is None else float(self.backdrop.face[:, 2].mean())
        ring = cast(self.placed_ring(scene), camera, height)
        ends = np.stack([scene.base, scene.platform], axis=1)
        return ring, cast(ends.reshape(-1, 3), camera, height).reshape(ends.shape)


@cache
def _hues(present: bool, theme: Theme) -> Floats:
    return np.array([rgb(colour if present else theme.muted) for colour in LEG_COLOURS])


def leg_hues(scene: Scene, theme: Theme) -> Floats:
    """Return the legs' identifying colours (6, 3); grey if the scene is not live."""
    return _hues(scene.present, theme)


def near_limits(scene: Scene) -> list[tuple[int, Tightest]]:
    """Return the legs (index) near a limit, and which limit."""
    return [(leg, found) for leg, found in enumerate(tightest(scene.uses)) if found is not None and found.near]


def _directions(scene: Scene) -> Floats:
    axes = scene.platform - scene.base
    directions: Floats = axes / np.maximum(np.linalg.norm(axes, axis=1), 1e-9)[:, None]
    return directions


def _widened(points: Floats, lift: float) -> Floats:
    """Return the ring of joints (6, 3) as corners of a larger plate, lifted along its normal, m."""
    ring = ring_order(points)[:6]
    middle: Floats = ring.mean(axis=0)
    widened: Floats = middle + _OVERHANG * (ring - middle) + lift * _normal(ring)
    return widened


def _normal(ring: Floats) -> Floats:
    middle = ring.mean(axis=0)
    across = np.cross(ring - middle, np.roll(ring, -1, axis=0) - middle).sum(axis=0)
    normal: Floats = across / np.linalg.norm(across)
    return normal


def _sign(points: Floats, towards: Floats) -> float:
    return 1.0 if float(_normal(ring_order(points)[:6]) @ towards) >= 0.0 else -1.0


def _cylinders(mechanism: Mechanism, rest: Floats) -> Floats:
    """Return each leg's cylinder length, (6,) m: what its shortest length allows, or most of that at home."""
    home = np.linalg.norm(rest - mechanism.geometry.base_points, axis=1)
    shortest: Sequence[float] = [
        0.75 * float(at_home) if limits is None or limits.length is None else limits.length[0]
        for limits, at_home in zip(mechanism.limits, home, strict=True)
    ]
    return _INSIDE * np.array(shortest)


_CREASE = np.radians(35.0)
"""Angle from which on two triangles form an edge."""


def shapes_of(config: RigConfig) -> tuple[Shapes, list[str]]:
    """Return the custom meshes of a configuration, and why some of them cannot be shown, as text."""
    faults: list[str] = []

    def read(name: str | None) -> Mesh | None:
        if name is None:
            return None
        try:
            shape = read_shape(Path(config.folder, name), config.picture.unit)
        except InputError as error:
            faults.append(tr("a plain plate is shown instead: {error}").format(error=error))
            return None
        return smooth_mesh(shape.points, shape.faces, _CREASE)

    return Shapes(platform=read(config.picture.platform), base=read(config.picture.base)), faults
