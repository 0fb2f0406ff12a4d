"""Small files of what a person has given names: TOML that may be edited, checked whole, written whole or not at all."""

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from kinematics import InputFileError, MissingFileError, parse_toml, read_text
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
            faults = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()]
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
