"""Two pictures of an identification: what forces are left unexplained, and what changed by how much."""

import math

import numpy as np
import pyqtgraph as pg
from pyqtgraph.Qt import QtCore

from gui.identify.identifier import Outcome, shift
from gui.live import Plot
from gui.widgets import Theme

_WIDTH = 0.38
"""of a bar; 1 from leg to leg"""
_TICKS = (1, 3, 10, 30, 100, 300, 1000, 10_000)
_SURE = 2.0
"""standard deviations, within which a change says nothing"""


class ResidualPicture(Plot):
    """Residuals of the legs and of all, before and after, as bars, with the noise as a line over each pair."""

    def __init__(self, theme: Theme) -> None:
        super().__init__("Residual before and after, by leg")
        self._theme = theme
        self.dress(theme)
        self.getAxis("left").setLabel("N RMS")
        self.getAxis("bottom").setTicks([[(k, f"leg {k + 1}" if k < 6 else "all") for k in range(7)]])
        self.view.setMouseEnabled(x=False, y=False)

    def show_outcome(self, outcome: Outcome) -> None:
        """Draw it."""
        theme = self._theme
        places = np.arange(7.0)
        self.view.clear()
        for values, side, colour in ((outcome.before, -0.5, theme.muted), (outcome.after, 0.5, theme.accent)):
            bars = pg.BarGraphItem(x=places + side * _WIDTH, height=values, width=_WIDTH, brush=colour, pen=None)
            self.view.addItem(bars)
        ends = np.column_stack([places - _WIDTH, places + _WIDTH]).ravel()
        pen = pg.mkPen(theme.warning, width=2)
        self.view.addItem(pg.PlotCurveItem(ends, np.repeat(outcome.noise, 2), connect="pairs", pen=pen))
        self.view.setRange(
            xRange=(-0.6, 6.6), yRange=(0.0, 1.08 * max(*outcome.before, *outcome.after, *outcome.noise)), padding=0.0
        )


class ShiftPicture(Plot):
    """Changes of the parameters in their standard deviations, one to each side of them, in the order of the table.

    The axis is linear about nothing and logarithmic beyond: a mass that is off by a hundred standard deviations and
    what did not change are seen beside each other. Between the dotted lines, at two of them, nothing was told.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__("Changes of the parameters, in standard deviations")
        self._theme = theme
        self.dress(theme)
        self.getAxis("left").setLabel("change / σ")
        self.getAxis("bottom").setLabel("row of the table")
        ticks = [(sign * math.asinh(at), f"{sign * at:g}") for at in _TICKS for sign in (-1, 1)]
        self.getAxis("left").setTicks([[(0.0, "0"), *ticks]])
        self.view.setMouseEnabled(x=False, y=False)
        self.mark = pg.InfiniteLine(angle=90, pen=theme.pen(theme.accent))
        """at the parameter that is chosen in the table"""

    def show_outcome(self, outcome: Outcome) -> None:
        """Draw it."""
        theme = self._theme
        rows = np.arange(1.0, len(outcome.parameters) + 1)
        shifts = np.array([shift(each) for each in outcome.parameters])
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
        self.view.setRange(xRange=(0.0, len(rows) + 1.0), yRange=(-largest, largest), padding=0.0)
        self.choose(0)

    def choose(self, row: int) -> None:
        """Mark the parameter of a row, from 0."""
        self.mark.setPos(row + 1.0)
        self.mark.setVisible(row >= 0)

    def sizeHint(self) -> QtCore.QSize:
        """As low as it can be read: the table has the rest."""
        return QtCore.QSize(380, 190)
