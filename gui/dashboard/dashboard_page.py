"""The dashboard page: the signal tree, the plots, and the selector of saved dashboards."""

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.dashboard.board import Board, SignalPlot, panel_of
from gui.dashboard.dashboard_selector import Choice, Dashboards
from gui.dashboard.layout import Dashboard, Place, PlotOf, RefusedError, Side
from gui.dashboard.signal_tree import SignalTree
from gui.dashboard.signals import signal_of
from gui.live import DerivedPlots, Sources
from gui.models import Panel, Timeline
from gui.texts import mark, tr
from gui.widgets import Theme
from rig.errors import InputError
from rig.telemetry import SensorChannels

_REST = 500  # ms after the last border drag until the sizes are saved
_TREE = 250  # px


class DashboardPage(DerivedPlots):
    """User-defined plots; every change is saved at once.

    Args:
        dashboards: storage, shared with other pages.
        theme: colours.
    """

    name = mark("Dashboards")
    shows_moment = True

    def __init__(self, dashboards: Dashboards, theme: Theme) -> None:
        super().__init__()
        self.setAccessibleName(tr(self.name))
        self._theme = theme
        self._current: Place | None = None
        """Place of the selected plot."""
        self._resized = False
        self._changing = False
        """Whether plots are being replaced; a focus change then is no selection by the user."""
        self._to_focus = False
        """Whether a plot had the focus before the dashboard was changed."""
        self._display_state: dict[Callable[..., object], tuple[Any, ...]] = {}
        """Display settings by panel method, replayed to plots created later."""
        self.choice = Choice(dashboards)
        self.tree = SignalTree()
        self.board = Board(self._make)
        self.splitter = QtWidgets.QSplitter()
        self.splitter.setChildrenCollapsible(False)
        self.splitter.addWidget(self.tree)
        self.splitter.addWidget(self.board)
        self.splitter.setStretchFactor(1, 1)
        self.splitter.setSizes([_TREE, 4 * _TREE])
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(0, 4, 0, 0)
        layout.addWidget(self.choice)
        layout.addWidget(self.splitter, 1)
        self._resting = QtCore.QTimer(self, interval=_REST, singleShot=True)
        self._resting.timeout.connect(self.keep_sizes)
        self.board.resized.connect(self._border_moved)
        self.board.arranged.connect(self._arranged)
        self.choice.chosen.connect(self._show)
        self.choice.signals.toggled.connect(self.tree.setVisible)
        self.tree.add_requested.connect(self.add)
        self.tree.changed.connect(self._guard)
        self.tree.dragging.carried.connect(lambda at: self.board.show_target(self._fit_for_signals(at), half=False))
        self.tree.dragging.dropped.connect(self._drop_signals)
        self.tree.dragging.ended.connect(self.board.show_nothing)
        self._guard()

    # -- user actions ------------------------------------------------------------------------------------------------

    def add(self, signals: Sequence[str], own: bool) -> None:
        """Add signals, by key, to the selected plot; to a new one if `own` or if none is selected."""
        place = None if own else self._current
        before = len(self.board.dashboard.rows)
        self._change(
            lambda board: board.with_plots(signals) if place is None else board.with_signals(place, signals),
            follow=(before, 0) if place is None else place,
        )

    def remove(self, place: Place, signal: str = "") -> None:
        """Remove a signal, by key, from the plot at a place, or the whole plot. The next plot is then selected."""
        before = self.board.dashboard
        without = before.without_signal(place, signal) if signal else before.without(place)
        number = before.places.index(place)
        near = without.places[max(0, min(number, len(without.places) - 1)) :]
        self._change(lambda _board: without, follow=near[0] if near else None)

    def move(self, place: Place, side: Side) -> None:
        """Move the plot at a place one step to a side."""
        moved, there = self.board.dashboard.moved(place, side)
        self._change(lambda _board: moved, follow=there)

    def keep_sizes(self) -> None:
        """Save dragged border positions, if any are unsaved."""
        if self._resized:
            self._resized = False
            heights, widths = self.board.shares
            self._change(lambda board: board.shared(heights, widths), follow=self._current)

    def _border_moved(self) -> None:
        self._resized = True
        self._resting.start()

    def _drop_signals(self, at: QtCore.QPoint) -> None:
        found = self.board.target(at)
        if found is not None:
            self._current = found[0][0] if found[0] is not None else None
            self.add(self.tree.chosen, own=found[0] is None)

    def _fit_for_signals(self, at: QtCore.QPoint) -> Any:
        """Return the drop target at a point of the screen, unless the selected signals do not fit there."""
        found = self.board.target(at)
        if found is None or found[0] is None:
            return found
        return None if self._unfit(found[0][0]) else found

    def _drop_plot(self, place: Place, at: QtCore.QPoint) -> None:
        found = self.board.target(at)
        if found is None:
            return
        last = len(self.board.dashboard.rows) - 1
        target, side = found[0] or ((last, 0), Side.BELOW)
        if target == place:
            return
        self._change(lambda board: board.put(place, side, target))

    def _change(self, change: Callable[[Dashboard], Dashboard], follow: Place | None = None) -> None:
        """Change and save the dashboard, and select a plot; show why if it is refused."""
        try:
            changed = change(self.board.dashboard)
            if changed != self.board.dashboard:
                self._to_focus = self.board.isAncestorOf(QtWidgets.QApplication.focusWidget() or self)
                self._current, self._changing = follow, True
                self.choice.keep(changed)
            self.choice.set_message("")
        except (RefusedError, InputError) as error:
            self._changing = False
            self.choice.set_message(str(error))

    # -- display -----------------------------------------------------------------------------------------------------

    def _make(self, plot: PlotOf) -> SignalPlot:
        made = SignalPlot(plot.signals, self._theme, self.sources)
        for method, arguments in self._display_state.items():
            method(made, *arguments)
        self._connect(made)
        made.chosen.connect(self._plot_chosen)
        made.removal.connect(self.remove)
        made.step.connect(self.move)
        made.dropped.connect(self._drop_plot)
        made.dragging.carried.connect(self._show_drop_half)
        made.dragging.ended.connect(self.board.show_nothing)
        return made

    def _show(self, dashboard: Dashboard) -> None:
        if dashboard.name != self.board.dashboard.name:
            self._current = None
        self.board.show_dashboard(dashboard)
        self.panels = list(self.board.plots)  # removed plots leave the list
        self.board.set_obstacle(self.choice.fault and tr("See the errors above"))

    def _arranged(self) -> None:
        self.panels = list(self.board.plots)
        self._choose(self._current if self._current in self.board.dashboard.places else None)
        if self._to_focus and (plot := self.board.plot(self._current)) is not None:
            plot.setFocus()
        self._to_focus = self._changing = False
        self.remade.emit()

    def _choose(self, place: Place | None) -> None:
        self._current = place
        for plot in self.board.plots:
            plot.frame(plot.place == place)
        self._guard()

    def _plot_chosen(self, place: Place) -> None:
        if not self._changing:
            self._choose(place)

    def _show_drop_half(self, at: QtCore.QPoint) -> None:
        self.board.show_target(self.board.target(at), half=True)

    def _unfit(self, place: Place | None) -> str:
        """Why the selected signals cannot be added to the plot at a place; empty if they can."""
        if place is None:
            return tr("click a plot to choose it; New plot makes one")
        try:
            self.board.dashboard.with_signals(place, self.tree.chosen)
        except RefusedError as error:
            return str(error)
        return ""

    def _guard(self) -> None:
        unfit = self._unfit(self._current) if self.tree.chosen else ""
        self.tree.guard(unfit, self.choice.fault)

    def showEvent(self, event: QtGui.QShowEvent) -> None:
        """Reload the file."""
        super().showEvent(event)
        self.choice.read()
        self._guard()

    def hideEvent(self, event: QtGui.QHideEvent) -> None:
        """Save the dragged sizes."""
        self.keep_sizes()
        super().hideEvent(event)

    def save(self, settings: QtCore.QSettings, name: str) -> None:
        """Save the selected dashboard and the width of the tree under a name."""
        self.keep_sizes()
        settings.setValue(f"{name}/dashboard", self.choice.name)
        settings.setValue(f"{name}/tree", self.splitter.saveState())
        settings.setValue(f"{name}/signals", "yes" if self.choice.signals.isChecked() else "no")

    def restore(self, settings: QtCore.QSettings, name: str) -> None:
        """Restore what was saved under a name."""
        self.choice.name = str(settings.value(f"{name}/dashboard", ""))
        state = settings.value(f"{name}/tree")
        if isinstance(state, QtCore.QByteArray):  # the user may have edited the file
            self.splitter.restoreState(state)
        self.choice.signals.setChecked(settings.value(f"{name}/signals") != "no")

    # -- interface of a plot page ------------------------------------------------------------------------------------

    def _call_all(self, method: Callable[..., object], *arguments: Any) -> None:
        """Return a function that calls a method on all plots, and on those created later."""
        self._display_state[method] = arguments
        for plot in self.board.plots:
            method(plot, *arguments)

    def set_cursor(self, t: float | None) -> None:
        """See `Plots.set_cursor`."""
        self._call_all(SignalPlot.set_cursor, t)

    def set_mark(self, t: float | None) -> None:
        """See `Plots.set_mark`."""
        self._call_all(SignalPlot.set_mark, t)

    def set_present(self, t: float | None) -> None:
        """See `Plots.set_present`."""
        self._call_all(SignalPlot.set_present, t)

    def set_legs(self, legs: list[bool]) -> None:
        """See `Plots.set_legs`."""
        self._call_all(SignalPlot.set_legs, legs)

    def set_panning(self, both: bool) -> None:
        """See `Plots.set_panning`."""
        self._call_all(SignalPlot.set_panning, both)

    def set_models(self, models: Collection[str]) -> None:
        """Models are selected through the signals."""

    def set_theme(self, theme: Theme) -> None:
        """Change colours."""
        self._theme = theme
        self._call_all(SignalPlot.set_theme, theme)

    def draw(self, timeline: Timeline, t0: float, t1: float, since: float = -math.inf) -> None:
        """See `Plots.draw`."""
        if self.board.complete:
            super().draw(timeline, t0, t1, since)

    def show_moment(self, words: str) -> None:
        """Show the time of the values."""
        self.choice.moment.setText(words.replace("\n", ", "))

    @property
    def needed_models(self) -> tuple[str, ...]:
        """See `DerivedPlots`."""
        shown = {signal_of(key).quantity.model for plot in self.board.plots for key in plot.signals}
        return tuple(sorted(shown - {""}))

    def offer_sensors(self, sensors: Sequence[SensorChannels]) -> None:
        """See `DerivedPlots`."""
        self.tree.offer_sensors(sensors)

    def panels_with(self) -> Callable[[Sources], Sequence[Panel]]:
        """See `DerivedPlots`; only signals of visible legs."""
        shown = [(plot.signals, tuple(plot.legs)) for plot in self.board.plots]
        return lambda sources: [panel_of(signals, sources, legs) for signals, legs in shown]

    @property
    def exported(self) -> tuple[Panel, ...]:
        """Same as `panels_with` here."""
        return tuple(self.panels_with()(self.sources))
