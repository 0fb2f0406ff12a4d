"""Motions checked before they are asked for, by the same checks as the engine makes."""

from collections.abc import Callable

import numpy as np

from kinematics import (
    Array,
    MotionTable,
    Trajectory,
    coordinates_to_pose,
    pose_difference,
    pose_to_coordinates,
    scaled,
    tabulate,
)
from rig.config import RigConfig
from rig.engine import approach_move, straight_move
from rig.errors import RefusedError
from rig.safety import TrajectoryVerdict, check_trajectory

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
    return table, check_trajectory(config.machine, config.safety, table, rate)


def passes(config: RigConfig, trajectory: Trajectory) -> bool:
    """Whether a trajectory passes that check. Raises TrajectoryError as `checked_motion`."""
    rate = _table_rate(config)
    table = tabulate(trajectory, 1.0 / rate)
    return check_trajectory(config.machine, config.safety, table, rate, remedy=False).passed


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
    if not verdict.passed:
        raise RefusedError(verdict.message)
    if repeats > 1:
        start, end = ends(table)
        approach(config, end, start)
    return table


def ends(table: MotionTable) -> tuple[Array, Array]:
    """Where a motion starts and ends, poses (7,)."""
    return coordinates_to_pose(table.samples[0, :6]), coordinates_to_pose(table.samples[-1, :6])


def checked_move(config: RigConfig, here: Array, there: Array, speed: float, rotation_speed: float) -> MotionTable:
    """The move from one pose (7,) to another with minimum jerk and these peak speeds, m/s and rad/s.

    Raises:
        RefusedError: it is outside the limits. A target that is, however far, is refused before the way to it is made.
    """
    return _checked(config, there, lambda: straight_move(here, there, speed, rotation_speed))


def _checked(config: RigConfig, there: Array, make: Callable[[], MotionTable]) -> MotionTable:
    """The move to the pose `there` (7,) that `make` makes. Raises as `checked_move`."""
    check_holdable(config, there)
    table = make()
    verdict = check_trajectory(config.machine, config.safety, table, config.rate)
    if not verdict.passed:
        raise RefusedError(verdict.message)
    return table


def check_holdable(config: RigConfig, pose: Array) -> None:
    """Refuse a pose (7,), base frame, that cannot be held.

    Raises:
        RefusedError: it is outside the limits.
    """
    rows = np.zeros((2, 18))
    rows[:, :6] = pose_to_coordinates(pose)
    held = check_trajectory(config.machine, config.safety, MotionTable(config.period, rows), config.rate)
    if not held.passed:
        faults = [check.at_rest for check in held.checks if not check.passed] or [held.obstacle]
        raise RefusedError("\n".join(["the target is outside the limits:", *(f"  {fault}" for fault in faults)]))


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
