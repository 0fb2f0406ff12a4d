"""Where an engine's rows and events go on their way to the recorder, and how far the recorder is behind."""

import math
import time
from dataclasses import replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from rig.findings import Finding
from rig.recording.motion_record import MotionRecord
from rig.recording.recorder import Recorder
from rig.recording.schema import EventLevel
from rig.runtime import TelemetryRing, wait_until

_HEALTH_INTERVAL = 25
"""Rows between two looks at the recorder."""
_PATIENCE = 0.5
"""s for the recorder to take rows, each time: less than the plant waits for an engine's sign of life."""


class LoggedEvent(Protocol):
    """Something that happened, for the log and the recording."""

    @property
    def t(self) -> float:
        """Rig time, s."""

    @property
    def level(self) -> str:
        """Name of an `EventLevel`, in small letters."""

    @property
    def code(self) -> int:
        """0, or the number of its fault."""

    @property
    def text(self) -> str:
        """In words."""

    @property
    def finding(self) -> Finding:
        """What the words are made from."""


class RingSink:
    """Telemetry into the ring, events to the recorder; asks the recorder now and then how it is.

    `fault`: why nothing is recorded, or not all; empty while recording is healthy. `recorded`, `dropped`: rows, as far
    as is known. `room`: s until the disk is full, see `RecorderStatus`.

    Args:
        ring: from which the recorder takes the rows.
        recorder: started on the ring.
        waits: for a recorder that the machine or its disk keeps from its rows, as where the rig waits along with it.
    """

    def __init__(self, ring: TelemetryRing, recorder: Recorder, *, waits: bool = False) -> None:
        self._ring = ring
        self._recorder = recorder
        self._waits = waits
        self.fault = ""
        self.recorded = self.dropped = 0
        self.room = math.inf
        self._pushed = 0
        self._begun = (0, 0)
        """id of the newest motion, and the wall clock, ns since 1970, when it was told of"""

    def push(self, row: npt.NDArray[np.void]) -> None:
        """Take one row, (1,) of dtype ROW, which is copied."""
        self._ring.push(row)
        self._pushed += 1
        if self._pushed % _HEALTH_INTERVAL == 0:
            self._look()

    def event(self, event: LoggedEvent) -> None:
        """Take an event, without waiting."""
        level = EventLevel[event.level.upper()]
        self._recorder.event(event.t, level, event.code, event.text, event.finding)

    def motion(self, motion: MotionRecord) -> None:
        """Take the record of a motion's beginning or end, without waiting; the wall clock of its beginning goes in."""
        if motion.id != self._begun[0]:
            self._begun = motion.id, time.time_ns()
        self._recorder.motion(replace(motion, begun_ns=self._begun[1]))

    def _look(self) -> None:
        healthy = self._recorder.healthy  # again, once a disk that stalled goes on
        if healthy and self._waits and self._behind() > self._ring.capacity // 2:
            wait_until(lambda: self._behind() <= self._ring.capacity // 4, _PATIENCE)
        written = self._recorder.status()
        # as many as the ring holds may be in the recorder's hands
        lost = written.dropped - self.dropped or max(0, self._behind() - 2 * self._ring.capacity)
        self.recorded, self.dropped, self.room = written.rows, written.dropped, written.room
        if not healthy:
            self.fault = written.error or "the recorder shows no sign of life"
        else:
            self.fault = f"{lost} rows are lost: the recorder does not keep up" if lost else ""

    def _behind(self) -> int:
        """Rows that the recorder has still to take."""
        written = self._recorder.status()
        return self._pushed - written.rows - written.dropped
