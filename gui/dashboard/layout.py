"""The layout of a dashboard and its line styles, without widgets."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from gui.dashboard.signals import Quantity, is_known, signal_of, units_of
from gui.texts import tr
from gui.widgets import DASHED, DASHES

_PATTERNS = ("", *DASHES)
_ALONE = ("text", "accent", "good", "warning", "error")
"""Theme fields for signals of neither a leg nor an axis."""


def line_styles_of(signals: Sequence[str]) -> list[tuple[Quantity, list[int], tuple[str, ...], str]]:
    """Return quantity key → visible columns, their colours and line patterns, for signals given by key.

    Solid is measured, dashed is model or command, if that pattern is free. Raises ValueError if one colour would need
    more patterns than exist.
    """
    shown: dict[str, tuple[Quantity, list[int]]] = {}
    for key in signals:
        signal = signal_of(key)
        shown.setdefault(signal.quantity.key, (signal.quantity, []))[1].append(signal.column)
    taken: set[tuple[str, str]] = set()
    styles = []
    for quantity, columns in shown.values():
        columns.sort()
        for pattern in sorted(_PATTERNS, key=lambda one: one != (DASHED if quantity.reference else "")):
            colours = tuple(quantity.colours[column] for column in columns)
            if colours == ("text",):  # only one of its kind: any free colour
                colours = next(((each,) for each in _ALONE if (each, pattern) not in taken), colours)
            if not any((colour, pattern) in taken for colour in colours):
                taken |= {(colour, pattern) for colour in colours}
                styles.append((quantity, columns, colours, pattern))
                break
        else:
            raise ValueError(f"more than {len(_PATTERNS)} lines of one colour, which nobody could tell apart")
    return styles


MOST_PLOTS = 24
"""Maximum of plots on a dashboard: each costs time in every frame."""
MOST_SIGNALS = 36
"""Maximum of signals in a plot."""
Place = tuple[int, int]
"""A plot's row, and its index in the row, from 0."""


class Side(Enum):
    """Side of a plot on which another one is placed."""

    LEFT = "left of"
    RIGHT = "right of"
    ABOVE = "above"
    BELOW = "below"


class RefusedError(ValueError):
    """A change of a dashboard that is not possible, with the reason."""


@dataclass(frozen=True, slots=True)
class PlotOf:
    """A plot of signals, by key, and its share of the row's width."""

    signals: tuple[str, ...]
    share: float = 1.0


@dataclass(frozen=True, slots=True)
class Row:
    """Plots side by side, and their share of the dashboard's height."""

    plots: tuple[PlotOf, ...]
    share: float = 1.0


@dataclass(frozen=True, slots=True)
class Dashboard:
    """Rows of plots; immutable. Places as in `Place`."""

    name: str
    rows: tuple[Row, ...] = ()

    @property
    def places(self) -> list[Place]:
        """Return the places of all plots in reading order."""
        return [(row, number) for row, one in enumerate(self.rows) for number in range(len(one.plots))]

    def plot(self, place: Place) -> PlotOf:
        """The plot at a place."""
        return self.rows[place[0]].plots[place[1]]

    def with_plots(self, signals: Sequence[str]) -> "Dashboard":
        """Add a plot at the bottom for each unit among the signals. Raises RefusedError beyond `MOST_PLOTS`."""
        added = [PlotOf(tuple(key for key in signals if units_of([key]) == (unit,))) for unit in units_of(signals)]
        if len(self.places) + len(added) > MOST_PLOTS:
            raise RefusedError(
                tr("{count} plots, must be at most {most} on a dashboard").format(
                    count=len(self.places) + len(added), most=MOST_PLOTS
                )
            )
        for plot in added:
            fault = plot_fault(plot.signals)
            if fault:
                raise RefusedError(fault)
        return replace(self, rows=(*self.rows, *(Row((plot,)) for plot in added)))

    def with_signals(self, place: Place, signals: Sequence[str]) -> "Dashboard":
        """Add signals to a plot, without duplicates. Raises RefusedError for a unit that is not the plot's."""
        plot = self.plot(place)
        (unit,) = units_of(plot.signals)
        for key in signals:
            (other,) = units_of([key])
            if other != unit:
                raise RefusedError(
                    tr(
                        "{signal} is {other} and the plot {unit}: an axis has one unit. Add it as a separate plot; "
                        "all plots share the time axis and the cursors"
                    ).format(signal=signal_of(key).name, other=_in(other), unit=_in(unit))
                )
        all_of_them = tuple(dict.fromkeys((*plot.signals, *signals)))
        fault = plot_fault(all_of_them)
        if fault:
            raise RefusedError(fault)
        return self._changed(place, replace(plot, signals=all_of_them))

    def without_signal(self, place: Place, signal: str) -> "Dashboard":
        """Remove a signal from a plot; the last signal removes the plot."""
        plot = self.plot(place)
        left = tuple(key for key in plot.signals if key != signal)
        return self._changed(place, replace(plot, signals=left)) if left else self.without(place)

    def without(self, place: Place) -> "Dashboard":
        """Remove the plot at a place."""
        row = self.rows[place[0]]
        plots = row.plots[: place[1]] + row.plots[place[1] + 1 :]
        rows = (replace(row, plots=plots),) if plots else ()
        return replace(self, rows=self.rows[: place[0]] + rows + self.rows[place[0] + 1 :])

    def put(self, place: Place, side: Side, target: Place) -> "Dashboard":
        """Move the plot at a place to a side of the one at another place."""
        if place == target:
            return self
        row, number = target
        plot = self.plot(place)
        if row != place[0] or side not in (Side.LEFT, Side.RIGHT):
            plot = replace(plot, share=1.0)  # its share was relative to another row's width
        rows: list[list[PlotOf | None]] = [list(each.plots) for each in self.rows]
        shares = [each.share for each in self.rows]
        rows[place[0]][place[1]] = None  # keeps the indices of the following plots
        if side in (Side.LEFT, Side.RIGHT):
            rows[row].insert(number + (side is Side.RIGHT), plot)
        else:
            rows.insert(row + (side is Side.BELOW), [plot])
            shares.insert(row + (side is Side.BELOW), 1.0)
        left = [
            (tuple(each for each in one if each is not None), share) for one, share in zip(rows, shares, strict=True)
        ]
        return replace(self, rows=tuple(Row(plots, share) for plots, share in left if plots))

    def moved(self, place: Place, side: Side) -> tuple["Dashboard", Place]:
        """Move the plot one step to a side; return the dashboard and the new place.

        Left and right: within its row. Up and down: out of a shared row into a row of its own, from there to the end of
        the next one.
        """
        row, number = place
        if side in (Side.LEFT, Side.RIGHT):
            other = number + (1 if side is Side.RIGHT else -1)
            if not 0 <= other < len(self.rows[row].plots):
                return self, place
            return self.put(place, side, (row, other)), (row, other)
        if len(self.rows[row].plots) > 1:
            return self.put(place, side, (row, 0 if number else 1)), (row + (side is Side.BELOW), 0)
        near = row + (1 if side is Side.BELOW else -1)
        if not 0 <= near < len(self.rows):
            return self, place
        last = len(self.rows[near].plots) - 1
        return self.put(place, Side.RIGHT, (near, last)), (min(row, near), last + 1)

    def shared(self, heights: Sequence[float], widths: Sequence[Sequence[float]]) -> "Dashboard":
        """Set the shares of the height of each row and of the width of each plot."""
        rows = [
            Row(tuple(replace(plot, share=share) for plot, share in zip(row.plots, own, strict=True)), height)
            for row, height, own in zip(self.rows, heights, widths, strict=True)
        ]
        return replace(self, rows=tuple(rows))

    def _changed(self, place: Place, plot: PlotOf) -> "Dashboard":
        row = self.rows[place[0]]
        plots = (*row.plots[: place[1]], plot, *row.plots[place[1] + 1 :])
        return replace(self, rows=(*self.rows[: place[0]], replace(row, plots=plots), *self.rows[place[0] + 1 :]))


def plot_fault(signals: Sequence[str]) -> str:
    """Why these signals, by key, do not fit in one plot; empty if they do."""
    for key in signals:
        if not is_known(key):
            return tr("signal {key!r}: unknown").format(key=key)
        if signals.count(key) > 1:
            return tr("signal {key!r} occurs {count} times").format(key=key, count=signals.count(key))
    if not signals:
        return tr("a plot without signals")
    if len(signals) > MOST_SIGNALS:
        return tr("{count} signals, must be at most {most} in a plot").format(count=len(signals), most=MOST_SIGNALS)
    units = units_of(signals)
    if len(units) > 1:
        return tr("signals {units}: an axis has one unit").format(units=", ".join(map(_in, units)))
    try:
        line_styles_of(signals)
    except ValueError as error:
        return tr("signals {signals}: {error}").format(signals=", ".join(signals), error=error)
    return ""


def _in(unit: str) -> str:
    return tr("in {unit}").format(unit=tr(unit)) if unit else tr("without a unit")
