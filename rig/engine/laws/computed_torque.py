"""The computed-torque law: feedback in the platform's task space, through the exact inverse dynamics."""

from math import atan2, sqrt

import numpy as np

from dynamics import Dynamics
from kinematics import Array, kernel
from rig.config import Control
from rig.engine.frame import Frame
from rig.engine.laws.force import ForceLaw


@kernel
def _task_kernel(
    now: Array, ahead: Array, pose: Array, twist: Array, stiffness: float, damping: float, motion: Array
) -> None:
    """The motion whose inverse dynamics is the computed-torque law.

    Acceleration ẍ_d + K_v ė + K_p e (Lee, Chung, Mudge & Turney 1982, eq. 4.1); pose and twist are the reference's
    ahead of time less the error measured now, which is where the platform will be when the force acts. The rotation's
    error is the rotation vector of R_d Rᵀ, base axes.
    """
    aw, ax, ay, az = now[3], now[4], now[5], now[6]
    bw, bx, by, bz = pose[3], -pose[4], -pose[5], -pose[6]
    w = aw * bw - ax * bx - ay * by - az * bz
    x = aw * bx + ax * bw + ay * bz - az * by
    y = aw * by - ax * bz + ay * bw + az * bx
    z = aw * bz + ax * by - ay * bx + az * bw
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    sine = sqrt(x * x + y * y + z * z)
    factor = 2.0 * atan2(sine, w) / sine if sine > 1e-12 else 2.0
    for k in range(3):
        motion[k] = ahead[k] - (now[k] - pose[k])
    # R ahead of time: the error quaternion, inverted, turns the reference to where the platform is
    cw, cx, cy, cz = ahead[3], ahead[4], ahead[5], ahead[6]
    motion[3] = w * cw + x * cx + y * cy + z * cz
    motion[4] = w * cx - x * cw - y * cz + z * cy
    motion[5] = w * cy + x * cz - y * cw - z * cx
    motion[6] = w * cz - x * cy + y * cx - z * cw
    for k in range(6):
        motion[7 + k] = ahead[7 + k] - (now[7 + k] - twist[k])
        motion[13 + k] = ahead[13 + k] + damping * (now[7 + k] - twist[k])
    for k in range(3):
        motion[13 + k] += stiffness * (now[k] - pose[k])
    motion[16] += stiffness * factor * x
    motion[17] += stiffness * factor * y
    motion[18] += stiffness * factor * z


class ComputedTorqueLaw(ForceLaw):
    """The acceleration ẍ_d + K_v ė + K_p e of the platform through the inverse dynamics; see `_task_kernel`.

    Args:
        dynamics: the exact model.
        control: gains.
    """

    name = "computed-torque"

    def __init__(self, dynamics: Dynamics, control: Control) -> None:
        super().__init__(control)
        self._dynamics = dynamics
        self._motion = np.zeros(19)

    def compute(self, frame: Frame) -> None:
        """See `ControlLaw.compute`."""
        control, fields = self._control, frame.fields
        frame.force_ahead()
        _task_kernel(
            frame.now,
            frame.ahead,
            fields["pose"],
            fields["twist"],
            control.task_stiffness,
            control.task_damping,
            self._motion,
        )
        self._dynamics.forces(self._motion, out=fields["force_command"])
