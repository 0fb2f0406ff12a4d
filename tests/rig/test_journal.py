"""When something happened that the engine hears of later, and what is left of a command."""

import gc
import weakref
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import numpy as np

from rig.engine.journal import Journal
from rig.engine.link import Submission
from rig.engine.messages import Follow, Reply
from rig.engine.snapshot import Event


def test_what_happened_later_is_never_recorded_as_earlier_however_the_clocks_jitter() -> None:
    events: list[Event] = []
    clock = 1000.1
    engine: Any = SimpleNamespace(
        tick=SimpleNamespace(t=0.1),
        clock=SimpleNamespace(now=lambda: clock),
        sink=SimpleNamespace(event=events.append),
    )
    journal = Journal(engine)
    journal.injected("", "injected", 1000.05)
    journal.write()
    engine.tick.t, clock = 0.102, 1000.1021  # a cycle later, and a little late
    journal.injected("", "cleared", 1000.05)
    journal.injected("", "before both", 1000.01)
    journal.injected("", "now")
    journal.write()
    moments = {event.finding.details["text"]: event.t for event in events}
    assert abs(moments["injected"] - 0.05) < 1e-9 and moments["cleared"] == moments["injected"]
    assert moments["before both"] < moments["injected"] < moments["now"] == 0.102


def test_nothing_is_left_of_a_motion_that_was_answered() -> None:
    """The engine searches for no garbage: what holds itself would stay, a motion's samples with every repeat."""
    samples = np.zeros((100, 18))
    left = weakref.ref(samples)
    gc.disable()
    try:
        submission = Submission(Follow("bench", 0.002), samples, Future(), None, "me")
        Journal(SimpleNamespace()).follow(submission)  # type: ignore[arg-type]
        submission.reply.set_result(Reply(True))
        del submission, samples
        assert left() is None
    finally:
        gc.enable()
