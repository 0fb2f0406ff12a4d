"""Modbus TCP server of virtual devices: one thread, one loop, one port per device, any number of clients."""

import contextlib
import errno
import math
import selectors
import socket
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from actuators.errors import ActuatorError
from actuators.framing import HEADER
from actuators.virtual.device import Responder
from actuators.wire import LinkClosedError

_CHUNK = 4096
_MAX_UNSENT = 65536  # bytes a client may leave unread before it is dropped
_STOP_LATENCY = 0.05  # s, at most, from the stop event to the end
_MIN_LENGTH, _MAX_LENGTH = 2, 254  # of the MBAP length field
_FRAMES_PER_TURN = 8  # of one connection: however much one client asks, the others wait no longer
_ACCEPT_PAUSE = 0.1  # s for which nobody is let in after no descriptor was free: trying at once would be all it does
_EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class Settlement(Protocol):
    """A client that gives the time asks to have everything answered that it has sent, and all that is due by a time."""

    @property
    def t(self) -> float:
        """s, on the devices' clock."""

    @property
    def counts(self) -> Mapping[tuple[int, int], int]:
        """Bytes that it has sent in all, by port of the device and port of its own."""


class StopEvent(Protocol):
    """A `threading.Event` or `multiprocessing.Event`."""

    def is_set(self) -> bool:
        """True once the server is to end."""


class Timekeeper(Protocol):
    """Gives a server its time, where a client of its devices may give it: see `ModbusTcpServer`."""

    @property
    def request(self) -> Settlement | None:
        """What the client asks for, until it is `settled`."""

    def now(self) -> float:
        """The devices' clock, s; never goes back."""

    def fileno(self) -> int:
        """Readable when there is something to `attend` to."""

    def attend(self) -> None:
        """Hear what the client has said."""

    def reach(self, t: float) -> None:
        """Go on to `t`, s."""

    def settled(self, counts: dict[tuple[int, int], int]) -> None:
        """Tell the client how many bytes it has been sent in all over each connection that it named; -1: closed."""


class _Port:
    """A listening socket and its device."""

    def __init__(self, listener: socket.socket, device: Responder) -> None:
        self.listener = listener
        self.device = device
        self.closed_until = -math.inf
        """until when (s) nobody is let in"""
        self.last: _Client | None = None
        """Client whose request was answered last; bytes held back go to it."""


class _Client:
    """A connection; `replies` wait for more of their kind, `unsent` for the client to read."""

    def __init__(self, connection: socket.socket, port: _Port) -> None:
        self.socket = connection
        self.name = (port.listener.getsockname()[1], connection.getpeername()[1])
        """port of the device, port of the client"""
        self.taken = self.given = 0
        """bytes in all that it has sent, and has been sent"""
        self.port = port
        self.received = b""
        self.replies = b""
        self.unsent = b""


class ModbusTcpServer:
    """Serves devices until told to stop.

    Before a request is answered, and every `tick` s without one, `advance(now)` brings the plant and all devices to
    the present (it must call their `tick`); without `advance` the server ticks the devices itself.
    A connection that sends what cannot be a frame is closed. Requests that come faster than they are answered wait:
    of each connection a few are answered in a turn of the loop.

    With a `timekeeper` a client may give the time: no request is answered at an earlier one than was given before it
    was sent, and the client may ask for a settlement, which is how it tells a reply that is lost from one that the
    machine was too busy to send.
    """

    def __init__(
        self,
        endpoints: Iterable[tuple[str, int, Responder]],
        *,
        advance: Callable[[float], None] | None = None,
        tick: float = 2e-3,
        clock: Callable[[], float] = time.monotonic,
        timekeeper: Timekeeper | None = None,
    ) -> None:
        """endpoints: (host, port, device), port 0 = any free one. tick: s.

        clock: s, what `advance` is given. timekeeper: gives the clock in its place.
        """
        self._endpoints = list(endpoints)
        self._advance = advance or self._tick_devices
        self._tick = tick
        self._timekeeper = timekeeper
        self._clock = clock if timekeeper is None else timekeeper.now
        self._clients: dict[tuple[int, int], _Client] = {}
        self._closed: set[tuple[int, int]] = set()
        """names of connections of whoever gives the time that are no more"""
        self._wall = clock
        self._next_tick = 0.0
        """s of the machine's clock: a time that is given may stand"""
        self._ports: list[_Port] = []
        self._behind: dict[_Client, None] = {}
        """clients that have sent more than was answered yet"""
        self._selector: selectors.BaseSelector

    @property
    def clients(self) -> int:
        """How many are connected."""
        return len(self._clients)

    def serve(self, stop: StopEvent, on_ready: Callable[[list[tuple[str, int]]], None] | None = None) -> None:
        """Listen on all ports, call `on_ready` with their (host, port), and serve until `stop` is set.

        Every socket is closed on return, however it comes about. Raises ActuatorError naming the host:port that
        cannot be listened on; whatever `advance` raises ends the server and passes through.
        """
        with selectors.DefaultSelector() as self._selector:
            try:
                for host, number, device in self._endpoints:
                    port = _Port(_listen(host, number), device)
                    self._ports.append(port)
                    self._selector.register(port.listener, selectors.EVENT_READ, port)
                if self._timekeeper is not None:
                    self._selector.register(self._timekeeper, selectors.EVENT_READ, self._timekeeper)
                if on_ready is not None:
                    on_ready([port.listener.getsockname()[:2] for port in self._ports])
                while not stop.is_set():
                    self._serve_once()
            finally:
                for key in list(self._selector.get_map().values()):
                    if key.data is not self._timekeeper:
                        _socket_of(key.data).close()
                for port in self._ports:
                    port.listener.close()
                self._ports.clear()
                self._behind.clear()
                self._clients.clear()
                self._closed.clear()

    def _serve_once(self) -> None:
        ready = self._selector.select(0.0 if self._behind else min(self._tick, _STOP_LATENCY))
        if self._wall() >= self._next_tick:
            self._bring_to_present()
        behind, self._behind = self._behind, {}
        for client in behind:
            if client.socket.fileno() >= 0:
                self._answer(client)
        for key, events in ready:
            if key.data is self._timekeeper:
                self._timekeeper.attend()
                continue
            if isinstance(key.data, _Port):
                self._accept(key.data)
                continue
            client = key.data
            if events & selectors.EVENT_WRITE and client.socket.fileno() >= 0:
                self._send(client, b"")
            if events & selectors.EVENT_READ and client.socket.fileno() >= 0 and client not in behind:
                self._receive(client)
        self._send_due()
        if self._timekeeper is not None and self._timekeeper.request is not None:
            self._settle(self._timekeeper, self._timekeeper.request)
        for port in self._ports:
            if math.isfinite(port.closed_until) and self._wall() >= port.closed_until:
                port.closed_until = -math.inf
                self._selector.register(port.listener, selectors.EVENT_READ, port)

    def _send_due(self) -> None:
        for port in self._ports:
            held = port.device.due()
            if held and port.last is not None:
                self._send(port.last, held)

    def _settle(self, timekeeper: Timekeeper, request: Settlement) -> None:
        """Settle as soon as all that was sent is answered."""
        for name, count in request.counts.items():
            client = self._clients.get(name)
            if name not in self._closed and (client is None or client.taken < count or client in self._behind):
                return
        timekeeper.reach(request.t)
        self._bring_to_present()
        self._send_due()
        clients = {name: self._clients.get(name) for name in request.counts}
        timekeeper.settled({name: -1 if client is None else client.given for name, client in clients.items()})

    def _accept(self, port: _Port) -> None:
        try:
            connection, _ = port.listener.accept()
        except OSError as error:
            if error.errno in _EXHAUSTED:
                self._selector.unregister(port.listener)
                port.closed_until = self._wall() + _ACCEPT_PAUSE
            return  # else the client has gone again
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            client = _Client(connection, port)
        except OSError:  # it has gone again
            connection.close()
            return
        self._selector.register(connection, selectors.EVENT_READ, client)
        self._clients[client.name] = client
        self._closed.discard(client.name)

    def _receive(self, client: _Client) -> None:
        try:
            data = client.socket.recv(_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._drop(client)
            return
        client.received += data
        client.taken += len(data)
        self._answer(client)

    def _answer(self, client: _Client) -> None:
        """Answer the next requests that a client has sent, as many as are its in a turn."""
        answered = 0
        while len(client.received) >= HEADER.size:
            _, protocol, length, _ = HEADER.unpack_from(client.received)
            if protocol or not _MIN_LENGTH <= length <= _MAX_LENGTH:
                self._drop(client)
                return
            if len(client.received) < length + 6:
                break
            if answered == _FRAMES_PER_TURN:
                self._behind[client] = None
                break
            frame, client.received = client.received[: length + 6], client.received[length + 6 :]
            answered += 1
            self._bring_to_present()
            try:
                client.replies += client.port.device.respond(frame)
            except LinkClosedError:
                self._drop(client)
                return
            client.port.last = client
        if client.replies and (client not in self._behind or len(client.replies) >= _CHUNK):
            replies, client.replies = client.replies, b""
            self._send(client, replies)

    def _send(self, client: _Client, data: bytes) -> None:
        """Send what the client takes now and keep the rest, within bounds."""
        client.given += len(data)
        data = client.unsent + data
        try:
            sent = client.socket.send(data)
        except BlockingIOError:
            sent = 0
        except OSError:
            self._drop(client)
            return
        waiting = bool(client.unsent)
        client.unsent = data[sent:]
        if len(client.unsent) > _MAX_UNSENT:
            self._drop(client)
        elif bool(client.unsent) != waiting:
            events = selectors.EVENT_READ | (selectors.EVENT_WRITE if client.unsent else 0)
            self._selector.modify(client.socket, events, client)

    def _drop(self, client: _Client) -> None:
        self._selector.unregister(client.socket)
        client.socket.close()
        if self._clients.get(client.name) is client:
            del self._clients[client.name]
            if self._timekeeper is not None:
                self._closed.add(client.name)
        if client.port.last is client:
            client.port.last = None

    def _bring_to_present(self) -> None:
        self._next_tick = self._wall() + self._tick
        self._advance(self._clock())

    def _tick_devices(self, now: float) -> None:
        for port in self._ports:
            port.device.tick(now)


def _listen(host: str, number: int) -> socket.socket:
    listener: socket.socket | None = None
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, number, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen()
        listener.setblocking(False)
    except OSError as error:
        if listener is not None:
            with contextlib.suppress(OSError):
                listener.close()
        raise ActuatorError(f"cannot listen on {host}:{number}: {error.strerror or error}") from error
    return listener


def _socket_of(data: _Port | _Client) -> socket.socket:
    return data.listener if isinstance(data, _Port) else data.socket
