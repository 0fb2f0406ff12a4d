"""Modbus TCP server of virtual devices: one thread, one loop, one port per device, any number of clients."""

import contextlib
import errno
import math
import selectors
import socket
import time
from collections.abc import Callable, Iterable
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


class StopEvent(Protocol):
    """A `threading.Event` or `multiprocessing.Event`."""

    def is_set(self) -> bool:
        """True once the server is to end."""


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
    """

    def __init__(
        self,
        endpoints: Iterable[tuple[str, int, Responder]],
        *,
        advance: Callable[[float], None] | None = None,
        tick: float = 2e-3,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """endpoints: (host, port, device), port 0 = any free one. tick: s. clock: s, what `advance` is given."""
        self._endpoints = list(endpoints)
        self._advance = advance or self._tick_devices
        self._tick = tick
        self._clock = clock
        self._next_tick = 0.0
        self._ports: list[_Port] = []
        self._behind: dict[_Client, None] = {}
        """clients that have sent more than was answered yet"""
        self._selector: selectors.BaseSelector
        self.clients = 0
        """how many are connected"""

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
                if on_ready is not None:
                    on_ready([port.listener.getsockname()[:2] for port in self._ports])
                while not stop.is_set():
                    self._serve_once()
            finally:
                for key in list(self._selector.get_map().values()):
                    _socket_of(key.data).close()
                for port in self._ports:
                    port.listener.close()
                self._ports.clear()
                self._behind.clear()
                self.clients = 0

    def _serve_once(self) -> None:
        ready = self._selector.select(0.0 if self._behind else min(self._tick, _STOP_LATENCY))
        if self._clock() >= self._next_tick:
            self._bring_to_present()
        behind, self._behind = self._behind, {}
        for client in behind:
            if client.socket.fileno() >= 0:
                self._answer(client)
        for key, events in ready:
            if isinstance(key.data, _Port):
                self._accept(key.data)
                continue
            client = key.data
            if events & selectors.EVENT_WRITE and client.socket.fileno() >= 0:
                self._send(client, b"")
            if events & selectors.EVENT_READ and client.socket.fileno() >= 0 and client not in behind:
                self._receive(client)
        for port in self._ports:
            held = port.device.due()
            if held and port.last is not None:
                self._send(port.last, held)
            if math.isfinite(port.closed_until) and self._clock() >= port.closed_until:
                port.closed_until = -math.inf
                self._selector.register(port.listener, selectors.EVENT_READ, port)

    def _accept(self, port: _Port) -> None:
        try:
            connection, _ = port.listener.accept()
        except OSError as error:
            if error.errno in _EXHAUSTED:
                self._selector.unregister(port.listener)
                port.closed_until = self._clock() + _ACCEPT_PAUSE
            return  # else the client has gone again
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._selector.register(connection, selectors.EVENT_READ, _Client(connection, port))
        self.clients += 1

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
        self.clients -= 1
        if client.port.last is client:
            client.port.last = None

    def _bring_to_present(self) -> None:
        now = self._clock()
        self._next_tick = now + self._tick
        self._advance(now)

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
