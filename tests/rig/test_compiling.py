"""A start that compiles the model says how far it is to whoever waits for it."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from rig.cli.progress import compile_progress_lines
from rig.client.motion_runner import compiling_progress
from rig.engine import Compiling, receive_answer
from rig.runtime import ChildLateError

FIRST, SECOND = Compiling("the model", 1, 3), Compiling("the model", 2, 3)


@dataclass
class Talker:
    """A process that has said something."""

    said: list[Any]
    at_once: bool
    """whether all of it is there before any is read"""
    name: str = "the engine"
    waited: list[float] = field(default_factory=list)
    takes: float = 0.0
    """s that it takes to say something"""
    now: float = 0.0

    def monotonic(self) -> float:
        return self.now

    @property
    def pipe(self) -> "Talker":
        return self

    def poll(self, _timeout: float) -> bool:
        return self.at_once and bool(self.said)

    def receive(self, timeout: float, _doing: str) -> Any:
        self.waited.append(timeout)
        self.now += self.takes
        if not self.said or self.takes > timeout:
            raise ChildLateError("late")
        return self.said.pop(0)


@pytest.mark.parametrize(("at_once", "heard"), [(False, [FIRST, SECOND]), (True, [])])
def test_the_answer_follows_what_is_told_and_old_news_are_passed_over(at_once: bool, heard: list[Compiling]) -> None:
    told: list[Compiling] = []
    process: Any = Talker([FIRST, SECOND, ("ready", 7)], at_once)
    assert receive_answer(process, 9.0, "start", told.append) == ("ready", 7)
    assert told == heard
    assert max(process.waited) <= 9.0


def test_one_that_compiles_on_may_take_longer_and_one_that_stands_still_may_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    process: Any = Talker([FIRST, SECOND, "ready"], at_once=False, takes=6.0)
    monkeypatch.setattr("rig.engine.compiling.time", process)
    assert receive_answer(process, 9.0, "start", None) == "ready" and process.now == 18.0
    process.said = [FIRST, FIRST, FIRST, "ready"]
    with pytest.raises(ChildLateError):
        receive_answer(process, 9.0, "start", None)


def test_one_that_is_late_is_late_by_all_of_its_time() -> None:
    process: Any = Talker([FIRST], at_once=False)
    with pytest.raises(ChildLateError, match="the engine did not start within 9 s"):
        receive_answer(process, 9.0, "start", None)


def test_words_and_share_are_the_same_everywhere() -> None:
    progress = compiling_progress(SECOND)
    assert progress.phase == "compiling the model: 2 of 3 kernels, once on this machine"
    assert progress.fraction == pytest.approx(2 / 3)


def test_a_model_that_is_compiled_is_no_full_bar_while_others_are_waited_for() -> None:
    """The process that checks motions and the virtual rig may have to compile on."""
    progress = compiling_progress(Compiling("the model", 3, 3))
    assert progress.fraction == 0.0 and "waiting for the other processes" in progress.phase


@pytest.mark.parametrize("terminal", [True, False])
def test_a_terminal_is_told_every_tenth_in_a_line(capsys, monkeypatch, terminal: bool) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal, raising=False)
    tell = compile_progress_lines()
    for done in range(1, 41):
        tell(Compiling("the model", done, 40))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == (11 if terminal else 0)
    assert not lines or lines[-2:] == [
        "… compiling the model: 36 of 40 kernels, once on this machine",
        "… the model is compiled (40 kernels); waiting for the other processes of the rig",
    ]
