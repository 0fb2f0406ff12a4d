"""Byte transports: endpoints, a TCP connection, a serial port, and a call into a virtual device of the process."""

import contextlib
import math
import os
import select
import socket
import termios
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

import numpy as np
import serial
from numpy.typing import NDArray
from serial.tools import list_ports

from actuators.errors import ConnectError

Parity = Literal["none", "even", "odd"]
BAUDS = (1_000_000, 921_600, 460_800, 230_400, 115_200, 57_600, 38_400, 19_200, 9_600)
"""The usual ones."""


class TcpEndpoint(NamedTuple):
    """A TCP port, by the name or address of its host."""

    host: str
    port: int

    def __str__(self) -> str:
        """As messages say it."""
        return f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class SerialEndpoint:
    """A serial port of this machine, by the path of its device; eight data bits."""

    device: str
    baud: int
    parity: Parity = "even"
    stop_bits: int = 1

    @property
    def byte_time(self) -> float:
        """How long a byte takes on the wire, s: a start bit, eight of data, parity and stop bits."""
        return (9 + (self.parity != "none") + self.stop_bits) / self.baud

    @property
    def bauds(self) -> tuple[int, ...]:
        """Usual rates of such a line, the highest first."""
        return BAUDS

    @property
    def settings(self) -> str:
        """Baud and frame in words, for example "19200 baud 8E1"."""
        return f"{self.baud} baud 8{self.parity[0].upper()}{self.stop_bits}"

    def __str__(self) -> str:
        """As messages say it."""
        return self.device


Endpoint = TcpEndpoint | SerialEndpoint


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


_ACKNOWLEDGED = 32  # receives after a request that went out before the reply to the one before


class TcpWire(DescriptorWire):
    """A TCP connection.

    A device whose system delays small segments (Nagle's algorithm, RFC 896) sends no reply before the one before is
    acknowledged, and this system's acknowledgement waits for the next request to go along with (RFC 1122, 4.2.3.2). So
    once a request has gone out before the last reply, every further reply would come a cycle late, for good. From then
    on replies are acknowledged at once, until there has been time to catch up.
    """

    __slots__ = ("_acknowledges", "_open", "_socket")

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
        self._open = False
        """whether nothing has been received since something was sent"""
        self._acknowledges = 0
        """how many receives more are acknowledged at once"""

    def send(self, data: bytes) -> bool:
        """See `Wire.send`."""
        if self._open:
            self._acknowledges = _ACKNOWLEDGED
        self._open = True
        return DescriptorWire.send(self, data)

    def receive(self, deadline: float) -> bytes:
        """See `Wire.receive`."""
        data = DescriptorWire.receive(self, deadline)
        if data:
            self._open = False
            if self._acknowledges:
                self._acknowledges -= 1
                self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
        return data

    @property
    def local_port(self) -> int:
        """Port of this end."""
        port: int = self._socket.getsockname()[1]
        return port


class WireGroup(Protocol):
    """Devices behind six wires that can be asked together."""

    length: int
    """Bytes of a request that it takes."""
    replies: NDArray[np.uint8]
    """Bytes of the last six replies."""

    def respond(self, requests: NDArray[np.uint8], places: int) -> int:
        """Answer requests (6, `length`) to devices in `places`, bit 0 for the first, into `replies`.

        Returns the bits of those that it has answered; the others must be sent.
        """


class MemoryWire:
    """A virtual device in the same process: every `send` is answered at once by `respond`, on the caller's thread.

    The device decides what is late, lost or cut, and what it says by itself: what `respond` and `due` return can be
    received, and nothing else.
    """

    __slots__ = ("_due", "_inbox", "_respond", "connected", "group", "place")

    def __init__(
        self,
        respond: Callable[[bytes], bytes],
        due: Callable[[], bytes] = bytes,
        group: WireGroup | None = None,
        place: int = 0,
    ) -> None:
        """respond: takes the bytes sent and returns the bytes to receive; LinkClosedError closes the wire.

        due: returns what the device says by itself, at the time of the call. group: to which the device belongs, at
        `place` 0 to 5.
        """
        self.group, self.place = group, place
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


def wire_group(wires: Sequence[Wire | None]) -> WireGroup | None:
    """The group behind these wires, in its order; None if there is none."""
    places = [wire.place if isinstance(wire, MemoryWire) else -1 for wire in wires]
    groups = {id(wire.group): wire.group for wire in wires if isinstance(wire, MemoryWire)}
    return next(iter(groups.values())) if places == list(range(6)) and len(groups) == 1 else None


_PARITIES = {"none": serial.PARITY_NONE, "even": serial.PARITY_EVEN, "odd": serial.PARITY_ODD}


class SerialWire(DescriptorWire):
    """A port of this machine, ours alone, with low latency if the system allows it.

    An adapter that is pulled out is a lost peer.
    """

    __slots__ = ("_port", "latency")

    def __init__(self, endpoint: SerialEndpoint) -> None:
        """Open the port. Raises ConnectError naming it and the system's reason."""
        refused = f"cannot open {endpoint} at {endpoint.baud} baud"
        # A pseudo-terminal has no parity: the system ignores it, or refuses it.
        parity = "none" if os.path.realpath(endpoint.device).startswith("/dev/pts/") else endpoint.parity
        try:
            port = serial.Serial(
                endpoint.device, endpoint.baud, parity=_PARITIES[parity], stopbits=endpoint.stop_bits, exclusive=True
            )
            _set_non_blocking_read(port.fileno())
            with contextlib.suppress(ValueError, OSError, NotImplementedError):  # not every port has it
                port.set_low_latency_mode(True)
        except (serial.SerialException, ValueError, OSError, termios.error) as error:
            number = getattr(error, "errno", None)
            reason = _owner(endpoint.device) or (os.strerror(number) if number else str(error))
            raise ConnectError(f"{refused}: {reason}") from error
        self._port = port
        self.latency = latency_timer(endpoint.device) or 0.0
        """by how much the adapter delays replies, as far as the system says, s"""
        super().__init__(port, refused)

    def forget(self) -> None:
        """Drop what has arrived and was not received yet."""
        self._port.reset_input_buffer()


ADAPTERS = Path("/sys/bus/usb-serial/devices")
"""Where the system shows the USB adapters of serial ports."""
LOWEST_LATENCY = 1e-3
"""Latency of an FTDI adapter's port that is opened with low latency, s."""


def latency_timer(device: str) -> float | None:
    """For how long an FTDI adapter holds received bytes back, s; None for a port of another kind, or without one."""
    try:
        port = ADAPTERS / os.path.basename(os.path.realpath(device))
        return int((port / "latency_timer").read_text(encoding="ascii")) * 1e-3
    except (OSError, ValueError):
        return None


def expected_latency(device: str) -> float:
    """By how much a port's adapter delays replies once it is open, s: `SerialWire` opens it with low latency.

    0 where the system does not say it; `rig setup new --ask` and `rig scan` measure it with the reply delay.
    """
    timer = latency_timer(device)
    if timer is None:
        return 0.0
    return min(timer, LOWEST_LATENCY) if os.access(device, os.R_OK | os.W_OK) else timer


def serial_ports() -> list[str]:
    """Serial ports of this machine, by the names that stay the same after a restart where they have one."""
    lasting = sorted(str(path) for path in Path("/dev/serial/by-id").glob("*"))
    known = {os.path.realpath(path) for path in lasting}
    return lasting + sorted(port.device for port in list_ports.comports() if os.path.realpath(port.device) not in known)


def _owner(device: str) -> str:
    """Which process has locked the port, in words, as far as the system tells; empty if none has."""
    try:
        found = os.stat(device)
        place = f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}:{found.st_ino}"
        with open("/proc/locks", encoding="ascii") as locks:
            owners = [fields[4] for fields in map(str.split, locks) if fields[1] == "FLOCK" and fields[5] == place]
        for owner in owners:
            with open(f"/proc/{owner}/comm", encoding="utf-8", errors="replace") as name:
                return f"process {owner} ({name.read().strip()}) has it"
    except OSError:  # another system, or a process that has gone
        pass
    return ""


def _set_non_blocking_read(descriptor: int) -> None:
    """Have a port without bytes say that it would block, as a socket does; else it reads as one whose end has come."""
    attributes = termios.tcgetattr(descriptor)
    attributes[6][termios.VMIN] = 1
    termios.tcsetattr(descriptor, termios.TCSANOW, attributes)


def open_wire(endpoint: Endpoint, timeout: float) -> Wire:
    """The wire to an endpoint, opened within `timeout` s. Raises ConnectError naming it and the system's reason."""
    if isinstance(endpoint, TcpEndpoint):
        return TcpWire(endpoint.host, endpoint.port, timeout)
    return SerialWire(endpoint)
