"""Compile, or load from the cache, every kernel of the cycle before the first deadline."""

import numpy as np
import numpy.typing as npt

from kinematics import MotionTable, pose_to_coordinates
from rig.config import RigConfig
from rig.engine.core import Engine
from rig.engine.devices import make_bank
from rig.engine.snapshot import Event
from rig.recording import MotionRecord
from rig.runtime import MonotonicClock
from rig.safety import check_trajectory


class _Nowhere:
    """A sink for an engine that never steps."""

    fault = ""
    recorded = dropped = 0

    def push(self, row: npt.NDArray[np.void]) -> None:
        pass

    def event(self, event: Event) -> None:
        pass

    def motion(self, motion: MotionRecord) -> None:
        pass


def rehearsed(config: RigConfig) -> Engine:
    """An engine that is warmed up and connected to nothing: it can be rehearsed, and never steps."""
    engine = Engine(config, make_bank(config), _Nowhere(), MonotonicClock())
    warm_up(engine)
    return engine


def warm_up(engine: Engine) -> None:
    """Run the engine's computations once at home, with nothing sent and nothing reported, then forget it."""
    config = engine.config
    home = config.machine.geometry.home_pose
    engine.rehearse()
    coordinates = np.zeros((2, 18))
    coordinates[:, :6] = pose_to_coordinates(home)
    sparse = MotionTable(2.0 * config.period, coordinates)  # sampled anew by the check
    check_trajectory(config.machine, config.safety, sparse, config.rate)
