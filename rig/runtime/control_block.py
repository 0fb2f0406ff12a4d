"""A small block of shared memory for what must not wait for a queue: the stop flag, the heartbeat, and the hold.

The stop flag is anybody's. Heartbeat and hold belong to the command lease: the engine writes the number of the lease
that is held, its holder writes that number with each count. What another client writes, late or never having held the
lease, carries another number and counts for nothing.
"""

import struct
from typing import Literal, Self

from rig.runtime.shared_memory import SharedBlock

StopRequest = Literal[0, 1, 2]

_SIZE = 64
_CATEGORIES: tuple[StopRequest, ...] = (0, 1, 2)  # a byte each, the most severe first
_LEASE = struct.Struct("<Q")  # number of the lease that is held, 0 for none
_LEASE_AT = 8
_COUNT = struct.Struct("<QQ")  # number of the lease, counter
_BEAT_AT = 16
_HOLD_AT = 32
_COUNTS = 1 << 64


class ControlBlock:
    """Stop flag, heartbeat and hold: the engine creates the block and owns it, clients attach to it by name."""

    def __init__(self, block: SharedBlock) -> None:
        self._block = block
        self.name = block.name
        """name to attach by"""
        self._bytes = block.view(0, _SIZE)

    @classmethod
    def create(cls, name: str | None = None) -> Self:
        """Make the block and own it. Raises SharedMemoryError as `SharedBlock.create`."""
        return cls(SharedBlock.create(_SIZE, name))

    @classmethod
    def attach(cls, name: str) -> Self:
        """Attach to the block of that name. Raises SharedMemoryError as `SharedBlock.attach`."""
        return cls(SharedBlock.attach(name, _SIZE))

    def request_stop(self, category: StopRequest) -> None:
        """Raise the stop flag: the engine takes it in its next cycle. The more severe of two requests counts."""
        self._bytes[category] = 1  # a flag of its own: two processes at once lose nothing

    def stop_requested(self) -> StopRequest | None:
        """The stop category asked for that was not taken yet, or None; the flag stays."""
        return next((category for category in _CATEGORIES if self._bytes[category]), None)

    def take_stop(self) -> StopRequest | None:
        """Read and lower the stop flag: the stop category asked for, or None."""
        raised = [category for category in _CATEGORIES if self._bytes[category]]
        for category in raised:
            self._bytes[category] = 0
        return raised[0] if raised else None

    @property
    def lease(self) -> int:
        """Number of the command lease that is held, 0 while nobody holds it; only the engine sets it."""
        return int(_LEASE.unpack_from(self._bytes, _LEASE_AT)[0])

    @lease.setter
    def lease(self, number: int) -> None:
        _LEASE.pack_into(self._bytes, _LEASE_AT, number)

    def heartbeat(self, lease: int) -> int:
        """The heartbeat of a lease: a count that goes on while its holder lives, 0 where it has not beaten."""
        return self._count(_BEAT_AT, lease)

    def held(self, lease: int) -> int:
        """The hold of a lease: a count that goes on with each `hold`, 0 once it was let go."""
        return self._count(_HOLD_AT, lease)

    def sign(self, lease: int) -> "LeaseSign":
        """What a client shows under the lease that it was given. Raises SharedMemoryError once this is closed."""
        return LeaseSign(self._block.view(0, _SIZE), lease)

    def _count(self, place: int, lease: int) -> int:
        whose, count = _COUNT.unpack_from(self._bytes, place)
        return int(count) if whose == lease else 0

    def close(self) -> None:
        """Let go of the block, which its owner removes. May be called again."""
        self._block.close()


class LeaseSign:
    """The sign of life of a lease's holder, and its hold: both end with the lease, whatever the client goes on to do.

    Any thread may call anything; nothing waits.

    Args:
        bytes: of the control block.
        lease: number of the lease.
    """

    def __init__(self, bytes: memoryview, lease: int) -> None:
        self._bytes = bytes
        self.number = lease
        """of the lease"""
        self._beats = self._holds = 0

    @property
    def held(self) -> bool:
        """Whether the lease is still held; once it is not, it never is again."""
        return bool(_LEASE.unpack_from(self._bytes, _LEASE_AT)[0] == self.number)

    def beat(self) -> None:
        """Show that the holder lives."""
        self._beats = (self._beats + 1) % _COUNTS or 1
        self._write(_BEAT_AT, self._beats)

    def hold(self) -> None:
        """Show, again and again, that the operator holds what makes the platform move."""
        self._holds = (self._holds + 1) % _COUNTS or 1
        self._write(_HOLD_AT, self._holds)

    def let_go(self) -> None:
        """Show that the operator does so no longer."""
        self._write(_HOLD_AT, 0)

    def _write(self, place: int, count: int) -> None:
        if self.held:  # a client that is stopped right here writes its own number later, which counts for nothing
            _COUNT.pack_into(self._bytes, place, self.number, count)
