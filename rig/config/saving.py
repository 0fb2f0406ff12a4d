"""Changes of one section in a configuration or motion file that preserve the rest of the file."""

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
    """Save thresholds to [validation] of the current configuration file; comments and the rest are preserved.

    Raises:
        ConfigError: a shipped configuration, or a file that is invalid before or after the change.
        InputError: it cannot be written and remains unchanged.
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
    """Save thresholds to [validation] of the current motion file; comments and the rest are preserved.

    Raises:
        ConfigError: the file is invalid before or after the change.
        InputError: it cannot be written and remains unchanged.
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
    """Return a file's text with these thresholds; unchanged values keep their notation.

    Raises:
        TOMLKitError: the text is not TOML.
        ConfigError: its own thresholds are invalid.
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
