"""`rig monitor`: passes bytes between a device and its client unchanged, and shows their meaning."""

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
    """Splits the passing bytes into frames: by header on TCP, on a line by pauses."""

    def __init__(self, on_frame: Printer, *, tcp: bool) -> None:
        self._on_frame = on_frame
        self._tcp = tcp
        self._begun: float | None = None
        self._partial: dict[bool, tuple[float, bytes]] = {}
        """by direction: time of the first byte, s, and the bytes"""
        self._last = 0.0

    def take(self, data: bytes, *, sent: bool) -> None:
        now = time.monotonic()
        self._begun = now if self._begun is None else self._begun
        self._last = now
        if not self._tcp:
            self._flush(not sent)
        at, partial = self._partial.get(sent, (now - self._begun, b""))
        self._partial[sent] = (at, partial + data)
        if self._tcp:
            frames, rest = tcp_frames(partial + data)
            for frame in frames:
                self._on_frame(Frame(at, sent, frame))
            self._partial[sent] = (now - self._begun, rest)
            if not rest:
                del self._partial[sent]

    def idle(self) -> None:
        """End the frames after a pause."""
        if not self._tcp and time.monotonic() - self._last > _SILENCE:
            self.end()

    def end(self) -> None:
        for sent in list(self._partial):
            self._flush(sent)

    def _flush(self, sent: bool) -> None:
        if sent in self._partial:
            at, data = self._partial.pop(sent)
            self._on_frame(Frame(at, sent, data))


class _Place(Protocol):
    """Place at which the client is served."""

    @property
    def endpoint(self) -> Endpoint: ...

    @property
    def descriptors(self) -> list[int]:
        """Descriptors to wait at for bytes, or for a client."""

    @property
    def target(self) -> int:
        """Descriptor to write to, -1 without a client."""

    def take(self, descriptor: int) -> bytes:
        """Bytes of the client at a ready descriptor, b"" if there are none for the device."""

    def lose(self) -> None:
        """Handle the end of the client's connection."""

    def close(self) -> None: ...


class _Port:
    """A TCP port with one client at a time. A client that has closed its sending side still gets replies."""

    def __init__(self, host: str, port: int) -> None:
        try:
            self._listener = socket.create_server((host, port))
        except OSError as error:
            raise HardwareError(f"cannot listen at {host}:{port}: {error.strerror or error}") from error
        self.endpoint: Endpoint = TcpEndpoint(host, self._listener.getsockname()[1])
        self._client: socket.socket | None = None
        self._client_ended = False

    @property
    def descriptors(self) -> list[int]:
        """See `_Place.descriptors`."""
        talking = self._client is not None and not self._client_ended
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
            self._client_ended = False
            return b""
        try:
            data = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return b""
        except OSError:
            data = b""
        self._client_ended = not data
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
        """See `_Place.lose`; a line cannot detect its client."""

    def close(self) -> None:
        """End it."""
        self._terminal.close()


def monitor(
    device: Endpoint,
    listen: TcpEndpoint | None,
    *,
    tcp: bool,
    ready: Callable[[Endpoint], None],
    on_frame: Printer,
    output: Path | None = None,
    describe: Callable[[Frame], str] = lambda _frame: "",
) -> None:
    """Pass bytes between a device and a client until Ctrl-C, or until the device's connection ends.

    Args:
        device: opened at once, and open until the end.
        listen: address for the client, port 0 for any free one; None: a pseudo-terminal.
        tcp: whether frames have the header of Modbus TCP.
        ready: receives the address at which the client is served.
        on_frame: receives each frame.
        output: a file for them, which must not exist yet.
        describe: gives the text of a frame for the file.

    Raises:
        ActuatorError: the device cannot be opened. HardwareError: the port is taken, or the device's connection ended.
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
                file.write(frame.line(describe(frame)) + "\n")
            on_frame(frame)

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
    """A new file with line buffering."""
    try:
        return path.open("x", encoding="utf-8", buffering=1)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error


class _Outlet:
    """Pending bytes of one direction."""

    def __init__(self) -> None:
        self.waiting = b""

    def write(self, descriptor: int) -> bool:
        """Write as much as the system takes; False if the connection has ended."""
        try:
            self.waiting = self.waiting[os.write(descriptor, self.waiting) :]
        except BlockingIOError:
            pass
        except OSError:
            return False
        return True


def _passing(wire: Wire, place: _Place, interruption: Interruption) -> Iterator[tuple[bytes, bool]]:
    """Yields the passed bytes and whether they go to the device; b"" after a short time without any.

    While more than a few frames are pending in one direction, no more are read for it. Bytes without a receiver, or
    pending for long, are dropped.
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
