"""Starting processes that leave the terminal's signals, and its end, to the one that started them.

They are forked from a server: a fresh interpreter, which has loaded once what all of them need. Each would take a
second or two to load it for itself.
"""

import contextlib
import gc
import multiprocessing
import resource
import signal
import sys
import threading
from collections.abc import Iterator
from multiprocessing import forkserver, resource_tracker, util
from multiprocessing.context import ForkContext, ForkServerContext, ForkServerProcess, SpawnContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import ModuleType

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
