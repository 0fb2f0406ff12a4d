"""Computed torque with full gain matrices: does the error follow ë + K_v ė + K_p e = 0 (Lee et al. 1982, eq. 4.3)?"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.linalg import expm

from dynamics import SerialChain, computed_torque, puma, simulate_chain
from kinematics import Array

POSITION_GAINS = 100.0 * (np.eye(6) + 0.3 * (np.eye(6, k=1) + np.eye(6, k=-1)))
"""K_p, 1/s²: the paper's 100 on the diagonal, and each joint coupled to its neighbours."""
VELOCITY_GAINS = 20.0 * (np.eye(6) - 0.25 * (np.eye(6, k=2) + np.eye(6, k=-2)))
"""K_v, 1/s: the paper's 20, and every second joint coupled."""
_OFFSET = (0.2, -0.1, 0.15, -0.2, 0.1, 0.3)  # rad
_SLIP = (0.5, 0.3, -0.4, 0.2, -0.6, 0.1)  # rad/s
_DURATION, _STEP = 2.0, 0.01  # s


@dataclass(frozen=True, slots=True, eq=False)
class ErrorRun:
    """Errors e = qᵈ − q (m, n) of a simulated arm at times (m,) s, and those of eq. 4.3 from the same start; rad."""

    times: Array
    error: Array
    expected: Array

    @property
    def gap(self) -> float:
        """Largest difference, relative to the largest error."""
        return float(np.abs(self.error - self.expected).max() / np.abs(self.expected).max())

    @property
    def left(self) -> float:
        """Largest error at the end, relative to the largest at the start."""
        return float(np.abs(self.error[-1]).max() / np.abs(self.error[0]).max())


def error_run(chain: SerialChain, kp: Array, kv: Array, duration: float, step: float) -> ErrorRun:
    """A chain of six joints under eq. 4.4 at every instant, towards a motion sin t of its joints."""

    def desired(time: float) -> tuple[list[float], list[float], list[float]]:
        place, rate = [float(np.sin(time))] * 6, [float(np.cos(time))] * 6
        return place, rate, [-x for x in place]

    def torque(time: float, q: list[float], qd: list[float]) -> list[float]:
        tau: list[float] = computed_torque(chain, desired(time), q, qd, kp, kv)
        return tau

    start = desired(0.0)
    q, qd = ([a - b for a, b in zip(x, y, strict=True)] for x, y in zip(start[:2], (_OFFSET, _SLIP), strict=True))
    run = simulate_chain(chain, q, qd, torque, duration, step)
    aims = np.array([desired(time)[0] for time in run.times])
    return ErrorRun(run.times, aims - run.q, error_equation(kp, kv, run.times))


def error_equation(kp: Array, kv: Array, times: Array) -> Array:
    """e(t) (m, n) of ë + K_v ė + K_p e = 0 from the start of `error_run`, rad; times (m,) s at equal steps."""
    n = len(kp)
    companion = np.block([[np.zeros((n, n)), np.eye(n)], [-kp, -kv]])
    ahead = expm(companion * (times[1] - times[0]))
    states = [np.array([*_OFFSET, *_SLIP])]
    for _ in times[1:]:
        states.append(ahead @ states[-1])
    return np.array(states)[:, :n]


@cache
def coupled_run() -> ErrorRun:
    """The PUMA under gains that couple its joints."""
    return error_run(puma(rotors=False), POSITION_GAINS, VELOCITY_GAINS, _DURATION, _STEP)
