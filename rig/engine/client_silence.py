"""Whether a client that is silent is lost, or waits for a processor: in paced time the machine's load loses nobody."""

from rig.runtime import ControlBlock, ProcessWatch

_SUSPECT = 0.5  # of the bound, after which the process is looked at: it is excused from no more than the rest
_LOOK = 0.01  # s of rig time between two looks


class ClientSilence:
    """Judges the silence of the client that beats in a control block.

    Args:
        block: where it beats.
        speed: times as fast as the wall clock that rig time goes at most; None: rig time is wall time, as on a machine
            whose platform moves on whatever the reason is, and a client is lost by its silence alone.
    """

    def __init__(self, block: ControlBlock, speed: float | None) -> None:
        self._block = block
        self._speed = speed
        self._process: ProcessWatch | None = None
        self._looked_at = self._idle = 0.0

    def lost(self, t: float, silent: float, bound: float) -> bool:
        """Whether a client is lost that at rig time `t` (s) has been silent for `silent` s of it; `bound`: s."""
        if self._speed is None or silent <= _SUSPECT * bound:
            self._process = None
        elif self._process is None:
            self._process, self._looked_at, self._idle = ProcessWatch(self._block.beating), t, 0.0
        elif t - self._looked_at >= _LOOK:
            self._looked_at, self._idle = t, self._speed * self._process.silence()
        return silent > bound and (self._process is None or self._idle > (1.0 - _SUSPECT) * bound)
