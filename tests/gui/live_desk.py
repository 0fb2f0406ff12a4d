"""The app on real processes, operated by real mouse clicks, which are counted."""

import time

from desk import Desk

from rig.states import MotionKind, MotionOutcome

START = 180.0  # s; the first start on a machine compiles the kernels
STEP = 60.0  # s
_BUTTON = "window.operate.buttons[Action.{}]"
CONNECT, HOME, ENGAGE, RESET, DISCONNECT = (
    _BUTTON.format(name) for name in ("CONNECT", "HOME", "ENGAGE", "RESET", "DISCONNECT")
)
_MOTION = "session.status.last_motion"
_RUN_UNDER_WAY = (
    f"{_MOTION} is not None "
    f"and ({_MOTION}.kind, {_MOTION}.outcome) == {(MotionKind.RUN.value, MotionOutcome.UNDERWAY.value)}"
)


class LiveDesk:
    """What an operator does, step by step. `clicks`: how many there were."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.clicks = 0

    def press(self, expression: str) -> None:
        """Click on something."""
        self.desk.press(expression)
        self.clicks += 1

    def reach(self, state: str, patience: float = STEP) -> None:
        """Wait for a state of the engine."""
        try:
            self.desk.wait(f"session.status is not None and session.status.state is State.{state}", patience)
        except AssertionError as late:
            log = self.desk.value("[each.text for each in window.views.log.model.entries]")
            raise AssertionError(f"{late}; {log}") from None

    def connect(self) -> None:
        """From no engine to IDLE; an engine that does not get up in time on a busy machine is started again."""
        deadline, before = time.monotonic() + START, self.clicks
        while time.monotonic() < deadline:
            self.press(CONNECT)
            if self.desk.wait("session.phase.name if session.phase in (Phase.UP, Phase.DOWN) else ''", START) == "UP":
                break
        self.reach("IDLE", STEP)
        self.clicks = before + 1

    def home(self) -> None:
        """From IDLE to PARKED."""
        self.press(HOME)
        self.reach("PARKED")

    def engage(self) -> None:
        """From no engine to ENGAGED."""
        self.connect()
        self.home()
        self.arm_and_engage()

    def arm_and_engage(self) -> None:
        """From rest to ENGAGED."""
        rest = self.desk.value("session.status.t")
        self.desk.wait(f"session.status.t > {rest} + 0.4", STEP)  # the cells' zero is judged at rest
        self.press("window.operate.arm")
        self.press(ENGAGE)
        self.reach("ENGAGED")

    def run(self) -> None:
        """From ENGAGED to a motion that has come some way: not the way to its start, after a stop."""
        self.press("window.motion.run")
        self.reach(f"RUNNING and {_RUN_UNDER_WAY} and session.status.path_time > 0.5")
