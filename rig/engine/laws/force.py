"""The force law: feedforward from the exact model plus stiffness and damping at each leg."""

from collections.abc import Sequence
from typing import ClassVar, Self

from actuators import Command, Commands, Mode
from dynamics import Dynamics
from rig.config import Control, RigConfig
from rig.engine.cycle_data import CycleData
from rig.engine.laws.kernels import KERNELS, leg_feedback_kernel
from rig.engine.laws.law import ControlLaw


class ForceLaw(ControlLaw):
    """F = F_ff + K_p (L_d − L) + K_d (L̇_d − L̇) at each leg, the drives' force loops below it.

    Args:
        control: gains.
    """

    name = "force"
    kernels: ClassVar[tuple[str, ...]] = (f"{KERNELS}.leg_feedback_kernel",)
    own_loops = (False,) * 6

    def __init__(self, control: Control) -> None:
        self._control = control
        self._commands = Commands(Mode.FORCE)

    @classmethod
    def of(cls, config: RigConfig, dynamics: Dynamics) -> Self:
        """See `ControlLaw.of`."""
        return cls(config.control)

    def compute(self, cycle: CycleData) -> None:
        """See `ControlLaw.compute`."""
        cycle.compute_feedforward()
        self.close_loop(cycle)

    def close_loop(self, cycle: CycleData) -> None:
        """Fill the forces of the set-points, once the feedforward is there. Raises as `compute`."""
        feedforward, command = cycle.set_points.feedforward, cycle.set_points.force
        control = self._control
        error, rate = cycle.reference.length_error, cycle.reference.velocity_error
        leg_feedback_kernel(error, rate, control.stiffness, control.damping, feedforward, command)

    def commands(self, cycle: CycleData) -> Sequence[Command]:
        """Torque on, and the forces."""
        self._commands.force[:] = cycle.set_points.force
        return self._commands
