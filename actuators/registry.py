"""Drivers by name, of drives and of load cells: those shipped here, and those that others declare as entry points."""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from actuators.cell_device import CellDevice, CellDriver
from actuators.drive import Drive
from actuators.driver import Driver
from actuators.errors import ActuatorError, ConfigurationError
from actuators.exchange import CycleExchange
from actuators.profile import describe
from actuators.virtual.drive import Cell, PlantPort
from actuators.virtual.faults import FaultyDevice, FaultyDrive

GROUP = "stewart_rig.drivers"
"""Entry-point group: name of the driver → its `Driver`."""
CELL_GROUP = "stewart_rig.cell_drivers"
"""Entry-point group: name of the driver → its `CellDriver`."""

_BUILT_IN = (
    EntryPoint("servo", "actuators.modbus_servo:DRIVER", GROUP),
    EntryPoint("iai", "actuators.iai:DRIVER", GROUP),
    EntryPoint("jrk-g2", "actuators.jrk:DRIVER", GROUP),
    EntryPoint("orca", "actuators.orca:DRIVER", GROUP),
    EntryPoint("modbus", "actuators.amplifier:DRIVER", CELL_GROUP),
    EntryPoint("mantracourt", "actuators.mantracourt:DRIVER", CELL_GROUP),
    EntryPoint("loadstar", "actuators.loadstar:DRIVER", CELL_GROUP),
)
"""Found without installed metadata, so that a source checkout works; an installation declares the same."""

_FORMER = {"servo-tcp": "servo", "amplifier-tcp": "modbus"}
"""What drivers were called before, in configurations and recordings."""

_CALLED = {GROUP: "driver", CELL_GROUP: "cell driver"}

_Found = TypeVar("_Found", Driver, CellDriver)
_Options = TypeVar("_Options", bound=BaseModel)


@cache
def _installed() -> tuple[EntryPoint, ...]:
    """What distributions declare; looked up once, as each look through all of them takes milliseconds."""
    every = entry_points()
    return tuple(entry for group in _CALLED for entry in every.select(group=group))


def _entries(group: str) -> dict[str, EntryPoint]:
    entries = {entry.name: entry for entry in _BUILT_IN if entry.group == group}
    for entry in _installed():
        if entry.group != group:
            continue
        known = entries.setdefault(entry.name, entry)
        if known.value != entry.value:
            raise ActuatorError(f"two {_CALLED[group]}s are called {entry.name!r}: {known.value} and {entry.value}")
    return entries


def drive_names() -> tuple[str, ...]:
    """Names of all drivers of drives, sorted. Raises ActuatorError if two different ones share a name."""
    return tuple(sorted(_entries(GROUP)))


def cell_driver_names() -> tuple[str, ...]:
    """Names of all drivers of load-cell devices, sorted. Raises ActuatorError if two different ones share a name."""
    return tuple(sorted(_entries(CELL_GROUP)))


def present_name(name: str) -> str:
    """What a driver is called that was called `name` once; of any other its name."""
    return _FORMER.get(name, name)


def find_driver(name: str) -> Driver:
    """The driver called `name`. Raises ConfigurationError for an unknown one (listing the known), or a broken one."""
    return _find(GROUP, present_name(name), Driver)


def find_cell_driver(name: str) -> CellDriver:
    """The driver of load-cell devices called `name`; errors as `find_driver`."""
    return _find(CELL_GROUP, present_name(name), CellDriver)


def create_drive(driver: str, options: Mapping[str, Any]) -> Drive:
    """Make a drive, not yet connected. driver: one of `drive_names`. options: those of `Driver.options`.

    Raises ConfigurationError for an unknown driver (listing the known ones) or bad options (listing all faults).
    """
    found = find_driver(driver)
    return found.create(_validated(f"driver {driver}", found.options, options))


def create_twin(driver: str, options: Mapping[str, Any], leg: PlantPort) -> FaultyDrive:
    """Make the virtual twin of a drive over a leg of the plant; arguments and errors as `create_drive`.

    Raises ConfigurationError also where the driver has no twin.
    """
    found = find_driver(driver)
    if found.twin is None:
        raise ConfigurationError(f"driver {driver!r} has no virtual twin")
    return found.twin(_validated(f"driver {driver}", found.options, options), leg)


def drive_cell_step(driver: str, options: Mapping[str, Any]) -> float:
    """Step in which a drive says its raw force, N, 0 where it is not known; arguments and errors as `create_drive`."""
    found = find_driver(driver)
    return 0.0 if found.cell_step is None else found.cell_step(_validated(f"driver {driver}", found.options, options))


def cell_device_step(driver: str, options: Mapping[str, Any]) -> float:
    """The same of a device that reads load cells, the coarsest of its channels; driver: of `cell_driver_names`."""
    found = find_cell_driver(driver)
    return 0.0 if found.step is None else found.step(_validated(f"cell driver {driver}", found.options, options))


def create_cell_device(driver: str, options: Mapping[str, Any]) -> CellDevice:
    """Make a device that reads load cells, not yet connected; driver: of `cell_driver_names`. See `create_drive`."""
    found = find_cell_driver(driver)
    return found.create(_validated(f"cell driver {driver}", found.options, options))


def create_cell_twin(driver: str, options: Mapping[str, Any], cells: Sequence[Cell]) -> FaultyDevice:
    """Make the virtual twin of such a device over the `cells` that it reads, by channel. See `create_twin`.

    Raises ConfigurationError also where it reads another number of cells.
    """
    found = find_cell_driver(driver)
    if found.twin is None:
        raise ConfigurationError(f"cell driver {driver!r} has no virtual twin")
    return found.twin(_validated(f"cell driver {driver}", found.options, options), cells)


def cycle_exchange(drives: Sequence[Drive]) -> CycleExchange:
    """The exchange with a rig's drives: as one operation where there is one for all of them."""
    from actuators.servo_group import ServoGroup  # its kernels need more than the drives do

    return ServoGroup.of(drives) or CycleExchange(drives)


def _find(group: str, name: str, kind: type[_Found]) -> _Found:
    entries, called = _entries(group), _CALLED[group]
    if name not in entries:
        raise ConfigurationError(f"no {called} {name!r}; known {called}s: {', '.join(sorted(entries))}")
    value = entries[name].value
    try:
        driver = entries[name].load()
    except (ImportError, AttributeError) as error:
        raise ConfigurationError(f"{called} {name!r} ({value}) cannot be loaded: {error}") from error
    if not isinstance(driver, kind):
        raise ConfigurationError(f"{called} {name!r} ({value}) is a {type(driver).__name__}, no {kind.__name__}")
    return driver


def _validated(driver: str, kind: type[_Options], options: Mapping[str, Any]) -> _Options:
    try:
        return kind.model_validate(dict(options))
    except ValidationError as error:
        name = options.get("name", kind.model_fields["name"].default)
        raise ConfigurationError(f"{name}: options of {driver}:\n{describe(error)}") from None
