"""A CAN bus: frames of a cycle sent together, a SYNC behind them, and SDO access outside of the cycle."""

import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from actuators.bus import Bus, Exchange
from actuators.canopen.frames import (
    ABORTS,
    BOOTED,
    EMERGENCY,
    FUNCTION,
    HEARTBEAT,
    NMT,
    NODE,
    OPERATIONAL,
    SDO_REPLY,
    SDO_REQUEST,
    SYNC,
    TPDO_1,
    TPDO_2,
    TPDO_3,
    CanEndpoint,
    Object,
    frame_bits,
    frame_of,
    line_of,
)
from actuators.errors import ConnectError, ProtocolError
from actuators.interface import Counters
from actuators.wire import Wire

_EMERGENCY = struct.Struct("<HB5s")
_MOST_SEGMENTS = 64
_SDO = struct.Struct("<BHB4s")
_PLACES = {TPDO_1: 0, TPDO_2: 1, TPDO_3: 2}
"""TPDO → its place in a reply"""
_TPDOS = 2  # of a node whose exchange does not say how many


class CanExchange(Exchange):
    """The PDOs of a node; the reply is that of its first `tpdos` TPDOs, one behind the other."""

    __slots__ = ("tpdos",)

    def __init__(self, unit: int, counters: Counters, tpdos: int = _TPDOS) -> None:
        """unit: node. counters: for failures. tpdos: how many there are, 1 to 3, from TPDO 1 on."""
        super().__init__(unit, counters)
        self.tpdos = tpdos


@dataclass(slots=True)
class Node:
    """What a node reports unasked.

    state: of NMT, by its last heartbeat; -1 unknown. boots: how often it has started. emergency: its last error code,
    error register, and the maker's five bytes.
    """

    state: int = -1
    boots: int = 0
    emergency: tuple[int, int, bytes] = (0, 0, b"")


class CanBus(Bus):
    """One CAN bus and its nodes.

    A cycle's frames go out at `commit`: what the drives have begun, this computer's heartbeat, and the SYNC at which
    drives take their set-points over and sample. What arrived before belongs to no cycle, and is dropped. A TPDO has no
    number of its cycle: one that comes late, after the next SYNC, cannot be distinguished from a good one.
    """

    def __init__(self, open_wire: Callable[[float], Wire], host_node: int, endpoint: CanEndpoint) -> None:
        """open_wire: see `Bus`. host_node: this computer's number, whose heartbeats drives consume."""
        super().__init__(open_wire)
        self.place = str(endpoint)
        self._bitrate = endpoint.baud
        self.byte_time = 8.0 / endpoint.baud
        self._heartbeat = line_of(HEARTBEAT + host_node, bytes((OPERATIONAL,)))
        self._sync = line_of(SYNC, b"")
        self._host_node = host_node
        self._input = b""
        self._batch: list[bytes] | None = None
        self._awaited: dict[int, tuple[Exchange, list[bytes]]] = {}
        """node → exchange whose TPDOs are awaited, and those that have arrived"""
        self._nodes: dict[int, Node] = {}
        self._answer = b""
        self._asked = -1
        """node of an SDO under way"""

    @property
    def protocol(self) -> str:
        """See `Bus.protocol`."""
        return f"CANopen with this computer as node {self._host_node}"

    def node(self, unit: int) -> Node:
        """What a node reports unasked, kept up to date."""
        return self._nodes.setdefault(unit, Node())

    def time_of(self, size: int, delays: Sequence[float]) -> float:
        """See `Bus.time_of`: of frames that are `size` bytes with all that is around their data, heartbeat and SYNC."""
        del delays
        return (8 * size + frame_bits(1) + frame_bits(0)) / self._bitrate

    def begin_cycle(self, now: float) -> None:
        """See `Bus.begin_cycle`."""
        del now
        if self._batch is None:
            self._batch = []
            self._take(self._wire)
            self._awaited.clear()

    def begin(self, exchange: Exchange, message: bytes) -> bool:
        """See `Bus.begin`. message: lines of frames."""
        if self._batch is None:
            self.begin_cycle(math.nan)
        assert self._batch is not None
        exchange.reply = b""
        if not self.connected:
            return False
        self._batch.append(message)
        self._awaited[exchange.unit] = (exchange, [])
        return True

    def commit(self) -> None:
        """See `Bus.commit`."""
        batch, self._batch = self._batch, None
        if batch:
            self.send([*batch, self._heartbeat, self._sync])

    def gather(self, deadline: float) -> None:
        """See `Bus.gather`."""
        self._receive(deadline, lambda: not self._awaited)

    def collect(self, exchange: Exchange, deadline: float) -> bytes | None:
        """See `Bus.collect`."""
        if self._batch is not None:
            self.commit()
        if not exchange.reply:
            self._receive(deadline, lambda: bool(exchange.reply))
        self._awaited.pop(exchange.unit, None)
        reply, exchange.reply = exchange.reply, b""
        return reply or None

    def send(self, frames: Sequence[bytes]) -> bool:
        """Send lines now; each by itself to a twin of this process, which answers each at once."""
        wire = self._wire
        if wire is None:
            return False
        if wire.descriptor >= 0:
            return wire.send(b"".join(frames))
        return all([wire.send(line + b"\r") for line in b"".join(frames).split(b"\r")[:-1]])

    def beat(self) -> None:
        """Send this computer's heartbeat by itself, where drives are set up between two cycles."""
        self.send([self._heartbeat])

    def nmt(self, unit: int, command: int) -> None:
        """Send an NMT command to a node. Raises ConnectError."""
        if not self.send([line_of(NMT, bytes((command, unit)))]):
            raise ConnectError(f"{self.place} did not take an NMT command to node {unit}")

    def read(self, unit: int, label: str, entry: Object, timeout: float) -> int:
        """Read a number by SDO within `timeout` s. Raises ConnectError, ProtocolError."""
        data = self.read_bytes(unit, label, (entry.index, entry.sub), timeout)
        if len(data) != entry.size:
            raise ProtocolError(f"{label}: object {entry.name} has {len(data)} bytes, must have {entry.size}")
        return entry.unpack(data)

    def read_bytes(self, unit: int, label: str, entry: tuple[int, int], timeout: float) -> bytes:
        """Read an object by SDO, expedited or in segments, within `timeout` s for each of them."""
        what = f"read of object {entry[0]:04X}h:{entry[1]}"
        answer = self._transfer(unit, label, _SDO.pack(0x40, *entry, b""), 0x40, timeout, what)
        if answer[0] & 2:
            return answer[4 : 8 - (answer[0] >> 2 & 3)]
        data = b""
        for count in range(_MOST_SEGMENTS):
            request = bytes((0x60 | (count & 1) << 4,)) + bytes(7)
            answer = self._transfer(unit, label, request, 0x00, timeout, what)
            data += answer[1 : 8 - (answer[0] >> 1 & 7)]
            if answer[0] & 1:
                return data
        raise ProtocolError(f"{label}: {what} does not end after {len(data)} bytes")

    def write(self, unit: int, label: str, entry: Object, value: int, timeout: float) -> None:
        """Write a number by SDO within `timeout` s. Raises ConnectError, ProtocolError."""
        command = 0x23 | (4 - entry.size) << 2
        request = _SDO.pack(command, entry.index, entry.sub, entry.pack(value))
        self._transfer(unit, label, request, 0x60, timeout, f"write of object {entry.name}")

    def _transfer(self, unit: int, label: str, request: bytes, good: int, timeout: float, what: str) -> bytes:
        """The eight bytes that answer an SDO request. good: the upper bits of its first byte."""
        if not self.connected:
            raise ConnectError(f"{label} is not connected (no {what})")
        self._batch, self._asked, self._answer = None, unit, b""
        self._take(self._wire)
        self._answer = b""
        deadline = self.now() + timeout
        if not self.send([line_of(SDO_REQUEST + unit, request)]):
            raise ConnectError(f"{label} did not take a request (no {what})")
        self._receive(deadline, lambda: bool(self._answer))
        self._asked, answer = -1, self._answer
        if not answer:
            reason = f"did not answer within {timeout:g} s" if self.connected else "closed the connection"
            raise ConnectError(f"{label} {reason} (no reply to {what})")
        if answer[0] == 0x80:
            code = int.from_bytes(answer[4:8], "little")
            raise ProtocolError(f"{label} refused a {what}: abort {code:08X}h ({ABORTS.get(code, 'unknown')})")
        if len(answer) != 8 or answer[0] & 0xE0 != good or (good and answer[1:4] != request[1:4]):
            raise ProtocolError(f"{label} answered a {what} with something else: {answer.hex(' ')}")
        return answer

    def _receive(self, deadline: float, done: Callable[[], bool]) -> None:
        """Take frames until `done`, or until `deadline` (s)."""
        wire = self._wire
        while wire is not None and not done():
            data = wire.receive(deadline)
            if data:
                self._sort(data)
            if not data or (wire.now() >= deadline and not done()):
                self._take(wire)
                return

    def _take(self, wire: Wire | None) -> None:
        """Take what has arrived, without waiting."""
        if wire is not None and (data := wire.receive(-math.inf)):
            self._sort(data)

    def _sort(self, data: bytes) -> None:
        """Assign every whole frame to whoever awaits it."""
        *lines, self._input = (self._input + data).split(b"\r")
        self._input = self._input[-64:]
        for line in lines:
            found = frame_of(line)
            if found is None or not line.startswith(b"t"):  # noise in place of a frame, or before one
                self._count_damaged(line)
            if found is None:
                continue
            identifier, content = found
            unit, function = identifier & NODE, identifier & FUNCTION
            if function in _PLACES:
                self._take_pdo(unit, function, content)
            elif function == SDO_REPLY and unit == self._asked:
                self._answer = content
            elif function == HEARTBEAT and len(content) == 1:
                node = self.node(unit)
                node.state = content[0] & 0x7F
                node.boots += content[0] == BOOTED
            elif function == EMERGENCY and unit and len(content) == _EMERGENCY.size:
                code, register, maker = _EMERGENCY.unpack(content)
                self.node(unit).emergency = (code, register, maker)

    def _take_pdo(self, unit: int, function: int, content: bytes) -> None:
        """Note a TPDO; the last of them completes the reply."""
        exchange, before = self._awaited.get(unit, (None, []))
        place = _PLACES[function]
        count = exchange.tpdos if isinstance(exchange, CanExchange) else _TPDOS
        if exchange is None or place >= count:
            return  # of a drive that was not asked, or is not ours, or a PDO of its own
        if place != len(before):  # out of order, or twice
            exchange.counters.rejected += 1
            if place:
                return
            exchange.counters.belated += 1  # the first one, of an earlier cycle
            before.clear()
        before.append(content)
        if len(before) == count:
            exchange.reply = b"".join(before)
            del self._awaited[unit]

    def _count_damaged(self, line: bytes) -> None:
        """Count what is no frame, unless it is an adapter's acknowledgement."""
        if line not in (b"", b"z") and self._awaited:
            next(iter(self._awaited.values()))[0].counters.rejected += 1

    def _close(self) -> None:
        """See `Bus`."""
        super()._close()
        self._input, self._batch = b"", None
        self._awaited.clear()
        self._nodes.clear()
