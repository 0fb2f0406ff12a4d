"""Transactions on one wire: the single owner of its input, output and transaction ids.

The cyclic path sends ready frames and collects their replies; everything else is a register access with a time limit,
encoded and decoded by pymodbus.
"""

import contextlib
import struct

from pymodbus.exceptions import ModbusException
from pymodbus.framer import FramerSocket
from pymodbus.pdu import DecodePDU, ExceptionResponse, ModbusPDU
from pymodbus.pdu.register_message import (
    ReadHoldingRegistersRequest,
    ReadHoldingRegistersResponse,
    WriteMultipleRegistersRequest,
    WriteMultipleRegistersResponse,
)

from actuators.codec import EXCEPTION_LENGTH, HEADER, FixedCodec, exception_text
from actuators.errors import ConnectError, ProtocolError
from actuators.interface import Counters
from actuators.profile import IdentityMap, Text
from actuators.wire import Wire

_START = struct.Struct(">HHH")  # a header without its unit


class ModbusLink:
    """Modbus TCP client side of one device. Transaction ids go on counting across reconnections."""

    def __init__(self, label: str, unit: int, counters: Counters) -> None:
        """label: how messages call the device, for example "drive 3 at 127.0.0.1:5023". counters: where to count."""
        self.label = label
        self._unit = unit
        self._counters = counters
        self._wire: Wire | None = None
        self._input = b""
        self._transaction = 0
        self._framer = FramerSocket(DecodePDU(is_server=False))

    @property
    def connected(self) -> bool:
        """True while a wire is attached and neither side has closed it."""
        return self._wire is not None and self._wire.connected

    def attach(self, wire: Wire) -> None:
        """Use `wire` from now on."""
        self._wire = wire
        self._input = b""

    def close(self) -> None:
        """Close the wire; idempotent."""
        if self._wire is not None:
            self._wire.close()
            self._wire = None
        self._input = b""

    def next_transaction(self) -> int:
        """Return an id that no request had for the last 65534 requests, never 0."""
        self._transaction = self._transaction % 0xFFFF + 1
        return self._transaction

    def send(self, frame: bytes) -> bool:
        """Send a frame without waiting; False if it could not be sent."""
        return self._wire is not None and self._wire.send(frame)

    def collect(self, transaction: int, length: int, deadline: float) -> bytes | None:
        """Return the reply frame of `transaction`, or None if it is not there at `deadline` (s, on the wire's clock).

        length: MBAP length field of a good reply. Replies to other transactions and bytes that are no frame are
        dropped and counted; a cut frame is kept until its rest arrives. The frame's PDU is the caller's to check.
        """
        wire = self._wire
        if wire is None:
            return None
        data = wire.receive(deadline)
        if len(data) == length + 6 and not self._input and data.startswith(_START.pack(transaction, 0, length)):
            return data
        while data:
            self._input += data
            frame = self._take(transaction, length)
            if frame is not None:
                return frame
            # A peer that never stops talking must not hold the caller beyond its deadline.
            data = wire.receive(deadline) if wire.now() < deadline else b""
        return None

    def collect_values(self, codec: FixedCodec, transaction: int, deadline: float) -> tuple[int | float, ...] | None:
        """Return the raw values of the reply of `transaction`, or None after counting why there are none."""
        frame = self.collect(transaction, codec.reply_length, deadline)
        if frame is None:
            self._counters.late += 1
            return None
        values = codec.decode(frame)
        if values is None:
            code = codec.exception_code(frame)
            if code is None:
                self._counters.rejected += 1
            else:
                self._counters.exceptions += 1
                self._counters.exception_code = code
        return values

    def _take(self, transaction: int, length: int) -> bytes | None:
        """Cut the reply of `transaction` out of the input, dropping what stands before it."""
        while len(self._input) >= HEADER.size:
            found, protocol, size, unit = HEADER.unpack_from(self._input)
            if protocol or size not in (length, EXCEPTION_LENGTH) or (unit != self._unit and found != transaction):
                # Not the start of a frame that can be an answer: go on at the next place that looks like ours.
                self._counters.rejected += 1
                ours = self._input.find(transaction.to_bytes(2, "big") + b"\0\0", 1)
                self._input = self._input[ours:] if ours > 0 else b""
                continue
            if len(self._input) < size + 6:
                return None
            frame, self._input = self._input[: size + 6], self._input[size + 6 :]
            if found == transaction:
                if self._input:  # whatever came along cannot answer a request that is not sent yet
                    self._counters.rejected += 1
                    self._input = b""
                return frame
            self._counters.rejected += 1
        return None

    def read(self, address: int, count: int, timeout: float) -> list[int]:
        """Read `count` holding registers within `timeout` s. Raises ConnectError, ProtocolError."""
        request = ReadHoldingRegistersRequest(address=address, count=count)
        what = f"read of registers {address}..{address + count - 1}"
        reply = self._transact(request, 3 + 2 * count, timeout, what)
        if not isinstance(reply, ReadHoldingRegistersResponse) or len(reply.registers) != count:
            raise ProtocolError(f"{self.label} answered a {what} with something else: {reply}")
        return list(reply.registers)

    def write(self, address: int, values: list[int], timeout: float) -> None:
        """Write consecutive registers within `timeout` s. Raises ConnectError, ProtocolError."""
        request = WriteMultipleRegistersRequest(address=address, registers=values)
        what = f"write of registers {address}..{address + len(values) - 1}"
        reply = self._transact(request, 6, timeout, what)
        if (
            not isinstance(reply, WriteMultipleRegistersResponse)
            or reply.address != address
            or reply.count != len(values)
        ):
            raise ProtocolError(f"{self.label} answered a {what} with something else: {reply}")

    def read_texts(self, identity: IdentityMap, timeout: float) -> dict[str, str]:
        """Read all texts of a profile's identity map in one access; characters that are not ASCII become "?"."""
        texts = {name: getattr(identity, name) for name in IdentityMap.model_fields}
        first = min(text.address for text in texts.values())
        end = max(text.address + text.length for text in texts.values())
        data = b"".join(word.to_bytes(2, "big") for word in self.read(first, end - first, timeout))
        return {name: _decode_text(text, data, first) for name, text in texts.items()}

    def _transact(self, request: ModbusPDU, length: int, timeout: float, what: str) -> ModbusPDU:
        wire = self._wire
        request.dev_id = self._unit
        request.transaction_id = self.next_transaction()
        if wire is None or not wire.connected:
            raise ConnectError(f"{self.label} is not connected (no {what})")
        if not self.send(self._framer.buildFrame(request)):
            raise ConnectError(f"{self.label} did not take a request (no {what})")
        frame = self.collect(request.transaction_id, length, wire.now() + timeout)
        if frame is None:
            if not self.connected:
                raise ConnectError(f"{self.label} closed the connection (no reply to {what})")
            raise ConnectError(f"{self.label} did not answer within {timeout:g} s (no reply to {what})")
        reply: ModbusPDU | None = None
        with contextlib.suppress(ModbusException):
            reply = self._framer.handleFrame(frame, self._unit, request.transaction_id)[1]
        if reply is None:
            raise ProtocolError(f"{self.label} answered a {what} with a frame that is none: {frame.hex(' ')}")
        if isinstance(reply, ExceptionResponse):
            raise ProtocolError(f"{self.label} refused a {what}: {exception_text(reply.exception_code)}")
        return reply


def _decode_text(text: Text, data: bytes, first: int) -> str:
    start = 2 * (text.address - first)
    raw = data[start : start + 2 * text.length]
    return "".join(chr(byte) if 32 <= byte < 127 else "?" for byte in raw.rstrip(b"\0 "))
