"""Cache folder of compiled kernels, named after the digest of all kernel sources."""

import hashlib
import os
import re
from pathlib import Path

KERNEL_FOLDERS = ("kinematics", "actuators", "dynamics/kernels", "rig/engine", "rig/safety", "rig/virtual")
"""The only folders with kernels: every process reads them all at its start."""
HAS_KERNELS = re.compile(rb"\b(kernel|inlined)\b")
"""Matches every source file that defines kernels."""


def _source_digest() -> str:
    """Return a digest of all source files that define kernels.

    Numba notices a change of a kernel's own file, but not of the files of the kernels it calls; a cache folder
    named after all of them never contains stale machine code.
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
"""digest of the sources at import, even if they change before the first kernel is called"""


def kernel_cache_folder() -> Path:
    """Return the folder of compiled kernels: numba's own setting NUMBA_CACHE_DIR, or one in the user's cache folder."""
    given = os.environ.get("NUMBA_CACHE_DIR")
    if given is not None:
        return Path(given)
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "stewart-rig" / "kernels"


class NotCompiledError(Exception):
    """A kernel is not in the cache, and compiling is not allowed."""
