"""The report's figures: curves collected in one pass over all rows, drawn as SVG, as PDF files or into a page.

The colour identifies the leg; measured curves are solid, model and command are dashed.
"""

import contextlib
import io
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, FuncFormatter, LogFormatter

from rig.angles import rotation_vector
from rig.csvio import whole_binary_file
from rig.errors import InputError
from rig.recording import Recorded, has_tracking
from rig.report.pages import TICKS, TITLE, Drawing, drawing, fix_titles, panelled, styled, svg_text
from rig.report.streaming import Angles, Floats, Histogram, Outline
from rig.report.summary import window_of
from rig.runtime import ChildDiedError, ChildLateError, ChildProcess
from rig.telemetry import TERMS

_POWERED = {
    "measured": 6,
    "model": 6,
    "residual": 6,
    "position error": 3,
    "rotation error": 3,
    "length error": 6,
    "condition": 1,
    "measured place": 6,
    "commanded place": 6,
    "terms": 30,
}
"""Quantities over the powered time, with their column counts."""
_DURATIONS = {"exchange": "exchange_time", "lateness": "lateness", "computation": "compute_time"}
_SUMMARY_KEYS = {"exchange": "exchange", "lateness": "lateness", "computation": "compute"}

_FINE = 1200
"""Intervals of a curve for zooming"""

Curve = tuple[Floats, Floats]
"""Times and values, (m,)."""


class Curves:
    """Outlines and histograms of a recording, in constant memory.

    Args:
        recording: read once; at least two rows.
        summary: result of `summarize`.

    Raises:
        RecordingError: the file changed meanwhile.
    """

    def __init__(self, recording: Recorded, summary: Mapping[str, Any]) -> None:
        powered, cycle = summary["powered"], summary["cycle"]
        self._begin, count = powered["first_row"], powered["rows"]
        self._end = self._begin + count
        self._window = tuple(summary["window"]["span"]) if summary["window"]["rows"] else (self._begin, self._end)
        self._covered = Outline(self._window[1] - self._window[0], sum(_POWERED.values()))
        self._fine = Outline(count, sum(_POWERED.values()), _FINE)
        self._fine_timing = Outline(recording.count - 1, 1 + len(_DURATIONS), _FINE)
        self._period = Outline(recording.count - 1, 1)
        self._durations = Outline(recording.count, len(_DURATIONS))
        self._places = (Angles(), Angles())
        self._tracked = has_tracking(recording.header)
        self._nominal = 1e6 / cycle["rate_hz"] if cycle["rate_hz"] else 0.0
        self.residuals = [_bins(leg["min_residual_n"], leg["max_residual_n"]) for leg in summary["force"]["legs"]]
        """residuals over the covered rows, N; None for a leg without any"""
        low, high = cycle["period_min_us"], cycle["period_max_us"]
        nominal = self._nominal
        self.period_error = None if low is None else _bins(low - nominal, high - nominal)
        """µs"""
        self.durations = {
            name: _bins(cycle[f"{key}_min_us"], cycle[f"{key}_max_us"]) for name, key in _SUMMARY_KEYS.items()
        }
        """µs"""
        seen = 0
        with np.errstate(all="ignore"):  # a file may hold any value
            for rows in recording.blocks():
                self._add(rows, seen, summary)
                seen += len(rows)

    def covered(self, quantity: str, column: int = 0) -> Curve:
        """Return a quantity's curve over the covered rows, or else the powered time.

        SI units, but errors in µm and µrad, positions in mm and angles in degrees.
        """
        return self._covered.curve(_column(quantity, column))

    def fine(self, quantity: str, column: int = 0) -> Curve:
        """Return the curve over the whole powered time at the resolution for zooming."""
        return self._fine.curve(_column(quantity, column))

    def fine_timing(self, column: int) -> Curve:
        """Return timings, µs, of all cycles but the first for zooming: period error (column 0), then the durations."""
        return self._fine_timing.curve(column)

    def period_error_over_time(self) -> Curve:
        """Return the period error, µs, of all cycles but the first."""
        return self._period.curve(0)

    def duration(self, name: str) -> Curve:
        """Return a duration, µs, of all cycles: exchange, lateness or computation."""
        return self._durations.curve(list(_DURATIONS).index(name))

    def _add(self, rows: npt.NDArray[np.void], seen: int, summary: Mapping[str, Any]) -> None:
        begin, end = max(self._begin - seen, 0), max(self._end - seen, 0)
        if len(part := rows[begin:end]):
            values = self._under_power(part)
            self._fine.add(part["t"], values)
            first, last = (min(max(row - seen - begin, 0), len(part)) for row in self._window)
            self._covered.add(part["t"][first:last], values[first:last])
        error = 1e6 * rows["period"] - self._nominal
        self._period.add(rows["t"][not seen :], error[not seen :, np.newaxis])
        durations = {name: 1e6 * rows[field] for name, field in _DURATIONS.items()}
        stacked = np.stack(list(durations.values()), axis=1)
        self._durations.add(rows["t"], stacked)
        timing = np.column_stack([error, stacked])
        self._fine_timing.add(rows["t"][not seen :], timing[not seen :])
        if self.period_error is not None:
            self.period_error.add(error[not seen :])
        for name, values in durations.items():
            if (histogram := self.durations[name]) is not None:
                histogram.add(values)
        covered = window_of(rows, seen, summary)
        if covered.any():
            residual = rows["force_residual"][covered]
            for leg, histogram in enumerate(self.residuals):
                if histogram is not None:
                    histogram.add(residual[:, leg])

    def _under_power(self, rows: npt.NDArray[np.void]) -> Floats:
        pose, reference = rows["pose"], rows["reference"]
        followed = 1.0 if self._tracked else np.nan
        parts = {
            "measured": rows["force_measured"],
            "model": rows["force_model"],
            "residual": rows["force_residual"],
            "position error": followed * 1e6 * (pose[:, :3] - reference[:, :3]),
            "rotation error": followed * 1e6 * rotation_vector(reference[:, 3:7], pose[:, 3:7]),
            "length error": followed * 1e6 * (rows["length"] - rows["length_reference"]),
            "condition": rows["condition"][:, np.newaxis],
            "measured place": _place(pose, self._places[0]),
            "commanded place": _place(reference, self._places[1]),
            "terms": rows["terms"].reshape(len(rows), -1),
        }
        return np.concatenate([parts[name] for name in _POWERED], axis=1)


def _column(quantity: str, column: int) -> int:
    names = list(_POWERED)
    return sum(_POWERED[name] for name in names[: names.index(quantity)]) + column


def _place(pose: Floats, angles: Angles) -> Floats:
    """Return positions, mm, and angles, degrees, (m, 6) of poses (m, 7 or more)."""
    return np.concatenate([1e3 * pose[:, :3], np.degrees(angles.add(pose[:, 3:7]))], axis=1)


def _bins(low: float | None, high: float | None) -> Histogram | None:
    return None if low is None or high is None else Histogram(low, high)


def spectrum_figure(summary: Mapping[str, Any], colors: Sequence[str]) -> Figure:
    """Plot amplitude spectral density and coherence over frequency; the summary must have them."""
    spectrum, noise = summary["validation"]["spectrum"], summary["force"]["noise_n"]
    rate = summary["cycle"]["rate_hz"]
    figure = panelled(3.0, 1, above=0.36)
    density, coherence = figure.subplots(1, 2)
    frequency = spectrum["frequency_hz"]
    for leg, color in zip(spectrum["legs"], colors, strict=True):
        density.plot(frequency, np.sqrt(leg["residual_n2_per_hz"]), color=color, label=str(leg["leg"]))
        known = [np.nan if value is None else value for value in leg["coherence"]]
        coherence.plot(frequency, known, color=color)
    if noise and rate:
        white = noise / np.sqrt(rate / 2)
        density.axhline(white, color="#222A32", linestyle=(0, (4, 2)), linewidth=0.8, label="noise")
    level = spectrum["coherence_level"]
    coherence.plot(frequency, level, color="#222A32", linestyle=(0, (4, 2)), linewidth=0.8, label="unrelated, 95 %")
    density.set(title="Residual", ylabel="N/√Hz", yscale="log")
    coherence.set(title="Coherence of model and measurement", ylim=(0.0, 1.02))
    for axes in (density, coherence):
        axes.set(xscale="log", xlabel="Hz")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _place: f"{value:g}"))
    for formatter in (density.yaxis.set_major_formatter, density.yaxis.set_minor_formatter):
        formatter(FuncFormatter(lambda value, _place: f"{value:.2g}"))
    density.tick_params(axis="y", which="both", labelsize=7)
    density.legend(loc="upper right", ncols=7, borderaxespad=0, bbox_to_anchor=(1, 1.12), columnspacing=0.8)
    coherence.legend(loc="upper right", borderaxespad=0, bbox_to_anchor=(1, 1.12))
    return figure


def dependence_figure(summary: Mapping[str, Any], colors: Sequence[str]) -> Figure:
    """Plot mean residuals over speed and acceleration; the summary must have them."""
    dependence, noise = summary["validation"]["dependence"], summary["force"]["noise_n"]
    figure = panelled(3.0, 1, above=0.36)
    panels = figure.subplots(1, 2, sharey=True)
    for axes, name, unit in zip(panels, ("speed", "acceleration"), ("m/s", "m/s²"), strict=True):
        for leg, color in zip(dependence[name]["legs"], colors, strict=True):
            axes.plot(leg["at"], leg["mean_n"], color=color, marker=".", markersize=3, label=str(leg["leg"]))
        for level in (-noise, noise) if noise else ():
            axes.axhline(level, color="#222A32", linestyle=(0, (4, 2)), linewidth=0.8)
        axes.axhline(0.0, color="#8A929A", linewidth=0.6)
        axes.set(title=f"Over {name}", xlabel=unit)
    panels[0].set_ylabel("mean residual, N")
    panels[1].legend(loc="upper right", ncols=6, borderaxespad=0, bbox_to_anchor=(1, 1.12), columnspacing=0.8)
    return figure


LEG_COLORS = ("#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00", "#CC79A7")
"""Okabe–Ito colours of legs 1 to 6."""

AXIS_COLORS = ("#D55E00", "#009E73", "#0072B2")
"""Colours of x, y and z."""
TERM_COLORS = ("#0072B2", "#7F7F7F", "#009E73", "#D55E00", "#CC79A7")
"""Colours of the force terms, in their order."""
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
"""Event markers above the states; the last is drawn on top."""
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
"""matplotlib settings of all report pages."""
_FLOOR = 0.5
"""cycles: lower end of a logarithmic count axis"""

_Made = Callable[[Curves, Mapping[str, Any]], Figure]


def draw(curves: Curves, summary: Mapping[str, Any], names: Sequence[str]) -> dict[str, str]:
    """Draw the named figures as SVG documents, by name.

    summary: result of `summarize` for the recording.
    """
    return {name: _drawn(_DRAWINGS[name], curves, summary) for name in names}


def _drawn(made: _Made, curves: Curves, summary: Mapping[str, Any]) -> str:
    with styled(STYLE):
        return svg_text(made(curves, summary))


def drawn_files(curves: Curves, summary: Mapping[str, Any]) -> Iterator[tuple[str, Drawing]]:
    """Yield every figure by name, as SVG document and as PDF file."""
    for name in figure_names(summary):
        with styled(STYLE):
            yield name, drawing(_DRAWINGS[name](curves, summary))


def figure_pages(curves: Curves, summary: Mapping[str, Any]) -> Iterator[Figure]:
    """Yield every figure in the report's style."""
    for name in figure_names(summary):
        with styled(STYLE):
            yield _DRAWINGS[name](curves, summary)


def figure_names(summary: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the figures for which a summary has data, in order."""
    found = summary.get("validation") or {}
    return (*FIGURES, *(name for name in _OF_VALIDATION if found.get(name) is not None))


def _panels(figure: Figure, titles: list[str], unit: str, *, one_scale: bool = False) -> list[Axes]:
    """Return two columns of panels in reading order, with a shared time axis and optionally one scale."""
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
    """Return the colour of the dashed line that goes with a solid one."""
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
        subgrid = grid[leg // 2, leg % 2].subgridspec(1, 2, width_ratios=[5, 1], wspace=0.04)
        axes, histogram = figure.add_subplot(subgrid[0]), figure.add_subplot(subgrid[1])
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
    """floor: count at which the bars begin: 0, or the lower end of a logarithmic axis."""
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
        axes.yaxis.set_major_formatter(EngFormatter())  # power labels would load matplotlib's mathtext
        axes.yaxis.set_minor_formatter(LogFormatter())
    _line(grid[1, 0], curves.period_error_over_time(), color="#0072B2")
    grid[1, 0].set(title="Period error over time", xlabel="rig time, s", ylabel="µs")
    grid[1, 1].set(title="Durations over time", xlabel="rig time, s", ylabel="µs")
    for axes in grid[:, 1]:
        if axes.get_legend_handles_labels()[0]:  # imported recordings have none
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


_HELPER_FIGURES = FIGURES[:4]  # both halves take about as long
_HELPER_TIMEOUT = 60.0  # s, wait for the other half once this one is drawn


def figures(curves: Curves, summary: Mapping[str, Any]) -> dict[str, str]:
    """Draw every figure of the report as an SVG document, by name, independent of the number of processes.

    A process with several threads cannot be forked; it draws them all itself.

    Args:
        curves: curves of a recording.
        summary: result of `summarize`.
    """
    names = figure_names(summary)
    if threading.active_count() > 1:
        return draw(curves, summary, names)
    helper = ChildProcess("the drawing", _draw, curves, summary, _HELPER_FIGURES, early=True)
    try:
        by_parent = draw(curves, summary, [name for name in names if name not in _HELPER_FIGURES])
        by_helper: dict[str, str] = helper.receive(_HELPER_TIMEOUT, "draw")
    except (ChildDiedError, ChildLateError):
        by_helper = draw(curves, summary, _HELPER_FIGURES)
    finally:
        helper.end(0.0)
    return by_helper | by_parent


def _draw(curves: Curves, summary: Mapping[str, Any], names: Sequence[str], connection: Connection) -> None:
    """Entry point of the helper process."""
    with contextlib.suppress(OSError):  # the parent is gone
        connection.send(draw(curves, summary, names))


def write_figures(recording: Recorded, folder: Path, *, summary: Mapping[str, Any]) -> list[Path]:
    """Write every figure into `folder` as NAME.svg and NAME.pdf; return those files in order.

    The output is reproducible and replaces files of the same names; a missing folder is created. A recording of
    fewer than two rows has no figures. Raises InputError when the folder or a file cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        written = []
        for name, drawn in drawn_files(Curves(recording, summary), summary) if recording.count > 1 else ():
            svg, pdf = folder / f"{name}.svg", folder / f"{name}.pdf"
            svg.write_text(drawn.svg, encoding="utf-8")
            pdf.write_bytes(drawn.pdf)
            written += [svg, pdf]
    except OSError as error:
        raise InputError(f"figures {folder}: cannot be written: {error.strerror or error}") from None
    return written


Array = npt.NDArray[np.float64]

_DPI = 150
_MAX_POINTS = 4000
"""Maximum number of values of a curve; a longer one is reduced to the maximum of each interval."""
_ERROR_FLOOR = 1e-4
"""mm, mrad: lower end of the logarithmic axis"""


@dataclass(frozen=True, slots=True, eq=False)
class LoopTrace:
    """A controller's run at times (m,), s: distance m and angle rad from the reference (m,), motor forces (m, 6) N.

    plant: name of the plant, whichever engine moves it. mujoco: whether MuJoCo does.
    """

    controller: str
    times: Array
    position: Array
    rotation: Array
    forces: Array
    plant: str
    mujoco: bool


def write_loop_figure(path: Path, traces: list[LoopTrace]) -> None:
    """Draw the runs into an SVG, PDF or PNG file, by its suffix.

    Raises:
        InputError: the file cannot be written.
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
    titles = ("Position error of the platform", "Rotation error of the platform", "Largest motor force")
    for axes, title, unit in zip(panels, titles, ("mm", "mrad", "N"), strict=True):
        axes.set_title(title)
        axes.set_ylabel(unit)
    for index, trace in enumerate(traces):
        style = {"color": LEG_COLORS[index % len(LEG_COLORS)], "label": trace.controller, "linewidth": 1.0}
        values = (1e3 * trace.position, 1e3 * trace.rotation, np.abs(trace.forces).max(axis=1))
        for axes, value in zip(panels, values, strict=True):
            axes.plot(*largest(trace.times, value), **style)
    for axes in panels[:2]:
        axes.set_yscale("log")
        axes.set_ylim(bottom=_ERROR_FLOOR)
    panels[-1].set_xlabel("time, s")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="upper center", ncols=len(traces))
    return figure


def largest(times: Array, values: Array, points: int = _MAX_POINTS) -> tuple[Array, Array]:
    """Return the curve, reduced to the maximum of each interval if it has more points."""
    stride = -(-len(times) // points)
    starts = np.arange(0, len(times), stride)
    return times[starts], np.maximum.reduceat(values, starts)
