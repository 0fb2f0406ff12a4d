"""Numba set up for kernels: imported when the first compiled kernel is needed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numba
from numba.core import event

from kinematics.compiled.cache import SOURCES, NotCompiledError, kernel_cache_folder

if TYPE_CHECKING:
    from kinematics.compiled.compiling import Kernel

_FOLDER = str(kernel_cache_folder() / f"{SOURCES}-{numba.__version__}")


def _choose_folder() -> None:
    if "NUMBA_CACHE_DIR" not in os.environ:
        numba.config.CACHE_DIR = _FOLDER


_choose_folder()


def dispatcher(function: Callable[..., object], **options: Any) -> Any:
    """Return numba's dispatcher, which compiles `function` for its argument types."""
    _choose_folder()  # again: numba resets it whenever one of its environment variables changes
    return numba.njit(nogil=True, error_model="numpy", fastmath=False, **options)(function)


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
