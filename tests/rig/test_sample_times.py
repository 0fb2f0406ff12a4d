"""Legs that are measured and commanded at times of their own within a cycle, as on a line, where they have turns."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from configured import SHIPPED
from engine_support import CONFIG, HOME, smooth_table

from dynamics import Dynamics, DynamicsError
from kinematics import Array, leg_kinematics
from rig.engine.cycle_data import CycleData, ModelHistory
from rig.engine.laws import make_law
from rig.engine.reference import Reference

OFFSET = np.array([0.0, 1e-3, 2e-3, 1e-3, 2e-3, 0.0])  # s
CELLS = np.array([0.0, 2e-3, 2e-3, 0.0, 1e-3, 1e-3])


def moving() -> Reference:
    reference = Reference(HOME)
    reference.follow(smooth_table(), "test")
    reference.advance(0.3)
    return reference


def at(reference: Reference, time: float) -> Array:
    motion = np.zeros(19)
    assert reference.evaluate(time, motion)
    return motion


def legs_at(reference: Reference, times: Array) -> tuple[Array, Array]:
    """Length and speed of each leg on the reference at a time of its own."""
    found = [leg_kinematics(CONFIG.machine.geometry, at(reference, float(time))) for time in times]
    legs = range(6)
    return np.array([found[i].length[i] for i in legs]), np.array([found[i].velocity[i] for i in legs])


@pytest.fixture
def cycle() -> CycleData:
    """What a platform that is on its reference gives, each leg measured at its own time."""
    made, reference = CycleData(CONFIG), moving()
    length, speed = legs_at(reference, OFFSET)
    drives: Any = SimpleNamespace(length=length, velocity=speed, force=np.zeros(6), offset=OFFSET, cells_offset=CELLS)
    made.measurement.take(drives, homed=True)
    made.reference.evaluate(reference, made.measurement)
    made.model.evaluate(0.0, made.reference, made.measurement, known=True)
    return made


def test_a_leg_is_referred_to_where_it_should_have_been_when_it_was_measured(cycle: CycleData) -> None:
    np.testing.assert_allclose(cycle.reference.length_error, 0.0, atol=2e-8)
    np.testing.assert_allclose(cycle.reference.velocity_error, 0.0, atol=2e-4)
    still = np.abs(legs_at(moving(), np.zeros(6))[0] - cycle.measurement.length)
    assert still[OFFSET > 0.0].min() > 1e-6  # by which each would be off, were it taken for a sample of now


def test_the_pose_is_that_of_one_time(cycle: CycleData) -> None:
    np.testing.assert_allclose(cycle.measurement.pose, at(moving(), 0.0)[:7], atol=1e-6)


def test_a_force_is_compared_with_the_model_at_its_own_time(cycle: CycleData) -> None:
    reference, dynamics = moving(), cycle.model.dynamics
    for leg, time in enumerate(CELLS):
        expected = dynamics.cell_and_terms(at(reference, float(time)))
        assert cycle.model.force[leg] == pytest.approx(expected.cells[leg], rel=1e-12)
        np.testing.assert_allclose(cycle.model.terms[:, leg], expected.terms[:, leg], rtol=1e-12)
    now = dynamics.cell_and_terms(cycle.reference.now).cells
    assert np.abs(now - cycle.model.force)[CELLS > 0.0].min() > 1e-4


@pytest.mark.parametrize("mode", ["force", "computed-torque", "observer", "position"])
def test_a_command_is_for_the_time_at_which_its_drive_takes_it(mode: str, cycle: CycleData) -> None:
    law, reference = make_law(SHIPPED.changed({"mode": mode}), cycle.model.dynamics), moving()
    cycle.reference.foresee(reference, 0.0)
    law.compute(cycle)
    acts = cycle.reference.ahead_by + OFFSET
    forces = [cycle.model.dynamics.forces(at(reference, float(time)))[leg] for leg, time in enumerate(acts)]
    np.testing.assert_allclose(cycle.set_points.feedforward, forces, rtol=1e-12)
    if mode == "position":
        length, _ = legs_at(reference, acts)
        np.testing.assert_allclose(cycle.set_points.position, length, atol=2e-7)
        early = legs_at(reference, np.full(6, cycle.reference.ahead_by))[0] - length
        assert np.abs(early)[OFFSET > 0.0].min() > 1e-6


def test_at_rest_times_mean_nothing() -> None:
    cycle = CycleData(CONFIG)
    length = leg_kinematics(CONFIG.machine.geometry, np.concatenate([HOME, np.zeros(12)])).length
    drives: Any = SimpleNamespace(
        length=length, velocity=np.zeros(6), force=np.zeros(6), offset=OFFSET, cells_offset=CELLS
    )
    cycle.measurement.take(drives, homed=True)
    cycle.reference.evaluate(None, cycle.measurement)
    cycle.model.evaluate(0.0, cycle.reference, cycle.measurement, known=True)
    np.testing.assert_allclose(cycle.reference.length_error, 0.0, atol=1e-9)
    np.testing.assert_array_equal(cycle.model.force, cycle.model.dynamics.cell_and_terms(cycle.reference.now).cells)


def test_a_force_that_was_measured_before_its_cycle_is_compared_with_the_model_of_then() -> None:
    period = 1e-2
    before = np.array([0.0, -0.2, -0.5, -1.0, -1.7, -3.0]) * period
    cycle, reference = CycleData(CONFIG), moving()
    for count in range(6):
        length, speed = legs_at(reference, np.zeros(6))
        offset = before if count == 5 else np.zeros(6)
        drives: Any = SimpleNamespace(
            length=length, velocity=speed, force=np.zeros(6), offset=np.zeros(6), cells_offset=offset
        )
        cycle.measurement.take(drives, homed=True)
        cycle.reference.evaluate(reference, cycle.measurement)
        cycle.model.evaluate(2.0 + count * period, cycle.reference, cycle.measurement, known=True)
        reference.advance(period)
    dynamics, now = cycle.model.dynamics, cycle.model.dynamics.cell_and_terms(cycle.reference.now)
    reference.advance(-period)
    straight = 0.125 * period**2  # of what lies between two cycles, for each unit of its second derivative
    for leg, time in enumerate(before):
        expected = dynamics.cell_and_terms(at(reference, float(time)))
        bent = np.abs(second_derivative(dynamics, reference, float(time), leg))
        assert cycle.model.force[leg] == pytest.approx(expected.cells[leg], abs=2.0 * straight * bent + 1e-9)
    assert np.abs(now.cells - cycle.model.force)[before < 0.0].min() > 1e-3


def second_derivative(dynamics: Dynamics, reference: Reference, time: float, leg: int, step: float = 5e-3) -> float:
    """Of the model's force at a leg's cell, N/s²."""
    before, then, after = (
        dynamics.cell_and_terms(at(reference, time + shift)).cells[leg] for shift in (-step, 0.0, step)
    )
    return float((before - 2.0 * then + after) / step**2)


def test_a_cycle_without_a_model_is_left_out_of_the_history() -> None:
    made, other = CycleData(CONFIG), CycleData(CONFIG)
    for cycle in range(8):
        for one in (made, other):
            one.measurement.cells_offset[:] = -0.6 * CONFIG.period
            one.reference.evaluate(None, one.measurement)
            if cycle == 5 and one is made:
                one.reference.now[:] = np.nan
                with pytest.raises(DynamicsError):
                    one.model.evaluate(cycle * CONFIG.period, one.reference, one.measurement, known=True)
            else:
                one.model.evaluate(cycle * CONFIG.period, one.reference, one.measurement, known=True)
        if cycle != 5:
            np.testing.assert_allclose(made.model.force, other.model.force, rtol=1e-12)


def test_what_was_before_the_first_cycle_is_not_known() -> None:
    history = ModelHistory(5)
    cells, terms = np.full(6, 7.0), np.full((5, 6), 7.0)
    assert not history.recall(1.0, 2, cells, terms)
    for cycle in range(200):
        history.cells[history.place] = history.terms[history.place] = 1.0 * cycle
        history.stored(0.01 * cycle)
    assert not history.recall(0.5, 2, cells, terms) and not history.recall(2.0, 2, cells, terms)
    assert (cells == 7.0).all() and (terms == 7.0).all()
    assert history.recall(1.5025, 2, cells, terms)
    assert cells.tolist() == pytest.approx([7.0, 7.0, 150.25, 7.0, 7.0, 7.0])
    assert terms[:, 2].tolist() == pytest.approx([150.25] * 5) and (terms[:, :2] == 7.0).all()
    history.forget()
    assert not history.recall(1.5025, 2, cells, terms)
