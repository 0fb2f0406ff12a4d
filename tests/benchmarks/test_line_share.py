"""A cycle's exchange on serial lines, beside the time that its bytes and silences take on the wires themselves.

Real pseudo-terminals; the twins, which keep the bytes' time, are in a process of their own. What comes to the wires'
time is that of both processes, theirs and ours, and of the system that wakes them.
"""

import multiprocessing
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import pytest
from drive_support import Leg

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
from rig.runtime import prepare_process

BAUD = 1_000_000
CYCLES = 2000
PERIOD = 5e-3  # s
Options = list[dict[str, Any]]


def serve(driver: str, lines: dict[str, Options], stop: Event, ready: Event) -> None:
    """Main function of the twins' process."""
    served = []
    for port, units in lines.items():
        twins = [create_twin(driver, {"device": port, "baud": BAUD, **unit}, Leg()) for unit in units]
        endpoint = SerialEndpoint(port, BAUD)
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


@pytest.mark.parametrize(
    ("driver", "ports", "units", "settings"),
    [
        ("servo", 2, 3, {"turnaround": 1e-4}),
        ("orca", 6, 1, {"turnaround": 8e-5}),
    ],
)
def test_six_drives(
    driver: str, ports: int, units: int, settings: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines: dict[str, Options] = {
        str(tmp_path / f"port-{port}"): [{"unit": unit} for unit in range(1, units + 1)] for port in range(ports)
    }
    with twins(driver, lines):
        buses = Buses()
        common = {"baud": BAUD, "reply_timeout": 0.05, "watchdog": 1.0, "buses": buses} | settings
        drives = [
            create_drive(driver, {"device": port, "name": f"drive {port}", **unit, **common})
            for port, units_there in lines.items()
            for unit in units_there
        ]
        for drive in drives:
            drive.connect(5.0)
            drive.configure()
        plan = max(plan.time for plan in bus_plans(drives))
        taken = measured(drives)
        for drive in drives:
            drive.close()
    share = [taken[round(part * (CYCLES - 1))] / plan for part in (0.1, 0.5, 0.9)]
    with capsys.disabled():
        print(f"\n{driver}: {plan * 1e3:.3f} ms on the wires; an exchange takes {share[1]:.2f} times that")
        print(f"  ({share[0]:.2f} to {share[2]:.2f}, the first and the last tenth left out)")


def measured(drives: Sequence[Any]) -> list[float]:
    """Times of exchanges, s, sorted, once a period."""
    taken, stale, pause = [], 0, threading.Event()
    for _ in range(CYCLES):
        begun = time.monotonic()
        feedback = exchange_all(drives, [COMMAND_OFF] * len(drives), begun, 0.1)
        taken.append(time.monotonic() - begun)
        stale += not all(sample.fresh for sample in feedback)
        pause.wait(max(0.0, PERIOD - taken[-1]))
    assert stale < CYCLES / 100, f"{stale} of {CYCLES} exchanges without a reply, {drives[0].counters}"
    return sorted(taken)
