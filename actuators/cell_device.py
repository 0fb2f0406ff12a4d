"""Devices that read load cells: their interface to the engine, and their drivers."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from actuators.bus import Bus
from actuators.drive import Member
from actuators.driver import DeviceOptions, DriveAddress, StationMember
from actuators.interface import Identity
from actuators.virtual.drive import Cell
from actuators.virtual.faults import FaultyDevice


@dataclass(frozen=True, slots=True)
class DeviceReading:
    """The forces of one cycle, by one device.

    forces: N, raw cell signals by channel, compression positive; NaN where a channel has no valid value, or nothing has
    been received yet. fresh: False = stale, the other values are those of the last good reply: there was no reply, or
    no new conversion. age: s since they were received, by the time that the cycles are given. offset: s from
    the time of the cycle in which they were received to when they were measured, as far as the bus tells.
    """

    forces: tuple[float, ...]
    fresh: bool
    age: float
    offset: float = field(default=0.0, kw_only=True)


class CellDevice(Member):
    """A device that reads one cell or several, like a drive: `begin` sends, `finish` collects, neither raises.

    `channels`: cells that it reads.
    """

    standing: bool = False
    """whether the last answer had no new conversion"""

    def __init__(self, name: str, channels: int, sample_period: float = 0.0) -> None:
        super().__init__(name, sample_period)
        self.channels = channels

    @property
    @abstractmethod
    def overdue(self) -> bool:
        """Whether the last request brought nothing new; a slower device is not asked in every cycle."""

    @abstractmethod
    def connect(self, timeout: float) -> None:
        """Open the connection within `timeout` s, closing one that is open. Raises ConnectError."""

    @abstractmethod
    def identify(self) -> Identity:
        """Ask the device who it is. Raises ConnectError, ProtocolError."""

    @abstractmethod
    def begin(self, now: float) -> None:
        """Send this cycle's request without waiting; now: s, the cycle's time, from which readings age."""

    @abstractmethod
    def finish(self, deadline: float) -> DeviceReading:
        """Collect the reply to `begin` by `deadline` (s, on the clock of its wire); without one the last, stale."""

    @abstractmethod
    def close(self) -> None:
        """Close the connection; idempotent."""


class CellOptions(DeviceOptions):
    """What every driver of such devices is given besides its own address."""

    name: str = "load cells"
    """How messages call the device."""


@dataclass(frozen=True, slots=True)
class CellDriver:
    """One kind of device that reads load cells, as the registry has it.

    address: what a configuration says of a device that reads all six cells. cell_address: the same of one that reads
    one cell. files: fields of both that name a shipped file or, with a separator or ".toml", one beside the
    configuration. options: an address and `CellOptions` in one, as `create` and `twin` take it. create: a device, not
    yet connected; may raise ConfigurationError. twin: the virtual device over the cells that it reads, behind a wire
    that can fail; may raise ConfigurationError; None where there is none. step: of the options, the coarsest step in
    which the device says its cells' raw signals, N, 0 where that is not known; None: it is not known of any. May raise
    ConfigurationError.
    """

    address: type[DriveAddress]
    cell_address: type[DriveAddress]
    options: type[CellOptions]
    create: Callable[[Any], CellDevice]
    twin: Callable[[Any, Sequence[Cell]], FaultyDevice] | None = None
    files: tuple[str, ...] = ()
    step: Callable[[Any], float] | None = None


class StationCells(StationMember, CellDevice):
    """A device with a `Station`."""

    def __init__(self, options: CellOptions, channels: int, bus: Bus, place: str, unit: int) -> None:
        """bus: where it is `unit`. place: as messages say it."""
        super().__init__(options.name, channels, options.sample_period)
        self._join(options, bus, place, unit)
        self._now = 0.0

    @property
    def overdue(self) -> bool:
        """See `CellDevice.overdue`."""
        return self._sampling.overdue

    def connect(self, timeout: float) -> None:
        """See `CellDevice.connect`."""
        self.close()
        self._sampling.forget()
        self._open(timeout)
