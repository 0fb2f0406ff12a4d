"""Detects, by its state in the operating system, whether another process is only late, or hangs.

A process that waits for a processor or a disk is late because of the machine's load. A process that has ended, or is
stopped (SIGSTOP, a debugger), does not return by itself. A hanging process sleeps, or computes, in some thread without
a sign of life, which no load explains.
"""

import math
import os
import time
from pathlib import Path

_STOPPED = "TtZX"
_AWAITING = "RD"  # a processor, a disk
_TICKS = os.sysconf("SC_CLK_TCK")
_LONGEST = 0.1  # s between two looks that count: beyond it whoever looks was late itself


class ProcessWatch:
    """Accumulates the time in which a process could have given an expected sign and did not.

    Args:
        pid: its number.
    """

    def __init__(self, pid: int) -> None:
        self._folder = Path(f"/proc/{pid}")
        self._whole = self._folder / "stat"
        self._main = self._folder / "task" / str(pid) / "stat"
        self.sign()

    def sign(self) -> None:
        """Note a sign: restart."""
        self._silence = 0.0
        self._checked_at = time.monotonic()
        self._computed: float | None = None

    def silence(self) -> float:
        """Time, s, since the last sign that the process slept or computed; infinite if it is stopped or has ended.

        It must be read repeatedly while waiting: long gaps between two readings do not count.
        """
        now = time.monotonic()
        elapsed, self._checked_at = min(now - self._checked_at, _LONGEST), now
        try:
            computed = _stat(self._whole)[1]
            if _stat(self._main)[0] in _STOPPED:
                return math.inf
            others = [_stat(path)[0] for path in self._folder.glob("task/*/stat")]
        except (FileNotFoundError, ProcessLookupError):
            return math.inf
        except OSError:  # nobody tells: wall time is all that is left
            self._silence += elapsed
            return self._silence
        if self._computed is not None and computed > self._computed:
            self._silence += min(computed - self._computed, elapsed)
        elif not any(state in _AWAITING for state in others):
            self._silence += elapsed
        self._computed = computed
        return self._silence


def is_stopped(pid: int) -> bool:
    """Whether a process is stopped (SIGSTOP, a debugger) or has ended; a waiting or hanging one is neither."""
    try:
        return _stat(Path(f"/proc/{pid}/stat"))[0] in _STOPPED
    except (FileNotFoundError, ProcessLookupError):
        return True
    except OSError:  # nobody tells
        return False


def _stat(path: Path) -> tuple[str, float]:
    """State letter and processor time, s, of a thread or a whole process."""
    fields = path.read_text().rpartition(")")[2].split()
    return fields[0], (int(fields[11]) + int(fields[12])) / _TICKS
