"""What an engine and the plant of its virtual rig say to each other about time, over a local socket of their user's.

Time is *paced*: the engine gives the plant the time of each cycle before it sends the six commands, and the plant moves
nowhere in between. A cycle that the operating system delays delays the plant with it.

    engine → plant   Time     the plant stands at this time from now on
                     Settle   take in all that was sent by now, go on to this time, send what is due by then, and say so
                     Resume   tell the time: from now on the engine gives it
    plant → engine   Told     the plant's time; answers Resume
                     Settled  so it is, and so many bytes have been sent over each connection in all
                     Ahead    nobody gave the time any more: the plant goes by the wall clock

Messages are packets, so that none is ever cut. Times are in s on the plant's clock.
"""

import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass

Connection = tuple[int, int]
"""Port of the device and port of its client: one TCP connection of this machine.

Of a pseudo-terminal: `actuators.NO_PORT` and its number; whoever opens it says so by a count of -1."""

_TIME = struct.Struct("<Bd")
_COUNT = struct.Struct("<HHq")
_LARGEST = 65536
_TIME_KIND, _SETTLE, _RESUME, _TOLD, _SETTLED, _AHEAD = range(6)


@dataclass(frozen=True, slots=True)
class Time:
    """The plant stands at `t` from now on."""

    t: float


@dataclass(frozen=True, slots=True)
class Settle:
    """Take in `counts` bytes in all of each connection, go on to `t`, send what is due by then, and say so."""

    t: float
    counts: Mapping[Connection, int]


@dataclass(frozen=True, slots=True)
class Resume:
    """Tell the time: from now on the engine gives it."""


@dataclass(frozen=True, slots=True)
class PlantTime:
    """The plant's time."""

    t: float


@dataclass(frozen=True, slots=True)
class Settled:
    """The plant stands at `t`, and has sent `counts` bytes in all over each connection; -1: it has closed it."""

    t: float
    counts: Mapping[Connection, int]


@dataclass(frozen=True, slots=True)
class Ahead:
    """Nobody gave the time any more: the plant goes by the wall clock."""


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
            return _TIME.pack(_TOLD, t)
        case Resume():
            return _TIME.pack(_RESUME, 0.0)
        case Ahead():
            return _TIME.pack(_AHEAD, 0.0)


def decode(packet: bytes) -> Message:
    """The message of a packet. Raises ValueError for what is none."""
    if len(packet) < _TIME.size or (len(packet) - _TIME.size) % _COUNT.size:
        raise ValueError(f"pace: {len(packet)} bytes are no message")
    kind, t = _TIME.unpack_from(packet)
    if kind in (_SETTLE, _SETTLED):
        counts = {(device, client): count for device, client, count in _COUNT.iter_unpack(packet[_TIME.size :])}
        return Settle(t, counts) if kind == _SETTLE else Settled(t, counts)
    kinds: dict[int, Message] = {_TIME_KIND: Time(t), _RESUME: Resume(), _TOLD: PlantTime(t), _AHEAD: Ahead()}
    if kind not in kinds:
        raise ValueError(f"pace: {kind} is no kind of message")
    return kinds[kind]


def _pack(counts: Mapping[Connection, int]) -> bytes:
    return b"".join(_COUNT.pack(*connection, count) for connection, count in counts.items())


def receive(connection: socket.socket) -> Message | None:
    """The next message, None where there is none yet. Raises EOFError where the other end has gone."""
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
