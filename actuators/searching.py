"""What answers at a TCP port, on a serial line or a CAN bus, also where a unit's settings are not known. Only read."""

import contextlib
import ipaddress
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass

from actuators import modbus_servo
from actuators.bus import Bus, HalfDuplexBus, PipelinedBus
from actuators.canopen.frames import CAN_BIT_RATE, CAN_SCHEME, CanEndpoint, parsed
from actuators.canopen.scanning import scan_nodes
from actuators.codec import READ_HOLDING
from actuators.errors import ActuatorError, ConfigurationError, ConnectError, ProtocolError
from actuators.framing import crc16, silence
from actuators.interface import Counters, Identity
from actuators.registry import drive_names, find_driver
from actuators.servo_profile import ServoProfile, servo_profiles
from actuators.station import Station
from actuators.wire import BAUDS, Endpoint, Parity, SerialEndpoint, TcpEndpoint, Wire, open_wire

_OPENING = 2.0  # s, at least, for a wire to open
_COMMANDS = 0x80  # from which byte on others take commands


@dataclass(frozen=True, slots=True)
class Answer:
    """A unit that answers.

    driver: whose it is, as far as its registers tell; "" for none that is known. profile: of a servo, by which it is
    recognised. identity: as read; without vendor and serial number, it was recognised by the registers
    of its feedback alone. reply: what it answered to the first question. reply_delay: s from the last byte of a
    question to the first of its answer, on a line, else None.
    """

    endpoint: Endpoint
    unit: int
    driver: str
    identity: Identity | None
    reply: str
    reply_delay: float | None = None
    profile: str = ""

    @property
    def place(self) -> str:
        """Where it is, and how the line is set, in words."""
        settings = f", {self.endpoint.settings}" if isinstance(self.endpoint, SerialEndpoint) else ""
        return f"{self.endpoint}{settings}, unit {self.unit}"


def never() -> bool:
    """Nothing stops it."""
    return False


def scan(
    endpoint: Endpoint,
    units: Sequence[int],
    timeout: float,
    *,
    rtu: bool,
    profiles: Mapping[str, ServoProfile] | None = None,
    stopped: Callable[[], bool] = never,
) -> Iterator[Answer]:
    """Ask each unit at an endpoint for a register, and who it is.

    timeout: s for each to answer. rtu: frames as on a serial line, which a serial port has anyway. profiles: of servos
    that may be there, by name. stopped: looked at before each unit. On a CAN bus the units are nodes.

    Raises ConnectError where the endpoint cannot be opened, or a serial port has gone; ConfigurationError for a unit
    that cannot be asked on a line or bus.
    """
    if isinstance(endpoint, CanEndpoint):
        if beyond := [unit for unit in units if not 1 <= unit <= _MOST_NODES]:
            raise ConfigurationError(f"unit {beyond[0]}: nodes of a CAN bus are 1 to {_MOST_NODES}")
        for unit, reply, who, known in scan_nodes(endpoint, units, timeout, stopped):
            yield Answer(endpoint, unit, "canopen" if known and who is not None else "", who, reply)
        return
    line = rtu or isinstance(endpoint, SerialEndpoint)
    registers = [_harmless_register(unit) if line else 0 for unit in units]
    bus = _bus(endpoint, timeout, rtu=line)
    for unit, register in zip(units, registers, strict=True):
        if stopped():
            return
        station = Station(bus, f"unit {unit} at {endpoint}", unit, Counters())
        station.open(max(timeout, _OPENING))
        try:
            reply = _question(station, register, timeout)
            if reply:
                driver, profile, identity = _recognised(station, profiles or {}, timeout)
                yield Answer(endpoint, unit, driver, identity, reply, station.reply_delay, profile)
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


def _recognised(
    station: Station, profiles: Mapping[str, ServoProfile], timeout: float
) -> tuple[str, str, Identity | None]:
    """The driver that knows a unit by its registers, the profile of a servo, and who it is."""
    for name in drive_names():
        recognise = find_driver(name).recognise
        if recognise is None:
            continue
        try:
            identity = recognise(station, timeout)
        except ActuatorError:
            continue
        if identity is not None:
            return name, "", identity
    with contextlib.suppress(ActuatorError):
        if (found := modbus_servo.recognise(station, profiles, timeout)) is not None:
            return "servo", *found
    return "", "", None


PARITIES: tuple[Parity, ...] = ("even", "none", "odd")
"""All that there are, the usual one of Modbus first."""

_PORT = 502
_MOST_HOSTS = 1024
_MOST_NODES = 127
_TOGETHER = 64  # hosts that are asked at the same time

Answers = tuple[Endpoint, list[Answer]]
"""An endpoint that was asked, and what answered there."""
_Found = tuple[list[Answer], ConnectError | None]
"""What answered, and why no more was asked."""


def search(
    target: str,
    units: Sequence[int],
    *,
    bauds: Sequence[int] = BAUDS,
    parities: Sequence[Parity] = PARITIES,
    timeout: float = 0.1,
    rtu: bool = False,
    profiles: Mapping[str, ServoProfile] | None = None,
    stopped: Callable[[], bool] = never,
) -> Generator[Answers, None, None]:
    """Ask `units` wherever `target` may mean, one endpoint after the other; see `scan`.

    target: a serial port, whose path begins with /, asked at one speed and parity after the other until somebody
    answers; a CAN bus as can://socketcan/can0, asked at one bit rate, the one of `bauds` or 1 Mbit/s; HOST or
    HOST:PORT; or a network as 192.168.10.0/24, whose hosts are asked at the same time, each given as it is done.
    profiles: of servos, by name, tried before those that are shipped. stopped: looked at before each unit.

    Raises ConfigurationError: the target is none of these, or a unit cannot be asked there. ConnectError: it can be
    opened in no way.
    """
    known = {**(profiles or {}), **servo_profiles()}

    def asked(endpoint: Endpoint) -> _Found:
        answers: list[Answer] = []
        try:
            for answer in scan(endpoint, units, timeout, rtu=rtu, profiles=known, stopped=stopped):
                answers.append(answer)
        except ConnectError as error:
            return answers, error
        return answers, None

    if target.startswith(CAN_SCHEME):
        parsed(target)
        if bauds is not BAUDS and len(bauds) > 1:
            raise ConfigurationError(f"{target}: give one bit rate; frames at another one disturb a CAN bus")
        endpoints: list[Endpoint] = [CanEndpoint(target, CAN_BIT_RATE if bauds is BAUDS else bauds[0], "none")]
    elif target.startswith("/"):
        settings = [SerialEndpoint(target, baud, parity) for baud in bauds for parity in parities]
        yield from _line(settings, asked, stopped)
        return
    else:
        endpoints = [*_hosts(target)]
    if len(endpoints) == 1:
        answers, failure = asked(endpoints[0])
        if failure is not None and not answers:
            raise failure
        yield endpoints[0], answers
        return
    pool = ThreadPoolExecutor(_TOGETHER)
    try:
        searches = {pool.submit(asked, host): host for host in endpoints}
        for search_done in as_completed(searches):
            answers, _nobody = search_done.result()
            yield searches[search_done], answers
    finally:
        pool.shutdown(cancel_futures=True)


def _line(
    settings: Sequence[SerialEndpoint], asked: Callable[[Endpoint], _Found], stopped: Callable[[], bool]
) -> Generator[Answers, None, None]:
    refused, opened = None, False
    for endpoint in settings:
        if stopped():
            return
        answers, failure = asked(endpoint)
        if failure is not None and not answers:  # an adapter need not have every speed
            refused = refused or failure
            continue
        opened = True
        yield endpoint, answers
        if answers:
            return
    if refused is not None and not opened:
        raise refused


def _hosts(target: str) -> list[TcpEndpoint]:
    if "/" in target:
        try:
            network = ipaddress.ip_network(target, strict=False)
        except ValueError as error:
            raise ConfigurationError(f"{target!r} is no network: {error}") from error
        if network.num_addresses > _MOST_HOSTS:
            raise ConfigurationError(f"{target}: {network.num_addresses} addresses, at most {_MOST_HOSTS}")
        return [TcpEndpoint(str(host), _PORT) for host in network.hosts()]
    host, colon, port = target.rpartition(":")
    if target and not colon:
        return [TcpEndpoint(target, _PORT)]
    if not host or not port.isdecimal() or not 1 <= int(port) <= 65535:
        raise ConfigurationError(
            f"{target!r}: give HOST, HOST:PORT, a network as 192.168.10.0/24, a serial port's path, or a CAN bus as "
            f"{CAN_SCHEME}socketcan/can0"
        )
    return [TcpEndpoint(host, int(port))]
