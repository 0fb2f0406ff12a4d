"""What people say of runs after they were made: names, stars and notes, in a file beside the recordings."""

import fcntl
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rig.config import Line
from rig.csvio import whole_file
from rig.errors import InputError
from rig.runtime import wait_until

BOOK = "runs.json"
"""Name of the file."""
_PATIENCE = 5.0  # s for another program that is writing it
_LARGEST = 20_000_000  # bytes


class Entry(BaseModel):
    """What was said of one run; `name` and `note` take the place of the recording's own, None leaves these."""

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
    """The book of a folder, empty where there is none. Raises InputError for one that cannot be used."""
    path = folder / BOOK
    try:
        if path.stat().st_size > _LARGEST:
            raise InputError(f"{path}: {path.stat().st_size} bytes, at most {_LARGEST} bytes are read")
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
    """Entries on the runs of one recording, by motion. Raises InputError as `read_annotations`."""
    found = {}
    for run, entry in read_annotations(recording.parent).runs.items():
        file, _mark, number = run.rpartition("#")
        if file == recording.name and number.isdecimal():
            found[int(number)] = entry
    return found


def write_entry(folder: Path, run: str, changes: Mapping[str, object]) -> Entry:
    """Change what is said of a run (fields of `Entry`); the rest of the book stays as it is by then.

    Raises:
        InputError: a value is not valid, the book cannot be used, or cannot be written; it stays as it was.
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
    """Read, change and write the book while no other program does."""
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise InputError(f"folder {folder}: {error.strerror}") from None
    try:
        if not wait_until(lambda: _taken(lock), _PATIENCE):
            raise InputError(f"{folder / BOOK}: another program has been writing it for {_PATIENCE:g} s")
        book = change(read_annotations(folder))
        with whole_file(folder / BOOK) as file:
            json.dump(book.model_dump(exclude_defaults=True) | {"version": book.version}, file, indent=1)
            file.write("\n")
    finally:
        os.close(lock)


def _taken(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _faults(error: ValidationError) -> list[str]:
    return [
        f"{'.'.join(map(str, item['loc'])) or 'it'}: {item['msg'].removeprefix('Value error, ')}"
        for item in error.errors(include_url=False)
    ]
