"""Controls of the running motion, visible on every page: run, pause, resume, stop, progress, remaining time."""

import math
from dataclasses import replace

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.models import Action, fmu_has_failed, obstacle
from gui.session import Mover, RigSession
from gui.texts import finding_text, tr
from gui.widgets import ElidedLabel, GuardedButton, QuantityBox, field_refusal, mark_next, set_icon
from rig.engine import LEAST_PACE
from rig.findings import Finding
from rig.states import State

_NAME = 44  # px of a motion's name on *Run*; longer ones are elided in the middle, so that nothing moves
_LARGE = 17  # px of the remaining time
_BUTTON_MARGIN = 44  # px of a button besides its text, with icon
_SLOWER = tr("Speed of the motion as a share of full speed, along the same path; can be changed while it runs")


class TransportBar(QtWidgets.QFrame):
    """Disabled buttons state their reason; the next step is marked.

    Args:
        session: the rig.
        mover: sends motions.
    """

    def __init__(self, session: RigSession, mover: Mover) -> None:
        super().__init__()
        self.setObjectName("transport")
        self.setAccessibleName(tr("Transport: run and stop the motion"))
        self._session, self._mover = session, mover
        self.run = GuardedButton(tr("Run {motion}").format(motion=""))
        self._motion: tuple[str, float | None, int] = ("", None, 1)
        """What *Run* runs: name, s of one pass, number of passes."""
        self.pause = GuardedButton(tr("Pause"), tr("Decelerate along the path and pause"))
        self.pause.setAccessibleName(tr("Pause"))
        self.resume = GuardedButton(tr("Resume"), tr("Continue along the path"))
        self.abandon = GuardedButton(
            tr("Abandon"), tr("Discard the rest of the paused motion and hold the present pose")
        )
        self.hold = GuardedButton(
            tr("Stop motion"), tr("Decelerate along the path and hold under power; the motion ends")
        )
        for button, meaning in (
            (self.run, "run"),
            (self.pause, "pause"),
            (self.resume, "resume"),
            (self.abandon, "abandon"),
            (self.hold, "hold"),
        ):
            set_icon(button, meaning)
        self.pause.clicked.connect(mover.pause)
        self.resume.clicked.connect(self._resume)
        self.question: QtWidgets.QMessageBox | None = None
        """Asks whether to take over a motion started by another client."""
        self.abandon.clicked.connect(mover.abandon)
        self.hold.clicked.connect(mover.hold)
        self.speed = QuantityBox(tr("Speed of the motion"), "%", 100.0, 100.0 * LEAST_PACE, 100.0)
        self.speed.setToolTip(_SLOWER)
        self.speed.setFixedWidth(self.speed.fontMetrics().horizontalAdvance("100.0 %") + 24)
        self.speed.valueChanged.connect(lambda _value: self._send_speed())
        self.speed.changed.connect(self._judge_speed)
        for button in (self.run, self.resume):
            button.pressed.connect(self.speed.interpretText)  # commit the visible speed before running
        self._against_run = ""
        self._pace = 1.0
        """Last reported by the engine."""
        self._unanswered = 0
        """Number of speeds without an answer yet."""
        self.progress = QtWidgets.QProgressBar()
        self.progress.setRange(0, 1000)
        self.progress.setAccessibleName(tr("Progress of the motion"))
        self.progress.setTextVisible(False)
        self.progress.setMinimumWidth(14)
        self.progress.setObjectName("thin")
        self.left = QtWidgets.QLabel()
        self.left.setAccessibleName(tr("Time left"))
        label_width = self.left.fontMetrics().horizontalAdvance(tr("{time} s left").format(time=""))
        self.left.setFixedWidth(label_width + QtGui.QFontMetrics(_large(self.left.font())).horizontalAdvance("88888"))
        self.phase = ElidedLabel()
        self.phase.setAccessibleName(tr("Current activity"))
        self.reason = ElidedLabel()
        self.reason.setObjectName("reason")
        self.reason.setAccessibleName(tr("Why the motion cannot be run now"))
        line = QtWidgets.QHBoxLayout()
        line.addWidget(self.phase, 1)
        line.addWidget(self.reason, 1)
        column = QtWidgets.QVBoxLayout()
        column.setSpacing(2)
        column.addLayout(line)
        column.addWidget(self.progress)
        layout = QtWidgets.QHBoxLayout(self)
        layout.setContentsMargins(6, 3, 6, 3)
        for button in (self.run, self.pause, self.resume, self.abandon, self.hold):
            bold = QtGui.QFont(button.font())
            bold.setBold(True)  # as for the next step, so that nothing moves when another one is next
            longest = _run_text("", 10, 88.8) if button is self.run else button.text()
            name = _NAME if button is self.run else 0
            button.setFixedWidth(QtGui.QFontMetrics(bold).horizontalAdvance(longest) + name + _BUTTON_MARGIN)
            layout.addWidget(button)
        layout.addSpacing(4)
        layout.addLayout(column, 1)
        speed = QtWidgets.QLabel(tr("Speed"))
        speed.setBuddy(self.speed)
        layout.addWidget(speed)
        layout.addWidget(self.speed)
        layout.addWidget(self.left)

    def refresh(self, run_obstacle: str) -> None:
        """Enable what is possible; `run_obstacle` is why the motion cannot be run, empty if it can."""
        session = self._session
        self._against_run = run_obstacle
        wrong = field_refusal(self.speed)
        run_obstacle = run_obstacle or wrong
        self.run.set_obstacle(run_obstacle)
        obstacles = {
            self.pause: session.obstacle(Action.PAUSE),
            self.resume: session.obstacle(Action.RESUME) or wrong,
            self.abandon: session.obstacle(Action.ABANDON),
            self.hold: session.obstacle(Action.HOLD),
        }
        for button, reason in obstacles.items():
            button.set_obstacle(reason)
        # stays enabled while the engine answers, or typing would continue in the next field
        reason = obstacle(Action.SPEED, replace(session.situation, busy=""))
        self.speed.setEnabled(not reason)
        self.speed.setToolTip(tr("Not now: {reason}.").format(reason=reason) if reason else _SLOWER)
        paused = self.abandon if fmu_has_failed(session.situation) else self.resume
        following = next((one for one in (paused, self.pause, self.run) if one.isEnabled()), None)
        for button in (self.run, self.pause, self.resume, self.abandon):
            mark_next(button, button is following)
        not_now = run_obstacle if following is None else ""  # otherwise another step is next
        self.reason.setText(tr("Not now: {run_obstacle}.").format(run_obstacle=not_now) if not_now else "")
        self.reason.setToolTip(not_now)
        self.reason.setVisible(bool(not_now))
        self._show_left()

    def show_motion(self, name: str, duration: float | None, repeats: int = 1) -> None:
        """Set what *Run* runs.

        Args:
            name: of the motion.
            duration: s of one pass at full speed; None if unknown.
            repeats: number of passes.
        """
        self._motion = (name, duration, repeats)
        self._name_run()

    def _name_run(self) -> None:
        name, duration, repeats = self._motion
        bold = QtGui.QFont(self.run.font())
        bold.setBold(True)
        metrics = QtGui.QFontMetrics(bold)
        lasts = None if duration is None else duration / self._pace
        room = self.run.width() - _BUTTON_MARGIN - metrics.horizontalAdvance(_run_text("", repeats, lasts))
        shown = metrics.elidedText(name, QtCore.Qt.TextElideMode.ElideMiddle, max(0, room))
        self.run.setText(_run_text(shown, repeats, lasts).replace("&", "&&"))
        whole = _run_text(name, repeats, lasts)
        self.run.setAccessibleName(whole)
        speed = 100.0 * self._pace
        hint = tr("{run}: move to the motion's start, then follow it at {speed:.3g} % of its speed")
        self.run.set_hint(hint.format(run=whole, speed=speed))

    def show_progress(self, text: str, fraction: float) -> None:
        """Show the progress of the current motion."""
        self.progress.setValue(round(1000 * fraction))
        self._set_message(text)

    def show_end(self, cause: Finding | None) -> None:
        """Show that the motion ended, and why if early."""
        self.progress.setValue(1000 if cause is None else 0)
        self._set_message(tr("done") if cause is None else tr("ended: {reason}").format(reason=finding_text(cause)))

    def clear(self) -> None:
        """Clear the progress of a previous motion."""
        self.progress.setValue(0)
        self._set_message("")

    def _set_message(self, text: str) -> None:
        self.phase.setText(text)
        self.phase.setToolTip(text)

    def _resume(self) -> None:
        status = self._session.status
        if status is None or not status.begun_by:
            self._mover.resume()
            return
        box = self.question = QtWidgets.QMessageBox(self.window())
        box.setWindowTitle(tr("Take over the motion"))
        box.setIcon(QtWidgets.QMessageBox.Icon.Warning)
        begun = tr("The motion {name!r} was begun by {client!r}, which no longer commands the rig.")
        place = tr("It continues from {place:.1f} of {whole:.1f} s.")
        if status.path_duration == math.inf:
            place = tr("It continues after {place:.1f} s.")
        box.setText(begun.format(name=status.motion, client=status.begun_by))
        box.setInformativeText(place.format(place=status.path_time, whole=status.path_duration))
        take = box.addButton(tr("Take over and continue"), QtWidgets.QMessageBox.ButtonRole.AcceptRole)
        leave = box.addButton(tr("Cancel"), QtWidgets.QMessageBox.ButtonRole.RejectRole)
        box.setDefaultButton(leave)
        box.setEscapeButton(leave)
        box.setWindowModality(QtCore.Qt.WindowModality.WindowModal)
        box.setAttribute(QtCore.Qt.WidgetAttribute.WA_DeleteOnClose)
        take.clicked.connect(lambda: self._mover.resume(take_over=True))
        box.open()

    def _judge_speed(self) -> None:
        self.refresh(self._against_run)

    def _send_speed(self) -> None:
        self._unanswered += 1
        self._mover.set_speed(self.speed.si() / 100.0, self._speed_answered)

    def _speed_answered(self, refusal: Finding | None) -> None:
        self._unanswered -= 1
        if refusal is not None and not self._unanswered:
            self._show_pace()

    def _show_pace(self) -> None:
        with QtCore.QSignalBlocker(self.speed):
            self.speed.set_si(100.0 * self._pace)

    def _show_left(self) -> None:
        status = self._session.status
        runs = status is not None and (status.state is State.RUNNING or status.resumable)
        left = None
        if status is not None and self._mover.active:
            left = self._mover.left(status)
        elif status is not None and runs and status.path_duration < math.inf:  # from an engine that was taken over
            left = max(0.0, status.path_duration - status.path_time) / status.pace
            self.progress.setValue(round(1000 * status.path_time / max(status.path_duration, 1e-9)))
        big = f'<span style="font-size: {_LARGE}px; font-weight: bold">{_left_text(left or 0.0)}</span>'
        self.left.setText("" if left is None else tr("{time} s left").format(time=big))
        pace = 1.0 if status is None else status.pace
        if pace != self._pace and not self._unanswered:
            self._pace = pace
            self._show_pace()
            self._name_run()


def _run_text(name: str, repeats: int, lasts: float | None) -> str:
    """Return the text of *Run*: motion, number of passes, and duration of one, s."""
    if lasts is None:
        return tr("Run {motion}").format(motion=name)
    length = f"{lasts:.4g} s" if repeats == 1 else f"{repeats} × {lasts:.4g} s"
    return tr("Run {motion}, {length}").format(motion=name, length=length)


def _left_text(left: float) -> str:
    return f"{left:.1f}" if left < 1000.0 else f"{left:.0f}"


def _large(font: QtGui.QFont) -> QtGui.QFont:
    """Return the font of the remaining time."""
    large = QtGui.QFont(font)
    large.setPixelSize(_LARGE)
    large.setBold(True)
    return large
