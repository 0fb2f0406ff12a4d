"""Entries of the event log, and the engine's events told apart from those already seen."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from rig.client import attendance
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
    """Entries for those of the engine's most recent events that are new."""

    def __init__(self) -> None:
        self._events = attendance.EventFollower()

    def new(self, events: Sequence[Event]) -> list[LogEntry]:
        """Entries for the events (oldest first) that came after those of the last call."""
        return [
            LogEntry(event.level, "engine", event.text, event.code.name if event.code else "", event.t)
            for event in self._events.new(events)
        ]
