"""Checks of a move of one leg: bounds of a test, and capabilities of the drive."""

import math

from actuators import Mode
from rig.config import RigConfig
from rig.engine.devices import make_drive
from rig.engine.leg_move import LEAST_SPEED, LEAST_TRAVEL, LegMove, move_bounds
from rig.errors import RefusedError
from rig.findings import Code, Finding


def check_move(config: RigConfig, move: LegMove) -> None:
    """Refuse a move that is too small, too large, too fast, or beyond the drive's capabilities.

    Raises:
        RefusedError: every fault with its number and bound.
        ConfigurationError: the driver or profile does not take what is configured.
    """
    if move.leg not in range(1, 7):
        raise RefusedError(Finding(Code.LEG_UNKNOWN, details={"number": move.leg}))
    bounds = move_bounds(config, move.leg)
    faults = []
    for code, what, value, least, most in (
        (Code.TEST_TRAVEL, "travel", abs(move.travel), LEAST_TRAVEL, bounds.travel),
        (Code.TEST_SPEED, "speed", move.speed, LEAST_SPEED, bounds.speed),
    ):
        if not math.isfinite(value):
            faults.append(Finding(Code.TEST_NOT_FINITE, value=value, details={"what": what}))
        elif not least <= value <= most:
            faults.append(Finding(code, value=value, details={"low": least, "high": most}))
    if Mode.POSITION not in make_drive(config, move.leg - 1).capabilities.modes:
        faults.append(Finding(Code.TEST_MODE, details={"drive": config.drives.described(move.leg - 1)}))
    if faults:
        raise RefusedError(Finding(Code.LEG_MOVE_REFUSED, move.leg, within=tuple(faults)))
