"""The model applied to CSV files: inverse dynamics, inverse and forward kinematics."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from kinematics import Array, AssemblyModes, KinematicsError, assembly_modes, leg_kinematics
from rig.csvio import (
    MOTION,
    POSE,
    REACTIONS,
    Table,
    check_output,
    per_leg,
    whole_file,
    write_table,
)
from rig.errors import FieldError, InputError
from rig.motions import SampledMotion, follow_lengths, read_lengths, read_motion
from rig.services.job import OnEvent, Progress, no_progress
from rig.services.path_planning import Pose
from rig.services.request import request
from rig.services.sources import Notices

if TYPE_CHECKING:
    from dynamics import Mechanism, ReactionPeak


@request
class InverseRequest:
    """Leg forces of a motion."""

    mechanism: str
    """a mechanism file, or the name of a shipped one"""
    motion: Path
    """a motion as `rig.motions.read_motion` reads it: a table, a recording, a trajectory; an external wrench fx…mz,
    platform axes, may follow in a table"""
    output: Path
    """CSV file of t and f1…f6, N, pushing positive; with `reactions` also all joint reactions, N and N m, base axes"""
    model: str = "exact"
    """or a published one: dasgupta-1998, pedrammehr-2012, massless; see `dynamics.papers.MENDED` for mended ones"""
    reactions: bool = False
    """add the reactions of every joint; exact model only"""
    spherical_ends: bool = False
    """spherical joints also at the legs' base ends; exact model only"""
    peaks: bool = False
    """find the peak reaction of every joint; exact model only"""
    cluster: str | None = None
    """address of a Dask scheduler, or local:N; forces of the exact model only"""
    step: float | None = None
    """s, between the samples; None: the rows of a table or a recording, of a trajectory 10 ms or a 600th of it"""
    friction: Literal["printed", "same", "none"] = "printed"
    """that of the model's paper, the mechanism's in every model, or none"""

    def __post_init__(self) -> None:
        from dynamics import papers

        exact = self.model == "exact"
        if self.model not in (known := papers.MODELS + papers.MENDED):
            raise FieldError("model", f"{self.model!r} must be one of {', '.join(known)}")
        if exact and self.friction == "none":
            raise FieldError("friction", "none goes with a published model, not with exact")
        if not exact and (self.reactions or self.peaks):
            field = "reactions" if self.reactions else "peaks"
            raise FieldError(field, f"joint reactions are of the exact model only, not of {self.model}")
        if not exact and self.spherical_ends:
            raise FieldError("spherical_ends", f"goes with the exact model, not with {self.model}")
        if self.cluster is not None and (self.reactions or self.peaks or not exact):
            raise FieldError("cluster", "the forces of the exact model only, without reactions")


@dataclass(frozen=True, slots=True)
class InverseResult:
    """Result: the file, the mechanism's name, and the peaks, None if not requested."""

    forces: Path
    mechanism: str
    peaks: "tuple[ReactionPeak, ...] | None"


def inverse(request: InverseRequest, progress: OnEvent = no_progress) -> InverseResult:
    """Compute inverse dynamics of a motion. The published models follow their papers, without Coulomb friction.

    Events: notices of the mechanism, and of friction that a model leaves out.

    Raises:
        InputError, KinematicsError, DynamicsError: a file that cannot be read or written.
    """
    from dynamics import inverse_batch, load_mechanism, papers, reaction_peaks, with_spherical_ends

    check_output(request.output)
    machine = load_mechanism(request.mechanism, evaluate_only=True)
    notices = Notices(progress)
    for warning in machine.warnings:
        notices.add("mechanism", warning)
    if request.spherical_ends:
        machine = with_spherical_ends(machine)
    exact = request.model == "exact"
    printed = request.friction == "printed"
    if not exact and printed and any(leg.friction.coulomb for leg in machine.legs):
        notices.add("friction", f"model {request.model} has no Coulomb friction, the mechanism's is left out")
    motion = _motion(request.motion, machine, request.step)
    motions, wrenches = motion.motions, motion.wrenches
    names, columns = ["t", *per_leg("f")], [motion.times[:, np.newaxis]]
    if request.cluster is not None:
        from rig.workspace import inverse_on_cluster, open_cluster

        with open_cluster(request.cluster) as client:
            columns.append(inverse_on_cluster(client, machine, motions, wrenches))
    elif not exact:
        columns.append(papers.variant_forces(request.model, machine, motions, wrenches, friction=request.friction))
    elif not request.reactions:
        columns.append(inverse_batch(machine, motions, wrenches))
    else:
        for prefixes, values in _reactions(machine, motions, wrenches):
            names += prefixes
            columns.append(values)
    write_table(request.output, names, np.hstack(columns))
    peaks = reaction_peaks(machine, motions, wrenches, times=motion.times) if request.peaks else None
    return InverseResult(request.output, machine.name, None if peaks is None else tuple(peaks))


def _motion(source: Path, machine: "Mechanism", step: float | None) -> SampledMotion:
    motion = read_motion(source, machine.geometry)
    return motion if step is None else motion.sampled(step)


def _reactions(machine: "Mechanism", motions: Array, wrenches: Array | None) -> list[tuple[Sequence[str], Array]]:
    """Return the forces, and all joint reactions with their column names."""
    from dynamics import Dynamics, leg_reactions

    result = Dynamics(machine).inverse(motions, wrenches)
    named = zip(REACTIONS, leg_reactions(result).values(), strict=True)
    return [
        ((), result.forces),
        *((per_leg(prefix, "xyz"), values.reshape(len(values), -1)) for prefix, values in named),
    ]


@request
class LegLengthsRequest:
    """Leg lengths, speeds and accelerations of a motion."""

    mechanism: str
    """a mechanism file, or the name of a shipped one"""
    motion: Path
    """a motion as `rig.motions.read_motion` reads it: a table, a recording, a trajectory"""
    output: Path
    """CSV file of t, l1…l6, v1…v6, a1…a6, m, m/s, m/s²"""
    step: float | None = None
    """s, between the samples; None: the rows of a table or a recording, of a trajectory 10 ms or a 600th of it"""


@dataclass(frozen=True, slots=True)
class LegLengthsResult:
    """Result: the file and its number of rows."""

    legs: Path
    rows: int


def inverse_kinematics(request: LegLengthsRequest, progress: OnEvent = no_progress) -> LegLengthsResult:
    """Compute inverse kinematics of a motion.

    Raises:
        InputError, KinematicsError, DynamicsError: a file that cannot be read or written.
    """
    from dynamics import load_mechanism

    del progress  # no stages
    check_output(request.output)
    machine = load_mechanism(request.mechanism, evaluate_only=True)
    motion = _motion(request.motion, machine, request.step)
    legs = leg_kinematics(machine.geometry, motion.motions)
    names = ("t", *per_leg("l"), *per_leg("v"), *per_leg("a"))
    write_table(request.output, names, np.column_stack([motion.times, legs.length, legs.velocity, legs.acceleration]))
    return LegLengthsResult(request.output, len(motion.times))


@request
class PosesRequest:
    """Platform poses of given leg lengths, each row solved from the previous pose."""

    mechanism: str
    """a mechanism file, or the name of a shipped one"""
    legs: Path
    """leg lengths as `rig.motions.read_lengths` reads them: a table of t, increasing, l1…l6, m; v1…v6, m/s, and then
    a1…a6, m/s², may follow; or a recording, as measured"""
    output: Path
    """CSV file of t and poses, with twists and accelerations if the legs have speeds and accelerations"""
    guess: Pose
    """a pose near the first row's: x, y, z, m, and a unit quaternion, scalar first"""


@dataclass(frozen=True, slots=True)
class PosesResult:
    """Result: the file and its number of rows."""

    motion: Path
    rows: int


def follow_poses(request: PosesRequest, progress: OnEvent = no_progress) -> PosesResult:
    """Solve forward kinematics along the rows.

    Raises:
        InputError: a file that cannot be read or written; a row that leads to no pose, to another assembly mode or,
            with speeds, to a singular pose. Then no file is written.
    """
    del progress  # no stages
    machine, table = _legs(request)
    motions = follow_lengths(machine.geometry, table, np.array(request.guess))
    write_table(request.output, ("t", *MOTION[: motions.shape[1]]), np.column_stack([table.times, motions]))
    return PosesResult(request.output, len(table.times))


@request
class AllPosesRequest:
    """All poses of given leg lengths, row by row."""

    mechanism: str
    """a mechanism file, or the name of a shipped one"""
    legs: Path
    """leg lengths as `rig.motions.read_lengths` reads them"""
    output: Path
    """CSV file of t, mode, a pose and residual, m; modes are numbered from the highest downwards"""
    seed: int = 0
    """seed of the search"""


@dataclass(frozen=True, slots=True, eq=False)
class AllPosesResult:
    """Result: the file, and for each row its time, s, and all assembly modes."""

    poses: Path
    times: tuple[float, ...]
    modes: tuple[AssemblyModes, ...]


def find_all_poses(request: AllPosesRequest, progress: OnEvent = no_progress) -> AllPosesResult:
    """Find all assembly modes, regardless of strokes and joint limits.

    Events: `assembly-modes` before each row.

    Raises:
        InputError: a file that cannot be read or written, a row with unusable lengths.
    """
    machine, table = _legs(request)
    lengths = table.columns(per_leg("l"))
    found: list[AssemblyModes] = []
    for row, time in enumerate(table.times):
        progress(Progress("assembly-modes", row, len(lengths)))
        try:
            found.append(assembly_modes(machine.geometry, lengths[row], seed=request.seed))
        except KinematicsError as error:
            raise InputError(f"{table.path}: row {row + 1} (t = {time:g} s): {error}") from error
    times = table.times.tolist()
    with whole_file(request.output) as file:
        file.write(",".join(("t", "mode", *POSE, "residual")) + "\n")
        for time, modes in zip(times, found, strict=True):
            for mode, (pose, residual) in enumerate(zip(modes.poses, modes.residuals, strict=True), start=1):
                numbers = [*pose.tolist(), float(residual)]
                file.write(f"{time!r},{mode}," + ",".join(map(repr, numbers)) + "\n")
    return AllPosesResult(request.output, tuple(times), tuple(found))


def _legs(request: PosesRequest | AllPosesRequest) -> "tuple[Mechanism, Table]":
    from dynamics import load_mechanism

    check_output(request.output)
    machine = load_mechanism(request.mechanism, evaluate_only=True)
    return machine, read_lengths(request.legs)
