"""Two steps to anything that moves: arm, then press within five seconds."""

from collections.abc import Callable

from pyqtgraph.Qt import QtCore

from gui.controls import GuardedButton

ARMED_TIME = 5000
"""ms in which the second step must follow the first."""


class ArmedPair(QtCore.QObject):
    """An Arm button and the one that it enables.

    Args:
        arm, act: texts of the two.
        what: what moves, in words.
        press: called by the second.
        parent: owner.
    """

    def __init__(self, act: str, what: str, press: Callable[[], None], parent: QtCore.QObject) -> None:
        super().__init__(parent)
        self.arm = GuardedButton("Arm", f"First of two steps: then press {act} within five seconds")
        self.arm.setAccessibleName(f"Arm: {what}")
        self.arm.setObjectName("armed")
        self.arm.setCheckable(True)
        self.arm.setMinimumWidth(90)  # "Armed", in bold type
        self.act = GuardedButton(act, what)
        self.act.setAccessibleName(f"{act}: {what}")
        self._press = press
        self._text = act
        self._obstacle = ""
        self.timer = QtCore.QTimer(self)
        self.timer.setSingleShot(True)
        self.timer.setInterval(ARMED_TIME)
        self.timer.timeout.connect(self.disarm)
        self.arm.toggled.connect(self._toggled)
        self.act.clicked.connect(lambda: self._pressed())
        self.set_obstacle("")

    def set_obstacle(self, reason: str) -> None:
        """Disable both for `reason`; empty: the first can be pressed."""
        self._obstacle = reason
        if reason and self.arm.isChecked():
            self.arm.setChecked(False)  # comes back here
            return
        self.arm.set_obstacle(reason)
        armed = self.arm.isChecked()
        self.arm.setText("Armed" if armed else "Arm")
        self.act.set_obstacle(reason or ("" if armed else f"press Arm first, then {self._text} within 5 s"))

    def disarm(self) -> None:
        """Back to the first step."""
        self.arm.setChecked(False)

    def _toggled(self, armed: bool) -> None:
        if armed:
            self.timer.start()
        else:
            self.timer.stop()
        self.set_obstacle(self._obstacle)

    def _pressed(self) -> None:
        self.disarm()
        self._press()
