"""The plots of a dashboard on the screen: rows of them with borders to drag, and places to drop things on."""

from collections.abc import Callable

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.dashboard.layout import Dashboard, Place, PlotOf, Row, Side
from gui.dashboard.signal_plot import SignalPlot
from gui.texts import tr

_AT_ONCE = 3
"""plots that are made at once; more would keep STOP waiting, and are made one after the other"""
_SHARES = 10_000
"""what the shares of a height or a width add up to, in numbers that splitters take"""
_STRIP = 26  # px of the empty place below plots
_MOST = 16_777_215  # px, of Qt's

Target = tuple[Place, Side] | None
"""The plot on which something is dropped, and its nearest edge; None for the empty place."""


class _RowSplitter(QtWidgets.QSplitter):
    """The plots of a row."""

    def __init__(self, row: Row) -> None:
        super().__init__()
        self.row = row
        self.setChildrenCollapsible(False)


class Board(QtWidgets.QWidget):
    """Shows a `Dashboard`.

    Signals: `arranged` all plots are there, in their places; `resized` somebody has dragged a border.

    Args:
        make: makes a plot.
    """

    arranged = QtCore.Signal()
    resized = QtCore.Signal()

    def __init__(self, make: Callable[[PlotOf], SignalPlot]) -> None:
        super().__init__()
        self._make = make
        self.dashboard = Dashboard("")
        self._pending: list[tuple[_RowSplitter, int, PlotOf]] = []
        """plots to be made yet: where, and of what"""
        self._later = QtCore.QTimer(self)
        self._later.timeout.connect(self._make_next)
        self.rows = QtWidgets.QSplitter(QtCore.Qt.Orientation.Vertical)
        self.rows.setChildrenCollapsible(False)
        self.rows.splitterMoved.connect(self.resized)
        self.empty = QtWidgets.QLabel()
        self.empty.setObjectName("empty")
        self.empty.setAlignment(QtCore.Qt.AlignmentFlag.AlignCenter)
        self.empty.setAccessibleName(tr("Empty place of the dashboard"))
        self._band = QtWidgets.QRubberBand(QtWidgets.QRubberBand.Shape.Rectangle, self)
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        self._area = QtWidgets.QScrollArea()
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QtWidgets.QFrame.Shape.NoFrame)
        self._area.setWidget(self.rows)
        layout.addWidget(self._area, 1)
        layout.addWidget(self.empty)
        self._obstacle = ""
        self._say_what_is_empty()

    @property
    def complete(self) -> bool:
        """Whether all plots have been made."""
        return not self._pending

    @property
    def plots(self) -> list[SignalPlot]:
        """Those that are made, in reading order."""
        rows = [self.rows.widget(number) for number in range(self.rows.count())]
        widgets = [row.widget(number) for row in rows for number in range(row.count())]
        return [widget for widget in widgets if isinstance(widget, SignalPlot)]

    def plot(self, place: Place | None) -> SignalPlot | None:
        """The one at a place, once all are there."""
        return next((plot for plot in self.plots if plot.place == place), None)

    def show_dashboard(self, dashboard: Dashboard) -> None:
        """Show one; plots and rows that it has in common with the one before stay."""
        self._pending.clear()
        old = [self.rows.widget(number) for number in range(self.rows.count())]
        kept = [self._taken(row, old) for row in dashboard.rows]
        spare = [plot for plot in self.plots if plot.parent() in old]
        for number, (row, splitter) in enumerate(zip(dashboard.rows, kept, strict=True)):
            shown = splitter or self._new_row(row, spare)
            shown.row = row
            self.rows.insertWidget(number, shown)
        self.dashboard = dashboard
        for gone in (*spare, *old):
            gone.hide()
            gone.setParent(None)
            gone.deleteLater()
        self._share()
        self._say_what_is_empty()
        if not self._pending:
            self._arrange()
        for _ in range(min(_AT_ONCE, len(self._pending))):
            self._make_next()
        if self._pending:
            self._later.start()

    def _taken(self, row: Row, rows: list[_RowSplitter]) -> _RowSplitter | None:
        """The one of the rows on the screen that is whole and has the same plots, which is taken out of these."""
        for splitter in rows:
            plots = [splitter.widget(number) for number in range(splitter.count())]
            if [getattr(plot, "signals", None) for plot in plots] == [plot.signals for plot in row.plots]:
                rows.remove(splitter)
                return splitter
        return None

    def _new_row(self, row: Row, spare: list[SignalPlot]) -> _RowSplitter:
        splitter = _RowSplitter(row)
        splitter.splitterMoved.connect(self.resized)
        for number, plot in enumerate(row.plots):
            found = next((each for each in spare if each.signals == plot.signals), None)
            if found is None:
                self._pending.append((splitter, number, plot))
                splitter.addWidget(QtWidgets.QWidget())  # keeps its place
            else:
                spare.remove(found)
                splitter.addWidget(found)
        return splitter

    def _make_next(self) -> None:
        if not self._pending:
            self._later.stop()
            return
        splitter, number, plot = self._pending.pop(0)
        made = self._make(plot)
        replaced = splitter.replaceWidget(number, made)
        replaced.deleteLater()
        made.show()
        if not self._pending:
            self._later.stop()
            self._share()
            self._arrange()

    def _arrange(self) -> None:
        for place, plot in zip(self.dashboard.places, self.plots, strict=True):
            plot.place = place
            plot.show_time(place[0] == len(self.dashboard.rows) - 1)
        self.arranged.emit()

    def _share(self) -> None:
        """Give rows and plots their shares of the room."""
        for splitter, shares in (
            (self.rows, [row.share for row in self.dashboard.rows]),
            *(
                (self.rows.widget(number), [plot.share for plot in row.plots])
                for number, row in enumerate(self.dashboard.rows)
            ),
        ):
            if shares:
                splitter.setSizes([max(1, round(_SHARES * share / sum(shares))) for share in shares])

    @property
    def shares(self) -> tuple[list[float], list[list[float]]]:
        """Of the height for each row, and of the width for each plot in it, as somebody has dragged them."""
        rows = [self.rows.widget(number) for number in range(self.rows.count())]
        return _parts(self.rows), [_parts(row) for row in rows]

    def set_obstacle(self, reason: str) -> None:
        """Say why nothing can be dropped here; nothing where it can."""
        self._obstacle = reason
        self._say_what_is_empty()

    def _say_what_is_empty(self) -> None:
        none = not self.dashboard.rows
        self._area.setVisible(not none)
        self.empty.setMaximumHeight(_MOST if none else _STRIP)
        words = (
            tr("Drag signals here, or choose them in the tree and press Return")
            if none
            else tr("Drop signals here for a plot of its own")
        )
        self.empty.setWordWrap(none)
        self.empty.setText(self._obstacle or words)

    # -- what is dropped ---------------------------------------------------------------------------------------------

    def target(self, place: QtCore.QPoint) -> "tuple[Target] | None":
        """What is at a place of the screen; None where this is not it at all."""
        at = self.mapFromGlobal(place)
        if not self.isVisible() or not self.rect().contains(at):
            return None
        if self.empty.geometry().contains(at):
            return (None,)
        for plot in self.plots:
            inside = plot.mapFromGlobal(place)
            if plot.rect().contains(inside):
                return ((plot.place, _side(inside, plot.rect())),)
        return (None,)

    def show_nothing(self) -> None:
        """Frame nothing any more."""
        self._band.hide()

    def show_target(self, target: "tuple[Target] | None", *, beside: bool) -> None:
        """Frame what something would be dropped on, or the half of it on whose side it would come; None: nothing."""
        self._band.setVisible(target is not None)
        if target is None:
            return
        if target[0] is None:
            self._band.setGeometry(self.empty.geometry())
            return
        place, side = target[0]
        plot = self.plot(place)
        assert plot is not None, "a target is a plot that is there"
        rect = QtCore.QRect(plot.mapTo(self, QtCore.QPoint()), plot.size())
        self._band.setGeometry(_half(rect, side) if beside else rect)
        self._band.raise_()


def _parts(splitter: QtWidgets.QSplitter) -> list[float]:
    sizes = splitter.sizes()
    whole = sum(sizes)
    return [round(size / whole, 4) if size and whole else 1.0 for size in sizes]


def _side(at: QtCore.QPoint, rect: QtCore.QRect) -> Side:
    """Which of the four edges is the nearest, by the parts of width and height."""
    across, down = (at.x() + 0.5) / rect.width(), (at.y() + 0.5) / rect.height()
    distances = {Side.LEFT: across, Side.RIGHT: 1.0 - across, Side.ABOVE: down, Side.BELOW: 1.0 - down}
    return min(distances, key=lambda side: distances[side])


def _half(rect: QtCore.QRect, side: Side) -> QtCore.QRect:
    width, height = rect.width() // 2, rect.height() // 2
    return {
        Side.LEFT: rect.adjusted(0, 0, -width, 0),
        Side.RIGHT: rect.adjusted(width, 0, 0, 0),
        Side.ABOVE: rect.adjusted(0, 0, 0, -height),
        Side.BELOW: rect.adjusted(0, height, 0, 0),
    }[side]
