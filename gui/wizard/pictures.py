"""Pictures of a result: bars, changes in standard deviations, and points with uncertainty."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg
from pyqtgraph.Qt import QtCore

from gui.live import Plot, swatch
from gui.texts import tr
from gui.widgets import LEG_COLOURS, Theme

Floats = npt.NDArray[np.float64]

_ROOM = 0.76
"""Total width of the bars at a place, of the spacing."""
_TICKS = (1, 3, 10, 30, 100, 300, 1000, 10_000)
_CROWDED = math.asinh(30.0)
_SURE = 2.0
"""Standard deviations within which a change is not significant."""
_DECADES = 3  # decades up to which a logarithmic axis also has ticks at 2 and 5
_MARGIN = 0.06  # fraction of a picture's range, on each side

LEGS = tuple(tr("leg {leg}").format(leg=leg) for leg in range(1, 7))


def swatches(theme: Theme, *named: tuple[str, str]) -> str:
    """Return rich text: names after bars of their colours; see `Points` for colours."""
    return " ".join(swatch(_colour(theme, colour), name) for colour, name in named)


def legend(theme: Theme, text: str, **named: tuple[str, str]) -> str:
    """Return `text` as rich text, with its fields {…} replaced by coloured names, as in `swatches`."""
    return text.format(**{key: swatches(theme, each) for key, each in named.items()})


def leg_swatches() -> str:
    """Return rich text: the legs' numbers after bars of their colours."""
    return " ".join(swatch(colour, str(leg)) for leg, colour in enumerate(LEG_COLOURS, 1))


def _colour(theme: Theme, colour: str) -> str:
    return colour if colour[:1] == "#" else str(getattr(theme, colour))


class Picture(Plot):
    """A read-only plot.

    Args:
        name: accessible name.
        theme: colours.
        left, bottom: labels of the axes.
    """

    def __init__(self, name: str, theme: Theme, left: str, bottom: str = "") -> None:
        super().__init__(name)
        self._theme = theme
        self.dress(theme)
        self.getAxis("left").setLabel(left)
        if bottom:
            self.getAxis("bottom").setLabel(bottom)
        self.view.setMouseEnabled(x=False, y=False)

    def draw(self, drawn: Any) -> None:
        """Draw a result's data for this kind of picture."""
        raise NotImplementedError

    def sizeHint(self) -> QtCore.QSize:
        """Minimum readable height: the table gets the rest."""
        return QtCore.QSize(300, 190)


Pictures = Sequence[tuple[str, Picture]]
"""Legends, rich text, and pictures."""


@dataclass(frozen=True, slots=True)
class Bars:
    """Values at every place, each series with its colour, see `Points`; with optional bounds per place.

    places: labels, None for the picture's own.
    """

    series: Sequence[tuple[Sequence[float], str]]
    bound: Sequence[float] = ()
    places: Sequence[str] | None = None


class BarPicture(Picture):
    """Grouped bars from zero.

    Args:
        places: labels below.
        name, theme, left: see `Picture`.
    """

    def __init__(self, name: str, theme: Theme, left: str, places: Sequence[str] = ()) -> None:
        super().__init__(name, theme, left)
        self._name_places(places)

    def _name_places(self, places: Sequence[str]) -> None:
        self._places = np.arange(float(len(places)))
        self.getAxis("bottom").setTicks([list(enumerate(places))])

    def draw(self, drawn: Bars) -> None:
        """See `Picture`."""
        if drawn.places is not None:
            self._name_places(drawn.places)
        self.view.clear()
        width = _ROOM / len(drawn.series)
        for number, (values, colour) in enumerate(drawn.series):
            x = self._places + (number - 0.5 * (len(drawn.series) - 1)) * width
            brush = _colour(self._theme, colour)
            self.view.addItem(pg.BarGraphItem(x=x, height=list(values), width=width, brush=brush, pen=None))
        if drawn.bound:
            ends = np.column_stack([self._places - 0.5 * _ROOM, self._places + 0.5 * _ROOM]).ravel()
            pen = pg.mkPen(self._theme.warning, width=2)
            self.view.addItem(pg.PlotCurveItem(ends, np.repeat(drawn.bound, 2), connect="pairs", pen=pen))
        every = [0.0, *(value for values, _ in drawn.series for value in values), *drawn.bound]
        low, high = 1.08 * min(every), 1.08 * max(every)
        self.view.setRange(xRange=(-0.6, self._places[-1] + 0.6), yRange=(low, high), padding=0.0)


class ChangePicture(Picture):
    """Changes of parameters in standard deviations, with error bars of one, in table order.

    The axis is linear near zero and logarithmic beyond, for both large changes and none. Changes between the dotted
    lines, at two standard deviations, are not significant.

    Args:
        theme: colours.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(
            tr("Changes of the parameters, in standard deviations"), theme, tr("change / σ"), tr("row of the table")
        )
        self.mark = pg.InfiniteLine(angle=90, pen=theme.pen(theme.accent))
        """At the parameter selected in the table."""

    def draw(self, drawn: Sequence[float]) -> None:
        """See `Picture`: changes in standard deviations."""
        theme = self._theme
        rows = np.arange(1.0, len(drawn) + 1)
        shifts = np.array(drawn)
        places = np.arcsinh(shifts)
        top, bottom = np.arcsinh(shifts + 1.0) - places, places - np.arcsinh(shifts - 1.0)
        self.view.clear()
        for level in (-_SURE, _SURE):
            pen = theme.pen(theme.muted, dashed="··")
            self.view.addItem(pg.InfiniteLine(math.asinh(level), angle=0, pen=pen), ignoreBounds=True)
        self.view.addItem(
            pg.ErrorBarItem(x=rows, y=places, top=top, bottom=bottom, beam=0.0, pen=theme.pen(theme.muted))
        )
        self.view.addItem(pg.ScatterPlotItem(x=rows, y=places, size=5, pen=None, brush=theme.accent))
        self.view.addItem(self.mark, ignoreBounds=True)
        largest = float(np.max(np.abs(places))) + 0.6
        shown = _TICKS if largest < _CROWDED else _TICKS[2::2]  # fewer labels, without overlap
        ticks = [(sign * math.asinh(at), f"{sign * at:g}") for at in shown for sign in (-1, 1)]
        self.getAxis("left").setTicks([[(0.0, "0"), *ticks]])
        self.view.setRange(xRange=(0.0, len(rows) + 1.0), yRange=(-largest, largest), padding=0.0)
        self.choose(0)

    def choose(self, row: int) -> None:
        """Mark the parameter of a row, from 0."""
        self.mark.setPos(row + 1.0)
        self.mark.setVisible(row >= 0)


@dataclass(frozen=True, slots=True)
class Points:
    """Points (x, y) of a colour, with error bars of one standard deviation of y if known; joined or not.

    colour: a field of `Theme`, or #RRGGBB.
    """

    x: Sequence[float]
    y: Sequence[float]
    colour: str
    sigma: Sequence[float] = ()
    joined: bool = False


@dataclass(frozen=True, slots=True)
class Scatter:
    """Groups of points, and levels of y as dashed lines, each with its colour, see `Points`."""

    groups: Sequence[Points]
    levels: Sequence[tuple[float, str]] = ()


class PointPicture(Picture):
    """Points with error bars, over linear or logarithmic axes.

    Args:
        log_x, log_y: whether an axis is logarithmic: then only positive values are drawn.
        places: labels of 0, 1, … instead of numbers.
        name, theme, left, bottom: see `Picture`.
    """

    def __init__(
        self,
        name: str,
        theme: Theme,
        left: str,
        bottom: str = "",
        *,
        log_x: bool = False,
        log_y: bool = False,
        places: Sequence[str] = (),
    ) -> None:
        super().__init__(name, theme, left, bottom)
        self._log = log_x, log_y
        self._ends = (-0.6, len(places) - 0.4) if places else None
        """Range of the bottom axis, if it has places."""
        if places:
            self.getAxis("bottom").setTicks([list(enumerate(places))])

    def draw(self, drawn: Scatter) -> None:
        """See `Picture`."""
        self.view.clear()
        for level, colour in drawn.levels:
            pen = self._theme.pen(_colour(self._theme, colour), dashed=True)
            self.view.addItem(pg.InfiniteLine(self._along(1, level), angle=0, pen=pen), ignoreBounds=True)
        xs: list[float] = []
        ys = [self._along(1, level) for level, _ in drawn.levels]
        for group in drawn.groups:
            colour = _colour(self._theme, group.colour)
            x, y = np.array(group.x, dtype=float), np.array(group.y, dtype=float)
            sigma = np.array(group.sigma or np.zeros(len(y)), dtype=float)
            seen = np.isfinite(x) & np.isfinite(y) & ((x > 0.0) | (not self._log[0])) & ((y > 0.0) | (not self._log[1]))
            x, low, middle, high = self._scaled(x[seen], y[seen], sigma[seen])
            if not len(x):
                continue
            if group.sigma:
                pen = self._theme.pen(colour)
                self.view.addItem(
                    pg.ErrorBarItem(x=x, y=middle, top=high - middle, bottom=middle - low, beam=0.0, pen=pen)
                )
            if group.joined:
                self.view.addItem(pg.PlotCurveItem(x, middle, pen=self._theme.pen(colour)))
            self.view.addItem(pg.ScatterPlotItem(x=x, y=middle, size=5, pen=None, brush=colour))
            xs += [x.min(), x.max()]
            ys += [low.min(), high.max()]
        if xs and ys:
            self._show_range(xs, ys)

    def _along(self, axis: int, value: float) -> float:
        return math.log10(value) if self._log[axis] else value

    def _scaled(self, x: Floats, y: Floats, sigma: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the scaled x, and y with both ends of its error bar."""
        low, high = y - sigma, y + sigma
        if self._log[1]:
            low = np.log10(np.where(low > 0.0, low, 0.1 * y))
            y, high = np.log10(y), np.log10(high)
        return (np.log10(x) if self._log[0] else x), low, y, high

    def _show_range(self, xs: Sequence[float], ys: Sequence[float]) -> None:
        ranges: list[tuple[float, float]] = []
        for axis, side, values in ((0, "bottom", xs), (1, "left", ys)):
            low, high = min(values), max(values)
            if axis == 0 and self._ends is not None:
                ranges.append(self._ends)
                continue
            margin = _MARGIN * (high - low) or _MARGIN * abs(high) or 0.5
            low, high = low - margin, high + margin
            ranges.append((low, high))
            if self._log[axis]:
                self.getAxis(side).setTicks([_log_ticks(low, high)])
        self.view.setRange(xRange=ranges[0], yRange=ranges[1], padding=0.0)


def _log_ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Return ticks and labels of a logarithmic axis between two powers of ten."""
    steps = (1, 2, 5) if high - low <= _DECADES else (1,)
    values = [step * 10.0**decade for decade in range(math.floor(low), math.ceil(high) + 1) for step in steps]
    return [(math.log10(value), f"{value:g}") for value in values if low <= math.log10(value) <= high]
