"""The button that makes a film of the open recording, and what it asks."""

from collections.abc import Callable, Sequence

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.live.film_dialog import FilmDialog
from gui.live.platform_view import PlatformView
from gui.live.replay import Replay
from gui.texts import tr
from gui.widgets import GuardedButton, give
from rig.recording import MotionRecord


class FilmMaker(QtCore.QObject):
    """Has a button beside the picture's own, possible while there is a replay.

    Args:
        platform: the picture that is filmed.
        obstacle: why nothing that takes the processor may begin; empty when it may.
        parent: the view that it belongs to.
    """

    said = QtCore.Signal(str)
    began = QtCore.Signal()
    """The replay was paused for it."""

    def __init__(self, platform: PlatformView, obstacle: Callable[[], str], parent: QtWidgets.QWidget) -> None:
        super().__init__(parent)
        self._platform, self._obstacle, self._view = platform, obstacle, parent
        self._replay: Replay | None = None
        self._name = ""
        self._motions: Sequence[MotionRecord] = ()
        self.button = GuardedButton(
            tr("Film …"), tr("Make an animated picture or a folder of frames of this recording")
        )
        give(self.button, "film")
        self.button.setAccessibleName(tr("Make a film of the recording"))
        platform.controls.addWidget(self.button)
        self.button.clicked.connect(self.begin)
        self.dialog: FilmDialog | None = None
        self.allow(None, "")

    def allow(self, replay: Replay | None, name: str, motions: Sequence[MotionRecord] = ()) -> None:
        """From now on films are of this replay, None for none.

        name: what a file is called at first; motions: at whose end a film is to end that begins in it.
        """
        self._replay, self._name, self._motions = replay, name, motions
        missing = "" if replay is not None else tr("open a recording first")
        self.button.set_obstacle(self._platform.menu.problem or missing)

    def begin(self) -> None:
        """Ask which film is to be made."""
        if self._replay is None:
            return
        self._replay.pause()
        self.began.emit()
        t = self._replay.position
        ends = [motion.end for motion in self._motions if motion.start <= t < motion.end]
        until = min([*ends, self._replay.end])
        self.dialog = FilmDialog(self._platform, self._replay, until, self._name, self._obstacle, self._view)
        self.dialog.said.connect(self.said)
        self.dialog.finished.connect(self._closed)
        self.dialog.setModal(True)
        self.dialog.show()

    def stop(self) -> None:
        """End a film that is being made. May be called again."""
        if self.dialog is not None:
            self.dialog.stop()

    def _closed(self, _result: int) -> None:
        if self.dialog is not None:
            self.dialog.deleteLater()
            self.dialog = None
