"""How a message is put on a wire: the header of Modbus TCP, or the checksum and the silences of Modbus RTU.

A message is a unit id and a PDU (function code, data); the codecs know nothing of what is put around it.
"""

import struct

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


def exception_text(code: int) -> str:
    """Exception code and its meaning."""
    return f"exception {code:02X} ({EXCEPTIONS.get(code, 'unknown')})"
