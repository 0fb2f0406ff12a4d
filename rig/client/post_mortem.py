"""What the drives did once nobody commanded them any more: asked of the drives themselves, by reading alone."""

import math
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from actuators import ActuatorError, Drive, Feedback, Status
from kinematics import Array
from rig.config import RigConfig
from rig.engine import make_drive
from rig.findings import Code, Finding

_LOOK = 0.01  # s between two looks at a drive that is not at rest
_ANSWER = 0.1  # s that a drive has for an answer at least, even when patience is over
_STANDSTILL = 2e-3  # m/s
_SILENT = Feedback(math.nan, math.nan, math.nan, Status(0), 0, False, 0, -1)


@dataclass(frozen=True, slots=True)
class LegPostMortem:
    """What one drive says of itself after its engine is gone."""

    seen: Feedback
    """the last reading; not `fresh` where there was none"""
    error: str
    """the drive's error in its own words, or why it does not answer; empty where there is neither"""
    moved: float
    """m, leg length now less that of the last cycle; not a number where one is not known, as without homing"""
    rest: float
    """s after the engine was last known to live, when the leg was first seen at rest without torque; infinite: never"""

    @property
    def safe(self) -> bool:
        """Whether the drive says that it has no torque, its brake is on and its leg stands still."""
        return math.isfinite(self.rest) and Status.BRAKE in self.seen.status

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the drive did; alike for drives that did alike."""
        status = self.seen.status
        if not self.seen.fresh:
            return (Finding(Code.DRIVE_SILENT, details={"text": self.error}),)
        if Status.WATCHDOG in status:
            stop = Finding(Code.WATCHDOG_STOPPED)
        elif Status.FAULT in status:
            stop = Finding(Code.OWN_FAULT, details={"text": self.error})
        else:
            stop = Finding(Code.WITHOUT_FAULT)
        codes = [Code.TORQUE_ON] if Status.ENABLED in status else []
        codes.append(Code.BRAKE_ON if Status.BRAKE in status else Code.BRAKE_NOT_ON)
        codes.append(Code.STANDSTILL if _still(self.seen) else Code.MOVING)
        if Status.HOMED not in status:
            codes.append(Code.MOVE_UNKNOWN)
        return stop, *map(Finding, codes)


def ask_drives(
    config: RigConfig, since: float, lengths: Array | None = None, patience: float | None = None
) -> list[LegPostMortem]:
    """Ask the six drives, all at once, once at least and until each is at rest or `patience` is over; commands nothing.

    Args:
        config: the rig; nobody else may hold a drive's connection where it takes but one.
        since: `time.monotonic()` when the engine was last known to live, s.
        lengths: (6,) m, leg lengths of its last cycle, if known.
        patience: s; left out: the drives' watchdog time and that of a stop.
    """
    if patience is None:
        patience = config.drives.watchdog + config.safety.stop_time
    deadline = time.monotonic() + patience
    before = [math.nan] * 6 if lengths is None else [float(length) for length in lengths]
    with ThreadPoolExecutor(6, "post-mortem") as pool:
        return list(pool.map(lambda leg: _ask(config, leg, since, before[leg], deadline), range(6)))


def _ask(config: RigConfig, leg: int, since: float, before: float, deadline: float) -> LegPostMortem:
    seen, error, rest = _SILENT, "", math.inf
    drive = make_drive(config, leg)
    try:
        while True:
            try:
                seen, error = _look(drive, max(deadline - time.monotonic(), _ANSWER)), ""
            except ActuatorError as trouble:
                seen, error = _SILENT, str(trouble)
                drive.close()
            if not (seen.fresh and Status.ENABLED not in seen.status and _still(seen)):
                rest = math.inf
            elif math.isinf(rest):
                rest = time.monotonic() - since
            if (math.isfinite(rest) and Status.BRAKE in seen.status) or time.monotonic() >= deadline:
                break
            time.sleep(_LOOK)
    finally:
        drive.close()
    if seen.error:
        error = drive.error_text(seen.error)
    referenced = Status.HOMED in seen.status  # without, its position counts from anywhere
    return LegPostMortem(seen, error, seen.position - before if referenced else math.nan, rest)


def _look(drive: Drive, timeout: float) -> Feedback:
    if not drive.connected:
        drive.connect(timeout)
        drive.identify()
    return drive.observe(timeout)


def _still(seen: Feedback) -> bool:
    return abs(seen.velocity) <= _STANDSTILL  # False where the speed is not a number


def when_silent(config: RigConfig) -> Finding:
    """What the drives are to do once no engine commands them, before they are asked."""
    watched = [make_drive(config, leg).capabilities.watchdog for leg in range(len(config.drives.legs))]
    without = [leg for leg, has in enumerate(watched, start=1) if not has]
    if not without:
        return Finding(Code.STOPS_BY_WATCHDOG, bound=config.drives.watchdog)
    alone = _of_legs(without, len(watched), (Finding(Code.UNWATCHED),))
    if len(without) == len(watched):
        return alone
    return Finding(Code.LIST, within=(alone, Finding(Code.OTHERS_STOP, bound=config.drives.watchdog)))


def describe_post_mortem(legs: Sequence[LegPostMortem]) -> Finding:
    """What six drives did: those that did alike together, then when all were at rest and how far they moved."""
    alike: dict[tuple[Finding, ...], list[int]] = {}
    for number, leg in enumerate(legs, start=1):
        alike.setdefault(leg.findings, []).append(number)
    parts = [_of_legs(numbers, len(legs), found) for found, numbers in alike.items()]
    rests = [leg.rest for leg in legs]
    measured = [abs(leg.moved) for leg in legs if math.isfinite(leg.moved)]
    if measured and math.isfinite(max(rests)):
        parts.append(Finding(Code.CAME_TO_REST, value=max(rests), details={"moved": max(measured)}))
    return Finding(Code.LIST, within=tuple(parts))


def _of_legs(numbers: list[int], of: int, found: tuple[Finding, ...]) -> Finding:
    if len(numbers) == of:
        return Finding(Code.EVERY_DRIVE, within=found)
    return Finding(Code.SOME_LEGS, details={"legs": numbers}, within=found)
