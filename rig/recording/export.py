"""A recording's rows as CSV."""

from pathlib import Path

import numpy as np
import numpy.typing as npt

from rig.csvio import Column, write_columns
from rig.telemetry import ROW


def write_rows_csv(rows: npt.NDArray[np.void], path: Path) -> None:
    """Write every field of rows (n,) as CSV, columns named as in the recording, numbered by leg or element.

    SI units; what a field means is `rig.telemetry.MEANING`.

    Raises:
        InputError: the file cannot be written; nothing is left of it then.
    """
    names: list[str] = []
    columns: list[Column] = []
    for name in ROW.names or ():
        for at in np.ndindex(*ROW[name].shape):
            names.append("_".join([name, *(str(i + 1) for i in at)]))
            columns.append(rows[name][(..., *at)])
    write_columns(path, names, columns)
