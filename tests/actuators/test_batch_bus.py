"""A bus that sends the requests of a cycle in one frame, as a sum command does, and drives on it."""

import math
import struct
from collections.abc import Callable

import pytest

from actuators import (
    COMMAND_OFF,
    Bus,
    Capabilities,
    Command,
    CommandError,
    CycleExchange,
    Drive,
    Exchange,
    Feedback,
    Identity,
    MemoryWire,
    Mode,
    Status,
)
from actuators.bus import Buses

_ENTRY = struct.Struct(">Bd")


class SumBus(Bus):
    """All requests of a cycle in one frame, whose reply has all answers."""

    def __init__(self, open_wire: Callable[[float], MemoryWire]) -> None:
        super().__init__(open_wire)
        self.batch: dict[Exchange, bytes] | None = None
        self.log: list[str] = []
        self.open_from = math.nan

    @property
    def protocol(self) -> str:
        return "sum command"

    def begin_cycle(self, now: float) -> None:
        if self.batch is None:
            self.batch, self.open_from = {}, now
            self.log.append("begin")

    def begin(self, exchange: Exchange, message: bytes) -> bool:
        self.begin_cycle(math.nan)
        assert self.batch is not None
        exchange.reply = b""
        self.batch[exchange] = message
        return self.connected

    def commit(self) -> None:
        if self.batch is None or self.wire is None:
            return
        self.sent, self.batch = self.batch, None
        self.log.append(f"commit {len(self.sent)}")
        self.wire.send(b"".join(self.sent.values()))

    def gather(self, deadline: float) -> None:
        if self.wire is None:
            return
        data = self.wire.receive(deadline)
        for place, exchange in enumerate(self.sent):
            exchange.reply = data[_ENTRY.size * place : _ENTRY.size * (place + 1)]
        self.log.append("gather")

    def collect(self, exchange: Exchange, deadline: float) -> bytes | None:
        if self.batch is not None:
            self.commit()
            self.gather(deadline)
        reply, exchange.reply = exchange.reply, b""
        return reply or None


class SumDrive(Drive):
    """A drive that is told a length, and says it."""

    def __init__(self, number: int, bus: SumBus) -> None:
        can = Capabilities((Mode.OFF, Mode.POSITION), False, False, False, 1.0, 10.0, 1.0)
        super().__init__(f"drive {number}", can)
        self.batch = self._bus = bus
        self._exchange = Exchange(number, self.counters)

    sequence = property(lambda self: 0)
    connected = property(lambda self: self._bus.joined(self._exchange))

    def identify(self) -> Identity:
        return Identity("", "", "", "")

    def configure(self) -> None: ...

    def verify(self, timeout: float) -> Identity:
        return self.identify()

    def observe(self, timeout: float) -> Feedback:
        raise NotImplementedError

    def error_text(self, code: int) -> str:
        return str(code)

    def close(self) -> None:
        self._bus.leave(self._exchange)

    def _connect(self, timeout: float) -> None:
        self._bus.join(self._exchange, timeout)

    def _begin(self, command: Command) -> None:
        self._bus.begin(self._exchange, _ENTRY.pack(self._exchange.unit, command.position))

    def _finish(self, deadline: float) -> Feedback | None:
        reply = self._bus.collect(self._exchange, deadline)
        if reply is None:
            self.counters.late += 1
            return None
        unit, position = _ENTRY.unpack(reply)
        assert unit == self._exchange.unit
        return Feedback(position, 0.0, math.nan, Status.READY, 0, True, 0.0, -1)


@pytest.fixture
def frames() -> list[bytes]:
    return []


@pytest.fixture
def drives(frames: list[bytes]) -> list[SumDrive]:
    def respond(data: bytes) -> bytes:
        frames.append(data)
        return data

    bus = Buses().at("here", lambda: SumBus(lambda _timeout: MemoryWire(respond)))
    assert isinstance(bus, SumBus)
    made = [SumDrive(number, bus) for number in range(1, 7)]
    for drive in made:
        drive.connect(1.0)
    return made


def commands(length: float) -> list[Command]:
    return [Command(Mode.POSITION, 0.0, length + leg, enable=True) for leg in range(6)]


def test_the_requests_of_a_cycle_are_one_frame(drives: list[SumDrive], frames: list[bytes]) -> None:
    exchange = CycleExchange(drives)
    for cycle in range(3):
        exchange.exchange(commands(0.1 * cycle), 10.0 + cycle, 1.0)
        assert exchange.position.tolist() == pytest.approx([0.1 * cycle + leg for leg in range(6)])
        assert exchange.prompt
    assert len(frames) == 3
    assert drives[0]._bus.log == ["begin", "commit 6", "gather"] * 3
    assert drives[0]._bus.open_from == 12.0


def test_a_command_that_is_refused_sends_nothing(drives: list[SumDrive], frames: list[bytes]) -> None:
    wrong = [*commands(0.0)[:5], Command(Mode.POSITION, 0.0, math.nan, enable=True)]
    with pytest.raises(CommandError, match="drive 6"):
        CycleExchange(drives).exchange(wrong, 1.0, 1.0)
    assert frames == [] and drives[0]._bus.log == []


def test_a_drive_by_itself_commits_its_own_request(drives: list[SumDrive], frames: list[bytes]) -> None:
    feedback = drives[2].exchange(Command(Mode.POSITION, 0.0, 0.7, enable=True), 1.0, 1.0)
    assert (feedback.fresh, feedback.position) == (True, 0.7)
    assert len(frames) == 1 and len(frames[0]) == _ENTRY.size
    assert drives[0].exchange(COMMAND_OFF, 1.0, 1.0).fresh
