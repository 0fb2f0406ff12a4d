"""Numba, set up for kernels: imported when the first of them is needed as compiled code."""

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
    """What compiles `function` for the types that it is called with."""
    _choose_folder()  # again: numba forgets it whenever a variable of its own changes in the environment
    return numba.njit(nogil=True, error_model="numpy", fastmath=False, **options)(function)


class Listener(event.Listener):  # type: ignore[misc]  # numba has no types
    """Hears of every compilation while it is listening, from whichever thread compiles."""

    def on_start(self, _event: Any) -> None:
        """See numba's Listener."""

    def on_end(self, _event: Any) -> None:
        """See numba's Listener."""

    def listening(self) -> AbstractContextManager[Any]:
        """Listen within a `with` block."""
        listener: AbstractContextManager[Any] = event.install_listener("numba:compile", self)
        return listener


class Refusal(Listener):
    """Hears that a kernel is going to be compiled, and does not let it: raises NotCompiledError."""

    def on_start(self, event: event.Event) -> None:
        """See numba's Listener."""
        raise NotCompiledError(event.data["dispatcher"].__name__)


class Counting(Listener):
    """Counts at the beginning and the end of each compilation how many kernels are there.

    Args:
        needed: kernels, each with what it calls itself, see `with_callees`.
        report: called with how many of them are there, and with how many there are, whenever it is another number.
    """

    def __init__(self, needed: Mapping[Kernel, Iterable[Kernel]], report: Callable[[int, int], None]) -> None:
        self._needed = needed
        self._report = report
        self._reported: int | None = None
        self._ended: set[Any] = set()
        """dispatchers that have compiled, and are about to put it among their overloads"""

    def on_start(self, _event: event.Event) -> None:
        """See numba's Listener."""
        self._count()

    def on_end(self, event: event.Event) -> None:
        """See numba's Listener."""
        self._ended.add(event.data["dispatcher"])
        self._count()

    def close(self) -> None:
        """Tell of what was loaded after the last one that was compiled, where any was."""
        if self._reported is not None:
            self._count()

    def _count(self) -> None:
        left = [one for one in self._needed if one.compiled.overloads or one.compiled in self._ended]
        there: set[Kernel] = set()
        while left:  # one that is there has in it all that it calls
            one = left.pop()
            if one not in there:
                there.add(one)
                left += self._needed[one]
        done = len(there)
        if done != self._reported:
            self._reported = done
            self._report(done, len(self._needed))
