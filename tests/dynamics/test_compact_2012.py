"""Eqs. 25, 42 and 43 of the paper of 2012: where they fail as printed, and that mended they are the other equations."""

import numpy as np
import pytest
from random_mechanisms import random_mechanism, random_motions

from dynamics import closed_form_pods
from dynamics.closed_form import dot
from dynamics.papers import EVERY_TERM, Mend, compact_forces, compact_pods, tangential_accelerations, variant_forces
from dynamics.papers.pedrammehr import pods_in_motion
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


@pytest.mark.parametrize("seed", SEEDS)
def test_the_rotation_across_and_along_the_pod_is_that_about_its_joint_axes(seed: int) -> None:
    """Eqs. 15 to 17 and 22 to 24 beside eqs. 12 to 14 and 18 to 20; eqs. 10 and 11 from the pod's side."""
    mechanism, motions = random_mechanism(seed), fast(seed)
    pods = pods_in_motion(mechanism, motions)
    motion, u = pods.motion, mechanism.geometry.universal_axes
    n, l_i, l_dot = motion.s, motion.L[..., None], motion.Ld[..., None]
    across = np.cross(n, motion.Sd) / l_i  # eq. 16
    along = -dot(across, pods.c) / dot(n, pods.c)  # eq. 17
    assert apart(across + along[..., None] * n, pods.omega_l) < 1e-14
    swing = np.cross(pods.omega_l, np.cross(pods.omega_l, l_i * n)) + 2.0 * l_dot * np.cross(pods.omega_l, n)
    across = (np.cross(n, motion.Sdd) - np.cross(n, swing)) / l_i  # eq. 23
    along, _ = tangential_accelerations(mechanism, motions, mended=True)
    assert apart(across + along[..., None] * n, pods.alpha_l) < 1e-14
    assert apart(dot(across + along[..., None] * n, u), dot(pods.alpha_l, u)) < 1e-14  # eq. 24
    assert apart(np.cross(pods.omega_l, l_i * n) + l_dot * n, motion.Sd) < 1e-14
    whole = np.cross(pods.alpha_l, l_i * n) + swing + pods.l_ddot[..., None] * n
    assert apart(whole, motion.Sdd) < 1e-14
