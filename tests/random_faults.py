"""Faults of a wire that begin at random and last some cycles, for the campaigns over every driver."""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from exploration import either

from actuators import Counters
from actuators.virtual.faults import FaultyDevice

CYCLES = either(400, 1_000_000)
HEADER = 8 * 8
"""Bits of a frame of Modbus TCP that can be judged: what follows has TCP's own checksum."""
FRAME = 200
"""Bits of a frame with a checksum of its own, at least."""
KINDS = ("drop_write", "drop_all", "busy", "close", "rechunk", "noise")
"""Faults that every device distinguishes from a good reply."""
_RARITY = either(20, 1000)  # cycles, on the average, from one fault to the next
_LASTING = 5  # cycles, at most


@dataclass
class RandomFaults:
    """One fault after the other of a device's wire.

    counters: of the device's driver. kinds: of faults. bits: of a frame, of which one is flipped. begun: faults so far,
    by kind. left: cycles until the present one ends, 0 without one.
    """

    draw: random.Random
    wire: FaultyDevice
    counters: Counters
    kinds: Sequence[str]
    bits: int
    noise_is_seen: bool = True
    begun: Counter[str] = field(default_factory=Counter)
    left: int = 0
    _kind: str = ""
    _unusable: int = 0

    def step(self) -> None:
        """Before a cycle: begin or end a fault; noise must have been counted by its end."""
        if self.left == 0 and self.draw.randrange(_RARITY) == 0:
            self._kind, self.left = self.draw.choice(self.kinds), self.draw.randint(1, _LASTING)
            value = {"bit_flip": self.draw.randrange(self.bits), "delay": 0.003}.get(self._kind)
            self.wire.inject(self._kind, value)
            self.begun[self._kind] += 1
            self._unusable = self.counters.unusable
        elif self.left:
            self.left -= 1
            if self.left == 0:
                self.wire.clear_all()
                seen = self.counters.unusable > self._unusable
                assert seen or self._kind != "noise" or not self.noise_is_seen, self.begun

    def summary(self, name: str, counted: Counter[str]) -> str:
        """Result of a campaign; counted: its cycles by the kind of reply."""
        return f"\n{name}: {dict(counted)}, {dict(self.begun)}, {self.counters}"
