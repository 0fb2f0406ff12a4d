"""How a message is put on a wire and told from others: Modbus TCP's header, checksums and silences of a shared line."""

import struct
from typing import NamedTuple, Protocol

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


class ReplyScan(NamedTuple):
    """What was found where a reply is expected, once it is there or can come no more.

    reply: its message, b"" where there is none. more: bytes that belong to nobody came as well. damaged: what came was
    meant to be the reply, by its head, but not by its checksum.
    """

    reply: bytes
    more: bool = False
    damaged: bool = False


class LineFraming(Protocol):
    """The frames of one protocol."""

    @property
    def said(self) -> str:
        """What it is, in words that tell it from every other."""

    @property
    def overhead(self) -> int:
        """Bytes of a frame beside its message, of a request and of a reply."""

    @property
    def names_sender(self) -> bool:
        """Whether a reply says whose it is."""

    @property
    def tells_requests(self) -> bool:
        """Whether a reply says which request it answers: one that comes late is never taken for another."""

    def frame(self, message: bytes) -> bytes:
        """The frame of a request's message."""

    def look(self, data: bytes, message: bytes, length: int) -> ReplyScan | None:
        """What there is of the reply to `message` in all that came since; None while it can still come.

        length: bytes of a good reply's message.
        """


def _right(frame: bytes) -> bool:
    return crc16(frame[:-CRC_LENGTH]) == frame[-CRC_LENGTH:]


class RtuLine:
    """Modbus RTU: a checksum behind every message, which begins with the unit that is asked and the function."""

    said = "Modbus RTU"
    overhead = CRC_LENGTH
    names_sender = True
    tells_requests = False

    def frame(self, message: bytes) -> bytes:
        """See `LineFraming.frame`."""
        return message + crc16(message)

    def look(self, data: bytes, message: bytes, length: int) -> ReplyScan | None:
        """See `LineFraming.look`: an exception is a reply as well; one to a write of another place is not."""
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


class MbapLine:
    """Modbus TCP, one transaction at a time, for servers that do not bear more."""

    said = "Modbus TCP, one transaction at a time"
    overhead = MBAP.size
    names_sender = True
    tells_requests = True

    def __init__(self) -> None:
        """No transaction yet."""
        self._transaction = 0

    def frame(self, message: bytes) -> bytes:
        """See `LineFraming.frame`."""
        self._transaction = self._transaction % 0xFFFF + 1
        return MBAP.pack(self._transaction, 0, len(message)) + message

    def look(self, data: bytes, message: bytes, length: int) -> ReplyScan | None:
        """See `LineFraming.look`: replies to other transactions are passed over."""
        del message
        more = False
        while len(data) >= HEADER.size:
            transaction, protocol, size, _ = HEADER.unpack_from(data)
            ours = transaction == self._transaction
            if protocol or not 2 <= size <= _LONGEST or (ours and size not in (length, EXCEPTION_LENGTH)):
                return ReplyScan(b"")
            end = MBAP.size + size
            if len(data) < end:
                return None
            if ours:
                return ReplyScan(data[MBAP.size : end], more=more or len(data) > end)
            data, more = data[end:], True
        return None


RTU_LINE = RtuLine()
