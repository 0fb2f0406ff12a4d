"""Operate: from connecting to parking, in the order in which it is done, and what each drive says."""

from collections.abc import Callable, Sequence

import numpy as np
from pyqtgraph.Qt import QtCore, QtWidgets

from actuators import ActuatorError
from calibration import CalibrationError
from gui.operate.drives_view import DrivesView
from gui.operate.lines_view import LinesView
from gui.session import Action, LogEntry, Phase, RigSession
from gui.texts import finding_text, mark, tr
from gui.widgets import ArmedPair, GuardedButton, ScrolledPage, TextRoom, give, mark_next, room_for
from rig.config import RigConfig
from rig.engine import DriveReport, Engage, Home, Park, Reset, check_buses
from rig.findings import Finding
from rig.states import State

_NEXT = {State.OFF: Action.CONNECT, State.IDLE: Action.HOME, State.PARKED: Action.ENGAGE, State.FAULT: Action.RESET}
"""The step that leads on, by state."""

_CONNECT, _RESTART, _TAKE = tr("Connect"), tr("Restart engine"), tr("Take it over")
_DISCONNECT, _END = tr("Disconnect"), tr("End it")
_FIRST, _LAST = "&1  ", "&5  "
"""before the texts of both, which change: Alt+1, Alt+5"""
_TEXTS = {
    Action.CONNECT: [_FIRST + text for text in (_CONNECT, _RESTART, _TAKE)],
    Action.DISCONNECT: [_LAST + text for text in (_DISCONNECT, _END)],
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
    Action.HOME: tr("Every leg looks for its reference; the platform moves"),
    Action.ENGAGE: tr("Torque on: the platform is held where it is"),
    Action.PARK: tr("Move home, then brakes on and torque off"),
    Action.RESET: tr("Acknowledge the fault: back to idle, without torque"),
    Action.DISCONNECT: tr("Close drives and recording"),
}


_REASON = 4
"""lines for why the next step cannot be taken; more scroll"""


class OperatePanel(ScrolledPage):
    """The steps of operating a rig; why one cannot be taken now its tip says, and of the next one the text below them.

    Args:
        session: the rig.
    """

    def __init__(self, session: RigSession) -> None:
        super().__init__()
        self._session = session
        self.buttons: dict[Action, GuardedButton] = {}
        self._needed = 0  # px, of the widest buttons
        self._step: Action | None = None
        """the next one, where it cannot be taken: `reason` says why"""
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
        self._connect = self._add_step(layout, _FIRST + _CONNECT, Action.CONNECT, session.connect_rig)
        self._add_step(layout, "&2  " + tr("Home"), Action.HOME, self._home)
        self._add_engage(layout)
        self._add_step(layout, "&4  " + tr("Park"), Action.PARK, lambda: session.send(mark("park"), Park()))
        self._disconnect = self._add_step(layout, _LAST + _DISCONNECT, Action.DISCONNECT, session.disconnect_rig)
        self._add_step(layout, tr("&Reset fault"), Action.RESET, lambda: session.send(mark("reset"), Reset()))
        layout.addWidget(self._reason_room)
        layout.addWidget(_heading(tr("Drives")))
        self.drives = DrivesView(session.config)
        layout.addWidget(self.drives)
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
        """As wide as its buttons beside a bar. What else is said may be of any length, and has what room there is."""
        self._needed = self._widest()
        margins = self.widget().layout().contentsMargins()
        beside = margins.left() + margins.right() + self.verticalScrollBar().sizeHint().width()
        return QtCore.QSize(self._needed + beside, super().minimumSizeHint().height())

    def eventFilter(self, watched: QtCore.QObject, event: QtCore.QEvent) -> bool:
        """Have what is around it make room for other words on the buttons; those of its states have theirs already."""
        done = bool(super().eventFilter(watched, event))
        if event.type() == QtCore.QEvent.Type.LayoutRequest and self._widest() != self._needed:
            self.updateGeometry()
        return done

    def _widest(self) -> int:
        """px of the widest button in any state of the rig."""
        steps = [room_for(each, _TEXTS.get(step, ())) for step, each in self.buttons.items() if step != Action.ENGAGE]
        return int(max(*steps, self._pair_row.minimumSize().width()))

    def _add_step(
        self, layout: QtWidgets.QVBoxLayout, text: str, action: Action, press: Callable[[], None]
    ) -> GuardedButton:
        button = give(GuardedButton(text, _HINTS[action]), _ICONS[action])
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
        give(self.pair.act, "engage")
        self.arm = self.pair.arm
        self.arm.toggled.connect(self._armed)
        self._pair_row = QtWidgets.QHBoxLayout()
        self._pair_row.addWidget(self.arm, 1)
        self._pair_row.addWidget(self.pair.act, 1)
        layout.addLayout(self._pair_row)
        self.buttons[Action.ENGAGE] = self.pair.act

    def refresh(self) -> None:
        """Enable what can be done now; say why the rest cannot."""
        for action, button in self.buttons.items():
            reason = self._session.obstacle(action)
            if action is Action.ENGAGE:
                self.pair.set_obstacle(reason)
            else:
                button.set_obstacle(reason)
        died = self._session.phase is Phase.DIED
        held = self._session.situation.holder is not None
        begin = _TAKE if held else _RESTART if died else _CONNECT
        end = _END if held else _DISCONNECT
        for button, key, text in ((self._connect, _FIRST, begin), (self._disconnect, _LAST, end)):
            button.setText(key + text)
            button.setAccessibleName(text)
        status = self._session.status
        up = self._session.phase is Phase.UP
        following = _NEXT.get(status.state) if up and status is not None else Action.CONNECT
        against = "" if following is None else self.buttons[following].obstacle
        self._step = following if against else None
        name = "" if following is None else tr(following.value)
        self._reason_room.show_text(tr("{step}: {reason}").format(step=name, reason=against) if against else "")
        for action, button in self.buttons.items():
            target = self.arm if action is Action.ENGAGE and not self.arm.isChecked() else button
            if action is Action.ENGAGE:
                mark_next(self.arm if target is button else button, False)
            mark_next(target, action is following and target.isEnabled())
        if self._session.busy == "connect":
            self.drives.begin()
        elif not up or status is None or status.state is State.OFF:
            self.drives.show_unconnected()
            if self.lines is not None:
                self.lines.show_nothing()

    def show_row(self, row: np.void, lag: Sequence[int] = (0,) * 6, drives: Sequence[DriveReport] = ()) -> None:
        """Show what the latest telemetry row says of the drives; lag, drives: see `DrivesView.show_row`."""
        if int(row["state"]) != State.OFF:
            self.drives.show_row(row, lag, drives)
            if self.lines is not None:
                self.lines.show_row(row)

    def reason(self, action: Action) -> str:
        """Why an action is not possible now."""
        return str(self.buttons[action].obstacle)

    def shown_reason(self, action: Action) -> str:
        """What the text below the steps says of one."""
        return str(self.buttons[action].obstacle) if action is self._step else ""

    def _home(self) -> None:
        """Home; where the legs' wiring is not proven, on the operator's word alone."""
        status = self._session.status
        if status is None or status.unproven is None:
            self._session.send(mark("home"), Home())
            return
        self.question = UnprovenQuestion(self, status.unproven.legs, finding_text(status.unproven.finding))
        self.question.said.connect(lambda: self._session.send(mark("home"), Home(unproven=True)))
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
        """Lead to the button of an action, without pressing it."""
        button = self.pair.arm if action is Action.ENGAGE else self.buttons[action]
        self.ensureWidgetVisible(button)
        button.setFocus()


class UnprovenQuestion(QtWidgets.QMessageBox):
    """Whether to home though it is not proven which drive moves which leg; Esc is not to.

    Signals: `said` when the operator says so.

    Args:
        parent: the window's part that asks.
        legs: 1 to 6, whose wiring is not proven.
        why: what is known of it, in the engine's words.
    """

    said = QtCore.Signal()

    def __init__(self, parent: QtWidgets.QWidget, legs: Sequence[int], why: str) -> None:
        super().__init__(parent)
        self.setIcon(QtWidgets.QMessageBox.Icon.Warning)
        self.setWindowTitle(tr("Wiring not proven"))
        numbers = ", ".join(map(str, legs))
        self.setText(tr("Home although the wiring of legs {legs} is not proven?").format(legs=numbers))
        self.setInformativeText(
            tr(
                "The engine says: {why}. If two drives are exchanged, each leg follows the lengths of the other. "
                "Better test each of these legs first, by `rig setup leg`, and watch it."
            ).format(why=why)
        )
        self.home = self.addButton(tr("Home unproven"), QtWidgets.QMessageBox.ButtonRole.DestructiveRole)
        stay = self.addButton(tr("Stay"), QtWidgets.QMessageBox.ButtonRole.RejectRole)
        self.setDefaultButton(stay)
        self.setEscapeButton(stay)
        self.buttonClicked.connect(lambda button: self.said.emit() if button is self.home else None)
        self.setWindowModality(QtCore.Qt.WindowModality.WindowModal)


def _lines(config: RigConfig) -> LinesView | None:
    """The bars of a rig's lines; None where it has none, or cannot be made at all, which connecting will say."""
    try:
        verdict = check_buses(config)
    except (ActuatorError, CalibrationError):
        return None
    return LinesView(verdict) if verdict.plans else None


def _heading(text: str) -> QtWidgets.QLabel:
    label = QtWidgets.QLabel(text)
    label.setObjectName("heading")
    return label
