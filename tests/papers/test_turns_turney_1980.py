"""Turney, Mudge & Lee (1980): a change of the code turns every verdict that is counted."""

from collections.abc import Callable
from importlib import import_module

import pytest
from turning import Turn, check_turn, check_whole

from dynamics import lagrange_euler, newton_euler, strobed_mass_matrix
from dynamics.serial.laws import general_chain
from dynamics.serial.vectors import Matrix, Scalar, Vector, multiply, transpose
from rig.papers import Study, chains, reproduce, turney_1980
from rig.papers import operation_claims as counting
from rig.papers.claims import Claim

tables, strobing_cost = (import_module(f"dynamics.serial.{name}") for name in ("tables", "strobing_cost"))
printed, modified, lagrange = (
    import_module(f"dynamics.serial.{name}") for name in ("as_printed", "modified_newton_euler", "lagrange_euler")
)
Change = Callable[[pytest.MonkeyPatch], None]
KINDS = ("multiplications", "additions")


@pytest.fixture(scope="module")
def study() -> Study:
    return reproduce(["turney-1980"])[0]


def _section_3_mended(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(printed, "_printed_turn", printed._turn)
    patch.setattr(printed, "_printed_point", lambda link, _r: link.center)


def _section_5_mended(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(printed, "_printed_matrix", printed.turning_matrix)
    patch.setattr(printed, "_printed_moment", printed.inertial_moment_of_matrix)


def _each_rate_alone_taken_off(patch: pytest.MonkeyPatch) -> None:
    def recursion(chain: object, q: object, rates: list[float], qdd: object, gravity: object) -> list[float]:
        alone = [
            newton_euler(chain, q, [rate if i == j else 0.0 for i, rate in enumerate(rates)], qdd, gravity=gravity)  # type: ignore[arg-type]
            for j in range(len(rates))
        ]
        both = newton_euler(chain, q, rates, qdd, gravity=gravity)  # type: ignore[arg-type]
        return [0.5 * (x - sum(column)) for x, column in zip(both, zip(*alone, strict=True), strict=True)]

    patch.setattr(chains, "newton_euler", recursion)


def _counts(table: int, algorithm: Callable[..., object]) -> Change:
    """The table counts another algorithm."""

    def change(patch: pytest.MonkeyPatch) -> None:
        name = f"turney-1980 table {table}"
        patch.setitem(tables._RUNS, name, (tables._RUNS[name][0], tables._inverse(algorithm, False)))

    return change


def _on_the_tables_terms(patch: pytest.MonkeyPatch) -> None:
    """A_i and the full tensor in the plain form, the principal one in the modified."""
    for name, other in (("3 here", "3"), ("4 full", "4")):
        patch.setitem(tables._RUNS, f"turney-1980 table {name}", tables._RUNS[f"turney-1980 table {other}"])


def _whole_products_under_the_trace(patch: pytest.MonkeyPatch) -> None:
    def trace_of_product(A: Matrix, B: Matrix) -> Scalar:
        product = multiply(A, transpose(B))
        return product[0][0] + product[1][1] + product[2][2] + product[3][3]

    patch.setattr(lagrange, "trace_of_product", trace_of_product)


def _turning_matrix_by_products(module: object) -> Change:
    """A_i as the square of ω's matrix and α's: 27 products instead of six."""

    def skew(v: Vector) -> list[list[Scalar]]:
        zero = v[0] - v[0]
        return [[zero, -v[2], v[1]], [v[2], zero, -v[0]], [-v[1], v[0], zero]]

    def turning_matrix(omega: Vector, alpha: Vector) -> list[list[Scalar]]:
        square, turn = multiply(skew(omega), skew(omega)), skew(alpha)
        return [[x + y for x, y in zip(a, b, strict=True)] for a, b in zip(square, turn, strict=True)]

    return lambda patch: patch.setattr(module, "turning_matrix", turning_matrix)


def _strobes(run: str, *, like: str = "", times: bool = False) -> Change:
    """A strobed form costs what another does, or M is formed once for each joint."""

    def change(patch: pytest.MonkeyPatch) -> None:
        other = strobing_cost._RUNS.get(like)
        if times:

            def other(n: int) -> Callable[[], object]:
                chain, posture = general_chain(n), strobing_cost._posture(n)
                return lambda: [strobed_mass_matrix(chain, posture) for _ in range(n)]

        patch.setitem(strobing_cost._RUNS, run, other)

    return change


def _totals(table: int) -> Callable[[], list[Claim]]:
    return lambda: counting.totals(f"turney-1980 table {table}")


TURNS: dict[str, Turn] = {
    "equivalence": Turn(_section_3_mended, turney_1980.equations),
    "modified-equivalent": Turn(_section_5_mended, turney_1980.equations),
    "strobing-rates": Turn(_each_rate_alone_taken_off, turney_1980.strobing),
    "turney-1980-table-2-order": Turn(_counts(2, newton_euler), turney_1980.orders),
    "turney-1980-table-3-order": Turn(_counts(3, lagrange_euler), turney_1980.orders),
    "turney-1980-table-4-order": Turn(_counts(4, lagrange_euler), turney_1980.orders),
    "modified-cheaper": Turn(_on_the_tables_terms, turney_1980.savings),
    **{f"turney-1980-2-{kind}": Turn(_whole_products_under_the_trace, _totals(2)) for kind in KINDS},
    **{f"turney-1980-3-{kind}": Turn(_turning_matrix_by_products(printed), _totals(3)) for kind in KINDS},
    **{f"turney-1980-4-{kind}": Turn(_turning_matrix_by_products(modified), _totals(4)) for kind in KINDS},
    **{f"turney-1980-5-{kind}": Turn(_turning_matrix_by_products(modified), _totals(5)) for kind in KINDS},
    "strobing-mass-outward": Turn(_strobes("M", times=True), turney_1980.strobing_orders),
    "strobing-mass-inward": Turn(_strobes("M", times=True), turney_1980.strobing_orders),
    "strobing-coriolis-outward": Turn(_strobes("C", like="M"), turney_1980.strobing_orders),
    "strobing-coriolis-inward": Turn(_strobes("C", like="M"), turney_1980.strobing_orders),
    "strobing-step": Turn(_strobes("step", like="C"), turney_1980.strobing_orders),
}


def test_no_counted_verdict_is_without_its_turn(study: Study) -> None:
    check_whole(study, TURNS)


@pytest.mark.parametrize("key", TURNS)
def test_turn(study: Study, key: str) -> None:
    check_turn(study, key, TURNS[key])
