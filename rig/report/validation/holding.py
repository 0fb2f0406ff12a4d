"""What it does to the cells' readings that commands are held, where it is not in the model already (`force_held`)."""

from collections.abc import Mapping
from typing import Any

import numpy.typing as npt
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


def unknown_holding(header: Mapping[str, Any], held: npt.NDArray[Any]) -> list[str]:
    """By leg, in words, why it is not known what its drive gives between two commands; empty where it is.

    Args:
        header: of the recording.
        held: by leg, whether it is in the model.
    """
    try:
        config = RigConfig.model_validate(header.get("config", {}))
    except ValidationError:
        return [""] * len(held)
    found = []
    for own, known in zip(config.own_loops, held.tolist(), strict=True):
        time = f"its drive holds a command for {1e3 * config.exchange_period:.3g} ms, and what it gives meanwhile"
        if known or not (own or config.exchange_period > config.period):
            found.append("")
        elif own:
            found.append(f"{time} by its own loop is not known (drives.position_stiffness, position_damping)")
        else:
            found.append(f"{time} is not known of a drive that is not asked in every cycle")
    return found
