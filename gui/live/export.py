"""What is exported, written to a file by a thread: nothing here looks at widgets."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pyqtgraph.Qt import QtCore, QtGui

from gui.history import Stretch
from gui.live.series import Panel
from rig.csvio import Column


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


def write_picture(path: Path, picture: QtGui.QImage) -> None:
    """Write a picture as PNG. Raises OSError when that fails; the file has its name only once it is whole."""
    file = QtCore.QSaveFile(str(path))
    if not (file.open(QtCore.QIODevice.OpenModeFlag.WriteOnly) and picture.save(file, "PNG") and file.commit()):
        raise OSError(0, file.errorString())
