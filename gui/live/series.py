"""What the live views plot: panels of series, each a function of telemetry rows. Units are those of the axis."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gui.history import Floats, Rows
from gui.live.wrench import AXES, wrench_of
from gui.theme import LEG_COLOURS
from kinematics import Geometry
from rig.telemetry import TERMS

LEGS = tuple(str(leg) for leg in range(1, 7))
_XYZ = ("error", "good", "accent")
"""red, green and blue, as the axes in the 3-D view"""


@dataclass(frozen=True, slots=True)
class Series:
    """Curves that belong together.

    `columns` names them, `colours` are #RRGGBB or fields of the theme, `extract` turns rows (n,) into (n, k).
    """

    name: str
    extract: Callable[[Rows], Floats]
    columns: tuple[str, ...] = LEGS
    colours: tuple[str, ...] = LEG_COLOURS
    dashed: bool = False

    @property
    def per_leg(self) -> bool:
        """Whether the columns are the legs."""
        return self.columns is LEGS


@dataclass(frozen=True, slots=True)
class Panel:
    """One plot. `least` is the smallest height of its axis, so that noise does not fill it; `digits` after the point
    in values; `averaged` plots means instead of outlines, for what is noise at full rate."""

    title: str
    unit: str
    series: tuple[Series, ...]
    least: float
    digits: int = 1
    averaged: bool = False

    @property
    def label(self) -> str:
        """Title and unit, as on the axis."""
        return f"{self.title}, {self.unit}" if self.unit else self.title


def field(name: str, scale: float = 1.0) -> Callable[[Rows], Floats]:
    """Extracts a field (n, k) of the rows."""
    if scale == 1.0:
        return lambda rows: np.ascontiguousarray(rows[name])
    return lambda rows: scale * np.asarray(rows[name], np.float64)


FORCES = (
    Panel(
        "Leg force",
        "N",
        (
            Series("measured", field("force_measured")),
            Series("model", field("force_model"), dashed=True),
        ),
        least=2.0,
    ),
    Panel("Residual, measured − model", "N", (Series("residual", field("force_residual")),), least=1.0, digits=2),
)


def _term(term: int) -> Callable[[Rows], Floats]:
    return lambda rows: np.ascontiguousarray(rows["terms"][:, term])


TERM_PANELS = (
    *(Panel(name.capitalize(), "N", (Series(name, _term(term)),), least=0.5) for term, name in enumerate(TERMS)),
    Panel("Sum", "N", (Series("sum", lambda rows: rows["terms"].sum(axis=1)),), least=0.5),
)

TRACKING = (
    Panel(
        "Leg length error",
        "µm",
        (Series("measured − command", lambda rows: 1e6 * (rows["length"] - rows["length_reference"])),),
        least=2.0,
    ),
    Panel(
        "Condition number of H",
        "",
        (Series("condition", lambda rows: rows["condition"][:, None], ("condition",), ("text",)),),
        least=0.2,
        digits=2,
    ),
)


def _position(source: str, axis: int) -> Callable[[Rows], Floats]:
    return lambda rows: 1e3 * rows[source][:, axis : axis + 1]


def _angle(source: str, axis: int) -> Callable[[Rows], Floats]:
    def extract(rows: Rows) -> Floats:
        w, x, y, z = rows[source][:, 3:7].T
        if axis == 0:
            angle = np.arctan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
        elif axis == 1:
            angle = np.arcsin(np.clip(2 * (w * y - z * x), -1, 1))
        else:
            angle = np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
        degrees: Floats = np.degrees(angle)[:, None]
        return degrees

    return extract


def _pose(title: str, unit: str, extract: Callable[[str, int], Callable[[Rows], Floats]], axis: int) -> Panel:
    return Panel(
        title,
        unit,
        (
            Series("measured", extract("pose", axis), (title,), ("text",)),
            Series("command", extract("reference", axis), (title,), ("accent",), dashed=True),
        ),
        least=0.1,
        digits=3,
    )


POSE = tuple(
    panel
    for axis, name in enumerate("xyz")
    for panel in (_pose(name, "mm", _position, axis), _pose(f"θ{name}", "deg", _angle, axis))
)


def wrench_panels(geometry: Callable[[], Geometry | None]) -> tuple[Panel, ...]:
    """Panels of the external wrench that the residuals imply; while there is no geometry its values are no numbers."""

    def part(columns: slice) -> Callable[[Rows], Floats]:
        def extract(rows: Rows) -> Floats:
            known = geometry()
            return np.full((len(rows), 3), np.nan) if known is None else wrench_of(known, rows)[:, columns]

        return extract

    return (
        Panel(
            "External force implied",
            "N",
            (Series("platform axes", part(slice(0, 3)), AXES[:3], _XYZ),),
            least=2.0,
            digits=2,
            averaged=True,
        ),
        Panel(
            "External moment implied",
            "N m",
            (Series("platform axes", part(slice(3, 6)), AXES[3:], _XYZ),),
            least=0.5,
            digits=3,
            averaged=True,
        ),
    )
