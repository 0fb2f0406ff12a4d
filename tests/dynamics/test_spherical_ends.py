"""Legs with spherical joints at both ends: the exact model of 6-UPS platforms with legs of no axial inertia."""

from dataclasses import replace

import numpy as np
import pytest
from random_mechanisms import random_mechanism, random_motions

from dynamics import Body, Dynamics, Friction, LoadCell, Mechanism, MechanismError, with_spherical_ends
from rig.papers.spherical_ends import rod_forces


def symmetric(seed: int) -> Mechanism:
    """A random mechanism whose legs are symmetric about their axes, each with inertias of its own."""
    rng = np.random.default_rng(seed)

    def rod(body: Body) -> Body:
        axial, across = rng.uniform([0.001, 0.02], [0.02, 0.2])
        return Body(body.mass, np.array([body.center_of_mass[0], 0.0, 0.0]), np.diag([axial, across, across]))

    mechanism = random_mechanism(seed)
    legs = tuple(
        replace(
            leg,
            lower=rod(leg.lower),
            upper=rod(leg.upper),
            friction=Friction(prismatic=leg.friction.prismatic),
            load_cell=LoadCell(leg.load_cell.location, leg.load_cell.mass_beyond, np.array([0.05, 0.0, 0.0])),
        )
        for leg in mechanism.legs
    )
    return replace(mechanism, legs=legs)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_forces_are_those_of_rods_by_lagrange(seed: int) -> None:
    mechanism, motions = symmetric(seed), random_motions(seed, 20, speed=3.0)
    expected = rod_forces(mechanism, motions)
    found = Dynamics(with_spherical_ends(mechanism)).inverse(motions)
    size = np.abs(expected).max()
    np.testing.assert_allclose(found.forces, expected, rtol=0.0, atol=1e-11 * size)
    np.testing.assert_allclose(found.universal_moments, 0.0, atol=1e-11 * size)
    # a universal joint's spin has an effect on the same legs
    assert np.abs(Dynamics(mechanism).inverse(motions).forces - expected).max() > 1e-4 * size


def test_every_leg_that_is_not_symmetric_is_named() -> None:
    mechanism = symmetric(4)
    legs = list(mechanism.legs)
    legs[1] = replace(legs[1], lower=replace(legs[1].lower, center_of_mass=np.array([0.2, 0.0, 1e-3])))
    legs[2] = replace(legs[2], upper=replace(legs[2].upper, inertia=np.diag([0.01, 0.02, 0.03])))
    legs[3] = replace(legs[3], friction=Friction(spherical=0.01))
    legs[5] = replace(legs[5], load_cell=LoadCell("base", 0.1, np.array([0.1, 0.02, 0.0])))
    with pytest.raises(MechanismError) as caught:
        with_spherical_ends(replace(mechanism, legs=tuple(legs)))
    assert [fault.split(" m")[0] for fault in caught.value.faults] == [
        "leg 2: lower.center_of_mass: [0.2, 0.0, 0.001]",
        "leg 3: upper.inertia: [[0.01, 0.0, 0.0], [0.0, 0.02, 0.0], [0.0, 0.0, 0.03]] kg",
        "leg 4: friction.spherical: 0.01 N",
        "leg 6: load_cell.place: 0.02",
    ]
