"""How many of the kernels that a process needs are there, told as they are compiled."""

import contextlib
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from types import CodeType

from kinematics.compiled.compiling import Kernel


@contextlib.contextmanager
def report_compilation(roots: Iterable[str], tell: Callable[[int, int], None]) -> Iterator[None]:
    """Within a `with` block, tell how many kernels of how many are there.

    At the beginning of the first compilation, after each, and at the end of the block. Where all are loaded from the
    cache nothing is told. One that is loaded has in it all that it calls.

    Args:
        roots: what is called from Python, each as module and name with a dot between; what they call is found.
        tell: called by whichever thread compiles.

    Raises ModuleNotFoundError for a module that there is not, AttributeError for a name that is not in it.
    """
    from kinematics.compiled.compiler import Counting  # takes long

    counting = Counting(with_callees(_found(root) for root in roots), tell)
    with counting.listening():
        yield
    counting.close()


def with_callees(kernels: Iterable[Kernel]) -> dict[Kernel, list[Kernel]]:
    """Kernels and all that they call, each with what it calls itself."""
    found: dict[Kernel, list[Kernel]] = {}
    left = list(kernels)
    while left:
        kernel = left.pop()
        if kernel not in found:
            found[kernel] = _callees(kernel)
            left += found[kernel]
    return found


def _found(root: str) -> Kernel:
    module, _, name = root.rpartition(".")
    found: Kernel = getattr(import_module(module), name)
    return found


def _callees(kernel: Kernel) -> list[Kernel]:
    function = kernel.py_func
    known = dict(function.__globals__)
    known |= {
        name: cell.cell_contents
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    }
    named = (known.get(name) for name in _names(function.__code__))
    return [each for each in named if isinstance(each, Kernel)]


def _names(code: CodeType) -> set[str]:
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    return {*code.co_names, *code.co_freevars}.union(*map(_names, inner))
