"""What the cycle achieves, out of the telemetry of the last seconds."""

from collections import deque
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

_WINDOW = 2.0  # s


@dataclass(frozen=True, slots=True)
class CycleFigures:
    """Achieved rate and how evenly the cycles came."""

    rate: float
    """Hz, cycles carried out a second"""
    spread: float
    """s, 99 % of the periods are within this of the configured one"""


class CycleMeter:
    """Collects cycle times of the last two seconds; `period` s is the configured one."""

    def __init__(self, period: float) -> None:
        self._period = period
        self._parts: deque[npt.NDArray[np.float64]] = deque()

    def add(self, rows: npt.NDArray[np.void]) -> None:
        """Take in telemetry rows (n,) of dtype ROW."""
        if not len(rows):
            return
        self._parts.append(np.stack([rows["t"], rows["period"]]))
        latest = float(rows["t"][-1])
        while len(self._parts) > 1 and self._parts[0][0, -1] < latest - _WINDOW:
            self._parts.popleft()

    def clear(self) -> None:
        """Forget everything."""
        self._parts.clear()

    def figures(self) -> CycleFigures | None:
        """The figures, None as long as there are fewer than two cycles."""
        if sum(part.shape[1] for part in self._parts) < 2:
            return None
        times, periods = np.hstack(list(self._parts))
        span = float(times[-1] - times[0])
        if span <= 0.0:
            return None
        return CycleFigures(
            rate=(len(times) - 1) / span, spread=float(np.quantile(np.abs(periods[1:] - self._period), 0.99))
        )
