"""Exceptions of the calibration package."""

from collections.abc import Sequence

_LISTED_FAULTS = 30
"""Faults that a message prints; `faults` has them all."""


class CalibrationError(ValueError):
    """Calibration data from which no valid parameters follow.

    `faults` lists every reason, `lines` are those of the message.
    """

    def __init__(self, faults: str | Sequence[str]) -> None:
        self.faults: tuple[str, ...] = (faults,) if isinstance(faults, str) else tuple(faults)
        super().__init__("\n".join(self.faults))

    @property
    def lines(self) -> list[str]:
        """Lines of the message."""
        return list(self.faults)


class CellsError(CalibrationError):
    """Measurements of load cells that no line fits; `by_leg` are the reasons of each cell."""

    def __init__(self, by_leg: Sequence[Sequence[str]]) -> None:
        self.by_leg = tuple(map(tuple, by_leg))
        super().__init__([fault for faults in self.by_leg for fault in faults])


class CalibrationFileError(CalibrationError):
    """A file that cannot be read or written; `faults` lists everything wrong with it, each with its place."""

    def __init__(self, path: str, faults: str | Sequence[str]) -> None:
        self.path = path
        super().__init__(faults)

    @property
    def lines(self) -> list[str]:
        """See `CalibrationError`."""
        if len(self.faults) == 1:
            return [f"{self.path}: {self.faults[0]}"]
        more = len(self.faults) - _LISTED_FAULTS
        rest = [f"and {more} more"] if more > 0 else []
        listed = (f"  {line}" for line in (*self.faults[:_LISTED_FAULTS], *rest))
        return [f"{self.path}: {len(self.faults)} faults", *listed]

    def __str__(self) -> str:
        return "\n".join(self.lines)
