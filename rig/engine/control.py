"""The control laws: feedforward from the exact model plus feedback, at the legs or in the platform's task space."""

from math import atan2, sqrt
from typing import Literal

import numpy as np

from dynamics import Dynamics
from kinematics import Array, kernel
from rig.config import Control


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


class Controller:
    """Computes the six actuator forces of a cycle.

    Args:
        dynamics: the exact model.
        mode: "force", F = F_ff + K_p (L_d − L) + K_d (L̇_d − L̇) at each leg; or "computed-torque", the acceleration
            ẍ_d + K_v ė + K_p e of the platform through the inverse dynamics.
        control: gains.
    """

    def __init__(self, dynamics: Dynamics, mode: Literal["force", "computed-torque"], control: Control) -> None:
        self._dynamics = dynamics
        self._mode = mode
        self._control = control
        self._motion = np.zeros(19)

    def forces(
        self,
        now: Array,
        ahead: Array,
        length_error: Array,
        velocity_error: Array,
        pose: Array,
        twist: Array,
        feedforward: Array,
        command: Array,
    ) -> None:
        """Fill `feedforward` (6,) and `command` (6,), N, pushing positive.

        Args:
            now: (19,) reference motion at the time of the measurement.
            ahead: (19,) reference motion when the command will act.
            length_error, velocity_error: (6,) m and m/s, reference less measured.
            pose, twist: (7,), (6,) measured, base frame.

        Raises:
            DynamicsError: the model has no solution at the reference (singular pose).
        """
        self._dynamics.forces(ahead, out=feedforward)
        if self._mode == "force":
            np.multiply(length_error, self._control.stiffness, out=command)
            command += self._control.damping * velocity_error
            command += feedforward
            return
        control = self._control
        _task_kernel(now, ahead, pose, twist, control.task_stiffness, control.task_damping, self._motion)
        self._dynamics.forces(self._motion, out=command)
