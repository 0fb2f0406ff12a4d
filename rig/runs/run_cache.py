"""What was found out about recordings, kept beside them so that it is found out once; may be removed at any time."""

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from rig import __version__
from rig.csvio import whole_file
from rig.errors import InputError

KEPT = ".runs-known.json"
_LARGEST = 200_000_000  # bytes
_LAYOUT = 5


class RunCache:
    """Runs of recordings and numbers of runs, each with what tells that its file is still the same.

    One that cannot be read, or was kept by another version, is empty; one that cannot be written is not kept.

    Args:
        folder: of the recordings.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / KEPT
        self._changed = False
        self._files: dict[str, Any] = _read(self._path)

    def runs(self, path: Path) -> list[dict[str, Any]] | None:
        """The runs of a recording as they were kept; None where it has changed since, or was never looked at."""
        found = self._files.get(path.name)
        if not isinstance(found, dict) or found.get("mark") != mark_of(path):
            return None
        return found["runs"] if isinstance(found.get("runs"), list) else None

    def keep_runs(self, path: Path, runs: list[dict[str, Any]], mark: list[int]) -> None:
        """Keep the runs of a recording, as it was read when its mark was this one.

        Numbers of those that are over and the same stay.
        """
        before = self._files.get(path.name)
        numbers = before.get("numbers") if isinstance(before, dict) else None
        known = before.get("runs") if isinstance(before, dict) else None
        stay = {}
        if isinstance(numbers, dict) and isinstance(known, list):
            same = {str(run["motion"]) for run in runs if run in known and run["end"] is not None}
            stay = {key: value for key, value in numbers.items() if key in same}
        self._files[path.name] = {"mark": mark, "runs": runs, "numbers": stay}
        self._changed = True

    def numbers(self, path: Path, motion: int) -> dict[str, Any] | None:
        """Numbers of a run, None where they were not counted yet."""
        found = self._files.get(path.name)
        numbers = found.get("numbers") if isinstance(found, dict) else None
        value = numbers.get(str(motion)) if isinstance(numbers, dict) else None
        return value if isinstance(value, dict) else None

    def keep_numbers(self, path: Path, motion: int, numbers: Mapping[str, Any]) -> None:
        """Keep the numbers of a run whose recording's runs are kept."""
        self._files[path.name]["numbers"][str(motion)] = dict(numbers)
        self._changed = True

    def write(self, there: set[str]) -> None:
        """Write what is new, without recordings that are not `there` any more."""
        if not self._changed and self._files.keys() <= there:
            return
        files = {name: value for name, value in self._files.items() if name in there}
        with suppress(InputError), whole_file(self._path) as file:
            json.dump({"layout": _LAYOUT, "version": __version__, "files": files}, file)
        self._changed = False


def _read(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > _LARGEST:
            return {}
        data = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    fits = isinstance(data, dict) and data.get("layout") == _LAYOUT and data.get("version") == __version__
    return data["files"] if fits and isinstance(data.get("files"), dict) else {}


def mark_of(path: Path) -> list[int]:
    """What a file has another of once it has changed. Raises OSError without one."""
    status = path.stat()
    return [status.st_size, status.st_mtime_ns]
