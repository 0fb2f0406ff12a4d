"""Hold-to-run on the lockstep rig: it moves while it is held, and comes to a smooth stand however the hold is lost."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from configured import limits
from engine_support import CONFIG, HOME, Bench, refused

from kinematics import pose_difference
from rig.client import (
    HoldToRunMotion,
    Interruption,
    RigClient,
    follow_hold_to_run,
    greatest_speed,
    hold_to_run_motion,
    jogged,
)
from rig.client.motions import checked_move
from rig.engine import RAMPS, Abandon, Follow, Pace, Pause, Resume, Stop
from rig.errors import InputError, RefusedError, RunFaultError
from rig.states import MotionKind, MotionOutcome, State

SPEED = 0.05
DEADLINE = CONFIG.safety.hold_renewal
LIMITS = limits(CONFIG.machine.legs[0])
ACCELERATION, FORCE = LIMITS.acceleration or 0.0, LIMITS.force or 0.0


def way(rig: Bench, axis: str = "z", sign: int = 1, speed: float = SPEED) -> HoldToRunMotion:
    here, turning = np.array(rig.status().reference), axis.startswith("r")
    greatest = greatest_speed(rig.config, axis, (0.0, 0.0, 0.0))
    return hold_to_run_motion(
        rig.config,
        lambda far: jogged(rig.config, here, axis, sign * far, "base", (0.0, 0.0, 0.0)),
        speed,
        greatest,
        turning=turning,
    )


@pytest.fixture
def engaged(rig: Bench) -> Bench:
    rig.engage()
    return rig


def begin(rig: Bench, motion: HoldToRunMotion | None = None, slowing: float | None = None) -> HoldToRunMotion:
    motion = way(rig) if motion is None else motion
    rig.hold()
    command = Follow("up", motion.table.step, MotionKind.JOG, slowing=slowing or motion.slowing)
    rig.request(command, motion.table.samples)
    return motion


def hold_for(rig: Bench, duration: float, every: int = 10) -> None:
    for cycle in range(round(duration / rig.config.period)):
        if cycle % every == 0:
            rig.hold()
        rig.step()


def smooth(rig: Bench, rows: npt.NDArray[np.void]) -> None:
    """No step in the commanded speed, and no leg beyond its limits of acceleration and force."""
    speeds = rows["velocity_reference"]
    accelerations = np.diff(speeds, axis=0) / rig.config.period
    assert np.abs(accelerations).max() < ACCELERATION
    assert np.abs(np.diff(accelerations, axis=0)).max() < 6.5 * SPEED / RAMPS[0] ** 2 * rig.config.period  # s̈' ≤ 6/T²
    assert np.abs(rows["force_command"]).max() < FORCE
    assert np.abs(speeds[-1]).max() < 1e-9


def comes_to_a_stand(rig: Bench, within: float) -> npt.NDArray[np.void]:
    begun = rig.engine.tick.t
    rig.until(State.ENGAGED, timeout=within + 0.1)
    assert rig.engine.tick.t - begun <= within + 0.1
    rig.run(0.05)
    status = rig.status()
    assert status.state is State.ENGAGED and not status.paused
    rows = rig.tap.take()
    smooth(rig, rows)
    return rows


def test_it_moves_while_it_is_held_and_stops_within_the_ramp_of_its_letting_go(engaged: Bench) -> None:
    rig = engaged
    start = np.array(rig.status().reference)
    rig.tap.take()
    motion = begin(rig)
    hold_for(rig, 1.0)
    assert rig.state is State.RUNNING
    moved = np.array(rig.status().reference)[2] - start[2]
    assert moved == pytest.approx(SPEED * (1.0 - 0.5 * motion.slowing), rel=0.02)
    rig.let_go()
    rows = comes_to_a_stand(rig, motion.slowing)
    end = np.array(rig.status().reference)
    assert end[2] - start[2] == pytest.approx(moved + 0.5 * SPEED * motion.slowing, rel=0.05)
    assert np.abs(pose_difference(end, start)[[0, 1, 3, 4, 5]]).max() < 1e-9  # along the one axis alone
    assert np.abs(rows["velocity_reference"]).max() > 0.5 * SPEED
    assert "nothing is paused" in refused(rig, Resume()) and "nothing is paused" in refused(rig, Abandon())
    begun, ended = rig.tap.motions[-2:]
    assert (begun.kind, begun.duration, ended.outcome) == (MotionKind.JOG, np.inf, MotionOutcome.FINISHED)
    assert ended.reached == pytest.approx(1.0 + 0.5 * motion.slowing, abs=0.02)


@pytest.mark.parametrize("left", [0.39, 1.0])
def test_a_slow_run_that_is_let_go_near_its_end_stands_as_soon_as_any(engaged: Bench, left: float) -> None:
    """At a tenth of full speed 0.39 s of the path are 3.9 s: it is slowed down, not left to its end."""
    rig = engaged
    table = checked_move(rig.config, here := np.array(rig.status().reference), lifted(here), SPEED, 0.2)
    rig.request(Pace(0.1))
    rig.hold()
    rig.request(Follow("foreign", table.step, MotionKind.RUN, slowing=0.4), table.samples)
    while rig.engine.reference.path_duration - rig.engine.reference.path_time > left:
        hold_for(rig, 0.1)
    rig.let_go()
    begun = rig.engine.tick.t
    rig.until(State.ENGAGED, timeout=4.0)
    assert rig.engine.tick.t - begun < 0.4 + 0.05
    rig.run(0.05)
    assert rig.state is State.ENGAGED and not rig.status().paused


def lifted(pose: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    there = pose.copy()
    there[2] += 0.01
    return there


def test_a_hold_that_is_not_renewed_in_time_is_lost_and_said(engaged: Bench) -> None:
    rig = engaged
    rig.tap.take()
    motion = begin(rig)
    hold_for(rig, 0.8)
    rig.hold()
    rig.run(DEADLINE - 0.02)
    rig.hold()  # just in time
    rig.run(DEADLINE - 0.02)
    assert not rig.status().slowing and not any("silent" in text for text in rig.tap.texts())
    rig.run(0.04)
    assert rig.status().slowing
    rig.hold()  # too late: it is not taken up again
    comes_to_a_stand(rig, motion.slowing)
    assert any("'up' slows down: its hold-to-run client was silent for 0.2" in text for text in rig.tap.texts())


def test_a_motion_that_was_let_go_before_it_began_does_not(engaged: Bench) -> None:
    motion = way(engaged)
    command = Follow("up", motion.table.step, slowing=motion.slowing)
    engaged.let_go()
    assert "released before it began" in refused(engaged, command, motion.table.samples)


def test_a_let_go_cannot_be_resumed(engaged: Bench) -> None:
    rig = engaged
    motion = begin(rig)
    hold_for(rig, 0.8)
    rig.let_go()
    rig.run(0.1)
    rig.request(Resume())
    rig.run(0.05)
    assert rig.status().slowing
    rig.until(State.ENGAGED, timeout=2.0 * motion.slowing)


def test_the_end_of_the_range_is_come_to_smoothly_however_long_it_is_held(engaged: Bench) -> None:
    rig = engaged
    motion, start = way(rig, speed=0.2), rig.status().reference
    rig.tap.take()
    begin(rig, motion)
    hold_for(rig, motion.table.duration + 0.1)
    rig.hold()
    assert rig.state is State.ENGAGED and motion.limit is not None
    assert motion.limit.details["quantity"] == "greatest length"
    rows = rig.tap.take()
    assert np.abs(np.diff(rows["velocity_reference"], axis=0)).max() < ACCELERATION * rig.config.period
    assert rig.status().reference[2] - start[2] == pytest.approx(motion.extent, abs=1e-9)
    assert rig.tap.motions[-1].outcome == MotionOutcome.FINISHED
    with pytest.raises(RefusedError, match="no free range: greatest length of leg"):
        begin(rig, way(rig))


def test_letting_go_in_the_last_ramp_leaves_it_as_it_is(engaged: Bench) -> None:
    rig = engaged
    motion = way(rig, speed=0.2)
    begin(rig, motion)
    hold_for(rig, motion.table.duration - 0.5 * motion.slowing)
    rig.let_go()
    rig.run(0.05)
    assert not rig.status().slowing
    rig.until(State.ENGAGED, timeout=motion.slowing)
    assert rig.tap.motions[-1].outcome == MotionOutcome.FINISHED


@pytest.mark.parametrize(
    ("lose", "after", "outcome"),
    [
        (lambda rig: rig.request(Pause()), State.ENGAGED, MotionOutcome.FINISHED),
        (lambda rig: rig.request(Stop(2)), State.ENGAGED, MotionOutcome.STOPPED),
        (lambda rig: rig.request(Stop(1)), State.PARKED, MotionOutcome.STOPPED),
        (lambda rig: rig.raise_stop_flag(1), State.PARKED, MotionOutcome.STOPPED),
        (lambda rig: rig.virtual.faults.inject("encoder_frozen", leg=2), State.FAULT, MotionOutcome.FAULT),
    ],
)
def test_what_ends_it_otherwise_leaves_nothing_to_be_taken_up(
    engaged: Bench, lose: Callable[[Bench], Any], after: State, outcome: MotionOutcome
) -> None:
    rig = engaged
    begin(rig)
    hold_for(rig, 0.7)
    lose(rig)
    hold_for(rig, 1.6)  # whoever holds it on holds nothing
    status = rig.status()
    assert status.state is after
    assert rig.tap.motions[-1].outcome == outcome
    if after is State.ENGAGED:
        assert not status.paused
        begin(rig)  # and another may begin
        hold_for(rig, 0.2)
        assert rig.state is State.RUNNING


def test_a_motion_that_nobody_need_hold_goes_on(engaged: Bench) -> None:
    motion = way(engaged)
    engaged.hold()
    engaged.request(Follow("up", motion.table.step), motion.table.samples)
    engaged.let_go()
    engaged.run(2.0 * DEADLINE)
    assert engaged.state is State.RUNNING and not engaged.status().slowing


def test_a_stand_that_the_legs_would_not_bear_is_refused_before_anything_moves(engaged: Bench) -> None:
    motion = way(engaged, speed=0.2)
    engaged.hold()
    command = Follow("up", motion.table.step, slowing=0.01)
    said = refused(engaged, command, motion.table.samples)
    assert "braked to a standstill in 0.01 s" in said and "acceleration of leg" in said


def test_a_longer_stand_is_taken_where_the_shortest_would_be_refused(engaged: Bench) -> None:
    rig = engaged
    begin(rig, slowing=RAMPS[1])
    hold_for(rig, 0.8)
    rig.let_go()
    rig.run(RAMPS[0] + 0.1)
    assert rig.status().slowing  # in 0.4 s it would stand by now
    rig.until(State.ENGAGED, timeout=RAMPS[1])


@pytest.mark.parametrize(("axis", "sign"), [("x", -1), ("rz", 1), ("leg3", 1)])
def test_every_way_is_along_its_own_axis(axis: str, sign: int) -> None:
    def target(far: float) -> npt.NDArray[np.float64]:
        return jogged(CONFIG, HOME, axis, sign * far, "base", (0.0, 0.0, 0.0))

    greatest = greatest_speed(CONFIG, axis, (0.0, 0.0, 0.0))
    motion = hold_to_run_motion(CONFIG, target, 0.1 * greatest, greatest, turning=axis == "rz")
    table, ramp = motion.table, motion.slowing
    speed = motion.extent / (table.duration - ramp)
    assert 0.99 < speed / (0.1 * greatest) <= 1.0
    times = np.linspace(ramp, table.duration - ramp, 9)
    for time, pose in zip(times, table.motion(times)[:, :7], strict=True):
        assert np.abs(pose_difference(pose, target(speed * (time - 0.5 * ramp)))).max() < 1e-8
    assert np.abs(pose_difference(table.motion([table.duration])[0, :7], target(motion.extent))).max() < 1e-8


@pytest.mark.parametrize("speed", [0.0, 0.81, float("nan")])
def test_a_speed_beyond_the_rigs_own_is_refused(engaged: Bench, speed: float) -> None:
    with pytest.raises(RefusedError, match=r"must be above 0 and at most 0\.8 m/s"):
        way(engaged, speed=speed)


def test_no_speed_is_endless_where_the_legs_have_no_limit() -> None:
    with pytest.raises(RefusedError, match="speed: inf m/s, must be above 0"):
        hold_to_run_motion(CONFIG, lambda _extent: CONFIG.machine.geometry.home_pose, np.inf, np.inf, turning=False)


def test_a_client_that_asks_whether_it_is_held(engaged: Bench) -> None:
    rig, asked = engaged, [True] * 20 + [False]
    follow_hold_to_run(rig, way(rig), "up", MotionKind.JOG, lambda: asked.pop(0))
    assert rig.state is State.ENGAGED and asked == []
    assert 0.01 < rig.status().reference[2] - HOME[2] < 0.08

    def stops() -> bool:
        rig.raise_stop_flag(1)
        return True

    with pytest.raises(RunFaultError, match="stopped"):
        follow_hold_to_run(rig, way(rig), "up", MotionKind.JOG, stops)


@pytest.mark.parametrize(
    ("axis", "direction", "pivot", "said"),
    [
        ("z", 2, (0.0, 0.0, 0.0), "direction: 2 is neither 1 nor -1"),
        ("q", 1, (0.0, 0.0, 0.0), "axis: 'q' must be one of"),
        ("rx", 1, (0.0, 0.0), "pivot: 2 numbers"),
        ("leg2", -1, (0.1, 0.0, 0.0), "a leg's length has neither frame nor pivot"),
    ],
)
def test_a_script_is_told_what_is_wrong_with_what_it_holds(
    engaged: Bench, axis: str, direction: Any, pivot: tuple[float, ...], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        RigClient(engaged, Interruption()).hold(axis, direction, lambda: pytest.fail("it was asked"), pivot=pivot)
    assert engaged.state is State.ENGAGED
