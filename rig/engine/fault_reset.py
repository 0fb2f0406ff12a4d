"""The reset of a fault: the drives' clearing edge, and the question whether the causes are gone."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future

from rig.engine.messages import Reply
from rig.safety import Cause
from rig.states import FaultCode

_CYCLES = 4  # of the clearing edge, and of torque off before and after it
_LOOKS = 25  # cycles in which the causes are looked at: that a reply is late in one of them is none


class Clearing:
    """One reset at a time, counted in cycles.

    Args:
        troubles: tells what no reset is made with, whatever the causes.
        done: called when nothing is wrong any more, before the reply is given.
        answer: gives the reply.

    Each cause that came up since the last reset is asked whether it still stands, not the first alone.
    """

    def __init__(
        self,
        troubles: Callable[[], Sequence[str]],
        done: Callable[[], None],
        answer: Callable[[Future[Reply], Reply], None],
    ) -> None:
        self._troubles = troubles
        self._done = done
        self._answer = answer
        self._causes: dict[tuple[FaultCode, int], Callable[[], str]] = {}
        self._left = self._looks = 0
        self._reply: Future[Reply] | None = None

    @property
    def active(self) -> bool:
        """Whether a reset is under way."""
        return self._left > 0

    @property
    def edge(self) -> bool:
        """Whether the drives are to be told to clear their faults."""
        return _CYCLES < self._left <= 2 * _CYCLES

    def remember(self, cause: Cause, stands: Callable[[], str]) -> None:
        """Ask `stands` at the next reset (see `Finding.stands`); the leg's latest of that code counts."""
        self._causes[cause.code, cause.leg] = stands

    def begin(self, reply: Future[Reply]) -> None:
        """Begin; `reply` is to tell whether the rig is reset."""
        self._left, self._looks = 3 * _CYCLES, 0
        self._reply = reply

    def advance(self) -> None:
        """Let a cycle pass."""
        if not self._left:
            return
        self._left -= 1
        if self._left:
            return
        found = [*self._troubles(), *(stands() for stands in self._causes.values())]
        remaining = [text for text in dict.fromkeys(found) if text]
        self._looks += 1
        if remaining and self._looks < _LOOKS:
            self._left = 1
            return
        if not remaining:
            self._causes.clear()
            self._done()
        if self._reply is not None:
            reason = f"reset: the cause is still there: {'; '.join(remaining)}" if remaining else ""
            self._answer(self._reply, Reply(not remaining, reason))
            self._reply = None
