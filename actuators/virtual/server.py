"""Server of virtual devices: one thread, one loop, a TCP port or a pseudo-terminal for one or a line of several."""

import contextlib
import errno
import fcntl
import math
import os
import selectors
import socket
import time
import tty
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from actuators.errors import ActuatorError
from actuators.virtual.device import Framing, Responder
from actuators.virtual.faults import FaultyDevice
from actuators.wire import SHARP, Endpoint, LinkClosedError, SerialEndpoint, TcpEndpoint


class DeviceLine:
    """Devices of one framing behind one wire, told from each other by their unit ids.

    A request is carried out when its last byte has come, and its reply is there when that one's last byte has: on a
    wire of `byte_time` s a byte one after the other, after the device's reply delay; without one at once. A framing may
    have a number by which `everyone` is called, and say how replies `collide` that are sent at the same time; without
    that they follow one another. What nobody is called by is answered by the first device, which may be a gateway.
    """

    def __init__(self, devices: Sequence[FaultyDevice], byte_time: float = 0.0) -> None:
        """devices: at least one, of different unit ids. byte_time: s."""
        self.devices = tuple(devices)
        self._by_number: dict[int, Sequence[FaultyDevice]] = {one.unit: (one,) for one in reversed(self.devices)}
        if (everyone := self.framing.everyone) is not None:
            self._by_number[everyone] = self.devices
        self._byte_time = byte_time
        self._now = -math.inf
        self._free = -math.inf
        """when the last byte that is under way will have passed, s"""
        self._requests: deque[tuple[float, bytes]] = deque()
        self._outgoing: deque[tuple[float, bytes, bool]] = deque()
        """when the last byte has passed, s, what a device says, and whether that is there as a whole or byte by byte"""

    @property
    def framing(self) -> Framing:
        """See `Responder.framing`."""
        return self.devices[0].framing

    @property
    def next_event(self) -> float:
        """See `Responder.next_event`."""
        action = self._next_action
        return self._outgoing[0][0] if self._outgoing and self._outgoing[0][0] < action else action

    @property
    def _next_action(self) -> float:
        """When a device has something to do or to say, s; what is said already goes its way without it."""
        soonest = self._requests[0][0] if self._requests else math.inf
        for device in self.devices:
            event = device.next_event
            if event < soonest:
                soonest = event
        return soonest

    def tick(self, now: float) -> None:
        """See `Responder.tick`: a request whose last byte has come is carried out."""
        self._now = now
        for device in self.devices:
            device.tick(now)
        while self._requests and self._requests[0][0] <= now:
            at, frame = self._requests.popleft()
            called = self._called(frame)
            with contextlib.suppress(LinkClosedError):  # there is no connection that could be closed
                if reply := self._answer(frame, called):
                    self._queue(at + called[0].reply_delay, reply, whole=True)

    def passes(self, now: float) -> bool:
        """See `Responder.passes`: on a wire that takes its time, while bytes are on their way."""
        if not self._byte_time or now >= self._next_action:
            return False
        self._now = max(self._now, now)
        return True

    def respond(self, frame: bytes) -> bytes:
        """See `Responder.respond`: on a wire that takes its time nothing is answered at once."""
        if not self._byte_time:
            return self._answer(frame, self._called(frame))
        self._free = max(self._free, self._now) + len(frame) * self._byte_time
        self._requests.append((self._free, frame))
        return b""

    def due(self) -> bytes:
        """See `Responder.due`: of what a device says by itself each byte as it has passed, of a reply all at once."""
        for device in self.devices:
            if data := device.due():
                self._queue(self._now, data, whole=False)
        ready = b""
        while self._outgoing:
            end, data, whole = self._outgoing[0]
            if end > self._now:
                passed = 0 if whole else len(data) - math.ceil((end - self._now) / self._byte_time - 1e-9)
                if passed > 0:
                    ready += data[:passed]
                    self._outgoing[0] = end, data[passed:], whole
                break
            ready += data
            self._outgoing.popleft()
        return ready

    def _queue(self, at: float, data: bytes, *, whole: bool) -> None:
        self._free = max(self._free, at) + len(data) * self._byte_time
        self._outgoing.append((self._free, data, whole))

    def _answer(self, frame: bytes, called: Sequence[FaultyDevice]) -> bytes:
        if len(called) == 1:
            return called[0].respond(frame)
        return self.framing.collide([device.respond(frame) for device in called])

    def _called(self, frame: bytes) -> Sequence[FaultyDevice]:
        """Who is to answer a request."""
        if len(self.devices) == 1:
            return self.devices
        message = self.framing.message(frame)
        return self._by_number.get(message[0] if message else -1) or self.devices[:1]


class Settlement(Protocol):
    """A client that gives the time asks to have everything answered that it has sent, and all that is due by a time."""

    @property
    def t(self) -> float:
        """s, on the devices' clock."""

    @property
    def counts(self) -> Mapping[tuple[int, int], int]:
        """Bytes that it has sent in all, by port of the device and port of its own, or as `Terminal.number` says.

        -1: it has opened the wire anew, and nothing that was under way on it before is its own.
        """


class Timekeeper(Protocol):
    """Gives a server its time, where a client of its devices may give it: see `ModbusTcpServer`."""

    @property
    def request(self) -> Settlement | None:
        """What the client asks for, until it is `settled`."""

    @property
    def given(self) -> bool:
        """Whether the time stands until the client gives another."""

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


NO_PORT = 0
"""In place of a TCP port in the name of a connection over a pseudo-terminal."""


class Terminal:
    """The device's end of a pseudo-terminal, which a client opens by `link`; the client's end is held open as well.

    So nothing that a client wrote is lost when it goes, and none that comes is told from the one before: it drops what
    it finds. The system ignores baud and parity.
    """

    def __init__(self, link: Path) -> None:
        """link: made here, in place of one that nobody serves any more. Raises ActuatorError."""
        self._link = link
        self._lock_file = link.with_name(f"{link.name}.lock")
        with contextlib.ExitStack() as opened:
            try:
                self._lock = _locked(self._lock_file)
                opened.callback(self._unlock)
                self._master, self._slave = os.openpty()
                opened.callback(self._close_both)
                tty.setraw(self._slave)
                os.set_blocking(self._master, False)
                self._name = os.ttyname(self._slave)
                if link.is_symlink():
                    link.unlink()
                link.symlink_to(self._name)
            except BlockingIOError as error:
                raise ActuatorError(f"cannot serve {link}: another virtual rig serves it") from error
            except OSError as error:
                raise ActuatorError(f"cannot serve {link}: {error.strerror or error}") from error
            opened.pop_all()

    @property
    def number(self) -> int:
        """What tells its connection from others: see `terminal_number`."""
        return terminal_number(self._slave)

    def fileno(self) -> int:
        """Readable when a client has sent something; -1 once it is closed."""
        return self._master

    def recv(self, size: int) -> bytes:
        """As of a socket that does not block."""
        return os.read(self._master, size)

    def send(self, data: bytes) -> int:
        """As of a socket that does not block."""
        return os.write(self._master, data)

    def close(self) -> None:
        """Close both ends, and take the link back; idempotent."""
        if self._master < 0:
            return
        with contextlib.suppress(OSError):
            if os.readlink(self._link) == self._name:
                self._link.unlink()
        self._close_both()
        self._unlock()

    def _unlock(self) -> None:
        self._lock_file.unlink(missing_ok=True)
        os.close(self._lock)

    def _close_both(self) -> None:
        os.close(self._master)
        os.close(self._slave)
        self._master = self._slave = -1


def _locked(path: Path) -> int:
    """The descriptor of a file that we alone have locked, until it is closed. Raises BlockingIOError: others have."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if path.exists() and os.path.samestat(os.fstat(descriptor), path.stat()):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # it was taken away by who had it, as we opened it


def terminal_number(descriptor: int) -> int:
    """Number of the pseudo-terminal whose client's end is open at a descriptor."""
    return os.minor(os.fstat(descriptor).st_rdev)


class ServedWire:
    """A wire's end and its device."""

    def __init__(self, listener: socket.socket | None, device: Responder, endpoint: Endpoint) -> None:
        self.byte_time = 0.0
        """s, of a byte on a serial wire"""
        self.pause: float | None = None
        """See `Framing.pause`."""
        if isinstance(endpoint, SerialEndpoint):
            self.byte_time = endpoint.byte_time
            self.pause = device.framing.pause(endpoint.baud, endpoint.byte_time)
        self.listener = listener
        """None for a pseudo-terminal"""
        self.device = device
        self.closed_until = -math.inf
        """until when (s) nobody is let in"""
        self.last: Client | None = None
        """Client whose request was answered last; bytes held back go to it."""


class Client:
    """A connection; `replies` wait for more of their kind, `unsent` for the client to read."""

    def __init__(self, socket: socket.socket | Terminal, name: tuple[int, int], port: ServedWire) -> None:
        self.socket = socket
        self.name = name
        """port of the device, port of the client"""
        self.taken = self.given = 0
        """bytes in all that it has sent, and has been sent"""
        self.port = port
        self.asked = False
        """whether something was asked since something was last sent that had been held back"""
        self.received = b""
        self.received_at = -math.inf
        """when it sent something last, s of the machine's clock"""
        self.line_free = -math.inf
        """when that would have passed on a serial wire, likewise"""
        self.replies = b""
        self.unsent = b""

    def forget(self) -> None:
        """Begin anew: what was under way is nothing to whoever talks now."""
        self.taken = self.given = 0
        self.received = self.replies = self.unsent = b""


def listen_at(endpoint: TcpEndpoint) -> socket.socket:
    """A listening socket that does not block. Raises ActuatorError naming the endpoint that cannot be listened at."""
    listener: socket.socket | None = None
    try:
        first, *_others = socket.getaddrinfo(endpoint.host, endpoint.port, type=socket.SOCK_STREAM)
        family, kind, protocol, _name, address = first
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen()
        listener.setblocking(False)
    except OSError as error:
        if listener is not None:
            with contextlib.suppress(OSError):
                listener.close()
        taken = error.errno == errno.EADDRINUSE
        way_out = ": end the program that listens there, or give another port" if taken else ""
        raise ActuatorError(f"cannot listen on {endpoint}: {error.strerror or error}{way_out}") from error
    return listener


_CHUNK = 4096
_MAX_UNSENT = 65536  # bytes a client may leave unread before it is dropped
_UNATTENDED = 25  # factor on the tick while no client is connected
_STOP_LATENCY = 0.05  # s, at most, from the stop event to the end
_FRAMES_PER_TURN = 8  # of one connection: however much one client asks, the others wait no longer
_ACCEPT_PAUSE = 0.1  # s for which nobody is let in after no descriptor was free: trying at once would be all it does
_SILENCE = 0.1  # s of the machine's clock, after which a serial frame is not continued if its framing has no pause
_ATTENTION = 2e-4  # s after a reply on a serial line for which the next request is not slept through: it comes soon
_EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class StopEvent(Protocol):
    """A `threading.Event` or `multiprocessing.Event`."""

    def is_set(self) -> bool:
        """True once the server is to end."""


class TwinServer:
    """Serves devices until told to stop.

    Before a request is answered, and every `tick` s without one (more seldom without a client), `advance(now)` brings
    the plant and all devices to the present (it must call their `tick`); without `advance` the server ticks them.
    A connection that sends what cannot be a frame is closed; on a serial wire it is dropped. Requests that come faster
    than they are answered wait: of each connection a few are answered in a turn of the loop.

    On a pseudo-terminal a frame ends by its framing's `pause`, if it has one, as on a serial line: bytes that come
    later than that after the last one would have passed begin another frame. The server must have seen the pause: it
    looked, nothing was there, and the pause was over. So it may miss one that is longer by less than a `tick`, and
    never takes its own lateness for one. Where a client gives the time there are no such pauses, nor on TCP, where the
    network holds bytes back as it likes.

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
        self._quiet_at = -math.inf
        """when there was last nothing to be received, s of the machine's clock; kept where no client gives the time"""
        self._behind: dict[Client, None] = {}
        """clients that have sent more than was answered yet"""
        self._selector: selectors.BaseSelector

    @property
    def clients(self) -> int:
        """How many TCP clients are connected; of a pseudo-terminal nobody knows."""
        return len(self._clients) - len(self._terminals)

    @property
    def attended(self) -> bool:
        """Whether a client is connected, may be at a pseudo-terminal, or sets the clock."""
        return bool(self._clients) or self._timekeeper is not None

    @property
    def _given(self) -> bool:
        """Whether a client gives the time."""
        return self._timekeeper is not None and self._timekeeper.given

    @property
    def _period(self) -> float:
        """s between two ticks: without a client nothing can be seen of the time between them."""
        return self._tick if self.attended else _UNATTENDED * self._tick

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
            port = ServedWire(None, device, endpoint)
            self._ports.append(port)
            port.last = self._welcome(terminal, (NO_PORT, terminal.number), port)
            return endpoint
        listener = listen_at(endpoint)
        port = ServedWire(listener, device, endpoint)
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
        pending = list(behind)
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
                    pending += [client] if self._receive(client) else []
        for client in pending:  # what has come has come now, however long the answers to the others take
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
        patience = min(self._period, _STOP_LATENCY)
        if not self._terminals or self._given:
            return self._selector.select(patience)
        if ready := self._selector.select(0.0):
            return ready
        self._quiet_at = now
        event = self._next_event() - self._clock()
        if event > patience and now >= self._attentive_until:
            return self._selector.select(patience)
        until = now + min(event, patience)
        while now < until:
            asleep = 0.0 if now < self._attentive_until else max(0.0, until - now - SHARP)
            if ready := self._selector.select(asleep):
                return ready
            self._quiet_at = now
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
                data = port.device.due()
            except LinkClosedError:
                data = b""
                if port.last is not None:
                    self._refuse(port.last)
            if data and port.last is not None:
                if port.last.asked and port.listener is None:
                    self._attentive_until = self._wall() + _ATTENTION
                port.last.asked = False
                self._send(port.last, data)
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
        if isinstance(client.socket, Terminal):
            pause = client.port.pause
            if self._given or pause is None:
                over = now - client.received_at > _SILENCE
            else:
                over = self._quiet_at - client.line_free > pause
            if over:
                client.received = b""  # no frame has a pause in it
            client.line_free = max(client.line_free, now) + len(data) * client.port.byte_time
        client.received_at = now
        client.received += data
        client.taken += len(data)
        return True

    def _answer(self, client: Client, now: float) -> None:
        """Answer the next requests that a client had sent at `now`, s, as many as are its in a turn."""
        given = self._given
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
        self._next_tick = self._wall() + self._period
        self._advance(self._clock())

    def _tick_devices(self, now: float) -> None:
        for port in self._ports:
            port.device.tick(now)
