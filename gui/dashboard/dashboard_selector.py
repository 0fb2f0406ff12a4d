"""Dashboards kept by their names in a small file, and which of them is shown: made, named, deleted."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from pyqtgraph.Qt import QtCore, QtWidgets

from gui.dashboard.layout import MOST_PLOTS, Dashboard, PlotOf, Row, plot_fault
from gui.texts import tr
from gui.widgets import FlowLayout, GuardedButton, Reason, give
from kinematics import toml_item
from rig.client import NamedStore, text_fault
from rig.errors import InputError

_LONGEST = 60  # characters of a name
_MOST = 100  # dashboards
_HEAD = (
    "# Dashboards of the app: rows of plots. A share is a part of the height, or of the width of its row, beside the\n"
    "# others'. Signals have the names that the app's tree of signals tells.\n"
)
_Share = Annotated[float, Field(gt=0.0, le=1e6, allow_inf_nan=False)]


class _Plot(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    signals: list[str]
    share: _Share = 1.0


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    plots: Annotated[list[_Plot], Field(min_length=1)]
    share: _Share = 1.0


class _Dashboard(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: str
    rows: list[_Row] = []


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    dashboard: Annotated[list[_Dashboard], Field(max_length=_MOST)] = []


class Dashboards(QtCore.QObject):
    """The dashboards of a file, which is read anew each time: a person may edit it, and another app write it.

    A file that cannot be used is named with what is wrong in it, and never written over. Signal `changed`: it was
    written from here.

    Args:
        path: of the file, which need not be there yet.

    Every method raises InputError where the file cannot be used or written, or what is asked for is not possible.
    """

    changed = QtCore.Signal()

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.file = NamedStore(path, "dashboards")

    def all(self) -> dict[str, Dashboard]:
        """By their names, in the file's order."""
        read = self.file.read(_File)
        kept = [] if read is None else [_dashboard(each) for each in read.dashboard]
        self.file.check([fault for each in kept for fault in _faults(each)], [each.name for each in kept])
        return {each.name: each for each in kept}

    def add(self, dashboard: Dashboard) -> None:
        """Keep one of a new name."""
        kept = self.all()
        _check_new(kept, dashboard.name)
        self.file.check_room(len(kept), _MOST)
        self._write([*kept.values(), dashboard])

    def replace(self, name: str, dashboard: Dashboard) -> None:
        """Keep one in the place of another, whose name it may change."""
        kept = self.all()
        _named(kept, name)
        if dashboard.name != name:
            _check_new(kept, dashboard.name)
        self._write([dashboard if each == name else one for each, one in kept.items()])

    def delete(self, name: str) -> None:
        """Forget one."""
        kept = self.all()
        _named(kept, name)
        self._write([one for each, one in kept.items() if each != name])

    def _write(self, dashboards: Sequence[Dashboard]) -> None:
        self.file.write(_HEAD + "".join(map(_text, dashboards)))
        self.changed.emit()


def _dashboard(kept: _Dashboard) -> Dashboard:
    rows = [Row(tuple(PlotOf(tuple(plot.signals), plot.share) for plot in row.plots), row.share) for row in kept.rows]
    return Dashboard(kept.name, tuple(rows))


def _faults(dashboard: Dashboard) -> list[str]:
    faults = [fault for place in dashboard.places if (fault := plot_fault(dashboard.plot(place).signals))]
    if len(dashboard.places) > MOST_PLOTS:
        faults.append(
            tr("{count} plots, must be at most {most} on a dashboard").format(
                count=len(dashboard.places), most=MOST_PLOTS
            )
        )
    return [f"{dashboard.name!r}: {fault}" for fault in (text_fault(dashboard.name, _LONGEST), *faults) if fault]


def _check_new(kept: dict[str, Dashboard], name: str) -> None:
    fault = text_fault(name, _LONGEST) or (
        tr("there is a dashboard {name!r} already").format(name=name) if name in kept else ""
    )
    if fault:
        raise InputError(fault)


def _named(kept: dict[str, Dashboard], name: str) -> None:
    if name not in kept:
        raise InputError(
            tr("there is no dashboard {name!r}; existing ones: {names}").format(
                name=name, names=", ".join(map(repr, kept)) or tr("none")
            )
        )


def _text(dashboard: Dashboard) -> str:
    """As TOML, a line for each plot."""
    text = f"\n[[dashboard]]\nname = {_item(dashboard.name)}\n"
    for row in dashboard.rows:
        text += f"\n[[dashboard.rows]]\nshare = {_item(row.share)}\nplots = [\n"
        for plot in row.plots:
            text += f"    {{ share = {_item(plot.share)}, signals = {_item(plot.signals)} }},\n"
        text += "]\n"
    return text


def _item(value: object) -> str:
    return str(toml_item(value).as_string())


_FIRST = tr("Dashboard")
_NOT_THERE = tr("there is no dashboard yet: add a signal")


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
        self.rename = GuardedButton(tr("Rename …"), tr("Rename this dashboard"))
        self.delete = GuardedButton(tr("Delete …"), tr("Delete this dashboard"))
        self.again = GuardedButton(tr("Read again"), tr("Read the file again after correcting it"))
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
        self.signals.setToolTip(tr("Show or hide the tree of signals"))
        self.moment = QtWidgets.QLabel(tr("No data"))
        self.moment.setAccessibleName(tr("Time of the values"))
        self.reason = Reason(tr("Errors of the dashboards"), lines=1)
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
