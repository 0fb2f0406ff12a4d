"""Server of virtual devices: one thread, one loop, a TCP port or a pseudo-terminal per wire, any number of clients."""

import contextlib
import errno
import math
import os
import selectors
import socket
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol

from actuators.endpoint import Endpoint, SerialEndpoint, TcpEndpoint
from actuators.virtual.connections import Client, ServedWire, listen_at
from actuators.virtual.device import Responder
from actuators.virtual.terminal import NO_PORT, Terminal
from actuators.virtual.timekeeper import Settlement, Timekeeper
from actuators.wire import SHARP, LinkClosedError

_CHUNK = 4096
_MAX_UNSENT = 65536  # bytes a client may leave unread before it is dropped
_STOP_LATENCY = 0.05  # s, at most, from the stop event to the end
_FRAMES_PER_TURN = 8  # of one connection: however much one client asks, the others wait no longer
_ACCEPT_PAUSE = 0.1  # s for which nobody is let in after no descriptor was free: trying at once would be all it does
_SILENCE = 0.1  # s of the machine's clock, after which a serial frame is not continued
_ATTENTION = 2e-4  # s after a reply on a serial line for which the next request is not slept through: it comes soon
_EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class StopEvent(Protocol):
    """A `threading.Event` or `multiprocessing.Event`."""

    def is_set(self) -> bool:
        """True once the server is to end."""


class TwinServer:
    """Serves devices until told to stop.

    Before a request is answered, and every `tick` s without one, `advance(now)` brings the plant and all devices to
    the present (it must call their `tick`); without `advance` the server ticks the devices itself.
    A connection that sends what cannot be a frame is closed; on a serial wire it is dropped. Requests that come faster
    than they are answered wait: of each connection a few are answered in a turn of the loop.

    With a `timekeeper` a client may give the time: no request is answered at an earlier one than was given before it
    was sent, and the client may ask for a settlement, which is how it tells a reply that is lost from one that the
    machine was too busy to send.
    """

    def __init__(
        self,
        endpoints: Iterable[tuple[Endpoint, Responder]],
        *,
        advance: Callable[[float], None] | None = None,
        tick: float = 2e-3,
        clock: Callable[[], float] = time.monotonic,
        timekeeper: Timekeeper | None = None,
    ) -> None:
        """endpoints: where each device is served; port 0 = any free one; a serial device's path is made there.

        tick: s. clock: s, what `advance` is given. timekeeper: gives the clock in its place.
        """
        self._endpoints = list(endpoints)
        self._advance = advance or self._tick_devices
        self._tick = tick
        self._timekeeper = timekeeper
        self._clock = clock if timekeeper is None else timekeeper.now
        self._clients: dict[tuple[int, int], Client] = {}
        self._closed: set[tuple[int, int]] = set()
        """names of connections of whoever gives the time that are no more"""
        self._wall = clock
        self._next_tick = 0.0
        """s of the machine's clock: a time that is given may stand"""
        self._ports: list[ServedWire] = []
        self._terminals: list[Terminal] = []
        self._brought = False
        """whether devices were brought to the present in this turn of the loop"""
        self._attentive_until = -math.inf
        """s of the machine's clock"""
        self._behind: dict[Client, None] = {}
        """clients that have sent more than was answered yet"""
        self._selector: selectors.BaseSelector

    @property
    def clients(self) -> int:
        """How many TCP clients are connected; of a pseudo-terminal nobody knows."""
        return len(self._clients) - len(self._terminals)

    def serve(self, stop: StopEvent, on_ready: Callable[[list[Endpoint]], None] | None = None) -> None:
        """Serve at all endpoints, call `on_ready` with them as they are then, and go on until `stop` is set.

        Every descriptor is closed on return, however it comes about. Raises ActuatorError naming the endpoint that
        cannot be served; whatever `advance` raises ends the server and passes through.
        """
        # epoll rounds up to whole milliseconds, in which a serial line carries a hundred bytes
        timed = any(isinstance(endpoint, SerialEndpoint) for endpoint, _ in self._endpoints)
        with selectors.SelectSelector() if timed else selectors.DefaultSelector() as self._selector:
            try:
                served = [self._open(endpoint, device) for endpoint, device in self._endpoints]
                if self._timekeeper is not None:
                    self._selector.register(self._timekeeper, selectors.EVENT_READ, self._timekeeper)
                if on_ready is not None:
                    on_ready(served)
                while not stop.is_set():
                    self._serve_once()
            finally:
                for key in list(self._selector.get_map().values()):
                    if isinstance(key.data, Client):
                        key.data.socket.close()
                for port in self._ports:
                    if port.listener is not None:
                        port.listener.close()
                for terminal in self._terminals:
                    terminal.close()
                self._ports.clear()
                self._terminals.clear()
                self._behind.clear()
                self._clients.clear()
                self._closed.clear()

    def _open(self, endpoint: Endpoint, device: Responder) -> Endpoint:
        """Serve a device at an endpoint, and say where that is."""
        if isinstance(endpoint, SerialEndpoint):
            terminal = Terminal(Path(endpoint.device))
            self._terminals.append(terminal)
            port = ServedWire(None, device)
            self._ports.append(port)
            port.last = self._welcome(terminal, (NO_PORT, terminal.number), port)
            return endpoint
        listener = listen_at(endpoint)
        port = ServedWire(listener, device)
        self._ports.append(port)
        self._selector.register(listener, selectors.EVENT_READ, port)
        return TcpEndpoint(*listener.getsockname()[:2])

    def _welcome(self, connection: socket.socket | Terminal, name: tuple[int, int], port: ServedWire) -> Client:
        client = Client(connection, name, port)
        self._selector.register(connection, selectors.EVENT_READ, client)
        self._clients[name] = client
        self._closed.discard(name)
        return client

    def _serve_once(self) -> None:
        ready = self._wait()
        now = self._clock()
        self._brought = False
        eventful = [port for port in self._ports if port.device.next_event <= now] if self._terminals else []
        if self._wall() >= self._next_tick or not all([port.device.passes(now) for port in eventful]):
            self._bring_to_present()
        behind, self._behind = self._behind, {}
        heard = list(behind)
        for key, events in ready:
            if key.data is self._timekeeper:
                self._timekeeper.attend()
            elif isinstance(key.data, ServedWire):
                self._accept(key.data)
            else:
                client = key.data
                if events & selectors.EVENT_WRITE and client.socket.fileno() >= 0:
                    self._send(client, b"")
                if events & selectors.EVENT_READ and client.socket.fileno() >= 0 and client not in behind:
                    heard += [client] if self._receive(client) else []
        for client in heard:  # what has come has come now, however long the answers to the others take
            if client.socket.fileno() >= 0:
                self._answer(client, now)
        self._send_due(self._ports if self._brought else eventful)
        if self._timekeeper is not None and self._timekeeper.request is not None:
            self._settle(self._timekeeper, self._timekeeper.request)
        for port in self._ports:
            if port.listener is not None and math.isfinite(port.closed_until) and self._wall() >= port.closed_until:
                port.closed_until = -math.inf
                self._selector.register(port.listener, selectors.EVENT_READ, port)

    def _wait(self) -> list[tuple[selectors.SelectorKey, int]]:
        """Wait until something arrives or is to be done; what has arrived."""
        if self._behind:
            return self._selector.select(0.0)
        now = self._wall()
        patience = min(self._tick, _STOP_LATENCY)
        if not self._terminals or (self._timekeeper is not None and self._timekeeper.given):
            return self._selector.select(patience)
        event = self._next_event() - self._clock()
        if event > patience and now >= self._attentive_until:
            return self._selector.select(patience)
        until = now + min(event, patience)
        while now < until:
            asleep = 0.0 if now < self._attentive_until else max(0.0, until - now - SHARP)
            if ready := self._selector.select(asleep):
                return ready
            os.sched_yield()
            now = self._wall()
        return self._selector.select(0.0)

    def _next_event(self) -> float:
        """When some device does something by itself, s."""
        return min([port.device.next_event for port in self._ports], default=math.inf)

    def _send_due(self, ports: Iterable[ServedWire]) -> bool:
        """Send what devices have held back until now; whether there was anything."""
        sent = False
        for port in ports:
            try:
                held = port.device.due()
            except LinkClosedError:
                held = b""
                if port.last is not None:
                    self._refuse(port.last)
            if held and port.last is not None:
                if port.last.asked and port.listener is None:
                    self._attentive_until = self._wall() + _ATTENTION
                port.last.asked = False
                self._send(port.last, held)
                sent = True
        return sent

    def _settle(self, timekeeper: Timekeeper, request: Settlement) -> None:
        """Settle as soon as all that was sent is answered."""
        for name, count in request.counts.items():
            client = self._clients.get(name)
            if name not in self._closed and (client is None or client.taken < count or client in self._behind):
                return
        for name, count in request.counts.items():
            if count < 0 and name in self._clients:
                self._forget(self._clients[name])
        t, sent = -math.inf, False
        while t < request.t and not sent:
            event = self._next_event()
            t = min(event, request.t) if event > t else request.t  # one that has passed and stays is waited for no more
            timekeeper.reach(t)
            self._bring_to_present()
            sent = self._send_due(self._ports)
        clients = {name: self._clients.get(name) for name in request.counts}
        timekeeper.settled({name: -1 if client is None else client.given for name, client in clients.items()})

    def _forget(self, client: Client) -> None:
        """Somebody else talks over a wire that is open for good."""
        with contextlib.suppress(BlockingIOError):
            while client.socket.recv(_CHUNK):
                pass
        client.forget()

    def _accept(self, port: ServedWire) -> None:
        assert port.listener is not None
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
            name = (port.listener.getsockname()[1], connection.getpeername()[1])
        except OSError:  # it has gone again
            connection.close()
            return
        self._welcome(connection, name, port)

    def _receive(self, client: Client) -> bool:
        """Take what a client has sent; whether there was anything."""
        try:
            data = client.socket.recv(_CHUNK)
        except BlockingIOError:
            return False
        except OSError:
            data = b""
        if not data:
            self._drop(client)
            return False
        now = self._wall()
        if isinstance(client.socket, Terminal) and now - client.heard > _SILENCE:
            client.received = b""  # no frame has a pause in it
        client.heard = now
        client.received += data
        client.taken += len(data)
        return True

    def _answer(self, client: Client, now: float) -> None:
        """Answer the next requests that a client had sent at `now`, s, as many as are its in a turn."""
        given = self._timekeeper is not None and self._timekeeper.given
        answered = 0
        device = client.port.device
        while length := device.framing.length(client.received):
            if length < 0:
                self._refuse(client)
                return
            if answered == _FRAMES_PER_TURN:
                self._behind[client] = None
                break
            frame, client.received = client.received[:length], client.received[length:]
            answered += 1
            if given or not device.passes(now):
                self._bring_to_present()
            try:
                client.replies += device.respond(frame)
            except LinkClosedError:
                self._refuse(client)
                return
            client.port.last, client.asked = client, True
        if client.replies and (client not in self._behind or len(client.replies) >= _CHUNK):
            replies, client.replies = client.replies, b""
            self._send(client, replies)

    def _send(self, client: Client, data: bytes) -> None:
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
            self._refuse(client)
        elif bool(client.unsent) != waiting:
            events = selectors.EVENT_READ | (selectors.EVENT_WRITE if client.unsent else 0)
            self._selector.modify(client.socket, events, client)

    def _refuse(self, client: Client) -> None:
        """Close a connection; a serial wire has none, and what is under way on it is dropped."""
        if isinstance(client.socket, Terminal):
            client.received = client.replies = client.unsent = b""
            self._selector.modify(client.socket, selectors.EVENT_READ, client)
        else:
            self._drop(client)

    def _drop(self, client: Client) -> None:
        self._selector.unregister(client.socket)
        client.socket.close()
        if self._clients.get(client.name) is client:
            del self._clients[client.name]
            if self._timekeeper is not None:
                self._closed.add(client.name)
        if client.port.last is client:
            client.port.last = None

    def _bring_to_present(self) -> None:
        self._brought = True
        self._next_tick = self._wall() + self._tick
        self._advance(self._clock())

    def _tick_devices(self, now: float) -> None:
        for port in self._ports:
            port.device.tick(now)
