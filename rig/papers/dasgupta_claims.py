"""Claims of Dasgupta & Mruthyunjaya (1998), and what a reproduction of its paths must show."""

from dataclasses import replace

import numpy as np

from dynamics import Friction, Mechanism, PlatformRow, platform_table, variant_forces
from rig.papers.claims import Between, Claim, Legs, Near, Origin, Rounded, number
from rig.papers.dasgupta_singular import singular_claims
from rig.papers.error_table import error_claims
from rig.papers.paths import PLANS, PathRun, force_error, manipulator, run_path

WEIGHT = 40.0 * 9.81
"""Weight of platform and payload, N (the paper gives no g)."""
_COUNTED_TWICE = (
    "eq. 16 moves the upper part's inertia to the base point although eq. 18 has m_u r_u×a_u already, and eqs. 6, 9 "
    "and 20 leave out the spin that a universal joint forces and resist along the leg instead of u×v"
)


def claims() -> tuple[Claim, ...]:
    """All of them, in the paper's order."""
    one, two = run_path("I"), run_path("II")
    return (
        *_counts(),
        *_path_one(one),
        *_light_platform(one),
        *_path_two(one, two),
        *singular_claims(run_path("III"), one),
        *_errors(one, two),
    )


def operations() -> tuple[PlatformRow, ...]:
    """§4.5 beside the counts here, in the middle of path I's first blend; without viscous friction, as in the paper."""
    machine = manipulator()
    legs = tuple(replace(leg, friction=Friction()) for leg in machine.legs)
    return platform_table(replace(machine, legs=legs), PLANS["I"].trajectory().motion([0.5])[0])


def _counts() -> list[Claim]:
    rows = operations()
    leg, platform, equations, total, arm = rows
    printed = 6 * leg.published + platform.published + equations.published
    return [
        Claim(
            "operations-sum",
            "Six legs, the platform and the equations take 4889 floating-point operations in all",
            "§4.5",
            Near(4889, 0.0),
            float(printed),
            measure="6·694 + 273 + 452, the printed parts",
        ),
        Claim(
            "operations-counted",
            "The inverse dynamics takes 4889 floating-point operations",
            "§4.5",
            Near(4889, 0.1),
            float(total.counted),
            measure="counted in the exact inverse dynamics here, spin and universal moment included",
            why=f"a leg takes {leg.counted} instead of 694: its rotation is turned to the leg's axes, where the "
            "tensors are constant, instead of both tensors to base axes; "
            f"the equations take {equations.counted} instead of 452",
        ),
        Claim(
            "operations-serial",
            "The Newton–Euler recursion of a serial arm with six joints takes 1454, 132n and 111n − 4",
            "§4.5",
            Near(1454, 0.0),
            float(132 * 6 + 111 * 6 - 4),
            measure="the printed formula at n = 6",
        ),
        Claim(
            "operations-ratio",
            "The platform takes only 3.36 times the operations of a serial arm with six joints",
            "§4.5, §6",
            Near(3.36, 0.1),
            total.counted / arm.counted,
            measure=f"{total.counted} over {arm.counted}, both counted here",
            why="the platform's form here is cheaper than the paper's, the arm's about as dear as Fu et al. say; the "
            f"printed numbers give {printed / arm.published:.2f}",
        ),
    ]


def _path_one(run: PathRun) -> list[Claim]:
    fraction, printed = np.abs(run.fraction), np.abs(run.printed_fraction)
    step = float((np.abs(np.diff(run.exact, axis=0)).max(axis=0) / np.ptp(run.exact, axis=0)).max())
    steady = [leg - 1 for leg in range(1, 7) if leg not in run.crossing]
    medians = np.median(fraction, axis=0)
    common = float(np.mean((fraction > 0.1) & (fraction < 0.3)))
    return [
        Claim(
            "path-1-moderate",
            "Path I: the leg forces are moderate, of the order of the weight of platform and payload (40 kg)",
            "§5.1, fig. 4",
            Between(0.1, 10.0),
            float(run.peak.max()) / WEIGHT,
            measure="largest leg force over 392 N",
        ),
        Claim(
            "path-1-smooth",
            "Path I: the leg forces vary smoothly along the path",
            "§5.1, fig. 4",
            Between(None, 0.1),
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
            run.crossing,
            measure="legs whose force changes sign",
        ),
        Claim(
            "path-1-fraction-least",
            "Path I: dynamic fraction F_d/F, median over the path: smallest of the legs",
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
            100.0 * float(np.median(fraction)),
            "%",
            measure="median of |F_d/F| over all legs and samples",
            why=f"{100 * common:.0f} % of all samples lie between 10 and 30 %",
        ),
        Claim(
            "path-1-fraction-maximum-printed",
            "Path I: the maximum may even go up to 40 %; with the paper's own equations",
            "§5.1, fig. 6",
            Near(40.0, 0.05),
            100.0 * float(printed[:, steady].max()),
            "%",
            measure="largest |F_d/F| of the legs whose force does not cross zero",
            why="leg 4, where its force is smallest",
        ),
        Claim(
            "path-1-fraction-maximum",
            "Path I: the maximum may even go up to 40 %; with the exact model",
            "§5.1, fig. 6",
            Near(40.0, 0.05),
            100.0 * float(fraction[:, steady].max()),
            "%",
            measure="largest |F_d/F| of the legs whose force does not cross zero",
            why=f"leg 4 again, where its force is {number(float(run.exact[-1, 3]), 'N')} and by the printed equations "
            f"{number(float(run.dasgupta[-1, 3]), 'N')}. {_COUNTED_TWICE}",
        ),
        Claim(
            "mass-ratio",
            "The platform-to-leg mass ratio is 10",
            "§5.1",
            Near(10.0, 0.0),
            _mass_ratio(manipulator()),
        ),
    ]


def _mass_ratio(machine: Mechanism) -> float:
    leg = machine.legs[0]
    return machine.mass / (leg.lower.mass + leg.upper.mass)


def _light_platform(run: PathRun) -> list[Claim]:
    machine = manipulator()
    light = replace(machine, mass=machine.mass / 10.0, inertia=machine.inertia / 10.0)
    forces = variant_forces("exact", light, run.motions)
    fraction = np.abs(1.0 - variant_forces("massless", light, run.motions) / forces)
    return [
        Claim(
            "light-platform",
            "A platform as heavy as a leg: the dynamic fraction is often above 60 %",
            "§5.1 (no figure)",
            Between(50.0, None),
            100.0 * float(np.mean(fraction > 0.6)),
            "%",
            measure="share of the legs and samples of path I with |F_d/F| > 60 %, platform and its inertia a tenth",
            why=f"median {100 * float(np.median(fraction)):.0f} %",
        )
    ]


def _path_two(one: PathRun, two: PathRun) -> list[Claim]:
    legs = tuple(leg + 1 for leg in range(6) if np.ptp(two.exact[:, leg]) > np.ptp(one.exact[:, leg]))
    jumps = np.abs(np.diff(two.exact, axis=0)).max(axis=1)
    largest = np.sort(np.argsort(jumps)[-4:])
    blends = sorted({int(np.floor(time / two.times[1] + 1e-9)) for time in PLANS["II"].trajectory().breakpoints})
    near = float(np.mean([min(abs(step - blend) for blend in blends) <= 1 for step in largest]))
    fast, slow = np.abs(two.fraction), np.abs(one.fraction)
    medians = np.median(np.concatenate([slow, fast]), axis=0)
    return [
        Claim(
            "path-2-forces",
            "Path II, ten times as fast: significant rise in the bounds of the leg forces",
            "§5.1, fig. 7",
            Between(1.2, None),
            float(two.peak.max() / one.peak.max()),
            measure="largest leg force over that of path I",
        ),
        Claim(
            "path-2-bounds",
            "… and in every leg",
            "§5.1, fig. 7",
            Legs((1, 2, 3, 4, 5, 6)),
            legs,
            measure="legs whose force has a wider range than on path I",
        ),
        Claim(
            "path-2-fraction",
            "Path II: significant rise in the bounds of the dynamic fractions",
            "§5.1, fig. 8",
            Between(1.1, None),
            float(np.median(fast) / np.median(slow)),
            measure="median of |F_d/F| over that of path I",
        ),
        Claim(
            "path-2-steps",
            "Path II: the steep changes of force are those of the acceleration",
            "§5.1, fig. 7",
            Near(100.0, 0.0),
            100.0 * near,
            "%",
            measure="share of the four steepest changes that lie at an edge of a blend",
        ),
        Claim(
            "fraction-range",
            "The leg inertia has been generally found to contribute 20–50 % of the forces",
            "§6",
            Legs((1, 2, 3, 4, 5, 6)),
            tuple(leg + 1 for leg in range(6) if 0.2 <= medians[leg] <= 0.5),
            measure="legs whose median |F_d/F| over paths I and II lies from 20 to 50 %",
            why="by leg the medians are " + ", ".join(f"{100 * share:.0f}" for share in medians) + " %: §5.1, with "
            "“around 20 %”, has it better",
        ),
    ]


def _errors(one: PathRun, two: PathRun) -> list[Claim]:
    found: list[Claim] = []
    for run, share, peak in ((one, 1.92, 27.7), (two, 5.73, 103.9)):
        error = force_error(run.dasgupta, run.exact)
        subject = f"Path {run.name}: the 1998 model as printed"
        found += error_claims(f"path-{len(run.name)}", subject, error, share, peak, _COUNTED_TWICE)
    return found
