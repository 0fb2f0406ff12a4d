"""The recorder: a process that writes rows from the ring to a recording, its status, and the engine's access to it."""

import math
import os
import pickle
import select
import signal
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import IntEnum
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt

from rig.findings import Finding
from rig.recording.motion_record import MotionRecord
from rig.recording.readings import READING
from rig.recording.schema import EventLevel, RecordedEvent, RecordingError
from rig.recording.writer import RecordingWriter
from rig.runtime import ChildProcess, ProcessWatch, RingReader, SharedBlock, TelemetryRing, wait_until
from rig.telemetry import SensorChannels

_WORDS = 8
_ERROR_SIZE = 448
_SIZE = 8 * _WORDS + _ERROR_SIZE
_UNKNOWN = (1 << 64) - 1
_MOST_HOURS = 99


def room_text(room: float) -> str:
    """Text of how long the room for a recording lasts, such as "9.5 min"; "" if unknown. Args: room: s."""
    if not math.isfinite(room):
        return ""
    minutes, hours = room / 60.0, room / 3600.0
    if hours >= _MOST_HOURS:
        return f"> {_MOST_HOURS} h"
    value, unit = (minutes, "min") if minutes < 99.5 else (hours, "h")
    return f"{value:.{1 if value < 9.95 else 0}f} {unit}"


class RecorderPhase(IntEnum):
    """Phase of the recorder process."""

    STARTING = 0
    RECORDING = 1
    CLOSED = 2
    FAILED = 3


@dataclass(frozen=True, slots=True)
class RecorderStatus:
    """Status of the recorder."""

    phase: RecorderPhase
    rows: int
    """Rows written."""
    bytes: int
    """Size of the file."""
    dropped: int
    """Rows pushed that are not in the file."""
    heartbeat: int
    """Increases with every iteration of the recorder's loop."""
    error: str
    """First cause of a failure, or empty."""
    room: float = math.inf
    """s until the disk is full, at the present growth of the file; infinite if unknown or not growing"""

    @property
    def healthy(self) -> bool:
        """Whether rows are being written."""
        return self.phase is RecorderPhase.RECORDING


class StatusBlock:
    """The shared block: created and owned by the starter of the recorder, written by the recorder, read by all."""

    def __init__(self, block: SharedBlock) -> None:
        self._block = block
        self._words = block.view(0, 8 * _WORDS, "Q")
        self._text = block.view(8 * _WORDS, _SIZE)

    @classmethod
    def create(cls, name: str | None = None) -> Self:
        """Make the block, in phase STARTING, and own it. Raises SharedMemoryError as `SharedBlock.create`."""
        block = cls(SharedBlock.create(_SIZE, name))
        block.show_room(math.inf)
        return block

    @classmethod
    def attach(cls, name: str) -> Self:
        """Attach to the block of that name. Raises SharedMemoryError as `SharedBlock.attach`."""
        return cls(SharedBlock.attach(name, _SIZE))

    @property
    def name(self) -> str:
        """Name to attach by."""
        return self._block.name

    def update(self, *, rows: int, size: int, dropped: int) -> None:
        """Publish the counters and one more iteration of the loop."""
        words = self._words
        words[1], words[2], words[3] = rows, size, dropped
        words[4] += 1

    def show_room(self, seconds: float) -> None:
        """Publish how long the room on the disk lasts, s, infinite if unknown."""
        self._words[5] = int(seconds * 1e3) if seconds < _UNKNOWN / 1e3 else _UNKNOWN

    def enter(self, phase: RecorderPhase, error: str = "") -> None:
        """Publish a phase, with the cause of a failure."""
        data = error.encode(errors="replace")[:_ERROR_SIZE]
        self._text[: len(data)] = data
        self._words[0] = phase

    def read(self) -> RecorderStatus:
        """Read the status; any process may do so at any time."""
        phase, rows, size, dropped, heartbeat, room, *_ = self._words.tolist()
        error = bytes(self._text).rstrip(b"\0").decode(errors="ignore") if phase == RecorderPhase.FAILED else ""
        seconds = math.inf if room == _UNKNOWN else room / 1e3
        return RecorderStatus(RecorderPhase(phase), rows, size, dropped, heartbeat, error, seconds)

    def close(self) -> None:
        """Close the block, which its owner removes. May be called again."""
        self._block.close()


_POLL = 0.02
"""s between two checks of the ring."""
_SYNC = 0.5
"""s between two syncs to the disk, with a check of the file."""
_GROWTH = 60
"""Syncs over which the growth of the file is measured."""
_LEAST_GROWTH = 2.0
"""s, least duration of that measurement."""
_STALL = 2.0
"""s without a heartbeat after which the recorder counts as hanging."""
_UNUSUAL = 0.1
"""s without a heartbeat after which the process's state is checked."""
_LARGEST_MESSAGE = 4000
"""Bytes of the largest message to the recorder, which a ready pipe takes without waiting."""
_LONGEST_TEXT = 900
"""Most characters of an event's text, so that it fits a message."""


class Recorder:
    """Starts the recorder process on a ring and controls it; belongs to the process that made it.

    Every row pushed after this call is recorded, also during the process's start. No method but `wait_ready` and
    `close` waits for the recorder. Start it outside the cyclic thread: the process inherits the caller's CPU affinity.
    """

    def __init__(
        self,
        ring: TelemetryRing,
        path: Path | str,
        header: Mapping[str, Any],
        status_name: str | None = None,
        *,
        excused: bool = False,
        sensors: Sequence[SensorChannels] = (),
        readings: str = "",
    ) -> None:
        """See the class.

        excused: waiting for a processor or a disk does not count as hanging, as in paced time.
        sensors: the external ones; readings: name of the ring of their readings, from the beginning.
        """
        self.path = Path(path)
        self.events_lost = 0
        """Events and records of motions lost because the pipe was full or the recorder had ended."""
        self._block = StatusBlock.create(status_name)
        self._final: RecorderStatus | None = None
        self._beat = (-1, time.monotonic())
        arguments = (ring.name, ring.pushed, str(self.path), dict(header), self._block.name, tuple(sensors), readings)
        self._process = ChildProcess("the recorder", record, *arguments, duplex=False)
        self._control = self._process.pipe
        self._watch = ProcessWatch(self._process.pid or 0) if excused else None

    @property
    def status_name(self) -> str:
        """Name of the shared status block, for `StatusBlock.attach` in another process."""
        return self._block.name

    @property
    def pid(self) -> int | None:
        """Process id of the recorder."""
        return self._process.pid

    def status(self) -> RecorderStatus:
        """The status of the recorder; FAILED if the process has died. Takes microseconds."""
        if self._final is not None:
            return self._final
        alive = self._process.alive
        status = self._block.read()
        if not alive and status.phase in (RecorderPhase.STARTING, RecorderPhase.RECORDING):
            error = f"recorder process ended with exit code {self._process.exitcode}"
            return replace(status, phase=RecorderPhase.FAILED, error=error)
        return status

    @property
    def healthy(self) -> bool:
        """Whether rows are being written, with a sign of life in the last two seconds."""
        status = self.status()
        now = time.monotonic()
        if status.heartbeat != self._beat[0]:
            self._beat = (status.heartbeat, now)
            if self._watch is not None:
                self._watch.sign()
        silent = now - self._beat[1]
        if self._watch is not None and silent > _UNUSUAL:
            silent = self._watch.silence()
        return status.healthy and silent < _STALL

    def wait_ready(self, timeout: float = 60.0) -> None:
        """Wait until the file is open and rows are being written.

        Raises RecordingError with the cause if that fails or takes longer than `timeout` (s).
        """
        if not wait_until(lambda: self.status().phase is not RecorderPhase.STARTING, timeout):
            raise RecordingError(f"{self.path}: the recorder was not ready within {timeout} s")
        status = self.status()
        if status.phase is RecorderPhase.FAILED:
            raise RecordingError(f"{self.path}: cannot record: {status.error}")

    def event(self, t: float, level: int, code: int, text: str, finding: Finding | None = None) -> bool:
        """Send an event to be recorded; never waits. False if the recorder could not take it, which is counted.

        A text beyond 900 characters is cut. Raises ValueError for a time or number that an event cannot have.
        """
        found = None if finding is None else finding.elided(_LONGEST_TEXT)
        event = RecordedEvent(t, level, code, text[:_LONGEST_TEXT], found)
        sent = self._send(("event", event.t, event.level, event.code, event.text, found))
        self.events_lost += not sent
        return sent

    def motion(self, motion: MotionRecord) -> bool:
        """Send the record of a motion to be recorded, as `event`; a name or cause beyond 900 characters is cut."""
        cause = (motion.cause or "")[:_LONGEST_TEXT]
        found = None if motion.finding is None else motion.finding.elided(_LONGEST_TEXT)
        sent = self._send(("motion", replace(motion, name=motion.name[:_LONGEST_TEXT], cause=cause, finding=found)))
        self.events_lost += not sent
        return sent

    def close(self, summary: Mapping[str, Any] | None = None, *, timeout: float = 10.0) -> RecorderStatus:
        """Finish the file and end the process, killing it after `timeout` (s). Returns its last status.

        `summary` (at most about 4 kB) goes into the closing metadata. May be called again. Raises ValueError, without
        effect, for a summary that is too large.
        """
        if self._final is None:
            self._send(("close", {**(summary or {}), "events_lost": self.events_lost}))
            self._process.end(timeout, terminate=False)
            self._final = self.status()
            self._block.close()
        return self._final

    def _send(self, message: tuple[Any, ...]) -> bool:
        data = pickle.dumps(message)
        if len(data) > _LARGEST_MESSAGE:
            raise ValueError(f"message to the recorder: {len(data)} bytes, at most {_LARGEST_MESSAGE} go")
        if self._final is not None:
            return False
        try:
            if not select.select([], [self._control], [], 0)[1]:
                return False
            self._control.send_bytes(data)
        except OSError:  # the recorder is gone, or a first close was cut short
            return False
        return True


def record(
    ring_name: str,
    start: int,
    path: str,
    header: dict[str, Any],
    status_name: str,
    sensors: Sequence[SensorChannels],
    readings: str,
    control: Connection,
) -> None:
    """Main function of the recorder process.

    Writes the ring's rows from number `start` on, all readings of the ring `readings`, and the events from `control`,
    until a request to close, a termination signal, or the end of the pipe; in each case the file is closed properly. If
    the disk fails, or the file is changed or missing (`RecordingWriter.verify`), the cause is in the status, the file
    stays as it is, and the process ends.
    """
    # A Ctrl-C is the owner's business, and so is its real-time priority.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    block = StatusBlock.attach(status_name)
    try:
        ring = TelemetryRing.attach(ring_name)
        beside = TelemetryRing.attach(readings, READING).reader(0) if readings else None
        writer = RecordingWriter(path, header, sensors)
        try:
            _Session(ring, start, writer, control, block, beside).run()
        finally:
            writer.abandon()
    except Exception as error:
        block.enter(RecorderPhase.FAILED, str(error) or type(error).__name__)
        raise SystemExit(1) from None
    block.enter(RecorderPhase.CLOSED)


class _Session:
    """One recording being made."""

    def __init__(
        self,
        ring: TelemetryRing,
        start: int,
        writer: RecordingWriter,
        control: Connection,
        block: StatusBlock,
        readings: RingReader | None = None,
    ) -> None:
        self._reader = ring.reader(start)
        self._readings = readings
        self._writer = writer
        self._control = control
        self._block = block
        self._closing: dict[str, Any] | None = None
        self._growth: deque[tuple[float, int]] = deque(maxlen=_GROWTH)
        """times, s, with sizes of the file, bytes"""

    def run(self) -> None:
        """Record until the end, then close the file."""
        signal.signal(signal.SIGTERM, self._terminate)
        self._block.enter(RecorderPhase.RECORDING)
        synced = time.monotonic()
        while self._closing is None:
            self._take_messages()
            self._write_new()
            if time.monotonic() - synced >= _SYNC:
                self._writer.sync()
                self._writer.verify()
                synced = time.monotonic()
                self._measure_room(synced)
        self._write_new()
        self._writer.close(self._closing, dropped=self._reader.dropped)
        self._publish()

    def _terminate(self, _signal: int, _frame: FrameType | None) -> None:
        self._closing = self._closing or {"ended": "terminated"}

    def _take_messages(self) -> None:
        """Wait for a message or the next check of the ring, and carry out the messages."""
        timeout = _POLL
        while self._closing is None and self._control.poll(timeout):
            try:
                kind, *content = self._control.recv()
            except EOFError:
                self._closing = {"ended": "owner gone"}
                return
            if kind == "event":
                self._writer.event(*content)
            elif kind == "motion":
                self._writer.motion(*content)
            else:
                self._closing = content[0]
            timeout = 0.0

    def _write_new(self) -> None:
        rows, dropped = self._reader.read_new()
        self._writer.write_rows(rows)
        if dropped:
            t = float(rows["t"][0]) if len(rows) else 0.0
            self._writer.event(t, EventLevel.WARNING, 0, f"recorder: {dropped} rows were lost before this moment")
        self._write_readings()
        self._publish()

    def _write_readings(self) -> None:
        if self._readings is None:
            return
        readings, lost = self._readings.read_new()
        self._writer.write_readings(readings)
        if lost:
            t = float(readings["t"].max()) if len(readings) else 0.0
            self._writer.event(t, EventLevel.WARNING, 0, f"recorder: {lost} readings of sensors were lost before")

    def _measure_room(self, now: float) -> None:
        size = self._writer.size
        self._growth.append((now, size))
        since, before = self._growth[0]
        grown, span = size - before, now - since
        known = grown > 0 and span >= _LEAST_GROWTH
        self._block.show_room(self._writer.room() * span / grown if known else math.inf)

    def _publish(self) -> None:
        self._block.update(rows=self._writer.rows, size=self._writer.size, dropped=self._reader.dropped)


_HEALTH_INTERVAL = 25
"""Rows between two checks of the recorder."""
_PATIENCE = 0.5
"""s, longest wait for the recorder to take rows: less than the plant waits for an engine's sign of life."""


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
        """Number of its fault, or 0."""

    @property
    def text(self) -> str:
        """In words."""

    @property
    def finding(self) -> Finding:
        """The finding behind the text."""


class RingSink:
    """Writes telemetry to the ring and events to the recorder, and checks the recorder's status.

    `fault`: reason why rows are not recorded, or empty. `recorded`, `dropped`: number of rows, as known. `room`: s
    until the disk is full, see `RecorderStatus`.

    Args:
        ring: from which the recorder takes the rows.
        recorder: started on the ring.
        waits: whether to wait for a recorder delayed by the machine or its disk, as in paced time.
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
        """id of the newest motion, and the wall clock of its report, ns since 1970"""

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
        """Take the record of a motion's beginning or end, without waiting; the wall clock of its beginning is added."""
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
