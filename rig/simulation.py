"""Free motion of the platform under prescribed leg forces."""

import math

import numpy as np
import numpy.typing as npt

from dynamics import Dynamics, DynamicsError, Mechanism

Array = npt.NDArray[np.float64]


def simulate(mechanism: Mechanism, times: Array, forces: Array, pose: Array, longest_step: float) -> Array:
    """Motion (n, 19) at `times` (n,), s, increasing, from rest at `pose` (7,) at the first of them.

    Leg forces (n, 6), N, are linear between the times. Every interval is cut into equal Runge-Kutta steps of at most
    `longest_step`, s, so that the times themselves are hit exactly.

    Raises:
        DynamicsError: the motion cannot be integrated further; the message names the time.
    """
    dynamics = Dynamics(mechanism)
    motion = np.empty((len(times), 19))
    state = np.concatenate([pose, np.zeros(6)])
    for row in range(len(times)):
        try:
            if row > 0:
                state = _advance(
                    dynamics, state, forces[row - 1], forces[row], times[row] - times[row - 1], longest_step
                )
            motion[row, 13:] = dynamics.acceleration(state, forces[row])
        except DynamicsError as error:
            raise DynamicsError(f"the motion ends before t = {times[row]:g} s: {error}") from error
        motion[row, :13] = state
    return motion


def _advance(
    dynamics: Dynamics, state: Array, forces: Array, forces_end: Array, span: float, longest_step: float
) -> Array:
    steps = max(1, math.ceil(span / longest_step * (1.0 - 1e-9)))
    change = (forces_end - forces) / steps
    for step in range(steps):
        begin = forces + step * change
        state = dynamics.step(state, begin, span / steps, forces_end=begin + change)
    return state
