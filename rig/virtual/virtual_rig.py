"""The virtual rig in one piece: plant, drives, load cells and faults, brought to any instant asked for."""

import math
from collections.abc import Callable, Sequence

from actuators import (
    ConfigurationError,
    DriveAddress,
    FaultyDevice,
    FaultyDrive,
    MemoryWire,
    Responder,
    create_cell_twin,
    create_twin,
)
from rig.config import RigConfig, cell_options, drive_options
from rig.errors import ConfigError
from rig.virtual.faults import Faults
from rig.virtual.plant import Plant
from rig.virtual.port import LegPort

SLICE = 5e-3
"""Longest time, s, over which the drives do not look at their clocks (watchdog, end of homing)."""


class VirtualRig:
    """Everything behind the wires of a rig, on a clock that its owner moves with `advance`.

    `plant` is the machine, `faults` what is wrong with it, `drives` and `cells` (none when the drives read them)
    the devices behind their fallible wires. `time` (s) is the instant all of it stands at, `skipped` (s) what
    `advance` has left out. Two rigs of one configuration, moved and asked alike, answer the same bytes. When the plant
    stands still for good, no device answers any more: feedback that does not move passes for a platform at rest.

    Raises ConfigError when the configuration has no [virtual] section or describes devices that have no virtual twin.
    """

    def __init__(
        self,
        config: RigConfig,
        start: float = 0.0,
        longest_gap: float = math.inf,
        hang: Callable[[bool], None] = lambda _stop: None,
    ) -> None:
        """Power everything up at `start` (s).

        longest_gap: s; of a longer time asked of `advance` at once only this much is integrated: after a suspended
        process is woken it must not fall further and further behind.
        hang: see `Faults`.
        """
        settings = config.virtual
        if settings is None:
            raise ConfigError(f"configuration {config.path}: no [virtual] section, it describes real hardware")
        self.skipped = 0.0
        self._longest_gap = longest_gap
        self.plant = Plant(config.machine, settings, start)
        self._ports = [LegPort(self.plant, leg, settings) for leg in range(6)]
        self.drives = [self._drive(config, leg) for leg in range(6)]
        for drive in self.drives:
            drive.peers = self.drives
        self.cells = self._cell_devices(config)
        self._devices: Sequence[FaultyDevice] = [*self.drives, *self.cells]
        self._addresses = _addresses(config)
        self._tick()
        self.faults = Faults(self.plant, self._ports, self.drives, self.cells, settings.faults, hang)
        self.faults.play()

    @property
    def time(self) -> float:
        """Instant the rig stands at, s."""
        return self.plant.time

    @property
    def endpoints(self) -> list[tuple[str, int, Responder]]:
        """Host, port and device of the six drives, then of the cells' own devices, as a server takes them.

        Raises ConfigError where one of them is not on TCP.
        """
        found: list[tuple[str, int, Responder]] = []
        for address, device in zip(self._addresses, self._devices, strict=True):
            if address.endpoint is None:
                raise ConfigError(f"the twin of {address.label} cannot be served over TCP")
            found.append((*address.endpoint, device))
        return found

    def wires(self) -> list[MemoryWire]:
        """New wires to the six drives, then to the cells' own devices, in this process and without sockets.

        Nothing that is sent over them moves the rig's clock: that is `advance`.
        """
        return [MemoryWire(device.respond) for device in self._devices]

    def advance(self, now: float) -> None:
        """Integrate the plant to `now` (s), the drives' own clocks and the timetable of faults with it."""
        plant = self.plant
        gap = now - plant.time
        if gap > self._longest_gap:
            self.skipped += gap - self._longest_gap
            plant.skip(gap - self._longest_gap)
        while plant.time < now:
            due = self.faults.due
            until = min(now, plant.time + SLICE)
            if plant.time < due < until:
                until = due
            plant.advance(until)
            if plant.fault:
                for device in self._devices:
                    device.fall_silent()
            self._tick()
            if due <= until:
                self.faults.play()

    def _tick(self) -> None:
        now = self.plant.time
        for device in self._devices:
            device.tick(now)

    def _drive(self, config: RigConfig, leg: int) -> FaultyDrive:
        options = drive_options(config, leg)
        options["serial"] = options["serial"] or f"VIRTUAL-{leg + 1}"
        try:
            return create_twin(config.drives.driver, options, self._ports[leg])
        except ConfigurationError as error:
            raise ConfigError(f"drive {leg + 1}: {error}") from error

    def _cell_devices(self, config: RigConfig) -> list[FaultyDevice]:
        """The twins of the cells' own devices: one of all six legs, or one of each."""
        devices = []
        cells = config.load_cells
        for leg, (place, options) in enumerate(zip(cells.places, cell_options(config), strict=True)):
            legs = self.drives if cells.devices is None else self.drives[leg : leg + 1]
            try:
                devices.append(create_cell_twin(cells.driver, options, legs))
            except ConfigurationError as error:
                raise ConfigError(f"{place}: {error}") from error
        return devices


def _addresses(config: RigConfig) -> list[DriveAddress]:
    """Address of each device; ConfigError where two share a port: a virtual device is the only one behind its own."""
    places: list[tuple[str, DriveAddress]] = [
        (f"drives.legs[{leg}]", drive) for leg, drive in enumerate(config.drives.legs, start=1)
    ]
    places += [(f"load_cells.{name}", address) for name, address in config.load_cells.places.items()]
    seen: dict[tuple[str, int], str] = {}
    faults = []
    for name, address in places:
        other = name if address.endpoint is None else seen.setdefault(address.endpoint, name)
        if other != name:
            faults.append(f"{name}: {address.place} is taken by {other}; each virtual device needs a port of its own")
    if faults:
        raise ConfigError("the virtual rig cannot be served:", faults)
    return [address for _, address in places]
