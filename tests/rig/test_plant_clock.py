"""The plant's clock on a made-up machine: an engine that is late, and one that is gone, stopped or hangs."""

import math
import multiprocessing
import socket
import threading
from collections.abc import Iterator
from itertools import pairwise
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from waiting import eventually

from rig.runtime import ProcessWatch, pace_messages
from rig.virtual.process import CHECK_PERIOD, HANGING, PlantClock

WALL = 7000.0


class Machine:
    """Stands for the module `time` and for `ProcessWatch`: what the engine's process has done since its last sign."""

    def __init__(self) -> None:
        self.now = WALL
        self.idle = 0.0

    def monotonic(self) -> float:
        return self.now

    def sign(self) -> None:
        pass

    def silence(self) -> float:
        return self.idle


class Engine:
    """The other end."""

    def __init__(self, clock: PlantClock, path: Path) -> None:
        self.clock = clock
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.connect(str(path))
        clock.attend()

    def say(self, message: pace_messages.Message) -> None:
        self.socket.send(pace_messages.encode(message))

    def hear(self) -> pace_messages.Message | None:
        return pace_messages.receive(self.socket)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine()
    monkeypatch.setattr("rig.virtual.process.time", made)
    monkeypatch.setattr("rig.virtual.process.ProcessWatch", lambda _pid: made)
    return made


@pytest.fixture
def clock(machine: Machine, tmp_path: Path) -> Iterator[PlantClock]:
    made = PlantClock()
    made.listen(tmp_path / "pace")
    try:
        yield made
    finally:
        made.close()
        assert not (tmp_path / "pace").exists()


@pytest.fixture
def engine(clock: PlantClock, tmp_path: Path) -> Iterator[Engine]:
    """An engine that gives the time: 1 s after the clock's beginning."""
    made = Engine(clock, tmp_path / "pace")
    made.say(pace_messages.Resume())
    clock.now()
    assert made.hear() == pace_messages.PlantTime(WALL)
    made.say(pace_messages.Time(WALL + 1.0))
    assert clock.now() == WALL + 1.0
    yield made
    made.socket.close()


def wait(machine: Machine, clock: PlantClock, duration: float) -> float:
    """Let the machine go on, the server looking at its clock as it does; the clock then."""
    end = machine.now + duration
    while machine.now < end:
        machine.now = min(end, machine.now + 0.5 * CHECK_PERIOD)
        now = clock.now()
    return now


def test_without_an_engine_it_is_the_machines(machine: Machine, clock: PlantClock) -> None:
    assert wait(machine, clock, 10.0) == machine.now


def test_it_waits_for_an_engine_that_is_only_late_however_long(
    machine: Machine, clock: PlantClock, engine: Engine
) -> None:
    machine.idle = 0.9 * HANGING
    assert wait(machine, clock, 3600.0) == WALL + 1.0
    assert engine.hear() is None
    engine.say(pace_messages.Time(WALL + 1.002))
    assert clock.now() == WALL + 1.002


@pytest.mark.parametrize("idle", [math.inf, 1.1 * HANGING])
def test_it_goes_on_where_the_engine_is_stopped_or_hangs(
    machine: Machine, clock: PlantClock, engine: Engine, idle: float
) -> None:
    machine.idle = idle
    assert wait(machine, clock, 0.8 * CHECK_PERIOD) == WALL + 1.0
    assert wait(machine, clock, 5.0) == pytest.approx(
        WALL + 6.0 + 0.8 * CHECK_PERIOD
    )  # from when the engine was heard last
    assert engine.hear() == pace_messages.Ahead()
    engine.say(pace_messages.Time(WALL + 1.002))  # of an engine that does not know it yet
    assert clock.now() == pytest.approx(machine.now + 1.0)
    engine.say(pace_messages.Resume())
    there = clock.now()
    assert engine.hear() == pace_messages.PlantTime(there)
    machine.idle = 0.0
    assert wait(machine, clock, 1.0) == there
    engine.say(pace_messages.Time(there + 0.002))
    assert clock.now() == there + 0.002


def test_it_goes_on_from_the_last_time_given_where_the_engine_is_gone(
    machine: Machine, clock: PlantClock, engine: Engine, tmp_path: Path
) -> None:
    engine.socket.close()
    assert wait(machine, clock, 5.0) == WALL + 1.0 + 5.0
    after = Engine(clock, tmp_path / "pace")
    after.say(pace_messages.Resume())
    assert clock.now() == WALL + 6.0 and after.hear() == pace_messages.PlantTime(WALL + 6.0)
    assert wait(machine, clock, 5.0) == WALL + 6.0
    after.socket.close()


def test_what_it_makes_up_for_comes_in_slices_that_a_plant_can_follow(
    machine: Machine, clock: PlantClock, engine: Engine
) -> None:
    machine.now += 5.0
    machine.idle = math.inf
    steps = [clock.now()]
    while steps[-1] < machine.now + 1.0:
        steps.append(clock.now())
    assert max(after - before for before, after in pairwise(steps)) <= 0.25
    assert steps[-1] == pytest.approx(machine.now + 1.0)


def deadlocked(ready: Connection) -> None:
    """A process whose main thread waits for good, while another one computes."""

    def spin() -> None:
        while True:
            pass

    threading.Thread(target=spin, daemon=True).start()
    ready.send(True)
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


def test_a_deadlock_is_not_hidden_by_a_thread_that_computes() -> None:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=deadlocked, args=(theirs,), daemon=True)
    process.start()
    try:
        assert ours.recv()
        watch = ProcessWatch(process.pid or 0)
        eventually(lambda: watch.silence() > 1.0, "the silence")
    finally:
        process.kill()
        process.join()


def test_a_process_that_waits_for_a_processor_is_not_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine()
    monkeypatch.setattr("rig.runtime.process_watch.time", machine)
    threads = ("R", 1.0)
    monkeypatch.setattr("rig.runtime.process_watch._stat", lambda _path: threads)
    watch = ProcessWatch(1)

    def silence(duration: float) -> float:
        for _ in range(round(duration / CHECK_PERIOD)):
            machine.now += CHECK_PERIOD
            found = watch.silence()
        return found

    assert silence(60.0) == 0.0
    threads = ("D", 1.0)  # for a disk
    assert silence(60.0) == 0.0
    threads = ("S", 1.0)
    assert silence(3.0) == pytest.approx(3.0)
    threads = ("R", 2.5)  # it had 1.5 s of a processor, on however busy a machine
    assert silence(60.0) == pytest.approx(3.0 + CHECK_PERIOD)  # no more of it than has passed
    watch.sign()
    threads = ("S", 2.5)
    machine.now += 60.0  # in which whoever looks stood still
    assert watch.silence() < 0.2
    threads = ("T", 2.5)
    assert watch.silence() == math.inf
