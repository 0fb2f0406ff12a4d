"""The models at the load cells: every one by its own reactions, as free bodies give them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from free_bodies import FreeBodies, free_bodies
from random_mechanisms import LOCATIONS, random_mechanism, random_motions

from dynamics import Body, Dynamics, DynamicsError, Friction, LoadCell, Mechanism, load_mechanism
from dynamics.mechanism import CellLocation
from dynamics.papers import MODELS, variant_cells, variant_forces
from dynamics.papers.dasgupta import dasgupta_1998, massless
from dynamics.papers.pedrammehr import pedrammehr_2012
from kinematics import Array, leg_kinematics, load_trajectory

PUBLISHED = MODELS[1:]
SEEDS = (1, 2, 3)


def at_cells(mechanism: Mechanism, *locations: CellLocation) -> Mechanism:
    """The mechanism with its legs' cells at these places in turn; what lies beyond them stays."""
    legs = tuple(
        replace(leg, load_cell=replace(leg.load_cell, location=locations[index % len(locations)]))
        for index, leg in enumerate(mechanism.legs)
    )
    return replace(mechanism, legs=legs)


def demo_motions() -> Array:
    """The demo motion at seven instants."""
    trajectory = load_trajectory("demo", load_mechanism("lab-hexapod").geometry.home)
    return trajectory.motion(np.array([1.3, 2.1, 4.4, 7.7, 10.3, 13.9, 16.2]))


def wrenches(seed: int, count: int) -> Array:
    return np.random.default_rng(seed).normal(scale=30.0, size=(count, 6))


def bodies(model: str, mechanism: Mechanism, motions: Array, loads: Array) -> FreeBodies:
    """What the free bodies say of many samples, samples first."""
    samples = [free_bodies(model, mechanism, *sample) for sample in zip(motions, loads, strict=True)]
    return FreeBodies(*(np.array(values) for values in zip(*samples, strict=True)))


@pytest.mark.parametrize("location", LOCATIONS)
@pytest.mark.parametrize("model", MODELS)
def test_on_the_demo_mechanism(model: str, location: CellLocation) -> None:
    mechanism = at_cells(load_mechanism("lab-hexapod"), location)
    motions, loads = demo_motions(), wrenches(7, 7)
    expected = bodies(model, mechanism, motions, loads).cells
    np.testing.assert_allclose(variant_cells(model, mechanism, motions, loads), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("turn", range(3))
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("model", MODELS)
def test_on_unlike_legs_with_unlike_cells(model: str, seed: int, turn: int) -> None:
    """All friction, a mass with a place beyond each cell; in three turns every leg has its cell everywhere."""
    mechanism = at_cells(random_mechanism(seed, coulomb=True), *LOCATIONS[turn:], *LOCATIONS[:turn])
    assert all(leg.load_cell.mass_beyond > 0.0 and leg.load_cell.place.all() for leg in mechanism.legs)
    motions, loads = random_motions(seed, 4), wrenches(seed, 4)
    expected = bodies(model, mechanism, motions, loads).cells
    np.testing.assert_allclose(variant_cells(model, mechanism, motions, loads), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("model", [dasgupta_1998, pedrammehr_2012, massless])
def test_reactions_at_both_ends_of_the_legs(model: Callable[..., Any], seed: int) -> None:
    mechanism = random_mechanism(seed, coulomb=True)
    motions, loads = random_motions(seed + 10, 4), wrenches(seed, 4)
    reactions = model(mechanism, motions, loads)
    expected = bodies(model.__name__.replace("_", "-"), mechanism, motions, loads)
    tops = reactions.axial[..., None] * reactions.directions + reactions.across
    for actual, wanted in (
        (reactions.forces, expected.forces),
        (tops, expected.tops),
        (reactions.base_forces, expected.base_forces),
        (np.einsum("nlk,nlk->nl", reactions.across, reactions.directions), np.zeros((4, 6))),
    ):
        np.testing.assert_allclose(actual, wanted, rtol=1e-9, atol=1e-8)


@pytest.mark.parametrize("seed", SEEDS)
def test_massless_is_the_exact_model_of_a_mechanism_whose_legs_are_nothing(seed: int) -> None:
    mechanism = random_mechanism(seed, coulomb=True)
    nothing = Body(0.0, np.zeros(3), np.zeros((3, 3)))
    legs = tuple(
        replace(leg, lower=nothing, upper=nothing, friction=Friction(), load_cell=LoadCell(leg.load_cell.location))
        for leg in mechanism.legs
    )
    motions, loads = random_motions(seed, 4), wrenches(seed, 4)
    expected = Dynamics(replace(mechanism, legs=legs)).cells(motions, loads)
    actual = variant_cells("massless", mechanism, motions, loads)
    np.testing.assert_allclose(actual, expected, rtol=1e-9)
    forces = variant_forces("massless", mechanism, motions, loads)
    np.testing.assert_allclose(actual, forces, rtol=1e-12)  # one force from end to end


@pytest.mark.parametrize("model", MODELS)
def test_a_cell_reads_friction_of_the_prismatic_joint_at_the_actuator_only(model: str) -> None:
    """Without it nothing changes at rod end and base, and at the actuator what the model has of it."""
    mechanism = random_mechanism(4, coulomb=True)
    smooth = replace(
        mechanism,
        legs=tuple(replace(leg, friction=replace(leg.friction, prismatic=0.0, coulomb=0.0)) for leg in mechanism.legs),
    )
    motions = random_motions(4, 5)
    speeds = leg_kinematics(mechanism.geometry, motions).velocity
    viscous, coulomb = (
        np.array([getattr(leg.friction, kind) for leg in mechanism.legs]) for kind in ("prismatic", "coulomb")
    )
    known = viscous * speeds * (model != "massless") + coulomb * np.sign(speeds) * (model == "exact")
    for location in LOCATIONS:
        change = variant_cells(model, at_cells(mechanism, location), motions)
        change = change - variant_cells(model, at_cells(smooth, location), motions)
        np.testing.assert_allclose(change, known if location == "actuator" else 0.0, atol=1e-10)


@pytest.mark.parametrize("model", MODELS)
def test_a_long_path_is_its_samples(model: str) -> None:
    mechanism = random_mechanism(2)
    motions, loads = random_motions(2, 5000), wrenches(2, 5000)
    readings = variant_cells(model, mechanism, motions, loads)
    assert readings.shape == (5000, 6)
    for sample in (0, 2047, 2048, 4999):
        alone = variant_cells(model, mechanism, motions[sample], loads[sample])
        np.testing.assert_allclose(readings[sample], alone[0], rtol=1e-11, atol=1e-11)


def test_what_is_no_model_or_no_motion_is_refused() -> None:
    mechanism = random_mechanism(0)
    with pytest.raises(DynamicsError, match=r"'newton'.*exact, dasgupta-1998, pedrammehr-2012, massless"):
        variant_cells("newton", mechanism, random_motions(0, 1))
    with pytest.raises(DynamicsError, match=r"motions: .*shape"):
        variant_cells("massless", mechanism, np.zeros((2, 18)))
