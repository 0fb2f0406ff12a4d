"""A reset asks every cause that came up since the fault whether it still stands, on the lockstep rig."""

from concurrent.futures import Future
from pathlib import Path

import numpy as np
import pytest
from fault_bench import LEG
from lockstep_bench import Bench

from rig.engine.link import Submission
from rig.engine.messages import Engage, Reply, Reset
from rig.errors import RefusedError
from rig.states import FaultCode, State

ANSWER = 45  # cycles in which a reset is answered, refused or not


def reset(bench: Bench) -> str:
    """Ask for a reset; the reason why it is refused, empty where it is not."""
    reply: Future[Reply] = Future()
    bench.rig.operator.submit(Submission(Reset(), None, reply))
    bench.steps(ANSWER)
    answer = reply.result(0)
    assert bench.in_state(State.IDLE if answer.accepted else State.FAULT)
    return answer.reason


def refused_then_accepted(bench: Bench, code: FaultCode, why: str) -> None:
    """In FAULT for `code`: refused for `why` as often as it is asked for, accepted once the injected faults end."""
    cause = bench.machine.cause
    assert cause is not None and cause.code is code, cause
    for _ in range(2):
        assert why in reset(bench)
        assert bench.machine.cause is cause and bench.machine.latched
    bench.virtual.faults.clear()
    bench.steps(20)
    assert bench.in_state(State.FAULT)  # never by itself
    assert reset(bench) == ""
    bench.steps(20)
    assert bench.in_state(State.IDLE) and bench.machine.cause is None


def test_a_reply_that_is_late_when_the_causes_are_looked_at_is_none(tmp_path: Path) -> None:
    with Bench(tmp_path) as bench:
        bench.park().inject("cell_saturated", LEG, -5000.0)
        bench.until_state(State.FAULT)
        bench.virtual.faults.clear()
        bench.steps(20)
        reply: Future[Reply] = Future()
        bench.rig.operator.submit(Submission(Reset(), None, reply))
        bench.steps(8)
        bench.inject("delay", 1, 0.004, 0.02)  # ten cycles, which no bound is broken by
        bench.steps(ANSWER)
        assert reply.result(0).accepted and bench.in_state(State.IDLE)


def test_a_cell_at_its_end_of_scale(tmp_path: Path) -> None:
    with Bench(tmp_path) as bench:
        bench.park().inject("cell_saturated", LEG, -5000.0)
        bench.until_state(State.FAULT)
        why = f"leg {LEG}: the load cell reads -5000 N, at or beyond its full scale"
        refused_then_accepted(bench, FaultCode.LOAD_CELL, why)


def test_a_push_that_lasts(tmp_path: Path) -> None:
    with Bench(tmp_path) as bench:
        bench.run().inject("force_step", value=300.0)
        bench.until_state(State.FAULT)
        refused_then_accepted(bench, FaultCode.FORCE_RESIDUAL, "N off the model (bound 30 N)")


def test_a_length_that_no_leg_can_have_is_no_length_until_the_leg_is_homed(tmp_path: Path) -> None:
    with Bench(tmp_path) as bench:
        bench.park().inject("encoder_jump", LEG, 1.0)
        bench.until_state(State.FAULT)
        cause = bench.machine.cause
        assert cause is not None and cause.code is FaultCode.FEEDBACK_INVALID and not bench.machine.homed
        assert reset(bench) == ""
        with pytest.raises(RefusedError, match="home first"):
            bench.rig.request(Engage())


def test_a_second_cause_behind_the_first(tmp_path: Path) -> None:
    """The first is gone when the reset is asked for, the second, at another leg, is not."""
    with Bench(tmp_path) as bench:
        bench.run().inject("encoder_frozen", 1)
        bench.until_state(State.FAULT)
        bench.virtual.faults.clear()
        bench.inject("cell_saturated", LEG, 5000.0)
        bench.steps(10)
        refused_then_accepted(bench, FaultCode.FEEDBACK_FROZEN, f"leg {LEG}: the load cell reads 5000 N")


def test_a_cell_that_says_nothing_new(tmp_path: Path) -> None:
    with Bench(tmp_path) as bench:
        bench.run().inject("cell_silent", LEG)
        bench.until(lambda: bench.machine.latched)
        bench.engine.stop(1)  # the platform was held under power
        bench.until_state(State.FAULT)
        refused_then_accepted(bench, FaultCode.LOAD_CELL, f"leg {LEG}: the load cell still reads exactly ")


@pytest.mark.parametrize("passing", ["encoder_frozen", "force_reversed", "reboot"])
def test_what_is_over_does_not_stand_in_the_way(tmp_path: Path, passing: str) -> None:
    with Bench(tmp_path) as bench:
        bench.run().inject(passing, LEG)
        bench.until_state(State.FAULT)
        bench.steps(20)
        assert np.isfinite(bench.engine.drives.length).all()
        assert reset(bench) == ""
