"""A cycle's exchange on serial lines, beside its plan: the time of bytes, reply delays and silences on the wires.

Real pseudo-terminals; the twins, which keep the bytes' time, and those who talk to them are in processes of their own,
set up as the virtual rig's and the engine's are. What comes to the wires' time is that of both processes and of the
system that wakes them; the peer is a pair of bare loops, `bare_line`, which shows how much of it is the system's.
There are two plans: one assumes that a device answers after the silence of the standard, the other has the reply
delays of these devices, as `rig setup new --ask` and `rig scan` measure them and the configuration keeps them.
"""

import multiprocessing
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import pytest
from bare_line import bare_exchanges

from actuators import (
    COMMAND_OFF,
    Buses,
    DeviceLine,
    SerialEndpoint,
    TwinServer,
    bus_plans,
    create_drive,
    create_twin,
    exchange_all,
)
from actuators.framing import silence
from actuators.wire import SerialWire
from rig.runtime import prepare_process
from rig.testing import BenchLeg as Leg

CYCLES = 1000
_LONGEST = 4.0  # s of bytes, at most: all of them together take less than three minutes
Options = list[dict[str, Any]]


def serve(driver: str, lines: dict[str, Options], stop: Event, ready: Event) -> None:
    """Main function of the twins' process."""
    served = []
    for port, units in lines.items():
        twins = [create_twin(driver, {"device": port, **unit}, Leg()) for unit in units]
        endpoint = SerialEndpoint(port, units[0]["baud"])
        served.append((endpoint, DeviceLine(twins, endpoint.byte_time)))
    prepare_process(None, None)
    TwinServer(served).serve(stop, lambda _: ready.set())


@contextmanager
def twins(driver: str, lines: dict[str, Options]) -> Iterator[None]:
    context = multiprocessing.get_context("spawn")
    stop, ready = context.Event(), context.Event()
    process = context.Process(target=serve, args=(driver, lines, stop, ready), daemon=True)
    process.start()
    try:
        assert ready.wait(60.0)
        yield
    finally:
        stop.set()
        process.join(10.0)
        assert process.exitcode == 0


class Carried:
    """What this process's end of the lines has sent and received, by line: frames sent, and bytes both ways."""

    def __init__(self) -> None:
        self.lines: dict[object, list[int]] = {}
        send, receive = SerialWire.send, SerialWire.receive

        def counted_send(wire: SerialWire, data: bytes) -> bool:
            line = self.lines.setdefault(wire, [0, 0])
            line[0] += 1
            line[1] += len(data)
            return send(wire, data)

        def counted_receive(wire: SerialWire, deadline: float) -> bytes:
            data = receive(wire, deadline)
            self.lines.setdefault(wire, [0, 0])[1] += len(data)
            return data

        patch = pytest.MonkeyPatch()  # for the life of this process
        patch.setattr(SerialWire, "send", counted_send)
        patch.setattr(SerialWire, "receive", counted_receive)

    def time(self, byte_time: float, turnaround: float) -> float:
        """The wires' own time since the last call, s: of the line that took longest.

        The devices wait as long before they answer as the line is silent after that.
        """
        times = [size * byte_time + (2 * frames - 1) * turnaround for frames, size in self.lines.values()]
        self.lines.clear()
        return max(times)


@pytest.mark.parametrize(
    ("driver", "ports", "units", "baud", "turnaround", "asked", "answered"),
    [
        ("servo", 2, 3, 115_200, 1e-4, 31, 27),
        ("servo", 2, 3, 500_000, 1e-4, 31, 27),
        ("servo", 2, 3, 1_000_000, 1e-4, 31, 27),
        ("orca", 6, 1, 1_000_000, 8e-5, 9, 19),
        ("servo", 2, 3, 9600, silence(9600), 31, 27),
        ("servo", 2, 3, 115_200, silence(115_200), 31, 27),
        ("servo", 2, 3, 1_000_000, silence(1_000_000), 31, 27),
    ],
)
def test_six_drives(
    driver: str,
    ports: int,
    units: int,
    baud: int,
    turnaround: float,
    asked: int,
    answered: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines: dict[str, Options] = {
        str(tmp_path / f"port-{port}"): [
            {"unit": unit, "baud": baud, "turnaround": turnaround} for unit in range(1, units + 1)
        ]
        for port in range(ports)
    }
    cycles = min(CYCLES, round(_LONGEST * baud / (units * (asked + answered) * 11)))
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    with twins(driver, lines):
        process = context.Process(target=talk, args=(driver, lines, 11 / baud, turnaround, cycles, theirs), daemon=True)
        process.start()
        assert ours.poll(120.0)
        assumed, plan, taken, shares = ours.recv()
        process.join(10.0)
    assert process.exitcode == 0
    places = [tmp_path / f"bare-{port}" for port in range(ports)]
    bare, overslept = bare_exchanges(places, units, asked, answered, 11 / baud, turnaround, cycles, turnaround)
    least = [bare[round(part * (cycles - 1))] for part in (0.1, 0.5, 0.9)]
    times = [taken[round(part * (cycles - 1))] for part in (0.1, 0.5, 0.9)]
    planned, known = [time / assumed for time in times], [time / plan for time in times]
    carried = [shares[round(part * (cycles - 1))] for part in (0.1, 0.5, 0.9)]
    with capsys.disabled():
        print(f"\n{driver} at {baud} baud; an exchange takes, median (10 % to 90 %), times")
        print(f"  {known[1]:.3f} ({known[0]:.3f} to {known[2]:.3f}) a plan with measured delays, {1e3 * plan:.3f} ms")
        print(f"  {planned[1]:.3f} ({planned[0]:.3f} to {planned[2]:.3f}) a plan without, {1e3 * assumed:.3f} ms")
        print(f"  {carried[1]:.2f} ({carried[0]:.2f} to {carried[2]:.2f}) the time of the bytes that were carried")
        print(f"  {least[1]:.2f} ({least[0]:.2f} to {least[2]:.2f}): so much take loops that understand nothing")
        print(f"    ({overslept:.3f} of it because the devices' process woke late)")
        print(f"  {carried[1] / least[1]:.2f} times those; ours is {planned[1] - least[1]:+.3f} of the second plan")


def talk(
    driver: str, lines: dict[str, Options], byte_time: float, turnaround: float, cycles: int, told: Connection
) -> None:
    """Main function of the process that talks to the twins, as the engine does."""
    prepare_process(None, None)
    with closing(Rig(driver, lines)) as rig:
        assumed = rig.plan
        delays = iter(rig.reply_delays())
    known = {port: [unit | {"reply_delay": next(delays)} for unit in units] for port, units in lines.items()}
    with closing(Rig(driver, known)) as rig:
        told.send((assumed, rig.plan, *rig.measured(Carried(), byte_time, turnaround, 2.0 * assumed, cycles)))


class Rig:
    """Six drives, connected."""

    def __init__(self, driver: str, lines: dict[str, Options]) -> None:
        common = {"reply_timeout": 0.05, "watchdog": 5.0, "buses": Buses()}
        places = [{"device": port, "name": f"{port} {unit['unit']}", **unit} for port in lines for unit in lines[port]]
        self.drives = [create_drive(driver, place | common) for place in places]
        for drive in self.drives:
            drive.connect(5.0)
            drive.configure()

    @property
    def plan(self) -> float:
        """Planned time of a cycle on the line that takes longest, s."""
        return max(plan.time for plan in bus_plans(self.drives))

    def reply_delays(self) -> list[float]:
        """Measured as set-up does, s."""
        return [drive.measure_reply_delay(5.0) or 0.0 for drive in self.drives]

    def close(self) -> None:
        for drive in self.drives:
            drive.close()

    def measured(
        self, carried: Carried, byte_time: float, turnaround: float, period: float, cycles: int
    ) -> tuple[list[float], list[float]]:
        """Times of exchanges, one a period, s, and their shares of the wires' own times; both sorted."""
        taken, shares, stale, pause = [], [], 0, threading.Event()
        for _ in range(cycles):
            begun = time.monotonic()
            feedback = exchange_all(self.drives, [COMMAND_OFF] * len(self.drives), begun, 10.0)
            taken.append(time.monotonic() - begun)
            shares.append(taken[-1] / carried.time(byte_time, turnaround))
            stale += not all(sample.fresh for sample in feedback)
            pause.wait(max(0.0, period - taken[-1]))
        assert stale <= cycles / 100, f"{stale} of {cycles} exchanges without a reply, {self.drives[0].counters}"
        return sorted(taken), sorted(shares)
