"""The one place that decides how numerical kernels are compiled, and tells how many of them are."""

import functools
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from types import CodeType, FunctionType
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., object])


def _stamp(file: str) -> tuple[int, int] | None:
    """What changes when a file is written anew; None where there is no such file."""
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


_first_stamp = functools.cache(_stamp)
"""that of a file when its first kernel was defined"""


class Kernel:
    """A function that is handed to the compiler when it is first called, with positional arguments.

    To import the compiler takes longer than all of the model: the app's window, and whoever computes nothing, need
    not wait for it. Inside another kernel it is the compiled function itself.
    """

    __name__: str
    __qualname__: str

    def __init__(self, function: Callable[..., object], **options: Any) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        """as it is written"""
        self.call: Callable[..., Any] = self._compile_and_call
        """The same as to call it, 0.1 µs faster: from the first call on the compiled function."""
        self._options = options
        self._compiled: Any = None
        self._lock = threading.Lock()
        self._file = cast(FunctionType, function).__code__.co_filename
        _first_stamp(self._file)

    def __call__(self, *arguments: Any) -> Any:
        """Call the compiled function. Raises one of `unfit` for arguments that it was not written for."""
        return self.call(*arguments)

    def _compile_and_call(self, *arguments: Any) -> Any:
        return self.compiled(*arguments)

    @property
    def compiled(self) -> Any:
        """Numba's dispatcher; the first to ask for that of any kernel imports the compiler."""
        from kinematics.compiled.compiler import dispatcher  # takes long

        with self._lock:
            if self._compiled is None:
                # numba would keep what was loaded as that of the file as it is now
                options = (
                    self._options
                    if _stamp(self._file) == _first_stamp(self._file)
                    else self._options | {"cache": False}
                )
                self._compiled = self.call = dispatcher(self.py_func, **options)
        return self._compiled

    @staticmethod
    def load_compiler() -> None:
        """Import the compiler now, as the first call of a kernel would, where nothing interrupts it half-way."""
        import kinematics.compiled.compiler  # noqa: F401  # takes long

    def __reduce__(self) -> Any:
        if getattr(sys.modules.get(self.__module__), self.__qualname__, None) is self:
            return self.__qualname__
        return _made, (self.py_func, self._options)

    @property
    def _numba_type_(self) -> Any:
        """For numba, which asks for it: inside whatever it compiles, this is the dispatcher."""
        return self.compiled._numba_type_

    @staticmethod
    def unfit() -> tuple[type[Exception], ...]:
        """What is raised where arguments are not of the types, or not as many, as the function takes."""
        from numba.core.errors import NumbaError  # takes long, where it has not been imported

        return TypeError, NumbaError


def _made(function: Callable[..., object], options: dict[str, Any]) -> Kernel:
    return Kernel(function, **options)


def kernel(function: Function) -> Function:
    """Compile `function` with numba: cached on disk, without the GIL, IEEE arithmetic (no fast-math).

    Kernels take plain floats and contiguous float64 arrays, allocate nothing and raise nothing: what can go wrong is
    a returned status. See `Kernel`. A function that somebody hands to numba himself, to be cached, has to be written
    anew where a kernel that it calls has changed, unless numba was imported before this module.
    """
    return cast(Function, Kernel(function, cache=True))


def inlined(function: Function) -> Function:
    """Compile `function` into the body of every kernel that calls it, as if it were written there.

    For what is called inside a loop over legs or states: only a loop whose body calls nothing is turned into vector
    instructions. LLVM puts the calls in: numba's own `inline="always"` takes up to five times as long to compile, and
    the code is no faster.
    """
    return cast(Function, Kernel(function, forceinline=True))


@contextmanager
def cached_only() -> Iterator[None]:
    """Within a `with` block kernels are loaded from the cache; one that is not there raises NotCompiledError."""
    from kinematics.compiled.compiler import Refusal  # takes long

    with Refusal().listening():
        yield


@contextmanager
def report_compilation(roots: Iterable[str], report: Callable[[int, int], None]) -> Iterator[None]:
    """Within a `with` block, tell how many kernels of how many are there.

    At the beginning of the first compilation, after each, and at the end of the block. Where all are loaded from the
    cache nothing is told. One that is loaded has in it all that it calls.

    Args:
        roots: what is called from Python, each as module and name with a dot between; what they call is found.
        report: called by whichever thread compiles.

    Raises ModuleNotFoundError for a module that there is not, AttributeError for a name that is not in it.
    """
    from kinematics.compiled.compiler import Counting  # takes long

    counting = Counting(with_callees(_found(root) for root in roots), report)
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


if "numba" in sys.modules:
    Kernel.load_compiler()  # whoever imported it may cache functions that call kernels: next to the kernels
