"""Dasgupta & Mruthyunjaya (1998): counts of operations, paths I and II, figures 3 to 10, the claims.

Each claim is judged by the paper's equations as printed; results of the exact model are shown with it.
"""

from dataclasses import replace
from functools import cache

import numpy as np
from matplotlib.figure import Figure

from dynamics import Friction, Mechanism, papers
from kinematics import Array, leg_kinematics
from rig.papers.claims import Claim, Legs, Near, Threshold, number
from rig.papers.dasgupta_singular import optimal_path, singular_claims, step_sheet
from rig.papers.drawing import FRACTION, GREY, INK, Curve, Rule, one_panel, series, six_panels
from rig.papers.operation_claims import signed, spelt
from rig.papers.paths import (
    PLANS,
    SAMPLES,
    PathRun,
    error_claims,
    force_error,
    manipulator,
    run_path,
    singular_times,
    traced_path,
    zeros,
)
from rig.papers.printed import printed_study
from rig.papers.spherical_ends import spherical_claims
from rig.papers.study import Numbers, Picture, Report, Sheet, Study
from rig.report import LEG_COLORS, STYLE, drawing, styled

PRINTED = printed_study("dasgupta-1998")
"""Claims and data as printed."""

_WITHIN = 0.1  # of a count: the overhead of a program is not printed
_ARITHMETIC = "arithmetic on printed numbers"


@cache
def operations() -> tuple[papers.PlatformRow, ...]:
    """§4.5 and our counts, in the middle of path I's first blend; without viscous friction, as in the paper."""
    return papers.platform_table(*_counted_at())


def _counted_at() -> tuple[Mechanism, Array]:
    machine = manipulator()
    legs = tuple(replace(leg, friction=Friction()) for leg in machine.legs)
    return replace(machine, legs=legs), PLANS["I"].trajectory().motion([0.5])[0]


def operation_claims() -> tuple[Claim, ...]:
    """Return all claims on operations."""
    leg, platform, final, total, arm = operations()
    printed = 6 * leg.published + platform.published + final.published
    return (
        joint_space_claim(),
        _part("operations-leg", "A leg takes 694 floating-point operations", leg, "eqs. 1 to 24"),
        _part("operations-platform", "The platform alone takes 273", platform, "eqs. 30 to 32 and 35"),
        PRINTED.claim(
            "operations-final",
            float(final.as_printed),
            why=(
                "an inverse would take 2n³ = 432 more than the sums; the exact model here takes "
                f"{final.counted} with rows scaled"
            ),
        ),
        Claim(
            "operations-counted",
            "Legs, platform and final system take 4889 in all",
            "§4.5",
            Near(total.published, _WITHIN),
            float(total.as_printed),
            measure="six legs, the platform and the final system as counted above",
            why=f"the exact inverse dynamics here, spin and universal moment included, takes {total.counted}",
            threshold=Threshold.OURS,
            apart="the sum of the counts above",
        ),
        PRINTED.claim("operations-sum", float(printed), apart=_ARITHMETIC),
        Claim(
            "operations-serial",
            "The Newton–Euler recursion of a serial arm with six joints takes 1454",
            "§4.5, after Fu, Gonzalez & Lee",
            Near(arm.published, _WITHIN),
            float(arm.counted),
            measure="counted in the Newton–Euler recursion here, all joints revolute",
            threshold=Threshold.OURS,
            apart="told of another paper, whose recursion is not the one counted here",
        ),
        PRINTED.claim("operations-law", float(132 * 6 + 111 * 6 - 4), apart=_ARITHMETIC),
        Claim(
            "operations-ratio",
            "The platform takes only 3.36 times the operations of a serial arm with six joints",
            "§4.5, §6",
            Near(3.36, _WITHIN),
            total.as_printed / arm.counted,
            measure=f"{total.as_printed} over {arm.counted}, both counted here",
            why=f"the printed numbers give {printed / arm.published:.2f}; {total.as_printed} over the printed "
            f"{arm.published} is {total.as_printed / arm.published:.2f}: both counts here are as much below the "
            f"printed ones; the exact model: {total.counted / arm.counted:.2f}",
            threshold=Threshold.OURS,
            apart="a quotient of the counts above",
        ),
        *_parallel(leg, platform, final, arm),
        _constraint_claim(),
    )


def _constraint_claim() -> Claim:
    """The claim on §3.3, in addition to the leg forces."""
    counts = papers.flops_1998(*_counted_at())
    more, whole = counts["constraints"].total, counts["total"].total
    return PRINTED.claim(
        "operations-constraints",
        100.0 * more / whole,
        measure=(
            f"operations of eqs. 17, 21 and 26 to 29 of six legs over those of the leg forces, {more} over {whole}"
        ),
    )


def _part(key: str, statement: str, row: papers.PlatformRow, equations: str) -> Claim:
    return Claim(
        key,
        statement,
        "§4.5",
        Near(row.published, _WITHIN),
        float(row.as_printed),
        measure=f"counted in {equations} as printed, by the rule of MATLAB's flops",
        why=f"the exact model here takes {row.counted}",
        threshold=Threshold.OURS,
    )


def _parallel(
    leg: papers.PlatformRow, platform: papers.PlatformRow, final: papers.PlatformRow, arm: papers.PlatformRow
) -> tuple[Claim, Claim]:
    """Claims on seven parallel branches, and the final system after them."""
    steps = max(leg.as_printed, platform.as_printed) + final.as_printed
    exact = max(leg.counted, platform.counted) + final.counted
    return (
        PRINTED.claim(
            "parallel",
            steps / arm.counted,
            measure=f"longest branch and final system over the arm, {steps} over {arm.counted}, counted here",
            why=f"the exact model: {exact} over {arm.counted}. Handing data over between processors is not counted",
        ),
        PRINTED.claim("parallel-printed", float(leg.published + final.published), apart=_ARITHMETIC),
    )


def joint_space_claim() -> Claim:
    """Claim that planning in joint space is more expensive."""
    plan = PLANS["I"]
    times = plan.duration / (SAMPLES - 1) * 5.0, plan.duration / (SAMPLES - 1) * 4.0
    now, before = plan.trajectory().motion(times)
    counts = papers.kinematics_operations(manipulator().geometry, now, before[:7])
    forward, inverse = counts["forward"].total, counts["inverse"].total
    return PRINTED.claim(
        "joint-space",
        forward / inverse,
        measure=(
            f"operations of a pose from leg lengths, beginning at the sample before, over those of lengths, speeds "
            f"and accelerations from a motion: {forward} over {inverse}, counted here"
        ),
    )


def operation_sheet() -> Sheet:
    """§4.5 as a table."""
    rows = operations()
    records = [(row.part, row.published, row.as_printed, row.as_printed - row.published, row.counted) for row in rows]
    return Sheet(
        "Floating-point operations (§4.5)",
        "As published, counted in the printed equations by the rule of MATLAB's flops (an inner product of n pairs is "
        "2n, zeros count), and in the exact inverse dynamics here.",
        ("Part", "Published", "Printed equations", "Difference", "Exact model", "Why"),
        tuple(
            (part, f"{published}", f"{printed}", signed(difference), f"{exact}", spelt(row.reason))
            for (part, published, printed, difference, exact), row in zip(records, rows, strict=True)
        ),
        Numbers(
            "operations",
            ("part", "published", "printed_equations", "difference", "exact_model", "why"),
            tuple((*record, spelt(row.reason)) for record, row in zip(records, rows, strict=True)),
        ),
    )


_STEPS = 240
_EDGE_OFFSET = 1e-9  # of the duration, before and after a jump
_NAMES = ("coordinate", "velocity", "acceleration")
_SHOWN = ((0, "$t_x$, m", "tx", LEG_COLORS[0]), (5, r"$\theta_z$, rad", "thetaz", LEG_COLORS[1]))


def trajectory_figure() -> Picture:
    """One coordinate of the position and one of the angles on path I, with velocity and acceleration."""
    trajectory = PLANS["I"].trajectory()
    edges = np.array(trajectory.breakpoints)
    aside = _EDGE_OFFSET * trajectory.duration
    even = np.setdiff1d(np.linspace(0.0, trajectory.duration, _STEPS + 1), edges)
    times = np.sort(np.concatenate([even, edges - aside, edges + aside]))
    table = np.stack([values[:, [place for place, *_ in _SHOWN]] for values in trajectory.coordinates(times)])
    with styled(STYLE):
        figure = Figure(figsize=(10.5, 5.2), layout="constrained")
        panels = figure.subplots(3, 1, sharex=True)
        for values, name, axes in zip(table, _NAMES, panels, strict=True):
            for column, (_, label, _, color) in enumerate(_SHOWN):
                axes.plot(
                    times,
                    values[:, column],
                    color=color,
                    linestyle="-" if column == 0 else "--",
                    linewidth=1.4,
                    label=label,
                )
            for edge in edges:
                axes.axvline(edge, color=GREY, linewidth=0.7, linestyle=(0, (4, 3)))
            axes.set_ylabel(name)
        for edge in edges:
            panels[0].annotate(
                f"{edge:.4g} s", (edge, 1.0), xycoords=("data", "axes fraction"), xytext=(0, 2),
                textcoords="offset points", ha="center", va="bottom", fontsize=8, color=INK,
            )  # fmt: skip
        panels[-1].set_xlabel("time, s")
        panels[-1].legend(loc="upper right", ncols=2)
        picture = drawing(figure)
    columns = [f"{name}_{which}" for which in _NAMES for *_, name, _ in _SHOWN]
    numbers = series("fig-3", "t", times, columns, np.hstack(list(table)))
    return Picture(
        "Figure 3: a coordinate over time",
        "Path I: constant acceleration, constant velocity, constant deceleration, the blends τ by eq. 39 and their "
        "acceleration by eq. 40; position and angles have blends of their own, whose edges are marked. Per second, and "
        "per second squared.",
        picture,
        numbers,
    )


WEIGHT = 40.0 * 9.81
"""Weight of platform and payload, N (the paper gives no g)."""
_COUNTED_TWICE = (
    "eq. 16 moves the upper part's inertia to the base point although eq. 18 has m_u r_u×a_u already, and eqs. 6, 9 "
    "and 20 leave out the spin that a universal joint forces and resist along the leg instead of u×v"
)
_LEGS = (1, 2, 3, 4, 5, 6)


def claims() -> tuple[Claim, ...]:
    """Return all claims, in the paper's order."""
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
    """Claims on path I, figs. 4 to 6."""
    step = float((np.abs(np.diff(run.dasgupta, axis=0)).max(axis=0) / np.ptp(run.dasgupta, axis=0)).max())
    printed, exact = np.abs(run.printed_fraction), np.abs(run.fraction)
    crossing = crossing_legs(run.dasgupta)
    medians = np.median(exact, axis=0)
    return [
        PRINTED.claim(
            "path-1-moderate", largest(run.dasgupta) / WEIGHT, why=exact_model_text(largest(run.exact) / WEIGHT)
        ),
        PRINTED.claim("path-1-smooth", step),
        PRINTED.claim(
            "path-1-condition-start", float(run.condition[0]), why=f"it falls to {run.condition.min():.1f} on the way"
        ),
        PRINTED.claim("path-1-condition-end", float(run.condition[-1])),
        PRINTED.claim("path-1-crossing", crossing, why=f"the exact model: {number(run.crossing)}"),
        PRINTED.claim("path-1-fraction-least", 100.0 * float(medians.min())),
        PRINTED.claim("path-1-fraction-largest", 100.0 * float(medians.max())),
        PRINTED.claim(
            "path-1-fraction-common",
            100.0 * float(np.median(printed)),
            why=exact_model_text(100.0 * float(np.median(exact)), "%"),
        ),
        *_greatest_fraction(run, [leg - 1 for leg in _LEGS if leg not in crossing]),
        PRINTED.claim("mass-ratio", _mass_ratio(manipulator())),
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
    """Claims on a platform as heavy as a leg."""
    machine = manipulator()
    light = replace(machine, mass=machine.mass / 10.0, inertia=machine.inertia / 10.0)
    massless = papers.variant_forces("massless", light, run.motions)
    printed, exact = (
        np.abs(1.0 - massless / papers.variant_forces(model, light, run.motions))
        for model in ("dasgupta-1998", "exact")
    )
    share = 100.0 * float(np.mean(printed > 0.6))
    median = float(np.median(printed))
    return [
        PRINTED.claim(
            "light-platform",
            share,
            why=f"median {100 * median:.0f} %; {exact_model_text(100.0 * float(np.mean(exact > 0.6)), '%')}",
        ),
        PRINTED.claim(
            "fraction-payload",
            median / float(np.median(np.abs(run.printed_fraction))),
            why=exact_model_text(float(np.median(exact) / np.median(np.abs(run.fraction)))),
        ),
    ]


def path_two_claims(one: PathRun, two: PathRun) -> list[Claim]:
    """Claims on path II, figs. 7 and 8, and on both paths."""
    wider = tuple(leg for leg in _LEGS if np.ptp(two.dasgupta[:, leg - 1]) > np.ptp(one.dasgupta[:, leg - 1]))
    fast, slow = np.abs(two.printed_fraction), np.abs(one.printed_fraction)
    exact = np.abs(np.concatenate([one.fraction, two.fraction]))
    both = np.concatenate([slow, fast])
    return [
        PRINTED.claim(
            "path-2-forces",
            largest(two.dasgupta) / largest(one.dasgupta),
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
        PRINTED.claim("path-2-fraction", float(np.quantile(fast, 0.9) / np.quantile(slow, 0.9))),
        PRINTED.claim(
            "fraction-speed",
            float(np.median(fast) / np.median(slow)),
            why=exact_model_text(float(np.median(np.abs(two.fraction)) / np.median(np.abs(one.fraction)))),
        ),
        _steps(two),
        PRINTED.claim(
            "fraction-range",
            100.0 * float(np.mean((both >= 0.2) & (both <= 0.5))),
            why=(
                f"the median is {100 * np.median(both):.0f} %, by leg "
                + ", ".join(f"{100 * share:.0f}" for share in np.median(both, axis=0))
                + f" %; {exact_model_text(100.0 * float(np.mean((exact >= 0.2) & (exact <= 0.5))), '%')}"
            ),
        ),
    ]


def _steps(two: PathRun) -> Claim:
    legs = leg_kinematics(manipulator().geometry, two.motions)
    turning = np.linalg.norm(legs.angular_acceleration, axis=-1)
    forces, along, about = (np.abs(np.diff(x, axis=0)).max(axis=1) for x in (two.dasgupta, legs.acceleration, turning))
    edges = len(PLANS["II"].trajectory().breakpoints)
    accelerating = set(np.argsort(along)[-edges:]) | set(np.argsort(about)[-edges:])
    steepest = np.argsort(forces)[-edges:]
    return PRINTED.claim(
        "path-2-steps",
        100.0 * float(np.mean([step in accelerating for step in steepest])),
        measure=(
            f"share of the {edges} steepest changes of force, as many as the blends have edges, that are among the "
            "steepest of L̈ or of ‖A‖ too"
        ),
    )


def crossing_legs(forces: Array) -> tuple[int, ...]:
    """Legs whose force (n, 6) changes sign, from 1."""
    return tuple(leg for leg in _LEGS if forces[:, leg - 1].min() < 0.0 < forces[:, leg - 1].max())


def largest(forces: Array) -> float:
    """Largest |F| of forces (n, 6)."""
    return float(np.abs(forces).max())


def exact_model_text(exact: float, unit: str = "") -> str:
    """Format a result of the exact model."""
    return f"the exact model: {number(exact, unit)}"


def error_table_claims(one: PathRun, two: PathRun) -> list[Claim]:
    """Errors of the printed equations against the exact model."""
    found: list[Claim] = []
    for run, share, peak in ((one, 1.92, 27.7), (two, 5.73, 103.9)):
        error = force_error(run.dasgupta, run.exact)
        subject = f"Path {run.name}: the 1998 model as printed"
        found += error_claims(f"path-{len(run.name)}", subject, error, share, peak, _COUNTED_TWICE)
    return found


_SPIKE = Rule(near=0.0045)
"""The paper's sample at 3.7 s, the nearest to the singularity, is still within the axes."""
_FRACTION = Rule(near=0.02, most=1.5)
_JUMPS = "At the edges of the blends the acceleration jumps, and with it what is drawn."


def study(report: Report) -> Study:
    """Reproduce the study."""
    report("dasgupta-1998: paths I to III", 0.0)
    one, two, three = run_path("I"), run_path("II"), run_path("III")
    found = claims()
    report("dasgupta-1998: the optimised path", 0.3)
    best = optimal_path()
    report("dasgupta-1998: figures", 0.7)
    return Study(
        "dasgupta-1998",
        PRINTED.title,
        PRINTED.citation,
        PRINTED.summary,
        (*found, *best.claims),
        (
            trajectory_figure(),
            _forces("Figure 4", one, "Path I (6 s): actuator forces"),
            _condition("Figure 5", one, "Path I: condition number of H"),
            _fractions("Figure 6", one, "Path I: fraction of dynamic forces F_d/F"),
            _forces("Figure 7", two, "Path II (0.6 s): actuator forces"),
            _fractions("Figure 8", two, "Path II: fraction of dynamic forces F_d/F"),
            _forces("Figure 9", three, "Path III (6 s): actuator forces"),
            _condition("Figure 10", three, "Path III: condition number of H", best.marks, log=True),
            *best.pictures,
        ),
        (operation_sheet(), step_sheet()),
        PRINTED.errata,
    )


def _forces(title: str, run: PathRun, what: str) -> Picture:
    singular = singular_times(run.name)
    unit, scale = ("force, kN", 1e-3) if singular else ("force, N", 1.0)
    drawn, poles = traced_path(run.name), (singular,) * 6
    curves = (
        Curve("T: total $F$, exact", scale * drawn.exact, width=2.2, poles=poles),
        Curve("T as printed", scale * drawn.dasgupta, INK, "--", 0.9, poles),
        Curve("S: massless legs $F_0$", scale * drawn.massless, GREY, "-", 0.8, poles),
        Curve(r"D: difference $F_\mathrm{d}$", scale * drawn.dynamic, GREY, ":", 1.4, poles),
    )
    picture = (
        six_panels(drawn.times, curves, unit, linear=1.0, rule=_SPIKE, pole="singularity")
        if singular
        else six_panels(drawn.times, curves, unit)
    )
    caption = f"{what} of the six legs, pushing positive; letters as in the paper. " + (
        "Logarithmic beyond ±1 kN. At the singularity the forces grow without end and change their sign: the curves "
        "are cut there."
        if singular
        else _JUMPS
    )
    return Picture(f"{title}: {what.split(':')[0]}, leg forces", caption, picture, run.numbers(_file(title)))


def _fractions(title: str, run: PathRun, what: str) -> Picture:
    drawn = traced_path(run.name)
    curves = (
        Curve("exact", drawn.fraction, width=1.6, poles=zeros(drawn.times, drawn.exact)),
        Curve("as printed", drawn.printed_fraction, INK, "--", 0.9, zeros(drawn.times, drawn.dasgupta)),
    )
    table = np.hstack([run.fraction, run.printed_fraction])
    columns = [f"{name}{leg}" for name in ("exact", "dasgupta1998_") for leg in range(1, 7)]
    return Picture(
        f"{title}: {what.split(':')[0]}, dynamic fraction",
        f"{what}. Where a leg's total force is zero the fraction has a pole: the curve is cut there, and what "
        f"lies beyond ±{_FRACTION.most:g} or near the pole does not rule the axis. {_JUMPS}",
        six_panels(drawn.times, curves, FRACTION, rule=_FRACTION, pole="pole: $F$ is zero"),
        series(_file(title), "t", run.times, columns, table),
    )


def _condition(
    title: str, run: PathRun, what: str, marks: tuple[tuple[float, str], ...] = (), *, log: bool = False
) -> Picture:
    drawn, poles = traced_path(run.name), (singular_times(run.name),)
    curves = (
        Curve("condition number", drawn.condition, width=1.2, poles=poles),
        Curve("every dτ, as in the paper", run.condition, GREY, "none", x=run.times, marker="."),
    )
    picture = one_panel(drawn.times, curves, "condition number", log=log, marks=marks, rule=_SPIKE)
    numbers = series(_file(title), "t", run.times, ("condition",), run.condition[:, None])
    caption = f"{what}, σmax/σmin with moments in N m, as in the paper."
    return Picture(f"{title}: {what}", caption, picture, numbers)


def _file(title: str) -> str:
    return title.lower().replace("ure ", "-")
