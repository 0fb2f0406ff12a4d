"""Every driver over its twin while its wire fails at random: nothing wrong is believed, all is counted.

`make explore` goes on for a million cycles of each.
"""

import random
from collections import Counter, deque

import pytest
from exploration import either, seeds
from test_every_driver import BENCHES

from actuators import COMMAND_OFF, Counters, Status
from rig.testing.drivers import command_of, home

CYCLES = either(400, 1_000_000)
RARITY = either(20, 1000)
"""Cycles, on the average, from one fault to the next."""
LASTING = 5
"""Cycles, at most."""
KINDS = ("drop_write", "drop_all", "busy", "close", "rechunk", "bit_flip", "delay", "replay", "noise")
UNTOLD = {"delay", "replay"}
"""A reply that is too old looks like a good one where there is neither an echo nor a transaction id."""
STALE_AFTER = {"orca"}
"""Drives that are stale for longer than their replies: a status that was lost is asked for every 50 ms."""
DROPPED = {"canopen"}
"""Drives whose controller drops a damaged frame before this computer sees it."""
HEADER = 8 * 8
"""Bits of a frame of Modbus TCP that a driver can judge: what follows has TCP's own checksum."""


def untaken(counters: Counters) -> int:
    """All replies that were not taken, and requests without any."""
    return counters.late + counters.unusable + counters.belated


def known(bench) -> list[str]:
    """Faults that this drive and its wire tell from good replies."""
    echo = bench.do(COMMAND_OFF).sequence >= 0
    told = echo or (bench.drive.line is None and "transaction" not in bench.lacks)
    return [kind for kind in KINDS if told or kind not in UNTOLD]


@pytest.mark.parametrize("seed", seeds(1))
@pytest.mark.parametrize("name", BENCHES)
def test_nothing_wrong_is_believed_and_all_is_counted(name: str, seed: int) -> None:
    bench = BENCHES[name](name="drive 4", watchdog=10.0)
    draw = random.Random(seed)
    try:
        assert home(bench) == ""
        kinds = known(bench)
        command = command_of(bench)
        told: deque[float] = deque(maxlen=8)
        counted, begun = Counter[str](), Counter[str]()
        kind, left, unusable = "", 0, 0
        before = bench.drive.counters.received
        for cycle in range(CYCLES):
            if left == 0 and draw.randrange(RARITY) == 0:
                kind, left = draw.choice(kinds), draw.randint(1, LASTING)
                bits = HEADER if bench.drive.line is None else 200
                value = draw.randrange(bits) if kind == "bit_flip" else 0.003 if kind == "delay" else None
                bench.faults.inject(kind, value)
                begun[kind] += 1
                unusable = bench.drive.counters.unusable
            elif left:
                left -= 1
                if left == 0:
                    bench.faults.clear_all()
                    seen = kind == "noise" and name.partition(",")[0] not in DROPPED
                    assert not seen or bench.drive.counters.unusable > unusable, (cycle, begun)
            if not bench.drive.connected:
                bench.drive.connect(1.0)
            bench.leg.length = 0.6 + 1e-4 * (cycle % 200)
            told.append(bench.leg.length)
            connected, noted = bench.drive.connected, untaken(bench.drive.counters)
            feedback = bench.do(command)
            counted["fresh" if feedback.fresh else "stale"] += 1
            if not feedback.fresh and connected and bench.drive.connected and name not in STALE_AFTER:
                assert untaken(bench.drive.counters) > noted, (cycle, begun)
            if feedback.fresh:
                position = told[-1 - feedback.lag]
                assert feedback.position == pytest.approx(position, abs=2 * bench.step), (cycle, begun)
        counters = bench.drive.counters
        assert counted["fresh"] == counters.received - before
        assert counted["fresh"] + counted["stale"] == CYCLES and counted["stale"] > 0
        bench.faults.clear_all()
        for _ in range(20):
            if not bench.drive.connected:
                bench.drive.connect(1.0)
            bench.do(COMMAND_OFF)
        assert bench.do(COMMAND_OFF).fresh and not bench.do(COMMAND_OFF).status & Status.ENABLED
        print(f"\n{name}: {dict(begun)}, {counters}")
    finally:
        bench.drive.close()
