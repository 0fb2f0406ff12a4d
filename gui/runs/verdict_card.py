"""The verdict on the last run: what came out, by which thresholds, what to look at, and where the report shows it."""

from collections.abc import Mapping
from html import escape
from typing import Any

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.runs.showing import BEING_JUDGED, FIGURES, WAITING, Look, figure_text, look_of, what_to_look_at
from gui.runs.thresholds_row import ThresholdsRow
from gui.texts import tr, trn
from gui.widgets import GuardedButton, give

_LINK = tr("in the report")
_LINES = 2
"""sentences on what to look at that are shown; the report has all"""


class VerdictCard(QtWidgets.QFrame):
    """Hidden until there is a run to show.

    Signals: `report_asked(run, place)`, `cancelled`; what is edited is the signals of `thresholds`.

    Args:
        obstacle: why thresholds cannot be saved where they came from, empty when they can.
        origin: the name of that file.
    """

    report_asked = QtCore.Signal(str, str)
    cancelled = QtCore.Signal()

    def __init__(self, obstacle: str, origin: str) -> None:
        super().__init__()
        self.setObjectName("card")
        self.setAccessibleName(tr("Verdict on the last run"))
        self._run = ""
        self.badge = QtWidgets.QLabel()
        self.badge.setAlignment(QtCore.Qt.AlignmentFlag.AlignCenter)
        self.badge.setAccessibleName(tr("Verdict"))
        self.badge.setMinimumWidth(118)
        self.title = QtWidgets.QLabel()
        self.title.setObjectName("heading")
        self.title.setTextFormat(QtCore.Qt.TextFormat.PlainText)
        self.title.setSizePolicy(QtWidgets.QSizePolicy.Policy.Ignored, QtWidgets.QSizePolicy.Policy.Fixed)
        self.advice = QtWidgets.QLabel()
        self.advice.setWordWrap(True)
        self.advice.setMinimumWidth(110)
        self.advice.setStyleSheet("font-size: 11px")
        self.advice.setTextFormat(QtCore.Qt.TextFormat.RichText)
        self.advice.setAccessibleName(tr("What to look at"))
        self.advice.linkActivated.connect(lambda place: self.report_asked.emit(self._run, place))
        self.figures = [QtWidgets.QLabel() for _ in FIGURES]
        self.report = GuardedButton(tr("Report"), tr("Make the report of this run and open it"))
        self.report.clicked.connect(lambda: self.report_asked.emit(self._run, "validation"))
        self.change = QtWidgets.QPushButton(tr("Thresholds …"))
        self.change.setCheckable(True)
        give(self.report, "report")
        give(self.change, "settings")
        self.cancel = QtWidgets.QPushButton(tr("Cancel"))
        self.cancel.setAccessibleName(tr("Judge this run no further"))
        self.cancel.clicked.connect(self.cancelled)
        self.dismiss = QtWidgets.QToolButton()
        give(self.dismiss, "close")
        self.dismiss.setAutoRaise(True)
        self.dismiss.setAccessibleName(tr("Dismiss the verdict"))
        self.dismiss.setToolTip(tr("Dismiss; the run stays in the list of runs"))
        self.dismiss.clicked.connect(self.hide)
        self.thresholds = ThresholdsRow(obstacle, origin)
        self.thresholds.hide()
        self.change.toggled.connect(self.thresholds.setVisible)
        self._lay_out()
        self.hide()

    def _lay_out(self) -> None:
        said = QtWidgets.QVBoxLayout()
        said.setSpacing(0)
        said.addWidget(self.title)
        said.addWidget(self.advice, 1)
        row = QtWidgets.QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.badge)
        row.addLayout(said, 1)
        for (_key, caption, *_rest), label in zip(FIGURES, self.figures, strict=True):
            label.setAccessibleName(caption)
            label.setTextFormat(QtCore.Qt.TextFormat.RichText)
            below = QtWidgets.QLabel(caption)
            below.setObjectName("muted")
            below.setStyleSheet("font-size: 11px")
            column = QtWidgets.QVBoxLayout()
            column.setSpacing(0)
            column.addWidget(label)
            column.addWidget(below)
            row.addLayout(column)
        for button in (self.report, self.cancel, self.change, self.dismiss):
            row.addWidget(button)
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(8, 3, 6, 3)
        layout.addLayout(row)
        layout.addWidget(self.thresholds)

    def set_report_obstacle(self, reason: str) -> None:
        """Say why no report can be made now."""
        self.report.set_obstacle(reason)

    def show_judging(self, run: str, name: str, waits_for: str = "") -> None:
        """A run is over, and is being judged, or will be once what it `waits_for` is over."""
        self._begin(run, name, WAITING if waits_for else BEING_JUDGED)
        self.advice.setText(waits_for or tr("Its numbers are being counted, in a process of their own."))
        self.cancel.setVisible(not waits_for)

    def show_failure(self, run: str, name: str, reason: str) -> None:
        """A run could not be judged."""
        self._begin(run, name, WAITING)
        why = reason.splitlines()[0] if reason else tr("for no reason given")
        self.advice.setText(tr("Not judged: {reason}").format(reason=escape(why, quote=False)))
        self.report.show()

    def show_run(self, run: Mapping[str, Any], by: str = "") -> None:
        """A judged run as `rig runs --json` tells it; `by`: whose thresholds, where they are not those recorded."""
        numbers = run["numbers"]
        speed = "" if numbers["speed"] is None else tr("{part:.0f} % speed").format(part=100 * numbers["speed"])
        words = "; ".join(filter(None, [speed, by]))
        self._begin(run["run"], run["name"], look_of(run["verdict"]), run["amplitude"], words)
        said = what_to_look_at(run)
        links = [f'{escape(text, quote=False)} <a href="{place}">{_LINK}</a>' for text, place in said[:_LINES]]
        left = len(said) - _LINES
        more = trn("… and {count} more", "… and {count} more", left).format(count=left)
        self.advice.setText("<br>".join(links) + (f" {more}" if left > 0 else ""))
        self.advice.setToolTip("\n".join(text for text, _place in said))
        for place, label in enumerate(self.figures):
            number, unit = figure_text(numbers, place)
            label.setText(_figure(number, unit))
        self.thresholds.show_criteria(numbers)
        self.change.show()
        self.report.show()

    def _begin(self, run: str, name: str, look: Look, amplitude: float | None = None, by: str = "") -> None:
        self._run = run
        size = "" if amplitude is None or amplitude == 1.0 else f", {100 * amplitude:g} %"
        self.title.setText(f"{name}{size}{f' — {by}' if by else ''}")
        self.title.setToolTip(escape(self.title.text()))
        self.badge.setText(f"{look.mark} {look.word}")
        self.badge.setStyleSheet(
            f"background: {look.background}; color: {look.foreground}; border-radius: 6px; padding: 6px 10px;"
            "font-size: 17px; font-weight: bold;"
        )
        for place, label in enumerate(self.figures):
            label.setText(_figure(*figure_text(None, place)))
        for widget in (self.cancel, self.change, self.report):
            widget.hide()
        self.show()


def _figure(number: str, unit: str) -> str:
    return f'<span style="font-size: 21px; font-weight: bold">{number}</span> {unit}'
