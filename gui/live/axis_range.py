"""Range of a value axis while data run: it grows at once and shrinks only after a while, so that it can be read."""

_MARGIN = 0.06
_SHRINK_BELOW = 0.55
"""part of the axis in use below which it is too large"""
_PATIENCE = 45
"""refreshes for which it must have been too large"""


class AxisRange:
    """Follows the extent of data. `least` is the smallest height."""

    def __init__(self, least: float) -> None:
        self._least = least
        self._range: tuple[float, float] | None = None
        self._loose = 0

    def reset(self) -> None:
        """Fit the next data closely."""
        self._range = None

    def follow(self, low: float, high: float) -> tuple[float, float] | None:
        """Take in the data's extent; a new range of the axis, or None when it stays."""
        middle, half = (low + high) / 2, max((high - low) / 2, self._least / 2)
        wanted = (middle - half * (1 + 2 * _MARGIN), middle + half * (1 + 2 * _MARGIN))
        if self._range is None:
            return self._set(wanted)
        bottom, top = self._range
        if low < bottom or high > top:
            self._loose = 0
            return self._set((min(bottom, wanted[0]), max(top, wanted[1])))
        self._loose = self._loose + 1 if wanted[1] - wanted[0] < _SHRINK_BELOW * (top - bottom) else 0
        return self._set(wanted) if self._loose > _PATIENCE else None

    def _set(self, wanted: tuple[float, float]) -> tuple[float, float]:
        self._range = wanted
        self._loose = 0
        return wanted
