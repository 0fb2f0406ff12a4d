"""The clock of a sender is found from its time stamps, with an uncertainty that the error has."""

from collections.abc import Iterator

import numpy as np
import pytest

from rig.streaming import ClockEstimate, SenderClock
from rig.streaming.sender_clock import SPAN

LEAST = 2e-4  # s, of the network's delay


def pairs(
    seed: int, drift: float, jitter: float, duration: float = 20.0, rate: float = 50.0
) -> Iterator[tuple[float, float]]:
    """Stamps and receptions: a sender's clock that is slow by `drift`, delays of an exponential distribution."""
    draw = np.random.default_rng(seed)
    true = np.arange(int(duration * rate)) / rate
    received = true + LEAST + draw.exponential(jitter, len(true))
    yield from zip((true / (1.0 + drift)).tolist(), (received + 1234.5).tolist(), strict=True)


def modelled(stream: Iterator[tuple[float, float]]) -> tuple[SenderClock, ClockEstimate, list[float]]:
    """The clock after a stream, and the errors of all times that it gave, s, against packets that nothing held up."""
    clock = SenderClock()
    times = []
    for sent, received in stream:
        assert clock.take(sent, received)
        times.append(clock.local(sent))
    return clock, clock.estimate(), times


@pytest.mark.parametrize("drift", [1e-4, -1e-4])
def test_offset_and_drift_are_found_within_their_uncertainty(drift: float) -> None:
    errors, offsets = [], []
    for seed in range(25):
        clock, estimate, _ = modelled(pairs(seed, drift, 1e-3))
        errors.append((estimate.drift - drift) / estimate.drift_sigma)
        offsets.append((clock.local(20.0 / (1.0 + drift)) - (1234.5 + 20.0 + LEAST)) / estimate.offset_sigma)
        assert estimate.drift_sigma < 1.5e-5
    assert np.mean(np.abs(errors) < 2.0) >= 0.95
    assert np.mean(np.abs(offsets) < 2.0) >= 0.84
    assert np.std(errors) > 0.1  # it is not said to be worse than it is by far


def test_a_least_delay_that_wanders_is_within_the_uncertainty_of_the_drift() -> None:
    """As on a busy computer: in the 8 s of the line by 30 µs, with a scatter of as much."""
    errors = []
    for seed in range(12):
        wandering = ((sent, received + 15e-6 * np.sin(sent + seed)) for sent, received in pairs(seed, 0.0, 4e-4, 8.0))
        _, estimate, _ = modelled(wandering)
        errors.append(estimate.drift / estimate.drift_sigma)
    assert np.mean(np.abs(errors) < 2.0) >= 0.95


def test_a_drift_that_is_not_modelled_would_be_seen() -> None:
    """After a minute, 100 ppm are 6 ms: the times must not be off by as much."""
    _, _, times = modelled(pairs(1, 1e-4, 2e-5, duration=60.0))
    true = 1234.5 + LEAST + np.arange(len(times)) / 50.0
    assert np.abs(np.array(times) - true)[50:].max() < 2e-4


def test_times_of_samples_move_smoothly_whatever_the_jitter() -> None:
    _, _, times = modelled(pairs(2, 1e-4, 20e-3))
    steps = np.diff(times)[100:] * 50.0  # without the first two seconds
    assert np.abs(steps - 1.0).max() < 2e-3


def test_packets_that_are_held_up_do_not_move_the_clock() -> None:
    draw = np.random.default_rng(3)
    clock = SenderClock()
    for step in range(3000):
        sent = step / 100.0
        held = 0.2 * (1.0 - sent % 1.0 / 0.4) if sent > 10.0 and sent % 1.0 < 0.4 else 0.0  # a whole span, too
        assert clock.take(sent, sent + LEAST + held + draw.exponential(1e-4))
    assert abs(clock.local(30.0) - 30.0 - LEAST) < 1e-4
    estimate = clock.estimate()
    assert abs(estimate.drift) < 2e-5
    assert 0.18 < estimate.jitter < 0.21
    assert estimate.steps == 0


@pytest.mark.parametrize("step", [3600.0, -3600.0, 5.0, -5.0, -0.5])
def test_a_step_is_followed_once_three_packets_agree(step: float) -> None:
    clock = SenderClock()
    for number in range(500):
        assert clock.take(number / 100.0, 50.0 + number / 100.0)
    taken = [clock.take(number / 100.0 + step, 50.0 + number / 100.0) for number in range(500, 600)]
    if step == -0.5:  # as a queue of half a second would look: accepted once it stays
        assert taken == [True] * 100
    else:
        assert taken == [False, False, *[True] * 98]
    for number in range(600, 800):
        clock.take(number / 100.0 + step, 50.0 + number / 100.0)
    assert abs(clock.local(8.0 + step) - 58.0) < 1e-6
    assert clock.estimate().steps == 1


def test_single_stamps_that_are_wrong_are_not_taken() -> None:
    clock = SenderClock()
    for number in range(1000):
        wrong = number % 10 == 9
        sent = number / 100.0 + 1000.0 * wrong * (1 + number)
        assert clock.take(sent, 50.0 + number / 100.0) is not wrong
    assert abs(clock.local(10.0) - 60.0) < 1e-6
    assert clock.estimate().steps == 0


def test_a_shorter_way_is_a_step_of_the_offset() -> None:
    clock = SenderClock()
    for number in range(3000):
        delay = 0.04 if number < 1500 else 0.01
        clock.take(number / 100.0, number / 100.0 + delay)
    assert abs(clock.local(30.0) - 30.01) < 1e-4
    assert clock.estimate().steps == 1
    assert abs(clock.estimate().drift) < 1e-6


def test_nothing_is_claimed_before_there_is_something() -> None:
    clock = SenderClock()
    assert np.isnan(clock.estimate().offset)
    clock.take(5.0, 9.0)
    begun = clock.estimate()
    assert begun.offset == 4.0
    assert np.isnan(begun.offset_sigma)
    assert begun.drift_sigma >= 1e-4
    assert begun.spans == 0
    assert SPAN < 1.0
