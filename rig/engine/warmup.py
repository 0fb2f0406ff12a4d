"""Compile, or load from the cache, every kernel of the cycle before the first deadline."""

import numpy as np

from kinematics import MotionTable, pose_to_coordinates
from rig.engine.core import Engine
from rig.safety import check_trajectory


def warm_up(engine: Engine) -> None:
    """Run the engine's computations once at home, with nothing sent and nothing reported, then forget it."""
    config = engine.config
    home = config.machine.geometry.home_pose
    engine.rehearse()
    coordinates = np.zeros((2, 18))
    coordinates[:, :6] = pose_to_coordinates(home)
    sparse = MotionTable(2.0 * config.period, coordinates)  # sampled anew by the check
    check_trajectory(config.machine, config.safety, sparse, config.rate)
