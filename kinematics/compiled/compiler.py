"""Numba set up for kernels: imported when the first compiled kernel is needed."""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numba
from numba import types
from numba.core import event
from numba.core.compiler_lock import global_compiler_lock
from numba.extending import lower_builtin, type_callable

from kinematics.compiled.cache import SOURCES, NotCompiledError, kernel_cache_folder
from kinematics.compiled.fence import acquire_fence

if TYPE_CHECKING:
    from kinematics.compiled.compiling import Kernel

_FOLDER = str(kernel_cache_folder() / f"{SOURCES}-{numba.__version__}")


def _choose_folder() -> None:
    numba.config.CACHE_DIR = _FOLDER


_choose_folder()


_PATIENCE = 60.0  # s, after which a kernel is compiled although another process has not ended compiling it
_POLL = 5e-3  # s


@contextmanager
def _compile_lock(kernel: str) -> Iterator[None]:
    """Lock a kernel against compilation by other processes within a `with` block; waits at most `_PATIENCE` for it."""
    _choose_folder()
    folder = Path(numba.config.CACHE_DIR)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / f"{kernel}-{SOURCES}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:  # a folder that cannot be written, into which nothing is cached either
        yield
        return
    try:
        deadline = time.monotonic() + _PATIENCE
        while not _locked(lock) and time.monotonic() < deadline:
            time.sleep(_POLL)
        yield
    finally:
        os.close(lock)


def _locked(lock: int) -> bool:
    """Whether an open file could be locked for this process, until it is closed; a forked process has no part in it."""
    try:
        fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.EACCES, errno.EAGAIN)  # a file system without locks is not waited for
    return True


def dispatcher(function: Callable[..., object], **options: Any) -> Any:
    """Return numba's dispatcher, which compiles `function` for its argument types.

    A cached one is compiled by one process at a time, so that whoever waits finds it in the cache.
    """
    _choose_folder()  # again: numba resets it whenever one of its environment variables changes
    # Without numba's runtime: it would count references to each array that is passed from kernel to kernel, atomically
    made = numba.njit(nogil=True, error_model="numpy", fastmath=False, _nrt=False, **options)(function)
    if options.get("cache"):
        compile_or_load = made.compile

        def compile_locked(signature: Any) -> Any:
            # one thread at a time, which locks callers before callees as all processes do: none waits for itself
            with global_compiler_lock, _compile_lock(f"{function.__module__}.{function.__qualname__}"):
                return compile_or_load(signature)

        made.compile = compile_locked
    return made


@type_callable(acquire_fence)  # type: ignore[untyped-decorator]  # numba has no types
def _type_of_fence(_context: Any) -> Any:
    return lambda: types.void


@lower_builtin(acquire_fence)  # type: ignore[untyped-decorator]
def _emit_fence(context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
    builder.fence("acquire")
    return context.get_dummy_value()


class Listener(event.Listener):  # type: ignore[misc]  # numba has no types
    """Receives the events of all compilations while registered, from every compiling thread."""

    def on_start(self, _event: Any) -> None:
        """See numba's Listener."""

    def on_end(self, _event: Any) -> None:
        """See numba's Listener."""

    def listening(self) -> AbstractContextManager[Any]:
        """Return a context manager that registers the listener."""
        listener: AbstractContextManager[Any] = event.install_listener("numba:compile", self)
        return listener


class Refusal(Listener):
    """Prevents compilation: raises NotCompiledError when one starts."""

    def on_start(self, event: event.Event) -> None:
        """See numba's Listener."""
        raise NotCompiledError(event.data["dispatcher"].__name__)


class Counting(Listener):
    """Counts the available kernels at the beginning and end of each compilation.

    Args:
        needed: kernels, each with the kernels it calls, see `with_callees`.
        report: called with the number of available kernels and the total whenever the number changes.
    """

    def __init__(self, needed: Mapping[Kernel, Iterable[Kernel]], report: Callable[[int, int], None]) -> None:
        self._needed = needed
        self._report = report
        self._reported: int | None = None
        self._ended: set[Any] = set()
        """dispatchers that have compiled, but not yet stored the overload"""

    def on_start(self, _event: event.Event) -> None:
        """See numba's Listener."""
        self._count()

    def on_end(self, event: event.Event) -> None:
        """See numba's Listener."""
        self._ended.add(event.data["dispatcher"])
        self._count()

    def close(self) -> None:
        """Report kernels loaded after the last compilation, if anything was compiled."""
        if self._reported is not None:
            self._count()

    def _count(self) -> None:
        left = [one for one in self._needed if one.compiled.overloads or one.compiled in self._ended]
        there: set[Kernel] = set()
        while left:  # an available kernel includes all kernels it calls
            one = left.pop()
            if one not in there:
                there.add(one)
                left += self._needed[one]
        done = len(there)
        if done != self._reported:
            self._reported = done
            self._report(done, len(self._needed))
