"""Built-in pages of plots: measured, derived from the mechanism, and cycle timing."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyqtgraph as pg
from pyqtgraph.Qt import QtWidgets

from gui.live.plot import AXIS_WIDTH, header_label, plain_plot
from gui.live.plot_page import PlotPage, Plots
from gui.models import Differences, Floats, Panel, Rows, number_text, panels_by_page
from gui.texts import mark, tr
from gui.widgets import FixedSize, Theme
from kinematics import Geometry
from rig.csvio import Column
from rig.recording import SensorSeries
from rig.telemetry import SensorChannels

SensorSource = Callable[[], Sequence[SensorSeries]]


def _no_geometry() -> Geometry | None:
    return None


@dataclass(frozen=True, slots=True)
class Sources:
    """Data that derived series need besides the rows; without it they are NaN."""

    differences: Differences | None = None
    geometry: Callable[[], Geometry | None] = _no_geometry
    sensors: SensorSource = tuple
    """readings of the external sensors"""


class DerivedPlots(Plots):
    """Page with series of published models; its view computes those it needs."""

    def __init__(self) -> None:
        super().__init__()
        self.sources = Sources()
        """For plots created from now on."""

    @property
    def needed_models(self) -> tuple[str, ...]:
        """Published models with a visible series, of `dynamics.MODELS`."""
        raise NotImplementedError

    def offer_sensors(self, sensors: Sequence[SensorChannels]) -> None:
        """Offer the signals of these external sensors."""
        raise NotImplementedError

    def panels_with(self) -> Callable[[Sources], Sequence[Panel]]:
        """Return a factory of the visible panels for other sources; callable in any thread."""
        raise NotImplementedError


def panels_to_write(
    name: str,
    page: Plots,
    complete: Callable[[], Differences] | None,
    geometry: Geometry | None,
    sensors: Sequence[SensorSeries] = (),
) -> Callable[[], Sequence[Panel] | None]:
    """Return a factory of the panels to export, callable in any thread; None: use the page's own panels.

    Args:
        name: of the page. page: to export.
        complete: computes missing model values of the rows; None if the page shows no models.
        geometry: of the mechanism, None if unknown.
        sensors: readings of the external sensors.
    """
    made = page.panels_with() if isinstance(page, DerivedPlots) else None

    def panels() -> Sequence[Panel] | None:
        differences = None if complete is None else complete()
        if made is not None:
            return made(Sources(differences, lambda: geometry, lambda: sensors))
        return panels_by_page(differences, lambda: geometry).get(name)

    return panels


_BINS = 60
_NOTHING = tr("No cycles to count")
_FLOOR = -0.3
"""Logarithm of the count that stands for zero."""


def period_error(rows: Rows) -> Floats:
    """Return how much longer each cycle took than the configured period, s, (n,); skipped cycles count as long ones."""
    cycles = float(rows["cycle"][-1]) - float(rows["cycle"][0])
    nominal = (rows["t"][-1] - rows["t"][0]) / cycles if cycles > 0 else float(rows["period"][0])
    error: Floats = rows["period"] - nominal
    return error


QUANTITIES: dict[str, Callable[[Rows], Floats]] = {
    mark("Period error"): period_error,
    mark("Lateness"): lambda rows: rows["lateness"],
    mark("Exchange"): lambda rows: rows["exchange_time"],
    mark("Computation"): lambda rows: rows["compute_time"],
}


class Histogram(QtWidgets.QWidget):
    """Histogram of a duration over the visible rows, µs, with a logarithmic count axis."""

    def __init__(self, title: str, theme: Theme) -> None:
        super().__init__()
        self._title = tr(title)
        self.header = header_label()
        self.header.setWordWrap(True)
        self._head = FixedSize(self.header)
        self.plot = plain_plot(tr("Histogram of {duration}, µs").format(duration=self._title.lower()))
        self.setAccessibleName(f"{self._title}, µs")
        self.plot.setMinimumHeight(60)
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(1)
        layout.addWidget(self._head)
        layout.addWidget(self.plot, 1)
        self.plot.view.setMouseEnabled(x=False, y=False)
        self.plot.centralLayout.setContentsMargins(0, 2, 6, 0)
        left, bottom = self.plot.getAxis("left"), self.plot.getAxis("bottom")
        left.setWidth(AXIS_WIDTH)
        left.setLogMode(False, True)
        left.setLabel(tr("cycles"))
        bottom.setLabel(f"{self._title.lower()}, µs")
        self.counts = np.zeros(_BINS, np.intp)
        self.edges = np.linspace(0, 1, _BINS + 1)
        self.curve = pg.PlotCurveItem(
            self.edges, np.full(_BINS, _FLOOR), stepMode="center", fillLevel=_FLOOR, skipFiniteCheck=True
        )
        self.plot.add(self.curve)
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Change colours."""
        self._theme = theme
        self.plot.dress(theme)
        self.curve.setPen(theme.pen(theme.accent))
        self.curve.setBrush(pg.mkBrush(theme.accent + "60"))
        self.header.setText(f"&nbsp;<b>{self._title}</b>, µs")

    def show_durations(self, seconds: Floats) -> None:
        """Show durations (n,), s; ignores NaN."""
        values = 1e6 * seconds[np.isfinite(seconds)]
        if not len(values):
            self.counts = np.zeros(_BINS, np.intp)
            self.curve.setData(self.edges, np.full(_BINS, _FLOOR))
            self.header.setText(f"&nbsp;<b>{self._title}</b>, µs")
            return
        low, high = float(values.min()), float(values.max())
        margin = max(0.5, 0.02 * (high - low))
        self.counts, self.edges = np.histogram(values, _BINS, (low - margin, high + margin))
        self.curve.setData(self.edges, np.log10(np.maximum(self.counts, 10**_FLOOR)))
        self.plot.view.setRange(
            xRange=(self.edges[0], self.edges[-1]), yRange=(_FLOOR, np.log10(self.counts.max()) + 0.1), padding=0
        )
        median, tail = np.percentile(values, (50, 99))
        figures = ((tr("median"), float(median)), ("99 %", float(tail)), (tr("largest"), high))
        text = " &nbsp; ".join(
            f"<span style='color:{self._theme.muted}'>{name}</span> {number_text(value, 1)}" for name, value in figures
        )
        self.header.setText(f"&nbsp;<b>{self._title}</b>, µs &nbsp; {text}")
        self._head.make_room()


class TimingPage(QtWidgets.QWidget):
    """Four histograms of the visible rows, created by `build`, and the counts of missed cycles."""

    shows_moment = False
    """see `Plots`"""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._grid = grid = QtWidgets.QGridLayout(self)
        grid.setContentsMargins(0, 4, 0, 0)
        grid.setSpacing(6)
        self.histograms: dict[str, Histogram] = {}
        self.missed = QtWidgets.QLabel(_NOTHING)
        self.missed.setAccessibleName(tr("Missed cycles"))
        grid.addWidget(self.missed, 2, 0, 1, 2)

    def build(self) -> Iterator[None]:
        """Create the histograms one by one."""
        for index, name in enumerate(QUANTITIES):
            self.histograms[name] = Histogram(name, self._theme)
            self._grid.addWidget(self.histograms[name], index // 2, index % 2)
            yield

    def set_theme(self, theme: Theme) -> None:
        """Change colours."""
        for histogram in self.histograms.values():
            histogram.set_theme(theme)

    def draw(self, rows: Rows) -> None:
        """Show rows (n,)."""
        for name, quantity in QUANTITIES.items():
            self.histograms[name].show_durations(quantity(rows) if len(rows) else np.empty(0))
        if not len(rows):
            self.missed.setText(_NOTHING)
            return
        skipped = int(rows["overruns"][-1]) - int(rows["overruns"][0])
        stale = int(np.count_nonzero(rows["stale"].any(axis=1)))
        self.missed.setText(
            tr("{count} cycles shown, {skipped} skipped, {stale} with stale feedback of a leg").format(
                count=len(rows), skipped=skipped, stale=stale
            )
        )

    def table(self) -> tuple[list[str], list[Column]]:
        """Return edges of the bins and counts, as columns by name."""
        names: list[str] = []
        columns: list[Column] = []
        for name, histogram in self.histograms.items():
            names += [f"{name}: from [µs]", f"{name}: to [µs]", f"{name}: cycles [1]"]
            columns += [histogram.edges[:-1], histogram.edges[1:], histogram.counts]
        return names, columns


_COLUMNS = {"Terms": 2, "Pose": 2}  # panels per row; default 1


def make_builtin_pages(
    theme: Theme, differences: Differences, geometry: Callable[[], Geometry | None], chooser: QtWidgets.QWidget
) -> dict[str, PlotPage | TimingPage]:
    """Return the pages by name, not yet built; `chooser`, the model selector, is on the forces page."""
    return {
        name: PlotPage(panels, theme, _COLUMNS.get(name, 1), chooser if name == "Forces" else None)
        for name, panels in panels_by_page(differences, geometry).items()
    } | {"Timing": TimingPage(theme)}
