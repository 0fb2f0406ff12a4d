"""The reader of external sensors: a process that takes their readings into a ring, and its handle.

It is a process of its own, so that neither a flood of readings nor a device that hangs takes time from the cycle. The
recorder and the app read the ring as they read telemetry.
"""

import contextlib
import math
import select
import signal
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from typing import Self

from rig.config import PluginSource, RigConfig
from rig.errors import HardwareError, InputError
from rig.findings import Code, Finding
from rig.recording import READING
from rig.runtime import ChildLateError, ChildProcess, SharedMemoryError, TelemetryRing
from rig.sensing.intake import MachineTime, RigTime, SensorIntake, SensorReport
from rig.sensing.sources import SensorSource, key_of, open_source
from rig.telemetry import SensorChannels

RING = 8192
"""readings that the ring holds"""
_STARTING = 20.0
"""s for the process to start and to open the sensors; without a required one the rig goes on then"""
_ENDING = 2.0
"""s for it to end by itself"""
_TURN = 0.01
"""s, longest wait of a turn"""
_REPORTS = 0.25
"""s between two reports"""
_RETRY = 1.0
"""s until a sensor that cannot be read is opened again"""
_LOOK = 0.1
"""s between two looks of the engine's thread at the origin of rig time"""
_HANGING = 3.0
"""s without a report after which the process hangs"""

Take = Callable[[Sequence[SensorReport], Sequence[Finding]], None]


class PacedTime:
    """Rig time of a virtual rig that waits for its engine, by the newest telemetry row.

    Between two rows it goes on with the machine's clock, by a cycle at most.

    Args:
        telemetry: the ring.
        period: s, of a cycle.
        speed: largest ratio of rig time to the machine's.
    """

    def __init__(self, telemetry: TelemetryRing, period: float, speed: float) -> None:
        self.origin = math.nan
        """s, of the plant's clock at rig time 0; NaN while the engine has no plant"""
        self._telemetry, self._period, self._speed = telemetry, period, speed
        self._pushed = 0
        self._t, self._at = math.nan, 0.0

    def now(self) -> float:
        """See `RigTime.now`."""
        pushed, now = self._telemetry.pushed, time.monotonic()
        if pushed != self._pushed:
            rows, _ = self._telemetry.copy(pushed - 1, pushed)
            self._pushed = pushed
            if len(rows):
                self._t, self._at = float(rows["t"][0]), now
        return self._t + min(self._speed * (now - self._at), self._period)

    def of_machine(self, stamp: float) -> float:
        """See `RigTime.of_machine`."""
        return self.now() - self._speed * (time.monotonic() - stamp)

    def of_plant(self, stamp: float) -> float:
        """See `RigTime.of_plant`."""
        return stamp - self.origin


def twin_names(config: RigConfig) -> frozenset[str]:
    """Names of the sensors whose readings a virtual rig sends."""
    return frozenset(() if config.virtual is None else (twin.name for twin in config.virtual.sensors))


def make_intakes(config: RigConfig, rig_time: RigTime) -> list[SensorIntake]:
    """The intake of each sensor. Raises InputError for a key that cannot be used."""
    twins = twin_names(config)
    return [
        SensorIntake(number, options, key_of(options, config.folder), rig_time, twin=options.name in twins)
        for number, options in enumerate(config.sensors)
    ]


@dataclass(slots=True)
class _Reading:
    """One sensor being read. due: s, monotonic, when it is opened again, or read after a flood."""

    intake: SensorIntake
    source: SensorSource | None = None
    due: float = -math.inf


class ReadingLoop:
    """The turns of the reader, which a process or a test makes one after the other.

    Args:
        intakes: of the sensors.
        ring: of dtype `READING`; written by this alone.

    Raises:
        HardwareError: a required sensor cannot be opened; nothing stays open.
    """

    def __init__(self, intakes: Iterable[SensorIntake], ring: TelemetryRing) -> None:
        self._sensors = [_Reading(intake) for intake in intakes]
        self._ring = ring
        for each in self._sensors:
            self._open(each, first=True)
            if each.source is None and each.intake.options.required:
                self.close()
                raise HardwareError(f"sensor {each.intake.options.name!r}, which is required: {each.intake.failure}")

    def turn(self, wait: float, others: Sequence[Connection] = ()) -> None:
        """Take in what comes within `wait` s, or has come, and pass it on; `others` end the wait as well."""
        now = time.monotonic()
        sources = [each.source for each in self._sensors if each.source is not None and now >= each.due]
        files: list[Connection | int] = [*others, *(source.descriptor for source in sources if source.descriptor >= 0)]
        select.select(files, [], [], wait)
        now = time.monotonic()
        for each in self._sensors:
            if now < each.due:
                continue
            if each.source is None:
                self._open(each, first=False)
            if each.source is None:
                continue
            try:
                if each.source.read(each.intake):
                    each.due = now + _TURN
                if each.source.opened:
                    each.intake.failure = ""
            except HardwareError as error:
                self._fail(each, error)
            for reading in each.intake.ready():
                self._ring.push(reading)

    def findings(self) -> list[Finding]:
        """What is to be reported since the last call."""
        return [finding for each in self._sensors for finding in each.intake.watch()]

    def reports(self) -> tuple[SensorReport, ...]:
        """What came in so far, of each sensor."""
        return tuple(each.intake.report() for each in self._sensors)

    def close(self) -> None:
        """Close all sources."""
        for each in self._sensors:
            if each.source is not None:
                each.source.close()
                each.source = None

    def _open(self, each: _Reading, *, first: bool) -> None:
        try:
            each.source = open_source(each.intake.options, first=first)
            if each.source.opened:
                each.intake.failure = ""
        except HardwareError as error:
            self._fail(each, error)

    def _fail(self, each: _Reading, error: HardwareError) -> None:
        if each.source is not None:
            each.source.close()
        each.source, each.due, each.intake.failure = None, time.monotonic() + _RETRY, str(error)


class SensorReader:
    """Starts the reader's process and owns it, with the ring that it fills.

    Args:
        config: the rig.
        telemetry: name of its telemetry ring.
        name: of the ring of readings; None: its own.

    Raises:
        InputError: a key cannot be read.
        HardwareError: the process cannot be started, or a required sensor cannot be opened, or not in time.
    """

    def __init__(self, config: RigConfig, telemetry: str, name: str | None = None) -> None:
        self._sensors = ", ".join(options.name for options in config.sensors)
        self.channels: tuple[SensorChannels, ...] = tuple(options.meaning for options in config.sensors)
        """of each sensor"""
        for options in config.sensors:
            key_of(options, config.folder)
        self.ring = TelemetryRing.create(RING, name=name, row=READING)
        """the ring of readings; to be read, not written"""
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        own = any(isinstance(options.place, PluginSource) for options in config.sensors)  # may start processes
        try:
            self._process = ChildProcess("the sensors", _read, config, self.ring.name, telemetry, daemon=not own)
        except BaseException:
            self.ring.close()
            raise
        self._late = False
        """whether the process has not opened the sensors yet"""
        try:
            self._started(*self._process.receive(_STARTING, "open the sensors"))
        except ChildLateError:
            if any(options.required for options in config.sensors):
                self._abandon()
                raise
            self._late = True
        except BaseException:
            self._abandon()
            raise

    @staticmethod
    def _started(ready: bool, text: str) -> None:
        if not ready:
            raise HardwareError(text)

    def _abandon(self) -> None:
        self._process.end(0.0)
        self.ring.close()

    @property
    def pid(self) -> int | None:
        """Process id of the reader."""
        return self._process.pid

    def start(self, origin: Callable[[], float], take: Take) -> None:
        """Pass reports and findings to `take` from now on, in a thread.

        origin: see `rig.runtime.Ticker.origin`.
        """
        self._thread = threading.Thread(target=self._run, args=(origin, take), name="sensors", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the process, and remove the ring. May be called again."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
        self._process.end(_ENDING)
        self.ring.close()

    def _run(self, origin: Callable[[], float], take: Take) -> None:
        known, heard, hangs = math.nan, time.monotonic(), False
        reports: tuple[SensorReport, ...] = ()
        try:
            while not self._ended.is_set():
                begun = origin()
                same = begun == known or (math.isnan(begun) and math.isnan(known))
                if not same and not hangs:
                    known = begun
                    self._process.pipe.send(begun)
                if self._late:
                    if self._process.pipe.poll(_LOOK):
                        self._started(*self._process.pipe.recv())
                        self._late, heard = False, time.monotonic()
                elif self._process.pipe.poll(_LOOK):
                    reports, findings = self._process.pipe.recv()
                    if hangs:
                        findings += [Finding(Code.SENSOR_BACK, details={"sensor": each.name}) for each in reports]
                    heard, hangs = time.monotonic(), False
                    take(reports, findings)
                elif not hangs and (silence := time.monotonic() - heard) > _HANGING:
                    hangs = True
                    finding = Finding(Code.SENSORS_HANG, 0, silence, details={"text": self._sensors})
                    take([replace(each, state="stale") for each in reports], [finding])
        except (EOFError, OSError, HardwareError):
            take((), [Finding(Code.SENSORS_DEAD, details={"text": self._sensors})])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()


def _read(config: RigConfig, ring_name: str, telemetry: str, owner: Connection) -> None:
    """Main function of the process: reads until its owner closes the pipe or has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with contextlib.ExitStack() as opened:
            ring = opened.enter_context(TelemetryRing.attach(ring_name, READING))
            rig_time: MachineTime | PacedTime = MachineTime()
            if config.virtual is not None and not config.virtual.real_time:
                rows = opened.enter_context(TelemetryRing.attach(telemetry))
                rig_time = PacedTime(rows, config.period, config.virtual.speed)
            loop = opened.enter_context(contextlib.closing(ReadingLoop(make_intakes(config, rig_time), ring)))
            owner.send((True, ""))
            _serve(loop, rig_time, owner)
    except (HardwareError, InputError, SharedMemoryError) as error:
        with contextlib.suppress(OSError):
            owner.send((False, str(error)))
    except (EOFError, OSError):  # the owner is gone
        pass


def _serve(loop: ReadingLoop, rig_time: MachineTime | PacedTime, owner: Connection) -> None:
    due = 0.0
    waiting: list[Finding] = []
    while True:
        loop.turn(_TURN, [owner])
        while owner.poll():
            rig_time.origin = owner.recv()
        waiting += loop.findings()
        now = time.monotonic()
        if (waiting or now >= due) and select.select([], [owner], [], 0.0)[1]:
            owner.send((loop.reports(), waiting))
            waiting, due = [], now + _REPORTS
