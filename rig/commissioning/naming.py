"""Naming a calibration in a configuration that a person wrote: one line changes, the rest stays as it is."""

import io
import os
import re
import stat
from pathlib import Path
from typing import Any

from kinematics import MOST_BYTES, InputFileError, open_input, parse_toml, toml_value
from rig.config import load_config
from rig.csvio import check_output, whole_file
from rig.errors import ConfigError, InputError

_HEADER = re.compile(r"\s*\[\s*load_cells\s*\]\s*(#.*)?")
_ENTRY = re.compile(r"""(\s*calibration\s*=\s*)(?:"(?:[^"\\]|\\.)*"|'[^']*')(\s*(?:#.*)?)""", re.DOTALL)


def check_naming(path: Path, name: str) -> None:
    """Try `name_calibration` as far as it goes without the calibration's file; nothing is written.

    Raises:
        ConfigError: the file is not a configuration any more.
        InputError: it cannot be read or written, or is not to be edited by a program.
    """
    _edited(path, name)
    check_output(path)
    folder = Path(os.path.realpath(path)).parent
    if not os.access(folder, os.W_OK | os.X_OK):  # a file is written whole, under another name at first
        raise InputError(f"cannot write {path}: its folder {folder} takes no file")


def name_calibration(path: Path, name: str) -> None:
    """Let the configuration `path` name the calibration `name` (a path from its folder) and change nothing else.

    Line endings, comments and the file's mode stay.

    Raises:
        ConfigError: the file is not a configuration any more, or would not be one; nothing is changed then.
        InputError: it cannot be read or written, or says it in a way that is not to be edited by a program;
            nothing is changed then.
    """
    changed = _edited(path, name)
    with whole_file(path) as file:
        os.fchmod(file.fileno(), stat.S_IMODE(path.stat().st_mode))
        file.write(changed)
        file.flush()
        try:
            load_config(Path(file.name))
        except ConfigError as error:
            raise ConfigError(f"configuration {path} is left as it is:", error.faults or [str(error)]) from error


def _edited(path: Path, name: str) -> str:
    """The text of the file `path` with its calibration named; see `name_calibration`."""
    try:
        with open_input(path, MOST_BYTES) as file:
            text = file.read()
    except InputFileError as error:
        raise InputError(f"cannot read configuration {path}: {error}") from None
    try:
        wanted = parse_toml(text)
    except InputFileError as error:
        raise ConfigError(f"configuration {path} is left as it is: {error}") from None
    cells = wanted.setdefault("load_cells", {})
    if not isinstance(cells, dict):
        raise ConfigError(f"configuration {path} is left as it is: load_cells is not a table")
    cells["calibration"] = name
    changed = _changed(text, toml_value(name))
    if _parsed(changed) != wanted:
        raise InputError(f'{path} is left as it is; write into its [load_cells] table: calibration = "{name}"')
    return changed


def _changed(text: str, value: str) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    entry = f"calibration = {value}{newline}"
    if not text.endswith("\n"):
        text += newline
    lines = list(io.StringIO(text, newline=""))  # with their endings
    start = next((index for index, line in enumerate(lines) if _HEADER.fullmatch(line.rstrip("\r\n"))), None)
    if start is None:
        return f"{text}{newline}[load_cells]{newline}{entry}"
    end = next((index for index in range(start + 1, len(lines)) if lines[index].lstrip().startswith("[")), len(lines))
    for index in range(start + 1, end):
        if match := _ENTRY.fullmatch(lines[index]):
            lines[index] = f"{match[1]}{value}{match[2]}"
            break
    else:
        lines.insert(start + 1, entry)
    return "".join(lines)


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        return parse_toml(text)
    except InputFileError:
        return None
