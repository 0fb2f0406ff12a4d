"""`rig fk`: the motion that follows one branch, or every pose of every row and what is said about them."""

from collections import Counter
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import typer

from kinematics import (
    ACCELERATION,
    TWIST,
    Array,
    AssemblyModes,
    Geometry,
    KinematicsError,
    assembly_modes,
    forward_acceleration,
    forward_kinematics,
    forward_twist,
)
from rig.cli.progress import progress_display
from rig.client import Progress
from rig.csvio import MOTION, POSE, Table, per_leg, whole_file, write_table
from rig.errors import InputError

_LISTED_ROWS = 10
_QUICK_ROWS = 20  # a row takes some 50 ms; fewer need no progress bar


def write_motion(geometry: Geometry, table: Table, guess: Array, output: Path) -> None:
    """Follow the leg lengths in the rows of the table from a pose (7,) near the first, and write what they lead to.

    Poses; with leg speeds v1…v6 also twists, with leg accelerations a1…a6 also accelerations.

    Raises:
        InputError: a row leads to no pose, or to a singular one where more than the pose is asked for, or the file
            cannot be written; nothing is left of it then.
    """
    lengths = table.columns(per_leg("l"))
    speeds, accelerations = (table.columns(per_leg(x)) if table.has(per_leg(x)) else None for x in "va")
    reach = len(POSE) if speeds is None else TWIST.stop if accelerations is None else ACCELERATION.stop
    motions = np.empty((len(lengths), reach))
    pose = guess
    for row, time in enumerate(table.times):
        wanted = "pose"
        try:
            motions[row, : len(POSE)] = pose = forward_kinematics(geometry, lengths[row], pose)
            if speeds is not None:
                wanted = "twist"
                motions[row, TWIST] = forward_twist(geometry, pose, speeds[row])
            if accelerations is not None:
                wanted = "acceleration"
                motions[row, ACCELERATION] = forward_acceleration(
                    geometry, pose, motions[row, TWIST], accelerations[row]
                )
        except KinematicsError as error:
            raise InputError(f"{table.path}: no {wanted} for row {row + 1} (t = {time:g} s): {error}") from error
    write_table(output, ("t", *MOTION[:reach]), np.column_stack([table.times, motions]))


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
