"""A bus owns its wire and frames its stations' requests: all at once on TCP, in turns on a shared line."""

import math
import struct
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from actuators.errors import ConfigurationError
from actuators.framing import EXCEPTION_LENGTH, HEADER, MBAP, RTU_LINE, LineFraming
from actuators.interface import Counters
from actuators.wire import SerialWire, Wire

_MBAP_SIZE = MBAP.size
_TRANSACTION = struct.Struct(">H")
_DELAYS = 8  # of a unit's last replies
_LATE = 256  # requests that were given up, whose replies are known when they come


class Presence:
    """Whether a unit on a shared line did not answer its last request, and how long its last answers took."""

    __slots__ = ("delays", "silent")

    def __init__(self) -> None:
        self.silent = False
        self.delays: deque[float] = deque(maxlen=_DELAYS)
        """s from the last byte of a request to the first of its reply"""


class Exchange:
    """One request of a unit at a time, with its reply; written by the unit's owner and the bus."""

    __slots__ = (
        "acyclic",
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
        """unit: Modbus unit id. counters: for failures. presence: of a unit with several exchanges."""
        self.unit = unit
        self.counters = counters
        self.reply_length = 0
        """bytes of a good reply's message; an exception's is known"""
        self.reply = b""
        """message that arrived while the bus waited for another's"""
        self.urgent = False
        """whether it is sent before others that wait for the same line"""
        self.follows = False
        """whether it is sent next, as it depends on the unit's last answer"""
        self.acyclic = False
        """whether the next request may be another one whose reply has the same form"""
        self.answered: Callable[[bytes], None] | None = None
        """called with the reply on a line at once; may begin another exchange of the unit"""
        self.presence = Presence() if presence is None else presence
        self.carried = -math.inf
        """when the request's last byte had passed on a line, s on the wire's clock"""
        self.transaction = 0
        """transaction id of Modbus TCP; negative: the reply is not awaited any more"""


class Bus(ABC):
    """One wire and its units. One thread at a time uses it; only `join` raises.

    Deadlines are on the wire's clock. The wire is opened when the first unit joins, or again after a loss, and closed
    after the last has left.
    """

    place = "bus"
    """As messages say it."""

    def __init__(self, open_wire: Callable[[float], Wire]) -> None:
        """open_wire: called with a timeout (s); may raise ConnectError."""
        self.byte_time = 0.0
        """s on the wire for each byte; 0: not known"""
        self.turnaround = 0.0
        """s of silence between two frames"""
        self._open_wire = open_wire
        self._wire: Wire | None = None
        self._members: set[Exchange] = set()

    @property
    def protocol(self) -> str:
        """Unique text of the protocol on it."""
        return "Modbus TCP"

    @property
    def connected(self) -> bool:
        """True while the wire is open and neither side has closed it."""
        return self._wire is not None and self._wire.connected

    def now(self) -> float:
        """The clock of the deadlines, s; infinite without a wire, so that nothing waits."""
        return math.inf if self._wire is None else self._wire.now()

    def join(self, member: Exchange, timeout: float) -> None:
        """Let a unit use the bus; opens the wire within `timeout` s if necessary. Raises ConnectError."""
        if not self.connected:
            self._close()
            self._wire = self._open_wire(timeout)
        self._members.add(member)

    def joined(self, member: Exchange) -> bool:
        """Whether a unit has joined."""
        return member in self._members and self.connected

    def leave(self, member: Exchange) -> None:
        """Remove a unit from the bus; idempotent."""
        self._members.discard(member)
        if not self._members:
            self._close()

    @property
    def latency(self) -> float:
        """By how much its adapter delays each reply, s."""
        return 0.0

    def time_of(self, size: int, delays: Sequence[float]) -> float:
        """Time of a cycle's exchanges that are `size` bytes in all, each with a reply delay (s), s; 0: not known."""
        del size, delays
        return 0.0

    def begin_cycle(self, now: float) -> None:
        """Begin a batch at `now` (s, the cycle's time): what units begin from here on goes out at `commit`.

        Of a bus that is some device's `Member.batch`: one frame for all units, a SYNC behind their frames, a sum
        command. Nothing where a batch is open already. A request that is begun outside of a batch opens one, and
        `collect` commits it: so a device works by itself, too.
        """
        del now

    def commit(self) -> None:
        """Send the open batch without waiting; nothing where none is open."""
        return None

    def gather(self, deadline: float) -> None:
        """Receive the replies to the batch by `deadline` (s), for each unit's `collect`."""
        del deadline

    @abstractmethod
    def begin(self, exchange: Exchange, message: bytes) -> bool:
        """Send a unit's request, or queue it, without waiting; False if it could not be sent.

        `exchange.reply_length` is that of the expected reply; a pending request is given up.
        """

    @abstractmethod
    def collect(self, exchange: Exchange, deadline: float) -> bytes | None:
        """Return the message of the reply to `begin`, None if it is not there at `deadline` (s)."""

    def held_until(self, exchange: Exchange, message: bytes) -> float:
        """Until when a request is not sent, s, since a late reply to another one could be taken for its own."""
        del exchange, message
        return -math.inf

    @property
    def wire(self) -> Wire | None:
        """The wire, None while there is none."""
        return self._wire

    def _close(self) -> None:
        """Close the wire and drop pending exchanges."""
        if self._wire is not None:
            self._wire.close()
            self._wire = None


_OneBus = TypeVar("_OneBus", bound=Bus)


class Buses:
    """The buses of one rig by the names of their places, for sharing."""

    def __init__(self) -> None:
        """None yet."""
        self._buses: dict[str, Bus] = {}

    def at(self, place: str, make: Callable[[], _OneBus]) -> _OneBus:
        """The bus at `place`, made by `make` at the first call.

        Raises ConfigurationError if the bus there has another protocol than that of `make`.
        """
        made = make()
        bus = self._buses.setdefault(place, made)
        if not isinstance(bus, type(made)) or bus.protocol != made.protocol:
            raise ConfigurationError(f"{place}: devices that speak {bus.protocol} and {made.protocol} cannot share it")
        return bus


class PipelinedBus(Bus):
    """Modbus TCP: all requests are sent before any reply is awaited; transaction ids assign the replies.

    Ids continue across reconnections, so that no late reply answers another request.
    """

    def __init__(self, open_wire: Callable[[float], Wire]) -> None:
        """See `Bus`."""
        super().__init__(open_wire)
        self._input = b""
        self.transaction = 0
        """id of the last request"""
        self._pending: dict[int, Exchange] = {}
        self._given_up: dict[int, int] = {}
        """the last ones: id → bytes of a good reply"""
        self._early = b""
        """bytes that were received for the next `collect`"""

    @property
    def idle(self) -> bool:
        """Whether no reply is awaited, and nothing of one has arrived."""
        return not (self._pending or self._input or self._early)

    def send(self, frame: bytes) -> bool:
        """Send a frame, whose id follows `transaction`, without waiting; False if it could not be sent."""
        return self._wire is not None and self._wire.send(frame)

    def receive(self, deadline: float) -> bytes:
        """What has arrived by `deadline`, s."""
        return b"" if self._wire is None else self._wire.receive(deadline)

    def expect(self, exchange: Exchange, transaction: int, received: bytes) -> None:
        """Await the reply to a frame that `send` has sent; received: what `receive` gave meanwhile."""
        exchange.reply = b""
        exchange.transaction = self.transaction = transaction
        self._pending[transaction] = exchange
        self._early = received

    def receive_pending(self, exchange: Exchange) -> None:
        """Take what has arrived, without waiting."""
        if self._wire is not None and (data := self._wire.receive(-math.inf)):
            self._sort(data, exchange)

    def begin(self, exchange: Exchange, message: bytes) -> bool:
        """See `Bus.begin`."""
        pending = self._pending
        if pending:
            self._give_up(exchange)
        exchange.reply = b""
        exchange.transaction = self.transaction = transaction = self.transaction % 0xFFFF + 1
        wire = self._wire
        if wire is None or not wire.send(MBAP.pack(transaction, 0, len(message)) + message):
            return False
        pending[transaction] = exchange
        return True

    def collect(self, exchange: Exchange, deadline: float) -> bytes | None:
        """See `Bus.collect`.

        Unexpected replies and bytes that are no frame are dropped and counted; an incomplete frame waits for its rest.
        The caller checks the message's content.
        """
        wire = self._wire
        if wire is None:
            return None
        if not exchange.reply:
            length = exchange.reply_length
            data, self._early = self._early or wire.receive(deadline), b""
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
        """Stop waiting for the reply to a unit's request, which may have arrived."""
        if self._pending.pop(exchange.transaction, None) is not None:
            self._given_up[exchange.transaction] = exchange.reply_length
            if len(self._given_up) > _LATE:
                del self._given_up[next(iter(self._given_up))]

    def _sort(self, data: bytes, exchange: Exchange) -> bool:
        """Assign every complete frame to its exchange; whether `exchange` has its reply.

        Frames without an exchange are dropped.
        """
        pending, counters = self._pending, exchange.counters
        self._input += data
        while len(self._input) >= HEADER.size:
            found, protocol, size, unit = HEADER.unpack_from(self._input)
            asking = pending.get(found)
            lengths = [one.reply_length for one in ([asking] if asking is not None else pending.values())]
            if asking is None and found in self._given_up:
                lengths.append(self._given_up[found])
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
        self._input = self._early = b""
        self._pending.clear()


_LATE_REPLY = 5.0  # times as late as is borne a reply may still come
_MAX_OVERHEARD = 100_000  # bytes at once
_REST_OF_IT = 40  # bytes that may still follow the first ones of a reply


class _Missing(NamedTuple):
    """A reply that may come late.

    head: its first bytes. read: range that it is of, None where it could be taken for the reply to any request. until:
    s, when it will not come any more.
    """

    head: bytes
    read: bytes | None
    until: float


class HalfDuplexBus(Bus):
    """Units on one line, answered one at a time.

    A request waits its turn; bytes on the line before it is sent are stale, and dropped. A reply is accepted if, as far
    as the framing shows, it is the asked unit's reply to the request. A unit that does not answer is given up after
    `reply_timeout`, and the next has its turn. Until it answers again it is asked last, and given up as soon as its
    reply is not awaited any more, so that it costs the others no time. Stops are sent first, and do not wait for
    replies that are not awaited any more.

    There are no transaction ids: a late reply, after the same unit was asked the same again, is distinguished from a
    good one by its echo only; `reply_timeout` must be longer than any unit's reply time. After missing replies of
    Modbus RTU, nothing else is read from that unit by the same function in the same length, until each has come or will
    not come any more: a reply does not say which registers it has. If replies do not name their sender, the line stays
    silent for a while after a missing reply, and only stops are sent: with several units, and outside of the cycle,
    where the next request may be another one. For that, a unit must answer in the order of its requests, and at most
    five times as late as `reply_timeout`.
    """

    def __init__(
        self,
        open_wire: Callable[[float], Wire],
        turnaround: float,
        reply_timeout: float,
        byte_time: float = 0.0,
        place: str = "line",
        framing: LineFraming = RTU_LINE,
        latency: float = 0.0,
    ) -> None:
        """open_wire: see `Bus`. turnaround: s of silence between two frames. reply_timeout: s, see the class.

        byte_time: s on the wire for each byte of both frames, which comes to it. place: as messages say it. framing: of
        all that is on the line. latency: expected of its adapter, s.
        """
        super().__init__(open_wire)
        self.place = place
        self.framing = framing
        self.turnaround = turnaround
        self._latency = latency
        self._reply_timeout = reply_timeout
        self.byte_time = byte_time
        self._waiting: deque[tuple[Exchange, bytes]] = deque()
        self._asked: Exchange | None = None
        self._asker: Exchange | None = None
        """the exchange of the request, awaited or not"""
        self._message = b""
        """its message"""
        self._input = b""
        self._until = -math.inf
        """when the reply is given up, or the line may be used again, s"""
        self._missing: list[_Missing] = []
        """in the order of their requests"""
        self._distrusted = False
        """whether the awaited reply may be such a late one"""

    @property
    def protocol(self) -> str:
        """See `Bus.protocol`."""
        return self.framing.description

    def leave(self, member: Exchange) -> None:
        """See `Bus.leave`; a waiting request is not sent any more."""
        self._forget(member)
        super().leave(member)

    def begin(self, exchange: Exchange, message: bytes) -> bool:
        """See `Bus.begin`: the request is sent at once if the line is free, else at its turn."""
        self._forget(exchange)
        if not self.connected:
            return False
        exchange.reply = b""
        now, silent = self.now(), exchange.presence.silent
        held = self.held_until(exchange, message)
        if self._wire is not None and self.idle and now >= self._until and now >= held and not silent:
            self._put(self._wire, now, exchange, message)
            return True
        if exchange.follows:
            self._waiting.appendleft((exchange, message))
        else:
            self._waiting.append((exchange, message))
        if not silent:
            self.advance(now)
        return True

    def collect(self, exchange: Exchange, deadline: float) -> bytes | None:
        """See `Bus.collect`; earlier requests have their turn first."""
        if not exchange.reply:
            advance_all((self,), deadline, exchange)
        if self._asked is exchange and exchange.presence.silent:
            self._give_up(self.now())
        self._forget(exchange)
        reply, exchange.reply = exchange.reply, b""
        return reply or None

    def held_until(self, exchange: Exchange, message: bytes) -> float:
        """See `Bus.held_until`."""
        if not self._missing:
            return -math.inf
        ours, range_ = self.framing.reply_head(message, exchange.reply_length), self.framing.read_range(message)
        return max((one.until for one in self._missing if one.head == ours and one.read != range_), default=-math.inf)

    @property
    def latency(self) -> float:
        """By how much its adapter delays each reply, s: of the open port, or as it is expected to be then."""
        return self.wire.latency if isinstance(self.wire, SerialWire) else self._latency

    def time_of(self, size: int, delays: Sequence[float]) -> float:
        """Time of exchanges that are `size` bytes in all, each with a reply delay (s), and the silences between, s."""
        return size * self.byte_time + sum(delays) + (len(delays) - 1) * self.turnaround

    @property
    def idle(self) -> bool:
        """Whether there is neither a pending nor a waiting request."""
        return self._asked is None and not self._waiting

    def overhear(self) -> bytes:
        """All bytes since the last call, on a line where a device sends by itself and is not asked.

        The amount is limited, for a device that never stops.
        """
        received, wire = b"", self._wire
        while wire is not None and self.idle and len(received) < _MAX_OVERHEARD and (data := wire.receive(-math.inf)):
            received += data
        return received

    def advance(self, now: float) -> float:
        """Proceed at `now` (s) without waiting; returns the time (s) of the next step unless bytes arrive."""
        wire = self._wire
        if wire is None:
            return math.inf
        if self._asked is None:
            self._clear_up(wire, now)
        else:
            self._listen(wire, now)
            if self._asked is not None and self._asked.transaction < 0 and any(one.urgent for one, _ in self._waiting):
                self._give_up(now)
        if self._asked is None and now >= self._until and self._due(now):
            self._send(wire, now)
        if self._asked is not None:
            return self._until
        if not self._waiting:
            return math.inf
        return max(self._until, min(-math.inf if one.urgent else self.held_until(one, m) for one, m in self._waiting))

    def _due(self, now: float) -> list[tuple[Exchange, bytes]]:
        """The requests that may be sent: all, or only stops while a late reply could look like theirs."""
        return [entry for entry in self._waiting if entry[0].urgent or now >= self.held_until(*entry)]

    def _clear_up(self, wire: Wire, now: float) -> None:
        """Drop what arrives while no reply is awaited, such as a late reply."""
        if self._waiting and (data := wire.receive(-math.inf)):
            self._until = max(self._until, now + _REST_OF_IT * self.byte_time)
            self._drop(data, self._waiting[0][0].counters)

    def _send(self, wire: Wire, now: float) -> None:
        """Send the next request, after dropping unexpected bytes."""
        # the first of those that answer, a stop before others
        turn = min(self._due(now), key=lambda entry: (entry[0].presence.silent, not entry[0].urgent))
        self._waiting.remove(turn)
        self._put(wire, now, *turn)

    def _put(self, wire: Wire, now: float, exchange: Exchange, message: bytes) -> None:
        """Send a request, and take the reply of a device in this process at once."""
        self._distrusted = now < self.held_until(exchange, message)
        if data := wire.receive(-math.inf):
            self._drop(data, exchange.counters)
        self._input = b""
        frame = self.framing.frame(message)
        if wire.send(frame):
            self._asked, self._asker, self._message = exchange, exchange, message
            exchange.carried = now + len(frame) * self.byte_time
            reply = (exchange.reply_length + self.framing.overhead) * self.byte_time
            self._until = exchange.carried + reply + self._reply_timeout
            if wire.descriptor < 0:
                self._listen(wire, now)

    def _listen(self, wire: Wire, now: float) -> None:
        """Read arrived bytes, and end the pending exchange if it is answered or given up."""
        exchange = self._asked
        if exchange is None:
            return
        data = wire.receive(-math.inf)
        if data:
            self._input += data
            if self._found(exchange):
                if self._asker is not None and exchange.reply:
                    self._asker.presence.silent = False
                    taken = now - exchange.carried - (len(exchange.reply) + self.framing.overhead) * self.byte_time
                    self._asker.presence.delays.append(taken)
                    if self._missing:
                        self._note_answer(now, exchange.reply)
                self._rest(now)
                if exchange.reply and exchange.answered is not None:
                    exchange.answered(exchange.reply)
                return
        if now >= self._until or not wire.connected:
            self._give_up(now)

    def _give_up(self, now: float) -> None:
        """Give up the unit that does not answer."""
        asked, asker, framing = self._asked, self._asker, self.framing
        if asked is not None and asker is not None:
            asker.presence.silent = True
            several = asked.acyclic or len({member.unit for member in self._members}) > 1
            read = None if several and not framing.names_sender else framing.read_range(self._message)
            head, until = framing.reply_head(self._message, asked.reply_length), now + _LATE_REPLY * self._reply_timeout
            self._missing = [*(one for one in self._missing if now < one.until), _Missing(head, read, until)]
        self._rest(now)

    def _note_answer(self, now: float, reply: bytes) -> None:
        """Note the reply to a request that was repeated: it is the first one's or its own, and another may follow."""
        soon = now + self._reply_timeout
        self._missing = [
            one._replace(until=min(one.until, soon)) if reply.startswith(one.head) else one
            for one in self._missing
            if now < one.until
        ]

    def _drop(self, data: bytes, counters: Counters) -> None:
        """Count bytes that answer no request; a late reply is not missing any more then."""
        counters.rejected += 1
        if self._is_late(data):
            counters.belated += 1
            if (late := next((one for one in self._missing if data.startswith(one.head)), None)) is not None:
                self._missing.remove(late)

    def _is_late(self, data: bytes) -> bool:
        """Whether bytes begin as a reply that is missing."""
        return self.framing.is_late(data, (one.head for one in self._missing))

    def _found(self, exchange: Exchange) -> bool:
        """Whether the input has the reply, or cannot get it any more; other bytes are dropped and counted."""
        found = self.framing.scan(self._input, self._message, exchange.reply_length)
        if found is None:
            return False
        counters = exchange.counters
        late = bool(self._missing) and self._is_late(self._input)
        if late and not found.reply and not found.damaged:  # this request's own may still come
            self._drop(self._input, counters)
            self._input = b""
            return False
        exchange.reply = b"" if self._distrusted else found.reply
        if found.damaged:
            counters.crc += 1
        elif not exchange.reply or found.more or exchange.transaction < 0:
            counters.rejected += 1
            counters.belated += late or (bool(exchange.reply) and exchange.transaction < 0)  # nobody waits any more
        counters.rejected += found.belated
        counters.belated += found.belated
        return True

    def _rest(self, now: float) -> None:
        """End the exchange; the line then stays silent for the turnaround."""
        self._asked = None
        self._input = b""
        self._until = now + self.turnaround

    def _forget(self, exchange: Exchange) -> None:
        """Drop a unit's request; if already sent, its answer is still waited for before the next request."""
        if self._waiting:
            self._waiting = deque(entry for entry in self._waiting if entry[0] is not exchange)
        if self._asked is exchange and self.framing.names_request:
            self._rest(self.now())
        elif self._asked is exchange:
            self._asked = Exchange(exchange.unit, exchange.counters)
            self._asked.reply_length, self._asked.acyclic = exchange.reply_length, exchange.acyclic
            self._asked.transaction = -1

    def _close(self) -> None:
        """See `Bus`."""
        super()._close()
        self._waiting.clear()
        self._missing.clear()
        self._asked = self._asker = None
        self._input = b""
        self._until = -math.inf


def advance_all(
    lines: Sequence[HalfDuplexBus],
    deadline: float,
    wanted: Exchange | None = None,
    meanwhile: Callable[[], None] | None = None,
) -> None:
    """Advance several lines until all are idle, `wanted` has its reply, or `deadline` (s) has passed.

    The lines' wires are on one clock. meanwhile: called before each wait, for work that the wires' time hides.
    """
    busy = [line for line in lines if not line.idle]
    if not busy:
        return
    now = busy[0].now()
    untils = {line: line.advance(now) for line in busy}
    while True:
        untils = {line: until for line, until in untils.items() if not line.idle}
        if not untils or now >= deadline or (wanted is not None and wanted.reply):
            return
        if meanwhile is not None:
            meanwhile()
        until = min(*untils.values(), deadline)
        first, *others = [line.wire for line in untils if line.wire is not None]
        arrived = first.wait(until, others)
        now = first.now() if arrived else max(first.now(), until)
        for line, until in untils.items():
            if until <= now or line.wire in arrived:
                untils[line] = line.advance(now)
