"""Figures of the studies. Hue tells the leg or joint; the exact model is solid, a published one dashed."""

from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kinematics import Array
from rig.papers.study import Numbers
from rig.report.pages import Drawing, drawing
from rig.report.plots import LEG_COLORS, STYLE

INK = "#222A32"
GREY = "#8A929A"
_STYLE = STYLE | {"lines.linewidth": 1.1}
_WIDTH = 10.5
"""inches"""


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """A quantity over time, one column per leg (or one only), and how it is drawn.

    `color` None is the leg's own hue.
    """

    name: str
    values: Array
    color: str | None = None
    dash: str = "-"
    width: float = 1.2


def six_panels(times: Array, curves: Sequence[Curve], unit: str, *, panel: str = "Leg") -> Drawing:
    """One panel per leg with all curves, each (n, 6)."""
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(_WIDTH, 6.4), layout="constrained")
        grid = figure.subplots(3, 2, sharex=True, squeeze=False)
        for leg, axes in enumerate(grid.flat):
            for curve in curves:
                color = curve.color or LEG_COLORS[leg]
                axes.plot(
                    times,
                    curve.values[:, leg],
                    color=color,
                    linestyle=curve.dash,
                    linewidth=curve.width,
                    label=curve.name,
                )
            axes.set_title(f"{panel} {leg + 1}")
        for axes in grid[:, 0]:
            axes.set_ylabel(unit)
        for axes in grid[-1]:
            axes.set_xlabel("time, s")
        if len(curves) > 1:
            handles, names = grid[0, 0].get_legend_handles_labels()
            figure.legend(handles, names, loc="outside upper center", ncols=len(curves))
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
) -> Drawing:
    """All curves, each (n,), in one panel; `marks` are instants with what happens there."""
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(_WIDTH, height), layout="constrained")
        axes: Axes = figure.add_subplot()
        for curve in curves:
            color, dash = curve.color or INK, curve.dash
            axes.plot(x, curve.values, color=color, linestyle=dash, linewidth=curve.width, label=curve.name)
        if log:
            axes.set_yscale("log")
        for place, text in marks:
            axes.axvline(place, color="#D55E00", linewidth=0.8, linestyle=(0, (4, 2)))
            axes.annotate(
                text, (place, 0.96), xycoords=("data", "axes fraction"), xytext=(-5, 0), textcoords="offset points",
                color="#B23C00", fontsize=8, va="top", ha="right",
            )  # fmt: skip
        axes.set(xlabel=label, ylabel=unit)
        if len(curves) > 1:
            columns = len(curves) if len(curves) <= 4 else len(curves) // 2
            figure.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=columns)
        return drawing(figure)


def series(name: str, x: str, values: Array, columns: Sequence[str], table: Array) -> Numbers:
    """Numbers of a figure: `values` (n,) under the name `x`, then `table` (n, number of columns)."""
    rows = np.column_stack([values, table]).tolist()
    return Numbers(name, (x, *columns), tuple(map(tuple, rows)))
