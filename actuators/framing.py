"""How a message is put on a wire: the header of Modbus TCP, or the checksum and the silences of Modbus RTU.

A message is a unit id and a PDU (function code, data); the codecs know nothing of what is put around it.
"""

import struct

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
