"""Waiting for what tells nobody when it happens: another process's lock, its end, its word in shared memory."""

import time
from collections.abc import Callable


def wait_until(done: Callable[[], bool], timeout: float, poll: float = 0.01) -> bool:
    """Ask `done` every `poll` s, for the last time after `timeout` s; whether it came true."""
    deadline = time.monotonic() + timeout
    while not done():
        if time.monotonic() > deadline:
            return False
        time.sleep(poll)
    return True
