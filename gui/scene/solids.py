"""What scenes are made of: round cones, of which balls, rods and arrows' tips are the special cases."""

import numpy as np
import numpy.typing as npt

from gui.session import Floats

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
"""One round cone, the hull of two balls: their centres and radii, m; colour 0 to 1, alpha last; stripes per metre along
it, 0 for none; glow: part of its light that is its own, 0 to 1; at 1 it is seen through what is in front of it, where
that is opaque and it is not."""
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
    """Round cones from `begin` to `end` (n, 3) m, of one radius or those of both ends, colours (3,) or (n, 3)."""
    made = np.zeros(len(begin), SOLID)
    made["begin"], made["end"] = begin, end
    made["begin_radius"], made["end_radius"] = radius if isinstance(radius, tuple) else (radius, radius)
    made["colour"][:, :3] = colour
    made["colour"][:, 3] = alpha
    made["stripes"], made["glow"] = stripes, glow
    return made


def balls(centres: Floats, radius: float, colour: Floats, *, alpha: float = 1.0) -> Solids:
    """Balls about centres (n, 3) m."""
    return solids(centres, centres, radius, colour, alpha=alpha)


def loop(points: Floats, radius: float, colour: Floats, *, alpha: float = 1.0) -> Solids:
    """Rods along the closed ring of points (n, 3) m."""
    return solids(points, np.roll(points, -1, axis=0), radius, colour, alpha=alpha)


def arrows(tails: Floats, vectors: Floats, radius: float, colour: Floats, *, alpha: float = 1.0) -> Solids:
    """Arrows from `tails` (n, 3) m along `vectors` (n, 3) m, shaft and tip; none for one of less than 3 radii."""
    lengths = np.linalg.norm(vectors, axis=1)
    drawn = lengths > 3.0 * radius
    tails, vectors, lengths = tails[drawn], vectors[drawn], lengths[drawn]
    colours = np.broadcast_to(colour, (len(drawn), 3))[drawn]
    tips = tails + vectors
    necks = tips - vectors * np.minimum(1.0, 5.0 * radius / np.maximum(lengths, 1e-12))[:, None]
    shafts = solids(tails, necks, radius, colours, alpha=alpha, glow=0.25)
    heads = solids(necks, tips, (2.4 * radius, 0.2 * radius), colours, alpha=alpha, glow=0.25)
    return np.concatenate([shafts, heads])
