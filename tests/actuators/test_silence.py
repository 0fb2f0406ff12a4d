"""When a device is asked, and how old what it last said is."""

import pytest

from actuators.drive import Sampling

PERIOD = 0.01


def test_what_was_said_ages_while_the_device_is_silent() -> None:
    sampling = Sampling(0.0)
    sampling.due(0.0)
    sampling.received()
    for cycle in range(1, 4):
        sampling.due(cycle * PERIOD)
        assert sampling.age == pytest.approx(cycle * PERIOD)


def test_a_pause_in_which_it_was_not_asked_is_not_its_silence() -> None:
    sampling = Sampling(0.0)
    sampling.due(0.0)
    sampling.received()
    sampling.due(PERIOD)  # silent for a cycle, which stays counted
    sampling.resume()
    sampling.due(0.5)
    assert sampling.age == pytest.approx(PERIOD)
    sampling.due(0.5 + PERIOD)
    assert sampling.age == pytest.approx(2 * PERIOD)


def test_a_pause_before_the_first_cycle_counts_for_nothing() -> None:
    sampling = Sampling(0.0)
    sampling.resume()
    sampling.due(3.0)
    assert sampling.age == 0.0
    sampling.due(3.0 + PERIOD)
    assert sampling.age == pytest.approx(PERIOD)
