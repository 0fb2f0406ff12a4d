"""What a recording's header says of the noise of its load cells."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

CELLS = 6


def recorded_cell_steps(header: Mapping[str, Any]) -> Floats:
    """Steps (6,) N in which the load cells' readings came; 0 where that is not known, as of recordings before."""
    return np.array(header.get("cell_steps") or [0.0] * CELLS, np.float64)


def recorded_cell_noise(header: Mapping[str, Any]) -> float | None:
    """Standard deviation of a load cell's reading, N, its rounding to steps among it; None where it is not said.

    Of the coarsest cell: √(noise² + step²/12), see `RigConfig.cell_noise`.
    """
    from calibration import rounded_noise  # takes long to import, and few need it

    value = header.get("config", {}).get("load_cells", {}).get("noise")
    if not isinstance(value, int | float) or not value > 0:
        return None
    return float(rounded_noise(float(value), float(recorded_cell_steps(header).max())))


def recorded_rounding(header: Mapping[str, Any]) -> Floats:
    """What rounding leaves in the mean of a cell's readings at rest, standard deviation (6,) N; 0 of unknown steps."""
    from calibration import rounding_of_mean  # takes long to import, and few need it

    value = header.get("config", {}).get("load_cells", {}).get("noise")
    return rounding_of_mean(float(value) if isinstance(value, int | float) else 0.0, recorded_cell_steps(header))
