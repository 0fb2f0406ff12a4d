"""What load cells see of a wrench or a payload: against the exact model under that load, wherever the cells sit."""

from dataclasses import replace

import numpy as np
import pytest
from random_mechanisms import random_mechanism, random_motions

from dynamics import (
    Dynamics,
    DynamicsError,
    LoadCell,
    Mechanism,
    load_mechanism,
    payload_wrenches,
    residual_from_wrench,
    wrench_from_residual,
)
from kinematics import coordinates_to_motion

LOCATIONS = ("rod_end", "actuator", "base")


def with_cells_at(machine: Mechanism, location: str) -> Mechanism:
    cell = LoadCell(location, 0.12)  # type: ignore[arg-type]
    return replace(machine, legs=tuple(replace(leg, load_cell=cell) for leg in machine.legs))


def motions_near_home(machine: Mechanism, count: int, seed: int = 3) -> np.ndarray:
    random = np.random.default_rng(seed)
    coordinates = random.uniform(-0.06, 0.06, (count, 6))
    motions = coordinates_to_motion(coordinates, *random.normal(0.0, 0.5, (2, count, 6)))
    home = machine.geometry.home
    motions[:, :3] += [0.2, 0.0, 0.5] if home is None else home[:3]
    return motions


MACHINES = [load_mechanism("lab-hexapod"), load_mechanism("dasgupta-1998", evaluate_only=True)]


@pytest.mark.parametrize("location", LOCATIONS)
@pytest.mark.parametrize("machine", [*MACHINES, random_mechanism(7)], ids=lambda machine: machine.name)
def test_the_wrench_is_found_in_what_the_exact_model_has_at_the_cells(machine: Mechanism, location: str) -> None:
    machine = with_cells_at(machine, location)
    motions = random_motions(5, 40) if "random" in machine.name else motions_near_home(machine, 40)
    wrenches = np.random.default_rng(1).normal(0.0, [20.0] * 3 + [2.0] * 3, (40, 6))
    model = Dynamics(machine)
    residual = model.cells(motions, wrenches) - model.cells(motions)
    found = np.einsum("nij,nj->ni", wrench_from_residual(machine.geometry, motions[:, :7]), residual)
    np.testing.assert_allclose(found, wrenches, atol=1e-8)
    matrices = residual_from_wrench(machine.geometry, motions[:, :7])
    np.testing.assert_allclose(np.einsum("nij,nj->ni", matrices, wrenches), residual, atol=1e-8)


@pytest.mark.parametrize("location", LOCATIONS)
def test_a_payload_is_the_difference_between_two_platforms(location: str) -> None:
    """The exact model of the platform with the payload, less that without it."""
    machine = with_cells_at(MACHINES[0], location)
    m, c = 3.2, np.array([0.03, -0.02, 0.11])
    about_center = np.array([[0.02, 0.001, -0.002], [0.001, 0.03, 0.0005], [-0.002, 0.0005, 0.025]])
    total = machine.mass + m
    center = (machine.mass * machine.center_of_mass + m * c) / total

    def moved(mass: float, arm: np.ndarray) -> np.ndarray:
        return np.asarray(mass * (arm @ arm * np.eye(3) - np.outer(arm, arm)))

    loaded = replace(
        machine,
        mass=total,
        center_of_mass=center,
        inertia=machine.inertia
        + moved(machine.mass, machine.center_of_mass - center)
        + about_center
        + moved(m, c - center),
    )
    motions = motions_near_home(machine, 30)
    residual = Dynamics(loaded).cells(motions) - Dynamics(machine).cells(motions)
    J = about_center + moved(m, c)
    theta = np.concatenate([[m], m * c, J[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]])
    wrenches = payload_wrenches(motions, machine.gravity) @ theta
    found = np.einsum("nij,nj->ni", residual_from_wrench(machine.geometry, motions[:, :7]), wrenches)
    np.testing.assert_allclose(found, residual, atol=1e-9)


def test_what_is_no_pose_is_refused() -> None:
    geometry = MACHINES[0].geometry
    with pytest.raises(DynamicsError, match="must be finite"):
        wrench_from_residual(geometry, [np.nan, 0, 0.4, 1, 0, 0, 0])
    with pytest.raises(DynamicsError, match="norm"):
        payload_wrenches(np.zeros(19), [0.0, 0.0, -9.81])
