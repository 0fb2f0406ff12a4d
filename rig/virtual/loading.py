"""The plant's mechanism: the rig's own, with other masses, a payload or a tilt that the model does not know of."""

import math
from dataclasses import replace

import numpy as np

from dynamics import Body, Mechanism
from rig.config import VirtualPlant
from rig.virtual.arrays import Array


def plant_mechanism(machine: Mechanism, settings: VirtualPlant) -> Mechanism:
    """The plant of a rig with this mechanism."""
    plant = scaled_mechanism(machine, settings.mass_scale)
    if any(settings.tilt):
        plant = replace(plant, gravity=tilted(plant.gravity, *settings.tilt))
    payload = settings.payload
    return plant if payload is None else loaded_mechanism(plant, payload.mass, np.array(payload.center_of_mass))


def tilted(gravity: Array, about_x: float, about_y: float) -> Array:
    """Gravity (3,) in the axes of a base turned by two angles, rad: about its x axis, then about its own y axis."""
    cx, sx, cy, sy = math.cos(about_x), math.sin(about_x), math.cos(about_y), math.sin(about_y)
    x, y, z = gravity[0], cx * gravity[1] + sx * gravity[2], cx * gravity[2] - sx * gravity[1]
    return np.array([cy * x - sy * z, y, cy * z + sy * x])


def smooth_legs(machine: Mechanism) -> Mechanism:
    """`machine` without friction of its prismatic joints."""
    legs = [replace(leg, friction=replace(leg.friction, prismatic=0.0, coulomb=0.0)) for leg in machine.legs]
    return replace(machine, legs=tuple(legs))


def scaled_mechanism(machine: Mechanism, scale: float) -> Mechanism:
    """`machine` with every mass and inertia times `scale`."""

    def scaled(body: Body) -> Body:
        return replace(body, mass=scale * body.mass, inertia=scale * body.inertia)

    legs = tuple(replace(leg, lower=scaled(leg.lower), upper=scaled(leg.upper)) for leg in machine.legs)
    return replace(machine, mass=scale * machine.mass, inertia=scale * machine.inertia, legs=legs)


def loaded_mechanism(machine: Mechanism, mass: float, place: Array) -> Mechanism:
    """`machine` with a point mass (kg) fixed to the platform at `place` (3,), platform frame, m."""
    total = machine.mass + mass
    center = (machine.mass * machine.center_of_mass + mass * place) / total
    apart = place - machine.center_of_mass
    # parallel axes: two bodies about their common centre of mass
    reduced = machine.mass * mass / total
    inertia = machine.inertia + reduced * (apart @ apart * np.eye(3) - np.outer(apart, apart))
    return replace(machine, mass=total, center_of_mass=center, inertia=inertia)
