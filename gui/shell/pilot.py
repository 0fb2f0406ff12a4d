"""Operates the app automatically, for pictures and measurements."""

import time
from collections.abc import Callable

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.models import Action
from gui.shell.main_window import MainWindow
from rig.states import State

START = 180.0
"""s; the first start on a machine compiles the kernels."""
REST = 0.5
"""s at rest before the cells' zero is checked."""
_CHECKED = 180.0  # s to check a motion with all repetitions and to move to its start
_STEP = 30.0  # s for anything else


class Pilot:
    """Operates the app like a user: waits until a button is enabled, and presses it.

    Args:
        window: the app, visible.
    """

    def __init__(self, window: MainWindow) -> None:
        self.window = window

    def home(self) -> None:
        """From Off to Parked."""
        self.click(Action.CONNECT)
        self.reach(State.IDLE, START)
        self.click(Action.HOME)
        self.reach(State.PARKED)

    def engage(self) -> None:
        """From Parked to Engaged."""
        arm, engage = self.window.operate.arm, self.window.operate.buttons[Action.ENGAGE]
        self.pass_time(REST)
        self.wait(arm.isEnabled, "Arm to be possible")
        if not arm.isChecked():
            arm.click()
        self.wait(engage.isEnabled, "Engage to be possible")
        engage.click()
        self.reach(State.ENGAGED)

    def run(self, repeats: int) -> None:
        """From Engaged to Running: run the motion of the tab Motion `repeats` times; returns once it has started."""
        motion = self.window.motion
        motion.repeats.setValue(repeats)
        self.wait(motion.run.isEnabled, "the motion to be possible")
        motion.run.click()

        def runs() -> bool:
            status = self.window.session.status
            return status is not None and status.state is State.RUNNING and status.motion == motion.document.state.name

        self.wait(runs, "the motion to run", _CHECKED)

    def wait(self, until: Callable[[], bool], what: str, timeout: float = _STEP) -> None:
        """Run the event loop until `until` holds. Raises TimeoutError after `timeout` s, with `what` and the state."""
        deadline = time.monotonic() + timeout
        flags = QtCore.QEventLoop.ProcessEventsFlag
        while not until():
            if time.monotonic() > deadline:
                raise TimeoutError(f"timed out after {timeout:g} s waiting for {what}: {self.window.windowTitle()}")
            # the frame clock wakes it
            QtWidgets.QApplication.processEvents(flags.AllEvents | flags.WaitForMoreEvents)

    def pass_time(self, duration: float) -> None:
        """Run the event loop for a time, s."""
        end = time.monotonic() + duration
        self.wait(lambda: time.monotonic() > end, "time to pass", duration + _STEP)

    def click(self, action: Action) -> None:
        """Press the button of a step once enabled. Raises TimeoutError as `wait`."""
        button = self.window.operate.buttons[action]
        self.wait(button.isEnabled, f"{action.value} to be possible")
        button.click()

    def reach(self, state: State, timeout: float = _STEP) -> None:
        """Wait for a state of the engine. Raises TimeoutError after `timeout` s."""

        def reached() -> bool:
            status = self.window.session.status
            return status is not None and status.state is state

        self.wait(reached, f"state {state.name}", timeout)
