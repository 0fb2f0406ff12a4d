"""The drives and load cells that a configuration describes."""

from collections.abc import Callable, Sequence

from actuators import (
    Buses,
    CellSource,
    DeviceCells,
    Drive,
    DriveAddress,
    DriveCells,
    SerialEndpoint,
    Wire,
    create_cell_device,
    create_drive,
    open_wire,
)
from calibration import LoadCellCalibration, identity, load_cell_calibration
from rig.config import RigConfig, cell_options, drive_options
from rig.engine.drive_group import DriveGroup
from rig.engine.laws import needed_modes
from rig.engine.pacer import PacedWire, Pacer
from rig.engine.virtual_terminals import virtual_port
from rig.runtime import Clock


def cell_calibration(config: RigConfig) -> LoadCellCalibration:
    """The calibration the configuration names, or the one that leaves readings as they are.

    Raises:
        CalibrationError: the file cannot be used.
    """
    path = config.calibration_path
    return identity() if path is None else load_cell_calibration(path)


def make_drive_group(
    config: RigConfig,
    wires: Callable[[], Sequence[Wire]] | None = None,
    pacer: Pacer | None = None,
    clock: Clock | None = None,
) -> DriveGroup:
    """Six drives and their cells, not yet connected.

    Args:
        config: the rig.
        wires: for a rig in this process: gives new wires to the six drives, then to the cells' own devices;
            None opens the configured addresses.
        pacer: gives those devices their time, where they are virtual.
        clock: of the wires, if it is neither the pacer's nor the machine's.

    Raises:
        ConfigurationError: a driver or profile does not take what is configured.
        CalibrationError: the load cells' calibration cannot be used.
    """
    buses = Buses()
    drives = [make_drive(config, leg, wires, pacer, buses) for leg in range(len(config.drives.legs))]
    cells = make_cells(config, drives, wires, pacer, buses)
    return DriveGroup(
        drives,
        cells,
        cell_calibration(config),
        needed_modes(config),
        pacer or clock,
        config.machine.length_offsets.tolist(),
        config.cell_errors,
    )


def make_drive(
    config: RigConfig,
    leg: int,
    wires: Callable[[], Sequence[Wire]] | None = None,
    pacer: Pacer | None = None,
    buses: Buses | None = None,
) -> Drive:
    """The drive of `leg` (index), not yet connected; see `make_drive_group`. On `buses` it shares wires with others.

    Raises:
        ConfigurationError: the driver or profile does not take what is configured.
    """
    options = (
        drive_options(config, leg)
        | {"buses": buses}
        | (_served(config, config.drives.legs[leg], pacer) if wires is None else _over(wires, leg))
    )
    return create_drive(config.drives.driver_of(leg), options)


def make_cells(
    config: RigConfig,
    drives: Sequence[Drive],
    wires: Callable[[], Sequence[Wire]] | None = None,
    pacer: Pacer | None = None,
    buses: Buses | None = None,
) -> CellSource:
    """What reads the six load cells, not yet connected: the `drives`, or devices of their own; see `make_drive`.

    Raises:
        ConfigurationError: the driver or a profile does not take what is configured, or there are not six cells.
    """
    cells = config.load_cells
    if not cells.places:
        return DriveCells(drives)
    devices = []
    for index, (options, address) in enumerate(zip(cell_options(config), cells.places.values(), strict=True)):
        wire = _served(config, address, pacer) if wires is None else _over(wires, len(config.drives.legs) + index)
        devices.append(create_cell_device(cells.driver, options | {"buses": buses} | wire))
    return DeviceCells(devices)


def _over(wires: Callable[[], Sequence[Wire]], index: int) -> dict[str, object]:
    return {"open_wire": lambda _timeout: wires()[index]}


def _served(config: RigConfig, address: DriveAddress, pacer: Pacer | None) -> dict[str, object]:
    """How the wire to a virtual device is opened, where that is not by its address alone."""
    endpoint = address.endpoint
    if config.virtual is None or endpoint is None:
        return {}
    if isinstance(endpoint, SerialEndpoint):
        endpoint = virtual_port(endpoint)
    if pacer is not None:
        return {"open_wire": lambda timeout: PacedWire(endpoint, timeout, pacer)}
    return {"open_wire": lambda timeout: open_wire(endpoint, timeout)}
