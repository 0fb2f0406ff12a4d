"""Always in view: the state with its first cause, timing, recording, and STOP."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.session import STATE_WORDS, Action, CycleFigures, Phase, Situation, StopButton, obstacle
from gui.shell.figures import Figures
from gui.shell.notice import Notice
from gui.texts import cause_text, tr
from gui.widgets import (
    AMBER,
    BROWN,
    GREY,
    ORANGE,
    RED,
    STATE_COLOURS,
    GuardedButton,
    IconLabel,
    fit_text,
    give,
    room_for,
)
from rig.engine import TORQUE_STATES, Compiling
from rig.states import State, StopSeverity


@dataclass(frozen=True, slots=True)
class StateStyle:
    """How a state is shown: in text, as a shape and in a colour."""

    text: str
    icon: str
    """a meaning of `gui.widgets.icon`"""
    background: str
    foreground: str
    hint: str
    """what can be done next"""


_SAID: dict[State, tuple[str, str]] = {
    State.OFF: ("off", tr("Not connected. Next: Connect.")),
    State.IDLE: ("idle", tr("Connected, torque off, brakes on. Next: Home.")),
    State.HOMING: ("homing", tr("The legs look for their references. Keep clear.")),
    State.SINGLE_LEG: ("one leg", tr("One leg moves alone. Keep clear.")),
    State.PARKED: ("parked", tr("Homed, torque off, brakes on. Next: Arm, then Engage.")),
    State.ENGAGING: ("engaging", tr("The drives take the load. Keep clear.")),
    State.ENGAGED: ("engaged", tr("Holding under power. Next: run a motion, jog, or Park.")),
    State.RUNNING: ("running", ""),
    State.PARKING: ("parking", tr("Moving home, then brakes on and torque off.")),
    State.STOPPING: ("stopping", ""),
    State.FAULT: ("fault", ""),
}
"""Icon and hint."""
_STATES = {
    state: StateStyle(STATE_WORDS[state], icon, *STATE_COLOURS[state], hint) for state, (icon, hint) in _SAID.items()
}

_PHASES = {
    Phase.DOWN: StateStyle(tr("Off"), "off", GREY, "white", tr("The engine is not running. Next: Connect.")),
    Phase.STARTING: StateStyle(
        tr("Starting"), "starting", AMBER, "#10151a", tr("The engine starts; the first time takes a minute.")
    ),
    Phase.ENDING: StateStyle(tr("Ending"), "ending", AMBER, "#10151a", tr("The recording is being closed.")),
    Phase.DIED: StateStyle(tr("Engine died"), "dead", RED, "white", ""),
}

_SILENT = StateStyle(
    tr("No answer"),
    "silent",
    RED,
    "white",
    tr("The engine runs, but does not answer. Press STOP, then look at the machine."),
)

_HELD = StateStyle(tr("In use"), "held", ORANGE, "white", "")

_TAKE, _RESTART, _RESET = tr("Take it over"), tr("Restart engine"), tr("Reset fault")
_ICON = 36  # px

_STOPS = {
    StopSeverity.NONE: "",
    StopSeverity.CATEGORY_2: tr("category 2: decelerate and hold"),
    StopSeverity.CATEGORY_1: tr("category 1: decelerate, brakes on, torque off"),
    StopSeverity.QUICK_STOP: tr("the drives' own quick stop"),
    StopSeverity.CATEGORY_0: tr("category 0: torque off at once"),
}


def state_style(now: Situation) -> StateStyle:
    """How the situation is shown."""
    if now.holder is not None:
        return _HELD
    if now.phase is not Phase.UP or now.status is None:
        return _PHASES.get(now.phase, _PHASES[Phase.STARTING])
    if now.silent:
        return _SILENT
    if now.status.state is State.PARKED and now.status.away:
        hint = tr("{distance:.0f} mm from home, torque off, brakes on. Next: Arm, then Engage, then Park.").format(
            distance=1e3 * now.status.from_home
        )
        return replace(_STATES[State.PARKED], icon="on brakes", hint=hint)
    if now.status.resumable:
        place = {"motion": now.status.motion, "time": now.status.path_time, "duration": now.status.path_duration}
        why = cause_text(now.status.paused_for)
        hint = (
            tr("{motion!r} at {time:.1f} of {duration:.1f} s, held under power: {why}. Next: Resume, Abandon, or Park.")
            if why
            else tr("{motion!r} at {time:.1f} of {duration:.1f} s, held under power. Next: Resume, Abandon, or Park.")
        ).format(**place, why=why)
        return StateStyle(tr("Paused"), "pause", BROWN, "white", hint)
    return _STATES[now.status.state]


def detail_of(now: Situation) -> str:
    """The first cause of a stop or fault in words, or what can be done next."""
    look = state_style(now)
    status = now.status
    if now.holder is not None:
        return now.holder.words + " " + tr("STOP reaches it. Next: Take it over, or End it.")
    if now.phase is Phase.DIED:
        return now.death
    if now.phase is Phase.STARTING and now.compiling is not None:
        words = now.compiling.words
        return f"{words[:1].upper()}{words[1:]}."
    if now.phase is not Phase.UP or status is None or now.silent:
        return look.hint
    if status.finding is not None:
        kind = f"{_STOPS[status.stop]} — " if status.state is State.STOPPING else ""
        text = tr("{cause}, at {time:.3f} s.").format(cause=f"{kind}{cause_text(status.finding)}", time=status.cause_t)
        text = text[:1].upper() + text[1:]
        if status.state is State.FAULT:
            return text + " " + tr("Next: mend the cause, then Reset fault.")
        if status.held_for_fault:
            return text + " " + tr("Next: STOP, which takes the torque off, then Reset fault.")
        return text
    if status.recording_fault:
        nothing = (
            tr("Nothing is being recorded: {reason}. Next: Park, Disconnect, Connect.")
            if status.state in TORQUE_STATES
            else tr("Nothing is being recorded: {reason}. Next: Disconnect, Connect.")
        )
        return nothing.format(reason=status.recording_fault)
    if status.state is State.RUNNING:
        return tr("{motion!r}, {time:.1f} of {duration:.1f} s").format(
            motion=status.motion, time=status.path_time, duration=status.path_duration
        )
    if now.armed and status.state is State.PARKED:
        return tr("Armed. Next: Engage.")
    if now.busy:
        busy = tr(now.busy)
        return f"{busy[:1].upper()}{busy[1:]} …"
    return look.hint


def remedy_of(now: Situation) -> tuple[Action, str] | None:
    """What leads out of a trouble, and what that is called; None where there is no trouble, or no such step.

    Nothing that brings torque is among it.
    """
    if now.holder is not None:
        return Action.CONNECT, _TAKE
    if now.phase is Phase.DIED:
        return Action.CONNECT, _RESTART
    if now.phase is Phase.UP and now.status is not None and now.status.state is State.FAULT:
        return Action.RESET, _RESET
    return None


class Banner(QtWidgets.QFrame):
    """The strip on top of the window.

    Signals: `mend_asked(action)`: the button was pressed that leads out of a trouble.

    Args:
        stop: the red button.
        virtual: whether the rig is a virtual one.
        off: checks that the configuration switches off, by name.
    """

    mend_asked = QtCore.Signal(object)

    def __init__(
        self, stop: StopButton, virtual: bool, off: Sequence[str] = (), parent: QtWidgets.QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setAccessibleName(tr("State of the rig"))
        self._state = QtWidgets.QFrame()
        self._state.setObjectName("state")
        self._icon = IconLabel(_ICON)
        self._text = QtWidgets.QLabel()
        self._text.setStyleSheet("font-size: 20px; font-weight: bold;")
        self._text.ensurePolished()
        looks = (*_STATES.values(), *_PHASES.values(), _SILENT, _HELD)
        widths = (self._text.fontMetrics().horizontalAdvance(look.text) for look in looks)
        self._text.setMinimumWidth(max(widths))  # in no state does the window become wider
        self._detail = QtWidgets.QLabel()
        self._detail.setWordWrap(True)
        # a long word, such as a motion's name, must not push STOP out of the window
        self._detail.setSizePolicy(QtWidgets.QSizePolicy.Policy.Ignored, QtWidgets.QSizePolicy.Policy.Preferred)
        self._detail.setTextInteractionFlags(QtCore.Qt.TextInteractionFlag.TextSelectableByMouse)
        self._detail.setAccessibleName(tr("Cause, or next step"))
        self.mend = GuardedButton(_RESET)
        self.mend.setObjectName("mend")
        give(self.mend, "reset", colour="#10151a")
        self.mend.setFocusPolicy(QtCore.Qt.FocusPolicy.NoFocus)  # it comes and goes; the steps have the keyboard
        self.mend.clicked.connect(lambda: self.mend_asked.emit(self._mends))
        policy = self.mend.sizePolicy()
        policy.setRetainSizeWhenHidden(True)  # its room is there before it is
        self.mend.setSizePolicy(policy)
        self.mend.hide()
        self._mends: Action | None = None
        self.waiting = QtWidgets.QProgressBar()
        self.waiting.setObjectName("thin")
        self.waiting.setRange(0, 0)
        self.waiting.setTextVisible(False)
        self.waiting.setAccessibleName(tr("The engine is starting"))
        self.waiting.hide()
        self._seconds = 0
        """that the engine has been starting"""
        self._second = QtCore.QTimer(self, interval=1000)
        self._second.timeout.connect(self._count)
        state = QtWidgets.QGridLayout(self._state)
        state.setContentsMargins(8, 4, 8, 4)
        state.setVerticalSpacing(0)
        state.addWidget(self._icon, 0, 0, 2, 1)
        state.addWidget(self._text, 0, 1)
        state.addWidget(self.mend, 0, 2)
        state.addWidget(self._detail, 1, 1, 1, 2)
        state.addWidget(self.waiting, 2, 0, 1, 3)
        state.setColumnStretch(1, 1)
        self._figures = Figures()
        layout = QtWidgets.QHBoxLayout(self)
        layout.setContentsMargins(4, 6, 4, 6)
        layout.setSpacing(5)  # with its longest button it has room in 1024 px
        layout.addWidget(self._state, 1)
        if virtual:
            badge = QtWidgets.QLabel(tr("VIRTUAL RIG"))
            badge.setObjectName("virtual")
            badge.setToolTip(tr("Nothing real moves: drives and plant are simulated in a process of their own"))
            layout.addWidget(badge, 0, QtCore.Qt.AlignmentFlag.AlignVCenter)
        if off:
            names = QtWidgets.QLabel(tr("CHECKS OFF") + "\n" + "\n".join(off))
            names.setObjectName("off")
            names.setToolTip(tr("The configuration switches these off (safety.off): the engine does not look"))
            names.setAccessibleName(tr("Checks switched off: {checks}").format(checks=", ".join(off)))
            layout.addWidget(names, 0, QtCore.Qt.AlignmentFlag.AlignVCenter)
        self.notice = Notice()
        """what was refused last, in the place of the figures while there is something"""
        aside = QtWidgets.QStackedWidget()
        for widget in (self._figures, self.notice):
            aside.addWidget(widget)
        # as wide as the longest figures: the buttons beside them stay where they are
        aside.setFixedWidth(self._figures.minimumSizeHint().width())
        self.notice.saying.connect(lambda saying: aside.setCurrentIndex(int(saying)))
        layout.addWidget(aside)
        layout.addWidget(stop)
        self.setFixedHeight(92)
        self._shown: tuple[str, str] = ("", "")
        self.show_situation(Situation())

    def show_situation(self, now: Situation) -> None:
        """Show state and cause."""
        look, detail = state_style(now), detail_of(now)
        self._figures.show_status(now.status, silent=now.silent)
        self._show_mend(now)
        self._show_waiting(now.phase is Phase.STARTING, now.compiling)
        if self._shown == (look.text, detail):
            return
        renamed = look.text != self._shown[0]
        self._shown = (look.text, detail)
        self._detail.setText(detail)
        self._detail.setToolTip(detail)
        if renamed:
            self._icon.show_icon(look.icon, look.foreground)
            self._text.setText(look.text)
            sheet = f"QFrame#state {{ background: {look.background}; border-radius: 6px; }}"
            self._state.setStyleSheet(f"{sheet} QLabel {{ color: {look.foreground}; background: transparent; }}")
            self.setAccessibleName(tr("State of the rig: {state}").format(state=look.text))  # Qt tells a screen reader
        self.setAccessibleDescription(detail)
        self._fit()

    def showEvent(self, event: QtGui.QShowEvent) -> None:
        """Give the button its room, once it has its look: it is as wide as its longest text."""
        super().showEvent(event)
        self.mend.ensurePolished()
        self.mend.setFixedWidth(room_for(self.mend, (_TAKE, _RESTART, _RESET)))

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        """Write as large as there is room for."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Make the cause smaller where it would be cut; all of it is in its tooltip as well."""
        self._state.layout().activate()
        fit_text(self._detail, self.font(), self._detail.height())

    def _show_mend(self, now: Situation) -> None:
        found = remedy_of(now)
        self.mend.setVisible(found is not None)
        if found is not None:
            self._mends, text = found
            self.mend.setText(text)
            self.mend.setAccessibleName(text)
            self.mend.set_obstacle(obstacle(self._mends, now))

    def _show_waiting(self, waiting: bool, compiling: Compiling | None) -> None:
        if compiling is None or compiling.finished:
            self.waiting.setRange(0, 0)
        else:
            self.waiting.setRange(0, compiling.total)
            self.waiting.setValue(compiling.done)
        if waiting != self._second.isActive():
            self._seconds = 0
            self.waiting.setVisible(waiting)
            self._second.start() if waiting else self._second.stop()

    def _count(self) -> None:
        self._seconds += 1
        self._detail.setText(self._shown[1] + " " + tr("{time} s so far.").format(time=self._seconds))
        self._fit()

    def show_figures(self, figures: CycleFigures | None, size: int | None, room: float) -> None:
        """Show what the cycle achieves, the recording's size in bytes, and for how long there is room for it, s."""
        self._figures.show_cycle(figures, size, room)

    def figure(self, name: str) -> str:
        """The text of one figure by its caption."""
        return self._figures.text(name)

    @property
    def state_text(self) -> str:
        """The state as it is shown."""
        return str(self._text.text())

    @property
    def detail(self) -> str:
        """The cause or next step as it is shown."""
        return str(self._detail.text())
