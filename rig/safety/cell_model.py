"""Expected forces at the load cells, and their change by additional mass of the platform."""

from functools import cached_property

import numpy as np

from dynamics import Dynamics
from kinematics import (
    Array,
    forward_acceleration,
    forward_kinematics,
    forward_twist,
    quaternion_to_matrix,
)
from rig.config import RigConfig

# What the model may be wrong by, standard deviations: the platform's mass, of itself; where that sits, of the
# characteristic length.
_MASS, _PLACE = 0.4, 0.5


class CellModel:
    """Forces at the cells by the legs' lengths.

    Args:
        config: gives mechanism, characteristic length and the cells' noise.

    `prior` (4,) are prior standard deviations of the platform's mass, kg, and mass times lever along each axis, kg m.
    """

    def __init__(self, config: RigConfig) -> None:
        self._geometry, self._gravity = config.machine.geometry, config.machine.gravity
        self._dynamics = Dynamics(config.machine)
        self._cell_noise = config.cell_noise
        mass, lever = _MASS * config.machine.mass, _PLACE * config.safety.characteristic_length
        self.prior = np.array([mass, *[mass * lever] * 3])
        self._motions, self._wrenches = np.zeros((5, 19)), np.zeros((5, 6))

    @cached_property
    def at_home(self) -> Array:
        """Forces (6, 5) at rest at home."""
        return self.forces(self._geometry.home_lengths)

    @cached_property
    def inertia(self) -> Array:
        """Forces (6, 6) at home by accelerations of each leg alone, N per m/s²: by cell, then leg."""
        length, none = self._geometry.home_lengths, np.zeros(6)
        columns = [self.forces(length, none, alone)[:, 0] - self.at_home[:, 0] for alone in np.eye(6)]
        return np.stack(columns, axis=1)

    def forces(self, length: Array, speed: Array | None = None, acceleration: Array | None = None) -> Array:
        """Forces (6, 5), N: at lengths `length` (6,) m, then per additional kg and kg m (3) of the platform.

        With `speed`, m/s, and `acceleration`, m/s², of the legs in motion; else at rest.

        Raises:
            DynamicsError, KinematicsError: the platform has no such pose or motion.
        """
        pose = forward_kinematics(self._geometry, length, self._geometry.home_pose)
        motion, axes = np.concatenate([pose, np.zeros(12)]), quaternion_to_matrix(pose[3:])
        if speed is not None and acceleration is not None:
            motion[7:13] = forward_twist(self._geometry, pose, speed)
            motion[13:] = forward_acceleration(self._geometry, pose, motion[7:13], acceleration)
        self._motions[:] = motion
        load = axes.T @ (self._gravity - motion[13:16])
        self._wrenches[1, :3] = load
        x, y, z = load
        self._wrenches[2:, 3:] = ((0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0))  # of levers along each axis
        forces = self._dynamics.cells(self._motions, self._wrenches).T
        forces[:, 1:] -= forces[:, :1]
        return forces

    def noise(self, departure: float) -> float:
        """Standard deviation, N, of a force about the model: noise, and `departure` times the mean force at home."""
        return float(np.hypot(self._cell_noise, departure * np.abs(self.at_home[:, 0]).mean()))
