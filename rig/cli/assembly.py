"""`rig fk --all`: output on the poses found."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from kinematics import AssemblyModes

QUICK_ROWS = 20
"""Minimum rows for a progress bar: one row takes some 50 ms."""

_LISTED_ROWS = 10


def print_modes(times: Sequence[float], found: "Sequence[AssemblyModes]") -> None:
    """Print the number of poses of each row, and whether they are certainly all."""
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
