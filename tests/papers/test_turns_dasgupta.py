"""Each counted verdict on Dasgupta & Mruthyunjaya (1998) turns where the code under it, or a number it prints, does."""

import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import reproduced
from turning import Turn, check_turn, check_whole

from dynamics import Body, Leg, Mechanism, load_mechanism
from dynamics.papers import dasgupta_flops, variants
from kinematics import Array, inverse_kinematics_kernel
from rig.papers import Claim, Study
from rig.papers.dasgupta_1998 import (
    joint_space_claim,
    light_platform_claims,
    operation_claims,
    path_one_claims,
    path_two_claims,
    realistic_claim,
)
from rig.papers.dasgupta_singular import crossing_claim, higher_claim, path_three_claims
from rig.papers.paths import PLANS, run_path
from rig.papers.spherical_ends import spherical_claim

MODEL = "dasgupta-1998"
PRINTED = sys.modules["dynamics.papers.dasgupta"]
Change = Callable[[pytest.MonkeyPatch], None]


def machine(alter: Callable[[Mechanism], Mechanism]) -> Change:
    """Other numbers of the manipulator than the appendix prints."""

    def load(name: str, **options: Any) -> Mechanism:
        return alter(load_mechanism(name, **options))

    return lambda patch: patch.setattr("rig.papers.paths.load_mechanism", load)


def legs(alter: Callable[[Leg], Leg]) -> Change:
    return machine(lambda mechanism: replace(mechanism, legs=tuple(alter(leg) for leg in mechanism.legs)))


def light(leg: Leg) -> Leg:
    """A twentieth of the leg's inertia."""

    def lighter(body: Body) -> Body:
        return replace(body, mass=body.mass / 20.0, inertia=body.inertia / 20.0)

    return replace(leg, lower=lighter(leg.lower), upper=lighter(leg.upper))


def rods(leg: Leg) -> Leg:
    """Parts with the tensors of thin rods."""

    def rod(body: Body) -> Body:
        return replace(body, inertia=np.diag([1e-3, 1e-2, 1e-2]))

    return replace(leg, lower=rod(leg.lower), upper=rod(leg.upper))


def plan(name: str, **other: Any) -> Change:
    """Other parameters of a path."""
    return lambda patch: patch.setitem(PLANS, name, replace(PLANS[name], **other))


def into_the_singularity(patch: pytest.MonkeyPatch) -> None:
    """Path III in place of paths I and II."""
    for name in ("I", "II"):
        patch.setitem(PLANS, name, PLANS["III"])


def equations(alter: Callable[[Callable[..., Any], Mechanism, Array, Array], Any]) -> Change:
    """The printed equations with a change."""

    def change(patch: pytest.MonkeyPatch) -> None:
        printed = variants._PUBLISHED[MODEL]
        patch.setitem(variants._PUBLISHED, MODEL, lambda *given: alter(printed, *given))

    return change


def counted_once(patch: pytest.MonkeyPatch) -> None:
    """Eq. 16 without the theorem of parallel axes."""
    patch.setattr(PRINTED, "_parallel_axes", lambda _m_u, L: np.zeros((*L.shape, 3, 3)))


def blunt(patch: pytest.MonkeyPatch) -> None:
    """Eq. 36 by least squares with damping, which know of no singularity."""

    def solve_legs(H: Array, c: Array) -> Array:
        across = H.swapaxes(-1, -2)
        return np.asarray(np.linalg.solve(across @ H + 0.05 * np.eye(6), across @ c[..., None])[..., 0])

    patch.setattr(PRINTED, "solve_legs", solve_legs)


def sixfold(patch: pytest.MonkeyPatch) -> None:
    """The legs' lengths, speeds and accelerations computed anew for each leg."""

    class Repeated:
        @staticmethod
        def py_func(geometry: Any, motion: Any, legs: Any) -> int:
            status = 0
            for _ in range(6):
                status = inverse_kinematics_kernel(geometry, motion, legs)
            return status

    patch.setattr("dynamics.papers.counting.inverse_kinematics_kernel", Repeated)


def unturned(patch: pytest.MonkeyPatch) -> None:
    """Tensors that need not be turned to base axes."""
    patch.setattr(dasgupta_flops, "_about", lambda _T, tensor: [list(row) for row in tensor])


def repeated(patch: pytest.MonkeyPatch) -> None:
    """The final system solved once for each leg."""
    solve = dasgupta_flops._equations

    def _equations(reactions: Any, platform: Any) -> Any:
        return [solve(reactions, platform)[leg] for leg in range(6)]

    patch.setattr(dasgupta_flops, "_equations", _equations)


def one() -> Iterable[Claim]:
    return path_one_claims(run_path("I"))


def payload() -> Iterable[Claim]:
    return light_platform_claims(run_path("I"))


def both() -> Iterable[Claim]:
    return path_two_claims(run_path("I"), run_path("II"))


def three() -> Iterable[Claim]:
    return path_three_claims(run_path("III"))


MOVING = np.array([1.0] * 13 + [0.0] * 6)
"""Of a motion, what is not acceleration."""
ASIDE = {"end": (0.5, 1.5, 1.3, 0.15, 0.25, 0.0), "speed": 0.04, "angular_speed": 0.016}
"""The first part of path III, which ends before the singularity."""
TURNS: dict[str, Turn] = {
    "joint-space": Turn(sixfold, lambda: [joint_space_claim()]),
    "operations-platform": Turn(unturned, operation_claims),
    "parallel": Turn(repeated, operation_claims),
    "realistic-parameters": Turn(legs(rods), lambda: [realistic_claim()]),
    "path-1-crossing": Turn(machine(lambda mechanism: replace(mechanism, mass=4.0)), one),
    "path-1-fraction-common": Turn(legs(light), one),
    "path-1-fraction-maximum-printed": Turn(legs(light), one),
    "fraction-payload": Turn(
        equations(lambda printed, mechanism, *given: printed(replace(mechanism, mass=0.0), *given)), payload
    ),
    "fraction-speed": Turn(plan("II", duration=60.0, speed=0.008, angular_speed=0.008), both),
    "path-2-steps": Turn(
        equations(lambda printed, mechanism, motions, *given: printed(mechanism, motions * MOVING, *given)), both
    ),
    "path-3-together": Turn(blunt, three),
    "spherical-ends": Turn(counted_once, lambda: [spherical_claim()]),
    "higher-condition": Turn(into_the_singularity, lambda: [higher_claim()]),
    "singularity-one": Turn(plan("III", **ASIDE), lambda: [crossing_claim()]),
}  # fmt: skip


@pytest.fixture(scope="module")
def study() -> Study:
    return reproduced.study(MODEL)


def test_every_counted_verdict_has_its_turn(study: Study) -> None:
    check_whole(study, TURNS)


@pytest.mark.parametrize("key", TURNS)
def test_a_verdict_turns(study: Study, key: str) -> None:
    check_turn(study, key, TURNS[key])
