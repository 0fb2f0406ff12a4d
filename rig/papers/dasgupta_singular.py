"""Claims of Dasgupta & Mruthyunjaya (1998), §5.2: singular and ill-conditioned paths."""

import numpy as np

from kinematics import Array
from rig.papers.claims import Between, Claim, Near, Origin, Rounded
from rig.papers.paths import PathRun


def singular_claims(run: PathRun, regular: PathRun) -> list[Claim]:
    """Those of path III; `regular` is path I."""
    worst = int(run.condition.argmax())
    moderate = run.peak[(run.condition >= 1e2) & (run.condition <= 1e3)]
    return [
        Claim(
            "path-3-start",
            "Path III: condition number of H at the start",
            "fig. 10",
            Rounded(2.9e2, 1e1),
            float(run.condition[0]),
            origin=Origin.REPRODUCTION,
        ),
        Claim(
            "path-3-time",
            "Path III meets a singularity near t = 3.7 s: the sample with the largest condition number",
            "§5.2, fig. 10",
            Rounded(3.7, 0.1),
            float(run.times[worst]),
            "s",
            origin=Origin.REPRODUCTION,
        ),
        Claim(
            "path-3-condition",
            "Path III: condition number of H at that sample",
            "fig. 10",
            Rounded(2.1e4, 1e3),
            float(run.condition[worst]),
            origin=Origin.REPRODUCTION,
            why="it is the height of a peak that has none: at the singularity between the samples it is infinite",
        ),
        Claim(
            "path-3-forces",
            "Path III: the force requirements are very high, of the order of 10⁵ N",
            "§5.2, fig. 9",
            Between(1e5, 1e6),
            float(run.peak.max()),
            "N",
            measure="largest leg force of the samples",
            why="how high depends on how near a sample comes to the singularity",
        ),
        Claim(
            "path-3-together",
            "Path III: the condition number has its sharp rise precisely where the forces have theirs",
            "§5.2, figs. 9, 10",
            Near(0.0, 0.0),
            float(run.times[int(run.peak.argmax())] - run.times[worst]),
            "s",
            measure="time from the largest condition number to the largest force",
        ),
        Claim(
            "near-singular-forces",
            "Near a singularity, condition number of the order of 10² or 10³, the forces are 10⁴ N or more",
            "§5.2",
            Between(1e4, None),
            float(moderate.min()),
            "N",
            measure="smallest of the samples' largest leg force on path III where the condition number is 10² to 10³",
        ),
        Claim(
            "condition-and-force-3",
            "The higher the condition number, the higher the actuator forces: on path III",
            "§6",
            Between(0.9, None),
            _rank_correlation(run.condition, run.peak),
            measure="rank correlation of condition number and largest leg force",
        ),
        Claim(
            "condition-and-force-1",
            "The higher the condition number, the higher the actuator forces: on path I",
            "§6",
            Between(0.9, None),
            _rank_correlation(regular.condition, regular.peak),
            measure="rank correlation of condition number and largest leg force",
            why="far from singularities the load's direction decides: on path I the largest force falls all the way, "
            "while the condition number mostly rises",
        ),
    ]


def _rank_correlation(a: Array, b: Array) -> float:
    """Spearman's: correlation of the ranks (no ties here)."""
    one, other = (np.argsort(np.argsort(values)).astype(float) for values in (a, b))
    return float(np.corrcoef(one, other)[0, 1])
