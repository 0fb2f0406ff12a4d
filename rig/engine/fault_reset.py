"""The reset of a fault: the drives' clearing edge, and the question whether the causes are gone."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future

from rig.engine.messages import Reply, refusal
from rig.findings import Code, Finding
from rig.safety import Cause, Recheck
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
        troubles: Callable[[], Sequence[Finding]],
        done: Callable[[], None],
        answer: Callable[[Future[Reply], Reply], None],
    ) -> None:
        self._troubles = troubles
        self._done = done
        self._answer = answer
        self._causes: dict[tuple[FaultCode, int], Recheck] = {}
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

    def remember(self, cause: Cause, recheck: Recheck) -> None:
        """Ask `recheck` at the next reset (see `Trip.recheck`); the leg's latest of that code counts."""
        self._causes[cause.code, cause.leg] = recheck

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
        found = [*self._troubles(), *(recheck() for recheck in self._causes.values())]
        by_text = {one.text: one for one in found if one is not None}  # two checks may say the same
        remaining = tuple(by_text.values())
        self._looks += 1
        if remaining and self._looks < _LOOKS:
            self._left = 1
            return
        if not remaining:
            self._causes.clear()
            self._done()
        if self._reply is not None:
            refused = refusal("reset", Finding(Code.CAUSE_REMAINS, within=remaining)) if remaining else None
            self._answer(self._reply, Reply(refused is None, refused))
            self._reply = None
