"""Telemetry of a running engine, live, to tools that plot it: PlotJuggler over UDP, Foxglove over a WebSocket.

Streaming only reads the ring, as the app does; the engine does not wait for it.
"""

import errno
import socket
import threading
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import orjson

from rig.engine import RunningEngine
from rig.errors import HardwareError, InputError
from rig.findings import Code, Finding
from rig.recording import CYCLE_MESSAGE, CYCLE_TOPIC, cycle_definition, encode_cycle
from rig.runtime import SharedMemoryError, TelemetryRing
from rig.telemetry import ROW

PLOTJUGGLER_PORT = 9870
"""Default address of PlotJuggler's UDP server."""
FOXGLOVE_PORT = 8765
"""Default address of Foxglove's WebSocket."""
_POLL = 0.02  # s between two looks at the ring
_ROUNDING = 1e-9  # s
_UNHEARD = (errno.EAGAIN, errno.ENOBUFS, errno.ECONNREFUSED)
"""errors of a datagram: the system has no room, or no process listens"""
_EVERYWHERE = ("0.0.0.0", "::")
_NAMES = ROW.names or ()


class Outlet(Protocol):
    """A tool that receives rows."""

    @property
    def address(self) -> str:
        """Address to which rows are sent, or at which they are served, in the tool's form."""

    @property
    def place(self) -> str:
        """Text of the place, which ends with its address."""

    @property
    def steps(self) -> str:
        """Instructions for the tool's user."""

    def send(self, at: float, row: npt.NDArray[np.void]) -> str:
        """Send a row (1,) of dtype ROW; at: s since 1970, of its cycle. Returns why it cannot be sent, or empty."""

    def close(self) -> None:
        """Close it; idempotent."""


class PlotJugglerOutlet:
    """Sends each row as a JSON object in a datagram; listeners cannot be detected."""

    def __init__(self, host: str, port: int) -> None:
        """Raises InputError for an unknown host."""
        shown = _shown(host, port)
        try:
            family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
            self._socket = socket.socket(family, kind, protocol)
        except OSError as error:
            raise InputError(f"PlotJuggler at {shown}: {error.strerror or error}") from error
        except UnicodeError as error:  # a label of a host name has 1 to 63 characters
            raise InputError(f"PlotJuggler at {shown}: not a host name") from error
        self._address: tuple[Any, ...] = address
        self._socket.setblocking(False)
        self.address = shown
        self.place = f"to PlotJuggler at {shown}"
        self.steps = f'start there Streaming → UDP Server, port {port}, JSON, field "timestamp" as time'

    def send(self, at: float, row: npt.NDArray[np.void]) -> str:
        """See `Outlet.send`. Non-finite values are left out."""
        message: dict[str, Any] = {"timestamp": at}
        for name in _NAMES:
            value = row[name][0]
            if value.ndim:
                message[name] = {str(place): one for place, one in _finite(value.ravel())}
            elif np.isfinite(value):
                message[name] = value.item()
        try:
            self._socket.sendto(orjson.dumps(message), self._address)
        except OSError as error:
            return "" if error.errno in _UNHEARD else error.strerror or str(error)
        return ""

    def close(self) -> None:
        """See `Outlet.close`."""
        self._socket.close()


class FoxgloveOutlet:
    """A WebSocket server with one topic, whose messages are those of a recording."""

    def __init__(self, host: str, port: int) -> None:
        """port: 0 for any free one. Raises InputError: the extra is not installed; HardwareError: the port is taken."""
        foxglove = _foxglove()
        try:
            self._server = foxglove.start_server(name="stewart-rig", host=host, port=port)
        except (RuntimeError, OSError) as error:
            raise HardwareError(
                f"cannot serve Foxglove at {_shown(host, port)}: {error}; port 0 is any free one"
            ) from error
        schema = foxglove.Schema(name=CYCLE_MESSAGE, encoding="ros2msg", data=cycle_definition().encode())
        self._channel = foxglove.Channel(CYCLE_TOPIC, schema=schema, message_encoding="cdr")
        self.port: int = self._server.port
        here = _shown(socket.gethostname() if host in _EVERYWHERE else host, self.port)
        self.address = f"ws://{here}"
        self.place = f"to Foxglove at {self.address}"
        self.steps = "open there a connection to that address"

    def send(self, at: float, row: npt.NDArray[np.void]) -> str:
        """See `Outlet.send`."""
        self._channel.log(encode_cycle(row), log_time=round(at * 1e9))
        return ""

    def close(self) -> None:
        """See `Outlet.close`."""
        self._channel.close()
        self._server.stop()


def stream(
    engine: RunningEngine,
    outlet: Outlet,
    rate: float,
    ended: Callable[[], bool],
    warn: Callable[[str], None] = lambda _fault: None,
) -> int:
    """Send rows of an engine, at most `rate` a second of its time, until `ended` or its end; returns their number.

    warn: receives why rows cannot be sent, once for each new reason.
    Raises InputError: a rate that is not positive. HardwareError: the engine has ended.
    """
    if not 0.0 < rate < np.inf:
        raise InputError(f"rate {rate} Hz is not a positive number")
    try:
        ring = TelemetryRing.attach(engine.address.ring)
    except SharedMemoryError:
        raise HardwareError(Finding(Code.ENGINE_GONE, details={"pid": engine.pid})) from None
    sent, pause = 0, threading.Event()
    begun: float | None = None
    due, fault = 0.0, ""
    with ring:
        reader = ring.reader()
        while not ended() and engine.alive:
            rows, _ = reader.read_new()
            for place, t in enumerate(rows["t"].tolist()):
                if begun is None:
                    begun, due = time.time() - t, t
                if t >= due - _ROUNDING:
                    due = max(due, t - 1.0 / rate) + 1.0 / rate
                    before, fault = fault, outlet.send(begun + t, rows[place : place + 1])
                    sent += not fault
                    if fault and fault != before:
                        warn(fault)
            pause.wait(_POLL)
    return sent


def _shown(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _finite(values: npt.NDArray[Any]) -> list[tuple[int, float]]:
    return [(place, one) for place, one in enumerate(values.tolist(), start=1) if np.isfinite(one)]


def _foxglove() -> ModuleType:
    try:
        import foxglove
    except ImportError as error:
        raise InputError("Foxglove needs an SDK that is not installed: pip install 'stewart-rig[foxglove]'") from error
    return foxglove
