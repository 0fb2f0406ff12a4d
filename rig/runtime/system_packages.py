"""System packages that the desktop app needs and pip does not install; also a command of the Makefile's.

Imports nothing of this program, so that it can be run before anything is installed.
"""

import ctypes
import sys
import tomllib
from pathlib import Path

_GROUPS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
NEEDED = ("app", "screen")
"""Groups without which no window shows."""


def needed_packages(*groups: str) -> list[str]:
    """Debian's names of all packages of these groups. Raises KeyError for a group that there is not."""
    return [name for group in groups for name in (*_libraries(group).values(), *_GROUPS[group].get("others", ()))]


def missing_packages(*groups: str) -> list[str]:
    """Debian's names of those packages of these groups whose library does not load. Raises KeyError as above."""
    return [name for group in groups for library, name in _libraries(group).items() if not _loads(library)]


def _libraries(group: str) -> dict[str, str]:
    libraries: dict[str, str] = _GROUPS[group].get("libraries", {})
    return libraries


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


if __name__ == "__main__":
    what, *wanted = sys.argv[1:]
    sys.stdout.write(" ".join({"packages": needed_packages, "missing": missing_packages}[what](*wanted)) + "\n")
