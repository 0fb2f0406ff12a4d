"""Whatever operators ask and whatever breaks: what must hold in every reachable state, on the lockstep rig."""

import time
from collections import Counter
from typing import ClassVar

import hypothesis
import numpy as np
import numpy.typing as npt
import pytest
from exploration import LONG, MINUTES, either, seeds, seeds_for
from explored_coverage import KINDS, LEGAL, Coverage
from explored_rig import BEGIN_AT, CONFIGS, EverySituation, ExploredRig, Paused, RandomWalk
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from invariant_watcher import TorqueWatcher

from rig.states import State


def _settings(examples: int, steps: int) -> settings:
    return settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        derandomize=not LONG,
        database=None,
        print_blob=True,
        report_multiple_bugs=False,
        phases=[Phase.generate] if LONG else list(Phase),  # to make a long way shorter takes longer still
        suppress_health_check=list(HealthCheck),
    )


COVERAGE = Coverage()
"""of all tests of this module"""
EXPLORED: list[tuple[type[ExploredRig], settings, float]] = [
    (RandomWalk, _settings(either(3, 6), either(20, 50)), 0.2),
    (EverySituation, _settings(either(8, 4), either(5, 50)), 0.15),
    (Paused, _settings(either(8, 4), either(5, 20)), 0.05),
]
"""each with its share of the time"""
REST = 0.6
"""of the time, for what those have not reached"""


@pytest.mark.parametrize(("kind", "chosen", "share"), EXPLORED, ids=[kind.__name__ for kind, _chosen, _s in EXPLORED])
def test_whatever_is_asked_and_breaks_the_invariants_hold(
    kind: type[ExploredRig], chosen: settings, share: float
) -> None:
    total: Counter[str] = Counter()
    for seed in seeds_for(share):
        total += _explore(seed, kind, chosen)
    assert total["cycles"] and total["FAULT"] and (kind is not RandomWalk or total["RUNNING"])


def _explore(seed: int, kind: type[ExploredRig], chosen: settings) -> Counter[str]:
    class Explored(kind):  # type: ignore[valid-type,misc]
        counts: ClassVar[Counter[str]] = Counter()
        coverage: ClassVar[Coverage] = COVERAGE

    begun = time.perf_counter()
    if LONG:
        hypothesis.seed(seed)(Explored)
    try:
        run_state_machine_as_test(Explored, settings=chosen)
    finally:
        counts = Explored.counts
        print(f"\nseed {seed}: {counts['rules']} steps, {counts['cycles']} cycles, {time.perf_counter() - begun:.0f} s")
        print(", ".join(f"{name} {count}" for name, count in sorted(counts.items())))
    return counts


if LONG:

    def test_in_every_legal_situation_the_invariants_hold() -> None:
        """What those before have not reached, on one kind of rig after the other."""
        seed = seeds(1)[0]
        random = np.random.default_rng(seed)

        class Explored(EverySituation):
            counts: ClassVar[Counter[str]] = Counter()
            coverage: ClassVar[Coverage] = COVERAGE

        begun = time.perf_counter()
        configs = random.permutation(sorted(CONFIGS)).tolist()
        for number, config in enumerate(configs, start=1):
            missing = COVERAGE.missing_triples
            rig = Explored()
            try:
                rig.begin(config, State.OFF)
                for index in random.permutation(len(missing))[: len(missing) // (len(configs) - number + 1)]:
                    if time.perf_counter() - begun > 60.0 * REST * MINUTES * number / len(configs):
                        break
                    state, name, fault = missing[index]
                    if (state, name, fault) in COVERAGE.asked:
                        continue
                    order = [name, *random.permutation([other for other in KINDS if other != name])]
                    leg = int(random.integers(0, 7)) or None
                    rig.ask_for_everything(state, fault, leg, int(random.integers(0, 7)), order, 20)
                    rig.references_keep_to_the_limits()
                    rig.a_latched_fault_has_a_cause_in_words()
            finally:
                rig.teardown()
            print(f"\nseed {seed}, {config}: {COVERAGE.share:.1%} after {time.perf_counter() - begun:.0f} s")
        print(", ".join(f"{name} {count}" for name, count in sorted(Explored.counts.items())))


@pytest.mark.parametrize("config", sorted(CONFIGS) if LONG else ["servos on TCP"])
def test_every_command_is_accepted_in_every_state_that_allows_it(config: str) -> None:
    class Explored(Paused):
        coverage: ClassVar[Coverage] = Coverage()

    rig = Explored()
    try:
        rig.begin(config, State.OFF)
        for state, name in sorted(LEGAL):
            rig.start(BEGIN_AT.get(state, state))
            assert rig.go_to(state), state.name
            rig.ask_by_name(name)
            rig.run(20)
            rig.references_keep_to_the_limits()
    finally:
        rig.teardown()
    assert rig.coverage.missing_pairs == []
    COVERAGE.add(rig.coverage)


if LONG:

    def test_what_is_legal_was_reached() -> None:
        """After all those before: every command in every state that allows it, and most of them under every fault."""
        print(f"\n{COVERAGE.described()}")
        assert COVERAGE.missing_pairs == []
        assert COVERAGE.share >= 0.6


def test_a_reference_that_is_lost_while_a_stop_is_sent_is_lost_in_that_cycle() -> None:
    """A stop is sent in a second exchange, whose replies may tell what the first one's did not yet."""
    rig = EverySituation()
    try:
        rig.begin("orca", State.OFF)
        for state in (State.STOPPING, State.ENGAGED, State.RUNNING):
            assert rig.reach(state)
            assert rig.break_it("encoder_nan", 3)
            rig.run(20)
            assert not rig.machine.homed
    finally:
        rig.teardown()


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
        watched((off, State.ENGAGING), *[(off, State.PARKED)] * 6, (one, State.PARKED))
    searched = watched((on, State.ENGAGED), (off, State.PARKED))
    searched.granted(3, times=2)
    for torque in (one, off, one, off):
        searched.look(torque, State.SINGLE_LEG, honest)
    with pytest.raises(AssertionError, match=r"torque by itself at leg \[3\]"):
        searched.look(one, State.SINGLE_LEG, honest)
    again = watched((on, State.ENGAGED), (off, State.PARKED))
    again.granted()
    again.look(on, State.ENGAGING, honest)
