"""Named dashboards saved in a small file, and the selector to create, rename and delete them."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from pyqtgraph.Qt import QtCore, QtWidgets

from gui.dashboard.layout import MOST_PLOTS, Dashboard, PlotOf, Row, plot_fault
from gui.texts import tr
from gui.widgets import FlowLayout, GuardedButton, Reason, set_icon
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
    """The dashboards of a file, reread for each access: users or other apps may change it.

    An invalid file is reported with its fault and never overwritten. Signal `changed`: this object wrote the file.

    Args:
        path: of the file; may not exist yet.

    Every method raises InputError if the file is unusable or the request impossible.
    """

    changed = QtCore.Signal()

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.file = NamedStore(path, "dashboards")

    def all(self) -> dict[str, Dashboard]:
        """Return dashboards by name, in file order."""
        read = self.file.read(_File)
        saved = [] if read is None else [_dashboard(each) for each in read.dashboard]
        self.file.check([fault for each in saved for fault in _faults(each)], [each.name for each in saved])
        return {each.name: each for each in saved}

    def add(self, dashboard: Dashboard) -> None:
        """Save a dashboard under a new name."""
        saved = self.all()
        _check_new(saved, dashboard.name)
        self.file.check_room(len(saved), _MOST)
        self._write([*saved.values(), dashboard])

    def replace(self, name: str, dashboard: Dashboard) -> None:
        """Replace a dashboard; its name may change."""
        saved = self.all()
        _named(saved, name)
        if dashboard.name != name:
            _check_new(saved, dashboard.name)
        self._write([dashboard if each == name else one for each, one in saved.items()])

    def delete(self, name: str) -> None:
        """Delete a dashboard."""
        saved = self.all()
        _named(saved, name)
        self._write([one for each, one in saved.items() if each != name])

    def _write(self, dashboards: Sequence[Dashboard]) -> None:
        self.file.write(_HEAD + "".join(map(_text, dashboards)))
        self.changed.emit()


def _dashboard(saved: _Dashboard) -> Dashboard:
    rows = [Row(tuple(PlotOf(tuple(plot.signals), plot.share) for plot in row.plots), row.share) for row in saved.rows]
    return Dashboard(saved.name, tuple(rows))


def _faults(dashboard: Dashboard) -> list[str]:
    faults = [fault for place in dashboard.places if (fault := plot_fault(dashboard.plot(place).signals))]
    if len(dashboard.places) > MOST_PLOTS:
        faults.append(
            tr("{count} plots, must be at most {most} on a dashboard").format(
                count=len(dashboard.places), most=MOST_PLOTS
            )
        )
    return [f"{dashboard.name!r}: {fault}" for fault in (text_fault(dashboard.name, _LONGEST), *faults) if fault]


def _check_new(saved: dict[str, Dashboard], name: str) -> None:
    fault = text_fault(name, _LONGEST) or (
        tr("there is a dashboard {name!r} already").format(name=name) if name in saved else ""
    )
    if fault:
        raise InputError(fault)


def _named(saved: dict[str, Dashboard], name: str) -> None:
    if name not in saved:
        raise InputError(
            tr("there is no dashboard {name!r}; existing ones: {names}").format(
                name=name, names=", ".join(map(repr, saved)) or tr("none")
            )
        )


def _text(dashboard: Dashboard) -> str:
    """Return a dashboard as TOML, one line per plot."""
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
    """Selector above a dashboard. Signal `chosen(Dashboard)`: show this one.

    Without any saved dashboard it shows an empty one, which is saved with its first plot.

    Args:
        dashboards: storage.
    """

    chosen = QtCore.Signal(object)

    def __init__(self, dashboards: Dashboards) -> None:
        super().__init__()
        self._dashboards = dashboards
        self.name = ""
        """Name of the selected dashboard."""
        self.fault = ""
        """Why the file is unusable; empty if it is not."""
        self._saved: dict[str, Dashboard] = {}
        self._writing = False
        """Whether this selector is writing the file."""
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
            set_icon(button, meaning)
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
        self.set_message("")
        self._refresh()

    def read(self) -> None:
        """Reload the file and show its content or its fault."""
        try:
            self._saved, self.fault = self._dashboards.all(), ""
        except InputError as error:
            self._saved, self.fault = {}, str(error)
        if self.name not in self._saved:
            self.name = next(iter(self._saved), _FIRST)
        self._refresh()
        self.set_message("")
        self.chosen.emit(self._saved.get(self.name, Dashboard(self.name)))

    def choose(self, name: str) -> None:
        """Show a dashboard by name."""
        self.name = name
        self.read()

    def keep(self, dashboard: Dashboard) -> None:
        """Save a dashboard in place of the selected one. Raises InputError on failure."""
        if self.name in self._saved:
            self._write(lambda: self._dashboards.replace(self.name, dashboard), dashboard.name)
        else:
            self._write(lambda: self._dashboards.add(dashboard), dashboard.name)

    def set_message(self, refusal: str) -> None:
        """Show why something was refused, or the file's fault."""
        text = self.fault or refusal
        self.reason.show_text(text)

    def _refresh(self) -> None:
        with QtCore.QSignalBlocker(self.box):
            self.box.clear()
            self.box.addItems(list(self._saved) or [self.name])
            self.box.setCurrentText(self.name)
        self.box.setEnabled(not self.fault)
        self.again.setVisible(bool(self.fault))
        self.new.set_obstacle(self.fault)
        for button in (self.rename, self.delete):
            button.set_obstacle(self.fault or ("" if self.name in self._saved else _NOT_THERE))

    def _changed_elsewhere(self) -> None:
        """Reload after another page wrote the file; a hidden page reloads when it is shown."""
        if self.isVisible() and not self._writing:
            self.read()

    def _begin(self) -> None:
        number = 1
        while (name := f"{_FIRST} {number}" if number > 1 else _FIRST) in self._saved:
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
        """Rename the selected dashboard."""
        named = Dashboard(name, self._saved[self.name].rows)
        self._attempt(lambda: self._dashboards.replace(self.name, named), name)

    def _ask_deletion(self) -> None:
        box = QtWidgets.QMessageBox(self)
        box.setWindowTitle(tr("Delete the dashboard?"))
        box.setText(
            tr("Delete the dashboard {name!r} with its {count} plots?").format(
                name=self.name, count=len(self._saved[self.name].places)
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
        """Change the file and select a dashboard; show the reason on failure."""
        try:
            self._write(act, choose)
        except InputError as error:
            self.set_message(str(error))

    def _write(self, act: Callable[[], object], choose: str) -> None:
        """Change the file and select a dashboard. If `act` raises, the previous one is shown again."""
        self._writing = True
        try:
            act()
            self.name = choose
        finally:
            self._writing = False
        self.read()
