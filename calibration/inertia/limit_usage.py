"""How much of a mechanism's limits a motion uses: 1 where it is at one."""

import numpy as np

from dynamics import Dynamics, LegLimits, Mechanism
from kinematics import Array, joint_angles, leg_kinematics


class Stress:
    """The limits of a mechanism's legs: length, speed, acceleration, force, also standing there, and joint angles."""

    def __init__(self, mechanism: Mechanism) -> None:
        limits = [leg.limits or LegLimits() for leg in mechanism.legs]
        ends = np.array([(-np.inf, np.inf) if each.length is None else each.length for each in limits])
        self._middle, self._half = ends.mean(axis=1), 0.5 * np.ptp(ends, axis=1)
        self._bounds = {
            name: np.array([np.inf if (bound := getattr(each, name)) is None else bound for each in limits])
            for name in ("velocity", "acceleration", "force", "universal_angle", "spherical_angle")
        }
        self._geometry = mechanism.geometry
        self._dynamics = Dynamics(mechanism)

    def of(self, motions: Array) -> Array:
        """Each quantity of each leg at motions (n, 19) as a part of its limit, (n, 42); below 0 on its other side.

        Of a length it is the distance from the middle of the stroke, as a part of half of it.
        Raises KinematicsError or DynamicsError for motions that cannot be evaluated.
        """
        legs = leg_kinematics(self._geometry, motions)
        angles = joint_angles(self._geometry, motions[:, :7])
        standing = motions.copy()
        standing[:, 7:] = 0.0
        parts = [(legs.length - self._middle) / self._half]
        for values, name in (
            (legs.velocity, "velocity"),
            (legs.acceleration, "acceleration"),
            (self._dynamics.inverse(motions).forces, "force"),
            (self._dynamics.inverse(standing).forces, "force"),
            (angles.universal, "universal_angle"),
            (angles.spherical, "spherical_angle"),
        ):
            parts.append(values / self._bounds[name])
        return np.hstack(parts)
