"""The plot that all views draw into: curves with an axis to the left and one below."""

from typing import Any

import pyqtgraph as pg
from pyqtgraph.Qt import QtWidgets

from gui.widgets import Theme

AXIS_WIDTH = 62
"""px of the value axis, the same everywhere, so that plots one above the other agree in time"""
_TITLE_HEIGHT = 30  # px


class Plot(pg.GraphicsView):
    """One plot; `view` is its ViewBox, in coordinates of the curves.

    pyqtgraph's own makes all widgets of a menu too, which takes longer than the plot, and the window has dozens.

    Args:
        name: accessible name.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setSizePolicy(QtWidgets.QSizePolicy.Policy.Expanding, QtWidgets.QSizePolicy.Policy.Expanding)
        grid = self.centralLayout
        grid.setContentsMargins(1, 1, 1, 1)
        grid.setSpacing(0)
        self.view = pg.ViewBox(enableMenu=False)
        grid.addItem(self.view, 1, 1)
        self._axes = {"left": pg.AxisItem("left"), "bottom": pg.AxisItem("bottom")}
        for axis, place in zip(self._axes.values(), ((1, 0), (2, 1)), strict=True):
            axis.linkToView(self.view)
            axis.enableAutoSIPrefix(False)  # a label says its unit
            axis.setStyle(maxTickLevel=1)  # finer ones tell nothing more, and a time axis has all drawn in every frame
            axis.setZValue(0.5)
            axis.setFlag(QtWidgets.QGraphicsItem.GraphicsItemFlag.ItemNegativeZStacksBehindParent)
            grid.addItem(axis, *place)
        self._title: pg.LabelItem | None = None
        grid.setRowStretchFactor(1, 1)
        grid.setColumnStretchFactor(1, 1)

    def getAxis(self, side: str) -> pg.AxisItem:  # named as pyqtgraph names it
        """The axis "left" or "bottom"."""
        return self._axes[side]

    def set_title(self, text: str, size: str, colour: str) -> None:
        """Write a title above, in letters of a size such as "10pt"."""
        if self._title is None:
            self._title = pg.LabelItem()
            self.centralLayout.addItem(self._title, 0, 1)
            self.centralLayout.setRowFixedHeight(0, _TITLE_HEIGHT)
        self._title.setText(text, size=size, color=colour)

    def add(self, item: Any) -> None:
        """Put something in that no range follows."""
        self.view.addItem(item, ignoreBounds=True)

    def dress(self, theme: Theme) -> None:
        """Give ground and axes the theme's colours."""
        self.setBackground(theme.surface)
        for axis in self._axes.values():
            axis.setPen(theme.pen(theme.border))
            axis.setTextPen(theme.pen(theme.muted))


def plain_plot(name: str) -> Plot:
    """A `Plot` whose ranges are what they are told to be."""
    plot = Plot(name)
    plot.view.disableAutoRange()
    return plot
