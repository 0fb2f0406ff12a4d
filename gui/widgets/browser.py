"""A file in the system's browser, or what else shows it, and whether that came up."""

import shutil
import subprocess
from pathlib import Path

from pyqtgraph.Qt import QtCore, QtGui

from gui.texts import tr

_OPENER = "xdg-open"  # says by its exit code what Qt, which starts it as well, does not pass on
_LOOK_INTERVAL = 100  # ms
_PATIENCE = 10_000  # ms in which an opener that finds no browser has said so


class Browser(QtCore.QObject):
    """Opens files for a person. What was started goes on when the app ends.

    Signals: `failed(path, reason)` when nothing came up to show it after all.
    """

    failed = QtCore.Signal(str, str)

    def __init__(self, parent: QtCore.QObject | None = None) -> None:
        super().__init__(parent)
        self._started: list[tuple[Path, subprocess.Popen[bytes], QtCore.QElapsedTimer]] = []
        self._timer = QtCore.QTimer(self)
        self._timer.setInterval(_LOOK_INTERVAL)
        self._timer.timeout.connect(self._look)

    def open(self, path: Path, place: str = "") -> bool:
        """Open a file, a page at the place of an id.

        False when the system has nothing to open it with, else a failure is told by `failed`.
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
        """Look no further."""
        self._timer.stop()
        for _path, process, _since in self._started:
            _let_go(process)
        self._started = []

    def _look(self) -> None:
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
                _let_go(process)  # the opener is the browser itself
        self._started = left
        if not left:
            self._timer.stop()


def _let_go(process: subprocess.Popen[bytes]) -> None:
    """Leave a process to the person who looks at it: Python would complain of one that nobody waited for."""
    if process.poll() is None:
        process.returncode = 0
