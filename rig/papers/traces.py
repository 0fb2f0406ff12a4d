"""The papers' paths as they are drawn: closer than sampled, and with two values where the acceleration jumps."""

from functools import cache

import numpy as np

from kinematics import Array, Blend, leg_matrix
from rig.papers.paths import PLANS, PathRun, evaluate_path, manipulator

_STEPS = 480
_ASIDE = 1e-9
"""Share of the duration by which the two values at an edge are taken before and after it."""
_APPROACH = np.geomspace(1e-6, 1e-2, 25)
"""Shares of the duration at which a pole is approached from either side."""


def drawn_motions(trajectory: Blend, poles: tuple[float, ...] = ()) -> tuple[Array, Array]:
    """Instants (n,) s to draw a path at, closer about `poles`, and the motions (n, 19) there.

    An edge of a blend comes twice, with the acceleration before it and after it.
    """
    duration, edges = trajectory.duration, np.array(trajectory.breakpoints)
    close = [pole + side * duration * _APPROACH for pole in poles for side in (-1.0, 1.0)]
    times = np.unique(np.concatenate([np.linspace(0.0, duration, _STEPS + 1), *close]))
    times = times[(times >= 0.0) & (times <= duration)]
    if len(edges):
        times = times[np.abs(times[:, None] - edges).min(axis=1) > 1e-6 * duration]
    before, after = edges - _ASIDE * duration, edges + _ASIDE * duration
    taken = np.concatenate([times, before, after])
    shown = np.concatenate([times, edges, edges])
    order = np.argsort(taken)
    return shown[order], trajectory.motion(taken[order])


def crossings(times: Array, values: Array) -> tuple[float, ...]:
    """Where values (n,) over times (n,) pass through zero: between two instants, not in a jump, which has one."""
    passed = (values[:-1] * values[1:] < 0.0) & (np.diff(times) > 0.0)
    at = np.flatnonzero(passed)
    share = values[at] / (values[at] - values[at + 1])
    return tuple((times[at] + share * (times[at + 1] - times[at])).tolist())


@cache
def singular_times(name: str) -> tuple[float, ...]:
    """Where det H changes its sign on path I, II or III, s."""
    found: tuple[float, ...] = ()
    for _ in range(2):  # the second time between instants that are close to it
        times, motions = drawn_motions(PLANS[name].trajectory(), found)
        matrices = np.array([leg_matrix(manipulator().geometry, motion[:7]) for motion in motions])
        found = crossings(times, np.linalg.det(matrices))
    return found


@cache
def traced_path(name: str, machine: str = "dasgupta-1998") -> PathRun:
    """Path I, II or III with every model, to be drawn: closer about singularities and where a leg's force is zero."""
    trajectory, near = PLANS[name].trajectory(), singular_times(name)
    times, motions = drawn_motions(trajectory, near)
    run = evaluate_path(name, machine, times, motions)
    for forces in (run.exact, run.dasgupta):
        near += tuple(zero for by_leg in zeros(times, forces) for zero in by_leg)
    times, motions = drawn_motions(trajectory, near)
    return evaluate_path(name, machine, times, motions)


def zeros(times: Array, forces: Array) -> tuple[tuple[float, ...], ...]:
    """By leg, where its force (n, 6) passes through zero: the poles of a fraction of it."""
    return tuple(crossings(times, forces[:, leg]) for leg in range(6))
