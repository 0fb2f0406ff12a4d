"""The position law: the drives close the loop on leg lengths and speeds, with the model's force as feedforward."""

from collections.abc import Sequence
from typing import Self

import numpy as np

from actuators import Command, Commands, Mode
from dynamics import Dynamics
from rig.config import RigConfig
from rig.engine.cycle_data import CycleData
from rig.engine.laws.kernels import KERNELS, length_set_points_kernel
from rig.engine.laws.law import ControlLaw
from rig.safety import LONG_PERIOD


class PositionLaw(ControlLaw):
    """Length of each leg ahead on the reference, and its mean speed until the next command.

    The drive extrapolates the length at that speed, and arrives where the next command begins. The exact model's force
    is the feedforward. A drive without force input ignores it; it is computed, limited and compared with the cells all
    the same.

    Args:
        period: s, between two exchanges with a drive.
        earlier: s, by which a length acts before the time of `ReferenceMotion.ahead`.
    """

    name = "position"
    kernels = (f"{KERNELS}.length_set_points_kernel",)
    own_loops = (True,) * 6

    def __init__(self, period: float, earlier: float = 0.0) -> None:
        self._period, self._half_period = period, 0.5 * period
        self._earlier = earlier
        self._commands = Commands(Mode.POSITION)
        self._speed = np.zeros(6)
        self._later = np.zeros(6)

    @classmethod
    def of(cls, config: RigConfig, dynamics: Dynamics) -> Self:
        """See `ControlLaw.of`."""
        return cls(config.exchange_period, config.command_lead - config.length_lead)

    def compute(self, cycle: CycleData) -> None:
        """See `ControlLaw.compute`."""
        cycle.compute_feedforward()
        cycle.set_points.force[:] = cycle.set_points.feedforward
        np.subtract(cycle.measurement.offset, self._earlier, out=self._later)
        length_set_points_kernel(
            cycle.reference.legs_ahead, self._later, self._half_period, cycle.set_points.position, self._speed
        )
        if self._period > LONG_PERIOD and cycle.reference.follow_on(self._period):
            length, speed, acceleration = cycle.reference.following[:, :3].T
            following = length + self._later * (speed + 0.5 * self._later * acceleration)
            self._speed[:] = (following - cycle.set_points.position) / self._period
        cycle.set_points.mean_speed[:] = self._speed

    def commands(self, cycle: CycleData) -> Sequence[Command]:
        """Torque on, and the three set-points."""
        commands, points = self._commands, cycle.set_points
        commands.force[:], commands.position[:], commands.velocity[:] = points.force, points.position, self._speed
        return commands
