"""Starting processes that leave Ctrl-C, and the end of a terminal, to the one that started them."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from multiprocessing import resource_tracker
from multiprocessing.process import BaseProcess


def start_shielded(process: BaseProcess) -> None:
    """Start `process` with SIGINT and SIGHUP blocked from its birth, before it could say to ignore them.

    Ctrl-C and a closed terminal reach every process of a group at once: the one in front ends, and what it started
    follows in an order of its own, the engine not before the platform is at rest. A Ctrl-C that comes meanwhile is
    handled once the process is started: half started it would end with a traceback of its own.
    """
    with _ctrl_c_postponed():
        resource_tracker.ensure_running()  # started along with the process, it would lift the block before
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP})
        try:
            process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)


@contextlib.contextmanager
def _ctrl_c_postponed() -> Iterator[None]:
    """Handle Ctrl-C after a `with` block; to block the signal keeps only this thread from taking it, not the others."""
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler) or threading.current_thread() is not threading.main_thread():
        yield  # no handler of Python's, or one that runs in another thread
        return
    came = threading.Event()
    signal.signal(signal.SIGINT, lambda _signal, _frame: came.set())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if came.is_set():
            signal.raise_signal(signal.SIGINT)
