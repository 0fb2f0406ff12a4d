"""The engine's process: its main function, and the handle of its owner."""

import contextlib
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import Any, Self

from rig.config import RigConfig
from rig.engine.checking import MotionChecker
from rig.engine.compiling import ProgressCallback, receive_answer, send_compile_progress
from rig.engine.core import Engine
from rig.engine.devices import cell_calibration, make_drive_group
from rig.engine.drive_lock import claim_drives
from rig.engine.engine_discovery import EngineAddress, leave_record, own_record
from rig.engine.header import ClockPair, recording_header
from rig.engine.journal import note_departures
from rig.engine.lease import Leases
from rig.engine.link import LinkClient, LinkServer, socket_address
from rig.engine.loop import Watch, owner_gone, run_cycles
from rig.engine.operator import Operator
from rig.engine.paced_ticker import make_ticker
from rig.engine.pacer import Pacer, pace_path
from rig.engine.snapshot import Snapshot
from rig.engine.warmup import Nowhere, kernels_of, warm_up
from rig.errors import HardwareError
from rig.findings import Code, Finding
from rig.recording import Recorder, RecorderPhase, RingSink, StatusBlock
from rig.runtime import (
    ChildDiedError,
    ChildProcess,
    ControlBlock,
    MonotonicClock,
    RuntimeFolder,
    SharedMemoryError,
    TelemetryRing,
    prepare_process,
    wait_until,
)
from rig.sensing import SensorReader, SensorReport

_START_TIMEOUT = 180.0  # s; the first start on a machine compiles the kernels
_TERMINATE_TIMEOUT = 3.0  # s
_STATUS_TIMEOUT = 1.0  # s
_CLOSING_TIMEOUT = 5.0  # s in which a recorder whose engine is gone closes its file


def run_engine(config: RigConfig, recording: Path, folder: RuntimeFolder, owner: Connection) -> None:
    """Main function of the engine's process; ends when a client shuts it down, or without owner and clients.

    Args:
        config: the rig.
        recording: file to record to.
        folder: runtime folder for the control socket.
        owner: pipe to the starting process: ("ready", EngineAddress) or ("failed", text) is sent, and before that
            `Compiling` at each change. If it is closed, the owner has ended; see `Watch`.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is the owner's to handle
    signal.signal(signal.SIGTERM, _leave)
    with contextlib.ExitStack() as last, contextlib.ExitStack() as resources:
        last.callback(_tidy_for_the_owner, owner, folder)
        try:
            checker = MotionChecker(config, owner)  # first of all: forked, it would have whatever is open
            resources.callback(checker.close)
            starting = resources.enter_context(contextlib.ExitStack())
            starting.enter_context(send_compile_progress("the model", kernels_of(config), owner))
            resources.enter_context(folder.hold("engine"))
            resources.enter_context(claim_drives(config))
            pacer = None if config.virtual is None or config.virtual.real_time else Pacer(pace_path(config))
            if pacer is not None:
                resources.callback(pacer.close)
            drives = make_drive_group(config, pacer=pacer)
            ticker = make_ticker(config, pacer)
            ring = resources.enter_context(TelemetryRing.create(name=folder.shared("ring")))
            block = ControlBlock.create(folder.shared("control"))
            resources.callback(block.close)
            leases = Leases(block)
            calibration = cell_calibration(config) if config.load_cells.calibration else None
            recorded = resources.enter_context(contextlib.ExitStack())  # after the link, whose thread looks at it
            engine = Engine(config, drives, Nowhere(), ticker, MonotonicClock())
            resources.callback(drives.close)
            resources.callback(engine.reference.release)
            if pacer is not None:
                pacer.report = partial(engine.record, "warning")
            operator = Operator(engine, checker.check, leases.hold_count)
            warm_up(engine)
            checker.wait_ready()
            starting.close()
            clock = ClockPair(time.monotonic_ns(), time.time_ns())  # all that takes long is done: time begins
            header = recording_header(config, calibration, clock)
            sensors = SensorReader(config, ring.name, folder.shared("sensors")) if config.sensors else None
            if sensors is not None:
                resources.callback(sensors.close)
            recorder = Recorder(
                ring,
                recording,
                header,
                folder.shared("recorder"),
                excused=pacer is not None,
                sensors=() if sensors is None else sensors.channels,
                readings="" if sensors is None else sensors.ring.name,
            )
            summary: dict[str, Any] = {}
            recorded.callback(recorder.close, summary)
            engine.sink = RingSink(ring, recorder, waits=pacer is not None)
            recorder.wait_ready()
            around = engine.runtime_info
            around.recording, around.ring = str(recording), ring.name

            def status(lease: str) -> Snapshot:
                return replace(engine.published, lease=lease)

            link = LinkServer(socket_address(folder.path), operator.submit, status, leases, operator.journal)
            resources.callback(link.close)
            speed = None if pacer is None or config.virtual is None else config.virtual.speed
            watch = Watch(engine, operator, link, leases, owner, speed)
            engine.publish()
            note_departures(config, operator.journal.injected)  # before anybody tells what has come about of it
            link.start()
            engine.strikes.start()
            resources.callback(engine.strikes.close)
            readings = "" if sensors is None else sensors.ring.name
            address = EngineAddress(socket_address(folder.path), block.name, ring.name, recorder.status_name, readings)
            leave_record(folder, own_record(config, recording, address))
            # after the link's threads, which must not inherit priority
            around.realtime = tuple(prepare_process(config.realtime.cpu, config.realtime.priority))
        except Exception as error:
            with contextlib.suppress(OSError):  # the owner has gone already
                owner.send(("failed", str(error)))
            return
        with contextlib.suppress(OSError):  # the owner has gone already
            owner.send(("ready", address))
        for line in around.realtime:
            engine.record("info", Finding(Code.REALTIME, details={"text": line}))
        if operator.loop:
            engine.record("warning", Finding(Code.LOOP_DOUBTFUL, details={"text": operator.loop}))
        if sensors is not None:
            sensors.start(lambda: ticker.origin, partial(_take_sensors, engine, operator))
        signal.signal(signal.SIGTERM, watch.leave)
        run_cycles(engine, operator, watch, ticker)
        engine.publish()  # what was asked for last is answered
        operator.journal.write()
        summary.update(engine.closing_counts() | {"slower": ticker.slower})


def _take_sensors(
    engine: Engine, operator: Operator, reports: Sequence[SensorReport], findings: Sequence[Finding]
) -> None:
    """Let the engine's log and status have what the sensors' reader says; called in its thread."""
    if reports:
        engine.runtime_info.sensors = tuple(reports)
    for finding in findings:
        operator.journal.report(finding)


def _tidy_for_the_owner(owner: Connection, folder: RuntimeFolder) -> None:
    """Remove the runtime folder if the owner has ended."""
    if owner_gone(owner):
        folder.remove()


def _leave(_signal: int, _frame: FrameType | None) -> None:
    """Exit by an exception, so that drives are stopped and shared memory is removed."""
    raise SystemExit(1)


class EngineProcess:
    """Starts an engine and owns it until its end; a context manager.

    Args:
        config: the rig.
        recording: file to record to; must not exist.
        report_compiling: receives the progress where the model has to be compiled first.

    Raises:
        HardwareError: the engine could not start, with its reason.
    """

    def __init__(self, config: RigConfig, recording: Path, report_compiling: ProgressCallback | None = None) -> None:
        self._report_compiling = report_compiling
        self._left = False
        """whether the engine continues without its owner"""
        with contextlib.ExitStack() as holds:
            self._folder = RuntimeFolder.create(holds)
            holds.callback(self._tidy)
            self._process = ChildProcess("the engine", run_engine, config, recording, self._folder, daemon=False)
            holds.callback(self._end)
            self._address: EngineAddress | None = None
            self._address = self.address = self._wait_ready()
            self._holds = holds.pop_all()

    def _wait_ready(self) -> EngineAddress:
        try:
            kind, content = receive_answer(self._process, _START_TIMEOUT, "start", self._report_compiling)
        except ChildDiedError as error:
            code = self._process.exitcode
            raise HardwareError(f"the engine ended while it started, exit code {code}") from error
        if kind == "failed":
            self._process.join(_TERMINATE_TIMEOUT)  # it is on its way out
            raise HardwareError(f"the engine could not start: {content}")
        address: EngineAddress = content
        return address

    @property
    def pid(self) -> int | None:
        """Process id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._process.alive

    def client(self, timeout: float = 10.0, beat: Callable[[], None] | None = None) -> LinkClient:
        """A new client of the engine's control link."""
        return LinkClient(self.address.socket, timeout, beat)

    def join(self, timeout: float) -> bool:
        """Wait at most `timeout` s for the process to end; whether it has."""
        return self._process.join(timeout)

    def kill(self) -> None:
        """End the process now, killing it if it does not react, and clean up. May be called again.

        The drives of a killed engine stop by their own watchdogs. An engine that stays because a drive still reports
        torque is left running: it supervises and records until the torque is off, and can be found.
        """
        self._holds.close()

    def _end(self) -> None:
        if self._process.alive and self._address is not None and self._stays():
            self._process.release()
            self._left = True
            return
        self._process.end(0.0, terminate=self._address is None)
        if self._address is not None:
            _await_recorder(self._address)

    def _tidy(self) -> None:
        if not self._left:
            self._folder.remove()

    def _stays(self) -> bool:
        """Ask the engine to end; whether it stays because a drive reports torque."""
        if self._process.terminate(_TERMINATE_TIMEOUT):
            return False
        with contextlib.suppress(HardwareError), contextlib.closing(self.client(_STATUS_TIMEOUT)) as client:
            return bool(client.status().powered)
        return False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.kill()


def _await_recorder(address: EngineAddress) -> None:
    """Let the recorder of an engine that was killed finish the file before its shared memory is removed."""
    with contextlib.suppress(SharedMemoryError):
        block = StatusBlock.attach(address.recorder)
        wait_until(
            lambda: block.read().phase not in (RecorderPhase.STARTING, RecorderPhase.RECORDING), _CLOSING_TIMEOUT
        )
        block.close()
