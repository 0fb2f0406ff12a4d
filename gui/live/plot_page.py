"""Plots that are seen together: a grid of panels over one time axis."""

import csv
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from pyqtgraph.Qt import QtCore, QtWidgets

from gui.history import Floats, Rows, Timeline
from gui.live.plot_panel import PlotPanel
from gui.live.series import Panel
from gui.theme import Theme


class PlotPage(QtWidgets.QWidget):
    """Panels in reading order, `columns` beside each other. Signals as in `PlotPanel`."""

    pointed = QtCore.Signal(object)
    pinned = QtCore.Signal(float)
    moved = QtCore.Signal(float, float)

    def __init__(self, panels: Sequence[Panel], theme: Theme, columns: int = 1) -> None:
        super().__init__()
        self._since = -math.inf
        grid = QtWidgets.QGridLayout(self)
        grid.setContentsMargins(0, 4, 0, 0)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(4)
        last_row = (len(panels) - 1) // columns
        self.panels = []
        for index, panel in enumerate(panels):
            row, column = divmod(index, columns)
            plot = PlotPanel(panel, theme, time_axis=row == last_row)
            plot.pointed.connect(self.pointed)
            plot.pinned.connect(self.pinned)
            plot.moved.connect(self._moved)
            grid.addWidget(plot, row, column)
            self.panels.append(plot)
        for row in range(last_row + 1):
            grid.setRowStretch(row, 10 if row < last_row else 11)  # the lowest has the time axis to carry
        for column in range(columns):
            grid.setColumnStretch(column, 1)

    def draw(self, timeline: Timeline, t0: float, t1: float, since: float = -math.inf) -> None:
        """Show the times t0 to t1, s, and draw the rows in them that are not before `since`."""
        self._since = since
        for panel in self.panels:
            panel.draw(timeline, t0, t1, since)

    def show_values(self, rows: Rows | None) -> None:
        """Write values beside the titles, see `PlotPanel.show_values`."""
        for panel in self.panels:
            panel.show_values(rows)

    def set_cursor(self, t: float | None) -> None:
        """Put every panel's cursor at a time, s, or away."""
        for panel in self.panels:
            panel.set_cursor(t)

    def set_legs(self, legs: list[bool]) -> None:
        """Show these legs of the six."""
        for panel in self.panels:
            panel.set_legs(legs)

    def set_panning(self, both: bool) -> None:
        """See `PlotPanel.set_panning`."""
        for panel in self.panels:
            panel.set_panning(both)

    def fit(self) -> None:
        """Let all value axes follow the data again."""
        for panel in self.panels:
            panel.fit()

    def set_theme(self, theme: Theme) -> None:
        """Change colours."""
        for panel in self.panels:
            panel.set_theme(theme)

    @property
    def span(self) -> tuple[float, float]:
        """Times shown, s."""
        return self.panels[0].span

    def table(self, timeline: Timeline) -> tuple[list[str], Floats]:
        """What is shown at full rate: names of the columns with their units, and values (n, columns), time first."""
        t0, t1 = self.span
        start, stop = timeline.bounds(max(t0, self._since), t1)
        rows = timeline.rows[start:stop]
        names, columns = ["t [s]"], [timeline.times[start:stop, None]]
        for plot in self.panels:
            panel = plot.panel
            for series in panel.series:
                values = series.extract(rows)
                for index, column in enumerate(series.columns):
                    if series.per_leg and not plot.legs[index]:
                        continue
                    what = f"leg {column}" if series.per_leg else column
                    names.append(f"{panel.title.split(',')[0]}: {series.name} {what} [{panel.unit or '1'}]")
                    columns.append(values[:, index : index + 1])
        return names, np.hstack(columns)

    def _moved(self, t0: float, t1: float) -> None:
        self.moved.emit(t0, t1)


def write_csv(path: Path, names: Sequence[str], values: Floats) -> None:
    """Write columns (n, k) under their names. Raises OSError when the disk refuses."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows([f"{value:.9g}" for value in row] for row in values.tolist())
