"""The runs of a folder of recordings: listed, judged, compared, and annotated."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rig.config import Validation
from rig.errors import InputError
from rig.runs import Catalogue, Listed, compare_runs, matches
from rig.services.job import OnEvent, Progress, no_progress
from rig.services.request import request
from rig.services.sources import Notices

_ATTEMPTS = 5  # at runs that come to their end while others are counted


@request
class RunsRequest:
    """Runs of a folder of recordings, or of one recording, with what is to be done with them."""

    folder: Path = Path("recordings")
    search: str = ""
    """words that tell of a run; empty: any run"""
    starred: bool = False
    """only runs with a star"""
    runs: tuple[str, ...] = ()
    """only these, each FILE#ID; empty: all"""
    judge: bool = False
    """count the numbers of those that have none yet; seconds each"""
    compare: bool = False
    """set their numbers side by side, the oldest first; counts them too"""
    thresholds: Validation | None = None
    """what judges where the motion's file does not; None: as recorded"""
    alone: bool = False
    """whether `thresholds` and no others judge"""
    name: str | None = None
    """what the one of `runs` is called from now on; None: as before"""
    note: str | None = None
    """noted on the one of `runs`; None: as before"""
    star: bool | None = None
    """whether the one of `runs` has a star; None: as before"""

    def __post_init__(self) -> None:
        if self.changes and len(self.runs) != 1:
            raise InputError("--name, --note and --star are of one run: name it by --run FILE#ID")

    @property
    def changes(self) -> dict[str, object]:
        """The new annotations of the run."""
        given = (("name", self.name), ("note", self.note), ("starred", self.star))
        return {key: value for key, value in given if value is not None}


@dataclass(frozen=True, slots=True)
class RunsResult:
    """Result of the service.

    folder: of the recordings. runs: the newest first. comparison: their numbers side by side; None where that was not
    asked for.
    """

    folder: Path
    runs: tuple[Listed, ...]
    comparison: list[dict[str, Any]] | None = None


class NoRunError(InputError):
    """Runs that were asked for are not in the folder.

    Args:
        folder: that was looked through.
        runs: those that are missing, each FILE#ID.
    """

    def __init__(self, folder: Path, runs: Sequence[str]) -> None:
        super().__init__(f"{folder}: has no run {', '.join(runs)}")
        self.folder, self.runs = folder, tuple(runs)


def list_runs(request: RunsRequest, progress: OnEvent = no_progress) -> RunsResult:
    """List the runs of a folder; judge, compare or annotate them where the request says so.

    Events: `counting` with the `run` whose numbers are counted; notices of recordings that cannot be read.

    Raises:
        NoRunError: a run that the folder has not.
        InputError: a folder that cannot be read, fewer than two runs to compare.
    """
    catalogue = Catalogue(request.folder)
    if request.changes:
        catalogue.change(request.runs[0], request.changes)
    wanted = set(request.runs)

    def listed() -> list[Listed]:
        there = catalogue.runs()
        if missing := sorted(wanted - {one.run.id for one in there}):
            raise NoRunError(request.folder, missing)
        chosen = [one for one in there if not wanted or one.run.id in wanted]
        return [one for one in chosen if matches(one, request.search) and (one.entry.starred or not request.starred)]

    counts = request.judge or request.compare
    found, uncounted = _counted(catalogue, listed, progress) if counts else (listed(), [])
    notices = Notices(progress)
    for reason in catalogue.unreadable:
        notices.add("unreadable", reason)
    for reason in uncounted:
        notices.add("uncounted", reason)
    if request.thresholds is not None:
        found = [one.judged_by(request.thresholds, alone=request.alone) for one in found]
    return RunsResult(catalogue.folder, tuple(found), _compared(found) if request.compare else None)


def _counted(
    catalogue: Catalogue, listed: Callable[[], list[Listed]], progress: OnEvent
) -> tuple[list[Listed], list[str]]:
    """The runs that `listed` finds with their numbers, and why some that are over have none."""
    for _ in range(_ATTEMPTS):
        faults = catalogue.count(listed(), lambda run: progress(Progress("counting", values={"run": run})))
        found = listed()  # one may have come to its end, or more been recorded of it, while others were counted
        left = [one.run.id for one in found if one.numbers is None and one.run.end is not None]
        if len(left) <= len(faults):  # one for each that cannot be counted
            return found, faults
    return found, [*faults, *(f"{run}: its recording changed while it was counted" for run in left)]


def _compared(found: list[Listed]) -> list[dict[str, Any]]:
    counted = [one for one in reversed(found) if one.numbers is not None]
    if len(counted) < 2:
        raise InputError(f"{len(counted)} of the runs chosen can be counted: two or more are needed to compare")
    return compare_runs(counted)
