"""The live view as a view-model: panels of series, visible times, cursors. Units are those of the axis."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dynamics import wrench_from_residual
from gui.models.colours import AXIS_COLOURS, DASHED, LEG_COLOURS
from gui.models.timeline import Excerpt, Floats, Rows, Segment, Timeline
from gui.texts import mark, tr
from kinematics import Geometry
from rig.angles import rotation_vector, shown_angle
from rig.telemetry import TERMS, CycleFlag

AXES = ("Fx", "Fy", "Fz", "Mx", "My", "Mz")


def implied_wrench(geometry: Geometry, poses: Floats, residuals: Floats) -> Floats:
    """Return the external wrench on the platform that explains the residuals of an otherwise exact model.

    See `dynamics.wrench_from_residual`.

    Args:
        geometry: of the mechanism.
        poses: (n, 7) of the platform.
        residuals: (n, 6) N, measured minus model.

    Returns:
        (n, 6) [force N; moment N m] at the platform origin, platform axes; NaN where the pose or a residual is NaN.
    """
    wrench = np.full((len(poses), 6), np.nan)
    known = np.isfinite(poses).all(axis=1) & np.isfinite(residuals).all(axis=1)
    known &= np.abs(np.linalg.norm(poses[:, 3:], axis=1) - 1.0) < 1e-6
    if known.any():
        matrices = wrench_from_residual(geometry, poses[known])
        wrench[known] = np.einsum("nij,nj->ni", matrices, residuals[known])
    return wrench


def wrench_of(geometry: Geometry, rows: Rows) -> Floats:
    """`implied_wrench` of telemetry rows (n,) at their measured poses, (n, 6)."""
    return implied_wrench(geometry, rows["pose"], rows["force_residual"])


LEGS = tuple(str(leg) for leg in range(1, 7))


@dataclass(frozen=True, slots=True)
class Series:
    """A group of curves.

    `columns` names them, `colours` are #RRGGBB or fields of the theme, `extract` turns n rows into (n, k); `dashed` is
    their pattern, one of `gui.theme.DASHES`, or empty. A series with a `model` is shown only while that is selected.
    """

    name: str
    extract: Callable[[Segment], Floats]
    columns: tuple[str, ...] = LEGS
    colours: tuple[str, ...] = LEG_COLOURS
    dashed: str = ""
    model: str = ""

    @property
    def shown(self) -> str:
        """Displayed name."""
        return tr(self.name)

    @property
    def per_leg(self) -> bool:
        """Whether the columns are the legs."""
        return self.columns is LEGS


@dataclass(frozen=True, slots=True)
class Panel:
    """One plot; title, unit and names of series are untranslated, as in exported columns.

    `least` is the smallest height of its axis, so that noise does not fill it; `digits` as in `number_text`;
    `averaged` plots means instead of outlines, for noisy signals; `tip` is its tooltip.
    """

    title: str
    unit: str
    series: tuple[Series, ...]
    least: float
    digits: int | None = 1
    averaged: bool = False
    tip: str = ""

    @property
    def label(self) -> str:
        """Title and unit, as on the axis."""
        return f"{self.heading}, {tr(self.unit)}" if self.unit else self.heading

    @property
    def heading(self) -> str:
        """Displayed title."""
        return tr(self.title)


EXACT = "exact"
MODEL_NAMES = {
    EXACT: mark("exact"),
    "dasgupta-1998": "Dasgupta 1998",
    "pedrammehr-2012": "Pedrammehr 2012",
    "massless": mark("massless"),
}
"""Displayed names of `dynamics.MODELS`."""
_TERMS = {
    "platform inertia": mark("Platform inertia"),
    "gravity": mark("Gravity"),
    "leg inertia": mark("Leg inertia"),
    "friction": mark("Friction"),
    "external": mark("External"),
}
"""Titles of `TERMS`."""
MODEL_DASHES = dict(zip(MODEL_NAMES, (DASHED, "··", "–·", "–··"), strict=True))
"""Patterns of their curves."""

Differences = Callable[[str, Segment], Floats]
"""Function of model name and n rows: cell forces by that model minus those of the exact one, (n, 6) N."""


_AT_CELL = tr(
    "Measured load cell force, and the model's force at the location of the cell. The drive force "
    "(page Terms) differs by weight, inertia and friction of the leg parts between drive and cell."
)
_OF_DRIVE = tr(
    "The sum of the other panels: the drive force by the model. The load cell force (page Forces) "
    "does not contain weight, inertia and friction of the leg parts between drive and cell."
)


def field(name: str) -> Callable[[Segment], Floats]:
    """Return an extractor of a field (n, k) of the rows."""
    return lambda segment: np.ascontiguousarray(segment.rows[name])


def _of_model(field: str, sign: float, model: str, differences: Differences) -> Callable[[Segment], Floats]:
    return lambda segment: segment.rows[field] + sign * differences(model, segment)


def force_panels(differences: Differences | None = None) -> tuple[Panel, ...]:
    """Return the panels of forces and residuals; with `differences`, with series of the published models."""

    def published(field: str, sign: float) -> list[Series]:
        return [
            Series(name, _of_model(field, sign, model, differences), dashed=MODEL_DASHES[model], model=model)
            for model, name in MODEL_NAMES.items()
            if differences is not None and model != EXACT
        ]

    force = (
        Series(mark("measured"), field("force_measured")),
        Series(mark("model"), field("force_model"), dashed=MODEL_DASHES[EXACT]),
        *published("force_model", 1.0),
    )
    residual = (Series(mark("residual"), field("force_residual")), *published("force_residual", -1.0))
    return (
        Panel(mark("Force at the load cell"), "N", force, least=2.0, tip=_AT_CELL),
        Panel(mark("Residual, measured − model"), "N", residual, least=1.0, digits=2),
    )


FORCES = force_panels()


def _term(term: int) -> Callable[[Segment], Floats]:
    return lambda segment: np.ascontiguousarray(segment.rows["terms"][:, term])


_TERM_SUM = Series(mark("sum"), lambda segment: segment.rows["terms"].sum(axis=1))

TERM_PANELS = (
    *(Panel(_TERMS[name], "N", (Series(name, _term(term)),), least=0.5) for term, name in enumerate(TERMS)),
    Panel(mark("Force of the drive (sum)"), "N", (_TERM_SUM,), least=0.5, tip=_OF_DRIVE),
)


def length_error(rows: Rows) -> Floats:
    """Return the length errors of rows (n,), (n, 6) m; NaN before homing, when lengths have no reference."""
    homed = (rows["flags"] & CycleFlag.HOMED)[:, None] != 0
    error: Floats = np.where(homed, rows["length"] - rows["length_reference"], np.nan)
    return error


TRACKING = (
    Panel(
        mark("Leg length error"),
        "µm",
        (Series(mark("measured − command"), lambda segment: 1e6 * length_error(segment.rows)),),
        least=2.0,
    ),
    Panel(
        mark("Condition number of H"),
        "",
        (Series(mark("condition"), lambda segment: segment.rows["condition"][:, None], ("condition",), ("text",)),),
        least=0.2,
        digits=2,
    ),
)


def _position_error(segment: Segment) -> Floats:
    error: Floats = 1e6 * (segment.rows["pose"][:, :3] - segment.rows["reference"][:, :3])
    return error


def _rotation_error(segment: Segment) -> Floats:
    return 1e6 * rotation_vector(segment.rows["reference"][:, 3:7], segment.rows["pose"][:, 3:7])


TRACKED = (
    Panel(
        mark("Position error"),
        "µm",
        (Series(mark("measured − command"), _position_error, ("x", "y", "z"), AXIS_COLOURS),),
        least=2.0,
    ),
    Panel(
        mark("Rotation error"),
        "µrad",
        (Series(mark("measured − command"), _rotation_error, ("x", "y", "z"), AXIS_COLOURS),),
        least=2.0,
    ),
    TRACKING[0],
)
"""Tracking: the platform, and the legs."""
COMPARED = (*FORCES, *TRACKED)
"""Quantities for comparing recordings."""


def _position(source: str, axis: int) -> Callable[[Segment], Floats]:
    return lambda segment: 1e3 * segment.rows[source][:, axis : axis + 1]


def _angle(source: str, axis: int) -> Callable[[Segment], Floats]:
    def extract(segment: Segment) -> Floats:
        degrees: Floats = np.degrees(shown_angle(segment.rows[source][:, 3:7], axis))[:, None]
        return degrees

    return extract


def _pose(title: str, unit: str, extract: Callable[[str, int], Callable[[Segment], Floats]], axis: int) -> Panel:
    return Panel(
        title,
        unit,
        (
            Series(mark("measured"), extract("pose", axis), (title,), ("text",)),
            Series(mark("command"), extract("reference", axis), (title,), ("accent",), dashed=DASHED),
        ),
        least=0.1,
        digits=3,
    )


POSE = tuple(
    panel
    for axis, name in enumerate("xyz")
    for panel in (_pose(name, "mm", _position, axis), _pose(f"θ{name}", "°", _angle, axis))
)


def wrench_panels(geometry: Callable[[], Geometry | None]) -> tuple[Panel, ...]:
    """Return the panels of the external wrench implied by the residuals; values are NaN without a geometry."""

    def part(columns: slice) -> Callable[[Segment], Floats]:
        def extract(segment: Segment) -> Floats:
            known = geometry()
            if known is None:
                return np.full((len(segment), 3), np.nan)
            return wrench_of(known, segment.rows)[:, columns]

        return extract

    return (
        Panel(
            mark("External force implied"),
            "N",
            (Series(mark("platform axes"), part(slice(0, 3)), AXES[:3], AXIS_COLOURS),),
            least=2.0,
            digits=2,
            averaged=True,
        ),
        Panel(
            mark("External moment implied"),
            "N m",
            (Series(mark("platform axes"), part(slice(3, 6)), AXES[3:], AXIS_COLOURS),),
            least=0.5,
            digits=3,
            averaged=True,
        ),
    )


def panels_by_page(
    differences: Differences | None, geometry: Callable[[], Geometry | None]
) -> dict[str, tuple[Panel, ...]]:
    """Return the panels of every page of plots by name."""
    return {
        mark("Forces"): force_panels(differences),
        mark("Terms"): TERM_PANELS,
        mark("Tracking"): TRACKING,
        mark("Pose"): POSE,
        mark("External wrench"): wrench_panels(geometry),
    }


_BEFORE = 0.1
"""Fraction of the visible span before the requested time."""


class VisibleTimes:
    """Visible times, s. `chosen` is None while they follow the timeline's present."""

    def __init__(self) -> None:
        self.chosen: tuple[float, float] | None = None
        self._present: float | None = None

    def on(self, timeline: Timeline, seconds: float) -> tuple[float, float]:
        """Return the visible times: the last `seconds` before the present, or the selected ones."""
        end = timeline.end if timeline.end is not None else 0.0
        return self.chosen or (end - seconds, end)

    def follow(self) -> None:
        """Follow the present again."""
        self.chosen = None

    def choose(self, timeline: Timeline, t0: float, t1: float) -> None:
        """Select these times, clipped to the rows; everything if they contain none."""
        times = timeline.whole.times
        if len(times) > 1:
            begin, end = float(times[0]), float(times[-1])
            inside = (max(t0, begin), min(t1, end))
            self.chosen = inside if inside[0] < inside[1] else (begin, end)

    def choose_about(self, timeline: Timeline, t: float, length: float) -> None:
        """Select a span of a length, s, around t: mostly after it."""
        self.choose(timeline, t - _BEFORE * length, t + (1.0 - _BEFORE) * length)

    def present_moved(self, timeline: Timeline) -> bool:
        """Return whether the present has moved since the last call; moves selected times that no longer contain it."""
        before, self._present = self._present, timeline.end
        if timeline.end == before:
            return False
        if self.chosen is not None and before is not None and timeline.end is not None:
            t0, t1 = self.chosen
            if t0 <= before <= t1 and not t0 <= timeline.end <= t1:
                self.choose_about(timeline, timeline.end, t1 - t0)
        return True


_EDGE = 0.01  # s, tolerance of a cursor beyond the rows, at the edge of the plot


class VisibleRows:
    """Visible rows of the followed timeline; None stands for no timeline yet.

    Args:
        replayed: the timeline is a replay, whose rows after its present may be shown.
    """

    def __init__(self, replayed: bool) -> None:
        self.times = VisibleTimes()
        self._replayed = replayed
        self._timeline: Timeline | None = None
        self._frozen: Excerpt | None = None
        self._cleared = 0
        """Number of the first visible row."""

    def follow(self, timeline: Timeline) -> bool:
        """Show this timeline, all of it if it is a new one; return whether it is."""
        if timeline is self._timeline:
            return False
        self._timeline, self._cleared = timeline, 0
        return True

    def clear(self) -> None:
        """Hide all rows so far."""
        if self._timeline is not None:
            self._cleared = self._timeline.first + len(self._timeline)

    def freeze(self, frozen: bool) -> None:
        """Freeze the current rows, or follow the present again."""
        self._frozen = self._timeline.snapshot() if frozen and self._timeline is not None else None
        self.times.follow()

    @property
    def chosen_freely(self) -> bool:
        """Whether the user may select the times: in a replay and while frozen."""
        return self._replayed or self._frozen is not None

    @property
    def present(self) -> Timeline | None:
        """Return the rows up to the present."""
        return self._timeline if self._frozen is None else self._frozen

    @property
    def drawn(self) -> Timeline | None:
        """Return the rows for curves: selected times may lie after a replay's present."""
        shown = self.present
        return shown if shown is None or self.times.chosen is None else shown.whole

    @property
    def marked(self) -> float | None:
        """Return a replay's present within selected times, s; None if it is not to be marked."""
        shown = self.present
        return shown.end if shown is not None and self._replayed and self.times.chosen is not None else None

    def present_moved(self) -> bool:
        """Return whether a replay's present has moved since the last call."""
        shown = self.present
        return self._replayed and shown is not None and self.times.present_moved(shown)

    def reaches(self, shown: Timeline) -> bool:
        """Whether there are rows that are not cleared."""
        return shown.first + len(shown) > max(shown.first, self._cleared)

    def since(self, shown: Timeline) -> float:
        """Return the time of the first visible row, s."""
        return float(shown.times[max(0, self._cleared - shown.first)]) if self.reaches(shown) else math.inf

    def at(self, shown: Timeline, t: float) -> Segment:
        """Return the row nearest to a time, s; none outside the rows."""
        if not self.reaches(shown) or not self.since(shown) - _EDGE <= t <= float(shown.times[-1]) + _EDGE:
            return shown.cut(0, 0)
        index = shown.nearest(t)
        return shown.cut(0, 0) if index is None else shown.cut(index, index + 1)

    def last(self, shown: Timeline, length: float) -> Segment:
        """Return the rows of the last `length` s."""
        if not self.reaches(shown):
            return shown.cut(0, 0)
        end = float(shown.times[-1])
        return shown.segment(max(self.since(shown), end - length), end)


class Cursors:
    """A is fixed by a click; B follows the mouse until a second click; a third one removes both.

    Values are taken at `at`; with both, they are differences B − A.
    """

    def __init__(self) -> None:
        self.a: float | None = None
        """s"""
        self.b: float | None = None
        """s; the only cursor without A."""
        self._fixed = False

    @property
    def fixed(self) -> bool:
        """Whether both are fixed."""
        return self._fixed

    @property
    def at(self) -> float | None:
        """Time of the values, s; None without a cursor."""
        return self.a if self.b is None else self.b

    @property
    def apart(self) -> float | None:
        """B − A, s; None unless both exist."""
        return None if self.a is None or self.b is None else self.b - self.a

    def point(self, t: float | None) -> bool:
        """Move the free cursor to the mouse's time, s, None after it left; return whether a cursor moved."""
        moved = not self._fixed and t != self.b
        if moved:
            self.b = t
        return moved

    def click(self, t: float) -> None:
        """Fix or remove cursors after a click at a time, s."""
        if self.a is None:
            self.a, self.b = t, None
        elif not self._fixed:
            self.b, self._fixed = t, True
        else:
            self.a, self.b, self._fixed = None, t, False

    def place(self, a: float | None, b: float | None) -> None:
        """Fix both, s; None removes them."""
        self.a, self.b, self._fixed = a, b, a is not None and b is not None

    def words(self, t: float | None) -> str:
        """Return the label of the values of the row at t, s; None: no row at the cursor's time."""
        if self.at is None:
            return f"{t:.3f} s" if t is not None else tr("No data")
        which = "" if self.a is None else " A" if self.b is None else " B"
        text = (
            tr("{t:.3f} s, cursor{which}").format(t=t, which=which)
            if t is not None
            else tr("No data at {at:.3f} s, cursor{which}").format(at=self.at, which=which)
        )
        if self.apart is not None:
            text += f"\nΔt = B − A = {self.apart:+.3f} s"
        return text.replace("-", "−")
