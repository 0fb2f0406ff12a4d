"""Legs that are measured and commanded at times of their own within a cycle, as on a line, where they have turns."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from configured import SHIPPED
from engine_support import CONFIG, HOME, smooth_table

from dynamics import Dynamics
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
def frame() -> CycleData:
    """What a platform that is on its reference gives, each leg measured at its own time."""
    made, reference = CycleData(CONFIG), moving()
    length, speed = legs_at(reference, OFFSET)
    bank: Any = SimpleNamespace(length=length, velocity=speed, force=np.zeros(6), offset=OFFSET, cells_offset=CELLS)
    made.measure(bank, homed=True)
    made.refer(reference)
    made.model(0.0, known=True)
    return made


def test_a_leg_is_referred_to_where_it_should_have_been_when_it_was_measured(frame: CycleData) -> None:
    np.testing.assert_allclose(frame.length_error, 0.0, atol=2e-8)
    np.testing.assert_allclose(frame.velocity_error, 0.0, atol=2e-4)
    still = np.abs(legs_at(moving(), np.zeros(6))[0] - frame.fields["length"])
    assert still[OFFSET > 0.0].min() > 1e-6  # by which each would be off, were it taken for a sample of now


def test_the_pose_is_that_of_one_time(frame: CycleData) -> None:
    np.testing.assert_allclose(frame.fields["pose"], at(moving(), 0.0)[:7], atol=1e-6)


def test_a_force_is_compared_with_the_model_at_its_own_time(frame: CycleData) -> None:
    reference, dynamics = moving(), frame.dynamics
    for leg, time in enumerate(CELLS):
        expected = dynamics.cell_and_terms(at(reference, float(time)))
        assert frame.fields["force_model"][leg] == pytest.approx(expected.cells[leg], rel=1e-12)
        np.testing.assert_allclose(frame.fields["terms"][:, leg], expected.terms[:, leg], rtol=1e-12)
    now = dynamics.cell_and_terms(frame.now).cells
    assert np.abs(now - frame.fields["force_model"])[CELLS > 0.0].min() > 1e-4


@pytest.mark.parametrize("mode", ["force", "computed-torque", "observer", "position"])
def test_a_command_is_for_the_time_at_which_its_drive_takes_it(mode: str, frame: CycleData) -> None:
    law, reference = make_law(SHIPPED.changed({"mode": mode}), frame.dynamics), moving()
    frame.foresee(reference)
    law.compute(frame)
    acts = frame.ahead_by + OFFSET
    forces = [frame.dynamics.forces(at(reference, float(time)))[leg] for leg, time in enumerate(acts)]
    np.testing.assert_allclose(frame.fields["force_feedforward"], forces, rtol=1e-12)
    if mode == "position":
        length, _ = legs_at(reference, acts)
        np.testing.assert_allclose(frame.fields["position_command"], length, atol=2e-7)
        early = legs_at(reference, np.full(6, frame.ahead_by))[0] - length
        assert np.abs(early)[OFFSET > 0.0].min() > 1e-6


def test_at_rest_times_mean_nothing() -> None:
    frame = CycleData(CONFIG)
    length = leg_kinematics(CONFIG.machine.geometry, np.concatenate([HOME, np.zeros(12)])).length
    bank: Any = SimpleNamespace(
        length=length, velocity=np.zeros(6), force=np.zeros(6), offset=OFFSET, cells_offset=CELLS
    )
    frame.measure(bank, homed=True)
    frame.refer(None)
    frame.model(0.0, known=True)
    np.testing.assert_allclose(frame.length_error, 0.0, atol=1e-9)
    np.testing.assert_array_equal(frame.fields["force_model"], frame.dynamics.cell_and_terms(frame.now).cells)


def test_a_force_that_was_measured_before_its_cycle_is_compared_with_the_model_of_then() -> None:
    period = 1e-2
    before = np.array([0.0, -0.2, -0.5, -1.0, -1.7, -3.0]) * period
    frame, reference = CycleData(CONFIG), moving()
    for cycle in range(6):
        length, speed = legs_at(reference, np.zeros(6))
        offset = before if cycle == 5 else np.zeros(6)
        bank: Any = SimpleNamespace(
            length=length, velocity=speed, force=np.zeros(6), offset=np.zeros(6), cells_offset=offset
        )
        frame.measure(bank, homed=True)
        frame.refer(reference)
        frame.model(2.0 + cycle * period, known=True)
        reference.advance(period)
    dynamics, now = frame.dynamics, frame.dynamics.cell_and_terms(frame.now)
    reference.advance(-period)
    straight = 0.125 * period**2  # of what lies between two cycles, for each unit of its second derivative
    for leg, time in enumerate(before):
        expected = dynamics.cell_and_terms(at(reference, float(time)))
        bent = np.abs(second_derivative(dynamics, reference, float(time), leg))
        assert frame.fields["force_model"][leg] == pytest.approx(expected.cells[leg], abs=2.0 * straight * bent + 1e-9)
    assert np.abs(now.cells - frame.fields["force_model"])[before < 0.0].min() > 1e-3


def second_derivative(dynamics: Dynamics, reference: Reference, time: float, leg: int, step: float = 5e-3) -> float:
    """Of the model's force at a leg's cell, N/s²."""
    before, then, after = (
        dynamics.cell_and_terms(at(reference, time + shift)).cells[leg] for shift in (-step, 0.0, step)
    )
    return float((before - 2.0 * then + after) / step**2)


def test_what_was_before_the_first_cycle_is_not_known() -> None:
    history = ModelHistory(5)
    cells, terms = np.full(6, 7.0), np.full((5, 6), 7.0)
    assert not history.recall(1.0, 2, cells, terms)
    for cycle in range(200):
        history.note(0.01 * cycle, np.full(6, 1.0 * cycle), np.full((5, 6), 1.0 * cycle))
    assert not history.recall(0.5, 2, cells, terms) and not history.recall(2.0, 2, cells, terms)
    assert (cells == 7.0).all() and (terms == 7.0).all()
    assert history.recall(1.5025, 2, cells, terms)
    assert cells.tolist() == pytest.approx([7.0, 7.0, 150.25, 7.0, 7.0, 7.0])
    assert terms[:, 2].tolist() == pytest.approx([150.25] * 5) and (terms[:, :2] == 7.0).all()
    history.forget()
    assert not history.recall(1.5025, 2, cells, terms)
