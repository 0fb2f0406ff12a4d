"""Two-step control for everything that moves: arm, then press within five seconds."""

import math
from collections.abc import Callable

from pyqtgraph.Qt import QtCore, QtGui

from gui.models import ARMED_TIME, arm_first
from gui.texts import tr
from gui.widgets.controls import GuardedButton
from gui.widgets.icons import set_icon

_BUTTON_MARGIN = 46  # px of a button besides its text: icon, margins and spacing
_TICK = 200  # ms between updates of the remaining time


class ArmedPair(QtCore.QObject):
    """An Arm button and the one that it enables.

    Args:
        act: text of the second.
        what: what moves, as text.
        press: called by the second.
        parent: owner.
        key: shortcut before the text of the first, "&3  " for Alt+3.
    """

    def __init__(self, act: str, what: str, press: Callable[[], None], parent: QtCore.QObject, key: str = "") -> None:
        super().__init__(parent)
        self._key = key
        self.arm = GuardedButton(
            key + tr("Arm"), tr("First of two steps: then press {act} within five seconds").format(act=act)
        )
        self.arm.setAccessibleName(tr("Arm: {what}").format(what=what))
        self.arm.setObjectName("armed")
        self.arm.setCheckable(True)
        set_icon(self.arm, "arm")
        bold = QtGui.QFont(self.arm.font())
        bold.setBold(True)
        longest = self._key.replace("&", "") + self._armed_text(ARMED_TIME // 1000)
        self.arm.setMinimumWidth(QtGui.QFontMetrics(bold).horizontalAdvance(longest) + _BUTTON_MARGIN)
        self.act = GuardedButton(act, what)
        self.act.setAccessibleName(f"{act}: {what}")
        self._press = press
        self._then = arm_first(act)
        self._obstacle = ""
        self.timer = QtCore.QTimer(self)
        self.timer.setSingleShot(True)
        self.timer.setInterval(ARMED_TIME)
        self.timer.timeout.connect(self.disarm)
        self._ticks = QtCore.QTimer(self)
        self._ticks.setInterval(_TICK)
        self._ticks.timeout.connect(self._count_down)
        self.arm.toggled.connect(self._toggled)
        self.act.clicked.connect(lambda: self._pressed())
        self.set_obstacle("")

    def set_obstacle(self, reason: str) -> None:
        """Disable both for `reason`; empty enables the first."""
        self._obstacle = reason
        if reason and self.arm.isChecked():
            self.arm.setChecked(False)  # recursive through its signal
            return
        self.arm.set_obstacle(reason)
        self._count_down()
        self.act.set_obstacle(reason or ("" if self.arm.isChecked() else self._then))

    def disarm(self) -> None:
        """Return to the first step."""
        self.arm.setChecked(False)

    def _count_down(self) -> None:
        left = math.ceil(self.timer.remainingTime() / 1000.0)
        armed = self.arm.isChecked()
        self.arm.setText(self._key + (self._armed_text(left) if armed else tr("Arm")))

    @staticmethod
    def _armed_text(left: int) -> str:
        return tr("Armed, {left}\u00a0s").format(left=left)

    def _toggled(self, armed: bool) -> None:
        for timer in (self.timer, self._ticks):
            if armed:
                timer.start()
            else:
                timer.stop()
        self.set_obstacle(self._obstacle)

    def _pressed(self) -> None:
        self.disarm()
        self._press()
