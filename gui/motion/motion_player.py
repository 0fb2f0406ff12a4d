"""The motion as the machine would make it, played back, and as it makes it, in the space that its platform needs."""

import time
from collections.abc import Callable

import numpy as np
from pyqtgraph.Qt import QtGui, QtWidgets

from gui.live import PlatformView, Replay, ReplayBar
from gui.motion.preview import Preview, tightest
from gui.scene import Shapes
from gui.session import Floats, Timeline, largest_amount
from gui.texts import tr
from gui.widgets import Theme
from rig.config import RigConfig

_COARSE = 200.0
"""mm; the space of a machine that needs less is told to the hundredth"""
_NONE = tr("There is no motion that can be evaluated")


class MotionPlayer(QtWidgets.QWidget):
    """Plays a motion; `refresh` is called by the clock of frames while this is visible.

    Args:
        config: the rig.
        theme: colours.
        shapes: the owner's own.
        clock: s, of the playing.
    """

    def __init__(
        self,
        config: RigConfig,
        theme: Theme,
        shapes: Shapes | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self.setAccessibleName(tr("The motion in space"))
        self._clock = clock
        self._live = False
        self.replay: Replay | None = None
        self.view = PlatformView(theme, compact=True, expected=True)
        self.view.set_shapes(shapes or Shapes())
        self.view.set_mechanism(config.machine)
        self.bar = ReplayBar("motion", _NONE, narrow=True)
        self.envelope = QtWidgets.QLabel(_NONE)
        self.envelope.setAccessibleName(tr("Space that the platform's edge needs, mm"))
        self.envelope.setWordWrap(True)
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addWidget(self.view, 1)
        layout.addWidget(self.envelope)
        layout.addWidget(self.bar)

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        """Need the height that words and controls take in this width."""
        super().resizeEvent(event)
        self.setMinimumHeight(self.layout().minimumHeightForWidth(self.width()))

    def set_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self.view.set_theme(theme)

    def show_preview(self, preview: Preview) -> None:
        """Show a motion at its beginning, a refused one at its worst sample; at home where there is none."""
        rows = preview.rows
        playing = self.replay is not None and self.replay.playing
        self.replay = None if rows is None else Replay(rows)
        if self.replay is not None and rows is not None:
            self.replay.excerpt.peak_force = largest_amount(rows["force_model"])
            if preview.verdict is not None and not preview.verdict.passed:
                worst = tightest(preview.verdict)
                self.replay.seek(0.0 if worst is None else worst.time)
        self.view.forget_scale()
        self.bar.set_replay(self.replay)
        self.view.set_swept(preview.rings, None if rows is None else np.ascontiguousarray(rows["pose"]))
        self.envelope.setText(_NONE if preview.rings is None else _extent(preview.rings))
        if self.replay is None:
            self.view.show_row(None)
            return
        self.view.refresh(self.replay.excerpt)
        if playing:  # somebody who changes a motion that plays goes on looking at it
            self.replay.play()

    def show_present(self, t: float | None, *, live: bool) -> None:
        """Show the machine as it moves where `live`, and where its motion is, s along it; None: on its way there."""
        self._live = live
        self.bar.setEnabled(not live and self.replay is not None)
        if live and self.replay is not None:
            self.replay.pause()
            self.replay.seek(self.replay.begin if t is None else t)
            self.bar.show_position()

    def refresh(self, history: Timeline) -> None:
        """Show the history's present while its motion runs; else play on."""
        if self._live and len(history):
            self.view.refresh(history)
            return
        if self.replay is None:
            return
        if self.replay.playing:
            self.replay.advance(self._clock())
            self.bar.show_position()
        self.view.refresh(self.replay.excerpt)


def _extent(rings: Floats) -> str:
    low, high = 1e3 * rings.min(axis=(0, 1)), 1e3 * rings.max(axis=(0, 1))
    digits = 0 if np.max(high - low) >= _COARSE else 2
    spans = (f"{name} {a:.{digits}f} … {b:.{digits}f} mm" for name, a, b in zip("xyz", low, high, strict=True))
    return tr("The plate's edge stays within {spans}").format(spans=", ".join(spans).replace("-", "−"))
