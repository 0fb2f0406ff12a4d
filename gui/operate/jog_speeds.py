"""Speeds of manual moves: peaks of a move, and the share of a limit during a hold."""

import math
from collections.abc import Callable

from pyqtgraph.Qt import QtWidgets

from gui.operate.presets import Presets
from gui.texts import tr
from gui.widgets import QuantityBox
from rig.client import greatest_speed, size_class
from rig.config import RigConfig
from rig.engine import move_speeds

_FASTEST, _FASTEST_TURN = 0.5, 1.0  # m/s, rad/s, upper bounds of the fields; the check decides
_SHARE, _SHARES = 5.0, (1.0, 5.0, 10.0, 25.0)  # %


class JogSpeeds(QtWidgets.QWidget):
    """The speed fields, and the speed of the share.

    Args:
        config: the rig.
        pivot: returns the current pivot (3,) m.
    """

    def __init__(
        self,
        config: RigConfig,
        pivot: Callable[[], tuple[float, float, float]],
        parent: QtWidgets.QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._config = config
        self._pivot = pivot
        along, about = move_speeds(config)
        fastest = _FASTEST * max(size_class(config), 1.0)
        self.speed = _speed_box(tr("Peak speed"), "m/s", along, fastest)
        self.turn_speed = _speed_box(tr("Peak angular speed"), "rad/s", about, _FASTEST_TURN)
        self.share = QuantityBox(tr("Speed while held, of the legs' limit"), "%", _SHARE, 0.1, 100.0)
        self.words = QtWidgets.QLabel()
        self.words.setObjectName("muted")
        self.words.setWordWrap(True)
        self.words.setAccessibleName(tr("Speed while a button is held"))
        grid = QtWidgets.QGridLayout(self)
        grid.setContentsMargins(4, 2, 4, 4)
        grid.setHorizontalSpacing(4)
        grid.setVerticalSpacing(4)
        peaks = QtWidgets.QHBoxLayout()
        peaks.setSpacing(4)
        peaks.addWidget(self.speed, 1)
        peaks.addWidget(self.turn_speed, 1)
        presets = Presets(self.share, tr("Speed while held, of the legs' limit"), "%", _SHARES)
        for row, (name, hint) in enumerate(
            ((tr("Step, move"), tr("Peak speeds of steps and moves")), (tr("Held"), tr("Speed while a button is held")))
        ):
            label = QtWidgets.QLabel(name)
            label.setToolTip(hint)
            grid.addWidget(label, row, 0)
        grid.addLayout(peaks, 0, 1)
        grid.addWidget(presets, 1, 1)
        grid.addWidget(self.words, 2, 0, 1, 2)
        grid.setColumnStretch(1, 1)
        self.share.changed.connect(self.refresh)
        self.refresh()

    def greatest(self, axis: str) -> float:
        """Return the rig's speed limit of an axis or leg, m/s or rad/s, about the current pivot."""
        return greatest_speed(self._config, axis, self._pivot())

    def hold_speed(self, axis: str) -> float:
        """Return the speed of an axis or leg during a hold, m/s or rad/s."""
        return self.share.si() / 100.0 * self.greatest(axis)

    def refresh(self) -> None:
        """Show the speed of the share, about the current pivot."""
        try:
            along, about = self.hold_speed("x") * 1e3, math.degrees(self.hold_speed("rx"))
        except ValueError:  # a field is invalid and shows why
            self.words.setText(tr("While held: –"))
            return
        self.words.setText(
            tr("While held: {along:.3g} mm/s along, {about:.3g} °/s about an axis").format(along=along, about=about)
        )


def _speed_box(name: str, unit: str, value: float, most: float) -> QuantityBox:
    """Return a speed field that can contain the configured speed, however fast or slow."""
    return QuantityBox(name, unit, value, min(1e-3, value), max(most, value))
