"""The sign of life of the client with the command lease: by a thread, or by a separate process for a window.

A window's thread is late whenever it paints, builds a page, or collects garbage, and so are the other threads of its
process, which share its interpreter. A separate process is not; it needs the window only every `WINDOW_BOUND`.
"""

import contextlib
import os
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection

from rig.errors import HardwareError
from rig.runtime import ChildProcess, ControlBlock, LeaseSign, SharedMemoryError, is_stopped

_INTERVAL = 0.05  # s
_ENDING_TIMEOUT = 5.0  # s
_LATE = 0.2  # s of a window's silence, after which the state of its process is looked at
WINDOW_BOUND = 5.0
"""s after which a busy window's thread counts as hanging, and the sign of life ends"""


class Heartbeat(threading.Thread):
    """A thread that beats from `start` to `close`, and checks the engine after each beat.

    Args:
        beat: gives the sign of life to the engine; never waits.
        check: checks the engine; its HardwareErrors are ignored. False ends the thread.
    """

    def __init__(self, beat: Callable[[], None], check: Callable[[], bool]) -> None:
        super().__init__(name="heartbeat", daemon=True)
        self._beat = beat
        self._check = check
        self._ending = threading.Event()

    def close(self) -> None:
        """End the thread. May be called again."""
        self._ending.set()
        if self.is_alive():
            self.join(_ENDING_TIMEOUT)

    def run(self) -> None:
        """See `threading.Thread.run`."""
        while not self._ending.wait(_INTERVAL):
            self._beat()
            with contextlib.suppress(HardwareError):
                if not self._check():
                    return


class WindowHeartbeat:
    """The sign of life of a window, given by a separate process from the first `show` to `close`.

    It ends with the window's process, and gives no sign while that is stopped, or has not called `show` for
    `WINDOW_BOUND`.

    Args:
        block: name of the engine's control block.
        bound: s, see `WINDOW_BOUND`.
    """

    def __init__(self, block: str, bound: float = WINDOW_BOUND) -> None:
        self._process = ChildProcess("the heartbeat", beat_for_window, block, os.getpid(), bound, duplex=False)
        os.set_blocking(self._process.pipe.fileno(), False)

    @property
    def process(self) -> int:
        """Process id."""
        return self._process.pid or 0

    def show(self, lease: int) -> None:
        """Show that the window's thread is alive, with the number of its lease, 0 for none; never waits."""
        with contextlib.suppress(OSError):  # full: it stands still itself; broken: it is gone, and so is the lease
            self._process.pipe.send_bytes(lease.to_bytes(8, "little"))

    def close(self) -> None:
        """End the process. May be called again."""
        self._process.end(_ENDING_TIMEOUT)


def beat_for_window(name: str, window: int, bound: float, pipe: Connection) -> None:
    """Main function of a window's heartbeat process; ends with the other end of the pipe.

    Args:
        name: of the control block.
        window: the window's process.
        bound: s, see `WINDOW_BOUND`.
        pipe: receives the number of the lease repeatedly.
    """
    try:
        block = ControlBlock.attach(name)
    except SharedMemoryError:
        return  # the engine has gone
    with contextlib.closing(block):
        lease, shown = 0, time.monotonic()
        sign: LeaseSign | None = None
        while True:
            if pipe.poll(_INTERVAL):
                try:
                    number = int.from_bytes(pipe.recv_bytes(), "little")
                except (EOFError, OSError):
                    return
                if number != lease:
                    lease, sign = number, block.sign(number) if number else None
                shown = time.monotonic()
            silent = time.monotonic() - shown
            if sign is not None and silent <= bound and not (silent > _LATE and is_stopped(window)):
                sign.beat()
