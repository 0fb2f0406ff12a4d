"""Export: what is written, and the thread that writes it; no widgets."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pyqtgraph.Qt import QtCore, QtGui

from gui.models import Panel, Segment
from gui.session import Worker
from gui.texts import tr
from rig.csvio import Column, write_columns

_PATIENCE = 5.0  # s to finish a file on close


@dataclass(frozen=True, slots=True)
class Selection:
    """Visible legs of the six, and visible published models."""

    legs: tuple[bool, ...]
    models: tuple[str, ...]


def table_of(panels: Sequence[Panel], selection: Selection, segment: Segment) -> tuple[list[str], list[Column]]:
    """Return rows at full rate as column names with units, and columns (n,), time first."""
    names: list[str] = ["t [s]"]
    columns: list[Column] = [segment.times]
    for panel in panels:
        for series in panel.series:
            if series.model and series.model not in selection.models:
                continue
            values = series.extract(segment)
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
    segment: Segment,
) -> None:
    """Write the numbers of `panels` as CSV, of `others` if None; raises as `write_columns`.

    `panels` may be slow; it is called in this thread.
    """
    found = panels()
    write_columns(path, *table_of(others if found is None else found, selection, segment))


def write_picture(path: Path, picture: QtGui.QImage) -> None:
    """Write a picture as PNG, atomically. Raises OSError on failure."""
    file = QtCore.QSaveFile(str(path))
    if not (file.open(QtCore.QIODevice.OpenModeFlag.WriteOnly) and picture.save(file, "PNG") and file.commit()):
        raise OSError(0, file.errorString())


class ExportWriter:
    """Writes files in a thread, started with the first file, and reports the results as text.

    Args:
        parent: `report` is called in its thread.
        report: receives messages.
    """

    def __init__(self, parent: QtCore.QObject, report: Callable[[str], None]) -> None:
        self._parent = parent
        self._report = report
        self._worker: Worker | None = None

    def write(self, path: Path, job: Callable[[], None]) -> None:
        """Run a job that writes the file. Returns at once; `close` waits for it."""
        if self._worker is None:
            self._worker = Worker("export", self._parent)
        self._report(tr("Writing {name} …").format(name=path.name))

        def done(_none: None, failure: Exception | None) -> None:
            reason = failure.strerror if isinstance(failure, OSError) else failure
            self._report(
                tr("Saved {name}").format(name=path.name)
                if failure is None
                else tr("Not saved: {reason}").format(reason=reason)
            )

        self._worker.submit(job, done)

    def close(self) -> None:
        """End the thread. Waits up to 5 s for files in progress; unfinished files never get their names."""
        if self._worker is not None:
            self._worker.finish()
            self._worker.join(_PATIENCE)
