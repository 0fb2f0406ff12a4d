"""The engine's end of paced time: the plant's clock as the engine gives it, and the wires that go by it.

See `rig.runtime.pace_messages`. A reply that is there is taken; whether one that is not there is lost, or only not
sent yet by a process that waits for a processor, no clock of the machine can tell. So the plant is asked to settle: to
take in all that was sent, at the time that it stands at, and then slice by slice up to the deadline. What is not there
after that is not there by the plant's own clock, and all the same on a machine however busy.
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
"""s of the plant's time between two looks for a reply that is late"""
_SOON = 1e-3
"""s in which a reply is there on a machine that is not busy; asking for it sooner would only cost"""
_LOOK = 0.05
"""s between two looks at a plant that does not answer"""
_HANGING = 5.0
"""s for which a plant may have been able to answer before it is given up"""
_ATTACH_PAUSE = 0.02
_STARTING = 5.0
"""s in which a plant that has its ports has its pace as well"""
_RETRY = 0.2
"""s between two tries to have the time of a plant again that was lost"""


def pace_path(config: RigConfig, *, make: bool = False) -> Path:
    """Where the plant of a virtual rig is given its time, in the user's runtime folder; a name for each set of drives.

    Raises:
        HardwareError: as `runtime_root`.
    """
    drives = json.dumps([leg.identity for leg in config.drives.legs])
    return runtime_root(make=make) / f"pace-{hashlib.sha256(drives.encode()).hexdigest()[:16]}"


class Pacer:
    """Gives the plant its time. Belongs to the cyclic thread, and so do its wires.

    Without a plant (none yet, none any more, or one that hangs) its clock goes on with the machine's. One that was lost
    is said to be, and taken back as soon as it lets itself be.

    Args:
        path: where the plant is given its time, see `pace_path`.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._socket: socket.socket | None = None
        self._wires: WeakSet[PacedWire] = WeakSet()
        self._sent: dict[pace_messages.Connection, int] = {}
        self._time = self._wall = time.monotonic()
        self._overtaken = False
        self._held = self._lost = False
        self._retry_at = 0.0
        self.report: Callable[[Finding], object] = lambda _finding: None
        """told in words when the plant is lost, and when it is there again"""
        self.epoch = 0
        """rises with every plant that is attached to, whose clock is its own"""
        self.settled = False
        """whether nothing has been sent since the plant settled at `now`"""

    @property
    def attached(self) -> bool:
        """Whether there is a plant that is given its time."""
        return self._socket is not None

    def now(self) -> float:
        """The plant's clock, s."""
        return self._time if self.attached else self._time + time.monotonic() - self._wall

    def attach(self) -> None:
        """Take the plant's time over, unless it has been. Raises ConnectError where there is no plant."""
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
        """Take over the time of a plant that was lost, where it can be by now; whether it has been."""
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
        """The plant stands at `t`, s, from now on."""
        self._time, self.settled = t, False
        if self._socket is None:
            self._wall = time.monotonic()
        else:
            self._send(pace_messages.Time(t))

    def overtaken(self) -> bool:
        """Whether the plant has gone on by itself meanwhile; its time is taken over again then."""
        if self._socket is None:
            return False
        try:
            overtaken = self._overtaken or isinstance(pace_messages.receive(self._socket), pace_messages.Ahead)
        except (EOFError, ValueError):
            self._lose()
            return False
        return overtaken and self._ask(pace_messages.Resume()) is not None

    def settle(self, t: float) -> None:
        """Have the plant take in all that was sent, and go on to `t`, s; see `sent` then."""
        answer = self._ask(pace_messages.Settle(t, {wire.connection: wire.sent for wire in self._wires}))
        if isinstance(answer, pace_messages.Settled):
            self._sent = dict(answer.counts)
            self.settled = True

    def wait(self, wires: "Sequence[PacedWire]", until: float) -> Sequence[Wire]:
        """Wait until something arrives at one of the wires, or the plant's clock shows `until`, s; where it has."""
        # what takes the plant's time on a wire is not there before that is given
        soon = 0.0 if all(wire.timed for wire in wires) else _SOON
        missed_at = time.monotonic() + _HANGING
        while not (ready := arrived(wires, 0.0 if self.settled else soon)):
            if not self.attached:
                return arrived(wires, until - self.now())
            if self.settled and any(self._coming(wire) for wire in wires):
                if ready := arrived(wires, _LOOK):
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
        """Whether something is on its way, or the end of it, that the plant had sent when it settled last."""
        sent = self._sent.get(wire.connection, 0)
        return sent > wire.received or sent < 0

    def welcome(self, wire: "PacedWire") -> None:
        """From now on a wire's bytes are counted."""
        self._wires.add(wire)

    def dismiss(self, wire: "PacedWire") -> None:
        """A wire was closed."""
        self._wires.discard(wire)
        self._sent.pop(wire.connection, None)

    def close(self) -> None:
        """Let the plant go by the wall clock; this clock does so too. May be called again."""
        if self._socket is not None:
            self._wall = time.monotonic()
            self._socket.close()
            self._socket = None
            self.settled = self._held = False
        self._lost = False

    def _connect(self) -> None:
        """Raises OSError where no plant can be given its time."""
        made = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            made.connect(str(self._path))
        except OSError:
            made.close()
            raise
        self._socket = made
        self._plant = ProcessWatch(pace_messages.peer(made))

    def _take(self) -> bool:
        """Take over the time of the plant that is connected to; whether it lets itself be."""
        self._held = self._ask(pace_messages.Resume()) is not None
        self.epoch += self._held
        return self._held

    def _lose(self) -> None:
        """The plant has gone, or cannot be talked to."""
        held = self._held
        self.close()
        if held:
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
        """The answer to a message, None where there comes none any more."""
        if self._socket is not None:
            self._send(message)
            self._plant.sign()
        wanted = pace_messages.PlantTime if isinstance(message, pace_messages.Resume) else pace_messages.Settled
        with contextlib.suppress(EOFError, ValueError):
            while self._socket is not None:
                if not select.select([self._socket], [], [], _LOOK)[0] and self._plant.silence() > _HANGING:
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
        ConnectError: nothing is served there, or the plant does not take its time from this process.
    """

    __slots__ = ("__weakref__", "_inner", "_pacer", "connection", "received", "sent")

    def __init__(self, endpoint: Endpoint, timeout: float, pacer: Pacer) -> None:
        self._pacer = pacer
        self.received = self.sent = 0
        """bytes in all; -1: what was sent over it before it was opened is not known"""
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
        """Whether bytes take the plant's time on it."""
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
