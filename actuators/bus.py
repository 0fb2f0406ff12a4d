"""A bus owns its wire: it frames what the stations on it ask, and gives each the reply that is its own."""

import math
import struct
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable

from actuators.errors import ConfigurationError
from actuators.framing import EXCEPTION_LENGTH, HEADER, MBAP
from actuators.interface import Counters
from actuators.wire import Wire

_MBAP_SIZE = MBAP.size
_TRANSACTION = struct.Struct(">H")
_LATE = 256  # requests that were given up, whose replies are known when they come


class Presence:
    """Whether a unit did not answer when it was asked last, on a line that it shares."""

    __slots__ = ("silent",)

    def __init__(self) -> None:
        self.silent = False


class Exchange:
    """One request at a time of one unit, and its reply; the unit's owner and the bus write into it."""

    __slots__ = (
        "answered",
        "carried",
        "counters",
        "follows",
        "presence",
        "reply",
        "reply_length",
        "transaction",
        "unit",
        "urgent",
    )

    def __init__(self, unit: int, counters: Counters, presence: Presence | None = None) -> None:
        """unit: Modbus unit id. counters: where to count what goes wrong. presence: of a unit with several of these."""
        self.unit = unit
        self.counters = counters
        self.reply_length = 0
        """bytes of a good reply's message; an exception's is known"""
        self.reply = b""
        """message that came while the bus looked for another's"""
        self.urgent = False
        """whether it goes before others that wait for the same line"""
        self.follows = False
        """whether it goes as the next one: what it says depends on what the unit has just answered"""
        self.answered: Callable[[bytes], None] | None = None
        """called with the reply on a line as soon as it is there; may begin another exchange of the unit"""
        self.presence = Presence() if presence is None else presence
        self.carried = -math.inf
        """when the request's last byte had passed on a line, s on the wire's clock"""
        self.transaction = 0
        """of Modbus TCP; negative: nobody waits for the reply any more"""


class Bus(ABC):
    """One wire and those who talk over it. One thread at a time uses it; nothing of it raises but `join`.

    Deadlines are on the wire's clock. It is opened for the first who joins, or anew where it was lost, and closed after
    the last has left.
    """

    def __init__(self, open_wire: Callable[[float], Wire]) -> None:
        """open_wire: called with a timeout (s); may raise ConnectError."""
        self._open_wire = open_wire
        self._wire: Wire | None = None
        self._members: set[Exchange] = set()

    @property
    def protocol(self) -> str:
        """What is spoken on it, in words that tell it from all else."""
        return "Modbus TCP"

    @property
    def connected(self) -> bool:
        """True while the wire is open and neither side has closed it."""
        return self._wire is not None and self._wire.connected

    def now(self) -> float:
        """The clock that deadlines are on, s; infinite without a wire: nothing is waited for."""
        return math.inf if self._wire is None else self._wire.now()

    def join(self, member: Exchange, timeout: float) -> None:
        """Let a unit talk, opening the wire within `timeout` s where it is not open. Raises ConnectError."""
        if not self.connected:
            self._close()
            self._wire = self._open_wire(timeout)
        self._members.add(member)

    def joined(self, member: Exchange) -> bool:
        """Whether a unit can talk."""
        return member in self._members and self.connected

    def leave(self, member: Exchange) -> None:
        """Let a unit talk no more; idempotent."""
        self._members.discard(member)
        if not self._members:
            self._close()

    @abstractmethod
    def begin(self, exchange: Exchange, message: bytes) -> bool:
        """Send a unit's request, or queue it, without waiting; False if it could not be sent.

        `exchange.reply_length` says what reply is expected; a request that was under way is given up.
        """

    @abstractmethod
    def collect(self, exchange: Exchange, deadline: float) -> bytes | None:
        """Return the message of the reply to `begin`, None if it is not there at `deadline` (s)."""

    def _close(self) -> None:
        """Close the wire and forget what was under way."""
        if self._wire is not None:
            self._wire.close()
            self._wire = None


class Buses:
    """The buses of one rig, by the names of their places, for those who are to share them."""

    def __init__(self) -> None:
        """None yet."""
        self._buses: dict[str, Bus] = {}

    def at(self, place: str, make: Callable[[], Bus]) -> Bus:
        """The bus at `place`, made by `make` for the first who asks for it.

        Raises ConfigurationError where what is there speaks otherwise than `make` would have it.
        """
        made = make()
        bus = self._buses.setdefault(place, made)
        if bus.protocol != made.protocol:
            raise ConfigurationError(f"{place}: devices that speak {bus.protocol} and {made.protocol} cannot share it")
        return bus


class PipelinedBus(Bus):
    """Modbus TCP: all requests are sent before any reply is awaited, told apart by their transaction ids.

    Ids go on counting across reconnections, so that no late reply satisfies another request.
    """

    def __init__(self, open_wire: Callable[[float], Wire]) -> None:
        """See `Bus`."""
        super().__init__(open_wire)
        self._input = b""
        self._transaction = 0
        self._pending: dict[int, Exchange] = {}
        self._given_up: deque[int] = deque(maxlen=_LATE)

    def begin(self, exchange: Exchange, message: bytes) -> bool:
        """See `Bus.begin`."""
        pending = self._pending
        if pending:
            self._give_up(exchange)
        exchange.reply = b""
        exchange.transaction = self._transaction = transaction = self._transaction % 0xFFFF + 1
        wire = self._wire
        if wire is None or not wire.send(MBAP.pack(transaction, 0, len(message)) + message):
            return False
        pending[transaction] = exchange
        return True

    def collect(self, exchange: Exchange, deadline: float) -> bytes | None:
        """See `Bus.collect`.

        Replies that nobody awaits and bytes that are no frame are dropped and counted; a cut frame is kept until its
        rest arrives. What the message says is the caller's to check.
        """
        wire = self._wire
        if wire is None:
            return None
        if not exchange.reply:
            length = exchange.reply_length
            data = wire.receive(deadline)
            if (
                len(data) == length + _MBAP_SIZE
                and not self._input
                and data.startswith(MBAP.pack(exchange.transaction, 0, length))
            ):
                self._pending.pop(exchange.transaction, None)
                return data[_MBAP_SIZE:]
            while data and not self._sort(data, exchange):
                # A peer that never stops talking must not hold the caller beyond its deadline.
                data = wire.receive(deadline) if wire.now() < deadline else b""
        self._give_up(exchange)
        reply, exchange.reply = exchange.reply, b""
        return reply or None

    def _give_up(self, exchange: Exchange) -> None:
        """Await the reply to a unit's request no more, which may have come."""
        if self._pending.pop(exchange.transaction, None) is not None:
            self._given_up.append(exchange.transaction)

    def _sort(self, data: bytes, exchange: Exchange) -> bool:
        """Give every whole frame that arrived to whom it answers; whether `exchange` has its reply.

        What answers nobody is dropped.
        """
        pending, counters = self._pending, exchange.counters
        self._input += data
        while len(self._input) >= HEADER.size:
            found, protocol, size, unit = HEADER.unpack_from(self._input)
            asking = pending.get(found)
            lengths = [one.reply_length for one in ([asking] if asking is not None else pending.values())]
            strange = asking is None and all(unit != one.unit for one in pending.values())
            if protocol or size not in (*lengths, EXCEPTION_LENGTH) or strange:
                # Not the start of a frame that can be an answer: go on at the next place that looks like one.
                counters.rejected += 1
                places = (self._input.find(_TRANSACTION.pack(number) + b"\0\0", 1) for number in pending)
                ours = min((place for place in places if place > 0), default=0)
                self._input = self._input[ours:] if ours else b""
                continue
            if len(self._input) < size + _MBAP_SIZE:
                break
            message, self._input = self._input[_MBAP_SIZE : size + _MBAP_SIZE], self._input[size + _MBAP_SIZE :]
            if asking is None:
                counters.rejected += 1
                counters.belated += found in self._given_up
                continue
            asking.reply = message
            pending.pop(found, None)
            if not pending and self._input:  # what came along cannot answer a request that is not sent yet
                counters.rejected += 1
                self._input = b""
        return bool(exchange.reply)

    def _close(self) -> None:
        """See `Bus`."""
        super()._close()
        self._input = b""
        self._pending.clear()
