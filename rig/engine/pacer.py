"""The engine's side of paced time: the plant's clock, set by the engine, and the wires that use it.

See `rig.runtime.pace_messages`. The machine's clock cannot tell a lost reply from one that a
waiting process has not sent yet. So the plant is asked to settle: to process everything sent to it at its present time,
and then slice by slice up to the deadline. A reply that is missing after that is missing by the plant's own clock, on
any machine, however busy.
"""

import contextlib
import hashlib
import json
import math
import select
import socket
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from weakref import WeakSet

from actuators import (
    NO_PORT,
    ConnectError,
    Endpoint,
    SerialWire,
    TcpEndpoint,
    TcpWire,
    Wire,
    arrived,
    terminal_number,
)
from rig.config import RigConfig
from rig.findings import Code, Finding
from rig.runtime import ProcessWatch, pace_messages, runtime_root

_SLICE = 5e-3
"""s of the plant's time between two checks for a late reply"""
_SOON = 1e-3
"""s in which a reply arrives on an idle machine; earlier requests to settle only cost time"""
_POLL = 0.05
"""s between two checks of a plant that does not answer"""
_HANGING = 5.0
"""s of processor time without an answer after which a plant is given up"""
_ATTACH_PAUSE = 0.02
_STARTING = 5.0
"""s in which a plant that has its ports has its pace socket as well"""
_RETRY = 0.2
"""s between two attempts to recover a lost plant"""


def pace_path(config: RigConfig, *, make: bool = False) -> Path:
    """Path of the pace socket of a virtual rig's plant, in the user's runtime folder; unique for each set of drives.

    Raises:
        HardwareError: as `runtime_root`.
    """
    drives = json.dumps([leg.identity for leg in config.drives.legs])
    return runtime_root(make=make) / f"pace-{hashlib.sha256(drives.encode()).hexdigest()[:16]}"


class Pacer:
    """Sets the plant's time. It and its wires belong to the cyclic thread.

    Without a plant (none yet, none any more, or one that hangs) its clock follows the machine's. A lost plant is
    reported, and taken back as soon as possible.

    Args:
        path: of the pace socket, see `pace_path`.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._socket: socket.socket | None = None
        self._wires: WeakSet[PacedWire] = WeakSet()
        self._sent: dict[pace_messages.Connection, int] = {}
        self._time = self._wall = time.monotonic()
        self._overtaken = False
        self._resumed = self._lost = False
        self._retry_at = 0.0
        self.report: Callable[[Finding], object] = lambda _finding: None
        """receives texts of the plant's loss and return"""
        self.epoch = 0
        """increases with every attached plant, each with its own clock"""
        self.settled = False
        """whether nothing has been sent since the plant settled at `now`"""

    @property
    def attached(self) -> bool:
        """Whether a plant is attached."""
        return self._socket is not None

    def now(self) -> float:
        """The plant's clock, s."""
        return self._time if self.attached else self._time + time.monotonic() - self._wall

    def attach(self) -> None:
        """Attach to the plant, unless done. Raises ConnectError if there is no plant."""
        if self._socket is not None:
            return
        deadline = time.monotonic() + _STARTING
        while True:
            try:
                self._connect()
                break
            except OSError as error:
                if time.monotonic() > deadline:
                    reason = error.strerror or error
                    raise ConnectError(f"the virtual rig's time cannot be given ({self._path}: {reason})") from error
                time.sleep(_ATTACH_PAUSE)
        if not self._take():
            raise ConnectError("the virtual rig does not take its time from this engine: another one gives it")

    def recover(self) -> bool:
        """Try to attach to a lost plant again; whether it succeeded."""
        now = time.monotonic()
        if not self._lost or now < self._retry_at:
            return False
        self._retry_at = now + _RETRY
        try:
            self._connect()
        except OSError:
            return False
        self._lost = False  # one that does not answer is not waited for again
        if self._take():
            self.report(Finding(Code.PLANT_PACED_AGAIN))
            return True
        return False

    def give(self, t: float) -> None:
        """Set the plant's time to `t`, s."""
        self._time, self.settled = t, False
        if self._socket is None:
            self._wall = time.monotonic()
        else:
            self._send(pace_messages.Time(t))

    def overtaken(self) -> bool:
        """Whether the plant has continued by itself meanwhile; it is then attached again."""
        if self._socket is None:
            return False
        try:
            overtaken = self._overtaken or isinstance(pace_messages.receive(self._socket), pace_messages.Ahead)
        except (EOFError, ValueError):
            self._lose()
            return False
        return overtaken and self._ask(pace_messages.Resume()) is not None

    def settle(self, t: float) -> None:
        """Let the plant process everything sent, and advance to `t`, s; then see `sent`."""
        answer = self._ask(pace_messages.Settle(t, {wire.connection: wire.sent for wire in self._wires}))
        if isinstance(answer, pace_messages.Settled):
            self._sent = dict(answer.counts)
            self.settled = True

    def wait(self, wires: "Sequence[PacedWire]", until: float) -> Sequence[Wire]:
        """Wait until data arrive at one of the wires, or the plant's clock shows `until`, s; the wires with data."""
        # what takes the plant's time on a wire is not there before that is given
        soon = 0.0 if all(wire.timed for wire in wires) else _SOON
        missed_at = time.monotonic() + _HANGING
        while not (ready := arrived(wires, 0.0 if self.settled else soon)):
            if not self.attached:
                return arrived(wires, until - self.now())
            if self.settled and any(self._coming(wire) for wire in wires):
                if ready := arrived(wires, _POLL):
                    break
                if time.monotonic() > missed_at:  # somebody else has taken it
                    return ()
            elif not self.settled:
                self.settle(self.now())
            elif self.now() < until:
                self.settle(min(until, self.now() + _SLICE))
            else:
                return ()
        return ready

    def _coming(self, wire: "PacedWire") -> bool:
        """Whether data, or a closed connection, from before the last settling have not arrived yet."""
        sent = self._sent.get(wire.connection, 0)
        return sent > wire.received or sent < 0

    def welcome(self, wire: "PacedWire") -> None:
        """Count a wire's bytes from now on."""
        self._wires.add(wire)

    def dismiss(self, wire: "PacedWire") -> None:
        """Forget a closed wire."""
        self._wires.discard(wire)
        self._sent.pop(wire.connection, None)

    def close(self) -> None:
        """Return plant and clock to the wall clock. May be called again."""
        if self._socket is not None:
            self._wall = time.monotonic()
            self._socket.close()
            self._socket = None
            self.settled = self._resumed = False
        self._lost = False

    def _connect(self) -> None:
        """Raises OSError if there is no plant to attach to."""
        made = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            made.connect(str(self._path))
        except OSError:
            made.close()
            raise
        self._socket = made
        self._plant = ProcessWatch(pace_messages.peer(made))

    def _take(self) -> bool:
        """Attach to the connected plant; whether it accepted."""
        self._resumed = self._ask(pace_messages.Resume()) is not None
        self.epoch += self._resumed
        return self._resumed

    def _lose(self) -> None:
        """Handle a plant that has ended or does not answer."""
        resumed = self._resumed
        self.close()
        if resumed:
            self._lost, self._retry_at = True, time.monotonic() + _RETRY
            self.report(Finding(Code.PLANT_UNPACED))

    def _send(self, message: pace_messages.Message) -> None:
        assert self._socket is not None
        try:
            self._socket.send(pace_messages.encode(message))
        except OSError:
            self._lose()

    def _ask(
        self, message: pace_messages.Resume | pace_messages.Settle
    ) -> pace_messages.PlantTime | pace_messages.Settled | None:
        """The answer to a message, None if none comes any more."""
        if self._socket is not None:
            self._send(message)
            self._plant.sign()
        wanted = pace_messages.PlantTime if isinstance(message, pace_messages.Resume) else pace_messages.Settled
        with contextlib.suppress(EOFError, ValueError):
            while self._socket is not None:
                if not select.select([self._socket], [], [], _POLL)[0] and self._plant.silence() > _HANGING:
                    break
                answer = pace_messages.receive(self._socket)
                if isinstance(answer, pace_messages.Ahead):
                    self._overtaken = True
                elif isinstance(answer, pace_messages.PlantTime | pace_messages.Settled) and isinstance(answer, wanted):
                    self._time = answer.t
                    self._overtaken = self._overtaken and isinstance(answer, pace_messages.Settled)
                    return answer
        self._lose()
        return None


class PacedWire:
    """The wire to a device whose time is paced: deadlines are the plant's.

    Args:
        endpoint: of the device.
        timeout: s of the machine's clock, to connect.
        pacer: gives the plant its time.

    Raises:
        ConnectError: nothing is served there, or the plant does not accept this process's time.
    """

    __slots__ = ("__weakref__", "_inner", "_pacer", "connection", "received", "sent")

    def __init__(self, endpoint: Endpoint, timeout: float, pacer: Pacer) -> None:
        self._pacer = pacer
        self.received = self.sent = 0
        """bytes in total; -1: unknown, as data were sent before it was opened"""
        self.connection: pace_messages.Connection
        """see `rig.runtime.pace_messages`"""
        self._inner: TcpWire | SerialWire
        if isinstance(endpoint, TcpEndpoint):
            self._inner = wire = TcpWire(endpoint.host, endpoint.port, timeout)
            self.connection = (endpoint.port, wire.local_port)
        else:
            self._inner = SerialWire(endpoint)
            self.connection = (NO_PORT, terminal_number(self._inner.descriptor))
        try:
            pacer.attach()
        except ConnectError:
            self._inner.close()
            raise
        pacer.welcome(self)
        if isinstance(self._inner, SerialWire):
            self.sent = -1
            pacer.settle(pacer.now())
            self.sent = 0
            self._inner.forget()

    @property
    def connected(self) -> bool:
        """See `Wire.connected`."""
        return self._inner.connected

    @property
    def timed(self) -> bool:
        """Whether transmission takes time on the plant's clock."""
        return isinstance(self._inner, SerialWire)

    @property
    def descriptor(self) -> int:
        """See `Wire.descriptor`."""
        return self._inner.descriptor

    def now(self) -> float:
        """See `Wire.now`: the plant's clock."""
        return self._pacer.now()

    def send(self, data: bytes) -> bool:
        """See `Wire.send`."""
        self._pacer.settled = False
        taken = self._inner.send(data)
        self.sent += len(data) if taken else 0
        return taken

    def receive(self, deadline: float) -> bytes:
        """See `Wire.receive`."""
        data = self._inner.receive(-math.inf)
        while not data and self.connected and self._pacer.wait([self], deadline):
            data = self._inner.receive(-math.inf)
        self.received += len(data)
        return data

    def wait(self, until: float, others: Sequence[Wire]) -> Sequence[Wire]:
        """See `Wire.wait`."""
        return self._pacer.wait([self, *(one for one in others if isinstance(one, PacedWire))], until)

    def close(self) -> None:
        """See `Wire.close`."""
        self._pacer.dismiss(self)
        self._inner.close()
