"""`rig monitor`: passes bytes between a device and its client, unchanged, and says what they are."""

import contextlib
import os
import select
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol, TextIO

from actuators import Endpoint, Frame, SerialEndpoint, TcpEndpoint, Terminal, Wire, open_wire, tcp_frames
from rig.client.interruption import Interruption
from rig.errors import HardwareError, InputError
from rig.runtime import runtime_root

_CHUNK = 4096
_OPENING = 5.0  # s
_SILENCE = 0.02  # s, after which what came over a serial line is a frame by itself
_MOST_WAITING = 1 << 16  # bytes that a client may leave unread

Printer = Callable[[Frame], None]


class _Splitter:
    """Makes frames of the bytes that pass: whole ones on TCP, on a line what went one way without a pause."""

    def __init__(self, say: Printer, *, tcp: bool) -> None:
        self._say = say
        self._tcp = tcp
        self._begun: float | None = None
        self._held: dict[bool, tuple[float, bytes]] = {}
        """by direction, when its first byte came, s, and what came"""
        self._last = 0.0

    def take(self, data: bytes, *, sent: bool) -> None:
        now = time.monotonic()
        self._begun = now if self._begun is None else self._begun
        self._last = now
        if not self._tcp:
            self._flush(not sent)
        at, held = self._held.get(sent, (now - self._begun, b""))
        self._held[sent] = (at, held + data)
        if self._tcp:
            frames, rest = tcp_frames(held + data)
            for frame in frames:
                self._say(Frame(at, sent, frame))
            self._held[sent] = (now - self._begun, rest)
            if not rest:
                del self._held[sent]

    def idle(self) -> None:
        """Nothing has come for a while."""
        if not self._tcp and time.monotonic() - self._last > _SILENCE:
            self.end()

    def end(self) -> None:
        for sent in list(self._held):
            self._flush(sent)

    def _flush(self, sent: bool) -> None:
        if sent in self._held:
            at, data = self._held.pop(sent)
            self._say(Frame(at, sent, data))


class _Place(Protocol):
    """Where the client is served."""

    @property
    def endpoint(self) -> Endpoint: ...

    @property
    def descriptors(self) -> list[int]:
        """What is waited at for bytes, or for a client."""

    @property
    def target(self) -> int:
        """What is written to, -1 while there is no client."""

    def take(self, descriptor: int) -> bytes:
        """What the client said at a descriptor that is ready, b"" where nothing of it is for the device."""

    def lose(self) -> None:
        """The client has gone."""

    def close(self) -> None: ...


class _Port:
    """A TCP port with one client at a time. One that has said all it has to say still gets its replies."""

    def __init__(self, host: str, port: int) -> None:
        try:
            self._listener = socket.create_server((host, port))
        except OSError as error:
            raise HardwareError(f"cannot listen at {host}:{port}: {error.strerror or error}") from error
        self.endpoint: Endpoint = TcpEndpoint(host, self._listener.getsockname()[1])
        self._client: socket.socket | None = None
        self._heard_out = False

    @property
    def descriptors(self) -> list[int]:
        """See `_Place.descriptors`."""
        talking = self._client is not None and not self._heard_out
        return [self._client.fileno() if talking and self._client is not None else self._listener.fileno()]

    @property
    def target(self) -> int:
        """See `_Place.target`."""
        return -1 if self._client is None else self._client.fileno()

    def take(self, descriptor: int) -> bytes:
        """See `_Place.take`."""
        if descriptor == self._listener.fileno():
            self.lose()
            self._client, _ = self._listener.accept()
            self._client.setblocking(False)
            self._client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._heard_out = False
            return b""
        try:
            data = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return b""
        except OSError:
            data = b""
        self._heard_out = not data
        return data

    def lose(self) -> None:
        """See `_Place.lose`."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def close(self) -> None:
        """End it."""
        self.lose()
        self._listener.close()


class _Line:
    """A pseudo-terminal."""

    def __init__(self) -> None:
        link = runtime_root(make=True) / f"monitor-{os.getpid()}"
        self._terminal = Terminal(link)
        self.endpoint: Endpoint = SerialEndpoint(str(link), 0)

    @property
    def descriptors(self) -> list[int]:
        """See `_Place.descriptors`."""
        return [self.target]

    @property
    def target(self) -> int:
        """See `_Place.target`."""
        return self._terminal.fileno()

    def take(self, descriptor: int) -> bytes:
        """See `_Place.take`."""
        return os.read(descriptor, _CHUNK)

    def lose(self) -> None:
        """See `_Place.lose`: nobody knows who is there."""

    def close(self) -> None:
        """End it."""
        self._terminal.close()


def monitor(
    device: Endpoint,
    listen: TcpEndpoint | None,
    *,
    tcp: bool,
    ready: Callable[[Endpoint], None],
    say: Printer,
    output: Path | None = None,
    said: Callable[[Frame], str] = lambda _frame: "",
) -> None:
    """Pass bytes on between a device and a client until Ctrl-C, or until the device has gone.

    Args:
        device: opened at once, and kept open whatever the client does.
        listen: where the client is served, port 0 for any free one; None: a pseudo-terminal.
        tcp: whether frames have the header of Modbus TCP.
        ready: told where the client is served.
        say: told each frame.
        output: a file for them, which must not exist yet.
        said: what a frame says, for the file.

    Raises:
        ActuatorError: the device cannot be opened. HardwareError: the port is taken, or the device has gone.
        InputError: the file exists already, or cannot be written.
    """
    interruption = Interruption()
    with contextlib.ExitStack() as opened:
        wire = open_wire(device, _OPENING)
        opened.callback(wire.close)
        place: _Place = _Line() if listen is None else _Port(*listen)
        opened.callback(place.close)
        file = None if output is None else opened.enter_context(_new_file(output))

        def note(frame: Frame) -> None:
            if file is not None:
                file.write(frame.line(said(frame)) + "\n")
            say(frame)

        splitter = _Splitter(note, tcp=tcp)
        opened.callback(splitter.end)
        opened.enter_context(interruption.installed())
        ready(place.endpoint)
        for data, sent in _passing(wire, place, interruption):
            if data:
                splitter.take(data, sent=sent)
            else:
                splitter.idle()
        if not interruption.count:
            raise HardwareError(f"{device} has closed the connection")


def _new_file(path: Path) -> TextIO:
    """A file of which every line is there at once."""
    try:
        return path.open("x", encoding="utf-8", buffering=1)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error


class _Outlet:
    """What is still to be written one way."""

    def __init__(self) -> None:
        self.waiting = b""

    def write(self, descriptor: int) -> bool:
        """Write what the system takes; False where there is nobody any more."""
        try:
            self.waiting = self.waiting[os.write(descriptor, self.waiting) :]
        except BlockingIOError:
            pass
        except OSError:
            return False
        return True


def _passing(wire: Wire, place: _Place, interruption: Interruption) -> Iterator[tuple[bytes, bool]]:
    """What is passed on, and whether it goes to the device; b"" where nothing came for a moment.

    While more than a few frames are still to be written one way no more is taken for it. What nobody is there for, or
    does not take for long, is dropped.
    """
    forth, back = _Outlet(), _Outlet()
    while not interruption.count and wire.connected:
        device, target = wire.descriptor, place.target
        if target < 0 or len(back.waiting) > _MOST_WAITING:
            back.waiting = b""
        sources = [device, *(place.descriptors if len(forth.waiting) < _CHUNK else [])]
        sinks = [device] * bool(forth.waiting) + [target] * bool(back.waiting)
        readable, writable, _ = select.select(sources, sinks, (), _SILENCE)
        if device in writable and not forth.write(device):
            return
        if target in writable and not back.write(target):
            place.lose()
        for descriptor in readable:
            sent = descriptor != device
            data = place.take(descriptor) if sent else wire.receive(0.0)
            if data:
                outlet = forth if sent else back
                outlet.waiting += data
                yield data, sent
        if not readable:
            yield b"", False
