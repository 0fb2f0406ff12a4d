"""The reset of a fault: the drives' clearing edge, and the answer whether the causes are gone."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future

from rig.engine.messages import Reply

_CYCLES = 4  # of the clearing edge, and of torque off before and after it


class Clearing:
    """One reset at a time, counted in cycles.

    Args:
        remaining: tells what is still wrong once the edge has been sent.
        done: called when nothing is, before the reply is given.
    """

    def __init__(self, remaining: Callable[[], Sequence[str]], done: Callable[[], None]) -> None:
        self._remaining = remaining
        self._done = done
        self._left = 0
        self._reply: Future[Reply] | None = None

    @property
    def active(self) -> bool:
        """Whether a reset is under way."""
        return self._left > 0

    @property
    def edge(self) -> bool:
        """Whether the drives are to be told to clear their faults."""
        return _CYCLES < self._left <= 2 * _CYCLES

    def begin(self, reply: Future[Reply]) -> None:
        """Begin; `reply` is to tell whether the rig is reset."""
        self._left = 3 * _CYCLES
        self._reply = reply

    def advance(self) -> None:
        """Let a cycle pass."""
        if not self._left:
            return
        self._left -= 1
        if self._left:
            return
        remaining = self._remaining()
        if not remaining:
            self._done()
        if self._reply is not None:
            reason = f"reset: the cause is still there: {'; '.join(remaining)}" if remaining else ""
            self._reply.set_result(Reply(not remaining, reason))
            self._reply = None
