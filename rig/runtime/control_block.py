"""A small block of shared memory for what must not wait for a queue: the stop flag, the heartbeat, and the hold."""

import os
import struct
from typing import Literal, Self

from rig.runtime.shared_memory import SharedBlock

StopRequest = Literal[0, 1, 2]

_SIZE = 64
_CATEGORIES: tuple[StopRequest, ...] = (0, 1, 2)  # a byte each, the most severe first
_BEAT = struct.Struct("<QQ")  # counter, process
_BEAT_AT = 8
_HOLD = struct.Struct("<Q")  # counter, 0 while nothing is held
_HOLD_AT = 24
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

    def beat(self) -> None:
        """Show that the client that holds the lease is alive."""
        _BEAT.pack_into(self._bytes, _BEAT_AT, (self.heartbeat() + 1) % _COUNTS, os.getpid())

    def heartbeat(self) -> int:
        """The heartbeat counter."""
        return int(_BEAT.unpack_from(self._bytes, _BEAT_AT)[0])

    @property
    def beating(self) -> int:
        """Number of the process that beat last, 0 where none has."""
        return int(_BEAT.unpack_from(self._bytes, _BEAT_AT)[1])

    def hold(self) -> None:
        """Show, again and again, that the operator holds what makes the platform move."""
        _HOLD.pack_into(self._bytes, _HOLD_AT, (self.held() + 1) % _COUNTS or 1)

    def let_go(self) -> None:
        """Show that the operator does so no longer."""
        _HOLD.pack_into(self._bytes, _HOLD_AT, 0)

    def held(self) -> int:
        """A count that goes on with each `hold`, 0 once it was let go."""
        return int(_HOLD.unpack_from(self._bytes, _HOLD_AT)[0])

    def close(self) -> None:
        """Let go of the block, which its owner removes. May be called again."""
        self._block.close()
