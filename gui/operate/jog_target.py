"""Target of a move: a pose by numbers, next to the commanded one."""

import math

import numpy as np
from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.operate.jog_steps import NAMES
from gui.texts import tr
from gui.widgets import GuardedButton, QuantityBox, display_unit, field_refusal, set_icon
from kinematics import Array, coordinates_to_pose, pose_to_coordinates

_BUTTON_MARGIN = 44  # px of a button besides its text, with icon
LONGEST_TARGET = 300  # px
_INDENT = 5  # px, aligned with the number in the field above


class GoButton(GuardedButton):
    """The button that moves to the target, which it names; of fixed size with two lines."""

    def __init__(self) -> None:
        super().__init__(tr("Go"), tr("Move to the target pose"))
        set_icon(self, "go")
        self._text = tr("Go")
        self.setFixedHeight(self.sizeHint().height() + self.fontMetrics().lineSpacing())
        self.setSizePolicy(QtWidgets.QSizePolicy.Policy.Ignored, QtWidgets.QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(self.minimumSizeHint().width())

    def name_target(self, words: str) -> None:
        """Show the target; empty if unknown."""
        self._text = tr("Go: {target}").format(target=words) if words else tr("Go")
        self.setAccessibleName(self._text.replace("\n", " "))  # PressGuard ignores a press that began on another target
        self._show()

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        """Elide the text to the width."""
        super().resizeEvent(event)
        self._show()

    def _show(self) -> None:
        room, metrics, mode = self.width() - _BUTTON_MARGIN, self.fontMetrics(), QtCore.Qt.TextElideMode.ElideRight
        self.setText("\n".join(metrics.elidedText(line, mode, room) for line in self._text.splitlines()))


class Target(QtWidgets.QWidget):
    """The target's fields and the current pose.

    Signals: `fill_requested`: fill in the current pose; `changed`: the fields changed.

    Args:
        home: the mechanism's home pose (7,).
    """

    fill_requested = QtCore.Signal()
    changed = QtCore.Signal()

    def __init__(self, home: Array, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        grid = QtWidgets.QGridLayout(self)
        grid.setContentsMargins(4, 2, 4, 4)
        grid.setHorizontalSpacing(4)
        grid.setVerticalSpacing(4)
        names = tuple(NAMES.values())
        self.boxes = [
            QuantityBox(tr("Target {axis}").format(axis=name), "m" if index < 3 else "rad")
            for index, name in enumerate(names)
        ]
        self.present: list[QtWidgets.QLabel] = []
        for index, (name, box) in enumerate(zip(names, self.boxes, strict=True)):
            row, column = 2 * (index // 3), index % 3
            box.setPrefix(f"{name} ")
            now = QtWidgets.QLabel("–")
            now.setObjectName("muted")
            now.setIndent(_INDENT)
            now.setAccessibleName(tr("Commanded {axis} now, {unit}").format(axis=name, unit="mm" if index < 3 else "°"))
            now.setToolTip(tr("commanded {axis} now").format(axis=name))
            self.present.append(now)
            grid.addWidget(box, row, column)
            grid.addWidget(now, row + 1, column)
            grid.setColumnStretch(column, 1)
        self.here = GuardedButton(tr("Present pose"), tr("Fill in where the platform is commanded to be now"))
        self.here.clicked.connect(self.fill_requested)
        self.home = QtWidgets.QPushButton(tr("Home pose"))
        self.home.setToolTip(tr("Fill in the mechanism's home pose"))
        self.home.clicked.connect(lambda: self.fill(home))
        self.go = GoButton()
        set_icon(self.home, "home")
        row = QtWidgets.QHBoxLayout()
        for button in (self.here, self.home):
            row.addWidget(button)
        grid.addLayout(row, 4, 0, 1, 3)
        grid.addWidget(self.go, 5, 0, 1, 3)
        self._filling = False
        for box in self.boxes:
            box.changed.connect(self._typed)
        self.fill(home)

    @property
    def pose(self) -> Array:
        """Return the pose (7,) of the fields. Raises ValueError if one is invalid: see `refusal`."""
        return coordinates_to_pose(np.array([box.si() for box in self.boxes]))

    @property
    def refusal(self) -> str:
        """Why the fields give no pose; empty if they do."""
        return field_refusal(*self.boxes)

    def words(self, present: Array | None) -> str:
        """Return the target in at most two lines: its difference to the current pose, (7,), if known.

        Empty if a field is invalid or the pose is unknown.
        """
        if self.refusal or present is None:
            return ""
        here = pose_to_coordinates(present)
        parts: tuple[list[str], list[str]] = ([], [])
        for index, (name, box) in enumerate(zip(NAMES.values(), self.boxes, strict=True)):
            _unit, factor, decimals = display_unit("m" if index < 3 else "rad")
            if abs(box.si() - here[index]) * factor >= 0.5 * 10.0**-decimals:
                number = f"{box.value():+.{box.decimals()}f}"
                parts[index // 3].append(f"{name} {number.rstrip('0').rstrip('.') if '.' in number else number}")
        lines = [
            f"{', '.join(part)} {display_unit(unit).unit}"
            for part, unit in zip(parts, ("m", "rad"), strict=True)
            if part
        ]
        return ",\n".join(lines) if lines else tr("present pose")

    def fill(self, pose: Array) -> None:
        """Fill a pose (7,) into the fields. Raises ValueError, without effect, if a number is beyond its bounds."""
        values = [float(value) for value in pose_to_coordinates(pose)]
        for box, value in zip(self.boxes, values, strict=True):
            if fault := box.fault(value):
                raise ValueError(fault)
        self._filling = True
        for box, value in zip(self.boxes, values, strict=True):
            box.set_si(value)
        self._filling = False
        self.changed.emit()

    def _typed(self) -> None:
        if not self._filling:
            self.changed.emit()

    def show_present(self, pose: Array | None) -> None:
        """Show the current pose, (7,), or that it is unknown."""
        self.here.set_obstacle("" if pose is not None else tr("the pose is not known: connect and home first"))
        values = [None] * 6 if pose is None else pose_to_coordinates(pose).tolist()
        for index, (label, value) in enumerate(zip(self.present, values, strict=True)):
            if value is None:
                label.setText("–")
            else:
                label.setText(f"{value * 1e3:z.2f} mm" if index < 3 else f"{math.degrees(value):z.2f} °")
