"""Tables of operations as printed: 001 (Turney, Mudge & Lee 1980) tables 2–4, 000 (Lee et al. 1982) tables 1–2.

Each row names the functions here that do the same work, and why they count otherwise where they do.
"""

from dataclasses import dataclass

from dynamics.serial.operation_polynomials import Pair, law


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """A printed row, None where the paper leaves the term out, and the functions that do it here."""

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
            "additions go over all q² terms, and are then summed as 16q(q − 1) where the text has 16q(q + 1)",
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

LEE_2 = PublishedTable(
    "lee-1982 table 2",
    "Controller based on the Newton–Euler equations of motion",
    (
        _ROTATIONS,
        _OMEGA,
        _ALPHA,
        PublishedRow(
            "a_i",
            (law(0, 27), law(0, 22)),
            ("origin_acceleration",),
            "three vector products take 18 and 9, R a_{i−1} 9 and 6, two sums 6: 21 additions, not 22",
        ),
        PublishedRow(
            "ā_i",
            (law(0, 15), law(0, 14)),
            ("center_acceleration",),
            "three vector products take 18 and 9, two sums 6; the printed 15 and 14 cannot be had from eq. 3.24",
        ),
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
            "r̄_i + r_i is a constant here, 3n less, the sum of N_i is in it, 3n more; the last link takes r × 0 like "
            "the others",
        ),
        _SERVO,
        _TORQUE,
    ),
    (law(-24, 119), law(-21, 107)),
    "linear in n as printed",
)
