"""What the calibration package raises."""

from collections.abc import Sequence

_LISTED_FAULTS = 30
"""Faults that a message prints; `faults` holds them all."""


class CalibrationError(ValueError):
    """Calibration data that no trustworthy parameters can come from; `faults` lists every reason."""

    def __init__(self, faults: str | Sequence[str]) -> None:
        self.faults: tuple[str, ...] = (faults,) if isinstance(faults, str) else tuple(faults)
        super().__init__("\n".join(self.faults))


class CalibrationFileError(CalibrationError):
    """A file that cannot be read or written; `faults` lists everything wrong with it, each with its place."""

    def __init__(self, path: str, faults: str | Sequence[str]) -> None:
        self.path = path
        super().__init__(faults)

    def __str__(self) -> str:
        if len(self.faults) == 1:
            return f"{self.path}: {self.faults[0]}"
        more = len(self.faults) - _LISTED_FAULTS
        rest = [f"and {more} more"] if more > 0 else []
        return "\n  ".join([f"{self.path}: {len(self.faults)} faults", *self.faults[:_LISTED_FAULTS], *rest])
