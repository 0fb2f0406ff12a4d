"""Every driver over its twin while its wire fails at random: nothing wrong is believed, all is counted.

`make explore` goes on for a million cycles of each.
"""

import random
from collections import Counter, deque

import pytest
from exploration import seeds
from random_faults import CYCLES, FRAME, HEADER, KINDS, RandomFaults
from test_every_driver import BENCHES

from actuators import COMMAND_OFF, Counters, Status
from rig.testing.drivers import command_of, home

AMBIGUOUS = ("delay", "replay")
"""A reply that is too old looks like a good one where there is neither an echo nor a transaction id."""
STALE_AFTER = {"orca"}
"""Drives that are stale for longer than their replies: a status that was lost is asked for every 50 ms."""
DROPPED = {"canopen"}
"""Drives whose controller drops a damaged frame before this computer sees it."""


def untaken(counters: Counters) -> int:
    """All replies that were not taken, and requests without any."""
    return counters.late + counters.unusable + counters.belated


def known(bench) -> list[str]:
    """Faults that this drive and its wire distinguish from good replies."""
    echo = bench.do(COMMAND_OFF).sequence >= 0
    distinguished = echo or (bench.drive.line is None and "transaction" not in bench.lacks)
    return [*KINDS, "bit_flip", *(AMBIGUOUS if distinguished else ())]


@pytest.mark.parametrize("seed", seeds(1))
@pytest.mark.parametrize("name", BENCHES)
def test_nothing_wrong_is_believed_and_all_is_counted(name: str, seed: int) -> None:
    bench = BENCHES[name](name="drive 4", watchdog=10.0)
    draw = random.Random(seed)
    try:
        assert home(bench) == ""
        bits = HEADER if bench.drive.line is None else FRAME
        seen = name.partition(",")[0] not in DROPPED
        faults = RandomFaults(draw, bench.faults, bench.drive.counters, known(bench), bits, noise_is_seen=seen)
        command = command_of(bench)
        lengths: deque[float] = deque(maxlen=8)
        counted = Counter[str]()
        before = bench.drive.counters.received
        for cycle in range(CYCLES):
            faults.step()
            if not bench.drive.connected:
                bench.drive.connect(1.0)
            bench.leg.length = 0.6 + 1e-4 * (cycle % 200)
            lengths.append(bench.leg.length)
            connected, noted = bench.drive.connected, untaken(bench.drive.counters)
            feedback = bench.do(command)
            counted["fresh" if feedback.fresh else "stale"] += 1
            if not feedback.fresh and connected and bench.drive.connected and name not in STALE_AFTER:
                assert untaken(bench.drive.counters) > noted, (cycle, faults.begun)
            if feedback.fresh:
                position = lengths[-1 - feedback.lag]
                assert feedback.position == pytest.approx(position, abs=2 * bench.step), (cycle, faults.begun)
        counters = bench.drive.counters
        assert counted["fresh"] == counters.received - before
        assert counted["fresh"] + counted["stale"] == CYCLES and counted["stale"] > 0
        bench.faults.clear_all()
        for _ in range(20):
            if not bench.drive.connected:
                bench.drive.connect(1.0)
            bench.do(COMMAND_OFF)
        assert bench.do(COMMAND_OFF).fresh and not bench.do(COMMAND_OFF).status & Status.ENABLED
        print(faults.summary(name, counted))
    finally:
        bench.drive.close()
