"""Which nodes answer on a CAN bus, and who they are. Objects are only read."""

from collections.abc import Callable, Iterator, Sequence

from actuators.bus import Exchange
from actuators.canopen.bus import CanBus
from actuators.canopen.drive import read_identity
from actuators.canopen.frames import DEVICE_TYPE, CanEndpoint
from actuators.canopen.wire import open_can
from actuators.errors import ActuatorError, ConnectError, ProtocolError
from actuators.interface import Counters, Identity
from actuators.wire import Wire

_HOST = 127
"""Node number of this computer, which sends no heartbeat here."""
_PROFILE, _DRIVE = 0xFFFF, 402
"""Bits of the device type that number its profile, and that of drives."""

Node = tuple[int, str, Identity | None, bool]
"""Number of a node that answers, its answer in words, its identity if it has one, and whether it is a CiA 402 drive."""


def scan_nodes(
    endpoint: CanEndpoint,
    units: Sequence[int],
    timeout: float,
    stopped: Callable[[], bool],
    opening: Callable[[float], Wire] | None = None,
) -> Iterator[Node]:
    """Ask nodes for their device type (object 1000h) by SDO, and for their identity (1018h, 1008h).

    Args:
        endpoint: the bus. It is asked at one bit rate only: frames at another one destroy those of the nodes.
        units: their numbers, 1 to 127.
        timeout: s for each to answer.
        stopped: looked at before each node.
        opening: opens the wire, if not python-can.

    Raises ConnectError where the bus cannot be opened, or has gone.
    """
    bus = CanBus(opening or (lambda patience: open_can(endpoint, patience)), _HOST, endpoint)
    exchange = Exchange(_HOST, Counters())
    bus.join(exchange, timeout)
    try:
        for unit in units:
            if stopped():
                return
            label = f"node {unit} at {endpoint}"
            try:
                kind = bus.read(unit, label, DEVICE_TYPE, timeout)
            except ProtocolError as error:
                yield unit, str(error), None, False
                continue
            except ConnectError:
                if not bus.connected:
                    raise
                continue
            try:
                identity = read_identity(bus, unit, label, timeout)
            except ActuatorError:  # it need not have them all
                identity = None
            yield unit, f"device type {kind:08X}h", identity, kind & _PROFILE == _DRIVE
    finally:
        bus.leave(exchange)
