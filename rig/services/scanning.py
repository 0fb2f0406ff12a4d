"""Search for devices on a serial port, at a TCP port, in a network, or on a CAN bus."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from actuators import CAN_SCHEME
from rig.errors import FieldError, HardwareError, InputError
from rig.services.job import OnEvent, Progress, no_progress
from rig.services.request import request

if TYPE_CHECKING:
    from actuators import Answer, Endpoint


@request
class ScanRequest:
    """Targets of a scan for Modbus devices or CANopen nodes; registers and objects are only read."""

    target: str
    """a serial port, a host with or without its port, the hosts of a network, 192.168.10.0/24, or a CAN bus,
    can://socketcan/can0"""
    units: tuple[Annotated[int, Field(ge=0, le=255)], ...] | None = None
    """unit addresses to query; None: 1 to 16, on a CAN bus all nodes, 1 to 127"""
    bauds: tuple[Annotated[int, Field(ge=300, le=4_000_000)], ...] = ()
    """baud rates of a serial line; empty: the usual ones; or the bit rate of a CAN bus; empty: 1 Mbit/s"""
    parities: tuple[Literal["even", "none", "odd"], ...] = ()
    """of a serial line; empty: all three"""
    timeout: Annotated[float, Field(ge=1e-3, le=10.0)] = 0.1
    """s, timeout of each unit"""
    rtu: bool = False
    """RTU frames over a TCP port"""
    profiles: tuple[str, ...] = ()
    """profiles of servos besides the shipped ones: files, or folders with some"""

    def __post_init__(self) -> None:
        if self.units == ():
            raise FieldError("units", "none given")
        if (self.bauds and not (self.is_serial or self.is_can)) or (self.parities and not self.is_serial):
            raise InputError("--baud, --parity: of a serial port, whose name begins with /")

    @property
    def is_serial(self) -> bool:
        """Return whether the target is a serial port."""
        return self.target.startswith("/")

    @property
    def is_can(self) -> bool:
        """Return whether the target is a CAN bus."""
        return self.target.startswith(CAN_SCHEME)

    @property
    def asked(self) -> tuple[int, ...]:
        """Return the unit addresses to query."""
        return self.units if self.units is not None else tuple(range(1, 128 if self.is_can else 17))


@dataclass(frozen=True, slots=True)
class ScanResult:
    """The answers, at least one, and the number of queried line settings or hosts."""

    answers: "tuple[Answer, ...]"
    asked: int

    def as_list(self) -> list[dict[str, Any]]:
        """Return the answers as JSON objects."""
        return [_as_dict(answer) for answer in self.answers]


class NoAnswerError(HardwareError):
    """No device answered.

    Args:
        target: the queried target.
        asked: number of line settings or hosts.
        units: number of units of each.
    """

    def __init__(self, target: str, asked: int, units: int) -> None:
        one, many = "host", "hosts"
        if target.startswith("/"):
            one, many = "line setting", "line settings"
        elif target.startswith(CAN_SCHEME):
            one, many = "bus", "buses"
        super().__init__(
            f"nothing answers at {target}: {asked} {one if asked == 1 else many} asked for {units} "
            f"unit{'' if units == 1 else 's'}"
        )
        self.target, self.asked, self.units = target, asked, units


def scan(request: ScanRequest, progress: OnEvent = no_progress) -> ScanResult:
    """Query a serial port at successive speeds and parities until a device answers, or hosts.

    Events: `asked` after each line setting or host, with the devices found there as `answers`.

    Raises:
        InputError: no such target.
        NoAnswerError: no device answered.
        HardwareError: the port cannot be opened.
    """
    found: list[Answer] = []
    asked = 0
    for _endpoint, answers in _asked(request):
        asked += 1
        found.extend(answers)
        progress(Progress("asked", asked, values={"answers": tuple(answers)}))
    if not found:
        raise NoAnswerError(request.target, asked, len(request.asked))
    return ScanResult(tuple(found), asked)


def _asked(request: ScanRequest) -> "Iterator[tuple[Endpoint, list[Answer]]]":
    """Yield the queried endpoints, each with its answers."""
    from actuators import BAUDS, PARITIES, ConfigurationError, search, servo_profiles

    try:
        profiles = {name: one for path in request.profiles for name, one in servo_profiles(path).items()}
        yield from search(
            request.target,
            list(request.asked),
            bauds=request.bauds or BAUDS,
            parities=request.parities or PARITIES,
            timeout=request.timeout,
            rtu=request.rtu,
            profiles=profiles,
        )
    except ConfigurationError as error:
        raise InputError(str(error)) from None


def _as_dict(answer: "Answer") -> dict[str, Any]:
    from actuators import CanEndpoint, SerialEndpoint

    endpoint = answer.endpoint
    place: dict[str, Any]
    if isinstance(endpoint, CanEndpoint):
        place = {"device": endpoint.device, "bitrate": endpoint.baud}
    elif isinstance(endpoint, SerialEndpoint):
        place = {"device": endpoint.device, "baud": endpoint.baud, "parity": endpoint.parity}
    else:
        place = {"host": endpoint.host, "port": endpoint.port}
    identity = None if answer.identity is None else asdict(answer.identity)
    return {
        **place,
        "unit": answer.unit,
        "driver": answer.driver,
        "profile": answer.profile,
        "identity": identity,
        "reply": answer.reply,
        "reply_delay_s": answer.reply_delay,
    }
