"""What the wizard's pages have in common: a form, and a line that says what is missing."""

import re
from collections.abc import Callable
from itertools import groupby

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.widgets import LEG_COLOURS, Reason
from rig.commissioning import Draft

LOCAL = "127.0.0.1"
"""Where the virtual devices of a rehearsal are."""
FAULT_LIMIT = 6
_QUANTITY = re.compile(r"(?<=\d) (?=(?:mm/s|mm|m/s|m|N|s|Hz|%)(?!\w))")


class SetupPage(QtWidgets.QWizardPage):
    """One page. Its widgets keep what a person entered; `fill` puts that into a draft.

    Signals: `edited` after a change by a person.

    Args:
        title, subtitle: said on top.
        sections: beginnings of the places in the file that this page answers for.
    """

    edited = QtCore.Signal()

    def __init__(self, title: str, subtitle: str, sections: tuple[str, ...] = ()) -> None:
        super().__init__()
        self.setTitle(title)
        self.setSubTitle(subtitle)
        self.setAccessibleName(title)
        self._sections = sections
        self._missing = ""
        self.reason = Reason()
        self.reason.setObjectName("bad")
        self.column = QtWidgets.QVBoxLayout(self)
        self.column.setSpacing(6)

    def close_form(self) -> None:
        """Put the line that says what is missing below everything else."""
        self.column.addStretch(1)
        self.column.addWidget(self.reason)
        self.show_missing("")

    def fill(self, draft: Draft) -> Draft:
        """The draft with what was entered here."""
        return draft

    def own_faults(self, faults: tuple[str, ...]) -> list[str]:
        """Those of a draft's faults that are this page's to mend."""
        return [fault for fault in faults if fault.startswith(self._sections)] if self._sections else []

    def show_missing(self, text: str) -> None:
        """Say why Next is disabled; nothing when it is not."""
        changed = bool(text) != bool(self._missing)
        self._missing = text
        self.reason.setText(unbroken(text))
        self.reason.setVisible(bool(text))
        if changed:
            self.completeChanged.emit()

    @property
    def missing(self) -> str:
        """Why Next is disabled; empty when it is not."""
        return self._missing

    def isComplete(self) -> bool:
        """Whether Next is enabled."""
        return not self._missing


def listed(faults: list[str]) -> str:
    """Faults as text, a line each; many are counted."""
    lines = faults[:FAULT_LIMIT]
    if len(faults) > FAULT_LIMIT:
        lines.append(f"… and {len(faults) - FAULT_LIMIT} more")
    return "\n".join(lines)


def ranges(numbers: list[int]) -> str:
    """Whole numbers in order, runs of three and more drawn together: 1, 3–6."""
    parts: list[str] = []
    for _, run in groupby(enumerate(numbers), lambda entry: entry[1] - entry[0]):
        found = [str(number) for _, number in run]
        parts += found if len(found) < 3 else [f"{found[0]}–{found[-1]}"]
    return ", ".join(parts)


def unbroken(text: str) -> str:
    """Text in which no line ends between a number and its unit."""
    return _QUANTITY.sub("\u00a0", text)


def leg_label(leg: int) -> QtWidgets.QLabel:
    """The name of leg 0…5 with its colour."""
    return QtWidgets.QLabel(f'<span style="color:{LEG_COLOURS[leg]}">●</span> Leg {leg + 1}')


def line_edit(name: str, text: str = "", hint: str = "") -> QtWidgets.QLineEdit:
    """A text field with its accessible name."""
    edit = QtWidgets.QLineEdit(text)
    edit.setAccessibleName(name)
    edit.setPlaceholderText(hint)
    edit.setToolTip(name)
    return edit


def browse_button(text: str, pick: Callable[[], None]) -> QtWidgets.QPushButton:
    """A button that opens a file dialog."""
    button = QtWidgets.QPushButton("Browse …")
    button.setAccessibleName(text)
    button.setAutoDefault(False)
    button.clicked.connect(lambda: pick())
    return button


def set_role(label: QtWidgets.QLabel, role: str, text: str) -> None:
    """Show text in the style of a role: good, bad, muted."""
    label.setText(unbroken(text))
    if label.objectName() != role:
        label.setObjectName(role)
        label.style().unpolish(label)
        label.style().polish(label)
