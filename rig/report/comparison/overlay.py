"""Curves of several runs over a common time axis that starts at each run's beginning."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from rig.angles import rotation_vector
from rig.recording import Recorded
from rig.report.html import curve, panel, plots_json
from rig.report.pages import panelled
from rig.report.streaming import Floats, finite
from rig.report.summary import window_of

_BINS = 1200
_COLUMNS = {"measured": 6, "residual": 6, "position": 1, "rotation": 1, "length": 1}
"""Column count of each quantity: forces in N; norms of the tracking errors in µm and µrad."""
_TIMES = "since"
_OPACITY = "b0"  # opacity suffix, so that lower curves show through

Rows = npt.NDArray[np.void]


@dataclass(frozen=True, slots=True)
class _Panel:
    title: str
    unit: str
    quantity: str
    column: int = 0


PLOTS: dict[str, tuple[_Panel, ...]] = {
    "forces": tuple(_Panel(f"Leg {leg + 1}", "N", "measured", leg) for leg in range(6)),
    "residuals": tuple(_Panel(f"Leg {leg + 1}", "N", "residual", leg) for leg in range(6)),
    "tracking": (
        _Panel("Position error", "µm", "position"),
        _Panel("Rotation error", "µrad", "rotation"),
        _Panel("Leg length error, worst leg", "µm", "length"),
    ),
}
"""Panels of each plot by its name."""
_ONE_SCALE = ("forces", "residuals")


class Overlay:
    """Minimum and maximum of each run over common time intervals.

    Args:
        recordings: each is read once.
        summaries: result of `summarize` for each; its window is the run.
        names: names of the runs.
        colors: colours of their curves.

    Raises:
        RecordingError: a file changed meanwhile.
    """

    def __init__(
        self,
        recordings: Sequence[Recorded],
        summaries: Sequence[Mapping[str, Any]],
        names: Sequence[str],
        colors: Sequence[str],
    ) -> None:
        self._names, self._colors = names, [f"{color}{_OPACITY}" for color in colors]
        windows = [summary["window"] for summary in summaries]
        longest = max((one["end_s"] - one["begin_s"] for one in windows if one["rows"]), default=0.0)
        rate = min((summary["cycle"]["rate_hz"] or 1.0 for summary in summaries), default=1.0)
        count = max(1, min(_BINS, int(longest * rate / 2)))
        self.times: Floats = np.arange(count) * (longest / count)
        """s since the start of the runs, at the start of each interval"""
        self._step = longest / count
        self._found = [self._read_rows(*one) for one in zip(recordings, summaries, strict=True)]

    def of(self, run: int, quantity: str, column: int = 0) -> tuple[Floats, Floats]:
        """Return times in s, each twice, with the minimum and maximum there; NaN where a run has no data."""
        names = list(_COLUMNS)
        place = sum(_COLUMNS[name] for name in names[: names.index(quantity)]) + column
        low, high = self._found[run]
        return np.repeat(self.times, 2), np.stack([low[:, place], high[:, place]], axis=1).ravel()

    @property
    def json(self) -> str | None:
        """Return the plots as JSON for the page's script; None without data."""
        if self._step <= 0.0 or len(self.times) < 2:
            return None
        runs = list(enumerate(zip(self._names, self._colors, strict=True)))
        plots = {
            name: {
                "times": _TIMES,
                "beside": False,
                "one_scale": name in _ONE_SCALE,
                "panels": [
                    panel(
                        one.title,
                        one.unit,
                        [curve(label, color, self.of(run, one.quantity, one.column)) for run, (label, color) in runs],
                    )
                    for one in panels
                ],
            }
            for name, panels in PLOTS.items()
        }
        shown = "Time from the start of each run; a double click shows everything."
        return plots_json({_TIMES: np.round(self.times, 5).tolist()}, plots, shown)

    def figure(self, name: str) -> Figure:
        """Return one plot for print."""
        panels = PLOTS[name]
        rows = (len(panels) + 1) // 2
        figure = panelled(0.75 + 2.1 * rows, rows, above=0.6)
        grid = figure.subplots(rows, 2, sharex=True, sharey=name in _ONE_SCALE, squeeze=False)
        for axes, one in zip(grid.flat, panels, strict=False):
            for run, color in enumerate(self._colors):
                axes.plot(*self.of(run, one.quantity, one.column), color=color, linewidth=0.8)
            axes.set_title(one.title)
            axes.set_ylabel(one.unit)
        for axes in list(grid.flat)[len(panels) :]:
            axes.set_visible(False)
        for axes in list(grid.flat)[max(0, len(panels) - 2) : len(panels)]:
            axes.set_xlabel("time since the start of the run, s")
            axes.tick_params(labelbottom=True)
        labels = [name.replace("$", r"\$") for name in self._names]
        figure.legend(grid.flat[0].lines, labels, loc="upper left", ncols=4, borderaxespad=0.1)
        return figure

    def _read_rows(self, recording: Recorded, summary: Mapping[str, Any]) -> tuple[Floats, Floats]:
        shape = (len(self.times), sum(_COLUMNS.values()))
        low, high = np.full(shape, np.inf), np.full(shape, -np.inf)
        seen = 0
        with np.errstate(all="ignore"):  # a file may hold any value
            for block in recording.blocks():
                rows = block[window_of(block, seen, summary)]
                seen += len(block)
                if len(rows) and self._step > 0.0:
                    self._add(rows, rows["t"] - summary["window"]["begin_s"], low, high)
        low[~np.isfinite(low)] = high[~np.isfinite(high)] = np.nan
        return low, high

    def _add(self, rows: Rows, t: Floats, low: Floats, high: Floats) -> None:
        places = np.clip((t / self._step).astype(np.intp), 0, len(self.times) - 1)  # the last row lies on the end
        values = _values(rows)
        known = finite(values)
        np.minimum.at(low, places, np.where(known, values, np.inf))
        np.maximum.at(high, places, np.where(known, values, -np.inf))


def _values(rows: Rows) -> Floats:
    """Return all columns (m, k) of rows (m,)."""
    pose, reference = rows["pose"], rows["reference"]
    turned = rotation_vector(reference[:, 3:7], pose[:, 3:7])
    parts = {
        "measured": rows["force_measured"],
        "residual": rows["force_residual"],
        "position": 1e6 * np.linalg.norm(pose[:, :3] - reference[:, :3], axis=1, keepdims=True),
        "rotation": 1e6 * np.linalg.norm(turned, axis=1, keepdims=True),
        "length": 1e6 * np.abs(rows["length"] - rows["length_reference"]).max(axis=1, keepdims=True),
    }
    return np.concatenate([parts[name] for name in _COLUMNS], axis=1)
