"""Child processes: started shielded from the terminal, connected by a pipe, and always ended."""

import contextlib
import gc
import multiprocessing
import multiprocessing.process
import os
import resource
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from multiprocessing import forkserver, resource_tracker, util
from multiprocessing.connection import Connection
from multiprocessing.context import ForkContext, ForkServerContext, ForkServerProcess, SpawnContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import ModuleType
from typing import Any

from rig.errors import HardwareError
from rig.runtime.runtime_folder import check_socket_paths, hold_process_folder, sockets_fit

_OF_THE_TERMINAL = {signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP}
_LOADED = ["rig.runtime.forkserver_gc", "rig.engine", "rig.virtual.forkserver_preload"]
"""Modules that the server loads, in this order; missing ones would be ignored silently."""
_OPEN_FILES = 64  # that a process of a rig must be allowed to have open at the same time
_is_child = False
_one_at_a_time = threading.Lock()
"""of an app's threads: each has all of them without the main script for a moment"""


def check_open_files() -> None:
    """Refuse to start a rig's processes if open files would run out. Raises HardwareError."""
    most, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and most < _OPEN_FILES:
        raise HardwareError(f"a process may open {most} files here (ulimit -n), must be at least {_OPEN_FILES}")


def begin_server() -> None:
    """Start the server's loading, so that the first process need not wait for it; returns at once.

    It is not started if its socket's path would be too long; the start of a process then reports that.

    Without this call the first process starts it. It ends after the process that started it, and after its last child.
    """
    if not _is_child and sockets_fit():
        with _shielded():
            _place_sockets()
            forkserver.set_forkserver_preload(_LOADED)
            forkserver.ensure_running()


def _place_sockets() -> None:
    """Place multiprocessing's sockets in a folder where the next process removes remains of killed ones."""
    place: dict[str, object] = multiprocessing.current_process()._config  # type: ignore[attr-defined]
    if place.get("tempdir") is None:
        holds = contextlib.ExitStack()
        with contextlib.suppress(HardwareError):  # then it has a place of its own, and an engine says what is wrong
            place["tempdir"] = str(hold_process_folder(holds))
            util.Finalize(None, holds.close, exitpriority=-100)  # after all processes, as for a place of its own


def starting(*, early: bool) -> ForkServerContext | ForkContext | SpawnContext:
    """The start method: forked from the server; a process that was started so uses another method.

    The server belongs to the process that started it, and another one for each engine would save nothing. So a child
    spawns its processes. With `early` a process is forked from its owner, if that has only one thread.
    """
    if early and threading.active_count() == 1:
        return multiprocessing.get_context("fork")
    if _is_child:
        return multiprocessing.get_context("spawn")
    return multiprocessing.get_context("forkserver")


def enter_child(name: str) -> None:
    """Set up a process started here, with its name in process lists.

    A termination signal ends it by default, independent of its owner's handlers.
    """
    global _is_child
    _is_child = True
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    gc.enable()
    with contextlib.suppress(OSError):
        Path("/proc/self/comm").write_text(f"rig: {name.removeprefix('the ')}")  # of which the kernel keeps 15 bytes


def start_shielded(process: BaseProcess) -> None:
    """Start `process` with the terminal's signals blocked from its begin, before it could ignore them.

    Ctrl-C, Ctrl-Z, a quit key and a closed terminal reach every process of a group at once: the one in front ends or
    stands still, and what it started follows in an order of its own, the engine not before the platform is at rest. A
    Ctrl-C or a signal to end that comes meanwhile is handled once the process is started: half started, it would say a
    traceback, or go on without an owner.

    Raises:
        HardwareError: processes cannot be started here.
    """
    check_socket_paths()
    try:
        if isinstance(process, ForkServerProcess):
            begin_server()
        with _shielded(), _one_at_a_time, _main_left_out():
            process.start()
    except (EOFError, OSError) as error:  # no memory, too many processes; or the server has died
        raise HardwareError(f"{process.name} could not be started: {error}") from error


@contextlib.contextmanager
def _shielded() -> Iterator[None]:
    """A `with` block in which started processes inherit blocked terminal signals."""
    with _postponed(signal.SIGINT), _postponed(signal.SIGTERM):
        resource_tracker.ensure_running()  # started along with the process, it would lift the block before
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, _OF_THE_TERMINAL)
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)


@contextlib.contextmanager
def _main_left_out() -> Iterator[None]:
    """Within a `with` block, what is started does not run the script of this process again, as it would be to begin.

    multiprocessing does so for functions of the script's own. No process here runs one of those.
    """
    script = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script


@contextlib.contextmanager
def _postponed(number: signal.Signals) -> Iterator[None]:
    """Postpone a signal until the end of a `with` block; blocking it would affect only this thread."""
    handler = signal.getsignal(number)
    if not callable(handler) or threading.current_thread() is not threading.main_thread():
        yield  # no handler of Python's, or one that runs in another thread
        return
    came = threading.Event()
    signal.signal(number, lambda _signal, _frame: came.set())
    try:
        yield
    finally:
        signal.signal(number, handler)
        if came.is_set():
            signal.raise_signal(number)


_LAST_WAIT = 2.0  # s after each of the two signals


class ChildDiedError(HardwareError):
    """The process has ended though it was still needed."""


class ChildLateError(HardwareError):
    """The process did not send the awaited message in time."""


class ChildProcess:
    """A process that runs `main(*arguments, theirs)`, `theirs` being the other end of the pipe; it is started at once.

    Each process's end closes the pipe, so that a reading child detects the end of its owner. After a failed start
    nothing remains.

    Args:
        name: in a sentence, as "the recorder".
        main: its function; imported by name, with only the environment of this process.
        arguments: for it, pickled.
        daemon: False for processes with own children.
        duplex: whether the child sends as well.
        early: fork it from this process if that has only one thread, see `starting`; it inherits all open files.
    """

    def __init__(
        self,
        name: str,
        main: Callable[..., object],
        *arguments: object,
        daemon: bool = True,
        duplex: bool = True,
        early: bool = False,
    ) -> None:
        self.name = name
        self.pipe: Connection
        """our end"""
        context = starting(early=early)
        if duplex:
            self.pipe, theirs = context.Pipe()
        else:
            theirs, self.pipe = context.Pipe(duplex=False)
        ours = self.pipe if context.get_start_method() == "fork" else None
        arguments_of_child = (name, dict(os.environ), ours, main, *arguments, theirs)
        self._process = context.Process(target=_run, args=arguments_of_child, name=name, daemon=daemon)
        try:
            start_shielded(self._process)
        except BaseException:
            self.end(0.0)
            raise
        finally:
            theirs.close()

    @property
    def pid(self) -> int | None:
        """Process id, None if it could not be started."""
        return self._process.pid

    @property
    def sentinel(self) -> int:
        """A file descriptor that can be read from once the process has ended."""
        return self._process.sentinel

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._process.is_alive()

    @property
    def exitcode(self) -> int | None:
        """Exit code, negative the signal that ended it; None while it runs."""
        return self._process.exitcode

    def send(self, message: object) -> None:
        """Send a message. Raises ChildDiedError if the process has ended."""
        try:
            self.pipe.send(message)
        except OSError as error:
            raise self.died() from error

    def receive(self, timeout: float, doing: str = "answer") -> Any:
        """The next message, waiting at most `timeout` s.

        Raises:
            ChildDiedError: the process has ended, or closed the pipe.
            ChildLateError: it was late in `doing` its task.
        """
        try:
            if not self.pipe.poll(timeout):
                raise ChildLateError(f"{self.name} did not {doing} within {timeout:g} s")
            return self.pipe.recv()
        except (EOFError, OSError) as error:
            self.join(1.0)  # so that its exit code is known
            raise self.died() from error

    def died(self) -> ChildDiedError:
        """The error of an ended process."""
        return ChildDiedError(f"{self.name} has died")

    def join(self, timeout: float) -> bool:
        """Wait at most `timeout` s for the process to end by itself; whether it has."""
        self._process.join(timeout)
        return not self._process.is_alive()

    def terminate(self, patience: float) -> bool:
        """Terminate the process by a signal that it can handle; whether it has ended within `patience` s."""
        self._process.terminate()
        return self.join(patience)

    def release(self) -> None:
        """Release the process: it continues after this one, which does not wait for it."""
        self.pipe.close()
        vars(multiprocessing.process)["_children"].discard(self._process)

    def end(self, patience: float, *, terminate: bool = True) -> None:
        """End the process, and close the pipe. May be called again.

        Args:
            patience: s for it to end by itself, after an earlier request; the pipe is then closed first.
            terminate: begin with a signal that it can handle.
        """
        try:
            if self._process.pid is None:
                return
            if patience > 0.0:
                self.pipe.close()
                self._process.join(patience)
            if terminate and self._process.is_alive():
                self._process.terminate()
                self._process.join(_LAST_WAIT)
            if self._process.is_alive():
                self._process.kill()
            self._process.join()
        finally:
            self.pipe.close()


def _run(
    name: str,
    environment: Mapping[str, str],
    not_its: Connection | None,
    main: Callable[..., object],
    *arguments: object,
) -> None:
    """Main function of every child.

    Args:
        name: see `ChildProcess`.
        environment: of the starting process, which may differ from the server's.
        not_its: the owner's end of its pipe, if inherited; open here, the pipe would never close.
        main, arguments: see `ChildProcess`.
    """
    enter_child(name)
    if not_its is not None:
        not_its.close()
    os.environ.clear()
    os.environ.update(environment)
    main(*arguments)
