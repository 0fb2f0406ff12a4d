"""Dasgupta & Mruthyunjaya (1998), §5.2 and §6: singular and ill-conditioned paths and poses.

The singularity on path III is located, and an alternative path between the same poses avoids it, as the paper's
outlook on paths of least condition number suggests.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import optimize

from dynamics import best_path, find_singularities, opposite_sides, papers
from kinematics import Array, condition_numbers, coordinates_to_pose, leg_matrix
from rig.papers.claims import Claim, Range, number
from rig.papers.drawing import INK, Curve, Rule, one_panel, series
from rig.papers.paths import PLANS, PathRun, manipulator, run_path
from rig.papers.printed import printed_study
from rig.papers.study import Numbers, Picture, Sheet

PRINTED = printed_study("dasgupta-1998")
"""Claims and data as printed."""

_BOXES = {
    "within 0.5 m": ((-0.5, -0.5, 0.3, -0.5, -0.5, -0.5), (0.5, 0.5, 1.0, 0.5, 0.5, 0.5)),
    "within 0.3 m": ((-0.3, -0.3, 0.3, -0.3, -0.3, -0.3), (0.3, 0.3, 0.7, 0.3, 0.3, 0.3)),
    "within 2 m": ((-2.0, -2.0, 0.3, -0.5, -0.5, -0.5), (2.0, 2.0, 2.0, 0.5, 0.5, 0.5)),
}
"""Boxes of poses, m and rad in the base frame, by their reach from the base's axis; the paper names none."""
_NEAR = "within 0.5 m"
_DRAWN = 2000
_SEED = 0
_HALVINGS = 8
_MODEL = "dasgupta-1998"
_LENGTHS = (0.22, 0.36, 0.63)
"""m, for moments over lengths: least and largest distance of a platform point from its origin, and of a base point."""


@dataclass(frozen=True, slots=True, eq=False)
class Poses:
    """Poses (n, 7) with condition (n,) of H and largest leg force (n,) N by the printed equations."""

    pose: Array
    condition: Array
    peak: Array

    def condition_over(self, length: float) -> Array:
        """Condition numbers (n,) with moments divided by a length, m."""
        return condition_numbers(manipulator().geometry, self.pose, length)

    def strained(self) -> float:
        """Share of the poses with a condition number from 10² to 10³ whose largest force is 10⁴ N or more, %."""
        near = self.peak[(self.condition >= 1e2) & (self.condition <= 1e3)]
        return 100.0 * float(np.mean(near >= 1e4)) if len(near) else float("nan")


@cache
def random_poses(box: str = _NEAR) -> Poses:
    """Return poses at rest, uniform over a box of positions and angles."""
    coordinates = np.random.default_rng(_SEED).uniform(*_BOXES[box], (_DRAWN, 6))
    motions = np.zeros((_DRAWN, 19))
    motions[:, :7] = coordinates_to_pose(coordinates)
    peak = np.abs(papers.variant_forces(_MODEL, manipulator(), motions)).max(axis=1)
    return Poses(motions[:, :7], condition_numbers(manipulator().geometry, motions[:, :7]), peak)


def _path_poses(name: str) -> Poses:
    """Return the poses of path I, II or III, moving."""
    run = run_path(name)
    return Poses(run.motions[:, :7], run.condition, np.abs(run.dasgupta).max(axis=1))


@dataclass(frozen=True, slots=True)
class StepRow:
    """Path III sampled every `step` s: largest leg force, N, by the printed equations and exact, and condition.

    apart: time from the largest condition number to the largest force, s.
    """

    step: float
    printed: float
    exact: float
    condition: float
    apart: float


@cache
def step_rows() -> tuple[StepRow, ...]:
    """Path III at dτ = 0.1 s, and repeatedly halved."""
    plan, machine = PLANS["III"], manipulator()
    rows = []
    for halving in range(_HALVINGS):
        samples = 60 * 2**halving
        motions = plan.trajectory().motion(np.linspace(0.0, plan.duration, samples + 1))
        printed, exact = (np.abs(papers.variant_forces(m, machine, motions)).max(axis=1) for m in (_MODEL, "exact"))
        condition, step = condition_numbers(machine.geometry, motions[:, :7]), plan.duration / samples
        apart = step * float(printed.argmax() - condition.argmax())
        rows.append(StepRow(step, float(printed.max()), float(exact.max()), float(condition.max()), apart))
    return tuple(rows)


def step_sheet() -> Sheet:
    """Table of the peak force of path III over the step."""
    rows = step_rows()
    columns = ("step", "printed_peak_force", "exact_peak_force", "peak_condition")
    return Sheet(
        "Path III: the peak by the step (§5.2)",
        "Largest leg force and condition number of the samples. At the singularity both are infinite: a finer step "
        "comes nearer to it, not always with each halving, and there is no end.",
        ("dτ, s", "Printed equations, N", "Exact model, N", "Condition number"),
        tuple((f"{row.step:g}", number(row.printed), number(row.exact), number(row.condition)) for row in rows),
        Numbers("path-3-steps", columns, tuple((row.step, row.printed, row.exact, row.condition) for row in rows)),
    )


def singular_claims(run: PathRun) -> tuple[Claim, ...]:
    """Claims on path III and on ill-conditioned poses."""
    return (*path_three_claims(run), *random_pose_claims())


def path_three_claims(run: PathRun) -> list[Claim]:
    """Claims on path III, figs. 9 and 10."""
    worst = int(run.condition.argmax())
    forces = np.abs(run.dasgupta)
    peak = forces.max(axis=1)
    rows = step_rows()
    names = ("largest", "least of the legs' peaks", "sample before", "sample after")
    sizes = (
        float(peak.max()),
        float(forces.max(axis=0).min()),
        *(float(peak[int(peak.argmax()) + step]) for step in (-1, 1)),
    )
    return [
        PRINTED.claim("path-3-start", float(run.condition[0])),
        PRINTED.claim("path-3-time", float(run.times[worst])),
        PRINTED.claim("path-3-condition", float(run.condition[worst])),
        PRINTED.claim("path-3-forces", sizes[0], Range("force", names, sizes, names[0])),
        PRINTED.claim(
            "path-3-growth",
            rows[-1].printed / float(peak.max()),
            measure=f"largest leg force at dτ = {rows[-1].step:.2g} s over that at 0.1 s",
        ),
        PRINTED.claim(
            "path-3-together",
            float(run.times[int(peak.argmax())] - run.times[worst]),
            Range(
                "dτ", tuple(row.step for row in rows[::-1]), tuple(row.apart for row in rows[::-1]), rows[0].step, "s"
            ),
        ),
    ]


def random_pose_claims() -> list[Claim]:
    """Claims on condition number and force, and on the condition number itself: at random poses and on the paths."""
    boxes = {name: random_poses(name) for name in _BOXES}
    paths = {f"path {name}": _path_poses(name) for name in ("I", "II", "III")}
    every = boxes | paths

    def over(found: dict[str, float]) -> Range:
        return Range("poses", tuple(found), tuple(found.values()), _NEAR)

    strained = {name: poses.strained() for name, poses in (boxes | {"path III": paths["path III"]}).items()}
    related = {name: rank_correlation(poses.condition, poses.peak) for name, poses in every.items()}
    length = _LENGTHS[0]
    ranked = {name: rank_correlation(poses.condition, poses.condition_over(length)) for name, poses in every.items()}
    near = boxes[_NEAR]
    lengths = tuple(rank_correlation(near.condition, near.condition_over(rho)) for rho in _LENGTHS)
    return [
        PRINTED.claim("near-singular-forces", strained[_NEAR], over(strained)),
        PRINTED.claim("condition-and-force", related[_NEAR], over(related)),
        higher_claim(),
        PRINTED.claim("reliable-measure", ranked[_NEAR], over(ranked), Range("length", _LENGTHS, lengths, length, "m")),
    ]


_SIZES: Mapping[str, Callable[[Array], Array]] = {
    "largest": lambda forces: np.asarray(np.abs(forces).max(axis=1)),
    "RMS": lambda forces: np.asarray(np.sqrt(np.mean(forces**2, axis=1))),
    "mean": lambda forces: np.asarray(np.abs(forces).mean(axis=1)),
}
"""Sizes (n,) of leg forces (n, 6)."""


def higher_claim() -> Claim:
    """Claim that a higher condition number means higher forces, on the paths that the paper prints."""

    def related(size: str = "largest", name: str = "I", model: str = "dasgupta") -> float:
        run = run_path(name)
        return rank_correlation(run.condition, _SIZES[size](getattr(run, model)))

    models = {"as printed": "dasgupta", "exact": "exact", "massless legs": "massless"}
    return PRINTED.claim(
        "higher-condition",
        related(),
        Range("force", tuple(_SIZES), tuple(map(related, _SIZES)), "largest"),
        Range("path", ("I", "II"), tuple(related(name=name) for name in ("I", "II")), "I"),
        Range("model", tuple(models), tuple(related(model=model) for model in models.values()), "as printed"),
    )


def rank_correlation(a: Array, b: Array) -> float:
    """Spearman's rank correlation of values (n,) without ties; 0 if one of them is constant."""
    one, other = (np.argsort(np.argsort(values)).astype(float) for values in (a, b))
    return float(np.corrcoef(one, other)[0, 1]) if np.ptp(a) and np.ptp(b) else 0.0


_END_FREEDOM = (0.0, 0.0, 0.0, 0.3, 0.3, 0.3)  # m, rad: fixed position, free angles
_FINE = 2001  # samples for evaluating the path, between those of the search


@dataclass(frozen=True, slots=True)
class OptimalPath:
    """Result: claims, a mark for figure 10, pictures."""

    claims: tuple[Claim, ...]
    marks: tuple[tuple[float, str], ...]
    pictures: tuple[Picture, ...]


def optimal_path() -> OptimalPath:
    """Locate the singularity and find the path."""
    machine, run, plan = manipulator(), run_path("III"), PLANS["III"]
    geometry, straight = machine.geometry, plan.trajectory()
    found = find_singularities(geometry, straight.motion, run.times)
    crossings = [place.time for place in found if place.crossed]
    worst = float(run.times[int(run.condition.argmax())])

    def determinant(time: float) -> float:
        return float(np.linalg.det(leg_matrix(geometry, straight.motion([time])[0, :7])))

    truth = float(optimize.brentq(determinant, worst - 0.1, worst + 0.1, xtol=1e-12))
    miss = min((abs(time - truth) for time in crossings), default=float("inf"))

    best = best_path(machine, plan.start, plan.end, plan.duration, end_freedom=_END_FREEDOM)
    times = np.linspace(0.0, plan.duration, _FINE)
    motions = best.path.motion(times)
    condition = condition_numbers(geometry, motions[:, :7])
    forces = np.abs(papers.variant_forces("exact", machine, motions)).max(axis=1)
    straight_motions = straight.motion(times)
    straight_condition = condition_numbers(geometry, straight_motions[:, :7])
    turned = ", ".join(f"{angle:+.2f}".replace("-", "−") for angle in best.end_moved[3:])
    table = np.column_stack([straight_condition, condition, forces, best.path.coordinates(times)[0]])
    columns = ("straight_condition", "optimised_condition", "optimised_peak_force", "x", "y", "z", "rx", "ry", "rz")
    curves = (
        Curve("path III, straight", straight_condition, INK, "--", 1.0, (tuple(crossings),)),
        Curve("optimised", condition, "#009E73", "-", 1.6),
    )
    picture = Picture(
        "Path III, optimised: condition number of H",
        f"From the start of path III to the position of its end in the same time; the end's angles, free by 0.3 rad, "
        f"come out {turned} rad from those of path III.",
        one_panel(times, curves, "condition number", log=True, rule=Rule(near=0.0045)),
        series("path-3-optimised", "t", times, columns, table),
    )
    peaks = float(condition.max()), float(forces.max())
    claims = _claims(run, truth, miss, peaks)
    crossed = PRINTED.claim("path-3-sides", float(opposite_sides(machine, plan.start, plan.end)))
    marks = tuple((time, f"singularity at t = {time:.4f} s") for time in crossings)
    return OptimalPath((claims[0], crossing_claim(), crossed, *claims[1:]), marks, (picture,))


def crossing_claim() -> Claim:
    """Claim on the number of singularities that path III crosses."""
    found = find_singularities(manipulator().geometry, PLANS["III"].trajectory().motion, run_path("III").times)
    return PRINTED.claim("singularity-one", float(sum(place.crossed for place in found)))


def _claims(run: PathRun, truth: float, miss: float, peaks: tuple[float, float]) -> tuple[Claim, ...]:
    condition, force = peaks
    return (
        PRINTED.claim(
            "singularity-located",
            miss,
            measure=f"distance to the zero of det H at t = {truth:.6f} s, found independently",
        ),
        PRINTED.claim(
            "optimised-condition",
            condition / float(run.condition.max()),
            measure=(
                "peak of the condition number over that of path III at its samples "
                f"({number(condition)} over {number(float(run.condition.max()))})"
            ),
        ),
        PRINTED.claim(
            "optimised-forces",
            force / float(run.peak.max()),
            measure=(
                f"largest leg force over that of path III at its samples ({number(force, 'N')} over "
                f"{number(float(run.peak.max()), 'N')})"
            ),
        ),
    )
