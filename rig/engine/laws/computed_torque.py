"""The computed-torque law: feedback in the platform's task space, through the exact inverse dynamics."""

from typing import Self

import numpy as np

from dynamics import Dynamics
from rig.config import RigConfig
from rig.engine.cycle_data import CycleData
from rig.engine.laws.force import ForceLaw
from rig.engine.laws.kernels import KERNELS, task_motion_kernel


class ComputedTorqueLaw(ForceLaw):
    """The acceleration ẍ_d + K_v ė + K_p e of the platform through the inverse dynamics; see `task_motion_kernel`.

    Args:
        dynamics: the exact model.
        config: gives the gains.
    """

    name = "computed-torque"
    kernels = (f"{KERNELS}.task_motion_kernel",)

    def __init__(self, dynamics: Dynamics, config: RigConfig) -> None:
        super().__init__(config.control)
        self._dynamics = dynamics
        self._gains = config.task_gains
        self._motion = np.zeros(19)

    @classmethod
    def of(cls, config: RigConfig, dynamics: Dynamics) -> Self:
        """See `ControlLaw.of`."""
        return cls(dynamics, config)

    def compute(self, cycle: CycleData) -> None:
        """See `ControlLaw.compute`."""
        cycle.compute_feedforward()
        task_motion_kernel(
            cycle.reference.now,
            cycle.reference.ahead,
            cycle.measurement.pose,
            cycle.measurement.twist,
            self._gains.stiffness,
            self._gains.damping,
            self._motion,
        )
        self._dynamics.forces(self._motion, out=cycle.set_points.force)
