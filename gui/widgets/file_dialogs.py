"""Asking for the name of a file to be written."""

import os
from pathlib import Path

from pyqtgraph.Qt import QtWidgets


def ask_save(parent: QtWidgets.QWidget, title: str, suggested: str, kind: str, suffix: str) -> Path | None:
    """The file that somebody chooses to write, None when they do not.

    The suffix is given to a name without one before Qt asks whether a file of that name may be replaced.

    Args:
        parent: what the dialog belongs to.
        title: of the dialog.
        suggested: name of the file, with or without a folder.
        kind: the files shown, as `Tables (*.csv)`.
        suffix: with its point, as `.csv`.
    """
    folder, name = os.path.split(suggested)
    dialog = QtWidgets.QFileDialog(parent, title, folder, kind)  # without a folder: the one of last time
    dialog.setAcceptMode(QtWidgets.QFileDialog.AcceptMode.AcceptSave)
    dialog.setDefaultSuffix(suffix.removeprefix("."))
    dialog.selectFile(name)
    chosen = Path(dialog.selectedFiles()[0]) if dialog.exec() else None
    dialog.deleteLater()
    return chosen
