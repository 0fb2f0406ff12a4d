"""Turney, Mudge & Lee (1980): tables 1 to 5, the equivalence of the formulations, the claims."""

from dataclasses import replace

import numpy as np

from dynamics import newton_euler_ratio, puma, simulate_chain
from kinematics import Array
from rig.papers import operation_claims as counting
from rig.papers.chains import FORMULATIONS, formulations_spread, legs_as_chains_error, strobed_mass_error
from rig.papers.claims import Between, Claim, Near, Origin
from rig.papers.drawing import INK, Curve, one_panel, series
from rig.papers.study import Picture, Report, Study

_NAME = "turney-1980"
_TABLES = tuple(f"{_NAME} table {number}" for number in range(1, 6))
_MOST_JOINTS = 12
_START = (0.3, -0.4, 0.5, 0.2, -0.3, 0.4)  # rad, of the free fall
_FALL = 0.08  # s

_ERRATA = (
    "Eq. 3.16 takes ω_i × z θ̇ where ω_{i−1} is meant; eq. 3.18 takes r_i for r̄_i.",
    "§5: the entry zy of A_i reads ω_z ω_y + α_z; it is ω_z ω_y + α_x. The term Tr{A_i K_i σᵀ} has the wrong sign.",
    "Eqs. 1.26 and the K_i of §5 hold in principal axes only; here products of inertia are kept.",
    "Strobing with two rates at once, as outlined in §3, gives C_jj + C_kk + 2C_jk, not one coefficient.",
    "The appendix's last lines have additions and multiplications interchanged, and its second derivatives "
    "16n(n² − 1) additions where table 2 rightly has 8n(n² − 1).",
)


def study(report: Report) -> Study:
    """The whole of it."""
    report(f"{_NAME}: counting operations", 0.0)
    found = (*_formulations(), *_complexity(), *_print(), *_parallel())
    report(f"{_NAME}: simulation", 0.6)
    return Study(
        _NAME,
        "Lagrange and Newton–Euler, one arm",
        "J. L. Turney, T. N. Mudge & C. S. G. Lee, Equivalence of two formulations for robot arm dynamics, University "
        "of Michigan, Center for Robotics and Integrated Manufacturing, December 1980",
        "Four formulations of a serial arm's dynamics, held equal, and their operations counted by a scalar that "
        "tallies what the real algorithms do with it.",
        (*found, *_simulation()),
        (_growth(),),
        tuple(counting.sheet(name) for name in _TABLES),
        _ERRATA,
    )


def _formulations() -> list[Claim]:
    legs = counting.agreement(
        "legs-as-chains",
        "Each leg of the platform is such a chain (two revolutes, a prismatic): its recursion gives the leg forces",
        "§3",
        legs_as_chains_error(),
        "largest difference from the vector form on path I of Dasgupta & Mruthyunjaya, relative to the largest force",
    )
    return [
        counting.agreement(
            "equivalence",
            "The Lagrangian and the Newton–Euler formulations are mathematically equivalent",
            "§4",
            formulations_spread(),
            f"largest relative disagreement of {', '.join(FORMULATIONS)}: 21 random chains of 2 to 8 joints of both "
            "kinds",
        ),
        counting.agreement(
            "strobing",
            "M can be had from the Newton–Euler equations by strobing, without the Lagrangian form",
            "§3, §8",
            strobed_mass_error(),
            "largest relative difference from Lagrange's D, chains of 2 to 8 joints",
        ),
        replace(legs, origin=Origin.REPRODUCTION),
    ]


def _complexity() -> list[Claim]:
    ratio = newton_euler_ratio(counting.JOINTS)
    found = [
        counting.order(_TABLES[1], 3, "Lagrange: operations of order n³", "§6, table 2"),
        counting.order(_TABLES[2], 1, "Newton–Euler: operations linear in n", "§6, table 3"),
        counting.order(_TABLES[3], 1, "Modified Newton–Euler: operations linear in n", "§6, table 4"),
        Claim(
            "modified-cheaper",
            "The modified Newton–Euler form is cheaper than the plain one, to 83 % at n = 6",
            "§5, §6, table 1",
            Near(ratio.published, 0.1),
            ratio.counted,
            measure="multiplications and additions, both counted with full tensors",
            why="on equal terms; the tables take full tensors in the plain form and principal ones in the modified, "
            f"so counted it is {100 * ratio.as_printed:.0f} %",
        ),
    ]
    for name in _TABLES[1:]:
        found += counting.totals(name)
    return found


def _print() -> list[Claim]:
    return [claim for name in _TABLES[1:] for claim in counting.sums(name)]


def _parallel() -> list[Claim]:
    serial = counting.table(_TABLES[3]).rows[-1]
    steps = counting.table(_TABLES[4]).rows[-1]
    n = counting.JOINTS
    all_of_them, at_once = (sum(law.at(n) for law in row.counted) for row in (serial, steps))
    published = [sum(law.at(n) for law in row.published or ()) for row in (serial, steps)]
    return [
        Claim(
            "parallelism",
            "The modified form allows much parallelism: steps over operations at n = 6",
            "§6, table 5",
            Near(published[1] / published[0], 0.1),
            at_once / all_of_them,
            measure="steps of table 5's schedule over all operations, both counted here",
            why="much the same; R_i and τ_i, not in the print, are among all operations here",
        )
    ]


def _simulation() -> list[Claim]:
    chain = puma()

    def end(step: float) -> Array:
        run = simulate_chain(chain, list(_START), [0.0] * 6, lambda _t, _q, _qd: [0.0] * 6, _FALL, step)
        last: Array = run.q[-1]
        return last

    coarse, middle, fine = (end(_FALL / steps) for steps in (4, 8, 16))
    order = float(np.log2(np.abs(coarse - middle).max() / np.abs(middle - fine).max()))
    return [
        Claim(
            "runge-kutta",
            "Four-point Runge–Kutta over the strobed equations simulates the arm: the error falls as step⁴",
            "§7",
            Between(3.5, None),
            order,
            measure="order of convergence of a PUMA in free fall, by halving the step twice",
            origin=Origin.REPRODUCTION,
        )
    ]


def _growth() -> Picture:
    joints = np.arange(2.0, _MOST_JOINTS + 1.0)
    curves, columns, values = [], [], []
    looks = (("Lagrange", "#D55E00", "o"), ("Newton–Euler", "#0072B2", "s"), ("modified Newton–Euler", "#009E73", "^"))
    for row, (name, color, mark) in zip(counting.table(_TABLES[0]).rows, looks, strict=False):
        for kind, laws, dash in (("counted", row.counted, "-"), ("published", row.published or (), "--")):
            total = np.array([float(sum(law.at(int(n)) for law in laws)) for n in joints])
            look = (color, dash, 1.6) if kind == "counted" else (INK, dash, 1.0)
            curves.append(Curve(f"{name}, {kind}", total, *look, marker=mark))
            columns.append(f"{name} {kind}")
            values.append(total)
    return Picture(
        "Tables 1 to 4: operations over the number of joints",
        "Multiplications and additions together: counted (solid) and by the printed laws (dashed).",
        one_panel(joints, curves, "operations", label="joints n", log=True, height=3.4),
        series("operations-over-joints", "n", joints, columns, np.column_stack(values)),
    )
