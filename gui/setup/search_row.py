"""Looking for drives at a serial port, a host or in a network: what answers there, and into which rows it goes."""

from collections.abc import Callable, Sequence
from typing import Any

from pyqtgraph.Qt import QtWidgets

from actuators import Answer, serial_ports
from gui.setup.page import listed
from gui.steps import line_edit, set_role
from gui.texts import tr
from gui.widgets import GuardedButton, TextRoom, WholeNumber, field_refusal

_UNITS = 8

Search = Callable[[str, Sequence[int], Callable[[Any, str], None]], None]


class SearchRow(QtWidgets.QWidget):
    """Where to search, for how many units, and what was found.

    Args:
        search: begins a search at a place for units, which tells what it found, or why there is none.
        stop: ends it.
        enter: puts what was found into the rows of the legs.
    """

    def __init__(
        self,
        search: Search,
        stop: Callable[[], None],
        enter: Callable[[Sequence[Answer]], None],
    ) -> None:
        super().__init__()
        self.found: tuple[Answer, ...] = ()
        self.searching = False
        self.place = line_edit(
            tr("Where to search: a serial port, a host or a network"),
            "",
            tr("/dev/serial/by-id/…, host, 192.168.10.0/24"),
        )
        self.place.setCompleter(QtWidgets.QCompleter(serial_ports(), self.place))
        self.units = WholeNumber(tr("Search for units 1 to this one"), _UNITS, 1, 255)
        self.search = GuardedButton(
            tr("Search"), tr("Say what answers there to Modbus; it is only read, and no drive that speaks Modbus moves")
        )
        self.stop = GuardedButton(tr("Stop searching"), tr("What was found until then is shown"))
        self.enter = GuardedButton(tr("Enter what was found"), tr("Into the rows that have no host yet, in this order"))
        self.label = QtWidgets.QLabel()
        self.label.setAccessibleName(tr("What was found"))
        self.search.clicked.connect(lambda: self._begin(search))
        self.stop.clicked.connect(lambda: stop())
        self.enter.clicked.connect(lambda: enter(self.found))
        self.place.textEdited.connect(lambda _text: self.refresh())
        self.units.changed.connect(self.refresh)
        self._busy = self._why_not_entered = ""
        column = QtWidgets.QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        row = QtWidgets.QHBoxLayout()
        for text, widget, stretch in ((tr("Search at"), self.place, 3), (tr("units 1 to"), self.units, 0)):
            row.addWidget(QtWidgets.QLabel(text))
            row.addWidget(widget, stretch)
        for button in (self.search, self.stop, self.enter):
            row.addWidget(button)
        column.addLayout(row)
        column.addWidget(TextRoom(self.label, 2))
        self.refresh()

    def _begin(self, search: Search) -> None:
        if self.search.obstacle:
            return
        self.searching, self.found = True, ()
        self._show("muted", tr("searching …"))
        self.refresh()
        search(self.place.text().strip(), range(1, self.units.value() + 1), self._show_found)

    def _show_found(self, found: Sequence[Answer] | None, reason: str) -> None:
        self.searching, self.found = False, tuple(found or ())
        lines = [f"{answer.place}: {answer.described}" for answer in self.found]
        if reason:
            self._show("bad", f"✗ {reason}")
        else:
            self._show("good" if lines else "bad", listed(lines) or tr("✗ nothing answers there"))
        self.refresh()

    def set_busy(self, busy: str, why_not_entered: str) -> None:
        """Enable what can be done now: `busy` says what is being done, or why nothing can be searched."""
        self._busy, self._why_not_entered = busy, why_not_entered
        self.refresh()

    def refresh(self) -> None:
        """Enable what can be done now."""
        wrong = field_refusal(self.units)
        self.search.set_obstacle(self._busy or wrong or ("" if self.place.text().strip() else tr("say where first")))
        self.stop.set_obstacle("" if self.searching else tr("nothing is searched"))
        self.enter.set_obstacle(self._why_not_entered or ("" if self.found else tr("nothing was found yet")))

    def _show(self, role: str, text: str) -> None:
        set_role(self.label, role, text)
