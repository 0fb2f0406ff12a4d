"""Turney, Mudge & Lee (1980): tables 1 to 5, the equivalence of the formulations, strobing, the claims."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from dynamics import papers, serial
from kinematics import Array
from rig.papers import operation_claims as counting
from rig.papers.chains import (
    legs_as_chains_error,
    recursion_errors,
    strobed_mass_error,
    strobed_rates,
)
from rig.papers.claims import Between, Claim, Mended, Near, Origin, Range
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
_JOINTS = (2.0, 4.0, float(counting.JOINTS))


def claims() -> tuple[Claim, ...]:
    """Return all claims, in the paper's order."""
    return (
        *equations(),
        *strobing(),
        *orders(),
        *savings(),
        *printed_totals(),
        parallel(),
        *strobing_orders(),
        *effort(),
        _simulation(),
    )


def study(report: Report) -> Study:
    """Reproduce the study."""
    report(f"{_NAME}: formulations and operations", 0.0)
    found = claims()
    report(f"{_NAME}: figures", 0.8)
    sheets = [counting.sheet(name) for name in (*_TABLES[:3], _HERE, *_TABLES[3:])]
    return Study(
        _NAME,
        PRINTED.title,
        PRINTED.citation,
        PRINTED.summary,
        found,
        (_growth(),),
        (*sheets, _strobing_sheet()),
        PRINTED.errata,
        PRINTED.open,
    )


_READINGS = ("as in eq. 5.2", "signs of the sentence after it", "K_i about the i−1th origin, as its sentence says")
_BARS = ("without bars, as printed", "with bars that the scan lost")


def equations() -> list[Claim]:
    """Claims on the equivalence of the formulations: as printed, and mended."""
    legs = counting.agreement(
        "legs-as-chains",
        "Each leg of the platform is such a chain (two revolutes, a prismatic): its recursion gives the leg forces",
        "§3",
        legs_as_chains_error(),
        "largest difference from the vector form on path I of Dasgupta & Mruthyunjaya, relative to the largest force",
    )
    turned = tuple(
        min(recursion_errors(partial(serial.newton_euler_as_printed, barred=barred))) for barred in (False, True)
    )
    modified = tuple(
        min(recursion_errors(partial(serial.modified_newton_euler_as_printed, text=text, pivot=pivot)))
        for text, pivot in ((False, False), (True, False), (False, True))
    )
    least = "against Lagrange: relative error of the joint forces, the least of 7 random arms of 2 to 8 revolute joints"
    return [
        Claim(
            "equivalence",
            "The Lagrangian and the Newton–Euler formulations are mathematically equivalent",
            "abstract, §4, eqs. 3.3–3.13",
            Between(None, counting.ROUNDING),
            max(recursion_errors(serial.newton_euler_in_base_axes)),
            measure="eqs. 3.3–3.13 as printed, in base axes, against Lagrange: relative error of the joint forces, the "
            "largest of 7 random arms of 2 to 8 revolute joints",
            words="mathematically equivalent",
            thresholds=counting.EQUAL,
        ),
        Claim(
            "links-axes",
            "Rotated into the links' own axes the Newton–Euler set is eqs. 3.15–3.21",
            "§3, eqs. 3.15–3.21",
            Between(None, counting.ROUNDING),
            turned[0],
            measure=f"eqs. 3.15–3.21 as printed {least}",
            words="the rotated set",
            ranges=(Range("r_i of eq. 3.18", _BARS, turned, _BARS[0]),),
            thresholds=counting.EQUAL,
            mended=Mended(
                "ω_{i−1} in eq. 3.16 and r̄_i in eq. 3.18, as §4 expands them",
                max(recursion_errors(serial.newton_euler)),
            ),
        ),
        Claim(
            "modified-equivalent",
            "Replacing eqs. 3.19 and 3.20 by 5.1 and 5.2 gives the same joint forces",
            "§5, eqs. 5.1, 5.2",
            Between(None, counting.ROUNDING),
            modified[0],
            measure=f"eqs. 5.1 and 5.2 as printed, eq. 3.16 mended, {least}",
            words="the modified set",
            thresholds=counting.EQUAL,
            mended=Mended(
                "α_x in the entry zy of A_i, the sign of eq. 5.2, and K_i as its matrix has it",
                max(recursion_errors(serial.modified_newton_euler)),
            ),
            ranges=(Range("Tr{A_i K_i σᵀ}", _READINGS, modified, _READINGS[0]),),
        ),
        replace(legs, origin=Origin.REPRODUCTION),
    ]


def strobing() -> list[Claim]:
    """Claims of §3 on strobing: as printed, and mended."""
    return [
        Claim(
            "strobing",
            "M_ij is had from the Newton–Euler equations by a unit θ̈_j, all else and gravity zero",
            "§3, §8",
            Between(None, counting.ROUNDING),
            strobed_mass_error(),
            measure="largest relative difference from Lagrange's D, chains of 2 to 8 joints",
            words="the matrix element",
            thresholds=counting.EQUAL,
        ),
        Claim(
            "strobing-rates",
            "C^i_jk is had by zeroing all rates except θ̇_j and θ̇_k, which are set to 1",
            "§3",
            Between(None, counting.ROUNDING),
            strobed_rates(as_printed=True),
            measure="largest difference from Lagrange's, relative to the largest of all, chains of 2 to 5 joints",
            words="the C^i_jk elements",
            thresholds=counting.EQUAL,
            mended=Mended(
                "by eq. 2.11 τ is then C_jj + C_kk + 2C_jk: C_jj and C_kk taken off, the rest halved",
                strobed_rates(as_printed=False),
            ),
        ),
    ]


def orders() -> Iterator[Claim]:
    """Claims on the orders in n."""
    plain, modified = "Newton–Euler: operations linear in n", "Modified Newton–Euler: operations linear in n"
    yield counting.order(_TABLES[2], 1, plain, "§6, table 3", {"eqs. 3.15 to 3.21 as they stand": _HERE})
    yield counting.order(_TABLES[3], 1, modified, "§6, table 4", {"full tensors": f"{_TABLES[3]} full"})
    yield counting.order(_TABLES[1], 3, "Lagrange: operations of order n³", "table 2, appendix")


_TERMS = (
    "on equal terms", "principal axes in both", "principal axes and A_i in both", "as the tables count",
    "by the printed totals", "against Lagrange",
)  # fmt: skip
_AS_STANDS = ("as the tables count", "eqs. 3.15 to 3.21 as they stand", "by the printed totals")


def _size(name: str, joints: int, printed: bool = False) -> int:
    """Multiplications and additions together of the terms of a table, counted or printed."""
    table = papers.counted_table(name)
    laws = table.rows[-1].published if printed else papers.printed_terms(table)
    return sum(law.at(joints) for law in laws or ())


def savings() -> list[Claim]:
    """Claims on what one form saves of another."""
    n, (_, lagrange, plain, modified, _) = counting.JOINTS, _TABLES
    saving = papers.newton_euler_saving(n)
    shares = tuple(
        100.0 * share
        for share in (
            saving.counted,
            saving.principal,
            saving.principal_matrix,
            saving.as_printed,
            saving.published,
            1.0 - _size(modified, n) / _size(lagrange, n),
        )
    )
    over_joints = tuple(_size(plain, int(joints)) / _size(lagrange, int(joints)) for joints in _JOINTS)
    programs = (
        over_joints[-1],
        _size(_HERE, n) / _size(lagrange, n),
        _size(plain, n, printed=True) / _size(lagrange, n, printed=True),
    )
    return [
        PRINTED.claim(
            "newton-euler-cheaper",
            over_joints[-1],
            Range("joints", _JOINTS, over_joints, _JOINTS[-1]),
            Range("Newton–Euler", _AS_STANDS, programs, _AS_STANDS[0]),
        ),
        PRINTED.claim("modified-cheaper", shares[0], Range("counted", _TERMS, shares, _TERMS[0])),
        Claim(
            "modified-saving",
            "What the modified form saves at n = 6 by the totals of table 1",
            "table 1",
            Near(shares[4], 0.1),
            shares[3],
            "%",
            measure="counted on the tables' terms: full tensors in the plain form and principal ones in the modified, "
            "and the A_i of the modified in the plain one",
            apart="arithmetic on the totals of tables 3 and 4, which are counted already",
        ),
    ]


_FORMED = "r̄_i + r_i formed for each link"
_APPENDIX = "q(q + 1)/2 pairs j ≤ k in the appendix, their sums over q, 2 θ̇_j θ̇_k and the addition of gravity"


def printed_totals() -> list[Claim]:
    """Claims on the tables' totals; table 1 repeats those of 2 to 4."""

    def formed(name: str) -> dict[str, tuple[int, int]]:
        multiplications, additions = counting.counts(name)
        return {_FORMED: (multiplications, additions + 3 * counting.JOINTS)}

    return [
        *counting.totals(_TABLES[1], mended=(_APPENDIX, papers.mended_turney_2())),
        *(claim for name in _TABLES[2:] for claim in counting.totals(name, formed(name))),
        *counting.totals(_HERE),
        *(claim for name in _TABLES[1:] for claim in counting.sums(name)),
    ]


def parallel() -> Claim:
    """Claim of §6 on parallelism."""
    one_joint, steps = (papers.counted_table(name).rows[-1] for name in (_TABLES[3], _TABLES[4]))
    n = counting.JOINTS
    all_of_them, at_once = (sum(law.at(n) for law in row.counted) for row in (one_joint, steps))
    return PRINTED.claim("parallelism", at_once / all_of_them)


_LINKS = ("all links", "those that move")
_LAGRANGE = ("joint forces", "D, H and G")


def effort() -> list[Claim]:
    """Claims of §§6 and 7 on the effort of strobing relative to Lagrange."""
    costs = [papers.strobing_effort(int(joints)) for joints in _JOINTS]
    cost = costs[-1]
    shares = (cost.strobed / cost.lagrange, cost.strobed_moving / cost.lagrange)
    ratios = tuple(one.step / one.lagrange_forces for one in costs)
    against = (ratios[-1], cost.step / cost.lagrange)
    return [
        PRINTED.claim("less-effort", shares[0], Range("C^i outward over", _LINKS, shares, _LINKS[0])),
        PRINTED.claim(
            "step-works-better",
            ratios[-1],
            Range("joints", _JOINTS, ratios, _JOINTS[-1]),
            Range("Lagrange's", _LAGRANGE, against, _LAGRANGE[0]),
        ),
    ]


_PASSED = ("all links", "those from the hand to joint min(j, k)", "those from the hand to joint max(j, k)")


def _inward_orders() -> tuple[float, float]:
    """Orders in n of the links passed inward for all pairs j ≤ k, if only down to joint min(j, k), or max(j, k)."""
    sizes = range(papers.SAMPLES[0], papers.BEYOND[-1] + 1)

    def passed(n: int, last: Callable[[int, int], int]) -> int:
        return sum(n - last(j, k) + 1 for k in range(1, n + 1) for j in range(1, k + 1))

    low, high = (float(papers.degree([passed(n, last) for n in sizes])) for last in (min, max))
    return low, high


def strobing_orders() -> list[Claim]:
    """Claims on the orders of the forms in n of §§6 and 7."""

    def claim(key: str, what: str, source: str, *ranges: Range, mended: Mended | None = None) -> Claim:
        cost = next(cost for cost in papers.strobing_costs() if cost.key == key)
        assert cost.printed is not None
        return Claim(
            f"strobing-{key}",
            f"{what}: operations of the form {cost.form}, of order {cost.printed.order} in n",
            source,
            Near(cost.printed.order, 0.0),
            float(cost.order),
            measure=f"order in n of counts at 2 to 8 joints; counted {cost.counted.at(counting.JOINTS)} at n = 6, by "
            f"the printed form with table 4's numbers {cost.printed.at(counting.JOINTS)}",
            why="the order alone is compared: k and d are not printed",
            ranges=ranges,
            mended=mended,
        )

    inward = next(float(cost.order) for cost in papers.strobing_costs() if cost.key == "coriolis-inward")
    passed = Range("links passed", _PASSED, (inward, *_inward_orders()), _PASSED[0])
    pyramid = Mended(
        "d₂ n(n+1)(2n+1)/6, as its k₂ has it: a pair of rates moves the links inward that it moves outward, and the "
        "C^i are n²(n+1)/2 numbers",
        inward,
        Near(3.0, 0.0),
    )
    return [
        claim("mass-outward", "M by strobing, outward", "§6"),
        claim("mass-inward", "M by strobing, inward", "§6"),
        claim("coriolis-outward", "The C^i by strobing, outward", "§6"),
        claim("coriolis-inward", "The C^i by strobing, inward", "§6", passed, mended=pyramid),
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


def _simulation() -> Claim:
    chain = serial.puma()

    def end(step: float) -> Array:
        run = serial.simulate_chain(chain, list(_START), [0.0] * 6, lambda _t, _q, _qd: [0.0] * 6, _FALL, step)
        last: Array = run.q[-1]
        return last

    coarse, middle, fine = (end(_FALL / steps) for steps in (4, 8, 16))
    order = float(np.log2(np.abs(coarse - middle).max() / np.abs(middle - fine).max()))
    return PRINTED.claim("runge-kutta", order)


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
