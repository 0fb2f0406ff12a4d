"""Claims of Dasgupta & Mruthyunjaya (1998), §5.1 and §6: paths I and II, and what a reproduction of them must show.

Each is judged by the paper's equations as printed; what the exact model gives stands beside.
"""

from dataclasses import replace

import numpy as np

from dynamics import Mechanism, variant_forces
from kinematics import Array, leg_kinematics
from rig.papers.claims import Between, Claim, Legs, Near, Origin, Rounded, Threshold, Unquantified, number
from rig.papers.dasgupta_operations import operation_claims
from rig.papers.dasgupta_singular import singular_claims
from rig.papers.error_table import error_claims
from rig.papers.paths import PLANS, PathRun, force_error, manipulator, run_path
from rig.papers.spherical_ends import spherical_claims

WEIGHT = 40.0 * 9.81
"""Weight of platform and payload, N (the paper gives no g)."""
_COUNTED_TWICE = (
    "eq. 16 moves the upper part's inertia to the base point although eq. 18 has m_u r_u×a_u already, and eqs. 6, 9 "
    "and 20 leave out the spin that a universal joint forces and resist along the leg instead of u×v"
)
_LEGS = (1, 2, 3, 4, 5, 6)


def claims() -> tuple[Claim, ...]:
    """All of them, in the paper's order."""
    one, two = run_path("I"), run_path("II")
    return (
        *operation_claims(),
        *path_one_claims(one),
        *light_platform_claims(one),
        *path_two_claims(one, two),
        *singular_claims(run_path("III"), one),
        *spherical_claims(),
        *error_table_claims(one, two),
    )


def path_one_claims(run: PathRun) -> list[Claim]:
    """Those of path I, figs. 4 to 6."""
    step = float((np.abs(np.diff(run.dasgupta, axis=0)).max(axis=0) / np.ptp(run.dasgupta, axis=0)).max())
    printed, exact = np.abs(run.printed_fraction), np.abs(run.fraction)
    crossing = crossing_legs(run.dasgupta)
    medians = np.median(exact, axis=0)
    return [
        Claim(
            "path-1-moderate",
            "Path I: the leg forces are moderate, of the same order as the weight of platform and payload (40 kg)",
            "§5.1, fig. 4",
            Between(0.1, 10.0),
            largest(run.dasgupta) / WEIGHT,
            measure="largest leg force over 392 N",
            why=exact_model_text(largest(run.exact) / WEIGHT),
            threshold=Threshold.OURS,
        ),
        Claim(
            "path-1-smooth",
            "Path I: the leg forces vary smoothly along the path",
            "§5.1, fig. 4",
            Unquantified("vary smoothly"),
            step,
            measure="largest change between two samples, as a share of the leg's range",
            why="the largest steps are those at the blends' edges, where the acceleration itself jumps",
        ),
        Claim(
            "path-1-condition-start",
            "Path I is well-conditioned: condition number of H at the start",
            "fig. 5",
            Rounded(38.0, 1.0),
            float(run.condition[0]),
            why=f"it falls to {run.condition.min():.1f} on the way",
            origin=Origin.REPRODUCTION,
        ),
        Claim(
            "path-1-condition-end",
            "… and at the end",
            "fig. 5",
            Rounded(47.0, 1.0),
            float(run.condition[-1]),
            origin=Origin.REPRODUCTION,
        ),
        Claim(
            "path-1-crossing",
            "Path I: the dynamic fraction jumps in legs 5 and 6, whose total force crosses zero",
            "§5.1, figs. 4, 6",
            Legs((5, 6)),
            crossing,
            measure="legs whose force changes sign",
            why=f"the exact model: {number(run.crossing)}",
        ),
        Claim(
            "path-1-fraction-least",
            "Path I: dynamic fraction F_d/F, median over the path: smallest of the legs, exact model",
            "fig. 6",
            Rounded(14.0, 1.0),
            100.0 * float(medians.min()),
            "%",
            origin=Origin.REPRODUCTION,
        ),
        Claim(
            "path-1-fraction-largest",
            "… and largest of the legs",
            "fig. 6",
            Rounded(29.0, 1.0),
            100.0 * float(medians.max()),
            "%",
            origin=Origin.REPRODUCTION,
        ),
        Claim(
            "path-1-fraction-common",
            "Path I: the leg inertia contributing around 20 % of the force demand is quite common",
            "§5.1, fig. 6",
            Near(20.0, 0.25),
            100.0 * float(np.median(printed)),
            "%",
            measure="median of |F_d/F| over all legs and samples",
            why=exact_model_text(100.0 * float(np.median(exact)), "%"),
            threshold=Threshold.OURS,
        ),
        *_greatest_fraction(run, [leg - 1 for leg in _LEGS if leg not in crossing]),
        Claim(
            "mass-ratio",
            "The platform-to-leg mass ratio is 10",
            "§5.1",
            Near(10.0, 0.0),
            _mass_ratio(manipulator()),
            apart="arithmetic on printed numbers",
        ),
    ]


def _greatest_fraction(run: PathRun, steady: list[int]) -> tuple[Claim, Claim]:
    statement, source = "Path I: the maximum of the dynamic fraction may even go up to 40 %", "§5.1, fig. 6"
    measure = "largest |F_d/F| of the legs whose force does not cross zero"
    printed, exact = (100.0 * float(np.abs(f[:, steady]).max()) for f in (run.printed_fraction, run.fraction))
    forces = number(float(run.exact[-1, 3]), "N"), number(float(run.dasgupta[-1, 3]), "N")
    return (
        Claim(
            "path-1-fraction-maximum-printed",
            statement,
            source,
            Near(40.0, 0.05),
            printed,
            "%",
            measure=measure,
            why="leg 4, where its force is smallest",
            threshold=Threshold.OURS,
        ),
        Claim(
            "path-1-fraction-maximum",
            f"{statement}; with the exact model",
            source,
            Near(40.0, 0.05),
            exact,
            "%",
            measure=measure,
            why=f"leg 4 again, where its force is {forces[0]} and by the printed equations {forces[1]}. "
            + _COUNTED_TWICE,
            threshold=Threshold.OURS,
            apart="the same claim, by the exact model",
        ),
    )


def _mass_ratio(machine: Mechanism) -> float:
    leg = machine.legs[0]
    return machine.mass / (leg.lower.mass + leg.upper.mass)


def light_platform_claims(run: PathRun) -> list[Claim]:
    """Those of a platform as heavy as a leg."""
    machine = manipulator()
    light = replace(machine, mass=machine.mass / 10.0, inertia=machine.inertia / 10.0)
    massless = variant_forces("massless", light, run.motions)
    printed, exact = (
        np.abs(1.0 - massless / variant_forces(model, light, run.motions)) for model in ("dasgupta-1998", "exact")
    )
    share = 100.0 * float(np.mean(printed > 0.6))
    median = float(np.median(printed))
    return [
        Claim(
            "light-platform",
            "A platform as heavy as a leg: the dynamic fraction is often above 60 %",
            "§5.1 (no figure)",
            Between(50.0, None),
            share,
            "%",
            measure="share of the legs and samples of path I with |F_d/F| > 60 %, platform and its inertia a tenth",
            why=f"median {100 * median:.0f} %; {exact_model_text(100.0 * float(np.mean(exact > 0.6)), '%')}",
            threshold=Threshold.OURS,
        ),
        Claim(
            "fraction-payload",
            "The dynamic fraction increases when the payload is less",
            "§6, §5.1",
            Between(1.0, None),
            median / float(np.median(np.abs(run.printed_fraction))),
            measure="median of |F_d/F| on path I with a platform as heavy as a leg, over that with 40 kg",
            why=exact_model_text(float(np.median(exact) / np.median(np.abs(run.fraction)))),
        ),
    ]


def path_two_claims(one: PathRun, two: PathRun) -> list[Claim]:
    """Those of path II, figs. 7 and 8, and of both."""
    wider = tuple(leg for leg in _LEGS if np.ptp(two.dasgupta[:, leg - 1]) > np.ptp(one.dasgupta[:, leg - 1]))
    fast, slow = np.abs(two.printed_fraction), np.abs(one.printed_fraction)
    exact = np.abs(np.concatenate([one.fraction, two.fraction]))
    both = np.concatenate([slow, fast])
    return [
        Claim(
            "path-2-forces",
            "Path II, ten times as fast: significant rise in the bounds of the leg forces",
            "§5.1, fig. 7",
            Unquantified("significant rise"),
            largest(two.dasgupta) / largest(one.dasgupta),
            measure="largest leg force over that of path I",
            why=exact_model_text(float(two.peak.max() / one.peak.max())),
        ),
        Claim(
            "path-2-bounds",
            "… they do rise: in every leg",
            "§5.1, fig. 7",
            Legs(_LEGS),
            wider,
            measure="legs whose force has a wider range than on path I",
            apart="the paper does not say: in every leg",
        ),
        Claim(
            "path-2-fraction",
            "Path II: significant rise in the bounds of the dynamic fractions",
            "§5.1, fig. 8",
            Unquantified("significant rise"),
            float(np.quantile(fast, 0.9) / np.quantile(slow, 0.9)),
            measure="what 90 % of |F_d/F| stay below, over that of path I; where F is zero there is no bound",
        ),
        Claim(
            "fraction-speed",
            "The dynamic fraction increases when the speed is high",
            "§6, fig. 8",
            Between(1.0, None),
            float(np.median(fast) / np.median(slow)),
            measure="median of |F_d/F| on path II over that on path I",
            why=exact_model_text(float(np.median(np.abs(two.fraction)) / np.median(np.abs(one.fraction)))),
        ),
        _steps(two),
        Claim(
            "fraction-range",
            "The leg inertia has been generally found to contribute 20–50 % of the forces",
            "§6",
            Between(50.0, None),
            100.0 * float(np.mean((both >= 0.2) & (both <= 0.5))),
            "%",
            measure="share of the legs and samples of paths I and II with |F_d/F| from 20 to 50 %",
            why=f"the median is {100 * np.median(both):.0f} %, by leg "
            + ", ".join(f"{100 * share:.0f}" for share in np.median(both, axis=0))
            + f" %; {exact_model_text(100.0 * float(np.mean((exact >= 0.2) & (exact <= 0.5))), '%')}",
            threshold=Threshold.OURS,
        ),
    ]


def _steps(two: PathRun) -> Claim:
    legs = leg_kinematics(manipulator().geometry, two.motions)
    turning = np.linalg.norm(legs.angular_acceleration, axis=-1)
    forces, along, about = (np.abs(np.diff(x, axis=0)).max(axis=1) for x in (two.dasgupta, legs.acceleration, turning))
    edges = len(PLANS["II"].trajectory().breakpoints)
    accelerating = set(np.argsort(along)[-edges:]) | set(np.argsort(about)[-edges:])
    steepest = np.argsort(forces)[-edges:]
    return Claim(
        "path-2-steps",
        "Path II: the steep changes of force are the result of similar steep changes of the leg accelerations",
        "§5.1, fig. 7",
        Near(100.0, 0.0),
        100.0 * float(np.mean([step in accelerating for step in steepest])),
        "%",
        measure=f"share of the {edges} steepest changes of force, as many as the blends have edges, that are among the "
        "steepest of L̈ or of ‖A‖ too",
        threshold=Threshold.OURS,
    )


def crossing_legs(forces: Array) -> tuple[int, ...]:
    """Legs whose force (n, 6) changes sign, from 1."""
    return tuple(leg for leg in _LEGS if forces[:, leg - 1].min() < 0.0 < forces[:, leg - 1].max())


def largest(forces: Array) -> float:
    """Largest |F| of forces (n, 6)."""
    return float(np.abs(forces).max())


def exact_model_text(exact: float, unit: str = "") -> str:
    """What the exact model gives, in words."""
    return f"the exact model: {number(exact, unit)}"


def error_table_claims(one: PathRun, two: PathRun) -> list[Claim]:
    """Errors of the printed equations against the exact model."""
    found: list[Claim] = []
    for run, share, peak in ((one, 1.92, 27.7), (two, 5.73, 103.9)):
        error = force_error(run.dasgupta, run.exact)
        subject = f"Path {run.name}: the 1998 model as printed"
        found += error_claims(f"path-{len(run.name)}", subject, error, share, peak, _COUNTED_TWICE)
    return found
