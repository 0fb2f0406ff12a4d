"""The one place that decides how numerical kernels are compiled."""

import functools
import hashlib
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., object])

KERNEL_FOLDERS = ("kinematics", "dynamics/kernels", "rig/engine", "rig/safety", "rig/virtual")
"""The only ones with kernels: every process reads them all at its start."""
HAS_KERNELS = re.compile(rb"\b(kernel|inlined)\b")
"""Found in every source file that defines some, however it names them."""


def _source_digest() -> str:
    """Digest of every source file that defines kernels.

    Numba notices a change of the file a kernel stands in, but not of the files of the kernels it calls; a cache
    folder named after all of them can never serve stale machine code.
    """
    digest = hashlib.sha256()
    root = Path(__file__).resolve().parent.parent.parent
    for folder in KERNEL_FOLDERS:
        for path in sorted((root / folder).rglob("*.py")):
            source = path.read_bytes()
            if HAS_KERNELS.search(source):
                digest.update(path.name.encode() + b"\0" + source)
    return digest.hexdigest()[:16]


SOURCES = _source_digest()
"""of the sources as they were when this was imported, whatever becomes of them before the first kernel is called"""


def kernel_cache_folder() -> Path:
    """Where compiled kernels are kept, numba's own setting NUMBA_CACHE_DIR before the user's cache folder."""
    given = os.environ.get("NUMBA_CACHE_DIR")
    if given is not None:
        return Path(given)
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "stewart-rig" / "kernels"


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


class NotCompiledError(Exception):
    """A kernel is not in the cache, where none may be compiled."""


@contextmanager
def cached_only() -> Iterator[None]:
    """Within a `with` block kernels are loaded from the cache; one that is not there raises NotCompiledError."""
    from kinematics.compiled.compiler import Refusal  # takes long

    with Refusal().listening():
        yield


if "numba" in sys.modules:
    Kernel.load_compiler()  # whoever imported it may cache functions that call kernels: next to the kernels
