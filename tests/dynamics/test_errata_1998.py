"""What is wrong in the print of Dasgupta & Mruthyunjaya (1998): as printed it fails, mended it holds."""

import inspect
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from random_mechanisms import random_mechanism, random_motions
from test_spherical_ends import symmetric

from dynamics import Dynamics, Mechanism
from dynamics.papers import Mend1998
from kinematics import Array
from rig.papers.spherical_ends import rod_forces

MODULE = sys.modules["dynamics.papers.dasgupta"]
INERTIA = Mend1998.INERTIA


def forces(mechanism: Mechanism, motions: Array, *mends: Mend1998, slip: tuple[str, str] | None = None) -> Array:
    """Leg forces (n, 6) by the printed equations with corrections, and with one of their lines changed."""
    model: Callable[..., Any] = MODULE.dasgupta_1998
    if slip is not None:
        source = inspect.getsource(model)
        assert source.count(slip[0]) == 1, slip
        names: dict[str, Any] = {**vars(MODULE)}
        exec(source.replace(*slip), names)
        model = names["dasgupta_1998"]
    return np.asarray(model(mechanism, motions, np.zeros((len(motions), 6)), mends).forces)


def error(found: Array, expected: Array) -> float:
    return float(np.sqrt(np.mean((found - expected) ** 2) / np.mean(expected**2)))


@pytest.mark.parametrize("seed", [1, 2])
def test_with_eqs_6_9_16_and_20_mended_they_are_the_exact_model(seed: int) -> None:
    mechanism, motions = random_mechanism(seed), random_motions(seed, 30, speed=2.0)
    expected = Dynamics(mechanism).inverse(motions).forces
    assert error(forces(mechanism, motions, *Mend1998), expected) < 1e-12
    assert error(forces(mechanism, motions), expected) > 1e-3
    for left in Mend1998:  # each of them is needed
        mends = [mend for mend in Mend1998 if mend is not left]
        assert error(forces(mechanism, motions, *mends), expected) > 1e-5


@pytest.mark.parametrize("seed", [1, 2])
def test_eq_16_alone_is_wrong_with_spherical_joints_at_both_ends(seed: int) -> None:
    mechanism, motions = symmetric(seed), random_motions(seed, 30, speed=2.0)
    expected = rod_forces(mechanism, motions)
    assert error(forces(mechanism, motions), expected) > 1e-3
    assert error(forces(mechanism, motions, INERTIA), expected) < 1e-12


@pytest.mark.parametrize(
    "slip",
    [("2.0 * L_dot * W) / L", "2.0 * L * W) / L"), ("- K.sum(axis=1)", "+ K.sum(axis=1)")],
    ids=["eq. 9: 2LW", "eq. 33: plus the sum of K"],
)
def test_slips_of_the_print_are_read_as_meant(slip: tuple[str, str]) -> None:
    mechanism, motions = symmetric(3), random_motions(3, 30, speed=2.0)
    expected = rod_forces(mechanism, motions)
    assert error(forces(mechanism, motions, INERTIA), expected) < 1e-12
    assert error(forces(mechanism, motions, INERTIA, slip=slip), expected) > 1e-2
