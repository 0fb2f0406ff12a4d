"""What all plots of the live views have in common."""

import pyqtgraph as pg
from pyqtgraph.Qt import QtCore, QtWidgets

from gui.widgets import Theme

AXIS_WIDTH = 62
"""px of the value axis, the same everywhere, so that plots one above the other agree in time"""
_SIDES = ("left", "bottom")


def plain_plot(name: str) -> pg.PlotWidget:
    """A plot with this accessible name that does nothing by itself: no menu, no prefixes of units, no ranges."""
    plot = pg.PlotWidget(enableMenu=False)
    plot.setAccessibleName(name)
    item = plot.getPlotItem()
    item.hideButtons()
    for side in _SIDES:
        item.getAxis(side).enableAutoSIPrefix(False)
    item.getViewBox().disableAutoRange()
    return plot


def dress_plot(plot: pg.PlotWidget, theme: Theme) -> None:
    """Give a plot's ground and axes the theme's colours."""
    plot.setBackground(theme.surface)
    for side in _SIDES:
        plot.getAxis(side).setPen(theme.pen(theme.border))
        plot.getAxis(side).setTextPen(theme.pen(theme.muted))


def header_label() -> QtWidgets.QLabel:
    """Line of rich text above a plot, in small letters; gives way when there is no room."""
    label = QtWidgets.QLabel()
    label.setAlignment(QtCore.Qt.AlignmentFlag.AlignLeft | QtCore.Qt.AlignmentFlag.AlignBottom)
    label.setTextFormat(QtCore.Qt.TextFormat.RichText)
    label.setSizePolicy(QtWidgets.QSizePolicy.Policy.Ignored, QtWidgets.QSizePolicy.Policy.Fixed)
    label.setStyleSheet("font-size: 11px")
    return label


def swatch(colour: str, name: str) -> str:
    """Rich text: a name behind a bar of the colour; the name itself is in the colour of text, to be readable."""
    return f"<span style='color:{colour}'>▮</span><b>{name}</b>"
