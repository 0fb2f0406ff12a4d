"""The session on real processes: what is refused, what is stuck, and what ends before it has begun."""

import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

from live_app import START, STEP, connect, engage, left_over, live_config, press_when_possible, reach, state_of
from processes import offspring

from gui.models.rules import Action, Phase
from gui.session.rig_session import RigSession
from gui.shell.main_window import MainWindow
from rig.recording import open_recording
from rig.states import State


def _said(window: MainWindow, text: str) -> int:
    return sum(text in entry.text for entry in window.views.log.model.entries)


def _anew(window: MainWindow, qtbot: Any) -> None:
    """Disconnect, then connect."""
    press_when_possible(qtbot, window.operate.buttons[Action.DISCONNECT])
    qtbot.waitUntil(lambda: window.session.phase is Phase.DOWN, timeout=STEP)
    connect(window, qtbot)


def test_a_disconnect_that_is_refused_changes_nothing_and_a_virtual_rig_of_no_use_is_replaced(
    live: MainWindow, qtbot: Any
) -> None:
    session = live.session
    engage(live, qtbot)
    pid = session.engine_pid
    assert session.status is not None and pid is not None
    session.status = replace(session.status, state=State.PARKED)  # as it was a moment ago
    session.disconnect_rig()
    qtbot.waitUntil(lambda: "park first" in live.banner.notice.text(), timeout=STEP)
    assert session.phase is Phase.UP and session.engine_pid == pid
    reach(live, qtbot, State.ENGAGED)

    live.session.virtual.inject("force_step", 3, 1e7, 0.1)  # the plant stands still before anything else shows it
    reach(live, qtbot, State.FAULT)
    qtbot.waitUntil(lambda: _said(live, "stands still; Disconnect, then Connect, starts a new") == 1, timeout=STEP)
    _anew(live, qtbot)
    engine = live.session.engine_pid
    assert engine is not None
    (virtual,) = (pid for pid, command in offspring(os.getpid()).items() if command.startswith("rig: virtual"))
    os.kill(virtual, signal.SIGKILL)
    reach(live, qtbot, State.FAULT)
    live.tabs.setCurrentWidget(live.faults)  # asks again and again
    qtbot.waitUntil(lambda: _said(live, "the virtual rig has died; Disconnect, then Connect") == 1, timeout=STEP)
    assert "starts a new virtual rig" in live.banner.notice.text()
    _anew(live, qtbot)
    assert state_of(live) is State.IDLE and _said(live, "the virtual rig has died; Disconnect") == 1


def test_a_session_that_ends_while_the_engine_starts_leaves_nothing(qtbot: Any, tmp_path: Path) -> None:
    session = RigSession(live_config(), tmp_path)
    session.connect_rig()
    qtbot.waitUntil(lambda: len(left_over()) >= 2, timeout=START)
    session.close()
    assert left_over() == []
    assert not any(open_recording(path).rows.size for path in tmp_path.glob("*.mcap"))


def test_where_no_drive_answered_no_recording_is_left(qtbot: Any, tmp_path: Path) -> None:
    config = live_config()
    session = RigSession(config.changed({"virtual": None}), tmp_path)
    refused: list[str] = []
    session.refused.connect(lambda what, reason: refused.append(f"{what}: {reason}"))
    try:
        session.connect_rig()
        qtbot.waitUntil(lambda: bool(refused), timeout=START)
        assert "6 devices" in refused[0] and session.recording is not None
        session.disconnect_rig()
        qtbot.waitUntil(lambda: session.recording is None, timeout=STEP)
        assert list(tmp_path.iterdir()) == []
    finally:
        session.close()
    assert left_over() == []
