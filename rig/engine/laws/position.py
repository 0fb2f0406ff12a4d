"""The position law: the drives close the loop, on leg lengths and speeds, and get the model's force along with them."""

import numpy as np

from actuators import Command, Mode
from dynamics import Dynamics
from rig.engine.frame import Frame
from rig.engine.laws.law import ControlLaw


class PositionLaw(ControlLaw):
    """Length of each leg where the reference will be, and its mean speed from there to the next command.

    At that speed the drive carries the length on. The exact model's force goes along as feedforward.
    A drive that takes no force ignores it; it is computed, bounded and compared with the cells all the same.

    Args:
        dynamics: the exact model.
        period: s, between two exchanges with a drive.
    """

    name = "position"
    mode = Mode.POSITION
    host_loop = False

    def __init__(self, dynamics: Dynamics, period: float) -> None:
        self._half_period = 0.5 * period
        self._dynamics = dynamics
        self._speed = np.zeros(6)

    def compute(self, frame: Frame) -> None:
        """See `ControlLaw.compute`."""
        fields = frame.fields
        self._dynamics.forces(frame.ahead, out=fields["force_feedforward"])
        fields["force_command"][:] = fields["force_feedforward"]
        fields["position_command"][:] = frame.legs_ahead[:, 0]
        np.multiply(frame.legs_ahead[:, 2], self._half_period, out=self._speed)
        self._speed += frame.legs_ahead[:, 1]

    def commands(self, frame: Frame) -> list[Command]:
        """Torque on, and the three set-points."""
        forces, lengths = frame.fields["force_command"].tolist(), frame.fields["position_command"].tolist()
        return [
            Command(Mode.POSITION, force, length, speed, enable=True)
            for force, length, speed in zip(forces, lengths, self._speed.tolist(), strict=True)
        ]
