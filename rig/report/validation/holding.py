"""How late a force is by itself when it is read at the end of the cycle that it was held for."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from rig.config import RigConfig


def hold_lag(header: Mapping[str, Any]) -> float | None:
    """Lag of the cells' readings behind the reference, s, that comes of holding commanded forces; None if not known.

    A force is commanded for the instant `command_lead` ahead, the middle of the period in which it acts, and held. It
    is read with the next exchange, at the period's end: late by the period less the lead. The motion is not late.
    Known where the host closes all loops by forces and the drives read the cells.
    """
    try:
        config = RigConfig.model_validate(header.get("config", {}))
    except ValidationError:
        return None
    if any(config.own_loops) or config.load_cells.source != "drive":
        return None
    return config.exchange_period - config.command_lead
