"""Which drive answers, which does not, and why."""

import math
import re
from collections.abc import Mapping, Sequence

import numpy as np
from pyqtgraph.Qt import QtCore, QtWidgets

from actuators import Status as DriveStatus
from gui.texts import finding_statement, mark, tr, trn
from rig.client import LegPostMortem
from rig.config import RigConfig
from rig.engine import DriveReport
from rig.findings import Code, Finding

_BREAK = "\u200b"  # a space of no width: where a line may end
_LONG = re.compile(r"\S{17,}")
"""a word that may be wider than its place; a network address is shorter"""
_PIECE = re.compile(r"[/_:.-](?=\S)|[^\s/_:.-]{12}(?=\S)")
"""of such a word, after which a line may end"""
_BITS = (
    (DriveStatus.WATCHDOG, tr("stopped by its watchdog")),
    (DriveStatus.FAULT, tr("fault")),
    (DriveStatus.QUICK_STOP, tr("quick stop")),
    (DriveStatus.HOMING, tr("homing")),
    (DriveStatus.ENABLED, tr("torque on")),
    (DriveStatus.BRAKE, tr("brake on")),
    (DriveStatus.HOMED, tr("homed")),
)
_READY = tr("ready")
_BAD = DriveStatus.WATCHDOG | DriveStatus.FAULT
_UNITS = {mark("temperature"): "°C", mark("supply"): "V", mark("power"): "W"}
_SHOWN = ("temperature", "supply")
_NOTHING = DriveReport((), "", 0, 0)


class DrivesView(QtWidgets.QWidget):
    """One line a leg: its address, then what its drive says of itself, or why it does not answer."""

    def __init__(self, config: RigConfig, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        self._addresses = [leg.place for leg in config.drives.legs]
        self._identities = [""] * 6
        self._failures: dict[int, str] = {}
        self._post_mortem: Sequence[LegPostMortem] = ()
        self._labels: list[QtWidgets.QLabel] = []
        grid = QtWidgets.QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(3)
        grid.setColumnStretch(1, 1)
        self._values: list[QtWidgets.QLabel] = []
        for leg in range(6):
            name = QtWidgets.QLabel(tr("Leg {leg}").format(leg=leg + 1))
            label = QtWidgets.QLabel()
            label.setWordWrap(True)
            label.setAccessibleName(tr("Drive of leg {leg}").format(leg=leg + 1))
            grid.addWidget(name, leg, 0, QtCore.Qt.AlignmentFlag.AlignTop)
            values = QtWidgets.QLabel()
            values.setObjectName("muted")
            values.setAccessibleName(tr("What the drive of leg {leg} measures in itself").format(leg=leg + 1))
            grid.addWidget(label, leg, 1)
            grid.addWidget(values, leg, 2, QtCore.Qt.AlignmentFlag.AlignTop)
            self._labels.append(label)
            self._values.append(values)
        self.show_unconnected()

    def show_unconnected(self) -> None:
        """Nothing is connected."""
        if not (self._failures or self._post_mortem):  # else those say more
            for label, address in zip(self._labels, self._addresses, strict=True):
                _show(label, "muted", address)
            self._measure_nothing()

    def note(self, found: Finding) -> None:
        """Take in what a drive that answered says that it is."""
        if found.code is Code.DRIVE_IDENTIFIED:
            self._identities[found.leg - 1] = finding_statement(found)

    def begin(self) -> None:
        """A new attempt to connect."""
        self._failures, self._post_mortem = {}, ()
        self.show_unconnected()

    def show_failure(self, found: Finding) -> None:
        """Connecting failed: `found` has a part for each leg that is to blame; the others answered."""
        self._failures = {part.leg - 1: finding_statement(part) for part in found.leaves() if part.leg}
        if not self._failures:
            return
        self._measure_nothing()
        for leg, label in enumerate(self._labels):
            if leg in self._failures:
                _show(label, "bad", f"✗ {self._failures[leg]}")
            else:
                _show(label, "good", tr("✓ answered ({address})").format(address=self._addresses[leg]))

    def show_post_mortem(self, legs: Sequence[LegPostMortem]) -> None:
        """The engine has died: what each drive did then."""
        self._failures, self._post_mortem = {}, legs
        self._measure_nothing()
        for label, address, leg in zip(self._labels, self._addresses, legs, strict=True):
            _show(label, "good" if leg.safe else "bad", f"{'✓' if leg.safe else '✗'} {leg.words}")
            moved = tr("{distance:+.2f} mm from its length in the last cycle").format(distance=1e3 * leg.moved)
            label.setToolTip(f"{address}\n{moved}" if math.isfinite(leg.moved) else address)

    def show_row(self, row: np.void, lag: Sequence[int] = (0,) * 6, drives: Sequence[DriveReport] = ()) -> None:
        """Show what a telemetry row says of the drives.

        lag: cycles by which the replies of each leg are old. drives: what each says of itself.
        """
        self._failures, self._post_mortem = {}, ()
        reports = drives or (_NOTHING,) * 6
        for leg, label in enumerate(self._labels):
            status = DriveStatus(int(row["drive_status"][leg]))
            stale, error = int(row["stale"][leg]), int(row["drive_error"][leg])
            words = [text for bit, text in _BITS if status & bit]
            if lag[leg]:
                words.append(
                    trn("replies {count} cycle old", "replies {count} cycles old", lag[leg]).format(count=lag[leg])
                )
            if reports[leg].rejected:
                words.append(tr("{count} replies rejected").format(count=reports[leg].rejected))
            if error:
                said = reports[leg].error
                words.insert(0, tr("error {code}").format(code=error) + (f": {said}" if said else ""))
            if stale:
                _show(
                    label,
                    "bad",
                    trn("✗ silent for {count} cycle", "✗ silent for {count} cycles", stale).format(count=stale),
                )
            elif status & _BAD or error:
                _show(label, "bad", f"✗ {', '.join(words)}")
            else:
                _show(label, "good", f"✓ {', '.join(words) or _READY}")
            report = reports[leg]
            self._values[leg].setText(_measured(dict(report.values)))
            lines = [f"{self._addresses[leg]} {self._identities[leg]}".strip()]
            lines += [f"{tr(name)} {_quantity(name, value)}" for name, value in report.values]
            lines.append(
                tr("{late} replies late, {rejected} rejected").format(late=report.late, rejected=report.rejected)
            )
            label.setToolTip("\n".join(lines))

    def _measure_nothing(self) -> None:
        for label in self._values:
            label.clear()

    def values(self, leg: int) -> str:
        """What the drive of leg 1 to 6 measures in itself, as it is shown."""
        return str(self._values[leg - 1].text())

    def text(self, leg: int) -> str:
        """What is shown for leg 1 to 6."""
        return str(self._labels[leg - 1].text()).replace(_BREAK, "")


def _quantity(name: str, value: float) -> str:
    """A value with its unit; one that is not known is a dash."""
    return f"{value:.3g} {_UNITS.get(name, '')}".rstrip() if math.isfinite(value) else "–"


def _measured(values: Mapping[str, float]) -> str:
    """What is always shown of a drive's own values."""
    return "  ".join(_quantity(name, values[name]) for name in _SHOWN if name in values)


def _show(label: QtWidgets.QLabel, role: str, text: str) -> None:
    shown = _LONG.sub(lambda word: _PIECE.sub(rf"\g<0>{_BREAK}", word[0]), text)  # a path wraps like words
    if label.text() == shown:
        return
    label.setText(shown)
    if label.objectName() != role:
        label.setObjectName(role)
        label.style().unpolish(label)
        label.style().polish(label)
