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
from rig.papers.paths import run_path
from rig.papers.pedrammehr_2012 import (
    OWN,
    accuracy,
    claims,
    equation_claims,
    parallel_axes,
    path_one,
    pods_of,
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
        lambda mechanism, motions, mends: compact(mechanism, motions, mends=(*mends, *pedrammehr.EVERY_TERM)),
    )


def moment_along_the_fixed_axis(patch: pytest.MonkeyPatch) -> None:
    """Eq. 34 with u instead of c: about the one axis that the universal joint leaves free."""
    module = sys.modules["dynamics.papers.pedrammehr"]  # the package has its function by that name
    whole = pods_in_motion

    def changed(mechanism: Mechanism, motions: Array) -> object:
        found = whole(mechanism, motions)
        return replace(found, c=np.broadcast_to(mechanism.geometry.universal_axes, found.c.shape))

    patch.setattr(module, "pods_in_motion", changed)


def no_moment_of_swinging_masses(patch: pytest.MonkeyPatch) -> None:
    """Eq. 31 without m L×(α×L), in place of which the parallel-axis terms would stand."""
    patch.setattr(pedrammehr, "_squared", lambda L: np.zeros((*L.shape, 3)))


def first_path() -> Iterable[Claim]:
    return spin_claims(pods_of(path_one()))


def slow_accuracy() -> Iterable[Claim]:
    yield accuracy("2", "fig. 9", run_path("I", OWN), run_path("I"))


TURNS: dict[str, Turn] = {
    "path-1-velocities": Turn(axes({4: (0.0, 1.0, 0.0)}), first_path),
    "path-1-accelerations": Turn(axes({4: (0.0, 1.0, 0.0)}), first_path),
    "path-1-perpendicular": Turn(axes(dict.fromkeys((1, 2, 6), (1.0, 0.0, 0.0)) | {4: (0.0, 1.0, 0.0)}), first_path),
    "path-1-perpendicular-accelerations": Turn(axes({3: (1.0, 0.0, 0.0), 4: (0.0, 1.0, 0.0)}), first_path),
    "tangential-acceleration": Turn(eq_25_mended, equation_claims),
    "compact-form": Turn(eqs_42_43_mended, equation_claims),
    "path-2-trends": Turn(manipulator_with(heavy_legs), lambda: [trend("2", "fig. 9", run_path("I", OWN))]),
    "path-3-trends": Turn(manipulator_with(heavy_legs), lambda: [trend("3", "fig. 10", run_path("II", OWN))]),
    "path-2-accuracy": Turn(moment_along_the_fixed_axis, slow_accuracy),
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
