"""The app's knowledge of the rig, its change signals, and the event log."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal

from pyqtgraph.Qt import QtCore

from gui.models import Action, Phase, Situation, finding_against, obstacle
from gui.session.found_engine import FoundEngine
from gui.texts import finding_text, mark, tr
from rig.config import RigConfig
from rig.engine import TORQUE_STATES, Compiling, Event, Snapshot
from rig.errors import RigError
from rig.findings import Code, Finding

StopSource = Literal["button", "Esc", "game pad", "hold", "FMU", "closing the window"]
_STOP_SOURCES = (mark("button"), mark("Esc"), mark("game pad"), mark("hold"), mark("FMU"), mark("closing the window"))
Done = Callable[[Finding | None], None]
"""Receives the refusal of a request, None if accepted."""


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One line of the event log."""

    level: str
    """info, warning or error"""
    source: str
    """engine, app, operator or virtual rig"""
    text: str
    code: str = ""
    """Code of a fault, else empty."""
    finding: Finding | None = None
    """Finding of the engine, None for other sources."""
    t: float | None = None
    """s, rig time, if known."""
    wall: datetime = field(default_factory=lambda: datetime.now().astimezone())


def log_entry(event: Event) -> LogEntry:
    """Return the log entry of an engine event."""
    code = event.code.name if event.code else ""
    return LogEntry(event.level, "engine", finding_text(event.finding), code, event.finding, event.t)


class SessionState(QtCore.QObject):
    """The state of one rig as the app sees it.

    Signals: `changed` when the `situation` is another; `statusChanged` with every `Snapshot`; `logged` with a
    `LogEntry`; `refused(request, reason)` and `accepted(request)`, the translated request; `stopped(category)` when the
    operator requested a stop; `died` when an engine crashed; then `postMortemKnown` with six `LegPostMortem`; `ended`
    when no process is left; `compilingProgressed` with a `Compiling`, from a waiting thread.

    Args:
        config: the rig.
        folder: where recordings go.
        parent: owner.
    """

    changed = QtCore.Signal()
    statusChanged = QtCore.Signal(object)
    logged = QtCore.Signal(object)
    refused = QtCore.Signal(str, object)
    accepted = QtCore.Signal(str)
    stopped = QtCore.Signal(int)
    died = QtCore.Signal()
    postMortemKnown = QtCore.Signal(object)
    ended = QtCore.Signal()
    compilingProgressed = QtCore.Signal(object)

    def __init__(self, config: RigConfig, folder: Path, parent: QtCore.QObject | None = None) -> None:
        super().__init__(parent)
        self.config = config
        self.folder = folder
        self.phase = Phase.DOWN
        self.status: Snapshot | None = None
        self.busy = ""
        self.following = False
        self.moving = False
        """A move or a sequence of motions is in progress; set by its sender."""
        self.silent = False
        self.armed = False
        """The first step to Engage was taken; set by the panel."""
        self.death = ""
        self.recording: Path | None = None
        self.operator = ""
        """Operator for recordings, from the next connection on."""
        self._status_at = 0.0
        self.compiling: Compiling | None = None
        """Progress of a start that has to compile the model first."""
        self.compilingProgressed.connect(self._take_compiling, QtCore.Qt.ConnectionType.QueuedConnection)
        self.found = FoundEngine(config, self)
        self.found.changed.connect(self.changed)

    @property
    def situation(self) -> Situation:
        """Inputs of the rules."""
        virtual = self.config.virtual
        return Situation(
            phase=self.phase,
            status=self.status,
            busy=self.busy,
            following=self.following,
            moving=self.moving,
            virtual=virtual is not None,
            paced=virtual is not None and not virtual.real_time,
            recording="" if self.recording is None else str(self.recording),
            silent=self.silent,
            armed=self.armed,
            death=self.death,
            holder=self.found.holder,
            compiling=self.compiling,
        )

    def set_operator(self, operator: str) -> None:
        """Set the operator for recordings; empty: that of the configuration."""
        self.operator = operator.strip()

    @property
    def torque(self) -> bool:
        """Whether a drive may be under torque, according to the engine."""
        return self.phase is Phase.UP and self.status is not None and self.status.state in TORQUE_STATES

    @property
    def recording_fault(self) -> str:
        """Why nothing is being recorded, according to the engine; empty if something is, or without an engine."""
        return "" if self.status is None else self.status.recording_fault

    def obstacle(self, action: Action) -> str:
        """Why `action` cannot be done now, as text; empty if it can."""
        return obstacle(action, self.situation)

    def finding_against(self, action: Action) -> Finding | None:
        """Why `action` cannot be done now; None if it can."""
        return finding_against(action, self.situation)

    def _enter(self, phase: Phase) -> None:
        self.phase = phase
        self.found.watch(phase in (Phase.DOWN, Phase.DIED))
        self.silent = False
        self.compiling = None
        if phase is not Phase.UP:
            self.busy = ""
        self.following = False
        if phase is not Phase.DIED:
            self.death = ""
        if phase in (Phase.DOWN, Phase.STARTING):
            self.status = None
        self.changed.emit()

    def _take_compiling(self, now: Compiling) -> None:
        if self.phase is Phase.STARTING:
            self.compiling = now
            self.changed.emit()

    def _answer(self, what: str, error: Exception | None, done: Done | None, t: float | None = None) -> None:
        refusal = None if error is None else finding_of(error)
        if refusal is None:
            self.log("info", "operator", tr(what), t)
            self.accepted.emit(what)
        else:
            self.log("error", "app", f"{tr(what)}: {finding_text(refusal)}", t)
            self.refused.emit(what, refusal)
        if done is not None:
            done(refusal)

    @property
    def rig_time(self) -> float | None:
        """s, if known: that of the last status, plus the time since while the engine answers."""
        if self.status is None:
            return None
        answering = self.phase is Phase.UP and not self.silent
        return self.status.t + (time.monotonic() - self._status_at if answering else 0.0)

    def log(self, level: str, source: str, text: str, t: float | None = None) -> None:
        """Add an entry to the event log, for the rig time `t`, s, or now."""
        self.logged.emit(LogEntry(level, source, text, t=self.rig_time if t is None else t))


def finding_of(error: Exception) -> Finding:
    """Return an error's finding, without the refused command."""
    if not isinstance(error, RigError):
        return Finding(Code.UNEXPECTED, details={"error": type(error).__name__, "text": str(error)})
    found = error.finding
    return found.within[0] if found.code is Code.REFUSED else found
