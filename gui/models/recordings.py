"""Recordings as view-models: those of a folder, an open one with its results, and comparisons."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from dynamics import Mechanism, MechanismError, parse_mechanism
from gui.models.decimation import Outline, decimate
from gui.models.live import COMPARED
from gui.models.timeline import Excerpt, Floats, Replay
from gui.texts import tr, trn
from rig.errors import InputError
from rig.recording import Recording, RecordingError, SpooledRows, in_memory, open_part, size_of_rows, split_part
from rig.runs import Listed, compare_runs
from rig.telemetry import ROW

Summary = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Quantity:
    """One row of the table: `value` reads it from a summary of `rig.report.summarize`, in the unit given."""

    name: str
    unit: str
    value: Callable[[Summary], float | None]
    digits: int = 3


def _at(*path: str | int, scale: float = 1.0) -> Callable[[Summary], float | None]:
    def value(summary: Summary) -> float | None:
        found: Any = summary
        for key in path:
            found = found[key]
        return None if found is None else scale * float(found)

    return value


def _legs(name: str, unit: str, *path: str, key: str, scale: float = 1.0, digits: int = 3) -> list[Quantity]:
    return [
        Quantity(
            tr("{name}, leg {leg}").format(name=name, leg=leg + 1),
            unit,
            _at(*path, "legs", leg, key, scale=scale),
            digits,
        )
        for leg in range(6)
    ]


def _lasts(summary: Summary) -> float | None:
    window = summary["window"]
    return None if window["begin_s"] is None else float(window["end_s"] - window["begin_s"])


OF_RUN: tuple[Quantity, ...] = (
    Quantity(tr("Duration"), "s", _lasts),
    Quantity(tr("Rows"), tr("rows"), _at("window", "rows"), 0),
    Quantity(tr("Overruns"), tr("cycles"), _at("window", "overruns"), 0),
    Quantity(tr("Period error, 99 %"), "µs", _at("window", "period_error_p99_s", scale=1e6), 1),
    Quantity(tr("Position error, RMS"), "µm", _at("tracking", "position_rms_m", scale=1e6), 2),
    Quantity(tr("Position error, largest"), "µm", _at("tracking", "position_max_m", scale=1e6), 2),
    Quantity(tr("Rotation error, RMS"), "µrad", _at("tracking", "rotation_rms_rad", scale=1e6), 2),
    Quantity(tr("Rotation error, largest"), "µrad", _at("tracking", "rotation_max_rad", scale=1e6), 2),
    *_legs(tr("Length error, RMS"), "µm", "tracking", key="length_rms_m", scale=1e6, digits=2),
    *_legs(tr("Force measured, RMS"), "N", "force", key="rms_measured_n", digits=2),
    *_legs(tr("Force of the model, RMS"), "N", "force", key="rms_model_n", digits=2),
    *_legs(tr("Residual, RMS"), "N", "force", key="rms_residual_n"),
    *_legs(tr("Residual, mean"), "N", "force", key="bias_n"),
    *_legs(tr("Residual, largest"), "N", "force", key="peak_residual_n"),
    Quantity(tr("Condition number, largest"), "–", _at("condition", "max"), 2),
)
"""Of the judged motion, or of the rows under power without one."""
OF_WHOLE: tuple[Quantity, ...] = (
    Quantity(tr("Duration"), "s", _at("recording", "duration_s")),
    Quantity(tr("Rows"), tr("rows"), _at("recording", "rows"), 0),
    Quantity(tr("Dropped rows"), tr("rows"), _at("recording", "dropped"), 0),
    Quantity(tr("Cycle rate"), "Hz", _at("cycle", "rate_measured_hz"), 2),
    Quantity(tr("Overruns"), tr("cycles"), _at("cycle", "overruns"), 0),
    Quantity(tr("Stale feedback"), tr("cycles"), _at("cycle", "stale_feedback"), 0),
    Quantity(tr("Period error, 99 %"), "µs", _at("cycle", "period_error_p99_us"), 1),
    Quantity(tr("Period error, largest"), "µs", _at("cycle", "period_error_max_us"), 1),
    Quantity(tr("Exchange, median"), "µs", _at("cycle", "exchange_p50_us"), 1),
    Quantity(tr("Computation, median"), "µs", _at("cycle", "compute_p50_us"), 1),
)
"""Of all opened rows: those of a run, or of a whole recording."""


def side_by_side(summaries: Sequence[Summary]) -> list[list[str]]:
    """Return rows of texts: name, unit, a value per summary, and for two the second minus the first.

    The judged part comes first, then all opened rows, each under a heading row.
    """
    judged = [tr("Judged"), "", *map(_judged, summaries)]
    opened = [tr("All opened rows"), "", *[tr("every row")] * len(summaries)]
    return [judged, *_numbers(OF_RUN, summaries), opened, *_numbers(OF_WHOLE, summaries)]


def _judged(summary: Summary) -> str:
    motion = summary["motion"]
    return tr("the rows under power") if motion is None else tr("motion {name}").format(name=motion["name"])


def _numbers(quantities: Sequence[Quantity], summaries: Sequence[Summary]) -> list[list[str]]:
    rows = []
    for quantity in quantities:
        found = [quantity.value(summary) for summary in summaries]
        values = [math.nan if value is None else value for value in found]
        if len(values) == 2:
            values.append(values[1] - values[0])
        rows.append([quantity.name, quantity.unit, *(number_text(value, quantity.digits) for value in values)])
    return rows


def number_text(value: float, digits: int | None) -> str:
    """Return a value as text with the given decimals, with five significant digits for None; a dash for NaN."""
    if not math.isfinite(value):
        return "–"
    text = f"{value:.5g}" if digits is None else f"{round(value, digits) + 0.0:.{digits}f}"
    return text.replace("-", "−")


MAX_ROW_MEMORY = 400_000_000
"""Bytes of rows kept for the replay: twelve minutes at 500 Hz. Longer recordings are subsampled."""
LARGEST = 20_000_000_000
"""Maximum bytes of rows of a recording: ten hours at 500 Hz."""
QUICK = 100_000_000
"""Bytes of rows read in about two seconds: three minutes at 500 Hz."""


@dataclass(frozen=True, slots=True)
class Found:
    """A recording in a folder."""

    path: Path
    modified: datetime
    size: int
    """Bytes."""


def recordings_in(folder: Path) -> list[Found]:
    """Return the recordings of a folder, newest first. Raises OSError if it cannot be read."""
    found = []
    for path in folder.iterdir():
        if path.suffix == ".mcap" and path.is_file():
            status = path.stat()
            found.append(Found(path, datetime.fromtimestamp(status.st_mtime), status.st_size))
    return sorted(found, key=lambda one: (one.modified, one.path.name), reverse=True)


def recordings_counted(folder: Path, count: int) -> str:
    """Return the number of recordings of a folder as text."""
    return trn("{folder}: {count} recording", "{folder}: {count} recordings", count).format(folder=folder, count=count)


@dataclass(frozen=True, slots=True, eq=False)
class Opened:
    """A recording with its numbers; `mechanism` is None if the file has none that is readable."""

    recording: Recording
    every: int
    """Every n-th row is kept and replayed; numbers and outlines use all rows."""
    summary: Mapping[str, Any]
    mechanism: Mechanism | None
    replay: Replay
    outlines: tuple[Outline, ...]
    """One for each of `COMPARED`."""
    begin: float
    """Rig time, s, at which the motion begins; without one, the recording."""
    release: Callable[[], None]
    """Releases the memory of the rows that were read so far; they are on the disk."""

    @property
    def name(self) -> str:
        """Name of the file."""
        return self.recording.path.name


def numbers_of(path: Path) -> Summary:
    """Return the numbers of a recording, or of one motion FILE#ID of it; see `rig.report.summarize`."""
    from rig.report import summarize  # not needed before a recording is opened

    return summarize(open_part(path))


def open_with_numbers(
    path: Path, obstacle: str = "", *, replayed: bool = True, numbers: Callable[[Path], Summary] = numbers_of
) -> Opened:
    """Open a recording, or one motion FILE#ID of it, and compute its numbers and outlines.

    replayed: whether to keep its rows besides outlines and numbers. numbers: does what `numbers_of` does, such as in
    another process.
    Raises RecordingError if it is invalid, too long, or has above 100 MB of rows while there is an `obstacle` to
    CPU-heavy work, or there is no room for its rows on the disk.
    """
    if split_part(path)[1] is None:
        _check_size(path, obstacle)
    file = open_part(path)
    every = max(1, -(-file.count * ROW.itemsize // MAX_ROW_MEMORY))
    drawn: list[tuple[list[Floats], list[Floats]]] = [([], []) for _ in COMPARED]
    seen = 0
    with SpooledRows() as spooled:
        for block in file.blocks():
            if replayed:
                spooled.append(block[-seen % every :: every])
            segment = Excerpt(block).cut(0, len(block))
            for panel, (times, values) in zip(COMPARED, drawn, strict=True):
                bins = -(-len(block) // (2 * every))
                thinned = decimate(segment.times.copy(), panel.series[0].extract(segment), bins)
                times.append(thinned[0])
                values.append(np.array(thinned[1]))  # a block is valid until the next
            seen += len(block)
        rows = spooled.rows()
    summary = numbers(path)
    begin = summary["motion_begin_s"]
    return Opened(
        recording=in_memory(file, rows),
        every=every,
        summary=summary,
        mechanism=_mechanism(file.header.get("mechanism")),
        replay=Replay(rows),
        outlines=tuple(
            Outline(np.maximum.accumulate(np.concatenate(times)), np.concatenate(values))
            if times
            else Outline(np.empty(0), np.empty((0, len(panel.series[0].columns))))
            for panel, (times, values) in zip(COMPARED, drawn, strict=True)
        ),
        begin=summary["begin_s"] if begin is None else begin,
        release=spooled.release,
    )


def _check_size(path: Path, obstacle: str) -> None:
    """Raise RecordingError, before unpacking, if a recording is too long to be opened now."""
    needed = size_of_rows(path)
    if obstacle and needed > QUICK:
        raise RecordingError(
            tr("{name}: its rows take {needed:.2f} GB of memory; above {quick:.2f} GB: {obstacle}").format(
                name=path.name, needed=needed / 1000000000.0, quick=QUICK / 1000000000.0, obstacle=obstacle
            )
        )
    if needed > LARGEST:
        raise RecordingError(
            tr(
                "{name}: its rows take {needed:.2f} GB, the app opens a recording of at most {largest:.2f} GB; use "
                "`rig report`, or look at the file with PlotJuggler"
            ).format(name=path.name, needed=needed / 1000000000.0, largest=LARGEST / 1000000000.0)
        )


def _mechanism(text: Any) -> Mechanism | None:
    try:
        return parse_mechanism(text) if isinstance(text, str) else None
    except MechanismError:
        return None


def differences_text(runs: Sequence[Listed]) -> str:
    """Return how runs differ, as in the report; if they are not judged, say so."""
    from rig.report import comparison_text

    if any(one.numbers is None for one in runs):
        return tr("Judge the runs on the page Runs to see the comparison of their results here too.")
    return comparison_text(compare_runs(runs))


def outcome(failure: Exception | None, success: str) -> str:
    """Return the message of a result: its success, or why it failed."""
    if failure is None:
        return success
    if isinstance(failure, OSError):
        return tr("Failed: {reason}").format(reason=failure.strerror or failure)
    known = isinstance(failure, RecordingError | InputError)
    return (
        str(failure) if known else tr("Failed: {name}: {failure}").format(name=type(failure).__name__, failure=failure)
    )
