"""Lee, Chung, Mudge & Turney (1982): a change of the code turns every verdict that is counted."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module

import pytest
import reproduced
from turning import Turn, check_turn, check_whole

from dynamics import serial
from dynamics.serial import SerialChain, puma, puma_study
from dynamics.serial.chain import Matrix, Scalar, Vector, apply, multiply, transpose
from rig.papers import Study, lee_1982
from rig.papers import operation_claims as counting
from rig.papers.claims import Claim

recursion = import_module("dynamics.serial.recursions")
MULTIPLIED, ADDED = "multiplications", "additions"


@pytest.fixture(scope="module")
def study() -> Study:
    return reproduced.study("lee-1982")


def _gravity_mended(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("dynamics.serial.as_printed._printed_gravity", list)


def _rotors(preview: bool) -> Callable[[pytest.MonkeyPatch], None]:
    def change(patch: pytest.MonkeyPatch) -> None:
        run = puma_study(plant=puma(), model=puma(), preview=preview)
        patch.setattr(serial, "puma_study", lambda **_changes: run)

    return change


def _forces_from_the_hand_for_every_joint(patch: pytest.MonkeyPatch) -> None:
    """The way inward gone anew for every joint: the same torques, and no recursion."""
    whole = recursion.inward

    def inward(chain: SerialChain, *rows: Sequence[Scalar] | None) -> list[Scalar]:
        def above(i: int) -> Scalar:
            return whole(replace(chain, links=chain.links[i:]), *(row and row[i:] for row in rows))[0]

        return [above(i) for i in range(len(chain))]

    patch.setattr(recursion, "inward", inward)


def _no_velocity_traces(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("dynamics.serial.as_printed.velocity_trace", lambda *_factors: 0)


def _diagonals_of_traces(patch: pytest.MonkeyPatch) -> None:
    """Of the last of the four products only what the trace takes."""

    def printed_trace(before: Matrix, after: Matrix, J: Matrix, front: Matrix, back: Matrix) -> Scalar:
        left, right = multiply(multiply(before, after), J), multiply(front, back)
        return sum(x * y for a, b in zip(left, right, strict=True) for x, y in zip(a, b, strict=True))

    patch.setattr("dynamics.serial.as_printed.printed_trace", printed_trace)


def _vector_products_by_matrices(patch: pytest.MonkeyPatch) -> None:
    """Nine products for a vector product instead of six."""

    def cross(a: Vector, b: Vector) -> list[Scalar]:
        zero = a[0] - a[0]
        return apply(transpose([[zero, a[2], -a[1]], [-a[2], zero, a[0]], [a[1], -a[0], zero]]), b)

    patch.setattr(recursion, "cross", cross)


def _totals(table: int) -> list[Claim]:
    return counting.totals(lee_1982.TABLES[table - 1])


TURNS: dict[str, Turn] = {
    "control-laws": Turn(_gravity_mended, lee_1982.laws),
    "errors": Turn(_rotors(preview=True), lee_1982.errors),
    "oscillatory": Turn(_rotors(preview=False), lee_1982.errors),
    "lee-1982-table-1-order": Turn(_no_velocity_traces, lee_1982.orders),
    "lee-1982-table-2-order": Turn(_forces_from_the_hand_for_every_joint, lee_1982.orders),
    f"lee-1982-1-{MULTIPLIED}": Turn(_diagonals_of_traces, lambda: _totals(1)),
    f"lee-1982-1-{ADDED}": Turn(_diagonals_of_traces, lambda: _totals(1)),
    f"lee-1982-2-{MULTIPLIED}": Turn(_vector_products_by_matrices, lambda: _totals(2)),
    f"lee-1982-2-{ADDED}": Turn(_vector_products_by_matrices, lambda: _totals(2)),
}


def test_no_counted_verdict_is_without_its_turn(study: Study) -> None:
    check_whole(study, TURNS)


@pytest.mark.parametrize("key", TURNS)
def test_turn(study: Study, key: str) -> None:
    check_turn(study, key, TURNS[key])
