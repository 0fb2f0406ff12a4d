"""Whatever operators ask and whatever breaks: what must hold in every reachable state, on the lockstep rig."""

import time
from collections import Counter
from typing import ClassVar

import hypothesis
import numpy as np
import numpy.typing as npt
import pytest
from exploration import LONG, either, seeds
from explored_rig import ExploredRig
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test
from invariant_watcher import TorqueWatcher

from rig.states import State

SETTINGS = settings(
    max_examples=either(10, 100),
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
    class Explored(ExploredRig):
        counts: ClassVar[Counter[str]] = Counter()

    begun = time.perf_counter()
    if LONG:
        hypothesis.seed(seed)(Explored)
    try:
        run_state_machine_as_test(Explored, settings=SETTINGS)
    finally:
        counts = Explored.counts
        print(f"\nseed {seed}: {counts['rules']} steps, {counts['cycles']} cycles, {time.perf_counter() - begun:.0f} s")
        print(", ".join(f"{name} {count}" for name, count in sorted(counts.items())))
    assert counts["engage accepted"] and counts["reset accepted"] and counts["FAULT"] and counts["RUNNING"]


def test_the_watcher_of_torque_sees_what_comes_by_itself() -> None:
    """What watches is no good if it never says anything."""
    honest, off, on = np.ones(6, bool), np.zeros(6, bool), np.ones(6, bool)
    one = np.arange(6) == 2

    def watched(*course: tuple[npt.NDArray[np.bool_], State]) -> TorqueWatcher:
        watcher = TorqueWatcher()
        watcher.look(off, State.PARKED, honest)
        watcher.granted()
        for torque, state in course:
            watcher.look(torque, state, honest)
        return watcher

    watched(
        (off, State.ENGAGING), (one, State.ENGAGING), (on, State.ENGAGING), (on, State.ENGAGED), (off, State.PARKED)
    )
    with pytest.raises(AssertionError, match=r"torque by itself at leg \[3\]"):
        watched((on, State.ENGAGED), (~one, State.ENGAGED), (on, State.ENGAGED))
    with pytest.raises(AssertionError, match="torque by itself"):
        watched((on, State.ENGAGED), (off, State.FAULT), (one, State.FAULT))
    with pytest.raises(AssertionError, match="torque by itself"):
        watched((off, State.ENGAGING), (off, State.PARKED), (one, State.PARKED))
    again = watched((on, State.ENGAGED), (off, State.PARKED))
    again.granted()
    again.look(on, State.ENGAGING, honest)
