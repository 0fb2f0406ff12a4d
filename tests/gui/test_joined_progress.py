"""Progress of the processes that compile while a rig starts."""

from gui.session.joined_progress import JoinedProgress
from rig.engine import Compiling


def test_it_moves_until_the_last_process_has_compiled() -> None:
    told: list[Compiling] = []
    progress = JoinedProgress(told.append)
    for what, done, total in (
        ("the model", 0, 100),
        ("the virtual rig", 10, 80),
        ("the model", 99, 100),
        ("the model", 100, 100),
        ("the virtual rig", 40, 80),
        ("the virtual rig", 80, 80),
    ):
        progress(Compiling(what, done, total))
    assert [(one.done, one.total) for one in told] == [
        (0, 100),
        (10, 180),
        (109, 180),
        (110, 180),
        (140, 180),
        (180, 180),
    ]
    assert [one.what for one in told[:3]] == ["the model", *2 * ["the model and the virtual rig"]]
    assert told[3].words.startswith("compiling the virtual rig: 110 of 180 kernels")
    assert [one.finished for one in told] == [*5 * [False], True]
