"""Which of the dashboards kept is shown; made, named, deleted. What is wrong is said below."""

from collections.abc import Callable

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.dashboard.dashboard_file import Dashboards
from gui.dashboard.layout import Dashboard
from gui.texts import tr
from gui.widgets import FlowLayout, GuardedButton, Reason, give
from rig.errors import InputError

_FIRST = tr("Dashboard")
_NOT_THERE = tr("there is no dashboard yet: put a signal on it")


class Choice(QtWidgets.QWidget):
    """The controls above a dashboard. Signal `chosen(Dashboard)`: this one is to be shown.

    Where there is none yet there is an empty one, which is kept once something is put on it.

    Args:
        dashboards: those kept.
    """

    chosen = QtCore.Signal(object)

    def __init__(self, dashboards: Dashboards) -> None:
        super().__init__()
        self._dashboards = dashboards
        self.name = ""
        """of the one that is shown"""
        self.fault = ""
        """why the file cannot be used"""
        self._kept: dict[str, Dashboard] = {}
        self._writing = False
        """whether it is this one that writes the file"""
        self.box = QtWidgets.QComboBox()
        self.box.setAccessibleName(tr("Dashboard"))
        self.box.setMinimumContentsLength(14)
        self.box.setSizeAdjustPolicy(QtWidgets.QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.new = GuardedButton(tr("New"), tr("Begin an empty dashboard"))
        self.rename = GuardedButton(tr("Rename …"), tr("Give this dashboard another name"))
        self.delete = GuardedButton(tr("Delete …"), tr("Forget this dashboard"))
        self.again = GuardedButton(tr("Read again"), tr("Read the file again, once it is mended"))
        self.signals = QtWidgets.QPushButton(tr("Signals"))
        for button, meaning in (
            (self.new, "add"),
            (self.rename, "rename"),
            (self.delete, "delete"),
            (self.again, "reset"),
            (self.signals, "tree"),
        ):
            give(button, meaning)
        self.signals.setCheckable(True)
        self.signals.setChecked(True)
        self.signals.setAccessibleName(tr("Tree of signals"))
        self.signals.setToolTip(tr("Show the tree of signals beside the plots, or leave them all the room"))
        self.moment = QtWidgets.QLabel(tr("No data"))
        self.moment.setAccessibleName(tr("Time of the values"))
        self.reason = Reason(tr("What is wrong with the dashboards"), lines=1)
        row = FlowLayout(6)
        for widget in (self.signals, self.box, self.new, self.rename, self.delete, self.again, self.moment):
            row.addWidget(widget)
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(4, 0, 4, 0)
        layout.addLayout(row)
        layout.addWidget(self.reason)
        self.box.activated.connect(lambda index: self.choose(self.box.itemText(index)))
        self.new.clicked.connect(self._begin)
        self.rename.clicked.connect(self._ask_name)
        self.delete.clicked.connect(self._ask_deletion)
        self.again.clicked.connect(self.read)
        dashboards.changed.connect(self._changed_elsewhere)
        self.say("")
        self._refresh()

    def read(self) -> None:
        """Show what the file holds now, or what is wrong with it."""
        try:
            self._kept, self.fault = self._dashboards.all(), ""
        except InputError as error:
            self._kept, self.fault = {}, str(error)
        if self.name not in self._kept:
            self.name = next(iter(self._kept), _FIRST)
        self._refresh()
        self.say("")
        self.chosen.emit(self._kept.get(self.name, Dashboard(self.name)))

    def choose(self, name: str) -> None:
        """Show the dashboard of a name."""
        self.name = name
        self.read()

    def keep(self, dashboard: Dashboard) -> None:
        """Keep a dashboard in the place of the one that is shown. Raises InputError where that cannot be done."""
        if self.name in self._kept:
            self._write(lambda: self._dashboards.replace(self.name, dashboard), dashboard.name)
        else:
            self._write(lambda: self._dashboards.add(dashboard), dashboard.name)

    def say(self, refusal: str) -> None:
        """Say why something was refused, or what is wrong with the file."""
        text = self.fault or refusal
        self.reason.show_text(text)

    def _refresh(self) -> None:
        with QtCore.QSignalBlocker(self.box):
            self.box.clear()
            self.box.addItems(list(self._kept) or [self.name])
            self.box.setCurrentText(self.name)
        self.box.setEnabled(not self.fault)
        self.again.setVisible(bool(self.fault))
        self.new.set_obstacle(self.fault)
        for button in (self.rename, self.delete):
            button.set_obstacle(self.fault or ("" if self.name in self._kept else _NOT_THERE))

    def _changed_elsewhere(self) -> None:
        """Another page has written the file: whoever is not in view reads it when it comes to be."""
        if self.isVisible() and not self._writing:
            self.read()

    def _begin(self) -> None:
        number = 1
        while (name := f"{_FIRST} {number}" if number > 1 else _FIRST) in self._kept:
            number += 1
        self._attempt(lambda: self._dashboards.add(Dashboard(name)), name)

    def _ask_name(self) -> None:
        dialog = QtWidgets.QInputDialog(self)
        dialog.setWindowTitle(tr("Rename the dashboard"))
        dialog.setLabelText(tr("Name"))
        dialog.setTextValue(self.name)
        dialog.setAttribute(QtCore.Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.textValueSelected.connect(self.give_name)
        dialog.setModal(True)
        dialog.show()

    def give_name(self, name: str) -> None:
        """Give the dashboard that is shown another name."""
        named = Dashboard(name, self._kept[self.name].rows)
        self._attempt(lambda: self._dashboards.replace(self.name, named), name)

    def _ask_deletion(self) -> None:
        box = QtWidgets.QMessageBox(self)
        box.setWindowTitle(tr("Delete the dashboard?"))
        box.setText(
            tr("Delete the dashboard {name!r} with its {count} plots?").format(
                name=self.name, count=len(self._kept[self.name].places)
            )
        )
        delete = box.addButton(tr("Delete"), QtWidgets.QMessageBox.ButtonRole.AcceptRole)
        keep = box.addButton(tr("Keep"), QtWidgets.QMessageBox.ButtonRole.RejectRole)
        box.setDefaultButton(keep)
        box.setEscapeButton(keep)
        box.setAttribute(QtCore.Qt.WidgetAttribute.WA_DeleteOnClose)
        name = self.name
        box.finished.connect(lambda _code: self._delete(name) if box.clickedButton() is delete else None)
        box.setModal(True)
        box.show()

    def _delete(self, name: str) -> None:
        self._attempt(lambda: self._dashboards.delete(name), "")

    def _attempt(self, act: Callable[[], object], choose: str) -> None:
        """Do something to the file and show a dashboard of it; say why where it cannot be done."""
        try:
            self._write(act, choose)
        except InputError as error:
            self.say(str(error))

    def _write(self, act: Callable[[], object], choose: str) -> None:
        """Do something to the file and show a dashboard of it. Raises what `act` raises, and shows the one before."""
        self._writing = True
        try:
            act()
            self.name = choose
        finally:
            self._writing = False
        self.read()
