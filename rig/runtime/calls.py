"""Calls that another process carries out, so that this one need not load what they take."""

import contextlib
import fcntl
import os
import pickle
import signal
import threading
from collections.abc import Callable
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Self, TypeVar

from rig.runtime.sent_errors import describe_error, rebuild_error
from rig.runtime.spawning import ChildDiedError, ChildProcess

Result = TypeVar("Result")


class CallProcess:
    """A process that carries out calls one after the other.

    It is started by the first call, in the folder of this process, and anew by the next call after it has ended.
    It ends with its owner, also in the middle of a call; leaving its `with` block ends it. For one thread at a time,
    except `cancel`.

    Args:
        name: in a sentence, as "the process that checks moves".
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._child: ChildProcess | None = None
        self._life: Connection | None = None
        """one end of a pipe through which nothing is sent; it closes with this process"""
        self._cancelled = False
        self._closing = threading.Lock()

    @property
    def pid(self) -> int | None:
        """Process id; None while there is no process."""
        return None if self._child is None else self._child.pid

    def call(self, timeout: float, function: Callable[..., Result], *arguments: object) -> Result:
        """Return function(*arguments), for which the process has `timeout` s; its start is not counted.

        `function` is found by its name; what it gets and returns is pickled.

        Raises:
            ChildLateError: it took longer; the process is ended.
            ChildDiedError: the process died meanwhile.
            HardwareError: no process can be started.
            Exception: the error of the function, with its type and its fields.
        """
        child = self._running()
        try:
            try:
                child.send((function, arguments))
            except ChildDiedError:  # between two calls, and its end is not known yet
                self.end()
                child = self._running()
                child.send((function, arguments))
            returned, answer = child.receive(timeout, "carry out a call")
        except BaseException:  # an answer that comes later would be taken for that of the next call
            self.end()
            raise
        if not returned:
            raise rebuild_error(*answer)
        result: Result = answer
        return result

    def end(self) -> None:
        """End the process at once. May be called again."""
        child, self._child = self._child, None
        try:
            if child is not None:
                child.end(0.0, terminate=False)
        finally:
            self._close_life()

    def cancel(self) -> None:
        """End the process, from any thread; a call in progress, and each later one, raises ChildDiedError."""
        self._cancelled = True
        self._close_life()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def _close_life(self) -> None:
        with self._closing:
            life, self._life = self._life, None
        if life is not None:
            life.close()

    def _running(self) -> ChildProcess:
        if self._child is not None and not self._child.alive:
            self.end()
        if self._child is None:
            theirs, self._life = Pipe(duplex=False)
            try:
                if self._cancelled:  # checked after the pipe is there, which `cancel` closes
                    raise ChildDiedError(f"{self._name} has ended")
                self._child = ChildProcess(self._name, _serve, os.getcwd(), theirs)
            except BaseException:
                self.end()
                raise
            finally:
                theirs.close()
        return self._child


def _serve(folder: str, life: Connection, owner: Connection) -> None:
    """Main function of the process: receives functions and arguments, sends results or errors.

    The owner's end kills the process, also during a call: by the signal of `life`, which no long computation holds up.
    Nothing is sent through that pipe: the signal of what is sent may come after it was received, and during its call.
    """
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(life, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(life, fcntl.F_SETFL, fcntl.fcntl(life, fcntl.F_GETFL) | os.O_ASYNC)
    if life.poll(0.0):  # the owner ended just before
        return
    os.chdir(folder)
    with contextlib.suppress(EOFError, OSError):  # the owner is gone
        while True:
            owner.send_bytes(_carried_out(owner.recv_bytes()))


def _carried_out(request: bytes) -> bytes:
    try:
        function, arguments = pickle.loads(request)
        return pickle.dumps((True, function(*arguments)))
    except Exception as error:
        return pickle.dumps((False, describe_error(error)))
