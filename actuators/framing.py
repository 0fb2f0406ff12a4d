"""Framing of messages on a wire: Modbus TCP's header, checksums and silences of a shared line."""

import struct
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import NamedTuple

from fastcrc.crc16 import modbus as checksum

MBAP = struct.Struct(">HHH")
"""Header of Modbus TCP before the message: transaction, protocol 0, length of the message."""
HEADER = struct.Struct(">HHHB")
"""The same with the message's first byte, the unit id."""
EXCEPTION_LENGTH = 3
"""Bytes of a message that reports an exception: unit, function code with its top bit, exception code."""

EXCEPTIONS = {
    1: "illegal function",
    2: "illegal data address",
    3: "illegal data value",
    4: "device failure",
    5: "acknowledge",
    6: "device busy",
    8: "memory parity error",
    10: "gateway path unavailable",
    11: "gateway target did not respond",
}
"""Exception codes in words."""


def exception_of(message: bytes) -> int | None:
    """Code of a message that reports an exception, None if it is none."""
    return message[2] if len(message) == EXCEPTION_LENGTH and message[1] & 0x80 else None


def exception_text(code: int) -> str:
    """Exception code and its meaning."""
    return f"exception {code:02X} ({EXCEPTIONS.get(code, 'unknown')})"


CRC_LENGTH = 2


def crc16(data: bytes) -> bytes:
    """Checksum of Modbus RTU, as it follows the message on the wire (Modbus over Serial Line V1.02, 6.2.2)."""
    return checksum(data).to_bytes(2, "little")


def silence(baud: int, bits: int = 11) -> float:
    """Silence that ends a frame of Modbus RTU, s: 3.5 characters of `bits`, 1.75 ms above 19200 baud."""
    return 1.75e-3 if baud > 19200 else 3.5 * bits / baud


_LONGEST = 254  # bytes of a message of Modbus TCP
_ECHOED = (5, 6, 15, 16)  # functions whose reply repeats where was written
_READING = (1, 2, 3, 4, 23)  # functions whose reply has what was read, and not from where
_WHAT_IS_READ = 6  # bytes of a request by one of these: unit, function, first address, count


class ReplyScan(NamedTuple):
    """Result of a scan for a reply, once it has arrived or cannot arrive any more.

    reply: its message, b"" if there is none. more: whether unexpected bytes came as well. damaged: whether the head is
    that of the reply, but the checksum is wrong. belated: replies to earlier requests that came before it.
    """

    reply: bytes
    more: bool = False
    damaged: bool = False
    belated: int = 0


class LineFraming(ABC):
    """The frames of one protocol, on the side that asks."""

    @property
    @abstractmethod
    def description(self) -> str:
        """Unique text of the framing."""

    @property
    @abstractmethod
    def overhead(self) -> int:
        """Bytes of a frame besides its message, for request and reply."""

    @property
    @abstractmethod
    def names_sender(self) -> bool:
        """Whether a reply names its sender."""

    @property
    @abstractmethod
    def names_request(self) -> bool:
        """Whether a reply names its request, so that a late one is never taken for another."""

    @abstractmethod
    def frame(self, message: bytes) -> bytes:
        """The frame of a request's message."""

    @abstractmethod
    def scan(self, data: bytes, message: bytes, length: int) -> ReplyScan | None:
        """Search the reply to `message` in all bytes since; None while it can still arrive.

        length: bytes of a good reply's message.
        """

    def reply_head(self, message: bytes, length: int) -> bytes:
        """The bytes with which a good reply of `length` bytes to `message` begins; none where it can be any."""
        del message, length
        return b""

    def read_range(self, message: bytes) -> bytes:
        """What a message reads, where replies to it and to another one can begin alike; b"" where they cannot."""
        del message
        return b""

    def is_late(self, data: bytes, heads: Iterable[bytes]) -> bool:
        """Whether bytes begin as a reply to a request that was given up; heads: of those replies."""
        return any(data.startswith(head) for head in heads)


def _right(frame: bytes) -> bool:
    return crc16(frame[:-CRC_LENGTH]) == frame[-CRC_LENGTH:]


class RtuLine(LineFraming):
    """Modbus RTU: a checksum after every message, which begins with unit and function."""

    description = "Modbus RTU"
    overhead = CRC_LENGTH
    names_sender = True
    names_request = False

    def reply_head(self, message: bytes, length: int) -> bytes:
        """See `LineFraming.reply_head`: unit and function, and how many bytes were read."""
        return message[:2] + bytes((length - 3 & 0xFF,)) if message[1] in _READING else message[:2]

    def read_range(self, message: bytes) -> bytes:
        """See `LineFraming.read_range`: unit, function, address and count."""
        return message[:_WHAT_IS_READ] if message[1] in _READING else b""

    def is_late(self, data: bytes, heads: Iterable[bytes]) -> bool:
        """See `LineFraming.is_late`: any from the same unit, as it may be an exception or damaged."""
        return any(data.startswith(head[:1]) for head in heads)

    def frame(self, message: bytes) -> bytes:
        """See `LineFraming.frame`."""
        return message + crc16(message)

    def scan(self, data: bytes, message: bytes, length: int) -> ReplyScan | None:
        """See `LineFraming.scan`: an exception is a reply too; a reply to a write to other registers is not."""
        size = length + CRC_LENGTH
        unit, function = message[0], message[1]
        good = message[:4] if function in _ECHOED else message[:2]
        if len(data) == size and data.startswith(good) and _right(data):
            return ReplyScan(data[:-CRC_LENGTH])
        heads = (
            (good, size),
            (bytes((unit, function | 0x80)), EXCEPTION_LENGTH + CRC_LENGTH),
        )
        damaged = False
        for start in range(len(data)):
            for head, size in heads:
                frame = data[start : start + size]
                if not frame.startswith(head[: len(frame)]):
                    continue
                if len(frame) < size:
                    return None  # it may yet become one
                if _right(frame):
                    return ReplyScan(frame[:-CRC_LENGTH], more=len(data) > size)
                damaged = True
        return None if len(data) < heads[0][1] else ReplyScan(b"", damaged=damaged)


_LATE = 256  # transactions before the present one, a reply to which is a late one


class MbapLine(LineFraming):
    """Modbus TCP, one transaction at a time, for servers that do not support more."""

    description = "Modbus TCP, one transaction at a time"
    overhead = MBAP.size
    names_sender = True
    names_request = True

    def __init__(self) -> None:
        """No transaction yet."""
        self._transaction = 0

    def frame(self, message: bytes) -> bytes:
        """See `LineFraming.frame`."""
        self._transaction = self._transaction % 0xFFFF + 1
        return MBAP.pack(self._transaction, 0, len(message)) + message

    def is_late(self, data: bytes, heads: Iterable[bytes] = ()) -> bool:
        """See `LineFraming.is_late`: known by the transaction, that of the last request or one before it."""
        del heads
        if len(data) < HEADER.size:
            return False
        transaction, protocol, _, _ = HEADER.unpack_from(data)
        return not protocol and (self._transaction - transaction) % 0xFFFF <= _LATE

    def scan(self, data: bytes, message: bytes, length: int) -> ReplyScan | None:
        """See `LineFraming.scan`: replies to other transactions are skipped, and counted if they are late ones."""
        del message
        more, belated = False, 0
        while len(data) >= HEADER.size:
            transaction, protocol, size, _ = HEADER.unpack_from(data)
            ours = transaction == self._transaction
            if protocol or not 2 <= size <= _LONGEST or (ours and size not in (length, EXCEPTION_LENGTH)):
                return ReplyScan(b"")
            end = MBAP.size + size
            if len(data) < end:
                return None
            if ours:
                return ReplyScan(data[MBAP.size : end], more=more or len(data) > end, belated=belated)
            late = self.is_late(data)
            data, more, belated = data[end:], more or not late, belated + late
        return None


RTU_LINE = RtuLine()
