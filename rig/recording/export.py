"""A recording's rows as CSV."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from rig.csvio import Column, write_blocks
from rig.recording.reader import Recorded
from rig.telemetry import ROW

_FIELDS = [(name, at) for name in ROW.names or () for at in np.ndindex(*ROW[name].shape)]


def write_rows_csv(recording: Recorded, path: Path) -> None:
    """Write every field of a recording's rows as CSV, columns named as in it, numbered by leg or element.

    SI units; what a field means is `rig.telemetry.MEANING`.

    Raises:
        InputError: the file cannot be written; nothing is left of it then.
        RecordingError: the recording has changed meanwhile; likewise.
    """
    write_blocks(path, ["_".join([name, *(str(i + 1) for i in at)]) for name, at in _FIELDS], _columns(recording))


def _columns(recording: Recorded) -> Iterator[list[Column]]:
    for rows in recording.blocks():
        yield [rows[name][(..., *at)] for name, at in _FIELDS]
