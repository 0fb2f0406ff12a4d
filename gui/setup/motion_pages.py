"""The wizard's pages that move the machine: each leg alone, then homing and zeroing the load cells."""

from collections.abc import Callable
from functools import partial

import numpy as np
from pyqtgraph.Qt import QtCore, QtWidgets

from gui.setup.draft_pages import leg_label
from gui.steps import Form, FormPage, fields, set_role, unbroken
from gui.texts import finding_text, tr
from gui.widgets import ArmedPair, GuardedCheckBox, Reason, TextRoom, field_refusal
from rig.commissioning import LegMove, LegResult, Zero, ZeroOptions

_LINES = 2
"""Visible lines next to each leg; longer text scrolls."""


def _leg_form() -> Form:
    return Form(
        tr("Test one leg at a time"),
        tr(
            "Each leg moves a little, forth and back, while the brakes hold the other five. Watch which "
            "leg moves and confirm it: without that the rig does not home. Stand clear: STOP and Esc bring "
            "it to rest."
        ),
        [
            fields.with_default(each, LegMove)
            for each in (
                fields.quantity("travel", tr("Travel"), tr("Travel, positive extends"), "m", (-0.1, 0.1)),
                fields.quantity("speed", tr("Speed"), tr("Peak speed"), "m/s", (0.0, 1.0)),
                fields.tick("home", tr("Home the leg first if its drive has no reference (it moves to its mark)")),
                fields.tick("clear", tr("Clear latched faults")),
            )
        ],
    )


class LegsPage(FormPage):
    """The two-step test of each leg, and its result.

    Args:
        test: carries out a `LegMove`.
    """

    def __init__(self, test: Callable[[LegMove], None]) -> None:
        super().__init__(_leg_form())
        self._test = test
        self.results: dict[int, LegResult] = {}
        """by leg 1 to 6"""
        self.pairs: list[ArmedPair] = []
        self.labels: list[QtWidgets.QLabel] = []
        self.seen: list[GuardedCheckBox] = []
        """Operator's confirmation that this leg moved."""
        grid = QtWidgets.QGridLayout()
        grid.setVerticalSpacing(4)
        grid.setColumnStretch(3, 1)
        for leg in range(6):
            pair = ArmedPair(tr("Test"), tr("leg {leg} moves").format(leg=leg + 1), partial(self._press, leg), self)
            pair.arm.toggled.connect(partial(self._armed, leg))
            label = QtWidgets.QLabel(tr("not tested yet"))
            label.setObjectName("muted")
            label.setTextInteractionFlags(QtCore.Qt.TextInteractionFlag.TextSelectableByMouse)
            label.setAccessibleName(tr("Result of leg {leg}").format(leg=leg + 1))
            seen = GuardedCheckBox(tr("It was this leg"))
            seen.setAccessibleName(tr("Leg {leg} moved").format(leg=leg + 1))
            seen.setEnabled(False)
            for column, widget in enumerate((leg_label(leg), pair.arm, pair.act, TextRoom(label, _LINES), seen)):
                grid.addWidget(widget, leg, column)
            self.seen.append(seen)
            self.pairs.append(pair)
            self.labels.append(label)
        self.column.addLayout(grid)
        self._busy = ""
        self.fields.edited.connect(lambda: self.set_busy(self._busy))
        self.obstacle = Reason()
        self.column.addWidget(self.obstacle)
        self.close_form()

    def show_progress(self, leg: int, text: str) -> None:
        """Show the progress of testing leg 1 to 6."""
        set_role(self.labels[leg - 1], "muted", text)

    def show_result(self, leg: int, result: LegResult | None, reason: str) -> None:
        """Show the result of testing leg 1 to 6, or why there is none."""
        self.invalidate(leg)
        label = self.labels[leg - 1]
        if result is None:
            set_role(label, "bad", f"✗ {reason}")
            return
        self.results[leg] = result
        self.seen[leg - 1].setEnabled(result.passed)
        set_role(label, "good" if result.passed else "bad", describe(result))
        label.setToolTip(unbroken(describe(result)))

    def invalidate(self, leg: int) -> None:
        """Invalidate the result of leg 1 to 6."""
        self.results.pop(leg, None)
        self.seen[leg - 1].setChecked(False)
        self.seen[leg - 1].setEnabled(False)
        set_role(self.labels[leg - 1], "muted", tr("not tested yet"))
        self.labels[leg - 1].setToolTip("")

    @property
    def proven(self) -> list[LegResult]:
        """The passed tests of legs that were seen to move."""
        return [result for leg, result in sorted(self.results.items()) if self.seen[leg - 1].isChecked()]

    def set_busy(self, busy: str) -> None:
        """Enable what is possible; `busy` is the current job."""
        self._busy = busy
        for pair in self.pairs:
            pair.set_obstacle(busy or field_refusal(self))
        self.obstacle.show_reason("" if self.missing else busy)  # the page already shows what is missing

    def _armed(self, leg: int, armed: bool) -> None:
        if armed:
            for other, pair in enumerate(self.pairs):
                if other != leg:
                    pair.disarm()

    def _press(self, leg: int) -> None:
        self._test(LegMove(leg + 1, **self.values))


def describe(result: LegResult) -> str:
    """Return a result as one or two lines."""
    moved = {leg: value for leg, value in result.others.items() if value > 0.05e-3}
    others = ", ".join(
        tr("leg {leg} {distance:.2f} mm").format(leg=leg, distance=1e3 * value) for leg, value in moved.items()
    ) or tr("none")
    figures = tr(
        "{travel:+g} mm commanded, {reached} measured · following error {following} · cell {before} before, "
        "{after} after · other encoders that moved: {others}"
    ).format(
        travel=1e3 * result.travel,
        reached=_mm(result.reached),
        following=_mm(result.following),
        before=_newton(result.force_before),
        after=_newton(result.force_after),
        others=others,
    )
    if result.homed is not None:
        figures = tr("homed {distance:+z.3f} mm from home").format(distance=1e3 * result.homed) + " · " + figures
    return f"✓ {figures}" if result.passed else f"✗ {'; '.join(map(finding_text, result.faults))}\n{figures}"


def _mm(value: float) -> str:
    return f"{value * 1e3:z.3f} mm" if np.isfinite(value) else "–"


def _newton(value: float) -> str:
    return f"{value:.1f} N" if np.isfinite(value) else tr("no reading")


_COLUMNS = (tr("Zero of leg {leg}, shift, N"), tr("Zero of leg {leg}, noise, N"), tr("Zero of leg {leg}, drift, N"))
_NOT_ZEROED = tr("not zeroed: raw cell readings, or a later calibration, are used")


def _zero_form() -> Form:
    return Form(
        tr("Home and zero the load cells"),
        tr(
            "All six legs search their references; then the cells are compared with the model. Leave "
            "nothing on the platform."
        ),
        [
            fields.with_default(each, ZeroOptions)
            for each in (
                fields.quantity("duration", tr("Averaging time"), tr("Averaging time, at rest"), "s", (0.5, 60.0)),
                fields.quantity(
                    "largest_shift", tr("Largest shift"), tr("Largest shift of a zero"), "N", (0.0, 1e6), usual=80.0
                ),
                fields.text("operator", tr("Operator"), tr("Operator of zeroing; stored in the file")),
            )
        ],
        across=3,
    )


class ZeroPage(FormPage):
    """Two-step homing and zeroing, and the result.

    Args:
        start: starts it.
    """

    def __init__(self, start: Callable[[ZeroOptions], None]) -> None:
        super().__init__(_zero_form())
        self._start = start
        self.zero: Zero | None = None
        """Usable result, None without one."""
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
        self.figures: list[list[QtWidgets.QLabel]] = []
        for leg in range(6):
            grid.addWidget(leg_label(leg), leg + 1, 0)
            cells = [QtWidgets.QLabel("–") for _ in range(3)]
            for column, (label, what) in enumerate(zip(cells, _COLUMNS, strict=True), start=1):
                label.setAccessibleName(what.format(leg=leg + 1))
                label.setAlignment(QtCore.Qt.AlignmentFlag.AlignRight)
                grid.addWidget(label, leg + 1, column)
            self.figures.append(cells)
        self.column.addLayout(grid)
        self._busy = ""
        self.fields.edited.connect(lambda: self.set_busy(self._busy))
        self.obstacle = Reason()
        self.column.addWidget(self.obstacle)
        self.close_form()

    def show_progress(self, text: str) -> None:
        """Show the progress of zeroing."""
        set_role(self.status, "muted", text)

    def show_result(self, zero: Zero | None, reason: str) -> None:
        """Show the result, or why there is none."""
        self.invalidate()
        if zero is None:
            set_role(self.status, "bad", f"✗ {reason}")
            return
        for leg, labels in enumerate(self.figures):
            for label, value in zip(labels, (zero.shift[leg], zero.noise[leg], zero.drift[leg]), strict=True):
                label.setText(unbroken(f"{value:+z.2f} N" if label is not labels[1] else f"{value:.2f} N"))
        if zero.faults:
            faults = "; ".join(map(finding_text, zero.faults))
            set_role(self.status, "bad", tr("✗ not usable: {faults}").format(faults=faults))
            return
        self.zero = zero
        set_role(self.status, "good", tr("✓ zeroed: a calibration is written with the configuration"))

    def invalidate(self) -> None:
        """Invalidate the result."""
        self.zero = None
        set_role(self.status, "muted", _NOT_ZEROED)
        for labels in self.figures:
            for label in labels:
                label.setText("–")

    def set_busy(self, busy: str) -> None:
        """Enable what is possible; `busy` is the current job."""
        self._busy = busy
        self.pair.set_obstacle(busy or field_refusal(self))
        self.obstacle.show_reason("" if self.missing else busy)  # the page already shows what is missing

    def _press(self) -> None:
        self._start(ZeroOptions(**self.values))
