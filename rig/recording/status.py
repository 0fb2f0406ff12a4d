"""What the recorder process says about itself, in a small block of shared memory."""

import math
from dataclasses import dataclass
from enum import IntEnum
from typing import Self

from rig.runtime import SharedBlock

_WORDS = 8
_ERROR_SIZE = 448
_SIZE = 8 * _WORDS + _ERROR_SIZE
_UNKNOWN = (1 << 64) - 1
_MOST_HOURS = 99


def room_text(room: float) -> str:
    """For how long there is room for more of a recording, as "9.5 min"; "" where it is not known. Args: room: s."""
    if not math.isfinite(room):
        return ""
    minutes, hours = room / 60.0, room / 3600.0
    if hours >= _MOST_HOURS:
        return f"> {_MOST_HOURS} h"
    value, unit = (minutes, "min") if minutes < 99.5 else (hours, "h")
    return f"{value:.{1 if value < 9.95 else 0}f} {unit}"


class RecorderPhase(IntEnum):
    """How far the recorder process is."""

    STARTING = 0
    RECORDING = 1
    CLOSED = 2
    FAILED = 3


@dataclass(frozen=True, slots=True)
class RecorderStatus:
    """One look at the recorder."""

    phase: RecorderPhase
    rows: int
    """Rows written."""
    bytes: int
    """Size of the file."""
    dropped: int
    """Rows that were pushed but are not in the file."""
    heartbeat: int
    """Rises with every turn of the recorder's loop."""
    error: str
    """First cause of a failure, empty as long as there is none."""
    room: float = math.inf
    """s until the disk is full, as fast as the file grows now; infinite while it is not known or does not grow"""

    @property
    def healthy(self) -> bool:
        """Whether rows are being written."""
        return self.phase is RecorderPhase.RECORDING


class StatusBlock:
    """The shared block: who starts the recorder creates and owns it, the recorder writes it, anybody reads it."""

    def __init__(self, block: SharedBlock) -> None:
        self._block = block
        self._words = block.view(0, 8 * _WORDS, "Q")
        self._text = block.view(8 * _WORDS, _SIZE)

    @classmethod
    def create(cls, name: str | None = None) -> Self:
        """Make the block, in phase STARTING, and own it. Raises SharedMemoryError as `SharedBlock.create`."""
        block = cls(SharedBlock.create(_SIZE, name))
        block.show_room(math.inf)
        return block

    @classmethod
    def attach(cls, name: str) -> Self:
        """Attach to the block of that name. Raises SharedMemoryError as `SharedBlock.attach`."""
        return cls(SharedBlock.attach(name, _SIZE))

    @property
    def name(self) -> str:
        """Name to attach by."""
        return self._block.name

    def update(self, *, rows: int, size: int, dropped: int) -> None:
        """Publish the counters and one more turn of the loop."""
        words = self._words
        words[1], words[2], words[3] = rows, size, dropped
        words[4] += 1

    def show_room(self, seconds: float) -> None:
        """Publish for how long (s, infinite where not known) there is room on the disk."""
        self._words[5] = int(seconds * 1e3) if seconds < _UNKNOWN / 1e3 else _UNKNOWN

    def enter(self, phase: RecorderPhase, error: str = "") -> None:
        """Publish a phase, with the cause of a failure."""
        data = error.encode(errors="replace")[:_ERROR_SIZE]
        self._text[: len(data)] = data
        self._words[0] = phase

    def read(self) -> RecorderStatus:
        """One look at the recorder; any process may take it at any time."""
        phase, rows, size, dropped, heartbeat, room, *_ = self._words.tolist()
        error = bytes(self._text).rstrip(b"\0").decode(errors="ignore") if phase == RecorderPhase.FAILED else ""
        seconds = math.inf if room == _UNKNOWN else room / 1e3
        return RecorderStatus(RecorderPhase(phase), rows, size, dropped, heartbeat, error, seconds)

    def close(self) -> None:
        """Let go of the block, which its owner removes. May be called again."""
        self._block.close()
