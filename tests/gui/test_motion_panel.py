"""Opening, saving and running a motion."""

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from motion_support import HOME, looked, open_motion, take
from shell_support import FakeSession, Panels, make_status, press

from gui.models.motion import NEW_PARTS, read_motion, shipped_motion
from gui.motion.panel import MotionPanel
from kinematics import trajectory_text
from rig.engine import Abandon, Follow, Pause, Resume
from rig.states import State


def test_files_are_saved_and_opened(panels: Panels, qtbot: Any, tmp_path: Path) -> None:
    panel = panels.motion
    panel.begin_new()
    panel.save_file(tmp_path / "mine.toml")
    assert read_motion(tmp_path / "mine.toml", HOME)["parts"][0]["type"] == "minimum-jerk"
    csv = tmp_path / "poses.csv"
    csv.write_text("t,x,y,z,qw,qx,qy,qz\n0,0,0,0.45,1,0,0,0\n2,0,0,0.46,1,0,0,0\n")
    open_motion(panel, qtbot, csv)
    looked(panel, qtbot)
    assert panel.preview.table is not None and panel.preview.table.samples[-1, 2] == pytest.approx(0.46)
    (tmp_path / "bad.toml").write_text('frame = "home"\nparts = [{ type = "hold", duration = -1 }]\n')
    open_motion(panel, qtbot, tmp_path / "bad.toml")
    assert "duration" in panel.verdict.text() and panel.title == "Motion: poses"
    open_motion(panel, qtbot, tmp_path / "none.toml")
    assert "no such file" in panel.verdict.text()


def test_a_file_that_is_refused_is_no_verdict_on_the_motion_that_stays(
    panels: Panels, session: FakeSession, qtbot: Any, tmp_path: Path
) -> None:
    panel = _ready(panels, session, qtbot)
    logged: list[Any] = []
    session.logged.connect(logged.append)
    verdict = panel.verdict.text()
    assert verdict.startswith("✓ Within all limits") and panel.verdict._label.objectName() == "good"
    (tmp_path / "bad.toml").write_text("frame = home")
    (tmp_path / "far.toml").write_text('frame = "home"\nparts = [{ type = "hold", duration = 2e6 }]\n')
    for name, why in (
        ("bad.toml", "not valid TOML"),
        ("none.toml", "no such file"),
        ("far.toml", "part 1, duration"),
    ):
        open_motion(panel, qtbot, tmp_path / name)
        refused, stays = panel.verdict.text().split("\n")
        assert refused.startswith(f"✗ {name} was not opened: {why}")
        assert stays == f"The motion shown stays: {verdict}"
        assert panel.title == "Motion: demo (changed)" and panel.run.isEnabled()
        assert logged[-1].level == "error" and logged[-1].text.startswith(f"{tmp_path / name} was not opened: {why}")
    panel._preview()  # a check of that motion that ends after the refusal
    panel._worker.submit(lambda: None, lambda _result, _error: logged.append("looked"))
    qtbot.waitUntil(lambda: logged[-1] == "looked", timeout=60_000)
    assert panel.verdict.text() == f"{refused}\n{stays}"
    panel.load_shipped("demo")
    assert panel.verdict.text() == "Checking …"
    looked(panel, qtbot)
    assert panel.verdict.text().startswith("✓ Within all limits") and panel.verdict._label.objectName() == "good"


@pytest.mark.parametrize("target", ["", "below", "../elsewhere"])
def test_a_motion_from_a_csv_can_be_saved_anywhere(panels: Panels, qtbot: Any, tmp_path: Path, target: str) -> None:
    (home := tmp_path / "mine").mkdir()
    (saved := home / target).mkdir(exist_ok=True)
    (home / "poses.csv").write_text("t,x,y,z,qw,qx,qy,qz\n0,0,0,0.45,1,0,0,0\n2,0,0,0.46,1,0,0,0\n")
    panel = panels.motion
    open_motion(panel, qtbot, home / "poses.csv")
    panel.save_file(saved / "motion.toml")
    panel.begin_new()
    open_motion(panel, qtbot, saved / "motion.toml")
    looked(panel, qtbot)
    assert panel.preview.table is not None and panel.preview.table.samples[-1, 2] == pytest.approx(0.46)
    (name,) = (part["file"] for part in panel.editor.value()["parts"])
    assert name == ("poses.csv" if not target else str(home / "poses.csv"))
    panel.editor.form(0).fields["file"].set_value("")
    panel.save_file(saved / "empty.toml")
    assert 'file = ""' in (saved / "empty.toml").read_text()


def test_a_file_is_read_apart_from_the_window_and_the_last_choice_counts(
    panels: Panels, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    readers, gate = [], threading.Event()

    panel = panels.motion
    compute = panel._worker.compute

    def read(function: Any, *arguments: Any) -> Any:
        if function is read_motion:
            readers.append(threading.current_thread())
            assert gate.wait(20.0)
        return compute(function, *arguments)

    monkeypatch.setattr(panel._worker, "compute", read)
    (tmp_path / "one.toml").write_text(trajectory_text(shipped_motion("demo")))
    panel.load_file(tmp_path / "one.toml")
    assert panel.title == "Motion: reading one.toml …"
    qtbot.waitUntil(lambda: bool(readers), timeout=60_000)
    panel.begin_new()
    gate.set()
    looked(panel, qtbot)
    assert panel.title == "Motion: new motion" and threading.main_thread() not in readers and len(readers) == 1


def _ready(panels: Panels, session: FakeSession, qtbot: Any) -> MotionPanel:
    session.take(make_status(State.ENGAGED))
    take(panels.motion, qtbot, parts=[{"type": "minimum-jerk", **NEW_PARTS["minimum-jerk"]}])
    return panels.motion


def test_run_moves_to_the_start_first_then_repeats(panels: Panels, session: FakeSession, qtbot: Any) -> None:
    panel = _ready(panels, session, qtbot)
    high = HOME + np.array([0, 0, 0.01, 0, 0, 0, 0])
    session.take(make_status(State.ENGAGED, reference=tuple(high.tolist())))
    panel.repeats.setValue(2)
    press(panel.run)
    stages = ["follow 'move to the start'", "follow 'new motion'", "follow 'back to the start'", "follow 'new motion'"]
    panel.document.state.name = "new motion"
    done: list[int] = []
    for number in range(1, len(stages) + 1):
        qtbot.waitUntil(lambda n=number: len(session.sent) == n, timeout=60_000)
        t = 10.0 + number
        session.take(make_status(State.RUNNING, t=t, motion="new motion", path_time=1.0, path_duration=2.0))
        done.append(panel.progress.value())
        assert "s left" in panel.transport.left.text()
        assert panel.phase.text().startswith(f"new motion: {'repeat 1 of 2, ' if number == 2 else ''}")
        session.take(make_status(State.ENGAGED, t=t + 0.2))
        if number == 1:  # it rests at the start
            session.take(make_status(State.ENGAGED, t=t + 0.6))
            assert len(session.sent) == 1
            session.take(make_status(State.ENGAGED, t=t + 0.8))
    names = [what.replace("demo", "new motion") for what in session.commands]
    assert names == stages
    assert all(isinstance(command, Follow) for _what, command, _samples in session.sent)
    assert panel.phase.text() == "done"
    assert 0 < done[0] < done[1] < 500 < done[3] < 1000 and done == sorted(done)  # of all of it, not of each part


def test_pause_resume_and_stop(panels: Panels, session: FakeSession, qtbot: Any) -> None:
    panel = _ready(panels, session, qtbot)
    press(panel.run)
    qtbot.waitUntil(lambda: bool(session.sent), timeout=60_000)
    session.take(make_status(State.RUNNING, t=11.0))
    press(panel.pause)
    session.take(make_status(State.ENGAGED, t=12.0, paused=True, motion="demo"))
    press(panel.resume)
    session.take(make_status(State.RUNNING, t=13.0))
    assert [sent[1] for sent in session.sent[1:]] == [Pause(), Resume()]
    press(panel.hold)
    assert session.stops == [(2, "hold")]
    assert panel.phase.text() == "ended: stopped"
    session.take(make_status(State.STOPPING, t=13.5, motion="demo"))
    assert len(session.sent) == 3
    session.take(make_status(State.ENGAGED, t=14.0, paused=True, motion="demo"))
    assert session.sent[3][1] == Abandon()  # nothing further runs: there is nothing to be resumed
    session.take(make_status(State.ENGAGED, t=14.5))
    assert panel.run.isEnabled() and not panel.resume.isEnabled() and panel.phase.text() == "ended: stopped"


def test_a_pause_after_a_stop_in_vain_is_a_pause(panels: Panels, session: FakeSession, qtbot: Any) -> None:
    panel = _ready(panels, session, qtbot)
    press(panel.run)
    press(panel.hold)  # nothing is sent yet
    press(panel.run)
    qtbot.waitUntil(lambda: bool(session.sent), timeout=60_000)
    session.take(make_status(State.RUNNING, t=11.0))
    press(panel.pause)
    session.take(make_status(State.ENGAGED, t=12.0, paused=True, motion="demo"))
    assert [sent[1] for sent in session.sent[1:]] == [Pause()] and panel.resume.isEnabled()


def test_what_was_paused_elsewhere_and_goes_on_is_told(panels: Panels, session: FakeSession, qtbot: Any) -> None:
    panel = _ready(panels, session, qtbot)
    press(panel.run)
    qtbot.waitUntil(lambda: bool(session.sent), timeout=60_000)
    session.take(make_status(State.RUNNING, t=11.0))
    session.stop(2, "button")  # another control than that of motions
    session.take(make_status(State.ENGAGED, t=12.0, paused=True, motion="demo", path_time=1.0, path_duration=20.0))
    assert panel.phase.text() == "demo: 1.0 of 20.0 s, paused"
    press(panel.resume)
    session.take(make_status(State.RUNNING, t=13.0, motion="demo", path_time=2.0, path_duration=20.0))
    assert panel.phase.text() == "demo: 2.0 of 20.0 s"


def test_a_motion_that_ends_before_it_can_pause_is_not_followed_by_another(
    panels: Panels, session: FakeSession, qtbot: Any
) -> None:
    panel = _ready(panels, session, qtbot)
    panel.repeats.setValue(3)
    press(panel.run)
    qtbot.waitUntil(lambda: bool(session.sent), timeout=60_000)
    session.take(make_status(State.RUNNING, t=11.0))
    press(panel.pause)
    session.take(make_status(State.ENGAGED, t=12.0))
    assert len(session.sent) == 2 and not panels.motion.mover.active
    assert panel.phase.text().endswith("ended before it could pause")
    press(panel.run)
    qtbot.waitUntil(lambda: len(session.sent) == 3, timeout=60_000)
    session.take(make_status(State.RUNNING, t=13.0))
    session.refuse = "too late"
    press(panel.pause)
    session.refuse = ""
    session.take(make_status(State.RUNNING, t=13.5, motion="demo"))
    assert panels.motion.mover.active  # the engine goes on, and so does what follows it
    session.take(make_status(State.ENGAGED, t=14.0))
    assert len(session.sent) == 4 and not panels.motion.mover.active
    assert panel.phase.text().endswith("ended before it could pause")


def _at_the_seam(panels: Panels, session: FakeSession, qtbot: Any) -> MotionPanel:
    """The second of three repeats is on its way to the engine, which has not answered."""
    panel = _ready(panels, session, qtbot)
    panel.repeats.setValue(3)
    press(panel.run)
    qtbot.waitUntil(lambda: bool(session.sent), timeout=60_000)
    session.take(make_status(State.RUNNING, t=11.0))
    session.hold_answers = True
    session.take(make_status(State.ENGAGED, t=12.0))
    assert len(session.sent) == 2
    session.hold_answers = False
    return panel


def test_stop_motion_between_two_repeats_stops_the_one_on_its_way(
    panels: Panels, session: FakeSession, qtbot: Any
) -> None:
    panel = _at_the_seam(panels, session, qtbot)
    assert panel.hold.isEnabled()
    press(panel.hold)
    assert session.stops == [(2, "hold")] and panel.phase.text() == "ended: stopped"
    assert not panels.motion.mover.active and not panel.hold.isEnabled()
    session.answer()
    assert session.stops == [(2, "hold")] * 2
    session.take(make_status(State.ENGAGED, t=13.0, paused=True, motion="demo"))
    assert len(session.sent) == 3 and session.sent[2][1] == Abandon()


def test_stop_motion_while_a_motion_is_planned_sends_nothing(panels: Panels, session: FakeSession, qtbot: Any) -> None:
    panel = _ready(panels, session, qtbot)
    press(panel.run)
    press(panel.hold)
    press(panel.run)
    qtbot.waitUntil(lambda: bool(session.sent), timeout=60_000)
    session.take(make_status(State.RUNNING, t=11.0))
    session.take(make_status(State.ENGAGED, t=12.0))
    assert session.commands == ["follow 'demo'"] and panel.phase.text() == "done"


def test_pause_between_two_repeats_pauses_the_one_on_its_way(panels: Panels, session: FakeSession, qtbot: Any) -> None:
    panel = _at_the_seam(panels, session, qtbot)
    assert panel.pause.isEnabled()
    press(panel.pause)
    assert len(session.sent) == 2 and "pausing" in panel.phase.text()
    session.answer()
    assert session.sent[-1][1] == Pause() and len(session.sent) == 3
    session.take(make_status(State.ENGAGED, t=13.0, paused=True, motion="demo", path_duration=2.0))
    assert panels.motion.mover.active and "paused" in panel.phase.text()
    press(panel.resume)
    session.take(make_status(State.RUNNING, t=14.0))
    session.take(make_status(State.ENGAGED, t=15.0))
    assert session.commands[3:5] == ["resume", "follow 'demo'"]


def test_a_status_from_before_a_motion_began_is_not_its_end(panels: Panels, session: FakeSession, qtbot: Any) -> None:
    panel = _at_the_seam(panels, session, qtbot)
    session._status_pending = True  # asked for before the motion was accepted, and answered after
    session.answer()
    session.take(make_status(State.ENGAGED, t=12.1, motion="demo", path_time=2.0, path_duration=2.0))
    assert len(session.sent) == 2 and panels.motion.mover.active
    # a motion so short that no status shows it running has come to its end all the same
    session.take(make_status(State.ENGAGED, t=12.3, motion="demo", path_time=2.0, path_duration=2.0))
    assert len(session.sent) == 3
    for t in (12.5, 12.7, 12.9):
        session.take(make_status(State.ENGAGED, t=t))
    assert len(session.sent) == 5 and panel.phase.text() == "done"


def test_a_paused_motion_is_abandoned_with_its_repeats(panels: Panels, session: FakeSession, qtbot: Any) -> None:
    panel = _ready(panels, session, qtbot)
    assert panel.abandon.toolTip() == "nothing is paused"
    panel.repeats.setValue(3)
    press(panel.run)
    qtbot.waitUntil(lambda: bool(session.sent), timeout=60_000)
    session.take(make_status(State.RUNNING, t=11.0, motion="demo"))
    assert panel.abandon.toolTip() == "'demo' is running: pause it first"
    paused = make_status(State.ENGAGED, t=12.0, paused=True, motion="demo")
    session.take(paused)
    assert panel.run.toolTip() == "'demo' is paused: resume it, abandon it, or park"
    assert panels.jog.buttons["go"].toolTip() == "'demo' is paused: resume it, abandon it, or park"
    session.refuse = "not now"
    press(panel.abandon)
    assert panels.motion.mover.active
    session.refuse, session.hold_answers = "", True
    press(panel.abandon)
    session.take(make_status(State.ENGAGED, t=13.0))  # before the answer
    assert panels.motion.mover.active and len(session.sent) == 3
    session.take(paused)
    session.hold_answers = False
    press(panel.abandon)
    session.take(make_status(State.ENGAGED, t=14.0))
    assert [sent[1] for sent in session.sent[1:]] == [Abandon()] * 3
    assert panel.phase.text() == "ended: abandoned" and not panels.motion.mover.active
    assert panel.run.isEnabled() and panels.jog.buttons["go"].isEnabled()


def test_a_status_from_before_a_stop_does_not_say_that_the_motion_goes_on(
    panels: Panels, session: FakeSession, qtbot: Any
) -> None:
    panel = _ready(panels, session, qtbot)
    press(panel.run)
    qtbot.waitUntil(lambda: bool(session.sent), timeout=60_000)
    session.take(make_status(State.RUNNING, t=11.0, motion="demo", path_time=1.0, path_duration=2.0))
    assert panel.phase.text().startswith("demo: 1.0 of 2.0 s")
    session.stop(1)
    session.take(make_status(State.RUNNING, t=11.1, motion="demo", path_time=1.1, path_duration=2.0))
    assert panel.phase.text() == "ended: stopped"
    for state in (State.STOPPING, State.PARKED):
        session.take(make_status(state, t=12.0))
    assert panel.phase.text() == "ended: stopped"
    # what is begun elsewhere afterwards is told
    session.take(make_status(State.RUNNING, t=13.0, motion="other", path_time=0.5, path_duration=2.0))
    assert panel.phase.text().startswith("other: 0.5 of 2.0 s")


def test_a_stop_ends_the_repeats(panels: Panels, session: FakeSession, qtbot: Any) -> None:
    panel = _ready(panels, session, qtbot)
    panel.repeats.setValue(5)
    press(panel.run)
    qtbot.waitUntil(lambda: bool(session.sent), timeout=60_000)
    session.take(make_status(State.RUNNING, t=11.0))
    press(panels.stop_button)
    session.take(make_status(State.PARKED, t=12.0))
    session.take(make_status(State.ENGAGED, t=13.0))
    assert len(session.sent) == 1 and panel.run.isEnabled()


def test_a_fault_ends_the_motion_with_its_cause(panels: Panels, session: FakeSession, qtbot: Any) -> None:
    panel = _ready(panels, session, qtbot)
    press(panel.run)
    qtbot.waitUntil(lambda: bool(session.sent), timeout=60_000)
    session.take(make_status(State.FAULT, t=12.0, cause="leg 3: jam"))
    assert panel.phase.text() == "ended: leg 3: jam"


def test_a_shipped_motion_is_plain_data() -> None:
    assert shipped_motion("demo")["parts"][0]["duration"] == 20.0
