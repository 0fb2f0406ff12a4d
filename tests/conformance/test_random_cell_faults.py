"""Every device of load cells over its twin while its wire fails at random: nothing wrong is believed, all is counted.

`make explore` goes on for a million cycles of each.
"""

import random
from collections import Counter
from typing import Any

import pytest
from exploration import either, seeds
from test_every_cell_driver import PLACES, Bench

CYCLES = either(400, 1_000_000)
RARITY = either(20, 1000)
"""Cycles, on the average, from one fault to the next."""
LASTING = 5
"""Cycles, at most."""
KINDS = ("drop_write", "drop_all", "busy", "close", "rechunk", "noise")
"""What every one of them tells from a good reply."""
HEADER = 8 * 8
"""Bits of a frame of Modbus TCP that can be judged: what follows has TCP's own checksum."""


def faults(driver: str, place: dict[str, Any]) -> list[tuple[str, int]]:
    """Those that a wire of this kind has and its device tells, and how many bits can be flipped.

    Nothing protects ASCII from a digit that became another one, and on a line nothing tells a reply that is too old.
    """
    if driver != "modbus" and "modbus_number" not in place:
        return [(kind, 0) for kind in KINDS]
    if driver == "modbus" and "host" in place:
        return [(kind, HEADER) for kind in (*KINDS, "bit_flip", "delay", "replay")]
    return [(kind, 200) for kind in (*KINDS, "bit_flip")]


@pytest.mark.parametrize("seed", seeds(1))
@pytest.mark.parametrize(("driver", "place"), [(name, place) for name in PLACES for place in PLACES[name]])
def test_nothing_wrong_is_believed_and_all_is_counted(driver: str, place: dict[str, Any], seed: int) -> None:
    bench, draw = Bench(driver, place), random.Random(seed)
    kinds, begun, counted, told, left = faults(driver, place), Counter[str](), Counter[str](), [0.0, 0.0], 0
    kind, unusable = "", 0
    bench.read()
    device = bench.device
    before = device.counters.received
    for cycle in range(CYCLES):
        if left == 0 and draw.randrange(RARITY) == 0:
            (kind, bits), left = draw.choice(kinds), draw.randint(1, LASTING)
            value = draw.randrange(bits) if kind == "bit_flip" else 0.003 if kind == "delay" else None
            bench.twin.inject(kind, value)
            begun[kind] += 1
            unusable = device.counters.unusable
        elif left:
            left -= 1
            if left == 0:
                bench.twin.clear_all()
                assert kind != "noise" or device.counters.unusable > unusable, (cycle, begun)
        if not device.connected and left == 0:
            device.connect(1.0)
        told = [told[1], 5.0 + 0.5 * (cycle % 400)]
        for channel, leg in enumerate(bench.legs):
            leg.cell = told[1] * (1 + channel)
        reading = bench.read()
        counted["fresh" if reading.fresh else "stale"] += 1
        if reading.fresh:
            late = bench.by_itself and abs(reading.forces[0] - told[0]) < 0.1  # a line that was cut
            expected = [told[0 if late else 1] * (1 + channel) for channel in range(len(bench.legs))]
            assert reading.forces == pytest.approx(expected, abs=2 * bench.step), (cycle, begun)
    received = device.counters.received - before
    assert received == counted["fresh"] if not bench.by_itself else received >= counted["fresh"] - begun["close"]
    assert counted["fresh"] + counted["stale"] == CYCLES and counted["stale"] > 0
    bench.twin.clear_all()
    if not device.connected:
        device.connect(1.0)
    for _ in range(3):
        reading = bench.read()
    assert reading.fresh
    print(f"\n{driver}: {dict(begun)}, {device.counters}")
    device.close()
