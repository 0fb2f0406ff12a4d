"""Naming a calibration in a configuration that a person wrote: one line changes, the rest stays as it is."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

from rig.config import load_config
from rig.csvio import whole_file
from rig.errors import ConfigError, InputError

_HEADER = re.compile(r"\s*\[\s*load_cells\s*\]\s*(#.*)?")
_ENTRY = re.compile(r"\s*calibration\s*=")


def name_calibration(path: Path, name: str) -> None:
    """Let the configuration `path` name the calibration `name` (a path from its folder) and change nothing else.

    Raises:
        InputError: the file cannot be read or written, or says it in a way that is not to be edited by a program;
            nothing is changed then.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read configuration {path}: {error}") from error
    wanted = tomllib.loads(text)
    wanted.setdefault("load_cells", {})["calibration"] = name
    changed = _changed(text, f"calibration = {json.dumps(name, ensure_ascii=False)}\n")
    if _parsed(changed) != wanted:
        raise InputError(f'{path} is left as it is; write into its [load_cells] table: calibration = "{name}"')
    with whole_file(path) as file:
        file.write(changed)
        file.flush()
        try:
            load_config(Path(file.name))
        except ConfigError as error:
            raise ConfigError(f"configuration {path} is left as it is:", error.faults) from error


def _changed(text: str, entry: str) -> str:
    lines = text.splitlines(keepends=True)
    start = next((index for index, line in enumerate(lines) if _HEADER.fullmatch(line.rstrip("\r\n"))), None)
    if start is None:
        return text + ("" if text.endswith("\n") else "\n") + "\n[load_cells]\n" + entry
    end = next((index for index in range(start + 1, len(lines)) if lines[index].lstrip().startswith("[")), len(lines))
    place = next((index for index in range(start + 1, end) if _ENTRY.match(lines[index])), None)
    if place is not None:
        lines[place] = entry
    else:
        lines.insert(start + 1, entry)
    return "".join(lines)


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None
