"""Long work of the window's thread in parts: between two of them the event loop goes on."""

from collections.abc import Iterator

from pyqtgraph.Qt import QtCore


class InParts(QtCore.QTimer):
    """Once started, carries out jobs one after the other: in each turn of the event loop one up to its next `yield`.

    Signal `finished`: none is left.
    """

    finished = QtCore.Signal()

    def __init__(self, parent: QtCore.QObject) -> None:
        super().__init__(parent)
        self._jobs: list[Iterator[None]] = []
        self.timeout.connect(self._go_on)

    @property
    def done(self) -> bool:
        """Whether no job is left."""
        return not self._jobs

    def take(self, *jobs: Iterator[None]) -> None:
        """Carry out these in place of whatever is left."""
        self._jobs = list(jobs)

    def _go_on(self) -> None:
        self.setInterval(0)
        jobs = self._jobs
        for _ in jobs[0]:
            return  # there is more of it
        jobs.pop(0)
        if self.done:
            self.stop()
            self.finished.emit()


def at_once(job: Iterator[None]) -> None:
    """Carry out a job whole."""
    for _ in job:
        pass
