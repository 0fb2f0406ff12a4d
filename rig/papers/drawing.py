"""Figures of the studies. Hue distinguishes legs or joints; the exact model is solid, a published one dashed.

A curve has gaps at its poles, which are marked and do not scale the axis; at a jump its instant occurs twice, and
the two values are joined by a vertical line.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend_handler import HandlerTuple
from matplotlib.lines import Line2D

from kinematics import Array
from rig.papers.study import Numbers
from rig.report import LEG_COLORS, STYLE, TITLE, WIDTH, Drawing, drawing, panelled, styled

INK = "#222A32"
GREY = "#8A929A"
FRACTION = r"$F_\mathrm{d}/F$"
"""Label of the dynamic fraction."""
_POLE = "#B23C00"
_MARK: Any = {"color": _POLE, "linestyle": (0, (1, 1.5)), "linewidth": 0.9, "zorder": 1.5}
_STYLE = STYLE | {"lines.linewidth": 1.1, "path.simplify": True}
_LEGEND = 0.24
"""Height of the legend, inches."""
_LEFT = 0.8
"""Margin for the widest labels, inches."""
_HUES = 3.0
"""Length of a legend's handle, in font sizes: enough for six hues."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Values that scale an axis: farther than a fraction `near` of the time from every pole, and within ±`most`."""

    near: float = 0.05
    most: float = np.inf


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """A quantity over time, one column per leg (or a single one), and its style.

    `color` None is the leg's own hue.  poles: by column, times at which it is unbounded.  x: its own abscissae, if not
    those of the figure.  A `marker` shows the samples.
    """

    name: str
    values: Array
    color: str | None = None
    dash: str = "-"
    width: float = 1.2
    poles: tuple[tuple[float, ...], ...] = ()
    x: Array | None = None
    marker: str = ""

    def column(self, x: Array, index: int) -> "Stroke":
        """Return one of its columns over the figure's x."""
        values = self.values if self.values.ndim == 1 else self.values[:, index]
        return Stroke(x if self.x is None else self.x, values, self.poles[index] if self.poles else ())


@dataclass(frozen=True, slots=True, eq=False)
class Stroke:
    """A curve in a panel: x, y (n,) and its poles."""

    x: Array
    y: Array
    poles: tuple[float, ...] = ()

    def cut(self) -> tuple[Array, Array]:
        """Return x and y with a gap at each pole, so that no line crosses it."""
        places = np.searchsorted(self.x, self.poles)
        return np.insert(self.x, places, self.poles), np.insert(self.y, places, np.nan)

    def ruling(self, poles: Iterable[float], near: float, most: float) -> Array:
        """Return the values that scale the axis: at most `most` in size, and farther than `near` from every pole."""
        clear = np.abs(self.y) <= most
        for pole in poles:
            clear &= np.abs(self.x - pole) > near
        return np.asarray(self.y[clear])


def within(x: Array, y: Array, low: float, high: float) -> tuple[Array, Array]:
    """Clip a line x, y (n,) between two bounds, with a gap outside.

    Some viewers of SVG files do not clip to the axes.
    """
    for bound, beyond in ((high, 1.0), (low, -1.0)):
        out = beyond * (y - bound) > 0.0
        at = np.flatnonzero((out[1:] != out[:-1]) & np.isfinite(y[1:]) & np.isfinite(y[:-1]))
        share = (bound - y[at]) / (y[at + 1] - y[at])
        places = x[at] + share * (x[at + 1] - x[at])
        x, y = np.insert(x, at + 1, places), np.insert(np.where(out, np.nan, y), at + 1, bound)
    return x, y


def six_panels(
    times: Array,
    curves: Sequence[Curve],
    unit: str,
    *,
    panel: str = "Leg",
    linear: float | None = None,
    rule: Rule | None = None,
    pole: str = "",
) -> Drawing:
    """Draw all curves, each (n, 6), with one panel per leg.

    linear: linear range of a symmetric logarithmic scale; None for a linear scale.
    rule: values that scale the axes; None for all.  pole: label of the marks at the curves' poles.
    """
    with styled(_STYLE):
        return drawing(six_panels_figure(times, curves, unit, panel=panel, linear=linear, rule=rule, pole=pole))


def six_panels_figure(
    times: Array,
    curves: Sequence[Curve],
    unit: str,
    *,
    panel: str = "Leg",
    linear: float | None = None,
    rule: Rule | None = None,
    pole: str = "",
) -> Figure:
    """The figure of `six_panels`."""
    figure = panelled(5.8, 3, above=_LEGEND + TITLE, between=0.35, left=_LEFT)
    grid = figure.subplots(3, 2, sharex=True, squeeze=False)
    for leg, axes in enumerate(grid.flat):
        if linear is not None:
            axes.set_yscale("symlog", linthresh=linear)
        _fill(axes, times, curves, leg, rule, LEG_COLORS[leg])
        axes.set_title(f"{panel} {leg + 1}")
    for axes in grid[:, 0]:
        axes.set_ylabel(unit)
    for axes in grid[-1]:
        axes.set_xlabel("time, s")
    _legend(figure, curves, panel, pole)
    return figure


def components(
    times: Array, curves: Sequence[Curve], columns: Sequence[str], unit: str, *, panel: str = "Pod"
) -> Drawing:
    """Draw a row of panels per pod, one for each named column of the curves' values (n, 6, columns).

    The panels of a row share one scale.
    """
    with styled(_STYLE):
        figure = panelled(10.2, 6, len(columns), above=_LEGEND + TITLE, between=0.19, gap=0.14, left=_LEFT)
        grid = figure.subplots(6, len(columns), sharex=True, sharey="row", squeeze=False)
        for (pod, column), axes in np.ndenumerate(grid):
            for curve in curves:
                axes.plot(times, curve.values[:, pod, column], **_style(curve, LEG_COLORS[pod]))
        for column, name in enumerate(columns):
            grid[0, column].set_title(name)
            grid[-1, column].set_xlabel("time, s")
        for pod in range(6):
            grid[pod, 0].set_ylabel(f"{panel} {pod + 1}, {unit}")
        figure.align_ylabels(grid[:, 0])
        _legend(figure, curves, panel, "")
        return drawing(figure)


def one_panel(
    x: Array,
    curves: Sequence[Curve],
    unit: str,
    *,
    label: str = "time, s",
    log: bool = False,
    marks: Sequence[tuple[float, str]] = (),
    height: float = 2.8,
    rule: Rule | None = None,
) -> Drawing:
    """Draw all curves, each (n,), in one panel; `marks` are times with labels."""
    with styled(_STYLE):
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        axes: Axes = figure.add_subplot()
        if log:
            axes.set_yscale("log")
        _fill(axes, x, curves, 0, rule, INK)
        for place, text in marks:
            axes.axvline(place, **_MARK)
            axes.annotate(
                text, (place, 0.03), xycoords=("data", "axes fraction"), xytext=(-5, 0), textcoords="offset points",
                color=_POLE, fontsize=8, va="bottom", ha="right",
            )  # fmt: skip
        axes.set(xlabel=label, ylabel=unit)
        if len(curves) > 1:
            columns = len(curves) if len(curves) <= 4 else len(curves) // 2
            figure.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=columns)
        return drawing(figure)


def _style(curve: Curve, hue: str) -> dict[str, Any]:
    return {
        "color": curve.color or hue,
        "linestyle": curve.dash,
        "linewidth": curve.width,
        "marker": curve.marker,
        "markersize": 3.5,
        "fillstyle": "none" if curve.dash == "--" else "full",
        "label": curve.name,
        "zorder": 2.0 if curve.dash == "-" else 2.1,
    }


def _fill(axes: Axes, x: Array, curves: Sequence[Curve], index: int, rule: Rule | None, hue: str) -> None:
    """Draw column `index` of the curves; their poles are marked, and do not scale the axis."""
    strokes = [curve.column(x, index) for curve in curves]
    poles = sorted({place for stroke in strokes for place in stroke.poles})
    low, high = -np.inf, np.inf
    if rule is not None:
        span = rule.near * float(np.ptp(x))
        values = np.concatenate([stroke.ruling(poles, span, rule.most) for stroke in strokes])
        if poles or any(np.abs(stroke.y).max() > rule.most for stroke in strokes):
            low, high = _limits(axes, values)
            axes.set_ylim(low, high)
    for curve, stroke in zip(curves, strokes, strict=True):
        axes.plot(*within(*stroke.cut(), low, high), **_style(curve, hue))
    for place in poles:
        axes.axvline(place, **_MARK)


def _limits(axes: Axes, values: Array) -> tuple[float, float]:
    """Return limits with a small margin about the values, on the axis's own scale."""
    transform = axes.yaxis.get_transform()
    low, high = transform.transform(np.array([values.min(), values.max()]))
    room = 0.06 * (high - low)
    ends = transform.inverted().transform(np.array([low - room, high + room]))
    return float(ends[0]), float(ends[1])


def _legend(figure: Figure, curves: Sequence[Curve], panel: str, pole: str) -> None:
    """Draw the legend of the curves; a curve in the legs' hues shows all six."""
    handles: list[Any] = []
    names = []
    for curve in curves:
        if curve.name.startswith("_"):
            continue
        lines = tuple(Line2D([], [], **_style(curve, hue)) for hue in LEG_COLORS)
        handles.append(lines[0] if curve.color else lines)
        names.append(curve.name if curve.color else f"{curve.name}, {panel.lower()}s 1 to 6")
    if pole:
        handles.append(Line2D([], [], **_MARK))
        names.append(pole)
    figure.legend(
        handles,
        names,
        loc="upper center",
        ncols=len(names),
        handlelength=_HUES,
        handler_map={tuple: HandlerTuple(ndivide=None, pad=0.0)},
    )


def series(name: str, x: str, values: Array, columns: Sequence[str], table: Array) -> Numbers:
    """Make the numbers of a figure: `values` (n,) under the name `x`, then `table` (n, number of columns)."""
    rows = np.column_stack([values, table]).tolist()
    return Numbers(name, (x, *columns), tuple(map(tuple, rows)))
