"""What drives and devices that read load cells have in common: a name, counters, and maybe a turn on a shared line."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from actuators.half_duplex import HalfDuplexBus
from actuators.interface import Counters
from actuators.sampling import Sampling


class Member(ABC):
    """A device of a rig. `name`: as messages call it. `counters`: of its cyclic exchanges."""

    line: HalfDuplexBus | None = None
    """The shared line on which it has its turn, None for a wire on which all talk at once."""

    def __init__(self, name: str, sample_period: float = 0.0) -> None:
        """sample_period: s between two exchanges of a device that is slower than the cycle; 0 = one in every cycle."""
        self.name = name
        self.counters = Counters()
        self._sampling = Sampling(sample_period)

    @property
    def exchanges(self) -> Sequence[tuple[int, int]]:
        """What a cycle is on a shared line: bytes of each request and of its reply, framing included."""
        return ()

    @property
    @abstractmethod
    def connected(self) -> bool:
        """False before `connect`, after `close`, and once the peer has gone."""

    def resume(self) -> None:
        """Cycles go on after a pause in which the device was not asked: it was not silent for as long."""
        self._sampling.resume()
