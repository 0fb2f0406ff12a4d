"""Whether another process is merely late, or has ceased to do its part: what the operating system says of it.

A process that waits for a processor, or for a disk, is late: that is the machine's doing, however long it takes. One
that is gone or stopped (SIGSTOP, a debugger) will not come by itself. One that lives but hangs gives itself away by the
time that it sleeps, or computes, in whichever thread, without a sign: no load of the machine explains that.
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
    """Adds up how long a process, of which a sign is expected, could have given it and did not.

    Args:
        pid: its number.
    """

    def __init__(self, pid: int) -> None:
        self._folder = Path(f"/proc/{pid}")
        self._whole = self._folder / "stat"
        self._main = self._folder / "task" / str(pid) / "stat"
        self.sign()

    def sign(self) -> None:
        """There was one: begin anew."""
        self._silence = 0.0
        self._looked = time.monotonic()
        self._computed: float | None = None

    def silence(self) -> float:
        """Time, s, since the last sign that the process slept or computed; infinite where it is stopped or gone.

        To be asked for again and again while none comes: what lies far between two looks does not count.
        """
        now = time.monotonic()
        elapsed, self._looked = min(now - self._looked, _LONGEST), now
        try:
            computed = _look(self._whole)[1]
            if _look(self._main)[0] in _STOPPED:
                return math.inf
            others = [_look(path)[0] for path in self._folder.glob("task/*/stat")]
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
    """Whether a process is stopped (SIGSTOP, a debugger) or gone; one that waits or hangs is neither."""
    try:
        return _look(Path(f"/proc/{pid}/stat"))[0] in _STOPPED
    except (FileNotFoundError, ProcessLookupError):
        return True
    except OSError:  # nobody tells
        return False


def _look(path: Path) -> tuple[str, float]:
    """State of a thread by its letter, and the processor time, s, that it, or a whole process, has had."""
    fields = path.read_text().rpartition(")")[2].split()
    return fields[0], (int(fields[11]) + int(fields[12])) / _TICKS
