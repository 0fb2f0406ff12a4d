"""The report's figures, as SVG text. Hue tells the leg; measured is solid, model and command are dashed."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, LogFormatter

from rig.report.curves import Curve, Curves
from rig.report.dependence import dependence_figure
from rig.report.pages import TICKS, TITLE, Drawing, drawing, panelled, styled, svg_text
from rig.report.spectrum import spectrum_figure
from rig.report.streaming_stats import Histogram
from rig.telemetry import TERMS

LEG_COLORS = ("#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00", "#CC79A7")
"""Okabe–Ito colours of legs 1 to 6."""

AXIS_COLORS = ("#D55E00", "#009E73", "#0072B2")
"""Of x, y and z."""
TERM_COLORS = ("#0072B2", "#7F7F7F", "#009E73", "#D55E00", "#CC79A7")
"""Of the terms of the force, in their order."""
_STATE_COLORS = {
    "OFF": "#E8E8E8",
    "IDLE": "#D0D0D0",
    "HOMING": "#F5D48A",
    "PARKED": "#B8C4CE",
    "ENGAGING": "#BFE0F5",
    "ENGAGED": "#8CC9EE",
    "RUNNING": "#009E73",
    "PARKING": "#CDBEE0",
    "STOPPING": "#E69F00",
    "FAULT": "#D55E00",
}
_MARKS: dict[str, dict[str, Any]] = {
    "command": {"marker": "|", "color": "#3A424A", "markersize": 7},
    "virtual rig": {"marker": "D", "color": "#CC79A7", "markersize": 5},
    "trouble": {"marker": "v", "color": "#D55E00", "markersize": 6},
}
"""How events are marked above the states; the last lies on top."""
STYLE: Any = {
    "font.size": 8.5,
    "axes.axisbelow": True,
    "axes.xmargin": 0.01,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#8A929A",
    "axes.grid": True,
    "axes.titlesize": 9,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelcolor": "#3A424A",
    "axes.formatter.useoffset": False,
    "grid.color": "#E6E9EC",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "legend.handlelength": 1.3,
    "legend.columnspacing": 1.2,
    "lines.linewidth": 0.9,
    "xtick.color": "#3A424A",
    "ytick.color": "#3A424A",
    "svg.hashsalt": "stewart-rig",
    "path.simplify": False,
}
"""matplotlib's settings for every page of ours."""
_FLOOR = 0.5
"""cycles: where a logarithmic axis of counts begins"""

_Made = Callable[[Curves, Mapping[str, Any]], Figure]


def draw(curves: Curves, summary: Mapping[str, Any], names: Sequence[str]) -> dict[str, str]:
    """These figures of the report by name, as SVG documents.

    summary: what `summarize` gave of the recording.
    """
    return {name: _drawn(_DRAWINGS[name], curves, summary) for name in names}


def _drawn(made: _Made, curves: Curves, summary: Mapping[str, Any]) -> str:
    with styled(STYLE):
        return svg_text(made(curves, summary))


def drawn_files(curves: Curves, summary: Mapping[str, Any]) -> Iterator[tuple[str, Drawing]]:
    """Every figure of the report by name, one after the other, as SVG document and as PDF file."""
    for name in figure_names(summary):
        with styled(STYLE):
            yield name, drawing(_DRAWINGS[name](curves, summary))


def figure_pages(curves: Curves, summary: Mapping[str, Any]) -> Iterator[Figure]:
    """Every figure of the report, one after the other, in the report's style."""
    for name in figure_names(summary):
        with styled(STYLE):
            yield _DRAWINGS[name](curves, summary)


def figure_names(summary: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of the figures that a summary has what they show for, in their order."""
    found = summary.get("validation") or {}
    return (*FIGURES, *(name for name in _OF_VALIDATION if found.get(name) is not None))


def _panels(figure: Figure, titles: list[str], unit: str, *, one_scale: bool = False) -> list[Axes]:
    """Two columns of panels that share the time axis, and their scale where it is one, in reading order."""
    grid = figure.subplots((len(titles) + 1) // 2, 2, sharex=True, sharey=one_scale, squeeze=False)
    panels = list(grid.flat)
    for axes, title in zip(panels, titles, strict=True):
        axes.set_title(title)
    for row in grid:
        row[0].set_ylabel(unit)
    for axes in grid[-1]:
        axes.set_xlabel("rig time, s")
    return panels


def _line(axes: Axes, curve: Curve, **style: Any) -> None:
    axes.plot(*curve, **style)


def darker(color: str, factor: float = 0.55) -> str:
    """Colour of a dashed line beside a solid one."""
    red, green, blue = to_rgb(color)
    return to_hex((red * factor, green * factor, blue * factor))


def _leg_titles() -> list[str]:
    return [f"Leg {leg}" for leg in range(1, 7)]


def _timeline(_curves: Curves, summary: Mapping[str, Any]) -> Figure:
    figure = panelled(1.5, 1, above=0.05, below=0.75)
    axes = figure.add_subplot()
    stretches = summary["states"]
    begin, end = stretches[0]["begin_s"], stretches[-1]["end_s"]
    for stretch in stretches:
        name, left, right = stretch["state"], stretch["begin_s"], stretch["end_s"]
        color = _STATE_COLORS.get(name, "#FFFFFF")
        axes.barh(0, right - left, left=left, color=color, edgecolor="white", height=1, label=name)
        if (right - left) > 0.009 * len(name) * (end - begin):
            color = "white" if name in ("RUNNING", "FAULT") else "#222A32"
            axes.text((left + right) / 2, 0, name, ha="center", va="center", fontsize=7.5, color=color)
    for kind, style in _MARKS.items():
        times = [
            event["t_s"]
            for event in summary["events"]
            if begin <= event["t_s"] <= end and (event["kind"] or ("trouble" if event["level"] >= 30 else "")) == kind
        ]
        if times:
            axes.plot(times, [0.68] * len(times), linestyle="none", clip_on=False, **style)
    axes.set(xlim=(begin, max(end, begin + 1e-3)), ylim=(-0.5, 0.8), yticks=[], xlabel="rig time, s")
    axes.grid(False)
    axes.spines["left"].set_visible(False)
    handles, names = axes.get_legend_handles_labels()
    used = dict(zip(names, handles, strict=True))
    figure.legend(list(used.values()), list(used), loc="lower center", ncols=len(used), handlelength=1)
    return figure


def _forces(curves: Curves, _summary: Mapping[str, Any]) -> Figure:
    figure = panelled(7.2, 3)
    panels = _panels(figure, _leg_titles(), "force, N", one_scale=True)
    for leg, axes in enumerate(panels):
        color = LEG_COLORS[leg]
        _line(axes, curves.covered("measured", leg), color=color, label="measured", linewidth=1.6)
        style = {"color": darker(color), "linestyle": (0, (4, 2)), "linewidth": 0.9}
        _line(axes, curves.covered("model", leg), label="model", **style)
        axes.legend(loc="upper right", ncols=2, borderaxespad=0, bbox_to_anchor=(1, 1.16))
    return figure


def _residuals(curves: Curves, summary: Mapping[str, Any]) -> Figure:
    noise = summary["force"]["noise_n"]
    figure = panelled(6.6, 3)
    panels: list[Axes] = []
    grid = figure.add_gridspec(3, 2)
    shown = [curves.covered("residual", leg) for leg in range(6)]
    known = [values[np.isfinite(values)] for _t, values in shown]
    largest = max(np.max(np.abs(one), initial=3 * noise if noise else 1e-3) for one in known)
    for leg in range(6):
        beside = grid[leg // 2, leg % 2].subgridspec(1, 2, width_ratios=[5, 1], wspace=0.04)
        axes, histogram = figure.add_subplot(beside[0]), figure.add_subplot(beside[1])
        panels.append(axes)
        color = LEG_COLORS[leg]
        _line(axes, shown[leg], color=color, linewidth=0.6)
        _histogram(histogram, curves.residuals[leg], color=color, orientation="horizontal")
        for panel in (axes, histogram):
            panel.axhline(0, color="#3A424A", linewidth=0.6)
            for level in (-noise, noise) if noise else ():
                panel.axhline(level, color="#222A32", linestyle=(0, (4, 2)), linewidth=0.8)
            panel.set_ylim(-1.05 * largest, 1.05 * largest)
        axes.set_title(f"Leg {leg + 1}")
        histogram.set(xticks=[], yticklabels=[])
        histogram.grid(False)
    for axes in panels[::2]:
        axes.set_ylabel("residual, N")
    for axes in panels[-2:]:
        axes.set_xlabel("rig time, s")
    for axes in panels[:-2]:
        axes.sharex(panels[-1])
        axes.tick_params(labelbottom=False)
    return figure


def _histogram(axes: Axes, histogram: Histogram | None, *, floor: float = 0.0, **style: Any) -> None:
    """floor: count at which the bars begin: 0, or what a logarithmic axis can show."""
    if histogram is not None:
        counts = np.maximum(histogram.counts, floor)
        axes.stairs(counts, histogram.edges, baseline=floor, fill=True, alpha=0.85, linewidth=0, **style)


def _tracking(curves: Curves, _summary: Mapping[str, Any]) -> Figure:
    figure = panelled(5.0, 2)
    titles = ["Position error", "Rotation error", "Leg length error", "Condition number of H"]
    panels = _panels(figure, titles, "")
    for axis, name in enumerate("xyz"):
        _line(panels[0], curves.covered("position error", axis), color=AXIS_COLORS[axis], label=name)
        _line(panels[1], curves.covered("rotation error", axis), color=AXIS_COLORS[axis], label=f"about {name}")
    for leg, color in enumerate(LEG_COLORS):
        _line(panels[2], curves.covered("length error", leg), color=color, label=f"{leg + 1}")
    _line(panels[3], curves.covered("condition"), color="#3A424A")
    for axes, unit in zip(panels, ("µm", "µrad", "µm", ""), strict=True):
        axes.set_ylabel(unit)
    for axes in panels[:3]:
        axes.legend(loc="upper right", ncols=6, borderaxespad=0, bbox_to_anchor=(1, 1.13), columnspacing=1)
    return figure


def _pose(curves: Curves, _summary: Mapping[str, Any]) -> Figure:
    figure = panelled(6.2, 3)
    panels = _panels(figure, ["x", "θx", "y", "θy", "z", "θz"], "")
    for side, quantity in (("measured", "measured place"), ("command", "commanded place")):
        for index, axes in enumerate(panels):
            color = AXIS_COLORS[index // 2]
            style: dict[str, Any] = {"color": color, "linewidth": 1.6}
            if side == "command":
                style = {"color": darker(color), "linewidth": 0.9, "linestyle": (0, (4, 2))}
            _line(axes, curves.covered(quantity, 3 * (index % 2) + index // 2), label=side, **style)
    for index, axes in enumerate(panels):
        axes.set_ylabel(("mm", "deg")[index % 2])
        axes.legend(loc="upper right", ncols=2, borderaxespad=0, bbox_to_anchor=(1, 1.16))
    return figure


def _terms(curves: Curves, _summary: Mapping[str, Any]) -> Figure:
    figure = panelled(7.0, 3, above=TITLE + 0.25)
    panels = _panels(figure, _leg_titles(), "force, N", one_scale=True)
    for leg, axes in enumerate(panels):
        for term, name in enumerate(TERMS):
            _line(axes, curves.covered("terms", 6 * term + leg), color=TERM_COLORS[term], label=name)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="upper center", ncols=len(TERMS))
    return figure


def _timing(curves: Curves, _summary: Mapping[str, Any]) -> Figure:
    figure = panelled(5.0, 2, between=TITLE + TICKS)
    grid = figure.subplots(2, 2, squeeze=False)
    logarithmic: dict[str, Any] = {"xlabel": "µs", "ylabel": "cycles", "yscale": "log"}
    _histogram(grid[0, 0], curves.period_error, floor=_FLOOR, color="#0072B2")
    grid[0, 0].set(title="Period error, all cycles", **logarithmic)
    for (name, histogram), color in zip(curves.durations.items(), ("#0072B2", "#E69F00", "#009E73"), strict=True):
        _histogram(grid[0, 1], histogram, floor=_FLOOR, color=color, label=name)
        _line(grid[1, 1], curves.duration(name), color=color, label=name)
    grid[0, 1].set(title="Durations, all cycles", **logarithmic)
    for axes in grid[0]:
        axes.set_ylim(bottom=_FLOOR)
        axes.yaxis.set_major_formatter(EngFormatter())  # powers would have matplotlib load its mathematics for them
        axes.yaxis.set_minor_formatter(LogFormatter())
    _line(grid[1, 0], curves.period_error_over_time(), color="#0072B2")
    grid[1, 0].set(title="Period error over time", xlabel="rig time, s", ylabel="µs")
    grid[1, 1].set(title="Durations over time", xlabel="rig time, s", ylabel="µs")
    for axes in grid[:, 1]:
        if axes.get_legend_handles_labels()[0]:  # of an imported recording there are none
            axes.legend(loc="upper right", ncols=3, borderaxespad=0, bbox_to_anchor=(1, 1.13))
    return figure


_DRAWINGS: dict[str, _Made] = {
    "timeline": _timeline,
    "forces": _forces,
    "residuals": _residuals,
    "tracking": _tracking,
    "pose": _pose,
    "terms": _terms,
    "timing": _timing,
    "spectrum": lambda _curves, summary: spectrum_figure(summary, LEG_COLORS),
    "dependence": lambda _curves, summary: dependence_figure(summary, LEG_COLORS),
}
_OF_VALIDATION = ("spectrum", "dependence")
FIGURES = tuple(name for name in _DRAWINGS if name not in _OF_VALIDATION)
"""Names of the figures of every report, in their order."""
