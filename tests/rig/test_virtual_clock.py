import math

import pytest

from rig.runtime.ticker import ManualClock, MonotonicClock


def test_manual_clock_goes_where_it_is_put() -> None:
    clock = ManualClock(-3.0)
    assert clock.now() == -3.0
    clock.advance(5.0)
    clock.set(2.0)
    assert clock.now() == 2.0


@pytest.mark.parametrize("now", [1.9, math.nan, math.inf])
def test_manual_clock_refuses_what_is_no_later_time(now: float) -> None:
    clock = ManualClock(2.0)
    with pytest.raises(ValueError, match="clock"):
        clock.set(now)
    assert clock.now() == 2.0


def test_monotonic_clock_does_not_go_back() -> None:
    clock = MonotonicClock()
    assert clock.now() <= clock.now()
