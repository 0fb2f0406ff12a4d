"""Claims of Dasgupta & Mruthyunjaya (1998), §§4.3 and 4.5: what the computation takes, alone and in parallel."""

from dataclasses import replace
from functools import cache

from dynamics import Friction, Mechanism, PlatformRow, flops_1998, kinematics_operations, platform_table
from kinematics import Array
from rig.papers.claims import Between, Claim, Near, Threshold, Unquantified
from rig.papers.operation_claims import signed, spelt
from rig.papers.paths import PLANS, SAMPLES, manipulator
from rig.papers.study import Numbers, Sheet

_WITHIN = 0.1  # of a count: what a program does besides its equations is not printed
_ARITHMETIC = "arithmetic on printed numbers"


@cache
def operations() -> tuple[PlatformRow, ...]:
    """§4.5 beside the counts here, in the middle of path I's first blend; without viscous friction, as in the paper."""
    return platform_table(*_counted_at())


def _counted_at() -> tuple[Mechanism, Array]:
    machine = manipulator()
    legs = tuple(replace(leg, friction=Friction()) for leg in machine.legs)
    return replace(machine, legs=legs), PLANS["I"].trajectory().motion([0.5])[0]


def operation_claims() -> tuple[Claim, ...]:
    """All of them."""
    leg, platform, final, total, arm = operations()
    printed = 6 * leg.published + platform.published + final.published
    return (
        joint_space_claim(),
        _part("operations-leg", "A leg takes 694 floating-point operations", leg, "eqs. 1 to 24"),
        _part("operations-platform", "The platform alone takes 273", platform, "eqs. 30 to 32 and 35"),
        Claim(
            "operations-final",
            "The final system of equations takes 452",
            "§4.5",
            Unquantified("452", "how the system is solved is not said"),
            float(final.as_printed),
            measure="counted in eqs. 35 to 37, solved by elimination",
            why="an inverse would take 2n³ = 432 more than the sums; the exact model here takes "
            f"{final.counted} with rows scaled",
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
        Claim(
            "operations-sum",
            "The printed parts add up to 4889",
            "§4.5",
            Near(4889, 0.0),
            float(printed),
            measure="6·694 + 273 + 452",
            apart=_ARITHMETIC,
        ),
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
        Claim(
            "operations-law",
            "132n multiplications and 111n − 4 additions of a serial arm are 1454 at n = 6",
            "§4.5",
            Near(1454, 0.0),
            float(132 * 6 + 111 * 6 - 4),
            apart=_ARITHMETIC,
        ),
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
    """§3.3 on top of the leg forces."""
    counts = flops_1998(*_counted_at())
    more, whole = counts["constraints"].total, counts["total"].total
    return Claim(
        "operations-constraints",
        "The constraint forces take a small amount of additional computation",
        "§1, §6",
        Unquantified("small amount"),
        100.0 * more / whole,
        "%",
        measure=f"operations of eqs. 17, 21 and 26 to 29 of six legs over those of the leg forces, {more} over {whole}",
        why="nothing saved, as in the counts above",
    )


def _part(key: str, statement: str, row: PlatformRow, equations: str) -> Claim:
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


def _parallel(leg: PlatformRow, platform: PlatformRow, final: PlatformRow, arm: PlatformRow) -> tuple[Claim, Claim]:
    """Seven branches at a time, and the final system after them."""
    steps = max(leg.as_printed, platform.as_printed) + final.as_printed
    exact = max(leg.counted, platform.counted) + final.counted
    return (
        Claim(
            "parallel",
            "In parallel, legs and platform at a time, it takes even less than the serial arm",
            "§6; abstract, §4.5",
            Between(None, 1.0),
            steps / arm.counted,
            measure=f"longest branch and final system over the arm, {steps} over {arm.counted}, counted here",
            why=f"the exact model: {exact} over {arm.counted}. Handing data over between processors is not counted",
        ),
        Claim(
            "parallel-printed",
            "In parallel: a leg and the final system are less than the serial arm, by the printed numbers",
            "§4.5",
            Between(None, 1454.0),
            float(leg.published + final.published),
            measure="694 + 452 beside 1454",
            apart=_ARITHMETIC,
        ),
    )


def joint_space_claim() -> Claim:
    """That planning in joint space is dearer."""
    plan = PLANS["I"]
    times = plan.duration / (SAMPLES - 1) * 5.0, plan.duration / (SAMPLES - 1) * 4.0
    now, before = plan.trajectory().motion(times)
    counts = kinematics_operations(manipulator().geometry, now, before[:7])
    forward, inverse = counts["forward"].total, counts["inverse"].total
    return Claim(
        "joint-space",
        "Planning in joint space, with forward kinematics at each step, is computationally more expensive",
        "§4.3",
        Between(1.0, None),
        forward / inverse,
        measure=f"operations of a pose from leg lengths, beginning at the sample before, over those of lengths, speeds "
        f"and accelerations from a motion: {forward} over {inverse}, counted here",
        why="the two linear systems for speeds and accelerations come on top",
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
