"""What devices that read load cells and are a unit on a bus have in common, whatever is said there."""

from actuators.bus import Bus
from actuators.cell_device import CellDevice, CellOptions
from actuators.errors import ConnectError
from actuators.half_duplex import HalfDuplexBus
from actuators.station import Station


class StationCells(CellDevice):
    """A device with a `Station`; on a shared line, `line` is that one."""

    def __init__(self, options: CellOptions, channels: int, bus: Bus, place: str, unit: int) -> None:
        """bus: where it is `unit`. place: as messages say it."""
        super().__init__(options.name, channels, options.sample_period)
        self._station = Station(bus, f"{options.name} at {place}", unit, self.counters)
        self.line = bus if isinstance(bus, HalfDuplexBus) else None
        self._now = 0.0

    @property
    def connected(self) -> bool:
        """See `CellDevice.connected`."""
        return self._station.connected

    @property
    def overdue(self) -> bool:
        """See `CellDevice.overdue`."""
        return self._sampling.overdue

    def connect(self, timeout: float) -> None:
        """See `CellDevice.connect`."""
        self.close()
        self._sampling.forget()
        try:
            self._station.open(timeout)
        except ConnectError as error:
            raise ConnectError(f"{self.name}: {error}") from error

    def close(self) -> None:
        """See `CellDevice.close`."""
        self._station.close()
