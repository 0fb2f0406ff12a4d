"""What came of a trajectory in the closed loop offline, and what of it is told."""

from dataclasses import dataclass

import numpy as np

from dynamics import WORK_SIZE, Dynamics, Mechanism
from kinematics import MotionTable, leg_kinematics, pose_difference
from rig.config import RigConfig
from rig.virtual.arrays import Array
from rig.virtual.closed_loop.cycle import APPLIED, COMMANDED, SATURATED
from rig.virtual.plant import drive_parameters, leg_rows


@dataclass(frozen=True, slots=True, eq=False)
class LoopRun:
    """A run of m cycles; `end` says in words why it is shorter than the trajectory, "" if it is not.

    config, table, controller, plant: see `run_loop`. times (m,): places on the path, s. states (m, 13): the plant then.
    kept (m, ROWS, 6): see `cycle.ROWS`. wrenches (m, 6): see `run_loop`.
    """

    config: RigConfig
    table: MotionTable
    controller: str
    plant: Mechanism
    times: Array
    states: Array
    kept: Array
    wrenches: Array
    end: str
