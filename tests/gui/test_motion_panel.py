"""Composing, previewing, checking and running a motion."""

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from shell_support import FakeSession, finite, make_status, press

from gui.main_window import MainWindow
from gui.motion import panel as panel_module
from gui.motion.panel import MotionPanel
from gui.motion.specification import NEW_PARTS, part_models, read_motion, shipped_motion, to_toml
from kinematics import leg_lengths, load_trajectory, parse_trajectory
from rig.config import load_config
from rig.engine import Abandon, Follow, Pause, Resume
from rig.states import State

HOME = load_config("virtual").machine.geometry.home_pose


def _looked(panel: MotionPanel, qtbot: Any) -> None:
    qtbot.waitUntil(lambda: panel.preview.fault != "being checked", timeout=20_000)


def _open(panel: MotionPanel, qtbot: Any, path: Path) -> None:
    panel.load_file(path)
    qtbot.waitUntil(lambda: "reading" not in panel.title, timeout=20_000)


def _take(panel: MotionPanel, qtbot: Any, **motion: Any) -> None:
    panel.editor.set_value({"frame": "home", "pivot": [0.0, 0.0, 0.0], **motion}, Path())
    _looked(panel, qtbot)


def test_every_kind_of_part_has_a_form_and_a_beginning() -> None:
    assert set(part_models()) == set(NEW_PARTS)


@pytest.mark.parametrize("kind", [kind for kind in NEW_PARTS if kind != "poses"])
def test_each_generator_can_be_composed_and_passes(window: MainWindow, qtbot: Any, kind: str) -> None:
    panel = window.motion
    _take(panel, qtbot, parts=[{"type": kind, **NEW_PARTS[kind]}])
    shown = panel.editor.value()["parts"][0]
    assert {name: value for name, value in shown.items() if value is not None} == {"type": kind, **NEW_PARTS[kind]}
    assert panel.preview.obstacle == "" and panel.verdict.text().startswith("✓ Passes every limit")


def test_a_number_typed_by_a_person_is_in_the_unit_shown(window: MainWindow, qtbot: Any) -> None:
    panel = window.motion
    _take(panel, qtbot, parts=[{"type": "minimum-jerk", **NEW_PARTS["minimum-jerk"]}])
    end = panel.editor.form(0).fields["end"]
    box = end.boxes[2]  # type: ignore[attr-defined]
    assert box.suffix() == " mm" and box.accessibleName() == "end z, mm"
    box.selectAll()
    qtbot.keyClicks(box, "12.5")
    box.clearFocus()
    box.interpretText()
    assert panel.editor.value()["parts"][0]["end"][2] == pytest.approx(0.0125)
    _looked(panel, qtbot)
    table = panel.preview.table
    assert table is not None and table.samples[-1, 2] == pytest.approx(HOME[2] + 0.0125)


def test_the_curves_show_the_motion(window: MainWindow, qtbot: Any) -> None:
    panel = window.motion
    _take(panel, qtbot, parts=[{"type": "minimum-jerk", **NEW_PARTS["minimum-jerk"]}])
    position, _angles, length, speed, force = panel.plots.curves
    times, z = position[2].getData()
    assert (times[0], times[-1]) == (0.0, pytest.approx(2.0))
    assert z[-1] - z[0] == pytest.approx(20.0)
    up = HOME + np.array([0, 0, 0.02, 0, 0, 0, 0])
    geometry = load_config("virtual").machine.geometry
    for leg in range(6):
        assert length[leg].getData()[1][-1] == pytest.approx(1e3 * leg_lengths(geometry, up)[leg])
        assert np.abs(speed[leg].getData()[1]).max() > 10.0
        assert finite(force[leg].getData()[1])


def test_a_motion_outside_the_limits_says_where_and_what_would_pass(
    window: MainWindow, session: FakeSession, qtbot: Any
) -> None:
    session.take(make_status(State.ENGAGED))
    panel = window.motion
    far = {"start": [0.0] * 6, "end": [0.0, 0.0, 0.25, 0.0, 0.0, 0.0], "duration": 3.0}
    _take(panel, qtbot, parts=[{"type": "minimum-jerk", **far}])
    assert panel.verdict.text().startswith("✗ the trajectory is outside the limits")
    assert "greatest length of leg" in panel.verdict.text() and " s, must be at most" in panel.verdict.text()
    assert not panel.run.isEnabled() and "does not pass" in panel.run.toolTip()
    press(panel.fit)
    _looked(panel, qtbot)
    assert panel.amplitude.value() < 100.0 and panel.run.isEnabled()


def test_faults_of_a_motion_are_all_said(window: MainWindow, qtbot: Any) -> None:
    panel = window.motion
    blend = {"start": [0.0] * 6, "end": [0.0, 0.0, 0.02, 0.0, 0.0, 0.1], "duration": 2.0, "speed": 9.0}
    _take(panel, qtbot, parts=[{"type": "blend", **blend}])
    assert "speed: 9" in panel.verdict.text() and "angular_speed: missing" in panel.verdict.text()


def test_parts_are_added_moved_and_removed(window: MainWindow, qtbot: Any) -> None:
    editor = window.motion.editor
    window.motion.begin_new()
    editor.kinds.setCurrentText("hold")
    editor.buttons["Add"].click()
    assert [part["type"] for part in editor.value()["parts"]] == ["minimum-jerk", "hold"]
    editor.buttons["Up"].click()
    assert [part["type"] for part in editor.value()["parts"]] == ["hold", "minimum-jerk"]
    assert editor.parts.item(0).text() == "1  hold, 1 s"
    _looked(window.motion, qtbot)
    assert window.motion.preview.verdict is not None and window.motion.preview.verdict.duration == pytest.approx(3.0)
    editor.buttons["Remove"].click()
    editor.buttons["Remove"].click()
    assert len(editor.value()["parts"]) == 1


def test_lines_of_sines_change_their_unit_with_the_axis(window: MainWindow) -> None:
    window.motion.load_shipped("demo")
    terms = window.motion.editor.form(0).fields["terms"]
    table = terms.table  # type: ignore[attr-defined]
    assert table.cellWidget(0, 1).suffix() == " mm"
    table.cellWidget(0, 0).setCurrentText("rx")
    assert table.cellWidget(0, 1).suffix() == " °"
    assert len(terms.value()) == 12


@pytest.mark.parametrize("kind", ["harmonic", "chirp"])
def test_lines_of_sines_have_the_bounds_of_their_model(window: MainWindow, kind: str) -> None:
    part = {"type": kind, **NEW_PARTS[kind]}
    window.motion.editor.set_value({"frame": "home", "pivot": [0.0] * 3, "parts": [part]}, Path())
    table = window.motion.editor.form(0).fields["terms"].table  # type: ignore[attr-defined]
    for axis in ("z", "rx"):
        table.cellWidget(0, 0).setCurrentText(axis)
        for place in range(1, table.columnCount()):
            box = table.cellWidget(0, place)
            name = table.horizontalHeaderItem(place).text()
            assert (box.minimum() == 0.0) == ("frequency" in name) == ("at least 0 Hz" in box.toolTip())


def test_the_shipped_motion_is_the_same_after_a_way_through_the_form(window: MainWindow) -> None:
    window.motion.load_shipped("demo")
    shown = parse_trajectory(to_toml(window.motion.editor.value()), HOME)
    times = np.linspace(0.0, 20.0, 101)
    for one, other in zip(shown.coordinates(times), load_trajectory("demo", HOME).coordinates(times), strict=True):
        assert one == pytest.approx(other, abs=1e-5)


def test_files_are_saved_and_opened(window: MainWindow, qtbot: Any, tmp_path: Path) -> None:
    panel = window.motion
    panel.begin_new()
    panel.save_file(tmp_path / "mine.toml")
    assert read_motion(tmp_path / "mine.toml", HOME)["parts"][0]["type"] == "minimum-jerk"
    csv = tmp_path / "poses.csv"
    csv.write_text("t,x,y,z,qw,qx,qy,qz\n0,0,0,0.45,1,0,0,0\n2,0,0,0.46,1,0,0,0\n")
    _open(panel, qtbot, csv)
    _looked(panel, qtbot)
    assert panel.preview.table is not None and panel.preview.table.samples[-1, 2] == pytest.approx(0.46)
    (tmp_path / "bad.toml").write_text('frame = "home"\nparts = [{ type = "hold", duration = -1 }]\n')
    _open(panel, qtbot, tmp_path / "bad.toml")
    assert "duration" in panel.verdict.text() and panel.title == "Motion: poses"
    _open(panel, qtbot, tmp_path / "none.toml")
    assert "cannot be read" in panel.verdict.text()


@pytest.mark.parametrize("target", ["", "below", "../elsewhere"])
def test_a_motion_from_a_csv_can_be_saved_anywhere(window: MainWindow, qtbot: Any, tmp_path: Path, target: str) -> None:
    (home := tmp_path / "mine").mkdir()
    (saved := home / target).mkdir(exist_ok=True)
    (home / "poses.csv").write_text("t,x,y,z,qw,qx,qy,qz\n0,0,0,0.45,1,0,0,0\n2,0,0,0.46,1,0,0,0\n")
    panel = window.motion
    _open(panel, qtbot, home / "poses.csv")
    panel.save_file(saved / "motion.toml")
    panel.begin_new()
    _open(panel, qtbot, saved / "motion.toml")
    _looked(panel, qtbot)
    assert panel.preview.table is not None and panel.preview.table.samples[-1, 2] == pytest.approx(0.46)
    (name,) = (part["file"] for part in panel.editor.value()["parts"])
    assert name == ("poses.csv" if not target else str(home / "poses.csv"))
    panel.editor.form(0).fields["file"].set_value("")
    panel.save_file(saved / "empty.toml")
    assert 'file = ""' in (saved / "empty.toml").read_text()


def test_a_file_is_read_apart_from_the_window_and_the_last_choice_counts(
    window: MainWindow, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    readers, gate = [], threading.Event()

    def read(path: Path, home: Any) -> Any:
        readers.append(threading.current_thread())
        assert gate.wait(20.0)
        return read_motion(path, home)

    monkeypatch.setattr(panel_module, "read_motion", read)
    panel = window.motion
    (tmp_path / "one.toml").write_text(to_toml(shipped_motion("demo")))
    panel.load_file(tmp_path / "one.toml")
    assert panel.title == "Motion: reading one.toml …"
    panel.begin_new()
    gate.set()
    _looked(panel, qtbot)
    assert panel.title == "Motion: new motion" and threading.main_thread() not in readers and len(readers) == 1


def _ready(window: MainWindow, session: FakeSession, qtbot: Any) -> MotionPanel:
    session.take(make_status(State.ENGAGED))
    _take(window.motion, qtbot, parts=[{"type": "minimum-jerk", **NEW_PARTS["minimum-jerk"]}])
    return window.motion


def test_run_moves_to_the_start_first_then_repeats(window: MainWindow, session: FakeSession, qtbot: Any) -> None:
    panel = _ready(window, session, qtbot)
    high = HOME + np.array([0, 0, 0.01, 0, 0, 0, 0])
    session.take(make_status(State.ENGAGED, reference=tuple(high.tolist())))
    panel.repeats.setValue(2)
    press(panel.run)
    stages = ["follow 'move to the start'", "follow 'new motion'", "follow 'back to the start'", "follow 'new motion'"]
    panel._name = "new motion"
    for number in range(1, len(stages) + 1):
        qtbot.waitUntil(lambda n=number: len(session.sent) == n, timeout=10_000)
        t = 10.0 + number
        session.take(make_status(State.RUNNING, t=t, motion="new motion", path_time=1.0, path_duration=2.0))
        assert panel.progress.value() == 500
        session.take(make_status(State.ENGAGED, t=t + 0.5))
    names = [what.replace("demo", "new motion") for what in session.commands]
    assert names == stages
    assert all(isinstance(command, Follow) for _what, command, _samples in session.sent)
    assert panel.phase.text() == "done"


def test_pause_resume_and_stop(window: MainWindow, session: FakeSession, qtbot: Any) -> None:
    panel = _ready(window, session, qtbot)
    press(panel.run)
    qtbot.waitUntil(lambda: bool(session.sent), timeout=10_000)
    session.take(make_status(State.RUNNING, t=11.0))
    press(panel.pause)
    session.take(make_status(State.ENGAGED, t=12.0, paused=True, motion="demo"))
    press(panel.resume)
    session.take(make_status(State.RUNNING, t=13.0))
    assert [sent[1] for sent in session.sent[1:]] == [Pause(), Resume()]
    press(panel.hold)
    assert session.stops == [(2, "hold")]
    assert panel.phase.text() == "ended: stopped"
    session.take(make_status(State.ENGAGED, t=14.0, paused=True, motion="demo"))
    assert not panel.run.isEnabled() and panel.run.toolTip() == "'demo' is paused: resume it, abandon it, or park"


def test_a_motion_that_ends_before_it_can_pause_is_not_followed_by_another(
    window: MainWindow, session: FakeSession, qtbot: Any
) -> None:
    panel = _ready(window, session, qtbot)
    panel.repeats.setValue(3)
    press(panel.run)
    qtbot.waitUntil(lambda: bool(session.sent), timeout=10_000)
    session.take(make_status(State.RUNNING, t=11.0))
    press(panel.pause)
    session.take(make_status(State.ENGAGED, t=12.0))
    assert len(session.sent) == 2 and not window.mover.active
    assert panel.phase.text().endswith("came to its end before it could pause")
    press(panel.run)
    qtbot.waitUntil(lambda: len(session.sent) == 3, timeout=10_000)
    session.take(make_status(State.RUNNING, t=13.0))
    session.refuse = "too late"
    press(panel.pause)
    session.refuse = ""
    session.take(make_status(State.RUNNING, t=13.5, motion="demo"))
    assert window.mover.active  # the engine goes on, and so does what follows it
    session.take(make_status(State.ENGAGED, t=14.0))
    assert len(session.sent) == 4 and not window.mover.active
    assert panel.phase.text().endswith("came to its end before it could pause")


def _at_the_seam(window: MainWindow, session: FakeSession, qtbot: Any) -> MotionPanel:
    """The second of three repeats is on its way to the engine, which has not answered."""
    panel = _ready(window, session, qtbot)
    panel.repeats.setValue(3)
    press(panel.run)
    qtbot.waitUntil(lambda: bool(session.sent), timeout=10_000)
    session.take(make_status(State.RUNNING, t=11.0))
    session.hold_answers = True
    session.take(make_status(State.ENGAGED, t=12.0))
    assert len(session.sent) == 2
    session.hold_answers = False
    return panel


def test_stop_motion_between_two_repeats_stops_the_one_on_its_way(
    window: MainWindow, session: FakeSession, qtbot: Any
) -> None:
    panel = _at_the_seam(window, session, qtbot)
    assert panel.hold.isEnabled()
    press(panel.hold)
    assert session.stops == [(2, "hold")] and panel.phase.text() == "ended: stopped"
    assert not window.mover.active and not panel.hold.isEnabled()
    session.answer()
    assert session.stops == [(2, "hold")] * 2
    session.take(make_status(State.ENGAGED, t=13.0, paused=True, motion="demo"))
    assert len(session.sent) == 2


def test_stop_motion_while_a_motion_is_planned_sends_nothing(
    window: MainWindow, session: FakeSession, qtbot: Any
) -> None:
    panel = _ready(window, session, qtbot)
    press(panel.run)
    press(panel.hold)
    press(panel.run)
    qtbot.waitUntil(lambda: bool(session.sent), timeout=10_000)
    session.take(make_status(State.RUNNING, t=11.0))
    session.take(make_status(State.ENGAGED, t=12.0))
    assert session.commands == ["follow 'demo'"] and panel.phase.text() == "done"


def test_pause_between_two_repeats_pauses_the_one_on_its_way(
    window: MainWindow, session: FakeSession, qtbot: Any
) -> None:
    panel = _at_the_seam(window, session, qtbot)
    assert panel.pause.isEnabled()
    press(panel.pause)
    assert len(session.sent) == 2 and "pausing" in panel.phase.text()
    session.answer()
    assert session.sent[-1][1] == Pause() and len(session.sent) == 3
    session.take(make_status(State.ENGAGED, t=13.0, paused=True, motion="demo", path_duration=2.0))
    assert window.mover.active and "paused" in panel.phase.text()
    press(panel.resume)
    session.take(make_status(State.RUNNING, t=14.0))
    session.take(make_status(State.ENGAGED, t=15.0))
    assert session.commands[3:5] == ["resume", "follow 'demo'"]


def test_a_status_from_before_a_motion_began_is_not_its_end(
    window: MainWindow, session: FakeSession, qtbot: Any
) -> None:
    panel = _at_the_seam(window, session, qtbot)
    session._asked_status = True  # asked for before the motion was accepted, and answered after
    session.answer()
    session.take(make_status(State.ENGAGED, t=12.1, motion="demo", path_time=2.0, path_duration=2.0))
    assert len(session.sent) == 2 and window.mover.active
    # a motion so short that no status shows it running has come to its end all the same
    session.take(make_status(State.ENGAGED, t=12.3, motion="demo", path_time=2.0, path_duration=2.0))
    assert len(session.sent) == 3
    for t in (12.5, 12.7, 12.9):
        session.take(make_status(State.ENGAGED, t=t))
    assert len(session.sent) == 5 and panel.phase.text() == "done"


def test_a_paused_motion_is_abandoned_with_its_repeats(window: MainWindow, session: FakeSession, qtbot: Any) -> None:
    panel = _ready(window, session, qtbot)
    assert panel.abandon.toolTip() == "nothing is paused"
    panel.repeats.setValue(3)
    press(panel.run)
    qtbot.waitUntil(lambda: bool(session.sent), timeout=10_000)
    session.take(make_status(State.RUNNING, t=11.0, motion="demo"))
    assert panel.abandon.toolTip() == "a motion is running: pause it first"
    paused = make_status(State.ENGAGED, t=12.0, paused=True, motion="demo")
    session.take(paused)
    assert panel.run.toolTip() == "'demo' is paused: resume it, abandon it, or park"
    assert window.jog.buttons["go"].toolTip() == "'demo' is paused: resume it, abandon it, or park"
    session.refuse = "not now"
    press(panel.abandon)
    assert window.mover.active
    session.refuse, session.hold_answers = "", True
    press(panel.abandon)
    session.take(make_status(State.ENGAGED, t=13.0))  # before the answer
    assert window.mover.active and len(session.sent) == 3
    session.take(paused)
    session.hold_answers = False
    press(panel.abandon)
    session.take(make_status(State.ENGAGED, t=14.0))
    assert [sent[1] for sent in session.sent[1:]] == [Abandon()] * 3
    assert panel.phase.text() == "ended: abandoned" and not window.mover.active
    assert panel.run.isEnabled() and window.jog.buttons["go"].isEnabled()


def test_a_stop_ends_the_repeats(window: MainWindow, session: FakeSession, qtbot: Any) -> None:
    panel = _ready(window, session, qtbot)
    panel.repeats.setValue(5)
    press(panel.run)
    qtbot.waitUntil(lambda: bool(session.sent), timeout=10_000)
    session.take(make_status(State.RUNNING, t=11.0))
    press(window.stop_button)
    session.take(make_status(State.PARKED, t=12.0))
    session.take(make_status(State.ENGAGED, t=13.0))
    assert len(session.sent) == 1 and panel.run.isEnabled()


def test_a_fault_ends_the_motion_with_its_cause(window: MainWindow, session: FakeSession, qtbot: Any) -> None:
    panel = _ready(window, session, qtbot)
    press(panel.run)
    qtbot.waitUntil(lambda: bool(session.sent), timeout=10_000)
    session.take(make_status(State.FAULT, t=12.0, cause="leg 3: jam"))
    assert panel.phase.text() == "ended: leg 3: jam"


def test_a_shipped_motion_is_plain_data() -> None:
    assert shipped_motion("demo")["parts"][0]["duration"] == 20.0
