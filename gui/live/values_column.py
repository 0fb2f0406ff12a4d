"""The live view's values at one moment: the time, leg lengths in their strokes, the implied wrench."""

import math

from pyqtgraph.Qt import QtCore, QtWidgets

from dynamics import Mechanism
from gui.live.large_numbers import LargeNumbers
from gui.live.readout import WRENCH_WINDOW, StrokeBars, WrenchTable
from gui.session import Stretch, Timeline
from gui.texts import tr
from gui.widgets import Card, Theme

_WIDTH = 224


class ValuesColumn(QtWidgets.QWidget):
    """A column of cards; `set_mechanism` gives the limits of the strokes and what the wrench needs."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.strokes = StrokeBars(theme)
        self.wrench = WrenchTable()
        self.large = LargeNumbers(theme)
        """to be put where there is room for them"""
        self.moment = QtWidgets.QLabel(tr("No data"))
        self.moment.setAccessibleName(tr("Time of the values"))
        hint = QtWidgets.QLabel(tr("Click in a plot: cursor A; again: B; again: none"))
        hint.setWordWrap(True)
        hint.setStyleSheet("font-size: 11px")
        self.setFixedWidth(_WIDTH)
        content = QtWidgets.QWidget()
        area = QtWidgets.QScrollArea()  # where a window is low it scrolls by itself, and the plots stay in view
        area.setWidgetResizable(True)
        area.setFrameShape(QtWidgets.QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(QtCore.Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(content)
        whole = QtWidgets.QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(area)
        column = QtWidgets.QVBoxLayout(content)
        column.setContentsMargins(4, 4, 4, 4)
        for title, widgets in (
            (tr("Values at"), (self.moment, hint)),
            (tr("Leg length, mm"), (self.strokes,)),
            (tr("Implied wrench"), (self.wrench,)),
        ):
            column.addWidget(Card(title, *widgets))
        column.addStretch(1)

    def set_mechanism(self, mechanism: Mechanism | None) -> None:
        """The mechanism whose telemetry is shown, None when it is not known."""
        self.strokes.set_mechanism(mechanism)
        self.wrench.set_mechanism(mechanism)

    def set_theme(self, theme: Theme) -> None:
        """Change colours."""
        self.strokes.set_theme(theme)
        self.large.set_theme(theme)

    def show_values(self, words: str, now: Stretch, shown: Timeline, since: float) -> None:
        """Show the moment in words, the lengths of its row, and the wrench over the time before it, from `since` s."""
        self.moment.setText(words)
        self.strokes.show_rows(now.rows)
        before = float(now.times[-1]) if len(now) else -math.inf
        lately = shown.window(max(before - WRENCH_WINDOW, since), before)
        self.wrench.show_rows(lately)
        self.large.show_rows(now.rows, lately)
