"""Turney, Mudge & Lee (1980): a change of the code turns every verdict that is counted."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from types import ModuleType

import pytest
import reproduced
from turning import Turn, check_turn, check_whole

from dynamics import serial
from dynamics.serial import (
    SerialChain,
    chain_acceleration,
    lagrange_euler,
    modified_newton_euler,
    newton_euler,
    strobed_coriolis,
    strobed_mass_matrix,
)
from dynamics.serial.chain import Matrix, Scalar, Vector, multiply, transpose
from rig.papers import Study, turney_1980
from rig.papers import operation_claims as counting
from rig.papers.claims import Claim

recursions, torque_control, printed, lagrange, strobing_cost = (
    import_module(f"dynamics.{name}")
    for name in (
        "serial.recursions", "serial.torque_control", "serial.as_printed", "serial.lagrangian", "papers.strobing_cost"
    )
)  # fmt: skip
Change = Callable[[pytest.MonkeyPatch], None]
KINDS = ("multiplications", "additions")


@pytest.fixture(scope="module")
def study() -> Study:
    return reproduced.study("turney-1980")


def _section_3_mended(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(printed, "_printed_turn", printed._turn)
    patch.setattr(printed, "_printed_point", lambda link, _r: link.center)


def _strobed_under_gravity(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(torque_control, "_WEIGHTLESS", None)


def _recursion_for_every_pair(patch: pytest.MonkeyPatch) -> None:
    """The recursion gone for every pair of joints, as Lagrange's sums go."""
    once = printed._recursion
    patch.setattr(printed, "_recursion", lambda chain, *rest: [once(chain, *rest) for _ in range(len(chain) ** 2)][-1])


def _section_5_mended(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(printed, "_printed_matrix", printed.turning_matrix)


def _each_rate_alone_taken_off(patch: pytest.MonkeyPatch) -> None:
    def recursion(chain: object, q: object, rates: list[float], qdd: object, gravity: object) -> list[float]:
        alone = [
            newton_euler(chain, q, [rate if i == j else 0.0 for i, rate in enumerate(rates)], qdd, gravity=gravity)  # type: ignore[arg-type]
            for j in range(len(rates))
        ]
        both = newton_euler(chain, q, rates, qdd, gravity=gravity)  # type: ignore[arg-type]
        return [0.5 * (x - sum(column)) for x, column in zip(both, zip(*alone, strict=True), strict=True)]

    patch.setattr(serial, "newton_euler", recursion)


def _no_gyroscopic_moment(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(recursions, "gyroscopic_moment", lambda _inertia, omega: [0.0 * x for x in omega])


def _kinetic_terms_for_every_torque(patch: pytest.MonkeyPatch) -> None:
    """What the appendix forms once, formed again for every joint that it acts on."""
    once = lagrange.kinetic_matrix
    patch.setattr(lagrange, "kinetic_matrix", lambda i, *rest: [once(i, *rest) for _ in range(i)][-1])


def _forces_from_the_hand_for_every_joint(where: ModuleType) -> Change:
    """The way inward gone anew for every joint: the same torques, and no recursion."""
    whole = where.inward

    def inward(chain: SerialChain, *rows: Sequence[Scalar] | None) -> list[Scalar]:
        def above(i: int) -> Scalar:
            return whole(replace(chain, links=chain.links[i:]), *(row and row[i:] for row in rows))[0]

        return [above(i) for i in range(len(chain))]

    return lambda patch: patch.setattr(where, "inward", inward)


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


def _recursion_for_every_torque(
    chain: SerialChain, q: list[Scalar], qd: list[Scalar], qdd: list[Scalar], gravity: Sequence[float] | None = None
) -> list[Scalar]:
    """The whole recursion anew for each joint's torque."""
    return [modified_newton_euler(chain, q, qd, qdd, gravity=gravity)[i] for i in range(len(chain))]


def _strobed_by(recursion: Callable[..., object], function: Callable[..., object], *before: object) -> Change:
    """A strobed form runs another recursion than the modified one."""
    return lambda patch: patch.setattr(function, "__defaults__", (*before, recursion))


def _moving_strobed_for_every_torque(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(strobing_cost, "modified_newton_euler", _recursion_for_every_torque)


def _each_rate_alone(patch: pytest.MonkeyPatch) -> None:
    """Of the C^i only C_jj is strobed: n recursions instead of one for each pair of rates."""

    def recursion(chain: SerialChain, q: list[Scalar], qd: list[Scalar], *rest: Scalar, **options: Scalar) -> object:
        moving = sum(float(rate) != 0.0 for rate in qd)
        return modified_newton_euler(chain, q, qd, *rest, **options) if moving == 1 else [0.0] * len(chain)

    patch.setattr(strobed_coriolis, "__defaults__", (recursion,))


def _totals(table: int) -> Callable[[], list[Claim]]:
    return lambda: counting.totals(f"turney-1980 table {table}")


_MASS = _strobed_by(_recursion_for_every_torque, strobed_mass_matrix)
_STEP = _strobed_by(_recursion_for_every_torque, chain_acceleration, None)

TURNS: dict[str, Turn] = {
    "equivalence": Turn(_no_gyroscopic_moment, turney_1980.equations),
    "links-axes": Turn(_section_3_mended, turney_1980.equations),
    "modified-equivalent": Turn(_section_5_mended, turney_1980.equations),
    "strobing": Turn(_strobed_under_gravity, turney_1980.strobing),
    "strobing-rates": Turn(_each_rate_alone_taken_off, turney_1980.strobing),
    "turney-1980-table-2-order": Turn(_kinetic_terms_for_every_torque, turney_1980.orders),
    "turney-1980-table-3-order": Turn(_forces_from_the_hand_for_every_joint(printed), turney_1980.orders),
    "turney-1980-table-4-order": Turn(_forces_from_the_hand_for_every_joint(recursions), turney_1980.orders),
    "newton-euler-cheaper": Turn(_recursion_for_every_pair, turney_1980.savings),
    "modified-cheaper": Turn(_turning_matrix_by_products(recursions), turney_1980.savings),
    **{f"turney-1980-2-{kind}": Turn(_whole_products_under_the_trace, turney_1980.printed_totals) for kind in KINDS},
    **{f"turney-1980-3-{kind}": Turn(_turning_matrix_by_products(printed), _totals(3)) for kind in KINDS},
    **{f"turney-1980-4-{kind}": Turn(_turning_matrix_by_products(recursions), _totals(4)) for kind in KINDS},
    "turney-1980-5-multiplications": Turn(_turning_matrix_by_products(recursions), _totals(5)),
    "strobing-mass-outward": Turn(_MASS, turney_1980.strobing_orders),
    "strobing-mass-inward": Turn(_MASS, turney_1980.strobing_orders),
    "strobing-coriolis-outward": Turn(_moving_strobed_for_every_torque, turney_1980.strobing_orders),
    "strobing-coriolis-inward": Turn(_each_rate_alone, turney_1980.strobing_orders),
    "strobing-step": Turn(_STEP, turney_1980.strobing_orders),
    "step-works-better": Turn(_strobed_by(lagrange_euler, chain_acceleration, None), turney_1980.effort),
}


def test_no_counted_verdict_is_without_its_turn(study: Study) -> None:
    check_whole(study, TURNS)


@pytest.mark.parametrize("key", TURNS)
def test_turn(study: Study, key: str) -> None:
    check_turn(study, key, TURNS[key])
