"""A plot of a dashboard: the signals that somebody put in, a handle to drag it by, and its menu."""

from collections.abc import Sequence
from functools import partial

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.dashboard.dragging import Dragging
from gui.dashboard.layout import Place, Side
from gui.dashboard.line_styles import line_styles_of
from gui.dashboard.signals import SIGNALS, Quantity, and_more
from gui.live import Panel, PlotPanel, Series, Sources, last_of, number_text, swatch
from gui.session import Floats, Stretch
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
        self.setAccessibleDescription(tr("Delete: remove; Alt and arrows: move; Menu: all that can be done with it"))
        self.plot.setContextMenuPolicy(QtCore.Qt.ContextMenuPolicy.PreventContextMenu)  # there the right button zooms
        self.header.setCursor(QtCore.Qt.CursorShape.OpenHandCursor)
        self.header.setToolTip(tr("Drag it beside another plot; right button: remove, move"))
        self.more = QtWidgets.QToolButton()
        give(self.more, "more")
        self.more.setObjectName("more")
        self.more.setAccessibleName(
            tr("What can be done with the plot of {quantity}").format(quantity=self.panel.label)
        )
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
