"""Machines like the lab-hexapod in all but their size."""

from dataclasses import replace

import numpy as np

from dynamics import (
    BODIES,
    FRICTIONS,
    Body,
    Friction,
    Leg,
    LoadCell,
    Mechanism,
    deformed,
    linear_parameters,
    load_mechanism,
    machine_size,
    with_linear_parameters,
)
from kinematics import Geometry

MACHINE = load_mechanism("lab-hexapod")


def sized(mass: float) -> Mechanism:
    """The lab-hexapod with a platform of `mass`, kg: forces as it, lengths as its cube root, times as their root."""
    k = mass / MACHINE.mass
    length = k ** (1.0 / 3.0)
    time = length**0.5
    geometry = MACHINE.geometry

    def body(one: Body) -> Body:
        return Body(k * one.mass, length * one.center_of_mass, k * length**2 * one.inertia)

    def leg(one: Leg) -> Leg:
        limits = one.limits
        assert limits is not None and limits.length is not None
        assert limits.velocity is not None and limits.force is not None
        joint = k * length**2 / time
        return replace(
            one,
            lower=body(one.lower),
            upper=body(one.upper),
            friction=Friction(
                joint * one.friction.universal,
                k / time * one.friction.prismatic,
                joint * one.friction.spherical,
                k * one.friction.coulomb,
            ),
            limits=replace(
                limits,
                length=(length * limits.length[0], length * limits.length[1]),
                velocity=length / time * limits.velocity,
                force=k * limits.force,
            ),
            load_cell=LoadCell(one.load_cell.location, k * one.load_cell.mass_beyond),
        )

    home = np.concatenate([length * geometry.home_pose[:3], geometry.home_pose[3:]])
    return replace(
        MACHINE,
        name=f"{mass:g} kg",
        geometry=Geometry(
            length * geometry.base_points, geometry.universal_axes, length * geometry.platform_points, home
        ),
        mass=k * MACHINE.mass,
        center_of_mass=length * MACHINE.center_of_mass,
        inertia=k * length**2 * MACHINE.inertia,
        legs=tuple(leg(one) for one in MACHINE.legs),
        source="",
    )


def off(machine: Mechanism, seed: int, part: float = 0.2) -> Mechanism:
    """A machine whose masses, moments and frictions are off by up to `part`, each body one that can exist."""
    generator, length = np.random.default_rng(seed), machine_size(machine).length
    theta = linear_parameters(machine)
    for place in BODIES:
        stretch = np.diag(np.sqrt(1.0 + generator.uniform(-part, part, 3)))
        moved = length * generator.uniform(-3e-3, 3e-3, 3)
        theta[place] = deformed(theta[place], 1.0 + generator.uniform(-part, part), moved, stretch)
    for place in FRICTIONS:
        theta[place] *= 1.0 + generator.uniform(-part, part, 4)
    return with_linear_parameters(machine, theta)
