"""A service in its own process: events and result are sent as objects, and it can be cancelled.

`start(service, request)` gives a `Job`. The process is forked like those of a rig (`rig.runtime`). It ends with its
result, its error, a cancellation, or its parent.
"""

import contextlib
import fcntl
import gc
import os
import pickle
import signal
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any, Generic, Protocol, Self, TypeVar

from rig.errors import ExitCode, RigError
from rig.runtime import ChildDiedError, ChildLateError, ChildProcess, describe_error, rebuild_error

PATIENCE = 2.0
"""s from a cancellation, or from the parent's end, to the end of the process"""

_CANCEL, _PROCEED = "cancel", "proceed"
_EVENT, _RESULT, _ERROR = "event", "result", "error"
_GC_THRESHOLD = 20_000  # allocations before garbage collection: loading makes some 100,000
_WAIT_PERIOD = 0.2  # s between polls of a silent process
_CONFIRM_PERIOD = 0.02  # s between polls while waiting for confirmation

_Request = TypeVar("_Request", contravariant=True)
_Result = TypeVar("_Result", covariant=True)
_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a service.

    stage: code of the current stage. done, total: of the stage, in any unit; total is 0 if unknown.
    values: details of the stage, by name, such as the number of a cell or a mass in kg. waits: the user must act
    before the service continues. A callback returns when that is done; for a job, see `Job.proceed`.
    """

    stage: str
    done: float = 0.0
    total: float = 0.0
    values: Mapping[str, Any] = field(default_factory=dict)
    waits: bool = False

    @property
    def fraction(self) -> float | None:
        """Return the completed fraction of the stage, 0 to 1; None if unknown."""
        return self.done / self.total if self.total else None


@dataclass(frozen=True, slots=True)
class Notice:
    """A notice on a result.

    code: its kind. text: as printed. source: the file concerned, or empty. serious:
    the result may be wrong because of it.
    """

    code: str
    text: str
    source: str = ""
    serious: bool = False


Event = Progress | Notice
OnEvent = Callable[[Event], None]
"""Callback for each event; raises CancelledError to end the work."""


class CancelledError(RigError):
    """The job was cancelled."""

    exit_code = ExitCode.INTERRUPTED


def no_progress(_event: Event) -> None:
    """Ignore an event."""


class Service(Protocol[_Request, _Result]):
    """A use case: a module-level function, which the child process finds by name."""

    def __call__(self, request: _Request, /, progress: OnEvent = ...) -> _Result:
        """Run it. Raises RigError, and the errors of the packages that it uses."""


def start(service: Service[_Request, _Result], request: _Request) -> "Job[_Result]":
    """Run a service in its own process, with the folder and environment of this process.

    Raises:
        HardwareError: no process can be started.
    """
    return Job(service, request)


class Job(Generic[_Answer]):
    """A service in another process; see `start`. Leaving its `with` block ends it.

    Args:
        service: found by its name.
        request: pickled.
    """

    def __init__(self, service: Callable[..., _Answer], request: object) -> None:
        name = getattr(service, "__name__", "service")
        self._child = ChildProcess(f"the job {name}", _serve, service, request, os.getcwd(), daemon=False)
        self._events: deque[Event] = deque()
        self._answer: tuple[str, Any] | None = None
        self._cancelled: float | None = None
        """deadline of the process after a cancellation, s of `time.monotonic`; None if not cancelled"""

    @property
    def pid(self) -> int | None:
        """Return the process id."""
        return self._child.pid

    @property
    def descriptors(self) -> tuple[int, int]:
        """Return file descriptors that are readable when `poll` is due: of its messages, of its end.

        Valid only until the job has ended.
        """
        return self._child.pipe.fileno(), self._child.sentinel

    @property
    def ended(self) -> bool:
        """Return whether the job had ended at the last `poll` or `events`."""
        return self._answer is not None

    def poll(self) -> bool:
        """Receive messages without waiting; return whether the job has ended. Then `result` returns at once."""
        while self._answer is None:
            try:
                if not self._child.pipe.poll(0.0):
                    if not self._child.alive and not self._child.pipe.poll(0.0):
                        self._end(_ERROR, self._child.died())
                    break
                kind, content = self._child.pipe.recv()
            except (EOFError, OSError):
                self._child.join(PATIENCE)
                self._end(_ERROR, self._child.died())
                break
            if kind == _EVENT:
                self._events.append(content)
            else:
                self._end(kind, content)
        if self._answer is None and self._cancelled is not None and time.monotonic() >= self._cancelled:
            self._end(_ERROR, CancelledError("cancelled"))
        return self._answer is not None

    def events(self) -> list[Event]:
        """Return the events since the last call, in order, without waiting."""
        self.poll()
        came = list(self._events)
        self._events.clear()
        return came

    def cancel(self, patience: float = PATIENCE) -> None:
        """Request the service to end at its next event, and its process within `patience` s; return at once.

        `poll` and `result` enforce that. Without effect on an ended job. `close` ends it immediately.
        """
        if not self.ended and self._cancelled is None:
            self._cancelled = time.monotonic() + patience
            self._send((_CANCEL, patience))

    def proceed(self) -> None:
        """Confirm that the action requested by an event with `waits` is done; without effect on an ended job."""
        if not self.ended:
            self._send((_PROCEED, None))

    def result(self, timeout: float) -> _Answer:
        """Return the service's result, waiting for at most `timeout` s; the process has then ended in any case.

        Raises:
            ChildLateError: it did not end in time.
            ChildDiedError: its process ended without a result.
            CancelledError: it was cancelled.
            Exception: the error of the service, with its type and its fields.
        """
        deadline = time.monotonic() + timeout
        while not self.poll():
            if (left := deadline - time.monotonic()) <= 0.0:
                self._end(_ERROR, ChildLateError(f"{self._child.name} did not end within {timeout:g} s"))
            else:
                self._wait(min(left, _WAIT_PERIOD))
        assert self._answer is not None
        kind, content = self._answer
        if kind == _ERROR:
            raise content
        answer: _Answer = content
        return answer

    def close(self) -> None:
        """End the process immediately. `result` then raises CancelledError. May be called again."""
        if self._answer is None:
            self._end(_ERROR, CancelledError("cancelled"))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        with contextlib.suppress(AttributeError):  # it was never started
            self.close()

    def _wait(self, timeout: float) -> None:
        with contextlib.suppress(OSError, EOFError):
            self._child.pipe.poll(timeout)

    def _send(self, order: tuple[str, Any]) -> None:
        with contextlib.suppress(ChildDiedError):  # `poll` detects it
            self._child.send(order)

    def _end(self, kind: str, content: Any) -> None:
        """Store the answer and end the process: by itself after a result, at once otherwise."""
        error = rebuild_error(*content) if kind == _ERROR and isinstance(content, tuple) else content
        self._answer = kind, error
        by_itself = kind == _RESULT or isinstance(content, tuple)
        self._child.end(PATIENCE if by_itself else 0.0, terminate=False)


class _Control:
    """Receives the parent's orders in the child process by a signal, while the service computes.

    The process has no second thread, which would prevent it from forking helpers.

    Args:
        owner: the pipe to the parent.
    """

    def __init__(self, owner: Connection) -> None:
        self._owner = owner
        self._cancelled = False
        self._proceed = False
        signal.signal(signal.SIGIO, lambda _signal, _frame: self._receive())
        fcntl.fcntl(owner, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(owner, fcntl.F_SETFL, fcntl.fcntl(owner, fcntl.F_GETFL) | os.O_ASYNC)
        self._receive()  # earlier orders

    def report(self, event: Event) -> None:
        """See `OnEvent`: send it, and wait if it has `waits`."""
        self._check()
        self._proceed = False
        self._owner.send((_EVENT, event))
        while isinstance(event, Progress) and event.waits and not self._proceed:
            self._check()
            time.sleep(_CONFIRM_PERIOD)
        self._check()

    def _check(self) -> None:
        if self._cancelled:
            raise CancelledError("cancelled")

    def _receive(self) -> None:
        try:
            while self._owner.poll(0.0):
                order, content = self._owner.recv()
                self._proceed = self._proceed or order == _PROCEED
                if order == _CANCEL:
                    self._end_within(content)
        except (EOFError, OSError):  # the parent has ended
            self._end_within(PATIENCE)

    def _end_within(self, patience: float) -> None:
        """Raise in the service at its next event; otherwise a kernel timer ends this process."""
        if not self._cancelled:
            self._cancelled = True
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_REAL, max(patience, 1e-3))


def _serve(service: Callable[..., Any], request: object, folder: str, owner: Connection) -> None:
    """Entry point of a job's process.

    Args:
        service, request: the service and its request.
        folder: working directory, which may differ from the server's.
        owner: the pipe to the parent.
    """
    gc.set_threshold(_GC_THRESHOLD)
    orders = _Control(owner)
    try:
        os.chdir(folder)
        answer: tuple[str, Any] = _RESULT, service(request, orders.report)
        pickle.dumps(answer)  # fail here if it cannot be sent
    except Exception as error:
        answer = _ERROR, describe_error(error)
    with contextlib.suppress(OSError):  # the parent is gone
        owner.send(answer)
