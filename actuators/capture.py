"""Capture of a wire's traffic as a text file: written by `rig monitor`, read, and played back to a driver.

A line is a frame: seconds since the first one, ">" to the device or "<" from it, its bytes, and after "#" their
meaning.
"""

import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from actuators.errors import ActuatorError, ConfigurationError

_LINE = re.compile(r"(\d+(?:\.\d+)?) ([<>]) ((?:[0-9a-fA-F]{2} ?)+)")
_MOST_BYTES = 100_000_000
TO_DEVICE, FROM_DEVICE = ">", "<"


class Frame(NamedTuple):
    """Bytes of one direction. time: s, since the first ones. sent: whether they went to the device."""

    time: float
    sent: bool
    data: bytes

    def line(self, comment: str = "") -> str:
        """The line of a capture file; comment: what the bytes mean."""
        comment = f"  # {comment}" if comment else ""
        return f"{self.time:.6f} {TO_DEVICE if self.sent else FROM_DEVICE} {self.data.hex(' ')}{comment}"


def read_capture(path: Path) -> list[Frame]:
    """The frames of a file. Raises ConfigurationError, which names an invalid line."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise ConfigurationError(f"{path}: more than {_MOST_BYTES} bytes")
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: {getattr(error, 'strerror', None) or error}") from error
    frames = []
    for number, line in enumerate(lines, start=1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        found = _LINE.fullmatch(text)
        if found is None or not math.isfinite(float(found[1])):
            raise ConfigurationError(f"{path}, line {number}: {line[:60]!r} is no frame: TIME > or < BYTES")
        frames.append(Frame(float(found[1]), found[2] == TO_DEVICE, bytes.fromhex(found[3])))
    return frames


class Replay:
    """Replays the device of a capture: answers the same requests in the same order as captured.

    `respond` is for `MemoryWire`. `asked` counts the requests received, `left` the remaining ones.
    """

    def __init__(self, frames: Iterable[Frame]) -> None:
        """frames: from `read_capture`; bytes of the device before the first request are left out."""
        self._exchanges: list[tuple[bytes, bytes]] = []
        for frame in frames:
            if frame.sent:
                last = self._exchanges[-1] if self._exchanges else (b"", b"reply")
                if last[1]:
                    self._exchanges.append((frame.data, b""))
                else:
                    self._exchanges[-1] = (last[0] + frame.data, b"")
            elif self._exchanges:
                request, reply = self._exchanges[-1]
                self._exchanges[-1] = (request, reply + frame.data)
        self.asked = 0
        self._input = b""

    @property
    def left(self) -> int:
        """Remaining requests of the capture."""
        return len(self._exchanges) - self.asked

    def respond(self, data: bytes) -> bytes:
        """Answer a request. Raises ActuatorError if it differs from the captured one."""
        self._input += data
        if not self.left:
            raise ActuatorError(f"request {self.asked + 1}: {self._input.hex(' ')}, but the capture has no more")
        request, reply = self._exchanges[self.asked]
        if request != self._input:
            if request.startswith(self._input):
                return b""  # the rest may come by itself
            raise ActuatorError(f"request {self.asked + 1}: {self._input.hex(' ')}, the capture has {request.hex(' ')}")
        self.asked, self._input = self.asked + 1, b""
        return reply
