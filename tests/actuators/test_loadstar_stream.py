"""Loadstar's sensors that talk by themselves: each line is a reading once, with the time at which it was measured."""

import math
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from drive_support import serving_at

from actuators import (
    CellDevice,
    ConnectError,
    DeviceLine,
    DeviceReading,
    ProtocolError,
    SerialEndpoint,
    create_cell_device,
    create_cell_twin,
)
from actuators.loadstar import VirtualLoadstar
from actuators.wire import Wire
from rig.testing import BenchLeg as Leg

NEWTON = 4.4482216152605e-3  # a count
BYTE = 10 / 9600  # s
CYCLE = 0.02  # s
ASKED = [b"MODEL\r", b"UNITS\r"]
"""What a sensor is asked as it is connected."""


class Port:
    """A sensor's port on a clock of its own, s; what is sent is answered by `answers`."""

    connected = True
    descriptor = -1

    def __init__(self, **answers: bytes) -> None:
        """answers: to the end and to the beginning of a stream."""
        self.t = 0.0
        self.answers = {b"\r": answers.get("end", b"A\r\n"), b"O0W0\r": answers.get("begin", b"0\r\n")}
        self.arrived = b""
        self.sent: list[bytes] = []

    def now(self) -> float:
        return self.t

    def send(self, data: bytes) -> bool:
        self.sent.append(data)
        self.arrived += self.answers.get(data, b"")
        return True

    def receive(self, deadline: float) -> bytes:
        arrived, self.arrived = self.arrived, b""
        return arrived

    def wait(self, until: float, others: Sequence[Wire]) -> Sequence[Wire]:
        if not self.arrived:
            self.t = until
        return [self] if self.arrived else []

    def close(self) -> None:
        self.connected = False


def made(port: Port, **options: Any) -> CellDevice:
    given = {"device": "memory", "name": "cell 2", "open_wire": lambda _timeout: port}
    return create_cell_device("loadstar", given | options)


@pytest.fixture
def port() -> Port:
    return Port()


@pytest.fixture
def sensor(port: Port) -> CellDevice:
    device = made(port)
    device.connect(1.0)
    assert not port.arrived
    look(device, port)
    return device


def look(sensor: CellDevice, port: Port, arrived: bytes = b"") -> DeviceReading:
    """The next cycle, before which that has arrived."""
    port.t += CYCLE
    port.arrived += arrived
    sensor.begin(port.t)
    return sensor.finish(port.t + 0.001)


def test_what_is_said_at_the_port(port: Port, sensor: CellDevice) -> None:
    """The maker's bytes, and its example of 2.345 lb."""
    assert port.sent == [bytes.fromhex("0d"), *ASKED, bytes.fromhex("4f30 5730 0d")]
    reading = look(sensor, port, bytes.fromhex("32333435 0d0a"))
    assert reading.fresh and reading.forces == pytest.approx((10.431,), abs=1e-3)
    sensor.close()
    assert port.sent[4:] == [b"\r"] and not port.connected and not sensor.connected


def test_a_line_is_a_reading_once(port: Port, sensor: CellDevice) -> None:
    assert look(sensor, port, b"2345\r\n").fresh and not sensor.overdue
    for cycle in range(1, 4):
        reading = look(sensor, port)
        assert not reading.fresh and reading.forces == pytest.approx((2345 * NEWTON,)) and sensor.overdue
        assert reading.age == pytest.approx(cycle * CYCLE)
    assert look(sensor, port, b"2345\r\n").fresh
    assert sensor.counters.received == 2 and sensor.counters.sent == 0


@pytest.mark.parametrize("cut", range(1, 18))
def test_it_does_not_matter_where_the_stream_is_cut(cut: int, port: Port, sensor: CellDevice) -> None:
    lines = b"-17\r\n2345\r\n-3000\r\n"
    first = [count for count in (-17, 2345, -3000) if (f"{count}\r\n".encode()) in lines[:cut]]
    reading = look(sensor, port, lines[:cut])
    assert reading.fresh is bool(first)
    assert not first or reading.forces == pytest.approx((first[-1] * NEWTON,))
    reading = look(sensor, port, lines[cut:])
    assert reading.fresh is (cut < len(lines)) and reading.forces == pytest.approx((-3000 * NEWTON,))
    assert sensor.counters.received == 3 and sensor.counters.rejected == 0


def test_what_has_come_after_a_line_tells_when_it_was_measured(port: Port, sensor: CellDevice) -> None:
    reading = look(sensor, port, b"2345\r\n-30")
    assert reading.offset == pytest.approx(-(len(b"2345\r\n") + len(b"-30")) * BYTE)
    at = port.t + reading.offset
    reading = look(sensor, port)
    assert not reading.fresh and port.t - reading.age + reading.offset == pytest.approx(at)  # it stays where it was
    look(sensor, port, b"00\r\n")
    reading = look(sensor, port, b"1\r\n2")
    assert reading.offset == pytest.approx(-(len(b"1\r\n") + 1) * BYTE)


def test_a_line_by_itself_came_at_some_time_since_the_last_look(port: Port, sensor: CellDevice) -> None:
    own = len(b"2345\r\n") * BYTE
    reading = look(sensor, port, b"2345\r\n")
    assert -CYCLE < reading.offset + own < 0.0
    assert reading.offset + own == pytest.approx(-0.5 / 150, abs=1e-9)  # else another would have come as well


@pytest.mark.parametrize("line", [b"\r\n", b"A\r\n", b"+2345\r\n", b"23.45\r\n", b"23q5\r\n", b"nan\r\n"])
def test_what_is_no_number_is_no_reading(line: bytes, port: Port, sensor: CellDevice) -> None:
    good = look(sensor, port, b"-1000\r\n")
    reading = look(sensor, port, line)
    assert not reading.fresh and reading.forces == good.forces and sensor.counters.rejected == 1
    assert look(sensor, port, b"5\r\n" + line + b"7\r\n").forces == pytest.approx((7 * NEWTON,))
    assert look(sensor, port, b"9\r\n" + line).forces == pytest.approx((9 * NEWTON,))


def test_what_never_ends_is_dropped(port: Port, sensor: CellDevice) -> None:
    for _ in range(10):
        assert not look(sensor, port, b"1" * 30).fresh
    assert sensor.counters.rejected == 5
    look(sensor, port, b"\r\n")
    assert look(sensor, port, b"5\r\n").forces == pytest.approx((5 * NEWTON,))


def test_a_slower_pace_takes_the_last_reading_of_each_turn(port: Port) -> None:
    device = made(port, sample_period=2 * CYCLE)
    device.connect(1.0)
    assert not port.arrived
    readings = [look(device, port, b"%d\r\n" % cycle) for cycle in range(8)]
    fresh = [reading for reading in readings if reading.fresh]
    assert [reading.forces[0] / NEWTON for reading in fresh] == pytest.approx([0, 2, 4, 6])
    assert not device.overdue


def test_one_that_does_not_begin_a_stream_cannot_be_connected() -> None:
    with pytest.raises(ConnectError, match=r"cell 2 at memory did not answer within 0.2 s \(no reply to stream\)"):
        made(Port(begin=b"A\r\n")).connect(0.2)


def test_one_that_does_not_end_its_stream_cannot_be_connected() -> None:
    said = r"cell 2 at memory answered the end of a stream with something else: b'45'"
    with pytest.raises(ProtocolError, match=said):
        made(Port(end=b"45\r\n")).connect(0.2)


@pytest.mark.parametrize("rest", [b"", b"\n", b"45\r\n", b"45\r\nA\r\n", b"45\r\n2345\r\n"])
@pytest.mark.parametrize("late", [b"", b"A\r\n"])
def test_what_is_left_of_an_earlier_stream_is_no_reading(rest: bytes, late: bytes) -> None:
    port = Port(end=rest + b"A\r\n", begin=late + b"-7\r\n")
    port.arrived = b"345\r\n2345\r\n23"
    device = made(port)
    device.connect(1.0)
    assert port.sent == [b"\r", *ASKED, b"O0W0\r"]
    reading = look(device, port)
    assert reading.fresh and reading.forces == pytest.approx((-7 * NEWTON,))


def test_what_came_in_a_pause_is_no_reading(port: Port, sensor: CellDevice) -> None:
    good = look(sensor, port, b"1\r\n")
    port.t += 5.0
    reading = look(sensor, port, b"2345\r\n" * 2000 + b"23")  # more than a port keeps, its last line cut
    assert not reading.fresh and reading.forces == good.forces
    assert not look(sensor, port, b"45\r\n").fresh  # the rest of a line, or of another
    reading = look(sensor, port, b"8\r\n")
    assert reading.fresh and reading.forces == pytest.approx((8 * NEWTON,)) and sensor.counters.rejected == 0


def test_nothing_is_put_together_of_two_lines_in_a_short_pause(port: Port, sensor: CellDevice) -> None:
    look(sensor, port, b"1\r\n2")
    port.t += 1.0
    assert not look(sensor, port, b"2\r\n3\r\n44").fresh
    reading = look(sensor, port, b"5\r\n")
    assert reading.fresh and reading.forces == pytest.approx((445 * NEWTON,))


@pytest.mark.parametrize("came", [b"", b"2248", b"22481\r\n", b"22481\r\n2", b"22481\r\n" * 300 + b"22"])
def test_what_comes_between_connecting_and_the_first_cycle_is_not_put_together(came: bytes, port: Port) -> None:
    port.answers[b"O0W0\r"] = b"22481\r\n"
    device = made(port)
    device.connect(1.0)
    port.arrived = came
    assert look(device, port).forces == pytest.approx((22481 * NEWTON,))  # as it was connected
    rest = b"22481\r\n"[len(came.rpartition(b"\n")[2]) :]
    for arrived in (rest, b"22481\r\n", b"22481\r\n"):
        reading = look(device, port, arrived)
        assert reading.forces == pytest.approx((22481 * NEWTON,))
    assert reading.fresh and device.counters.rejected == 0


def test_one_that_talks_no_more_is_told_to_talk_again(port: Port, sensor: CellDevice) -> None:
    look(sensor, port, b"1\r\n")
    port.answers[b"O0W0\r"] = b""
    for _ in range(int(0.24 / CYCLE)):
        look(sensor, port)
    assert len(port.sent) == 4
    for _ in range(int(1.1 / CYCLE)):
        look(sensor, port)
    assert port.sent[4:] == [b"O0W0\r"] * 3 and sensor.overdue
    port.answers[b"O0W0\r"] = b"34\r\n9\r\n"  # the first may be the rest of an earlier one
    readings = [look(sensor, port) for _ in range(int(0.6 / CYCLE))]
    fresh = [reading.forces[0] / NEWTON for reading in readings if reading.fresh]
    assert fresh and fresh == pytest.approx([9.0] * len(fresh))


def test_over_a_port_of_its_own(tmp_path: Path) -> None:
    """Real time and a real port: only what holds however late either side is."""
    link, leg = tmp_path / "cell", Leg()
    place = {"device": str(link), "baud": 230400}
    twin = create_cell_twin("loadstar", place, [leg])
    with serving_at([(SerialEndpoint(str(link), 230400), DeviceLine([twin], 10 / 230400))], tick=2e-4):
        device = create_cell_device("loadstar", place | {"request_timeout": 30.0})
        device.connect(30.0)
        pause, fresh = threading.Event(), []
        for count in range(4):
            leg.cell = -1000.0 * count * NEWTON
            pause.wait(0.1)
            for _ in range(3):
                now = time.monotonic()
                device.begin(now)
                reading = device.finish(now)
                fresh.append(reading.fresh)
                pause.wait(0.02)
            assert reading.forces == pytest.approx((leg.cell,), abs=NEWTON) and reading.offset < 0.001
        assert sum(fresh) >= 4 and device.counters.rejected == 0
        assert device.identify().vendor == "Loadstar"
        device.close()
        device.connect(5.0)
        device.close()


PERIOD = 1.0 / 150  # s


def streaming(leg: Leg) -> VirtualLoadstar:
    leg.cell = 10.431
    twin = VirtualLoadstar(leg)
    assert twin.respond(b"O0W0\r") == b"2345\r\n"
    return twin


def test_the_twin_sends_lines_until_a_carriage_return() -> None:
    leg = Leg()
    twin = streaming(leg)
    assert twin.due() == b"" and twin.next_event == pytest.approx(PERIOD)
    twin.tick(0.99 * PERIOD)
    assert twin.due() == b""
    twin.tick(PERIOD)
    assert twin.due() == b"2345\r\n" and twin.due() == b""
    leg.cell = -leg.cell
    twin.tick(2.55 * PERIOD)  # a turn that nobody came to is left out
    assert twin.due() == b"-2345\r\n" and twin.next_event == pytest.approx(3 * PERIOD)
    assert twin.respond(b"\r") == b"A\r\n"
    twin.tick(1.0)
    assert twin.due() == b"" and math.isinf(twin.next_event)


def test_without_a_value_the_twin_leaves_lines_out() -> None:
    leg = Leg()
    twin = streaming(leg)
    leg.cell = math.nan
    twin.tick(PERIOD)
    assert twin.due() == b""
    leg.cell = 10.431
    twin.tick(2 * PERIOD)
    assert twin.due() == b"2345\r\n"


@pytest.mark.parametrize("force", [-100.0, -1000.0, 1000.0, -50000.0])
@pytest.mark.parametrize("baud", [9600, 230400])
def test_a_line_is_whole_before_the_twin_begins_another(baud: int, force: float) -> None:
    leg = Leg()
    line = DeviceLine([create_cell_twin("loadstar", {"device": "memory", "baud": baud}, [leg])], 10 / baud)
    line.tick(0.0)
    line.respond(b"O0W0\r")
    leg.cell, lines, t = force, 0, 0.0
    while t < 10.0:
        t = max(t, line.next_event)
        line.tick(t)
        lines += line.due().count(b"\n")
    leg.cell = 0.0
    said = b""
    while b"\n0\r\n" not in said and t < 11.0:
        t += 1e-3
        line.tick(t)
        said += line.due()
    assert t < 10.04 and lines > 80 * 10  # none has piled up


@pytest.mark.parametrize("fault", ["drop_all", "busy"])
def test_a_wire_that_fails_carries_no_stream(fault: str) -> None:
    twin = create_cell_twin("loadstar", {"device": "memory"}, [Leg()])
    twin.respond(b"O0W0\r")
    twin.inject(fault)
    twin.tick(0.1)
    assert twin.due() == b""
    twin.clear(fault)
    twin.tick(0.2)
    assert twin.due() != b""
