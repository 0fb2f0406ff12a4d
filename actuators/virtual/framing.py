"""How a virtual device finds requests among the bytes that it is sent, and puts its replies on the wire."""

from collections.abc import Mapping
from typing import Protocol

from actuators.codec import READ_WRITE, WRITE_MULTIPLE, WRITE_SINGLE
from actuators.framing import CRC_LENGTH, HEADER, MBAP, crc16

_MIN_LENGTH, _MAX_LENGTH = 2, 254  # of the MBAP length field


class Framing(Protocol):
    """The frames of one protocol; a message is what is in them, for Modbus a unit id and a PDU."""

    def length(self, received: bytes) -> int:
        """Length of the first frame of what was received; 0 = not whole yet, -1 = this is not the start of one."""

    def message(self, frame: bytes) -> bytes:
        """The message in a request's frame, b"" where it is none."""

    def reply(self, message: bytes, request: bytes) -> bytes:
        """The frame of a reply's message to the request in a frame."""


class MbapFraming:
    """Modbus TCP: a header with a transaction id, which the reply repeats, and the length."""

    def length(self, received: bytes) -> int:
        """See `Framing.length`."""
        if len(received) < HEADER.size:
            return 0
        _, protocol, length, _ = HEADER.unpack_from(received)
        if protocol or not _MIN_LENGTH <= length <= _MAX_LENGTH:
            return -1
        size: int = length + MBAP.size
        return size if len(received) >= size else 0

    def message(self, frame: bytes) -> bytes:
        """See `Framing.message`."""
        size = len(frame) - MBAP.size
        return frame[6:] if size > 1 and frame[2:6] == b"\0\0" + size.to_bytes(2, "big") else b""

    def reply(self, message: bytes, request: bytes) -> bytes:
        """See `Framing.reply`."""
        return request[:4] + len(message).to_bytes(2, "big") + message


class RtuFraming:
    """Modbus RTU: a checksum. Frames have the length that their function code says.

    One with a function code that is not known ends where its checksum is right.
    """

    _COUNT_AT: Mapping[int, int] = {15: 6, WRITE_MULTIPLE: 6, READ_WRITE: 10}
    """function code → place of the number of bytes that follow it"""

    def __init__(self, fixed: Mapping[int, int] | None = None) -> None:
        """fixed: length of the frames of a device's own function codes, with unit id and checksum."""
        self._fixed = {function: 8 for function in (1, 2, 3, 4, 5, WRITE_SINGLE)} | dict(fixed or {})

    def length(self, received: bytes) -> int:
        """See `Framing.length`."""
        if len(received) < 2 + CRC_LENGTH:
            return 0
        function = received[1]
        if function in self._COUNT_AT:
            place = self._COUNT_AT[function]
            size = place + 1 + received[place] + CRC_LENGTH if len(received) > place else 0
        elif function in self._fixed:
            size = self._fixed[function]
        else:
            size = next((n for n in range(2 + CRC_LENGTH, len(received) + 1) if self.message(received[:n])), 0)
            return size or (0 if len(received) < _MAX_LENGTH else -1)
        if not size or len(received) < size:
            return 0
        return size if self.message(received[:size]) else -1

    def message(self, frame: bytes) -> bytes:
        """See `Framing.message`."""
        data, checksum = frame[:-CRC_LENGTH], frame[-CRC_LENGTH:]
        return data if len(data) >= 2 and crc16(data) == checksum else b""

    def reply(self, message: bytes, request: bytes) -> bytes:
        """See `Framing.reply`."""
        return message + crc16(message)


MBAP_FRAMING = MbapFraming()
RTU_FRAMING = RtuFraming()
