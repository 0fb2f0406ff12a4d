"""Messages about time between an engine and the plant of its virtual rig, over a local socket of their user.

Time is *paced*: the engine sets the plant's time in each cycle before it sends the six commands, and the plant does not
advance in between. A delay of a cycle by the operating system delays the plant too.

    engine → plant   Time       set the plant's time
                     Settle     process everything sent, advance to this time, send what is due by then, and confirm
                     Resume     report the time: from now on the engine sets it
    plant → engine   PlantTime  the plant's time; answers Resume
                     Settled    confirmation, with the total bytes sent over each connection
                     Ahead      the engine stopped setting the time: the plant follows the wall clock

Messages are packets, so that none is ever cut. Times are in s on the plant's clock.
"""

import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass

Connection = tuple[int, int]
"""Port of the device and port of its client: one TCP connection of this machine.

Of a pseudo-terminal: `actuators.NO_PORT` and its number; opening it is reported by a count of -1."""

_TIME = struct.Struct("<Bd")
_COUNT = struct.Struct("<HHq")
_LARGEST = 65536
_TIME_KIND, _SETTLE, _RESUME, _PLANT_TIME, _SETTLED, _AHEAD = range(6)


@dataclass(frozen=True, slots=True)
class Time:
    """Set the plant's time to `t`, s."""

    t: float


@dataclass(frozen=True, slots=True)
class Settle:
    """Process `counts` total bytes of each connection, advance to `t`, send what is due by then, and confirm."""

    t: float
    counts: Mapping[Connection, int]


@dataclass(frozen=True, slots=True)
class Resume:
    """Report the time: from now on the engine sets it."""


@dataclass(frozen=True, slots=True)
class PlantTime:
    """The plant's time."""

    t: float


@dataclass(frozen=True, slots=True)
class Settled:
    """The plant is at `t`, and has sent `counts` total bytes over each connection; -1: it has closed it."""

    t: float
    counts: Mapping[Connection, int]


@dataclass(frozen=True, slots=True)
class Ahead:
    """The engine stopped setting the time: the plant follows the wall clock."""


Message = Time | Settle | Resume | PlantTime | Settled | Ahead


def encode(message: Message) -> bytes:
    """The packet of a message."""
    match message:
        case Time(t):
            return _TIME.pack(_TIME_KIND, t)
        case Settle(t, counts):
            return _TIME.pack(_SETTLE, t) + _pack(counts)
        case Settled(t, counts):
            return _TIME.pack(_SETTLED, t) + _pack(counts)
        case PlantTime(t):
            return _TIME.pack(_PLANT_TIME, t)
        case Resume():
            return _TIME.pack(_RESUME, 0.0)
        case Ahead():
            return _TIME.pack(_AHEAD, 0.0)


def decode(packet: bytes) -> Message:
    """The message of a packet. Raises ValueError for an invalid one."""
    if len(packet) < _TIME.size or (len(packet) - _TIME.size) % _COUNT.size:
        raise ValueError(f"pace: {len(packet)} bytes are no message")
    kind, t = _TIME.unpack_from(packet)
    if kind in (_SETTLE, _SETTLED):
        counts = {(device, client): count for device, client, count in _COUNT.iter_unpack(packet[_TIME.size :])}
        return Settle(t, counts) if kind == _SETTLE else Settled(t, counts)
    kinds: dict[int, Message] = {_TIME_KIND: Time(t), _RESUME: Resume(), _PLANT_TIME: PlantTime(t), _AHEAD: Ahead()}
    if kind not in kinds:
        raise ValueError(f"pace: {kind} is no kind of message")
    return kinds[kind]


def _pack(counts: Mapping[Connection, int]) -> bytes:
    return b"".join(_COUNT.pack(*connection, count) for connection, count in counts.items())


def receive(connection: socket.socket) -> Message | None:
    """The next message, None if there is none yet. Raises EOFError if the other end has closed."""
    try:
        packet = connection.recv(_LARGEST, socket.MSG_DONTWAIT)
    except BlockingIOError:
        return None
    except OSError:
        packet = b""
    if not packet:
        raise EOFError
    return decode(packet)


def peer(connection: socket.socket) -> int:
    """Number of the process at the other end."""
    size = struct.calcsize("3i")
    pid, _user, _group = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
    return int(pid)
