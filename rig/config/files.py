"""Files that a configuration names beside itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from actuators import DriveSettings, find_cell_driver, find_driver
from rig.config.sections import Section

if TYPE_CHECKING:
    from rig.config.rig_config import RigConfig


def with_found_files(config: RigConfig, folder: Path) -> RigConfig:
    """The configuration with the files that drives and load cells name found from anywhere; they are in `folder`."""
    drives = config.drives
    legs = tuple(
        leg if leg.settings is None else leg.model_copy(update={"settings": _found(leg.settings, folder)})
        for leg in drives.legs
    )
    files = {
        name: str(resolve_name(folder, getattr(drives, name))) for name in find_driver(drives.driver).settings.files
    }
    changes: dict[str, Section] = {"drives": drives.model_copy(update=files | {"legs": legs})}
    cells = config.load_cells
    if cells.places:
        named = find_cell_driver(cells.driver).files
        placed = [
            place.model_copy(update={name: str(resolve_name(folder, getattr(place, name))) for name in named})
            for place in cells.places.values()
        ]
        own = {"amplifier": placed[0]} if cells.devices is None else {"devices": tuple(placed)}
        changes["load_cells"] = cells.model_copy(update=own)
    return config.model_copy(update=changes)


def _found(settings: DriveSettings, folder: Path) -> DriveSettings:
    """A leg's settings with their files named so that they are found from anywhere."""
    return settings.model_copy(
        update={name: str(resolve_name(folder, getattr(settings, name))) for name in settings.files}
    )


def names_file(name: str) -> bool:
    """Whether the `name` of a mechanism or profile means a file; a bare one means something that comes along."""
    return name.endswith(".toml") or Path(name).name != name


def resolve_name(folder: Path, name: str) -> str | Path:
    """The file `name` means in `folder`; a bare name stays."""
    return folder / name if names_file(name) else name
