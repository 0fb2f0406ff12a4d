"""Progress of processes that compile side by side, as one."""

import threading

from rig.engine import Compiling, ProgressCallback


class JoinedProgress:
    """Adds up what several processes report, from any thread, and names those that still compile.

    Without it, one that has finished would stand at its end while another one is waited for.

    Args:
        report: called with the sum at each change.
    """

    def __init__(self, report: ProgressCallback) -> None:
        self._report = report
        self._parts: dict[str, Compiling] = {}
        self._lock = threading.Lock()

    def __call__(self, part: Compiling) -> None:
        """Take the progress of one process."""
        with self._lock:
            self._parts[part.what] = part
            parts = list(self._parts.values())
            named = [one.what for one in parts if not one.finished] or [part.what]
            self._report(
                Compiling(" and ".join(named), sum(one.done for one in parts), sum(one.total for one in parts))
            )
