"""Every decided verdict on the paper of 2012 turns with a change of the code under it."""

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from turning import Turn, check_turn, check_whole

from dynamics import Mechanism, load_mechanism, papers
from dynamics.papers import pedrammehr
from dynamics.papers.pedrammehr import pods_in_motion
from kinematics import Array
from rig.papers import Claim, Study, paths
from rig.papers.pedrammehr_2012 import (
    accuracy,
    claims,
    equation_claims,
    parallel_axes,
    spin_claims,
    trend,
)

Change = Callable[[pytest.MonkeyPatch], None]


def manipulator_with(change: Callable[[Mechanism], Mechanism]) -> Change:
    """The paper's manipulator, changed."""
    load = load_mechanism

    def changed(name: str, **options: Any) -> Mechanism:
        return change(load(name, **options))

    return lambda patch: patch.setattr(paths, "load_mechanism", changed)


def axes(new: Mapping[int, tuple[float, float, float]]) -> Change:
    """Other fixed axes of some pods' universal joints."""

    def change(mechanism: Mechanism) -> Mechanism:
        u = mechanism.geometry.universal_axes.copy()
        for pod, axis in new.items():
            u[pod - 1] = axis
        return replace(mechanism, geometry=replace(mechanism.geometry, universal_axes=u))

    return manipulator_with(change)


def heavy_legs(mechanism: Mechanism) -> Mechanism:
    """The upper parts' mass, 1 kg, fifty times as large."""
    legs = tuple(replace(leg, upper=replace(leg.upper, mass=50.0 * leg.upper.mass)) for leg in mechanism.legs)
    return replace(mechanism, legs=legs)


def eq_25_mended(patch: pytest.MonkeyPatch) -> None:
    printed = pedrammehr._spin_up
    patch.setattr(pedrammehr, "_spin_up", lambda *parts, mended: printed(*parts, mended=True))


def eqs_42_43_mended(patch: pytest.MonkeyPatch) -> None:
    compact = pedrammehr.compact_forces
    patch.setattr(
        papers,
        "compact_forces",
        lambda mechanism, motions, mends, **options: compact(
            mechanism, motions, mends=(*mends, *pedrammehr.EVERY_TERM), **options
        ),
    )


def moment_about_the_opposite_side(patch: pytest.MonkeyPatch) -> None:
    """Eq. 34 with c turned to the other side of the pod."""
    module = sys.modules["dynamics.papers.pedrammehr"]  # the package has its function by that name
    whole = pods_in_motion

    def changed(mechanism: Mechanism, motions: Array) -> object:
        found = whole(mechanism, motions)
        n = found.motion.s
        return replace(found, c=2.0 * np.sum(found.c * n, axis=-1, keepdims=True) * n - found.c)

    patch.setattr(module, "pods_in_motion", changed)


def no_moment_of_swinging_masses(patch: pytest.MonkeyPatch) -> None:
    """Eq. 31 without m L×(α×L), in place of which the parallel-axis terms would stand."""
    patch.setattr(pedrammehr, "_squared", lambda L: np.zeros((*L.shape, 3)))


def slow_accuracy() -> Iterable[Claim]:
    yield accuracy("2", "I", "fig. 9")


TURNS: dict[str, Turn] = {
    "path-1-perpendicular": Turn(axes(dict.fromkeys((1, 2, 6), (1.0, 0.0, 0.0)) | {4: (0.0, 1.0, 0.0)}), spin_claims),
    "tangential-acceleration": Turn(eq_25_mended, equation_claims),
    "compact-form": Turn(eqs_42_43_mended, equation_claims),
    "path-2-trends": Turn(manipulator_with(heavy_legs), lambda: [trend("2", "I", "fig. 9")]),
    "path-3-trends": Turn(manipulator_with(heavy_legs), lambda: [trend("3", "II", "fig. 10")]),
    "path-2-accuracy": Turn(moment_about_the_opposite_side, slow_accuracy),
    "parallel-axes": Turn(no_moment_of_swinging_masses, lambda: [parallel_axes()]),
}


@cache
def study() -> Study:
    """Its claims alone: the figures take longer."""
    return Study("pedrammehr-2012", "", "", "", claims(), (), (), ())


def test_every_decided_claim_has_its_turn() -> None:
    check_whole(study(), TURNS)


@pytest.mark.parametrize("key", TURNS)
def test_the_verdict_turns(key: str) -> None:
    check_turn(study(), key, TURNS[key])
