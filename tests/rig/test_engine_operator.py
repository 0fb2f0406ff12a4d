"""What an operator may ask for and when, on the lockstep rig: commands, stops and motions."""

from typing import Literal

import numpy as np
import pytest
from engine_support import HOME, Bench, refused, smooth_table

from actuators import Mode, Status
from kinematics import Blend, MotionTable, pose_to_coordinates, tabulate
from rig.engine.messages import (
    Abandon,
    Connect,
    Disconnect,
    Engage,
    Follow,
    Home,
    Park,
    Pause,
    Reset,
    Resume,
    RigCommand,
    Shutdown,
    Stop,
)
from rig.engine.reference import straight_move
from rig.states import State
from rig.telemetry import CycleFlag

COMMANDS: tuple[RigCommand, ...] = (
    Connect(), Disconnect(), Home(), Engage(), Pause(), Resume(), Abandon(), Park(), Reset(), Shutdown()
)  # fmt: skip
STOPS = (Stop(0), Stop(1), Stop(2))


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
    assert "nothing is paused" in refused(rig, Resume())
    assert "nothing is paused" in refused(rig, Abandon())
    for command in (Connect(), Disconnect(), Home(), Engage(), Pause(), Reset(), Shutdown()):
        refused(rig, command)
    rig.follow(smooth_table())
    assert "'test' is running: pause it first" in refused(rig, Abandon())
    refuse_all_but(rig, Pause)
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
    for stop in STOPS:
        rig.request(stop)
        assert rig.state is State.OFF
    rig.park()
    for stop in STOPS:
        rig.request(stop)
        assert rig.state is State.PARKED and not rig.engine.drives.any(Status.ENABLED)


@pytest.mark.parametrize("category", [0, 1, 2])
def test_a_stop_from_any_motion(rig: Bench, category: Literal[0, 1, 2]) -> None:
    rig.engage()
    rig.follow(smooth_table(2.0))
    rig.run(0.5)
    rig.tap.take()
    rig.request(Stop(category))
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
    held = rig.engine.cycle_data.reference.now.copy()
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
    good = smooth_table().samples
    for samples in (good[:, :17], good.ravel(), good[:, :, np.newaxis], np.hstack([good, good[:, :1]])):
        assert "must be (n, 18)" in refused(rig, Follow("bad", 0.01), samples)
        broken = samples.copy()
        broken.flat[0] = np.nan
        assert "not finite" in refused(rig, Follow("bad", 0.01), broken)  # which is looked at first
    assert rig.state is State.ENGAGED


def test_a_motion_may_begin_and_end_with_an_acceleration(rig: Bench) -> None:
    end = pose_to_coordinates(HOME)
    end[2] += 4e-3
    rig.engage()
    rig.run(0.3)
    start = pose_to_coordinates(rig.engine.cycle_data.reference.now[:7])
    way = end - start
    blend = Blend(start, end, 1.0, 1.5 * float(np.linalg.norm(way[:3])), 1.5 * float(np.linalg.norm(way[3:])))
    table = tabulate(blend, 2e-3)
    assert np.abs(table.samples[[0, -1], 12:]).max() > 1e-2
    rig.follow(table)
    rig.until(State.ENGAGED)
    assert rig.engine.machine.cause is None
    np.testing.assert_allclose(rig.engine.cycle_data.reference.now[:3], end[:3], atol=1e-9)
