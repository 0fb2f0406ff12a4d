"""Where compiled kernels are kept: a folder that is named after all sources with kernels."""

import hashlib
import os
import re
from pathlib import Path

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


class NotCompiledError(Exception):
    """A kernel is not in the cache, where none may be compiled."""
