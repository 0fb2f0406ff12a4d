"""The verdict on the last run: result, editable thresholds, and inspection hints."""

import math
from collections.abc import Mapping
from functools import partial
from html import escape
from typing import Any

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.models import (
    BEING_JUDGED,
    NOT_JUDGED,
    RUN_FIGURES,
    WAITING,
    VerdictStyle,
    figure_text,
    inspection_hints,
    verdict_style,
)
from gui.texts import config_fault_text, finding_text, mark, tr, trn
from gui.widgets import DisplayUnit, GuardedButton, NumberField, TextRoom, field_refusal, set_icon
from rig.config import CRITERIA, GIVEN, MOTION, RIG, Criterion, Validation, checked_thresholds
from rig.errors import ConfigError, InputError

_WHOSE = {RIG: tr("the rig's"), MOTION: tr("the motion's"), GIVEN: tr("typed here")}
_CONFIDENCE = Criterion(mark("Confidence"), "validation")
_COLUMNS = 5


class ThresholdsRow(QtWidgets.QWidget):
    """A field for each threshold, empty if not judged. Values apply on request only.

    Signals: `applied(thresholds)`, `saved(thresholds)` and `saved_in_motion(thresholds)`, each with a checked
    `Validation`.

    Args:
        obstacle: why thresholds cannot be saved to their file, empty if they can.
        origin: the name of that file.
    """

    applied = QtCore.Signal(object)
    saved = QtCore.Signal(object)
    saved_in_motion = QtCore.Signal(object)

    def __init__(self, obstacle: str, origin: str) -> None:
        super().__init__()
        self.setAccessibleName(tr("Thresholds of the verdict"))
        self.fields: dict[str, NumberField] = {}
        self.captions: dict[str, tuple[QtWidgets.QLabel, str]] = {}
        """Caption of each field, and its text without the origin."""
        grid = QtWidgets.QGridLayout()
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(2)
        for place, (name, criterion) in enumerate({**CRITERIA, "confidence": _CONFIDENCE}.items()):
            caption, unit = tr(criterion.caption), criterion.unit
            shown = DisplayUnit("×" if criterion.times else criterion.shown, criterion.factor, 0)
            label = QtWidgets.QLabel()
            label.setObjectName("muted")
            self.captions[name] = (label, caption)
            label.setText(caption)
            field = NumberField(
                tr("Threshold: {name}").format(name=caption),
                unit,
                None,
                shown=shown,
                optional=True,
                exact=True,
                largest=math.inf,
                judge=partial(_fault, name),
            )
            field.setPlaceholderText(tr("not judged"))
            field.setToolTip(tr("{name} of [validation]; empty: not judged").format(name=name))
            field.lineEdit().returnPressed.connect(lambda: self._send(self.applied))
            field.changed.connect(partial(self._typed_into, name))
            label.setBuddy(field)
            grid.addWidget(label, 2 * (place // _COLUMNS), place % _COLUMNS)
            grid.addWidget(field, 2 * (place // _COLUMNS) + 1, place % _COLUMNS)
            self.fields[name] = field
        self.apply = GuardedButton(tr("Judge by these"))
        self.apply.clicked.connect(lambda: self._send(self.applied))
        self.save = GuardedButton(
            tr("Save in {file}").format(file=origin), tr("Write these into [validation] of the rig's configuration")
        )
        self.save.clicked.connect(lambda: self._send(self.saved))
        self._against_save, self._against_motion_save = obstacle, ""
        self.keep = GuardedButton(
            tr("Save in the motion's file"),
            tr("Write thresholds that differ from the rig's into [validation] of the motion file"),
        )
        self.keep.clicked.connect(lambda: self._send(self.saved_in_motion))
        buttons = QtWidgets.QHBoxLayout()
        buttons.addWidget(self.apply)
        buttons.addWidget(self.save)
        buttons.addWidget(self.keep)
        self.message = QtWidgets.QLabel()
        self.message.setObjectName("bad")
        self.message.setAccessibleName(tr("Errors of the thresholds"))
        self._room = TextRoom(self.message, 2)
        buttons.addWidget(self._room, 1)
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(0, 4, 0, 0)
        layout.addLayout(grid)
        layout.addLayout(buttons)
        self._typed: set[str] = set()
        """Names changed by the user since they were shown or applied."""
        self._showing = False
        self._refresh()

    def show_criteria(self, numbers: Mapping[str, Any]) -> None:
        """Show the thresholds that a run was judged by, unless the user is typing others."""
        if self.isVisible() and self._typed:
            return
        values = {one["name"]: one["threshold"] for one in numbers["criteria"]}
        whose = {one["name"]: one["whose"] for one in numbers["criteria"]}
        values["confidence"] = numbers["confidence"]
        given = GIVEN in whose.values()
        whose["confidence"] = GIVEN if given else MOTION if "confidence" in numbers["own"] else RIG
        self._showing = True
        for name, field in self.fields.items():
            field.set_si(values.get(name))
            label, caption = self.captions[name]
            label.setText(f"{caption} · {_WHOSE[whose[name]]}" if name in values else caption)
        self._showing = False
        self._typed.clear()
        self._set_message("")

    def set_motion_obstacle(self, reason: str) -> None:
        """Set why thresholds cannot be saved in the motion's file, empty if they can."""
        self._against_motion_save = reason
        self._refresh()

    def refuse(self, error: InputError) -> None:
        """Show why thresholds could not be saved."""
        self._set_message("; ".join(error.faults) or str(error))

    def _typed_into(self, name: str) -> None:
        if not self._showing:
            self._typed.add(name)
            self._refresh()

    def _refresh(self) -> None:
        wrong = field_refusal(*self.fields.values())
        self.apply.set_obstacle(wrong)
        self.save.set_obstacle(self._against_save or wrong)
        self.keep.set_obstacle(self._against_motion_save or wrong)

    def _send(self, signal: Any) -> None:
        thresholds = self._checked()
        if thresholds is not None:
            self._typed.clear()  # the run is judged by them now
            signal.emit(thresholds)

    def _checked(self) -> Validation | None:
        if wrong := field_refusal(*self.fields.values()):
            self._set_message(wrong)
            return None
        given = {name: value for name, field in self.fields.items() if (value := field.entered()) is not None}
        try:
            thresholds = checked_thresholds(given, Validation)
        except ConfigError as error:
            self._set_message("; ".join(map(config_fault_text, error.found)))
            return None
        self._set_message("")
        return thresholds

    def _set_message(self, text: str) -> None:
        self._room.show_text(text)


def _fault(name: str, value: float) -> str:
    """Why a threshold of this name, SI, is invalid; empty if it is not."""
    try:
        checked_thresholds({name: value}, Validation)
    except ConfigError as error:
        return "; ".join(finding_text(fault.finding) for fault in error.found)
    return ""


_LINK = tr("in the report")
_NO_RUN = tr("no run has been judged yet")
_SENTENCES = 2
"""Maximum of inspection hints; the report has all."""
_LINES = 3
"""Visible lines of hints; longer text scrolls."""


class VerdictCard(QtWidgets.QFrame):
    """Constant height, even before the first run, so that nothing moves when one ends.

    Signals: `report_requested(run, place)`, `cancelled`; edits are signals of `thresholds`.

    Args:
        obstacle: why thresholds cannot be saved to their file, empty if they can.
        origin: the name of that file.
    """

    report_requested = QtCore.Signal(str, str)
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
        self.advice.setStyleSheet("font-size: 11px")
        self.advice.setTextFormat(QtCore.Qt.TextFormat.RichText)
        self.advice.setAccessibleName(tr("What to show"))
        self.advice.linkActivated.connect(lambda place: self.report_requested.emit(self._run, place))
        self._room = TextRoom(self.advice, _LINES)
        self.figures = [QtWidgets.QLabel() for _ in RUN_FIGURES]
        self.report = GuardedButton(tr("Report"), tr("Make the report of this run and open it"))
        self.report.clicked.connect(lambda: self.report_requested.emit(self._run, "validation"))
        self.change = GuardedButton(tr("Thresholds …"), tr("Show the thresholds that runs are judged by"))
        self.change.setCheckable(True)
        set_icon(self.report, "report")
        set_icon(self.change, "settings")
        self.cancel = GuardedButton(tr("Cancel"), tr("Cancel judging this run"))
        self.cancel.setAccessibleName(tr("Cancel judging this run"))
        self.cancel.clicked.connect(self.cancelled)
        self._obstacles = ["", ""]
        """Obstacles to a report: by the rig, and by the run."""
        self.thresholds = ThresholdsRow(obstacle, origin)
        self.thresholds.hide()
        self.change.toggled.connect(self.thresholds.setVisible)
        self._lay_out()
        self.change.set_obstacle(_NO_RUN)
        self._begin(
            "",
            tr("Last run"),
            VerdictStyle(tr("NO RUN"), "–", NOT_JUDGED.background, NOT_JUDGED.foreground),
            against=_NO_RUN,
        )
        self._set_message(tr("The verdict of a run appears here when it has ended."))

    def _lay_out(self) -> None:
        column = QtWidgets.QVBoxLayout()
        column.setSpacing(0)
        column.addWidget(self.title)
        column.addWidget(self._room)
        row = QtWidgets.QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.badge)
        row.addLayout(column, 1)
        for (_key, caption, *_rest), label in zip(RUN_FIGURES, self.figures, strict=True):
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
        buttons = QtWidgets.QGridLayout()
        buttons.setSpacing(2)
        buttons.addWidget(self.report, 0, 0)
        buttons.addWidget(self.cancel, 0, 1)
        buttons.addWidget(self.change, 1, 0, 1, 2)
        row.addLayout(buttons)
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(8, 3, 6, 3)
        layout.addLayout(row)
        layout.addWidget(self.thresholds)

    def set_report_obstacle(self, reason: str) -> None:
        """Set why no report can be made now."""
        self._obstacles[0] = reason
        self._show_obstacles()

    def show_judging(self, run: str, name: str, waits_for: str = "") -> None:
        """Show that a run ended and is being judged, or will be after what it `waits_for`."""
        against = waits_for or tr("the run is being judged")
        self._begin(run, name, WAITING if waits_for else BEING_JUDGED, against=against)
        self._set_message(waits_for or tr("Computing its results …"))
        self.cancel.set_obstacle(tr("nothing is being judged") if waits_for else "")

    def show_failure(self, run: str, name: str, reason: str) -> None:
        """Show that a run could not be judged."""
        self._begin(run, name, WAITING)
        why = reason or tr("for no reason given")
        self._set_message(tr("Not judged: {reason}").format(reason=escape(why, quote=False)))

    def show_run(self, run: Mapping[str, Any], by: str = "") -> None:
        """Show a judged run as in `rig runs --json`; `by`: the thresholds that replace the recorded ones."""
        numbers = run["numbers"]
        speed = "" if numbers["speed"] is None else tr("{part:.0f} % speed").format(part=100 * numbers["speed"])
        words = "; ".join(filter(None, [speed, by]))
        self._begin(run["run"], run["name"], verdict_style(run["verdict"]), run["amplitude"], words)
        hints = inspection_hints(run)
        links = [f'{escape(text, quote=False)} <a href="{place}">{_LINK}</a>' for text, place in hints[:_SENTENCES]]
        left = len(hints) - _SENTENCES
        more = trn("… and {count} more", "… and {count} more", left).format(count=left)
        self._set_message("<br>".join(links) + (f" {more}" if left > 0 else ""))
        self.advice.setToolTip("\n".join(text for text, _place in hints))
        for place, label in enumerate(self.figures):
            number, unit = figure_text(numbers, place)
            label.setText(_figure(number, unit))
        self.thresholds.show_criteria(numbers)
        self.change.set_obstacle("")

    def _begin(
        self, run: str, name: str, style: VerdictStyle, amplitude: float | None = None, by: str = "", against: str = ""
    ) -> None:
        self._run = run
        size = "" if amplitude is None or amplitude == 1.0 else f", {100 * amplitude:g} %"
        self.title.setText(f"{name}{size}{f' — {by}' if by else ''}")
        self.title.setToolTip(escape(self.title.text()))
        self.badge.setText(f"{style.mark} {style.word}")
        self.badge.setStyleSheet(
            f"background: {style.background}; color: {style.foreground}; border-radius: 6px; padding: 6px 10px;"
            "font-size: 17px; font-weight: bold;"
        )
        for place, label in enumerate(self.figures):
            label.setText(_figure(*figure_text(None, place)))
        self.advice.setToolTip("")
        self.cancel.set_obstacle(tr("nothing is being judged"))
        self._obstacles[1] = against
        self._show_obstacles()

    def _show_obstacles(self) -> None:
        self.report.set_obstacle(self._obstacles[1] or self._obstacles[0])

    def _set_message(self, text: str) -> None:
        self._room.show_text(text)


def _figure(number: str, unit: str) -> str:
    return f'<span style="font-size: 21px; font-weight: bold">{number}</span> {unit}'
