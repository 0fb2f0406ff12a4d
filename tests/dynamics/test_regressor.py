"""The regressor against the exact model, which is checked against another engine elsewhere."""

from dataclasses import replace
from typing import Literal

import numpy as np
import pytest

from dynamics import (
    BODIES,
    LINEAR_NAMES,
    LINEAR_UNITS,
    Dynamics,
    DynamicsError,
    Mechanism,
    Regressor,
    SingularityError,
    from_pseudo_inertia,
    linear_parameters,
    load_mechanism,
    pseudo_inertia,
    with_linear_parameters,
)
from kinematics import Array

MACHINE = load_mechanism("lab-hexapod")


def motions(machine: Mechanism, count: int, seed: int) -> Array:
    generator = np.random.default_rng(seed)
    home = MACHINE.geometry.home_pose[:3] if machine.geometry.home is None else machine.geometry.home_pose[:3]
    samples = np.zeros((count, 19))
    samples[:, :3] = home + generator.uniform(-0.03, 0.03, (count, 3))
    quaternions = np.column_stack([np.ones(count), generator.uniform(-0.1, 0.1, (count, 3))])
    samples[:, 3:7] = quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True)
    samples[:, 7:] = generator.normal(size=(count, 12))
    return samples


def with_cells(machine: Mechanism, location: Literal["actuator", "rod_end", "base"]) -> Mechanism:
    legs = []
    for number, leg in enumerate(machine.legs):
        place = np.array([0.01 * number, 0.02, -0.03])
        cell = replace(leg.load_cell, location=location, mass_beyond=0.1, place=place)
        legs.append(replace(leg, load_cell=cell))
    return replace(machine, legs=tuple(legs))


def uneven(machine: Mechanism, seed: int) -> Mechanism:
    """No two legs alike, so that a column in another leg's place would show."""
    generator = np.random.default_rng(seed)
    theta = linear_parameters(machine)
    return with_linear_parameters(machine, theta * generator.uniform(0.7, 1.3, len(theta)))


@pytest.mark.parametrize("name", ["lab-hexapod", "dasgupta-1998"])
@pytest.mark.parametrize("location", ["rod_end", "actuator", "base"])
@pytest.mark.parametrize("smoothing", [0.0, 1e-3])
def test_readings_and_forces_are_the_exact_models(
    name: str, location: Literal["actuator", "rod_end", "base"], smoothing: float
) -> None:
    machine = uneven(with_cells(load_mechanism(name, evaluate_only=True), location), 3)
    samples = motions(machine, 40, 1)
    if machine.geometry.home is None:
        samples[:, :3] += [0.0, 0.0, 0.6]
    regressor, model, theta = Regressor(machine, smoothing), Dynamics(machine, smoothing), linear_parameters(machine)
    matrix, known = regressor.cells(samples)
    cells, forces = model.cells(samples), model.inverse(samples).forces
    assert np.abs(matrix @ theta + known - cells).max() < 1e-11 * np.abs(cells).max()
    assert np.abs(regressor.forces(samples) @ theta - forces).max() < 1e-11 * np.abs(forces).max()


def test_it_does_not_depend_on_the_parameters() -> None:
    samples = motions(MACHINE, 5, 2)
    one, other = Regressor(MACHINE), Regressor(uneven(MACHINE, 5))
    assert np.array_equal(one.cells(samples)[0], other.cells(samples)[0])


def test_a_cell_at_the_rods_end_does_not_feel_the_friction_below_it() -> None:
    matrix, _ = Regressor(with_cells(MACHINE, "rod_end")).cells(motions(MACHINE, 5, 2))
    below = [
        LINEAR_NAMES.index(f"legs[{leg}].friction.{name}") for leg in range(6) for name in ("prismatic", "coulomb")
    ]
    assert not matrix[:, :, below].any()
    forces = Regressor(MACHINE).forces(motions(MACHINE, 5, 2))
    assert all(forces[:, leg, below[2 * leg]].any() for leg in range(6))


def test_parameters_come_back_from_their_linear_form() -> None:
    machine = uneven(MACHINE, 7)
    again = with_linear_parameters(MACHINE, linear_parameters(machine))
    assert again.array == pytest.approx(machine.array, rel=1e-12, abs=1e-15)
    assert len(LINEAR_NAMES) == len(LINEAR_UNITS) == len(linear_parameters(machine)) == len(set(LINEAR_NAMES))


def test_parameters_that_no_mechanism_has_are_refused() -> None:
    theta = linear_parameters(MACHINE)
    with pytest.raises(DynamicsError, match=r"shape \(3,\)"):
        with_linear_parameters(MACHINE, theta[:3])
    theta[BODIES[2].start] = -1.0
    with pytest.raises(DynamicsError, match="-1 kg of a body must be above 0 kg"):
        with_linear_parameters(MACHINE, theta)
    theta[BODIES[2].start] = np.nan
    with pytest.raises(DynamicsError, match=r"legs\[0\]\.upper\.m is not finite"):
        with_linear_parameters(MACHINE, theta)


def test_a_pseudo_inertia_is_that_of_point_masses() -> None:
    generator = np.random.default_rng(0)
    masses, places = generator.uniform(0.1, 1.0, 7), generator.normal(size=(7, 3))
    moments = sum(m * np.outer(np.append(r, 1.0), np.append(r, 1.0)) for m, r in zip(masses, places, strict=True))
    about = sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, places, strict=True))
    body = from_pseudo_inertia(np.asarray(moments))
    assert body[0] == pytest.approx(masses.sum()) and body[1:4] == pytest.approx(masses @ places)
    assert body[4:7] == pytest.approx(np.diag(np.asarray(about)))
    assert pseudo_inertia(body) == pytest.approx(np.asarray(moments))


def test_a_state_without_an_answer_is_named() -> None:
    samples = motions(MACHINE, 3, 0)
    leg = 2
    axis, base = MACHINE.geometry.universal_axes[leg], MACHINE.geometry.base_points[leg]
    samples[1, 3:7] = [1.0, 0.0, 0.0, 0.0]
    samples[1, :3] = base + 0.5 * axis - MACHINE.geometry.platform_points[leg]
    with pytest.raises(SingularityError, match="sample 1: leg 3"):
        Regressor(MACHINE).cells(samples)


def test_a_change_of_force_is_a_change_of_acceleration() -> None:
    samples = motions(MACHINE, 4, 9)
    model = Dynamics(MACHINE)
    forces = model.inverse(samples).forces
    found = model.response(samples[:, :13], forces)
    falling = [model.acceleration(sample[:13], np.zeros(6)) for sample in samples]
    assert found == pytest.approx(samples[:, 13:] - falling, abs=1e-9)
    with pytest.raises(DynamicsError, match="4 states but 3 rows of forces"):
        model.response(samples[:, :13], forces[:3])
