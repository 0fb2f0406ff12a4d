"""Starting processes that leave the terminal's signals, and its end, to the one that started them."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from multiprocessing import resource_tracker
from multiprocessing.process import BaseProcess

_OF_THE_TERMINAL = {signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP}


def start_shielded(process: BaseProcess) -> None:
    """Start `process` with the terminal's signals blocked from its birth, before it could say to ignore them.

    Ctrl-C, Ctrl-Z, a quit key and a closed terminal reach every process of a group at once: the one in front ends or
    stands still, and what it started follows in an order of its own, the engine not before the platform is at rest. A
    Ctrl-C that comes meanwhile is handled once the process is started: half started it would say a traceback.
    """
    with _ctrl_c_postponed():
        resource_tracker.ensure_running()  # started along with the process, it would lift the block before
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, _OF_THE_TERMINAL)
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
