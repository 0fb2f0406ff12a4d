"""What stands in the way on the lockstep rig: the guards of a command."""

from concurrent.futures import Future
from pathlib import Path

import numpy as np
import pytest
from configured import SHIPPED
from engine_support import CONFIG, Bench, bench, refused, smooth_table

from actuators import Status
from rig.engine.link import Submission
from rig.engine.messages import (
    Connect,
    Disconnect,
    Engage,
    Follow,
    Home,
    Park,
    Pause,
    Reply,
    Resume,
    Stop,
)
from rig.states import FaultCode, State

PATIENCE = CONFIG.safety.stale_cycles


def test_without_a_recording_nothing_is_engaged_followed_or_resumed(rig: Bench) -> None:
    table = smooth_table(2.0)
    rig.park()
    rig.tap.fault = "the disk is full"
    rig.step()
    assert "the disk is full" in refused(rig, Engage())
    rig.tap.fault = ""
    rig.request(Engage())
    rig.until(State.ENGAGED)
    rig.tap.fault = "the disk is full"
    rig.step()
    assert "the disk is full" in refused(rig, Follow("x", table.step), table.samples)
    rig.tap.fault = ""
    rig.follow(table)
    rig.run(0.5)
    rig.tap.events.clear()
    rig.tap.fault = "the disk is full"
    rig.until(State.ENGAGED)
    assert rig.engine.reference.paused
    assert "the disk is full" in refused(rig, Resume())
    rig.run(1.0)
    assert rig.tap.texts().count("the disk is full") == 1  # said once, and then held in peace
    assert len(rig.tap.events) == 3
    rig.request(Park())
    rig.until(State.PARKED)
    assert not any("the disk is full" in text for text in rig.tap.texts()[3:])


@pytest.mark.parametrize("state", [State.IDLE, State.PARKED, State.ENGAGED])
def test_a_recording_that_fails_is_said_once_in_every_state(rig: Bench, state: State) -> None:
    if state is State.IDLE:
        rig.request(Connect())
    elif state is State.PARKED:
        rig.park()
    else:
        rig.engage()
    for count in (1, 2):  # again, where it had been mended meanwhile
        rig.tap.fault = "the recorder is gone"
        rig.run(0.1)
        said = [event for event in rig.tap.events if event.code is FaultCode.RECORDING]
        assert [(event.level, event.text) for event in said] == [
            ("warning", "nothing is being recorded: the recorder is gone")
        ] * count
        rig.tap.fault = ""
        rig.run(0.1)
    assert rig.state is state and not rig.status().cause


def test_a_disk_that_gets_full_is_warned_of_once_for_each_bound(rig: Bench) -> None:
    rig.request(Connect())
    rig.tap.events.clear()
    told = []
    for minutes in (60.0, 10.1, 9.9, 10.1, 9.5, 2.1, 1.9, 2.1, 1.0, 0.1, 2.5, 1.9, 30.0, 9.0):
        rig.tap.room = 60.0 * minutes
        rig.step()
        warned = [event for event in rig.tap.events if event.level == "warning" and "room for" in event.text]
        told.append(len(warned))
        assert rig.status().recording_room == rig.tap.room
    assert told == [0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 4]
    assert [text.split("room for only ")[1].split(":")[0] for text in rig.tap.texts()] == [
        "9.9 minutes of recording (bound 10)",
        "1.9 minutes of recording (bound 2)",
        "1.9 minutes of recording (bound 2)",
        "9.0 minutes of recording (bound 10)",
    ]
    assert rig.state is State.IDLE and not rig.status().cause


def test_without_fresh_feedback_nothing_begins(rig: Bench) -> None:
    table = smooth_table(2.0)
    rig.engage()
    rig.virtual.faults.inject("drop_all", 5)
    rig.step()
    reply = rig.submit(Follow("x", table.step), table.samples)
    rig.run(PATIENCE * rig.config.period)
    assert rig.state is State.STOPPING and not rig.status().motion
    assert reply.result(0).reason == "follow: no fresh feedback of leg 5"


def _lose_replies_in_turn(rig: Bench) -> int:
    """One reply a cycle is lost, of another leg each time, which no check minds; returns the leg that comes next."""
    leg = rig.engine.cycles % 6 + 1
    rig.virtual.faults.inject("drop_write", leg)
    return leg


def test_feedback_that_stays_incomplete_refuses_a_motion_after_the_cycles_that_are_borne(rig: Bench) -> None:
    table = smooth_table(2.0)
    rig.engage()
    _lose_replies_in_turn(rig)
    rig.step()
    reply = rig.submit(Follow("x", table.step), table.samples)
    for _ in range(PATIENCE):
        leg = _lose_replies_in_turn(rig)
        rig.step()
        assert not reply.done()
    rig.step()
    assert reply.result(0).reason == f"follow: no fresh feedback of leg {leg}"
    assert rig.state is State.ENGAGED and rig.engine.machine.cause is None


@pytest.mark.parametrize("stale", [1, 2])
def test_a_late_reply_at_the_seam_of_two_motions_does_not_end_the_sequence(rig: Bench, stale: int) -> None:
    table = smooth_table(1.0)
    rig.engage()
    rig.follow(table, "first")
    rig.until(State.ENGAGED)
    rig.virtual.faults.inject("drop_write", 5, float(stale))
    rig.step()
    assert not rig.engine.drives.fresh.all()
    reply = rig.submit(Follow("again", table.step), table.samples)
    for _ in range(stale):
        rig.step()
        assert rig.state is State.ENGAGED and not reply.done()
    rig.step()
    assert reply.result(0).accepted and rig.state is State.RUNNING and rig.status().motion == "again"
    rig.run(0.3)
    rig.request(Pause())
    rig.until(State.ENGAGED)
    rig.virtual.faults.inject("drop_write", 2)
    rig.step()
    rig.request(Resume())
    assert rig.state is State.RUNNING
    rig.until(State.ENGAGED)
    assert not rig.status().paused and rig.engine.machine.cause is None


def test_homing_waits_for_the_first_replies_and_a_stop_ends_its_waiting(rig: Bench) -> None:
    rig.step()
    rig.request(Connect())
    rig.virtual.faults.inject("drop_write", 4)
    rig.step()
    assert not rig.engine.drives.fresh.all()
    reply = rig.submit(Home())
    rig.step()
    rig.engine.stop(1)  # there is no torque, and nothing to stop but the waiting
    rig.run(0.1)
    assert rig.state is State.IDLE and reply.result(0).reason == "home: the rig was stopped meanwhile"
    rig.virtual.faults.inject("drop_write", 4)
    rig.step()
    rig.request(Home())
    assert rig.state is State.HOMING
    rig.until(State.PARKED)


def test_late_replies_between_the_questions_to_six_drives_are_not_added_up(rig: Bench) -> None:
    rig.park()
    reply = rig.submit(Engage())
    for _ in range(PATIENCE + 2):
        rig.virtual.faults.inject("drop_write", 6)
        rig.step()  # one drive is asked, and the reply of another is late
        rig.step()
        assert not reply.done() and rig.status().silent == ()
    rig.until(State.ENGAGED)
    assert reply.result(0).accepted


def test_engaging_waits_for_a_late_reply_but_not_for_long_nor_after_a_stop(rig: Bench) -> None:
    rig.park()
    _lose_replies_in_turn(rig)
    rig.step()
    reply = rig.submit(Engage())
    for _ in range(PATIENCE):
        leg = _lose_replies_in_turn(rig)
        rig.step()
        assert not reply.done()
    rig.step()
    assert reply.result(0).reason == f"engage: no fresh feedback of leg {leg}"
    rig.run(0.1)
    rig.virtual.faults.inject("drop_write", 3)
    rig.step()
    reply = rig.submit(Engage())
    rig.step()
    rig.engine.stop(1)
    rig.run(0.1)
    assert rig.state is State.PARKED and reply.result(0).reason == "engage: the rig was stopped meanwhile"
    rig.virtual.faults.inject("drop_write", 3)
    rig.step()
    rig.request(Engage())
    rig.until(State.ENGAGED)


def test_drives_are_left_once_they_report_their_torque_off(rig: Bench) -> None:
    rig.engage()
    rig.request(Park())
    cycles = 0
    while rig.state is not State.PARKED:
        rig.step()
        cycles += 1
        assert cycles < 5000
    assert rig.engine.drives.any(Status.ENABLED)  # told in the next cycle
    rig.request(Disconnect())
    assert rig.state is State.OFF and not rig.engine.drives.any(Status.ENABLED)
    rig.request(Connect())
    assert rig.state is State.IDLE


def test_a_stop_counts_from_when_a_motion_was_asked_for(rig: Bench) -> None:
    """Its check may have had to wait for that of another."""
    table = smooth_table(1.0)
    rig.engage()
    asked = rig.status().stops
    rig.engine.stop(2)
    rig.run(0.5)
    reply: Future[Reply] = Future()
    rig.operator.submit(Submission(Follow("x", table.step), table.samples, reply, stops=asked))
    rig.step()
    assert rig.state is State.ENGAGED and reply.result(0).reason == "follow: the rig was stopped meanwhile"


@pytest.mark.parametrize("by_flag", [True, False])
def test_a_stop_ends_the_waiting_of_a_motion(rig: Bench, by_flag: bool) -> None:
    table = smooth_table(1.0)
    rig.engage()
    rig.run(0.2)
    rig.virtual.faults.inject("drop_write", 5)
    rig.step()
    reply = rig.submit(Follow("x", table.step), table.samples)
    if by_flag:
        rig.step()
        rig.engine.stop(2)
    else:
        rig.submit(Stop(2))
    rig.run(0.1)
    assert rig.state is State.ENGAGED
    assert reply.result(0).reason == "follow: the rig was stopped meanwhile"


def test_a_shifted_zero_of_a_cell_keeps_the_rig_from_engaging(tmp_path: Path) -> None:
    for rate, stiffness, damping in ((500.0, 2e4, 900.0), (50.0, 1e3, 60.0)):
        control = {"stiffness": stiffness, "damping": damping}
        changed = CONFIG.changed({"rate": rate, "control": control, "drives": {"watchdog": 0.2}})
        (folder := tmp_path / f"{rate:g}").mkdir()
        with bench(folder, changed) as rig:
            rig.request(Connect())
            rig.request(Home())
            rig.until(State.PARKED)
            assert "not judged yet" in refused(rig, Engage())
            rig.virtual.faults.inject("cell_offset", 4, 8.0)
            rig.run(0.5)
            reason = refused(rig, Engage())
            assert "the load cell of leg 4 is +" in reason and "tare the cells" in reason


@pytest.mark.parametrize(("signs", "legs"), [((-1.0,) * 6, "1, 2, 3, 4, 5, 6"), ((1, 1, -1.0, 1, 1, 1), "3")])
def test_cells_that_read_the_opposite_are_not_to_be_tared(tmp_path: Path, signs: tuple[float, ...], legs: str) -> None:
    with bench(tmp_path, CONFIG.changed({"virtual": {"cells": {"gain": list(signs)}}})) as rig:
        rig.park()
        reason = refused(rig, Engage())
        assert f"the polarity (gain) of the load cell is reversed at leg {legs}: rig calibrate cells" in reason
        assert "tare" not in reason


def test_an_unstable_loop_is_not_closed(tmp_path: Path) -> None:
    with bench(tmp_path, SHIPPED.changed({"rate": 200.0})) as rig:
        rig.park()
        assert refused(rig, Engage()).startswith(
            "engage: the control loop (mode force, stiffness 20000 N/m and damping"
        )
        rig.run(0.1)
        assert rig.state is State.PARKED


def test_one_bad_reading_does_not_spoil_the_zero(rig: Bench) -> None:
    rig.park()
    rig.virtual.faults.inject("cell_nan", 2)
    rig.step()
    rig.virtual.faults.clear()
    rig.step()
    assert rig.state is State.PARKED and np.abs(rig.engine.tare_residual).max() < 1.0
    rig.request(Engage())
    rig.until(State.ENGAGED)
