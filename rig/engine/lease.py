"""The command lease: the right to command the engine, and its time-out."""

import secrets
import threading
from dataclasses import dataclass, field

from rig.errors import RefusedError
from rig.findings import Code, Finding
from rig.runtime import ControlBlock, ProcessWatch

_SUSPECT = 0.5  # of the bound, after which the process is looked at: it is excused from no more than the rest
_CHECK_PERIOD = 0.01  # s of rig time between two looks


@dataclass(slots=True, eq=False)
class Lease:
    """A client's right to command, from its `Acquire` until it is released or withdrawn, which is final."""

    client: str
    process: int = 0
    """process whose sign of life counts"""
    token: str = field(default_factory=lambda: secrets.token_hex(16))
    """sent with each of its commands"""
    number: int = field(default_factory=lambda: 1 + secrets.randbelow((1 << 64) - 1))
    """written with each sign of life in the control block"""
    active: bool = True


class Leases:
    """Grants the command lease to one client at a time, and shows its holder in the control block.

    Thread-safe.

    Args:
        block: the control block.
    """

    def __init__(self, block: ControlBlock) -> None:
        self.block = block
        self._lock = threading.Lock()
        self._holder: Lease | None = None

    @property
    def holder(self) -> Lease | None:
        """The active lease, or None."""
        return self._holder

    @property
    def client(self) -> str:
        """Name of the client that holds the lease, or empty."""
        holder = self._holder
        return "" if holder is None else holder.client

    def hold_count(self) -> int:
        """The holder's count for hold-to-run, see `ControlBlock.hold_count`; 0 without a holder."""
        holder = self._holder
        return 0 if holder is None else self.block.hold_count(holder.number)

    def grant(self, client: str, process: int = 0) -> Lease:
        """Give the lease to a client.

        Args:
            client: its name.
            process: the one that gives the sign of life.

        Raises:
            RefusedError: another client holds it.
        """
        with self._lock:
            if self._holder is not None:
                raise RefusedError(Finding(Code.LEASE_HELD, details={"client": self._holder.client}))
            made = Lease(client, process)
            self.block.lease = made.number
            self._holder = made
            return made

    def end(self, lease: Lease | None) -> None:
        """End a lease with all its jobs; nothing happens if it has ended."""
        with self._lock:
            if lease is not None and lease is self._holder:
                self._holder = None
                lease.active = False
                self.block.lease = 0


class ClientWatchdog:
    """Judges whether a silent lease holder is lost, or only waits for a processor.

    Args:
        speed: largest ratio of rig time to wall time; None: rig time is wall time, as with real hardware, and silence
            alone counts. In paced time, delays by the machine's load do not count.
    """

    def __init__(self, speed: float | None) -> None:
        self._speed = speed
        self._process: ProcessWatch | None = None
        self._checked_at = self._idle = 0.0

    def lost(self, lease: Lease, t: float, silent: float, bound: float) -> bool:
        """Whether a lease's holder is lost that at rig time `t` (s) has been silent for `silent` s of rig time.

        `bound`: s of silence that are tolerated.
        """
        if self._speed is None or silent <= _SUSPECT * bound:
            self._process = None
        elif self._process is None:
            self._process, self._checked_at, self._idle = ProcessWatch(lease.process), t, 0.0
        elif t - self._checked_at >= _CHECK_PERIOD:
            self._checked_at, self._idle = t, self._speed * self._process.silence()
        return silent > bound and (self._process is None or self._idle > (1.0 - _SUSPECT) * bound)
