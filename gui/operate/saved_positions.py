"""Named positions: save the current pose, go to, rename, delete."""

from collections.abc import Callable

import numpy as np
from pyqtgraph.Qt import QtCore, QtWidgets

from gui.texts import tr
from gui.widgets import GuardedButton, Reason, set_icon
from kinematics import Array, pose_to_coordinates
from rig.client import Positions, name_fault
from rig.errors import InputError

_ROWS = 4
"""Visible rows of the list."""
_NOT_CHOSEN = tr("choose one from the list")
_NOT_KNOWN = tr("the pose is not known: connect and home first")


class SavedPositions(QtWidgets.QWidget):
    """The list and its buttons, over a file that the CLI may change meanwhile.

    Signals: `go_requested(name, pose)`: go to it; `deleted(name, pose)`; `changed`: the state of the buttons.

    Args:
        positions: the file.
    """

    go_requested = QtCore.Signal(str, object)
    deleted = QtCore.Signal(str, object)
    changed = QtCore.Signal()

    def __init__(self, positions: Positions, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        self._positions = positions
        self._saved: dict[str, Array] = {}
        self._fault = ""
        self._known = False
        self.name = QtWidgets.QLineEdit()
        self.name.setPlaceholderText(tr("name"))
        self.name.setAccessibleName(tr("Name of a position"))
        self.save = GuardedButton(tr("Save present"), tr("Save where the platform is commanded to be under this name"))
        self.list = QtWidgets.QListWidget()
        self.list.setAccessibleName(tr("Saved positions"))
        self.list.setFixedHeight(_ROWS * (self.fontMetrics().height() + 3) + 4)
        self.go = GuardedButton(tr("Go there"), tr("Move to the chosen position"))
        self.go.setAccessibleName(tr("Go to the chosen position"))
        self.rename = GuardedButton(tr("Rename"), tr("Rename the selected position to the name in the field"))
        self.delete = GuardedButton(tr("Delete"), tr("Delete the selected position"))
        for button, meaning in ((self.save, "save"), (self.go, "go"), (self.rename, "rename"), (self.delete, "delete")):
            set_icon(button, meaning)
        self.reason = Reason(tr("Errors of the saved positions"))
        self._lay_out()
        self.name.textChanged.connect(self._refresh)
        self.list.currentItemChanged.connect(self._chosen_another)
        self.go.clicked.connect(self._go)
        self.rename.clicked.connect(self._rename)
        self.delete.clicked.connect(self._delete)
        self._refresh()

    def _lay_out(self) -> None:
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(4, 2, 4, 4)
        layout.setSpacing(4)
        for widgets in ((self.name, self.save), (self.list,), (self.go, self.rename, self.delete), (self.reason,)):
            row = QtWidgets.QHBoxLayout()
            row.setSpacing(4)
            for widget in widgets:
                row.addWidget(widget)
            layout.addLayout(row)

    @property
    def chosen(self) -> str:
        """The selected position's name, empty without."""
        item = self.list.currentItem()
        return "" if item is None else str(item.text())

    @property
    def go_obstacle(self) -> str:
        """Why Go is disabled because of the list."""
        return "" if self.chosen else _NOT_CHOSEN

    def set_known(self, known: bool) -> None:
        """Set whether there is a pose to save."""
        if known != self._known:
            self._known = known
            self._refresh()

    def read(self) -> None:
        """Reload the file and show its content or its fault."""
        self._attempt(lambda: None)

    def keep(self, pose: Array) -> None:
        """Save a pose (7,) under the name in the field."""
        name = self.name.text()
        self._attempt(lambda: self._positions.save(name, pose), choose=name)

    def _attempt(self, act: Callable[[], object], choose: str = "") -> bool:
        """Change the file and reload it; return whether it succeeded."""
        fault = ""
        try:
            act()
        except InputError as error:
            fault = str(error)
        saved: dict[str, Array] = {}
        try:
            saved = self._positions.all()
        except InputError as error:
            fault = str(error)
        self._fault = fault
        self._show(saved, choose if not fault and choose else self.chosen)
        return not fault

    def _show(self, saved: dict[str, Array], chosen: str) -> None:
        self._saved = saved
        with QtCore.QSignalBlocker(self.list):
            self.list.clear()
            for name, pose in saved.items():
                item = QtWidgets.QListWidgetItem(name)
                item.setToolTip(_place(pose))
                self.list.addItem(item)
                if name == chosen:
                    self.list.setCurrentItem(item)
        self._refresh()

    def _refresh(self, _changed: object = None) -> None:
        self.reason.show_text(self._fault)
        name = self.name.text()
        new = tr("type a name") if not name else name_fault(name)
        if not new and name in self._saved:
            new = tr("a position {name!r} is saved already").format(name=name)
        self.save.set_obstacle(new or ("" if self._known else _NOT_KNOWN))
        self.rename.set_obstacle(self.go_obstacle or new)
        self.delete.set_obstacle(self.go_obstacle)
        self.changed.emit()

    def _chosen_another(self, _now: object = None, _before: object = None) -> None:
        self.name.setText(self.chosen)
        self._refresh()

    def _go(self) -> None:
        """Go to the listed pose. If the file has changed, show the new content first; the user selects again."""
        name, shown = self.chosen, self._saved.get(self.chosen)
        if self._attempt(lambda: None) and shown is not None:
            present = self._saved.get(name)
            if present is not None and np.array_equal(present, shown):
                self.go_requested.emit(name, shown)

    def _rename(self) -> None:
        old, new = self.chosen, self.name.text()
        self._attempt(lambda: self._positions.rename(old, new), choose=new)

    def _delete(self) -> None:
        name, pose = self.chosen, self._saved[self.chosen]
        if self._attempt(lambda: self._positions.delete(name)):
            self.deleted.emit(name, pose)


def _place(pose: Array) -> str:
    coordinates = pose_to_coordinates(pose)
    place = ", ".join(f"{value:z.2f}" for value in coordinates[:3] * 1e3)
    angles = ", ".join(f"{value:z.2f}" for value in np.degrees(coordinates[3:]))
    return f"{place} mm; {angles} °"
