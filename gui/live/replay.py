"""Replay of a recording at any speed by a clock, and its controls: play, scrub, speed."""

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.models import Replay
from gui.texts import tr
from gui.widgets import NumberField, set_icon

SPEEDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 50.0)
_STEPS = 10_000
_NAMES = {
    "recording": (tr("Position in the recording"), tr("Rig time, s"), tr("End of the recording, s")),
    "motion": (tr("Position in the motion"), tr("Time of the motion, s"), tr("End of the motion, s")),
}
"""Accessible names of position, time and end."""


class ReplayBar(QtWidgets.QWidget):
    """Controls of a replay; disabled without one.

    Args:
        of: what is replayed, "recording" or "motion".
        missing: why there is none; empty: no recording is open.
        narrow: for narrow places, without the end's time.
    """

    def __init__(self, of: str = "recording", missing: str = "", *, narrow: bool = False) -> None:
        super().__init__()
        position, time, end = _NAMES[of]
        self._missing = missing or tr("Open a recording first")
        self._replay: Replay | None = None
        self.play = QtWidgets.QPushButton(tr("Play"))
        self.play.setCheckable(True)
        self.play.setAccessibleName(tr("Play or pause"))
        set_icon(self.play, "play")
        self.play.setMinimumWidth(90)
        self.slider = QtWidgets.QSlider(QtCore.Qt.Orientation.Horizontal)
        self.slider.setRange(0, _STEPS)
        self.slider.setPageStep(_STEPS // 20)
        self.slider.setAccessibleName(position)
        self.time = NumberField(time, "s")
        self.duration = QtWidgets.QLabel()
        self.duration.setAccessibleName(end)
        self.speed = QtWidgets.QComboBox()
        self.speed.setAccessibleName(tr("Speed of replay, times real time"))
        for speed in SPEEDS:
            self.speed.addItem(f"{speed:g} ×", speed)
        self.speed.setCurrentIndex(SPEEDS.index(1.0))
        layout = QtWidgets.QHBoxLayout(self)
        layout.setContentsMargins(4, 2, 4, 4)
        layout.addWidget(self.play)
        layout.addWidget(self.slider, 1)
        layout.addWidget(self.time)
        if not narrow:
            layout.addWidget(self.duration)
            layout.addWidget(QtWidgets.QLabel(tr("Speed")))
        layout.addWidget(self.speed)
        self.play.toggled.connect(self._toggle)
        self.slider.valueChanged.connect(self._slide)
        self.time.valueChanged.connect(self._type)
        self.speed.currentIndexChanged.connect(self._choose_speed)
        self.set_replay(None)

    def set_replay(self, replay: Replay | None) -> None:
        """Set the replay to control, None for none."""
        self._replay = replay
        self.setEnabled(replay is not None)
        self.setToolTip("" if replay is not None else self._missing)
        begin, end = (replay.begin, replay.end) if replay is not None else (0.0, 0.0)
        with QtCore.QSignalBlocker(self.time):
            self.time.set_range(begin, end)
            self.time.set_si(begin)
        self.duration.setText(tr("to {end:.3f} s, rig time").format(end=end))
        self._choose_speed()
        self.show_position()

    def save(self, settings: QtCore.QSettings) -> None:
        """Save the speed."""
        settings.setValue("recordings/speed", self.speed.currentText())

    def restore(self, settings: QtCore.QSettings) -> None:
        """Restore the saved speed."""
        self.speed.setCurrentIndex(max(0, self.speed.findText(str(settings.value("recordings/speed", "1 ×")))))

    def show_position(self) -> None:
        """Show the replay's position and whether it plays."""
        replay = self._replay
        playing = replay is not None and replay.playing
        position = replay.position if replay is not None else 0.0
        part = (position - replay.begin) / (replay.end - replay.begin) if replay and replay.end > replay.begin else 0.0
        for widget in (self.play, self.slider, self.time):
            widget.blockSignals(True)
        self.play.setChecked(playing)
        self.play.setText(tr("Pause") if playing else tr("Play"))
        if playing != (self.play.property("meaning") == "pause"):
            set_icon(self.play, "pause" if playing else "play")
        self.slider.setValue(round(_STEPS * part))
        if not (self.time.editing and self.time.hasFocus()):  # do not overwrite typed text
            self.time.set_si(position)
        for widget in (self.play, self.slider, self.time):
            widget.blockSignals(False)

    def _toggle(self, play: bool) -> None:
        if self._replay is not None:
            if play:
                self._replay.play()
            else:
                self._replay.pause()
            self.show_position()

    def _slide(self, value: int) -> None:
        if self._replay is not None:
            self._replay.seek(self._replay.begin + value / _STEPS * (self._replay.end - self._replay.begin))
            self.show_position()

    def _type(self, t: float) -> None:
        if self._replay is not None:
            self._replay.seek(t)
            self.show_position()

    def _choose_speed(self, _index: int = 0) -> None:
        if self._replay is not None:
            self._replay.speed = float(self.speed.currentData())
