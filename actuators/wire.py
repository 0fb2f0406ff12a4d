"""Byte transports: a TCP connection, and a call into a virtual device of the same process.

A wire moves bytes and knows nothing of frames. It belongs to one owner, which alone sends and receives. Deadlines are
on the wire's own clock, `now`: a virtual device's time need not be the machine's.
"""

import contextlib
import math
import os
import select
import socket
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from actuators.errors import ConnectError

_CHUNK = 4096
MAX_DESCRIPTOR = 1024
"""select() takes smaller ones only; poll() and epoll round a deadline up to whole milliseconds."""
SHARP = 1e-4
"""s at the end of a wait that are not slept through where microseconds count: a sleeper is woken that much too late."""


class LinkClosedError(Exception):
    """Raised by a virtual device's `respond` in place of a reply: it closes the connection."""


class Wire(Protocol):
    """One connection to one device."""

    @property
    def connected(self) -> bool:
        """False once either side has closed the connection."""

    @property
    def descriptor(self) -> int:
        """What `select` can wait at for bytes, -1 where nothing is ever waited for."""

    def now(self) -> float:
        """The clock that deadlines are on, s; only differences mean anything."""

    def send(self, data: bytes) -> bool:
        """Hand `data` to the transport without blocking; False if it did not take all of it."""

    def receive(self, deadline: float) -> bytes:
        """Return what has arrived, waiting until `deadline` (s, on `now`) for a first byte; b"" = nothing.

        What has already arrived is returned even after the deadline.
        """

    def wait(self, until: float, others: "Sequence[Wire]") -> "Sequence[Wire]":
        """Wait until something arrives here or at `others`, on the same clock, or until `until`, s; return where.

        There may be less than was waited for: it is for whoever receives to see.
        """

    def close(self) -> None:
        """Close the connection; idempotent."""


class _File(Protocol):
    def fileno(self) -> int: ...

    def close(self) -> object: ...


class DescriptorWire:
    """What the system reads and writes by a descriptor, without blocking.

    Losing the peer is not an error here: `connected` turns False.
    """

    __slots__ = ("_file", "connected")

    def __init__(self, file: _File, refused: str) -> None:
        """file: open, and closed by this wire. refused: said where too many files are open, in a ConnectError."""
        self._file = file
        self.connected = True
        if file.fileno() >= MAX_DESCRIPTOR:
            self.close()
            raise ConnectError(f"{refused}: more than {MAX_DESCRIPTOR} files are open")
        os.set_blocking(file.fileno(), False)

    @property
    def descriptor(self) -> int:
        """See `Wire.descriptor`."""
        return self._file.fileno() if self.connected else -1

    def now(self) -> float:
        """See `Wire.now`: the machine's monotonic clock."""
        return time.monotonic()

    def send(self, data: bytes) -> bool:
        """See `Wire.send`. A frame the system takes only in part would break every later one: the wire is closed."""
        if not self.connected:
            return False
        try:
            if os.write(self._file.fileno(), data) == len(data):
                return True
        except BlockingIOError:
            return False
        except OSError:
            pass
        self.close()
        return False

    def receive(self, deadline: float) -> bytes:
        """See `Wire.receive`."""
        if not self.connected:
            return b""
        try:
            descriptor = self._file.fileno()
            try:
                data = os.read(descriptor, _CHUNK)
            except BlockingIOError:
                remaining = deadline - time.monotonic()
                if remaining <= 0.0 or not select.select((descriptor,), (), (), remaining)[0]:
                    return b""
                data = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return b""
        except OSError:
            data = b""
        if not data:
            self.close()
        return data

    def wait(self, until: float, others: Sequence[Wire]) -> Sequence[Wire]:
        """See `Wire.wait`."""
        at = {wire.descriptor: wire for wire in (self, *others) if wire.descriptor >= 0}
        asleep = max(0.0, until - time.monotonic() - SHARP)
        while at and not (ready := select.select(at, (), (), asleep)[0]):
            if time.monotonic() >= until:
                return ()
            os.sched_yield()
            asleep = 0.0
        return [at[descriptor] for descriptor in ready] if at else ()

    def close(self) -> None:
        """See `Wire.close`."""
        self.connected = False
        with contextlib.suppress(OSError):
            self._file.close()


def arrived(wires: Sequence[Wire], patience: float) -> Sequence[Wire]:
    """At which of the wires something arrives within `patience` s of the machine's clock."""
    at = {wire.descriptor: wire for wire in wires if wire.descriptor >= 0}
    return [at[one] for one in select.select(at, (), (), max(patience, 0.0))[0]] if at else ()


class TcpWire(DescriptorWire):
    """A TCP connection."""

    __slots__ = ("_socket",)

    def __init__(self, host: str, port: int, timeout: float) -> None:
        """Connect within `timeout` s. Raises ConnectError naming host:port and the system's reason."""
        refused = f"cannot connect to {host}:{port}"
        try:
            self._socket = socket.create_connection((host, port), timeout)
        except OSError as error:
            if isinstance(error, TimeoutError):
                raise ConnectError(f"{host}:{port} did not accept a connection within {timeout:g} s") from error
            raise ConnectError(f"{refused}: {error.strerror or error}") from error
        except UnicodeError as error:  # a label of a host name has 1 to 63 characters
            raise ConnectError(f"{refused}: not a host name") from error
        super().__init__(self._socket, refused)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    @property
    def local_port(self) -> int:
        """Port of this end."""
        port: int = self._socket.getsockname()[1]
        return port


class MemoryWire:
    """A virtual device in the same process: every `send` is answered at once by `respond`, on the caller's thread.

    The device decides what is late, lost or cut, and what it says by itself: what `respond` and `due` return can be
    received, and nothing else.
    """

    __slots__ = ("_due", "_inbox", "_respond", "connected")

    def __init__(self, respond: Callable[[bytes], bytes], due: Callable[[], bytes] = bytes) -> None:
        """respond: takes the bytes sent and returns the bytes to receive; LinkClosedError closes the wire.

        due: returns what the device says by itself, at the time of the call.
        """
        self._respond = respond
        self._due = due
        self._inbox = b""
        self.connected = True

    @property
    def descriptor(self) -> int:
        """See `Wire.descriptor`."""
        return -1

    def now(self) -> float:
        """See `Wire.now`: nothing is waited for, so every deadline has passed."""
        return math.inf

    def send(self, data: bytes) -> bool:
        """See `Wire.send`."""
        if not self.connected:
            return False
        try:
            self._inbox += self._respond(data)
        except LinkClosedError:
            self.close()
            return False
        return True

    def receive(self, deadline: float) -> bytes:
        """See `Wire.receive`; never waits, `deadline` is not looked at."""
        data, self._inbox = self._inbox, b""
        if self.connected:
            try:
                data += self._due()
            except LinkClosedError:
                self.close()
        return data

    def wait(self, until: float, others: Sequence[Wire]) -> Sequence[Wire]:
        """See `Wire.wait`: nothing that has not arrived does so by itself."""
        return ()

    def close(self) -> None:
        """See `Wire.close`."""
        self.connected = False
        self._inbox = b""
