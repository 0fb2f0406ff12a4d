"""How long the transitions of a motion last, where its parts do not meet."""

import math
from itertools import pairwise
from pathlib import Path

import numpy as np

from dynamics import DynamicsError
from kinematics import (
    PEAK_SPEED,
    KinematicsError,
    Placement,
    Sequence,
    Trajectory,
    TrajectorySpec,
    TransitionPart,
    join,
    joint_faults,
)
from rig.config import RigConfig
from rig.safety import check_trajectory

_SHORTEST = 0.5  # s
_STEPS = 10.0  # in a second: durations are in tenths
_GROWTH = 1.5
_SAMPLES = 200.0  # of a transition, a polynomial; the motion with it is checked as every motion is
_ORDER = (*range(7), *range(-1, -6, -1))
"""Powers of the growth that are tried: where the ends move, more time leads further out, and less may be what fits."""


def transition_durations(config: RigConfig, spec: TrajectorySpec, folder: Path | None = None) -> dict[int, float]:
    """The duration, s, of the transition that is missing behind each part that does not join the next, by its index.

    The first that keeps to the rig's limits, from that on which the configured approach speeds ask for; where none
    does, that one, and the check of the whole motion says why.
    spec: the motion; folder: where its file names start.
    Raises TrajectoryError for a part that cannot be made, as the motion itself would.
    """
    durations: dict[int, float] = {}
    placement = Placement(spec.frame, np.array(spec.pivot), config.machine.geometry.home)
    made: dict[int, Trajectory] = {}
    for (first, one), (second, other) in pairwise(enumerate(spec.parts)):
        if isinstance(one, TransitionPart) or isinstance(other, TransitionPart):
            continue
        for index, part in ((first, one), (second, other)):
            if index not in made:
                made[index] = part.build(folder or Path())
        before, after = made[first], made[second]
        if joint_faults(1, before, after):
            durations[first] = _duration(config, before, after, placement)
    return durations


def _duration(config: RigConfig, before: Trajectory, after: Trajectory, placement: Placement) -> float:
    way = np.abs(after.coordinates(0.0)[0][0] - before.coordinates(before.duration)[0][0])
    speeds = config.motion.approach_speed, config.motion.approach_rotation
    gentle = max(
        _SHORTEST,
        PEAK_SPEED * float(np.linalg.norm(way[:3])) / speeds[0],
        PEAK_SPEED * float(way[3:].max()) / speeds[1],
    )
    for power in _ORDER:
        duration = math.ceil(gentle * float(_GROWTH**power) * _STEPS - 1e-9) / _STEPS
        if _keeps(config, Sequence([join(before, after, duration)], placement=placement)):
            return duration
    return math.ceil(gentle * _STEPS - 1e-9) / _STEPS


def _keeps(config: RigConfig, transition: Trajectory) -> bool:
    rate = min(config.rate, _SAMPLES / transition.duration)
    try:
        return check_trajectory(config.machine, config.safety, transition, rate, at_rest=False).passed
    except (KinematicsError, DynamicsError):
        return False
