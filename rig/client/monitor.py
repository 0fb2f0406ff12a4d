"""`rig monitor`: passes bytes between a device and its client, unchanged, and says what they are."""

import contextlib
import os
import select
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

from actuators import Endpoint, Frame, SerialEndpoint, TcpEndpoint, Terminal, Wire, open_wire, tcp_frames
from rig.client.interruption import Interruption
from rig.errors import HardwareError
from rig.runtime import runtime_root

_CHUNK = 4096
_OPENING = 5.0  # s
_SILENCE = 0.02  # s, after which what came over a serial line is a frame by itself
_LOOK = 0.1  # s, between two looks at Ctrl-C

Say = Callable[[Frame], None]


class _Splitter:
    """Makes frames of the bytes that pass: whole ones on TCP, on a line what went one way without a pause."""

    def __init__(self, say: Say, *, tcp: bool) -> None:
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
    def descriptor(self) -> int: ...

    def take(self) -> bytes | None: ...

    def give(self, data: bytes) -> None: ...

    def close(self) -> None: ...


class _Port:
    """A TCP port with one client at a time; another one waits."""

    def __init__(self, host: str, port: int) -> None:
        try:
            self._listener = socket.create_server((host, port))
        except OSError as error:
            raise HardwareError(f"cannot listen at {host}:{port}: {error.strerror or error}") from error
        self.endpoint: Endpoint = TcpEndpoint(host, self._listener.getsockname()[1])
        self._client: socket.socket | None = None

    @property
    def descriptor(self) -> int:
        """What is waited at: the client, or who comes."""
        return (self._client or self._listener).fileno()

    def take(self) -> bytes | None:
        """What the client said; None where nothing of it is for the device."""
        if self._client is None:
            self._client, _ = self._listener.accept()
            self._client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return None
        try:
            data = self._client.recv(_CHUNK)
        except OSError:
            data = b""
        if data:
            return data
        self._leave()
        return None

    def give(self, data: bytes) -> None:
        """To the client, if there is one."""
        if self._client is not None:
            try:
                self._client.sendall(data)
            except OSError:
                self._leave()

    def close(self) -> None:
        """End it."""
        self._leave()
        self._listener.close()

    def _leave(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None


class _Line:
    """A pseudo-terminal."""

    def __init__(self) -> None:
        link = runtime_root(make=True) / f"monitor-{os.getpid()}"
        self._terminal = Terminal(link)
        self.endpoint: Endpoint = SerialEndpoint(str(link), 0)

    @property
    def descriptor(self) -> int:
        """What is waited at."""
        return self._terminal.fileno()

    def take(self) -> bytes | None:
        """What the client said."""
        return self._terminal.recv(_CHUNK)

    def give(self, data: bytes) -> None:
        """To the client; what nobody reads any more is dropped."""
        with contextlib.suppress(BlockingIOError):
            self._terminal.send(data)

    def close(self) -> None:
        """End it."""
        self._terminal.close()


def monitor(
    device: Endpoint,
    listen: TcpEndpoint | None,
    *,
    tcp: bool,
    ready: Callable[[Endpoint], None],
    say: Say,
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
        FileExistsError: there is such a file.
    """
    interruption = Interruption()
    with contextlib.ExitStack() as opened:
        file = None if output is None else opened.enter_context(output.open("x", encoding="utf-8"))

        def note(frame: Frame) -> None:
            if file is not None:
                file.write(frame.line(said(frame)) + "\n")
            say(frame)

        wire = open_wire(device, _OPENING)
        opened.callback(wire.close)
        place: _Place = _Line() if listen is None else _Port(*listen)
        opened.callback(place.close)
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


def _passing(wire: Wire, place: _Place, interruption: Interruption) -> Iterator[tuple[bytes, bool]]:
    """What is passed on, and whether it goes to the device; b"" where nothing came for a moment."""
    while not interruption.count and wire.connected:
        ends = [wire.descriptor, place.descriptor]
        try:
            waiting, _, _ = select.select(ends, (), (), _SILENCE)
        except InterruptedError:
            continue
        if not waiting:
            yield b"", False
        if place.descriptor in waiting and (data := place.take()):
            wire.send(data)
            yield data, True
        if wire.descriptor in waiting and (data := wire.receive(0.0)):
            place.give(data)
            yield data, False
