"""Compilation of all numerical kernels, and its progress."""

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
    """Return a value that changes when a file is rewritten; None if the file does not exist."""
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


_first_stamp = functools.cache(_stamp)
"""stamp of a file when its first kernel was defined"""


class _Switch(threading.local):
    """Whether this thread interprets kernels."""

    interpreting = False


_switch = _Switch()


@contextmanager
def interpreted() -> Iterator[None]:
    """Within a `with` block, this thread runs kernels that no thread has compiled yet as plain Python.

    For a process that calls kernels seldom: it need not load the compiler, which takes 130 MB. The plain functions are
    some thousand times slower; results are the same up to rounding in the mathematical library.
    """
    before, _switch.interpreting = _switch.interpreting, True
    try:
        yield
    finally:
        _switch.interpreting = before


class Kernel:
    """A function that is compiled on its first call; positional arguments only.

    Importing the compiler takes longer than the rest of the model: the app's window and other code that computes
    nothing need not wait for it. Inside another kernel a Kernel is the compiled function itself.
    """

    __name__: str
    __qualname__: str

    def __init__(self, function: Callable[..., object], **options: Any) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        """the Python function"""
        self._options = options
        self._compiled: Any = None
        self._lock = threading.Lock()
        self._file = cast(FunctionType, function).__code__.co_filename
        _first_stamp(self._file)

    def __call__(self, *arguments: Any) -> Any:
        """Call the compiled function. Raises one of `unfit` for arguments of unsuitable types or number."""
        if _switch.interpreting:
            return self.py_func(*arguments)
        result = self.compiled(*arguments)
        # From here on a call is one of the compiled function, with no frame between: Python looks it up in the class.
        # Not before: until it is compiled, a thread that interprets would wait.
        self.__class__ = type("Kernel", (Kernel,), {"__call__": staticmethod(self.compiled)})
        return result

    @property
    def compiled(self) -> Any:
        """Numba's dispatcher; the first access on any kernel imports the compiler."""
        from kinematics.compiled.compiler import dispatcher  # slow

        with self._lock:
            if self._compiled is None:
                # otherwise numba would cache the loaded code under the file's present stamp
                options = (
                    self._options
                    if _stamp(self._file) == _first_stamp(self._file)
                    else self._options | {"cache": False}
                )
                self._compiled = dispatcher(self.py_func, **options)
        return self._compiled

    @staticmethod
    def load_compiler() -> None:
        """Import the compiler now, at a point where the import cannot be interrupted."""
        import kinematics.compiled.compiler  # noqa: F401  # slow

    def __reduce__(self) -> Any:
        if getattr(sys.modules.get(self.__module__), self.__qualname__, None) is self:
            return self.__qualname__
        return _made, (self.py_func, self._options)

    @property
    def _numba_type_(self) -> Any:
        """Type protocol of numba: within compiled code, this is the dispatcher."""
        return self.compiled._numba_type_

    @staticmethod
    def unfit() -> tuple[type[Exception], ...]:
        """Return the exceptions for arguments of wrong types or number."""
        from numba.core.errors import NumbaError  # slow on first import

        return TypeError, NumbaError


def _made(function: Callable[..., object], options: dict[str, Any]) -> Kernel:
    return Kernel(function, **options)


def kernel(function: Function) -> Function:
    """Compile `function` with numba: cached on disk, without the GIL, IEEE arithmetic (no fast-math).

    Kernels take plain floats and contiguous float64 arrays, allocate nothing and raise nothing: errors are returned as
    a status. One that allocates raises NumbaError as it is compiled. See `Kernel`. A cached function compiled with
    numba directly must be rewritten when a kernel that it calls has changed, unless numba was imported before this
    module.
    """
    return cast(Function, Kernel(function, cache=True))


def inlined(function: Function) -> Function:
    """Compile `function` into the body of every kernel that calls it.

    For functions called inside a loop over legs or states: only loops without calls are vectorised. LLVM inlines the
    calls: numba's `inline="always"` takes up to five times as long to compile, and the code is no faster.
    """
    return cast(Function, Kernel(function, forceinline=True))


@contextmanager
def cached_only() -> Iterator[None]:
    """Within a `with` block, only load kernels from the cache; a missing one raises NotCompiledError."""
    from kinematics.compiled.compiler import Refusal  # slow

    with Refusal().listening():
        yield


@contextmanager
def report_compilation(roots: Iterable[str], report: Callable[[int, int], None]) -> Iterator[None]:
    """Within a `with` block, report the number of available kernels and the total.

    Reported at the beginning of the first compilation, after each, and at the end of the block; never if all are
    loaded from the cache. A loaded kernel includes all kernels it calls.

    Args:
        roots: kernels called from Python, as "module.name"; their callees are found.
        report: called from any compiling thread.

    Raises ModuleNotFoundError for an unknown module, AttributeError for an unknown name.
    """
    from kinematics.compiled.compiler import Counting  # slow

    counting = Counting(with_callees(_kernel_named(root) for root in roots), report)
    with counting.listening():
        yield
    counting.close()


def with_callees(kernels: Iterable[Kernel]) -> dict[Kernel, list[Kernel]]:
    """Return kernels and all their callees, each with the kernels it calls directly."""
    found: dict[Kernel, list[Kernel]] = {}
    left = list(kernels)
    while left:
        kernel = left.pop()
        if kernel not in found:
            found[kernel] = _callees(kernel)
            left += found[kernel]
    return found


def _kernel_named(root: str) -> Kernel:
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
    Kernel.load_compiler()  # if numba is already imported: functions that call kernels are cached next to them
