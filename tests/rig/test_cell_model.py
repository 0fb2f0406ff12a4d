"""Forces expected at the load cells, beside those of machines that are heavier, or heavier on one side."""

from dataclasses import replace

import numpy as np
import pytest
from configured import VIRTUAL

from dynamics import Dynamics, Mechanism
from kinematics import Array, forward_kinematics
from rig.safety import CellModel

MACHINE = VIRTUAL.machine
LENGTHS = MACHINE.geometry.home_lengths + 1e-3 * np.array([8.0, -6.0, 3.0, 9.0, -7.0, 5.0])
"""m: tilted about both axes, so that gravity has a part along each axis of the platform"""


def at_rest(machine: Mechanism) -> Array:
    """Forces (6,) at `LENGTHS`, N."""
    pose = forward_kinematics(MACHINE.geometry, LENGTHS, MACHINE.geometry.home_pose)
    forces: Array = Dynamics(machine).cells(np.concatenate([pose, np.zeros(12)])[np.newaxis])[0]
    return forces


def test_columns_are_what_mass_and_its_levers_change() -> None:
    found, mass, center = CellModel(VIRTUAL).forces(LENGTHS), MACHINE.mass, MACHINE.center_of_mass
    heavier = replace(MACHINE, mass=mass + 1.0, center_of_mass=mass * center / (mass + 1.0))
    levers = [replace(MACHINE, center_of_mass=center + axis / mass) for axis in np.eye(3)]  # 1 kg m each
    assert found[:, 0] == pytest.approx(at_rest(MACHINE), abs=1e-9)
    for column, machine in enumerate((heavier, *levers), 1):
        change = at_rest(machine) - at_rest(MACHINE)
        assert np.abs(change).max() > 0.2
        assert found[:, column] == pytest.approx(change, abs=1e-9)
