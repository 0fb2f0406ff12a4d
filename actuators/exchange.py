"""A cycle's exchange with several drives on any wires, and its duration on a shared line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from actuators.bus import Bus, HalfDuplexBus, advance_all
from actuators.drive import Drive, Member
from actuators.interface import Command, Feedback


@dataclass(frozen=True, slots=True)
class BusPlan:
    """A cycle on one line.

    place: its name. devices: names of those on it. bytes: both ways. time: s from the first byte of the first request
    to the last byte of the last reply, with the silences between, if every device answers at once.
    """

    place: str
    devices: tuple[str, ...]
    bytes: int
    time: float


def bus_plans(devices: Sequence[Member]) -> list[BusPlan]:
    """Plans of shared lines in the order of their first devices; none for lines of unknown timing."""
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


class CycleExchange:
    """The exchange with a rig's drives in a cycle: all requests are sent before any reply is awaited.

    After it `values` (7, n) has by drive: `position` m, `velocity` m/s, `force` N, `fresh` 1 or 0, `age` s, `lag` in
    commands, `offset` s; the lists `status` and `error` are those of `Feedback`, new ones after each exchange.
    """

    kernels: tuple[str, ...] = ()
    """names of its compiled functions, with their modules"""

    def __init__(self, drives: Sequence[Drive]) -> None:
        """drives: connected by their owner."""
        self._drives = tuple(drives)
        self._batches = tuple(dict.fromkeys(drive.batch for drive in drives if drive.batch is not None))
        self.values = np.zeros((7, len(drives)))
        self.position, self.velocity, self.force, self.fresh, self.age, self.lag, self.offset = self.values
        self.status, self.error = [0] * len(drives), [0] * len(drives)
        self.prompt = False
        """whether every reply is fresh, and answers this cycle's command"""

    def exchange(
        self, commands: Sequence[Command], now: float, timeout: float, lines: Sequence[HalfDuplexBus] = ()
    ) -> None:
        """See `exchange_all`."""
        replies = exchange_all(self._drives, commands, now, timeout, lines, self._batches)
        for leg, feedback in enumerate(replies):
            self._take(leg, feedback)
        self.status, self.error = [int(each.status) for each in replies], [each.error for each in replies]
        self.prompt = bool(self.fresh.all()) and not (self.age.any() or self.lag.any())

    def _take(self, leg: int, feedback: Feedback) -> None:
        """Fill in the values of one drive."""
        self.values[:, leg] = (
            feedback.position, feedback.velocity, feedback.force, feedback.fresh, feedback.age, feedback.lag,
            feedback.offset,
        )  # fmt: skip

    def rehearse(self) -> None:
        """Compile what an exchange needs; nothing is sent."""

    def sync(self, leg: int) -> None:
        """Bring the drive of a leg (index) up to date with the last exchange, before anything is asked of it."""

    def auxiliary(self, leg: int) -> Mapping[str, float]:
        """See `Drive.auxiliary`, for the drive of a leg (index)."""
        self.sync(leg)
        return self._drives[leg].auxiliary

    def interrupt(self, leg: int) -> None:
        """The same as `sync`, before it is used by itself: connected, closed, or asked outside the cycle."""


def exchange_all(
    drives: Sequence[Drive],
    commands: Sequence[Command],
    now: float,
    timeout: float,
    lines: Sequence[HalfDuplexBus] = (),
    batches: Sequence[Bus] = (),
) -> list[Feedback]:
    """Start all exchanges at `now` (s, on the wires' clock), then collect all replies within `timeout` s.

    Drives on a shared line have turns; lines work at the same time. `lines`: further ones with begun exchanges.
    `batches`: buses that send the requests of their drives together.
    Every command is checked before any is sent. Raises CommandError as `Drive.begin`, with nothing sent.
    """
    for drive, command in zip(drives, commands, strict=True):
        drive.check(command)
    for bus in batches:
        bus.begin_cycle(now)
    for drive, command in zip(drives, commands, strict=True):
        drive.start(command, now)
    for bus in batches:
        bus.commit()
    deadline = now + timeout
    shared = [drive.line for drive in drives if drive.line is not None]
    if shared or lines:
        advance_all([*{*shared, *lines}], deadline)
    for bus in batches:
        bus.gather(deadline)
    return [drive.finish(deadline) for drive in drives]
