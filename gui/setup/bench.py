"""The wizard's access to real or virtual drives: identify them, move one leg, zero the cells; never blocks."""

import contextlib
import math
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from pyqtgraph.Qt import QtCore

from actuators import BAUDS, ActuatorError, Answer, SerialEndpoint, search
from calibration import CalibrationError
from gui.session import Worker
from gui.texts import finding_text, tr
from rig.client import Interruption, Progress
from rig.commissioning import (
    DriveKind,
    LegMove,
    LegResult,
    LegTest,
    Probe,
    Zero,
    ZeroOptions,
    probe_drive,
    probe_rig,
    run_leg_test,
    zero_rig,
)
from rig.config import LegDrive, RigConfig, relaxed_timing
from rig.errors import RigError
from rig.virtual import VirtualRigProcess

_BEAT_INTERVAL = 20  # ms between heartbeats
_CLOSING_TIMEOUT = 30.0  # s; silent drives take long to time out
_EXPECTED = (ActuatorError, CalibrationError)  # errors whose text is meant for the user

Done = Callable[[Any, str], None]
"""Called with a job's result and "", or None and the reason."""

Configured = Callable[[], RigConfig]
"""Creates the configuration, in the worker's thread, as device checks may compile. Raises RigError."""


class _Deadman(Interruption):
    """Interrupts a job in another thread on request, or without the window's heartbeat."""

    def __init__(self) -> None:
        super().__init__()
        self.patience = math.inf
        """s without a heartbeat until it interrupts."""
        self._beat_at = time.monotonic()

    def beat(self) -> None:
        """Record a heartbeat."""
        self._beat_at = time.monotonic()

    def check(self) -> None:
        """See `Interruption.check`."""
        if time.monotonic() - self._beat_at > self.patience:
            self.count += 1
        super().check()


class SetupBench(QtCore.QObject):
    """Runs one job at a time on the drives of a configuration.

    Signals: `changed` when `busy` or `moving` has changed; `progressed(text)`; `ended` when everything has ended.
    """

    changed = QtCore.Signal()
    progressed = QtCore.Signal(str)
    ended = QtCore.Signal()

    def __init__(self, parent: QtCore.QObject | None = None) -> None:
        super().__init__(parent)
        self.busy = ""
        """Current job, as text; empty without."""
        self.moving = False
        """Whether something may move."""
        self.leg: int | None = None
        """1 to 6, the leg being tested."""
        self._worker = Worker("set-up", self)
        self._virtual: VirtualRigProcess | None = None
        self._served: RigConfig | None = None
        self._deadman: _Deadman | None = None
        self._search_cancelled = threading.Event()
        """Set to end a search."""
        self._done: Done = _ignore
        self._timer = QtCore.QTimer(self)
        self._timer.setInterval(_BEAT_INTERVAL)
        self._timer.timeout.connect(self._beat)

    # -- jobs --------------------------------------------------------------------------------------------------------

    def ask(self, leg: int, address: LegDrive, kind: DriveKind, config: Configured | None, done: Done) -> None:
        """Identify the drive of leg 1 to 6; `config` is that of a rehearsal, None for a real drive."""

        def job() -> object:
            if config is not None:
                self._serve(config())
            return probe_drive(leg, address, kind)

        self.run(tr("querying the drive of leg {leg}").format(leg=leg), job, done)

    def ask_all(self, config: Configured, done: Done) -> None:
        """Identify all six drives."""

        def job() -> Probe:
            made = config()
            self._serve(made)
            return probe_rig(made)

        self.run(tr("querying the six drives"), job, done)

    def search(self, target: str, units: Sequence[int], bit_rate: int | None, done: Done) -> None:
        """Search for `units` at a serial port, a host, in a network or on a CAN bus.

        bit_rate: of a CAN bus, else None. `done` gets the `actuators.Answer`s.
        """
        self._search_cancelled.clear()

        def job() -> list[Answer]:
            found: list[Answer] = []
            bauds = BAUDS if bit_rate is None else (bit_rate,)
            stopped = self._search_cancelled.is_set
            with contextlib.closing(search(target, units, bauds=bauds, stopped=stopped)) as results:
                for endpoint, answers in results:
                    found += answers
                    place = endpoint.settings if isinstance(endpoint, SerialEndpoint) else str(endpoint)
                    self.progressed.emit(tr("{place} queried").format(place=place))
            if self._search_cancelled.is_set() and not found:
                raise RigError(tr("ended before any device answered"))
            return found

        self.run(tr("searching {target}").format(target=target), job, done)

    def run(self, what: str, job: Callable[[], Any], done: Done) -> None:
        """Run a job that moves nothing in the worker's thread."""
        self._begin(what, moving=False, done=done)
        self._worker.submit(job, self._finish)

    def test_leg(self, config: Configured, move: LegMove, done: Done) -> None:
        """Move one leg; `done` gets the `LegResult`."""
        deadman = self._watched(tr("testing leg {leg}").format(leg=move.leg), done, move.leg)

        def report(test: LegTest) -> None:
            self.progressed.emit(f"{tr(test.phase)}, {test.length * 1e3:.3f} mm")

        def job() -> LegResult:
            made = config()
            deadman.patience = made.safety.heartbeat
            return run_leg_test(self._serve(made), move, deadman, report)

        self._worker.submit(job, self._finish)

    def zero(self, config: Configured, options: ZeroOptions, done: Done, *, unproven: bool = False) -> None:
        """Home the rig and zero its cells; `done` gets the `rig.commissioning.Zero`. unproven: see `Home`."""
        deadman = self._watched(tr("homing and zeroing"), done)

        def report(progress: Progress) -> None:
            phase = tr(progress.phase)
            self.progressed.emit(f"{phase} {progress.fraction:.0%}" if progress.fraction else phase)

        def job() -> Zero:
            made = config()
            deadman.patience = made.safety.heartbeat
            return zero_rig(self._serve(made), options, deadman, report, serve=False, unproven=unproven)

        self._worker.submit(job, self._finish)

    def stop(self) -> None:
        """Stop all motion: a leg by its drive's quick stop, the rig by a controlled stop; torque off. Always possible.

        Also ends a search.
        """
        self._search_cancelled.set()
        if self._deadman is not None:
            self._deadman.count += 1

    # -- closing -----------------------------------------------------------------------------------------------------

    def retire(self) -> None:
        """End the virtual rig without waiting; `ended` follows. Nothing may be moving."""
        self._search_cancelled.set()
        self._worker.submit(self._end_all, lambda _result, _error: self.ended.emit())

    def close(self) -> None:
        """Stop and end everything, and wait for it. May be called again."""
        self.stop()
        self._timer.stop()
        self._worker.submit(self._end_all, _ignore_end)
        self._worker.finish()
        self._worker.join(_CLOSING_TIMEOUT)

    # -- inside ------------------------------------------------------------------------------------------------------

    def _begin(self, what: str, *, moving: bool, done: Done, leg: int | None = None) -> None:
        assert not self.busy, f"{what} while {self.busy}"
        self.busy, self.moving, self.leg, self._done = what, moving, leg, done
        self.changed.emit()

    def _watched(self, what: str, done: Done, leg: int | None = None) -> _Deadman:
        """Start a job that moves something; return its interruption."""
        self._begin(what, moving=True, done=done, leg=leg)
        self._deadman = deadman = _Deadman()
        self._timer.start()
        return deadman

    def _finish(self, result: Any, error: Exception | None) -> None:
        self._timer.stop()
        self._deadman = None
        self.busy, self.moving, self.leg = "", False, None
        done, self._done = self._done, _ignore
        done(result, _reason(error))
        self.changed.emit()

    def _beat(self) -> None:
        """Send heartbeats."""
        if self._deadman is not None:
            self._deadman.beat()

    def _serve(self, config: RigConfig) -> RigConfig:
        """Return the configuration for the drives; starts a rehearsal's virtual rig. In the worker's thread."""
        if config.virtual is None:
            self._end_virtual()
            return config
        wanted = _anonymous(config)
        if self._virtual is None or not self._virtual.alive or _differ(self._served, wanted):
            self._end_virtual()
            virtual = VirtualRigProcess(wanted)
            virtual.start()
            self._virtual, self._served = virtual, wanted
        return relaxed_timing(config)

    def _end_all(self) -> None:
        self._end_virtual()

    def _end_virtual(self) -> None:
        virtual, self._virtual = self._virtual, None
        if virtual is not None:
            with contextlib.suppress(RigError):
                virtual.stop()


def _anonymous(config: RigConfig) -> RigConfig:
    """Return the configuration without serial numbers: virtual drives have their own."""
    legs = [leg.model_dump() | {"serial": None} for leg in config.drives.legs]
    return config.changed({"drives": {"legs": legs}})


def _differ(one: RigConfig | None, other: RigConfig) -> bool:
    """Whether two configurations need different virtual rigs."""
    return (
        one is None
        or one.machine.source != other.machine.source
        or one.drives.legs != other.drives.legs
        or one.drives.settings != other.drives.settings
        or one.load_cells.amplifier != other.load_cells.amplifier
    )


def _reason(error: Exception | None) -> str:
    """Return why a job failed; "" for success."""
    if error is None:
        return ""
    if isinstance(error, RigError):
        return finding_text(error.finding)
    name = type(error).__name__
    return (str(error) or name) if isinstance(error, _EXPECTED) else f"{name}: {error}"


def _ignore(_result: Any, _reason: str) -> None:
    """Ignore the result."""


def _ignore_end(_result: Any, _error: Exception | None) -> None:
    """Ignore the end."""
