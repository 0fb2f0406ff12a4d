"""The engine as a process of its own: its main function, and the handle of whoever started it."""

import contextlib
import multiprocessing
import shutil
import signal
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from types import FrameType
from typing import Self

import numpy as np
import numpy.typing as npt

from rig.clock import MonotonicClock
from rig.config import RigConfig
from rig.engine.checking import MotionChecker
from rig.engine.claim import claim_drives
from rig.engine.control_block import ControlBlock
from rig.engine.core import Engine
from rig.engine.devices import cell_calibration, make_bank
from rig.engine.header import ClockPair, recording_header
from rig.engine.link import LinkClient, LinkServer, socket_address
from rig.engine.loop import Watch, owner_gone, run_cycles
from rig.engine.messages import Event, Status
from rig.engine.operator import Operator
from rig.engine.status import engine_status
from rig.engine.warmup import warm_up
from rig.errors import HardwareError
from rig.realtime import prepare_process
from rig.recording import EventLevel, Recorder, RecorderPhase, StatusBlock
from rig.ring import TelemetryRing
from rig.spawning import start_shielded

_START_TIMEOUT = 180.0  # s; the first start on a machine compiles the kernels
_TERMINATE_TIMEOUT = 3.0  # s
_CLOSING_TIMEOUT = 5.0  # s in which a recorder whose engine is gone closes its file
_HEALTH_INTERVAL = 25  # cycles between two looks at the recorder


@dataclass(frozen=True, slots=True)
class EngineAddress:
    """Where a running engine is found."""

    socket: str
    """zmq address of the control link"""
    block: str
    """name of the shared control block"""
    ring: str
    """name of the telemetry ring"""
    recorder: str
    """name of the recorder's status block"""


class _RingSink:
    """Telemetry into the ring, events to the recorder; asks the recorder now and then how it is."""

    def __init__(self, ring: TelemetryRing, recorder: Recorder) -> None:
        self._ring = ring
        self.recorder = recorder
        self.fault = ""
        self._pushed = 0

    def push(self, row: npt.NDArray[np.void]) -> None:
        self._ring.push(row)
        self._pushed += 1
        if self._pushed % _HEALTH_INTERVAL == 0:
            healthy = self.recorder.healthy  # again, once a disk that stalled goes on
            self.fault = "" if healthy else self.recorder.status().error or "the recorder shows no sign of life"

    def event(self, event: Event) -> None:
        self.recorder.event(event.t, EventLevel[event.level.upper()], event.code, event.text)


def run_engine(config: RigConfig, recording: Path, folder: Path, owner: Connection) -> None:
    """Main function of the engine's process; ends when a client shuts it down or nobody is left to command it.

    Args:
        config: the rig.
        recording: file to record to.
        folder: runtime folder (mode 0700) for the control socket.
        owner: pipe to the starting process: ("ready", EngineAddress) or ("failed", text) goes out.
            Its closing means that the owner is gone: see `Watch` for what follows then.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is the owner's to handle
    signal.signal(signal.SIGTERM, _leave)
    with contextlib.ExitStack() as last, contextlib.ExitStack() as resources:
        last.callback(_tidy_for_the_owner, owner, folder)
        try:
            resources.enter_context(claim_drives(config))
            bank = make_bank(config)
            checker = MotionChecker(config)
            resources.callback(checker.close)
            ring = resources.enter_context(TelemetryRing.create())
            block = ControlBlock()
            resources.callback(block.close)
            calibration = cell_calibration(config) if config.load_cells.calibration else None
            clock = ClockPair(time.monotonic_ns(), time.time_ns())
            recorder = Recorder(ring, recording, recording_header(config, calibration, clock))
            summary: dict[str, int] = {}
            resources.callback(recorder.close, summary)  # after the link, whose thread looks at it
            recorder.wait_ready()
            engine = Engine(config, bank, _RingSink(ring, recorder), MonotonicClock())
            resources.callback(bank.close)
            operator = Operator(engine, checker.refusal)
            warm_up(engine)
            checker.wait_ready()
            granted: list[str] = []

            def status(lease: str) -> Status:
                return engine_status(engine, operator, lease, tuple(granted), recorder, ring.name)

            link = LinkServer(socket_address(folder), operator.submit, status)
            resources.callback(link.close)
            link.start()
            granted += prepare_process(config.realtime)  # after the link's threads, which must not inherit priority
        except Exception as error:
            with contextlib.suppress(OSError):  # the owner has gone already
                owner.send(("failed", str(error)))
            return
        address = EngineAddress(socket_address(folder), block.name, ring.name, recorder.status_name)
        with contextlib.suppress(OSError):  # the owner has gone already
            owner.send(("ready", address))
        for line in granted:
            engine.record("info", line)
        if operator.loop.message:
            engine.record("warning", operator.loop.message)
        watch = Watch(engine, link, block, owner)
        run_cycles(engine, operator, watch)
        summary.update(cycles=engine.cycles, overruns=engine.tick.overruns)


def _tidy_for_the_owner(owner: Connection, folder: Path) -> None:
    """Remove the runtime folder where nobody is left to do it."""
    if owner_gone(owner):
        shutil.rmtree(folder, ignore_errors=True)


def _leave(_signal: int, _frame: FrameType | None) -> None:
    """Leave by an exception, so that drives are stopped and shared memory is removed."""
    raise SystemExit(1)


class EngineProcess:
    """Starts an engine and minds it until it has ended; a context manager.

    Args:
        config: the rig.
        recording: file to record to; must not exist.

    Raises:
        HardwareError: the engine could not start, with its reason.
    """

    def __init__(self, config: RigConfig, recording: Path) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="stewart-rig-")
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        arguments = (config, recording, Path(self._folder.name), theirs)
        self._process = context.Process(target=run_engine, args=arguments, name="engine")
        try:
            start_shielded(self._process)
        finally:
            theirs.close()
        self._address: EngineAddress | None = None
        try:
            self._address = self.address = self._wait_ready()
        except BaseException:
            self.kill()
            raise

    def _wait_ready(self) -> EngineAddress:
        if not self._pipe.poll(_START_TIMEOUT):
            raise HardwareError(f"the engine did not start within {_START_TIMEOUT:g} s")
        try:
            kind, content = self._pipe.recv()
        except EOFError:
            self._process.join(1.0)
            raise HardwareError(f"the engine ended while it started, exit code {self._process.exitcode}") from None
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
        return self._process.is_alive()

    def client(self, timeout: float = 10.0, beat: Callable[[], None] | None = None) -> LinkClient:
        """A new client of the engine's control link."""
        return LinkClient(self.address.socket, timeout, beat)

    def join(self, timeout: float) -> bool:
        """Wait at most `timeout` s for the process to end; whether it has."""
        self._process.join(timeout)
        return not self._process.is_alive()

    def kill(self) -> None:
        """End the process now, killing it if it does not listen, and clean up after it. May be called again.

        The drives of one that does not listen stop by their own watchdogs.
        """
        if self._process.is_alive():
            self._process.terminate()
            self._process.join(_TERMINATE_TIMEOUT)
        if self._process.is_alive():
            self._process.kill()
        self._process.join()
        self._pipe.close()
        self._folder.cleanup()
        if self._address is not None:
            _tidy_up_after(self._address)
            self._address = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.kill()


def _tidy_up_after(address: EngineAddress) -> None:
    """Remove the shared memory that an engine that was killed could not; its recorder may finish the file before."""
    with contextlib.suppress(FileNotFoundError):
        block = StatusBlock.attach(address.recorder)
        deadline = time.monotonic() + _CLOSING_TIMEOUT
        while block.read().phase in (RecorderPhase.STARTING, RecorderPhase.RECORDING) and time.monotonic() < deadline:
            time.sleep(0.01)
        block.close()
    for name in (address.recorder, address.ring, address.block):
        with contextlib.suppress(FileNotFoundError):
            memory = SharedMemory(name)
            memory.close()
            memory.unlink()
