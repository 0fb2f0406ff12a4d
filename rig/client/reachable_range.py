"""How far the platform can go from where it is, and which steps would be refused, by the check of moves itself."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from dynamics import DynamicsError
from kinematics import Array, KinematicsError
from rig.client.motions import check_holdable, checked_move
from rig.config import RigConfig
from rig.errors import RefusedError

PARTS = 2048
"""of the most that is looked at, to which a range is told, always the smaller one"""
_MOST_TURN = 1.5
"""rad; beyond lies the singular place of the angles θ"""
_TABLE = 0.5  # m
_ERRORS = (RefusedError, KinematicsError, DynamicsError)

Target = Callable[[float], Array]
"""The pose (7,), base frame, that lies so far away along some way, m or rad."""


@dataclass(frozen=True, slots=True)
class FreeRange:
    """How far a move can go along a way.

    `free`: m or rad; the move to there passes its check. `limit`: what stands against going further, in words, empty
    where nothing was found as far as was looked.
    """

    free: float
    limit: str = ""


def search_limit(config: RigConfig, *, turning: bool) -> float:
    """How far a range is looked for: m, the longest leg's length at home, or rad."""
    return _MOST_TURN if turning else float(config.machine.geometry.home_lengths.max())


def size_class(config: RigConfig) -> float:
    """The power of ten by which a machine is larger than one on a table, with legs of half a metre, or smaller.

    Numbers that are offered to begin with suit one on a table, and are multiplied by it.
    """
    return float(10.0 ** round(math.log10(search_limit(config, turning=False) / _TABLE)))


def step_refusal(config: RigConfig, here: Array, target: Callable[[], Array], speed: float, turn_speed: float) -> str:
    """Why the move from the pose `here` (7,) to `target()` would be refused, in words; empty where it would not.

    `speed`, `turn_speed`: its peak speeds, m/s and rad/s.
    """
    return refused(lambda: checked_move(config, here, target(), speed, turn_speed))


def free_range(
    config: RigConfig, here: Array, target: Target, most: float, speed: float, turn_speed: float
) -> FreeRange:
    """How far a move from the pose `here` (7,) can go along `target`, up to `most` (m or rad), at these peak speeds.

    First by poses that can be held, which are looked at quickly; what is told is a move that passed its whole check,
    found among shorter ones where the way to that pose leads through something that a pose alone does not show.
    """

    def held(part: int) -> str:
        return refused(lambda: check_holdable(config, target(most * part / PARTS)))

    def reached(part: int) -> str:
        return refused(lambda: checked_move(config, here, target(most * part / PARTS), speed, turn_speed))

    part, limit = largest(held, PARTS)
    moved, further = largest(reached, part)
    return FreeRange(most * moved / PARTS, further or limit)


def largest(refusal: Callable[[int], str], most: int) -> tuple[int, str]:
    """The largest of 0 to `most` that is not refused, by bisection, and what is said against one more."""
    reason = refusal(most) if most > 0 else ""
    if not reason:
        return most, ""
    passing, failing = 0, most
    while failing - passing > 1:
        middle = (passing + failing) // 2
        if found := refusal(middle):
            failing, reason = middle, found
        else:
            passing = middle
    return passing, reason


def refused(look: Callable[[], object]) -> str:
    """Why `look` is refused, in words; empty where it is not."""
    try:
        look()
    except _ERRORS as error:
        return _first_fault(error)
    return ""


def _first_fault(error: Exception) -> str:
    """The first fault of a refusal, without the line that only says that there are some."""
    lines = [line.strip() for line in str(error).splitlines()]
    return lines[1] if len(lines) > 1 else lines[0]
