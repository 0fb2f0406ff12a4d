"""Overlay of recordings or runs: forces, residuals, tracking, aligned at the beginning of their motions."""

from collections.abc import Iterator, Sequence
from html import escape

import numpy as np
import pyqtgraph as pg
from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.live.live_bar import LegButtons
from gui.live.plot import AXIS_WIDTH, header_label, plain_plot, swatch
from gui.models import COMPARED, FORCES, Floats, Outline, Panel
from gui.texts import tr
from gui.widgets import DASHES, FlowLayout, QuantityBox, Theme, field_refusal, hold_room, run_all

MOST = 1 + len(DASHES)
"""Maximum of recordings that line patterns can distinguish."""
_PATTERNS = ("", *DASHES)
_MOST_POINTS = 500_000
"""Points up to which curve differences are computed: more would block the window."""
_SHIFT = 60.0  # s


class CompareView(QtWidgets.QWidget):
    """Overlay of `COMPARED` quantities, forces or tracking: the first solid, the others in line patterns.

    Each of the others can be shifted in time, and all be shown as differences to the first.

    Args:
        theme: colours.
        whole: create the plots now; otherwise call `build` first.
    """

    def __init__(self, theme: Theme, *, whole: bool = True) -> None:
        super().__init__()
        self._theme = theme
        self.setAccessibleName(tr("Comparison of recordings or runs"))
        self.legs = LegButtons(theme)
        self.names = header_label()
        self.names.setWordWrap(True)
        self.names.setAccessibleName(tr("Recordings or runs compared"))
        self.quantities = QtWidgets.QComboBox()
        self.quantities.setAccessibleName(tr("Compared items"))
        self.quantities.addItems([tr("Forces"), tr("Tracking")])
        self.quantities.currentIndexChanged.connect(lambda _index: self._show_plots())
        self.shifts: list[QuantityBox] = []
        """Time shift of each of the others against the first."""
        self.difference = QtWidgets.QCheckBox(tr("Difference"))
        self.difference.setToolTip(tr("Show differences from the first instead of absolute values"))
        self.difference.toggled.connect(lambda _on: self._show())
        self.verdict = QtWidgets.QLabel()
        self.verdict.setStyleSheet("font-family: monospace; font-size: 11px")
        self.verdict.setSizePolicy(QtWidgets.QSizePolicy.Policy.Ignored, QtWidgets.QSizePolicy.Policy.Fixed)
        self.verdict.setAccessibleName(tr("The differences as in the report"))
        hold_room(self.verdict)
        self.verdict.hide()
        top = FlowLayout(6)
        top.addWidget(QtWidgets.QLabel(tr("Legs")))
        top.addWidget(self.legs)
        top.addWidget(self.quantities)
        top.addWidget(self.difference)  # before the widgets that come and go
        self._shift_marks: list[QtWidgets.QLabel] = []
        for mark in DASHES:
            name = tr("Shift of {mark} against the first").format(mark=mark)
            box = QuantityBox(name, "s", 0.0, -_SHIFT, _SHIFT)
            box.setToolTip(name)
            box.valueChanged.connect(lambda _value: self._show())
            label = QtWidgets.QLabel(tr("Shift {mark}").format(mark=mark))
            label.setBuddy(box)
            self.shifts.append(box)
            self._shift_marks.append(label)
            top.addWidget(label)
            top.addWidget(box)
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(4, 4, 4, 4)
        layout.addLayout(top)
        layout.addWidget(self.names)
        layout.addWidget(self.verdict)
        self.plots: list[_Overlay] = []
        self._outlines: list[tuple[Outline, ...]] = []
        self._begins: list[float] = []
        self.legs.changed.connect(self._show_legs)
        if whole:
            run_all(self.build())

    def build(self) -> Iterator[None]:
        """Create the plots one by one."""
        for panel in COMPARED:
            plot = _Overlay(panel)
            plot.set_theme(self._theme)
            self.layout().addWidget(plot, 1)
            if self.plots:
                plot.view.setXLink(self.plots[0].view)
            self.plots.append(plot)
            yield
        self._show_plots()
        self.legs.set_legs([True] + [False] * 5)  # twelve overlaid curves only on request
        self.show_recordings([], [], [])

    def set_theme(self, theme: Theme) -> None:
        """Change colours."""
        self.legs.set_theme(theme)
        for plot in self.plots:
            plot.set_theme(theme)

    def show_recordings(self, names: list[str], outlines: list[tuple[Outline, ...]], begins: list[float]) -> None:
        """Overlay up to `MOST` recordings, with an outline for each of `COMPARED`.

        `begins` are the rig times, s, of t = 0.
        """
        self._outlines, self._begins = outlines, begins
        self.set_message("")
        if len(names) < 2:
            self.names.setText(
                tr("Choose runs on the page Runs, or another recording on the page Files; press Compare")
            )
        else:
            legend = [f"{mark} {escape(name)}" for mark, name in zip(("—", *DASHES), names, strict=False)]
            self.names.setText(" &nbsp;&nbsp; ".join(legend))
            self.names.setToolTip("<br>".join(legend))
        for place, (label, box) in enumerate(zip(self._shift_marks, self.shifts, strict=True), start=1):
            label.setVisible(place < len(names))
            box.setVisible(place < len(names))
            with QtCore.QSignalBlocker(box):
                box.set_si(0.0)
        points = sum(len(outline[0].whole[0]) for outline in outlines)
        obstacle = "" if len(names) > 1 else tr("there is nothing to compare with")
        obstacle = obstacle or (
            "" if points <= _MOST_POINTS else tr("{points} points are too many for one motion").format(points=points)
        )
        self.difference.setEnabled(not obstacle)
        if obstacle:
            self.difference.setChecked(False)
        self.difference.setToolTip(obstacle or tr("Show differences from the first instead of absolute values"))
        self._show()

    def set_message(self, text: str) -> None:
        """Show how they differ."""
        self.verdict.setText(text)
        self.verdict.setVisible(bool(text))

    def _show(self) -> None:
        if field_refusal(*self.shifts):
            return
        shifts = [0.0, *(box.si() for box in self.shifts)]
        begins = [begin - shift for begin, shift in zip(self._begins, shifts, strict=False)]
        for number, plot in enumerate(self.plots):
            outlines = [of_recording[number] for of_recording in self._outlines]
            if self.difference.isChecked():
                first, *others = zip(outlines, begins, strict=True)
                apart = [_apart(first, other) for other in others]
                plot.show_recordings([_nothing(first[0]), *apart], [0.0] * len(outlines))
            else:
                plot.show_recordings(outlines, begins)

    def _show_plots(self) -> None:
        forces = self.quantities.currentIndex() == 0
        for plot, panel in zip(self.plots, COMPARED, strict=True):
            plot.setVisible((panel in FORCES) == forces)

    def _show_legs(self, legs: list[bool]) -> None:
        for plot in self.plots:
            plot.show_legs(legs)


def _apart(first: tuple[Outline, float], other: tuple[Outline, float]) -> Outline:
    """Return one outline minus the first, where both have points; each with its time of t = 0, s."""
    (times, values), (other_times, other_values) = first[0].whole, other[0].whole
    times, other_times = times - first[1], other_times - other[1]
    if not len(times) or not len(other_times):
        return _nothing(first[0])
    both = (times >= other_times[0]) & (times <= other_times[-1])
    there: Floats = np.column_stack([np.interp(times[both], other_times, column) for column in other_values.T])
    return Outline(times[both], there - values[both])


def _nothing(like: Outline) -> Outline:
    return Outline(np.empty(0), np.empty((0, like.whole[1].shape[1])))


class _Overlay(QtWidgets.QWidget):
    """One quantity of all recordings; drawn only while visible."""

    def __init__(self, panel: Panel) -> None:
        super().__init__()
        self._outlines: list[Outline] = []
        self._begins: list[float] = []
        self._of = panel.series[0]
        self._legs = [True] * len(self._of.columns)
        self.plot = plain_plot(tr("Overlay of {label}").format(label=panel.label))
        self._panel, self.header = panel, header_label()
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(1)
        layout.addWidget(self.header)
        layout.addWidget(self.plot, 1)
        self.plot.getAxis("left").setWidth(AXIS_WIDTH)
        self.plot.getAxis("left").setLabel(panel.unit)
        self.plot.getAxis("bottom").setLabel(tr("time since the motion began, s"))
        self.view = self.plot.view
        self.curves = [[pg.PlotCurveItem(skipFiniteCheck=True) for _ in self._of.columns] for _ in range(MOST)]
        for curves in self.curves:
            for curve in curves:
                self.plot.add(curve)
        self._fitted = True
        self.view.sigXRangeChanged.connect(self._draw)

    def set_theme(self, theme: Theme) -> None:
        self.plot.dress(theme)
        colours = self._of.colours if self._of.per_leg else theme.axis_colours()
        self._show_legend(colours)
        for pattern, curves in zip(_PATTERNS, self.curves, strict=True):
            for curve, colour in zip(curves, colours, strict=True):
                curve.setPen(theme.pen(theme.towards_text(colour) if pattern else colour, dashed=pattern))

    def _show_legend(self, colours: Sequence[str]) -> None:
        """Show the title and, unless colours mean legs, a legend."""
        swatches = [swatch(colour, name) for colour, name in zip(colours, self._of.columns, strict=True)]
        axes = "" if self._of.per_leg else f" &nbsp; {' &nbsp; '.join(swatches)}"
        self.header.setText(f"&nbsp;<b>{self._panel.heading}</b>, {self._panel.unit}{axes}")

    def show_legs(self, legs: list[bool]) -> None:
        if self._of.per_leg:
            self._legs = list(legs)
            self._fit()

    def showEvent(self, event: QtGui.QShowEvent) -> None:
        """Draw what changed while hidden."""
        super().showEvent(event)
        if not self._fitted:
            self._fit()

    def show_recordings(self, outlines: list[Outline], begins: list[float]) -> None:
        self._outlines, self._begins = outlines[:MOST], begins[:MOST]
        spans = [
            (outline.span[0] - begin, outline.span[1] - begin)
            for outline, begin in zip(outlines, begins, strict=True)
            if outline.span[1] > outline.span[0]
        ]
        self._fitted = False
        if spans:
            self.view.setXRange(min(span[0] for span in spans), max(span[1] for span in spans), padding=0.01)
        self._fit()

    def _fit(self) -> None:
        """Fit the value axis to the visible curves."""
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
