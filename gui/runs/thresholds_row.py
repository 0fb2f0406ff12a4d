"""The thresholds of a verdict, to be changed where it is shown."""

from collections.abc import Mapping
from typing import Any

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.widgets import GuardedButton
from rig.config import Validation, parse_thresholds
from rig.errors import ConfigError

_FIELDS = {
    "residual_rms": ("Residual, RMS", "N"),
    "residual_noise": ("… in cells' noise", "×"),
    "bias": ("Bias", "N"),
    "lag": ("Lag", "s"),
    "r_squared": ("R², at least", ""),
    "inside_band": ("In the band, at least", ""),
    "confidence": ("Confidence", ""),
}


class ThresholdsRow(QtWidgets.QWidget):
    """A field for each threshold, empty where it is not judged. Nothing is taken before it is asked for.

    Signals: `applied(thresholds)` and `saved(thresholds)`, each a `Validation` that was checked.

    Args:
        obstacle: why thresholds cannot be saved where they came from, empty when they can.
        origin: the name of that file.
    """

    applied = QtCore.Signal(object)
    saved = QtCore.Signal(object)

    def __init__(self, obstacle: str, origin: str) -> None:
        super().__init__()
        self.setAccessibleName("Thresholds of the verdict")
        self.fields: dict[str, QtWidgets.QLineEdit] = {}
        grid = QtWidgets.QGridLayout()
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(2)
        for place, (name, (caption, unit)) in enumerate(_FIELDS.items()):
            label = QtWidgets.QLabel(f"{caption}, {unit}" if unit else caption)
            label.setObjectName("muted")
            field = QtWidgets.QLineEdit()
            field.setAccessibleName(f"Threshold: {caption}")
            field.setPlaceholderText("not judged")
            field.setToolTip(f"{name} of [validation]; a number in SI, or with its unit; empty: not judged")
            field.returnPressed.connect(self._apply)
            label.setBuddy(field)
            grid.addWidget(label, 2 * (place // 4), place % 4)
            grid.addWidget(field, 2 * (place // 4) + 1, place % 4)
            self.fields[name] = field
        self.apply = QtWidgets.QPushButton("Judge by these")
        self.apply.clicked.connect(self._apply)
        self.save = GuardedButton(f"Save in {origin}", "Put these into [validation] of the rig's configuration")
        self.save.clicked.connect(self._save)
        self.save.set_obstacle(obstacle)
        buttons = QtWidgets.QHBoxLayout()
        buttons.addWidget(self.apply)
        buttons.addWidget(self.save)
        grid.addLayout(buttons, 3, 3)
        self.message = QtWidgets.QLabel()
        self.message.setObjectName("bad")
        self.message.setWordWrap(True)
        self.message.setAccessibleName("What is wrong with the thresholds")
        self.message.hide()
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(0, 4, 0, 0)
        layout.addLayout(grid)
        layout.addWidget(self.message)

    def show_criteria(self, numbers: Mapping[str, Any]) -> None:
        """Show the thresholds that a run was judged by."""
        values = {one["name"]: one["threshold"] for one in numbers["criteria"]}
        values["confidence"] = numbers["confidence"]
        for name, field in self.fields.items():
            field.setText(f"{values[name]:g}" if name in values else "")
        self._say("")

    def _apply(self) -> None:
        thresholds = self._checked()
        if thresholds is not None:
            self.applied.emit(thresholds)

    def _save(self) -> None:
        thresholds = self._checked()
        if thresholds is not None:
            self.saved.emit(thresholds)

    def _checked(self) -> Validation | None:
        try:
            thresholds = parse_thresholds({name: field.text() for name, field in self.fields.items()})
        except ConfigError as error:
            self._say("; ".join(error.faults))
            return None
        self._say("")
        return thresholds

    def _say(self, text: str) -> None:
        self.message.setText(text)
        self.message.setVisible(bool(text))
