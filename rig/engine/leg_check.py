"""Whether a move of one leg may be made: within the bounds of a test, and the drive's to make."""

import math

from actuators import Mode
from rig.config import RigConfig
from rig.engine.devices import make_drive
from rig.engine.leg_move import LEAST_SPEED, LEAST_TRAVEL, LegMove, move_bounds
from rig.errors import RefusedError


def check_move(config: RigConfig, move: LegMove) -> None:
    """Refuse a move that is too small to mean anything, larger or faster than a test may be, or not the drive's.

    Raises:
        RefusedError: every fault with its number and bound.
        ConfigurationError: the driver or profile does not take what is configured.
    """
    if move.leg not in range(1, 7):
        raise RefusedError(f"leg {move.leg} is outside 1 to 6")
    bounds = move_bounds(config, move.leg)
    faults = []
    for what, value, least, most, unit in (
        ("travel", abs(move.travel), LEAST_TRAVEL, bounds.travel, "mm"),
        ("speed", move.speed, LEAST_SPEED, bounds.speed, "mm/s"),
    ):
        if not math.isfinite(value):
            faults.append(f"{what} {value} is not a finite number")
        elif not least <= value <= most:
            faults.append(f"{what} {value * 1e3:g} {unit} is outside {least * 1e3:g} to {most * 1e3:g} {unit}")
    if Mode.POSITION not in make_drive(config, move.leg - 1).capabilities.modes:
        faults.append(
            f"its drive has no mode POSITION ({config.drives.described(move.leg - 1)}), and only that moves one leg"
        )
    if faults:
        raise RefusedError(f"test of leg {move.leg}: " + "; ".join(faults))
