"""Several units behind one connection of Modbus TCP: every reply finds whoever asked."""

import time
from typing import Any

import pytest
from drive_support import PROFILE, Stand, serving

from actuators import COMMAND_OFF, Buses, ConnectError, MemoryWire, VirtualServo, create_drive, exchange_all
from actuators.bus import Exchange, PipelinedBus
from actuators.framing import MBAP
from actuators.interface import Counters
from rig.testing import BenchLeg as Leg

READ = bytes.fromhex("03 0000 0001")


def frame(transaction: int, message: bytes) -> bytes:
    return MBAP.pack(transaction, 0, len(message)) + message


class Gateway:
    """Two units on a bus whose wire hands over what a test puts into `arriving`, a piece for each look."""

    def __init__(self) -> None:
        self.requests: list[bytes] = []
        self.arriving: list[bytes] = []
        self.opened = 0
        gateway = self

        class Taught(MemoryWire):
            def receive(self, deadline: float) -> bytes:
                return gateway.arriving.pop(0) if gateway.arriving else b""

            def now(self) -> float:
                return 0.0

        def note(data: bytes) -> bytes:
            self.requests.append(data)
            return b""

        def open_wire(_timeout: float) -> MemoryWire:
            self.opened += 1
            self.wire = Taught(note)
            return self.wire

        self.bus = PipelinedBus(open_wire)
        self.units = [Exchange(unit, Counters()) for unit in (1, 2)]
        for unit in self.units:
            unit.reply_length = 5
            self.bus.join(unit, 1.0)

    def ask(self) -> list[bytes]:
        """Ask both units; the replies that they would give, in order."""
        first = self.bus.transaction + 1
        for unit in self.units:
            assert self.bus.begin(unit, bytes((unit.unit,)) + READ)
        return [frame(first + place, bytes((1 + place, 3, 2, 0, 11 * (1 + place)))) for place in range(2)]

    def collect(self, deadline: float = 1.0) -> list[bytes | None]:
        return [self.bus.collect(unit, deadline) for unit in self.units]


@pytest.mark.parametrize(
    "arrive",
    [
        lambda one, two: [one, two],
        lambda one, two: [two, one],
        lambda one, two: [one + two],
        lambda one, two: [two + one],
        lambda one, two: [two[:4], two[4:] + one[:9], one[9:]],
    ],
)
def test_replies_find_who_asked_in_whatever_order_and_pieces(arrive):
    gateway = Gateway()
    gateway.arriving = arrive(*gateway.ask())
    assert gateway.collect() == [bytes.fromhex("01 03 02 00 0b"), bytes.fromhex("02 03 02 00 16")]
    assert [unit.counters.rejected for unit in gateway.units] == [0, 0]
    assert [request[6] for request in gateway.requests] == [1, 2]


def test_a_unit_that_is_silent_costs_the_other_nothing():
    gateway = Gateway()
    gateway.arriving = [gateway.ask()[1]]
    assert gateway.collect() == [None, bytes.fromhex("02 03 02 00 16")]
    late = gateway.ask()
    gateway.arriving = [late[0] + late[1]]
    assert None not in gateway.collect()


def test_an_old_reply_of_the_same_unit_is_dropped_and_counted():
    gateway = Gateway()
    old = gateway.ask()
    assert gateway.collect(0.0) == [None, None]
    new = gateway.ask()
    gateway.arriving = [old[0] + old[1] + new[0] + new[1]]
    assert None not in gateway.collect()
    assert sum(unit.counters.rejected for unit in gateway.units) == 2


def test_one_wire_for_all_from_the_first_to_the_last():
    gateway = Gateway()
    assert gateway.opened == 1 and gateway.bus.connected
    first, second = gateway.units
    gateway.bus.leave(first)
    assert gateway.bus.connected and not gateway.bus.joined(first) and gateway.bus.joined(second)
    gateway.wire.close()
    assert not gateway.bus.joined(second)
    gateway.bus.join(first, 1.0)
    assert gateway.opened == 2 and gateway.bus.joined(second)
    gateway.bus.leave(first)
    gateway.bus.leave(second)
    assert not gateway.bus.connected
    assert not gateway.bus.begin(first, b"\x01" + READ) and gateway.bus.collect(first, 0.0) is None


def test_a_wire_that_cannot_be_opened_lets_nobody_in():
    def refuse(_timeout: float) -> MemoryWire:
        raise ConnectError("no")

    bus, unit = PipelinedBus(refuse), Exchange(1, Counters())
    with pytest.raises(ConnectError):
        bus.join(unit, 1.0)
    assert not bus.joined(unit)


class Units(Stand):
    """Servos behind one port of a gateway."""

    def __init__(self) -> None:
        self.legs = {unit: Leg(0.5 + 0.01 * unit) for unit in range(1, 7)}
        self.servos = {unit: VirtualServo(PROFILE, leg, unit=unit) for unit, leg in self.legs.items()}
        self.asked: list[int] = []

    def tick(self, now: float) -> None:
        for servo in self.servos.values():
            servo.tick(now)

    def respond(self, adu: bytes) -> bytes:
        self.asked.append(adu[6])
        return self.servos[adu[6]].respond(adu)


@pytest.mark.parametrize("shared", [False, True])
def test_six_servos_behind_one_gateway(shared):
    units, buses, opened = Units(), Buses(), []
    with serving([units]) as [(host, port)]:

        def make(unit: int):
            options = {"host": host, "port": port, "unit": unit, "profile": PROFILE, "buses": buses}
            drive: Any = create_drive("servo", options | {"shared_connection": shared, "name": f"drive {unit}"})
            drive.connect(5.0)
            opened.append(drive._station.bus)
            return drive

        drives = [make(unit) for unit in units.legs]
        assert len(set(map(id, opened))) == (1 if shared else 6)
        for _ in range(3):
            feedback = exchange_all(drives, [COMMAND_OFF] * 6, time.monotonic(), 5.0)
            assert all(one.fresh for one in feedback)
        assert units.asked == [1, 2, 3, 4, 5, 6] * 3 or not shared
        assert [drive.identify().serial for drive in drives] == ["VIRTUAL-1"] * 6
        drives[0].close()
        assert not drives[0].connected and drives[1].connected
        assert exchange_all(drives[1:], [COMMAND_OFF] * 5, time.monotonic(), 5.0)[4].fresh
        for drive in drives:
            drive.close()
