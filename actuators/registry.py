"""Drivers by name: the ones shipped here, and those other distributions declare as entry points."""

from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from actuators.errors import ActuatorError, ConfigurationError
from actuators.interface import Drive

GROUP = "stewart_rig.drives"
"""Entry-point group: name of the driver → callable that takes a mapping of options and returns a `Drive`."""

_BUILT_IN = (EntryPoint("servo-tcp", "actuators:create_servo_tcp", GROUP),)
"""Found without installed metadata, so that a source checkout works; an installation declares the same."""


def _drivers() -> dict[str, EntryPoint]:
    drivers = {entry.name: entry for entry in _BUILT_IN}
    for entry in entry_points(group=GROUP):
        known = drivers.setdefault(entry.name, entry)
        if known.value != entry.value:
            raise ActuatorError(f"two drivers are called {entry.name!r}: {known.value} and {entry.value}")
    return drivers


def drive_names() -> tuple[str, ...]:
    """Names of all drivers, sorted. Raises ActuatorError if two different ones share a name."""
    return tuple(sorted(_drivers()))


def create_drive(driver: str, options: Mapping[str, Any]) -> Drive:
    """Make a drive, not yet connected. driver: one of `drive_names`. options: the driver's own; "name" names the drive.

    Raises ConfigurationError for an unknown driver (listing the known ones) or bad options (listing all faults).
    """
    drivers = _drivers()
    if driver not in drivers:
        raise ConfigurationError(f"no driver {driver!r}; known drivers: {', '.join(sorted(drivers))}")
    try:
        create = drivers[driver].load()
    except (ImportError, AttributeError) as error:
        raise ConfigurationError(f"driver {driver!r} ({drivers[driver].value}) cannot be loaded: {error}") from error
    drive = create(options)
    if not isinstance(drive, Drive):
        raise ConfigurationError(f"driver {driver!r} ({drivers[driver].value}) made a {type(drive).__name__}, no Drive")
    return drive
