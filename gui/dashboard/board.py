"""The plots of a dashboard: each with its signals and menu, in rows with draggable borders."""

from collections.abc import Callable, Sequence
from functools import partial

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.dashboard.dragging import Dragging
from gui.dashboard.layout import Dashboard, Place, PlotOf, Row, Side, line_styles_of
from gui.dashboard.signals import Quantity, and_more, signal_of
from gui.live import PlotPanel, Sources, last_of, swatch
from gui.models import Floats, Panel, Segment, Series, number_text
from gui.texts import tr
from gui.widgets import LEG_COLOURS, Theme, set_icon

_KEYS = QtCore.Qt.Key
_ALT = QtCore.Qt.KeyboardModifier.AltModifier
_MOVES = {
    _KEYS.Key_Left: (Side.LEFT, tr("Move to the &left")),
    _KEYS.Key_Right: (Side.RIGHT, tr("Move to the &right")),
    _KEYS.Key_Up: (Side.ABOVE, tr("Move &up")),
    _KEYS.Key_Down: (Side.BELOW, tr("Move &down")),
}
_SLASH = "/\u2060"
"""Slash without a line break after it."""


class SignalPlot(PlotPanel):
    """Plots signals of one unit.

    Signals in addition to those of a panel, all with the plot's place: `chosen`: the plot got the focus; `removal`:
    remove it, or the named signal; `step`: move it to a side; `dropped`: it was dragged to a point of the screen.
    Connect them to bound methods, which keep no reference to a deleted plot.

    Args:
        signals: keys of the signals; at least one.
        theme: colours.
        sources: data that derived signals need besides the rows.
    """

    chosen = QtCore.Signal(tuple)
    removal = QtCore.Signal(tuple, str)
    step = QtCore.Signal(tuple, object)
    dropped = QtCore.Signal(tuple, QtCore.QPoint)

    def __init__(self, signals: Sequence[str], theme: Theme, sources: Sources) -> None:
        self.signals = tuple(signals)
        self.place: Place = (0, 0)
        self._valued = False
        """Whether the header shows values."""
        self.framed = False
        """Whether this is the selected plot."""
        super().__init__(panel_of(signals, sources), theme)
        self.setFocusPolicy(QtCore.Qt.FocusPolicy.StrongFocus)
        self.plot.setFocusPolicy(QtCore.Qt.FocusPolicy.NoFocus)  # the plot as a whole handles the keys
        self.setAccessibleDescription(tr("Delete: remove; Alt and arrows: move; Menu: all actions"))
        self.plot.setContextMenuPolicy(QtCore.Qt.ContextMenuPolicy.PreventContextMenu)  # the right button zooms there
        self.header.setCursor(QtCore.Qt.CursorShape.OpenHandCursor)
        self.header.setToolTip(tr("Drag it next to another plot; right button: remove, move"))
        self.more = QtWidgets.QToolButton()
        set_icon(self.more, "more")
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
        """Show whether this plot is selected."""
        if framed != self.framed:
            self.framed = framed
            self.update()

    def menu(self) -> QtWidgets.QMenu:
        """Create the context menu."""
        menu = QtWidgets.QMenu(self)
        for key, (side, words) in _MOVES.items():
            move = menu.addAction(words, lambda side=side: self.step.emit(self.place, side))
            move.setShortcut(QtGui.QKeySequence(int(_ALT) | int(key)))
        if len(self.signals) > 1:
            menu.addSeparator()
            for key in self.signals:
                menu.addAction(
                    tr("Remove {signal}").format(signal=signal_of(key).name),
                    lambda key=key: self.removal.emit(self.place, key),
                )
        menu.addSeparator()
        set_icon(menu.addAction(tr("&Remove the plot"), self._remove), "remove").setShortcut(_KEYS.Key_Delete)
        return menu

    def contextMenuEvent(self, event: QtGui.QContextMenuEvent) -> None:
        """Show the menu at the mouse, or in the middle if opened by a key."""
        by_mouse = event.reason() == QtGui.QContextMenuEvent.Reason.Mouse
        self._show_menu(event.globalPos() if by_mouse else self.mapToGlobal(self.rect().center()))

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        """Remove or move the plot; ignore other keys."""
        if event.key() == _KEYS.Key_Delete:
            self._remove()
        elif event.modifiers() & _ALT and event.key() in _MOVES:
            self.step.emit(self.place, _MOVES[event.key()][0])
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QtGui.QFocusEvent) -> None:
        """Select this plot."""
        super().focusInEvent(event)
        self.chosen.emit(self.place)

    def paintEvent(self, _event: QtGui.QPaintEvent) -> None:
        """Draw a frame if selected."""
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
        colour = series.colours[column]  # a leg has the same colour everywhere
        return colour not in LEG_COLOURS or self.legs[LEG_COLOURS.index(colour)]

    def show_values(self, segment: Segment | None, since: Segment | None = None) -> None:
        """See `PlotPanel.show_values`."""
        self._valued = segment is not None
        super().show_values(segment, since)

    def _title(self) -> str:
        """Names and unit. A name that is the only one of its kind comes with its value, if there are values."""
        shown = [series for series in self.panel.series if series.columns != ("",) or not self._valued]
        names = " &nbsp; ".join(f"{series.dashed or '—'}&nbsp;{series.shown}" for series in shown)
        unit = f", {tr(self.panel.unit)}" if names else tr("in {unit}").format(unit=tr(self.panel.unit))
        return f"&nbsp;<b>{names}</b>{unit if self.panel.unit else ''} &nbsp;"

    def _values(self, segment: Segment, since: Segment | None) -> str:
        numbers: dict[tuple[str, str], list[str]] = {}
        for series in self.panel.series:
            values = last_of(series, segment)
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
    """Return the panel for signals, by key, with only the visible legs."""
    series = []
    quantities = []
    for quantity, columns, colours, pattern in line_styles_of(signals):
        visible = [index for index, column in enumerate(columns) if not quantity.per_leg or legs[column]]
        indices = [columns[index] for index in visible]
        names = tuple(quantity.columns[column] for column in indices)
        shown = tuple(colours[index] for index in visible)
        quantities.append(quantity)
        if indices:
            series.append(
                Series(quantity.title, partial(_values_of, quantity, indices, sources), names, shown, dashed=pattern)
            )
    title = and_more(tr(quantities[0].title), len(quantities) - 1)
    least, decimals = min(each.least for each in quantities), [each.digits for each in quantities]
    digits = None if None in decimals else max(each for each in decimals if each is not None)
    return Panel(title, quantities[0].unit, tuple(series), least=least, digits=digits)


def _values_of(quantity: Quantity, columns: list[int], sources: Sources, segment: Segment) -> Floats:
    """Return some columns of a quantity for n rows, (n, k)."""
    values: Floats = quantity.values(segment, sources)[:, columns]
    return values


_AT_ONCE = 3
"""Plots created in one go. More would delay STOP; the rest are created one by one."""
_SHARES = 10_000
"""Sum of the shares of a height or width, as integers for splitters."""
_STRIP = 26  # px of the drop area below the plots
_MOST = 16_777_215  # px, Qt's QWIDGETSIZE_MAX

Target = tuple[Place, Side] | None
"""Drop target: a plot and its nearest edge; None: the area below the plots."""


class _RowSplitter(QtWidgets.QSplitter):
    """Splitter with the plots of a row."""

    def __init__(self, row: Row) -> None:
        super().__init__()
        self.row = row
        self.setChildrenCollapsible(False)


class Board(QtWidgets.QWidget):
    """Shows a `Dashboard`.

    Signals: `arranged`: all plots are created and placed; `resized`: the user dragged a border.

    Args:
        make: creates a plot.
    """

    arranged = QtCore.Signal()
    resized = QtCore.Signal()

    def __init__(self, make: Callable[[PlotOf], SignalPlot]) -> None:
        super().__init__()
        self._make = make
        self.dashboard = Dashboard("")
        self._pending: list[tuple[_RowSplitter, int, PlotOf]] = []
        """Plots to create: row splitter, index, content."""
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
        self._show_hint()

    @property
    def complete(self) -> bool:
        """Whether all plots have been created."""
        return not self._pending

    @property
    def plots(self) -> list[SignalPlot]:
        """Return the created plots in reading order."""
        rows = [self.rows.widget(number) for number in range(self.rows.count())]
        widgets = [row.widget(number) for row in rows for number in range(row.count())]
        return [widget for widget in widgets if isinstance(widget, SignalPlot)]

    def plot(self, place: Place | None) -> SignalPlot | None:
        """Return the plot at a place; valid once `complete`."""
        return next((plot for plot in self.plots if plot.place == place), None)

    def show_dashboard(self, dashboard: Dashboard) -> None:
        """Show a dashboard. Unchanged plots and rows are reused."""
        self._pending.clear()
        old = [self.rows.widget(number) for number in range(self.rows.count())]
        reused = [self._reusable_row(row, old) for row in dashboard.rows]
        spare = [plot for plot in self.plots if plot.parent() in old]
        for number, (row, splitter) in enumerate(zip(dashboard.rows, reused, strict=True)):
            shown = splitter or self._new_row(row, spare)
            shown.row = row
            self.rows.insertWidget(number, shown)
        self.dashboard = dashboard
        for gone in (*spare, *old):
            gone.hide()
            gone.setParent(None)
            gone.deleteLater()
        self._share()
        self._show_hint()
        if not self._pending:
            self._arrange()
        for _ in range(min(_AT_ONCE, len(self._pending))):
            self._make_next()
        if self._pending:
            self._later.start()

    def _reusable_row(self, row: Row, rows: list[_RowSplitter]) -> _RowSplitter | None:
        """Remove and return the row on the screen with the same plots, if there is one."""
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
                splitter.addWidget(QtWidgets.QWidget())  # placeholder
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
        """Apply the shares to rows and plots."""
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
        """Return the share of the height of each row and of the width of each plot, as dragged by the user."""
        rows = [self.rows.widget(number) for number in range(self.rows.count())]
        return _parts(self.rows), [_parts(row) for row in rows]

    def set_obstacle(self, reason: str) -> None:
        """Show why nothing can be dropped here; empty clears it."""
        self._obstacle = reason
        self._show_hint()

    def _show_hint(self) -> None:
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

    # -- drop targets ------------------------------------------------------------------------------------------------

    def target(self, place: QtCore.QPoint) -> "tuple[Target] | None":
        """Return the drop target at a point of the screen; None outside the board."""
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
        """Remove the drop frame."""
        self._band.hide()

    def show_target(self, target: "tuple[Target] | None", *, half: bool) -> None:
        """Frame a drop target, or the half of it on the given side. None: remove the frame."""
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
        self._band.setGeometry(_half(rect, side) if half else rect)
        self._band.raise_()


def _parts(splitter: QtWidgets.QSplitter) -> list[float]:
    sizes = splitter.sizes()
    whole = sum(sizes)
    return [round(size / whole, 4) if size and whole else 1.0 for size in sizes]


def _side(at: QtCore.QPoint, rect: QtCore.QRect) -> Side:
    """Return the nearest edge, by fractions of width and height."""
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
