"""What the engine is given from outside: the time of each cycle, and a place for telemetry and events."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from rig.engine.messages import Event


class Sink(Protocol):
    """Where telemetry and events go."""

    @property
    def fault(self) -> str:
        """Why nothing is recorded, empty while recording is healthy."""

    def push(self, row: npt.NDArray[np.void]) -> None:
        """Take one row, (1,) of dtype ROW, without waiting; the array is used again."""

    def event(self, event: Event) -> None:
        """Take an event, without waiting."""


@dataclass(frozen=True, slots=True)
class Tick:
    """What the keeper of the time says of a cycle."""

    t: float
    """s, rig time of the cycle's deadline"""
    lateness: float = 0.0
    """s"""
    period: float = 0.0
    """s, since the beginning of the cycle before"""
    overruns: int = 0
    """cycles skipped so far"""
