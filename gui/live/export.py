"""What is exported, and the thread that writes it: nothing here looks at widgets."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pyqtgraph.Qt import QtCore, QtGui

from gui.models import Panel, Stretch
from gui.session import Worker
from gui.texts import tr
from rig.csvio import Column, write_columns

_PATIENCE = 5.0  # s for a file that is being written


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


def write_table(
    path: Path,
    panels: Callable[[], Sequence[Panel] | None],
    others: Sequence[Panel],
    selection: Selection,
    stretch: Stretch,
) -> None:
    """Write the numbers of `panels` as CSV, of `others` where these are None; see `write_columns` for what it raises.

    `panels` may take its time, in whatever thread this is.
    """
    found = panels()
    write_columns(path, *table_of(others if found is None else found, selection, stretch))


def write_picture(path: Path, picture: QtGui.QImage) -> None:
    """Write a picture as PNG. Raises OSError when that fails; the file has its name only once it is whole."""
    file = QtCore.QSaveFile(str(path))
    if not (file.open(QtCore.QIODevice.OpenModeFlag.WriteOnly) and picture.save(file, "PNG") and file.commit()):
        raise OSError(0, file.errorString())


class ExportWriter:
    """Writes files in a thread that begins with the first of them, and says in words how that went.

    Args:
        parent: in whose thread `say` is called.
        say: told what happens.
    """

    def __init__(self, parent: QtCore.QObject, say: Callable[[str], None]) -> None:
        self._parent = parent
        self._say = say
        self._worker: Worker | None = None

    def write(self, path: Path, job: Callable[[], None]) -> None:
        """Have the job done that writes the file. Returns at once; `close` waits for it."""
        if self._worker is None:
            self._worker = Worker("export", self._parent)
        self._say(tr("Writing {name} …").format(name=path.name))

        def done(_none: None, failure: Exception | None) -> None:
            reason = failure.strerror if isinstance(failure, OSError) else failure
            self._say(
                tr("Saved {name}").format(name=path.name)
                if failure is None
                else tr("Not saved: {reason}").format(reason=reason)
            )

        self._worker.submit(job, done)

    def close(self) -> None:
        """End the thread. Files begun are finished if that takes at most 5 s; what takes longer never gets its name."""
        if self._worker is not None:
            self._worker.finish()
            self._worker.join(_PATIENCE)
