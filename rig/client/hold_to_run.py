"""Hold-to-run: a motion along one axis or of one leg within its free range, followed while held."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from dynamics import DynamicsError, LegLimits
from kinematics import (
    Array,
    JogFrame,
    KinematicsError,
    MotionTable,
    figure_and_bound,
    motion_to_coordinates,
    pose_to_coordinates,
)
from rig.client.arguments import AXES, Amount, jogged
from rig.client.motion_runner import AT_REST, PATIENCE, refuse_fault, stop_finding
from rig.client.motions import check_holdable, checked_move
from rig.client.rig import Rig
from rig.config import RigConfig
from rig.engine import RAMPS, Follow, Snapshot, motion_verdict
from rig.errors import RefusedError, RunFaultError
from rig.findings import Code, Finding, Value
from rig.safety import check_slowing
from rig.states import MotionKind, State

PARTS = 2048
"""resolution of a range, as part of the greatest one, rounded down"""
_MOST_TURN = 1.5
"""rad; beyond lies the singular place of the angles θ"""
_TABLE = 0.5  # m

Target = Callable[[float], Array]
"""The pose (7,), base frame, at a distance along a path, m or rad."""


@dataclass(frozen=True, slots=True)
class FreeRange:
    """Free range along a path.

    `free`: m or rad; the move to there passes its check. `limit`: what stands against going further, None where nothing
    was found as far as was searched.
    """

    free: float
    limit: Finding | None = None


def search_limit(config: RigConfig, *, turning: bool) -> float:
    """Greatest range that is searched: m, the longest leg's length at home, or rad."""
    return _MOST_TURN if turning else float(config.machine.geometry.home_lengths.max())


def size_class(config: RigConfig) -> float:
    """Size of a machine as power of ten, relative to a table-top one with legs of half a metre.

    Default values for a table-top machine are multiplied by it.
    """
    return float(10.0 ** round(math.log10(search_limit(config, turning=False) / _TABLE)))


def step_refusal(
    config: RigConfig, here: Array, target: Callable[[], Array], speed: float | None, turn_speed: float | None
) -> Finding | None:
    """Why the move from the pose `here` (7,) to `target()` would be refused; None where it would not.

    `speed`, `turn_speed`: its peak speeds, m/s and rad/s; see `checked_move`.
    """
    return refused(lambda: checked_move(config, here, target(), speed, turn_speed))


def free_range(
    config: RigConfig, here: Array, target: Target, most: float, speed: float | None, turn_speed: float | None
) -> FreeRange:
    """Free range of a move from the pose `here` (7,) along `target`, up to `most` (m or rad), at these peak speeds.

    It is searched first by single poses, which is fast. The result is a move that passed its whole check; it is shorter
    where the path meets an obstacle that the end pose does not show.
    """

    def obstacle(part: int) -> Finding | None:
        return refused(lambda: check_holdable(config, target(most * part / PARTS)))

    def reached(part: int) -> Finding | None:
        return refused(lambda: checked_move(config, here, target(most * part / PARTS), speed, turn_speed))

    part, limit = largest(obstacle, PARTS)
    moved, further = largest(reached, part)
    return FreeRange(most * moved / PARTS, further or limit)


def largest(refusal: Callable[[int], Finding | None], most: int) -> tuple[int, Finding | None]:
    """The largest of 0 to `most` that is not refused, by bisection, and what is found against one more."""
    reason = refusal(most) if most > 0 else None
    if reason is None:
        return most, None
    passing, failing = 0, most
    while failing - passing > 1:
        middle = (passing + failing) // 2
        if found := refusal(middle):
            failing, reason = middle, found
        else:
            passing = middle
    return passing, reason


def refused(look: Callable[[], object]) -> Finding | None:
    """Why `look` is refused: the first of what was found; None where it is not."""
    try:
        look()
    except RefusedError as error:
        return error.finding.within[0] if error.finding.within else error.finding
    except (KinematicsError, DynamicsError) as error:
        return Finding.of_text(str(error))
    return None


LONGEST = 30.0
"""s, longest duration of a hold-to-run motion; the check of a longer one before the begin would take too long."""
_STEP = 0.02  # s between the rows of a table, of which every ramp is a whole number
_KNOTS = 33  # of a path; between them it is interpolated
_NUDGE = 1e-3  # m, rad; for derivatives along a path
_SHORTEST = 1e-4  # m, rad


@dataclass(frozen=True, slots=True)
class HoldToRunMotion:
    """A checked motion, at rest at both ends.

    `table`: the motion. `slowing`: s in which it may come to a stand wherever it is. `extent`: m or rad along the way.
    `limit`: what stands against going further, None where it ends for being long enough.
    """

    table: MotionTable
    slowing: float
    extent: float
    limit: Finding | None


def greatest_speed(config: RigConfig, axis: str, pivot: tuple[float, float, float]) -> float:
    """Greatest speed of an axis, m/s or rad/s, at which no leg exceeds the least of the legs' speed limits.

    Along an axis, and of one leg, that is the least of the legs' speed limits; about an axis that limit by the distance
    of the pivot (m, platform axes) from the farthest joint of the platform.
    """
    speeds = [(leg.limits or LegLimits()).velocity for leg in config.machine.legs]
    slowest = min(math.inf if speed is None else speed for speed in speeds)
    if axis not in AXES[3:]:
        return slowest
    arms = np.linalg.norm(config.machine.geometry.platform_points - np.array(pivot), axis=1)
    return slowest / float(arms.max())


def hold_to_run_motion(
    config: RigConfig, target: Target, speed: float, greatest: float, *, turning: bool
) -> HoldToRunMotion:
    """Make the motion along `target` from 0 to the end of the free range, at `speed`, m/s or rad/s.

    Args:
        config: the rig.
        target: gives the pose (7,) at a distance.
        speed: between its two ramps, each a cubic smooth step 3x² − 2x³ of the speed.
        greatest: limit of the speed.
        turning: whether `target` takes an angle.

    Raises:
        RefusedError: the speed is greater, or the free range is 0.
    """
    if not (math.isfinite(speed) and 0.0 < speed <= greatest):
        unit = "rad/s" if turning else "m/s"
        asked, bound = figure_and_bound(speed, greatest, ".6g", 4)
        raise RefusedError(f"speed: {asked} {unit}, must be above 0 and at most {bound} {unit}")
    most = min(search_limit(config, turning=turning), speed * (LONGEST - RAMPS[0]))
    part, limit = largest(lambda part: refused(lambda: check_holdable(config, target(most * part / PARTS))), PARTS)
    path = _path(target, most * part / PARTS)
    found: dict[int, tuple[MotionTable, float]] = {}

    def against(part: int) -> Finding | None:
        extent, reason = most * part / PARTS, None
        for ramp in RAMPS:
            table = _table(path, extent, speed, ramp)
            reason = refused(partial(_check, config, table, ramp))
            if reason is None:
                found[part] = table, ramp
                break
        return reason

    reached, further = largest(against, part)
    extent, limit = most * reached / PARTS, further or limit
    if extent < _SHORTEST:
        too_short = Finding(Code.RANGE_TOO_SHORT, bound=_SHORTEST, details={"unit": "rad" if turning else "m"})
        raise RefusedError(too_short if limit is None else Finding(Code.NO_FREE_RANGE, within=(limit,)))
    table, ramp = found[reached]
    return HoldToRunMotion(table, ramp, extent, limit)


def jog_motion(
    config: RigConfig,
    axis: str,
    direction: Literal[1, -1],
    frame: JogFrame,
    pivot: Sequence[Amount],
    speed: float,
    greatest: float,
    here: Array,
) -> HoldToRunMotion:
    """Make the motion along or about an axis, or of one leg, from the pose `here` (7,); see `hold_to_run_motion`.

    axis, frame, pivot: as for `jogged`; speed, greatest: m/s, or rad/s about an axis.
    Also raises InputError for an unsuitable axis, frame or pivot.
    """

    def target(extent: float) -> Array:
        return jogged(config, here, axis, direction * extent, frame, pivot)

    return hold_to_run_motion(config, target, speed, greatest, turning=axis in AXES[3:])


def follow_hold_to_run(
    rig: Rig, motion: HoldToRunMotion, name: str, purpose: MotionKind, held: Callable[[], bool]
) -> None:
    """Follow a motion that begins at the platform's pose while `held()`, and wait until it rests.

    `held` is called repeatedly until it gives False; while it does not return the hold is not renewed, and the engine
    ends the motion itself.

    Raises:
        RefusedError: the engine refused the motion.
        RunFaultError: it ended in a fault, or was stopped.
        HardwareError: the platform did not come to rest in time.
        InterruptedRunError: Ctrl-C.
    """
    holding = True

    def stopped(status: Snapshot) -> bool:
        nonlocal holding
        refuse_fault(status)
        holding = holding and held()
        rig.hold() if holding else rig.let_go()
        if status.state in AT_REST:
            where: dict[str, Value] = {"motion": name, "time": status.path_time}
            raise RunFaultError(Finding(Code.MOTION_STOPPED, details=where, within=(stop_finding(status),)))
        return status.state is State.ENGAGED and not status.paused

    rig.hold()
    try:
        rig.request(Follow(name, motion.table.step, purpose, slowing=motion.slowing), motion.table.samples)
        rig.wait(stopped, motion.table.duration + motion.slowing + PATIENCE, f"the motion {name!r} to end")
    finally:
        rig.let_go()


def _check(config: RigConfig, table: MotionTable, ramp: float) -> None:
    """Check fewer samples than the engine, which checks the motion again."""
    verdict = motion_verdict(config, table, 1.0 / table.step, remedy=False)
    found = verdict.finding or check_slowing(config.machine, table, ramp)
    if found is not None:
        raise RefusedError(found)


def _path(target: Target, extent: float) -> MotionTable:
    """Coordinates over the distance (m or rad) up to `extent`, with their derivatives by it, as a table."""
    step = max(extent, _SHORTEST) / (_KNOTS - 1)
    places = step * np.arange(_KNOTS)[:, np.newaxis] + _NUDGE * np.arange(-2, 3)
    poses = np.array([[target(float(place)) for place in row] for row in places])
    q: Array = np.unwrap(pose_to_coordinates(poses.reshape(-1, 7)), axis=0, period=2.0 * np.pi).reshape(_KNOTS, 5, 6)
    q[..., :3] = poses[..., :3]  # a place is none of a circle
    first = np.array([1.0, -8.0, 0.0, 8.0, -1.0]) / (12.0 * _NUDGE)
    second = np.array([-1.0, 16.0, -30.0, 16.0, -1.0]) / (12.0 * _NUDGE**2)
    derivatives = [np.einsum("k,nki->ni", weights, q) for weights in (first, second)]
    return MotionTable(step, np.concatenate([q[:, 2], *derivatives], axis=1))


def _table(path: MotionTable, extent: float, speed: float, ramp: float) -> MotionTable:
    """The path up to `extent` with a ramp at each end, slowed down so that its duration is a whole number of steps."""
    cruise = max(0, math.ceil((extent / speed - ramp) / _STEP - 1e-9))
    peak = extent / (ramp + cruise * _STEP)
    t = _STEP * np.arange(round(2.0 * ramp / _STEP) + cruise + 1)
    x, y = (np.clip(part / ramp, 0.0, 1.0) for part in (t, t[-1] - t))
    rate = peak * np.minimum(x * x * (3.0 - 2.0 * x), y * y * (3.0 - 2.0 * y))
    acceleration = peak * 6.0 / ramp * (x * (1.0 - x) - y * (1.0 - y))
    begun = peak * ramp * x**3 * (1.0 - 0.5 * x)
    left = peak * ramp * y**3 * (1.0 - 0.5 * y)
    place = np.where(x < 1.0, begun, np.where(y < 1.0, extent - left, peak * (t - 0.5 * ramp)))
    motion = path.motion(np.clip(place, 0.0, path.duration), rate, acceleration)
    samples = np.concatenate(motion_to_coordinates(motion), axis=1)
    samples[:, 3:6] = np.unwrap(samples[:, 3:6], axis=0)
    return MotionTable(_STEP, samples)
