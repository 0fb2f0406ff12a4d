"""Fields, buttons and texts of wizard pages."""

import re
from collections.abc import Callable

from pyqtgraph.Qt import QtWidgets

from gui.texts import tr

_QUANTITY = re.compile(r"(?<=\d) (?=(?:mm/s|mm|m/s|m|N|s|Hz|%)(?!\w))")


def unbroken(text: str) -> str:
    """Return a text with no-break spaces between numbers and units."""
    return _QUANTITY.sub("\u00a0", text)


def line_edit(name: str, text: str = "", hint: str = "") -> QtWidgets.QLineEdit:
    """Return a text field with an accessible name."""
    edit = QtWidgets.QLineEdit(text)
    edit.setAccessibleName(name)
    edit.setPlaceholderText(hint)
    edit.setToolTip(name)
    return edit


def browse_button(text: str, pick: Callable[[], None]) -> QtWidgets.QPushButton:
    """Return a button that opens a file dialog."""
    button = QtWidgets.QPushButton(tr("Browse …"))
    button.setAccessibleName(text)
    button.setAutoDefault(False)
    button.clicked.connect(lambda: pick())
    return button


def ask_new_path(parent: QtWidgets.QWidget, title: str, kinds: str, shown: str, suffix: str = ".toml") -> str:
    """Ask for a path to save to, starting at `shown`; empty if cancelled. Does not confirm overwriting."""
    options = QtWidgets.QFileDialog.Option.DontConfirmOverwrite
    name, _kind = QtWidgets.QFileDialog.getSaveFileName(parent, title, shown, kinds, options=options)
    return name if not name or name.endswith(suffix) else f"{name}{suffix}"


def set_role(label: QtWidgets.QLabel, role: str, text: str) -> None:
    """Show text in the style of a role: good, bad, muted."""
    label.setText(unbroken(text))
    if label.objectName() != role:
        label.setObjectName(role)
        label.style().unpolish(label)
        label.style().polish(label)
