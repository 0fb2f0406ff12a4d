"""What the wizard does to real or virtual drives: asks them, moves one leg, zeroes the cells; never blocks."""

import contextlib
import math
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from pyqtgraph.Qt import QtCore

from actuators import ActuatorError, Answer, SerialEndpoint, search
from calibration import CalibrationError
from gui.session import Worker
from gui.texts import tr
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

_LOOK = 20  # ms between two signs of life
_CLOSING_TIMEOUT = 30.0  # s; drives that are silent take their time
_EXPECTED = (RigError, ActuatorError, CalibrationError)  # what these say is meant for a person

Done = Callable[[Any, str], None]
"""Told what came of a job: its result and "", or None and why there is none."""

Configured = Callable[[], RigConfig]
"""Makes the configuration, in the worker's thread: looking at its devices may compile. Raises RigError."""


class _Deadman(Interruption):
    """Stops a job of another thread when asked to, or when the window shows no sign of life."""

    def __init__(self) -> None:
        super().__init__()
        self.patience = math.inf
        """s without a sign of life that are borne"""
        self._beat_at = time.monotonic()

    def beat(self) -> None:
        """The window lives."""
        self._beat_at = time.monotonic()

    def check(self) -> None:
        """See `Interruption.check`."""
        if time.monotonic() - self._beat_at > self.patience:
            self.count += 1
        super().check()


class SetupBench(QtCore.QObject):
    """One job at a time on the drives of a configuration.

    Signals: `changed` when `busy` or `moving` is another; `progressed(text)`; `ended` when nothing is left of it.
    """

    changed = QtCore.Signal()
    progressed = QtCore.Signal(str)
    ended = QtCore.Signal()

    def __init__(self, parent: QtCore.QObject | None = None) -> None:
        super().__init__(parent)
        self.busy = ""
        """what is being done, in words; empty while nothing is"""
        self.moving = False
        """something may move"""
        self.leg: int | None = None
        """1 to 6, the leg that is being tested"""
        self._worker = Worker("set-up", self)
        self._virtual: VirtualRigProcess | None = None
        self._served: RigConfig | None = None
        self._deadman: _Deadman | None = None
        self._over = threading.Event()
        """a search is to end"""
        self._done: Done = _ignore
        self._timer = QtCore.QTimer(self)
        self._timer.setInterval(_LOOK)
        self._timer.timeout.connect(self._look)

    # -- jobs --------------------------------------------------------------------------------------------------------

    def ask(self, leg: int, address: LegDrive, kind: DriveKind, config: Configured | None, done: Done) -> None:
        """Ask the drive of leg 1 to 6 who it is; `config` is that of a rehearsal, None for a real drive."""

        def job() -> object:
            if config is not None:
                self._serve(config())
            return probe_drive(leg, address, kind)

        self.run(tr("querying the drive of leg {leg}").format(leg=leg), job, done)

    def ask_all(self, config: Configured, done: Done) -> None:
        """Ask all six drives who they are."""

        def job() -> Probe:
            made = config()
            self._serve(made)
            return probe_rig(made)

        self.run(tr("querying the six drives"), job, done)

    def search(self, target: str, units: Sequence[int], done: Done) -> None:
        """Ask for `units` at a serial port, a host or in a network; `done` is told the `actuators.Answer`s."""
        self._over.clear()

        def job() -> list[Answer]:
            found: list[Answer] = []
            with contextlib.closing(search(target, units, stopped=self._over.is_set)) as asked:
                for endpoint, answers in asked:
                    found += answers
                    place = endpoint.settings if isinstance(endpoint, SerialEndpoint) else str(endpoint)
                    self.progressed.emit(tr("{place} queried").format(place=place))
            if self._over.is_set() and not found:
                raise RigError(tr("ended before any device answered"))
            return found

        self.run(tr("searching {target}").format(target=target), job, done)

    def run(self, what: str, job: Callable[[], Any], done: Done) -> None:
        """Do a job that moves nothing in the worker's thread."""
        self._begin(what, moving=False, done=done)
        self._worker.submit(job, self._finish)

    def test_leg(self, config: Configured, move: LegMove, done: Done) -> None:
        """Move one leg; `done` is told the `LegResult`."""
        deadman = self._watched(tr("testing leg {leg}").format(leg=move.leg), done, move.leg)

        def report(test: LegTest) -> None:
            self.progressed.emit(f"{test.phase}, {test.length * 1e3:.3f} mm")

        def job() -> LegResult:
            made = config()
            deadman.patience = made.safety.heartbeat
            return run_leg_test(self._serve(made), move, deadman, report)

        self._worker.submit(job, self._finish)

    def zero(self, config: Configured, options: ZeroOptions, done: Done, *, unproven: bool = False) -> None:
        """Home the rig and zero its cells; `done` is told the `rig.commissioning.Zero`. unproven: see `Home`."""
        deadman = self._watched(tr("homing and zeroing"), done)

        def report(progress: Progress) -> None:
            self.progressed.emit(f"{progress.phase} {progress.fraction:.0%}" if progress.fraction else progress.phase)

        def job() -> Zero:
            made = config()
            deadman.patience = made.safety.heartbeat
            return zero_rig(self._serve(made), options, deadman, report, serve=False, unproven=unproven)

        self._worker.submit(job, self._finish)

    def stop(self) -> None:
        """Stop what moves: the leg by its drive's quick stop, the rig in a controlled way; torque off. At any time.

        A search ends as well.
        """
        self._over.set()
        if self._deadman is not None:
            self._deadman.count += 1

    # -- the end -----------------------------------------------------------------------------------------------------

    def retire(self) -> None:
        """End the virtual rig without waiting; `ended` follows. Nothing may move any more."""
        self._over.set()
        self._worker.submit(self._end_all, lambda _result, _error: self.ended.emit())

    def close(self) -> None:
        """Stop, end everything and wait for that. May be called again."""
        self.stop()
        self._timer.stop()
        self._worker.submit(self._end_all, _let_go)
        self._worker.finish()
        self._worker.join(_CLOSING_TIMEOUT)

    # -- inside ------------------------------------------------------------------------------------------------------

    def _begin(self, what: str, *, moving: bool, done: Done, leg: int | None = None) -> None:
        assert not self.busy, f"{what} while {self.busy}"
        self.busy, self.moving, self.leg, self._done = what, moving, leg, done
        self.changed.emit()

    def _watched(self, what: str, done: Done, leg: int | None = None) -> _Deadman:
        """Begin a job that moves something; what stops it when asked to, or without a sign of life."""
        self._begin(what, moving=True, done=done, leg=leg)
        self._deadman = deadman = _Deadman()
        self._timer.start()
        return deadman

    def _finish(self, result: Any, error: Exception | None) -> None:
        self._timer.stop()
        self._deadman = None
        self.busy, self.moving, self.leg = "", False, None
        done, self._done = self._done, _ignore
        text = "" if error is None else str(error) or type(error).__name__
        expected = error is None or isinstance(error, _EXPECTED)
        done(result, text if expected else f"{type(error).__name__}: {text}")
        self.changed.emit()

    def _look(self) -> None:
        """Show that the window lives."""
        if self._deadman is not None:
            self._deadman.beat()

    def _serve(self, config: RigConfig) -> RigConfig:
        """The configuration to talk to the drives with; a rehearsal's virtual rig runs then. In the worker's thread."""
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
    """The configuration without serial numbers: virtual drives have their own, whatever is expected of them."""
    legs = [leg.model_dump() | {"serial": None} for leg in config.drives.legs]
    return config.changed({"drives": {"legs": legs}})


def _differ(one: RigConfig | None, other: RigConfig) -> bool:
    """Whether a virtual rig of one configuration cannot stand for another's."""
    return (
        one is None
        or one.machine.source != other.machine.source
        or one.drives.legs != other.drives.legs
        or one.drives.settings != other.drives.settings
        or one.load_cells.amplifier != other.load_cells.amplifier
    )


def _ignore(_result: Any, _reason: str) -> None:
    """Nobody waits for this job."""


def _let_go(_result: Any, _error: Exception | None) -> None:
    """Nobody waits for this end."""
