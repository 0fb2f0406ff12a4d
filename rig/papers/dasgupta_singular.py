"""Dasgupta & Mruthyunjaya (1998), §5.2 and §6: singular and ill-conditioned paths and poses.

The singularity on path III is located, and an alternative path between the same poses avoids it, as the paper's
outlook on paths of least condition number suggests.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import optimize

from dynamics import best_path, find_singularities, opposite_sides, papers
from kinematics import Array, condition_numbers, coordinates_to_pose, leg_matrix
from rig.papers.claims import Between, Claim, Threshold, number
from rig.papers.drawing import INK, Curve, Rule, one_panel, series
from rig.papers.paths import PLANS, PathRun, manipulator, run_path
from rig.papers.printed import printed_study
from rig.papers.study import Numbers, Picture, Sheet

PRINTED = printed_study("dasgupta-1998")
"""Claims and data as printed."""

_BOX = (-0.5, -0.5, 0.3, -0.5, -0.5, -0.5), (0.5, 0.5, 1.0, 0.5, 0.5, 0.5)  # m, rad, in the base frame
_DRAWN = 4000
_POSES = 400  # per decade of the condition number
_SEED = 0
_HALVINGS = 8
_MODEL = "dasgupta-1998"
_ONE_PATH = "the same sentence, along one path of the manipulator"


@dataclass(frozen=True, slots=True, eq=False)
class RandomPoses:
    """Random static poses: condition (n,) of H, largest leg force (n,) N by the printed equations."""

    condition: Array
    peak: Array

    def decade(self, least: float) -> Array:
        """Largest leg forces of the first poses with a condition number from `least` to ten times that."""
        chosen: Array = self.peak[(self.condition >= least) & (self.condition <= 10.0 * least)][:_POSES]
        return chosen


@cache
def random_poses() -> RandomPoses:
    """Return poses at rest, uniform over a box of positions and angles."""
    coordinates = np.random.default_rng(_SEED).uniform(*_BOX, (_DRAWN, 6))
    motions = np.zeros((_DRAWN, 19))
    motions[:, :7] = coordinates_to_pose(coordinates)
    peak = np.abs(papers.variant_forces(_MODEL, manipulator(), motions)).max(axis=1)
    return RandomPoses(condition_numbers(manipulator().geometry, motions[:, :7]), peak)


@dataclass(frozen=True, slots=True)
class StepRow:
    """Path III sampled every `step` s: largest leg force, N, by the printed equations and exact, and condition."""

    step: float
    printed: float
    exact: float
    condition: float


@cache
def step_rows() -> tuple[StepRow, ...]:
    """Path III at dτ = 0.1 s, and repeatedly halved."""
    plan, machine = PLANS["III"], manipulator()
    rows = []
    for halving in range(_HALVINGS):
        samples = 60 * 2**halving
        motions = plan.trajectory().motion(np.linspace(0.0, plan.duration, samples + 1))
        printed, exact = (float(np.abs(papers.variant_forces(m, machine, motions)).max()) for m in (_MODEL, "exact"))
        condition = float(condition_numbers(machine.geometry, motions[:, :7]).max())
        rows.append(StepRow(plan.duration / samples, printed, exact, condition))
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


def singular_claims(run: PathRun, regular: PathRun) -> tuple[Claim, ...]:
    """Claims on path III and on ill-conditioned poses; `regular` is path I."""
    return (*path_three_claims(run), *random_pose_claims(), *rank_claims(run, regular))


def path_three_claims(run: PathRun) -> list[Claim]:
    """Claims on path III, figs. 9 and 10."""
    worst = int(run.condition.argmax())
    peak = np.abs(run.dasgupta).max(axis=1)
    finest = step_rows()[-1]
    steps = ", ".join(number(row.printed, "N") for row in step_rows()[:3])
    return [
        PRINTED.claim("path-3-start", float(run.condition[0])),
        PRINTED.claim("path-3-time", float(run.times[worst])),
        PRINTED.claim("path-3-condition", float(run.condition[worst])),
        PRINTED.claim(
            "path-3-forces",
            float(peak.max()),
            why=(
                f"nearly 10⁶ N, and the sample's number, not the path's: at dτ = 0.1, 0.05 and 0.025 s it is {steps}, "
                f"at {finest.step:.2g} s {number(finest.printed, 'N')}, without end; the exact model: "
                f"{number(float(run.peak.max()), 'N')} at 0.1 s"
            ),
        ),
        PRINTED.claim(
            "path-3-growth",
            finest.printed / float(peak.max()),
            measure=f"largest leg force at dτ = {finest.step:.2g} s over that at 0.1 s",
        ),
        PRINTED.claim("path-3-together", float(run.times[int(peak.argmax())] - run.times[worst])),
    ]


def random_pose_claims() -> list[Claim]:
    """Claims that ill-conditioned poses need large forces, at random poses, as the paper makes them for any pose."""
    poses = random_poses()
    forces, worse = poses.decade(1e2), poses.decade(1e3)
    where = (
        f"{len(forces)} static poses with a condition number from 10² to 10³, drawn evenly from |x|, |y| ≤ 0.5 m, "
        f"z = 0.3 to 1 m and angles up to 0.5 rad, seed {_SEED}"
    )
    return [
        PRINTED.claim(
            "near-singular-forces",
            100.0 * float(np.mean(forces >= 1e4)),
            measure=f"share whose largest leg force is 10⁴ N or more: {where}",
            why=(
                f"the median of the largest force is {number(float(np.median(forces)), 'N')}; of {len(worse)} poses "
                f"from 10³ to 10⁴ {100 * float(np.mean(worse >= 1e4)):.0f} % reach 10⁴ N, "
                f"median {number(float(np.median(worse)), 'N')}. On path III, 2 m away from the base, all samples "
                "from 10² on do"
            ),
        ),
    ]


def rank_claims(run: PathRun, regular: PathRun) -> list[Claim]:
    """Claims that condition number and force rise together: at random poses, and along paths III and I."""
    statement = "The higher the condition number, the higher the actuator forces"
    measure = "rank correlation of condition number and largest leg force"
    poses = random_poses()
    return [
        Claim(
            key,
            statement + where,
            "§6",
            Between(0.5, None),
            rank_correlation(condition, peak),
            measure=measure,
            why=why,
            threshold=Threshold.OURS,
            apart=apart,
        )
        for key, where, condition, peak, why, apart in (
            (
                "condition-and-force",
                ", for a given manipulator: a direct relation",
                poses.condition,
                poses.peak,
                f"{len(poses.peak)} static poses, whatever their condition number, of the box that "
                "the claim on forces near a singularity draws from",
                "",
            ),
            (
                "condition-and-force-3",
                ": on path III",
                run.condition,
                np.abs(run.dasgupta).max(axis=1),
                "",
                _ONE_PATH,
            ),
            (
                "condition-and-force-1",
                ": on path I",
                regular.condition,
                np.abs(regular.dasgupta).max(axis=1),
                "far from singularities the load's direction decides: on path I the largest force falls all the way, "
                "while the condition number mostly rises",
                _ONE_PATH,
            ),
        )
    ]


def rank_correlation(a: Array, b: Array) -> float:
    """Spearman's rank correlation (no ties here)."""
    one, other = (np.argsort(np.argsort(values)).astype(float) for values in (a, b))
    return float(np.corrcoef(one, other)[0, 1])


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
