"""A rig at the lowest rates: the drives close the loop, and everything else holds as at any other."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine_support import bench, smooth_table

from actuators import Drive, create_drive
from kinematics import Array, MotionTable, leg_kinematics, pose_to_coordinates
from rig.client import at_rate, checked_motion, checked_move, demo_trajectory
from rig.config import LEAST_RATE, RigConfig, load_config
from rig.engine import approach_move, motion_verdict, move_speeds, straight_move
from rig.errors import ConfigError, RefusedError
from rig.safety import Traffic, TrafficCheck, check_loop, position_integral
from rig.states import FaultCode, State

VIRTUAL = load_config("virtual")


def slow(rate: float = LEAST_RATE) -> RigConfig:
    """The virtual rig as it is demonstrated at a rate: the drives close the loop."""
    return at_rate(VIRTUAL, rate)


def test_a_demonstration_at_a_low_rate_is_one_that_can_work() -> None:
    config = slow(5.0)
    assert (config.mode, config.drives.watchdog) == ("position", 0.5)
    assert at_rate(VIRTUAL, 500.0).mode == "force" and at_rate(VIRTUAL, 500.0).drives.watchdog == 0.05
    assert all(check_loop(at_rate(VIRTUAL, rate)).passed for rate in (10.0, 20.0, 1000.0))
    assert not check_loop(at_rate(VIRTUAL, 200.0)).passed, "which is refused, as by rig run"


@pytest.mark.parametrize("drives", ["", "-servo", "-orca", "-iai", "-jrk-g2", "-canopen", "-mixed"])
def test_every_virtual_rig_can_be_demonstrated_at_the_least_rate(drives: str) -> None:
    config = at_rate(load_config(f"virtual{drives}"), LEAST_RATE)
    assert config.rate == LEAST_RATE and all(config.own_loops)
    assert check_loop(config).passed


def test_what_cannot_be_at_a_low_rate_is_refused_with_its_bound() -> None:
    with pytest.raises(ConfigError, match=r"rate: 4.9 Hz, must be 5 to 2000 Hz"):
        slow(4.9)
    with pytest.raises(ConfigError, match=r"drives.watchdog: 0.3 s is less than two cycles \(0.4 s\)"):
        slow().changed({"drives": {"watchdog": 0.3}})
    with pytest.raises(ConfigError, match=r"safety.stale_time: 0.1 s, must be at least 0.2 s, a cycle at 5 Hz"):
        slow().changed({"safety": {"stale_time": 0.1}})
    assert not check_loop(slow().changed({"mode": "force"})).passed


def test_a_motion_runs_a_stop_holds_and_a_jump_at_rest_is_found(tmp_path: Path) -> None:
    with bench(tmp_path, slow()) as rig:
        rig.engage()
        rig.tap.take()
        rig.follow(smooth_table(2.5, 20e-3))
        rig.until(State.RUNNING)
        rig.until(State.ENGAGED, timeout=10.0)
        rows = rig.tap.take()
        error = np.abs(rows["length"] - rows["length_reference"])
        assert error.max() < 0.25 * rig.config.safety.following_error
        # N; the cells' noise is 0.5 N RMS, and a model without the integral of the drives' loops leaves 2.7 N
        assert np.abs(rows["force_residual"]).max() < 2.3
        moved = rows["length_reference"].max(axis=0) - rows["length_reference"].min(axis=0)
        assert moved.max() > 5e-3
        rig.follow(smooth_table(2.5, 20e-3))
        rig.run(1.0)
        rig.engine.stop(2)
        rig.until(State.ENGAGED)
        rows = rig.tap.take()
        assert np.abs(rows["length"] - rows["length_reference"]).max() < 0.5 * rig.config.safety.following_error
        assert rig.engine.machine.cause is None or not rig.engine.machine.latched
        rig.engine.stop(1)
        rig.until(State.IDLE, State.PARKED)
        rig.run(0.6)
        rig.virtual.faults.inject("encoder_jump", 2, 5e-3)
        rig.run(2.0 * rig.config.period)
        cause = rig.engine.machine.cause
        assert cause is not None and (cause.code, cause.leg) == (FaultCode.POSITION_JUMP, 2)
        assert not rig.engine.machine.homed


def test_the_integral_of_the_drives_loops_is_stated_or_that_of_a_virtual_drive_and_stable() -> None:
    loop = {"position_stiffness": 60e3, "position_damping": 900.0}
    given = slow().changed({"drives": {**loop, "position_integral_time": 0.25}})
    assert (position_integral(slow()), position_integral(given)) == (8.0, 4.0)
    assert position_integral(given.model_copy(update={"virtual": None})) == 4.0
    assert position_integral(slow().changed({"drives": loop}).model_copy(update={"virtual": None})) == 0.0
    fast = given.changed({"drives": {"position_integral_time": 0.05}})
    with pytest.raises(ConfigError, match=r"position_integral_time: 0.05 s .* must be above 0.0564 s"):
        position_integral(fast)
    with pytest.raises(ConfigError, match="position_integral_time: give position_stiffness"):
        slow().changed({"drives": {"position_integral_time": 0.25}})


def test_waits_are_found_once_for_a_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    def create(driver: str, options: Mapping[str, Any]) -> Drive:
        made.append(1)
        return create_drive(driver, options)

    monkeypatch.setattr("rig.config.rig_config.create_drive", create)
    orca = at_rate(load_config("virtual-orca"), 20.0)
    rest = MotionTable(0.1, np.tile(pose_row(orca), (2, 1)))
    for _ in range(3):
        assert motion_verdict(orca, rest, 10.0).passed
    assert len(made) == 6
    faster = orca.changed({"rate": 25.0})
    assert faster.command_waits == pytest.approx(np.full(6, 0.04)) and len(made) == 12
    assert orca.model_copy(update={"rate": 25.0}).command_waits == pytest.approx(np.full(6, 0.04))
    with pytest.raises(ValueError, match="read-only"):
        orca.command_waits[0] = 0.0


def pose_row(config: RigConfig) -> Array:
    return np.concatenate([pose_to_coordinates(config.machine.geometry.home_pose), np.zeros(12)])


def test_the_travel_of_a_drive_that_waits_for_its_next_length_is_judged_before_it_moves() -> None:
    orca = at_rate(load_config("virtual-orca"), 20.0)
    assert orca.command_waits == pytest.approx(np.full(6, 0.05))
    assert not slow().command_waits.any() and not load_config("virtual-orca").command_waits.any()
    unnamed = [leg.model_dump(exclude={"serial"}) for leg in VIRTUAL.drives.legs]
    every_second = slow(20.0).changed({"drives": {"profile": "lexium-32", "legs": unnamed}})  # a bit rises, then falls
    assert every_second.command_waits == pytest.approx(np.full(6, 0.1))
    fast = demo_trajectory(orca.machine.geometry.home_pose, 6.0)
    verdict = checked_motion(orca, fast)[1]
    (fault,) = verdict.faults
    assert fault.details["quantity"] == "travel between two commands" and fault.bound == orca.safety.following_error
    assert fault.value is not None and fault.value > fault.bound and 0.0 < verdict.scale < 1.0
    smaller = demo_trajectory(orca.machine.geometry.home_pose, 6.0, math.floor(1e3 * verdict.scale) / 1e3)
    assert checked_motion(orca, smaller)[1].passed


def test_bad_replies_are_those_of_a_second_however_slow_the_cycle() -> None:
    for period in (2e-3, 0.2):
        check = TrafficCheck(0.1, 1, period)
        for cycle in range(round(3.0 / max(period, 0.1))):
            t = cycle * max(period, 0.1)
            check.check(t, Traffic("leg 1", 1, round(t / period), cycle))
        bad, bound = check.lately("leg 1")
        assert (bad, bound) == ((10, 50.0) if period < 0.1 else (5, 5.0))


def test_no_torque_is_awaited_for_as_many_exchanges_as_it_takes() -> None:
    assert VIRTUAL.torque_off_time == 0.5 and slow().torque_off_time == pytest.approx(0.8)
    assert VIRTUAL.check_rate == 500.0 and slow().check_rate == 100.0


def test_the_rigs_own_moves_leave_room_for_the_lag_of_a_drive_that_waits_for_its_next_length() -> None:
    orca, home = at_rate(load_config("virtual-orca"), 10.0), VIRTUAL.machine.geometry.home_pose
    there = home + np.array([0.0, 0.0, 20e-3, 0.0, 0.0, 0.0, 0.0])
    usual = straight_move(there, home, orca.motion.approach_speed, orca.motion.approach_rotation)
    assert not motion_verdict(orca, usual, orca.check_rate).passed
    slower = approach_move(orca, there, home)
    assert motion_verdict(orca, slower, orca.check_rate).passed
    legs = leg_kinematics(orca.machine.geometry, slower.motion(np.linspace(0.0, slower.duration, 1001)))
    travel = float(np.abs(legs.velocity).max()) * orca.period
    assert travel == pytest.approx(0.5 * orca.safety.following_error, rel=1e-3)
    assert checked_move(orca, there, home).duration == slower.duration
    slow_enough = 0.9 * usual.duration / slower.duration * orca.motion.approach_speed
    assert checked_move(orca, there, home, slow_enough).duration == pytest.approx(slower.duration / 0.9)
    assert checked_move(orca, there, home, None, 0.5).duration == slower.duration, "the given one is not what it takes"
    with pytest.raises(RefusedError, match="travel between two commands"):
        checked_move(orca, there, home, orca.motion.approach_speed)
    along, about = move_speeds(orca)
    assert along == pytest.approx(0.5 * orca.safety.following_error / orca.period) and 0.0 < about < along / 0.05
    usual_speeds = (orca.motion.approach_speed, orca.motion.approach_rotation)
    assert move_speeds(load_config("virtual-orca")) == usual_speeds
    unbounded = orca.changed({"safety": {"off": ["following_error"]}})
    assert approach_move(unbounded, there, home).duration == usual.duration
