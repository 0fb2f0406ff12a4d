"""What answers at a TCP port or on a serial line. It is only read: nothing that answers is changed by being found."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from actuators.bus import Bus, PipelinedBus
from actuators.codec import READ_HOLDING
from actuators.endpoint import Endpoint, SerialEndpoint
from actuators.errors import ActuatorError, ConfigurationError, ConnectError, ProtocolError
from actuators.framing import crc16, silence
from actuators.half_duplex import HalfDuplexBus
from actuators.interface import Counters, Identity
from actuators.opening import open_wire
from actuators.registry import drive_names, find_driver
from actuators.station import Station
from actuators.wire import Wire

_OPENING = 2.0  # s, at least, for a wire to open
_COMMANDS = 0x80  # from which byte on others take commands


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


def never() -> bool:
    """Nothing stops it."""
    return False


def scan(
    endpoint: Endpoint,
    units: Sequence[int],
    timeout: float,
    *,
    rtu: bool,
    stopped: Callable[[], bool] = never,
) -> Iterator[Answer]:
    """Ask each unit at an endpoint for a register, and who it is.

    timeout: s for each to answer. rtu: frames as on a serial line, which a serial port has anyway. stopped: looked at
    before each unit.

    Raises ConnectError where the endpoint cannot be opened, or a serial port has gone; ConfigurationError for a unit
    that cannot be asked on a line.
    """
    line = rtu or isinstance(endpoint, SerialEndpoint)
    registers = [_harmless_register(unit) if line else 0 for unit in units]
    bus = _bus(endpoint, timeout, rtu=line)
    for unit, register in zip(units, registers, strict=True):
        if stopped():
            return
        station = Station(bus, f"unit {unit} at {endpoint}", unit, Counters())
        station.open(max(timeout, _OPENING))
        try:
            said = _question(station, register, timeout)
            if said:
                driver, identity = _recognised(station, timeout)
                yield Answer(endpoint, unit, driver, identity, said)
            elif not station.connected and isinstance(endpoint, SerialEndpoint):
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


def _harmless_register(unit: int) -> int:
    """The first register after which a unit can be asked on a line without a byte from 80h on.

    Those begin commands of controllers that speak otherwise (Pololu's Jrk among them): such a one may be there instead.
    """
    for register in range(_COMMANDS):
        question = bytes((unit, READ_HOLDING, 0, register, 0, 1))
        if max(question + crc16(question)) < _COMMANDS:
            return register
    raise ConfigurationError(
        f"unit {unit}: on a serial line 0 to {_COMMANDS - 1} can be asked for; a question to others could be a command "
        "to a controller of another protocol"
    )


def _question(station: Station, register: int, timeout: float) -> str:
    """What a unit answers to a question after a register, "" where it does not."""
    try:
        (value,) = station.read(register, 1, timeout)
    except ProtocolError as error:
        return str(error).rpartition(": ")[2]
    except ConnectError:
        return ""
    return f"register {register} is {value}"


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
