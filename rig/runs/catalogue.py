"""The runs of a folder of recordings, the newest first, with what was said of them since and their numbers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from rig.config import Validation
from rig.errors import InputError
from rig.recording import MotionPart, RecordingError, RecordingFile
from rig.runs.annotations import Entry, read_annotations, write_entry
from rig.runs.numbers import judge_again, numbers_of
from rig.runs.run import Run, runs_of
from rig.runs.run_cache import RunCache, mark_of

_SEARCHED = ("run", "name", "motion_name", "operator", "note", "outcome", "injected", "cause", "verdict", "begun")


@dataclass(frozen=True, slots=True)
class Listed:
    """A run with what was said of it since, and its numbers, None where they were not counted yet."""

    run: Run
    entry: Entry
    numbers: Mapping[str, Any] | None

    @property
    def name(self) -> str:
        """As somebody called it, or that of the motion."""
        return self.run.name if self.entry.name is None else self.entry.name

    @property
    def note(self) -> str:
        """As somebody wrote it since, or that of the recording."""
        return self.run.note if self.entry.note is None else self.entry.note

    @property
    def verdict(self) -> str | None:
        """It is "pass", "fail", "expected" or "undecided"; None where there are no numbers yet, or no thresholds."""
        return None if self.numbers is None else self.numbers["verdict"]

    @property
    def speed(self) -> float | None:
        """Part of its speed at which it was followed at most; None where that is all of it, or not counted yet."""
        return None if self.numbers is None else self.numbers["speed"]

    def judged_by(self, thresholds: Validation, *, alone: bool = False) -> "Listed":
        """The same with the verdict by other thresholds, see `judge_again`; as it is where it has no numbers yet."""
        if self.numbers is None:
            return self
        return replace(self, numbers=judge_again(self.numbers, thresholds, alone=alone))

    def described(self) -> dict[str, Any]:
        """A JSON object: `run` (FILE#ID), the fields of `Run`, and `starred`, `verdict`, `numbers`."""
        told = asdict(self.run)
        told["motion_name"] = told.pop("name")
        own = {"name": self.name, "note": self.note, "starred": self.entry.starred}
        return {"run": self.run.id, **told, **own, "verdict": self.verdict, "numbers": self.numbers}


class Catalogue:
    """Looks through a folder again and again; what it found out it keeps.

    Args:
        folder: of recordings, or one recording, whose runs alone are told of then.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder if folder.is_dir() else folder.parent
        self._only = None if folder.is_dir() else folder
        self.unreadable: list[str] = []
        """why recordings are left out, a sentence each"""

    def runs(self) -> list[Listed]:
        """All runs, the newest first. Raises InputError for a folder, or its book, that cannot be read."""
        kept = RunCache(self.folder)
        book = read_annotations(self.folder)
        found: list[tuple[int, Listed]] = []
        self.unreadable = []
        paths = self._paths()
        for path in paths:
            if self._only is not None and path.name != self._only.name:
                continue
            try:
                changed = path.stat().st_mtime_ns
                for run in _looked_at(path, kept):
                    entry = book.runs.get(run.id, Entry())
                    found.append((changed, Listed(run, entry, kept.numbers(path, run.motion))))
            except RecordingError as error:
                self.unreadable.append(str(error))
            except OSError as error:  # it has gone meanwhile
                self.unreadable.append(f"{path}: {error.strerror}")
        kept.write({path.name for path in paths})
        found.sort(key=lambda one: (one[1].run.begun or "", one[0], one[1].run.recording, one[1].run.motion))
        return [listed for _changed, listed in reversed(found)]

    def one(self, name: str) -> Listed:
        """A run by FILE#ID. Raises InputError where there is none."""
        found = next((listed for listed in self.runs() if listed.run.id == name), None)
        if found is None:
            raise InputError(f"{self.folder}: has no run {name!r}; `rig runs {self.folder}` lists them")
        return found

    def count(self, wanted: Iterable[Listed], told: Callable[[str], None] = lambda _run: None) -> list[str]:
        """Count the numbers of runs that have none yet and are over; `told` of each before that.

        Returns:
            Why some still have none, as their rows cannot be read: a sentence each.
        """
        kept, faults = RunCache(self.folder), []
        try:
            for listed in wanted:
                run = listed.run
                path = self.folder / run.recording
                if run.end is None or kept.numbers(path, run.motion) is not None:
                    continue
                told(run.id)
                try:
                    _looked_at(path, kept)
                    kept.keep_numbers(path, run.motion, numbers_of(MotionPart(RecordingFile(path), run.motion)))
                    kept.write({path.name for path in self._paths()})  # whoever is ended at the next loses none
                except RecordingError as error:
                    faults.append(str(error))
        finally:
            kept.write({path.name for path in self._paths()})
        return faults

    def change(self, name: str, changes: Mapping[str, object]) -> Listed:
        """Rename, star or note a run; see `write_entry`. The run as it is then."""
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


def _looked_at(path: Path, kept: RunCache) -> list[Run]:
    known = kept.runs(path)
    usable = known is not None and all(isinstance(one, dict) and set(one) == _FIELDS for one in known)
    if known is not None and usable and all(one["end"] is not None for one in known):  # none underway then
        return [Run(**{**one, "injected": tuple(one["injected"])}) for one in known]
    mark = mark_of(path)
    runs = runs_of(RecordingFile(path))
    kept.keep_runs(path, [asdict(run) | {"injected": list(run.injected)} for run in runs], mark)
    return runs


_FIELDS = {field.name for field in fields(Run)}


def matches(listed: Listed, text: str) -> bool:
    """Whether each word of a text is in what is said of a run, whatever its case."""
    told = listed.described()
    place = " ".join(str(told[key]) for key in _SEARCHED if told[key]).lower()
    return all(word in place for word in text.lower().split())


def compare_runs(listed: Sequence[Listed]) -> list[dict[str, Any]]:
    """Runs with their numbers set side by side, as `rig report` does with recordings; see `rig.report.compared`.

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
