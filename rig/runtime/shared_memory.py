"""Blocks of shared memory: whoever creates one owns it and removes it, anybody else attaches to it by name."""

import contextlib
import sys
from multiprocessing import resource_tracker
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from threading import Lock
from typing import Self

from rig.errors import HardwareError

_FOLDER = Path("/dev/shm")
_attach_lock = Lock()


class SharedMemoryError(HardwareError):
    """A block of shared memory cannot be made, found or used."""


class SharedBlock:
    """One block, and the views on it, which end with `close`; the owner's `close` removes the block as well.

    Processes attached keep what they have when it is removed.
    """

    _memory: SharedMemory | None = None

    def __init__(self, memory: SharedMemory, *, owner: bool) -> None:
        self._owner = owner
        self._views: list[memoryview] = []
        self._memory = memory
        self.name = memory.name
        """name to attach by"""
        self.size = memory.size
        """bytes, at least those that were asked for"""

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
        """Let go of the memory, and remove it where it was made. May be called again."""
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
    """Remove a block whose owner has died, if it is there; processes attached keep what they have."""
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
    """The block of that name, which this process will not unlink.

    Before Python 3.13 attaching also registers the block with the resource tracker, which would unlink it when the
    attaching program ends; the block belongs to whoever made it, so that registration is left out.
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
