"""Waiting for what other processes and threads do."""

import time
from collections.abc import Callable

PATIENCE = 90.0  # s; a first start compiles kernels, and the machine has other work


def eventually(condition: Callable[[], bool], what: str, patience: float = PATIENCE) -> None:
    """Wait until `condition` holds; the test fails after `patience` s, saying `what` it waited for."""
    deadline = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < deadline, f"timed out after {patience:g} s waiting for {what}"
        time.sleep(0.02)
