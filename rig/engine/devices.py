"""Drives and load cells of a configuration."""

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

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
    create_io_device,
    open_wire,
)
from calibration import LoadCellCalibration, identity, load_cell_calibration
from rig.config import RigConfig, cell_options, drive_options, io_options
from rig.engine.digital_io import InputsOutputs
from rig.engine.drive_group import DriveGroup
from rig.engine.laws import needed_modes
from rig.engine.pacer import PacedWire, Pacer
from rig.runtime import Clock, runtime_root


def virtual_port(endpoint: SerialEndpoint, *, make: bool = False) -> SerialEndpoint:
    """The virtual port, in the user's runtime folder, that replaces a serial port.

    Args:
        endpoint: as configured.
        make: whether to create the folder.

    Raises:
        HardwareError: as `runtime_root`.
    """
    name = re.sub(r"[^A-Za-z0-9]+", "-", endpoint.device).strip("-")[-40:]
    digest = hashlib.sha256(endpoint.device.encode()).hexdigest()[:8]
    return replace(endpoint, device=str(runtime_root(make=make) / f"tty-{name}-{digest}"))


def cell_calibration(config: RigConfig) -> LoadCellCalibration:
    """The configured calibration, or the identity.

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
    """Make six drives and their cells, not yet connected.

    Args:
        config: the rig.
        wires: for a rig in this process: gives new wires to the six drives, then to the cells' own devices and to
            the block of inputs and outputs;
            None opens the configured addresses.
        pacer: gives virtual devices their time.
        clock: of the wires, if not the pacer's or the machine's.

    Raises:
        ConfigurationError: a driver or profile does not take what is configured.
        CalibrationError: the load cells' calibration cannot be used.
    """
    buses = Buses()
    drives = [make_drive(config, leg, wires, pacer, buses) for leg in range(len(config.drives.legs))]
    cells = make_cells(config, drives, wires, pacer, buses)
    group = DriveGroup(
        drives,
        cells,
        cell_calibration(config),
        needed_modes(config),
        pacer or clock,
        config.machine.length_offsets.tolist(),
        config.cell_errors,
        make_io(config, drives, wires, pacer, buses),
    )
    group.take_turns(config.period)
    return group


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
    """The readers of the six load cells, not yet connected: the `drives`, or separate devices; see `make_drive`.

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


def make_io(
    config: RigConfig,
    drives: Sequence[Drive],
    wires: Callable[[], Sequence[Wire]] | None = None,
    pacer: Pacer | None = None,
    buses: Buses | None = None,
) -> InputsOutputs | None:
    """The inputs and outputs, not yet connected, None without any; see `make_drive`.

    Raises:
        ConfigurationError: the driver does not take what is configured, or a drive does not have a point.
    """
    io, options, device = config.io, io_options(config), None
    if io is None:
        return None
    if io.block is not None and options is not None:
        index = len(config.drives.legs) + len(config.load_cells.places)
        wire = _served(config, io.block, pacer) if wires is None else _over(wires, index)
        device = create_io_device(io.driver, options | {"buses": buses} | wire)
    return InputsOutputs(io, device, drives)


def _over(wires: Callable[[], Sequence[Wire]], index: int) -> dict[str, object]:
    return {"open_wire": lambda _timeout: wires()[index]}


def _served(config: RigConfig, address: DriveAddress, pacer: Pacer | None) -> dict[str, object]:
    """The way to open the wire to a virtual device, if its address does not suffice."""
    endpoint = address.endpoint
    if config.virtual is None or endpoint is None:
        return {}
    if isinstance(endpoint, SerialEndpoint):
        endpoint = virtual_port(endpoint)
    if pacer is not None:
        return {"open_wire": lambda timeout: PacedWire(endpoint, timeout, pacer)}
    return {"open_wire": lambda timeout: open_wire(endpoint, timeout)}
