"""Each counted verdict on Dasgupta & Mruthyunjaya (1998) turns where the code under it, or a number it prints, does."""

import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from turning import Turn, check_turn, check_whole

from dynamics import Body, Leg, Mechanism, load_mechanism, variants
from dynamics.counting import Counted
from dynamics.variants import dasgupta_flops
from kinematics import Array
from rig.papers import Claim, Study, reproduce
from rig.papers.dasgupta_claims import light_platform_claims, path_one_claims, path_two_claims
from rig.papers.dasgupta_operations import joint_space_claim, operation_claims
from rig.papers.dasgupta_singular import path_three_claims, random_pose_claims, rank_claims
from rig.papers.optimal_path import crossing_claim
from rig.papers.paths import PLANS, run_path
from rig.papers.spherical_ends import spherical_claims

MODEL = "dasgupta-1998"
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


def plan(name: str, **other: Any) -> Change:
    """Other parameters of a path."""
    return lambda patch: patch.setitem(PLANS, name, replace(PLANS[name], **other))


def equations(alter: Callable[[Callable[..., Any], Mechanism, Array, Array], Any]) -> Change:
    """The printed equations with a change."""

    def change(patch: pytest.MonkeyPatch) -> None:
        printed = variants._PUBLISHED[MODEL]
        patch.setitem(variants._PUBLISHED, MODEL, lambda *given: alter(printed, *given))

    return change


def straight(leg: Leg) -> Leg:
    """Centres of mass on the leg's axis: less is wrong with universal joints."""

    def on_axis(body: Body) -> Body:
        return replace(body, center_of_mass=body.center_of_mass * [1.0, 0.0, 0.0])

    return replace(leg, lower=on_axis(leg.lower), upper=on_axis(leg.upper))


def blunt(patch: pytest.MonkeyPatch) -> None:
    """Eq. 36 by least squares with damping, which know of no singularity."""

    def solve_legs(H: Array, c: Array) -> Array:
        across = H.swapaxes(-1, -2)
        return np.asarray(np.linalg.solve(across @ H + 0.05 * np.eye(6), across @ c[..., None])[..., 0])

    patch.setattr(sys.modules["dynamics.variants.dasgupta_1998"], "solve_legs", solve_legs)


def unturned(patch: pytest.MonkeyPatch) -> None:
    """Tensors that need not be turned to base axes."""
    patch.setattr(dasgupta_flops, "_about", lambda _T, tensor: [list(row) for row in tensor])


def additions_free(patch: pytest.MonkeyPatch) -> None:
    """Additions are not counted."""
    patch.setattr(Counted, "__add__", lambda self, other: Counted(self.value + float(other)))
    patch.setattr(Counted, "__radd__", Counted.__add__)


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


def ranks() -> Iterable[Claim]:
    return rank_claims(run_path("III"), run_path("I"))


MOVING = np.array([1.0] * 13 + [0.0] * 6)
"""Of a motion, what is not acceleration."""
HEAVY = machine(lambda mechanism: replace(mechanism, mass=400.0, inertia=10.0 * mechanism.inertia))
SLOW = plan("II", duration=6.0, speed=0.08, angular_speed=0.08)
ASIDE = {"end": (0.5, 1.5, 1.3, 0.15, 0.25, 0.0), "speed": 0.04, "angular_speed": 0.016}
"""The first part of path III, which ends before the singularity."""
TURNS: dict[str, Turn] = {
    "joint-space": Turn(
        lambda patch: patch.setattr("rig.papers.dasgupta_operations.SAMPLES", 10**12), lambda: [joint_space_claim()]
    ),
    "operations-leg": Turn(unturned, operation_claims),
    "operations-platform": Turn(unturned, operation_claims),
    "operations-serial": Turn(additions_free, operation_claims),
    "operations-ratio": Turn(unturned, operation_claims),
    "parallel": Turn(repeated, operation_claims),
    "path-1-moderate": Turn(HEAVY, one),
    "path-1-crossing": Turn(machine(lambda mechanism: replace(mechanism, mass=4.0)), one),
    "path-1-fraction-common": Turn(legs(light), one),
    "path-1-fraction-maximum-printed": Turn(legs(light), one),
    "light-platform": Turn(legs(light), payload),
    "fraction-payload": Turn(
        equations(lambda printed, mechanism, *given: printed(replace(mechanism, mass=0.0), *given)), payload
    ),
    "path-2-bounds": Turn(SLOW, both),
    "fraction-speed": Turn(plan("II", duration=60.0, speed=0.008, angular_speed=0.008), both),
    "path-2-steps": Turn(
        equations(lambda printed, mechanism, motions, *given: printed(mechanism, motions * MOVING, *given)), both
    ),
    "path-3-forces": Turn(lambda patch: patch.setattr("rig.papers.paths.SAMPLES", 121), three),
    "path-3-together": Turn(blunt, three),
    "near-singular-forces": Turn(HEAVY, random_pose_claims),
    "condition-and-force-3": Turn(blunt, ranks),
    "condition-and-force-1": Turn(plan("I", end=(0.1, 0.4, 0.4, 0.0, 0.0, 0.2), speed=0.1), ranks),
    "spherical-ends": Turn(legs(straight), spherical_claims),
    "singularity-one": Turn(plan("III", **ASIDE), lambda: [crossing_claim()]),
}  # fmt: skip


@pytest.fixture(scope="module")
def study() -> Study:
    return reproduce([MODEL])[0]


def test_every_counted_verdict_has_its_turn(study: Study) -> None:
    check_whole(study, TURNS)


@pytest.mark.parametrize("key", TURNS)
def test_a_verdict_turns(study: Study, key: str) -> None:
    check_turn(study, key, TURNS[key])
