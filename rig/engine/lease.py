"""The command lease: who may command the engine, and how long its silence is borne."""

import secrets
import threading
from dataclasses import dataclass, field

from rig.errors import RefusedError
from rig.findings import Code, Finding
from rig.runtime import ControlBlock, ProcessWatch

_SUSPECT = 0.5  # of the bound, after which the process is looked at: it is excused from no more than the rest
_LOOK = 0.01  # s of rig time between two looks


@dataclass(slots=True, eq=False)
class Lease:
    """A client's right to command, from its `Acquire` until it is given up or taken back; never held again then."""

    client: str
    process: int = 0
    """whose sign of life it is"""
    token: str = field(default_factory=lambda: secrets.token_hex(16))
    """comes with each of its commands"""
    number: int = field(default_factory=lambda: 1 + secrets.randbelow((1 << 64) - 1))
    """comes with each sign of life in the control block"""
    held: bool = True


class Leases:
    """Grants the command lease to one client at a time, and says in the control block whose it is.

    Any thread may call anything.

    Args:
        block: the control block.
    """

    def __init__(self, block: ControlBlock) -> None:
        self.block = block
        self._lock = threading.Lock()
        self._holder: Lease | None = None

    @property
    def holder(self) -> Lease | None:
        """The lease that is held."""
        return self._holder

    @property
    def client(self) -> str:
        """Name of the client that holds the lease, empty when nobody does."""
        holder = self._holder
        return "" if holder is None else holder.client

    def held(self) -> int:
        """The count of the holder's hold of a motion, see `ControlBlock.held`; 0 while nobody holds the lease."""
        holder = self._holder
        return 0 if holder is None else self.block.held(holder.number)

    def grant(self, client: str, process: int = 0) -> Lease:
        """Give the lease to a client.

        Args:
            client: its name.
            process: the one that gives its sign of life.

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
        """End a lease, and with it every job that came with it; one that is held no more is left alone."""
        with self._lock:
            if lease is not None and lease is self._holder:
                self._holder = None
                lease.held = False
                self.block.lease = 0


class ClientWatchdog:
    """Judges the silence of a lease's holder: whether it is lost, or waits for a processor.

    Args:
        speed: times as fast as the wall clock that rig time goes at most; None: rig time is wall time, as on a machine
            whose platform moves on whatever the reason is, and a client is lost by its silence alone. In paced time the
            machine's load loses nobody.
    """

    def __init__(self, speed: float | None) -> None:
        self._speed = speed
        self._process: ProcessWatch | None = None
        self._looked_at = self._idle = 0.0

    def lost(self, lease: Lease, t: float, silent: float, bound: float) -> bool:
        """Whether the holder of a lease is lost that at rig time `t` (s) has been silent for `silent` s of it.

        `bound`: s that are borne.
        """
        if self._speed is None or silent <= _SUSPECT * bound:
            self._process = None
        elif self._process is None:
            self._process, self._looked_at, self._idle = ProcessWatch(lease.process), t, 0.0
        elif t - self._looked_at >= _LOOK:
            self._looked_at, self._idle = t, self._speed * self._process.silence()
        return silent > bound and (self._process is None or self._idle > (1.0 - _SUSPECT) * bound)
