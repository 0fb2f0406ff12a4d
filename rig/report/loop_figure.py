"""The figure of a comparison of controllers in the closed loop offline."""

import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from rig.csvio import whole_binary_file
from rig.report.pages import TITLE, drawing, fix_titles, panelled, styled
from rig.report.plots import LEG_COLORS, STYLE

Array = npt.NDArray[np.float64]

_DPI = 150
_MOST = 4000
"""Values of a curve: of a longer one, the largest of each of as many stretches."""
_LEAST = 1e-4
"""mm, mrad: below it nothing is drawn on a logarithmic axis"""


@dataclass(frozen=True, slots=True, eq=False)
class LoopTrace:
    """A controller's run at times (m,), s: distance m and angle rad from the reference (m,), motor forces (m, 6) N."""

    controller: str
    times: Array
    position: Array
    rotation: Array
    forces: Array


def write_loop_figure(path: Path, traces: list[LoopTrace]) -> None:
    """Draw the runs into a file, SVG, PDF or PNG by its suffix.

    Raises:
        InputError: it cannot be written.
    """
    with styled(STYLE):
        figure = _figure(traces)
        if path.suffix.lower() == ".png":
            fix_titles(figure)
            png = io.BytesIO()
            figure.savefig(png, format="png", dpi=_DPI)
            data = png.getvalue()
        else:
            drawn = drawing(figure)
            data = drawn.pdf if path.suffix.lower() == ".pdf" else drawn.svg.encode()
    with whole_binary_file(path) as file:
        file.write(data)


def _figure(traces: list[LoopTrace]) -> Figure:
    figure = panelled(6.6, 3, columns=1, above=TITLE + 0.25)
    panels = figure.subplots(3, 1, sharex=True, squeeze=False)[:, 0]
    titles = ("Platform from its reference", "Platform turned from its reference", "Largest motor force")
    for axes, title, unit in zip(panels, titles, ("mm", "mrad", "N"), strict=True):
        axes.set_title(title)
        axes.set_ylabel(unit)
    for index, trace in enumerate(traces):
        style = {"color": LEG_COLORS[index % len(LEG_COLORS)], "label": trace.controller, "linewidth": 1.0}
        values = (1e3 * trace.position, 1e3 * trace.rotation, np.abs(trace.forces).max(axis=1))
        for axes, value in zip(panels, values, strict=True):
            axes.plot(*_largest(trace.times, value), **style)
    for axes in panels[:2]:
        axes.set_yscale("log")
        axes.set_ylim(bottom=_LEAST)
    panels[-1].set_xlabel("time, s")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="upper center", ncols=len(traces))
    return figure


def _largest(times: Array, values: Array) -> tuple[Array, Array]:
    """The curve, or of a long one the largest value of each stretch."""
    stride = -(-len(times) // _MOST)
    starts = np.arange(0, len(times), stride)
    return times[starts], np.maximum.reduceat(values, starts)
