"""The papers' operation tables and counts of the algorithms here, as polynomials in the number of joints."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import pairwise

import numpy as np

from dynamics.mechanism import Mechanism
from dynamics.papers.counting import Operations, count_operations, counted, platform_operations, sum_operations
from dynamics.papers.dasgupta_flops import flops_1998
from dynamics.serial.as_printed import computed_torque_as_printed, computed_torque_expanded, newton_euler_as_counted
from dynamics.serial.chain import Link, SerialChain, solve_positive_definite
from dynamics.serial.lagrangian import lagrange_euler
from dynamics.serial.recursions import modified_newton_euler, newton_euler
from dynamics.serial.torque_control import computed_torque, computed_torque_lagrange
from kinematics import Array

SAMPLES = range(2, 7)  # joints: five counts fix a polynomial of order 4
BEYOND = range(7, 9)
"""Numbers of joints beyond those of the fit; counts there validate it."""
_POWERS = ("", "n", "n²", "n³", "n⁴")


@dataclass(frozen=True, slots=True)
class Law:
    """A polynomial in the number n of joints; coefficients in rising powers."""

    coefficients: tuple[Fraction, ...]

    def at(self, joints: int) -> int:
        """Evaluate at n joints, rounded if a printed law is not whole."""
        return round(sum((c * joints**power for power, c in enumerate(self.coefficients)), start=Fraction(0)))

    @property
    def order(self) -> int:
        """Highest power."""
        return max((power for power, c in enumerate(self.coefficients) if c), default=0)

    def __add__(self, other: "Law") -> "Law":
        """Sum."""
        a, b = self.coefficients, other.coefficients
        width = max(len(a), len(b))
        padded = [(*x, *(Fraction(0),) * (width - len(x))) for x in (a, b)]
        return Law(tuple(x + y for x, y in zip(*padded, strict=True)))

    def times(self, factor: int) -> "Law":
        """Multiply by a factor."""
        return Law(tuple(factor * c for c in self.coefficients))

    def __str__(self) -> str:
        """Format as text: 32n² − 32n."""
        text = ""
        for power in reversed(range(len(self.coefficients))):
            c = self.coefficients[power]
            if not c:
                continue
            size = abs(c)
            number = "" if size == 1 and power else f"{size}{' ' if size.denominator > 1 and power else ''}"
            sign = ("−" if c < 0 else "") if not text else (" − " if c < 0 else " + ")
            text += f"{sign}{number}{_POWERS[power]}"
        return text or "0"


Pair = tuple[Law, Law]
"""Multiplications and additions."""

NONE: Pair = (Law((Fraction(0),)), Law((Fraction(0),)))


def law(*coefficients: int | str) -> Law:
    """Make a law from its coefficients in rising powers, fractions as text."""
    return Law(tuple(Fraction(c) for c in coefficients))


def sum_laws(pairs: Sequence[Pair]) -> Pair:
    """Sum of pairs."""
    total = NONE
    for pair in pairs:
        total = total[0] + pair[0], total[1] + pair[1]
    return total


def interpolated(values: Sequence[int]) -> Law:
    """Interpolate counts at SAMPLES."""
    matrix = [[Fraction(n) ** power for power in range(len(SAMPLES))] for n in SAMPLES]
    return Law(tuple(solve_positive_definite(matrix, [Fraction(v) for v in values])))


def degree(values: Sequence[int]) -> int:
    """Order of the polynomial through values at successive numbers of joints; one less than their number if none fits.

    A lower order is confirmed by the remaining values.
    """
    differences = list(values)
    for order in range(len(values)):
        differences = [b - a for a, b in pairwise(differences)]
        if not any(differences):
            return order
    return len(values) - 1


def general_chain(joints: int, principal: bool = False) -> SerialChain:
    """Return a chain of revolute joints without numbers 0, 1 or −1, rotors, friction and joint offsets.

    Gravity is along z₀, as in both papers. With `principal` the links' axes are principal, as Turney, Mudge & Lee
    (1980, eq. 1.26) assume.
    """
    rng = np.random.default_rng(joints)
    links = []
    for _ in range(joints):
        inertia = np.diag(rng.uniform(1.0, 1.5, 3))
        if not principal:
            across = np.triu(rng.uniform(0.05, 0.1, (3, 3)), 1)
            inertia += across + across.T
        a, d, alpha = rng.uniform(0.2, 0.4, 3)
        center = rng.uniform(0.1, 0.2, 3).tolist()
        links.append(Link(a=a, d=d, alpha=alpha, mass=rng.uniform(2.0, 3.0), center=center, inertia=inertia.tolist()))
    return SerialChain(tuple(links), (0.0, 0.0, -9.8))


def counted_laws(run: Callable[[int], Callable[[], object]], owners: Sequence[str]) -> dict[str, Pair]:
    """Fit laws to the counts of `run(n)`, by owner as in `count_operations`; the rest is under REST."""
    counts = [count_operations(run(n), owners=owners) for n in SAMPLES]
    laws = {}
    for owner in sorted({name for count in counts for name in count}):
        numbers = [count.get(owner, Operations()) for count in counts]
        laws[owner] = (
            interpolated([x.multiplications for x in numbers]),
            interpolated([x.additions for x in numbers]),
        )
    return laws


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """A printed row, None if the paper omits the term, and the functions here that compute it."""

    term: str
    published: Pair | None
    owners: tuple[str, ...]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """A printed table."""

    name: str
    title: str
    rows: tuple[PublishedRow, ...]
    total: Pair
    total_reason: str


_ROTATIONS = PublishedRow("R_{i−1}ⁱ", None, ("rotation",), "not counted in print; with 2n sines and cosines")
_TRANSFORMATIONS = PublishedRow(
    "T_{i−1}ⁱ", None, ("rotation", "transformation"), "not counted in print; with 2n sines and cosines"
)
_TORQUE = PublishedRow("τ_i", None, ("joint_force",), "eq. 3.21 (3.27 in 000), not counted in print")
_OMEGA = PublishedRow("ω_i", (law(0, 9), law(0, 7)), ("angular_velocity",), "the same")
_ALPHA = PublishedRow(
    "α_i",
    (law(0, 9), law(0, 9)),
    ("angular_acceleration",),
    "ω × z θ̇ takes the two products ω_x θ̇ and ω_y θ̇, which the print leaves out",
)
_LEVER = PublishedRow("(r̄_i + r_i) × m_i ā_i", (law(0, 6), law(0, 3)), ("moment_of_inertial_force",), "the same")
_ABOVE = PublishedRow("r_i × R f_{i+1}", (law(0, 6), law(0, 3)), ("moment_of_force_above",), "the same")
_MOMENT_ABOVE = PublishedRow(
    "R n_{i+1}", (law(0, 9), law(0, 6)), ("moment_from_above",), "the last link has none above it"
)

TURNEY_2 = PublishedTable(
    "turney-1980 table 2",
    "Breakdown of Lagrange terms",
    (
        _TRANSFORMATIONS,
        PublishedRow("T_jⁱ", (law(0, -32, 32), law(0, -24, 24)), ("chain_products",), "the same"),
        PublishedRow("∂T₀ⁱ/∂θ_j", (law(0, -32, 32), law(0, -24, 24)), ("first_derivatives",), "the same"),
        PublishedRow(
            "∂²T₀ⁱ/∂θ_j∂θ_k",
            (law(0, "-32/3", 0, "32/3"), law(0, -8, 0, 8)),
            ("second_derivatives",),
            "the same; the appendix's text has 16n(n² − 1) additions, a misprint",
        ),
        PublishedRow(
            "{Σ ∂T θ̈ + ΣΣ ∂²T θ̇θ̇} J",
            (law(0, "209/3", "17/2", "17/6"), law(0, "80/3", 0, "16/3")),
            ("kinetic_matrix",),
            "the sum over j ≤ k has q(q + 1)/2 matrices, in print q(q − 1)/2, without those of j = k; the printed "
            "additions go over all q² terms, and are then summed as 16q(q − 1) where the text has 16q(q + 1); "
            "2 θ̇_j θ̇_k is q additions here",
        ),
        PublishedRow(
            "Tr{[…] ∂T₀^q/∂θ_i}",
            (law(0, 8, 8), law(0, 7, 8)),
            ("trace_of_product", "lagrange_euler"),
            "the same, and a second addition that brings in gravity, in print with the next term",
        ),
        PublishedRow(
            "Σ z₀ᵀ ∂T₀^q/∂θ_i m_q g r̄_q",
            (law(0, 2, 2), law(0, 1, 2)),
            ("gravity_force",),
            "the same, but that the sum over q, n(n − 1)/2 additions, is counted with the row before",
        ),
    ),
    (law(0, 5, "165/2", "81/6"), law(0, "-64/3", 58, "40/3")),
    "the order is n³, from ∂²T₀ⁱ/∂θ_j∂θ_k and its sum, as printed",
)


def mended_turney_2() -> Pair:
    """Totals of 001 table 2 by the steps of its appendix, mended: q(q + 1)/2 pairs j ≤ k, and their sums over q.

    2 θ̇_j θ̇_k takes q additions for link q, and gravity n to bring it into the torques.
    """

    def over_links(step: Callable[[int], int]) -> Law:
        return interpolated([sum(step(q) for q in range(1, n + 1)) for n in SAMPLES])

    def pairs(q: int) -> int:
        return q * (q + 1) // 2

    kinetic = (
        over_links(lambda q: 16 * q + 17 * pairs(q) + 64),
        over_links(lambda q: 16 * (q - 1) + 16 * (pairs(q) - 1) + 16 + 48 + q),
    )
    rows = [row.published for row in TURNEY_2.rows if row.published and "kinetic_matrix" not in row.owners]
    return sum_laws([*rows, kinetic, (law(0), law(0, 1))])


_MATRIX = PublishedRow("A_i", (law(0, 6), law(0, 9)), ("turning_matrix",), "the same")
_PLAIN_FORCES = (
    PublishedRow(
        "f_i",
        (law(-12, 12), law(-9, 9)),
        ("inertial_force", "force_from_above", "link_force"),
        "m_n ā_n and its addition are needed for the last link too; only R f is not",
    ),
    PublishedRow("I_i α_i", (law(0, 9), law(0, 6)), ("inertial_moment",), "the same"),
    PublishedRow("ω_i × I_i ω_i", (law(0, 15), law(0, 9)), ("gyroscopic_moment",), "the same"),
    _LEVER,
    _ABOVE,
    _MOMENT_ABOVE,
    PublishedRow(
        "sum of n_i", (law(0), law(0, 15)), ("link_moment",), "five vectors take four additions of 3; printed five"
    ),
    _TORQUE,
)
_TURNEY_3_TOTAL = (law(-12, 108), law(-9, 100))

TURNEY_3 = PublishedTable(
    "turney-1980 table 3",
    "Breakdown of Newton–Euler terms",
    (
        _ROTATIONS,
        _OMEGA,
        _ALPHA,
        _MATRIX,
        PublishedRow(
            "a_i", (law(0, 18), law(0, 15)), ("rotated_acceleration", "matrix_origin_acceleration"), "the same"
        ),
        PublishedRow("ā_i", (law(0, 9), law(0, 9)), ("matrix_point_acceleration",), "the same"),
        *_PLAIN_FORCES,
    ),
    _TURNEY_3_TOTAL,
    "linear in n as printed; a_i and ā_i by the matrix A_i of §5, which table 3 has already",
)

TURNEY_3_HERE = PublishedTable(
    "turney-1980 table 3 here",
    "Newton–Euler terms by eqs. 3.15 to 3.21 as they stand",
    (
        _ROTATIONS,
        _OMEGA,
        _ALPHA,
        PublishedRow("A_i", (law(0, 6), law(0, 9)), (), "§3 has no A_i"),
        PublishedRow(
            "a_i",
            (law(0, 18), law(0, 15)),
            ("origin_acceleration",),
            "as eq. 3.17 stands: three vector products, R a_{i−1} and their sum",
        ),
        PublishedRow(
            "ā_i",
            (law(0, 9), law(0, 9)),
            ("center_acceleration",),
            "as eq. 3.18 stands: three vector products and their sum",
        ),
        *_PLAIN_FORCES,
    ),
    _TURNEY_3_TOTAL,
    "linear in n as printed; mostly the vector products of a_i and ā_i, for which the print has A_i",
)

TURNEY_4 = PublishedTable(
    "turney-1980 table 4",
    "Breakdown of modified Newton–Euler terms",
    (
        _ROTATIONS,
        _OMEGA,
        _ALPHA,
        _MATRIX,
        PublishedRow(
            "a_i",
            (law(-18, 18), law(-15, 15)),
            ("rotated_acceleration", "matrix_origin_acceleration"),
            "the last link needs R a_{n−1} for m_n ā_n, half of a_n; a_n itself is formed here as well",
        ),
        PublishedRow("m_i ā_i", (law(0, 12), law(0, 9)), ("matrix_center_acceleration", "inertial_force"), "the same"),
        PublishedRow(
            "f_i", (law(-9, 9), law(-9, 9)), ("force_from_above", "link_force"), "the sum is made for the last link too"
        ),
        PublishedRow(
            "Tr{A_i K_i σᵀ}",
            (law(0, 6), law(0, 3)),
            ("inertial_moment_of_matrix",),
            "the same in principal axes; with products of inertia 18n and 15n",
        ),
        _LEVER,
        _ABOVE,
        _MOMENT_ABOVE,
        PublishedRow(
            "sum of n_i",
            (law(0), law(0, 15)),
            ("link_moment",),
            "four vectors take three additions of 3; printed as for table 3's five, and there one too many",
        ),
        _TORQUE,
    ),
    (law(-27, 90), law(-24, 88)),
    "linear in n as printed",
)

_SERVO = PublishedRow("q̈ᵈ + K_v ė + K_p e", (law(0, 2), law(0, 4)), ("servo_acceleration",), "the same")

_CHAIN = PublishedRow("T_jⁱ", (law(0, -32, 32), law(0, -24, 24)), ("chain_products",), "the same")
_GRAVITY = ("−m_j g ∂T₀ʲ/∂q_i r̄_j", (law(0, -28, 36), law(0, "-45/2", "51/2")))
_GRAVITY_SUM = ("Σ m_j g ∂T₀ʲ/∂q_i r̄_j", (law(0), law(0, "-1/2", "1/2")))
_SQUARES = PublishedRow("τ = D[…] + H + G", (law(0, 0, 2, 1), law(0, 0, 1, 1)), ("control_sum",), "the same")
_LEE_1_TOTAL = (law(0, "82/3", "850/3", "515/3", "128/3"), law(0, "131/6", "640/3", "787/6", "98/3"))

LEE_1 = PublishedTable(
    "lee-1982 table 1",
    "Controller based on the Lagrange–Euler equations of motion",
    (
        _TRANSFORMATIONS,
        _CHAIN,
        PublishedRow(*_GRAVITY, ("first_derivatives", "gravity_term"), "the same: ∂T₀ʲ/∂q_i included, g along z₀"),
        PublishedRow(
            "Tr{∂T₀ᵏ/∂q_j J_k (∂T₀ᵏ/∂q_i)ᵀ}",
            (law(0, "256/3", 128, "128/3"), law(0, 65, "195/2", "65/2")),
            ("inertia_trace",),
            "the same: each of the n(n + 1)(n + 2)/6 traces takes four full 4×4 products, 256 and 195",
        ),
        PublishedRow(
            "Tr{∂²T₀ᵐ/∂q_j∂q_k J_m (∂T₀ᵐ/∂q_i)ᵀ}",
            (law(0, 0, "256/3", 128, "128/3"), law(0, 0, 65, "195/2", "65/2")),
            ("velocity_trace",),
            "the same: n times as many traces, i from 1 to n as eq. 3.9 has it",
        ),
        PublishedRow(
            "sums of these three",
            (law(0), law(0, "-2/3", "1/3", "1/6", "1/6")),
            ("lagrange_coefficients_as_printed",),
            "the same: n(n − 1)/2, (n³ − n)/6 and (n⁴ − n²)/6 additions",
        ),
        _SERVO,
        _SQUARES,
    ),
    _LEE_1_TOTAL,
    "n⁴ as printed, four full products for each trace",
)

LEE_1_HERE = PublishedTable(
    "lee-1982 table 1 here",
    "The same control law with nothing formed twice",
    (
        _TRANSFORMATIONS,
        _CHAIN,
        PublishedRow(
            *_GRAVITY,
            ("first_derivatives", "gravity_force"),
            "∂T₀ʲ/∂q_i included, kept for what follows; of r̄_j m_j g the products are formed beforehand",
        ),
        PublishedRow(*_GRAVITY_SUM, ("lagrange_coefficients",), "the same"),
        PublishedRow(
            "Σ Tr{∂T₀ᵏ/∂q_j J_k (∂T₀ᵏ/∂q_i)ᵀ}",
            (law(0, "256/3", 128, "128/3"), law(0, "389/6", "195/2", "98/3")),
            ("inertia_terms",),
            "in print each of the n(n + 1)(n + 2)/6 traces takes four full 4×4 products, 256; here ∂T₀ᵏ/∂q_j J_k is "
            "formed once and of its product with (∂T₀ᵏ/∂q_i)ᵀ the diagonal only, 16",
        ),
        PublishedRow(
            "Σ Tr{∂²T₀ᵐ/∂q_j∂q_k J_m (∂T₀ᵐ/∂q_i)ᵀ}",
            (law(0, 0, "256/3", 128, "128/3"), law(0, 0, "389/6", "195/2", "98/3")),
            ("second_derivatives", "velocity_terms"),
            "the order is n⁴ as printed, with 2 for 128/3: 16 instead of 256 for each trace, and i from 1 to m "
            "instead of to n",
        ),
        _SERVO,
        _SQUARES,
    ),
    _LEE_1_TOTAL,
    "n⁴ as printed, at a seventh of the cost for six joints: nothing is formed twice",
)


def _newton_euler_control(title: str, origin: PublishedRow, center: PublishedRow) -> PublishedTable:
    return PublishedTable(
        "lee-1982 table 2",
        title,
        (
            _ROTATIONS,
            _OMEGA,
            _ALPHA,
            origin,
            center,
            PublishedRow("F_i", (law(0, 3), law(0)), ("inertial_force",), "the same"),
            PublishedRow("f_i", (law(-9, 9), law(-6, 9)), ("force_from_above", "link_force"), "the same"),
            PublishedRow(
                "N_i",
                (law(0, 24), law(0, 18)),
                ("inertial_moment", "gyroscopic_moment"),
                "the same, but that their sum, 3n, is counted with n_i here",
            ),
            PublishedRow(
                "n_i",
                (law(-15, 21), law(-15, 24)),
                ("moment_of_inertial_force", "moment_of_force_above", "moment_from_above", "link_moment"),
                "r̄_i + r_i is a constant here, 3n less, the sum of N_i is in it, 3n more; the last link takes r × 0 "
                "like the others",
            ),
            _SERVO,
            _TORQUE,
        ),
        (law(-24, 119), law(-21, 107)),
        "linear in n as printed",
    )


_ORIGIN, _CENTER = (law(0, 27), law(0, 22)), (law(0, 15), law(0, 14))
LEE_2 = _newton_euler_control(
    "Controller based on the Newton–Euler equations of motion",
    PublishedRow(
        "a_i", _ORIGIN, ("squared_rate", "expanded_origin_acceleration"), "the same: ω×(ω×r) as ω(ω·r) − r(ω·ω)"
    ),
    PublishedRow("ā_i", _CENTER, ("expanded_center_acceleration",), "the same, ω·ω being there from a_i"),
)
LEE_2_HERE = _newton_euler_control(
    "The same control law with one vector product after the other",
    PublishedRow(
        "a_i", _ORIGIN, ("origin_acceleration",), "three vector products take 18 and 9, R a_{i−1} 9 and 6, two sums 6"
    ),
    PublishedRow("ā_i", _CENTER, ("center_acceleration",), "three vector products take 18 and 9, two sums 6"),
)


@dataclass(frozen=True, slots=True)
class OperationRow:
    """One term: the laws printed (None if the paper omits it) and counted, as (multiplications, additions)."""

    term: str
    published: Pair | None
    counted: Pair
    reason: str


@dataclass(frozen=True, slots=True)
class OperationTable:
    """A published table with counts; its last row is the total: printed total and the sum of all counts."""

    name: str
    title: str
    rows: tuple[OperationRow, ...]

    def records(self, joints: int = 6) -> list[dict[str, str | int]]:
        """Return the rows with laws and values at a number of joints, for a CSV file; an empty cell was not printed."""
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


_RUNS: dict[str, tuple[PublishedTable, Run]] = {
    "turney-1980 table 2": (TURNEY_2, _inverse(lagrange_euler, False)),
    "turney-1980 table 3": (TURNEY_3, _inverse(newton_euler_as_counted, False)),
    "turney-1980 table 3 here": (TURNEY_3_HERE, _inverse(newton_euler, False)),
    "turney-1980 table 3 principal": (TURNEY_3, _inverse(newton_euler_as_counted, True)),
    "turney-1980 table 3 here principal": (TURNEY_3_HERE, _inverse(newton_euler, True)),
    "turney-1980 table 4": (TURNEY_4, _inverse(modified_newton_euler, True)),
    "turney-1980 table 4 full": (TURNEY_4, _inverse(modified_newton_euler, False)),
    "lee-1982 table 1": (LEE_1, _control(computed_torque_as_printed)),
    "lee-1982 table 1 here": (LEE_1_HERE, _control(computed_torque_lagrange)),
    "lee-1982 table 2": (LEE_2, _control(computed_torque_expanded)),
    "lee-1982 table 2 here": (LEE_2_HERE, _control(computed_torque)),
}


@cache
def counted_table(name: str) -> OperationTable:
    """Return a table by name: printed laws, laws of the algorithm counted there, and "here" of the algorithm used here.

    "turney-1980 table 4 full" keeps the products of inertia, "… table 3 principal" does without them.
    """
    if name in _BUILT:
        return _BUILT[name]()
    table, run = _RUNS[name]
    laws = counted_laws(run, [owner for row in table.rows for owner in row.owners])
    rows = [
        OperationRow(row.term, row.published, sum_laws([laws.get(owner, NONE) for owner in row.owners]), row.reason)
        for row in table.rows
    ]
    rows.append(OperationRow("total", table.total, sum_laws([row.counted for row in rows]), table.total_reason))
    return OperationTable(table.name, table.title, tuple(rows))


@cache
def counted_order(name: str) -> int:
    """Order in n of all operations of a table's algorithm: the polynomial through its counts at SAMPLES and BEYOND.

    The laws are fitted to SAMPLES; the counts BEYOND are new.
    """
    _, run = _RUNS[name]
    fitted = counted_table(name).rows[-1].counted
    beyond = [sum_operations(count_operations(run(n))) for n in BEYOND]
    return degree(
        [
            *(sum(law.at(n) for law in fitted) for n in SAMPLES),
            *(count.multiplications + count.additions for count in beyond),
        ]
    )


def printed_terms(table: OperationTable) -> Pair:
    """Sum the counts of the terms that the paper's table has, for a like-for-like comparison."""
    return sum_laws([row.counted for row in table.rows[:-1] if row.published is not None])


def _complexity() -> OperationTable:
    """001 table 1."""
    lagrange, plain = counted_table("turney-1980 table 2"), counted_table("turney-1980 table 3")
    modified, full = counted_table("turney-1980 table 4"), counted_table("turney-1980 table 4 full")
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
    """001 table 5, by its own schedule: parallel steps cost as much as the longest."""
    rows = {row.term: row.counted for row in counted_table("turney-1980 table 4").rows}

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


_BUILT = {"turney-1980 table 1": _complexity, "turney-1980 table 5": _steps}


def operation_tables() -> tuple[OperationTable, ...]:
    """001 tables 1 to 5 and 000 tables 1 and 2: each printed law with the law counted here and the reason."""
    names = [f"turney-1980 table {k}" for k in range(1, 6)] + [f"lee-1982 table {k}" for k in (1, 2)]
    return tuple(counted_table(name) for name in names)


@dataclass(frozen=True, slots=True)
class NewtonEulerSaving:
    """Fraction of the operations of the plain Newton–Euler form that 001's modified form saves, at n joints.

    `published` from the totals of table 1; `as_printed` counted as the tables are, with A_i and the full tensor in the
    plain form, and the principal tensor in the modified; `counted` on equal terms, eqs. 3.15–3.21 as they stand and
    full tensors in both; `principal` with principal ones in both, `principal_matrix` with A_i in both as well.
    """

    joints: int
    published: float
    as_printed: float
    counted: float
    principal: float
    principal_matrix: float


def newton_euler_saving(joints: int = 6) -> NewtonEulerSaving:
    """Compute the saving of 001's modified form, multiplications and additions together."""

    def size(pair: tuple[Law, Law]) -> int:
        return pair[0].at(joints) + pair[1].at(joints)

    def saving(modified: str, plain: str) -> float:
        cost = [size(printed_terms(counted_table(f"turney-1980 table {name}"))) for name in (modified, plain)]
        return 1.0 - cost[0] / cost[1]

    published = 1.0 - size(TURNEY_4.total) / size(TURNEY_3.total)
    pairs = (("4", "3"), ("4 full", "3 here"), ("4", "3 here principal"), ("4", "3 principal"))
    return NewtonEulerSaving(joints, published, *(saving(*pair) for pair in pairs))


@dataclass(frozen=True, slots=True)
class PlatformRow:
    """Floating-point operations of one part of the platform's inverse dynamics.

    From 002 §4.5, counted in its printed equations by the rule of MATLAB's "flops", and counted in the exact
    inverse dynamics here.
    """

    part: str
    published: int
    as_printed: int
    counted: int
    reason: str


def platform_table(mechanism: Mechanism, motion: Array, wrench: Array | None = None) -> tuple[PlatformRow, ...]:
    """Compare the 4889 operations of 002 §4.5 with counts of its printed equations and of the model here.

    002 omits viscous friction: use a mechanism without. The last row is a serial arm, plain Newton–Euler.
    """
    printed, exact = flops_1998(mechanism, motion, wrench), platform_operations(mechanism, motion, wrench)
    serial = counted_table("turney-1980 table 3 here").rows[-1].counted
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
