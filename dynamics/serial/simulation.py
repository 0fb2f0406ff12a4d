"""Motion of a chain under given joint forces: RK4 over the strobed equations (Turney, Mudge & Lee 1980 = 001, §7)."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dynamics.errors import DynamicsError
from dynamics.serial.chain import SerialChain, scalars
from dynamics.serial.strobed import chain_acceleration
from dynamics.serial.vectors import Values
from kinematics import Array

Torque = Callable[[float, list[float], list[float]], Values]
"""Joint forces (n,) from time s, q and q̇."""


@dataclass(frozen=True, slots=True, eq=False)
class ChainSimulation:
    """Samples of a motion: times (m,) s, q (m, n) and qd (m, n), rad or m and per second."""

    times: Array
    q: Array
    qd: Array


def _ahead(values: list[float], slope: list[float], step: float) -> list[float]:
    return [x + step * s for x, s in zip(values, slope, strict=True)]


def rk4_step(
    chain: SerialChain, time: float, q: list[float], qd: list[float], torque: Torque, step: float
) -> tuple[list[float], list[float]]:
    """q and q̇ one step of `step` s later, after the classical four-point Runge–Kutta formula of 001 §7."""
    new_q, new_qd = q, qd
    rate, slope = qd, qd  # of the stage before; the first stage stands at the start
    for fraction, weight in ((0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0)):
        now, rate = _ahead(q, rate, fraction * step), _ahead(qd, slope, fraction * step)
        slope = chain_acceleration(chain, now, rate, torque(time + fraction * step, now, rate))
        new_q, new_qd = _ahead(new_q, rate, weight * step / 6.0), _ahead(new_qd, slope, weight * step / 6.0)
    return new_q, new_qd


def simulate_chain(
    chain: SerialChain, q: Values, qd: Values, torque: Torque, duration: float, step: float
) -> ChainSimulation:
    """Motion from q, q̇ (n,) over `duration` s in steps of `step` s under `torque`, evaluated at every stage.

    Raises DynamicsError for a duration or step that is not positive, or a duration that is not whole steps.
    """
    if not (math.isfinite(duration) and math.isfinite(step) and duration > 0.0 and step > 0.0):
        raise DynamicsError(f"duration {duration} s, step {step} s: must be finite and above 0 s")
    count = round(duration / step)
    if abs(count * step - duration) > 1e-9 * duration:
        raise DynamicsError(f"duration: {duration} s is not a whole number of steps of {step} s")
    now = scalars("q", q, len(chain)), scalars("qd", qd, len(chain))
    states = [now]
    for k in range(count):
        now = rk4_step(chain, k * step, *now, torque, step)
        states.append(now)
    positions, rates = zip(*states, strict=True)
    return ChainSimulation(step * np.arange(count + 1.0), np.array(positions), np.array(rates))
