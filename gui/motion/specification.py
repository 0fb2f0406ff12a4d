"""Motions as data: the kinds of parts there are, what a new one begins as, files in and out."""

import os
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any, get_args

import numpy as np
from pydantic import BaseModel

from gui.texts import tr
from kinematics import InputFileError, TrajectoryError, TrajectorySpec, parse_trajectory, read_text

Data = dict[str, Any]
"""A motion as its file states it, SI."""

_REST = [0.0] * 6
TRANSITION = "transition"
"""type of the parts that the app puts in where others do not meet"""

NEW_PARTS: dict[str, Data] = {
    "minimum-jerk": {"start": _REST, "end": [0.0, 0.0, 0.02, 0.0, 0.0, 0.0], "duration": 2.0},
    "blend": {"start": _REST, "end": [0.0, 0.0, 0.02, 0.0, 0.0, 0.0], "duration": 2.0, "speed": 0.015},
    "harmonic": {
        "terms": [{"dof": "z", "amplitude": 0.01, "frequency": 0.5, "phase": 0.0}],
        "duration": 8.0,
        "fade": 2.0,
        "offset": _REST,
    },
    "chirp": {
        "terms": [{"dof": "z", "amplitude": 0.003, "start_frequency": 0.2, "end_frequency": 2.0, "phase": 0.0}],
        "duration": 10.0,
        "fade": 2.0,
        "offset": _REST,
    },
    "random": {
        "terms": [{"dof": "z", "rms": 0.003, "low_frequency": 0.2, "high_frequency": 2.0}],
        "duration": 10.0,
        "fade": 2.0,
        "seed": 1,
        "offset": _REST,
    },
    "hold": {"position": _REST, "duration": 1.0},
    "poses": {"file": "", "rest_ends": True},
}
"""What a new part of each kind begins as on a machine on a table, see `new_part`."""
_LENGTHS = ("start", "end", "offset", "position", "speed", "amplitude", "rms")
"""of which x, y and z, or the number itself, go with the size of the machine"""


def new_part(kind: str, size: float = 1.0) -> Data:
    """What a new part of a kind begins as: a small motion about home, on a machine of a `size_class`."""
    return {"type": kind, **_sized(NEW_PARTS[kind], size)}


def _sized(values: Data, size: float) -> Data:
    made: Data = {}
    for name, value in values.items():
        if name == "terms":
            made[name] = [_sized(term, size) for term in value]
        elif name not in _LENGTHS:
            made[name] = value
        elif isinstance(value, list):
            made[name] = [size * number for number in value[:3]] + value[3:]
        else:
            made[name] = size * value
    return made


def part_models() -> dict[str, type[BaseModel]]:
    """The model of each kind of part that a person writes, by its `type`."""
    union = get_args(get_args(TrajectorySpec.model_fields["parts"].annotation)[0])[0]
    models = {get_args(model.model_fields["type"].annotation)[0]: model for model in get_args(union)}
    return {kind: model for kind, model in models.items() if kind != TRANSITION}


def authored(motion: Data) -> Data:
    """A motion without its transitions: what a person writes."""
    return motion | {"parts": [part for part in motion["parts"] if part["type"] != TRANSITION]}


def with_transitions(motion: Data, durations: dict[int, float]) -> Data:
    """A motion with transitions put in, s long each, behind the parts with these indices."""
    parts: list[Data] = []
    for index, part in enumerate(motion["parts"]):
        parts.append(part)
        if index in durations:
            parts.append({"type": TRANSITION, "duration": durations[index]})
    return motion | {"parts": parts}


def read_motion(path: Path, home: np.ndarray[Any, Any]) -> Data:
    """A motion file (TOML, or CSV of poses) as data. Raises TrajectoryError listing what is wrong with it."""
    if path.suffix.lower() == ".csv":
        return {"frame": "base", "pivot": [0.0] * 3, "parts": [{"type": "poses", "file": path.name, "rest_ends": True}]}
    try:
        text = read_text(path)
    except InputFileError as error:
        raise TrajectoryError(f"{path}: {error}") from None
    parse_trajectory(text, home, path.parent)  # says what is wrong in the file's own terms
    return _data(text)


def shipped_motion(name: str) -> Data:
    """A motion that comes along, as data."""
    return _data((resources.files("kinematics") / "trajectories" / f"{name}.toml").read_text(encoding="utf-8"))


def _data(text: str) -> Data:
    return as_data(TrajectorySpec.model_validate(tomllib.loads(text)))


def as_data(specification: TrajectorySpec) -> Data:
    """A motion as data."""
    motion = specification.model_dump(mode="json")
    if motion["amplitude"] == 1.0:
        del motion["amplitude"]
    motion["validation"] = specification.validation.named
    if not motion["validation"]:
        del motion["validation"]
    return motion


def moved(motion: Data, folder: Path, target: Path) -> Data:
    """A motion whose relative file names start at `folder`, to be kept in the folder `target`: the same files.

    A file in or below `target` is named from there, any other by its whole path.
    """
    here, there = (Path(os.path.abspath(each)) for each in (folder, target))

    def renamed(part: Data) -> Data:
        name = part.get("file")
        if not name or Path(name).is_absolute():
            return part
        place = Path(os.path.normpath(here / name))
        return part | {"file": (place.relative_to(there) if place.is_relative_to(there) else place).as_posix()}

    return motion | {"parts": [renamed(part) for part in motion["parts"]]}


def in_words(name: str) -> str:
    """A field of a motion's file as a person reads it."""
    return tr(name.replace("_", " "))
