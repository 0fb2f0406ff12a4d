"""Ctrl-C as operations hear it: none is lost while nothing can move yet, and none leaves the rig out of reach."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from configured import VIRTUAL

from rig.client import Interruption, LiveRig, Progress, conduct
from rig.client.live import _Link
from rig.engine import Disconnect, LinkClient, Stop
from rig.errors import InterruptedRunError


def ctrl_c() -> None:
    signal.raise_signal(signal.SIGINT)


def test_while_nothing_can_move_it_interrupts_at_once() -> None:
    done = []
    with Interruption().installed() as interruption, pytest.raises(KeyboardInterrupt), interruption.nothing_moving():
        ctrl_c()
        done.append("the rest")
    assert not done


def test_one_that_a_library_caught_interrupts_all_the_same() -> None:
    heard = Interruption()
    with heard.installed(), pytest.raises(KeyboardInterrupt), heard.nothing_moving(), suppress(BaseException):
        ctrl_c()


def test_one_that_came_just_before_lets_nothing_begin() -> None:
    done = []
    with Interruption().installed() as interruption:
        ctrl_c()
        with pytest.raises(KeyboardInterrupt), interruption.nothing_moving():
            done.append("something")
    assert not done


def test_once_something_can_move_the_first_is_a_request_to_stop_and_the_second_is_not() -> None:
    with Interruption().installed() as interruption:
        with interruption.nothing_moving():
            pass
        ctrl_c()
        with pytest.raises(InterruptedRunError, match="interrupted; the rig was stopped"):
            interruption.check()
        interruption.check()  # it was heard
        with pytest.raises(KeyboardInterrupt):
            ctrl_c()


def test_one_who_has_not_taken_ctrl_c_over_is_not_interrupted_but_told() -> None:
    """As a stop by a button is, which is given to a test of a leg as a Ctrl-C."""
    asked = Interruption()
    asked.count = 1
    with asked.nothing_moving():
        pass
    with pytest.raises(InterruptedRunError):
        asked.check()


def press_at_reporting(progress: Progress) -> None:
    if progress.phase == "reporting":
        ctrl_c()


@pytest.mark.parametrize(
    ("body", "report"),
    [
        pytest.param(lambda _rig: ctrl_c(), lambda _progress: None, id="before, when nobody looked any more"),
        pytest.param(lambda _rig: None, press_at_reporting, id="then"),
    ],
)
def test_at_rest_the_first_one_is_enough_and_lets_the_report_be(
    tmp_path: Path, body: Callable[[object], None], report: Callable[[Progress], None]
) -> None:
    result = conduct(VIRTUAL, body, "run", tmp_path, Interruption(), lockstep=True, report=report)
    assert isinstance(result.error, InterruptedRunError)
    assert str(result.error).startswith("interrupted while the report was made; the recording is ")
    assert not result.report.exists()


class Client(LinkClient):
    """Stands for a client of the engine's link: it has its answer at once."""

    def __init__(self) -> None: ...

    def status(self) -> Any:
        return SimpleNamespace(lease="me")

    def request(self, *_command: object, **_more: object) -> None: ...


class Linked(LiveRig):
    """A live rig that has nothing but its links."""

    def __init__(self) -> None:
        self.client, self._leaving = "me", False
        self._lease = self._lost = self._window = None
        self._acquire = lambda: None  # type: ignore[method-assign]
        self._commands, self._watch, self._stops = (_Link(Client()) for _ in range(3))


@contextmanager
def interrupting() -> Iterator[None]:
    """An alarm, where one is set, is a Ctrl-C."""

    def interrupt(_signal: int, _frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("what", ["status", "request", "stop"])
def test_wherever_a_ctrl_c_comes_the_link_is_given_back(what: str) -> None:
    rig = Linked()
    call = {"status": rig.status, "request": lambda: rig.request(Disconnect()), "stop": lambda: rig.request(Stop(0))}
    with interrupting():
        for number in range(1, 1001):
            with suppress(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_REAL, 1e-5 + 1e-7 * (number % 97))
                while True:
                    call[what]()
            assert not any(link.lock.locked() for link in (rig._commands, rig._watch, rig._stops)), number
