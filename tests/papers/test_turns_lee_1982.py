"""Lee, Chung, Mudge & Turney (1982): a change of the code turns every verdict that is counted."""

from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module

import pytest
import reproduced
from turning import Turn, check_turn, check_whole

from dynamics.serial import SerialChain
from dynamics.serial.chain import Scalar, Vector, apply, transpose
from rig.papers import Study, lee_1982

recursion, printed = (import_module(f"dynamics.serial.{name}") for name in ("recursions", "as_printed"))


@pytest.fixture(scope="module")
def study() -> Study:
    return reproduced.study("lee-1982")


def _gravity_mended(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("dynamics.serial.as_printed._printed_gravity", list)


def _forces_from_the_hand_for_every_joint(patch: pytest.MonkeyPatch) -> None:
    """The way inward gone anew for every joint: the same torques, and no recursion."""
    whole = recursion.inward

    def inward(chain: SerialChain, *rows: Sequence[Scalar] | None) -> list[Scalar]:
        def above(i: int) -> Scalar:
            return whole(replace(chain, links=chain.links[i:]), *(row and row[i:] for row in rows))[0]

        return [above(i) for i in range(len(chain))]

    for module in (recursion, printed):
        patch.setattr(module, "inward", inward)


def _no_velocity_traces(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("dynamics.serial.as_printed.velocity_trace", lambda *_factors: 0)


def _vector_products_by_matrices(patch: pytest.MonkeyPatch) -> None:
    """Nine products for a vector product instead of six."""

    def cross(a: Vector, b: Vector) -> list[Scalar]:
        zero = a[0] - a[0]
        return apply(transpose([[zero, a[2], -a[1]], [-a[2], zero, a[0]], [a[1], -a[0], zero]]), b)

    for module in (recursion, printed):
        patch.setattr(module, "cross", cross)


def _rank_not_asked_for(patch: pytest.MonkeyPatch) -> None:
    """Condition (c) left out."""
    patch.setattr("dynamics.serial.torque_control.damped_rank", lambda position, _velocity: len(position))


TURNS: dict[str, Turn] = {
    "error-vanishes": Turn(_rank_not_asked_for, lee_1982.gains),
    "control-laws": Turn(_gravity_mended, lambda: [lee_1982.law_claim()]),
    "lee-1982-table-1-order": Turn(_no_velocity_traces, lee_1982.orders),
    "lee-1982-table-2-order": Turn(_forces_from_the_hand_for_every_joint, lee_1982.orders),
    "lee-1982-2-additions": Turn(_vector_products_by_matrices, lee_1982.printed_totals),
}


def test_no_counted_verdict_is_without_its_turn(study: Study) -> None:
    check_whole(study, TURNS)


@pytest.mark.parametrize("key", TURNS)
def test_turn(study: Study, key: str) -> None:
    check_turn(study, key, TURNS[key])
