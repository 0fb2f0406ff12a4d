"""Paced time between an engine's end and a served virtual rig: real sockets, and a machine that is late on purpose."""

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from configured import endpoints
from paced_plant import Plant
from waiting import eventually

from actuators import COMMAND_OFF, ConnectError, TcpEndpoint
from rig.engine.pacer import PacedWire, Pacer
from rig.findings import Code, Finding
from rig.runtime import pace_messages

PERIOD = 2e-3
REPLY = 0.6 * PERIOD  # s after which a reply is late
LEG = 3


@pytest.fixture
def plant(tmp_path: Path) -> Iterator[Plant]:
    made = Plant(tmp_path / "pace")
    try:
        yield made
    finally:
        made.close()


def test_the_plant_stands_at_each_cycles_time_and_nowhere_else(plant: Plant) -> None:
    seen: list[float] = []
    plant.before_reply = lambda _leg: seen.append(plant.rig.time)
    given = [plant.cycle() for _ in range(50)]
    assert sorted(set(seen)) == given and all(seen.count(t) >= 6 for t in given)  # a look at a watchdog is one more
    assert np.diff(given) == pytest.approx(PERIOD, abs=1e-9) and plant.drives.fresh.all()


def test_a_reply_that_the_machine_delays_is_waited_for(plant: Plant) -> None:
    plant.cycle()
    late, asked = threading.Event(), plant.pacer.settle

    def hold(leg: int) -> None:
        if leg == LEG:
            assert late.wait(60.0)

    def settle(t: float) -> None:  # the reply is not there, and the plant is asked whether it ever will be
        late.set()
        asked(t)

    plant.before_reply, plant.pacer.settle = hold, settle  # type: ignore[method-assign]
    t = plant.cycle()
    assert late.is_set() and plant.drives.fresh.all()
    assert plant.ticker.now() == plant.rig.time == t


def test_a_reply_that_is_lost_is_missed_by_the_plants_clock(plant: Plant) -> None:
    plant.rig.drives[LEG - 1].inject("drop_all")
    for _ in range(3):
        t = plant.cycle()
        assert plant.drives.fresh.tolist() == [leg != LEG for leg in range(1, 7)]
        assert plant.ticker.now() == plant.rig.time == pytest.approx(t + REPLY, abs=1e-9)
    plant.rig.drives[LEG - 1].clear("drop_all")
    t = plant.cycle()
    assert plant.drives.fresh.all() and plant.rig.time == t


@pytest.mark.parametrize(("delay", "fresh"), [(0.5 * REPLY, True), (5.0 * PERIOD, False)])
def test_a_reply_that_is_delayed_comes_by_the_plants_clock(plant: Plant, delay: float, fresh: bool) -> None:
    plant.rig.drives[LEG - 1].inject("delay", delay)
    for _ in range(10):
        t = plant.cycle()
        assert plant.drives.fresh[LEG - 1] == fresh
        assert plant.ticker.now() == pytest.approx(t + (delay if fresh else REPLY), abs=1e-9)


def test_a_time_that_is_lost_is_said_and_taken_back(plant: Plant) -> None:
    said: list[Finding] = []
    plant.pacer.report = said.append
    plant.cycle()
    t = plant.ticker.next().t
    assert plant.pacer._socket is not None
    plant.pacer._socket.shutdown(socket.SHUT_RDWR)
    plant.cycle()
    assert not plant.pacer.attached and [found.code for found in said] == [Code.PLANT_UNPACED]
    cycles = 1

    def back() -> bool:
        nonlocal cycles
        plant.cycle()
        cycles += 1
        return plant.pacer.attached

    eventually(back, "the plant's time")
    assert [found.code for found in said[1:]] == [Code.PLANT_PACED_AGAIN]
    assert plant.cycle() == plant.rig.time and plant.drives.fresh.all()
    assert plant.ticker.next().t == pytest.approx(t + (cycles + 2) * PERIOD)


def test_a_connection_that_the_drive_closes_is_closed(plant: Plant) -> None:
    plant.rig.drives[LEG - 1].inject("close")
    plant.cycle()
    plant.cycle()
    assert plant.drives.fresh.tolist() == [leg != LEG for leg in range(1, 7)]


def test_an_access_beside_the_cycles_takes_as_long_as_its_reply_on_the_plants_clock(plant: Plant) -> None:
    t = plant.cycle()
    plant.drives.verify(LEG - 1, 1.0)
    assert plant.ticker.now() == t
    plant.rig.drives[LEG - 1].inject("delay", 0.05)
    plant.drives.verify(LEG - 1, 1.0)
    taken = plant.ticker.now() - t
    assert 0.1 <= round(taken, 9) < 0.15  # two accesses
    plant.ticker.begin()
    tick = plant.ticker.next()
    assert tick.overruns == 0 and plant.ticker.now() >= t + taken
    assert tick.t / PERIOD == pytest.approx(round(tick.t / PERIOD), abs=1e-9)


def test_one_engine_gives_the_time(plant: Plant) -> None:
    with pytest.raises(ConnectError, match="another one gives it"):
        PacedWire(TcpEndpoint(*endpoints(plant.config)[0]), 1.0, Pacer(plant.path))
    plant.cycle()
    assert plant.drives.fresh.all()


def test_an_engine_that_goes_leaves_the_plant_to_the_wall_clock(plant: Plant) -> None:
    t = plant.cycle()
    plant.pacer.close()
    plant.drives.exchange([COMMAND_OFF] * 6, plant.ticker.now(), 60.0)  # by wall time, as with any Modbus client
    assert plant.rig.time > t


def test_what_no_process_of_ours_sends_is_no_message() -> None:
    message = pace_messages.Settle(1.5, {(5021, 40000): 2**40, (5022, 40001): -1})
    assert pace_messages.decode(pace_messages.encode(message)) == message
    for packet in (b"\x07" + 8 * b"\0", b"\0", pace_messages.encode(message)[:-1]):
        with pytest.raises(ValueError, match="pace"):
            pace_messages.decode(packet)


def test_what_is_asked_of_the_plant_is_answered_while_its_time_stands(plant: Plant) -> None:
    t = plant.cycle()
    looked = threading.Semaphore(0)
    advance = plant.rig.advance

    def look(now: float) -> None:
        advance(now)
        looked.release()

    plant.advance = look
    for _ in range(3):
        assert looked.acquire(timeout=60.0)
    assert plant.rig.time == t
