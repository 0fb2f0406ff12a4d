"""Elements of scenes: round cones, and triangle meshes."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gui.models import Floats

SOLID = np.dtype(
    [
        ("begin", np.float32, 3),
        ("begin_radius", np.float32),
        ("end", np.float32, 3),
        ("end_radius", np.float32),
        ("colour", np.float32, 4),
        ("stripes", np.float32),
        ("glow", np.float32),
    ]
)
"""One round cone, the hull of two balls: centres and radii, m; colour 0 to 1 with alpha; stripes per metre along it, 0
for none; glow: emissive part, 0 to 1; at 1 it shines through opaque parts in front of it."""
Solids = npt.NDArray[np.void]


def solids(
    begin: Floats,
    end: Floats,
    radius: "float | Floats | tuple[float, float]",
    colour: Floats,
    *,
    alpha: "float | Floats" = 1.0,
    stripes: "float | Floats" = 0.0,
    glow: float = 0.0,
) -> Solids:
    """Return round cones from `begin` to `end` (n, 3) m, with one or two end radii, colours (3,) or (n, 3)."""
    made = np.zeros(len(begin), SOLID)
    made["begin"], made["end"] = begin, end
    made["begin_radius"], made["end_radius"] = radius if isinstance(radius, tuple) else (radius, radius)
    made["colour"][:, :3] = colour
    made["colour"][:, 3] = alpha
    made["stripes"], made["glow"] = stripes, glow
    return made


def balls(centres: Floats, radius: float, colour: Floats, *, alpha: float = 1.0) -> Solids:
    """Return balls at centres (n, 3) m."""
    return solids(centres, centres, radius, colour, alpha=alpha)


def loop(points: Floats, radius: float, colour: Floats, *, alpha: float = 1.0) -> Solids:
    """Return rods along the closed ring of points (n, 3) m."""
    return solids(points, np.roll(points, -1, axis=0), radius, colour, alpha=alpha)


def arrows(tails: Floats, vectors: Floats, radius: float, colour: Floats, *, alpha: float = 1.0) -> Solids:
    """Return arrows from `tails` (n, 3) m along `vectors` (n, 3) m, shaft and tip; none if shorter than 3 radii."""
    lengths = np.linalg.norm(vectors, axis=1)
    drawn = lengths > 3.0 * radius
    tails, vectors, lengths = tails[drawn], vectors[drawn], lengths[drawn]
    colours = np.broadcast_to(colour, (len(drawn), 3))[drawn]
    tips = tails + vectors
    necks = tips - vectors * np.minimum(1.0, 5.0 * radius / np.maximum(lengths, 1e-12))[:, None]
    shafts = solids(tails, necks, radius, colours, alpha=alpha, glow=0.25)
    heads = solids(necks, tips, (2.4 * radius, 0.2 * radius), colours, alpha=alpha, glow=0.25)
    return np.concatenate([shafts, heads])


_ROUND = np.radians(40.0)
"""Angle below which a hull's facets are shaded smoothly."""


@dataclass(frozen=True, slots=True, eq=False)
class Mesh:
    """Vertices (3 m, 6), three per triangle: position, m, and normal, in the body's axes. Immutable."""

    corners: npt.NDArray[np.float32]

    @property
    def bounds(self) -> Floats:
        """Return the eight corners of the bounding box, (8, 3) m."""
        places = self.corners[:, :3]
        ends = np.array([places.min(axis=0), places.max(axis=0)], dtype=np.float64)
        return np.array([ends[[i, j, k], [0, 1, 2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)])


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """A mesh in the scene: rotation (3, 3) and origin (3,) m in base axes, colour (3,) 0 to 1, alpha."""

    mesh: Mesh
    rotation: Floats
    origin: Floats
    colour: Floats
    alpha: float = 1.0


def mesh_of(triangles: Floats) -> Mesh:
    """Return flat triangles (m, 3, 3) m as a mesh, without degenerate ones."""
    across = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    areas = np.linalg.norm(across, axis=1)
    there = areas > 0.0
    normals = across[there] / areas[there, None]
    corners = np.concatenate([triangles[there], np.repeat(normals[:, None], 3, axis=1)], axis=2)
    return Mesh(corners.reshape(-1, 6).astype(np.float32))


def smooth_mesh(points: Floats, faces: npt.NDArray[np.int64], crease: float) -> Mesh:
    """Return triangles `faces` (m, 3) of points (n, 3) m, smoothly shaded at edges of less than `crease`, rad.

    A vertex normal is the area-weighted mean of the adjacent triangles' normals within the crease angle of its own.
    """
    triangles = points[faces]
    across = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    areas = np.linalg.norm(across, axis=1)
    there = areas > 0.0
    triangles, faces, across = triangles[there], faces[there], across[there]
    flat = across / areas[there, None]
    about = np.zeros_like(points)
    for corner in range(3):
        np.add.at(about, faces[:, corner], across)
    about /= np.maximum(np.linalg.norm(about, axis=1), 1e-300)[:, None]
    rounded = about[faces]
    smooth = np.einsum("mci,mi->mc", rounded, flat) >= np.cos(crease)
    normals = np.where(smooth[..., None], rounded, flat[:, None])
    return Mesh(np.concatenate([triangles, normals], axis=2).reshape(-1, 6).astype(np.float32))


def plate(ring: Floats, thickness: float) -> Mesh:
    """Return upper and lower face of a plate with corners (n, 3) m of a convex ring, `thickness` m apart."""
    middle = ring.mean(axis=0)
    sides = np.roll(ring, -1, axis=0)
    across = np.cross(ring - middle, sides - middle).sum(axis=0)
    lift = 0.5 * thickness * across / np.linalg.norm(across)
    fan = np.stack([np.broadcast_to(middle, ring.shape), ring, sides], axis=1)
    return mesh_of(np.concatenate([fan + lift, fan[:, ::-1] - lift]))


def hull(points: Floats, faces: npt.NDArray[np.int64]) -> Mesh:
    """Return the convex hull `faces` (m, 3) of points (n, 3) m, smoothly shaded."""
    return smooth_mesh(points, faces, _ROUND)
