"""The app on real processes: the operator's first minute, and an engine that is killed."""

import contextlib
import json
import os
import signal
import socket
from pathlib import Path
from typing import Any

import pytest
from live_app import START, STEP, engage, press_when_possible, reach, run, state_of
from pyqtgraph.Qt import QtCore
from shell_support import KEY, key, press
from waiting import eventually

from gui.models.rules import Action, Phase
from gui.shell.main_window import MainWindow
from rig.client import PLOTJUGGLER_PORT
from rig.recording import open_recording
from rig.states import State


def inject(window: MainWindow, fault: str, value: float | None = None) -> None:
    """Begin a fault of the whole rig, by the page of the faults."""
    window.tabs.setCurrentWidget(window.faults)
    window.faults.choose(fault)
    if value is not None:
        window.faults.value.setValue(value)
    press(window.faults.inject)


def telemetry_is_sent(window: MainWindow, qtbot: Any) -> None:
    """To PlotJuggler, at its usual port, once it is chosen in the menu."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as tool:
        tool.bind(("127.0.0.1", PLOTJUGGLER_PORT))
        tool.setblocking(False)
        heard: list[dict[str, Any]] = []

        def hears() -> bool:
            with contextlib.suppress(BlockingIOError):
                heard.append(json.loads(tool.recv(65536)))
            return len(heard) > 3

        window.menus.telemetry.entries["plotjuggler"].trigger()
        qtbot.waitUntil(hears, timeout=STEP)
    assert len(heard[0]["force_measured"]) == 6
    assert f"to PlotJuggler at 127.0.0.1:{PLOTJUGGLER_PORT}" in window.banner.notice.text()


def test_the_first_minute(whole_live: MainWindow, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    live, session = whole_live, whole_live.session
    opener = tmp_path / "bin" / "xdg-open"  # no browser comes up
    opener.parent.mkdir()
    opener.write_text("#!/bin/sh\nexit 3\n")
    opener.chmod(0o755)
    monkeypatch.setenv("PATH", str(opener.parent), prepend=os.pathsep)
    assert live.banner.state_text == "Off"
    engage(live, qtbot)
    run(live, qtbot)
    qtbot.waitUntil(lambda: live.banner.figure("Rate") != "–", timeout=STEP)

    live.tabs.setCurrentWidget(live.views.log)
    live.views.log.search.setFocus()
    key(KEY.Key_Escape, live)
    qtbot.waitUntil(lambda: state_of(live) in (State.STOPPING, State.PARKED), timeout=STEP)
    reach(live, qtbot, State.PARKED)
    stops = [entry for entry in live.views.log.model.entries if entry.code == "OPERATOR_STOP"]
    assert stops and all(
        "category 1" in entry.text for entry in stops
    )  # by the flag or by the link: whichever came first
    assert not live.motion.mover.active
    inject(live, "payload", 5.0)
    inject(live, "drop_all")
    reach(live, qtbot, State.FAULT)
    said = live.banner.detail
    assert "ll six legs: no fresh feedback" in said and "leg 1" not in said

    recording = session.recording
    assert recording is not None
    press_when_possible(qtbot, live.operate.buttons[Action.DISCONNECT])
    qtbot.waitUntil(lambda: session.phase is Phase.DOWN, timeout=STEP)
    opened = open_recording(recording)
    assert opened.complete and len(opened.rows) > 200
    texts = [event.text for event in opened.events]
    for word in ("connect", "home", "payload", "cable"):
        assert any(word in text for text in texts), (word, texts)
    report = recording.with_suffix(".html")
    with qtbot.waitSignal(live.runs.reporting.maker.finished, timeout=START) as made:
        press_when_possible(qtbot, live.runs.reporting.button)
    assert made.args == [str(report), ""]
    qtbot.waitUntil(lambda: "no program opened to show it" in live.banner.notice.text(), timeout=STEP)
    assert str(report) in live.banner.notice.text() and live.banner.notice.isVisible()
    page = report.read_text()
    assert all(word in page for word in ("payload", "cable", "home", "rig gui"))


def test_an_engine_that_is_killed_is_said_at_once_and_can_be_started_again(live: MainWindow, qtbot: Any) -> None:
    session, restart = live.session, live.operate.buttons[Action.CONNECT]
    engage(live, qtbot)
    run(live, qtbot)
    pid = session.engine_pid
    assert pid is not None
    telemetry_is_sent(live, qtbot)
    tenths: list[int] = []  # of a second in which the app could act: a machine that stands still delays these as well
    said: list[tuple[str, int]] = []
    watch = QtCore.QTimer(live)
    watch.timeout.connect(lambda: tenths.append(len(said)))
    session.died.connect(lambda: said.append((live.banner.state_text, len(tenths))))
    os.kill(pid, signal.SIGKILL)
    eventually(lambda: not Path(f"/proc/{pid}").exists(), "the engine to be gone")
    watch.start(100)
    qtbot.waitUntil(lambda: bool(said), timeout=STEP)
    sending = live.menus.telemetry.entries["plotjuggler"]
    qtbot.waitUntil(lambda: not sending.isChecked() and not sending.isEnabled(), timeout=STEP)
    assert [state for state, _ in said] == ["Engine died"] and said[0][1] < 10
    assert "in state Running" in live.banner.detail
    assert (restart.text(), restart.accessibleName()) == ("&1  Restart engine", "Restart engine")
    did = "stopped by its own watchdog, brake on, standstill"
    qtbot.waitUntil(lambda: "Next: Restart engine" in live.banner.detail, timeout=STEP)
    assert f"Every drive: {did}; at rest " in live.banner.detail
    for leg in range(1, 7):
        assert live.operate.drives.text(leg) == f"✓ {did}"
        assert any(entry.text == f"leg {leg}: {did}" for entry in live.views.log.model.entries)
    assert len(live.views.history) > 100 and live.tabs.isEnabled()  # what was seen is still there to look at
    press_when_possible(qtbot, restart)
    qtbot.waitUntil(lambda: state_of(live) not in (None, State.OFF), timeout=START)
    assert state_of(live) in (State.IDLE, State.FAULT)
    assert session.engine_pid not in (None, pid)
