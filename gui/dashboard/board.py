"""The plots of a dashboard on the screen: each with its signals and menu, in rows with borders to drag."""

from collections.abc import Callable, Sequence
from functools import partial

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.dashboard.dragging import Dragging
from gui.dashboard.layout import Dashboard, Place, PlotOf, Row, Side, line_styles_of
from gui.dashboard.signals import SIGNALS, Quantity, and_more
from gui.live import PlotPanel, Sources, last_of, swatch
from gui.models import Floats, Panel, Series, Stretch, number_text
from gui.texts import tr
from gui.widgets import LEG_COLOURS, Theme, give

_KEYS = QtCore.Qt.Key
_ALT = QtCore.Qt.KeyboardModifier.AltModifier
_MOVES = {
    _KEYS.Key_Left: (Side.LEFT, tr("Move to the &left")),
    _KEYS.Key_Right: (Side.RIGHT, tr("Move to the &right")),
    _KEYS.Key_Up: (Side.ABOVE, tr("Move &up")),
    _KEYS.Key_Down: (Side.BELOW, tr("Move &down")),
}
_SLASH = "/\u2060"
"""no line ends behind it"""


class SignalPlot(PlotPanel):
    """Plots signals of one unit.

    Signals beside those of a panel, all with its place: `chosen` somebody works with it; `removal` it is to go, or a
    signal of it, with its name; `step` it is to be moved to a side; `dropped` it was dragged to a point of the screen.
    They are connected to methods, which hold nothing back of a plot that has gone.

    Args:
        signals: by their names; a plot can be made of them.
        theme: colours.
        sources: what signals are worked out with that no row has.
    """

    chosen = QtCore.Signal(tuple)
    removal = QtCore.Signal(tuple, str)
    step = QtCore.Signal(tuple, object)
    dropped = QtCore.Signal(tuple, QtCore.QPoint)

    def __init__(self, signals: Sequence[str], theme: Theme, sources: Sources) -> None:
        self.signals = tuple(signals)
        self.place: Place = (0, 0)
        self._valued = False
        """whether the header tells values"""
        self.framed = False
        """whether it is the one that is chosen"""
        super().__init__(panel_of(signals, sources), theme)
        self.setFocusPolicy(QtCore.Qt.FocusPolicy.StrongFocus)
        self.plot.setFocusPolicy(QtCore.Qt.FocusPolicy.NoFocus)  # keys are the plot's as a whole
        self.setAccessibleDescription(tr("Delete: remove; Alt and arrows: move; Menu: all actions"))
        self.plot.setContextMenuPolicy(QtCore.Qt.ContextMenuPolicy.PreventContextMenu)  # there the right button zooms
        self.header.setCursor(QtCore.Qt.CursorShape.OpenHandCursor)
        self.header.setToolTip(tr("Drag it next to another plot; right button: remove, move"))
        self.more = QtWidgets.QToolButton()
        give(self.more, "more")
        self.more.setObjectName("more")
        self.more.setAccessibleName(tr("Actions for the plot of {quantity}").format(quantity=self.panel.label))
        self.more.setToolTip(tr("Remove, move"))
        self.more.clicked.connect(self._show_menu_below)
        layout = self.layout()
        layout.removeWidget(self.head)
        row = QtWidgets.QHBoxLayout()
        row.addWidget(self.head, 1)
        row.addWidget(self.more)
        layout.insertLayout(0, row)
        layout.setContentsMargins(2, 2, 2, 2)
        self.dragging = Dragging(self.header, self._words)
        self.dragging.dropped.connect(self._dropped)

    def frame(self, framed: bool) -> None:
        """Show that it is the one that is chosen, or not."""
        if framed != self.framed:
            self.framed = framed
            self.update()

    def menu(self) -> QtWidgets.QMenu:
        """All that can be done with it."""
        menu = QtWidgets.QMenu(self)
        for key, (side, words) in _MOVES.items():
            move = menu.addAction(words, lambda side=side: self.step.emit(self.place, side))
            move.setShortcut(QtGui.QKeySequence(int(_ALT) | int(key)))
        if len(self.signals) > 1:
            menu.addSeparator()
            for key in self.signals:
                menu.addAction(
                    tr("Remove {signal}").format(signal=SIGNALS[key].name),
                    lambda key=key: self.removal.emit(self.place, key),
                )
        menu.addSeparator()
        give(menu.addAction(tr("&Remove the plot"), self._remove), "remove").setShortcut(_KEYS.Key_Delete)
        return menu

    def contextMenuEvent(self, event: QtGui.QContextMenuEvent) -> None:
        """Show the menu, at the mouse or, asked for by a key, in the middle."""
        by_mouse = event.reason() == QtGui.QContextMenuEvent.Reason.Mouse
        self._show_menu(event.globalPos() if by_mouse else self.mapToGlobal(self.rect().center()))

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        """Remove and move it; other keys are nobody's here."""
        if event.key() == _KEYS.Key_Delete:
            self._remove()
        elif event.modifiers() & _ALT and event.key() in _MOVES:
            self.step.emit(self.place, _MOVES[event.key()][0])
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QtGui.QFocusEvent) -> None:
        """It is the one that somebody works with."""
        super().focusInEvent(event)
        self.chosen.emit(self.place)

    def paintEvent(self, _event: QtGui.QPaintEvent) -> None:
        """Frame the one that is chosen."""
        if self.framed:
            painter = QtGui.QPainter(self)
            painter.setPen(self._theme.pen(self._theme.accent))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
            painter.end()

    def _words(self, _place: QtCore.QPoint) -> str:
        return self.panel.label

    def _dropped(self, at: QtCore.QPoint) -> None:
        self.dropped.emit(self.place, at)

    def _remove(self) -> None:
        self.removal.emit(self.place, "")

    def _show_menu_below(self) -> None:
        self._show_menu(self.more.mapToGlobal(self.more.rect().bottomLeft()))

    def _show_menu(self, place: QtCore.QPoint) -> None:
        menu = self.menu()
        menu.setAttribute(QtCore.Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(place)

    def _of_legs(self, series: Series, column: int) -> bool:
        colour = series.colours[column]  # a leg has its own everywhere
        return colour not in LEG_COLOURS or self.legs[LEG_COLOURS.index(colour)]

    def show_values(self, stretch: Stretch | None, since: Stretch | None = None) -> None:
        """See `PlotPanel.show_values`."""
        self._valued = stretch is not None
        super().show_values(stretch, since)

    def _title(self) -> str:
        """Names and unit; what is alone of its kind is named with its value, if there are any."""
        shown = [series for series in self.panel.series if series.columns != ("",) or not self._valued]
        names = " &nbsp; ".join(f"{series.dashed or '—'}&nbsp;{series.shown}" for series in shown)
        unit = f", {tr(self.panel.unit)}" if names else tr("in {unit}").format(unit=tr(self.panel.unit))
        return f"&nbsp;<b>{names}</b>{unit if self.panel.unit else ''} &nbsp;"

    def _values(self, stretch: Stretch, since: Stretch | None) -> str:
        numbers: dict[tuple[str, str], list[str]] = {}
        for series in self.panel.series:
            values = last_of(series, stretch)
            if since is not None:
                values = values - last_of(series, since)
            for column, (name, colour) in enumerate(zip(series.columns, series.colours, strict=True)):
                if self._of_legs(series, column):
                    texts = numbers.setdefault((self._colour(colour), name or series.shown), [])
                    texts.append(number_text(float(values[column]), self.panel.digits))
        texts = [f"<span style='color:{self._theme.accent}'><b>B − A</b></span>"] if since is not None else []
        texts += [f"{swatch(colour, name)}&nbsp;{_SLASH.join(each)}" for (colour, name), each in numbers.items()]
        return " &nbsp;".join(texts)


def panel_of(signals: Sequence[str], sources: Sources, legs: Sequence[bool] = (True,) * 6) -> Panel:
    """What a plot of signals, by their names, draws; of the legs only those that are shown."""
    series = []
    quantities = []
    for quantity, columns, colours, pattern in line_styles_of(signals):
        kept = [index for index, column in enumerate(columns) if not quantity.per_leg or legs[column]]
        taken = [columns[index] for index in kept]
        names = tuple(quantity.columns[column] for column in taken)
        shown = tuple(colours[index] for index in kept)
        quantities.append(quantity)
        if taken:
            series.append(
                Series(quantity.title, partial(_values_of, quantity, taken, sources), names, shown, dashed=pattern)
            )
    title = and_more(tr(quantities[0].title), len(quantities) - 1)
    least, digits = min(each.least for each in quantities), max(each.digits for each in quantities)
    return Panel(title, quantities[0].unit, tuple(series), least=least, digits=digits)


def _values_of(quantity: Quantity, columns: list[int], sources: Sources, stretch: Stretch) -> Floats:
    """Some columns of a quantity in n rows, (n, k)."""
    values: Floats = quantity.values(stretch, sources)[:, columns]
    return values


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
