"""The plan of a line's cycle against the cycle itself, in manual time; and reply delays that are measured."""

import math
from collections.abc import Sequence

import pytest
from virtual_line import LineBench, line_servo

from actuators import (
    COMMAND_OFF,
    Buses,
    Command,
    DeviceCells,
    DeviceLine,
    Drive,
    FaultyServo,
    Mode,
    bus_plans,
    create_cell_device,
    create_cell_twin,
    create_drive,
    exchange_all,
)
from actuators.framing import silence
from calibration import identity
from rig.engine.drive_group import DriveGroup
from rig.testing import BenchLeg as Leg


class Clock:
    time = 100.0


class CarryingWire:
    """A wire to devices whose bytes and reply delays take their time on a clock of the test's own."""

    descriptor = -1
    connected = True

    def __init__(self, line: DeviceLine, clock: Clock) -> None:
        self.line, self.clock = line, clock
        self.arrived = b""

    def now(self) -> float:
        return self.clock.time

    def send(self, data: bytes) -> bool:
        self._reach(self.clock.time)
        self.line.respond(data)
        return True

    def receive(self, deadline: float) -> bytes:
        del deadline
        self._reach(self.clock.time)
        data, self.arrived = self.arrived, b""
        return data

    def wait(self, until: float, others: Sequence["CarryingWire"]) -> Sequence["CarryingWire"]:
        while not self.arrived and self.clock.time < until:
            self._reach(min(until, max(self.line.next_event, self.clock.time)))
        return [self] if self.arrived else []

    def close(self) -> None:
        pass

    def _reach(self, now: float) -> None:
        self.clock.time = now
        self.line.tick(now)
        self.arrived += self.line.due()


def on_line(baud: int, delays: dict[int, float], **given: object) -> list[Drive]:
    """Servos on one line whose twins answer after a delay (s), by unit."""
    twins = [FaultyServo(line_servo(Leg(), unit)) for unit in delays]
    for twin, delay in zip(twins, delays.values(), strict=True):
        twin.reply_delay = delay
    wire = CarryingWire(DeviceLine(twins, 11 / baud), Clock())
    common = {"device": "line", "baud": baud, "reply_timeout": 0.1, "buses": Buses(), "open_wire": lambda _: wire}
    drives = [create_drive("servo", common | {"unit": unit, "name": f"unit {unit}"} | given) for unit in delays]
    for drive in drives:
        drive.connect(1.0)
    return drives


def exchanged(drives: list[Drive], now: float = 100.0) -> float:
    """Time that an exchange takes, s."""
    line = drives[0].line
    assert line is not None
    begun = line.now()
    assert all(reply.fresh for reply in exchange_all(drives, [COMMAND_OFF] * len(drives), now, 10.0))
    return line.now() - begun


@pytest.mark.parametrize("baud", [9600, 115_200, 1_000_000])
def test_an_exchange_takes_what_the_plan_says_where_each_waits_for_the_end_of_a_frame(baud: int) -> None:
    drives = on_line(baud, dict.fromkeys((1, 2, 3), silence(baud)))
    (plan,) = bus_plans(drives)
    assert plan.time == pytest.approx(3 * 58 * 11 / baud + 5 * silence(baud), rel=1e-9)
    assert exchanged(drives) == pytest.approx(plan.time, rel=1e-6)


def test_slow_cells_are_asked_apart_from_slow_drives_and_a_cycle_takes_what_the_plan_says() -> None:
    baud, period, sample = 115_200, 0.1, 0.2
    drives = on_line(baud, dict.fromkeys(range(1, 7), silence(baud)), sample_period=sample)
    wire = drives[0].line.wire if drives[0].line is not None else None
    assert isinstance(wire, CarryingWire)
    options: dict[str, object] = {"name": "amplifier", "device": "line", "baud": baud, "unit": 9}
    options["sample_period"] = sample
    twin = create_cell_twin("modbus", options, [Leg() for _ in range(6)])
    twin.reply_delay = silence(baud)
    line = wire.line = DeviceLine([*wire.line.devices, twin], 11 / baud)
    shared = drives[0].line
    assert shared is not None
    buses = Buses()
    assert buses.at(shared.place, lambda: shared) is shared
    amplifier = create_cell_device("modbus", options | {"buses": buses, "reply_timeout": 0.1})
    amplifier.connect(1.0)
    group = DriveGroup(drives, DeviceCells([amplifier]), identity(), [[Mode.FORCE]] * 6, wire)
    assert not group.plans[0].apart
    group.take_turns(period)
    (plan,) = group.plans
    assert [member.name for member in plan.apart] == ["amplifier"] and plan.time < plan.together
    taken, ages = list[float](), list[float]()
    for cycle in range(40):
        now = wire.clock.time = 200.0 + cycle * period
        group.exchange([Command(Mode.OFF, clear=cycle == 21)] * 6, now, 10.0)  # which asks the drives out of turn
        taken.append(wire.now() - now)
        asked = [drive.asked for drive in drives]
        assert not (amplifier.asked and any(asked)), cycle
        assert max(group.age) <= sample + 1e-9
        ages.append(group.cells_age)
    assert max(taken) == pytest.approx(plan.time, rel=1e-6) and line.devices[-1] is twin
    assert sum(one > 0.0 for one in taken) > 36
    assert max(ages[2:]) <= sample + period + 1e-9, "a period, and one cycle where drives were asked out of turn"


def test_a_delay_is_measured_and_with_it_the_plan_holds_for_slow_devices() -> None:
    baud, delays = 115_200, {1: 4e-3, 2: 1e-4, 3: 9e-3}
    drives = on_line(baud, delays)
    assert [drive.measured_delay for drive in drives] == [None] * 3
    taken = exchanged(drives)
    measured = [drive.measured_delay for drive in drives]
    assert measured == pytest.approx(list(delays.values()), abs=1e-6)
    for drive, delay in zip(drives, measured, strict=True):
        drive.reply_delay = delay
    (plan,) = bus_plans(drives)
    assert taken == pytest.approx(plan.time, rel=1e-6)


def test_each_device_has_the_delay_of_its_own_and_a_median_stands_up_to_a_late_reply() -> None:
    drives = on_line(115_200, {1: 2e-3}, turnaround=1e-3)
    line = drives[0].line
    assert line is not None and isinstance(line.wire, CarryingWire)
    for cycle in range(7):
        line.wire.line.devices[0].reply_delay = 0.02 if cycle == 3 else 2e-3
        exchanged(drives, 100.0 + cycle)
    assert drives[0].measured_delay == pytest.approx(2e-3, abs=1e-6)


def test_on_a_wire_whose_clock_stands_no_delay_is_measured() -> None:
    bench = LineBench(name="drive 4")
    assert bench.do(COMMAND_OFF).fresh
    line = bench.drive.line
    assert line is not None and math.isinf(line.now()) and bench.drive.measured_delay is None
    bench.drive.close()
