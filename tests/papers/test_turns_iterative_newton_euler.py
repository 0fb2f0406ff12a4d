"""The iterative Newton–Euler form: a change of the code turns every verdict that is counted."""

from collections.abc import Callable
from importlib import import_module

import numpy as np
import pytest
import reproduced
from turning import Turn, check_turn, check_whole

from dynamics.serial.chain import Matrix, Scalar, Vector, apply_transposed
from rig.papers import Study, Verdict, iterative_newton_euler

iterative = import_module("dynamics.serial.iterative")
Change = Callable[[pytest.MonkeyPatch], None]


@pytest.fixture(scope="module")
def study() -> Study:
    return reproduced.study("iterative-newton-euler")


def _is(name: str, function: Callable[..., object]) -> Change:
    """An equation without one of its terms."""
    return lambda patch: patch.setattr(iterative, name, function)


def _no_lever(R: Matrix, v: Vector, _omega: Vector, _p: Vector) -> list[Scalar]:
    return apply_transposed(R, v)


def _no_coriolis(_omega: Vector, _qd: Scalar, qdd: Scalar) -> list[Scalar]:
    return [0.0, 0.0, qdd]


def _moments_for_all(patch: pytest.MonkeyPatch) -> None:
    """§2.3 with eq. 2-5 for prismatic joints too."""
    inward = iterative._inward

    def whole(chain: object, states: object, wrench: object, prismatic_moments: bool) -> object:
        return inward(chain, states, wrench, True)

    patch.setattr(iterative, "_inward", whole)


def _falling(patch: pytest.MonkeyPatch) -> None:
    """v̇_0 along gravity instead of against it."""
    outward = iterative._outward
    patch.setattr(iterative, "_outward", lambda chain, q, qd, qdd, base: outward(chain, q, qd, qdd, [-x for x in base]))


TURNS: dict[str, Turn] = {
    "velocities": Turn(_is("carried_velocity", _no_lever), iterative_newton_euler.motion),
    "accelerations": Turn(_is("sliding_acceleration", _no_coriolis), iterative_newton_euler.motion),
    "center-accelerations": Turn(
        _is("center_acceleration", lambda a, _omega, _alpha, _center: a), iterative_newton_euler.motion
    ),
    "joint-forces": Turn(
        _is("gyroscopic_moment", lambda _inertia, _omega: [0.0, 0.0, 0.0]), iterative_newton_euler.forces
    ),
    "prismatic-rows": Turn(_moments_for_all, iterative_newton_euler.forces),
    "contact": Turn(_is("moment_of_force", lambda _p, _force: [0.0, 0.0, 0.0]), iterative_newton_euler.forces),
    "gravity": Turn(_falling, iterative_newton_euler.forces),
}


def test_no_counted_verdict_is_without_its_turn(study: Study) -> None:
    check_whole(study, TURNS)


@pytest.mark.parametrize("key", TURNS)
def test_turn(study: Study, key: str) -> None:
    check_turn(study, key, TURNS[key])


def test_what_the_iteration_gives_and_what_its_print_leaves_out(study: Study) -> None:
    verdicts = {claim.key: claim.verdict for claim in study.counted}
    assert verdicts.pop("prismatic-rows") is Verdict.ERRATUM
    assert set(verdicts.values()) == {Verdict.REPRODUCED}
    whole, printed = np.split(np.array(study.pictures[0].numbers.rows)[:, 1:], 2, axis=1)
    same = np.abs(whole - printed).max(axis=0) < 1e-9 * np.abs(whole).max(axis=0)
    # the joints below the third, which slides; it and those above do not need its moment
    assert same.tolist() == [False, False, True, True, True, True]
