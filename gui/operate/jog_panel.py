"""Jog and go to a pose: steps along and about the axes of a frame, steps of one leg, and a pose given by numbers."""

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from pyqtgraph.Qt import QtCore, QtWidgets

from gui.session import Action, Mover, Phase, RigSession
from gui.widgets import Choice, GuardedButton, QuantityBox, Reason
from kinematics import (
    Array,
    JogFrame,
    coordinates_to_pose,
    leg_lengths,
    leg_stepped_pose,
    pose_to_coordinates,
    stepped_pose,
)
from rig.states import MotionKind, State

AXES = ("x", "y", "z", "rx", "ry", "rz")
_NAMES = ("x", "y", "z", "θx", "θy", "θz")
_FASTEST, _FASTEST_TURN = 0.5, 1.0  # m/s, rad/s offered; the check decides what passes


class JogPanel(QtWidgets.QScrollArea):
    """Small steps and single moves, each checked before it is sent.

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
        self.buttons: dict[str, GuardedButton] = {}
        self.setWidgetResizable(True)
        self.setFrameShape(QtWidgets.QFrame.Shape.NoFrame)
        content = QtWidgets.QWidget()
        layout = QtWidgets.QGridLayout(content)
        self._reason = Reason()
        self._reason.setMinimumHeight(self._reason.fontMetrics().lineSpacing())
        policy = self._reason.sizePolicy()
        policy.setRetainSizeWhenHidden(True)  # what is below does not jump
        self._reason.setSizePolicy(policy)
        self._outcome = QtWidgets.QLabel()
        self._outcome.setWordWrap(True)
        self._outcome.setAccessibleName("Outcome of the last move")
        layout.addWidget(self._reason, 0, 0, 1, 2)
        layout.addWidget(self._pose_group(), 1, 0)
        layout.addWidget(self._leg_group(), 1, 1)
        layout.addWidget(self._goto_group(), 2, 0)
        layout.addWidget(self._speed_group(), 2, 1)
        layout.addWidget(self._outcome, 3, 0, 1, 2)
        layout.setRowStretch(4, 1)
        layout.setColumnStretch(2, 1)
        self._layout = layout
        self.setWidget(content)
        session.changed.connect(self.refresh)
        mover.progressed.connect(lambda *_: self.refresh())
        mover.finished.connect(self._finished)
        self.fill(self._geometry.home_pose)
        self.refresh()

    # -- what is on the panel ----------------------------------------------------------------------------------------

    def _pose_group(self) -> QtWidgets.QGroupBox:
        group = QtWidgets.QGroupBox("Step in pose")
        grid = QtWidgets.QGridLayout(group)
        self.translation = QuantityBox("Step of position", "m", 0.005, 1e-5, 0.1)
        self.rotation = QuantityBox("Step of angle", "rad", math.radians(1.0), 1e-4, 0.5)
        self.frame = Choice("Frame of the steps", [("base axes", "base"), ("platform axes", "platform")])
        self.frame.setToolTip("Axes along and about which a step goes")
        self.pivot = [QuantityBox(f"Pivot {axis}, platform axes", "m", 0.0, -1.0, 1.0) for axis in "xyz"]
        for axis, box in zip("xyz", self.pivot, strict=True):
            box.setPrefix(f"{axis} ")
        for row, (name, field) in enumerate(
            (("Position step", self.translation), ("Angle step", self.rotation), ("Frame", self.frame))
        ):
            grid.addWidget(QtWidgets.QLabel(name), row, 0)
            grid.addWidget(field, row, 1, 1, 3)
        label = QtWidgets.QLabel("Pivot")
        label.setToolTip("Point of the platform, in platform axes, about which it turns")
        grid.addWidget(label, 3, 0)
        for column, box in enumerate(self.pivot, start=1):
            grid.addWidget(box, 3, column)
        for index, name in enumerate(_NAMES):
            row = 4 + index % 3
            cell = QtWidgets.QHBoxLayout()
            for sign, symbol in ((-1, "−"), (1, "+")):
                button = self._button(f"{symbol} {name}", f"{'+' if sign > 0 else '-'}{AXES[index]}")
                button.clicked.connect(partial(self._step, index, sign))
                cell.addWidget(button)
            grid.addLayout(cell, row, 0 if index < 3 else 2, 1, 2)
        return group

    def _leg_group(self) -> QtWidgets.QGroupBox:
        group = QtWidgets.QGroupBox("Step of one leg")
        grid = QtWidgets.QGridLayout(group)
        self.leg_step = QuantityBox("Step of a leg", "m", 0.002, 1e-5, 0.05)
        grid.addWidget(QtWidgets.QLabel("Length step"), 0, 0)
        grid.addWidget(self.leg_step, 0, 1, 1, 3)
        self.lengths: list[QtWidgets.QLabel] = []
        for leg in range(1, 7):
            grid.addWidget(QtWidgets.QLabel(f"Leg {leg}"), leg, 0)
            length = QtWidgets.QLabel("–")
            length.setMinimumWidth(length.fontMetrics().horizontalAdvance("000.00 mm"))
            length.setAccessibleName(f"Length of leg {leg}, mm")
            self.lengths.append(length)
            grid.addWidget(length, leg, 1)
            for column, (sign, symbol) in enumerate(((-1, "−"), (1, "+")), start=2):
                button = self._button(symbol, f"{'+' if sign > 0 else '-'}leg{leg}")
                button.setAccessibleName(f"Leg {leg} {'longer' if sign > 0 else 'shorter'}")
                button.clicked.connect(partial(self._step_leg, leg, sign))
                grid.addWidget(button, leg, column)
        return group

    def _goto_group(self) -> QtWidgets.QGroupBox:
        group = QtWidgets.QGroupBox("Go to a pose (platform origin in the base frame)")
        grid = QtWidgets.QGridLayout(group)
        self.target = [QuantityBox(f"Target {name}", "m" if index < 3 else "rad") for index, name in enumerate(_NAMES)]
        self.present: list[QtWidgets.QLabel] = []
        for text, column in (("target", 1), ("now", 2), ("target", 5), ("now", 6)):
            heading = QtWidgets.QLabel(text)
            heading.setObjectName("muted")
            heading.setAlignment(QtCore.Qt.AlignmentFlag.AlignRight)
            grid.addWidget(heading, 0, column)
        for index, (name, box) in enumerate(zip(_NAMES, self.target, strict=True)):
            row, column = 1 + index % 3, 4 * (index // 3)
            now = QtWidgets.QLabel("–")
            now.setAlignment(QtCore.Qt.AlignmentFlag.AlignRight | QtCore.Qt.AlignmentFlag.AlignVCenter)
            now.setMinimumWidth(now.fontMetrics().horizontalAdvance("−000.00 mm"))
            now.setAccessibleName(f"Commanded {name} now, {'mm' if index < 3 else '°'}")
            self.present.append(now)
            for place, widget in enumerate((QtWidgets.QLabel(name), box, now)):
                grid.addWidget(widget, row, column + place)
        grid.setColumnStretch(1, 1)
        grid.setColumnMinimumWidth(3, 12)
        grid.setColumnStretch(5, 1)
        self.here = GuardedButton("Present pose", "Fill in where the platform is commanded to be now")
        self.here.clicked.connect(self._fill_present)
        home = QtWidgets.QPushButton("Home pose")
        home.setToolTip("Fill in the mechanism's home pose")
        home.clicked.connect(lambda: self.fill(self._geometry.home_pose))
        go = self._button("Go", "go")
        go.clicked.connect(self._go)
        row = QtWidgets.QHBoxLayout()
        for button in (self.here, home, go):
            row.addWidget(button)
        grid.addLayout(row, 4, 0, 1, 7)
        return group

    def _speed_group(self) -> QtWidgets.QGroupBox:
        group = QtWidgets.QGroupBox("Peak speed of a move")
        form = QtWidgets.QFormLayout(group)
        motion = self._session.config.motion
        self.speed = _speed_box("Peak speed", "m/s", motion.approach_speed, _FASTEST)
        self.turn_speed = _speed_box("Peak angular speed", "rad/s", motion.approach_rotation, _FASTEST_TURN)
        form.addRow("Position", self.speed)
        form.addRow("Angles", self.turn_speed)
        return group

    def _button(self, text: str, key: str) -> GuardedButton:
        button = GuardedButton(text)
        self.buttons[key] = button
        return button

    def show_beside(self, picture: QtWidgets.QWidget) -> None:
        """Put a picture of the machine beside the controls."""
        self._layout.addWidget(picture, 0, 2, 5, 1)

    # -- what it does ------------------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Enable the moves, or say why there can be none; show where the platform is commanded to be."""
        reason = self._session.obstacle(Action.MOVE)
        if not reason and self._mover.active:
            reason = "a move is under way"
        self._reason.show_reason(reason)
        for button in self.buttons.values():
            button.set_obstacle(reason)
        self._show_present()

    def fill(self, pose: Array) -> None:
        """Put a pose (7,) into the target's fields."""
        for box, value in zip(self.target, pose_to_coordinates(pose), strict=True):
            box.set_si(float(value))

    def save(self, settings: QtCore.QSettings) -> None:
        """Keep step sizes, speeds, frame and pivot."""
        for name, box in self._kept().items():
            settings.setValue(f"jog/{name}", box.si())
        settings.setValue("jog/frame", self.frame.currentData())

    def restore(self, settings: QtCore.QSettings) -> None:
        """Take up what was kept, as far as it is numbers within the fields' bounds."""
        for name, box in self._kept().items():
            try:
                kept = float(settings.value(f"jog/{name}", box.si()))
            except (TypeError, ValueError):
                continue  # somebody has edited the file
            if not box.fault(kept):
                box.set_si(kept)
        self.frame.setCurrentIndex(max(0, self.frame.findData(settings.value("jog/frame", "base"))))

    def _kept(self) -> dict[str, QuantityBox]:
        return {
            "translation": self.translation,
            "rotation": self.rotation,
            "leg": self.leg_step,
            "speed": self.speed,
            "turn speed": self.turn_speed,
        } | {f"pivot {axis}": box for axis, box in zip("xyz", self.pivot, strict=True)}

    @property
    def outcome(self) -> str:
        """What came of the last move, as it is shown."""
        return str(self._outcome.text())

    def _step(self, index: int, sign: int) -> None:
        step = np.zeros(6)
        step[index] = sign * (self.translation if index < 3 else self.rotation).si()
        frame: JogFrame = self.frame.currentData()
        pivot = np.array([box.si() for box in self.pivot])
        name = f"jog {'+' if sign > 0 else '−'}{_NAMES[index]}"
        self._move(name, partial(_step_from, step, frame, pivot), MotionKind.JOG)

    def _step_leg(self, leg: int, sign: int) -> None:
        step = sign * self.leg_step.si()
        name = f"jog leg {leg}"
        self._move(name, lambda pose: leg_stepped_pose(self._geometry, pose, leg, step), MotionKind.LEG_STEP)

    def _go(self) -> None:
        target = coordinates_to_pose(np.array([box.si() for box in self.target]))
        self._move("go to pose", lambda _pose: target, MotionKind.MOVE)

    def _move(self, name: str, target: Callable[[Array], Array], purpose: MotionKind) -> None:
        self._outcome.clear()
        self._mine = True
        self._mover.move_to(name, target, self.speed.si(), self.turn_speed.si(), purpose)

    def _fill_present(self) -> None:
        pose = self._commanded()
        if pose is not None:
            self.fill(pose)

    def _finished(self, reason: str) -> None:
        if self._mine:
            self._outcome.setText(f"Not moved, or not to the end: {reason}" if reason else "")
        self._mine = False
        self.refresh()

    def _commanded(self) -> Array | None:
        """Where the platform is commanded to be, (7,); None while nobody knows where it is."""
        status = self._session.status
        if self._session.phase is not Phase.UP or status is None or status.state is State.OFF or not status.homed:
            return None
        return np.array(status.reference)

    def _show_present(self) -> None:
        pose = self._commanded()
        self.here.set_obstacle("" if pose is not None else "the pose is not known: connect and home first")
        if pose is None:
            for label in (*self.present, *self.lengths):
                label.setText("–")
        elif self.isVisible():
            for index, (label, value) in enumerate(zip(self.present, pose_to_coordinates(pose), strict=True)):
                label.setText(f"{value * 1e3:z.2f} mm" if index < 3 else f"{math.degrees(value):z.2f} °")
            for label, length in zip(self.lengths, leg_lengths(self._geometry, pose), strict=True):
                label.setText(f"{length * 1e3:.2f} mm")


def _speed_box(name: str, unit: str, value: float, most: float) -> QuantityBox:
    """The configured speed is offered, however fast or slow it is."""
    return QuantityBox(name, unit, value, min(1e-3, value), max(most, value))


def _step_from(step: Array, frame: JogFrame, pivot: Array, pose: Array) -> Array:
    return stepped_pose(pose, step, frame, pivot)
