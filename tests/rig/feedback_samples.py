"""Samples of drives and load cells as the checks look at them, made by hand."""

from dataclasses import dataclass, field
from functools import reduce
from operator import and_, or_

import numpy as np

from kinematics import Array
from rig.safety.trip import LegReference

__all__ = ["Cells", "Drives", "LegReference"]


def _zeros() -> Array:
    return np.zeros(6)


@dataclass
class Drives:
    """Six drives that report this; see `rig.safety.trip.DriveSamples`."""

    length: Array
    velocity: Array = field(default_factory=_zeros)
    fresh: Array = field(default_factory=lambda: np.ones(6))
    lag: Array = field(default_factory=_zeros)
    stale: list[int] = field(default_factory=lambda: [0] * 6)
    age: list[float] = field(default_factory=lambda: [0.0] * 6)
    status: list[int] = field(default_factory=lambda: [0] * 6)
    error: list[int] = field(default_factory=lambda: [7] * 6)

    @property
    def status_any(self) -> int:
        return reduce(or_, self.status)

    @property
    def status_all(self) -> int:
        return reduce(and_, self.status)

    @property
    def lengths_finite(self) -> bool:
        return bool(np.isfinite(self.length).all())

    def error_text(self, leg: int) -> str:
        return "over temperature"

    def silence(self, leg: int) -> str:
        return ""


@dataclass
class Cells:
    """Six load cells that read this; see `rig.safety.trip.CellSamples`."""

    force: Array
    cells_stale: int = 0
    cells_age: float = 0.0

    def cells_silence(self) -> str:
        return ""
