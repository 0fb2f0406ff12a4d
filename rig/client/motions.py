"""Motions checked before they are asked for, by the engine's own checks; how long their transitions last."""

import math
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np

from dynamics import DynamicsError
from kinematics import (
    PEAK_SPEED,
    Array,
    KinematicsError,
    MotionTable,
    Placement,
    Sequence,
    Trajectory,
    TrajectorySpec,
    TransitionPart,
    coordinates_to_pose,
    join,
    joint_faults,
    pose_difference,
    pose_to_coordinates,
    scaled,
    tabulate,
)
from rig.config import RigConfig
from rig.engine import approach_move, motion_verdict
from rig.errors import RefusedError
from rig.findings import Code, Finding
from rig.safety import TrajectoryVerdict

_SAME_POSE = 1e-6  # m, rad
_TABLE_RATE = 500.0  # Hz; at the least, whatever the cycle


def checked_motion(
    config: RigConfig, trajectory: Trajectory, amplitude: float = 1.0
) -> tuple[MotionTable, TrajectoryVerdict]:
    """The trajectory as the cycle reads it, and the verdict of the same check that the engine makes.

    Args:
        config: the rig.
        trajectory: the motion.
        amplitude: its size about its start pose, 1 for the motion as it is.

    Raises:
        TrajectoryError: it has no finite value somewhere.
    """
    rate = _table_rate(config)
    table = tabulate(trajectory, 1.0 / rate)
    if amplitude != 1.0:
        samples = scaled(table.samples, table.samples[0, :6], amplitude)
        table = MotionTable(table.step, samples, amplitude * table.amplitude, table.thresholds)
    return table, motion_verdict(config, table, rate)


def passes(config: RigConfig, trajectory: Trajectory) -> bool:
    """Whether a trajectory passes that check. Raises TrajectoryError as `checked_motion`."""
    rate = _table_rate(config)
    table = tabulate(trajectory, 1.0 / rate)
    return motion_verdict(config, table, rate, remedy=False).passed


def _table_rate(config: RigConfig) -> float:
    """Samples a second at which a motion is tabulated and checked."""
    return max(config.rate, _TABLE_RATE)


def prepare_motion(config: RigConfig, trajectory: Trajectory, amplitude: float = 1.0, repeats: int = 1) -> MotionTable:
    """The trajectory as the cycle reads it, after the same check that the engine makes.

    Args:
        config, trajectory, amplitude: as `checked_motion`.
        repeats: how many times it is to be run: between two of them the platform moves back to the start.

    Raises:
        RefusedError: the trajectory, or the way back, is outside the limits: worst sample, its time, the largest scale
            that would pass.
        TrajectoryError: it has no finite value somewhere.
    """
    table, verdict = checked_motion(config, trajectory, amplitude)
    if verdict.finding is not None:
        raise RefusedError(verdict.finding)
    if repeats > 1:
        start, end = ends(table)
        approach(config, end, start)
    return table


def ends(table: MotionTable) -> tuple[Array, Array]:
    """Where a motion starts and ends, poses (7,)."""
    return coordinates_to_pose(table.samples[0, :6]), coordinates_to_pose(table.samples[-1, :6])


def checked_move(
    config: RigConfig, here: Array, there: Array, speed: float | None = None, rotation_speed: float | None = None
) -> MotionTable:
    """The move from one pose (7,) to another with minimum jerk and these peak speeds, m/s and rad/s.

    Those that are not given are the configured ones, or lower where drives or legs need that; see `approach_move`.

    Raises:
        RefusedError: it is outside the limits. A target that is, however far, is refused before the way to it is made.
    """
    return _checked(config, there, lambda: approach_move(config, here, there, speed, rotation_speed))


def _checked(config: RigConfig, there: Array, make: Callable[[], MotionTable]) -> MotionTable:
    """The move to the pose `there` (7,) that `make` makes. Raises as `checked_move`."""
    check_holdable(config, there)
    table = make()
    verdict = motion_verdict(config, table, config.check_rate)
    if verdict.finding is not None:
        raise RefusedError(verdict.finding)
    return table


def check_holdable(config: RigConfig, pose: Array) -> None:
    """Refuse a pose (7,), base frame, that cannot be held.

    Raises:
        RefusedError: it is outside the limits.
    """
    rows = np.zeros((2, 18))
    rows[:, :6] = pose_to_coordinates(pose)
    verdict = motion_verdict(config, MotionTable(config.period, rows), config.rate)
    if not verdict.passed:
        failed = tuple(check.at_rest for check in verdict.checks if not check.passed)
        raise RefusedError(Finding(Code.TARGET_OUTSIDE, within=failed or verdict.faults))


def approach(config: RigConfig, here: Array, there: Array) -> MotionTable | None:
    """The move from one pose (7,) to another at the configured speeds; None where they are the same pose.

    Raises:
        RefusedError: it is outside the limits.
    """
    if _same_pose(here, there):
        return None
    return _checked(config, there, lambda: approach_move(config, here, there))


def _same_pose(one: Array, other: Array) -> bool:
    return float(np.abs(pose_difference(one, other)).max()) <= _SAME_POSE


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
        return motion_verdict(config, transition, rate, at_rest=False).passed
    except (KinematicsError, DynamicsError):
        return False
