"""A cycle's exchange with several drives on any wires, and its duration on a shared line."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from actuators.bus import Bus, HalfDuplexBus, advance_all
from actuators.drive import Drive, Member
from actuators.framing import silence
from actuators.interface import Command, Feedback


@dataclass(frozen=True, slots=True)
class DevicePlan:
    """A device's part of a cycle on its line.

    bytes: both ways, framing included. exchanges: requests with a reply. reply_delay: s from the last byte of a request
    to the first of its reply; measured: whether that is configured for this device, not assumed. sample_period: s, 0
    for one that is asked in every cycle. time: s, with the silence after each reply. apart: whether it is asked in
    other cycles than all others with a sample period.
    """

    name: str
    bytes: int
    exchanges: int
    reply_delay: float
    measured: bool
    sample_period: float
    time: float
    apart: bool = False


@dataclass(frozen=True, slots=True)
class BusPlan:
    """The longest cycle on one line: that in which every device is asked, but those that are asked apart, or these.

    place: its name. members: the devices on it. byte_time: s, 0 if unknown. turnaround: silence between two frames, s.
    latency: of its adapter, s, a part of the reply delays that are not measured. time: s from the first byte of the
    first request to the last byte of the last reply.
    """

    place: str
    members: tuple[DevicePlan, ...]
    byte_time: float
    turnaround: float
    latency: float
    time: float
    together: float

    @property
    def longest(self) -> tuple[DevicePlan, ...]:
        """The devices that are asked in the longest cycle."""
        return max(_cycles(self.members), key=_time)

    @property
    def apart(self) -> tuple[DevicePlan, ...]:
        """Devices that are asked in other cycles than all others with a sample period."""
        return tuple(member for member in self.members if member.apart)

    @property
    def devices(self) -> tuple[str, ...]:
        """Names of those on it."""
        return tuple(member.name for member in self.members)

    @property
    def bytes(self) -> int:
        """Bytes both ways, of the longest cycle."""
        return sum(member.bytes for member in self.longest)

    @property
    def exchanges(self) -> int:
        """Requests with a reply, of the longest cycle."""
        return sum(member.exchanges for member in self.longest)

    @property
    def delays(self) -> float:
        """All its reply delays, s."""
        return sum(member.exchanges * member.reply_delay for member in self.longest)

    @property
    def silences(self) -> float:
        """All its silences between two frames, s."""
        return (self.exchanges - 1) * self.turnaround

    @property
    def seldom(self) -> tuple[DevicePlan, ...]:
        """Devices that are not asked in every cycle, by their own sample period."""
        return tuple(member for member in self.members if member.sample_period)

    def usual_time(self, period: float) -> float:
        """As `time`, of a cycle in which only the devices are asked that are asked in every cycle of `period` s, s."""
        often = [member.time for member in self.members if member.sample_period <= period]
        return max(0.0, sum(often) - self.turnaround)

    def time_at(self, present: int, baud: int, lines: int = 1) -> float:
        """As `time`, s, at another baud than the present one, with the devices distributed among several such lines.

        A silence of the standard becomes that of the other baud.
        """

        def silence_at(now: float) -> float:
            return silence(baud) if math.isclose(now, silence(present)) else now

        turnaround, parts = silence_at(self.turnaround), [0.0] * lines
        for member in sorted(
            self.longest if lines == 1 else self.members, key=lambda member: member.time, reverse=True
        ):
            assumed = silence_at(member.reply_delay - self.latency) + self.latency
            delay = member.reply_delay if member.measured else assumed
            least = parts.index(min(parts))
            parts[least] += member.bytes * self.byte_time * present / baud + member.exchanges * (delay + turnaround)
        return max(parts) - turnaround

    def load(self, period: float) -> float:
        """Share of the time for which the line is occupied, at cycles of `period` s."""
        return sum(member.time / max(period, member.sample_period) for member in self.members)


def _cycles(members: Sequence[DevicePlan]) -> list[tuple[DevicePlan, ...]]:
    """The devices that are asked in the same cycle: all but those apart, and these with what is always asked."""
    together = tuple(member for member in members if not member.apart)
    return [together, tuple(member for member in members if member.apart or not member.sample_period)]


def _time(members: Sequence[DevicePlan]) -> float:
    return sum(member.time for member in members)


def slowest_apart(cells: Sequence[Member], others: Sequence[Member]) -> float:
    """The longest cycle, s, in which cells' devices can be asked apart from others with a sample period; 0 if never.

    The cells are read in the same cycle, and so are the drives, since six forces and six lengths belong together; a
    block of inputs and outputs is asked at once when an output changes, a drive when its mode does. So cells wait for
    them, where they share a line. Each has to leave as many cycles free as there are kinds.
    """
    lines = {line for device in cells if (line := device.line or device.batch) is not None}
    rivals = [device for device in others if device.sample_period and (device.line or device.batch) in lines]
    if not rivals or not all(device.sample_period for device in cells):
        return 0.0
    kinds = 1 + len({isinstance(device, Drive) for device in rivals})
    return min(device.sample_period for device in (*cells, *rivals)) / kinds


def bus_plans(devices: Sequence[Member], apart: Collection[Member] = ()) -> list[BusPlan]:
    """Plans of shared lines and buses in the order of their first devices; none for those of unknown timing.

    Devices with a sample period begin together, and are asked in the same cycles: the longest cycle has all of them,
    except for those that are asked `apart`.
    """
    plans = []
    for line in dict.fromkeys(device.line or device.batch for device in devices):
        if line is None:
            continue
        members = [
            _device_plan(device, line, device in apart) for device in devices if line in (device.line, device.batch)
        ]
        time, together = (_bus_time(line, asked) for asked in (max(_cycles(members), key=_time), members))
        if time > 0.0:
            plans.append(
                BusPlan(line.place, tuple(members), line.byte_time, line.turnaround, line.latency, time, together)
            )
    return plans


def _bus_time(line: Bus, asked: Sequence[DevicePlan]) -> float:
    delays = [member.reply_delay for member in asked for _exchange in range(member.exchanges)]
    return line.time_of(sum(member.bytes for member in asked), delays)


def _device_plan(device: Member, line: Bus, apart: bool) -> DevicePlan:
    exchanges, given = device.exchanges, device.reply_delay
    size, count = sum(map(sum, exchanges)), len(exchanges)
    delay = line.turnaround + line.latency if given is None else given
    time = line.time_of(size, [delay] * count) + line.turnaround if count else 0.0
    return DevicePlan(device.name, size, count, delay, given is not None, device.sample_period, time, apart)


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
        self._turns = _turns(drives)
        self.values = np.zeros((7, len(drives)))
        self.position, self.velocity, self.force, self.fresh, self.age, self.lag, self.offset = self.values
        self.status, self.error = [0] * len(drives), [0] * len(drives)
        self.prompt = False
        """whether every reply is fresh, and answers this cycle's command"""

    def exchange(
        self, commands: Sequence[Command], now: float, timeout: float, lines: Sequence[HalfDuplexBus] = ()
    ) -> None:
        """See `exchange_all`."""
        replies = exchange_all(self._drives, commands, now, timeout, lines, self._batches, self._turns)
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

    def inputs(self, leg: int) -> Mapping[str, bool]:
        """See `Drive.inputs`, for the drive of a leg (index)."""
        self.sync(leg)
        return self._drives[leg].inputs

    def interrupt(self, leg: int) -> None:
        """The same as `sync`, before it is used by itself: connected, closed, or asked outside the cycle."""


def exchange_all(
    drives: Sequence[Drive],
    commands: Sequence[Command],
    now: float,
    timeout: float,
    lines: Sequence[HalfDuplexBus] = (),
    batches: Sequence[Bus] = (),
    turns: Sequence[int] | None = None,
) -> list[Feedback]:
    """Start all exchanges at `now` (s, on the wires' clock), then collect all replies within `timeout` s.

    Drives on a shared line have turns; lines work at the same time, and replies are taken while they do. `lines`:
    further ones with begun exchanges. `batches`: buses that send the requests of their drives together. `turns`: places
    of the drives in the order of their requests, known if this is called often.
    Every command is checked before any is sent. Raises CommandError as `Drive.begin`, with nothing sent.
    """
    for drive, command in zip(drives, commands, strict=True):
        drive.check(command)
    for bus in batches:
        bus.begin_cycle(now)
    for place in _turns(drives) if turns is None else turns:
        drives[place].start(commands[place], now)
    for bus in batches:
        bus.commit()
    deadline = now + timeout
    shared = [drive.line for drive in drives if drive.line is not None]
    taken: dict[int, Feedback] = {}

    def take_replies() -> None:
        for place, drive in enumerate(drives):
            if place not in taken and drive.answered:
                taken[place] = drive.finish(deadline)

    if shared or lines:
        advance_all([*{*shared, *lines}], deadline, meanwhile=take_replies)
    for bus in batches:
        bus.gather(deadline)
    return [taken[place] if place in taken else drive.finish(deadline) for place, drive in enumerate(drives)]


def _turns(drives: Sequence[Drive]) -> list[int]:
    """Places of the drives in the order of their requests: the first on each line, then the second on each."""
    counts: dict[HalfDuplexBus | None, int] = {}
    turns = []
    for drive in drives:
        turns.append(counts.get(drive.line, 0) if drive.line is not None else 0)
        counts[drive.line] = turns[-1] + 1
    return sorted(range(len(drives)), key=turns.__getitem__)
