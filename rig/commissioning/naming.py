"""Change of the calibration name in a user's configuration file; the rest is preserved."""

import os
import stat
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Table

from kinematics import MOST_BYTES, InputFileError, open_input, parse_toml, toml_item
from rig.config import load_config
from rig.csvio import check_output, whole_file
from rig.errors import ConfigError, InputError
from rig.findings import Code, Finding


def check_naming(path: Path, name: str) -> None:
    """Check `name_calibration` without the calibration's file; nothing is written.

    Raises:
        ConfigError: the file is no longer a configuration.
        InputError: it cannot be read or written, or is in a form that cannot be edited.
    """
    _edited(path, name)
    check_output(path)
    folder = Path(os.path.realpath(path)).parent
    if not os.access(folder, os.W_OK | os.X_OK):  # the new file is first written under another name
        raise InputError(f"cannot write {path}: its folder {folder} takes no file")


def name_calibration(path: Path, name: str) -> None:
    """Set the calibration `name` (a path from its folder) in the configuration `path` and change nothing else.

    Line endings, comments and the file's mode are preserved.

    Raises:
        ConfigError: the file is not a configuration any more, or would not be one; nothing is changed then.
        InputError: it cannot be read or written, or is in a form that cannot be edited;
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
            raise ConfigError(Finding(Code.CONFIG_LEFT, details={"path": str(path)}), error.found) from error


def _edited(path: Path, name: str) -> str:
    """Return the text of the file `path` with its calibration named; see `name_calibration`."""
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
    try:
        changed = _changed(text, name)
        as_meant = parse_toml(changed) == wanted
    except (InputFileError, TOMLKitError):
        as_meant = False
    if not as_meant:
        raise InputError(f'{path} is left as it is; write into its [load_cells] table: calibration = "{name}"')
    return changed


def _changed(text: str, name: str) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    if not text.endswith("\n"):
        text += newline
    document = tomlkit.parse(text)
    value = toml_item(name)
    if "load_cells" not in document:
        return f"{text}{newline}[load_cells]{newline}calibration = {value.as_string()}{newline}"
    cells: Any = document["load_cells"]
    if isinstance(cells, Table) and not cells.is_super_table() and "calibration" not in cells:
        # First in its table: the last entry may be followed by a comment on the next table.
        value.trivia.trail = newline
        cells.value.body.insert(0, (tomlkit.key("calibration"), value))
    else:
        cells["calibration"] = value
    return tomlkit.dumps(document)
