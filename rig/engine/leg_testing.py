"""Beginning and end of the test of one leg: its law takes the command of the engine, and gives it back."""

from typing import TYPE_CHECKING

from rig.engine.laws import SingleLegLaw
from rig.engine.leg_move import LegMove
from rig.states import State

if TYPE_CHECKING:
    from rig.engine.core import Engine


def begin_leg_test(engine: "Engine", move: LegMove) -> None:
    """Have an engine move one leg alone and watch it: IDLE → SINGLE_LEG → IDLE; `Engine.leg_test` tells of it."""
    engine.leg_test = SingleLegLaw(engine.config, move, engine.bank)
    engine.have_command(engine.leg_test)
    engine.enter(State.SINGLE_LEG)


def end_leg_test(engine: "Engine") -> None:
    """Say what came of the test of a leg, and give the command back to the usual law."""
    assert engine.leg_test is not None
    result = engine.leg_test.finish()
    engine.record("info" if result.passed or result.stopped else "warning", result.finding)
    engine.have_command(engine.usual_law)
