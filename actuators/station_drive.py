"""What drives that are a unit on a bus have in common, whatever is said there."""

from actuators.bus import Bus
from actuators.drive import Drive
from actuators.driver import DriveOptions
from actuators.errors import ConnectError
from actuators.half_duplex import HalfDuplexBus
from actuators.interface import Capabilities
from actuators.station import Station


class StationDrive(Drive):
    """A drive with a `Station`; on a shared line, `line` is that one."""

    def __init__(
        self, options: DriveOptions, capabilities: Capabilities, bus: Bus, place: str, unit: int, messages: int
    ) -> None:
        """bus: where it is `unit`. place: as messages say it. messages: most that a cycle's exchange has."""
        super().__init__(options.name, capabilities, options.echo_lag, options.sample_period)
        self._station = Station(bus, f"{options.name} at {place}", unit, self.counters, messages)
        self.line = bus if isinstance(bus, HalfDuplexBus) else None
        self._sequence = 0

    @property
    def connected(self) -> bool:
        """See `Drive.connected`."""
        return self._station.connected

    @property
    def sequence(self) -> int:
        """See `Drive.sequence`."""
        return self._sequence

    def close(self) -> None:
        """See `Drive.close`."""
        self._station.close()

    def _connect(self, timeout: float) -> None:
        try:
            self._station.open(timeout)
        except ConnectError as error:
            raise ConnectError(f"{self.name}: {error}") from error
