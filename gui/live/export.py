"""What is exported, written to a file by a thread: nothing here looks at widgets."""

import csv
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy.typing as npt
from pyqtgraph.Qt import QtCore, QtGui

from gui.history import Stretch
from gui.live.series import Panel
from rig.csvio import whole_file

Column = npt.NDArray[Any]

_CHUNK = 500
"""numbers written between two moments at which another thread may go first: some 0.5 ms of work"""


@dataclass(frozen=True, slots=True)
class Selection:
    """What of a page's panels is shown: which of the six legs, and which published models."""

    legs: tuple[bool, ...]
    models: tuple[str, ...]


def table_of(panels: Sequence[Panel], selection: Selection, stretch: Stretch) -> tuple[list[str], list[Column]]:
    """Rows at full rate: names of the columns with their units, and the columns (n,), time first."""
    names: list[str] = ["t [s]"]
    columns: list[Column] = [stretch.times]
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
                columns.append(values[:, index])
    return names, columns


def write_csv(path: Path, names: Sequence[str], columns: Sequence[Column]) -> None:
    """Write columns (n,) under their names, every number so that it reads back the same.

    Raises InputError when that cannot be done; the file has its name only once it is whole.
    """
    rows = max(1, _CHUNK // len(names))
    with whole_file(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        for start in range(0, len(columns[0]), rows):
            writer.writerows(zip(*(column[start : start + rows].tolist() for column in columns), strict=True))
            time.sleep(0)  # without it the window would wait 5 ms whenever it has let go of the interpreter


def write_picture(path: Path, picture: QtGui.QImage) -> None:
    """Write a picture as PNG. Raises OSError when that fails; the file has its name only once it is whole."""
    file = QtCore.QSaveFile(str(path))
    if not (file.open(QtCore.QIODevice.OpenModeFlag.WriteOnly) and picture.save(file, "PNG") and file.commit()):
        raise OSError(0, file.errorString())
