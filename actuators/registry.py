"""Drivers by name: the ones shipped here, and those other distributions declare as entry points."""

from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from pydantic import ValidationError

from actuators.driver import DriveOptions, Driver
from actuators.errors import ActuatorError, ConfigurationError
from actuators.interface import Drive
from actuators.profile import describe
from actuators.virtual.faults import FaultyDrive
from actuators.virtual.port import PlantPort

GROUP = "stewart_rig.drivers"
"""Entry-point group: name of the driver → its `Driver`."""

_BUILT_IN = (EntryPoint("servo-tcp", "actuators.servo_tcp:DRIVER", GROUP),)
"""Found without installed metadata, so that a source checkout works; an installation declares the same."""


@cache
def _installed() -> tuple[EntryPoint, ...]:
    """What distributions declare; looked up once, as each look through all of them takes milliseconds."""
    return tuple(entry_points(group=GROUP))


def _entries() -> dict[str, EntryPoint]:
    entries = {entry.name: entry for entry in _BUILT_IN}
    for entry in _installed():
        known = entries.setdefault(entry.name, entry)
        if known.value != entry.value:
            raise ActuatorError(f"two drivers are called {entry.name!r}: {known.value} and {entry.value}")
    return entries


def drive_names() -> tuple[str, ...]:
    """Names of all drivers, sorted. Raises ActuatorError if two different ones share a name."""
    return tuple(sorted(_entries()))


def find_driver(name: str) -> Driver:
    """The driver called `name`. Raises ConfigurationError for an unknown one (listing the known), or a broken one."""
    entries = _entries()
    if name not in entries:
        raise ConfigurationError(f"no driver {name!r}; known drivers: {', '.join(sorted(entries))}")
    value = entries[name].value
    try:
        driver = entries[name].load()
    except (ImportError, AttributeError) as error:
        raise ConfigurationError(f"driver {name!r} ({value}) cannot be loaded: {error}") from error
    if not isinstance(driver, Driver):
        raise ConfigurationError(f"driver {name!r} ({value}) is a {type(driver).__name__}, no Driver")
    return driver


def create_drive(driver: str, options: Mapping[str, Any]) -> Drive:
    """Make a drive, not yet connected. driver: one of `drive_names`. options: those of `Driver.options`.

    Raises ConfigurationError for an unknown driver (listing the known ones) or bad options (listing all faults).
    """
    found = find_driver(driver)
    return found.create(_validated(driver, found, options))


def create_twin(driver: str, options: Mapping[str, Any], leg: PlantPort) -> FaultyDrive:
    """Make the virtual twin of a drive over a leg of the plant; arguments and errors as `create_drive`.

    Raises ConfigurationError also where the driver has no twin.
    """
    found = find_driver(driver)
    if found.twin is None:
        raise ConfigurationError(f"driver {driver!r} has no virtual twin")
    return found.twin(_validated(driver, found, options), leg)


def _validated(name: str, driver: Driver, options: Mapping[str, Any]) -> DriveOptions:
    try:
        return driver.options.model_validate(dict(options))
    except ValidationError as error:
        drive = options.get("name", "drive")
        raise ConfigurationError(f"{drive}: options of driver {name}:\n{describe(error)}") from None
