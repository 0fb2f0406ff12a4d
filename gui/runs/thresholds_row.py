"""The thresholds of a verdict, to be changed where it is shown."""

from collections.abc import Mapping
from typing import Any

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.texts import tr
from gui.widgets import GuardedButton, TextRoom
from rig.config import GIVEN, MOTION, RIG, Validation, parse_thresholds
from rig.errors import ConfigError, InputError

_WHOSE = {RIG: tr("the rig's"), MOTION: tr("the motion's"), GIVEN: tr("typed here")}
_FIELDS: dict[str, tuple[str, str, str, float]] = {
    "residual_rms": (tr("Residual, RMS"), "N", "", 1.0),
    "residual_noise": (tr("… in cells' noise"), "×", "", 1.0),
    "peak_residual": (tr("Residual, peak"), "N", "", 1.0),
    "bias": (tr("Bias"), "N", "", 1.0),
    "lag": (tr("Lag"), "s", "ms", 1e3),
    "r_squared": (tr("R², at least"), "", "", 1.0),
    "inside_band": (tr("In the band, at least"), "", "", 1.0),
    "confidence": (tr("Confidence"), "", "", 1.0),
    "peak_force": (tr("Peak force"), "N", "", 1.0),
    "period_error": (tr("Period ±, 99 %"), "s", "µs", 1e6),
    "position_rms": (tr("Position, RMS"), "m", "µm", 1e6),
    "position_max": (tr("Position, largest"), "m", "µm", 1e6),
    "rotation_rms": (tr("Rotation, RMS"), "rad", "µrad", 1e6),
    "rotation_max": (tr("Rotation, largest"), "rad", "µrad", 1e6),
    "overruns": (tr("Share of cycles skipped"), "", "", 1.0),
}
"""Caption, unit of a number without one, and the unit in which it is shown, of which so many are one of SI."""
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
        self.fields: dict[str, QtWidgets.QLineEdit] = {}
        self.captions: dict[str, tuple[QtWidgets.QLabel, str]] = {}
        """what stands over each field, and that without whose it is"""
        grid = QtWidgets.QGridLayout()
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(2)
        for place, (name, (caption, unit, *_shown)) in enumerate(_FIELDS.items()):
            label = QtWidgets.QLabel()
            label.setObjectName("muted")
            self.captions[name] = (label, f"{caption}, {unit}" if unit else caption)
            label.setText(self.captions[name][1])
            field = QtWidgets.QLineEdit()
            field.setAccessibleName(tr("Threshold: {name}").format(name=caption))
            field.setPlaceholderText(tr("not judged"))
            field.setToolTip(
                tr("{name} of [validation]; a number in SI, or with its unit; empty: not judged").format(name=name)
            )
            field.returnPressed.connect(lambda: self._send(self.applied))
            label.setBuddy(field)
            grid.addWidget(label, 2 * (place // _COLUMNS), place % _COLUMNS)
            grid.addWidget(field, 2 * (place // _COLUMNS) + 1, place % _COLUMNS)
            self.fields[name] = field
        self.apply = QtWidgets.QPushButton(tr("Judge by these"))
        self.apply.clicked.connect(lambda: self._send(self.applied))
        self.save = GuardedButton(
            tr("Save in {file}").format(file=origin), tr("Put these into [validation] of the rig's configuration")
        )
        self.save.clicked.connect(lambda: self._send(self.saved))
        self.save.set_obstacle(obstacle)
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

    def show_criteria(self, numbers: Mapping[str, Any]) -> None:
        """Show the thresholds that a run was judged by, unless others are being typed."""
        if self.isVisible() and any(field.isModified() for field in self.fields.values()):
            return
        values = {one["name"]: one["threshold"] for one in numbers["criteria"]}
        whose = {one["name"]: one["whose"] for one in numbers["criteria"]}
        values["confidence"] = numbers["confidence"]
        given = GIVEN in whose.values()
        whose["confidence"] = GIVEN if given else MOTION if "confidence" in numbers["own"] else RIG
        for name, field in self.fields.items():
            field.setText(_text(name, values[name]) if name in values else "")
            label, caption = self.captions[name]
            label.setText(f"{caption} · {_WHOSE[whose[name]]}" if name in values else caption)
        self._say("")

    def set_motion_obstacle(self, reason: str) -> None:
        """Say why thresholds cannot be saved in the motion's file, empty when they can."""
        self.keep.set_obstacle(reason)

    def refuse(self, error: InputError) -> None:
        """Say what is wrong with thresholds that were to be saved."""
        self._say("; ".join(error.faults) or str(error))

    def _send(self, signal: Any) -> None:
        thresholds = self._checked()
        if thresholds is not None:
            for field in self.fields.values():
                field.setModified(False)  # it is judged by them now
            signal.emit(thresholds)

    def _checked(self) -> Validation | None:
        try:
            thresholds = parse_thresholds({name: field.text() for name, field in self.fields.items()}, Validation)
        except ConfigError as error:
            self._say("; ".join(error.faults))
            return None
        self._say("")
        return thresholds

    def _say(self, text: str) -> None:
        self._room.show_text(text)


def _text(name: str, value: float) -> str:
    """A threshold as it would be typed, to all its digits: what is judged by next is what was read."""
    _caption, _unit, shown, scale = _FIELDS[name]
    return f"{scale * value:.12g} {shown}".rstrip()
