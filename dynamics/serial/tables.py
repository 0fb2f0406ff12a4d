"""The papers' tables of operations beside counts of the algorithms here: 001 tables 1–5, 000 tables 1–2, 002 §4.5.

001 is Turney, Mudge & Lee (1980), 000 Lee, Chung, Mudge & Turney (1982), 002 Dasgupta & Mruthyunjaya (1998). Counted as
in `dynamics.counting`, on chains whose numbers are all in general position, all joints revolute.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from dynamics.counting import counted, platform_operations
from dynamics.mechanism import Mechanism
from dynamics.serial.chain import SerialChain
from dynamics.serial.computed_torque import computed_torque, computed_torque_lagrange
from dynamics.serial.lagrange_euler import lagrange_euler
from dynamics.serial.laws import NONE, Law, Pair, counted_laws, general_chain, law, sum_laws
from dynamics.serial.modified_newton_euler import modified_newton_euler
from dynamics.serial.newton_euler import newton_euler
from dynamics.serial.published import (
    LEE_1,
    LEE_2,
    TURNEY_2,
    TURNEY_3,
    TURNEY_4,
    PublishedTable,
)
from dynamics.variants.dasgupta_flops import flops_1998
from kinematics import Array


@dataclass(frozen=True, slots=True)
class OperationRow:
    """One term: the laws printed (None where the paper leaves it out) and counted, as (multiplications, additions)."""

    term: str
    published: Pair | None
    counted: Pair
    reason: str


@dataclass(frozen=True, slots=True)
class OperationTable:
    """A published table beside the counts; its last row is the total, printed total against the sum of all counts."""

    name: str
    title: str
    rows: tuple[OperationRow, ...]

    def records(self, joints: int = 6) -> list[dict[str, str | int]]:
        """Its rows with laws and values at a number of joints, ready for a CSV file; not printed is an empty cell."""
        records: list[dict[str, str | int]] = []
        for row in self.rows:
            record: dict[str, str | int] = {"term": row.term}
            for kind, index in (("multiplications", 0), ("additions", 1)):
                printed = None if row.published is None else row.published[index]
                record[f"published {kind}"] = "" if printed is None else str(printed)
                record[f"published {kind}, n = {joints}"] = "" if printed is None else printed.at(joints)
                record[f"counted {kind}"] = str(row.counted[index])
                record[f"counted {kind}, n = {joints}"] = row.counted[index].at(joints)
            record["explanation"] = row.reason
            records.append(record)
        return records


Run = Callable[[int], Callable[[], object]]


def _motion(joints: int) -> tuple[list[object], list[object], list[object]]:
    rng = np.random.default_rng(100 + joints)
    q, qd, qdd = (list[object](counted(rng.uniform(0.5, 0.9, joints))) for _ in range(3))
    return q, qd, qdd


def _inverse(algorithm: Callable[..., object], principal: bool) -> Run:
    return lambda n: lambda: algorithm(general_chain(n, principal), *_motion(n))


def _control(controller: Callable[..., object]) -> Run:
    def run(n: int) -> Callable[[], object]:
        chain: SerialChain = general_chain(n)
        q, qd, _ = _motion(n)
        return lambda: controller(chain, _motion(n), q, qd, 99.0, 19.0)

    return run


@cache
def _laws(table: PublishedTable, algorithm: str, principal: bool = False) -> dict[str, Pair]:
    runs: dict[str, Run] = {
        "newton-euler": _inverse(newton_euler, principal),
        "modified": _inverse(modified_newton_euler, principal),
        "lagrange": _inverse(lagrange_euler, principal),
        "control": _control(computed_torque),
        "lagrange control": _control(computed_torque_lagrange),
    }
    return counted_laws(runs[algorithm], [owner for row in table.rows for owner in row.owners])


def _table(table: PublishedTable, algorithm: str, principal: bool = False) -> OperationTable:
    laws = _laws(table, algorithm, principal)
    rows = [
        OperationRow(row.term, row.published, sum_laws([laws.get(owner, NONE) for owner in row.owners]), row.reason)
        for row in table.rows
    ]
    rows.append(OperationRow("total", table.total, sum_laws([row.counted for row in rows]), table.total_reason))
    return OperationTable(table.name, table.title, tuple(rows))


def printed_terms(table: OperationTable) -> Pair:
    """Sum of the counts of the terms that the paper's table has, so that like stands against like."""
    return sum_laws([row.counted for row in table.rows[:-1] if row.published is not None])


def _complexity() -> OperationTable:
    """001 table 1."""
    lagrange, plain = _table(TURNEY_2, "lagrange"), _table(TURNEY_3, "newton-euler")
    modified, full = _table(TURNEY_4, "modified", True), _table(TURNEY_4, "modified")
    pairs = ((lagrange, TURNEY_2), (plain, TURNEY_3), (modified, TURNEY_4))
    names = ("Lagrange", "Newton–Euler", "modified Newton–Euler")
    reasons = (
        "see table 2; the appendix's last lines have additions and multiplications interchanged",
        "see table 3; of the terms in it",
        "see table 4; of the terms in it, principal axes as there",
    )
    rows = [
        OperationRow(name, table.total, printed_terms(ours), reason)
        for name, (ours, table), reason in zip(names, pairs, reasons, strict=True)
    ]
    rows.append(
        OperationRow(
            "modified, products of inertia kept",
            None,
            printed_terms(full),
            "table 3 takes full tensors, table 4 principal ones: on equal terms the saving is this one",
        )
    )
    return OperationTable("turney-1980 table 1", "Computational complexity of the formulations", tuple(rows))


def _steps() -> OperationTable:
    """001 table 5, by its own schedule: what runs at the same time costs what the longest of it costs."""
    rows = {row.term: row.counted for row in _table(TURNEY_4, "modified", True).rows}

    def per_link(term: str) -> tuple[int, int]:
        return tuple(int(pair.coefficients[1]) for pair in rows[term])  # type: ignore[return-value]

    def longest(*terms: str) -> Pair:
        costs = [per_link(term) for term in terms]
        return law(0, max(cost[0] for cost in costs)), law(0, max(cost[1] for cost in costs))

    def once(term: str) -> Pair:
        multiplications, additions = per_link(term)
        return law(multiplications), law(additions)

    forward = longest("ω_i", "α_i", "A_i", "a_i", "m_i ā_i", "Tr{A_i K_i σᵀ}", "(r̄_i + r_i) × m_i ā_i")
    backward = longest("f_i", "r_i × R f_{i+1}", "R n_{i+1}", "sum of n_i")
    entries = (
        ("ω_1", (law(9), law(7)), once("ω_i"), ""),
        ("α_1", (law(9), law(9)), once("α_i"), "the two products of ω × z θ̇"),
        ("A_1", (law(6), law(9)), once("A_i"), ""),
        ("ω_2", (law(9), law(7)), once("ω_i"), ""),
        ("α_2", (law(9), law(9)), once("α_i"), "the two products of ω × z θ̇"),
        ("forward, per link", (law(0, 18), law(0, 15)), forward, "a_i is the longest"),
        (
            "backward, per link",
            (law(0, 9), law(0, 12)),
            backward,
            "the longest has 9 additions: the sum of n_i has four terms, and f_i takes 6 + 3; the print has 12",
        ),
    )
    built = [OperationRow(*entry) for entry in entries]
    total = sum_laws([row.counted for row in built])
    built.append(OperationRow("total", (law(42, 27), law(41, 27)), total, "by the schedule of table 5"))
    return OperationTable("turney-1980 table 5", "Simultaneous steps in the modified Newton–Euler", tuple(built))


@cache
def operation_tables() -> tuple[OperationTable, ...]:
    """001 tables 1 to 5 and 000 tables 1 and 2, each printed law beside the law counted here, with the reason."""
    return (
        _complexity(),
        _table(TURNEY_2, "lagrange"),
        _table(TURNEY_3, "newton-euler"),
        _table(TURNEY_4, "modified", True),
        _steps(),
        _table(LEE_1, "lagrange control"),
        _table(LEE_2, "control"),
    )


@dataclass(frozen=True, slots=True)
class NewtonEulerRatio:
    """Operations of the modified over those of the plain Newton–Euler form, at n joints.

    `published` by the totals of 001 table 1; `counted` of the same terms with full tensors in both; `as_printed` with
    the full tensor in the plain form and the principal one in the modified, as the tables have it.
    """

    joints: int
    published: float
    counted: float
    as_printed: float


def newton_euler_ratio(joints: int = 6) -> NewtonEulerRatio:
    """How much cheaper 001's modified form is, multiplications and additions together."""

    def size(pair: tuple[Law, Law]) -> int:
        return pair[0].at(joints) + pair[1].at(joints)

    plain = size(printed_terms(_table(TURNEY_3, "newton-euler")))
    return NewtonEulerRatio(
        joints,
        size(TURNEY_4.total) / size(TURNEY_3.total),
        size(printed_terms(_table(TURNEY_4, "modified"))) / plain,
        size(printed_terms(_table(TURNEY_4, "modified", True))) / plain,
    )


@dataclass(frozen=True, slots=True)
class PlatformRow:
    """One part of the platform's inverse dynamics: floating-point operations as 002 §4.5 has them, counted in its
    printed equations by the rule of MATLAB's "flops", and counted in the exact inverse dynamics here."""

    part: str
    published: int
    as_printed: int
    counted: int
    reason: str


def platform_table(mechanism: Mechanism, motion: Array, wrench: Array | None = None) -> tuple[PlatformRow, ...]:
    """The 4889 operations of 002 §4.5 beside those of its printed equations, and of the exact inverse dynamics here.

    002 leaves viscous friction out: take a mechanism without. The last row is a serial arm, plain Newton–Euler.
    """
    printed, exact = flops_1998(mechanism, motion, wrench), platform_operations(mechanism, motion, wrench)
    serial = _table(TURNEY_3, "newton-euler").rows[-1].counted
    arm = serial[0].at(6) + serial[1].at(6)
    published = (("leg", "each leg", 694), ("platform", "platform", 273), ("equations", "final system", 452))
    reasons = {
        "leg": "eqs. 1 to 24. The exact model turns the leg's rotation to its own axes, where both tensors are "
        "constant and add up, instead of both tensors to base axes, 216 operations; it has the spin and the moment of "
        "the universal joint besides",
        "platform": "eqs. 30 to 32 and what has no leg in eq. 35, ℜ given. The exact model leaves the tensor in "
        "platform axes; 18 additions of it only check that the motion is finite",
        "equations": "eqs. 35 to 37, solved by elimination. 002 does not say how it solves: inverting a 6×6 matrix "
        "takes 2n³ = 432",
    }
    rows = [
        PlatformRow(name, number, printed[part].total, exact[part].total, reasons[part])
        for part, name, number in published
    ]
    totals = printed["total"].total, exact["total"].total
    rows.append(PlatformRow("total: 6 legs, platform, final system", 4889, *totals, "sum of the above"))
    law = "132n and 111n − 4 after Fu, Gonzalez & Lee; here plain Newton–Euler, link rotations and τ included"
    rows.append(PlatformRow("serial arm, six joints", 1454, arm, arm, law))
    return tuple(rows)
