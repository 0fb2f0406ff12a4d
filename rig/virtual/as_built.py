"""A machine as built: its drawing with every part a little off, each body still one that can exist."""

import math
from dataclasses import replace

import numpy as np

from dynamics import Body, Leg, Mechanism, body_of, deformed, linear_body
from kinematics import Geometry
from rig.config import PlantFriction, Tolerance
from rig.virtual.arrays import Array

_STREAM = 10  # of the seed; others draw noise and the pose at power-up from it
_TURN = 0.25  # shear of a body's mass against its stretch
_SLOWEST, _FASTEST = 0.01, 0.03  # m/s, Stribeck's speed


class Draw:
    """The numbers that make a machine of a seed: the same for the same seed and tolerance."""

    def __init__(self, seed: int, tolerance: Tolerance) -> None:
        self._random = np.random.Generator(np.random.PCG64([seed, _STREAM]))
        self._tolerance = tolerance

    def mechanism(self, drawing: Mechanism) -> Mechanism:
        """A mechanism about the drawing, within the tolerance."""
        tolerance, geometry = self._tolerance, drawing.geometry
        platform = self._body(Body(drawing.mass, drawing.center_of_mass, drawing.inertia))
        legs = tuple(self._leg(leg) for leg in drawing.legs)
        home = geometry.home_pose
        built = Geometry(
            geometry.base_points + self._about(tolerance.joints, (6, 3)),
            geometry.universal_axes + self._about(tolerance.axes, (6, 3)),
            geometry.platform_points + self._about(tolerance.joints, (6, 3)),
            home,
        )
        return replace(
            drawing,
            geometry=built,
            mass=platform.mass,
            center_of_mass=platform.center_of_mass,
            inertia=platform.inertia,
            legs=legs,
            source="",
        )

    def friction(self, drawing: Mechanism) -> PlantFriction:
        """Friction that the model does not have."""
        tolerance = self._tolerance
        coulomb = np.array([leg.friction.coulomb for leg in drawing.legs])
        asymmetry = self._about(tolerance.asymmetry, (6,)) * coulomb
        excess = self._random.uniform(0.0, tolerance.breakaway, (2, 6)) * coulomb
        return PlantFriction(
            extending=tuple(asymmetry.tolist()),
            retracting=tuple((-asymmetry).tolist()),
            breakaway_extending=tuple(excess[0].tolist()),
            breakaway_retracting=tuple(excess[1].tolist()),
            speed=float(self._random.uniform(_SLOWEST, _FASTEST)),
            load=tuple(self._random.uniform(0.0, tolerance.load, 6).tolist()),
        )

    def cells(self) -> tuple[Array, Array]:
        """Factors (6,) on the cells' gains, and what is added to their biases, (6,) N."""
        return 1.0 + self._about(self._tolerance.cell_gain, (6,)), self._about(self._tolerance.cell_bias, (6,))

    def _leg(self, leg: Leg) -> Leg:
        friction = leg.friction
        names = ("universal", "prismatic", "spherical", "coulomb")
        scaled = {name: getattr(friction, name) * (1.0 + self._off(self._tolerance.friction)) for name in names}
        return replace(
            leg,
            lower=self._body(leg.lower),
            upper=self._body(leg.upper),
            friction=replace(friction, **scaled),
            length_offset=leg.length_offset + float(self._about(self._tolerance.length_offset, ())),
        )

    def _body(self, body: Body) -> Body:
        """The body stretched and sheared about its centre of mass, moved, and made heavier or lighter.

        Its mass distribution goes through an affine map, so that the result can exist if it could.
        """
        tolerance = self._tolerance
        moved = self._about(tolerance.center, (3,))
        factor = 1.0 + self._off(tolerance.mass)
        stretch = np.diag([math.sqrt(1.0 + self._off(tolerance.inertia)) for _ in range(3)])
        shear = self._about(0.5 * _TURN * tolerance.inertia, (3, 3))
        stretch += shear + shear.T - 2.0 * np.diag(np.diag(shear))
        if body.mass == 0.0:
            return body
        return body_of(deformed(linear_body(body), factor, moved, stretch))

    def _off(self, tolerance: float) -> float:
        """A relative error of half the tolerance at least, of either sign."""
        size = float(self._random.uniform(0.5, 1.0)) * tolerance
        return size if self._random.random() < 0.5 else -size

    def _about(self, tolerance: float, shape: tuple[int, ...]) -> Array:
        return np.asarray(self._random.uniform(-tolerance, tolerance, shape))
