"""Recent lateness of the computer, which the text of a fault on a busy machine begins with."""

from collections import deque
from dataclasses import replace

from rig.findings import Code, Finding, Value
from rig.runtime import Tick
from rig.safety import Cause
from rig.states import FaultCode

_WINDOW = 1.0  # s before a fault
_LATE = 0.5  # of a period
_ORDINARY = 3  # fewer late cycles in a second say nothing


class HostLateness:
    """Late and skipped cycles of the last second.

    Args:
        period: s.
    """

    def __init__(self, period: float) -> None:
        self._period = period
        self._bound = _LATE * period
        self._late: deque[tuple[float, int, float]] = deque()  # rig time, cycles, s that the last of them was late

    def note(self, tick: Tick, missed: int) -> None:
        """Take a cycle, before which `missed` were skipped."""
        begun_late = tick.lateness > self._bound
        if missed or begun_late:
            self._forget(tick.t)
            self._late.append((tick.t, missed + begun_late, missed * self._period + tick.lateness))

    def explained(self, cause: Cause) -> Cause:
        """The cause of a fault, preceded by the computer's lateness in the last second if that was unusual."""
        if cause.code is FaultCode.HOST_SUSPENDED:
            return cause
        self._forget(cause.t)
        cycles = sum(count for _t, count, _delay in self._late)
        if cycles < _ORDINARY:
            return cause
        longest = max(delay for _t, _count, delay in self._late)
        details: dict[str, Value] = {"cycles": cycles, "longest": longest}
        return replace(cause, finding=Finding(Code.HOST_BUSY, details=details, within=(cause.finding,)))

    def _forget(self, t: float) -> None:
        while self._late and self._late[0][0] < t - _WINDOW:
            self._late.popleft()
