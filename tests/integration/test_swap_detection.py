"""Drives or load cells of two legs exchanged on the operator's word: named after the fault that comes of it.

What was measured comes from machines as built, which are not the model's, and from the plant's own equations of motion.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lockstep_bench import TARE, Bench, bench_config, motion_table

from dynamics import Dynamics
from kinematics import (
    Array,
    MotionTable,
    TrajectorySpec,
    build_trajectory,
    forward_kinematics,
    leg_kinematics,
    pose_difference,
)
from rig.client import demo_trajectory, prepare_motion
from rig.config.rig_config import RigConfig
from rig.config.virtual_rig import Tolerance
from rig.engine.messages import Connect, Engage, Follow, Home, Park, Reset
from rig.errors import RefusedError
from rig.safety import CellModel, Exchange, ExchangeSearch
from rig.safety.wiring_check import PAIRS
from rig.states import FaultCode, State
from rig.virtual.truth import Draw

COUNT, DT = 160, 0.004  # samples, one a cycle; s for the differences of poses
STRAIGHT = list(range(6))
AMPLIFIER = {"source": "amplifier", "amplifier": {"host": "127.0.0.1", "port": 15030}}


def exchanged(pair: tuple[int, int]) -> list[int]:
    order = STRAIGHT.copy()
    order[pair[0]], order[pair[1]] = pair[1], pair[0]
    return order


class Measured:
    """What a machine as built, with a payload of 3 kg, measures in a motion with legs' drives exchanged.

    Args:
        config: the rig.
        drives: which leg's drive answers for each.
        table: the motion; left out: the demo's.
    """

    def __init__(self, config: RigConfig, drives: list[int] = STRAIGHT, table: MotionTable | None = None) -> None:
        drawing, start = config.machine, 0.8
        built = Draw(4, Tolerance(joints=2e-4, friction=0.3)).mechanism(drawing)
        model = Dynamics(built)
        payload = np.array([0.0, 0.0, -3.0 * 9.81, 0.0, 0.9, 0.0])
        home = np.concatenate([drawing.geometry.home_pose, np.zeros(12)])
        self.at_home = model.cells(home[np.newaxis], payload[np.newaxis])[0][drives]
        table = table or prepare_motion(config, demo_trajectory(drawing.geometry.home_pose, 6.0))
        self.times = start + config.period * np.arange(COUNT)
        self.lengths, self.forces = np.empty((COUNT, 6)), np.empty((COUNT, 6))
        random, pose = np.random.default_rng(1), drawing.geometry.home_pose
        for row, t in enumerate(self.times):
            meant = leg_kinematics(drawing.geometry, table.motion(t + np.array([-DT, 0.0, DT]))).length
            poses = [pose := forward_kinematics(drawing.geometry, lengths[drives], pose) for lengths in meant]
            ways = [pose_difference(poses[1], poses[0]) / DT, pose_difference(poses[2], poses[1]) / DT]
            motion = np.concatenate([poses[1], 0.5 * (ways[0] + ways[1]), (ways[1] - ways[0]) / DT])
            self.lengths[row] = meant[1]
            self.forces[row] = model.cells(motion[np.newaxis], payload[np.newaxis])[0][drives]
        self.forces += 0.5 * random.standard_normal((COUNT, 6))

    def explained(self, search: ExchangeSearch, cells: list[int] = STRAIGHT) -> tuple[Exchange, ...]:
        """What a search makes of it, with legs' cells in another order."""
        search.forget()
        for t, length, force in zip(self.times, self.lengths, self.forces, strict=True):
            search.note(float(t), np.stack([length, force[cells]]))
        search.begin(self.at_home[cells])
        found = None
        while found is None:
            found = search.proceed()
        return found


def crossed(folder: Path, pair: tuple[int, int], **changes: Any) -> RigConfig:
    """A rig near home whose drives are taken whoever they are, those of a pair of legs (1 to 6) exchanged."""
    legs = [{"host": "127.0.0.1", "port": 15021 + leg} for leg in range(6)]
    faults = [{"fault": "swap_unit", "leg": leg, "value": float(value), "at": 0.0} for leg, value in {pair, pair[::-1]}]
    virtual = {"drive": {"start_spread": 2e-4}, "faults": faults}
    return bench_config(drives={"legs": legs}, recording={"directory": str(folder)}, virtual=virtual, **changes)


def engaged(folder: Path, config: RigConfig) -> Bench:
    """OFF → ENGAGED on the operator's word."""
    bench = Bench(folder, config)
    bench.rig.request(Connect())
    bench.rig.request(Home(unproven=True))
    bench.until(lambda: bench.in_state(State.PARKED) and bench.engine.settled_for() > TARE)
    bench.rig.request(Engage())
    bench.until_state(State.ENGAGED)
    return bench


@pytest.fixture(scope="module")
def search() -> ExchangeSearch:
    config = bench_config()
    return ExchangeSearch(config, CellModel(config))


@pytest.fixture(scope="module")
def healthy() -> Measured:
    return Measured(bench_config())


def test_each_pair_of_drives_is_named(search: ExchangeSearch) -> None:
    for pair in PAIRS:
        found = Measured(bench_config(), exchanged(pair)).explained(search)
        assert found == (Exchange((pair[0] + 1, pair[1] + 1), cells=False),)


def test_each_pair_of_cells_is_named_where_it_shows(search: ExchangeSearch, healthy: Measured) -> None:
    named = 0
    for pair in PAIRS:
        found = healthy.explained(search, exchanged(pair))
        assert found in ((), (Exchange((pair[0] + 1, pair[1] + 1), cells=True),))
        named += bool(found)
    assert named >= 13


def test_what_else_is_wrong_is_nobodys_exchange(search: ExchangeSearch, healthy: Measured) -> None:
    assert healthy.explained(search) == ()
    forces, lengths, at_home = healthy.forces.copy(), healthy.lengths.copy(), healthy.at_home.copy()
    late = np.arange(COUNT)[:, None] >= COUNT // 2
    direction = np.sign(np.gradient(lengths, axis=0))
    changes: dict[str, tuple[Array, Array]] = {
        "pushed from a moment on": (forces + late * np.array([20.0, -5.0, 15.0, 30.0, -10.0, 5.0]), lengths),
        "friction": (forces + 9.0 * direction, lengths),
        "heavier at once": (forces + late * 0.6 * at_home, lengths),
        "three cells' gains": (forces * np.array([1.3, 0.7, 1.2, 1.0, 1.0, 1.0]), lengths),
    }
    for leg in (1, 4):
        one = np.eye(6)[leg]
        changes |= {
            f"cell {leg + 1}'s gain": (forces * (1.0 + 0.8 * one), lengths),
            f"cell {leg + 1}'s polarity": (forces * (1.0 - 2.0 * one), lengths),
            f"cell {leg + 1}'s zero": (forces + late * 40.0 * one, lengths),
            f"encoder {leg + 1}'s scale": (forces, lengths + 0.1 * one * (lengths - lengths.mean(axis=0))),
            f"encoder {leg + 1} stands still": (forces, np.where(late * one > 0.0, lengths[COUNT // 2], lengths)),
        }
    try:
        for what, (force, length) in changes.items():
            healthy.forces, healthy.lengths = force, length
            assert healthy.explained(search) == (), what
    finally:
        healthy.forces, healthy.lengths = forces, lengths


@pytest.mark.parametrize("pair", [(2, 5), (1, 1)])
def test_after_a_small_motion_they_are_found_once_parked(tmp_path: Path, pair: tuple[int, int]) -> None:
    config = crossed(tmp_path, pair, mode="position")  # (1, 1): not proven, and wired right
    terms = [
        {"dof": "z", "amplitude": 0.006, "frequency": 0.9},
        {"dof": "y", "amplitude": 0.006, "frequency": 0.6},
        {"dof": "ry", "amplitude": 0.015, "frequency": 0.8, "phase": 0.4},
    ]
    part = {"type": "harmonic", "duration": 2.0, "fade": 0.5, "terms": terms}
    motion = TrajectorySpec.model_validate({"frame": "home", "parts": [part]})
    table = prepare_motion(config, build_trajectory(motion, config.machine.geometry.home_pose))
    with engaged(tmp_path, config) as bench:
        bench.rig.request(Follow("small", table.step), table.samples)
        bench.until_state(State.RUNNING)
        bench.until_state(State.ENGAGED)
        assert not bench.machine.latched
        bench.rig.request(Park())
        bench.until_state(State.PARKED)
        assert bench.engine._search.active
        bench.until(lambda: not bench.engine._search.active)
        cause, lacking = bench.machine.cause, bench.engine.snapshot.unproven
        if pair == (1, 1):
            assert bench.in_state(State.PARKED) and bench.machine.homed and cause is None
        else:
            assert cause is not None and cause.code is FaultCode.WIRING and not bench.machine.homed
            assert lacking is not None and lacking.legs == pair and lacking.text == cause.text


@pytest.mark.parametrize(("fault", "leg", "value"), [("weak", 4, 0.3), ("force_step", 3, 100.0)])
def test_a_fault_of_one_leg_names_no_pair(tmp_path: Path, fault: str, leg: int, value: float) -> None:
    with Bench(tmp_path) as bench:
        bench.run()
        bench.inject(fault, leg, value)
        bench.until(lambda: bench.in_state(State.FAULT))
        assert bench.engine._search.active
        bench.until(lambda: not bench.engine._search.active)
        assert all(event.code is not FaultCode.WIRING for event in bench.engine.events)
        assert bench.engine.snapshot.unproven is None


def test_legs_that_move_alike_may_be_exchanged_and_may_not(search: ExchangeSearch) -> None:
    """A motion in the plane of symmetry: opposite legs have one length, and their exchange fits as well as none."""
    config = bench_config()
    assert Measured(config, table=motion_table(config)).explained(search) == ()


def test_near_home_no_exchange_is_named(search: ExchangeSearch) -> None:
    measured = Measured(bench_config(), exchanged((1, 4)))
    home = bench_config().machine.geometry.home_lengths
    measured.lengths = home + 1e-5 * (measured.lengths - home)
    assert measured.explained(search) == ()


@pytest.mark.parametrize(
    ("mode", "cells", "pair"),
    [
        ("force", "drive", (1, 2)),
        ("force", "drive", (4, 6)),
        ("force", "amplifier", (2, 5)),
        ("position", "drive", (1, 4)),
    ],
)
def test_run_on_the_operators_word_it_is_named_and_homing_refused(
    tmp_path: Path, mode: str, cells: str, pair: tuple[int, int]
) -> None:
    config = crossed(tmp_path, pair, mode=mode, **({"load_cells": AMPLIFIER} if cells == "amplifier" else {}))
    table = prepare_motion(config, demo_trajectory(config.machine.geometry.home_pose, 6.0))
    with engaged(tmp_path, config) as bench:
        bench.rig.request(Follow("demo", table.step), table.samples)
        bench.until(lambda: bench.machine.latched, 8.0)
        cause = bench.machine.cause
        assert cause is not None and cause.code in (FaultCode.FORCE_RESIDUAL, FaultCode.FOLLOWING_ERROR)
        bench.until(lambda: bench.engine.events[-1].code is FaultCode.WIRING, 2.0)
        lacking = bench.engine.snapshot.unproven
        assert lacking is not None and lacking.legs == pair
        assert f"the drives of legs {pair[0]} and {pair[1]} answer at each other's address" in lacking.text
        assert bench.engine.events[-1].text == lacking.text and bench.machine.cause == cause
        bench.rig.request(Reset())
        with pytest.raises(RefusedError, match="match another wiring"):
            bench.rig.request(Home())
