"""Cycles of paced time on a made-up machine: none is ever late, and what the machine lost is said once."""

import math

import pytest

from rig.engine.paced_ticker import PacedTicker
from rig.runtime import slowdown_text

PERIOD = 0.002
START = 300.0  # of the plant's clock


class Times:
    """Stands for the module `time`."""

    def __init__(self) -> None:
        self.now = 5000.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, duration: float) -> None:
        assert 0.0 < duration <= 1.0
        self.now += duration


class Plant:
    """Stands for the `Pacer`."""

    def __init__(self) -> None:
        self.epoch = 1
        self.attached = True
        self.given: list[float] = [START]
        self.ahead: float | None = None

    def now(self) -> float:
        return self.given[-1]

    def give(self, t: float) -> None:
        assert t >= self.given[-1], "the plant cannot go back"
        self.given.append(t)

    def recover(self) -> bool:
        return False

    def overtaken(self) -> bool:
        if self.ahead is None:
            return False
        self.given.append(self.ahead)
        self.ahead = None
        return True


@pytest.fixture
def times(monkeypatch: pytest.MonkeyPatch) -> Times:
    made = Times()
    monkeypatch.setattr("rig.engine.paced_ticker.time", made)
    return made


def ticker(plant: Plant, speed: float = 1.0) -> PacedTicker:
    made = PacedTicker(PERIOD, plant, speed)  # type: ignore[arg-type]
    made.begin()
    return made


def test_wall_time_is_followed_where_the_machine_allows(times: Times) -> None:
    plant = Plant()
    made = ticker(plant)
    began = times.now
    for number in range(1, 201):
        tick = made.next()
        assert tick.t == number * PERIOD and (tick.lateness, tick.overruns) == (0.0, 0)
        assert plant.now() == pytest.approx(START + tick.t, abs=1e-9)
        assert times.now - began == pytest.approx(number * PERIOD, abs=0.2 * PERIOD)
        times.now += (0.2 + 0.9 * (number % 2)) * PERIOD  # now and then a little longer than a cycle
    assert made.slower == 0.0 and slowdown_text(made.slower) == ""


def test_a_short_delay_is_caught_up_without_a_cycle_skipped(times: Times) -> None:
    made = ticker(Plant())
    due = times.now + PERIOD
    times.now += 0.09  # the operating system had other work
    for number in range(200):
        tick = made.next()
        assert (tick.lateness, tick.period, tick.overruns) == (0.0, PERIOD, 0)
        if number > 60:
            assert times.now == pytest.approx(due + number * PERIOD, abs=1e-9)
        times.now += 0.2 * PERIOD
    assert made.slower == 0.0


def test_a_long_delay_delays_the_plant_and_is_neither_skipped_nor_caught_up(times: Times) -> None:
    plant = Plant()
    made = ticker(plant)
    made.next()
    times.now += 1.0 + PERIOD  # the operating system had other work
    late = made.next()
    assert (late.t, late.lateness, late.period, late.overruns) == (2 * PERIOD, 0.0, PERIOD, 0)
    resumed = times.now
    for number in range(1, 499):
        assert made.next().overruns == 0
        assert times.now == pytest.approx(resumed + number * PERIOD, abs=1e-9)
    assert made.slower == pytest.approx(1.0) and made.next().slower == pytest.approx(1.0, rel=0.01)
    assert slowdown_text(made.slower) == "the machine was busy: 100 % slower than real time"


def test_faster_than_real_time_is_not_slower(times: Times) -> None:
    made = ticker(Plant(), speed=20.0)
    began = times.now
    for _ in range(100):
        made.next()
        times.now += 0.25 * PERIOD  # five times as long as was wanted
    assert times.now - began == pytest.approx(25.0 * PERIOD, rel=0.05) and made.slower == 0.0


def test_a_plant_that_has_gone_on_by_itself_costs_the_cycles_it_went_through(times: Times) -> None:
    plant = Plant()
    made = ticker(plant)
    for _ in range(10):
        made.next()
    times.now += 0.5
    plant.ahead = START + 0.5203
    tick = made.next()
    assert tick.t == pytest.approx(0.522) and plant.now() == pytest.approx(START + 0.522)
    assert tick.overruns == 250 and tick.period == pytest.approx(251 * PERIOD)
    assert made.slower == 0.0  # it was not the machine
    assert made.next().overruns == 250


def test_what_took_the_plants_time_between_two_cycles_is_no_overrun(times: Times) -> None:
    plant = Plant()
    made = ticker(plant)
    made.next()
    plant.give(START + 0.1007)
    made.begin()
    tick = made.next()
    assert tick.t == pytest.approx(0.104) and (tick.overruns, tick.period) == (0, PERIOD)


def test_another_plant_has_another_clock_and_rig_time_goes_on(times: Times) -> None:
    plant = Plant()
    made = ticker(plant)
    for _ in range(5):
        made.next()
    plant.given, plant.epoch = [9000.0], 2
    made.begin()
    assert made.next().t == pytest.approx(6 * PERIOD) and plant.now() == pytest.approx(9000.0 + PERIOD)


def test_the_origin_is_unknown_while_there_is_no_plant_whose_clock_it_is_of(times: Times) -> None:
    plant = Plant()
    made = ticker(plant)
    assert made.origin == START
    plant.attached = False
    assert math.isnan(made.origin)
    plant.given, plant.epoch, plant.attached = [9000.0], 2, True
    assert math.isnan(made.origin), "that of the plant before is no origin of this one's clock"
    made.begin()
    assert made.origin == 9000.0
