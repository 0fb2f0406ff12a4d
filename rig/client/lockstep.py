"""The lockstep rig: engine and virtual rig in one process on a manual clock, deterministic and faster than real time.

The same engine and the same virtual drives as in real time; the bytes of every exchange are encoded and decoded, but no
socket carries them and nothing waits. Two runs with one seed record the same bytes.
"""

import contextlib
import math
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

from rig.client.interruption import Interruption
from rig.client.rig import Listener, News, RowListener, wait_timeout
from rig.config import RigConfig
from rig.engine import (
    ClockPair,
    Engine,
    Event,
    FollowSource,
    Operator,
    ReferenceSource,
    Reply,
    RigCommand,
    Snapshot,
    Submission,
    cell_calibration,
    make_drive_group,
    note_departures,
    recording_header,
    warm_up,
)
from rig.errors import HardwareError, InputError
from rig.findings import Code, Finding
from rig.recording import EventLevel, MotionRecord, RecordingWriter
from rig.runtime import ManualTicker, StopRequest
from rig.sensing import ManualTime, make_intakes
from rig.telemetry import ROW
from rig.virtual import Faults, VirtualRig, payload_of

_CLIENT = "lockstep"
_BATCH = 512  # rows
_CYCLES_PER_LOOK = 10  # between two looks at the status while waiting
_WATCHING = 0.02  # s between two looks at the sensors
_POLL = 0.01  # s of the machine's clock for which a thread waits for the one that lets time pass


class _BatchSink:
    """Writes telemetry and events to a recording, if there is one, rows in batches; events wait for the rows before."""

    def __init__(self, writer: RecordingWriter | None) -> None:
        self.writer = writer
        self.fault = ""
        self.recorded = self.dropped = 0
        self.room = math.inf
        self._rows = np.zeros(_BATCH, ROW)
        self._count = 0
        self._reported = 0
        self.listener: RowListener | None = None

    def push(self, row: npt.NDArray[np.void]) -> None:
        self._rows[self._count] = row[0]
        self._count += 1
        if self._count == _BATCH:
            self.flush()

    def report(self) -> None:
        """Pass the new rows to the listener."""
        listener = self.listener  # which another thread may take away meanwhile
        if listener is not None and self._reported < self._count:
            listener(self._rows[self._reported : self._count].copy())
        self._reported = self._count

    def readings(self, readings: npt.NDArray[np.void]) -> None:
        self.flush()
        if self.writer is not None:
            self.writer.write_readings(readings)

    def event(self, event: Event) -> None:
        self.flush()
        if self.writer is not None:
            level = EventLevel[event.level.upper()]
            self.writer.event(event.t, level, event.code, event.text, event.finding)

    def motion(self, motion: MotionRecord) -> None:
        self.flush()
        if self.writer is not None:
            self.writer.motion(motion)

    def flush(self) -> None:
        if not self._count:
            return
        if self.writer is not None:
            self.writer.write_rows(self._rows[: self._count])
            self.recorded += self._count
        self.report()
        self._count = self._reported = 0


class LockstepRig:
    """A `Rig` in this process, whose clock stops between requests; a context manager that closes its recording.

    The methods of `Rig` are thread-safe. A waiting thread advances the time, one at a time, for the others as well.

    Args:
        config: the rig; must have a [virtual] table.
        recording: file to record to, which must not exist; None for none.
        interruption: checked while waiting.

    Raises:
        ConfigError: the configuration has no virtual rig.
        RecordingError: the file exists.
    """

    def __init__(self, config: RigConfig, recording: Path | None, interruption: Interruption) -> None:
        self.config = config
        self._recording = recording
        self._payload = payload_of(config)
        self.virtual = VirtualRig(config, payload=self._payload)
        self._interruption = interruption
        self._news = News()
        self._passing = threading.RLock()
        self._stops: deque[StopRequest] = deque()
        self._holds = 0
        self._feeds: list[Callable[[float], None]] = []
        self._ticker = ManualTicker(config.period)
        drives = make_drive_group(config, self.virtual.wires, clock=self._ticker)
        calibration = cell_calibration(config) if config.load_cells.calibration else None
        self._writer: RecordingWriter | None = None
        if recording is not None:
            header = recording_header(config, calibration, ClockPair(0, 0))
            self._writer = RecordingWriter(recording, header, [options.meaning for options in config.sensors])
        self._payload_failed = False
        self._intakes = make_intakes(config, ManualTime(self._ticker))
        self._watched = 0.0
        self.sink = _BatchSink(self._writer)
        self.engine = Engine(config, drives, self.sink, self._ticker)
        self.engine.runtime_info.lease = _CLIENT
        self.engine.publish()
        self.operator = Operator(self.engine, hold_count=self.hold_count)
        note_departures(config, self.operator.journal.injected)
        warm_up(self.engine)

    def step(self, overslept: int = 0) -> None:
        """Do one cycle: advance virtual rig and clock by a period, then step the engine.

        overslept: cycles that the host misses before this one; virtual rig and clock advance meanwhile.
        """
        tick = self._ticker.next(overslept)
        self.virtual.advance(self._ticker.now())
        if self.virtual.faults.news:
            for news in self.virtual.faults.news:
                self.operator.journal.injected(news.action, news.text)
            self.virtual.faults.news.clear()
        if self.virtual.failure is not None and not self._payload_failed:
            self._payload_failed = True
            self.operator.journal.report(self.virtual.failure)
        for feed in self._feeds:
            feed(tick.t)
        if self._intakes:
            self._take_readings(tick.t)
        self.operator.carry_out()
        if self._stops:
            category = min(self._stops.popleft() for _ in range(len(self._stops)))
            self.engine.stop(category, Code.STOP_FLAG)
        self.engine.step(tick)

    def _take_readings(self, t: float) -> None:
        """Take what simulated sensors send; others have no time of their own here, and are silent."""
        for number, packet in self.virtual.sensors.take():
            self._intakes[number].put(packet)
        found = [intake.ready() for intake in self._intakes]
        if any(map(len, found)):
            self.sink.readings(np.concatenate(found))
        if t - self._watched >= _WATCHING:
            self._watched = t
            self.engine.runtime_info.sensors = tuple(intake.report() for intake in self._intakes)
            for finding in (finding for intake in self._intakes for finding in intake.watch()):
                self.operator.journal.report(finding)

    def request(self, command: RigCommand, samples: npt.NDArray[np.float64] | None = None) -> None:
        """See `Rig.request`."""
        self._submit(command, samples)

    def follow_source(self, source: ReferenceSource, name: str) -> None:
        """Follow a source that is an object of this process; raises as `request`. name: of the motion; "": its own."""
        self._submit(FollowSource(type(source).__name__, name=name), source=source)

    def _submit(
        self,
        command: RigCommand,
        samples: npt.NDArray[np.float64] | None = None,
        source: ReferenceSource | None = None,
    ) -> None:
        reply: Future[Reply] = Future()
        self.operator.submit(Submission(command, samples, reply, client=_CLIENT, source=source))
        while not reply.done():
            self._pass(1)
        self.refresh()
        reply.result().check()

    @property
    def recording(self) -> Path:
        """See `Rig.recording`. Raises InputError if nothing is recorded."""
        if self._recording is None:
            raise InputError("recording: there is none, the rig was opened with record=False")
        return self._recording

    @property
    def faults(self) -> Faults:
        """See `Rig.faults`."""
        return self.virtual.faults

    def raise_stop_flag(self, category: StopRequest) -> None:
        """See `Rig.raise_stop_flag`."""
        self._stops.append(category)

    def hold(self) -> None:
        """See `Rig.hold`."""
        self._holds += 1

    def let_go(self) -> None:
        """See `Rig.let_go`."""
        self._holds = 0

    def hold_count(self) -> int:
        """A count that increases with each `hold`, 0 after `let_go`."""
        return self._holds

    @contextlib.contextmanager
    def feeding(self, feed: Callable[[float], None], period: float) -> Iterator[None]:
        """See `Rig.feeding`: before every cycle, with rig time."""
        self._feeds.append(feed)
        try:
            yield
        finally:
            self._feeds.remove(feed)

    def note_tuning(self, text: str, at: float) -> None:
        """See `Rig.note_tuning`."""
        self.operator.journal.tuned(text, at)

    def report(self, finding: Finding) -> None:
        """See `Rig.report`."""
        self.operator.journal.report(finding)

    def listen(self, listener: Listener | None, rows: RowListener | None = None) -> None:
        """See `Rig.listen`; called from waiting calls."""
        self._news.listener, self.sink.listener = listener, rows

    def refresh(self) -> None:
        """See `Rig.refresh`."""
        self._news.take(self.engine.events)
        if self._passing.acquire(timeout=_POLL):  # else whoever lets time pass tells it
            try:
                self.sink.report()
            finally:
                self._passing.release()

    def status(self) -> Snapshot:
        """See `Rig.status`: of the last cycle, or as published while another thread advances the rig."""
        if not self._passing.acquire(blocking=False):
            return self.engine.published
        try:
            return self.engine.snapshot
        finally:
            self._passing.release()

    def wait(self, until: Callable[[Snapshot], bool], timeout: float, what: str) -> Snapshot:
        """See `Rig.wait`."""
        end = self.engine.tick.t + timeout
        while True:
            self._interruption.check()
            status = self.status()
            self.refresh()
            if until(status):
                return status
            if status.t > end:
                raise HardwareError(wait_timeout(status, timeout, what))
            self._pass(_CYCLES_PER_LOOK)

    def close(self) -> None:
        """Finish the recording and close the drives. May be called again."""
        with contextlib.ExitStack() as resources:
            resources.enter_context(self._passing)
            if self._payload is not None:
                resources.callback(self._payload.close)
            if self._writer is not None:
                resources.callback(self._writer.abandon)
            resources.callback(self.engine.drives.close)
            resources.callback(self.engine.reference.release)
            self.operator.journal.write()
            self.sink.flush()
            if self._writer is not None:
                self._writer.close(self.engine.closing_counts() | {"overruns": self._ticker.overruns})

    def _pass(self, cycles: int) -> None:
        """Advance by so many cycles, or wait briefly while another thread does so."""
        if self._passing.acquire(timeout=_POLL):
            try:
                for _ in range(cycles):
                    self.step()
            finally:
                self._passing.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()
