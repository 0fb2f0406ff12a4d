"""The paths of the two platform papers, evaluated once with every model, as sampled and as drawn.

Manipulator and paths I to III are those of Dasgupta & Mruthyunjaya (1998), §5 and appendix; paths 2 and 3 of
Pedrammehr et al. (2012) are the same as I and II. 61 samples each, every dτ. At the edges of the angles' blends, which
are samples of paths I and II, the acceleration is that of the piece between the blends. Drawn paths are sampled more
densely, and have two values where the acceleration jumps.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from dynamics import Mechanism, load_mechanism, papers
from kinematics import Array, Blend, condition_numbers, leg_matrix
from rig.papers.claims import Claim, Computed, Origin, Range, Rounded
from rig.papers.printed import printed_study
from rig.papers.study import Numbers

SAMPLES = 61


PLANS = printed_study("dasgupta-1998").paths
"""Paths I to III of 1998."""


@dataclass(frozen=True, slots=True, eq=False)
class PathRun:
    """A path sampled every dτ: times (n,) s, motions (n, 19), condition (n,) of H, forces (n, 6) N by model."""

    name: str
    times: Array
    motions: Array
    condition: Array
    exact: Array
    dasgupta: Array
    pedrammehr: Array
    massless: Array

    @property
    def dynamic(self) -> Array:
        """F_d = F − F₀ (n, 6) N of the exact model (1998 eq. 42)."""
        return self.exact - self.massless

    @property
    def fraction(self) -> Array:
        """F_d/F (n, 6) of the exact model."""
        return self.dynamic / self.exact

    @property
    def printed_fraction(self) -> Array:
        """F_d/F (n, 6) by the equations of 1998 as printed."""
        return (self.dasgupta - self.massless) / self.dasgupta

    @property
    def peak(self) -> Array:
        """Largest |F| of the six legs (n,) N, exact model."""
        largest: Array = np.abs(self.exact).max(axis=1)
        return largest

    @property
    def crossing(self) -> tuple[int, ...]:
        """Legs whose force changes sign, from 1."""
        low, high = self.exact.min(axis=0), self.exact.max(axis=0)
        return tuple(leg + 1 for leg in range(6) if low[leg] < 0.0 < high[leg])

    def numbers(self, name: str) -> Numbers:
        """Return all of it as a table."""
        columns, blocks = ["t", "condition"], [self.times[:, None], self.condition[:, None]]
        models = (("exact", self.exact), ("dasgupta1998_", self.dasgupta), ("pedrammehr2012_", self.pedrammehr))
        for prefix, values in (*models, ("massless", self.massless), ("dynamic", self.dynamic)):
            columns += [f"{prefix}{leg}" for leg in range(1, 7)]
            blocks.append(values)
        return Numbers(name, tuple(columns), tuple(map(tuple, np.hstack(blocks).tolist())))


G = 9.81
"""m/s²; neither paper prints it."""
_GRAVITIES = (9.78, 9.8, G, 9.83)


@cache
def manipulator(name: str = "dasgupta-1998", gravity: float = G) -> Mechanism:
    """Return the papers' manipulator under a gravity, m/s²; it is not realisable: for evaluation only."""
    machine = load_mechanism(name, evaluate_only=True)
    return machine if gravity == G else replace(machine, gravity=np.array([0.0, 0.0, -gravity]))


def over_gravity(evaluate: Callable[[float], Computed]) -> Range:
    """Return results over the plausible values of g."""
    return Range("g", _GRAVITIES, tuple(map(evaluate, _GRAVITIES)), G, "m/s²")


@cache
def run_path(name: str, machine: str = "dasgupta-1998", gravity: float = G) -> PathRun:
    """Evaluate path I, II or III by every model, with the 1998 manipulator or that of 2012."""
    plan = PLANS[name]
    times = plan.duration / (SAMPLES - 1) * np.arange(float(SAMPLES))
    return evaluate_path(name, manipulator(machine, gravity), times, plan.trajectory().motion(times))


def evaluate_path(name: str, machine: Mechanism, times: Array, motions: Array) -> PathRun:
    """Evaluate every model at the motions (n, 19) of the path `name` at times (n,)."""
    exact, dasgupta, pedrammehr, massless = (
        papers.variant_forces(model, machine, motions)
        for model in ("exact", "dasgupta-1998", "pedrammehr-2012", "massless")
    )
    condition = condition_numbers(machine.geometry, motions[:, :7])
    return PathRun(name, times, motions, condition, exact, dasgupta, pedrammehr, massless)


def rms(values: Array) -> float:
    """Root mean square of all values."""
    return float(np.sqrt(np.mean(values**2)))


def force_error(published: Array, exact: Array) -> tuple[float, float]:
    """Error of leg forces: RMS over all legs and samples in percent of the exact RMS, and the largest, N."""
    return 100.0 * rms(published - exact) / rms(exact), float(np.abs(published - exact).max())


_STEPS = 480
_EDGE_OFFSET = 1e-9
"""Fraction of the duration by which the two values at an edge are evaluated before and after it."""
_APPROACH = np.geomspace(1e-6, 1e-2, 25)
"""Fractions of the duration for samples near a pole, on both sides."""


def drawn_motions(trajectory: Blend, poles: tuple[float, ...] = ()) -> tuple[Array, Array]:
    """Return times (n,) s to draw a path, denser about `poles`, and the motions (n, 19) there.

    An edge of a blend occurs twice, with the acceleration before and after it.
    """
    duration, edges = trajectory.duration, np.array(trajectory.breakpoints)
    close = [pole + side * duration * _APPROACH for pole in poles for side in (-1.0, 1.0)]
    times = np.unique(np.concatenate([np.linspace(0.0, duration, _STEPS + 1), *close]))
    times = times[(times >= 0.0) & (times <= duration)]
    if len(edges):
        times = times[np.abs(times[:, None] - edges).min(axis=1) > 1e-6 * duration]
    before, after = edges - _EDGE_OFFSET * duration, edges + _EDGE_OFFSET * duration
    taken = np.concatenate([times, before, after])
    shown = np.concatenate([times, edges, edges])
    order = np.argsort(taken)
    return shown[order], trajectory.motion(taken[order])


def crossings(times: Array, values: Array) -> tuple[float, ...]:
    """Zero crossings of values (n,) over times (n,): between two times, not in a jump, which has a single time."""
    passed = (values[:-1] * values[1:] < 0.0) & (np.diff(times) > 0.0)
    at = np.flatnonzero(passed)
    share = values[at] / (values[at] - values[at + 1])
    return tuple((times[at] + share * (times[at + 1] - times[at])).tolist())


@cache
def singular_times(name: str) -> tuple[float, ...]:
    """Times at which det H changes its sign on path I, II or III, s."""
    found: tuple[float, ...] = ()
    for _ in range(2):  # second pass: on a dense grid about it
        times, motions = drawn_motions(PLANS[name].trajectory(), found)
        matrices = np.array([leg_matrix(manipulator().geometry, motion[:7]) for motion in motions])
        found = crossings(times, np.linalg.det(matrices))
    return found


@cache
def traced_path(name: str, machine: str = "dasgupta-1998") -> PathRun:
    """Evaluate path I, II or III with every model for drawing: denser about singularities and zeros of leg forces."""
    trajectory, near = PLANS[name].trajectory(), singular_times(name)
    times, motions = drawn_motions(trajectory, near)
    run = evaluate_path(name, manipulator(machine), times, motions)
    for forces in (run.exact, run.dasgupta):
        near += tuple(zero for by_leg in zeros(times, forces) for zero in by_leg)
    times, motions = drawn_motions(trajectory, near)
    return evaluate_path(name, manipulator(machine), times, motions)


def zeros(times: Array, forces: Array) -> tuple[tuple[float, ...], ...]:
    """Zero crossings of each leg's force (n, 6): the poles of its fractions."""
    return tuple(crossings(times, forces[:, leg]) for leg in range(6))


def error_claims(
    key: str, subject: str, error: tuple[float, float], share: float, peak: float, why: str
) -> tuple[Claim, Claim]:
    """Two claims, the entries of the error table of a published model against the exact one."""
    return (
        Claim(
            f"{key}-error-rms",
            f"{subject}: error of the leg forces against the exact model",
            "error table",
            Rounded(share, 0.01),
            error[0],
            "%",
            measure="RMS over all legs and samples, relative to the exact RMS",
            why=why,
            origin=Origin.REPRODUCTION,
        ),
        Claim(
            f"{key}-error-peak",
            f"{subject}: largest error of a leg force",
            "error table",
            Rounded(peak, 0.1),
            error[1],
            "N",
            origin=Origin.REPRODUCTION,
        ),
    )
