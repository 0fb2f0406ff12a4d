"""What an operator may ask for and when, on the lockstep rig: guards, homing, stops, resets, status."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from engine_support import CONFIG, HOME, Bench, bench, smooth_table

from actuators import Mode, Status
from kinematics import Blend, MotionTable, pose_to_coordinates, tabulate
from rig.engine.messages import (
    Abandon,
    Command,
    Connect,
    Disconnect,
    Engage,
    Follow,
    Home,
    Park,
    Pause,
    Reset,
    Resume,
    Shutdown,
    Stop,
)
from rig.engine.reference import straight_move
from rig.errors import RefusedError
from rig.states import FaultCode, State, StopCategory
from rig.telemetry import CycleFlag

COMMANDS: tuple[Command, ...] = (
    Connect(), Disconnect(), Home(), Engage(), Pause(), Resume(), Abandon(), Park(), Reset(), Shutdown()
)  # fmt: skip

PATIENCE = CONFIG.safety.stale_cycles


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Bench]:
    with bench(tmp_path) as made:
        yield made


def _still(rig: Bench) -> object:
    """What time alone does not change."""
    return replace(rig.status(), t=0.0, cycles=0, path_time=0.0, reference=())


def refused(rig: Bench, command: Command, samples: object = None) -> str:
    """The reason; nothing may have changed but the time."""
    before = _still(rig)
    with pytest.raises(RefusedError) as caught:
        rig.request(command, samples)  # type: ignore[arg-type]
    assert _still(rig) == before
    assert str(caught.value).startswith(f"{command.kind}: ")
    return str(caught.value)


def refuse_all_but(rig: Bench, *allowed: type) -> None:
    for command in COMMANDS:
        if type(command) not in allowed:
            refused(rig, command)
    if Follow not in allowed:
        table = smooth_table()
        refused(rig, Follow("x", table.step), table.samples)


def test_every_state_takes_its_own_commands_and_no_other(rig: Bench) -> None:
    rig.step()
    refuse_all_but(rig, Connect, Shutdown)
    rig.request(Connect())
    refuse_all_but(rig, Disconnect, Home, Shutdown)
    rig.request(Home())
    refuse_all_but(rig)
    rig.until(State.PARKED)
    rig.run(0.4)
    refuse_all_but(rig, Disconnect, Engage, Shutdown)
    rig.request(Engage())
    refuse_all_but(rig)
    rig.until(State.ENGAGED)
    rig.run(0.4)
    for command in (Resume(), Abandon()):
        assert "nothing is paused" in refused(rig, command)
    for command in (Connect(), Disconnect(), Home(), Engage(), Pause(), Reset(), Shutdown()):
        refused(rig, command)
    rig.follow(smooth_table())
    assert "'test' is running: pause it first" in refused(rig, Abandon())
    refuse_all_but(rig, Pause, Resume)
    rig.until(State.ENGAGED)
    rig.request(Park())
    refuse_all_but(rig)
    rig.until(State.PARKED)
    rig.request(Disconnect())
    rig.step()
    assert rig.state is State.OFF
    rig.request(Shutdown())
    assert rig.operator.ended


def test_a_stop_is_taken_in_every_state_and_never_brings_torque(rig: Bench) -> None:
    for category in (0, 1, 2):
        rig.request(Stop(category))  # type: ignore[arg-type]
        assert rig.state is State.OFF
    rig.park()
    for category in (0, 1, 2):
        rig.request(Stop(category))  # type: ignore[arg-type]
        assert rig.state is State.PARKED and not rig.engine.bank.any(Status.ENABLED)


@pytest.mark.parametrize("category", [0, 1, 2])
def test_a_stop_from_any_motion(rig: Bench, category: int) -> None:
    rig.engage()
    rig.follow(smooth_table(2.0))
    rig.run(0.5)
    rig.tap.take()
    rig.request(Stop(category))  # type: ignore[arg-type]
    after = State.ENGAGED if category == 2 else State.PARKED
    rig.until(after)
    rows = rig.tap.take()
    if category == 0:
        assert (rows["mode"] == Mode.OFF).all()  # not one more force is sent
        assert (rows["drive_status"][1:] & Status.ENABLED == 0).all()
    else:
        speeds = np.abs(rows["velocity_reference"]).max(axis=1)
        assert speeds[0] > 5e-3 and speeds[-1] < 1e-9
        assert np.abs(np.diff(rows["length_reference"], axis=0)).max() < 1.1 * speeds.max() * rig.config.period
    assert rig.engine.machine.cause is None and not rig.engine.machine.latched


def test_pause_and_resume_take_up_the_same_path(rig: Bench) -> None:
    table = smooth_table(2.0)
    rig.engage()
    rig.follow(table, "there and back")
    rig.run(0.6)
    rig.tap.take()
    rig.request(Pause())
    rig.until(State.ENGAGED)
    status = rig.status()
    assert status.paused and status.motion == "there and back" and 0.6 < status.path_time < 0.9
    rig.run(0.2)
    assert rig.status().path_time == status.path_time
    assert "is paused" in refused(rig, Follow("x", table.step), table.samples)
    rig.request(Resume())
    rig.until(State.RUNNING)
    rig.until(State.ENGAGED)
    rows = rig.tap.take()
    np.testing.assert_allclose(rows["reference"][-1, :7], HOME, atol=1e-9)
    speed = (rows["reference"][2:, :3] - rows["reference"][:-2, :3]) / (2 * rig.config.period)
    assert np.abs(speed - rows["reference"][1:-1, 7:10]).max() < 1e-4
    assert (rows["flags"] & CycleFlag.PAUSED != 0).any()


def test_an_abandoned_motion_is_forgotten_and_another_starts_where_the_platform_stands(rig: Bench) -> None:
    rig.engage()
    rig.follow(smooth_table(2.0), "there and back")
    rig.run(0.6)
    rig.request(Pause())
    rig.until(State.ENGAGED)
    rig.tap.take()
    held = rig.engine.frame.now.copy()
    rig.request(Abandon())
    rig.step()
    status = rig.status()
    assert (status.state, status.paused) == (State.ENGAGED, False)
    assert rig.tap.texts()[-1].startswith("'there and back' is abandoned at 0.")
    assert "nothing is paused" in refused(rig, Resume())
    away = straight_move(held[:7], HOME, 0.02, 0.05)
    rig.follow(away, "another way")
    rig.until(State.RUNNING)
    rig.until(State.ENGAGED)
    rows = rig.tap.take()
    assert np.abs(rows["reference"][0] - held).max() < 1e-12
    speed = (rows["reference"][2:, :7] - rows["reference"][:-2, :7]) / (2 * rig.config.period)
    assert np.abs(speed[:, :3] - rows["reference"][1:-1, 7:10]).max() < 1e-4
    np.testing.assert_allclose(rows["reference"][-1, :7], HOME, atol=1e-9)


def test_a_stopped_motion_and_a_stopped_way_home_can_be_abandoned_too(rig: Bench) -> None:
    table = smooth_table(2.0, 0.02)
    rig.engage()
    rig.follow(table)
    rig.run(0.7)
    rig.request(Stop(2))
    rig.until(State.ENGAGED)
    rig.request(Abandon())
    assert rig.state is State.ENGAGED and not rig.status().paused
    rig.request(Park())
    rig.run(0.1)
    rig.request(Stop(2))
    rig.until(State.ENGAGED)
    assert "'park' is paused: resume it, abandon it, or park" in refused(rig, Follow("x", table.step), table.samples)
    rig.request(Abandon())
    rig.request(Park())
    rig.until(State.PARKED)


# -- motions ---------------------------------------------------------------------------------------------------------


def _bad_motions() -> dict[str, tuple[MotionTable, str]]:
    good = smooth_table()
    nan, fast, far, rough = (good.samples.copy() for _ in range(4))
    nan[100, 2] = np.nan
    fast[-1, 6] = 0.1
    far[:, 2] += 0.3
    rough[-1, 7] = np.nan
    elsewhere = good.samples.copy()
    elsewhere[:, 2] += 2e-3
    torn, creeping = good.samples.copy(), np.zeros((100, 18))
    torn[250, 2] += 0.01  # its speeds know nothing of it
    creeping[:, :6] = pose_to_coordinates(HOME)
    creeping[:, 2] += 4e-4 * np.arange(100)
    leap = np.zeros((2, 18))
    leap[:, :6] = pose_to_coordinates(HOME)
    leap[1, 2] += 0.04
    return {
        "one row": (MotionTable(0.01, good.samples[:1]), "at least two rows"),
        "not finite": (MotionTable(good.step, nan), "not finite"),
        "not at rest": (MotionTable(good.step, fast), "speed at start or end"),
        "end not finite": (MotionTable(good.step, rough), "not finite"),
        "unreachable": (MotionTable(good.step, far), "greatest length"),
        "elsewhere": (MotionTable(good.step, elsewhere), "from where the platform is"),
        "too fast between two rows": (MotionTable(0.05, leap), "speed"),
        "torn": (MotionTable(good.step, torn), "speed"),
        "in steps": (MotionTable(good.step, creeping), "acceleration"),
        "endless": (MotionTable(1e9, leap), "samples"),
        "absurd": (MotionTable(good.step, good.samples * 1e200), ""),
    }


def test_motions_outside_the_limits_are_refused(rig: Bench) -> None:
    rig.engage()
    for table, reason in _bad_motions().values():
        with np.errstate(over="ignore", invalid="ignore"):
            assert reason in refused(rig, Follow("bad", table.step), table.samples)
    assert "at least two rows" in refused(rig, Follow("bad", 0.01))
    assert rig.state is State.ENGAGED


def test_a_motion_may_begin_and_end_with_an_acceleration(rig: Bench) -> None:
    end = pose_to_coordinates(HOME)
    end[2] += 4e-3
    rig.engage()
    rig.run(0.3)
    start = pose_to_coordinates(rig.engine.frame.now[:7])
    way = end - start
    blend = Blend(start, end, 1.0, 1.5 * float(np.linalg.norm(way[:3])), 1.5 * float(np.linalg.norm(way[3:])))
    table = tabulate(blend, 2e-3)
    assert np.abs(table.samples[[0, -1], 12:]).max() > 1e-2
    rig.follow(table)
    rig.until(State.ENGAGED)
    assert rig.engine.machine.cause is None
    np.testing.assert_allclose(rig.engine.frame.now[:3], end[:3], atol=1e-9)


# -- guards ----------------------------------------------------------------------------------------------------------


def test_without_a_recording_nothing_is_engaged_followed_or_resumed(rig: Bench) -> None:
    table = smooth_table(2.0)
    rig.park()
    rig.tap.fault = "the disk is full"
    assert "the disk is full" in refused(rig, Engage())
    rig.tap.fault = ""
    rig.request(Engage())
    rig.until(State.ENGAGED)
    rig.tap.fault = "the disk is full"
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


def test_without_fresh_feedback_nothing_begins(rig: Bench) -> None:
    table = smooth_table(2.0)
    rig.park()
    rig.virtual.faults.inject("drop_write", 3)
    rig.step()
    assert "no fresh feedback of leg 3" in refused(rig, Engage())
    rig.step()
    rig.request(Engage())
    rig.until(State.ENGAGED)
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
    assert not rig.engine.bank.fresh.all()
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
    assert not rig.engine.bank.fresh.all()
    reply = rig.submit(Home())
    rig.step()
    rig.engine.stop(1, "the operator's")  # there is no torque, and nothing to stop but the waiting
    rig.run(0.1)
    assert rig.state is State.IDLE and reply.result(0).reason == "home: the rig was stopped meanwhile"
    rig.virtual.faults.inject("drop_write", 4)
    rig.step()
    rig.request(Home())
    assert rig.state is State.HOMING
    rig.until(State.PARKED)


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
        rig.engine.stop(2, "hold")
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
            assert "the load cell of leg 4 is +" in refused(rig, Engage())


def test_an_unstable_loop_is_not_closed(tmp_path: Path) -> None:
    with bench(tmp_path, CONFIG.changed({"rate": 200.0})) as rig:
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


# -- homing ----------------------------------------------------------------------------------------------------------


def test_homing_again_searches_again(rig: Bench) -> None:
    """After a fault the drives still have their references: their old word is not the answer."""
    rig.engage()
    rig.virtual.faults.inject("force_step", None, 2000.0)
    rig.until(State.FAULT)
    rig.virtual.faults.clear()
    assert rig.engine.machine.homed
    rig.run(0.1)
    rig.request(Reset())
    rig.tap.take()
    rig.request(Home())
    assert not rig.engine.machine.homed
    rig.until(State.PARKED)
    rows = rig.tap.take()
    homing = rows[rows["state"] == State.HOMING]
    assert len(homing) > 50 and (homing["drive_status"] & Status.HOMING != 0).any(axis=0).all()
    assert (homing["flags"] & CycleFlag.HOMED == 0).all()
    assert rig.engine.machine.homed
    rig.run(0.4)
    rig.request(Engage())
    rig.until(State.ENGAGED)


def test_references_that_disagree_are_a_fault(rig: Bench) -> None:
    rig.virtual.faults.inject("encoder_scale", 3, 1.01)
    rig.request(Connect())
    rig.request(Home())
    rig.until(State.FAULT)
    cause = rig.engine.machine.cause
    assert cause is not None and cause.code is FaultCode.HOMING_FAILED and cause.leg == 3
    assert "mm from its length at home (bound 0.1 mm)" in cause.text and not rig.engine.machine.homed


def test_homing_that_never_ends_is_stopped(tmp_path: Path) -> None:
    with bench(tmp_path, CONFIG.changed({"safety": {"homing_timeout": 0.3}})) as rig:
        rig.request(Connect())
        rig.request(Home())
        rig.until(State.FAULT)
        cause = rig.engine.machine.cause
        assert cause is not None and cause.code is FaultCode.HOMING_FAILED and "0.3 s" in cause.text
        assert not rig.engine.bank.any(Status.ENABLED)


# -- faults and resets -----------------------------------------------------------------------------------------------


def test_a_reset_needs_the_cause_gone_and_every_request_is_answered(rig: Bench) -> None:
    rig.park()
    rig.virtual.faults.inject("cell_nan", 6)
    rig.until(State.FAULT)
    first, second = rig.submit(Reset()), rig.submit(Reset())
    rig.run(0.1)
    assert not first.result(0).accepted and not second.result(0).accepted
    assert "leg 6: the load cell reads nan N" in first.result(0).reason
    assert "under way" in second.result(0).reason
    assert rig.state is State.FAULT and rig.engine.machine.cause is not None
    rig.virtual.faults.clear()
    rig.run(0.1)
    assert rig.state is State.FAULT
    rig.request(Reset())
    assert rig.state is State.IDLE and rig.engine.machine.cause is None


def test_a_drive_that_restarts_while_a_fault_is_latched_clears_homed(rig: Bench) -> None:
    rig.park()
    rig.virtual.faults.inject("cell_nan", 1)
    rig.until(State.FAULT)
    cause = rig.engine.machine.cause
    assert rig.engine.machine.homed
    rig.virtual.faults.inject("reboot", 2)
    rig.step()
    assert not rig.engine.machine.homed and rig.engine.machine.cause is cause


def test_a_restart_clears_homed_even_behind_another_fault(rig: Bench) -> None:
    rig.engage()
    rig.virtual.faults.inject("drop_all", 1)
    rig.run(0.02)
    cause = rig.engine.machine.cause
    assert cause is not None and cause.code is FaultCode.COMMUNICATION_LOST and rig.engine.machine.homed
    rig.virtual.faults.inject("reboot", 2)
    rig.step()
    assert not rig.engine.machine.homed and rig.engine.machine.cause is cause


def test_a_quick_stop_reaches_every_leg_in_the_cycle_of_its_cause(rig: Bench) -> None:
    rig.engage()
    rig.follow(smooth_table(2.0))
    rig.run(0.3)
    rig.tap.take()
    rig.virtual.faults.inject("encoder_jump", 2, 0.004)
    rig.run(0.02)
    rows = rig.tap.take()
    (found,) = np.flatnonzero(rows["stop"] == StopCategory.QUICK_STOP)[:1]
    assert found == 0 and rows["fault_leg"][0] == 2
    assert (rows["drive_status"][found] & Status.QUICK_STOP != 0).all()
    assert not rig.engine.machine.homed


def test_the_status_tells_what_a_client_needs(rig: Bench) -> None:
    rig.engage()
    rig.follow(smooth_table(), "up and down")
    rig.run(0.5)
    status = rig.status()
    assert (status.state, status.motion, status.rate, status.virtual) == (State.RUNNING, "up and down", 500.0, True)
    assert status.path_time == pytest.approx(0.5, abs=0.005) and status.path_duration == pytest.approx(1.0)
    assert status.reference == tuple(rig.engine.frame.now[:7]) and status.cycles == rig.engine.cycles
    assert (status.cause, status.cause_code, status.homed, status.paused) == ("", FaultCode.NONE, True, False)
    assert status.events[-1].text == "ENGAGED → RUNNING" and len(status.events) <= 50
    rig.tap.fault = "the disk is full"
    assert rig.status().recording_fault == "the disk is full"
