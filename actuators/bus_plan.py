"""What a cycle's exchange takes on a shared line, known before anything is sent."""

from collections.abc import Sequence
from dataclasses import dataclass

from actuators.member import Member


@dataclass(frozen=True, slots=True)
class BusPlan:
    """A cycle on one line.

    place: its name. devices: names of those on it. bytes: both ways. time: s from the first byte of the first request
    to the last byte of the last reply, the silences between included, where every device answers at once.
    """

    place: str
    devices: tuple[str, ...]
    bytes: int
    time: float


def bus_plans(devices: Sequence[Member]) -> list[BusPlan]:
    """Plans of the lines that devices share, by their first ones; none where nothing is known of the time it takes."""
    plans = []
    for line in dict.fromkeys(device.line for device in devices if device.line is not None):
        members = [device for device in devices if device.line is line]
        exchanges = [exchange for device in members for exchange in device.exchanges]
        size = sum(map(sum, exchanges))
        names = tuple(device.name for device in members)
        time = line.time_of(size, len(exchanges))
        if time > 0.0:
            plans.append(BusPlan(line.place, names, size, time))
    return plans
