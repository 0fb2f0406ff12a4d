"""Lee, Chung, Mudge & Turney (1982): tables 1 and 2, figures 3 to 8, the claims."""

from collections.abc import Iterator

import numpy as np

from dynamics import ERROR_BOUND, Law, OperationRow, counted_table
from rig.papers import operation_claims as counting
from rig.papers.claims import Claim, Near, Rounded, Threshold
from rig.papers.drawing import GREY, INK, Curve, series, six_panels
from rig.papers.lee_control import JOINTS, errors, gains, laws, numbers, our_run, printed_run
from rig.papers.study import Picture, Report, Study

NAME = "lee-1982"
TABLES = tuple(f"{NAME} table {number}" for number in (1, 2))
HERE = f"{TABLES[0]} here"
_ADD, _MULTIPLY, _FETCH = 0.5e-6, 3.3e-6, 0.45e-6  # s, PDP 11/45 as printed
_TOTALS = "arithmetic on the totals of tables 1 and 2, which are counted already"

_ERRATA = (
    "No parameters of the PUMA 600 are printed: here it is a PUMA 560 as measured by Armstrong, Khatib & Burdick "
    "(1986), with rotors as collected by Corke & Armstrong-Hélouvry (1994). Neither is the trajectory: here a quintic "
    "of 2 s from rest to rest, and 0.5 s at its end.",
    "Eq. 3.10 has G with the wrong sign; eq. 3.6 has it right, but q̇_j for q̈_j in its first sum. After eq. 4.32 g is "
    "(0, 0, |g|, 0), where eq. 3.5 has (0, 0, −|g|, 0): so eqs. 4.32 to 4.41 have the right sign, and 3.10 has not.",
    "Eqs. 2.13 and 2.14 sum from the joint on, not from 1; eq. 2.20 holds in principal axes only; eq. 2.21, and with "
    "it 4.15, has r̄_i r̄_iᵗ where m_i r̄_i r̄_iᵗ is meant.",
    "Table 2's a_i and ā_i cannot be had from eqs. 3.23 and 3.24, which take 27n and 21n, 18n and 15n.",
)


def study(report: Report) -> Study:
    """The whole of it."""
    report(f"{NAME}: PUMA under computed torque", 0.0)
    control = errors()
    report(f"{NAME}: gains", 0.5)
    control = [*gains(), *laws(), *control, *numbers()]
    report(f"{NAME}: counting operations", 0.7)
    return Study(
        NAME,
        "Computed torque on a PUMA",
        "C. S. G. Lee, M. J. Chung, T. N. Mudge & J. L. Turney, On the control of mechanical manipulators, "
        "The University of Michigan, Ann Arbor, 1982",
        "A PUMA follows its joints' trajectory under the Newton–Euler control law, sampled every 10 ms, and the law's "
        "operations are counted, of the algorithms as they are printed.",
        (*control, *orders(), *ratios(), *printed_totals()),
        (_errors(),),
        tuple(counting.sheet(name) for name in (TABLES[0], HERE, TABLES[1])),
        _ERRATA,
    )


def orders() -> Iterator[Claim]:
    """The orders in n."""
    yield counting.order(TABLES[1], 1, "The law by Newton–Euler: operations linear in n", "table 2")
    yield counting.order(TABLES[0], 4, "The law by Lagrange–Euler: operations of order n⁴", "table 1")


def printed_totals() -> list[Claim]:
    """The tables' totals."""
    return [
        *(claim for name in (*TABLES, HERE) for claim in counting.totals(name)),
        *(claim for name in TABLES for claim in counting.sums(name)),
    ]


def ratios() -> list[Claim]:
    """What the two laws cost beside each other, and in time."""
    n = counting.JOINTS
    lagrange, here, newton = (counted_table(name) for name in (TABLES[0], HERE, TABLES[1]))
    ours = [_size(table.rows[-1].counted) for table in (here, newton)]
    terms = [_of_the_print(table.rows[:-1]) for table in (lagrange, newton)]
    counted = [sum(law.at(n) for law in pair) for pair in terms]
    printed = [_size(table.rows[-1].published or ()) for table in (lagrange, newton)]
    times = [_pdp(*(law.at(n) for law in laws)) for laws in (terms[1], newton.rows[-1].published or terms[1])]
    return [
        Claim(
            "hundred-times",
            "For six joints the law by Lagrange takes about 100 times the operations of that by Newton–Euler",
            "§5",
            Near(100.0, 0.5),
            counted[0] / counted[1],
            measure=f"{counted[0]} over {counted[1]}, counted of the algorithms as printed; by the printed totals "
            f"{printed[0]} over {printed[1]}",
            why="each of 392 traces takes four full 4×4 products",
            threshold=Threshold.OURS,
            apart=_TOTALS,
        ),
        Claim(
            "hundred-times-ours",
            "… with nothing formed twice",
            "§5",
            Near(100.0, 0.5),
            ours[0] / ours[1],
            measure=f"{ours[0]} over {ours[1]}",
            why="∂T J once for each pair, and only the diagonal of the product under a trace, 16 multiplications "
            "instead of 256",
            threshold=Threshold.OURS,
            apart="the algorithm used here, not the one that the table counts",
        ),
        Claim(
            "pdp",
            "A PDP 11/45 computes the Newton–Euler law in about 3 ms",
            "§5",
            Rounded(3.0, 1.0),
            1e3 * times[0],
            "ms",
            measure="counted at n = 6, 3.3 µs a multiplication, 0.5 µs an addition, 0.45 µs a fetch for each",
            why=f"with the printed counts {1e3 * times[1]:.2f} ms",
            threshold=Threshold.OURS,
            apart=_TOTALS,
        ),
    ]


def _size(laws: tuple[Law, ...]) -> int:
    return sum(law.at(counting.JOINTS) for law in laws)


def _of_the_print(rows: tuple[OperationRow, ...]) -> tuple[Law, Law]:
    pairs = [row.counted for row in rows if row.published is not None]
    multiplications, additions = pairs[0]
    for pair in pairs[1:]:
        multiplications, additions = multiplications + pair[0], additions + pair[1]
    return multiplications, additions


def _pdp(multiplications: int, additions: int) -> float:
    return multiplications * (_MULTIPLY + _FETCH) + additions * (_ADD + _FETCH)


def _errors() -> Picture:
    run, ours = printed_run(), our_run()
    bound = np.full_like(run.error, 1e6 * ERROR_BOUND)
    curves = (
        Curve("error θᵈ − θ, equations as printed", 1e6 * run.error, width=1.6),
        Curve("with rotors and preview", 1e6 * ours.error, INK, "--", 0.8),
        Curve("± 4.26·10⁻⁴ rad", bound, GREY, ":", 1.0),
        Curve("_", -bound, GREY, ":", 1.0),
    )
    columns = [f"{name}{joint}" for name in ("desired", "actual", "torque", "error_ours") for joint in JOINTS]
    table = np.hstack([run.desired, run.actual, run.torques, ours.error])
    return Picture(
        "Figures 3 to 8: position errors of joints 1 to 6",
        "Computed torque, K_p = 100, K_v = 20, sampled every 10 ms, from (90, 0, 90, 0, 0, 0)° to "
        "(45, 30, 0, 45, 60, 90)°.",
        six_panels(run.times, curves, "error, µrad", panel="Joint"),
        series("figs-3-to-8", "t", run.times, columns, table),
    )
