"""Entries of the event log, and the engine's events told apart from those already seen."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from rig.engine import Event


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One line of the event log."""

    level: str
    """info, warning or error"""
    source: str
    """engine, app, operator or virtual rig"""
    text: str
    code: str = ""
    """of a fault, empty where there is none"""
    t: float | None = None
    """s, rig time, where it is known"""
    wall: datetime = field(default_factory=lambda: datetime.now().astimezone())


class EventFollower:
    """Finds out which of the engine's most recent events are new."""

    def __init__(self) -> None:
        self._last: Event | None = None

    def new(self, events: Sequence[Event]) -> list[LogEntry]:
        """Entries for the events (oldest first) that came after those of the last call."""
        first = 0
        if self._last is not None:
            for index in range(len(events) - 1, -1, -1):
                if events[index] == self._last:
                    first = index + 1
                    break
        if events:
            self._last = events[-1]
        return [
            LogEntry(event.level, "engine", event.text, event.code.name if event.code else "", event.t)
            for event in events[first:]
        ]
