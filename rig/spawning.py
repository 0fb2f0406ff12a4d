"""Starting processes that leave Ctrl-C to the one that started them."""

import signal
from multiprocessing import resource_tracker
from multiprocessing.process import BaseProcess


def start_shielded(process: BaseProcess) -> None:
    """Start `process` with SIGINT blocked from its birth: a Ctrl-C cannot reach it before it has said to ignore it."""
    resource_tracker.ensure_running()  # started along with the process, it would lift the block before
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
