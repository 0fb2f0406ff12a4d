"""The thresholds of a verdict, to be changed where it is shown."""

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.texts import tr
from gui.widgets import DisplayUnit, GuardedButton, NumberField, TextRoom, field_refusal
from rig.config import GIVEN, MOTION, RIG, Validation, checked_thresholds
from rig.errors import ConfigError, InputError

_WHOSE = {RIG: tr("the rig's"), MOTION: tr("the motion's"), GIVEN: tr("typed here")}
_FIELDS: dict[str, tuple[str, str, DisplayUnit]] = {
    "residual_rms": (tr("Residual, RMS"), "N", DisplayUnit("N", 1.0, 0)),
    "residual_noise": (tr("… in cells' noise"), "", DisplayUnit("×", 1.0, 0)),
    "peak_residual": (tr("Residual, peak"), "N", DisplayUnit("N", 1.0, 0)),
    "bias": (tr("Bias"), "N", DisplayUnit("N", 1.0, 0)),
    "lag": (tr("Lag"), "s", DisplayUnit("ms", 1e3, 0)),
    "r_squared": (tr("R², at least"), "", DisplayUnit("", 1.0, 0)),
    "inside_band": (tr("In the band, at least"), "", DisplayUnit("", 1.0, 0)),
    "band_noise": (tr("Band, in cells' noise"), "", DisplayUnit("×", 1.0, 0)),
    "mass_error": (tr("Platform's mass"), "", DisplayUnit("", 1.0, 0)),
    "inertia_error": (tr("Inertia"), "", DisplayUnit("", 1.0, 0)),
    "gravity_error": (tr("Gravity"), "", DisplayUnit("", 1.0, 0)),
    "friction_error": (tr("Friction at the cells"), "", DisplayUnit("", 1.0, 0)),
    "center_error": (tr("Centre of mass"), "m", DisplayUnit("mm", 1e3, 0)),
    "gain_error": (tr("Cells' gains"), "", DisplayUnit("", 1.0, 0)),
    "confidence": (tr("Confidence"), "", DisplayUnit("", 1.0, 0)),
    "peak_force": (tr("Peak force"), "N", DisplayUnit("N", 1.0, 0)),
    "period_error": (tr("Period ±, 99 %"), "s", DisplayUnit("µs", 1e6, 0)),
    "position_rms": (tr("Position, RMS"), "m", DisplayUnit("µm", 1e6, 0)),
    "position_max": (tr("Position, largest"), "m", DisplayUnit("µm", 1e6, 0)),
    "rotation_rms": (tr("Rotation, RMS"), "rad", DisplayUnit("µrad", 1e6, 0)),
    "rotation_max": (tr("Rotation, largest"), "rad", DisplayUnit("µrad", 1e6, 0)),
    "overruns": (tr("Share of cycles skipped"), "", DisplayUnit("", 1.0, 0)),
}
"""Caption, SI unit, and the unit in which it is shown and typed."""
_COLUMNS = 5


class ThresholdsRow(QtWidgets.QWidget):
    """A field for each threshold, empty where it is not judged. Nothing is taken before it is asked for.

    Signals: `applied(thresholds)`, `saved(thresholds)` and `saved_in_motion(thresholds)`, each a `Validation` that was
    checked.

    Args:
        obstacle: why thresholds cannot be saved where they came from, empty when they can.
        origin: the name of that file.
    """

    applied = QtCore.Signal(object)
    saved = QtCore.Signal(object)
    saved_in_motion = QtCore.Signal(object)

    def __init__(self, obstacle: str, origin: str) -> None:
        super().__init__()
        self.setAccessibleName(tr("Thresholds of the verdict"))
        self.fields: dict[str, NumberField] = {}
        self.captions: dict[str, tuple[QtWidgets.QLabel, str]] = {}
        """what stands over each field, and that without whose it is"""
        grid = QtWidgets.QGridLayout()
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(2)
        for place, (name, (caption, unit, shown)) in enumerate(_FIELDS.items()):
            label = QtWidgets.QLabel()
            label.setObjectName("muted")
            self.captions[name] = (label, caption)
            label.setText(caption)
            field = NumberField(
                tr("Threshold: {name}").format(name=caption),
                unit,
                None,
                shown=shown,
                optional=True,
                exact=True,
                largest=math.inf,
                judge=partial(_fault, name),
            )
            field.setPlaceholderText(tr("not judged"))
            field.setToolTip(tr("{name} of [validation]; empty: not judged").format(name=name))
            field.lineEdit().returnPressed.connect(lambda: self._send(self.applied))
            field.changed.connect(partial(self._typed_into, name))
            label.setBuddy(field)
            grid.addWidget(label, 2 * (place // _COLUMNS), place % _COLUMNS)
            grid.addWidget(field, 2 * (place // _COLUMNS) + 1, place % _COLUMNS)
            self.fields[name] = field
        self.apply = GuardedButton(tr("Judge by these"))
        self.apply.clicked.connect(lambda: self._send(self.applied))
        self.save = GuardedButton(
            tr("Save in {file}").format(file=origin), tr("Put these into [validation] of the rig's configuration")
        )
        self.save.clicked.connect(lambda: self._send(self.saved))
        self._against_save, self._against_keep = obstacle, ""
        self.keep = GuardedButton(
            tr("Save in the motion's file"),
            tr("Put what differs from the rig's into [validation] of the motion's own file"),
        )
        self.keep.clicked.connect(lambda: self._send(self.saved_in_motion))
        buttons = QtWidgets.QHBoxLayout()
        buttons.addWidget(self.apply)
        buttons.addWidget(self.save)
        buttons.addWidget(self.keep)
        self.message = QtWidgets.QLabel()
        self.message.setObjectName("bad")
        self.message.setAccessibleName(tr("What is wrong with the thresholds"))
        self._room = TextRoom(self.message, 2)
        buttons.addWidget(self._room, 1)
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(0, 4, 0, 0)
        layout.addLayout(grid)
        layout.addLayout(buttons)
        self._typed: set[str] = set()
        """names of those that a person has changed since they were shown or taken"""
        self._showing = False
        self._refresh()

    def show_criteria(self, numbers: Mapping[str, Any]) -> None:
        """Show the thresholds that a run was judged by, unless others are being typed."""
        if self.isVisible() and self._typed:
            return
        values = {one["name"]: one["threshold"] for one in numbers["criteria"]}
        whose = {one["name"]: one["whose"] for one in numbers["criteria"]}
        values["confidence"] = numbers["confidence"]
        given = GIVEN in whose.values()
        whose["confidence"] = GIVEN if given else MOTION if "confidence" in numbers["own"] else RIG
        self._showing = True
        for name, field in self.fields.items():
            field.set_si(values.get(name))
            label, caption = self.captions[name]
            label.setText(f"{caption} · {_WHOSE[whose[name]]}" if name in values else caption)
        self._showing = False
        self._typed.clear()
        self._say("")

    def set_motion_obstacle(self, reason: str) -> None:
        """Say why thresholds cannot be saved in the motion's file, empty when they can."""
        self._against_keep = reason
        self._refresh()

    def refuse(self, error: InputError) -> None:
        """Say what is wrong with thresholds that were to be saved."""
        self._say("; ".join(error.faults) or str(error))

    def _typed_into(self, name: str) -> None:
        if not self._showing:
            self._typed.add(name)
            self._refresh()

    def _refresh(self) -> None:
        wrong = field_refusal(*self.fields.values())
        self.apply.set_obstacle(wrong)
        self.save.set_obstacle(self._against_save or wrong)
        self.keep.set_obstacle(self._against_keep or wrong)

    def _send(self, signal: Any) -> None:
        thresholds = self._checked()
        if thresholds is not None:
            self._typed.clear()  # it is judged by them now
            signal.emit(thresholds)

    def _checked(self) -> Validation | None:
        if wrong := field_refusal(*self.fields.values()):
            self._say(wrong)
            return None
        given = {name: value for name, field in self.fields.items() if (value := field.entered()) is not None}
        try:
            thresholds = checked_thresholds(given, Validation)
        except ConfigError as error:
            self._say("; ".join(error.faults))
            return None
        self._say("")
        return thresholds

    def _say(self, text: str) -> None:
        self._room.show_text(text)


def _fault(name: str, value: float) -> str:
    """What is wrong with a threshold of this name, SI; empty for nothing."""
    try:
        checked_thresholds({name: value}, Validation)
    except ConfigError as error:
        return "; ".join(fault.removeprefix(f"{name}: ") for fault in error.faults)
    return ""
