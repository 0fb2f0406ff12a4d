"""Turney, Mudge & Lee (1980): tables 1 to 5, the equivalence of the formulations, strobing, the claims."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from dynamics import papers, serial
from kinematics import Array
from rig.papers import operation_claims as counting
from rig.papers.chains import (
    FORMULATIONS,
    formulations_spread,
    legs_as_chains_error,
    recursion_errors,
    strobed_mass_error,
    strobed_rates,
)
from rig.papers.claims import Between, Claim, Near, Origin, Threshold, number
from rig.papers.drawing import INK, Curve, one_panel, series
from rig.papers.printed import printed_study
from rig.papers.study import Numbers, Picture, Report, Sheet, Study

PRINTED = printed_study("turney-1980")
"""Claims and data as printed."""

_NAME = "turney-1980"
_TABLES = tuple(f"{_NAME} table {number}" for number in range(1, 6))
_HERE = f"{_TABLES[2]} here"
_MOST_JOINTS = 12
_START = (0.3, -0.4, 0.5, 0.2, -0.3, 0.4)  # rad, of the free fall
_FALL = 0.08  # s


def study(report: Report) -> Study:
    """Reproduce the study."""
    report(f"{_NAME}: formulations", 0.0)
    found = [*equations(), *strobing()]
    report(f"{_NAME}: counting operations", 0.4)
    found += [*orders(), *savings(), *printed_totals(), *parallel(), *strobing_orders(), *effort()]
    report(f"{_NAME}: simulation", 0.8)
    sheets = [counting.sheet(name) for name in (*_TABLES[:3], _HERE, *_TABLES[3:])]
    return Study(
        _NAME,
        PRINTED.title,
        PRINTED.citation,
        PRINTED.summary,
        (*found, *_simulation()),
        (_growth(),),
        (*sheets, _strobing_sheet()),
        (
            "Eq. 3.16 takes ω_i × z θ̇ where ω_{i−1} is meant; eq. 3.18 takes r_i for r̄_i. Eqs. 3.3 to 3.13, which they "
            "are turned from, are right.",
            "Eq. 4.9 ends in R₀ⁱ g z₀; it is R_i⁰ g z₀, as in eq. 4.7.",
            "§5: the entry zy of A_i reads ω_z ω_y + α_z; it is ω_z ω_y + α_x. The term Tr{A_i K_i σᵀ} has the wrong "
            "sign. Eq. 5.2 ends in R n_i; it is R n_{i+1}.",
            "Eqs. 1.26 and the K_i of §5 hold in principal axes only; here products of inertia are kept.",
            f"Strobing with two rates at once, as outlined in §3, gives C_jj + C_kk + 2C_jk, not one coefficient: up "
            f"to {number(100.0 * strobed_rates(as_printed=True), '%')} of the largest coefficient off.",
            "§6: d₂ n(n + 1)/2 for the C^i counts one inward step for each pair of rates; each pair takes n of them.",
            "Eq. 2.1 and 2.8 have two wrong signs between them, and a right result; eq. 2.6 has lost θ̇_j θ̇_k.",
            "The appendix's last lines have additions and multiplications interchanged, and its second derivatives "
            "16n(n² − 1) additions where table 2 rightly has 8n(n² − 1).",
        ),
    )


def equations() -> list[Claim]:
    """Claims on the equivalence of the formulations: as printed, and corrected."""
    legs = counting.agreement(
        "legs-as-chains",
        "Each leg of the platform is such a chain (two revolutes, a prismatic): its recursion gives the leg forces",
        "§3",
        legs_as_chains_error(),
        "largest difference from the vector form on path I of Dasgupta & Mruthyunjaya, relative to the largest force",
    )
    least = "relative error of the joint forces, the least of 7 random arms of 2 to 8 revolute joints"
    return [
        Claim(
            "equivalence",
            "The Lagrangian and the Newton–Euler formulations are mathematically equivalent",
            "abstract, §4, eqs. 3.3–3.13",
            Between(None, counting.ROUNDING),
            max(recursion_errors(serial.newton_euler_in_base_axes)),
            measure="eqs. 3.3–3.13 as printed, in base axes, against Lagrange: relative error of the joint forces, the "
            "largest of 7 random arms of 2 to 8 revolute joints",
            threshold=Threshold.OURS,
        ),
        Claim(
            "links-axes",
            "Rotated into the links' own axes the Newton–Euler set is eqs. 3.15–3.21",
            "§3, eqs. 3.15–3.21",
            Between(None, counting.ROUNDING),
            min(recursion_errors(serial.newton_euler_as_printed)),
            measure=f"eqs. 3.15–3.21 as printed: {least}",
            why="eqs. 3.16 and 3.18 are misprinted; §4 expands them as they should be",
            threshold=Threshold.OURS,
        ),
        counting.agreement(
            "equivalence-mended",
            "… in the links' axes, eqs. 3.16 and 3.18 mended",
            "§4",
            formulations_spread(),
            f"largest relative disagreement of {', '.join(FORMULATIONS)}: 21 random chains of 2 to 8 joints of both "
            "kinds",
        ),
        Claim(
            "modified-equivalent",
            "Replacing eqs. 3.19 and 3.20 by 5.1 and 5.2 gives the same joint forces",
            "§5, eqs. 5.1, 5.2",
            Between(None, counting.ROUNDING),
            min(recursion_errors(serial.modified_newton_euler_as_printed)),
            measure=f"eqs. 5.1 and 5.2 as printed, after eq. 3.16 mended: {least}",
            why="an entry of A_i and the sign of Tr{A_i K_i σᵀ} are wrong; mended, they agree to rounding",
            threshold=Threshold.OURS,
        ),
        replace(legs, origin=Origin.REPRODUCTION),
    ]


def strobing() -> list[Claim]:
    """Claims of §3 on strobing: as printed, and corrected."""
    return [
        counting.agreement(
            "strobing",
            "M can be had from the Newton–Euler equations by strobing, without the Lagrangian form",
            "§3, §8",
            strobed_mass_error(),
            "largest relative difference from Lagrange's D, chains of 2 to 8 joints",
        ),
        Claim(
            "strobing-rates",
            "C^i_jk is had by zeroing all rates except θ̇_j and θ̇_k, which are set to 1",
            "§3",
            Between(None, counting.ROUNDING),
            strobed_rates(as_printed=True),
            measure="largest difference from Lagrange's, relative to the largest of all, chains of 2 to 5 joints",
            why="with two rates at once τ is C_jj + C_kk + 2C_jk",
            threshold=Threshold.OURS,
        ),
        counting.agreement(
            "strobing-rates-mended",
            "… with C_jj and C_kk, strobed each alone, taken off and the rest halved",
            "§3",
            strobed_rates(as_printed=False),
            "the same",
        ),
    ]


def orders() -> Iterator[Claim]:
    """Claims on the orders in n."""
    yield counting.order(_TABLES[2], 1, "Newton–Euler: operations linear in n", "§6, table 3")
    yield counting.order(_TABLES[3], 1, "Modified Newton–Euler: operations linear in n", "§6, table 4")
    yield counting.order(_TABLES[1], 3, "Lagrange: operations of order n³", "§6, table 2")


def savings() -> list[Claim]:
    """Claims on the savings of the modified form."""
    saving = papers.newton_euler_saving(counting.JOINTS)
    return [
        PRINTED.claim("modified-cheaper", 100.0 * saving.counted),
        Claim(
            "modified-saving",
            f"By the totals of table 1 it saves {100 * saving.published:.0f} % at n = 6",
            "table 1",
            Near(100.0 * saving.published, 0.1),
            100.0 * saving.as_printed,
            "%",
            measure="counted on the tables' terms: full tensors in the plain form and principal ones in the modified, "
            "and the A_i of the modified in the plain one",
            threshold=Threshold.OURS,
            apart="arithmetic on the totals of tables 3 and 4, which are counted already",
        ),
    ]


def printed_totals() -> list[Claim]:
    """Claims on the tables' totals; table 1 repeats those of 2 to 4."""
    return [
        *(claim for name in (*_TABLES[1:3], _HERE, *_TABLES[3:]) for claim in counting.totals(name)),
        *(claim for name in _TABLES[1:] for claim in counting.sums(name)),
    ]


def parallel() -> list[Claim]:
    """Claims of §6 on parallelism."""
    one_joint, steps = (papers.counted_table(name).rows[-1] for name in (_TABLES[3], _TABLES[4]))
    n = counting.JOINTS
    all_of_them, at_once = (sum(law.at(n) for law in row.counted) for row in (one_joint, steps))
    published = [sum(law.at(n) for law in row.published or ()) for row in (one_joint, steps)]
    return [
        PRINTED.claim(
            "parallelism",
            at_once / all_of_them,
            why=f"by the printed totals {published[1] / published[0]:.3f}; for the other two no schedule is printed",
        )
    ]


def effort() -> list[Claim]:
    """Claims of §§6 and 7 on the effort of strobing relative to Lagrange."""
    cost = papers.strobing_effort(counting.JOINTS)
    return [
        PRINTED.claim(
            "less-effort",
            cost.strobed / cost.lagrange,
            measure=(
                f"{cost.strobed} operations at n = 6 over {cost.lagrange} of D, H and G by Lagrange, both counted "
                "of the algorithms used here, whose recursions for the C^i go over all links"
            ),
            why=(
                "§3 does not say to leave out the links that stand still, the form printed in §6 does: outward over "
                f"those alone that move it is {cost.strobed_moving}, {number(cost.strobed_moving / cost.lagrange)} of "
                "Lagrange's"
            ),
        ),
        PRINTED.claim(
            "step-works-better",
            cost.step / cost.lagrange_forces,
            measure=(
                f"{cost.step} operations of a step with its elimination at n = 6 over {cost.lagrange_forces} of "
                "the joint forces by Lagrange, table 2's algorithm, both counted"
            ),
        ),
    ]


def strobing_orders() -> list[Claim]:
    """Claims on the orders of the forms in n of §§6 and 7."""

    def claim(key: str, what: str, source: str, why: str = "") -> Claim:
        cost = next(cost for cost in papers.strobing_costs() if cost.key == key)
        assert cost.printed is not None
        return Claim(
            f"strobing-{key}",
            f"{what}: operations of the form {cost.form}, of order {cost.printed.order} in n",
            source,
            Near(cost.printed.order, 0.0),
            float(cost.order),
            measure=f"order in n of the counts at 2 to 8 joints; counted {cost.counted}, "
            f"{cost.counted.at(counting.JOINTS)} at n = 6; by the printed form with table 4's numbers {cost.printed}, "
            f"{cost.printed.at(counting.JOINTS)}",
            why=why or "the order alone is compared: k and d are not printed",
            threshold=Threshold.OURS,
        )

    return [
        claim("mass-outward", "M by strobing, outward", "§6"),
        claim("mass-inward", "M by strobing, inward", "§6"),
        claim("coriolis-outward", "The C^i by strobing, outward", "§6"),
        claim(
            "coriolis-inward",
            "The C^i by strobing, inward",
            "§6",
            "each of the n(n + 1)/2 pairs of rates takes an inward recursion over all n links",
        ),
        claim("step", "A step of the simulation, without its elimination", "§7"),
    ]


def _strobing_sheet() -> Sheet:
    def row(cost: papers.StrobingCost) -> tuple[str, ...]:
        n = counting.JOINTS
        printed = "–" if cost.printed is None else f"{cost.printed.at(n)}\n{cost.printed}"
        return cost.part, cost.form, printed, f"{cost.counted.at(n)}\n{cost.counted}"

    costs = papers.strobing_costs()
    header = ("part", "form in print", "by table 4", "counted")
    return Sheet(
        "Strobing (§§6, 7): operations of M, of the C^i and of a simulation's step",
        f"Multiplications and additions together at n = {counting.JOINTS} joints, and their laws; the printed forms "
        "with the operations per link of table 4. The recursions for the C^i go outward over the links that move, from "
        "min(j, k) on; the algorithm used here takes all links.",
        ("Part", "Form in print", "With table 4's numbers", "Counted"),
        tuple(map(row, costs)),
        Numbers("strobing", header, tuple(tuple(cell.replace("\n", ": ") for cell in row(cost)) for cost in costs)),
    )


def _simulation() -> list[Claim]:
    chain = serial.puma()

    def end(step: float) -> Array:
        run = serial.simulate_chain(chain, list(_START), [0.0] * 6, lambda _t, _q, _qd: [0.0] * 6, _FALL, step)
        last: Array = run.q[-1]
        return last

    coarse, middle, fine = (end(_FALL / steps) for steps in (4, 8, 16))
    order = float(np.log2(np.abs(coarse - middle).max() / np.abs(middle - fine).max()))
    return [PRINTED.claim("runge-kutta", order)]


def _growth() -> Picture:
    joints = np.arange(2.0, _MOST_JOINTS + 1.0)
    curves, columns, values = [], [], []
    styles = (("Lagrange", "#D55E00", "o"), ("Newton–Euler", "#0072B2", "s"), ("modified Newton–Euler", "#009E73", "^"))
    for row, (name, color, mark) in zip(papers.counted_table(_TABLES[0]).rows, styles, strict=False):
        for kind, laws, dash in (("counted", row.counted, "-"), ("published", row.published or (), "--")):
            total = np.array([float(sum(law.at(int(n)) for law in laws)) for n in joints])
            style = (color, dash, 1.6) if kind == "counted" else (INK, dash, 1.0)
            curves.append(Curve(f"{name}, {kind}", total, *style, marker=mark))
            columns.append(f"{name} {kind}")
            values.append(total)
    return Picture(
        "Tables 1 to 4: operations over the number of joints",
        "Multiplications and additions together: counted (solid) and by the printed laws (dashed).",
        one_panel(joints, curves, "operations", label="joints n", log=True, height=3.4),
        series("operations-over-joints", "n", joints, columns, np.column_stack(values)),
    )
