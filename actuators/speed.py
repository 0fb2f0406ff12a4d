"""The speed of a leg whose drive says its position only."""

from actuators.interface import Feedback, Status

_LONG_AGO = 0.5  # s, after which two positions say nothing of the speed any more


class SpeedFromPositions:
    """Speed between the last two good replies."""

    def __init__(self) -> None:
        """No reply yet."""
        self._before: tuple[float, Feedback] | None = None

    def after(self, now: float, feedback: Feedback) -> float:
        """Speed from the good reply before to this one of `now`, s, in m/s.

        0 without one of the same reference not long ago: it is none yet.
        """
        before, self._before = self._before, (now, feedback)
        if before is None or not 0.0 < now - before[0] <= _LONG_AGO:
            return 0.0
        status, status_before = feedback.status, before[1].status
        if status is not status_before and (status ^ status_before) & Status.HOMED:
            return 0.0
        return (feedback.position - before[1].position) / (now - before[0])
