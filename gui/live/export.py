"""What a page of plots shows, written to a file by a thread: nothing here looks at widgets."""

import csv
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pyqtgraph.Qt import QtGui

from gui.history import Floats, Stretch
from gui.live.series import Panel

_CHUNK = 25
"""rows written between two moments at which another thread may go first: some 0.5 ms of work"""


@dataclass(frozen=True, slots=True)
class Selection:
    """What of a page's panels is shown: which of the six legs, and which published models."""

    legs: tuple[bool, ...]
    models: tuple[str, ...]


def table_of(panels: Sequence[Panel], selection: Selection, stretch: Stretch) -> tuple[list[str], Floats]:
    """Rows at full rate: names of the columns with their units, and values (n, columns), time first."""
    names, columns = ["t [s]"], [stretch.times[:, None]]
    for panel in panels:
        for series in panel.series:
            if series.model and series.model not in selection.models:
                continue
            values = series.extract(stretch)
            for index, column in enumerate(series.columns):
                if series.per_leg and not selection.legs[index]:
                    continue
                what = f"leg {column}" if series.per_leg else column
                names.append(f"{panel.title.split(',')[0]}: {series.name} {what} [{panel.unit or '1'}]")
                columns.append(values[:, index : index + 1])
    return names, np.hstack(columns)


def write_csv(path: Path, names: Sequence[str], values: Floats) -> None:
    """Write columns (n, k) under their names. Raises OSError when the disk refuses."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        for start in range(0, len(values), _CHUNK):
            writer.writerows([f"{value:.9g}" for value in row] for row in values[start : start + _CHUNK].tolist())
            time.sleep(0)  # without it the window would wait 5 ms whenever it has let go of the interpreter


def write_picture(path: Path, picture: QtGui.QImage) -> None:
    """Write a picture, of the kind that the name's suffix says. Raises OSError when that fails."""
    if not picture.save(str(path)):
        raise OSError(0, "the picture could not be written")
