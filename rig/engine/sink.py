"""What the engine is given from outside: a place for telemetry and events."""

from typing import Protocol

import numpy as np
import numpy.typing as npt

from rig.engine.snapshot import Event
from rig.recording import MotionRecord


class Sink(Protocol):
    """Where telemetry and events go."""

    @property
    def fault(self) -> str:
        """Why nothing is recorded, empty while recording is healthy."""

    @property
    def recorded(self) -> int:
        """Rows recorded so far, as far as is known."""

    @property
    def dropped(self) -> int:
        """Rows that were pushed but are not recorded, as far as is known."""

    @property
    def room(self) -> float:
        """s until there is no room for more, infinite where that is not known."""

    def push(self, row: npt.NDArray[np.void]) -> None:
        """Take one row, (1,) of dtype ROW, without waiting; the array is used again."""

    def event(self, event: Event) -> None:
        """Take an event, without waiting."""

    def motion(self, motion: MotionRecord) -> None:
        """Take the record of a motion's beginning or end, without waiting."""
