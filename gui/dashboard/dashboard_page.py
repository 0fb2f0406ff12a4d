"""The page of dashboards: the tree of signals, the plots made of them, and which of the dashboards kept is shown."""

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.dashboard.board import Board, SignalPlot, panel_of
from gui.dashboard.dashboard_selector import Choice, Dashboards
from gui.dashboard.layout import Dashboard, Place, PlotOf, RefusedError, Side
from gui.dashboard.signal_tree import SignalTree
from gui.dashboard.signals import SIGNALS
from gui.live import DerivedPlots, Sources
from gui.models import Panel, Timeline
from gui.texts import mark, tr
from gui.widgets import Theme
from rig.errors import InputError

_REST = 500  # ms after a border was dragged the last time, then its place is kept
_TREE = 250  # px


class DashboardPage(DerivedPlots):
    """Plots that somebody puts together; every change is kept at once.

    Args:
        dashboards: where they are kept; other pages may show and change the same.
        theme: colours.
    """

    name = mark("Dashboards")
    tells_moment = True

    def __init__(self, dashboards: Dashboards, theme: Theme) -> None:
        super().__init__()
        self.setAccessibleName(tr(self.name))
        self._theme = theme
        self._current: Place | None = None
        """of the plot that is chosen"""
        self._resized = False
        self._changing = False
        """whether plots come and go, and none that gets the keyboard meanwhile was chosen by somebody"""
        self._to_focus = False
        """whether the keyboard was a plot's when the dashboard was changed"""
        self._look: dict[Callable[..., object], tuple[Any, ...]] = {}
        """what the plots are told, by the method of a panel, for those that come later"""
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
        self.tree.asked.connect(self.add)
        self.tree.changed.connect(self._guard)
        self.tree.dragging.carried.connect(lambda at: self.board.show_target(self._fit_for_signals(at), beside=False))
        self.tree.dragging.dropped.connect(self._drop_signals)
        self.tree.dragging.ended.connect(self.board.show_nothing)
        self._guard()

    # -- what somebody does ------------------------------------------------------------------------------------------

    def add(self, signals: Sequence[str], own: bool) -> None:
        """Put signals, by their names, into the plot that is chosen; into one of their own if asked, or without one."""
        place = None if own else self._current
        before = len(self.board.dashboard.rows)
        self._change(
            lambda board: board.with_plots(signals) if place is None else board.with_signals(place, signals),
            follow=(before, 0) if place is None else place,
        )

    def remove(self, place: Place, signal: str = "") -> None:
        """Take a signal, by its name, out of the plot at a place, or the plot away: then the next one is chosen."""
        before = self.board.dashboard
        without = before.without_signal(place, signal) if signal else before.without(place)
        number = before.places.index(place)
        near = without.places[max(0, min(number, len(without.places) - 1)) :]
        self._change(lambda _board: without, follow=near[0] if near else None)

    def move(self, place: Place, side: Side) -> None:
        """Move the plot at a place a step to a side."""
        moved, there = self.board.dashboard.moved(place, side)
        self._change(lambda _board: moved, follow=there)

    def keep_sizes(self) -> None:
        """Keep where borders were dragged to, if any were since."""
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
        """What is at a place of the screen, unless the signals chosen cannot be dropped on it."""
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
        """Change the dashboard, keep that, and choose a plot of it; say why where it cannot be done."""
        try:
            changed = change(self.board.dashboard)
            if changed != self.board.dashboard:
                self._to_focus = self.board.isAncestorOf(QtWidgets.QApplication.focusWidget() or self)
                self._current, self._changing = follow, True
                self.choice.keep(changed)
            self.choice.say("")
        except (RefusedError, InputError) as error:
            self._changing = False
            self.choice.say(str(error))

    # -- what is shown -----------------------------------------------------------------------------------------------

    def _make(self, plot: PlotOf) -> SignalPlot:
        made = SignalPlot(plot.signals, self._theme, self.sources)
        for method, arguments in self._look.items():
            method(made, *arguments)
        self._connect(made)
        made.chosen.connect(self._plot_chosen)
        made.removal.connect(self.remove)
        made.step.connect(self.move)
        made.dropped.connect(self._drop_plot)
        made.dragging.carried.connect(self._show_beside)
        made.dragging.ended.connect(self.board.show_nothing)
        return made

    def _show(self, dashboard: Dashboard) -> None:
        if dashboard.name != self.board.dashboard.name:
            self._current = None
        self.board.show_dashboard(dashboard)
        self.panels = list(self.board.plots)  # some of those before are no more
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

    def _show_beside(self, at: QtCore.QPoint) -> None:
        self.board.show_target(self.board.target(at), beside=True)

    def _unfit(self, place: Place | None) -> str:
        """Why the signals chosen cannot be added to the plot at a place."""
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
        """Show what the file holds now."""
        super().showEvent(event)
        self.choice.read()
        self._guard()

    def hideEvent(self, event: QtGui.QHideEvent) -> None:
        """Keep what was dragged last."""
        self.keep_sizes()
        super().hideEvent(event)

    def save(self, settings: QtCore.QSettings, name: str) -> None:
        """Keep under a name which dashboard is shown, and how wide the tree is."""
        self.keep_sizes()
        settings.setValue(f"{name}/dashboard", self.choice.name)
        settings.setValue(f"{name}/tree", self.splitter.saveState())
        settings.setValue(f"{name}/signals", "yes" if self.choice.signals.isChecked() else "no")

    def restore(self, settings: QtCore.QSettings, name: str) -> None:
        """Take up what was kept under a name."""
        self.choice.name = str(settings.value(f"{name}/dashboard", ""))
        state = settings.value(f"{name}/tree")
        if isinstance(state, QtCore.QByteArray):  # somebody may have edited the file
            self.splitter.restoreState(state)
        self.choice.signals.setChecked(settings.value(f"{name}/signals") != "no")

    # -- as a page of plots ------------------------------------------------------------------------------------------

    def _tell(self, method: Callable[..., object], *arguments: Any) -> None:
        """Tell all plots, and those that come later."""
        self._look[method] = arguments
        for plot in self.board.plots:
            method(plot, *arguments)

    def set_cursor(self, t: float | None) -> None:
        """See `Plots.set_cursor`."""
        self._tell(SignalPlot.set_cursor, t)

    def set_mark(self, t: float | None) -> None:
        """See `Plots.set_mark`."""
        self._tell(SignalPlot.set_mark, t)

    def set_present(self, t: float | None) -> None:
        """See `Plots.set_present`."""
        self._tell(SignalPlot.set_present, t)

    def set_legs(self, legs: list[bool]) -> None:
        """See `Plots.set_legs`."""
        self._tell(SignalPlot.set_legs, legs)

    def set_panning(self, both: bool) -> None:
        """See `Plots.set_panning`."""
        self._tell(SignalPlot.set_panning, both)

    def set_models(self, models: Collection[str]) -> None:
        """Which of them are shown the signals say."""

    def set_theme(self, theme: Theme) -> None:
        """Change colours."""
        self._theme = theme
        self._tell(SignalPlot.set_theme, theme)

    def draw(self, timeline: Timeline, t0: float, t1: float, since: float = -math.inf) -> None:
        """See `Plots.draw`."""
        if self.board.complete:
            super().draw(timeline, t0, t1, since)

    def say_moment(self, words: str) -> None:
        """The moment of the values, in words."""
        self.choice.moment.setText(words.replace("\n", ", "))

    @property
    def needed_models(self) -> tuple[str, ...]:
        """See `DerivedPlots`."""
        shown = {SIGNALS[key].quantity.model for plot in self.board.plots for key in plot.signals}
        return tuple(sorted(shown - {""}))

    def panels_with(self) -> Callable[[Sources], Sequence[Panel]]:
        """See `DerivedPlots`; the signals of the legs that are shown."""
        shown = [(plot.signals, tuple(plot.legs)) for plot in self.board.plots]
        return lambda sources: [panel_of(signals, sources, legs) for signals, legs in shown]

    @property
    def exported(self) -> tuple[Panel, ...]:
        """The same as they are here."""
        return tuple(self.panels_with()(self.sources))
