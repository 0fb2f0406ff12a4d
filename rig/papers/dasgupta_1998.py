"""Dasgupta & Mruthyunjaya (1998): counts of operations, paths I and II, figures 3 to 10, the claims.

Each claim is judged by the paper's equations as printed; results of the exact model are shown with it.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
from matplotlib.figure import Figure

from dynamics import Friction, Mechanism, papers
from kinematics import Array, leg_kinematics
from rig.papers.claims import Claim, Computed, Legs, Near, Range, number
from rig.papers.dasgupta_singular import optimal_path, singular_claims, step_sheet
from rig.papers.drawing import FRACTION, GREY, INK, Curve, Rule, one_panel, series, six_panels
from rig.papers.operation_claims import TOLERANCES, signed, spelt
from rig.papers.paths import (
    PLANS,
    G,
    PathRun,
    error_claims,
    evaluate_path,
    force_error,
    manipulator,
    over_gravity,
    rms,
    run_path,
    singular_times,
    traced_path,
    zeros,
)
from rig.papers.printed import printed_study
from rig.papers.spherical_ends import spherical_claim
from rig.papers.study import Numbers, Picture, Report, Sheet, Study
from rig.report import LEG_COLORS, STYLE, drawing, styled

PRINTED = printed_study("dasgupta-1998")
"""Claims and data as printed."""

_WITHIN = TOLERANCES[1]
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
        PRINTED.claim("operations-final", float(final.as_printed)),
        Claim(
            "operations-counted",
            "Legs, platform and final system take 4889 in all",
            "§4.5",
            Near(total.published, _WITHIN),
            float(total.as_printed),
            why=f"the exact inverse dynamics here takes {total.counted}",
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
            apart="about another paper, whose recursion is not the one counted here",
        ),
        PRINTED.claim("operations-law", float(132 * 6 + 111 * 6 - 4), apart=_ARITHMETIC),
        Claim(
            "operations-ratio",
            "The platform takes only 3.36 times the operations of a serial arm with six joints",
            "§4.5, §6",
            Near(3.36, _WITHIN),
            total.as_printed / arm.counted,
            measure=f"{total.as_printed} over {arm.counted}, both counted here",
            why=f"the exact model: {total.counted / arm.counted:.2f}",
            apart="a quotient of the counts above",
        ),
        parallel_claim(leg, platform, final, arm),
        PRINTED.claim("parallel-printed", float(leg.published + final.published), apart=_ARITHMETIC),
        _constraint_claim(),
    )


def _constraint_claim() -> Claim:
    """The claim on §3.3, in addition to the leg forces."""
    counts = papers.flops_1998(*_counted_at())
    more, whole = counts["constraints"].total, counts["total"].total
    return PRINTED.claim(
        "operations-constraints",
        100.0 * more / whole,
        measure=f"eqs. 17, 21 and 26 to 29 of six legs over the leg forces, {more} over {whole} operations",
    )


def _part(key: str, statement: str, row: papers.PlatformRow, equations: str) -> Claim:
    return Claim(
        key,
        statement,
        "§4.5",
        Near(row.published, _WITHIN),
        float(row.as_printed),
        measure=f"counted in {equations} as printed, by the rule of MATLAB's flops",
        why=f"the program is not printed; the exact model here takes {row.counted}",
        thresholds=TOLERANCES,
    )


def parallel_claim(
    leg: papers.PlatformRow, platform: papers.PlatformRow, final: papers.PlatformRow, arm: papers.PlatformRow
) -> Claim:
    """Claim on seven parallel branches, and the final system after them."""
    branch = max(leg.as_printed, platform.as_printed)
    exact = max(leg.counted, platform.counted) + final.counted
    finals, arms = (float(final.as_printed), float(final.published)), (float(arm.counted), float(arm.published))
    return PRINTED.claim(
        "parallel",
        (branch + final.as_printed) / arm.counted,
        Range("final system", finals, tuple((branch + size) / arm.counted for size in finals), finals[0], "operations"),
        Range("arm", arms, tuple((branch + final.as_printed) / size for size in arms), arms[0], "operations"),
        measure=f"longest branch and final system over the arm, {branch + final.as_printed} over {arm.counted}",
        why=f"the exact model: {exact} over {arm.counted}. Handing data over between processors is not counted",
    )


_STARTS = (0.01, 0.1, 1.0)
"""Steps before the pose, s, from which forward kinematics starts; the second is the paper's dτ."""


def joint_space_claim() -> Claim:
    """Claim that planning in joint space is more expensive."""
    trajectory = PLANS["I"].trajectory()
    counts = [
        papers.kinematics_operations(manipulator().geometry, now, before[:7])
        for now, before in (trajectory.motion([1.5, 1.5 - step]) for step in _STARTS)
    ]
    ratios = tuple(count["forward"].total / count["inverse"].total for count in counts)
    forward, inverse = counts[1]["forward"].total, counts[1]["inverse"].total
    return PRINTED.claim(
        "joint-space",
        ratios[1],
        Range("start of the forward kinematics, before", _STARTS, ratios, _STARTS[1], "s"),
        measure=(
            f"operations of a pose from leg lengths, from the sample before, over those of lengths, speeds and "
            f"accelerations from a motion: {forward} over {inverse}"
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


def mends_sheet() -> Sheet:
    """Table of the errors of the printed equations, mended one at a time and all but one."""
    every = tuple(papers.Mend1998)
    cases: dict[str, tuple[papers.Mend1998, ...]] = {"as printed": ()}
    cases |= {f"mended: {mend}": (mend,) for mend in every}
    cases |= {f"mended but for {m.split(':')[0]}": tuple(other for other in every if other is not m) for m in every}
    rows = []
    for name, mends in {**cases, "all mended": every}.items():
        errors = [
            force_error(papers.mended_1998(manipulator(), run.motions, mends), run.exact)
            for run in (run_path("I"), run_path("II"))
        ]
        rows.append((name, *errors[0], *errors[1]))
    units = ("%", "N", "%", "N")
    return Sheet(
        "Errors of the printed equations, by what is mended",
        "Leg forces against the exact model: RMS over all legs and samples, relative to the forces, and the largest. "
        "Fu & Yao (2007) and Vakil, Pendar & Zohoor (2008) comment on these equations; three corrections are needed, "
        "and no two of them are enough.",
        ("Equations", "Path I: RMS", "largest", "Path II: RMS", "largest"),
        tuple((name, *map(number, sizes, units)) for name, *sizes in rows),
        Numbers("mends", ("case", "path1_rms_percent", "path1_N", "path2_rms_percent", "path2_N"), tuple(rows)),
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


MASS = 40.0
"""kg, platform and payload."""
_ACROSS = "eq. 20 lets the universal joint resist along the leg instead of u×v; eq. 16 hardly counts at this speed"
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
        realistic_claim(),
        *path_one_claims(one),
        *light_platform_claims(one),
        *path_two_claims(one, two),
        *singular_claims(run_path("III")),
        spherical_claim(),
        *error_table_claims(one, two),
    )


def realistic_claim() -> Claim:
    """Claim on the manipulator's parameters: whether a body has the printed tensors, however they are read."""
    machine = manipulator()
    lower, upper = machine.legs[0].lower, machine.legs[0].upper
    tensors = {"I_d0": lower.inertia, "I_u0": upper.inertia, "I_p": machine.inertia}
    opposite = 2.0 * np.diag(np.diag(lower.inertia)) - lower.inertia
    r = lower.center_of_mass
    central = lower.inertia - lower.mass * (r @ r * np.eye(3) - np.outer(r, r))
    read = {"as printed": lower.inertia, "products of the other sign": opposite, "about the origin of D": central}
    return PRINTED.claim(
        "realistic-parameters",
        _least_moment(lower.inertia),
        Range("tensor", tuple(tensors), tuple(map(_least_moment, tensors.values())), "I_d0"),
        Range("read", tuple(read), tuple(map(_least_moment, read.values())), "as printed"),
    )


def _least_moment(inertia: Array) -> float:
    """Least principal second moment of mass, kg m², of an inertia tensor (3, 3): negative in no body."""
    return float(np.linalg.eigvalsh(0.5 * np.trace(inertia) * np.eye(3) - inertia)[0])


K_1 = (-0.8141, 0.2714, 0.0)
"""Fixed axis of leg 1's universal joint as the appendix prints it, of length 0.858."""


def _unit_axes() -> dict[str, Array]:
    """Unit vectors (3,) that k_1 could be: one component mended. The mechanism keeps its direction."""
    read = {}
    for place, name in enumerate("xyz"):
        mended = np.array(K_1)
        rest = np.sqrt(1.0 - np.sum(np.delete(mended, place) ** 2))
        mended[place] = np.copysign(rest, mended[place])
        read[f"k_1 with another {name}"] = mended
    return read


@cache
def _read_runs() -> dict[str, PathRun]:
    """Path I by what the print leaves open in its equations: k_1, and whether the program has eq. 16 as printed."""
    run, machine = run_path("I"), manipulator()
    runs = {"as printed": run}
    mended = papers.mended_1998(machine, run.motions, (papers.Mend1998.INERTIA,))
    runs["eq. 16 mended"] = replace(run, dasgupta=np.asarray(mended))
    for name, axis in _unit_axes().items():
        axes = machine.geometry.universal_axes.copy()
        axes[0] = axis
        other = replace(machine, geometry=replace(machine.geometry, universal_axes=axes))
        runs[name] = evaluate_path("I", other, run.times, run.motions)
    return runs


def _over_readings(evaluate: Callable[[PathRun], Computed]) -> Range:
    runs = _read_runs()
    return Range("equations", tuple(runs), tuple(map(evaluate, runs.values())), "as printed")


def path_one_claims(run: PathRun) -> list[Claim]:
    """Claims on path I, figs. 4 to 6."""
    step = float((np.abs(np.diff(run.dasgupta, axis=0)).max(axis=0) / np.ptp(run.dasgupta, axis=0)).max())
    medians = np.median(np.abs(run.fraction), axis=0)
    forces = run.dasgupta / (MASS * G)
    sizes = largest(forces), rms(forces), float(np.median(np.abs(forces)))
    return [
        PRINTED.claim(
            "path-1-moderate",
            sizes[0],
            Range("force", ("largest", "RMS", "median"), sizes, "largest"),
            over_gravity(lambda g: largest(run_path("I", gravity=g).dasgupta) / (MASS * g)),
            why=exact_model_text(largest(run.exact) / (MASS * G)),
        ),
        PRINTED.claim("path-1-smooth", step),
        PRINTED.claim("path-1-conditioned", float(run.condition.max())),
        PRINTED.claim(
            "path-1-condition-start", float(run.condition[0]), why=f"it falls to {run.condition.min():.1f} on the way"
        ),
        PRINTED.claim("path-1-condition-end", float(run.condition[-1])),
        PRINTED.claim(
            "path-1-crossing",
            crossing_legs(run.dasgupta),
            over_gravity(lambda g: crossing_legs(run_path("I", gravity=g).dasgupta)),
            _over_readings(lambda one: crossing_legs(one.dasgupta)),
            why=f"the exact model: {number(run.crossing)}",
        ),
        PRINTED.claim("path-1-fraction-least", 100.0 * float(medians.min())),
        PRINTED.claim("path-1-fraction-largest", 100.0 * float(medians.max())),
        PRINTED.claim(
            "path-1-fraction-common",
            _median(run),
            over_gravity(lambda g: _median(run_path("I", gravity=g))),
            _over_readings(_median),
            why=exact_model_text(100.0 * float(np.median(np.abs(run.fraction))), "%"),
        ),
        *_greatest_fraction(run),
        PRINTED.claim(
            "leg-inertia-significant",
            100.0 * rms(run.dasgupta - run.massless) / rms(run.dasgupta),
            why=exact_model_text(100.0 * rms(run.dynamic) / rms(run.exact), "%"),
        ),
        PRINTED.claim("mass-ratio", _mass_ratio(manipulator())),
    ]


def _median(run: PathRun) -> float:
    return 100.0 * float(np.median(np.abs(run.printed_fraction)))


def _greatest(run: PathRun, fraction: Array) -> float:
    """Largest |F_d/F|, %, of the legs whose force does not cross zero."""
    crossing = crossing_legs(run.dasgupta)
    return 100.0 * float(np.abs(fraction[:, [leg - 1 for leg in _LEGS if leg not in crossing]]).max())


def _greatest_fraction(run: PathRun) -> tuple[Claim, Claim]:
    printed, exact = (_greatest(run, fraction) for fraction in (run.printed_fraction, run.fraction))
    forces = number(float(run.exact[-1, 3]), "N"), number(float(run.dasgupta[-1, 3]), "N")

    def under(g: float) -> float:
        other = run_path("I", gravity=g)
        return _greatest(other, other.printed_fraction)

    return (
        PRINTED.claim(
            "path-1-fraction-maximum-printed",
            printed,
            over_gravity(under),
            _over_readings(lambda one: _greatest(one, one.printed_fraction)),
        ),
        PRINTED.claim(
            "path-1-fraction-maximum",
            exact,
            why=f"leg 4 again, where its force is {forces[0]} and by the printed equations {forces[1]}. " + _ACROSS,
        ),
    )


def _mass_ratio(machine: Mechanism) -> float:
    leg = machine.legs[0]
    return machine.mass / (leg.lower.mass + leg.upper.mass)


_INERTIAS = ("like the mass", "as printed")
"""Of the light platform."""
_LIGHT = (2.0, 4.0, 8.0)
"""kg, of the same order as a leg's 4 kg; the paper does not say which it took."""
_LESS = (4.0, 10.0, 20.0)
"""kg, less than 40."""
_SPREADS = ("median", "upper quartile", "upper tenth", "RMS of F_d over that of F")


def _spreads(forces: Array, massless: Array) -> tuple[float, ...]:
    """Measures of the dynamic fraction of forces (n, 6) by name, _SPREADS."""
    fraction = np.abs(1.0 - massless / forces)
    quantiles = (float(np.quantile(fraction, share)) for share in (0.5, 0.75, 0.9))
    return (*quantiles, rms(forces - massless) / rms(forces))


def light_platform_claims(run: PathRun) -> list[Claim]:
    """Claims on a platform as heavy as a leg, and on others lighter than the paper's."""
    machine = manipulator()
    leg = _LIGHT[1]

    def light(mass: float, inertia: str = _INERTIAS[0], model: str = "dasgupta-1998") -> tuple[Array, Array]:
        share = mass / MASS if inertia == _INERTIAS[0] else 1.0
        other = replace(machine, mass=machine.mass * mass / MASS, inertia=share * machine.inertia)
        forces, massless = (papers.variant_forces(name, other, run.motions) for name in (model, "massless"))
        return forces, massless

    def often(forces: Array, massless: Array) -> float:
        return 100.0 * float(np.mean(np.abs(1.0 - massless / forces) > 0.6))

    shares = tuple(often(*light(leg, inertia)) for inertia in _INERTIAS)
    by_mass = tuple(often(*light(mass)) for mass in _LIGHT)
    before = _spreads(run.dasgupta, run.massless)
    ratios = tuple(a / b for a, b in zip(_spreads(*light(leg)), before, strict=True))
    less = tuple(_spreads(*light(mass))[0] / before[0] for mass in _LESS)
    return [
        PRINTED.claim(
            "light-platform",
            shares[0],
            Range("platform's mass", _LIGHT, by_mass, leg, "kg"),
            Range("platform's inertia", _INERTIAS, shares, _INERTIAS[0]),
            why=exact_model_text(often(*light(leg, model="exact")), "%"),
        ),
        PRINTED.claim(
            "fraction-payload",
            ratios[0],
            Range("measure", _SPREADS, ratios, _SPREADS[0]),
            Range("platform's mass", _LESS, less, leg, "kg"),
        ),
    ]


def path_two_claims(one: PathRun, two: PathRun) -> list[Claim]:
    """Claims on path II, figs. 7 and 8, and on both paths."""
    wider = tuple(leg for leg in _LEGS if np.ptp(two.dasgupta[:, leg - 1]) > np.ptp(one.dasgupta[:, leg - 1]))
    fast, slow = np.abs(two.printed_fraction), np.abs(one.printed_fraction)
    exact = np.abs(np.concatenate([one.fraction, two.fraction]))
    both = np.concatenate([slow, fast])
    ratios = tuple(a / b for a, b in zip(*(_spreads(run.dasgupta, run.massless) for run in (two, one)), strict=True))
    shares = tuple(100.0 * float(np.mean((x >= 0.2) & (x <= 0.5))) for x in (both, slow, fast))
    names = ("both", "I alone", "II alone")
    medians = [100.0 * np.median(fraction, axis=0) for fraction in (slow, fast)]
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
            "path-2-distribution",
            float(np.abs(medians[1] - medians[0]).max()),
            why=f"by leg {_list(medians[1])} % after {_list(medians[0])} %",
        ),
        PRINTED.claim("fraction-speed", ratios[0], Range("measure", _SPREADS, ratios, _SPREADS[0])),
        _steps(two),
        PRINTED.claim(
            "fraction-range",
            shares[0],
            Range("paths", names, shares, names[0]),
            why=(
                f"the median is {100 * np.median(both):.0f} %; "
                f"{exact_model_text(100.0 * float(np.mean((exact >= 0.2) & (exact <= 0.5))), '%')}"
            ),
        ),
    ]


_COMPARED = (2.0, 3.0, 4.0, 5.0)
"""Numbers of the steepest changes; path II's blends have four edges."""


def _list(values: Array) -> str:
    return ", ".join(f"{value:.0f}" for value in values)


def _steps(two: PathRun) -> Claim:
    legs = leg_kinematics(manipulator().geometry, two.motions)
    turning = np.linalg.norm(legs.angular_acceleration, axis=-1)
    order = [np.argsort(np.abs(np.diff(x, axis=0)).max(axis=1)) for x in (two.dasgupta, legs.acceleration, turning)]

    def share(count: float) -> float:
        forces, *accelerations = (set(steps[-int(count) :]) for steps in order)
        return 100.0 * len(forces & set.union(*accelerations)) / count

    edges = float(len(PLANS["II"].trajectory().breakpoints))
    shares = tuple(map(share, _COMPARED))
    own = _legs_part_of_jumps()
    return PRINTED.claim(
        "path-2-steps",
        share(edges),
        Range("steps compared", _COMPARED, shares, edges),
        why=f"platform and legs jump together: {own:.0f} % of the jumps of force are F_d, the legs' own inertia",
    )


def _legs_part_of_jumps() -> float:
    """RMS of the jumps of F_d at the edges of path II's blends over that of F, %."""
    trajectory, machine = PLANS["II"].trajectory(), manipulator()
    edges, aside = np.array(trajectory.breakpoints), _EDGE_OFFSET * trajectory.duration
    jumps = [
        np.subtract(
            *(papers.variant_forces(model, machine, trajectory.motion(edges + side)) for side in (aside, -aside))
        )
        for model in ("dasgupta-1998", "massless")
    ]
    return 100.0 * rms(jumps[0] - jumps[1]) / rms(jumps[0])


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
        (mends_sheet(), operation_sheet(), step_sheet()),
        PRINTED.errata,
        PRINTED.open,
        PRINTED.comments,
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
