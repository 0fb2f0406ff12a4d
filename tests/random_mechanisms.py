"""Random realisable mechanisms with six different legs, and random motions they can make."""

import numpy as np

from dynamics import Body, Friction, Leg, LoadCell, Mechanism
from dynamics.mechanism import CellLocation
from kinematics import Array, Geometry

LOCATIONS: tuple[CellLocation, ...] = ("actuator", "rod_end", "base")


def random_body(rng: np.random.Generator, mass: float, center: Array, size: float) -> Body:
    """A body made of point masses, so that its inertia is one that exists."""
    points = rng.normal(scale=size, size=(8, 3))
    points -= points.mean(axis=0)
    inertia = sum(mass / 8.0 * (p @ p * np.eye(3) - np.outer(p, p)) for p in points)
    return Body(mass, np.asarray(center), np.asarray(inertia))


def random_mechanism(seed: int, friction: bool = True, coulomb: bool = False) -> Mechanism:
    """A hexapod of about half a metre whose joints, bodies, friction and cells are all at random."""
    rng = np.random.default_rng(seed)
    angles = np.radians([12.0, 108.0, 132.0, 228.0, 252.0, 348.0]) + rng.uniform(-0.12, 0.12, 6)
    tops = np.radians([45.0, 75.0, 165.0, 195.0, 285.0, 315.0]) + rng.uniform(-0.1, 0.1, 6)
    base = np.stack([0.5 * np.cos(angles), 0.5 * np.sin(angles), rng.normal(scale=0.02, size=6)], axis=1)
    platform = np.stack([0.28 * np.cos(tops), 0.28 * np.sin(tops), rng.normal(scale=0.02, size=6)], axis=1)
    axes = np.stack([-np.sin(angles), np.cos(angles), rng.normal(scale=0.15, size=6)], axis=1)
    axes += rng.normal(scale=0.2, size=(6, 3))
    geometry = Geometry(base, axes, platform, [0.0, 0.0, 0.65])
    legs = []
    for index in range(6):
        legs.append(
            Leg(
                lower=random_body(rng, rng.uniform(1.0, 5.0), rng.normal([0.2, 0.0, 0.0], 0.04), 0.12),
                upper=random_body(rng, rng.uniform(0.5, 3.0), rng.normal([-0.2, 0.0, 0.0], 0.04), 0.1),
                friction=Friction(
                    rng.uniform(0.0, 0.3),
                    rng.uniform(0.0, 200.0),
                    rng.uniform(0.0, 0.3),
                    rng.uniform(1.0, 9.0) * coulomb,
                )
                if friction
                else Friction(),
                load_cell=LoadCell(LOCATIONS[index % 3], rng.uniform(0.05, 0.3), rng.normal(scale=0.05, size=3)),
            )
        )
    body = random_body(rng, rng.uniform(10.0, 50.0), rng.normal(scale=0.03, size=3), 0.2)
    return Mechanism(
        name=f"random-{seed}",
        geometry=geometry,
        gravity=rng.normal([0.0, 0.0, -9.8], 0.5),
        mass=body.mass,
        center_of_mass=body.center_of_mass,
        inertia=body.inertia,
        legs=tuple(legs),
    )


def random_motions(seed: int, count: int, speed: float = 1.0) -> Array:
    """Motions (count, 19) about the home of `random_mechanism`."""
    rng = np.random.default_rng(seed)
    quaternion = np.concatenate([np.ones((count, 1)), rng.uniform(-0.12, 0.12, (count, 3))], axis=1)
    quaternion /= np.linalg.norm(quaternion, axis=1)[:, None]
    position = rng.uniform([-0.08, -0.08, 0.57], [0.08, 0.08, 0.75], (count, 3))
    twist = speed * rng.uniform(-1.0, 1.0, (count, 6))
    return np.hstack([position, quaternion, twist, speed**2 * rng.uniform(-8.0, 8.0, (count, 6))])
