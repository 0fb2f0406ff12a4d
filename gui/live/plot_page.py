"""Plots over a common time axis: any selection, or a fixed grid."""

import math
from collections.abc import Collection, Iterator, Sequence

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.live.export import Selection
from gui.live.plot_panel import PlotPanel
from gui.models import LEGS, Panel, Segment, Timeline
from gui.widgets import Theme


class Plots(QtWidgets.QWidget):
    """Panels over one time axis, `panels` in reading order.

    Signals as in `PlotPanel`; `remade`: the panels were replaced, and nothing is drawn in them yet.
    """

    hovered = QtCore.Signal(object)
    clicked = QtCore.Signal(float)
    moved = QtCore.Signal(float, float)
    remade = QtCore.Signal()
    name = ""
    """In English, of a page that stands alone; `tr` translates it."""
    shows_moment = False
    """Whether the page itself shows the time of its values, in place of the column of values."""

    def __init__(self) -> None:
        super().__init__()
        self._since = -math.inf
        self.panels: list[PlotPanel] = []

    def _connect(self, panel: PlotPanel) -> None:
        """Forward a panel's mouse signals."""
        panel.hovered.connect(self.hovered)
        panel.clicked.connect(self.clicked)
        panel.moved.connect(self.moved)

    def draw(self, timeline: Timeline, t0: float, t1: float, since: float = -math.inf) -> None:
        """Show the times t0 to t1, s, with the rows from `since` on."""
        self._since = since
        for panel in self.panels:
            panel.draw(timeline, t0, t1, since)

    def invalidate(self) -> None:
        """See `PlotPanel.invalidate`."""
        for panel in self.panels:
            panel.invalidate()

    def clear(self) -> None:
        """See `PlotPanel.clear`."""
        for panel in self.panels:
            panel.clear()

    def show_values(self, segment: Segment | None, since: Segment | None = None) -> None:
        """Show values next to the titles, see `PlotPanel.show_values`."""
        for panel in self.panels:
            panel.show_values(segment, since)

    def set_cursor(self, t: float | None) -> None:
        """Move every panel's cursor to a time, s; None hides it."""
        for panel in self.panels:
            panel.set_cursor(t)

    def set_mark(self, t: float | None) -> None:
        """Move every panel's mark to a time, s; None hides it."""
        for panel in self.panels:
            panel.set_mark(t)

    def set_present(self, t: float | None) -> None:
        """Move every panel's line of a replay's present to a time, s; None hides it."""
        for panel in self.panels:
            panel.set_present(t)

    def set_models(self, models: Collection[str]) -> None:
        """Show the series of these published models, too."""
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
        """Visible times, s; zeros without panels."""
        return self.panels[0].span if self.panels else (0.0, 0.0)

    def segment(self, timeline: Timeline) -> Segment:
        """Return the visible rows."""
        t0, t1 = self.span
        return timeline.segment(max(t0, self._since), t1)

    def show_moment(self, words: str) -> None:
        """Show the time of the values, on pages that do so themselves."""

    @property
    def exported(self) -> tuple[Panel, ...]:
        """Return the panels to export."""
        return tuple(panel.panel for panel in self.panels)

    @property
    def selection(self) -> Selection:
        """Return the visible legs and models."""
        first = self.panels[0] if self.panels else None
        return Selection((True,) * len(LEGS), ()) if first is None else Selection(tuple(first.legs), first.models)


class PlotPage(Plots):
    """Panels in reading order, in `columns`, below `top`; `build` creates them."""

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
            grid.setRowStretch(row, 10 if row < last_row else 11)  # the lowest carries the time axis
        for index in range(columns):
            grid.setColumnStretch(index, 1)

    def build(self) -> Iterator[None]:
        """Create the panels one by one."""
        for index, panel in enumerate(self._of):
            row, place = divmod(index, self._columns)
            plot = PlotPanel(panel, self._theme, time_axis=row == self._last_row)
            self._connect(plot)
            self._grid.addWidget(plot, row, place)
            self.panels.append(plot)
            yield

    def show_values(self, segment: Segment | None, since: Segment | None = None) -> None:
        """Show values next to the titles, see `PlotPanel.show_values`."""
        super().show_values(segment, since)
        for begin in range(0, len(self.panels), self._columns):
            heads = [panel.head for panel in self.panels[begin : begin + self._columns]]
            height = max(head.minimumHeight() for head in heads)
            for head in heads:  # plots side by side start at the same height
                head.setFixedHeight(height)
