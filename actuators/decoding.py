"""What a frame of Modbus says, in words, for whoever reads along."""

from collections.abc import Callable

from actuators.framing import CRC_LENGTH, HEADER, MBAP, crc16, exception_text

_READS = {1: "coils", 2: "inputs", 3: "registers", 4: "input registers"}
_LONGEST = 254


def tcp_frame_text(data: bytes, *, sent: bool) -> str:
    """What a frame of Modbus TCP says; sent: to the device."""
    if len(data) < HEADER.size + 1:
        return f"{len(data)} bytes, no frame"
    transaction, protocol, size, _ = HEADER.unpack_from(data)
    if protocol or size != len(data) - MBAP.size:
        return "no frame of Modbus TCP"
    return f"transaction {transaction}, {_message(data[MBAP.size :], sent=sent)}"


def rtu_frame_text(data: bytes, *, sent: bool) -> str:
    """What a frame of Modbus RTU says; sent: to the device."""
    message, checksum = data[:-CRC_LENGTH], data[-CRC_LENGTH:]
    if len(message) < 2:
        return f"{len(data)} bytes, no frame"
    if crc16(message) != checksum:
        return f"{len(data)} bytes, wrong checksum"
    return _message(message, sent=sent)


def tcp_frames(data: bytes) -> tuple[list[bytes], bytes]:
    """The whole frames of Modbus TCP at the beginning of what came, and the rest; what can be none is one by itself."""
    frames: list[bytes] = []
    while len(data) >= HEADER.size:
        _, protocol, size, _ = HEADER.unpack_from(data)
        if protocol or not 2 <= size <= _LONGEST:
            return [*frames, data], b""
        if len(data) < MBAP.size + size:
            break
        frames.append(data[: MBAP.size + size])
        data = data[MBAP.size + size :]
    return frames, data


def _message(message: bytes, *, sent: bool) -> str:
    unit, function, rest = message[0], message[1], message[2:]
    if function & 0x80:
        words = f"function {function & 0x7F} refused: {exception_text(rest[0])}" if len(rest) == 1 else "no message"
        return f"unit {unit}: {words}"
    said = (_REQUESTS if sent else _REPLIES).get(function)
    try:
        words = said(function, rest) if said is not None else f"function {function}, {len(rest)} bytes"
    except (IndexError, ValueError):
        words = f"function {function}, {len(rest)} bytes that are not its own"
    return f"unit {unit}: {words}"


def _word(data: bytes, place: int) -> int:
    if len(data) < place + 2:
        raise ValueError("too short")
    return data[place] << 8 | data[place + 1]


def _words(data: bytes) -> str:
    return " ".join(data[place : place + 2].hex() for place in range(0, len(data), 2))


def _asks(function: int, rest: bytes) -> str:
    return f"read {_word(rest, 2)} {_READS[function]} from {_word(rest, 0)}"


def _gives(function: int, rest: bytes) -> str:
    if rest[0] != len(rest) - 1:
        raise ValueError("another length")
    return f"{_READS.get(function, 'registers')} {_words(rest[1:])}"


def _writes(function: int, rest: bytes) -> str:
    what = "coil" if function == 5 else "register"
    return f"write {what} {_word(rest, 0)} = {_word(rest, 2):04x}"


def _writes_many(_function: int, rest: bytes) -> str:
    return f"write {_word(rest, 2)} registers from {_word(rest, 0)}: {_words(rest[5:])}"


def _wrote_many(_function: int, rest: bytes) -> str:
    return f"wrote {_word(rest, 2)} registers from {_word(rest, 0)}"


def _writes_and_asks(_function: int, rest: bytes) -> str:
    written = f"write {_word(rest, 6)} registers from {_word(rest, 4)}: {_words(rest[9:])}"
    return f"{written}; read {_word(rest, 2)} registers from {_word(rest, 0)}"


_Said = Callable[[int, bytes], str]
_REQUESTS: dict[int, _Said] = {1: _asks, 2: _asks, 3: _asks, 4: _asks, 5: _writes, 6: _writes, 16: _writes_many}
_REQUESTS[23] = _writes_and_asks
_REPLIES: dict[int, _Said] = {1: _gives, 2: _gives, 3: _gives, 4: _gives, 5: _writes, 6: _writes, 16: _wrote_many}
_REPLIES[23] = _gives
