"""A reference that breaks a limit behind the check of its motion is not commanded: the last good one comes to rest."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from fault_bench import C1, C2, invariants
from lockstep_bench import Bench, motion_table, shipped_config

from dynamics import LegLimits
from kinematics import MotionTable, condition_numbers, leg_kinematics, pose_to_coordinates
from rig.states import FaultCode, State

EDGE = 1.0 + 1e-6


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with Bench(tmp_path) as made:
        yield made.engage()


def follow(bench: Bench, table: MotionTable) -> None:
    """Follow `table` unchecked."""
    bench.engine.reference.follow(table, "unchecked")
    bench.engine.enter(State.RUNNING)


def climb(bench: Bench) -> MotionTable:
    """Up at 0.1 m/s, out of the strokes."""
    t = np.arange(1001) * 2e-3
    x = np.minimum(t / 0.2, 1.0)
    speed = 0.1 * x * x * (3.0 - 2.0 * x)
    samples = np.zeros((len(t), 18))
    samples[:, :6] = pose_to_coordinates(bench.config.machine.geometry.home_pose)
    samples[:, 8] = speed
    samples[:, 14] = np.gradient(speed, 2e-3)
    samples[:, 2] += np.concatenate([[0.0], np.cumsum(0.5 * (speed[1:] + speed[:-1]) * 2e-3)])
    return MotionTable(2e-3, samples)


def spoiled(bench: Bench, column: int, by: float) -> MotionTable:
    """The bench's motion with one number of its middle off."""
    table = motion_table(bench.config)
    samples = table.samples.copy()
    samples[len(samples) // 4, column] += by
    return MotionTable(table.step, samples)


def commanded(bench: Bench) -> npt.NDArray[np.float64]:
    """Step to a stand; what was commanded in each cycle, and for what the forces were computed: (2 n, 19)."""
    seen = []
    for _ in range(round(2.5 * bench.config.rate)):
        bench.rig.step()
        if bench.in_state(State.RUNNING) or bench.in_state(State.STOPPING):
            seen += [bench.engine.cycle_data.reference.now.copy(), bench.engine.cycle_data.reference.ahead.copy()]
    return np.array(seen)


def within_limits(bench: Bench, motions: npt.NDArray[np.float64]) -> None:
    limits: LegLimits = bench.config.machine.legs[0].limits or LegLimits()
    assert limits.length and limits.velocity and limits.acceleration
    geometry = bench.config.machine.geometry
    assert np.isfinite(motions).all()
    legs = leg_kinematics(geometry, motions)
    assert legs.length.min() >= limits.length[0] / EDGE and legs.length.max() <= limits.length[1] * EDGE
    assert np.abs(legs.velocity).max() <= limits.velocity * EDGE
    assert np.abs(legs.acceleration).max() <= limits.acceleration * EDGE
    safety = bench.config.safety
    assert condition_numbers(geometry, motions[:, :7], safety.characteristic_length).max() <= safety.condition


@pytest.mark.parametrize(("column", "by"), [(8, 3.0), (14, 40.0), (2, 0.02)])
def test_the_last_good_reference_comes_to_rest_and_the_offending_one_is_never_commanded(
    bench: Bench, column: int, by: float
) -> None:
    follow(bench, spoiled(bench, column, by))
    motions = commanded(bench)
    within_limits(bench, motions)
    machine = bench.machine
    assert (machine.state, machine.stop) == (State.STOPPING, C2) and bench.torque
    assert machine.cause is not None and machine.cause.code is FaultCode.SPEED_LIMIT
    assert np.abs(motions[-1, 7:]).max() == 0.0
    recording = bench.recording()
    rows = recording.rows
    stopping = rows["state"] == State.STOPPING
    assert rows["stop"].max() == C2  # nothing had to be escalated
    assert np.abs(np.diff(rows["reference"][:, :3], axis=0)).max() < 2e-3  # 1 m/s: no jump either
    error = np.abs(rows["length"] - rows["length_reference"])[stopping]
    assert error.max() < bench.config.safety.following_error
    invariants(recording)


def test_where_the_stroke_ends_the_last_good_pose_is_held(tmp_path: Path) -> None:
    with Bench(tmp_path, shipped_config()) as bench:
        held_where_the_stroke_ends(bench.engage())


def held_where_the_stroke_ends(bench: Bench) -> None:
    follow(bench, climb(bench))
    motions = commanded(bench)
    within_limits(bench, motions)  # no deceleration does
    machine = bench.machine
    assert machine.cause is not None and machine.cause.code is FaultCode.LENGTH_LIMIT
    rows = bench.recording().rows
    stopping = rows["state"] == State.STOPPING
    assert rows["stop"][stopping][0] == C2 and rows["stop"].max() <= C1
    assert np.abs(rows["velocity_reference"][stopping][1:]).max() == 0.0  # the first is the last good one
    assert rows["length"].max() < 0.621


def test_a_motion_that_the_model_has_no_force_for_is_left_in_the_cycle_that_finds_it(bench: Bench) -> None:
    bound = 60.0  # N; at home a leg carries less, and the motion asks for more
    bench.engine._commander._force_bound[:] = bound
    follow(bench, motion_table(bench.config))
    motions = commanded(bench)
    within_limits(bench, motions)
    assert bench.in_state(State.FAULT) and bench.machine.cause is not None
    assert bench.machine.cause.code is FaultCode.FORCE_LIMIT
    recording = bench.recording()
    rows = recording.rows
    assert rows["stop"].max() == C1
    assert np.abs(rows["force_feedforward"]).max() <= bound
    assert np.abs(rows["force_command"]).max() <= bound
    invariants(recording)
