"""The one place that decides how numerical kernels are compiled."""

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import numba
from numba.core import event

Function = TypeVar("Function", bound=Callable[..., object])

KERNEL_FOLDERS = ("kinematics", "dynamics/kernels", "rig/engine", "rig/safety", "rig/virtual")
"""The only ones with kernels: every process reads them all at its start."""


def _source_digest() -> str:
    """Digest of every source file that defines kernels.

    Numba notices a change of the file a kernel stands in, but not of the files of the kernels it calls; a cache
    folder named after all of them can never serve stale machine code.
    """
    digest = hashlib.sha256(numba.__version__.encode())
    root = Path(__file__).resolve().parent.parent.parent
    for folder in KERNEL_FOLDERS:
        for path in sorted((root / folder).rglob("*.py")):
            source = path.read_bytes()
            if b"@kernel" in source or b"@inlined" in source:
                digest.update(path.name.encode() + b"\0" + source)
    return digest.hexdigest()[:16]


def kernel_cache_folder() -> Path:
    """Where compiled kernels are kept, numba's own setting NUMBA_CACHE_DIR before the user's cache folder."""
    given = os.environ.get("NUMBA_CACHE_DIR")
    if given is not None:
        return Path(given)
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "stewart-rig" / "kernels"


if "NUMBA_CACHE_DIR" not in os.environ:
    numba.config.CACHE_DIR = str(kernel_cache_folder() / _source_digest())


def kernel(function: Function) -> Function:
    """Compile `function` with numba: cached on disk, without the GIL, IEEE arithmetic (no fast-math).

    Kernels take plain floats and contiguous float64 arrays, allocate nothing and raise nothing: what can go wrong is
    a returned status.
    """
    compiled: Function = numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=False)(function)
    return compiled


def inlined(function: Function) -> Function:
    """Compile `function` into the body of every kernel that calls it, as if it were written there.

    For what is called inside a loop over legs or states: only a loop whose body calls nothing is turned into vector
    instructions. LLVM puts the calls in: numba's own `inline="always"` takes up to five times as long to compile, and
    the code is no faster.
    """
    compiled: Function = numba.njit(forceinline=True, nogil=True, error_model="numpy", fastmath=False)(function)
    return compiled


class NotCompiledError(Exception):
    """A kernel is not in the cache, where none may be compiled."""


class _Refusal(event.Listener):  # type: ignore[misc]  # numba has no types
    """Hears that a kernel is going to be compiled, and does not let it."""

    def on_start(self, event: event.Event) -> None:
        raise NotCompiledError(event.data["dispatcher"].__name__)

    def on_end(self, event: event.Event) -> None:
        """None is ever compiled."""


@contextmanager
def cached_only() -> Iterator[None]:
    """Within a `with` block kernels are loaded from the cache; one that is not there raises NotCompiledError."""
    with event.install_listener("numba:compile", _Refusal()):
        yield
