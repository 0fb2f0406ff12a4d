"""A configuration's or a motion's file changed as a person would: one section, everything else as it is."""

from pathlib import Path

import tomlkit
from pydantic import ValidationError
from tomlkit.items import InlineTable, Table

from kinematics import InputFileError, KinematicsError, Thresholds, parse_specification, read_text
from rig.config.faulty_values import finding_of
from rig.config.rig_config import RigConfig, parse_config
from rig.config.sections import Validation
from rig.csvio import whole_file
from rig.errors import ConfigError, ConfigFault
from rig.findings import Code, Finding


def save_thresholds(config: RigConfig, thresholds: Validation) -> None:
    """Put thresholds into [validation] of a configuration's file, as it is now; comments and the rest stay.

    Raises:
        ConfigError: the configuration came with the project, or its file cannot be used, before or after.
        InputError: it cannot be written; it stays as it was.
    """
    path = config.path
    if config.shipped:
        raise ConfigError(f"configuration {path.stem!r} came with the project and is not changed: copy it first")
    try:
        text = with_thresholds(read_text(path), thresholds)
    except InputFileError as error:
        raise ConfigError(f"configuration {path}: {error}") from None
    except tomlkit.exceptions.TOMLKitError as error:
        raise ConfigError(f"configuration {path}: not TOML any more: {error}") from None
    parse_config(text, path)
    with whole_file(path) as file:
        file.write(text)


def save_own_thresholds(path: Path, thresholds: Thresholds) -> None:
    """Put thresholds into [validation] of a motion's file, as it is now; comments and the rest stay.

    Raises:
        ConfigError: the file cannot be used, before or after.
        InputError: it cannot be written; it stays as it was.
    """
    try:
        text = with_thresholds(read_text(path), thresholds)
        parse_specification(text)
    except KinematicsError as error:
        raise ConfigError(f"motion {path}: {error}") from None
    except tomlkit.exceptions.TOMLKitError as error:
        raise ConfigError(f"motion {path}: not TOML any more: {error}") from None
    with whole_file(path) as file:
        file.write(text)


def with_thresholds(text: str, thresholds: Thresholds) -> str:
    """A file's text with these thresholds; what says the same already stays as it is written.

    Raises:
        TOMLKitError: it is no TOML.
        ConfigError: its own thresholds cannot be used.
    """
    document = tomlkit.parse(text)
    section = document.get("validation")
    if not isinstance(section, Table | InlineTable):
        section = tomlkit.table()
        document["validation"] = section
    try:
        before = type(thresholds).model_validate(section.unwrap())
    except ValidationError as error:
        faults = [ConfigFault(each["loc"][:1], finding_of(each)) for each in error.errors()]
        raise ConfigError(Finding(Code.SECTION_UNUSABLE, details={"section": "validation"}), faults) from None
    for name in type(thresholds).model_fields:
        wanted = getattr(thresholds, name)
        if wanted == getattr(before, name):
            continue
        if wanted is None:
            del section[name]
        else:
            section[name] = wanted
    return tomlkit.dumps(document)
