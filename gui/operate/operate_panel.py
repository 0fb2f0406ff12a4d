"""The panel Operate: the steps from connecting to parking in order, and the state of each drive."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath

import numpy as np
from pyqtgraph.Qt import QtCore, QtWidgets

from actuators import ActuatorError
from actuators import Status as DriveStatus
from calibration import CalibrationError
from gui.models import CONNECT_TEXTS, DISCONNECT_TEXTS, Action, steps_of
from gui.session import LogEntry, RigSession
from gui.texts import finding_statement, finding_text, findings_text, mark, ranges, tr, trn
from gui.widgets import ArmedPair, GuardedButton, ScrolledPage, TextRoom, mark_next, room_for, set_icon
from rig.client import LegPostMortem
from rig.config import DigitalIo, RigConfig
from rig.engine import (
    DRIVE_STATES,
    BusVerdict,
    CellsReport,
    DriveReport,
    Engage,
    Home,
    IoReport,
    Park,
    ReplyCounts,
    Reset,
    Snapshot,
    check_buses,
)
from rig.findings import Code, Finding
from rig.states import State

_NAME_LENGTH = 20  # last characters of a line's name
_FULL = 100


class LinesView(QtWidgets.QWidget):
    """A bar for each communication line, and the duration of the last exchange."""

    def __init__(self, verdict: BusVerdict, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        self._budget = verdict.budget
        self.bars: dict[str, QtWidgets.QProgressBar] = {}
        grid = QtWidgets.QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(3)
        grid.setColumnStretch(1, 1)
        for row, (plan, words) in enumerate(zip(verdict.plans, map(finding_text, verdict.shares), strict=True)):
            name = QtWidgets.QLabel(PurePath(plan.place).name[-_NAME_LENGTH:])
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
        self.measured.setAccessibleName(tr("Duration of the last exchange"))
        grid.addWidget(self.measured, grid.rowCount(), 0, 1, 3)
        self.show_nothing()

    def show_row(self, row: np.void) -> None:
        """Show the duration of a telemetry row's exchange."""
        took, budget = float(row["exchange_time"]) * 1e3, self._budget * 1e3
        self.measured.setText(tr("last exchange {took:.2f} of {budget:.3g} ms").format(took=took, budget=budget))

    def show_nothing(self) -> None:
        """Clear the bars."""
        self.measured.setText(tr("of {budget:.3g} ms for replies, as planned").format(budget=1e3 * self._budget))


_POINTS = {
    "emergency_stop": tr("Emergency stop"),
    "safe_torque_off": tr("Safe torque off"),
    "enable": tr("Enable"),
    "brake": tr("brakes released"),
    "lamp": tr("Lamp"),
}


class IoView(QtWidgets.QWidget):
    """One line for each digital input, one for the outputs, one for the block, and what they are not."""

    def __init__(self, config: DigitalIo, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        grid = QtWidgets.QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(3)
        grid.setColumnStretch(1, 1)
        self.notice = QtWidgets.QLabel(tr("No safety function: the emergency stop must act by its own wires."))
        self.notice.setObjectName("muted")
        self.notice.setWordWrap(True)
        grid.addWidget(self.notice, 0, 0, 1, 2)
        self._labels: dict[str, QtWidgets.QLabel] = {}
        self._at_block = [name for name, point in config.inputs.points.items() if point.leg is None]
        rows = [*((name, _POINTS[name]) for name in config.inputs.points)]
        if config.outputs.points:
            rows.append(("outputs", tr("Outputs")))
        if config.block is not None:
            rows.append((_BLOCK, tr("I/O block")))
        for row, (name, text) in enumerate(rows, start=1):
            label = self._labels[name] = QtWidgets.QLabel()
            label.setWordWrap(True)
            label.setAccessibleName(text)
            grid.addWidget(QtWidgets.QLabel(text), row, 0, QtCore.Qt.AlignmentFlag.AlignTop)
            grid.addWidget(label, row, 1)
        self.show_report(None)

    def show_report(self, report: IoReport | None) -> None:
        """Show the points; None: nothing is connected."""
        if report is None:
            for label in self._labels.values():
                _show(label, "muted", "–")
                label.setToolTip("")
            return
        for name, closed in report.inputs:
            if closed is None or (report.silent and name in self._at_block):
                _show(self._labels[name], "bad", tr("✗ unknown"))
            else:
                _show(self._labels[name], "good" if closed else "bad", tr("✓ closed") if closed else tr("✗ open"))
        if "outputs" in self._labels:
            on = _switched_on(report)
            _show(
                self._labels["outputs"], "good", tr("on: {names}").format(names=", ".join(on)) if on else tr("all off")
            )
        if _BLOCK in self._labels:
            label, replies = self._labels[_BLOCK], report.replies
            if report.silent:
                _show(label, "bad", tr("✗ silent"))
            else:
                _show(label, "good", f"✓ {_rejections(replies) or _READY}")
            label.setToolTip("\n".join(_untaken(replies)))

    def text(self, name: str) -> str:
        """The displayed text of an input, of "outputs", or of the "block"'s replies."""
        return str(self._labels[name].text()).replace(_BREAK, "")


def _switched_on(report: IoReport) -> list[str]:
    """Return what the outputs that are on are called; the brakes of the legs together."""
    on = [name for name, state in report.outputs if state]
    words = [str(_POINTS[name]) for name in on if name in _POINTS]
    legs = [int(name.rpartition("_")[2]) for name in on if name not in _POINTS]
    if legs:
        words.append(trn("brake {legs} released", "brakes {legs} released", len(legs)).format(legs=ranges(legs)))
    return words


_BLOCK = "block"
_BREAK = "\u200b"  # zero-width space: a possible line break
_LONG = re.compile(r"\S{17,}")
"""Words that may be wider than their place; longer than a network address."""
_PIECE = re.compile(r"[/_:.-](?=\S)|[^\s/_:.-]{12}(?=\S)")
"""Parts of such a word after which a line may break."""
_BITS = tuple((bit, tr(code.text)) for bit, code in DRIVE_STATES if bit is not DriveStatus.STANDSTILL)
_READY = tr("ready")
_BAD = DriveStatus.WATCHDOG | DriveStatus.FAULT
_UNITS = {mark("temperature"): "°C", mark("supply"): "V", mark("power"): "W", mark("motor force"): "N"}
_SHOWN = ("temperature", "supply")
_NOTHING = DriveReport()


class DrivesView(QtWidgets.QWidget):
    """One line per leg: its address, then the state of its drive, or why it does not answer."""

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
            values.setAccessibleName(tr("Supply and temperature of the drive of leg {leg}").format(leg=leg + 1))
            grid.addWidget(label, leg, 1)
            grid.addWidget(values, leg, 2, QtCore.Qt.AlignmentFlag.AlignTop)
            self._labels.append(label)
            self._values.append(values)
        self._cells_name, self._cells = QtWidgets.QLabel(tr("Load cells")), QtWidgets.QLabel()
        self._cells.setWordWrap(True)
        self._cells.setAccessibleName(tr("Replies of the load cells' devices"))
        grid.addWidget(self._cells_name, 6, 0, QtCore.Qt.AlignmentFlag.AlignTop)
        grid.addWidget(self._cells, 6, 1, 1, 2)
        self.show_unconnected()

    def show_unconnected(self) -> None:
        """Show that nothing is connected."""
        if not (self._failures or self._post_mortem):  # otherwise those say more
            for label, address in zip(self._labels, self._addresses, strict=True):
                _show(label, "muted", address)
            self._measure_nothing()

    def note(self, found: Finding) -> None:
        """Show the identity of a drive that answered."""
        if found.code is Code.DRIVE_IDENTIFIED:
            self._identities[found.leg - 1] = finding_statement(found)

    def begin(self) -> None:
        """Clear failures for a new connection attempt."""
        self._failures, self._post_mortem = {}, ()
        self.show_unconnected()

    def show_failure(self, found: Finding) -> None:
        """Show a failed connection: `found` has a part for each faulty leg; the others answered."""
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
        """Show each drive's reaction to a crash of the engine."""
        self._failures, self._post_mortem = {}, legs
        self._measure_nothing()
        for label, address, leg in zip(self._labels, self._addresses, legs, strict=True):
            _show(label, "good" if leg.safe else "bad", f"{'✓' if leg.safe else '✗'} {findings_text(leg.findings)}")
            moved = tr("{distance:+.2f} mm from its length in the last cycle").format(distance=1e3 * leg.moved)
            label.setToolTip(f"{address}\n{moved}" if math.isfinite(leg.moved) else address)

    def show_row(self, row: np.void, now: Snapshot) -> None:
        """Show the drives' states in a telemetry row, and what a snapshot has of drives and load cells."""
        self._failures, self._post_mortem = {}, ()
        self._show_cells(now.cells)
        lag, reports = now.echo_lag, now.drives or (_NOTHING,) * 6
        for leg, label in enumerate(self._labels):
            status = DriveStatus(int(row["drive_status"][leg]))
            stale, error = int(row["stale"][leg]), int(row["drive_error"][leg])
            words = [text for bit, text in _BITS if status & bit]
            if lag[leg]:
                words.append(
                    trn("replies {count} cycle old", "replies {count} cycles old", lag[leg]).format(count=lag[leg])
                )
            replies = reports[leg].replies
            words += filter(None, [_rejections(replies)])
            if error:
                text = reports[leg].error
                words.insert(0, tr("error {code}").format(code=error) + (f": {text}" if text else ""))
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
            lines += _untaken(replies)
            label.setToolTip("\n".join(lines))

    def _show_cells(self, cells: Sequence[CellsReport]) -> None:
        """Show what has become of the replies of the load cells' own devices."""
        words, lines = [], []
        for number, report in enumerate(cells, start=1):
            name = tr("Amplifier") if len(cells) == 1 else tr("Load cell {leg}").format(leg=number)
            replies = report.replies
            if counts := _rejections(replies):
                words.append(f"{name}: {counts}")
            lines += [name, *_untaken(replies)]
        self._cells_name.setVisible(bool(cells))
        self._cells.setVisible(bool(cells))
        _show(self._cells, "good", f"✓ {', '.join(words) or _READY}")
        self._cells.setToolTip("\n".join(lines))

    def _measure_nothing(self) -> None:
        for label in self._values:
            label.clear()
        self._show_cells(())

    def values(self, leg: int) -> str:
        """The displayed measured values of the drive of leg 1 to 6."""
        return str(self._values[leg - 1].text())

    @property
    def cells(self) -> str:
        """The displayed text of the load cells' own devices, empty without any."""
        return "" if self._cells.isHidden() else self._cells.text()

    def text(self, leg: int) -> str:
        """The displayed text of leg 1 to 6."""
        return str(self._labels[leg - 1].text()).replace(_BREAK, "")


def _quantity(name: str, value: float) -> str:
    """Return a value with unit; a dash if unknown."""
    return f"{value:.3g} {_UNITS.get(name, '')}".rstrip() if math.isfinite(value) else "–"


def _measured(values: Mapping[str, float]) -> str:
    """Return a drive's measured values that are always shown."""
    return "  ".join(_quantity(name, values[name]) for name in _SHOWN if name in values)


def _show(label: QtWidgets.QLabel, role: str, text: str) -> None:
    shown = _LONG.sub(lambda word: _PIECE.sub(rf"\g<0>{_BREAK}", word[0]), text)  # make paths wrap like words
    if label.text() == shown:
        return
    label.setText(shown)
    if label.objectName() != role:
        label.setObjectName(role)
        label.style().unpolish(label)
        label.style().polish(label)


_FIRST, _LAST = "&1  ", "&5  "
"""Shortcuts before the changing texts of both: Alt+1, Alt+5."""
_TEXTS = {
    Action.CONNECT: [_FIRST + text for text in CONNECT_TEXTS],
    Action.DISCONNECT: [_LAST + text for text in DISCONNECT_TEXTS],
}

_ICONS = {
    Action.CONNECT: "connect",
    Action.HOME: "home",
    Action.PARK: "park",
    Action.RESET: "reset",
    Action.DISCONNECT: "disconnect",
}
_HINTS = {
    Action.CONNECT: tr("Start the engine and open, identify and configure six drives"),
    Action.HOME: tr("Every leg searches its reference; the platform moves"),
    Action.ENGAGE: tr("Torque on: the platform is held where it is"),
    Action.PARK: tr("Move home, then brakes on and torque off"),
    Action.RESET: tr("Acknowledge the fault: back to idle, without torque"),
    Action.DISCONNECT: tr("Close drives and recording"),
}


_REASON = 4
"""Lines for why the next step cannot be taken; longer text scrolls."""


class OperatePanel(ScrolledPage):
    """The steps of operating a rig.

    The tooltip of a disabled step has its reason; that of the next step is also shown below.

    Args:
        session: the rig.
    """

    def __init__(self, session: RigSession) -> None:
        super().__init__()
        self._session = session
        self.buttons: dict[Action, GuardedButton] = {}
        self._needed = 0  # px of the widest buttons
        self._steps = steps_of(session.situation)
        self._reason = QtWidgets.QLabel()
        self._reason.setObjectName("reason")
        self._reason.setAccessibleName(tr("Why the next step cannot be taken now"))
        self._reason_room = TextRoom(self._reason, _REASON)
        self.question: UnprovenQuestion | None = None
        content = QtWidgets.QWidget()
        content.setSizePolicy(QtWidgets.QSizePolicy.Policy.Ignored, QtWidgets.QSizePolicy.Policy.Preferred)
        layout = QtWidgets.QVBoxLayout(content)
        layout.setSpacing(2)
        layout.addWidget(_heading(tr("Operate")))
        self._connect = self._add_step(layout, _FIRST + self._steps.connect, Action.CONNECT, session.connect_rig)
        self._add_step(layout, "&2  " + tr("Home"), Action.HOME, self._home)
        self._add_engage(layout)
        self._add_step(layout, "&4  " + tr("Park"), Action.PARK, lambda: session.send(mark("park"), Park()))
        self._disconnect = self._add_step(
            layout, _LAST + self._steps.disconnect, Action.DISCONNECT, session.disconnect_rig
        )
        self._add_step(layout, tr("&Reset fault"), Action.RESET, lambda: session.send(mark("reset"), Reset()))
        layout.addWidget(self._reason_room)
        layout.addWidget(_heading(tr("Drives")))
        self.drives = DrivesView(session.config)
        layout.addWidget(self.drives)
        self.io = None if session.config.io is None else IoView(session.config.io)
        if self.io is not None:
            layout.addSpacing(6)
            layout.addWidget(_heading(tr("Inputs and outputs")))
            layout.addWidget(self.io)
        self.lines = _lines(session.config)
        if self.lines is not None:
            layout.addSpacing(6)
            layout.addWidget(_heading(tr("Lines")))
            layout.addWidget(self.lines)
        layout.addStretch(1)
        self.setWidget(content)
        session.changed.connect(self.refresh)
        session.refused.connect(self._refused)
        session.logged.connect(self._logged)
        session.postMortemKnown.connect(self.drives.show_post_mortem)
        session.stopped.connect(lambda _category: self.pair.disarm())
        self.refresh()

    def minimumSizeHint(self) -> QtCore.QSize:
        """As wide as the buttons and a scroll bar; texts wrap."""
        self._needed = self._widest()
        margins = self.widget().layout().contentsMargins()
        extra = margins.left() + margins.right() + self.verticalScrollBar().sizeHint().width()
        return QtCore.QSize(self._needed + extra, super().minimumSizeHint().height())

    def eventFilter(self, watched: QtCore.QObject, event: QtCore.QEvent) -> bool:
        """Update the width for the current style; it covers the buttons' texts in all states."""
        done = bool(super().eventFilter(watched, event))
        if event.type() == QtCore.QEvent.Type.LayoutRequest and self._widest() != self._needed:
            self.updateGeometry()
        return done

    def _widest(self) -> int:
        """Return the width of the widest button in any state, px."""
        steps = [room_for(each, _TEXTS.get(step, ())) for step, each in self.buttons.items() if step != Action.ENGAGE]
        return int(max(*steps, self._pair_row.minimumSize().width()))

    def _add_step(
        self, layout: QtWidgets.QVBoxLayout, text: str, action: Action, press: Callable[[], None]
    ) -> GuardedButton:
        button = set_icon(GuardedButton(text, _HINTS[action]), _ICONS[action])
        button.setObjectName("step")
        button.setAccessibleName(tr(action.value))
        button.clicked.connect(lambda: press())
        layout.addWidget(button)
        self.buttons[action] = button
        return button

    def _add_engage(self, layout: QtWidgets.QVBoxLayout) -> None:
        self.pair = ArmedPair(
            tr("Engage"), _HINTS[Action.ENGAGE], lambda: self._session.send(mark("engage"), Engage()), self, "&3  "
        )
        set_icon(self.pair.act, "engage")
        self.arm = self.pair.arm
        self.arm.toggled.connect(self._armed)
        self._pair_row = QtWidgets.QHBoxLayout()
        self._pair_row.addWidget(self.arm, 1)
        self._pair_row.addWidget(self.pair.act, 1)
        layout.addLayout(self._pair_row)
        self.buttons[Action.ENGAGE] = self.pair.act

    def refresh(self) -> None:
        """Enable what is possible; show why the rest is not."""
        steps = self._steps = steps_of(self._session.situation)
        for action, reason in steps.obstacles.items():
            (self.pair if action is Action.ENGAGE else self.buttons[action]).set_obstacle(reason)
        for button, key, text in ((self._connect, _FIRST, steps.connect), (self._disconnect, _LAST, steps.disconnect)):
            button.setText(key + text)
            button.setAccessibleName(text)
        self._reason_room.show_text(steps.reason)
        for action, button in self.buttons.items():
            target = self.arm if action is Action.ENGAGE and not self.arm.isChecked() else button
            if action is Action.ENGAGE:
                mark_next(self.arm if target is button else button, False)
            mark_next(target, action is steps.following and target.isEnabled())
        if self._session.busy == "connect":
            self.drives.begin()
        elif steps.unconnected:
            self.drives.show_unconnected()
            if self.lines is not None:
                self.lines.show_nothing()
            if self.io is not None:
                self.io.show_report(None)

    def show_newest(self, row: np.void | None) -> None:
        """Show the newest telemetry row while connected."""
        status = self._session.status
        if row is not None and status is not None and not self._steps.unconnected:
            self.show_row(row, status)

    def show_row(self, row: np.void, now: Snapshot) -> None:
        """Show the devices' states, see `DrivesView.show_row`."""
        if int(row["state"]) != State.OFF:
            self.drives.show_row(row, now)
            if self.lines is not None:
                self.lines.show_row(row)
            if self.io is not None:
                self.io.show_report(now.io)

    def reason(self, action: Action) -> str:
        """Why an action is not possible now."""
        return str(self.buttons[action].obstacle)

    def shown_reason(self, action: Action) -> str:
        """The reason for a step shown below the steps."""
        leads = self._steps.reason and action is self._steps.following
        return str(self.buttons[action].obstacle) if leads else ""

    def _home(self) -> None:
        """Home; ask for confirmation if the legs' wiring is not proven."""
        status = self._session.status
        if status is None or status.unproven is None:
            self._session.send(mark("home"), Home())
            return
        self.question = UnprovenQuestion(self, status.unproven.legs, finding_text(status.unproven.finding))
        self.question.confirmed.connect(lambda: self._session.send(mark("home"), Home(unproven=True)))
        self.question.open()

    def _armed(self, armed: bool) -> None:
        self._session.armed = armed
        self._session.changed.emit()

    def _refused(self, what: str, found: Finding) -> None:
        if what == "connect":
            self.drives.show_failure(found)

    def _logged(self, entry: LogEntry) -> None:
        if entry.finding is not None:
            self.drives.note(entry.finding)

    def show_button(self, action: Action) -> None:
        """Scroll to the button of an action and focus it."""
        button = self.pair.arm if action is Action.ENGAGE else self.buttons[action]
        self.ensureWidgetVisible(button)
        button.setFocus()


class UnprovenQuestion(QtWidgets.QMessageBox):
    """Asks whether to home although the drive-to-leg wiring is not proven; Esc is no.

    Signals: `confirmed`.

    Args:
        parent: the asking widget.
        legs: 1 to 6, with unproven wiring.
        why: the engine's reason.
    """

    confirmed = QtCore.Signal()

    def __init__(self, parent: QtWidgets.QWidget, legs: Sequence[int], why: str) -> None:
        super().__init__(parent)
        self.setIcon(QtWidgets.QMessageBox.Icon.Warning)
        self.setWindowTitle(tr("Wiring not proven"))
        numbers = ", ".join(map(str, legs))
        self.setText(tr("Home although the wiring of legs {legs} is not proven?").format(legs=numbers))
        self.setInformativeText(
            tr(
                "The engine reports: {why}. If two drives are exchanged, each leg follows the lengths of the "
                "other. Test each of these legs first (Rig → Set up a new rig …), and watch it."
            ).format(why=why)
        )
        self.home = self.addButton(tr("Home unproven"), QtWidgets.QMessageBox.ButtonRole.DestructiveRole)
        stay = self.addButton(tr("Stay"), QtWidgets.QMessageBox.ButtonRole.RejectRole)
        self.setDefaultButton(stay)
        self.setEscapeButton(stay)
        self.buttonClicked.connect(lambda button: self.confirmed.emit() if button is self.home else None)
        self.setWindowModality(QtCore.Qt.WindowModality.WindowModal)


def _rejections(replies: ReplyCounts) -> str:
    """Return how many replies were rejected, empty for none."""
    if not replies.rejected:
        return ""
    counts = trn(
        "{count} reply rejected, {lately} in the last second",
        "{count} replies rejected, {lately} in the last second",
        replies.rejected,
    )
    return counts.format(count=replies.rejected, lately=replies.lately)


def _untaken(replies: ReplyCounts) -> list[str]:
    """Return lines with the counts of late and rejected replies, the latter by kind."""
    counts = tr("{late} replies late, {rejected} rejected").format(late=replies.late, rejected=replies.rejected)
    return [counts, _rejected(replies)] if replies.rejected else [counts]


def _rejected(replies: ReplyCounts) -> str:
    """Return the kinds of rejected replies, and how many are tolerated."""
    kinds = tr("rejected: {damaged} damaged, {foreign} foreign, {refused} refused, {mismatched} to another command")
    told = kinds.format(
        damaged=replies.damaged, foreign=replies.foreign, refused=replies.refused, mismatched=replies.mismatched
    )
    lately = tr("{lately} of them in the last second, at most {bound} tolerated")
    return "\n".join((told, lately.format(lately=replies.lately, bound=f"{replies.bound:.0f}")))


def _lines(config: RigConfig) -> LinesView | None:
    """Return the bars of a rig's lines; None if it has none, or cannot be created, which connecting reports."""
    try:
        verdict = check_buses(config)
    except (ActuatorError, CalibrationError):
        return None
    return LinesView(verdict) if verdict.plans else None


def _heading(text: str) -> QtWidgets.QLabel:
    label = QtWidgets.QLabel(text)
    label.setObjectName("heading")
    return label
