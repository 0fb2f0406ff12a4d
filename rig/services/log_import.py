"""Import of other programs' logs as recordings."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rig.errors import InputError
from rig.services.job import OnEvent, no_progress
from rig.services.outputs import check_made_of
from rig.services.request import request
from rig.services.sources import Notices

if TYPE_CHECKING:
    from rig.importing import ImportedLog


@request
class ImportRequest:
    """A log (CSV) of a rig: time, leg lengths or poses, and optionally leg forces."""

    config: str
    """a configuration's file, or the name of a shipped one"""
    data: Path
    """the log, one line per sample"""
    output: Path | None = None
    """recording (.mcap) to write, which must not exist; None: next to the log, same name"""
    columns: tuple[str, ...] = ()
    """GROUP=NAMES [UNIT], the columns of a group: time, lengths, pose, commanded_lengths, commanded_pose, forces"""
    mapping: Path | None = None
    """TOML file of the same and more; `columns` take precedence"""
    during: tuple[float, float] | None = None
    """s, on the log's own clock; None: all of it"""
    rate: float | None = None
    """Hz, of the recording's cycles; None: the log's sampling rate"""
    bandwidth: float | None = None
    """Hz, low-pass cutoff for speeds and accelerations; None: 25 Hz, or a seventh of the rate"""
    align: bool = False
    """shift the commanded motion by the delay of the measured one"""
    dry_run: bool = False
    """only parse it, write nothing"""


@dataclass(frozen=True, slots=True, eq=False)
class ImportResult:
    """Result: the interpreted log, with ranges and limits, and the recording, or None.

    ranges: of each quantity, as in `rig import --json`.
    """

    log: "ImportedLog"
    ranges: tuple[dict[str, Any], ...]
    recording: Path | None


def import_log(request: ImportRequest, progress: OnEvent = no_progress) -> ImportResult:
    """Convert a log to a recording, resampled to a uniform cycle; gaps remain gaps.

    Events: notices of missing information.

    Raises:
        InputError: a file that cannot be read or written, a log that cannot be interpreted.
    """
    from rig.config import load_config
    from rig.importing import import_log as understood
    from rig.importing import load_mapping, ranges_of
    from rig.recording import finding_text

    target = request.data.with_suffix(".mcap") if request.output is None else request.output
    if not request.dry_run:
        check_made_of(request.data, target)
        if target.exists():
            raise InputError(
                f"cannot write {target}: it exists already, recordings are never overwritten; name another: -o"
            )
    found = understood(
        request.data,
        load_config(request.config),
        load_mapping(request.mapping, request.columns),
        span=request.during,
        rate=request.rate,
        bandwidth=request.bandwidth,
        align=request.align,
    )
    if not request.dry_run:
        found.write(target)
    notices = Notices(progress)
    for finding in found.summary()["findings"]:
        notices.add("log", f"the recording is {finding_text(finding)}")
    return ImportResult(found, tuple(ranges_of(found)), None if request.dry_run else target)
