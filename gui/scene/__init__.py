"""The machine in 3-D: scenes of telemetry rows, their parts, and the view.

`open_picture(theme)` returns a widget that draws a `Scene`; `gl_problem()` says why there is none. A `Figure` models a
mechanism's machine, whose parts a `Renderer` draws over a painted ground.
"""

from typing import TYPE_CHECKING

from gui.scene.arrows import OverlayOptions
from gui.scene.figure import Figure, Shapes, shapes_of
from gui.scene.gl_context import gl_problem
from gui.scene.handle import TargetPose
from gui.scene.scene import (
    LIMITS,
    STROKE_SCALE,
    Colouring,
    LegPaint,
    Scale,
    Scene,
    colour_map,
    force_scale,
    is_pose,
    leg_colours,
    limit_uses,
    make_scene,
    ring_order,
    strokes,
    tightest,
)

if TYPE_CHECKING:
    from gui.scene.platform_gl import PlatformGL
    from gui.widgets import Theme


def open_picture(theme: "Theme") -> "PlatformGL":
    """Return a 3-D view. Raises ImportError or RuntimeError if `gl_problem` says that there is none."""
    from gui.scene.platform_gl import PlatformGL

    return PlatformGL(theme)


__all__ = [
    "LIMITS",
    "STROKE_SCALE",
    "Colouring",
    "Figure",
    "LegPaint",
    "OverlayOptions",
    "PlatformGL",
    "Scale",
    "Scene",
    "Shapes",
    "TargetPose",
    "colour_map",
    "force_scale",
    "gl_problem",
    "is_pose",
    "leg_colours",
    "limit_uses",
    "make_scene",
    "open_picture",
    "ring_order",
    "shapes_of",
    "strokes",
    "tightest",
]
