"""The formulas of the control laws as compiled code, one for the engine's cycle and for the closed loop offline.

(6,) arrays are by leg; lengths in m, forces in N, pushing positive.
"""

from math import atan2, exp, pi, sqrt

import numpy as np

from dynamics import inverse_kernel
from kinematics import Array, kernel
from rig.config import RigConfig

KERNELS = __name__
"""Module of the laws' kernels, for `ControlLaw.kernels`."""

# Rows of a disturbance observer's memory (OBSERVER_ROWS, 19).
_ESTIMATE = 0  # N: what a leg needs beyond what the model says; six columns, as of the next four
_MOTOR = 1  # N, force of the drives as their dead time and lag have it
_FOLLOWED = 2  # N, command that the drives followed when the last exchange began …
_SENT = 3  # N, … the one that went out with it …
_COMPUTED = 4  # N, … and the one computed after it
_BEFORE = 5  # pose and twist of the cycle before
_BETWEEN = 6  # the motion between that and this one
_KNOWN = 7  # first column: whether there is a cycle before; then forces of that motion, then no wrench
OBSERVER_ROWS = 8

# What an observer knows of rig and drives.
_PERIOD, _DELAY, _LAG, _BANDWIDTH = 0, 1, 2, 3  # s, s, s, rad/s


@kernel
def leg_feedback_kernel(
    length_error: Array, velocity_error: Array, stiffness: float, damping: float, feedforward: Array, force: Array
) -> None:
    """F = K_p (L_d − L) + K_d (L̇_d − L̇) + F_ff at each leg."""
    for i in range(6):
        force[i] = stiffness * length_error[i] + damping * velocity_error[i] + feedforward[i]


@kernel
def length_set_points_kernel(legs: Array, later: Array, half_period: float, lengths: Array, speeds: Array) -> None:
    """Lengths of the legs `later` (6,) s than `legs` (6, ≥3) has lengths, speeds and accelerations, and their speeds.

    The speed is the mean of the time for which a command holds, half of which is `half_period`.
    """
    for i in range(6):
        length, speed, acceleration = legs[i, 0], legs[i, 1], legs[i, 2]
        lengths[i] = length + later[i] * (speed + 0.5 * later[i] * acceleration)
        speeds[i] = acceleration * half_period + (speed + later[i] * acceleration)


@kernel
def task_motion_kernel(
    now: Array, ahead: Array, pose: Array, twist: Array, stiffness: Array, damping: Array, motion: Array
) -> None:
    """The motion whose inverse dynamics is the computed-torque law.

    Acceleration ẍ_d + K_v ė + K_p e (Lee, Chung, Mudge & Turney 1982, eq. 4.1), K_p and K_v (6, 6), 1/s² and 1/s; pose
    and twist are the reference's ahead of time less the error measured now, which is where the platform will be when
    the force acts. The rotation's error is the rotation vector of R_d Rᵀ, base axes.
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
    for i in range(6):
        total = ahead[13 + i]
        for k in range(6):
            total += damping[i, k] * (now[7 + k] - twist[k])
        for k in range(3):
            total += stiffness[i, k] * (now[k] - pose[k])
        # in this order a number times the unit matrix gives what the number alone would, to the last bit
        total += stiffness[i, 3] * factor * x
        total += stiffness[i, 4] * factor * y
        total += stiffness[i, 5] * factor * z
        motion[13 + i] = total


@kernel
def observe_disturbance_kernel(
    settings: Array, parameters: Array, pose: Array, twist: Array, work: Array, memory: Array
) -> int:
    """Bring the estimate in `memory` up to the cycle with this measured pose (7,) and twist (6,).

    From the cycle before to this one the platform moved as if its legs had been given F(X, Ẋ, Ẍ), the inverse
    dynamics of what was measured; their drives gave F_m, by the commands sent, with the drives' dead time and lag.
    What they gave beyond that, F_m − F, went into what the model does not know of, disturbances and its own errors
    alike; through a low-pass filter of first order it is the estimate. Commands are taken as they were sent, bounded
    where they were, so that nothing winds up.

    settings (4,): of `observer_settings`, work (WORK_SIZE,). Returns the inverse dynamics' status.
    """
    period, delay, lag = settings[_PERIOD], min(settings[_DELAY], settings[_PERIOD]), settings[_LAG]
    estimate, motor, followed, sent = memory[_ESTIMATE], memory[_MOTOR], memory[_FOLLOWED], memory[_SENT]
    before, between = memory[_BEFORE], memory[_BETWEEN]
    status = 0
    if memory[_KNOWN, 0] != 0.0:
        same = before[3] * pose[3] + before[4] * pose[4] + before[5] * pose[5] + before[6] * pose[6]
        sign = 1.0 if same >= 0.0 else -1.0
        for j in range(7):
            between[j] = 0.5 * (before[j] + (sign * pose[j] if j > 2 else pose[j]))
        for j in range(6):
            between[7 + j] = 0.5 * (before[7 + j] + twist[j])
            between[13 + j] = (twist[j] - before[7 + j]) / period
        needed = memory[_KNOWN, 1:7]
        status = inverse_kernel(parameters, between, memory[_KNOWN, 7:13], work, needed)
        dead, alive = exp(-delay / lag), exp((delay - period) / lag)
        share = 1.0 - exp(-settings[_BANDWIDTH] * period)
        for i in range(6):
            first = followed[i] + (motor[i] - followed[i]) * dead
            given = followed[i] * delay + (motor[i] - followed[i]) * lag * (1.0 - dead)
            given += sent[i] * (period - delay) + (first - sent[i]) * lag * (1.0 - alive)
            motor[i] = sent[i] + (first - sent[i]) * alive
            if status == 0:
                estimate[i] += share * (given / period - needed[i] - estimate[i])
    for i in range(6):
        followed[i], sent[i] = sent[i], memory[_COMPUTED, i]
    memory[_KNOWN, 0] = 1.0
    for j in range(7):
        before[j] = pose[j]
    for j in range(6):
        before[7 + j] = twist[j]
    return status


def observer_settings(config: RigConfig) -> Array:
    """What a disturbance observer knows of a rig and its drives."""
    drives = config.drives
    return np.array(
        [
            config.exchange_period,
            drives.delay,
            1.0 / (2.0 * pi * drives.force_bandwidth),
            2.0 * pi * config.control.observer_bandwidth,
        ]
    )


@kernel
def begin_observer_kernel(force: Array, memory: Array) -> None:
    """Begin anew, the drives giving `force` (6,) N by commands like it."""
    memory[:] = 0.0
    for row in (_MOTOR, _FOLLOWED, _SENT, _COMPUTED):
        for i in range(6):
            memory[row, i] = force[i]


def interrupt_observer(memory: Array) -> None:
    """The cycle before this one is longer ago than a period: nothing follows from the two.

    Not compiled: nothing is to be compiled where a cycle was late already.
    """
    memory[_KNOWN, 0] = 0.0


@kernel
def note_command_kernel(force: Array, memory: Array) -> None:
    """Keep the command (6,) that goes out next, as it was bounded."""
    for i in range(6):
        memory[_COMPUTED, i] = force[i]


@kernel
def add_estimate_kernel(memory: Array, force: Array) -> None:
    """Give the legs (6,) what they need beyond the model, too."""
    for i in range(6):
        force[i] += memory[_ESTIMATE, i]
