"""What a recording says of the rig that made it, so that the file stands on its own."""

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

from calibration import LoadCellCalibration, format_cell_calibration, format_parameters
from rig.config import RigConfig
from rig.version import __version__


@dataclass(frozen=True, slots=True)
class ClockPair:
    """One instant on both clocks, taken as rig time was about to begin."""

    monotonic_ns: int
    wall_ns: int
    """since 1970; 0 in lockstep, where there is no wall clock"""


def recording_header(config: RigConfig, calibration: LoadCellCalibration | None, clock: ClockPair) -> dict[str, Any]:
    """The header of a recording: resolved configuration and mechanism with their hashes, calibration, version, clocks.

    `operator` and `note`, null where nobody gave any, stand beside the configuration: it is the same whoever runs it.
    The mechanism is the one that was computed with, calibrated parameters over its own; `parameters` are their files.
    `cell_steps` are those of the load cells' readings, (6,) N, 0 where they are not known.

    Args:
        config: the rig.
        calibration: of the load cells, or None when the configuration names none.
        clock: the instant of rig time zero.
    """
    resolved = config.resolved()
    operator, note = (resolved["recording"].pop(name) or None for name in ("operator", "note"))
    mechanism = config.machine.source
    return {
        "software": {"name": "stewart-rig", "version": __version__},
        "config": resolved,
        "config_sha256": _digest(json.dumps(resolved, sort_keys=True)),
        "mechanism": mechanism,
        "mechanism_sha256": _digest(mechanism),
        "parameters": {
            name: format_parameters(file) for name, file in zip(config.parameters, config.parameter_files, strict=True)
        },
        "calibration": None if calibration is None else format_cell_calibration(calibration),
        "cell_steps": list(config.cell_steps),
        "rate": config.rate,
        "virtual": config.virtual is not None,
        "operator": operator,
        "note": note,
        "clock": asdict(clock),
    }


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
