"""Worker threads for blocking jobs: one queue each, run in order; and the processes in which they compute."""

import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from pyqtgraph.Qt import QtCore

from rig.runtime import CallProcess

Job = Callable[[], Any]
Result = TypeVar("Result")

_COMPUTED_WITHIN = 3600.0  # s; recordings and motions may be of hours
_IDLE = 60.0  # s without a job, after which the process is ended: the next one takes 0.3 s to load its modules


class Worker(QtCore.QObject):
    """Runs jobs one by one in its own thread.

    A job's result or exception goes to its callback, in the thread this object lives in. After `finish` no callback is
    called. What computes is called through `compute`: this process never loads the compiler of the kernels.

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
        self._process = CallProcess(f"the process of {name}")
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def submit(self, job: Job, done: Callable[[Any, Exception | None], None]) -> None:
        """Run `job`, then call `done(result, None)` or `done(None, exception)`."""
        self._jobs.put((job, done))

    def compute(self, function: Callable[..., Result], *arguments: object) -> Result:
        """Return function(*arguments), computed in a process of this worker's. To be called by its jobs only.

        `function` is one of a module that loads nothing of Qt. Raises as `CallProcess.call`.
        """
        return self._process.call(_COMPUTED_WITHIN, function, *arguments)

    def finish(self) -> None:
        """Accept no further jobs; queued ones still run, but nothing is computed any more. May be called again."""
        if not self._closed:
            self._closed = True
            self._jobs.put(None)
            self._process.cancel()

    def join(self, timeout: float) -> None:
        """Wait at most `timeout` s for the last job after `finish`."""
        self._thread.join(timeout)

    def _work(self) -> None:
        while (item := self._next()) is not None:
            job, done = item
            result, failure = None, None
            try:
                result = job()
            except Exception as error:  # pass any error on to the caller
                failure = error
            if not self._closed:
                self._finished.emit(done, result, failure)
            del item, job, done, result, failure  # they may hold a recording while this waits
        self._process.end()

    def _next(self) -> tuple[Job, Callable[[Any, Exception | None], None]] | None:
        """Wait for the next item of the queue; the process does not wait for long."""
        try:
            return self._jobs.get(timeout=None if self._process.pid is None else _IDLE)
        except queue.Empty:
            self._process.end()
            return self._jobs.get()

    def _call_back(self, done: Callable[[Any, Exception | None], None], result: Any, failure: Exception | None) -> None:
        if not self._closed:
            done(result, failure)
