"""Every block of inputs and outputs over its twin while its wire fails at random: nothing wrong is read or switched.

`make explore` goes on for a million cycles of each.
"""

import random
from collections import Counter, deque
from typing import Any

import pytest
from exploration import seeds
from random_faults import CYCLES, RandomFaults
from test_every_io_driver import PLACES, Bench
from test_random_cell_faults import faults_of

HOLD = 4
"""Cycles, at least, from one change of the outputs to the next: the inputs are read in between."""
REPAIR = 4
"""Cycles behind a fault within which outputs whose write was lost have been written again."""
REPEATED = 2
"""Writes without a read between them, at most: one that is due, and a change."""


def noted(bench: Bench) -> int:
    """All replies, and requests without any."""
    counters = bench.device.counters
    return counters.received + counters.late + counters.unusable + counters.belated


@pytest.mark.parametrize("seed", seeds(1))
@pytest.mark.parametrize(("driver", "place"), [(name, place) for name in PLACES for place in PLACES[name]])
def test_nothing_wrong_is_read_or_switched_and_all_is_counted(driver: str, place: dict[str, Any], seed: int) -> None:
    bench, draw = Bench(driver, place), random.Random(seed)
    device = bench.device
    faults = RandomFaults(draw, bench.twin, device.counters, *faults_of("modbus", place))
    counted, applied = Counter[str](), deque[set[int]](maxlen=1 + REPEATED)
    since_fault, held = 0, 0
    states = (False,) * len(bench.outputs)
    begin = device.counters.received
    try:
        for cycle in range(CYCLES):
            faults.step()
            since_fault = 0 if faults.left else since_fault + 1
            if not device.connected:
                device.connect(1.0)
            held += 1
            if held >= HOLD and draw.randrange(10) == 0:
                states, held = tuple(draw.random() < 0.5 for _ in bench.outputs), 0
            bench.terminals.inputs = {channel for channel in bench.inputs if draw.random() < 0.5}
            applied.append(bench.terminals.inputs)
            connected, before = device.connected, noted(bench)
            reading = bench.cycle(states)
            counted["fresh" if reading.fresh else "stale"] += 1
            assert not (connected and device.connected) or noted(bench) > before, (cycle, faults.begun)
            if reading.fresh and reading.inputs:  # none before the first read of a connection
                read = {channel for channel, on in zip(bench.inputs, reading.inputs, strict=True) if on}
                assert read in applied, (cycle, faults.begun)
            assert bench.terminals.outputs <= set(bench.outputs)
            if since_fault > REPAIR:
                assert bench.on == states, (cycle, faults.begun)
        assert counted["stale"] > 0 and device.counters.received - begin >= counted["fresh"]
        bench.twin.clear_all()
        if not device.connected:
            device.connect(1.0)
        assert bench.cycles(REPAIR)[-1].fresh and bench.on == states
        print(faults.summary(f"{driver} {place}", counted))
    finally:
        device.close()
