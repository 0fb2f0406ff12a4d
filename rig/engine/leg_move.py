"""The test of one leg: requested move, bounds and result."""

import math
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np
from pydantic import ConfigDict

from kinematics import PEAK_SPEED
from rig.config import RigConfig
from rig.errors import RefusedError
from rig.findings import Code, Finding, Value

LEAST_TRAVEL = 0.5e-3
"""m; a smaller move could not be distinguished from other movement."""
STROKE_PART = 0.1
"""Largest travel, as a part of the leg's stroke."""
LEAST_SPEED = 0.5e-3
"""m/s."""
SPEED_PART = 0.05
"""Largest speed of the move, as a part of the leg's speed limit."""
TOLERANCE = 0.1
"""Part of the travel by which the leg may miss its goal."""
_REVERSED_PART = 0.1
"""Part of the way that the speeds may give in the other direction, by noise."""
_LEAST_TIME = 0.5  # s for each way, however small and fast


@dataclass(frozen=True, slots=True)
class LegMove:
    """A small move of one leg, there and back.

    leg: 1 to 6. travel: m, positive extends. speed: m/s, the move's peak. home: home the leg first if
    its drive has no reference. clear: reset latched faults of the drives first. stay: do not return.
    """

    leg: int
    travel: float = 2e-3
    speed: float = 5e-3
    home: bool = False
    clear: bool = False
    stay: bool = False

    @property
    def way_time(self) -> float:
        """Duration of each way, s."""
        return max(_LEAST_TIME, PEAK_SPEED * abs(self.travel) / self.speed)

    @property
    def peak(self) -> float:
        """Peak speed, m/s: `speed`, or less on a short way."""
        return PEAK_SPEED * abs(self.travel) / self.way_time


@dataclass(frozen=True, slots=True)
class LegResult:
    """Result of a leg test; lengths in m, forces in N, NaN for values that were not reached.

    `faults`: the first cause first; empty if passed. `stopped`: by an operator, so the faults are not the leg's.
    `homed`: distance of the found reference from the length at home, None if the leg was not homed. `reached`:
    distance from the start at the far end; `returned`: at the end. `following`: the
    greatest following error. `others`: greatest movement of the other legs' encoders, by leg 1 to 6. `serial`: number
    of the leg's drive, "" if it has none. `peak`: the greatest commanded speed, m/s. `by_speed`: integral of the speeds
    that the drive reported on the way to the far end, NaN if it reports none.
    """

    __pydantic_config__ = ConfigDict(ser_json_inf_nan="constants")  # NaN would be null, which is no number

    leg: int
    travel: float
    faults: tuple[Finding, ...]
    stopped: bool
    homed: float | None
    reached: float
    returned: float
    following: float
    force_before: float
    force_after: float
    others: dict[int, float]
    serial: str = ""
    peak: float = math.nan
    by_speed: float = math.nan

    @property
    def doubtful(self) -> bool:
        """Whether the way by the speeds is less than half, or more than twice, that by the positions.

        That is no fault: between two set-points that come seldom, a drive may run and stand.
        """
        return self.passed and math.isfinite(self.by_speed) and not 0.5 <= self.by_speed / self.reached <= 2.0

    @property
    def lag(self) -> float:
        """By how much the drive was behind its command where it was fastest, s."""
        return self.following / self.peak

    @property
    def passed(self) -> bool:
        """Whether there are no faults."""
        return not self.faults

    @property
    def finding(self) -> Finding:
        """The result as a finding."""
        code = Code.LEG_PASSED if self.passed else Code.LEG_STOPPED if self.stopped else Code.LEG_FAILED
        reached = self.reached if math.isfinite(self.reached) else None
        return Finding(code, self.leg, reached, details={"travel": self.travel}, within=self.faults)

    def as_dict(self) -> dict[str, Any]:
        """JSON-able form, SI."""

        def finite(value: Any) -> Any:
            return None if isinstance(value, float) and not math.isfinite(value) else value

        data = {key: finite(value) for key, value in asdict(replace(self, faults=())).items()}
        others = {str(leg): finite(moved) for leg, moved in self.others.items()}
        faults = [fault.text for fault in self.faults]
        return {"passed": self.passed} | data | {"faults": faults, "others": others}


LegPhase = Literal["at rest", "torque on", "looking for the reference", "moving there", "moving back", "torque off"]
"""Phases of the test of one leg."""


@dataclass(frozen=True, slots=True)
class LegTest:
    """Progress of the test of one leg: `length`, m, reported by its drive; `result` at the end."""

    __pydantic_config__ = ConfigDict(ser_json_inf_nan="constants")

    leg: int
    phase: LegPhase
    length: float
    result: LegResult | None = None


@dataclass(frozen=True, slots=True)
class MoveBounds:
    """Largest travel (m) and speed (m/s) of a leg's test."""

    travel: float
    speed: float


def move_bounds(config: RigConfig, leg: int) -> MoveBounds:
    """Bounds of the test of leg 1 to 6, from its stroke and speed limit."""
    limits = config.machine.legs[leg - 1].limits
    assert limits is not None and limits.length is not None and limits.velocity is not None  # `load_config` saw to it
    low, high = limits.length
    return MoveBounds(STROKE_PART * (high - low), SPEED_PART * limits.velocity)


def check_room(config: RigConfig, move: LegMove, start: float) -> None:
    """Refuse a move that leaves the leg's limits from where it stands, `start` m.

    Raises:
        RefusedError: it does.
    """
    limits = config.machine.legs[move.leg - 1].limits
    assert limits is not None and limits.length is not None
    low, high = limits.length
    if not low <= start + move.travel <= high:
        details: dict[str, Value] = {"start": start, "travel": move.travel, "low": low, "high": high}
        raise RefusedError(Finding(Code.LEG_NO_ROOM, move.leg, start + move.travel, details=details))


def judge_speeds(move: LegMove, reached: float, by_speed: float) -> list[Finding]:
    """Findings on the way by the drive's positions, `reached`, and by its speeds, `by_speed`, m.

    A sign that is wrong in commanded and reported position alike shows here, where that of the speed is right.
    """
    if not np.isfinite([reached, by_speed]).all() or abs(reached) < 0.5 * abs(move.travel):
        return []
    if by_speed / reached >= -_REVERSED_PART:
        return []
    return [Finding(Code.LEG_SPEED_REVERSED, move.leg, reached, details={"by_speed": by_speed})]


def judge_move(move: LegMove, reached: float, returned: float) -> list[Finding]:
    """Findings on the lengths reached, m from the start: at the far end, and at the end."""
    if not np.isfinite(reached):
        return []
    faults = []
    slack = TOLERANCE * abs(move.travel)
    if reached * move.travel < 0.0 and abs(reached) > slack:
        faults.append(Finding(Code.LEG_WRONG_WAY, move.leg, reached, details={"travel": move.travel}))
    elif abs(reached - move.travel) > slack:
        faults.append(Finding(Code.LEG_MISSED, move.leg, reached, details={"travel": move.travel}))
    if np.isfinite(returned) and abs(returned) > slack:
        faults.append(Finding(Code.LEG_NOT_BACK, move.leg, returned))
    return faults
