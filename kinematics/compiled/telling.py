"""How many of the kernels that a process needs are there, told as they are compiled."""

import contextlib
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from types import CodeType
from typing import Any

from numba.core import event
from numba.core.dispatcher import Dispatcher


@contextlib.contextmanager
def compiling_told(roots: Iterable[str], tell: Callable[[int, int], None]) -> Iterator[None]:
    """Within a `with` block, tell whenever kernels were compiled, and at its end, how many of how many there are.

    Where all are loaded from the cache nothing is told. One that is loaded has in it all that it calls.

    Args:
        roots: what is called from Python, each as module and name with a dot between; what they call is found.
        tell: called by whichever thread compiles.

    Raises ModuleNotFoundError for a module that there is not, AttributeError for a name that is not in it.
    """
    needed = with_callees(_found(root) for root in roots)
    listener = _Listener(needed, tell)
    with event.install_listener("numba:compile", listener):
        yield
    listener.close()


def with_callees(kernels: Iterable[Any]) -> dict[Any, list[Any]]:
    """Kernels and all that they call, each with what it calls itself."""
    found: dict[Any, list[Any]] = {}
    left = list(kernels)
    while left:
        kernel = left.pop()
        if kernel not in found:
            found[kernel] = _callees(kernel)
            left += found[kernel]
    return found


class _Listener(event.Listener):  # type: ignore[misc]  # numba has no types
    """Counts at the end of each compilation.

    Args:
        needed: see `with_callees`.
        tell: see `compiling_told`.
    """

    def __init__(self, needed: dict[Any, list[Any]], tell: Callable[[int, int], None]) -> None:
        self._needed = needed
        self._tell = tell
        self._told = 0
        self._ended: set[Any] = set()
        """compiled, and about to be put among their kernels' overloads"""

    def on_start(self, _event: Any) -> None:
        """See numba's Listener."""

    def on_end(self, event: Any) -> None:
        """See numba's Listener."""
        self._ended.add(event.data["dispatcher"])
        there = [kernel for kernel in self._needed if kernel.overloads or kernel in self._ended]
        self._count(there)

    def close(self) -> None:
        """Tell of what was loaded after the last one that was compiled, where any was."""
        if self._told:
            self._count([kernel for kernel in self._needed if kernel.overloads])

    def _count(self, there: list[Any]) -> None:
        done = len(with_callees(there))
        if done != self._told:
            self._told = done
            self._tell(done, len(self._needed))


def _found(root: str) -> Any:
    module, _, name = root.rpartition(".")
    return getattr(import_module(module), name)


def _callees(kernel: Any) -> list[Any]:
    function = kernel.py_func
    known = dict(function.__globals__)
    known |= {
        name: cell.cell_contents
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    }
    named = (known.get(name) for name in _names(function.__code__))
    return [each for each in named if isinstance(each, Dispatcher)]


def _names(code: CodeType) -> set[str]:
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    return {*code.co_names, *code.co_freevars}.union(*map(_names, inner))
