"""Virtual devices served over real TCP by a thread of the test."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from drive_support import serving

from actuators import Responder


@contextmanager
def served(devices: Sequence[Responder]) -> Iterator[list[int]]:
    """Ports of devices served on this machine."""
    with serving(devices, tick=2e-4) as addresses:
        yield [port for _, port in addresses]
