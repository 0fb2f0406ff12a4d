"""Starting processes that leave Ctrl-C, and the end of a terminal, to the one that started them."""

import signal
from multiprocessing import resource_tracker
from multiprocessing.process import BaseProcess


def start_shielded(process: BaseProcess) -> None:
    """Start `process` with SIGINT and SIGHUP blocked from its birth, before it could say to ignore them.

    Ctrl-C and a closed terminal reach every process of a group at once: the one in front ends, and what it started
    follows in an order of its own, the engine not before the platform is at rest.
    """
    resource_tracker.ensure_running()  # started along with the process, it would lift the block before
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP})
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
