"""What answers at a TCP port or on a serial line. It is only read: nothing that answers is changed by being found."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from actuators.bus import Bus, PipelinedBus
from actuators.endpoint import Endpoint, SerialEndpoint
from actuators.errors import ActuatorError, ConnectError, ProtocolError
from actuators.framing import silence
from actuators.half_duplex import HalfDuplexBus
from actuators.interface import Counters, Identity
from actuators.opening import open_wire
from actuators.registry import drive_names, find_driver
from actuators.station import Station
from actuators.wire import Wire

_OPENING = 2.0  # s, at least, for a wire to open


@dataclass(frozen=True, slots=True)
class Answer:
    """A unit that answers.

    driver: whose it is, as far as its registers tell; "" for none that is known. identity: what it says of itself.
    said: what it answered to the first question.
    """

    endpoint: Endpoint
    unit: int
    driver: str
    identity: Identity | None
    said: str

    @property
    def place(self) -> str:
        """Where it is, and how the line is set, in words."""
        settings = f", {self.endpoint.settings}" if isinstance(self.endpoint, SerialEndpoint) else ""
        return f"{self.endpoint}{settings}, unit {self.unit}"

    @property
    def described(self) -> str:
        """Who it is, in words."""
        if self.identity is None:
            return f"answers ({self.said}); no driver knows it by its registers"
        return f"driver {self.driver}: {self.identity.described}"


def scan(endpoint: Endpoint, units: Iterable[int], timeout: float, *, rtu: bool) -> Iterator[Answer]:
    """Ask each unit at an endpoint for a register, and who it is.

    timeout: s for each to answer. rtu: frames as on a serial line.

    Raises ConnectError where the endpoint cannot be opened, or has gone.
    """
    bus = _bus(endpoint, timeout, rtu=rtu)
    for unit in units:
        station = Station(bus, f"unit {unit} at {endpoint}", unit, Counters())
        station.open(max(timeout, _OPENING))
        try:
            said = _question(station, timeout)
            if said:
                driver, identity = _recognised(station, timeout)
                yield Answer(endpoint, unit, driver, identity, said)
            elif not station.connected:
                raise ConnectError(f"{station.label} closed the connection")
        finally:
            station.close()


def _bus(endpoint: Endpoint, timeout: float, *, rtu: bool) -> Bus:
    def opening(patience: float) -> Wire:
        return open_wire(endpoint, patience)

    if not rtu:
        return PipelinedBus(opening)
    if isinstance(endpoint, SerialEndpoint):
        return HalfDuplexBus(opening, silence(endpoint.baud), timeout, endpoint.byte_time, str(endpoint))
    return HalfDuplexBus(opening, 0.0, timeout)


def _question(station: Station, timeout: float) -> str:
    """What a unit answers to a question after its first register, "" where it does not."""
    try:
        (value,) = station.read(0, 1, timeout)
    except ProtocolError as error:
        return str(error).rpartition(": ")[2]
    except ConnectError:
        return ""
    return f"register 0 is {value}"


def _recognised(station: Station, timeout: float) -> tuple[str, Identity | None]:
    """The driver that knows a unit by its registers, and who it is."""
    for name in drive_names():
        recognise = find_driver(name).recognise
        if recognise is None:
            continue
        try:
            identity = recognise(station, timeout)
        except ActuatorError:
            continue
        if identity is not None:
            return name, identity
    return "", None
