"""Trajectory files: what a person writes in TOML (or a CSV of poses), and how it becomes a trajectory.

A file states the frame and the pivot once and lists its parts, run one after the other:

    frame = "home"                 # zeros are the platform's home pose; or "base"
    pivot = [0, 0, "35 mm"]        # turn about this point, platform axes; the platform origin if not given
    amplitude = 0.8                # size of the whole about its start pose; 1 if not given

    [validation]                   # what its runs have to achieve, where the rig's configuration says otherwise
    residual_rms = "0.8 N"

    [[parts]]
    type = "minimum-jerk"          # blend, minimum-jerk, harmonic, chirp, random, hold, poses, transition
    start = [0, 0, 0, 0, 0, 0]     # x y z, m, and rx ry rz, rad; or with units
    end = [0, 0, "20 mm", 0, 0, "5 deg"]
    duration = "2 s"

    [[parts]]
    type = "transition"            # from the pose, speed and acceleration of the part before to those of the part after
    duration = "1.5 s"

    [[parts]]
    type = "random"                # band-limited noise, at rest at the offset at both ends
    terms = [{ dof = "z", rms = "3 mm", low_frequency = "0.2 Hz", high_frequency = "2 Hz" }]
    duration = "20 s"
    fade = "2 s"
    seed = 7                       # the same is the same motion; 0 if not given
"""

from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tomlkit
from numpy.typing import ArrayLike
from pydantic import Field, ValidationError
from tomlkit.items import Table

from kinematics.errors import InputFileError, TrajectoryError
from kinematics.inputs import Length, add_toml_entry, is_pipe, parse_toml, read_text
from kinematics.trajectories.base import COORDINATES, Placement, Trajectory, TrajectoryFrame
from kinematics.trajectories.parts import LONGEST_FILE, FileModel, Part, TransitionPart
from kinematics.trajectories.poses import Poses, read_poses
from kinematics.trajectories.sequence import Sequence
from kinematics.trajectories.thresholds import Thresholds

_MOST_PARTS = 1000
_LISTED_FAULTS = 30
_LONGEST_REASON = 300  # characters


class TrajectorySpec(FileModel):
    """A trajectory file: frame and pivot of all coordinates, parts in order, size of the whole, and its thresholds."""

    frame: TrajectoryFrame
    """Frame of all coordinates; "home": relative to the platform's home pose."""
    pivot: tuple[Length, Length, Length] = (0.0, 0.0, 0.0)
    """Point about which the platform turns, platform axes from the platform's origin, m."""
    amplitude: Annotated[float, Field(gt=0.0, le=1.0)] = 1.0
    """Size of the whole about its start pose."""
    validation: Thresholds = Thresholds()
    """Thresholds of its runs' verdicts, which take precedence over the configuration's."""
    parts: Annotated[list[Part], Field(min_length=1, max_length=_MOST_PARTS)]
    """The parts, run one after the other."""


def build_trajectory(spec: TrajectorySpec, home: ArrayLike | None, folder: Path | None = None) -> Trajectory:
    """The trajectory of `spec`; `home` (7,) is the platform's home pose in the base frame, None if it has none.

    CSV files are looked for from `folder` (the working folder if None).  Raises TrajectoryError listing the faults.
    """
    faults: list[str] = []
    built: dict[int, Trajectory] = {}
    transitions: dict[int, Trajectory] = {}
    placement = None
    try:
        placement = Placement(spec.frame, np.array(spec.pivot), None if home is None else np.asarray(home, dtype=float))
    except TrajectoryError as error:
        faults.append(str(error))
    for number, part in enumerate(spec.parts, start=1):
        if not isinstance(part, TransitionPart):
            try:
                built[number] = part.build(folder or Path())
            except TrajectoryError as error:
                faults.append(f"part {number}, {error}")
    for number, part in enumerate(spec.parts, start=1):
        if isinstance(part, TransitionPart):
            beside = [*spec.parts[max(number - 2, 0) : number - 1], *spec.parts[number : number + 1]]
            if len(beside) < 2 or any(isinstance(other, TransitionPart) for other in beside):
                faults.append(f"part {number}, transition: must stand between two parts of other types")
            elif number - 1 in built and number + 1 in built:
                transitions[number] = part.between(built[number - 1], built[number + 1])
    parts = [each for _number, each in sorted((built | transitions).items())]
    duration = sum(part.duration for part in parts)
    if duration > LONGEST_FILE:
        faults.append(
            f"parts: {duration:g} s in all, must be at most {LONGEST_FILE:g} s; run a shorter motion repeatedly"
        )
    if faults:
        raise TrajectoryError("\n".join(faults))
    trajectory = Sequence(parts, placement=placement)
    trajectory.amplitude = spec.amplitude
    trajectory.thresholds = spec.validation
    return trajectory


def parse_specification(text: str) -> TrajectorySpec:
    """What a file's TOML `text` states.  TrajectoryError listing all faults, each with its place in the file."""
    try:
        return TrajectorySpec.model_validate(parse_toml(text))
    except InputFileError as error:
        raise TrajectoryError(str(error)) from None
    except ValidationError as error:
        faults = [f"{_place(fault['loc'])}: {_reason(fault['msg'])}" for fault in error.errors(include_url=False)]
        raise TrajectoryError("\n".join(faults)) from None


def parse_trajectory(text: str, home: ArrayLike | None, folder: Path | None = None) -> Trajectory:
    """The trajectory of a file's TOML `text`.  Arguments as `build_trajectory`; TrajectoryError listing all faults."""
    return build_trajectory(parse_specification(text), home, folder)


def trajectory_text(motion: Mapping[str, Any]) -> str:
    """The text of the file of a motion: what a file states, as data, SI; None stands for what is not given."""
    document, parts = tomlkit.document(), tomlkit.aot()
    for key in ("frame", "pivot", "amplitude"):
        if key in motion:
            add_toml_entry(document, key, motion[key])
    if thresholds := motion.get("validation"):
        document.add("validation", _table(thresholds))
    for part in motion["parts"]:
        parts.append(_table(part))
    document.add("parts", parts)
    return tomlkit.dumps(document)


def _table(data: Mapping[str, Any]) -> Table:
    table = tomlkit.table()
    for key, value in data.items():
        if value is not None:
            add_toml_entry(table, key, value)
    return table


def trajectory_names() -> list[str]:
    """Names of the shipped trajectories."""
    entries = resources.files(__package__).iterdir()
    return sorted(entry.name.removesuffix(".toml") for entry in entries if entry.name.endswith(".toml"))


def load_trajectory(source: str | Path, home: ArrayLike | None) -> Trajectory:
    """Read a trajectory: a .toml file, a .csv of poses, also out of a pipe, or the bare name of a shipped trajectory.

    Poses are of the platform's origin in the base frame, at rest at both ends.
    home: (7,) pose of the platform in the base frame for files in the frame "home", or None.
    Raises TrajectoryError naming the file and listing all its faults.
    """
    path = Path(source)
    shipped = path.suffix == "" and path.name == str(source)
    try:
        if path.suffix.lower() == ".csv" or (path.suffix.lower() != ".toml" and is_pipe(path)):
            return Poses(*read_poses(path))
        if path.suffix.lower() == ".toml":
            text = read_text(path)
        elif shipped and path.name in trajectory_names():
            text = resources.files(__package__).joinpath(f"{path.name}.toml").read_text(encoding="utf-8")
        else:
            known = ", ".join(trajectory_names())
            raise TrajectoryError(f"must be a .toml or .csv file, or a shipped trajectory ({known})")
        return parse_trajectory(text, home, path.parent)
    except InputFileError as error:
        raise TrajectoryError(f"{source}: {error}") from None
    except TrajectoryError as error:
        faults = str(error).removeprefix(f"{source}: ")
        lines = faults.splitlines()
        if len(lines) > _LISTED_FAULTS:
            faults = "\n".join([*lines[:_LISTED_FAULTS], f"and {len(lines) - _LISTED_FAULTS} more"])
        if "\n" in faults and not faults.startswith("not a usable"):
            faults = "faults in the trajectory file:\n" + "\n".join(f"  {line}" for line in faults.splitlines())
        raise TrajectoryError(f"{source}: {faults}") from None


def _place(location: tuple[int | str, ...]) -> str:
    """Where in the file a fault is, for a person: parts, terms counted from 1, coordinates by name."""
    words: list[str] = []
    parent = ""
    tagged = False  # pydantic puts the tag of a union's chosen member after the list index
    for item in location:
        if isinstance(item, int):
            if parent in ("parts", "terms"):
                words[-1] = f"{parent.removesuffix('s')} {item + 1}"
                tagged = True
            else:
                words.append(COORDINATES[item] if item < len(COORDINATES) else f"value {item + 1}")
        elif tagged:
            tagged = False
        else:
            words.append(item)
            parent = item
    return ", ".join(words) or "file"


def _reason(message: str) -> str:
    reason = message.removeprefix("Value error, ").replace("Extra inputs are not permitted", "unknown key")
    return reason if len(reason) <= _LONGEST_REASON else reason[:_LONGEST_REASON] + "…"
