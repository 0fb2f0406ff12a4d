"""Whatever operators ask and whatever breaks: what must hold in every reachable state, on the lockstep rig."""

import time
from collections import Counter

import hypothesis
import pytest
from exploration import LONG, either, seeds
from explored_rig import ExploredRig
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

SETTINGS = settings(
    max_examples=either(16, 100),
    stateful_step_count=either(25, 50),
    deadline=None,
    derandomize=not LONG,
    database=None,
    print_blob=True,
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.parametrize("seed", seeds(42))
def test_whatever_is_asked_and_breaks_the_invariants_hold(seed: int) -> None:
    explored = type("Explored", (ExploredRig,), {"counts": Counter()})
    begun = time.perf_counter()
    if LONG:
        hypothesis.seed(seed)(explored)
    try:
        run_state_machine_as_test(explored, settings=SETTINGS)
    finally:
        counts = explored.counts
        print(f"\nseed {seed}: {counts['rules']} steps, {counts['cycles']} cycles, {time.perf_counter() - begun:.0f} s")
        print(", ".join(f"{name} {count}" for name, count in sorted(counts.items())))
    assert counts["engage accepted"] and counts["reset accepted"] and counts["FAULT"] and counts["RUNNING"]
