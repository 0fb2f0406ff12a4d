"""The simulator of a servo whose profile is not plain: where it stands, and what it refuses."""

import pytest
from drive_support import Bench, ask
from servo_profiles import SHIPPED, changed

from actuators import ServoProfile
from rig.testing.drivers import power

HELD = {"lexium-32": "10 1b06 0002 04 0000 0000", "delta-asda-a2": "10 040e 0002 04 0001 0000"}
"""What a master writes to end the following of set-points, torque on: mode 0; control word without POS0."""


@pytest.mark.parametrize("cycles", [40, 400], ids=["under way", "there"])
@pytest.mark.parametrize("name", HELD)
def test_a_drive_that_follows_no_more_holds_where_it_stands(name: str, cycles: int) -> None:
    bench = Bench(SHIPPED[name])
    command = power(bench)
    start = bench.leg.position
    for _ in range(cycles):
        bench.do(command._replace(position=start + 5e-3))
    reached = bench.leg.position
    assert reached > start + 5e-4
    for _ in range(3):
        assert ask(bench.servo, HELD[name]) == HELD[name][:12].replace(" ", "")
        bench.pass_time(0.002)
        assert bench.leg.enabled and bench.leg.position == pytest.approx(reached, abs=1e-4)
    bench.do(command._replace(position=start + 5e-3))
    assert bench.leg.position == pytest.approx(reached, abs=1e-4)


def test_a_drive_under_a_quick_stop_that_is_held_does_not_move_on() -> None:
    """Nor where it takes each set-point as it is written."""
    bench = Bench(ServoProfile.model_validate(changed(SHIPPED["delta-asda-a2"], {"command.handover": None})))
    command = power(bench)
    start = bench.leg.position
    for _ in range(100):
        bench.do(command._replace(position=start + 0.03))
    assert start + 5e-3 < bench.leg.position < start + 0.025
    bench.leg.settle()
    stopped = bench.leg.length
    for _ in range(20):
        ask(bench.servo, "10 040e 0002 04 0029 0000")
        bench.pass_time(0.01)
    assert bench.leg.enabled and bench.leg.position == pytest.approx(stopped)
    ask(bench.servo, "10 040e 0002 04 0009 0000")
    for _ in range(200):
        bench.pass_time(0.01)
    assert bench.leg.position == pytest.approx(start + 0.03, abs=1e-6), "it follows again without the stop"
