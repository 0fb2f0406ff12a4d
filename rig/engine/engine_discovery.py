"""Discovery of running engines by their record in the runtime folder and their drives.

An app that dies leaves its engine behind, which holds the platform for `safety.unattended_hold`. The next client
finds it here by its drives, may read its status and stop it, and may take the command lease, or end the engine, if no
other client holds the lease.
"""

import contextlib
import multiprocessing
import os
import time
from collections.abc import Callable
from pathlib import Path

from pydantic import TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as validated

from rig.config import RigConfig
from rig.engine.drive_names import drive_names
from rig.engine.link import LinkClient
from rig.engine.snapshot import Snapshot
from rig.errors import HardwareError
from rig.findings import Code, Finding
from rig.recording import room_text
from rig.runtime import ControlBlock, RuntimeFolder, SharedMemoryError, StopRequest, folders, wait_until

_RECORD = "engine.json"
_STATUS_TIMEOUT = 1.0  # s
_POLL = 0.02  # s


@validated(frozen=True, slots=True)
class EngineAddress:
    """Addresses of a running engine."""

    socket: str
    """zmq address of the control link"""
    block: str
    """name of the shared control block"""
    ring: str
    """name of the telemetry ring"""
    recorder: str
    """name of the recorder's status block"""
    readings: str = ""
    """name of the ring of sensors' readings; empty where there are no sensors"""


@validated(frozen=True, slots=True)
class EngineRecord:
    """Record of an engine in its runtime folder, written once it accepts requests."""

    pid: int
    owner: int
    """process that started it"""
    began: float
    """s, the machine's monotonic clock"""
    config: str
    """name of the configuration"""
    recording: str
    """path"""
    address: EngineAddress
    claims: tuple[str, ...]
    """names of its drives, see `drive_names`"""


_JSON: TypeAdapter[EngineRecord] = TypeAdapter(EngineRecord)


def leave_record(folder: RuntimeFolder, record: EngineRecord) -> None:
    """Put an engine's record into its folder, whole or not at all."""
    part = folder.path / f"{_RECORD}.part"
    part.write_bytes(_JSON.dump_json(record))
    part.replace(folder.path / _RECORD)


class RunningEngine:
    """An engine of this user's that some process started, with as much of `EngineProcess` as a client needs.

    Args:
        folder: its runtime folder.
        record: what it says of itself.
    """

    def __init__(self, folder: RuntimeFolder, record: EngineRecord) -> None:
        self._folder = folder
        self.pid = record.pid
        self.owner = record.owner
        """process that started it"""
        self.config = record.config
        """name of its configuration"""
        self.recording = Path(record.recording)
        self.address = record.address
        self.claims = record.claims
        """names of its drives, see `drive_names`"""
        self._began = record.began

    @property
    def alive(self) -> bool:
        """Whether the engine's process lives; it may be stopped or hang."""
        return self._folder.held("engine")

    @property
    def owner_alive(self) -> bool:
        """Whether the process that started the engine lives; it may be stopped or hang."""
        return self._folder.held("owner")

    @property
    def age(self) -> float:
        """How long it has been running, s."""
        return time.monotonic() - self._began

    def client(self, timeout: float = 10.0, beat: Callable[[], None] | None = None) -> LinkClient:
        """A new client of the engine's control link."""
        return LinkClient(self.address.socket, timeout, beat)

    def status(self, timeout: float = _STATUS_TIMEOUT) -> Snapshot:
        """The engine's present status, with the lease's holder and the seconds left. Looking does not lengthen them.

        Raises:
            HardwareError: it does not answer within `timeout` s.
        """
        with contextlib.closing(self.client(timeout)) as client:
            return client.status()

    def request_stop(self, category: StopRequest = 1) -> None:
        """Raise its stop flag in shared memory, which needs no lease and does not wait.

        Raises:
            HardwareError: the engine has gone.
        """
        try:
            block = ControlBlock.attach(self.address.block)
        except SharedMemoryError:
            raise HardwareError(Finding(Code.ENGINE_GONE, details={"pid": self.pid})) from None
        block.request_stop(category)
        block.close()

    def join(self, timeout: float) -> bool:
        """Wait at most `timeout` s for the process to end; whether it has."""
        return wait_until(lambda: not self.alive, timeout, _POLL)

    def describe(self) -> str:
        """State, owner, lease, remaining time, trouble of or room for the recording, and the sensors, in words."""
        owner = f"by process {self.owner}, which {'lives' if self.owner_alive else 'is gone'}"
        begun = f"started {self.age:.0f} s ago {owner}"
        try:
            status = self.status(_STATUS_TIMEOUT)
        except HardwareError:
            return f"{begun}; it does not answer"
        holder = f"{status.lease!r} holds the command lease" if status.lease else "nobody holds the command lease"
        then = "" if status.hold_left is None else f" and it stops the platform in {status.hold_left:.0f} s"
        left = room_text(status.recording_room)
        recorded = status.recording_fault or (left and f"the disk has room for {left} of recording")
        sensors = ", ".join(f"{report.name} {report.state}" for report in status.sensors)
        also = f"{recorded and f'; {recorded}'}{sensors and f'; sensors: {sensors}'}"
        return f"state {status.state.name}, {begun}; {holder}{then}{also}"


def running_engines() -> list[RunningEngine]:
    """This user's engines that live and can be talked to. Raises HardwareError as `rig.runtime.runtime_root`."""
    found = []
    for folder in folders():
        with contextlib.suppress(OSError, ValidationError):  # it is starting or ending, or of another version
            record = _JSON.validate_json((folder.path / _RECORD).read_bytes())
            if folder.held("engine"):
                found.append(RunningEngine(folder, record))
    return found


def find_engine(config: RigConfig) -> RunningEngine | None:
    """The engine of this user's that commands some drive of the configuration, or None.

    Takes a millisecond, and up to a second where a drive's host is a name that does not resolve.

    Raises:
        HardwareError: the user's runtime folder cannot be used.
    """
    engines = running_engines()
    if not engines:
        return None
    names = {name for names in drive_names(dict(enumerate(config.drives.legs, start=1))).values() for name in names}
    return next((engine for engine in engines if not names.isdisjoint(engine.claims)), None)


def own_record(config: RigConfig, recording: Path, address: EngineAddress) -> EngineRecord:
    """The record of the engine that this process is."""
    parent = multiprocessing.parent_process()
    owner = 0 if parent is None or parent.pid is None else parent.pid
    names = drive_names(dict(enumerate(config.drives.legs, start=1))).values()
    claims = tuple(name for names_of_leg in names for name in names_of_leg)
    return EngineRecord(os.getpid(), owner, time.monotonic(), config.name, str(recording.resolve()), address, claims)
