"""Incremental work in the window's thread: the event loop runs between parts."""

from collections.abc import Iterator

from pyqtgraph.Qt import QtCore


class IncrementalBuild(QtCore.QTimer):
    """Runs generator jobs one by one, up to the next `yield` per turn of the event loop.

    Signal `finished`: all are done.
    """

    finished = QtCore.Signal()

    def __init__(self, parent: QtCore.QObject) -> None:
        super().__init__(parent)
        self._jobs: list[Iterator[None]] = []
        self.timeout.connect(self._continue)

    @property
    def done(self) -> bool:
        """Whether no job is left."""
        return not self._jobs

    def replace(self, *jobs: Iterator[None]) -> None:
        """Replace the remaining jobs by these."""
        self._jobs = list(jobs)

    def _continue(self) -> None:
        self.setInterval(0)
        jobs = self._jobs
        for _ in jobs[0]:
            return  # the job continues
        jobs.pop(0)
        if self.done:
            self.stop()
            self.finished.emit()


def run_all(job: Iterator[None]) -> None:
    """Run a job completely."""
    for _ in job:
        pass
