"""Ctrl-C as operations hear it: none is lost while nothing can move yet."""

import signal
from contextlib import suppress

import pytest

from rig.client import Interruption
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
