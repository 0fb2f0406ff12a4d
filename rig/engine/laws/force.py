"""The force law: feedforward from the exact model plus stiffness and damping at each leg."""

from typing import ClassVar, Self

from actuators import Command, Mode
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

    @classmethod
    def of(cls, config: RigConfig, dynamics: Dynamics) -> Self:
        """See `ControlLaw.of`."""
        return cls(config.control)

    def compute(self, frame: CycleData) -> None:
        """See `ControlLaw.compute`."""
        frame.force_ahead()
        self.close_loop(frame)

    def close_loop(self, frame: CycleData) -> None:
        """Fill `force_command`, once `force_feedforward` is there. Raises as `compute`."""
        feedforward, command = frame.fields["force_feedforward"], frame.fields["force_command"]
        control = self._control
        leg_feedback_kernel(
            frame.length_error, frame.velocity_error, control.stiffness, control.damping, feedforward, command
        )

    def commands(self, frame: CycleData) -> list[Command]:
        """Torque on, and the forces."""
        return [Command(Mode.FORCE, force=force, enable=True) for force in frame.fields["force_command"].tolist()]
