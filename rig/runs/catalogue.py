"""Cached runs of a recordings folder, the newest first, with the users' names, stars and notes."""

import fcntl
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kinematics import fault_reason
from rig import __version__
from rig.config import Line, Validation
from rig.csvio import whole_file
from rig.errors import InputError
from rig.recording import MotionPart, RecordingError, RecordingFile
from rig.runs.run import Run, judge_again, numbers_of, runs_of
from rig.runtime import wait_until

CACHE_FILE = ".runs-known.json"
_MAX_CACHE = 200_000_000  # bytes
_LAYOUT = 5


class RunCache:
    """Cache of runs and their numbers, each with a mark that identifies the file's version.

    An unreadable cache, or one of another version, counts as empty; failed writes are ignored.

    Args:
        folder: of the recordings.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / CACHE_FILE
        self._changed = False
        self._files: dict[str, Any] = _read(self._path)

    def runs(self, path: Path) -> list[dict[str, Any]] | None:
        """Return the cached runs of a recording; None if it has changed or was never read."""
        found = self._files.get(path.name)
        if not isinstance(found, dict) or found.get("mark") != mark_of(path):
            return None
        return found["runs"] if isinstance(found.get("runs"), list) else None

    def keep_runs(self, path: Path, runs: list[dict[str, Any]], mark: list[int]) -> None:
        """Cache the runs of a recording, read when it had this mark.

        Numbers of completed, unchanged runs are preserved.
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
        """Return the numbers of a run, None if not computed yet."""
        found = self._files.get(path.name)
        numbers = found.get("numbers") if isinstance(found, dict) else None
        value = numbers.get(str(motion)) if isinstance(numbers, dict) else None
        return value if isinstance(value, dict) else None

    def keep_numbers(self, path: Path, motion: int, numbers: Mapping[str, Any]) -> None:
        """Cache the numbers of a run whose recording is cached."""
        self._files[path.name]["numbers"][str(motion)] = dict(numbers)
        self._changed = True

    def write(self, there: set[str]) -> None:
        """Write changes, without recordings that are not `there` any more."""
        if not self._changed and self._files.keys() <= there:
            return
        files = {name: value for name, value in self._files.items() if name in there}
        with suppress(InputError), whole_file(self._path) as file:
            json.dump({"layout": _LAYOUT, "version": __version__, "files": files}, file)
        self._changed = False


def _read(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > _MAX_CACHE:
            return {}
        data = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    fits = isinstance(data, dict) and data.get("layout") == _LAYOUT and data.get("version") == __version__
    return data["files"] if fits and isinstance(data.get("files"), dict) else {}


def mark_of(path: Path) -> list[int]:
    """Return a mark that differs after the file has changed. Raises OSError without a file."""
    status = path.stat()
    return [status.st_size, status.st_mtime_ns]


BOOK = "runs.json"
"""Name of the annotations file."""
_LOCK_TIMEOUT = 5.0  # s, wait for another program's lock
_MAX_BOOK = 20_000_000  # bytes


class Entry(BaseModel):
    """Annotations of one run; `name` and `note` replace the recording's own unless None."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    name: Line | None = None
    note: Line | None = None
    starred: bool = False


class Annotations(BaseModel):
    """Entries by FILE#ID."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    version: Annotated[int, Field(ge=1, le=1)] = 1
    runs: Annotated[dict[str, Entry], Field(max_length=100_000)] = {}


def read_annotations(folder: Path) -> Annotations:
    """Return a folder's annotations, empty if there are none. Raises InputError for an invalid file."""
    path = folder / BOOK
    try:
        if path.stat().st_size > _MAX_BOOK:
            raise InputError(f"{path}: {path.stat().st_size} bytes, at most {_MAX_BOOK} bytes are read")
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Annotations()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    try:
        return Annotations.model_validate_json(text)
    except ValidationError as error:
        raise InputError(f"{path}: cannot be used:", _faults(error)) from None


def annotations_of(recording: Path) -> dict[int, Entry]:
    """Return the annotations of one recording's runs, by motion. Raises InputError as `read_annotations`."""
    found = {}
    for run, entry in read_annotations(recording.parent).runs.items():
        file, _mark, number = run.rpartition("#")
        if file == recording.name and number.isdecimal():
            found[int(number)] = entry
    return found


def write_entry(folder: Path, run: str, changes: Mapping[str, object]) -> Entry:
    """Change the annotations of a run (fields of `Entry`); other entries are unchanged.

    Raises:
        InputError: an invalid value, or a file that is invalid or cannot be written; it remains unchanged.
    """
    entry = Entry()

    def change(book: Annotations) -> Annotations:
        nonlocal entry
        before = book.runs.get(run, Entry())
        try:
            entry = Entry.model_validate(before.model_dump() | dict(changes))
        except ValidationError as error:
            raise InputError(f"run {run}:", _faults(error)) from None
        others = {key: value for key, value in book.runs.items() if key != run}
        return Annotations(runs=others if entry == Entry() else {**others, run: entry})

    _rewrite(folder, change)
    return entry


def _rewrite(folder: Path, change: Callable[[Annotations], Annotations]) -> None:
    """Read, change and write the annotations under a lock."""
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise InputError(f"folder {folder}: {error.strerror}") from None
    try:
        if not wait_until(lambda: _locked(lock), _LOCK_TIMEOUT):
            raise InputError(f"{folder / BOOK}: another program has been writing it for {_LOCK_TIMEOUT:g} s")
        book = change(read_annotations(folder))
        with whole_file(folder / BOOK) as file:
            json.dump(book.model_dump(exclude_defaults=True) | {"version": book.version}, file, indent=1)
            file.write("\n")
    finally:
        os.close(lock)


def _locked(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _faults(error: ValidationError) -> list[str]:
    return [
        f"{'.'.join(map(str, item['loc'])) or 'it'}: {fault_reason(item)}" for item in error.errors(include_url=False)
    ]


_SEARCHED = ("run", "name", "motion_name", "operator", "note", "outcome", "injected", "cause", "verdict", "begun")


@dataclass(frozen=True, slots=True)
class Listed:
    """A run with its annotations, and its numbers, None if not computed yet."""

    run: Run
    entry: Entry
    numbers: Mapping[str, Any] | None

    @property
    def name(self) -> str:
        """Return the user's name of the run, or else the motion's."""
        return self.run.name if self.entry.name is None else self.entry.name

    @property
    def note(self) -> str:
        """Return the user's note, or else the recording's."""
        return self.run.note if self.entry.note is None else self.entry.note

    @property
    def verdict(self) -> str | None:
        """Return "pass", "fail", "expected" or "undecided"; None without numbers or thresholds."""
        return None if self.numbers is None else self.numbers["verdict"]

    @property
    def speed(self) -> float | None:
        """Return the largest fraction of full speed in the run; None for full speed, or if not computed."""
        return None if self.numbers is None else self.numbers["speed"]

    def judged_by(self, thresholds: Validation, *, alone: bool = False) -> "Listed":
        """Return a copy with the verdict by other thresholds, see `judge_again`; unchanged without numbers."""
        if self.numbers is None:
            return self
        return replace(self, numbers=judge_again(self.numbers, thresholds, alone=alone))

    def described(self) -> dict[str, Any]:
        """Return a JSON object: `run` (FILE#ID), the fields of `Run`, and `starred`, `verdict`, `numbers`."""
        row = asdict(self.run)
        row["motion_name"] = row.pop("name")
        own = {"name": self.name, "note": self.note, "starred": self.entry.starred}
        return {"run": self.run.id, **row, **own, "verdict": self.verdict, "numbers": self.numbers}


class Catalogue:
    """The runs of a folder that is read repeatedly, with a cache.

    Args:
        folder: of recordings, or one recording for its runs only.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder if folder.is_dir() else folder.parent
        self._only = None if folder.is_dir() else folder
        self.unreadable: list[str] = []
        """why recordings are left out, one sentence each"""

    def runs(self) -> list[Listed]:
        """Return all runs, the newest first. Raises InputError for an unreadable folder or annotations file."""
        cache = RunCache(self.folder)
        book = read_annotations(self.folder)
        found: list[tuple[int, Listed]] = []
        self.unreadable = []
        paths = self._paths()
        for path in paths:
            if self._only is not None and path.name != self._only.name:
                continue
            try:
                changed = path.stat().st_mtime_ns
                for run in _runs_of(path, cache):
                    entry = book.runs.get(run.id, Entry())
                    found.append((changed, Listed(run, entry, cache.numbers(path, run.motion))))
            except RecordingError as error:
                self.unreadable.append(str(error))
            except OSError as error:  # it was deleted in the meantime
                self.unreadable.append(f"{path}: {error.strerror}")
        cache.write({path.name for path in paths})
        found.sort(key=lambda one: (one[1].run.begun or "", one[0], one[1].run.recording, one[1].run.motion))
        return [listed for _changed, listed in reversed(found)]

    def one(self, name: str) -> Listed:
        """Return a run by FILE#ID. Raises InputError if there is none."""
        found = next((listed for listed in self.runs() if listed.run.id == name), None)
        if found is None:
            raise InputError(f"{self.folder}: has no run {name!r}; `rig runs {self.folder}` lists them")
        return found

    def count(self, wanted: Iterable[Listed], report_run: Callable[[str], None] = lambda _run: None) -> list[str]:
        """Compute missing numbers of completed runs; `report_run` is called before each.

        Returns:
            Why some have none, as their rows cannot be read: one sentence each.
        """
        cache, faults = RunCache(self.folder), []
        try:
            for listed in wanted:
                run = listed.run
                path = self.folder / run.recording
                if run.end is None or cache.numbers(path, run.motion) is not None:
                    continue
                report_run(run.id)
                try:
                    _runs_of(path, cache)
                    cache.keep_numbers(path, run.motion, numbers_of(MotionPart(RecordingFile(path), run.motion)))
                    cache.write({path.name for path in self._paths()})  # an interruption later loses nothing
                except RecordingError as error:
                    faults.append(str(error))
        finally:
            cache.write({path.name for path in self._paths()})
        return faults

    def change(self, name: str, changes: Mapping[str, object]) -> Listed:
        """Rename, star or annotate a run, see `write_entry`; return the changed run."""
        self.one(name)
        write_entry(self.folder, name, changes)
        return self.one(name)

    def _paths(self) -> list[Path]:
        if self._only is not None and self._only.suffix != ".mcap":
            raise InputError(f"{self._only}: neither a folder nor a recording (.mcap)")
        try:
            return [path for path in sorted(self.folder.iterdir()) if path.suffix == ".mcap" and path.is_file()]
        except OSError as error:
            raise InputError(f"folder {self.folder}: {error.strerror}") from None


def _runs_of(path: Path, cache: RunCache) -> list[Run]:
    known = cache.runs(path)
    usable = known is not None and all(isinstance(one, dict) and set(one) == _FIELDS for one in known)
    if known is not None and usable and all(one["end"] is not None for one in known):  # only without unfinished runs
        return [Run(**{**one, "injected": tuple(one["injected"])}) for one in known]
    mark = mark_of(path)
    runs = runs_of(RecordingFile(path))
    cache.keep_runs(path, [asdict(run) | {"injected": list(run.injected)} for run in runs], mark)
    return runs


_FIELDS = {field.name for field in fields(Run)}


def matches(listed: Listed, text: str) -> bool:
    """Return whether each word of `text` is in a run's texts, ignoring case."""
    row = listed.described()
    place = " ".join(str(row[key]) for key in _SEARCHED if row[key]).lower()
    return all(word in place for word in text.lower().split())


def compare_runs(listed: Sequence[Listed]) -> list[dict[str, Any]]:
    """Compare runs by their numbers, as `rig report` does recordings; see `rig.report.compared`.

    Raises InputError for one without numbers.
    """
    from rig.report import compared

    summaries = []
    for one in listed:
        if one.numbers is None:
            raise InputError(f"run {one.run.id}: its numbers are not counted yet: `rig runs --judge`")
        provenance = {key: one.numbers[key] for key in ("machine_sha256", "mechanism_sha256")}
        validation = {"together": one.numbers["validation"]["together"], "verdict": one.verdict}
        summaries.append({"paths": {"recording": one.run.id}, "validation": validation, "provenance": provenance})
    return compared(summaries)
