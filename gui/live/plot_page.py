"""Plots that are seen together: a grid of panels over one time axis."""

import math
from collections.abc import Collection, Sequence

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.live.export import Selection
from gui.live.plot_panel import PlotPanel
from gui.live.series import Panel
from gui.session import Stretch, Timeline
from gui.widgets import Theme


class PlotPage(QtWidgets.QWidget):
    """Panels in reading order, `columns` beside each other, below `top`. Signals as in `PlotPanel`."""

    pointed = QtCore.Signal(object)
    pinned = QtCore.Signal(float)
    moved = QtCore.Signal(float, float)

    def __init__(
        self, panels: Sequence[Panel], theme: Theme, columns: int = 1, top: QtWidgets.QWidget | None = None
    ) -> None:
        super().__init__()
        self._since = -math.inf
        self._columns = columns
        column = QtWidgets.QVBoxLayout(self)
        column.setContentsMargins(0, 4, 0, 0)
        if top is not None:
            column.addWidget(top)
        grid = QtWidgets.QGridLayout()
        column.addLayout(grid, 1)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(4)
        last_row = (len(panels) - 1) // columns
        self.panels = []
        for index, panel in enumerate(panels):
            row, place = divmod(index, columns)
            plot = PlotPanel(panel, theme, time_axis=row == last_row)
            plot.pointed.connect(self.pointed)
            plot.pinned.connect(self.pinned)
            plot.moved.connect(self.moved)
            grid.addWidget(plot, row, place)
            self.panels.append(plot)
        for row in range(last_row + 1):
            grid.setRowStretch(row, 10 if row < last_row else 11)  # the lowest has the time axis to carry
        for index in range(columns):
            grid.setColumnStretch(index, 1)

    def draw(self, timeline: Timeline, t0: float, t1: float, since: float = -math.inf) -> None:
        """Show the times t0 to t1, s, and draw the rows in them that are not before `since`."""
        self._since = since
        for panel in self.panels:
            panel.draw(timeline, t0, t1, since)

    def forget(self) -> None:
        """See `PlotPanel.forget`."""
        for panel in self.panels:
            panel.forget()

    def show_values(self, stretch: Stretch | None, since: Stretch | None = None) -> None:
        """Write values beside the titles, see `PlotPanel.show_values`."""
        for panel in self.panels:
            panel.show_values(stretch, since)
        for begin in range(0, len(self.panels), self._columns):
            headers = [panel.header for panel in self.panels[begin : begin + self._columns]]
            height = max(header.minimumHeight() for header in headers)
            for header in headers:  # plots beside each other begin at one height
                header.setMinimumHeight(height)

    def set_cursor(self, t: float | None) -> None:
        """Put every panel's cursor at a time, s, or away."""
        for panel in self.panels:
            panel.set_cursor(t)

    def set_mark(self, t: float | None) -> None:
        """Put every panel's mark at a time, s, or away."""
        for panel in self.panels:
            panel.set_mark(t)

    def set_present(self, t: float | None) -> None:
        """Put every panel's line of a replay's present at a time, s, or away."""
        for panel in self.panels:
            panel.set_present(t)

    def set_models(self, models: Collection[str]) -> None:
        """Show the series of these published models too."""
        for panel in self.panels:
            panel.set_models(models)

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

    def stretch(self, timeline: Timeline) -> Stretch:
        """Rows that are shown."""
        t0, t1 = self.span
        return timeline.stretch(max(t0, self._since), t1)

    @property
    def selection(self) -> Selection:
        """What is shown of the panels now."""
        return Selection(tuple(self.panels[0].legs), self.panels[0].models)
