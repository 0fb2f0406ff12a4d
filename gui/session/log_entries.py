"""Entries of the event log."""

from dataclasses import dataclass, field
from datetime import datetime

from gui.texts import finding_text
from rig.engine import Event
from rig.findings import Finding


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
    finding: Finding | None = None
    """what the engine found, None where somebody else says it"""
    t: float | None = None
    """s, rig time, where it is known"""
    wall: datetime = field(default_factory=lambda: datetime.now().astimezone())


def log_entry(event: Event) -> LogEntry:
    """The entry for an event of the engine's."""
    code = event.code.name if event.code else ""
    return LogEntry(event.level, "engine", finding_text(event.finding), code, event.finding, event.t)
