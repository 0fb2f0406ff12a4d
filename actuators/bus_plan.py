"""What a cycle's exchange takes on a shared line, known before anything is sent."""

from collections.abc import Sequence
from dataclasses import dataclass

from actuators.drive import Drive


@dataclass(frozen=True, slots=True)
class BusPlan:
    """A cycle on one line.

    place: its name. drives: those on it, counted from 1. bytes: both ways. time: s from the first byte of the first
    request to the last byte of the last reply, the silences between included, where every drive answers at once.
    """

    place: str
    drives: tuple[int, ...]
    bytes: int
    time: float


def bus_plans(drives: Sequence[Drive]) -> list[BusPlan]:
    """Plans of the lines that drives share, by their first drives; none for wires on which all talk at once."""
    plans = []
    for line in dict.fromkeys(drive.line for drive in drives if drive.line is not None):
        members = tuple(number for number, drive in enumerate(drives, start=1) if drive.line is line)
        exchanges = [exchange for number in members for exchange in drives[number - 1].exchanges]
        size = sum(map(sum, exchanges))
        plans.append(BusPlan(line.place, members, size, line.time_of(size, len(exchanges))))
    return plans
