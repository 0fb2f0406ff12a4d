"""Jog and go to a pose: steps along and about the axes of a frame, steps of one leg, and a pose by numbers."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

import numpy as np
from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.models import Action, Phase, Question
from gui.operate.jog_hold_to_run import JogHoldToRun
from gui.operate.jog_speeds import JogSpeeds
from gui.operate.jog_steps import NAMES, LegSteps, PoseSteps
from gui.operate.jog_target import Target
from gui.operate.pad_jog import PadJog
from gui.operate.range_finder import RangeFinder
from gui.operate.saved_positions import SavedPositions
from gui.operate.target_drag import TargetDrag
from gui.session import Mover, RigSession
from gui.texts import finding_text, mark, tr
from gui.widgets import (
    Columns,
    Fold,
    GuardedButton,
    QuantityBox,
    Reason,
    ScrolledPage,
    TextRoom,
    field_refusal,
    number_fields,
)
from kinematics import Array, JogFrame, interpreted, leg_lengths
from rig.client import AXES, LEGS, Positions, jog_motion, jogged, positions_path
from rig.findings import Finding
from rig.states import MotionKind, State

_OUTCOME = 2
"""Lines for the result of a move; longer text scrolls."""
_FOLDED = "jog/folded"
_SPLITTER = "jog/splitter"


class JogPanel(QtWidgets.QWidget):
    """Small steps and single moves, each checked before it is sent, next to a view of the machine.

    Args:
        session: the rig.
        mover: sends the moves.
    """

    def __init__(self, session: RigSession, mover: Mover, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._mover = mover
        self._geometry = session.config.machine.geometry
        self._mine = False
        self._obstacle = ""
        self._saved_splitter: QtCore.QByteArray | None = None
        self._halves = True
        """Whether controls and view share the page equally; false once the user moved the border."""
        self.steps = PoseSteps(session.config)
        self.legs = LegSteps(session.config)
        self.to = Target(self._geometry.home_pose)
        self.speeds = JogSpeeds(session.config, lambda: self.steps.point)
        self.speed, self.turn_speed = self.speeds.speed, self.speeds.turn_speed
        pads = {**self.steps.pad.buttons, **self.legs.pad.buttons}
        self.hold_to_run = JogHoldToRun(session, mover, pads, self._hold, self)
        self.buttons: dict[str, GuardedButton] = {**pads, "go": self.to.go}
        self.pad = PadJog(session, mover, self.steps.pad.buttons)
        self.saved = SavedPositions(Positions(positions_path(session.config, session.folder)))
        self.buttons["go saved"] = self.saved.go
        self.folds = [
            Fold(mark("Step in pose"), self.steps),
            Fold(mark("Speeds"), self.speeds),
            Fold(mark("Step of one leg"), self.legs),
            Fold(mark("Go to a pose (platform origin in the base frame)"), self.to),
            Fold(mark("Saved positions"), self.saved),
            Fold(mark("Game pad"), self.pad),
        ]
        self.finder = RangeFinder(session.config, mover, self)
        self.drag = TargetDrag(session.config, mover, self.to, self.steps, self.speeds, self._commanded)
        self._lay_out()
        self.steps.pad.pressed.connect(self._step)
        self.legs.pad.pressed.connect(self._step_leg)
        self.to.fill_requested.connect(self._fill_present)
        self.to.go.clicked.connect(self._go)
        self.drag.go.clicked.connect(self._go)
        self.drag.changed.connect(self._show_obstacles)
        self.saved.go_requested.connect(self._go_saved)
        self.saved.save.clicked.connect(self._save_present)
        self.saved.deleted.connect(self._log_deleted)
        session.changed.connect(self.refresh)
        self.finder.changed.connect(self._show_found)
        self.saved.changed.connect(self.refresh)
        for box in number_fields(self.steps, self.speeds, self.legs):
            box.changed.connect(self._fields_changed)
        self.to.changed.connect(self._fields_changed)
        self.steps.frame.currentIndexChanged.connect(self._ask_ranges)
        for box in self.steps.pivot:
            box.changed.connect(self.speeds.refresh)
        self.hold_to_run.changed.connect(self.refresh)
        mover.progressed.connect(lambda *_: self.refresh())
        mover.finished.connect(self._finished)
        self.refresh()

    # -- layout ------------------------------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        self._reason = Reason()
        self._outcome = QtWidgets.QLabel()
        self._outcome.setAccessibleName(tr("Outcome of the last move"))
        self._outcome_room = TextRoom(self._outcome, _OUTCOME)
        content = QtWidgets.QWidget()
        column = QtWidgets.QVBoxLayout(content)
        column.setContentsMargins(8, 6, 8, 6)
        column.addWidget(self._reason)
        column.addWidget(Columns([*self.folds[:2], self.folds[-1]], self.folds[2:-1]))
        column.addWidget(self._outcome_room)
        column.addStretch(1)
        self.controls = ScrolledPage(content)
        room = content.minimumSizeHint().width() + self.controls.verticalScrollBar().sizeHint().width()
        self.controls.setMinimumWidth(room)
        self.splitter = QtWidgets.QSplitter()
        self.splitter.setChildrenCollapsible(False)
        self.splitter.addWidget(self.controls)
        self.splitter.splitterMoved.connect(self._border_moved)
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.splitter)

    def add_picture(self, picture: QtWidgets.QWidget) -> None:
        """Add a view of the machine next to the controls: half of the page, until the user moves the border."""
        self.splitter.addWidget(picture)
        saved = self._saved_splitter
        self._halves = saved is None or not self.splitter.restoreState(saved)
        self._halve()

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        """Keep the shares of controls and view."""
        super().resizeEvent(event)
        self._halve()

    def _halve(self) -> None:
        if self._halves:
            self.splitter.setSizes([self.width() // 2] * 2)

    def _border_moved(self) -> None:
        self._halves = False

    def showEvent(self, event: QtGui.QShowEvent) -> None:
        """Show what changed while hidden."""
        super().showEvent(event)
        self.saved.read()
        self.refresh()

    # -- settings ----------------------------------------------------------------------------------------------------

    def save(self, settings: QtCore.QSettings) -> None:
        """Save step sizes, speeds and pivot of this rig, the frame, and the layout."""
        for name, box in self._rig_settings().items():
            if not box.reason:
                settings.setValue(name, box.si())
        settings.setValue("jog/frame", self.steps.frame.currentData())
        settings.setValue(_FOLDED, ";".join(fold.title for fold in self.folds if not fold.is_open))
        if not self._halves:
            settings.setValue(_SPLITTER, self.splitter.saveState())

    def restore(self, settings: QtCore.QSettings) -> None:
        """Restore saved values that are numbers within the fields' bounds."""
        for name, box in self._rig_settings().items():
            try:
                saved = float(settings.value(name, box.si()))
            except (TypeError, ValueError):
                continue  # the user may have edited the file
            if not box.fault(saved):
                box.set_si(saved)
        self.steps.frame.setCurrentIndex(max(0, self.steps.frame.findData(settings.value("jog/frame", "base"))))
        folded = str(settings.value(_FOLDED, "")).split(";")
        for fold in self.folds:
            fold.set_open(fold.title not in folded)
        state = settings.value(_SPLITTER)
        self._saved_splitter = state if isinstance(state, QtCore.QByteArray) else None

    def _rig_settings(self) -> dict[str, QuantityBox]:
        """Return the settings specific to the rig, by key."""
        boxes = {
            "translation": self.steps.translation,
            "rotation": self.steps.rotation,
            "leg": self.legs.step,
            "speed": self.speed,
            "turn speed": self.turn_speed,
            "held share": self.speeds.share,
        } | {f"pivot {axis}": box for axis, box in zip("xyz", self.steps.pivot, strict=True)}
        return {f"jog/of {self._session.config.name}/{name}": box for name, box in boxes.items()}

    # -- moves -------------------------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Enable the moves, or show why not; show the commanded pose."""
        reason = self._session.obstacle(Action.MOVE)
        if key := self.hold_to_run.key:
            way = key[0] + NAMES.get(key[1:], key[1:])
            reason = tr("it moves as long as {way} is held").format(way=way)
        elif not reason and self._mover.active:
            reason = tr("a move is under way")
        self._obstacle = reason
        self._reason.show_reason(reason)
        self._ask_ranges()
        self._show_obstacles()
        self._show_present()
        self.drag.refresh()

    def _ask_ranges(self, _changed: object = None) -> None:
        """Compute free ranges and check steps, while the platform is at rest where moves are allowed."""
        pose = self._commanded()
        if self._obstacle or pose is None or not self.isVisible() or field_refusal(self.steps, self.speeds, self.legs):
            self.finder.ask(None)
            return
        sizes = (self.steps.translation.si(), self.steps.rotation.si(), self.legs.step.si())
        axes, speeds = (self.steps.axes, self.steps.point), (self.speed.si(), self.turn_speed.si())
        self.finder.ask(Question(tuple(pose.tolist()), *sizes, *axes, *speeds))

    def _against(self, key: str) -> str:
        """Why the move of a button is not allowed; empty also for the button held during its move."""
        status = self._session.status
        if key == self.hold_to_run.key and status is not None and status.state in (State.ENGAGED, State.RUNNING):
            return ""
        if self._obstacle:  # first: this is asked for each button with each status
            return self._obstacle
        own = {"go saved": self.saved.go_obstacle, "go": self.drag.refusal}
        if reason := field_refusal(*self._used_by(key)) or own.get(key, ""):
            return reason
        refusal = None if key in own else self.finder.refusals.get(key)
        return "" if refusal is None else finding_text(refusal)

    def _used_by(self, key: str) -> Sequence[QuantityBox]:
        """Return the fields that the move of a button depends on, as a step or a hold."""
        peaks = (self.speed, self.turn_speed)
        if key in ("go", "go saved"):
            return (*self.to.boxes, *peaks) if key == "go" else peaks
        axis = key[1:]
        if axis in LEGS:
            return self.legs.step, self.speeds.share, *peaks
        size = self.steps.translation if axis in AXES[:3] else self.steps.rotation
        return size, *self.steps.pivot, self.speeds.share, *peaks

    def _fields_changed(self) -> None:
        """Update what depends on typed values, with each key."""
        self._ask_ranges()
        self._show_obstacles()
        self._name_target(self._commanded())

    def _name_target(self, present: Array | None) -> None:
        words = self.to.words(present)
        for button in (self.to.go, self.drag.go):
            button.name_target(words)

    def _show_obstacles(self) -> None:
        for key, button in self.buttons.items():
            button.set_obstacle(self._against(key))
        self.drag.go.set_obstacle(self._against("go"))

    def _show_found(self) -> None:
        self._show_obstacles()
        ranges = self.finder.ranges
        for axis, bar in self.steps.bars.items():
            bar.show_ranges(ranges.get(f"-{axis}"), ranges.get(f"+{axis}"))

    @property
    def outcome(self) -> str:
        """The displayed result of the last move."""
        return str(self._outcome.text())

    def _step(self, axis: str, sign: int) -> None:
        step, frame, pivot = sign * self.steps.size_of(axis), self.steps.axes, self.steps.point
        name = f"jog {'+' if sign > 0 else '−'}{NAMES[axis]}"
        config = self._session.config
        self._move(name, lambda pose: jogged(config, pose, axis, step, frame, pivot), MotionKind.JOG)

    def _step_leg(self, axis: str, sign: int) -> None:
        step, config = sign * self.legs.step.si(), self._session.config
        target = partial(jogged, config, axis=axis, step=step, frame="base", pivot=(0.0, 0.0, 0.0))
        self._move(f"jog leg {LEGS[axis]}", target, MotionKind.LEG_STEP)

    def _hold(self, way: str) -> None:
        """Move along or about an axis, or one leg, until its button is released."""
        axis, config = way[1:], self._session.config
        sign: Literal[1, -1] = 1 if way[0] == "+" else -1
        own = axis in LEGS  # a leg's length has neither frame nor pivot
        frame: JogFrame = "base" if own else self.steps.axes
        pivot = (0.0, 0.0, 0.0) if own else self.steps.point
        speed, greatest = self.pad.share * self.speeds.hold_speed(axis), self.speeds.greatest(axis)

        plan = partial(jog_motion, config, axis, sign, frame, pivot, speed, greatest)
        name = f"hold {'+' if sign > 0 else '−'}{NAMES.get(axis, axis)}"
        self._outcome_room.show_text("")
        self._mine = True
        self._mover.run_hold_to_run(name, plan, MotionKind.LEG_STEP if own else MotionKind.JOG)

    def _go(self) -> None:
        target = self.to.pose
        self._move("go to pose", lambda _pose: target, MotionKind.MOVE)

    def _go_saved(self, name: str, target: Array) -> None:
        self._move(f"go to {name}", lambda _pose: target, MotionKind.MOVE)

    def _save_present(self) -> None:
        pose = self._commanded()
        if pose is not None:
            self.saved.keep(pose)

    def _log_deleted(self, name: str, pose: Array) -> None:
        """Log the pose, so that it can be restored."""
        numbers = ",".join(f"{value:.9g}" for value in pose)
        self._session.log(
            "info",
            "operator",
            tr("the saved position {name!r} was deleted; it was {numbers}").format(name=name, numbers=numbers),
        )

    def _move(self, name: str, target: Callable[[Array], Array], purpose: MotionKind) -> None:
        self._outcome_room.show_text("")
        self._mine = True
        self._mover.move_to(name, target, self.speed.si(), self.turn_speed.si(), purpose)

    def _fill_present(self) -> None:
        pose = self._commanded()
        if pose is not None:
            self.to.fill(pose)

    def _finished(self, cause: Finding | None) -> None:
        if self._mine:
            ended_early = tr("The move failed or ended early: {reason}")
            self._outcome_room.show_text("" if cause is None else ended_early.format(reason=finding_text(cause)))
        self._mine = False
        self.refresh()

    def _commanded(self) -> Array | None:
        """Return the commanded pose, (7,); None if unknown."""
        status = self._session.status
        if self._session.phase is not Phase.UP or status is None or status.state is State.OFF or not status.homed:
            return None
        return np.array(status.reference)

    def _show_present(self) -> None:
        pose = self._commanded()
        if pose is not None and not self.isVisible():
            return
        self.to.show_present(pose)
        self._name_target(pose)
        self.saved.set_known(pose is not None)
        with interpreted():  # one pose
            lengths = [None] * 6 if pose is None else leg_lengths(self._geometry, pose).tolist()
        for label, length in zip(self.legs.lengths, lengths, strict=True):
            label.setText("–" if length is None else f"{length * 1e3:.2f} mm")
