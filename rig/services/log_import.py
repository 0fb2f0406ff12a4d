"""Recordings made of other programs' logs."""

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
    """A log (CSV) of a rig: time, leg lengths or poses, leg forces or none."""

    config: str
    """a configuration's file, or the name of a shipped one"""
    data: Path
    """the log, a line for each sample"""
    output: Path | None = None
    """recording (.mcap) to write, which must not exist; None: next to the log, same name"""
    columns: tuple[str, ...] = ()
    """GROUP=NAMES [UNIT], which columns a group has: time, lengths, pose, commanded_lengths, commanded_pose, forces"""
    mapping: Path | None = None
    """TOML file of the same and more; `columns` take precedence"""
    during: tuple[float, float] | None = None
    """s, on the log's own clock; None: all of it"""
    rate: float | None = None
    """Hz, of the recording's cycles; None: as the log has samples"""
    bandwidth: float | None = None
    """Hz, of the low-pass on the motion for speeds and accelerations; None: 25 Hz, or a seventh of the rate"""
    align: bool = False
    """move the commanded motion by the delay with which the measured one follows it"""
    dry_run: bool = False
    """only understand it, and write nothing"""


@dataclass(frozen=True, slots=True, eq=False)
class ImportResult:
    """Result: the log as it was understood, with ranges and limits, and the recording, None where none was.

    ranges: of each quantity, as `rig import --json` has them.
    """

    log: "ImportedLog"
    ranges: tuple[dict[str, Any], ...]
    recording: Path | None


def import_log(request: ImportRequest, progress: OnEvent = no_progress) -> ImportResult:
    """Make a recording of a log, its stamps brought to an even cycle; gaps stay gaps.

    Events: notices of what the log cannot tell.

    Raises:
        InputError: a file that cannot be read or written, a log that cannot be understood.
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
