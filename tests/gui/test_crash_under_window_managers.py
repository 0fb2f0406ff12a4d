"""The app on real processes, by real mouse and keys: it is killed, and who comes after finds what was left.

Under one window manager: what these do differently is tried in the modules beside this one.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from desk import Desk, until
from live_desk import CONNECT, DISCONNECT, STEP, LiveDesk
from processes import offspring

from rig.recording import open_recording
from rig.states import FaultCode


class Crash(LiveDesk):
    """The app, to be killed while its engine goes on; `left` are all processes that it ever had."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.left: set[int] = set()

    def kill(self) -> None:
        """Kill the app, and start another."""
        self.left.update(offspring(self.desk.app.pid))
        assert len(self.left) >= 2  # its virtual rig and its engine
        self.desk.app.kill()
        self.desk.app.wait()
        self.desk.start_app()
        self.desk.wait("session.found.holder is not None and session.found.holder.status is not None", STEP)
        self.desk.wait("'state Engaged, its app has ended, no client commands it' in window.banner.detail", STEP)
        assert self.desk.value("window.banner.state_text") == "In use"

    def until_gone(self) -> None:
        """Wait until nothing is left of the app that was killed."""
        until(lambda: not any(map(_lives, self.left)), "every process of the app's to end", STEP)


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.fixture
def crash(tmp_path: Path) -> Iterator[Crash]:
    """The app on a desk of its own."""
    with ExitStack() as owner:
        made = Crash(Desk("openbox", tmp_path, owner, live=True))
        try:
            yield made
            made.desk.ask("quit")
        finally:
            for pid in made.left:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


def test_an_engine_left_by_a_crash_is_taken_over_and_ended_and_stop_reaches_it(crash: Crash) -> None:
    desk = crash.desk
    crash.engage()
    desk.press("tab(window.tabs, 'Jog')")
    desk.enter("window.jog.steps.translation", "30")
    desk.key("Tab")
    desk.press("window.jog.buttons['+z']")
    crash.reach("ENGAGED and session.status.from_home > 0.02 and not session.moving")
    crash.kill()

    assert desk.where(CONNECT)["text"] == "&1  Take over" and desk.where(DISCONNECT)["text"] == "&5  End the engine"
    desk.press(CONNECT)
    crash.reach("ENGAGED and session.status.lease == 'rig gui'")
    desk.wait("window.banner.state_text == 'Engaged'")
    desk.press("window.stop_button")
    desk.wait("window.banner.state_text == 'Parked' and ' mm from home' in window.banner.detail", STEP)
    crash.arm_and_engage()
    crash.kill()

    desk.press(DISCONNECT)
    desk.wait("session.found.holder is None and window.banner.state_text == 'Off'", STEP)
    assert desk.where(CONNECT)["text"] == "&1  Connect"
    crash.until_gone()
    before = set(desk.folder.rglob("*.mcap"))
    crash.engage()
    crash.kill()

    desk.wait("' s left until it takes the torque off and ends. STOP reaches it.' in window.banner.detail", STEP)
    (path,) = set(desk.folder.rglob("*.mcap")) - before
    desk.press("window.stop_button")
    desk.wait("session.found.holder is None and window.banner.state_text == 'Off'", STEP)  # without torque it ends
    crash.until_gone()
    stopped = open_recording(path)
    assert stopped.complete and FaultCode.OPERATOR_STOP in [event.code for event in stopped.events]
