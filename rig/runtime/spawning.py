"""Processes of one's own: started shielded from the terminal, asked by a pipe, ended on every path."""

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
"""Modules that the server loads, in this order; one that is not there would be passed over in silence."""
_OPEN_FILES = 64  # that a process of a rig must be allowed to have open at the same time
_is_child = False
_one_at_a_time = threading.Lock()
"""of an app's threads: each has all of them without the main script for a moment"""


def check_open_files() -> None:
    """Refuse to start a rig's processes where they would run out of files. Raises HardwareError."""
    most, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and most < _OPEN_FILES:
        raise HardwareError(f"a process may open {most} files here (ulimit -n), must be at least {_OPEN_FILES}")


def begin_server() -> None:
    """Have the server begin to load, so that the first process need not wait for it; returns at once.

    Not where its socket would have too long a path: who starts a process then says so.

    Without it the first process begins it. It ends by itself after whoever began it, and after the last that it forked.
    """
    if not _is_child and sockets_fit():
        with _shielded():
            _place_sockets()
            forkserver.set_forkserver_preload(_LOADED)
            forkserver.ensure_running()


def _place_sockets() -> None:
    """Have multiprocessing put its sockets where the next process removes what one that was killed has left."""
    place: dict[str, object] = multiprocessing.current_process()._config  # type: ignore[attr-defined]
    if place.get("tempdir") is None:
        holds = contextlib.ExitStack()
        with contextlib.suppress(HardwareError):  # then it has a place of its own, and an engine says what is wrong
            place["tempdir"] = str(hold_process_folder(holds))
            util.Finalize(None, holds.close, exitpriority=-100)  # after all processes, as for a place of its own


def starting(*, early: bool) -> ForkServerContext | ForkContext | SpawnContext:
    """How a process is started here: forked from the server; by one that was started so itself, in another way.

    The server belongs to the process that began it, and another for each engine would save nothing. So a child spawns
    what it starts. What is started `early` is forked from its owner, as long as that has but one thread.
    """
    if early and threading.active_count() == 1:
        return multiprocessing.get_context("fork")
    if _is_child:
        return multiprocessing.get_context("spawn")
    return multiprocessing.get_context("forkserver")


def enter_child(name: str) -> None:
    """Say in a process that was started here that it is one, to itself and to whoever lists processes.

    A signal to end it ends it, whatever its owner does at one, until it says otherwise.
    """
    global _is_child
    _is_child = True
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    gc.enable()
    with contextlib.suppress(OSError):
        Path("/proc/self/comm").write_text(f"rig: {name.removeprefix('the ')}")  # of which the kernel keeps 15 bytes


def start_shielded(process: BaseProcess) -> None:
    """Start `process` with the terminal's signals blocked from its birth, before it could say to ignore them.

    Ctrl-C, Ctrl-Z, a quit key and a closed terminal reach every process of a group at once: the one in front ends or
    stands still, and what it started follows in an order of its own, the engine not before the platform is at rest. A
    Ctrl-C or a signal to end that comes meanwhile is handled once the process is started: half started, it would say a
    traceback, or go on without an owner.

    Raises:
        HardwareError: processes cannot be started here.
    """
    check_socket_paths()
    if isinstance(process, ForkServerProcess):
        begin_server()
    with _shielded(), _one_at_a_time, _main_left_out():
        process.start()


@contextlib.contextmanager
def _shielded() -> Iterator[None]:
    """Within a `with` block, what is started inherits the block of the terminal's signals."""
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
    """Handle a signal after a `with` block; to block it keeps only this thread from taking it, not the others."""
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
    """The process did not say in time what it was waited for."""


class ChildProcess:
    """A process that runs `main(*arguments, theirs)`, `theirs` being the other end of the pipe; it is started at once.

    The end of either process is the end of the pipe: a child that reads it notices that its owner has gone. A pipe and
    a process that could not be started leave nothing.

    Args:
        name: in a sentence, as "the recorder".
        main: what runs in it; found by its name, with nothing of this process but its environment.
        arguments: for it, pickled.
        daemon: left False by those that have children of their own.
        duplex: whether the child sends as well.
        early: fork it from this process where that has one thread only, see `starting`; it has all files open here.
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
        told = (name, dict(os.environ), ours, main, *arguments, theirs)
        self._process = context.Process(target=_run, args=told, name=name, daemon=daemon)
        try:
            start_shielded(self._process)
        except BaseException:
            self.end(0.0)
            raise
        finally:
            theirs.close()

    @property
    def pid(self) -> int | None:
        """Process id, None where it could not be started."""
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
        """Send a message. Raises ChildDiedError where nobody is there to take it."""
        try:
            self.pipe.send(message)
        except OSError as error:
            raise self.died() from error

    def receive(self, timeout: float, doing: str = "answer") -> Any:
        """The next message, waiting at most `timeout` s.

        Raises:
            ChildDiedError: the process has ended, or closed the pipe.
            ChildLateError: it did not do in time what it was `doing`.
        """
        try:
            if not self.pipe.poll(timeout):
                raise ChildLateError(f"{self.name} did not {doing} within {timeout:g} s")
            return self.pipe.recv()
        except (EOFError, OSError) as error:
            self.join(1.0)  # so that its exit code is known
            raise self.died() from error

    def died(self) -> ChildDiedError:
        """The error that says so."""
        return ChildDiedError(f"{self.name} has died")

    def join(self, timeout: float) -> bool:
        """Wait at most `timeout` s for the process to end by itself; whether it has."""
        self._process.join(timeout)
        return not self._process.is_alive()

    def terminate(self, patience: float) -> bool:
        """Tell the process to end by a signal that it can act on; whether it has within `patience` s."""
        self._process.terminate()
        return self.join(patience)

    def release(self) -> None:
        """Leave the process to itself: it goes on when this one ends, which does not wait for it."""
        self.pipe.close()
        vars(multiprocessing.process)["_children"].discard(self._process)

    def end(self, patience: float, *, terminate: bool = True) -> None:
        """End the process, and close the pipe. May be called again.

        Args:
            patience: s for it to end by itself, as it was asked to before; the pipe is closed first then.
            terminate: begin with a signal that it can act on.
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
        environment: of whoever started it, which the server's may not be.
        not_its: the owner's end of its pipe, where it has that as well: open here, it would never end.
        main, arguments: see `ChildProcess`.
    """
    enter_child(name)
    if not_its is not None:
        not_its.close()
    os.environ.clear()
    os.environ.update(environment)
    main(*arguments)
