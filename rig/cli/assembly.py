"""`rig fk --all`: every pose of every row, and what is said about them."""

from collections import Counter
from contextlib import nullcontext
from pathlib import Path

import typer

from kinematics import AssemblyModes, Geometry, KinematicsError, assembly_modes
from rig.cli.progress import progress_display
from rig.csvio import POSE, Table, per_leg, whole_file
from rig.errors import InputError
from rig.operation import Progress

_LISTED_ROWS = 10
_QUICK_ROWS = 20  # a row takes some 50 ms; fewer need no progress bar


def write_all_poses(geometry: Geometry, table: Table, output: Path, seed: int) -> None:
    """Find every pose of the leg lengths in each row of the table, write them to `output` and say what was found.

    Raises:
        InputError: a row's leg lengths cannot be used, or the file not be written; nothing is left of it then.
    """
    lengths = table.columns(per_leg("l"))
    found: list[AssemblyModes] = []
    with progress_display() if len(lengths) > _QUICK_ROWS else nullcontext(lambda _progress: None) as show:
        for row, time in enumerate(table.times):
            show(Progress("assembly modes", row / len(lengths)))
            try:
                found.append(assembly_modes(geometry, lengths[row], seed=seed))
            except KinematicsError as error:
                raise InputError(f"{table.path}: row {row + 1} (t = {time:g} s): {error}") from error
    times = table.times.tolist()
    with whole_file(output) as file:
        file.write(",".join(("t", "mode", *POSE, "residual")) + "\n")
        for time, modes in zip(times, found, strict=True):
            for mode, (pose, residual) in enumerate(zip(modes.poses, modes.residuals, strict=True), start=1):
                numbers = [*pose.tolist(), float(residual)]
                file.write(f"{time!r},{mode}," + ",".join(map(repr, numbers)) + "\n")
    _say(times, found)


def _say(times: list[float], found: list[AssemblyModes]) -> None:
    if len(found) <= _LISTED_ROWS:
        for time, modes in zip(times, found, strict=True):
            typer.echo(f"t = {time:g} s: {_poses(len(modes))}, {modes.statement}")
        return
    counts = Counter(len(modes) for modes in found)
    typer.echo(
        f"{len(found)} rows: " + ", ".join(f"{_poses(poses)} in {rows}" for poses, rows in sorted(counts.items()))
    )
    doubtful = [(time, modes) for time, modes in zip(times, found, strict=True) if not modes.complete]
    if not doubtful:
        typer.echo("complete in every row, with probability one or better")
    for time, modes in doubtful[:_LISTED_ROWS]:
        typer.echo(f"t = {time:g} s: {_poses(len(modes))}, {modes.statement}")
    if len(doubtful) > _LISTED_ROWS:
        typer.echo(f"and {len(doubtful) - _LISTED_ROWS} more rows whose poses may not be complete")


def _poses(count: int) -> str:
    return "no pose" if count == 0 else "1 pose" if count == 1 else f"{count} poses"
