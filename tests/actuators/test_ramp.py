"""The ramp of a virtual drive."""

import pytest

from actuators.virtual.ramp import Ramp


@pytest.mark.parametrize("elapsed", [0.0, -5e-4])
def test_no_time_moves_nothing(elapsed: float) -> None:
    ramp = Ramp()
    ramp.advance(0.1, 0.1, 0.2, 1.0)
    before = ramp.at, ramp.speed
    ramp.advance(elapsed, 0.1, 0.2, 1.0)
    ramp.stop(elapsed, 1.0)
    assert (ramp.at, ramp.speed) == before
