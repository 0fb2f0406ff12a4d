"""Blocks of shared memory with their owners, and the control block for stop, heartbeat and hold, which never wait."""

import contextlib
import struct
import sys
from multiprocessing import resource_tracker
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from threading import Lock
from typing import Literal, Self

from rig.errors import HardwareError

_FOLDER = Path("/dev/shm")
_attach_lock = Lock()


class SharedMemoryError(HardwareError):
    """A block of shared memory cannot be made, found or used."""


class SharedBlock:
    """One block, and the views on it, which end with `close`; the owner's `close` removes the block as well.

    Attached processes keep their views when it is removed.
    """

    _memory: SharedMemory | None = None

    def __init__(self, memory: SharedMemory, *, owner: bool) -> None:
        self._owner = owner
        self._views: list[memoryview] = []
        self._memory = memory
        self.name = memory.name
        """name to attach by"""
        self.size = memory.size
        """bytes, at least those requested"""

    @classmethod
    def create(cls, size: int, name: str | None = None) -> Self:
        """Make a block of `size` bytes, all zero, and own it; None gives it a name of its own.

        Raises:
            SharedMemoryError: the name is taken, or the system has no room.
        """
        try:
            return cls(SharedMemory(name, create=True, size=size), owner=True)
        except FileExistsError:
            raise SharedMemoryError(f"shared memory {name!r} exists already") from None
        except OSError as error:
            raise SharedMemoryError(f"shared memory of {size} bytes: {error.strerror or error}") from error

    @classmethod
    def attach(cls, name: str, size: int = 0) -> Self:
        """Attach to the block of that name, of at least `size` bytes.

        Raises:
            SharedMemoryError: there is none, or a smaller one.
        """
        try:
            block = cls(_attached(name), owner=False)
        except FileNotFoundError:
            raise SharedMemoryError(f"no such shared memory: {name!r}") from None
        except OSError as error:  # no name of shared memory, or another user's
            raise SharedMemoryError(f"shared memory {name!r}: {error.strerror or error}") from error
        except ValueError:  # whoever makes it has not given it a size, or died before
            raise SharedMemoryError(f"shared memory {name!r}: 0 bytes, must be at least {size}") from None
        if block.size < size:
            block.close()
            raise SharedMemoryError(f"shared memory {name!r}: {block.size} bytes, must be at least {size}")
        return block

    def view(self, start: int, stop: int, format: str = "B") -> memoryview:
        """The bytes start ≤ i < stop, as elements of a `struct` format. It is released by `close`.

        Raises:
            SharedMemoryError: the block has been closed.
        """
        if self._memory is None or self._memory.buf is None:
            raise SharedMemoryError(f"shared memory {self.name!r} is closed")
        view: memoryview = self._memory.buf[start:stop].cast(format)  # type: ignore[call-overload]
        self._views.append(view)
        return view

    def close(self) -> None:
        """Close the memory; its owner removes it. May be called again."""
        memory, self._memory = self._memory, None
        if memory is None:
            return
        for view in self._views:
            view.release()
        memory.close()
        if self._owner:
            with contextlib.suppress(FileNotFoundError):  # removed with its runtime folder
                memory.unlink()

    def __del__(self) -> None:
        self.close()


def unlink_shared_memory(name: str) -> None:
    """Remove a block whose owner has died, if it exists; attached processes keep their views."""
    try:
        memory = SharedMemory(name)
    except FileNotFoundError:
        return
    except ValueError:  # whoever made it died before it had a size
        (_FOLDER / name).unlink(missing_ok=True)
        return
    memory.close()
    with contextlib.suppress(FileNotFoundError):
        memory.unlink()


def _attached(name: str) -> SharedMemory:
    """The block of that name, not to be unlinked by this process.

    Before Python 3.13 attaching also registers the block with the resource tracker, which would unlink it when the
    attaching program ends; the block belongs to its maker, so that registration is left out.
    """
    if sys.version_info >= (3, 13):
        return SharedMemory(name, track=False)
    with _attach_lock:
        register = resource_tracker.register
        resource_tracker.register = lambda name, rtype: None
        try:
            return SharedMemory(name)
        finally:
            resource_tracker.register = register


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
        """Raise the stop flag, which the engine takes in its next cycle. The more severe of two requests counts."""
        self._bytes[category] = 1  # a flag of its own: two processes at once lose nothing

    def stop_requested(self) -> StopRequest | None:
        """The requested stop category that was not taken yet, or None; the flag stays."""
        return next((category for category in _CATEGORIES if self._bytes[category]), None)

    def take_stop(self) -> StopRequest | None:
        """Read and clear the stop flag: the requested stop category, or None."""
        raised = [category for category in _CATEGORIES if self._bytes[category]]
        for category in raised:
            self._bytes[category] = 0
        return raised[0] if raised else None

    @property
    def lease(self) -> int:
        """Number of the active command lease, 0 without one; only the engine sets it."""
        return int(_LEASE.unpack_from(self._bytes, _LEASE_AT)[0])

    @lease.setter
    def lease(self, number: int) -> None:
        _LEASE.pack_into(self._bytes, _LEASE_AT, number)

    def heartbeat(self, lease: int) -> int:
        """The heartbeat of a lease: a count that increases while its holder lives, 0 before its first beat."""
        return self._count(_BEAT_AT, lease)

    def hold_count(self, lease: int) -> int:
        """The hold of a lease: a count that increases with each `hold`, 0 after `let_go`."""
        return self._count(_HOLD_AT, lease)

    def sign(self, lease: int) -> "LeaseSign":
        """The sign of life of a client under its lease. Raises SharedMemoryError once this is closed."""
        return LeaseSign(self._block.view(0, _SIZE), lease)

    def _count(self, place: int, lease: int) -> int:
        whose, count = _COUNT.unpack_from(self._bytes, place)
        return int(count) if whose == lease else 0

    def close(self) -> None:
        """Close the block, which its owner removes. May be called again."""
        self._block.close()


class LeaseSign:
    """The sign of life of a lease's holder, and its hold: both end with the lease.

    Thread-safe; nothing waits.

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
    def active(self) -> bool:
        """Whether the lease is active; its end is final."""
        return bool(_LEASE.unpack_from(self._bytes, _LEASE_AT)[0] == self.number)

    def beat(self) -> None:
        """Give the sign of life."""
        self._beats = (self._beats + 1) % _COUNTS or 1
        self._write(_BEAT_AT, self._beats)

    def hold(self) -> None:
        """Renew the operator's hold of the motion; to be called repeatedly."""
        self._holds = (self._holds + 1) % _COUNTS or 1
        self._write(_HOLD_AT, self._holds)

    def let_go(self) -> None:
        """Release the hold."""
        self._write(_HOLD_AT, 0)

    def _write(self, place: int, count: int) -> None:
        if self.active:  # a client that is stopped right here writes its own number later, which counts for nothing
            _COUNT.pack_into(self._bytes, place, self.number, count)
