"""The wizard's fifth page: all six legs homed, the load cells zeroed against the model."""

from collections.abc import Callable

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.setup.page import SetupPage, leg_label
from gui.steps import line_edit, set_role, unbroken
from gui.texts import tr
from gui.widgets import ArmedPair, QuantityBox, Reason, TextRoom, field_refusal
from rig.commissioning import Zero, ZeroOptions

_COLUMNS = (tr("Zero of leg {leg}, shift, N"), tr("Zero of leg {leg}, noise, N"), tr("Zero of leg {leg}, drift, N"))
_NOT_ZEROED = tr("not zeroed: the cells are taken as they read, or as a calibration made later")


class ZeroPage(SetupPage):
    """Homing and zeroing in two steps, and what came of it.

    Args:
        start: does it.
    """

    def __init__(self, start: Callable[[ZeroOptions], None]) -> None:
        super().__init__(
            tr("Home and zero the load cells"),
            tr(
                "All six legs look for their references; then the cells are compared with the model. Leave nothing "
                "on top."
            ),
        )
        self._start = start
        self.zero: Zero | None = None
        """what may be used, None if nothing was found that may"""
        defaults = ZeroOptions()
        self.duration = QuantityBox(tr("Averaging time, at rest"), "s", defaults.duration, 0.5, 60.0)
        self.shift = QuantityBox(tr("Largest shift of a zero"), "N", 80.0, 0.0, 1e6)
        self.operator = line_edit(tr("Who zeroes; kept in the file"))
        form = QtWidgets.QHBoxLayout()
        for text, widget in (
            (tr("Averaging time"), self.duration),
            (tr("Largest shift"), self.shift),
            (tr("Operator"), self.operator),
        ):
            form.addWidget(QtWidgets.QLabel(text))
            form.addWidget(widget, 1)
        self.column.addLayout(form)
        self.pair = ArmedPair(tr("Home and zero"), tr("all six legs move to their references"), self._press, self)
        row = QtWidgets.QHBoxLayout()
        row.addWidget(self.pair.arm)
        row.addWidget(self.pair.act)
        row.addStretch(1)
        self.column.addLayout(row)
        self.status = QtWidgets.QLabel(_NOT_ZEROED)
        self.status.setObjectName("muted")
        self.status.setAccessibleName(tr("State of zeroing"))
        self.status.setTextInteractionFlags(QtCore.Qt.TextInteractionFlag.TextSelectableByMouse)
        self.column.addWidget(TextRoom(self.status, 2))
        grid = QtWidgets.QGridLayout()
        grid.setHorizontalSpacing(24)
        grid.setColumnStretch(4, 1)
        for column, text in enumerate(("", tr("zero shifts by"), tr("noise"), tr("drift meanwhile"))):
            heading = QtWidgets.QLabel(text)
            heading.setAlignment(QtCore.Qt.AlignmentFlag.AlignRight)
            grid.addWidget(heading, 0, column)
        self.values: list[list[QtWidgets.QLabel]] = []
        for leg in range(6):
            grid.addWidget(leg_label(leg), leg + 1, 0)
            cells = [QtWidgets.QLabel("–") for _ in range(3)]
            for column, (label, what) in enumerate(zip(cells, _COLUMNS, strict=True), start=1):
                label.setAccessibleName(what.format(leg=leg + 1))
                label.setAlignment(QtCore.Qt.AlignmentFlag.AlignRight)
                grid.addWidget(label, leg + 1, column)
            self.values.append(cells)
        self.column.addLayout(grid)
        self._busy = ""
        for box in (self.duration, self.shift):
            box.changed.connect(lambda: self.set_busy(self._busy))
        self.obstacle = Reason()
        self.column.addWidget(self.obstacle)
        self.close_form()

    def show_progress(self, text: str) -> None:
        """Show where zeroing is."""
        set_role(self.status, "muted", text)

    def show_result(self, zero: Zero | None, reason: str) -> None:
        """Show what came of it, or why there is nothing."""
        self.forget()
        if zero is None:
            set_role(self.status, "bad", f"✗ {reason}")
            return
        for leg, labels in enumerate(self.values):
            for label, value in zip(labels, (zero.shift[leg], zero.noise[leg], zero.drift[leg]), strict=True):
                label.setText(unbroken(f"{value:+z.2f} N" if label is not labels[1] else f"{value:.2f} N"))
        if zero.faults:
            set_role(self.status, "bad", tr("✗ not to be used: {faults}").format(faults="; ".join(zero.faults)))
            return
        self.zero = zero
        set_role(self.status, "good", tr("✓ zeroed: a calibration is written along with the configuration"))

    def forget(self) -> None:
        """What was found does not hold any more."""
        self.zero = None
        set_role(self.status, "muted", _NOT_ZEROED)
        for labels in self.values:
            for label in labels:
                label.setText("–")

    def set_busy(self, busy: str) -> None:
        """Enable what can be done now; `busy` says what is being done."""
        self._busy = busy
        self.pair.set_obstacle(busy or field_refusal(self.duration, self.shift))
        self.obstacle.show_reason("" if self.missing else busy)  # what is missing says it already

    def _press(self) -> None:
        self._start(ZeroOptions(self.duration.si(), self.shift.si(), self.operator.text().strip()))
