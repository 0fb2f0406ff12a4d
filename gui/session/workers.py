"""Worker threads for blocking jobs: one queue each, run in order."""

import queue
import threading
from collections.abc import Callable
from typing import Any

from pyqtgraph.Qt import QtCore

Job = Callable[[], Any]


class Worker(QtCore.QObject):
    """Runs jobs one by one in its own thread.

    A job's result or exception goes to its callback, in the thread this object lives in. After `finish` no callback is
    called.

    Args:
        name: of the thread.
        parent: owner.
    """

    _finished = QtCore.Signal(object, object, object)

    def __init__(self, name: str, parent: QtCore.QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs: queue.SimpleQueue[tuple[Job, Callable[[Any, Exception | None], None]] | None] = queue.SimpleQueue()
        self._closed = False
        self._finished.connect(self._call_back)
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def submit(self, job: Job, done: Callable[[Any, Exception | None], None]) -> None:
        """Run `job`, then call `done(result, None)` or `done(None, exception)`."""
        self._jobs.put((job, done))

    def finish(self) -> None:
        """Accept no further jobs; queued ones still run. May be called again."""
        if not self._closed:
            self._closed = True
            self._jobs.put(None)

    def join(self, timeout: float) -> None:
        """Wait at most `timeout` s for the last job after `finish`."""
        self._thread.join(timeout)

    def _work(self) -> None:
        while (item := self._jobs.get()) is not None:
            job, done = item
            result, failure = None, None
            try:
                result = job()
            except Exception as error:  # pass any error on to the caller
                failure = error
            if not self._closed:
                self._finished.emit(done, result, failure)

    def _call_back(self, done: Callable[[Any, Exception | None], None], result: Any, failure: Exception | None) -> None:
        if not self._closed:
            done(result, failure)
