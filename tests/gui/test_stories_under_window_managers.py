"""A day at the rig by real mouse and keys: what must not stop a motion, what does, and how the app tells of it.

The app, its engine and its virtual rig are started once under each window manager, and go from story to story. Where
the window manager has no part in a story it is told under the first of them, and under each in the long profile.
"""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest
from desk import MANAGERS, Desk, until
from exploration import first_or_all
from live_desk import DISCONNECT, RESET, STEP, LiveDesk
from recorded_runs import make_runs

from rig.engine import LinkClient
from rig.states import FaultCode

_HEARTBEAT = 0.5  # s, as it is shipped
_DRAG = (120, 60)  # px
_LONG = 60.0  # s at full speed, 600 s at the slowest: no story lasts so long, however slow the machine
_ZERO = [0.0] * 6
_RISE = {"type": "minimum-jerk", "start": _ZERO, "end": [0.0, 0.0, 0.01, 0.0, 0.0, 0.0]}
_TABS = ("Jog", "Live", "Dashboards", "3-D view", "Recordings", "Faults", "Event log", "Follow", "Motion")
_FAULTS = "window.faults"
_RUNS = "window.views.runs_page.table"
_NUMBERS = "window.views.recordings.numbers"
_LABELS = "[each.text() for each in window.findChildren(QtWidgets.QLabel) if each.isVisible()]"
_SIZE = "window.banner._figures._labels['Size, left']"


within_the_window = pytest.mark.parametrize("manager", first_or_all(*MANAGERS), indirect=True)
"""Of what every window manager has the app do alike."""


class Walk(LiveDesk):
    """The app, and what an operator does in more than one story."""

    def engaged(self) -> None:
        """Whatever the story before has left: ENGAGED, and nothing paused."""
        state = self.desk.value("'' if session.status is None else session.status.state.name")
        if state == "FAULT":
            self.clear_faults()
            self.press(RESET)
            self.reach("IDLE")
            self.home()
        elif state in ("ENGAGED", "RUNNING"):
            self.press("window.stop_button")
            self.reach("PARKED")
        self.arm_and_engage() if state else self.engage()

    def run_slowly(self) -> None:
        """From ENGAGED to a motion that lasts longer than any story."""
        slow = {"frame": "home", "pivot": _ZERO[:3], "parts": [_RISE | {"duration": _LONG}]}
        self.desk.do(f"window.motion.document.show('slow', {slow}, Path())")  # as one that was opened
        self.desk.wait("window.motion.title == 'Motion: slow'")
        self.desk.enter("window.motion.transport.speed", "10")
        self.desk.key("Tab")
        self.desk.wait("session.status.pace == 0.1")
        self.run()

    def choose_fault(self, name: str) -> None:
        """Choose one on the page of faults."""
        self.desk.do(f"{_FAULTS}.faults.scrollToItem({_FAULTS}._items[{name!r}])")
        self.press(f"item({_FAULTS}.faults, {_FAULTS}._items[{name!r}])")

    def clear_faults(self) -> None:
        """End every fault that is on."""
        self.press("tab(window.tabs, 'Faults')")
        self.press(f"{_FAULTS}.clear_all")
        self.desk.wait(f"{_FAULTS}.active.topLevelItemCount() == 0", STEP)

    def cells(self, table: str) -> list[list[str]]:
        """The texts of a table."""
        row = f"[{table}.item(row, column).text() for column in range({table}.columnCount())]"
        return list(self.desk.value(f"[{row} for row in range({table}.rowCount())]"))


@pytest.fixture(scope="module")
def walk(manager: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walk]:
    with ExitStack() as owner:
        made = Walk(Desk(manager, tmp_path_factory.mktemp(manager), owner, live=True, heartbeat=_HEARTBEAT))
        yield made
        made.desk.ask("quit")


@contextmanager
def _another_program() -> Iterator[None]:
    """One that takes all of a processor that it can get."""
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        busy.kill()
        busy.wait()


def _drag(desk: Desk, x: int, y: int) -> None:
    """Drag whatever the window manager has there, which takes mouse and keys meanwhile, for longer than a heartbeat."""
    desk.hand("mousemove", x, y, "mousedown", 1)
    for part in (0.3, 0.6, 1.0):
        desk.hand("mousemove", x + round(part * _DRAG[0]), y + round(part * _DRAG[1]))
        since = desk.value("session.status.t")
        desk.wait(f"session.status.t > {since} + {_HEARTBEAT}", STEP)
    desk.hand("mouseup", 1)


def _said_while_it_ran(desk: Desk, logged: int) -> list[str]:
    """What the log says since it had so many entries, of a motion that was never paused."""
    assert desk.value("session.status.state is State.RUNNING and not session.status.paused")
    said: list[str] = desk.value(f"[each.text for each in window.views.log.model.entries[{logged}:]]")
    assert not [text for text in said if "sign of life" in text or "RUNNING" in text]
    return said


@within_the_window
def test_nothing_that_keeps_the_app_busy_pauses_a_motion(walk: Walk) -> None:
    desk = walk.desk
    walk.engaged()
    walk.run_slowly()
    logged = desk.value("len(window.views.log.model.entries)")
    with _another_program():
        desk.press("window.runs.reporting.button")
        assert desk.value("window.runs.reporting.maker.busy")
        desk.do("window.complete or window.views.building.start()")  # as a window does that is shown
        for name in _TABS:
            desk.press(f"tab(window.tabs, {name!r})")
        desk.wait("window.complete and not window.runs.reporting.maker.busy", STEP)
    said = _said_while_it_ran(desk, logged)
    assert any(text.startswith("report: ") for text in said)


def test_a_window_that_is_dragged_and_resized_pauses_nothing(walk: Walk) -> None:
    desk = walk.desk
    walk.engaged()
    walk.run_slowly()
    logged, begun = desk.value("len(window.views.log.model.entries)"), desk.value("session.status.t")
    frame = "window.frameGeometry().getRect()"
    x, y, width, height = desk.value(frame)
    title = desk.value("window.geometry().top()") - y
    _drag(desk, x + width // 2, y + title // 2)
    desk.wait(f"window.frameGeometry().getRect() == {(x + _DRAG[0], y + _DRAG[1], width, height)}")
    x, y, width, height = desk.value(frame)
    edge = -2 if desk.value("window.geometry().left()") > x else 3  # metacity's can be seen no more than reached
    _drag(desk, x + width + edge, y + height + edge)
    desk.wait(f"window.frameGeometry().width() > {width} and window.frameGeometry().height() > {height}")
    assert desk.value(f"session.status.t > {begun} + 3.0")
    _said_while_it_ran(desk, logged)


@within_the_window
def test_a_window_that_stands_still_pauses_and_the_cable_unplugged_later_is_the_cause(walk: Walk) -> None:
    desk = walk.desk
    walk.engaged()
    walk.run_slowly()
    with closing(LinkClient(desk.value("session._engine.engine.address.socket"))) as link:
        os.kill(desk.app.pid, signal.SIGSTOP)
        try:
            until(lambda: link.status().paused, "a motion to pause without its app", STEP)
            stopped_for = link.status().paused_for
            assert stopped_for is not None and stopped_for.fault is FaultCode.CLIENT_LOST
        finally:
            os.kill(desk.app.pid, signal.SIGCONT)
    desk.wait("window.banner.state_text == 'Paused'", STEP)
    said = desk.value("window.banner.detail")
    assert "held under power: client lost: client 'rig gui' gave no sign of life for " in said
    desk.press("window.motion.resume")
    desk.dialog()
    desk.press("button('Take over and continue')")
    walk.reach("RUNNING")

    desk.press("tab(window.tabs, 'Faults')")
    walk.choose_fault("payload")
    seen = desk.where(f"{_FAULTS}.leg")
    assert not seen["enabled"] and desk.value(f"{_FAULTS}.leg.currentText()") == "whole rig"
    walk.choose_fault("drop_all")
    desk.press(f"{_FAULTS}.leg")
    desk.key("Home", "Down", "Down", "Down", "Return")
    assert desk.value(f"{_FAULTS}.leg.currentText()") == "leg 3"
    desk.press(f"{_FAULTS}.inject")
    walk.reach("FAULT")
    cause = desk.value("session.status.cause_text")
    assert cause.startswith("communication lost: leg 3: no fresh feedback for ")
    assert desk.value("window.banner.detail").startswith(f"C{cause[1:]}, at ")
    desk.wait(f"window.runs.card.advice.text().startswith('Stopped: {cause}')", STEP)
    desk.make_views()
    desk.press("tab(window.tabs, 'Recordings')")
    desk.press("tab(window.views.recordings.tabs, 'Runs')")
    desk.wait(f"{_RUNS}.rowCount() and {_RUNS}.item(0, 7).text() == 'fault: {cause}'", STEP)
    row = walk.cells(_RUNS)[0]
    assert "cable 3 unplugged" in row and not [text for text in row if "drop_all" in text or "client" in text]
    desk.press("window.runs.reporting.button")
    desk.wait("not window.runs.reporting.maker.busy", STEP)
    page = Path(desk.value("str(session.recording)")).with_suffix(".html").read_text(encoding="utf-8")
    assert cause in page and "drop_all" not in page
    shown = [
        *desk.value(_LABELS),
        *desk.value("[each.text for each in window.views.log.model.entries if each.level != 'info']"),
    ]
    assert not [text for text in shown if "drop_all" in text]


@within_the_window
def test_a_run_under_way_is_not_cut_off_and_one_that_is_opened_is_shown_alone(walk: Walk) -> None:
    desk = walk.desk
    walk.engaged()
    walk.run_slowly()
    desk.make_views()
    desk.press("tab(window.tabs, 'Recordings')")
    desk.press("tab(window.views.recordings.tabs, 'Runs')")
    desk.wait(f"{_RUNS}.rowCount() and {_RUNS}.item(0, 7).text() == 'underway'", STEP)
    assert not [text for row in walk.cells(_RUNS) for text in row if "cut off" in text]
    desk.press(f"item({_RUNS}, {_RUNS}.item(0, 1))")
    desk.do("setattr(window.views.recordings, 'opened', None)")
    desk.press("window.views.runs_page.buttons['Open']")
    desk.wait("window.views.recordings.opened is not None and window.views.recordings.live.isVisible()", STEP)
    assert "cut off" not in desk.value("window.views.recordings.note.text()")
    begin = desk.value("session.status.last_motion.start")
    lasts = desk.value("session.status.t") - begin
    desk.press("tab(window.views.recordings.tabs, 'Numbers')")
    durations = [float(row[2]) for row in walk.cells(_NUMBERS) if row[0] == "Duration"]
    assert len(durations) == 2 and max(durations) <= lasts < begin
    desk.press("tab(window.views.recordings.tabs, 'Compare')")
    ((first, last),) = desk.value("[each.outlines[0].span for each in window.views.recordings.compared]")
    assert begin - 0.1 < first < last <= begin + lasts

    desk.press("window.stop_button")
    walk.reach("PARKED")
    desk.wait("window.motion.transport.phase.text().startswith('ended')")
    assert desk.value("window.banner.state_text") == "Parked"
    shown = desk.value(f"[*{_LABELS}, window.windowTitle()]")
    assert not [text for text in shown if "paused" in text.lower() or "on its brakes" in text.lower()]


def _lost(walk: Walk, words: str) -> None:
    """The recording is: banner, transport and list of runs say so, and nothing moves on."""
    desk = walk.desk
    desk.wait("session.status.recording_fault != ''", STEP)
    walk.reach("ENGAGED and session.status.paused")
    said = desk.value("session.status.recording_fault")
    assert words in said
    desk.wait(f"window.banner.detail.startswith('Nothing is being recorded: {said}')")
    for button in ("run", "resume"):
        assert not desk.where(f"window.motion.{button}")["enabled"]
    assert desk.value("window.motion.transport.reason.toolTip()") == f"nothing is being recorded: {said}"
    desk.make_views()
    desk.press("tab(window.tabs, 'Recordings')")
    desk.press("tab(window.views.recordings.tabs, 'Runs')")
    desk.wait(f"window.views.runs_page.message.toolTip() == 'Nothing is being recorded: {said}.'", STEP)


@within_the_window
def test_a_lost_recording_is_shown_everywhere_until_another_begins(walk: Walk) -> None:
    desk = walk.desk
    for words in ("the recording was truncated", "the recording was deleted"):
        walk.engaged()
        walk.run_slowly()
        desk.wait(f"'min' in {_SIZE}.toolTip() or ' h' in {_SIZE}.toolTip()", STEP)  # room that is left
        recording = Path(desk.value("str(session.recording)"))
        if "deleted" in words:
            shutil.rmtree(recording.parent)
        else:
            os.truncate(recording, 1000)
        _lost(walk, words)
        if "deleted" in words:
            recording.parent.mkdir()
        desk.wait("session.status.recording_fault != ''")  # what was lost does not come back
        desk.press("window.operate.buttons[Action.PARK]")
        walk.reach("PARKED")
        desk.press(DISCONNECT)
        desk.wait("session.phase is Phase.DOWN", STEP)
        end = "is lost, its file has disappeared" if "deleted" in words else "is cut off (the recording was truncated"
        assert end in desk.value("window.views.log.model.entries[-1].text")


# -- without an engine -------------------------------------------------------------------------------------------------


@within_the_window
def test_a_start_whose_kernels_are_compiled_shows_no_full_bar(desk: Desk) -> None:
    waiting = "window.banner.waiting"
    desk.do("session.enter(Phase.STARTING)")
    for done, most in ((23, 73), (73, 0)):
        desk.do(f"session.compilingProgressed.emit(Compiling('the model', {done}, 73))")
        desk.wait(f"{waiting}.isVisible() and {waiting}.maximum() == {most}")
    assert "Compiled (73 kernels)" in desk.value("window.banner.detail")


@within_the_window
def test_the_list_is_not_called_empty_while_runs_are_read(desk: Desk) -> None:
    desk.make_views()
    path = make_runs(desk.folder / "runs.mcap", (0.0, 3.0))
    desk.value("window.__dict__.update(held=threading.Event())")
    desk.value("window.views.runs_page._worker.submit(window.held.wait, lambda *_: None)")
    desk.press("tab(window.tabs, 'Recordings')")
    desk.press("tab(window.views.recordings.tabs, 'Runs')")
    assert desk.value("window.views.runs_page.message.text()") == "Reading the recordings …"
    desk.value("window.held.set()")
    desk.wait(f"{_RUNS}.rowCount() == 2 and window.views.runs_page.message.text() == ''")
    path.unlink()


@within_the_window
def test_a_motion_from_a_template_is_not_dropped_without_a_question(desk: Desk) -> None:
    desk.do("session.take(make_status(State.ENGAGED))")
    page = "window.motion.templates"
    desk.press("button('From template motion')")
    desk.wait(f"{page}.message.text().startswith('Sizes are')")
    desk.press(f"{page}.create")
    desk.wait("window.motion.title == 'Motion: sine (not saved)'")
    for answer, title in (("Cancel", "Motion: sine (not saved)"), ("Discard the motion", "Motion: demo")):
        desk.press("button('Demo motion')")
        desk.dialog()
        desk.press(f"button({answer!r})")
        desk.dialog(0)
        desk.wait(f"window.motion.title == {title!r}")
