"""What it does to the cells' readings that commands are held, where it is not in the model already (`force_held`)."""

from collections.abc import Mapping
from typing import Any

import numpy.typing as npt
from pydantic import ValidationError

from rig.config import RigConfig
from rig.recording import imported_from


def hold_lag(header: Mapping[str, Any]) -> float | None:
    """Lag of the cells' readings behind the reference, s, that comes of holding commanded forces; None if not known.

    A force is commanded for the instant `command_lead` ahead, the middle of the period in which it acts, and held. It
    is read with the next exchange, at the period's end: late by the period less the lead. The motion is not late.
    Known where the host closes all loops by forces and the drives read the cells, of a motion that was not imported.
    """
    if imported_from(header) is not None:
        return None
    try:
        config = RigConfig.model_validate(header.get("config", {}))
    except ValidationError:
        return None
    if any(config.own_loops) or config.load_cells.source != "drive":
        return None
    return config.exchange_period - config.command_lead


def unknown_zoh(header: Mapping[str, Any], held: npt.NDArray[Any]) -> list[dict[str, Any] | None]:
    """By leg, why it is not known what its drive gives between two commands; None where it is.

    Args:
        header: of the recording.
        held: by leg, whether it is in the model.

    Returns:
        Causes: `code` ("own_loop" of a drive that closes its own loop, "in_turns" of one that is not asked in every
        cycle) and `period_s`, for which a command is held.
    """
    name = imported_from(header)
    if name is not None:
        return [{"code": "imported", "name": name}] * 6
    try:
        config = RigConfig.model_validate(header.get("config", {}))
    except ValidationError:
        return [None] * len(held)
    seldom = config.exchange_period > config.period
    return [
        {"code": "own_loop" if own else "in_turns", "period_s": config.exchange_period}
        if not known and (own or seldom)
        else None
        for own, known in zip(config.own_loops, held.tolist(), strict=True)
    ]
