"""Where to go: a pose given by numbers, beside where the platform is commanded to be now."""

import math

import numpy as np
from pyqtgraph.Qt import QtCore, QtWidgets

from gui.operate.jog_steps import NAMES
from gui.texts import tr
from gui.widgets import GuardedButton, QuantityBox, give
from kinematics import Array, coordinates_to_pose, pose_to_coordinates

_INDENT = 5  # px, as much as the number in the field above


class Target(QtWidgets.QWidget):
    """The target's fields and the present pose.

    `wanted` is emitted when the present one is to be filled in, `changed` when the fields say another target.

    Args:
        home: the mechanism's home pose (7,).
    """

    wanted = QtCore.Signal()
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
            now.setToolTip(tr("{axis} that is commanded now").format(axis=name))
            self.present.append(now)
            grid.addWidget(box, row, column)
            grid.addWidget(now, row + 1, column)
            grid.setColumnStretch(column, 1)
        self.here = GuardedButton(tr("Present pose"), tr("Fill in where the platform is commanded to be now"))
        self.here.clicked.connect(self.wanted)
        self.home = QtWidgets.QPushButton(tr("Home pose"))
        self.home.setToolTip(tr("Fill in the mechanism's home pose"))
        self.home.clicked.connect(lambda: self.fill(home))
        self.go = give(GuardedButton(tr("Go")), "go")
        give(self.home, "home")
        row = QtWidgets.QHBoxLayout()
        for button in (self.here, self.home, self.go):
            row.addWidget(button)
        grid.addLayout(row, 4, 0, 1, 3)
        self._filling = False
        for box in self.boxes:
            box.valueChanged.connect(self._typed)
        self.fill(home)

    @property
    def pose(self) -> Array:
        """The pose (7,) of the fields."""
        return coordinates_to_pose(np.array([box.si() for box in self.boxes]))

    def fill(self, pose: Array) -> None:
        """Put a pose (7,) into the fields. Raises ValueError, and leaves them, where one cannot have its number."""
        values = [float(value) for value in pose_to_coordinates(pose)]
        for box, value in zip(self.boxes, values, strict=True):
            if fault := box.fault(value):
                raise ValueError(fault)
        self._filling = True
        for box, value in zip(self.boxes, values, strict=True):
            box.set_si(value)
        self._filling = False
        self.changed.emit()

    def _typed(self, _number: float) -> None:
        if not self._filling:
            self.changed.emit()

    def show_present(self, pose: Array | None) -> None:
        """Say where the platform is, (7,), or that nobody knows."""
        self.here.set_obstacle("" if pose is not None else tr("the pose is not known: connect and home first"))
        values = [None] * 6 if pose is None else pose_to_coordinates(pose).tolist()
        for index, (label, value) in enumerate(zip(self.present, values, strict=True)):
            if value is None:
                label.setText("–")
            else:
                label.setText(f"{value * 1e3:z.2f} mm" if index < 3 else f"{math.degrees(value):z.2f} °")
