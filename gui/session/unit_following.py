"""An FMU that the app's rig follows: its process, started, watched and ended beside the window's thread."""

from functools import partial
from typing import Literal

from pyqtgraph.Qt import QtCore

from gui.models import Frame
from gui.session.rig_session import RigSession
from gui.session.session_state import finding_of
from gui.session.workers import Worker
from gui.texts import finding_text, mark
from rig.client import UnitReport, open_unit, poll_unit
from rig.config import ReferenceFmu, RigConfig
from rig.engine import FollowStream, Snapshot
from rig.errors import HardwareError
from rig.findings import Code, Finding
from rig.fmu import FmuError, Pacing, ReferenceProcess, failure_of, platform_state
from rig.runtime import TelemetryRing
from rig.states import State

UnitPhase = Literal["off", "starting", "followed"]
_LOOKED = 250  # ms between two looks at how it does
_ENDING = 32.0  # s, within which an FMU that does not begin is given up
_MOVING = (State.RUNNING, State.STOPPING)


class UnitFollowing(QtCore.QObject):
    """Starts an FMU and has the rig follow it, until it ends or the rig follows it no more.

    If it fails, the platform is stopped (category 2). `changed` follows every change of `phase` and `report`.

    Args:
        session: the rig.
    """

    changed = QtCore.Signal()

    def __init__(self, session: RigSession, parent: QtCore.QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._worker = Worker("followed FMU", self)
        self._process: ReferenceProcess | None = None  # by the worker's thread
        self._reference: ReferenceFmu | None = None
        self._frame: Frame | None = None
        self._begun = self._busy = False
        self.phase: UnitPhase = "off"
        self.report: UnitReport | None = None
        """of the last look, also of the one that was followed last"""
        self.failed = False
        """whether that one has failed"""
        self._timer = QtCore.QTimer(self)
        self._timer.setInterval(_LOOKED)
        self._timer.timeout.connect(self._look)
        session.statusChanged.connect(self._follow_rig)
        session.died.connect(lambda *_: self.end())

    def start(self, reference: ReferenceFmu, frame: Frame | None = None) -> None:
        """Start the FMU, then follow it. frame: of its poses; None: the configuration's."""
        address = self._session.engine_address
        if address is None or self.phase != "off":
            return
        self._reference, self._begun, self._busy, self.report = reference, False, False, None
        self._frame, self.failed = frame, False
        self.phase = "starting"
        self._worker.submit(partial(self._open, self._session.config, reference, address.ring), self._opened)
        self.changed.emit()

    def end(self) -> None:
        """End the FMU's process; the platform comes to rest by itself if it follows it."""
        if self.phase != "off":
            self.phase = "off"
            self._timer.stop()
            self._worker.submit(self._close, lambda _result, _error: None)
            self.changed.emit()

    def close(self) -> None:
        """End the process and the thread."""
        self._timer.stop()
        self._worker.submit(self._close, lambda _result, _error: None)
        self._worker.finish()
        self._worker.join(_ENDING)

    # -- in the worker's thread --------------------------------------------------------------------------------------

    def _open(self, config: RigConfig, reference: ReferenceFmu, telemetry: str) -> tuple[str, UnitReport]:
        self._close()
        with TelemetryRing.attach(telemetry) as rows:
            newest = rows.reader(max(0, rows.pushed - 1)).read_new()[0]
        if not len(newest):
            raise HardwareError("the engine has done no cycle yet")
        pacing = Pacing(telemetry, config.stream.watchdog, float("inf"))
        process = self._process = open_unit(config, reference, platform_state(newest[-1]), pacing)
        return process.ring.name, poll_unit(process, reference, None)

    def _check(self, reference: ReferenceFmu, status: Snapshot | None) -> UnitReport | None:
        return None if self._process is None else poll_unit(self._process, reference, status)

    def _close(self) -> None:
        owned, self._process = self._process, None
        if owned is not None:
            owned.close()

    # -- in the window's thread --------------------------------------------------------------------------------------

    def _opened(self, opened: tuple[str, UnitReport] | None, error: Exception | None) -> None:
        if opened is None:
            self._fail(error)
        elif self.phase == "starting":
            ring, self.report = opened
            self.phase = "followed"
            self._timer.start()
            self._session.send(
                mark("follow"), FollowStream(self.report.path.stem, ring, self._frame), done=self._answered
            )
            self.changed.emit()

    def _answered(self, refusal: Finding | None) -> None:
        if refusal is not None:
            self.end()

    def _look(self) -> None:
        if not self._busy and self._reference is not None:
            self._busy = True
            self._worker.submit(partial(self._check, self._reference, self._session.status), self._looked)

    def _looked(self, report: UnitReport | None, error: Exception | None) -> None:
        self._busy = False
        if self.phase != "followed":
            return
        if error is not None:
            status = self._session.status
            if isinstance(error, FmuError) and self.report is not None:
                self.failed = True
                self._session.report(failure_of(Code.REFERENCE_FMU_FAILED, error, self.report.time))
                self.end()
            else:
                self._fail(error)
            if status is not None and status.state in _MOVING:
                self._session.stop(2, "FMU")
        elif report is not None:
            self.report = report
            self.changed.emit()

    def _follow_rig(self, status: Snapshot) -> None:
        """End it once the rig follows it no more, and it is not paused either."""
        if self.phase == "followed":
            if status.state in _MOVING:
                self._begun = True
            elif self._begun and not status.paused:
                self.end()

    def _fail(self, error: Exception | None) -> None:
        cause = finding_of(error if error is not None else HardwareError("the FMU has ended"))
        self._session.log("error", "app", finding_text(cause))
        self._session.refused.emit(mark("follow"), cause)
        self.end()


def named_unit(config: RigConfig, path: str) -> ReferenceFmu | None:
    """The FMU of a path, with the other settings of `[reference]`, as `rig follow --fmu`; None without a path."""
    if not path:
        return None
    configured = config.reference
    return ReferenceFmu(fmu=path) if configured is None else configured.model_copy(update={"fmu": path})
