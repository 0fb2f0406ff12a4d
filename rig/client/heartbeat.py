"""The sign of life of a client that holds the command lease, in the background."""

import contextlib
import threading
from collections.abc import Callable

from rig.errors import HardwareError

_INTERVAL = 0.05  # s
_ENDING_TIMEOUT = 5.0  # s


class Heartbeat(threading.Thread):
    """A thread that beats from `start` to `close`, and looks at the engine after each beat.

    Args:
        beat: shows the engine that the client is alive; never waits.
        look: looks at the engine; a HardwareError of it is passed over. False ends the thread.
    """

    def __init__(self, beat: Callable[[], None], look: Callable[[], bool]) -> None:
        super().__init__(name="heartbeat", daemon=True)
        self._beat = beat
        self._look = look
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
                if not self._look():
                    return
