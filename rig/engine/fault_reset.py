"""The reset of a fault: the drives' clearing edge, and the question whether the causes are gone."""

from concurrent.futures import Future
from dataclasses import dataclass

from rig.engine.drive_group import DriveGroup
from rig.engine.messages import Reply
from rig.findings import Finding
from rig.safety import Cause, Recheck
from rig.states import FaultCode

_CYCLES = 4  # of the clearing edge, and of torque off before and after it
_CHECKS = 25  # cycles in which the causes are looked at: that a reply is late in one of them is none


@dataclass(frozen=True, slots=True)
class ResetOutcome:
    """How a reset ended, and the reply that is to say so."""

    reply: Future[Reply]
    remaining: tuple[Finding, ...]
    """remaining causes; empty if the rig is reset"""


class FaultReset:
    """One reset at a time, counted in cycles.

    Each cause that came up since the last reset is asked whether it still stands, not the first alone.
    """

    def __init__(self) -> None:
        self._causes: dict[tuple[FaultCode, int], Recheck] = {}
        self._left = self._checks = 0
        self._reply: Future[Reply] | None = None

    @property
    def active(self) -> bool:
        """Whether a reset is under way."""
        return self._left > 0

    @property
    def edge(self) -> bool:
        """Whether to command the drives to clear their faults."""
        return _CYCLES < self._left <= 2 * _CYCLES

    def remember(self, cause: Cause, recheck: Recheck) -> None:
        """Ask `recheck` at the next reset (see `Trip.recheck`); the leg's latest of that code counts."""
        self._causes[cause.code, cause.leg] = recheck

    def begin(self, reply: Future[Reply]) -> None:
        """Begin; `reply` is to tell whether the rig is reset."""
        self._left, self._checks = 3 * _CYCLES, 0
        self._reply = reply

    def advance(self, drives: DriveGroup) -> ResetOutcome | None:
        """Let a cycle pass; the outcome in the cycle in which the reset ends.

        drives: the drives, whose troubles no reset is made with, whatever the causes.
        """
        if not self._left:
            return None
        self._left -= 1
        if self._left:
            return None
        found = [*drives.troubles(), *(recheck() for recheck in self._causes.values())]
        by_text = {one.text: one for one in found if one is not None}  # two checks may say the same
        remaining = tuple(by_text.values())
        self._checks += 1
        if remaining and self._checks < _CHECKS:
            self._left = 1
            return None
        if not remaining:
            self._causes.clear()
        assert self._reply is not None
        return ResetOutcome(self._reply, remaining)
