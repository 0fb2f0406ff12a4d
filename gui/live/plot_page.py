"""Plots that are seen together, over one time axis: any of them, and a grid that stays as it is."""

import math
from collections.abc import Collection, Iterator, Sequence

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.live.export import Selection
from gui.live.plot_panel import PlotPanel
from gui.models import LEGS, Panel, Stretch, Timeline
from gui.widgets import Theme


class Plots(QtWidgets.QWidget):
    """Panels of one time axis, `panels` in reading order.

    Signals as in `PlotPanel`; `remade`: there are others than before, and nothing is drawn in them yet.
    """

    pointed = QtCore.Signal(object)
    pinned = QtCore.Signal(float)
    moved = QtCore.Signal(float, float)
    remade = QtCore.Signal()
    name = ""
    """of a page that stands alone, in English; `tr` shows it"""
    tells_moment = False
    """whether it says itself of which moment its values are, and takes the room of the column of values"""

    def __init__(self) -> None:
        super().__init__()
        self._since = -math.inf
        self.panels: list[PlotPanel] = []

    def _connect(self, panel: PlotPanel) -> None:
        """Pass on what a panel's mouse does."""
        panel.pointed.connect(self.pointed)
        panel.pinned.connect(self.pinned)
        panel.moved.connect(self.moved)

    def draw(self, timeline: Timeline, t0: float, t1: float, since: float = -math.inf) -> None:
        """Show the times t0 to t1, s, and draw the rows in them that are not before `since`."""
        self._since = since
        for panel in self.panels:
            panel.draw(timeline, t0, t1, since)

    def forget(self) -> None:
        """See `PlotPanel.forget`."""
        for panel in self.panels:
            panel.forget()

    def clear(self) -> None:
        """See `PlotPanel.clear`."""
        for panel in self.panels:
            panel.clear()

    def show_values(self, stretch: Stretch | None, since: Stretch | None = None) -> None:
        """Write values beside the titles, see `PlotPanel.show_values`."""
        for panel in self.panels:
            panel.show_values(stretch, since)

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
        """Times shown, s; none where there is no panel."""
        return self.panels[0].span if self.panels else (0.0, 0.0)

    def stretch(self, timeline: Timeline) -> Stretch:
        """Rows that are shown."""
        t0, t1 = self.span
        return timeline.stretch(max(t0, self._since), t1)

    def say_moment(self, words: str) -> None:
        """The moment of the values, in words: for a page that tells it itself."""

    @property
    def exported(self) -> tuple[Panel, ...]:
        """What of the panels is written where numbers are saved."""
        return tuple(panel.panel for panel in self.panels)

    @property
    def selection(self) -> Selection:
        """What is shown of the panels now."""
        first = self.panels[0] if self.panels else None
        return Selection((True,) * len(LEGS), ()) if first is None else Selection(tuple(first.legs), first.models)


class PlotPage(Plots):
    """Panels in reading order, `columns` beside each other, below `top`; `build` makes them."""

    def __init__(
        self, panels: Sequence[Panel], theme: Theme, columns: int = 1, top: QtWidgets.QWidget | None = None
    ) -> None:
        super().__init__()
        self._of, self._theme, self._columns = panels, theme, columns
        column = QtWidgets.QVBoxLayout(self)
        column.setContentsMargins(0, 4, 0, 0)
        if top is not None:
            column.addWidget(top)
        self._grid = grid = QtWidgets.QGridLayout()
        column.addLayout(grid, 1)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(4)
        self._last_row = last_row = (len(panels) - 1) // columns
        for row in range(last_row + 1):
            grid.setRowStretch(row, 10 if row < last_row else 11)  # the lowest has the time axis to carry
        for index in range(columns):
            grid.setColumnStretch(index, 1)

    def build(self) -> Iterator[None]:
        """Make the panels, one at a time."""
        for index, panel in enumerate(self._of):
            row, place = divmod(index, self._columns)
            plot = PlotPanel(panel, self._theme, time_axis=row == self._last_row)
            self._connect(plot)
            self._grid.addWidget(plot, row, place)
            self.panels.append(plot)
            yield

    def show_values(self, stretch: Stretch | None, since: Stretch | None = None) -> None:
        """Write values beside the titles, see `PlotPanel.show_values`."""
        super().show_values(stretch, since)
        for begin in range(0, len(self.panels), self._columns):
            heads = [panel.head for panel in self.panels[begin : begin + self._columns]]
            height = max(head.minimumHeight() for head in heads)
            for head in heads:  # plots beside each other begin at one height
                head.setFixedHeight(height)
