"""Drivers by name, of drives, load cells and inputs and outputs: those shipped here, and entry points of others."""

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import EntryPoint
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from actuators.cell_device import CellDevice, CellDriver
from actuators.declarations import Declarations
from actuators.drive import Drive
from actuators.driver import DeviceOptions, Driver
from actuators.errors import ConfigurationError
from actuators.exchange import CycleExchange
from actuators.io_device import IoDevice, IoDriver, Terminals
from actuators.validation import describe
from actuators.virtual.drive import Cell, PlantPort
from actuators.virtual.faults import FaultyDevice, FaultyDrive

GROUP = "stewart_rig.drivers"
"""Entry-point group: name of the driver → its `Driver`."""
CELL_GROUP = "stewart_rig.cell_drivers"
"""Entry-point group: name of the driver → its `CellDriver`."""
IO_GROUP = "stewart_rig.io_drivers"
"""Entry-point group: name of the driver → its `IoDriver`."""

_DRIVERS = Declarations(
    "driver",
    Driver,
    GROUP,
    built_in=(
        EntryPoint("servo", "actuators.modbus_servo:DRIVER", GROUP),
        EntryPoint("canopen", "actuators.canopen:DRIVER", GROUP),
        EntryPoint("iai", "actuators.iai:DRIVER", GROUP),
        EntryPoint("jrk-g2", "actuators.jrk:DRIVER", GROUP),
        EntryPoint("orca", "actuators.orca:DRIVER", GROUP),
    ),
)
_CELL_DRIVERS = Declarations(
    "cell driver",
    CellDriver,
    CELL_GROUP,
    built_in=(
        EntryPoint("modbus", "actuators.amplifier:DRIVER", CELL_GROUP),
        EntryPoint("mantracourt", "actuators.mantracourt:DRIVER", CELL_GROUP),
        EntryPoint("loadstar", "actuators.loadstar:DRIVER", CELL_GROUP),
    ),
)
_IO_DRIVERS = Declarations(
    "I/O driver",
    IoDriver,
    IO_GROUP,
    built_in=(EntryPoint("modbus-io", "actuators.modbus_io:DRIVER", IO_GROUP),),
)

_FORMER = {"servo-tcp": "servo", "amplifier-tcp": "modbus"}
"""What drivers were called before, in configurations and recordings."""

_Options = TypeVar("_Options", bound=BaseModel)
_Twin = TypeVar("_Twin", bound=FaultyDevice)


def drive_names() -> tuple[str, ...]:
    """Names of all drivers of drives, sorted. Raises ConfigurationError if two share one."""
    return tuple(sorted(_DRIVERS.names()))


def cell_driver_names() -> tuple[str, ...]:
    """Names of all drivers of load-cell devices, sorted. Raises ConfigurationError if two share one."""
    return tuple(sorted(_CELL_DRIVERS.names()))


def io_driver_names() -> tuple[str, ...]:
    """Names of all drivers of inputs and outputs, sorted. Raises ConfigurationError if two share one."""
    return tuple(sorted(_IO_DRIVERS.names()))


def present_name(name: str) -> str:
    """What a driver is called that was called `name` once; of any other its name."""
    return _FORMER.get(name, name)


def find_driver(name: str) -> Driver:
    """The driver called `name`. Raises ConfigurationError for an unknown one (listing the known), or a broken one."""
    return _DRIVERS.find(present_name(name))


def find_cell_driver(name: str) -> CellDriver:
    """The driver of load-cell devices called `name`; errors as `find_driver`."""
    return _CELL_DRIVERS.find(present_name(name))


def find_io_driver(name: str) -> IoDriver:
    """The driver of inputs and outputs called `name`; errors as `find_driver`."""
    return _IO_DRIVERS.find(name)


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
    return _twin("driver", driver, found.twin, found.options, options, leg)


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
    return _twin("cell driver", driver, found.twin, found.options, options, cells)


def create_io_device(driver: str, options: Mapping[str, Any]) -> IoDevice:
    """Make a device with inputs and outputs, not yet connected; driver: of `io_driver_names`. See `create_drive`."""
    found = find_io_driver(driver)
    return found.create(_validated(f"I/O driver {driver}", found.options, options))


def create_io_twin(driver: str, options: Mapping[str, Any], terminals: Terminals) -> FaultyDevice:
    """Make the virtual twin of such a device over what is wired to it. See `create_twin`."""
    found = find_io_driver(driver)
    return _twin("I/O driver", driver, found.twin, found.options, options, terminals)


def _twin(
    what: str,
    name: str,
    make: Callable[[Any, Any], _Twin] | None,
    kind: type[DeviceOptions],
    options: Mapping[str, Any],
    port: Any,
) -> _Twin:
    """Make the twin that a driver declares, over what it acts on or reads."""
    if make is None:
        raise ConfigurationError(f"{what} {name!r} has no virtual twin")
    given = _validated(f"{what} {name}", kind, options)
    twin = make(given, port)
    twin.reply_delay = given.twin_delay
    return twin


def cycle_exchange(drives: Sequence[Drive]) -> CycleExchange:
    """The exchange with a rig's drives: as one operation where there is one for all of them."""
    from actuators.servo_group import ServoGroup  # its kernels need more than the drives do

    return ServoGroup.of(drives) or CycleExchange(drives)


def _validated(driver: str, kind: type[_Options], options: Mapping[str, Any]) -> _Options:
    try:
        return kind.model_validate(dict(options))
    except ValidationError as error:
        name = options.get("name", kind.model_fields["name"].default)
        raise ConfigurationError(f"{name}: options of {driver}:\n{describe(error, options)}") from None
