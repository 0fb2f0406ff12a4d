"""Plots of an arm: one figure a quantity, one panel a joint, as SVG and PDF."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kinematics import Array

if TYPE_CHECKING:
    from rig.report import Drawing

FORMATS = ("svg", "pdf")

_PANEL = 1.55  # inches
_LEGEND = 0.28


@dataclass(frozen=True, slots=True, eq=False)
class JointPlot:
    """A figure: its name, the joints' names and units, times (m,) s, and curves (m, n) by name, the first one solid."""

    name: str
    joints: Sequence[str]
    units: Sequence[str]
    times: Array
    curves: Mapping[str, Array]


def write_joint_plots(folder: Path | None, plots: Sequence[JointPlot]) -> tuple[Path, ...]:
    """Write figures into a folder, created if missing, each as SVG and PDF; nothing for None."""
    if folder is None:
        return ()
    from rig.csvio import whole_binary_file, whole_file

    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for plot in plots:
        drawn = _drawn(plot)
        svg, pdf = (folder / f"{plot.name}.{suffix}" for suffix in FORMATS)
        with whole_file(svg) as text:
            text.write(drawn.svg)
        with whole_binary_file(pdf) as file:
            file.write(drawn.pdf)
        paths += [svg, pdf]
    return tuple(paths)


def _drawn(plot: JointPlot) -> "Drawing":
    from rig.report import LEG_COLORS, STYLE, TITLE, drawing, panelled, styled

    count = len(plot.joints)
    rows = (count + 1) // 2
    several = len(plot.curves) > 1
    with styled(STYLE):
        above = TITLE + (_LEGEND if several else 0.0)
        figure = panelled(
            above + 0.25 + rows * _PANEL, rows, min(count, 2), above=above, between=0.35, left=0.8, gap=0.8
        )
        grid = figure.subplots(rows, min(count, 2), sharex=True, squeeze=False)
        for axes in grid.flat[count:]:
            axes.set_visible(False)
        for joint, axes in enumerate(grid.flat[:count]):
            for index, (name, values) in enumerate(plot.curves.items()):
                axes.plot(
                    plot.times,
                    values[:, joint],
                    color=LEG_COLORS[(index if several else joint) % len(LEG_COLORS)],
                    linestyle="-" if index == 0 else (0, (4, 2)),
                    linewidth=1.6 if index == 0 and several else 1.0,
                    label=name,
                )
            axes.set_title(plot.joints[joint])
            axes.set_ylabel(plot.units[joint])
            if joint + min(count, 2) >= count:
                axes.set_xlabel("time, s")
                axes.tick_params(labelbottom=True)
        if several:
            figure.legend(*grid.flat[0].get_legend_handles_labels(), loc="upper center", ncols=len(plot.curves))
        return drawing(figure)
