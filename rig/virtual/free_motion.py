"""Free motion of the platform under prescribed leg forces."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dynamics import Dynamics, DynamicsError, LegLimits, Mechanism
from kinematics import leg_lengths

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Departure:
    """A leg leaves its stroke: the leg (1 to 6), the time, s, its length then and its limits, m."""

    leg: int
    time: float
    length: float
    limits: tuple[float, float]

    def __str__(self) -> str:
        """Format as text, with its consequence."""
        low, high = self.limits
        return (
            f"leg {self.leg} leaves its stroke at {self.time:.4g} s: {self.length:.4f} m, its limits are {low:g} to "
            f"{high:g} m. Nothing but the prescribed forces holds the platform: open loop it is unstable there, and "
            "any difference from the motion that they belong to grows"
        )


@dataclass(frozen=True, slots=True, eq=False)
class Simulation:
    """The motion (m, 19) at the first m of the requested times; at all of them if `departure` is None."""

    motion: Array
    departure: Departure | None


def simulate(
    mechanism: Mechanism,
    times: Array,
    forces: Array,
    pose: Array,
    longest_step: float,
    *,
    twist: Array | None = None,
    wrenches: Array | None = None,
    coulomb_speed: float = 0.0,
) -> Simulation:
    """Integrate from `pose` (7,) over increasing `times` (n,), s, until a leg leaves its stroke.

    Leg forces (n, 6), N, are linear between the times. Every interval is divided into equal Runge-Kutta steps of at
    most `longest_step`, s.

    Args:
        mechanism, times, forces, pose, longest_step: see above.
        twist: (6,) of the platform origin at the first time, base frame, m/s and rad/s; at rest if None.
        wrenches: (n, 6) external at the platform origin, platform axes, N and N m, linear between the times but
            constant within a step; none if None.
        coulomb_speed: leg speed over which Coulomb friction is smoothed, m/s; 0 for its exact sign.

    Raises:
        DynamicsError: the motion cannot be integrated further; the message names the time.
    """
    dynamics = Dynamics(mechanism, coulomb_speed)
    strokes = [(leg.limits or LegLimits()).length or (0.0, math.inf) for leg in mechanism.legs]
    outer = np.zeros((len(times), 6)) if wrenches is None else wrenches
    motion = np.empty((len(times), 19))
    state = np.concatenate([pose, np.zeros(6) if twist is None else twist])
    now = float(times[0])
    departure = _departure(mechanism, strokes, state, now)
    for row in range(len(times)):
        try:
            steps = max(1, math.ceil((times[row] - now) / longest_step * (1.0 - 1e-9))) if row else 0
            for step in range(steps):
                if departure is not None:
                    break
                begin, end = step / steps, (step + 1) / steps
                state = dynamics.step(
                    state,
                    _between(forces, row, begin),
                    (times[row] - times[row - 1]) / steps,
                    _between(outer, row, 0.5 * (begin + end)),
                    _between(forces, row, end),
                )
                departure = _departure(mechanism, strokes, state, now + end * (times[row] - now))
            if departure is not None:
                return Simulation(motion[:row], departure)
            motion[row, 13:] = dynamics.acceleration(state, forces[row], outer[row])
        except DynamicsError as error:
            raise DynamicsError(f"the motion ends before t = {times[row]:g} s: {error}") from error
        motion[row, :13] = state
        now = float(times[row])
    return Simulation(motion, None)


def _between(values: Array, row: int, part: float) -> Array:
    """Values (6,) at `part`, 0 to 1, of the interval that ends at `row`."""
    between: Array = values[row - 1] + part * (values[row] - values[row - 1])
    return between


def _departure(mechanism: Mechanism, strokes: list[tuple[float, float]], state: Array, time: float) -> Departure | None:
    lengths: list[float] = leg_lengths(mechanism.geometry, state[:7]).tolist()
    for leg, (length, (low, high)) in enumerate(zip(lengths, strokes, strict=True), start=1):
        if not low <= length <= high:
            return Departure(leg, time, length, (low, high))
    return None
