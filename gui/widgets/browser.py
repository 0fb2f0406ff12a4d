"""Open files in the system's browser or viewer, and detect failure."""

import shutil
import subprocess
from pathlib import Path

from pyqtgraph.Qt import QtCore, QtGui

from gui.texts import tr

_OPENER = "xdg-open"  # its exit code, which Qt discards, reports failures
_POLL_INTERVAL = 100  # ms
_PATIENCE = 10_000  # ms within which an opener without a browser fails


class Browser(QtCore.QObject):
    """Opens files for the user. Started programs outlive the app.

    Signals: `failed(path, reason)`: no program opened it after all.
    """

    failed = QtCore.Signal(str, str)

    def __init__(self, parent: QtCore.QObject | None = None) -> None:
        super().__init__(parent)
        self._started: list[tuple[Path, subprocess.Popen[bytes], QtCore.QElapsedTimer]] = []
        self._timer = QtCore.QTimer(self)
        self._timer.setInterval(_POLL_INTERVAL)
        self._timer.timeout.connect(self._poll)

    def open(self, path: Path, place: str = "") -> bool:
        """Open a file, an HTML page at an element id.

        Returns False if there is no program for it; later failures emit `failed`.
        """
        opener = shutil.which(_OPENER)
        url = QtCore.QUrl.fromLocalFile(str(path.resolve()))
        url.setFragment(place)
        if opener is None:
            return bool(QtGui.QDesktopServices.openUrl(url))
        nothing = subprocess.DEVNULL
        try:
            process = subprocess.Popen(
                [opener, url.toString() if place else str(path.resolve())],
                stdin=nothing,
                stdout=nothing,
                stderr=nothing,
                start_new_session=True,
            )
        except OSError:
            return False
        since = QtCore.QElapsedTimer()
        since.start()
        self._started.append((path, process, since))
        self._timer.start()
        return True

    def close(self) -> None:
        """Stop watching."""
        self._timer.stop()
        for _path, process, _since in self._started:
            _release_process(process)
        self._started = []

    def _poll(self) -> None:
        left = []
        for path, process, since in self._started:
            code = process.poll()
            if code:
                self.failed.emit(
                    str(path),
                    tr("no program opened to show it ({opener} ended with {code})").format(opener=_OPENER, code=code),
                )
            elif code is None and since.elapsed() < _PATIENCE:
                left.append((path, process, since))
            elif code is None:
                _release_process(process)  # the opener is the browser itself
        self._started = left
        if not left:
            self._timer.stop()


def _release_process(process: subprocess.Popen[bytes]) -> None:
    """Release a process to run on: Python would warn about an unreaped child."""
    if process.poll() is None:
        process.returncode = 0
