"""Ask for a file name to save to."""

import os
from pathlib import Path

from pyqtgraph.Qt import QtWidgets


def ask_save(parent: QtWidgets.QWidget, title: str, suggested: str, kind: str, suffix: str) -> Path | None:
    """Return the file chosen for saving, None if cancelled.

    A missing suffix is added before Qt asks whether to replace an existing file.

    Args:
        parent: of the dialog.
        title: of the dialog.
        suggested: file name, with or without a folder.
        kind: the files shown, as `Tables (*.csv)`.
        suffix: with its point, as `.csv`.
    """
    folder, name = os.path.split(suggested)
    dialog = QtWidgets.QFileDialog(parent, title, folder, kind)  # without a folder: the last one used
    dialog.setAcceptMode(QtWidgets.QFileDialog.AcceptMode.AcceptSave)
    dialog.setDefaultSuffix(suffix.removeprefix("."))
    dialog.selectFile(name)
    chosen = Path(dialog.selectedFiles()[0]) if dialog.exec() else None
    dialog.deleteLater()
    return chosen
