"""Every device of load cells over its twin while its wire fails at random: nothing wrong is believed, all is counted.

`make explore` goes on for a million cycles of each.
"""

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from exploration import seeds
from random_faults import CYCLES, FRAME, HEADER, KINDS, RandomFaults
from test_every_cell_driver import PLACES, Bench


def faults_of(driver: str, place: dict[str, Any]) -> tuple[Sequence[str], int]:
    """Those that a wire of this kind has and its device tells, and how many bits can be flipped.

    Nothing protects ASCII from a digit that became another one, and on a line nothing tells a reply that is too old.
    """
    if driver != "modbus" and "modbus_number" not in place:
        return KINDS, 1
    if driver == "modbus" and "host" in place:
        return (*KINDS, "bit_flip", "delay", "replay"), HEADER
    return (*KINDS, "bit_flip"), FRAME


@pytest.mark.parametrize("seed", seeds(1))
@pytest.mark.parametrize(("driver", "place"), [(name, place) for name in PLACES for place in PLACES[name]])
def test_nothing_wrong_is_believed_and_all_is_counted(driver: str, place: dict[str, Any], seed: int) -> None:
    bench, draw = Bench(driver, place), random.Random(seed)
    counted, applied = Counter[str](), [0.0, 0.0]
    bench.read()
    device = bench.device
    faults = RandomFaults(draw, bench.twin, device.counters, *faults_of(driver, place))
    before = device.counters.received
    for cycle in range(CYCLES):
        faults.step()
        if not device.connected and faults.left == 0:
            device.connect(1.0)
        applied = [applied[1], 5.0 + 0.5 * (cycle % 400)]
        for channel, leg in enumerate(bench.legs):
            leg.cell = applied[1] * (1 + channel)
        reading = bench.read()
        counted["fresh" if reading.fresh else "stale"] += 1
        if reading.fresh:
            late = bench.by_itself and abs(reading.forces[0] - applied[0]) < 0.1  # a line that was cut
            expected = [applied[0 if late else 1] * (1 + channel) for channel in range(len(bench.legs))]
            assert reading.forces == pytest.approx(expected, abs=2 * bench.step), (cycle, faults.begun)
    received = device.counters.received - before
    assert received == counted["fresh"] if not bench.by_itself else received >= counted["fresh"] - faults.begun["close"]
    assert counted["fresh"] + counted["stale"] == CYCLES and counted["stale"] > 0
    bench.twin.clear_all()
    if not device.connected:
        device.connect(1.0)
    for _ in range(3):
        reading = bench.read()
    assert reading.fresh
    print(faults.summary(f"{driver} {place}", counted))
    device.close()
