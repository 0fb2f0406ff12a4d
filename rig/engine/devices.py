"""Drives and load cells of a configuration, and the load of their lines in a cycle."""

import hashlib
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from actuators import (
    Buses,
    BusPlan,
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
        wires: for a rig in this process: gives new wires to the six drives, then to the cells' own devices;
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


@dataclass(frozen=True, slots=True)
class BusVerdict:
    """Verdict on the load of every line within the time for replies.

    budget: s, `drives.reply_deadline` of a period. rate: Hz. carries: Hz, the highest rate that all lines carry;
    infinite without any.
    """

    plans: tuple[BusPlan, ...]
    budget: float
    rate: float
    carries: float

    @property
    def passed(self) -> bool:
        """Whether every line carries the rate."""
        return self.rate <= self.carries

    @property
    def message(self) -> str:
        """Text of the reason: the line and the rate it carries; empty if passed."""
        if self.passed:
            return ""
        slowest = max(self.plans, key=lambda plan: plan.time)
        return (
            f"the line {slowest.place} ({', '.join(slowest.devices)}) takes {slowest.time * 1e3:.3g} ms "
            f"for a cycle's {slowest.bytes} bytes and silences; replies have {self.budget * 1e3:.3g} ms at "
            f"{self.rate:g} Hz (drives.reply_deadline): it carries {math.floor(self.carries)} Hz at most"
        )

    @property
    def described(self) -> list[str]:
        """Text of every line with its share of the time."""
        return [
            f"{plan.place}: {', '.join(plan.devices)}, {plan.bytes} bytes, {plan.time * 1e3:.3g} of "
            f"{self.budget * 1e3:.3g} ms for replies ({100.0 * plan.time / self.budget:.0f} %)"
            for plan in self.plans
        ]

    def as_dict(self) -> dict[str, Any]:
        """All of it as JSON-able data; s and Hz."""
        return {
            "passed": self.passed,
            "message": self.message,
            "reply_time": self.budget,
            "highest_rate": self.carries if math.isfinite(self.carries) else None,
            "lines": [
                {"place": plan.place, "devices": list(plan.devices), "bytes": plan.bytes, "time": plan.time}
                for plan in self.plans
            ],
        }


def judge_buses(config: RigConfig, plans: Sequence[BusPlan]) -> BusVerdict:
    """Judge the plans of a configuration's lines at its rate."""
    share = config.drives.reply_deadline
    carries = min((share / plan.time for plan in plans if plan.time > 0.0), default=math.inf)
    return BusVerdict(tuple(plans), share * config.period, config.rate, carries)


def check_buses(config: RigConfig) -> BusVerdict:
    """Judge a configuration's lines, without opening any.

    Raises:
        ConfigurationError: a driver or profile does not take what is configured.
        CalibrationError: the load cells' calibration cannot be used.
    """
    return judge_buses(config, make_drive_group(config).plans)
