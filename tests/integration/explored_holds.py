"""Operators who hold what moves, more or less often, and let go of it."""

from typing import Any

from exploration import either
from explored_motions import CONFIG, GOOD
from hypothesis import strategies as st
from hypothesis.stateful import rule

from rig.engine import RAMPS, Follow
from rig.states import State

_RENEWAL = round(CONFIG.safety.hold_renewal * CONFIG.rate)
"""cycles of silence that whoever holds is borne"""
_STEPS = either(0, 4)  # from a fault to torque


class Holds:
    """The rule for an `ExploredRig`."""

    @rule(
        name=st.sampled_from(sorted(GOOD)),
        held=st.integers(1, 100),
        every=st.sampled_from([1, 10, _RENEWAL - 5, _RENEWAL + 5]),
        cycles=st.integers(0, 40),
    )
    def hold(self: Any, name: str, held: int, every: int, cycles: int) -> None:
        """A motion that is held for so many cycles; what is left of it then nobody can take up again."""
        table = GOOD[name]
        for _ in range(_STEPS):
            if self.machine.state is State.ENGAGED and not self.engine.reference.paused:
                break
            self.advance(True, 0, 1)
        self.rig.hold()
        reply = self.ask_for(Follow(name, table.step, slowing=RAMPS[0]), table.samples)
        accepted = reply.done() and reply.result().accepted
        self.counts["held"] += accepted
        for cycle in range(held):
            if cycle % every == 0:
                self.rig.hold()
            self.run(1)
        self.rig.let_go()
        self.run(1)
        if accepted and self.engine.machine.state is State.RUNNING:
            reference = self.engine.reference
            assert reference.slowing or reference.path_duration - reference.path_time <= RAMPS[0]
        self.run(cycles)
        assert not (accepted and self.engine.machine.state is State.ENGAGED and self.engine.reference.paused)
