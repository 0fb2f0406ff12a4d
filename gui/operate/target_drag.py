"""The target pose of the Jog page as a handle in the view of the machine; dragging it sets the numbers."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from pyqtgraph.Qt import QtCore, QtWidgets

from gui.operate.jog_speeds import JogSpeeds
from gui.operate.jog_steps import NAMES, PoseSteps
from gui.operate.jog_target import LONGEST_TARGET, GoButton, Target
from gui.scene import TargetPose
from gui.session import Mover
from gui.texts import finding_text, tr
from gui.widgets import display_unit, field_refusal, set_icon
from kinematics import Array, quaternion_to_matrix
from rig.client import AXES, jogged, step_refusal
from rig.config import RigConfig
from rig.findings import Finding

_IDLE = tr("Drag an arrow or a ring of the handle: the numbers of the target follow. Nothing moves before Go.")


class TargetDrag(QtCore.QObject):
    """Shows the target as a ghost with a handle, and writes dragged poses into the numbers.

    Dragging moves nothing: Go does. A target whose move would be refused is marked, with the reason, whatever its
    origin;
    `refusal` is that reason, `changed` is emitted when it changes.

    Args:
        config: the rig.
        mover: checks targets, in a process.
        target: the numbers.
        steps: frame and pivot of the handle.
        speeds: of a move.
        commanded: returns the commanded pose, (7,); None if unknown.
    """

    changed = QtCore.Signal()

    def __init__(
        self,
        config: RigConfig,
        mover: Mover,
        target: Target,
        steps: PoseSteps,
        speeds: JogSpeeds,
        commanded: Callable[[], Array | None],
        parent: QtCore.QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._config = config
        self._mover = mover
        self._target = target
        self._steps = steps
        self._speeds = speeds
        self._commanded = commanded
        self._picture: Any = None
        self._start = target.pose
        self._asked: tuple[bytes, ...] | None = None  # the checked query, or the one in progress
        self._checking = False
        self._dragged = ""
        self.refusal = ""
        self.switch = QtWidgets.QToolButton()
        self.switch.setText(tr("Drag target"))
        self.switch.setToolButtonStyle(QtCore.Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        set_icon(self.switch, "target")
        self.switch.setCheckable(True)
        self.switch.setAccessibleName(tr("Drag the target pose in the picture"))
        self.words = QtWidgets.QLabel(_IDLE)
        self.words.setObjectName("muted")
        self.words.setWordWrap(True)
        self.words.setAccessibleName(tr("Dragged target"))
        self.words.setMinimumHeight(2 * self.words.fontMetrics().lineSpacing())  # the view keeps its height
        self.go = GoButton()
        self.go.setFixedWidth(LONGEST_TARGET)  # fixed position for any text
        self.bar = QtWidgets.QWidget()
        row = QtWidgets.QHBoxLayout(self.bar)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.words, 1)
        row.addWidget(self.go)
        self.bar.hide()
        self.switch.toggled.connect(self._switch)
        target.changed.connect(self.refresh)
        steps.frame.currentIndexChanged.connect(self.refresh)
        for box in (*steps.pivot, speeds.speed, speeds.turn_speed):
            box.changed.connect(self.refresh)

    def show_on(self, picture: Any) -> None:
        """Drag in a `PlatformGL`; in the 2-D fallback, show why not."""
        if problem := picture.problem:
            self.switch.setEnabled(False)
            self.switch.setToolTip(
                tr("Not possible: {reason}. Enter the numbers of the target instead.").format(reason=problem)
            )
        else:
            self._picture = picture
            self.switch.setToolTip(tr("Show a handle at the target pose, starting at the platform; Go moves there"))
            picture.view.taken.connect(self._drag_started)
            picture.view.dragged.connect(self._drag)
            picture.view.dropped.connect(self._drop)
        self.switch.setAccessibleDescription(self.switch.toolTip())

    def refresh(self, _changed: object = None) -> None:
        """Show the handle at the numbers, and check whether a move there is allowed."""
        if not self.bar.isVisible():
            return
        if fault := field_refusal(*self._target.boxes, *self._steps.pivot, self._speeds.speed, self._speeds.turn_speed):
            self._asked = None
            self._known("")  # the buttons show what is wrong with the numbers
            self._picture.set_target(None)
            self.words.setText(fault)
            return
        self._ask()
        self._show()

    def _switch(self, on: bool) -> None:
        here = self._commanded()
        self.bar.setVisible(on)
        if on:
            if here is not None:
                self._target.fill(here)
            self.refresh()
            return
        self._picture.set_target(None)
        self._asked = None
        self._known("")

    # -- dragging ----------------------------------------------------------------------------------------------------

    def _drag_started(self, part: str) -> None:
        self._start = self._target.pose

    def _drag(self, part: str, amount: float) -> None:
        pose = jogged(self._config, self._start, part, amount, self._steps.axes, self._steps.point)
        shown, factor, _decimals = display_unit("m" if part in AXES[:3] else "rad")
        self._dragged = f"{NAMES[part]} {amount * factor:+z.1f} {shown}. "
        try:
            self._target.fill(pose)
        except ValueError as error:  # near the horizon, where a px is very far
            self._dragged = f"{error}. "
            self._show()

    def _drop(self) -> None:
        self._dragged = ""
        self.refresh()

    # -- result ------------------------------------------------------------------------------------------------------

    def _ask(self) -> None:
        """Check the current target after the check in progress; only one runs at a time."""
        here, there = self._commanded(), self._target.pose
        if here is None or self._mover.active:  # no check during a move
            self._asked = None
            self._known("")
            return
        speeds = np.array([self._speeds.speed.si(), self._speeds.turn_speed.si()])
        question = (here.tobytes(), there.tobytes(), speeds.tobytes())
        if question == self._asked or self._checking:
            return
        self._asked, self._checking = question, True
        self._mover.preview(self._answered, step_refusal, self._config, here, partial(np.array, there), *speeds)

    def _answered(self, refusal: Finding | None, error: Exception | None) -> None:
        self._checking = False
        if self.switch.isChecked() and self._asked is not None:
            self._known("" if refusal is None else finding_text(refusal))
            self.refresh()  # the target may have changed meanwhile
        if error is not None:  # to the log; Go checks its move again
            raise error

    def _known(self, refusal: str) -> None:
        if refusal != self.refusal:
            self.refusal = refusal
            self.changed.emit()

    def _show(self) -> None:
        pose, point = self._target.pose, np.array(self._steps.point)
        turn = quaternion_to_matrix(pose[3:])
        axes = np.eye(3) if self._steps.axes == "base" else turn
        self._picture.set_target(TargetPose(pose, pose[:3] + turn @ point, axes, bool(self.refusal)))
        self.words.setText(
            self._dragged + tr("Refused: {reason}").format(reason=self.refusal)
            if self.refusal
            else self._dragged or _IDLE
        )
