"""Positions that an operator has given names: a small TOML file that may be edited, checked as it is read."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kinematics import Array, InputFileError, MissingFileError, parse_toml, read_text, toml_item
from rig.config import RigConfig, config_faults
from rig.csvio import whole_file
from rig.errors import InputError

Model = TypeVar("Model", bound=BaseModel)


class NamedStore:
    """A file that is read anew each time, as several programs may use it. One that cannot be used is not written over.

    Args:
        path: of the file, which need not be there yet.
        what: it holds, for a person.
    """

    def __init__(self, path: Path, what: str) -> None:
        self.path = path
        self._what = what

    def read(self, model: type[Model]) -> Model | None:
        """What it holds; None where there is no file. Raises InputError with what is wrong where it is no `model`."""
        try:
            data = parse_toml(read_text(self.path))
        except MissingFileError:
            return None
        except (InputFileError, OSError, UnicodeDecodeError) as error:
            raise InputError(f"{self._what} {self.path}: {error}") from None
        try:
            return model.model_validate(data)
        except ValidationError as error:
            faults = [fault.text for fault in config_faults(error)]
            raise self._unusable(faults) from None

    def check(self, faults: Sequence[str], names: Sequence[str]) -> None:
        """Raise InputError with the faults found in it, and with names that are there more than once, if there are."""
        twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
        found = [*faults, *(f"{name!r}: there are {names.count(name)} of this name" for name in twice)]
        if found:
            raise self._unusable(found)

    def check_room(self, count: int, most: int) -> None:
        """Raise InputError where it holds `most` already."""
        if count >= most:
            raise InputError(f"{self._what} {self.path}: there are {count}, must be at most {most}")

    def write(self, text: str) -> None:
        """Write it, and the folder for it. Raises InputError where that fails."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{self._what} {self.path}: {error.strerror or error}") from None
        with whole_file(self.path) as file:
            file.write(text)

    def _unusable(self, faults: Sequence[str]) -> InputError:
        return InputError(f"{self._what} {self.path} cannot be used, and are left as they are:", faults)


def text_fault(name: str, most: int) -> str:
    """Why something cannot have this name of at most so many characters, in words; empty when it can."""
    if not name or name != name.strip() or not name.isprintable():
        return f"name {name!r}: must be printable text without spaces around it"
    return f"name {name!r}: {len(name)} characters, must be at most {most}" if len(name) > most else ""


_UNIT_NORM = 1e-6
_LONGEST = 60  # characters of a name
_MOST = 500  # positions
_HEAD = "# Saved positions: x, y, z in m and the unit quaternion qw, qx, qy, qz, base frame.\n"

Finite = Annotated[float, Field(allow_inf_nan=False)]


class _Saved(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)

    name: str
    pose: Annotated[list[Finite], Field(min_length=7, max_length=7)]


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)

    position: Annotated[list[_Saved], Field(max_length=_MOST)] = []


def positions_path(config: RigConfig, recordings: Path | None = None) -> Path:
    """The file of a rig's saved positions: beside its configuration.

    The shipped configuration is nobody's to change: its positions lie in the folder `recordings`, left out: its own.
    """
    folder = config.folder
    if config.shipped:
        folder = Path(config.recording.directory) if recordings is None else recordings
    return folder / f"{config.path.stem}.positions.toml"


def name_fault(name: str) -> str:
    """Why a position cannot have this name, in words; empty when it can."""
    fault = text_fault(name, _LONGEST)
    if fault:
        return fault
    if name == "home":
        return "name 'home': that is the mechanism's own pose"
    return f"name {name!r}: must have no comma, by which seven numbers are told from a name" if "," in name else ""


class Positions:
    """The positions of a file. It is read anew each time, as the app and a console may both use it.

    A file that cannot be used is named with what is wrong in it, and never written over.

    Args:
        path: of the file, which need not be there yet.

    Every method raises InputError where the file cannot be used or written, or the name is none that it can have.
    """

    def __init__(self, path: Path) -> None:
        self._file = NamedStore(path, "saved positions")

    @property
    def path(self) -> Path:
        """Of the file."""
        return self._file.path

    def all(self) -> dict[str, Array]:
        """Name → pose (7,): m and unit quaternion, scalar first, base frame; in the file's order."""
        read = self._file.read(_File)
        saved = [] if read is None else read.position
        faults = [fault for each in saved if (fault := name_fault(each.name) or _pose_fault(each))]
        self._file.check(faults, [each.name for each in saved])
        return {each.name: _normalised(each.pose) for each in saved}

    def save(self, name: str, pose: Array) -> None:
        """Add a pose (7,) under a new name."""
        saved = self.all()
        self._check_new(saved, name)
        self._file.check_room(len(saved), _MOST)
        self._write(saved | {name: pose})

    def rename(self, name: str, new: str) -> None:
        """Give one another name; it stays in its place."""
        saved = self.all()
        self._named(saved, name)
        self._check_new(saved, new)
        self._write({new if each == name else each: pose for each, pose in saved.items()})

    def delete(self, name: str) -> Array:
        """Forget one; its pose (7,)."""
        saved = self.all()
        pose = self._named(saved, name)
        del saved[name]
        self._write(saved)
        return pose

    def _named(self, saved: dict[str, Array], name: str) -> Array:
        if name not in saved:
            known = ", ".join(map(repr, saved)) or "none"
            raise InputError(f"no position {name!r} is saved; saved are: {known}")
        return saved[name]

    def _check_new(self, saved: dict[str, Array], name: str) -> None:
        fault = name_fault(name) or (f"a position {name!r} is saved already" if name in saved else "")
        if fault:
            raise InputError(fault)

    def _write(self, saved: dict[str, Array]) -> None:
        text = _HEAD
        for name, pose in saved.items():
            numbers = toml_item(pose.tolist()).as_string()
            text += f"\n[[position]]\nname = {toml_item(name).as_string()}\npose = {numbers}\n"
        self._file.write(text)


def _pose_fault(saved: _Saved) -> str:
    norm = float(np.linalg.norm(saved.pose[3:]))
    if abs(norm - 1.0) <= _UNIT_NORM:
        return ""
    return f"{saved.name!r}: the quaternion's norm is {norm:.9g}, must be 1 within {_UNIT_NORM:g}"


def _normalised(pose: list[float]) -> Array:
    made = np.array(pose)
    made[3:] /= np.linalg.norm(made[3:])
    return made
