"""The real-time loop on a made-up clock: its grid of deadlines, and what is not caught up."""

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from actuators import COMMAND_OFF, COMMAND_STOP
from rig.engine.loop import run_cycles
from rig.findings import Finding
from rig.runtime.ticker import MachineTicker, Tick

PERIOD = 0.002
ORIGIN = 5000.0


class Times:
    """Stands for the module `time`: monotonic time passes by sleeping and by work; the wall clock jumps about."""

    def __init__(self) -> None:
        self.now = ORIGIN
        self.readings = 0

    def monotonic(self) -> float:
        return self.now

    def perf_counter(self) -> float:
        return self.now

    def time(self) -> float:
        self.readings += 1
        return 1.8e9 + self.now + (3600.0 if self.readings % 3 else -3600.0)

    def sleep(self, duration: float) -> None:
        assert 0.0 <= duration <= 1.0
        self.now += duration


class Loop:
    """An engine, an operator and a watch that take as long as they are told to; the ticks that came, and when."""

    def __init__(self, times: Times, cycles: int, work: Callable[[int], float], talks: Callable[[int], float]) -> None:
        self.times = times
        self.ticks: list[Tick] = []
        self.begun: list[float] = []
        self.said: list[object] = []
        self.events: list[Finding] = []
        self.abandoned = self.reconnected = False
        self.config = SimpleNamespace(period=PERIOD, drives=SimpleNamespace(reply_deadline=0.6))
        exchange = lambda commands, _now, _timeout: self.said.append(list(commands))  # noqa: E731
        self.resumed: list[int] = []
        """number of ticks before the drives were told of a pause"""
        self.drives = SimpleNamespace(
            exchange=exchange, resume=lambda: self.resumed.append(len(self.ticks)), asked=[True] * 6, io=None
        )
        self.flags: dict[int, int] = {}
        """category of the stop flag found raised, by number of ticks before"""
        self.stops: list[tuple[int, int]] = []
        self.journal = SimpleNamespace(given=lambda _text: None)
        self.leases = SimpleNamespace(block=SimpleNamespace(take_stop=lambda: self.flags.get(len(self.ticks))))
        self._cycles, self._work, self._talks = cycles, work, talks

    @property
    def ended(self) -> bool:
        return len(self.ticks) >= self._cycles

    def carry_out(self) -> None:
        talk = self._talks(len(self.ticks))
        self._talks = self._talks if not talk else lambda _number: 0.0
        self.times.now += talk
        self.reconnected = self.reconnected or talk > 0.0

    def look(self, t: float) -> None:
        assert t == pytest.approx(self.times.now - ORIGIN, abs=PERIOD)

    def step(self, tick: Tick) -> None:
        self.begun.append(self.times.now - ORIGIN)
        self.times.now += self._work(len(self.ticks))
        self.ticks.append(tick)

    def stop(self, category: int, _code: object) -> None:
        self.stops.append((category, len(self.ticks)))

    def record(self, _level: str, finding: Finding) -> None:
        self.events.append(finding)


@pytest.fixture
def times(monkeypatch: pytest.MonkeyPatch) -> Times:
    made = Times()
    monkeypatch.setattr("rig.runtime.ticker.time", made)
    return made


def loop(
    times: Times, cycles: int, work: Callable[[int], float], talks: Callable[[int], float] = lambda _number: 0.0
) -> Loop:
    made = Loop(times, cycles, work, talks)
    run_cycles(made, made, made, MachineTicker(PERIOD))  # type: ignore[arg-type]
    return made


def test_cycles_keep_to_their_grid_whatever_the_wall_clock_says(times: Times) -> None:
    done = loop(times, 100, lambda number: 0.1 * PERIOD + 0.3 * PERIOD * (number % 3))
    assert [tick.t for tick in done.ticks] == pytest.approx([PERIOD * number for number in range(1, 101)], abs=1e-9)
    assert done.begun == pytest.approx([tick.t for tick in done.ticks], abs=1e-9)
    assert max(abs(tick.lateness) for tick in done.ticks) < 1e-9
    assert [tick.period for tick in done.ticks[1:]] == pytest.approx([PERIOD] * 99, abs=1e-9)
    assert done.ticks[-1].overruns == 0


@pytest.mark.parametrize("busy", [1.5, 5.5, 40.25])
def test_cycles_that_were_missed_are_counted_and_never_come_in_a_burst(times: Times, busy: float) -> None:
    done = loop(times, 30, lambda number: busy * PERIOD if number == 9 else 0.1 * PERIOD)
    late, missed = done.ticks[10], int(busy) - 1
    assert late.overruns == missed and {tick.overruns for tick in done.ticks[11:]} == {missed}
    assert late.t == pytest.approx((11 + missed) * PERIOD, abs=1e-9)
    assert late.lateness == pytest.approx((busy - int(busy)) * PERIOD, abs=1e-9)
    assert late.period == pytest.approx(busy * PERIOD, abs=1e-9)
    assert [tick.t for tick in done.ticks[10:]] == pytest.approx([late.t + PERIOD * n for n in range(20)], abs=1e-9)
    apart = [after - before for before, after in zip(done.begun, done.begun[1:], strict=False)]
    assert min(apart) > (1.0 - (busy - int(busy))) * PERIOD - 1e-9


def test_the_stop_flag_is_looked_at_before_every_cycle(times: Times) -> None:
    made = Loop(times, 10, lambda _number: 0.1 * PERIOD, lambda _number: 0.0)
    made.flags = {4: 0, 7: 2}
    run_cycles(made, made, made, MachineTicker(PERIOD))  # type: ignore[arg-type]
    assert made.stops == [(0, 4), (2, 7)]


def test_what_takes_its_time_between_two_cycles_begins_the_grid_anew(times: Times) -> None:
    done = loop(times, 20, lambda _number: 0.1 * PERIOD, lambda number: 2.0 if number == 10 else 0.0)
    assert done.ticks[-1].overruns == 0 and max(abs(tick.lateness) for tick in done.ticks) < 1e-9
    assert done.resumed == [10]
    assert done.ticks[10].t - done.ticks[9].t == pytest.approx(2.0 + 2.0 * PERIOD, abs=PERIOD)
    assert [tick.period for tick in done.ticks[10:]] == pytest.approx([PERIOD] * 10, abs=1e-9)


@pytest.mark.parametrize("had_torque", [(True,) * 6, (False,) * 6, (False, False, True, False, False, False)])
def test_an_error_that_leaves_a_cycle_is_said_after_the_drives_were_stopped(
    times: Times, had_torque: tuple[bool, ...]
) -> None:
    """Those that were told to have torque: a stop enables, and the brakes of the others stay closed."""

    def fail(_number: int) -> float:
        raise ZeroDivisionError("of the test")

    made = Loop(times, 1, fail, lambda _number: 0.0)
    made.drives.asked = list(had_torque)
    with pytest.raises(ZeroDivisionError):
        run_cycles(made, made, made, MachineTicker(PERIOD))  # type: ignore[arg-type]
    told = [COMMAND_STOP if had else COMMAND_OFF for had in had_torque]
    assert made.said and all(commands == told for commands in made.said)
    assert [found.text for found in made.events] == ["the engine ends: ZeroDivisionError: of the test"]


def test_an_error_that_leaves_a_cycle_switches_outputs_off_after_the_stop(times: Times) -> None:
    """The last exchange has them, which is the only way to outputs at the drives."""

    def fail(_number: int) -> float:
        raise ZeroDivisionError("of the test")

    made = Loop(times, 1, fail, lambda _number: 0.0)
    made.drives.io = SimpleNamespace(off=lambda: made.said.append("outputs off"))
    with pytest.raises(ZeroDivisionError):
        run_cycles(made, made, made, MachineTicker(PERIOD))  # type: ignore[arg-type]
    place = made.said.index("outputs off")
    for exchanges in (made.said[:place], made.said[place + 1 :]):  # each more than once, as one may be lost
        assert len(exchanges) > 1 and all(commands == [COMMAND_STOP] * 6 for commands in exchanges)


def test_an_error_of_the_exchange_itself_is_recorded_too_and_outputs_are_switched_off(times: Times) -> None:
    made = Loop(times, 1, lambda _number: 1 / 0, lambda _number: 0.0)
    exchanges: list[str] = []

    def fail(_commands: object, _now: float, _timeout: float) -> None:
        exchanges.append("exchange")
        raise ValueError("of a driver")

    made.drives.exchange, made.drives.io = fail, SimpleNamespace(off=lambda: exchanges.append("outputs off"))
    with pytest.raises(ZeroDivisionError):
        run_cycles(made, made, made, MachineTicker(PERIOD))  # type: ignore[arg-type]
    assert exchanges[-1] == "exchange" and "outputs off" in exchanges
    assert [found.text for found in made.events] == ["the engine ends: ZeroDivisionError: division by zero"]
