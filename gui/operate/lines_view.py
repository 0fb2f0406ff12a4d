"""How much of a cycle's time for replies each line takes: by its plan, and all together as measured."""

from pathlib import PurePath

import numpy as np
from pyqtgraph.Qt import QtCore, QtWidgets

from gui.texts import tr
from rig.engine import BusVerdict

_LONGEST = 20  # characters of a line's name, its last ones
_FULL = 100


class LinesView(QtWidgets.QWidget):
    """A bar for each line that devices share or have for themselves, and how long the last exchange took."""

    def __init__(self, verdict: BusVerdict, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        self._budget = verdict.budget
        self.bars: dict[str, QtWidgets.QProgressBar] = {}
        grid = QtWidgets.QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(3)
        grid.setColumnStretch(1, 1)
        for row, (plan, words) in enumerate(zip(verdict.plans, verdict.described, strict=True)):
            name = QtWidgets.QLabel(PurePath(plan.place).name[-_LONGEST:])
            bar = QtWidgets.QProgressBar()
            bar.setRange(0, _FULL)
            share = 100.0 * plan.time / verdict.budget
            bar.setValue(min(round(share), _FULL))
            bar.setTextVisible(False)
            bar.setMinimumWidth(40)
            bar.setFormat(f"{share:.0f} %")
            bar.setAccessibleName(tr("Share of line {line}: {share}").format(line=plan.place, share=bar.format()))
            value = QtWidgets.QLabel(bar.format())
            value.setAlignment(QtCore.Qt.AlignmentFlag.AlignRight | QtCore.Qt.AlignmentFlag.AlignVCenter)
            for column, widget in enumerate((name, bar, value)):
                widget.setToolTip(words)
                grid.addWidget(widget, row, column)
            self.bars[plan.place] = bar
        self.measured = QtWidgets.QLabel()
        self.measured.setObjectName("muted")
        self.measured.setAccessibleName(tr("How long the last exchange took"))
        grid.addWidget(self.measured, grid.rowCount(), 0, 1, 3)
        self.show_nothing()

    def show_row(self, row: np.void) -> None:
        """Show how long the exchange of a telemetry row took."""
        took, budget = float(row["exchange_time"]) * 1e3, self._budget * 1e3
        self.measured.setText(tr("last exchange {took:.2f} of {budget:.3g} ms").format(took=took, budget=budget))

    def show_nothing(self) -> None:
        """Nothing is exchanged."""
        self.measured.setText(tr("of {budget:.3g} ms for replies, as planned").format(budget=1e3 * self._budget))
