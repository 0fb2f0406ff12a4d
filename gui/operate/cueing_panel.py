"""The tuning of the washout through which the tab Follow takes a vehicle's motion, changed while it is followed."""

from pathlib import Path
from typing import Any

from pyqtgraph.Qt import QtWidgets

from gui.models import ENTRY_GROUPS, TuningEntry, tuning_entries, with_values
from gui.session import RigSession, StreamReceiving, error_text
from gui.texts import mark, tr
from gui.widgets import (
    Choice,
    Columns,
    DisplayUnit,
    GuardedButton,
    NumberField,
    Reason,
    ScrolledPage,
    ask_save,
    display_unit,
    field_refusal,
    set_icon,
)
from kinematics import Tuning
from rig.errors import RigError
from rig.services import save_tuning

_SHOWN = {
    "m/s^2": DisplayUnit("m/s²", 1.0, 3),
    "rad/s^2": DisplayUnit("rad/s²", 1.0, 3),
    "m/s^3": DisplayUnit("m/s³", 1.0, 1),
    "": DisplayUnit("", 1.0, 3),
}
_BREAK = DisplayUnit("rad/s", 1.0, 3)
"""Break frequencies are in rad/s everywhere; other angular speeds are those of a turn."""
_BREAKS = ("frequency", "return_frequency", "approach", "recovery")
_ALGORITHMS = ((mark("classical"), "classical"), (mark("constrained by the legs"), "constrained"))
_CHOICES = {
    "algorithm": (mark("Algorithm"), _ALGORITHMS),
    "translation.order": (mark("Order"), ((mark("2: stays away"), 2), (mark("3: returns home"), 3))),
    "rotation.order": (mark("Order"), ((mark("1: stays turned"), 1), (mark("2: returns to level"), 2))),
}


class CueingPanel(QtWidgets.QWidget):
    """The numbers of the tuning with their units and bounds.

    Args:
        session: the rig, whose configuration has `[stream.cue]`.
        receiving: has the washout while it listens.
    """

    def __init__(self, session: RigSession, receiving: StreamReceiving) -> None:
        super().__init__()
        self._session, self._receiving = session, receiving
        self.apply = GuardedButton(tr("Apply"), tr("Change to this tuning within a second, while the platform moves"))
        self.put_back = GuardedButton(tr("Put back"), tr("Show the tuning in effect again"))
        self.save = GuardedButton(tr("Save tuning …"), tr("Write the tuning in effect to a file"))
        for button, meaning, pressed in (
            (self.apply, "forward", self._apply),
            (self.put_back, "undo", self._show_tuning),
            (self.save, "save", self._save),
        ):
            set_icon(button, meaning)
            button.clicked.connect(lambda _checked=False, pressed=pressed: pressed())
        self._reason = Reason()
        self.fields: dict[str, list[NumberField]] = {}
        self.choices: dict[str, Choice] = {}
        self._lay_out()
        receiving.changed.connect(self.refresh)
        receiving.tuned.connect(lambda _changes: self._show_tuning())
        receiving.tuning_refused.connect(self._refused)
        self._show_tuning()

    def _lay_out(self) -> None:
        entries = tuning_entries()
        groups = {name: self._group(name, [one for one in entries if one.group == name]) for name in ENTRY_GROUPS}
        columns = Columns(
            [groups["input"], groups["tilt"]], [groups["translation"], groups["rotation"], groups["limiter"]]
        )
        below = QtWidgets.QHBoxLayout()
        below.addWidget(self._reason, 1)
        for button in (self.apply, self.put_back, self.save):
            below.addWidget(button)
        layout = QtWidgets.QVBoxLayout(self)
        layout.addWidget(ScrolledPage(columns), 1)
        layout.addLayout(below)

    def _group(self, name: str, entries: list[TuningEntry]) -> QtWidgets.QGroupBox:
        box = QtWidgets.QGroupBox(tr(ENTRY_GROUPS[name]))
        grid = QtWidgets.QGridLayout(box)
        for key in _CHOICES:
            if key == (f"{name}.order" if name != "input" else "algorithm"):
                self._add_choice(grid, key, box.title())
        for entry in entries:
            row = grid.rowCount()
            grid.addWidget(QtWidgets.QLabel(tr(entry.caption)), row, 0)
            bounds = QtWidgets.QLabel(_bounds(entry))
            bounds.setObjectName("muted")
            grid.addWidget(bounds, row, 1)
            self.fields[entry.key] = []
            for column, axis in enumerate(entry.axes, start=2):
                field = self._field(entry, axis, box.title())
                grid.addWidget(field, row, column)
                self.fields[entry.key].append(field)
        grid.setColumnStretch(0, 1)
        return box

    def _add_choice(self, grid: QtWidgets.QGridLayout, key: str, title: str) -> None:
        caption, options = _CHOICES[key]
        choice = Choice(f"{title}: {tr(caption)}", [(tr(text), value) for text, value in options])
        choice.currentIndexChanged.connect(lambda _index: self.refresh())
        row = grid.rowCount()
        grid.addWidget(QtWidgets.QLabel(tr(caption)), row, 0)
        grid.addWidget(choice, row, 2, 1, 3)
        self.choices[key] = choice

    def _field(self, entry: TuningEntry, axis: str, title: str) -> NumberField:
        name = f"{title}: {tr(entry.caption)}" + (f", {axis}" if axis else "")
        field = NumberField(name, entry.unit, entry.least, entry.least, entry.greatest, shown=_unit(entry))
        if axis:
            field.setPrefix(f"{axis} ")
        field.setToolTip(f"{name}: {_bounds(entry)}")
        field.changed.connect(self.refresh)
        return field

    @property
    def shown(self) -> Tuning:
        """The tuning that the fields say. Raises ValueError for a field that is none."""
        values = {key: tuple(field.si() for field in fields) for key, fields in self.fields.items()}
        data = with_values(self._receiving.tuning, values).model_dump()
        for key, choice in self.choices.items():
            group, _, name = key.rpartition(".")
            (data[group] if group else data)[name] = choice.currentData()
        return Tuning.model_validate(data)

    def refresh(self) -> None:
        """Enable what is possible, or show why it is not."""
        receiving = self._receiving
        reason = "" if receiving.address else tr("not listening for a vehicle: press Listen on the tab Follow")
        wrong = field_refusal(self)
        same = "" if wrong or self._differs() else tr("nothing is changed")
        self.apply.set_obstacle(reason or wrong or same)
        self.put_back.set_obstacle(same)
        controls: list[QtWidgets.QWidget] = [*self.choices.values()]
        for fields in self.fields.values():
            controls += fields
        for control in controls:
            control.setEnabled(not reason)
        self._reason.show_reason(receiving.fault or reason or wrong)

    def _differs(self) -> bool:
        try:
            return self.shown != self._receiving.tuning
        except ValueError:
            return True

    def _show_tuning(self) -> None:
        tuning = self._receiving.tuning
        data: dict[str, Any] = tuning.model_dump()
        for entry in tuning_entries():
            for field, value in zip(self.fields[entry.key], entry.values(tuning), strict=True):
                field.set_si(value)
        for key, choice in self.choices.items():
            group, _, name = key.rpartition(".")
            choice.setCurrentIndex(choice.findData((data[group] if group else data)[name]))
        self.refresh()

    def _apply(self) -> None:
        self._receiving.tune(self.shown)

    def _refused(self, text: str) -> None:
        self._session.log("error", "app", tr("the tuning stays as it was: {reason}").format(reason=text))
        self.refresh()
        self._reason.show_reason(text)

    def _save(self) -> None:
        source = self._receiving.source
        suggested = source if source.endswith(".toml") else f"{source}.toml"
        path = ask_save(self, tr("Save the tuning"), suggested, tr("Tunings (*.toml)"), ".toml")
        if path is not None:
            self.save_to(path)

    def save_to(self, path: Path) -> None:
        """Write the tuning in effect to a file, with the comments of the one that it came from."""
        try:
            save_tuning(self._receiving.tuning, path, "" if self._receiving.fault else self._receiving.source)
        except RigError as error:
            self._reason.show_reason(error_text(error))
            return
        self._session.log("info", "operator", tr("the tuning is saved: {path}").format(path=path))


def _unit(entry: TuningEntry) -> DisplayUnit:
    shown = _BREAK if entry.key.rpartition(".")[2] in _BREAKS else _SHOWN.get(entry.unit)
    return display_unit(entry.unit) if shown is None else shown


def _bounds(entry: TuningEntry) -> str:
    """The bounds of an entry's numbers, with the unit shown."""
    unit = _unit(entry)
    least, greatest = entry.least * unit.factor, entry.greatest * unit.factor
    text = tr("{least:.4g} to {greatest:.4g} {unit}").format(least=least, greatest=greatest, unit=unit.unit)
    return text.strip()
