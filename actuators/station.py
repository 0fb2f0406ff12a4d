"""One unit on a bus: its cyclic exchange, and register accesses with a time limit, encoded and decoded by pymodbus."""

import contextlib
import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from pymodbus.exceptions import ModbusException
from pymodbus.pdu import DecodePDU, ExceptionResponse, ModbusPDU
from pymodbus.pdu.bit_message import (
    ReadCoilsRequest,
    ReadDiscreteInputsRequest,
)
from pymodbus.pdu.register_message import (
    ReadHoldingRegistersRequest,
    ReadHoldingRegistersResponse,
    ReadInputRegistersRequest,
    ReadInputRegistersResponse,
    WriteMultipleRegistersRequest,
    WriteMultipleRegistersResponse,
    WriteSingleRegisterRequest,
    WriteSingleRegisterResponse,
)

from actuators.bus import Bus, Exchange, PipelinedBus, Presence
from actuators.codec import (
    READ_COILS,
    READ_DISCRETE,
    READ_HOLDING,
    WRITE_COIL,
    WRITE_MULTIPLE,
    WRITE_SINGLE,
    Block,
    FixedCodec,
    written,
)
from actuators.errors import ConnectError, ProtocolError
from actuators.framing import exception_of, exception_text
from actuators.interface import Counters
from actuators.profile import IdentityMap, Number, WordOrder
from actuators.register_map import MappedCodec

_DECODER = DecodePDU(is_server=False)


@dataclass(frozen=True, slots=True)
class IdentityRead:
    """Identity of a device, by name in the identity map. numbers: raw, of those that are numbers."""

    texts: dict[str, str]
    numbers: dict[str, int]


class Station:
    """A device's place on a bus."""

    def __init__(self, bus: Bus, label: str, unit: int, counters: Counters, messages: int = 1) -> None:
        """label: how messages call the device, for example "drive 3 at 127.0.0.1:5023". counters: where to count.

        messages: most that a cycle's exchange has.
        """
        self.bus = bus
        self.label = label
        self._unit = unit
        self._counters = counters
        presence = Presence()
        self._exchanges = [Exchange(unit, counters, presence) for _ in range(messages)]
        self._exchange = self._exchanges[-1]
        self._acyclic = Exchange(unit, counters, presence)
        self._requests: Sequence[bytes] = ()
        self._sent = False

    @property
    def connected(self) -> bool:
        """True between `open` and `close`, while neither side has closed the wire."""
        return self.bus.joined(self._exchange)

    @property
    def answered(self) -> bool:
        """Whether the reply to `begin`, or to the last message of `begin_all`, is there."""
        return self._sent and self._exchange.reply != b""

    @property
    def reply_delay(self) -> float | None:
        """Median of the last reply delays on a shared line, s; None without any, or on a wire whose clock stands."""
        delays = [delay for delay in self._exchange.presence.delays if math.isfinite(delay)]
        return max(0.0, median(delays)) if delays else None

    def open(self, timeout: float) -> None:
        """Join the bus within `timeout` s. Raises ConnectError."""
        for exchange in (*self._exchanges, self._acyclic):
            self.bus.join(exchange, timeout)

    def close(self) -> None:
        """Leave the bus; idempotent."""
        self._sent = False
        for exchange in (*self._exchanges, self._acyclic):
            self.bus.leave(exchange)

    def begin_all(self, replies: Sequence[int], requests: Sequence[bytes], *, urgent: bool = False) -> None:
        """Send a cycle's messages as `begin` does one; they count as one.

        replies: bytes of each good reply's message. urgent: a stop of a drive that has torque, which goes first where
        several share a line.
        """
        self._requests = requests
        self._sent = True
        for place, (request, length) in enumerate(zip(requests, replies, strict=True)):
            self._sent = self.ask(place, request, length, urgent=urgent) and self._sent
        if self._sent:
            self._counters.sent += 1

    def finish_all(self, codec: FixedCodec, deadline: float) -> tuple[int | float, ...] | None:
        """As `finish`, of `begin_all`: the feedback, if every message before it was taken as well."""
        done = self._sent
        for exchange, request in zip(self._exchanges[:-1], self._requests[:-1], strict=True):
            reply = self.bus.collect(exchange, deadline) if done else None
            answer = None if reply is None else written(request, reply)
            if done and answer != 0:
                done = False
                if reply is None:
                    self._counters.late += 1
                else:
                    self._reject(answer)
        self._sent = self._sent and done
        return self.finish(codec, deadline)

    def finish_each(self, codec: MappedCodec, deadline: float) -> tuple[int | float, ...] | None:
        """As `finish`, of `begin_all` where several replies have feedback: all of it, if every reply is good."""
        sent, self._sent = self._sent, False
        parts: list[bytes] = []
        for place, (exchange, request) in enumerate(zip(self._exchanges, self._requests, strict=True)):
            reply = self.bus.collect(exchange, deadline) if sent else None
            if not sent or reply is None:
                self._counters.late += sent
                return None
            part = codec.part(place, request, reply)
            if not isinstance(part, bytes):
                self._reject(part)
                return None
            parts.append(part)
        return codec.decode(parts[codec.reads_from :])

    def begin(self, codec: FixedCodec, request: bytes, *, urgent: bool = False) -> None:
        """Send the cyclic request of `codec` without waiting, counting it if it could be sent; see `begin_all`."""
        self._exchange.urgent = urgent
        self._exchange.reply_length = codec.reply_length
        self._sent = self.bus.begin(self._exchange, request)
        if self._sent:
            self._counters.sent += 1

    def begun(self, codec: FixedCodec, transaction: int | None, received: bytes) -> None:
        """Go on as after `begin`, for a request that another has sent on a bus where all talk at once.

        transaction: its id, None if it could not be sent. received: what has arrived since.
        """
        self._sent = transaction is not None
        if transaction is not None and isinstance(self.bus, PipelinedBus):
            self._counters.sent += 1
            self._exchange.urgent, self._exchange.reply_length = False, codec.reply_length
            self.bus.expect(self._exchange, transaction, received)

    def ask(
        self,
        place: int,
        message: bytes,
        reply_length: int,
        *,
        urgent: bool = False,
        follows: bool = False,
        answered: Callable[[bytes], None] | None = None,
    ) -> bool:
        """Send one of a cycle's messages by itself, without counting it; whether it could be sent.

        place: which of the exchanges it is. reply_length: bytes of a good reply's message. urgent: see `begin_all`.
        follows, answered: see `Exchange`, on a line.
        """
        exchange = self._exchanges[place]
        exchange.urgent, exchange.follows, exchange.answered = urgent, follows, answered
        exchange.reply_length = reply_length
        return self.bus.begin(exchange, message)

    def answer(self, place: int, deadline: float) -> bytes | None:
        """The message that answers `ask`, None if it is not there at `deadline` (s)."""
        reply = self.bus.collect(self._exchanges[place], deadline)
        self._exchanges[place].answered = None
        return reply

    def ask_acyclic(self, message: bytes, reply_length: int) -> None:
        """Send an acyclic message behind the cycle's, on a bus where all talk at once."""
        self._acyclic.reply_length = reply_length
        self.bus.begin(self._acyclic, message)

    def receive_pending(self) -> None:
        """Take what has arrived between two cycles, on a bus where all talk at once."""
        if isinstance(self.bus, PipelinedBus):
            self.bus.receive_pending(self._acyclic)

    @property
    def acyclic_reply(self) -> bytes:
        """The message that answers `ask_acyclic`, once, as soon as a cycle has heard it; else nothing."""
        reply, self._acyclic.reply = self._acyclic.reply, b""
        return reply

    def carried_after(self, now: float) -> float:
        """How long after `now`, s on the wire's clock, the last request had reached the device, as far as is known.

        0 where bytes take no time that is known, or the wire's clock does not go.
        """
        after = self._exchange.carried - now
        return after if 0.0 < after < math.inf else 0.0

    def finish(self, codec: FixedCodec, deadline: float) -> tuple[int | float, ...] | None:
        """Return the raw values of the reply to `begin`, or None after counting why there are none."""
        if not self._sent:
            return None
        self._sent = False
        message = self.bus.collect(self._exchange, deadline)
        if message is None:
            self._counters.late += 1
            return None
        values = codec.decode(message)
        if values is None:
            self._reject(codec.exception_code(message))
        return values

    def refuse(self, message: bytes) -> None:
        """Count a message that is no answer, or that reports an exception."""
        self._reject(exception_of(message))

    def _reject(self, code: int | None) -> None:
        """Count a reply that reports an exception, or None: one that answers nothing."""
        if code is None:
            self._counters.rejected += 1
        else:
            self._counters.exceptions += 1
            self._counters.exception_code = code

    def read(self, address: int, count: int, timeout: float, function: int = READ_HOLDING) -> list[int]:
        """Read `count` registers by FC3 or FC4 within `timeout` s. Raises ConnectError, ProtocolError."""
        holding = function == READ_HOLDING
        request = (ReadHoldingRegistersRequest if holding else ReadInputRegistersRequest)(address=address, count=count)
        what = f"read of registers {address}..{address + count - 1}"
        reply = self._transact(request, 3 + 2 * count, timeout, what)
        kind = ReadHoldingRegistersResponse if holding else ReadInputRegistersResponse
        if not isinstance(reply, kind) or len(reply.registers) != count:
            raise ProtocolError(f"{self.label} answered a {what} with something else: {reply}")
        return list(reply.registers)

    def read_data(self, function: int, address: int, count: int, timeout: float) -> bytes:
        """Read registers or bits by FC1, FC2, FC3 or FC4 within `timeout` s, as bytes on the wire.

        Raises ConnectError, ProtocolError.
        """
        if function not in (READ_COILS, READ_DISCRETE):
            return b"".join(word.to_bytes(2, "big") for word in self.read(address, count, timeout, function))
        kind, bits = (ReadCoilsRequest, "coils") if function == READ_COILS else (ReadDiscreteInputsRequest, "inputs")
        what, size = f"read of {bits} {address}..{address + count - 1}", (count + 7) // 8
        request = kind(address=address, count=count)
        message = bytes((self._unit, function)) + request.encode()
        self._check_refusal(answer := self.request(message, 3 + size, timeout, what), what)
        if len(answer) != 3 + size or answer[:3] != bytes((self._unit, function, size)):
            raise ProtocolError(f"{self.label} answered a {what} with something else: {answer.hex(' ')}")
        return answer[3:]

    def _check_refusal(self, answer: bytes, what: str) -> None:
        if (code := exception_of(answer)) is not None:
            raise ProtocolError(f"{self.label} refused a {what}: {exception_text(code)}")

    def write(self, address: int, values: list[int], timeout: float, function: int = WRITE_MULTIPLE) -> None:
        """Write consecutive registers by FC16 or, each by itself, by FC6, each request within `timeout` s.

        Raises ConnectError, ProtocolError.
        """
        if function == WRITE_SINGLE:
            for place, value in enumerate(values, start=address):
                self._write_one(place, value, timeout)
            return
        request = WriteMultipleRegistersRequest(address=address, registers=values)
        what = f"write of registers {address}..{address + len(values) - 1}"
        reply = self._transact(request, 6, timeout, what)
        if (
            not isinstance(reply, WriteMultipleRegistersResponse)
            or reply.address != address
            or reply.count != len(values)
        ):
            raise ProtocolError(f"{self.label} answered a {what} with something else: {reply}")

    def _write_one(self, address: int, value: int, timeout: float) -> None:
        what = f"write of register {address}"
        reply = self._transact(WriteSingleRegisterRequest(address=address, registers=[value]), 6, timeout, what)
        if not isinstance(reply, WriteSingleRegisterResponse) or (reply.address, *reply.registers) != (address, value):
            raise ProtocolError(f"{self.label} answered a {what} with something else: {reply}")

    def write_coil(self, address: int, on: bool, timeout: float) -> None:
        """Write one coil by FC5 within `timeout` s. Raises ConnectError, ProtocolError."""
        self.confirm(
            struct.pack(">BBHH", self._unit, WRITE_COIL, address, 0xFF00 * on), timeout, f"write of coil {address}"
        )

    def confirm(self, request: bytes, timeout: float, what: str) -> None:
        """Send a message that only writes, outside the cycle, and check its confirmation, within `timeout` s.

        what: the access, as messages say it. Raises ConnectError, ProtocolError.
        """
        reply = self.request(request, 6, timeout, what)
        if written(request, reply) != 0:
            self._check_refusal(reply, what)
            raise ProtocolError(f"{self.label} answered a {what} with something else: {reply.hex(' ')}")

    def read_identity(
        self, identity: IdentityMap, order: WordOrder, timeout: float, *, pairs: bool = False
    ) -> "IdentityRead":
        """Read what a profile's identity map names; characters that are not ASCII become "?".

        order: of numbers of more than one word. pairs: whether registers are read by whole pairs. Raises ConnectError,
        ProtocolError.
        """
        words: dict[int, int] = {}
        for first, count in identity.ranges(pairs=pairs):
            words |= dict(enumerate(self.read(first, count, timeout), start=first))
        found = IdentityRead({name: field if isinstance(field, str) else "" for name, field in identity}, {})
        for name, field in identity.read.items():
            inside = range(field.address, field.address + field.words)
            data = b"".join(words[address].to_bytes(2, "big") for address in inside)
            if isinstance(field, Number):
                raw = int(Block([field], order).unpack(data)[0])
                found.numbers[name], found.texts[name] = raw, field.text(raw)
            else:
                found.texts[name] = _decode_text(data)
        return found

    def request(self, message: bytes, length: int, timeout: float, what: str) -> bytes:
        """The reply to a message outside the cycle, within `timeout` s; as bytes, whatever is in them.

        length: bytes of a good reply's message. what: the access, as messages say it. Raises ConnectError.
        """
        if not self.connected:
            raise ConnectError(f"{self.label} is not connected (no {what})")
        self._sent = False
        exchange = self._exchange
        exchange.reply_length, exchange.urgent, exchange.follows, exchange.answered = length, False, False, None
        deadline = max(self.bus.now(), self.bus.held_until(exchange, message)) + timeout
        answer, exchange.acyclic = None, True
        try:
            while answer is None:  # a line gives a late unit up before the deadline: ask again
                if not self.bus.begin(exchange, message):
                    raise ConnectError(f"{self.label} did not take a request (no {what})")
                answer = self.bus.collect(exchange, deadline)
                if not (self.connected and self.bus.now() < deadline):
                    break
        finally:
            exchange.acyclic = False
        if answer is None:
            if not self.connected:
                raise ConnectError(f"{self.label} closed the connection (no reply to {what})")
            raise ConnectError(f"{self.label} did not answer within {timeout:g} s (no reply to {what})")
        return answer

    def _transact(self, request: ModbusPDU, length: int, timeout: float, what: str) -> ModbusPDU:
        message = bytes((self._unit, request.function_code)) + request.encode()
        answer = self.request(message, length, timeout, what)
        reply: ModbusPDU | None = None
        if answer[0] == self._unit:
            with contextlib.suppress(ModbusException):
                reply = _DECODER.decode(answer[1:])
        if reply is None:
            raise ProtocolError(f"{self.label} answered a {what} with a frame that is none: {answer.hex(' ')}")
        if isinstance(reply, ExceptionResponse):
            raise ProtocolError(f"{self.label} refused a {what}: {exception_text(reply.exception_code)}")
        return reply


def _decode_text(data: bytes) -> str:
    return "".join(chr(byte) if 32 <= byte < 127 else "?" for byte in data.rstrip(b"\0 "))
