"""What a driver declares: its address and settings, how a drive is made, its twin; and what drives on a bus share."""

from collections.abc import Callable, Container
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from actuators.bus import Bus, Buses, HalfDuplexBus
from actuators.drive import Drive, Member
from actuators.errors import ConnectError
from actuators.interface import Capabilities, Identity
from actuators.station import Station
from actuators.virtual.drive import PlantPort
from actuators.virtual.faults import FaultyDrive
from actuators.wire import Endpoint, TcpEndpoint, Wire

Line = Annotated[str, Field(min_length=1, max_length=1000, pattern=r"^[^\x00-\x1f\x7f]*$")]
"""A line of text, without control characters."""
Port = Annotated[int, Field(strict=True, ge=1, le=65535)]
Unit = Annotated[int, Field(strict=True, ge=0, le=255)]


@dataclass(frozen=True, slots=True)
class InUnit:
    """Marks a number of a configuration with its SI unit, for the reference of all keys."""

    unit: str


OpenWire = Callable[[float], Wire]
"""Called with a timeout, s; may raise ConnectError."""


_OneBus = TypeVar("_OneBus", bound=Bus)


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, arbitrary_types_allowed=True)


_Name = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]*$")]
Bits = dict[_Name, Annotated[int, Field(strict=True)]]
"""Inputs or outputs of a drive: bit of a word by name."""
Pins = dict[_Name, str]
"""The same by the maker's name of a pin."""


def points_among(allowed: Container[object], described: str) -> AfterValidator:
    """Validator of `Bits` or `Pins`: those `allowed`, which messages call `described`, and each only once."""

    def check(points: dict[str, object]) -> dict[str, object]:
        taken: dict[object, str] = {}
        for name, place in points.items():
            if place not in allowed:
                raise ValueError(f"{name}: {place!r} must be one of {described}")
            if place in taken:
                raise ValueError(f"{taken[place]} and {name} are the same, {place!r}")
            taken[place] = name
        return points

    return AfterValidator(check)


class DriveAddress(_Model):
    """Where one drive, or device that reads load cells, is found.

    Every driver has its own, whose fields stand in a table of the configuration: a leg's, or that of the load cells.
    """

    unit: Unit = 1
    """Unit number of the device at its port or on its line."""

    @property
    def identity(self) -> tuple[str, str]:
        """The host whose numeric addresses tell the drive from others, "" without one, and what does so beside it.

        Nobody else on this machine commands a drive of the same identity at the same time.
        """
        raise NotImplementedError

    @property
    def place(self) -> str:
        """The wire's name, as messages say it; drives of one place share it."""
        raise NotImplementedError

    @property
    def endpoint(self) -> Endpoint | None:
        """The end of the wire, where its twin is served; None for a wire that has none."""
        return None

    @property
    def alone(self) -> bool:
        """Whether no other device can be at the same place."""
        return False

    @property
    def reading_time(self) -> float:
        """s at least from one reading to the next, as far as the wire tells; 0 where it is asked for them."""
        return 0.0

    @property
    def label(self) -> str:
        """What `identity` says, in words."""
        return ":".join(filter(None, self.identity))


class TcpAddress(DriveAddress):
    """Host, port and unit id of a device on Modbus TCP."""

    host: Line
    """Host name or address."""
    port: Port
    """TCP port."""

    @property
    def identity(self) -> tuple[str, str]:
        """See `DriveAddress.identity`."""
        return self.host, f"{self.port} unit {self.unit}"

    @property
    def place(self) -> str:
        """See `DriveAddress.place`."""
        return str(self.endpoint)

    @property
    def endpoint(self) -> TcpEndpoint:
        """See `DriveAddress.endpoint`."""
        return TcpEndpoint(self.host, self.port)


class DriveSettings(_Model):
    """What else a driver lets be set, for all drives alike; every driver has its own."""

    files: ClassVar[tuple[str, ...]] = ()
    """Fields that name a shipped file or, with a separator or ".toml", one beside the configuration."""


class DeviceOptions(_Model):
    """What every driver is given beside what is its own."""

    request_timeout: Annotated[float, Field(gt=0.0)] = 2.0
    """s, for each access that is not cyclic."""
    sample_period: Annotated[float, Field(ge=0.0)] = 0.0
    """s between two exchanges of a device that is slower than the cycle; 0 = one in every cycle."""
    open_wire: OpenWire | None = None
    """Called with the connection's timeout (s) in place of opening what the address says."""
    buses: Buses | None = None
    """Where devices of one rig find the wires that they share."""

    def shared_bus(self, place: str, make: Callable[[], _OneBus]) -> _OneBus:
        """The bus at `place`, made by `make` at the first call of those with the same `buses`; see `Buses.at`."""
        return make() if self.buses is None else self.buses.at(place, make)

    @property
    def reply_wait(self) -> float | None:
        """Time from the last byte of a request to the first byte of the reply, s; None: not given."""
        return None

    @property
    def twin_delay(self) -> float:
        """For how long the device's twin waits before it answers on a line whose bytes take their time, s."""
        return 0.0


class DriveOptions(DeviceOptions):
    """What every driver of drives is given beside its own address and settings."""

    name: str = "drive"
    """How messages call the drive."""
    watchdog: Annotated[float, Field(gt=0.0)] = 0.05
    """s without a command before the drive stops by itself."""
    serial: str | None = None
    """Serial number the device must have; None = any."""
    position_offset: float = 0.0
    """m, leg length where the device's own position is zero."""
    echo_lag: Annotated[int, Field(ge=0, le=100)] = 1
    """Most commands by which the drive's echo may be behind for good."""


@dataclass(frozen=True, slots=True)
class Driver:
    """One kind of drive, as the registry has it.

    address, settings: what a configuration says of one leg's drive, and of all six. options: both and `DriveOptions`
    in one, as `create` and `twin` take it. create: a drive, not yet connected; may raise ConfigurationError.
    twin: the virtual drive of one leg, behind a wire that can fail; None where there is none.
    recognise: who a unit on a bus is, by reading alone within a time (s) an access, None where it is none of these; may
    raise ActuatorError. None: its drives cannot be told from others. cell_step: of the options, the step in which the
    drive says its raw force, N, 0 where that is not known; None: it is not known of any. May raise ConfigurationError.
    supply: V, least and greatest supply of its drives, the default of a rig's bounds; None: that of 48 V drives.
    homing_tolerance: m, by which its drives may stop off their reference, the least default of a rig's; None: any.
    """

    address: type[DriveAddress]
    settings: type[DriveSettings]
    options: type[DriveOptions]
    create: Callable[[Any], Drive]
    twin: Callable[[Any, PlantPort], FaultyDrive] | None = None
    recognise: Callable[[Station, float], Identity | None] | None = None
    cell_step: Callable[[Any], float] | None = None
    supply: tuple[float, float] | None = None
    homing_tolerance: float | None = None


class StationMember(Member):
    """What a drive or another device with a `Station` shares; on a shared line, `line` is that one."""

    def _join(self, options: DeviceOptions, bus: Bus, place: str, unit: int, messages: int = 1) -> None:
        """Take the place of `unit` on the bus. place: as messages say it. messages: most that a cycle has."""
        self._station = Station(bus, f"{self.name} at {place}", unit, self.counters, messages)
        self.line = bus if isinstance(bus, HalfDuplexBus) else None
        self.reply_delay = options.reply_wait

    def _open(self, timeout: float) -> None:
        """Open the connection within `timeout` s. Raises ConnectError."""
        try:
            self._station.open(timeout)
        except ConnectError as error:
            raise ConnectError(f"{self.name}: {error}") from error

    @property
    def measured_delay(self) -> float | None:
        """See `Member.measured_delay`."""
        return self._station.reply_delay

    @property
    def answered(self) -> bool:
        """See `Member.answered`."""
        return self._sampling.asked and self._station.answered

    @property
    def connected(self) -> bool:
        """See `Member.connected`."""
        return self._station.connected

    def close(self) -> None:
        """Close the connection; idempotent."""
        self._station.close()


class StationDrive(StationMember, Drive):
    """A drive with a `Station`."""

    def __init__(
        self, options: DriveOptions, capabilities: Capabilities, bus: Bus, place: str, unit: int, messages: int
    ) -> None:
        """bus: where it is `unit`. place: as messages say it. messages: most that a cycle's exchange has."""
        super().__init__(options.name, capabilities, options.echo_lag, options.sample_period)
        self._join(options, bus, place, unit, messages)
        self._sequence = 0

    @property
    def sequence(self) -> int:
        """See `Drive.sequence`."""
        return self._sequence

    def _connect(self, timeout: float) -> None:
        self._open(timeout)
