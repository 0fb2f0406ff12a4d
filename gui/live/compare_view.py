"""Two recordings laid over each other: forces and residuals, both counted from where their motion began."""

import numpy as np
import pyqtgraph as pg
from pyqtgraph.Qt import QtGui, QtWidgets

from gui.live.live_bar import LegButtons
from gui.live.outline import Outline
from gui.live.plot import AXIS_WIDTH, plain_plot
from gui.live.plot_looks import header_label
from gui.live.series import FORCES, Panel
from gui.widgets import LEG_COLOURS, Theme


class CompareView(QtWidgets.QWidget):
    """Overlay of measured forces and of residuals: the first recording solid, the second dashed."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setAccessibleName("Comparison of two recordings")
        self.legs = LegButtons(theme)
        self.names = header_label()
        self.names.setAccessibleName("Recordings compared")
        top = QtWidgets.QHBoxLayout()
        top.addWidget(QtWidgets.QLabel("Legs"))
        top.addWidget(self.legs)
        top.addWidget(self.names, 1)
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(4, 4, 4, 4)
        layout.addLayout(top)
        self.plots = [_Overlay(panel) for panel in FORCES]
        for plot in self.plots:
            layout.addWidget(plot, 1)
        self.plots[1].view.setXLink(self.plots[0].view)
        self._names: tuple[str, ...] = ()
        self.legs.changed.connect(self._show_legs)
        self.legs.set_legs([True] + [False] * 5)  # twelve curves over each other are for who asks for them
        self.set_theme(theme)
        self.show_recordings([], [], [])

    def set_theme(self, theme: Theme) -> None:
        """Change colours."""
        self.legs.set_theme(theme)
        for plot in self.plots:
            plot.set_theme(theme)

    def show_recordings(self, names: list[str], outlines: list[tuple[Outline, ...]], begins: list[float]) -> None:
        """Lay up to two recordings over each other, an outline for each of `FORCES`.

        `begins` are the rig times, s, that count as zero.
        """
        for number, plot in enumerate(self.plots):
            plot.show_recordings([of_recording[number] for of_recording in outlines], begins)
        if len(names) < 2:
            self.names.setText("Choose another recording on the page Files, then press Compare there")
        else:
            self.names.setText(f"&nbsp; — {names[0]} &nbsp;&nbsp; ┄ {names[1]}")

    def _show_legs(self, legs: list[bool]) -> None:
        for plot in self.plots:
            plot.show_legs(legs)


class _Overlay(QtWidgets.QWidget):
    """One quantity of both recordings; drawn only while somebody can see it."""

    def __init__(self, panel: Panel) -> None:
        super().__init__()
        self._outlines: list[Outline] = []
        self._begins: list[float] = []
        self._legs = [True] * 6
        self.plot = plain_plot(f"Overlay of {panel.label}")
        header = header_label()
        header.setText(f"&nbsp;<b>{panel.title}</b>, {panel.unit}")
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(1)
        layout.addWidget(header)
        layout.addWidget(self.plot, 1)
        self.plot.getAxis("left").setWidth(AXIS_WIDTH)
        self.plot.getAxis("left").setLabel(panel.unit)
        self.plot.getAxis("bottom").setLabel("time since the motion began, s")
        self.view = self.plot.view
        self.curves = [[pg.PlotCurveItem(skipFiniteCheck=True) for _ in range(6)] for _ in range(2)]
        for curve in (*self.curves[0], *self.curves[1]):
            self.plot.add(curve)
        self._fitted = True
        self.view.sigXRangeChanged.connect(self._draw)

    def set_theme(self, theme: Theme) -> None:
        self.plot.dress(theme)
        for leg, colour in enumerate(LEG_COLOURS):
            self.curves[0][leg].setPen(theme.pen(colour))
            self.curves[1][leg].setPen(theme.pen(theme.towards_text(colour), dashed=True))

    def show_legs(self, legs: list[bool]) -> None:
        self._legs = list(legs)
        self._fit()

    def showEvent(self, event: QtGui.QShowEvent) -> None:
        """Draw what there was nobody to see."""
        super().showEvent(event)
        if not self._fitted:
            self._fit()

    def show_recordings(self, outlines: list[Outline], begins: list[float]) -> None:
        self._outlines, self._begins = outlines, begins
        spans = [
            (outline.span[0] - begin, outline.span[1] - begin) for outline, begin in zip(outlines, begins, strict=True)
        ]
        self._fitted = False
        if spans:
            self.view.setXRange(min(span[0] for span in spans), max(span[1] for span in spans), padding=0.01)
        self._fit()

    def _fit(self) -> None:
        """Let the value axis hold all that is shown."""
        self._fitted = self.isVisible()
        self._draw()
        values = [
            curve.yData[np.isfinite(curve.yData)]
            for curves in self.curves
            for curve in curves
            if curve.isVisible() and curve.yData is not None
        ]
        shown = np.concatenate(values) if values else np.empty(0)
        if len(shown):
            self.view.setYRange(float(shown.min()), float(shown.max()), padding=0.06)

    def _draw(self, *_args: object) -> None:
        if not self.isVisible():
            return
        t0, t1 = self.view.viewRange()[0]
        bins = max(16, int(self.view.width()))
        for number, curves in enumerate(self.curves):
            there = number < len(self._outlines)
            for curve, shown in zip(curves, self._legs, strict=True):
                curve.setVisible(shown and there)
            if not there:
                continue
            begin = self._begins[number]
            t, thinned = self._outlines[number].between(t0 + begin, t1 + begin, bins)
            t = t - begin
            for curve, column, shown in zip(curves, thinned.T, self._legs, strict=True):
                if shown:
                    curve.setData(t, np.ascontiguousarray(column), connect="finite")
