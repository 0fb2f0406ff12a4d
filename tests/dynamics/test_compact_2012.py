"""Eqs. 25, 42 and 43 of the paper of 2012: where they fail as printed, and that mended they are the other equations."""

import numpy as np
import pytest
from random_mechanisms import random_mechanism, random_motions

from dynamics import (
    EVERY_TERM,
    Mend,
    closed_form_pods,
    compact_forces,
    compact_pods,
    tangential_accelerations,
    variant_forces,
)
from kinematics import Array

SEEDS = range(4)


def apart(ours: Array, expected: Array) -> float:
    """Root mean square of the difference over that of what is expected."""
    return float(np.sqrt(np.mean((ours - expected) ** 2) / np.mean(expected**2)))


def fast(seed: int) -> Array:
    return random_motions(seed + 7, 12, speed=2.0)


@pytest.mark.parametrize("seed", SEEDS)
def test_as_printed_they_are_not_eq_40_and_mended_they_are(seed: int) -> None:
    mechanism, motions = random_mechanism(seed), fast(seed)
    wrenches = np.random.default_rng(seed).normal(scale=30.0, size=(12, 6))
    expected = variant_forces("pedrammehr-2012", mechanism, motions, wrenches)
    assert apart(compact_forces(mechanism, motions, wrenches), expected) > 5e-3
    assert apart(compact_forces(mechanism, motions, wrenches, EVERY_TERM), expected) < 1e-13


@pytest.mark.parametrize("seed", SEEDS)
def test_with_the_inertias_mended_too_they_are_exact(seed: int) -> None:
    mechanism, motions = random_mechanism(seed), fast(seed)
    expected = variant_forces("exact", mechanism, motions)
    assert apart(compact_forces(mechanism, motions, mends=tuple(Mend)), expected) < 1e-13
    assert apart(compact_forces(mechanism, motions, mends=EVERY_TERM), expected) > 1e-3


@pytest.mark.parametrize("mend", tuple(Mend), ids=lambda mend: mend.name)
def test_each_of_the_mends_is_needed(mend: Mend) -> None:
    mechanism, motions = random_mechanism(1), fast(1)
    expected = variant_forces("exact", mechanism, motions)
    others = [other for other in Mend if other is not mend]
    assert apart(compact_forces(mechanism, motions, mends=others), expected) > 1e-5


@pytest.mark.parametrize("seed", SEEDS)
def test_mended_they_are_the_closed_form(seed: int) -> None:
    mechanism, motions = random_mechanism(seed), fast(seed)
    Q, V, _ = compact_pods(mechanism, motions, tuple(Mend))
    ours, rest, _ = closed_form_pods(mechanism, motions[:, :13])
    np.testing.assert_allclose(Q, ours, rtol=1e-10, atol=1e-12 * np.abs(ours).max())
    np.testing.assert_allclose(V, rest, rtol=1e-10, atol=1e-12 * np.abs(rest).max())
    printed, printed_rest, _ = compact_pods(mechanism, motions)
    assert np.abs(printed - ours).max() > 1e-2 * np.abs(ours).max()
    assert np.abs(printed_rest - rest).max() > 1e-2 * np.abs(rest).max()
    unsymmetric = np.abs(printed - printed.swapaxes(-1, -2)).max()
    assert unsymmetric > 1e-2 * np.abs(ours).max()
    assert np.abs(Q - Q.swapaxes(-1, -2)).max() < 1e-12 * np.abs(ours).max()


def test_standing_still_the_print_is_right_but_for_what_needs_motion() -> None:
    mechanism, motions = random_mechanism(2), fast(2)
    motions[:, 7:] = 0.0
    expected = variant_forces("pedrammehr-2012", mechanism, motions)
    assert apart(compact_forces(mechanism, motions), expected) < 1e-13


@pytest.mark.parametrize("seed", SEEDS)
def test_the_last_term_of_eq_25(seed: int) -> None:
    mechanism, motions = random_mechanism(seed), fast(seed)
    printed, expected = tangential_accelerations(mechanism, motions, mended=False)
    mended, _ = tangential_accelerations(mechanism, motions, mended=True)
    assert apart(printed, expected) > 5e-3
    assert apart(mended, expected) < 1e-14
